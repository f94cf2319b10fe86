//! Reachability of unsafe states under a policy, breadth first.

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::Question;
use policert_model::{LabelId, OperatorKey, Start, State};
use policert_policy::{ChoiceRule, PolicySemantics};

use super::policy::{Undecided, best_labels, chosen_labels, drawn_labels};
use super::steps::{Broken, JointEdge, Step, holds, is_enabled, joint_edges, steps};
use crate::{PolicyParts, states};

/// A question with the policy that acts, or none: then every label may be chosen.
#[derive(Clone, Debug)]
pub struct Oracle<'a> {
    pub question: Question<'a>,
    /// The policy and its meaning.
    pub policy: Option<(&'a PolicyParts, PolicySemantics)>,
    joint_edges: Vec<JointEdge<'a>>,
}

/// Says why there is no answer in some state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// The model is wrong there.
    Broken,
    /// The policy's choice cannot be told.
    Undecided,
}

impl From<Broken> for NoAnswer {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

impl From<Undecided> for NoAnswer {
    fn from(_: Undecided) -> Self {
        Self::Undecided
    }
}

/// A transition with what causes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    pub label: Option<LabelId>,
    pub operator: OperatorKey,
    /// The step that happens.
    pub step: Step,
}

/// The transitions of a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expansion {
    /// The transitions, in the order of the operators.
    pub transitions: Vec<Transition>,
    /// True if some outcome was no transition.
    pub dropped: bool,
    /// The labels that the policy may choose; `None` without policy.
    pub chosen: Option<Vec<LabelId>>,
    /// True if the policy chose a label that is not applicable.
    pub stuck: bool,
    /// True if several labels have the best score among those that compete.
    pub tied: bool,
}

/// Holds what is reachable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reachable {
    pub start_states: BTreeSet<State>,
    /// Reachable states with the least number of transitions from a start state.
    pub distances: BTreeMap<State, usize>,
    /// Pairs of source and target.
    pub transitions: BTreeSet<(State, State)>,
    /// The reachable states in which there is no answer; they count as without transitions.
    pub no_answer: BTreeMap<State, NoAnswer>,
    /// True if some outcome was no transition.
    pub dropped: bool,
    /// The reachable unsafe states.
    pub unsafe_states: BTreeSet<State>,
    /// Number of transitions of a shortest path to an unsafe state.
    pub shortest: Option<usize>,
}

impl Reachable {
    /// Returns whether no unsafe state is reachable, as far as there is an answer everywhere.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.unsafe_states.is_empty()
    }
}

