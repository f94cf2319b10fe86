//! What all engines share: the question, the verdict with its trace, budgets and events.
//!
//! **Architecture invariant**: nothing here knows a policy, a file format or a solver. A stop is
//! an `Err`, so it can never be read as "none found".

mod budget;
mod error;
mod event;
mod point;
mod question;
mod side_table;
mod trace;
mod verdict;

pub use budget::{Budget, CancelFlag, Limits, StopReason, resident_memory};
pub use error::EngineError;
pub use event::{Event, Observer, Silent};
pub use point::{point_in_steps, point_of};
pub use question::{Aim, Question, StartStates, StuckRule};
pub use side_table::{Id, SideTable};
pub use trace::{Trace, TraceStep};
pub use verdict::{Answer, Counts, UnknownReason, Verdict};
