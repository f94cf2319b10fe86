//! An inductive invariant from its file.

use std::time::Instant;

use policert_engine_api::{CancelFlag, Limits};
use policert_model::{Model, Variable};
use policert_numeric::{IntBox, IntInterval};
use serde_json::{Map, Value};

use super::file::File;
use crate::evidence::read_value;
use crate::{Failure, Task, invariant_check};

/// Checks an invariant; the number of its boxes.
pub(super) fn check(
    file: &File<'_>,
    task: &Task,
    limits: &Limits,
    cancel: &CancelFlag,
) -> Result<usize, Failure> {
    let records: Vec<Map<String, Value>> = file.part("invariant")?;
    let boxes: Option<Vec<IntBox>> =
        records.iter().map(|record| read_box(&task.model, record)).collect();
    let boxes = boxes.ok_or_else(|| file.wrong("invariant"))?;
    match invariant_check::check(task, &boxes, limits, Instant::now(), cancel) {
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
