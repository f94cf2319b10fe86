//! What all engines share: the question, the trait [`Engine`] with what it answers, budgets and
//! events.
//!
//! **Architecture invariant**: nothing here knows a file format or a solver. A stop is an `Err`, so
//! it can never be read as "none found".

#![warn(missing_docs)]

mod budget;
pub mod configuration;
mod engine;
mod error;
mod event;
mod invariant;
mod point;
mod probability;
mod question;
mod recorder;
mod side_table;
mod trace;
mod turns;
mod verdict;

pub use budget::{Budget, CancelFlag, Limits, StopReason, resident_memory};
pub use configuration::{Configuration, ConfigurationError, Configured, Preset, Setting};
pub use engine::{
    Attempt, BoundedProbability, ClaimedInvariant, Conclusion, Context, Counted, Engine,
    EngineAnswer, StartRegion,
};
pub use error::EngineError;
pub use event::{Event, Observer, Silent};
pub use invariant::Invariant;
pub use point::{point_in_steps, point_of};
pub use probability::{
    ClaimedValues, Direction, OverStarts, ProbabilityAim, ProbabilityBounds, ValuedPieces,
    ValuedState,
};
pub use question::{Aim, Question, StartStates, StuckRule};
pub use recorder::{AskedQuery, Recorder, SelectionQuery, Values};
pub use side_table::{Id, SideTable};
pub use trace::{Trace, TraceStep};
pub use turns::{Turn, Turns};
pub use verdict::{Answer, Counts, UnknownReason, Verdict};
