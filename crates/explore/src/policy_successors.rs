//! The successors of single states under a policy, by the reference semantics.

use policert_engine_api::{EngineError, Question, TraceStep};
use policert_model::{LabelId, ModelSemantics, OpId, Operator, State};
use policert_numeric::Rational;
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
    /// The position of the outcome among those of the operator.
    pub destination: usize,
    /// The values of the outcome's free choices.
    pub choices: Vec<i64>,
    /// The state after it.
    pub state: State,
    /// True if the policy certainly allows it. If not, its choice is undecided, and the label is
    /// one of those that it may choose.
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
    /// The labels that the policy may choose; `None` without policy, and in terminal states.
    pub choice: Option<PolicyChoice>,
}

/// Says what a policy may choose in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyChoice {
    /// Its labels, applicable or not; where the choice is undecided, all that may be chosen.
    pub labels: Vec<LabelId>,
    pub is_undecided: bool,
}

/// Says whether a run may end in a state for want of a successor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// There is always one.
    No,
    /// The environment has none, and the policy chooses something that has none, or nothing.
    Yes,
    /// That depends on a choice of the policy that is undecided.
    Undecided,
}

impl StateSuccessors {
    /// Returns whether a run may get stuck here. A policy that may choose several labels may choose
    /// each.
    #[must_use]
    pub fn stuck(&self) -> Stuck {
        let Some(choice) = &self.choice else {
            return if self.list.is_empty() { Stuck::Yes } else { Stuck::No };
        };
        let labels: Vec<Option<LabelId>> = self.list.iter().map(|s| s.label).collect();
        let has_successor = |label: &LabelId| labels.contains(&Some(*label));
        let by_environment =
            self.list.iter().any(|s| s.label.is_none_or(|label| !choice.labels.contains(&label)));
        let goes_on = !choice.labels.is_empty() && choice.labels.iter().all(has_successor);
        match (by_environment || goes_on, choice.is_undecided) {
            (true, _) => Stuck::No,
            (false, false) => Stuck::Yes,
            (false, true) => Stuck::Undecided,
        }
    }
}

/// Computes successors under a policy, or without one. Operators are composed on demand and kept.
#[derive(Debug)]
pub struct PolicySuccessors<'a> {
    question: &'a Question<'a>,
    semantics: ModelSemantics<'a>,
    operators: LazyOperators<'a>,
    labels: PolicyLabels<'a>,
    enabled: Enabled,
    fired: Vec<OpId>,
}

impl<'a> PolicySuccessors<'a> {
    /// Prepares for a question; without policy every label is allowed.
    #[must_use]
    pub fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Self {
        let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
        let labels = PolicyLabels::new(question.model, policy);
        Self::from_parts(question, semantics, LazyOperators::new(semantics), labels)
    }

    pub(crate) fn from_parts(
        question: &'a Question<'a>,
        semantics: ModelSemantics<'a>,
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
        successors.choice = self.labels.choosable(0).map(|labels| PolicyChoice {
            labels: labels.collect(),
            is_undecided: self.labels.is_undecided(0),
        });
        let allowed = self.labels.allowed(0);
        self.operators.operators(&self.enabled.edges, allowed, &mut self.fired)?;
        for &id in &self.fired {
            let operator = self.operators.operator(id);
            let learned = operator.label.filter(|&label| self.labels.learn(label));
            let decided = learned.is_none_or(|label| self.labels.certainly(0, label));
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

    /// By successor of `state`: whether its operator, once taken, can lead there whatever chance does.
    pub(crate) fn without_chance(&self, state: &[i64], found: &StateSuccessors) -> Vec<bool> {
        let is_sure = |successor: &PolicySuccessor| {
            let leads = |at: usize| {
                found.list.iter().any(|s| {
                    (s.operator, s.destination) == (successor.operator, at)
                        && s.state == successor.state
                })
            };
            let destinations = &self.operators.operator(successor.operator).destinations;
            let leading = destinations.iter().enumerate().filter(|(at, _)| leads(*at));
            let values = leading.map(|(_, to)| to.probability.in_state(state).unwrap_or_default());
            values.sum::<Rational>() == Rational::ONE
        };
        found.list.iter().map(is_sure).collect()
    }

    /// The first step from `source` to `target` that the policy certainly allows; one that does not
    /// depend on chance, if there is one.
    pub(crate) fn sure_step(
        &mut self,
        source: &[i64],
        target: &[i64],
    ) -> Result<Option<TraceStep>, EngineError> {
        let found = self.of(source)?;
        let is_sure = self.without_chance(source, &found);
        let mut steps: Vec<(PolicySuccessor, bool)> = found.list.into_iter().zip(is_sure).collect();
        steps.retain(|(step, _)| step.decided && step.state == target);
        let at = steps.iter().position(|(_, is_sure)| *is_sure).unwrap_or(0);
        Ok((at < steps.len()).then(|| self.trace_step(steps.swap_remove(at).0)))
    }

    /// The first step from `source` to `target` that the policy certainly allows.
    pub(crate) fn step(
        &mut self,
        source: &[i64],
        target: &[i64],
    ) -> Result<Option<TraceStep>, EngineError> {
        let successors = self.of(source)?.list;
        let found = successors.into_iter().find(|s| s.decided && s.state == target);
        Ok(found.map(|successor| self.trace_step(successor)))
    }

    fn trace_step(&self, successor: PolicySuccessor) -> TraceStep {
        TraceStep {
            label: successor.label,
            operator: self.operators.operator(successor.operator).key.clone(),
            destination: successor.destination,
            choices: successor.choices,
            state: successor.state,
        }
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
