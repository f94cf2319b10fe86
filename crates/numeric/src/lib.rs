//! Exact rationals, outward-rounded intervals, integer boxes.
//!
//! Everything that a verdict rests on is computed here: either exactly ([`Rational`]), or in
//! floating point with bounds that are rounded outwards.

mod rational;

pub use dashu::integer::{IBig, UBig};
pub use rational::{ParseRationalError, Rational};
