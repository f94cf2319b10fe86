//! A run from its file: read, replayed, and compared with what is said about it.

use policert_certify::ReplayError;
use policert_engine_api::{Trace, TraceStep};
use policert_model::{InstanceId, Model, OperatorKey, State};
use policert_outcome::Failure;
use policert_problem::{Problem, read_state};
use serde_json::{Map, Value, json};

use super::file::File;
use crate::{EndKind, EndRecord, Evidence, Proof, StepRecord};

/// Checks a run; the number of its steps, and how it ends.
pub(super) fn check(file: &File<'_>, problem: &Problem) -> Result<(usize, EndRecord), Failure> {
    let trace = read(file, &problem.model)?;
    let replayed = policert_certify::replay(&problem.question(), problem.policy.as_ref(), &trace);
    let replayed = replayed.map_err(|error| match error {
        ReplayError::Unsupported(_) => Failure::unsupported(error.to_string()),
        error => file.rejected(&error.to_string()),
    })?;
    // What is written for people must be so, too.
    let right = Evidence::of_trace(problem, "", &trace, replayed.end);
    let Proof::Trace { end, .. } = &right.proof else {
        return Err(file.wrong("trace"));
    };
    let last = end.clone();
    let right = json!(right);
    for member in ["steps", "start", "trace"] {
        file.compare(member, &right[member])?;
    }
    check_changes(file, &right["trace"])?;
    match file.value().get("end") {
        // A run that says nothing of its end claims that an unsafe state is reached.
        None if last.kind == EndKind::Unsafe => {}
        end => {
            for member in ["kind", "back_to"] {
                if end.and_then(|end| end.get(member)).is_none() {
                    return Err(file.wrong(&format!("end.{member}")));
                }
            }
            file.compare("end", &right["end"])?;
        }
    }
    Ok((trace.steps.len(), last))
}

/// Checks that each step is said to change what it changes, and nothing else.
fn check_changes(file: &File<'_>, right: &Value) -> Result<(), Failure> {
    let said = file.value()["trace"].as_array().into_iter().flatten();
    for (i, (said, right)) in said.zip(right.as_array().into_iter().flatten()).enumerate() {
        let [Some(said), Some(right)] = [said, right].map(|step| step["changed"].as_object())
        else {
            continue;
        };
        let wrong =
            |name: &String, what| file.rejected(&format!("`trace[{i}].changed`: `{name}` {what}"));
        if let Some(name) = said.keys().find(|name| !right.contains_key(*name)) {
            return Err(wrong(name, "does not change"));
        }
        if let Some(name) = right.keys().find(|name| !said.contains_key(*name)) {
            return Err(wrong(name, "changes, too"));
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
            Some(None) => {
                return Err(file.rejected(&format!("`trace[{i}].label`: no label of the model")));
            }
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
