//! One run of a simulation, step by step.

use policert_engine_api::Budget;
use policert_explore::{Random, Run, RunEnding, Simulation};
use policert_model::{Model, State, Variable, VariableKind};
use policert_outcome::Failure;
use policert_problem::{Problem, value_record};
use serde::Serialize;
use serde_json::{Map, Value};

/// One run with all its states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedRun {
    /// Its number, from 1.
    pub number: u64,
    /// The start state.
    pub start: State,
    /// The steps in order.
    pub steps: Vec<SimulatedStep>,
    /// The way in which it ends.
    pub ending: RunEnding,
    /// The label that was chosen in the last state, if one was.
    pub chosen: Option<String>,
}

/// Says what the runs are runs of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedModel {
    /// Its name.
    pub name: String,
    /// The variables, in the order of the states' values.
    pub variables: Vec<SimulatedVariable>,
}

/// A variable of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedVariable {
    /// Its name.
    pub name: String,
    /// Its least value.
    pub lower: i64,
    /// Its greatest value.
    pub upper: i64,
    /// The values have one name each, for places of an automaton and truth values.
    names: Option<Vec<String>>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedStep {
    /// The label; `None` for a silent step of the environment.
    pub label: Option<String>,
    /// True if the label was chosen, by the policy or at random without one; else the step is the
    /// environment's.
    pub is_chosen: bool,
    /// The state after it.
    pub state: State,
}

impl SimulatedModel {
    pub(super) fn new(model: &Model) -> Self {
        let variables = model.variables.iter().map(SimulatedVariable::new).collect();
        Self { name: model.name.clone(), variables }
    }
}

impl SimulatedVariable {
    fn new(variable: &Variable) -> Self {
        let (lower, upper) = (variable.domain.lo, variable.domain.hi);
        let names = match variable.kind {
            VariableKind::Integer => None,
            VariableKind::Boolean | VariableKind::Location { .. } => {
                Some((lower..=upper).map(|value| variable.display_value(value)).collect())
            }
        };
        Self { name: variable.name.clone(), lower, upper, names }
    }

    /// Returns whether it has a single value.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.lower == self.upper
    }

    /// A value as a person writes it.
    #[must_use]
    pub fn text(&self, value: i64) -> String {
        let named = self.names.as_ref().and_then(|names| {
            let index = usize::try_from(value.checked_sub(self.lower)?).ok()?;
            names.get(index).cloned()
        });
        named.unwrap_or_else(|| value.to_string())
    }
}

/// Runs once more, and keeps what happens.
pub(super) fn trace(
    problem: &Problem,
    number: u64,
    start: &[i64],
    simulation: &mut Simulation<'_>,
    numbers: &mut Random,
    budget: &mut Budget,
) -> Result<SimulatedRun, Failure> {
    let model = &problem.model;
    let mut steps = Vec::new();
    let policy = problem.policy.as_ref();
    let run: Run = simulation.run(start, numbers, budget, &mut |transition| {
        let label = transition.operator.label;
        steps.push(SimulatedStep {
            label: label.map(|label| model.label_name(Some(label)).to_owned()),
            is_chosen: label
                .is_some_and(|label| policy.is_none_or(|p| p.output_of(label).is_some())),
            state: transition.state.to_vec(),
        });
    })?;
    Ok(SimulatedRun {
        number,
        start: start.to_vec(),
        steps,
        ending: run.ending,
        chosen: run.chosen.map(|label| model.label_name(Some(label)).to_owned()),
    })
}

/// A run as data.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceRecord {
    /// The number of the run, from 1.
    pub run: u64,
    /// The start state.
    pub start: Map<String, Value>,
    /// The steps in order.
    pub steps: Vec<TraceStepRecord>,
    /// The way in which it ends.
    pub ending: RunEnding,
    /// The label that was chosen in the last state; `null` if none was.
    pub chosen: Option<String>,
}

/// A step as data.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceStepRecord {
    /// The label; `null` for a silent step of the environment.
    pub label: Option<String>,
    /// True if the label was chosen, by the policy or at random without one; else the step is the
    /// environment's.
    pub chosen: bool,
    /// The variables that change, with their values after the step.
    pub changes: Map<String, Value>,
}

impl TraceRecord {
    pub(super) fn new(model: &Model, run: &SimulatedRun) -> Self {
        let record = |v: &Variable, value| (v.name.clone(), value_record(v, value));
        let start = model.variables.iter().zip(&run.start).map(|(v, &value)| record(v, value));
        let mut before = &run.start;
        let mut steps = Vec::with_capacity(run.steps.len());
        for step in &run.steps {
            let both = model.variables.iter().zip(before.iter().zip(&step.state));
            let changes = both.filter(|(_, (old, new))| old != new);
            steps.push(TraceStepRecord {
                label: step.label.clone(),
                chosen: step.is_chosen,
                changes: changes.map(|(v, (_, &value))| record(v, value)).collect(),
            });
            before = &step.state;
        }
        Self {
            run: run.number,
            start: start.collect(),
            steps,
            ending: run.ending,
            chosen: run.chosen.clone(),
        }
    }
}