impl<'a> Oracle<'a> {
    /// The oracle of a question.
    #[must_use]
    pub fn new(question: Question<'a>, policy: Option<(&'a PolicyParts, PolicySemantics)>) -> Self {
        let joint_edges = joint_edges(question.model);
        Self { question, policy, joint_edges }
    }

    /// All start states, by trying every state.
    ///
    /// # Panics
    /// If a variable is not bounded.
    #[must_use]
    pub fn start_states(&self) -> BTreeSet<State> {
        let (question, model) = (&self.question, self.question.model);
        let mut all = BTreeSet::new();
        let (initial, sides) = model.initial_states();
        let with_initial = question.initial_states || question.property.start.is_none();
        for state in states(model) {
            let named = match &question.property.start {
                None => false,
                Some(Start::Condition(condition)) => holds(condition, &state),
                Some(Start::States(list)) => list.contains(&state),
            };
            if named || with_initial && sides.contains(&state) && holds(&initial, &state) {
                all.insert(state);
            }
        }
        all
    }

    /// The transitions of a state under the policy, whether or not it is terminal or unsafe.
    ///
    /// # Errors
    /// Fails if the model is wrong, or the choice is undecided.
    pub fn expand(&self, state: &[i64]) -> Result<Expansion, NoAnswer> {
        let (model, rule) = (self.question.model, self.question.domain_rule);
        let enabled = self.enabled(state)?;
        let applicable: Vec<LabelId> = enabled.iter().filter_map(|joint| joint.label).collect();
        let mut expansion = Expansion::default();
        let mut chosen = None;
        if let Some((policy, semantics)) = self.policy {
            let labels = if semantics.choice == ChoiceRule::Sample {
                let drawn = drawn_labels(policy, semantics, state, &applicable)?;
                drawn.into_iter().map(|(label, _)| label).collect()
            } else {
                let best = best_labels(policy, semantics.filter, state, &applicable)?;
                expansion.tied = best.len() > 1;
                chosen_labels(semantics.ties, &best)
            };
            expansion.stuck = labels.iter().any(|label| !applicable.contains(label));
            chosen = Some(labels);
        }
        for joint in enabled {
            // Silent edges and labels that the policy lacks belong to the environment.
            if let (Some((policy, _)), Some(chosen), Some(label)) =
                (self.policy, &chosen, joint.label)
                && policy.outputs.contains(&label)
                && !chosen.contains(&label)
            {
                continue;
            }
            let steps = steps(model, rule, joint, state)?;
            expansion.dropped |= steps.dropped;
            for step in steps.list {
                let operator = joint.key.clone();
                expansion.transitions.push(Transition { label: joint.label, operator, step });
            }
        }
        expansion.chosen = chosen;
        Ok(expansion)
    }

    fn enabled(&self, state: &[i64]) -> Result<Vec<&JointEdge<'a>>, NoAnswer> {
        let (model, rule) = (self.question.model, self.question.domain_rule);
        let mut enabled = Vec::new();
        for joint in &self.joint_edges {
            if is_enabled(model, rule, joint, state)? {
                enabled.push(joint);
            }
        }
        Ok(enabled)
    }

    /// The labels that are applicable in a state.
    pub(super) fn applicable(&self, state: &[i64]) -> Result<Vec<LabelId>, NoAnswer> {
        Ok(self.enabled(state)?.iter().filter_map(|joint| joint.label).collect())
    }

    /// Returns whether a run may get stuck in a state: the environment has no transition, and the
    /// policy may choose a label that has none, or chooses none.
    ///
    /// # Errors
    /// As [`Oracle::expand`].
    pub fn may_get_stuck(&self, state: &[i64]) -> Result<bool, NoAnswer> {
        let expansion = self.expand(state)?;
        let (Some(chosen), Some((policy, _))) = (&expansion.chosen, self.policy) else {
            return Ok(expansion.transitions.is_empty());
        };
        let is_policys =
            |label: Option<LabelId>| label.is_some_and(|l| policy.outputs.contains(&l));
        if expansion.transitions.iter().any(|transition| !is_policys(transition.label)) {
            return Ok(false);
        }
        let leads_on = |label: &LabelId| {
            expansion.transitions.iter().any(|transition| transition.label == Some(*label))
        };
        Ok(chosen.is_empty() || !chosen.iter().all(leads_on))
    }

    /// Returns whether the question lets `state` have successors.
    #[must_use]
    pub fn is_expanded(&self, state: &[i64]) -> bool {
        let question = &self.question;
        question.build_all || !question.is_unsafe(state) && !question.is_terminal(state)
    }

    /// Everything that is reachable.
    ///
    /// # Panics
    /// If a variable is not bounded.
    #[must_use]
    pub fn reachable(&self) -> Reachable {
        let mut result = Reachable { start_states: self.start_states(), ..Reachable::default() };
        let mut layer = result.start_states.clone();
        let mut distance = 0;
        while !layer.is_empty() {
            let mut next = BTreeSet::new();
            for state in &layer {
                result.distances.insert(state.clone(), distance);
            }
            for state in layer {
                if self.question.is_unsafe(&state) {
                    result.unsafe_states.insert(state.clone());
                    result.shortest = result.shortest.or(Some(distance));
                }
                if !self.is_expanded(&state) {
                    continue;
                }
                match self.expand(&state) {
                    Err(no_answer) => drop(result.no_answer.insert(state, no_answer)),
                    Ok(expansion) => {
                        result.dropped |= expansion.dropped;
                        for transition in expansion.transitions {
                            let target = transition.step.state;
                            result.transitions.insert((state.clone(), target.clone()));
                            if !result.distances.contains_key(&target) {
                                next.insert(target);
                            }
                        }
                    }
                }
            }
            layer = next;
            distance += 1;
        }
        result
    }
}
