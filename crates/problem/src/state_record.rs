//! States as data, by the names of variables.

use policert_model::{Model, State, Variable, VariableKind};
use serde_json::{Map, Value};

/// A state by the names of its variables: numbers, truth values, names of locations. The location
/// of an automaton that has a single one says nothing.
#[must_use]
pub fn state_record(model: &Model, state: &[i64]) -> Map<String, Value> {
    let values = model.variables.iter().zip(state);
    let values = values.filter(|(variable, _)| !says_nothing(variable));
    values
        .map(|(variable, &value)| (variable.name.clone(), value_record(variable, value)))
        .collect()
}

/// The state that [`state_record`] wrote, if it wrote one.
#[must_use]
pub fn read_state(model: &Model, record: &Map<String, Value>) -> Option<State> {
    let known = |name: &String| model.variables.iter().any(|variable| variable.name == *name);
    if !record.keys().all(known) {
        return None;
    }
    let value = |variable: &Variable| match record.get(&variable.name) {
        Some(value) => read_value(variable, value),
        None if says_nothing(variable) => Some(0),
        None => None,
    };
    model.variables.iter().map(value).collect()
}

/// The value that [`value_record`] wrote, if it wrote one.
#[must_use]
pub fn read_value(variable: &Variable, value: &Value) -> Option<i64> {
    match &variable.kind {
        VariableKind::Integer => value.as_i64(),
        VariableKind::Boolean => value.as_bool().map(i64::from),
        VariableKind::Location { names, .. } => {
            let at = names.iter().position(|name| Some(name.as_str()) == value.as_str())?;
            i64::try_from(at).ok()
        }
    }
}

/// Returns whether a variable is the location of an automaton that has a single one.
fn says_nothing(variable: &Variable) -> bool {
    match &variable.kind {
        VariableKind::Location { names, .. } => names.len() == 1,
        VariableKind::Integer | VariableKind::Boolean => false,
    }
}

/// The variables that differ between two states, with both values.
#[must_use]
pub fn changes(model: &Model, before: &[i64], after: &[i64]) -> Map<String, Value> {
    let values = model.variables.iter().zip(before.iter().zip(after));
    values
        .filter(|(_, (before, after))| before != after)
        .map(|(variable, (&before, &after))| {
            let both = [before, after].map(|value| value_record(variable, value));
            (variable.name.clone(), Value::from(both.to_vec()))
        })
        .collect()
}

/// A value as a person writes it: a number, a truth value, the name of a location.
#[must_use]
pub fn value_record(variable: &Variable, value: i64) -> Value {
    match &variable.kind {
        VariableKind::Integer => Value::from(value),
        VariableKind::Boolean => Value::from(value != 0),
        VariableKind::Location { .. } => Value::from(variable.display_value(value)),
    }
}
