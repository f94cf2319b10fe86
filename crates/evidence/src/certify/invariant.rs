//! An inductive invariant from its file.

use policert_engine_api::{Budget, CancelFlag, ClaimedInvariant, Limits};
use policert_outcome::Failure;
use policert_problem::{Problem, QuestionAim};
use serde_json::{Map, Value};

use super::file::File;
use crate::evidence::read_invariant;
use crate::{ConditionRecord, invariant_check};

/// Checks an invariant; the number of its boxes.
pub(super) fn check(
    file: &File<'_>,
    problem: &Problem,
    limits: &Limits,
    cancel: &CancelFlag,
) -> Result<usize, Failure> {
    let boxes: Vec<Map<String, Value>> = file.part("invariant")?;
    let conditions: Vec<Vec<ConditionRecord>> = match file.value().get("where") {
        Some(_) => file.part("where")?,
        None => Vec::new(),
    };
    let invariant = read_invariant(&problem.model, &boxes, &conditions)
        .ok_or_else(|| file.wrong(if conditions.is_empty() { "invariant" } else { "where" }))?;
    let ranks: Option<Vec<u64>> = match problem.semantics.aim {
        QuestionAim::AvoidUnsafe => None,
        QuestionAim::ReachGoal if file.value().get("ranks").is_some() => Some(file.part("ranks")?),
        QuestionAim::ReachGoal => {
            let what = "an invariant without `ranks` does not show that every run reaches the goal";
            return Err(file.rejected(what));
        }
    };
    let claimed = ClaimedInvariant { invariant, ranks, is_needed: true };
    let budget = Budget::new(limits.clone(), cancel.clone());
    match invariant_check::check(problem, &claimed, &budget) {
        Ok(_) => Ok(boxes.len()),
        // An invariant that is none.
        Err(Failure::Internal(why)) => Err(file.rejected(&why)),
        Err(other) => Err(other),
    }
}
