//! The operators of a model by label, and which of them a policy decides about.

use policert_engine_api::EngineError;
use policert_model::{Condition, LabelId, Model, OPERATOR_LIMIT, Operator};

/// The operators of one label.
#[derive(Debug)]
pub struct LabelGroup {
    /// The label; `None` for the silent operators.
    pub label: Option<LabelId>,
    /// The policy's output for the label; `None` where the environment chooses.
    pub output: Option<usize>,
    /// The operators, by position in [`Operators::all`].
    pub operators: Vec<usize>,
}

/// All operators of a model, composed and grouped by label.
#[derive(Debug)]
pub struct Operators {
    all: Vec<Operator>,
    /// The policy's groups by output, then the environment's.
    groups: Vec<LabelGroup>,
    /// By operator: the position of its group.
    group_of: Vec<usize>,
    outputs: usize,
}

impl Operators {
    /// Composes the operators of a model. `outputs` are the labels that the policy outputs, in its
    /// order.
    ///
    /// # Errors
    /// Too many operators, or one that cannot be composed: unsupported.
    pub fn new(model: &Model, outputs: &[LabelId]) -> Result<Self, EngineError> {
        let all = model.operators(OPERATOR_LIMIT)?;
        let group = |output, label| LabelGroup { label, output, operators: Vec::new() };
        let mut groups: Vec<LabelGroup> =
            outputs.iter().enumerate().map(|(j, &label)| group(Some(j), Some(label))).collect();
        let mut group_of = Vec::with_capacity(all.len());
        for (i, operator) in all.iter().enumerate() {
            let known = groups.iter().position(|group| group.label == operator.label);
            let at = known.unwrap_or(groups.len());
            if known.is_none() {
                groups.push(group(None, operator.label));
            }
            groups[at].operators.push(i);
            group_of.push(at);
        }
        Ok(Self { all, groups, group_of, outputs: outputs.len() })
    }

    /// The operators, in the order of composition.
    #[must_use]
    pub fn all(&self) -> &[Operator] {
        &self.all
    }

    /// The groups: the policy's labels in its order, then the environment's.
    #[must_use]
    pub fn groups(&self) -> &[LabelGroup] {
        &self.groups
    }

    /// The groups that have operators: the environment's, then the policy's labels in its order.
    pub fn environment_first(&self) -> impl Iterator<Item = &LabelGroup> {
        let (policy, environment) = self.groups.split_at(self.outputs);
        environment.iter().chain(policy).filter(|group| !group.operators.is_empty())
    }

    /// The policy's output for the label of an operator; `None` where the environment chooses.
    #[must_use]
    pub fn output_of(&self, operator: usize) -> Option<usize> {
        self.groups[self.group_of[operator]].output
    }

    /// For each output of the policy: where its label is applicable, the disjunction of the guards
    /// of its operators.
    #[must_use]
    pub fn applicability(&self) -> Vec<Condition> {
        let guards = |group: &LabelGroup| {
            Condition::or(group.operators.iter().map(|&o| self.all[o].guard.clone()))
        };
        self.groups[..self.outputs].iter().map(guards).collect()
    }
}
