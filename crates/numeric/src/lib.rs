//! Exact rationals, outward-rounded intervals, integer boxes.
//!
//! Everything that a verdict rests on is computed here: either exactly ([`Rational`]), or in
//! floating point with bounds that are rounded outwards.

pub mod activation;
mod box_set;
mod dyadic;
pub mod elementary;
mod inequality;
mod int_box;
mod interval;
mod interval_diagram;
mod precise;
mod rational;
pub mod round;
pub mod simplex;

pub use box_set::BoxSet;
pub use dashu::integer::{IBig, UBig};
pub use dyadic::{dyadic_parts, power_of_two};
pub use inequality::LinearInequality;
pub use int_box::{IntBox, IntInterval};
pub use interval::Interval;
pub use interval_diagram::{
    DiagramBuilder, DiagramEdge, DiagramNode, IntervalDiagram, NoDiagram, PartEnd, PartVisit,
    TooManyEdges,
};
pub use precise::Enclosure;
pub use rational::{ParseRationalError, Rational};
