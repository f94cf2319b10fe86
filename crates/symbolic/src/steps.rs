//! The transitions of single states, by the plain semantics.

use policert_engine_api::{EngineError, Question, TraceStep};
use policert_model::ModelSemantics;
use policert_policy::Choice;

use crate::operators::{LabelGroup, Operators};

/// A transition of a state.
#[derive(Clone, PartialEq, Debug)]
pub struct StateStep {
    /// The step that happens.
    pub step: TraceStep,
    /// True if the policy certainly chooses its label; if not, its choice in the state is
    /// undecided.
    pub is_certain: bool,
}

impl Operators {
    /// The transitions of a state in which the policy chooses `choice`, by the operators of these groups;
    /// without a choice every label is allowed. Where the choice is undecided all of the policy's labels
    /// count as chosen. A terminal state has no transitions.
    ///
    /// # Errors
    /// A modelling error in the state.
    pub fn steps<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g LabelGroup>,
        question: &Question<'_>,
        state: &[i64],
        choice: Option<&Choice>,
    ) -> Result<Vec<StateStep>, EngineError> {
        let mut steps = Vec::new();
        if question.is_terminal(state) {
            return Ok(steps);
        }
        let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
        for group in groups {
            let is_certain = match (group.output, choice) {
                (Some(output), Some(choice)) => match choice.contains(output) {
                    Some(false) => continue,
                    Some(true) => true,
                    None => false,
                },
                _ => true,
            };
            for operator in group.operators.iter().map(|&o| &self.all()[o]) {
                if !semantics.is_enabled(operator, state)? {
                    continue;
                }
                steps.extend(semantics.successors(operator, state)?.list.into_iter().map(|next| {
                    let step = TraceStep {
                        label: operator.label,
                        operator: operator.key.clone(),
                        destination: next.destination,
                        choices: next.choices,
                        state: next.state,
                    };
                    StateStep { step, is_certain }
                }));
            }
        }
        Ok(steps)
    }
}
