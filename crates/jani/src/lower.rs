//! From the checked abstract syntax to the model: functions inlined, arrays flattened, truth
//! values as 0 and 1, locations as variables, transient variables replaced.

mod assignment;
mod automata;
mod condition;
pub(crate) mod expression;
mod layout;
mod probability;
mod property;
mod sized;
mod transients;
mod trouble;

pub(crate) use automata::{LoweredModel, lower, unsupported};
pub(crate) use condition::condition;
pub(crate) use expression::Reading;
pub(crate) use layout::Layout;
pub(crate) use property::PropertyLowerer;
pub(crate) use sized::{Lowered, Scalar};
pub(crate) use transients::{Uses, target};
pub(crate) use trouble::Trouble;
