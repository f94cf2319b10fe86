//! Conditions, values and operators compiled for evaluation at many states.
//!
//! The fast path computes with `i64` where the variables' domains prove that nothing overflows,
//! and in `i128` or exact rationals elsewhere. What it cannot settle it leaves to
//! [`policert_model::ModelSemantics`], which it agrees with everywhere.

mod condition;
mod expression;
mod fraction;
mod operator;
mod term;
mod value;

pub(crate) use condition::{CompiledCondition, Kleene};
pub(crate) use fraction::FractionExpr;
pub(crate) use operator::{CompiledOperator, DestinationEnds, Drawn, Outcomes, cumulative};
