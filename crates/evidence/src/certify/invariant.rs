//! An inductive invariant from its file.

use policert_engine_api::{Budget, CancelFlag, Limits};
use policert_model::{Model, Variable};
use policert_numeric::{IntBox, IntInterval};
use policert_outcome::Failure;
use policert_problem::{Problem, read_value};
use serde_json::{Map, Value};

use super::file::File;
use crate::invariant_check;

/// Checks an invariant; the number of its boxes.
pub(super) fn check(
    file: &File<'_>,
    problem: &Problem,
    limits: &Limits,
    cancel: &CancelFlag,
) -> Result<usize, Failure> {
    let records: Vec<Map<String, Value>> = file.part("invariant")?;
    let boxes: Option<Vec<IntBox>> =
        records.iter().map(|record| read_box(&problem.model, record)).collect();
    let boxes = boxes.ok_or_else(|| file.wrong("invariant"))?;
    let budget = Budget::new(limits.clone(), cancel.clone());
    match invariant_check::check(problem, &boxes, &budget) {
        Ok(_) => Ok(boxes.len()),
        // An invariant that is none.
        Err(Failure::Internal(why)) => Err(file.rejected(&why)),
        Err(other) => Err(other),
    }
}

fn read_box(model: &Model, record: &Map<String, Value>) -> Option<IntBox> {
    let known = |name: &String| model.variables.iter().any(|variable| variable.name == *name);
    if !record.keys().all(known) {
        return None;
    }
    let side = |variable: &Variable| match record.get(&variable.name) {
        None => Some(variable.domain),
        Some(ends) => {
            let [lo, hi] = &ends.as_array()?[..] else { return None };
            let (lo, hi) = (read_value(variable, lo)?, read_value(variable, hi)?);
            (lo <= hi).then_some(IntInterval { lo, hi })
        }
    };
    Some(IntBox::new(model.variables.iter().map(side).collect::<Option<Vec<_>>>()?))
}
