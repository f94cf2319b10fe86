//! The successors of single states under a policy, by the reference semantics.

use policert_engine_api::{EngineError, Question, TraceStep};
use policert_model::{LabelId, OpId, Operator, Semantics, State};
use policert_policy::Policy;

use crate::enabled_edges::Enabled;
use crate::lazy_operators::LazyOperators;
use crate::policy_labels::{PolicyLabels, Undecided};

/// One successor of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicySuccessor {
    /// The label; `None` for a silent operator.
    pub label: Option<LabelId>,
    /// The operator, see [`PolicySuccessors::operator`].
    pub operator: OpId,
    /// Which of its outcomes.
    pub destination: usize,
    /// The values of the outcome's free choices.
    pub choices: Vec<i64>,
    /// The state after it.
    pub state: State,
    /// Whether the policy certainly allows it. If not, its choice is undecided, and the label one
    /// of those that compete.
    pub decided: bool,
}

/// The successors of a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StateSuccessors {
    /// Silent operators first, then by label; outcomes in their order. One state may come several
    /// times.
    pub list: Vec<PolicySuccessor>,
    /// Number of outcomes that were dropped.
    pub dropped: u64,
}

/// Computes successors under a policy, or without one. Operators are composed on demand and kept.
#[derive(Debug)]
pub struct PolicySuccessors<'a> {
    question: &'a Question<'a>,
    semantics: Semantics<'a>,
    operators: LazyOperators<'a>,
    labels: PolicyLabels<'a>,
    enabled: Enabled,
    fired: Vec<OpId>,
}

impl<'a> PolicySuccessors<'a> {
    /// Prepares for a question; without policy every label is allowed.
    #[must_use]
    pub fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Self {
        let semantics = Semantics { model: question.model, rule: question.domain_rule };
        let labels = PolicyLabels::new(question.model, policy);
        Self::from_parts(question, semantics, LazyOperators::new(semantics), labels)
    }

    pub(crate) fn from_parts(
        question: &'a Question<'a>,
        semantics: Semantics<'a>,
        operators: LazyOperators<'a>,
        labels: PolicyLabels<'a>,
    ) -> Self {
        let (enabled, fired) = (Enabled::default(), Vec::new());
        Self { question, semantics, operators, labels, enabled, fired }
    }

    /// The successors of `state`; a terminal state has none.
    ///
    /// # Errors
    /// A modelling error in `state`, or a state that is none of the model.
    pub fn of(&mut self, state: &[i64]) -> Result<StateSuccessors, EngineError> {
        let mut successors = StateSuccessors::default();
        self.check(state)?;
        if self.question.is_terminal(state) {
            return Ok(successors);
        }
        self.operators.enabled_edges(state, &mut self.enabled)?;
        self.labels.clear();
        self.labels.add(state, &self.enabled.edges, &mut self.operators);
        self.labels.choose(Undecided::Included);
        let allowed = self.labels.allowed(0);
        self.operators.operators(&self.enabled.edges, allowed, &mut self.fired)?;
        for &id in &self.fired {
            let operator = self.operators.operator(id);
            let by_policy = operator.label.is_some_and(|label| self.labels.learn(label));
            let decided = !(by_policy && self.labels.is_undecided(0));
            let found = self.semantics.successors(operator, state)?;
            successors.dropped += found.dropped;
            successors.list.extend(found.list.into_iter().map(|successor| PolicySuccessor {
                label: operator.label,
                operator: id,
                destination: successor.destination,
                choices: successor.choices,
                state: successor.state,
                decided,
            }));
        }
        Ok(successors)
    }

    /// The first step from `source` to `target` that the policy certainly allows.
    pub(crate) fn step(
        &mut self,
        source: &[i64],
        target: &[i64],
    ) -> Result<Option<TraceStep>, EngineError> {
        let successors = self.of(source)?.list;
        let found = successors.into_iter().find(|s| s.decided && s.state == target);
        Ok(found.map(|successor| TraceStep {
            label: successor.label,
            operator: self.operators.operator(successor.operator).key.clone(),
            destination: successor.destination,
            choices: successor.choices,
            state: successor.state,
        }))
    }

    /// An operator that a successor names.
    #[must_use]
    pub fn operator(&self, id: OpId) -> &Operator {
        self.operators.operator(id)
    }

    fn check(&self, state: &[i64]) -> Result<(), EngineError> {
        let variables = &self.question.model.variables;
        let fits = state.len() == variables.len()
            && variables.iter().zip(state).all(|(v, &value)| v.domain.contains(value));
        if fits {
            return Ok(());
        }
        let state = self.question.model.display_state(state);
        Err(EngineError::Unsupported(format!("a state outside the variables' domains: {state}")))
    }
}
