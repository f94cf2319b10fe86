//! A run from its file: read, replayed, and compared with what is said about it.

use policert_certify::ReplayError;
use policert_engine_api::{Trace, TraceStep};
use policert_model::{InstanceId, Model, OperatorKey, State};
use policert_outcome::Failure;
use policert_problem::{Problem, read_state};
use serde_json::{Map, Value, json};

use super::file::File;
use crate::{Evidence, StepRecord};

/// Checks a run; the number of its steps.
pub(super) fn check(file: &File<'_>, problem: &Problem) -> Result<usize, Failure> {
    let trace = read(file, &problem.model)?;
    let replayed = policert_certify::replay(&problem.question(), problem.policy.as_ref(), &trace);
    let replayed = replayed.map_err(|error| match error {
        ReplayError::Unsupported(_) => Failure::unsupported(error.to_string()),
        error => file.rejected(&error.to_string()),
    })?;
    // What is written for people must be so, too.
    let right = json!(Evidence::of_trace(problem, "", &trace, replayed.end));
    for member in ["steps", "start", "trace"] {
        file.compare(member, &right[member])?;
    }
    check_changes(file, &right["trace"])?;
    let end = &file.value()["end"];
    for member in ["kind", "back_to"] {
        if end.get(member).is_none() {
            return Err(file.wrong(&format!("end.{member}")));
        }
    }
    file.compare("end", &right["end"])?;
    Ok(trace.steps.len())
}

/// Checks that no step is said to change what it does not change.
fn check_changes(file: &File<'_>, right: &Value) -> Result<(), Failure> {
    let said = file.value()["trace"].as_array().into_iter().flatten();
    for (i, (said, right)) in said.zip(right.as_array().into_iter().flatten()).enumerate() {
        let [said, right] = [said, right].map(|step| step["changed"].as_object());
        let mut names = said.into_iter().flat_map(Map::keys);
        if let Some(name) = names.find(|name| right.is_some_and(|right| !right.contains_key(*name)))
        {
            return Err(file.rejected(&format!("`trace[{i}].changed`: `{name}` does not change")));
        }
    }
    Ok(())
}

fn read(file: &File<'_>, model: &Model) -> Result<Trace, Failure> {
    let state = |record: &Map<String, Value>, place: &str| -> Result<State, Failure> {
        read_state(model, record).ok_or_else(|| file.wrong(place))
    };
    let start = state(&file.part("start")?, "start")?;
    let records: Vec<StepRecord> = file.part("trace")?;
    let mut steps = Vec::with_capacity(records.len());
    for (i, record) in records.into_iter().enumerate() {
        let label = match record.label.map(|name| model.label_by_name(&name)) {
            Some(None) => return Err(file.wrong(&format!("trace[{i}].label"))),
            Some(found) => found,
            None => None,
        };
        let edges = record.operator.edges.iter();
        steps.push(TraceStep {
            label,
            operator: OperatorKey {
                vector: record.operator.vector,
                edges: edges.map(|e| (InstanceId(e.instance), e.edge)).collect(),
            },
            destination: record.outcome,
            choices: record.choices,
            state: state(&record.state, &format!("trace[{i}].state"))?,
        });
    }
    Ok(Trace { start, steps })
}
