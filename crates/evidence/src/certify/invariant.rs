//! An inductive invariant from its file.

use policert_engine_api::{Budget, CancelFlag, ClaimedInvariant, Limits};
use policert_outcome::Failure;
use policert_problem::{Problem, QuestionAim};
use serde_json::{Map, Value};

use super::file::File;
use crate::evidence::{read_diagram, read_invariant};
use crate::{ConditionRecord, DiagramRecord, invariant_check};

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
    let invariant = match file.value().get("diagram") {
        Some(_) if problem.semantics.aim == QuestionAim::ReachGoal => {
            return Err(file.rejected("states of a `diagram` have no ranks"));
        }
        Some(_) => {
            let record: DiagramRecord = file.part("diagram")?;
            let diagram = read_diagram(&problem.model, &record);
            invariant.with_diagram(Some(diagram.ok_or_else(|| file.wrong("diagram"))?))
        }
        None => invariant,
    };
    let ranks: Option<Vec<u64>> = match problem.semantics.aim {
        QuestionAim::AvoidUnsafe => None,
        QuestionAim::ReachGoal if file.value().get("ranks").is_some() => Some(file.part("ranks")?),
        QuestionAim::ReachGoal => {
            let what = "an invariant without `ranks` does not show that every run reaches the goal";
            return Err(file.rejected(what));
        }
    };
    let boxes = invariant.boxes();
    let claimed = ClaimedInvariant { invariant, ranks, is_needed: true };
    let budget = Budget::new(limits.clone(), cancel.clone());
    match invariant_check::check(problem, &claimed, &budget) {
        Ok(_) => Ok(boxes),
        // An invariant that is none.
        Err(Failure::Internal(why)) => Err(file.rejected(&why)),
        Err(other) => Err(other),
    }
}
