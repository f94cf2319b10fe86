//! Which start states are proved safe, as data.

use policert_model::{Model, VariableKind};
use policert_numeric::IntInterval;
use policert_ppa::StartRegion;
use policert_problem::{Problem, value_record};
use serde::Serialize;
use serde_json::{Map, Value};

/// The abstract start states of `ppa` (`verify --start-states`).
#[derive(Clone, Debug, Serialize)]
pub struct StartStatesRecord {
    /// Version of this format.
    pub schema_version: u32,
    /// The number of those that are proved safe.
    pub proved_safe: usize,
    /// All of them, in the order in which they were found.
    pub start_states: Vec<StartStateRecord>,
}

/// One abstract start state: a set of concrete states.
#[derive(Clone, Debug, Serialize)]
pub struct StartStateRecord {
    /// True if no unsafe state is reachable from any of its states.
    pub proved_safe: bool,
    /// Least and greatest value of each variable whose whole domain it does not contain.
    pub ranges: Map<String, Value>,
    /// Conditions that its states satisfy besides.
    pub conditions: Vec<String>,
}

impl StartStatesRecord {
    pub(crate) fn new(problem: &Problem, starts: &[StartRegion]) -> Self {
        let model = &problem.model;
        let start_states: Vec<StartStateRecord> = starts
            .iter()
            .map(|start| StartStateRecord {
                proved_safe: start.proved_safe,
                ranges: ranges(model, start.sides.sides()),
                conditions: start.conditions.iter().map(|c| model.display_condition(c)).collect(),
            })
            .collect();
        let proved_safe = start_states.iter().filter(|start| start.proved_safe).count();
        Self { schema_version: 1, proved_safe, start_states }
    }
}

fn ranges(model: &Model, sides: &[IntInterval]) -> Map<String, Value> {
    let narrowed = model.variables.iter().zip(sides).filter(|(variable, side)| {
        let is_trivial =
            matches!(&variable.kind, VariableKind::Location { names, .. } if names.len() == 1);
        !is_trivial && **side != variable.domain
    });
    narrowed
        .map(|(variable, side)| {
            let ends = [side.lo, side.hi].map(|value| value_record(variable, value));
            (variable.name.clone(), Value::from(ends.to_vec()))
        })
        .collect()
}
