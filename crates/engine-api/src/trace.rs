//! Traces: concrete runs from a start state, the evidence of *unsafe*.

use policert_model::{LabelId, OperatorKey, State};

/// A run of the model under the policy. It says everything that replaying it needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The start state.
    pub start: State,
    /// The steps in order.
    pub steps: Vec<TraceStep>,
}

/// One step of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStep {
    /// The label; `None` for a silent step of the environment.
    pub label: Option<LabelId>,
    /// The operator that fires.
    pub operator: OperatorKey,
    /// The position of the outcome that happens.
    pub destination: usize,
    /// The values of the outcome's free choices.
    pub choices: Vec<i64>,
    /// The state after it.
    pub state: State,
}

impl Trace {
    /// The last state.
    #[must_use]
    pub fn last_state(&self) -> &State {
        self.steps.last().map_or(&self.start, |step| &step.state)
    }
}
