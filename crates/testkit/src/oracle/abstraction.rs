//! Predicate abstraction by projection of all concrete states (PPA 2022, Section 3).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use policert_model::State;

use super::reachability::{NoAnswer, Oracle};
use super::steps::holds;
use crate::states;

/// An abstract state: the locations of all instances, and the truth of every predicate of the
/// property.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AbstractState {
    /// Locations by instance.
    pub locations: Vec<i64>,
    /// Truth values by predicate.
    pub predicates: Vec<bool>,
}

/// The exact abstraction of a model under a policy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AbstractGraph {
    /// Abstract states of the start states.
    pub start_states: BTreeSet<AbstractState>,
    /// The abstract states that some concrete state has.
    pub abstract_states: BTreeMap<AbstractState, Projection>,
}

/// Says what is true of the concrete states of one abstract state together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Projection {
    /// Number of concrete states.
    pub concretizations: usize,
    /// Abstract states of all successors, by transitions of any concrete state that the question
    /// lets have successors.
    pub successors: BTreeSet<AbstractState>,
    /// True if one of the concrete states is unsafe.
    pub is_unsafe: bool,
    /// The reason why one of the concrete states has no answer, if one has none.
    pub no_answer: Option<NoAnswer>,
}

/// Holds what is reachable in the abstraction, if abstract states with an unsafe concrete state are
/// not expanded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AbstractReachable {
    /// The reachable abstract states with their distance from a start state.
    pub distances: BTreeMap<AbstractState, usize>,
    /// Number of transitions of a shortest path to an abstract state that is unsafe.
    pub shortest: Option<usize>,
}

impl Oracle<'_> {
    /// The abstract state of a state. A predicate without truth value does not hold.
    #[must_use]
    pub fn abstraction(&self, state: &[i64]) -> AbstractState {
        let model = self.question.model;
        let locations = model.instances.iter().map(|i| state[i.location.index()]).collect();
        let predicates = &self.question.property.predicates;
        let predicates = predicates.iter().map(|p| holds(&p.condition, state)).collect();
        AbstractState { locations, predicates }
    }

    /// The exact abstraction.
    ///
    /// # Panics
    /// If a variable is not bounded.
    #[must_use]
    pub fn abstract_graph(&self) -> AbstractGraph {
        let start_states = self.start_states().iter().map(|s| self.abstraction(s)).collect();
        let mut abstract_states: BTreeMap<AbstractState, Projection> = BTreeMap::new();
        for state in states(self.question.model) {
            let projection = abstract_states.entry(self.abstraction(&state)).or_default();
            projection.concretizations += 1;
            projection.is_unsafe |= self.question.is_unsafe(&state);
            if !self.is_expanded(&state) {
                continue;
            }
            match self.expand(&state) {
                Err(no_answer) => projection.no_answer = Some(no_answer),
                Ok(expansion) => {
                    let targets = expansion.transitions.iter().map(|t| &t.step.state);
                    projection.successors.extend(targets.map(|s| self.abstraction(s)));
                }
            }
        }
        AbstractGraph { start_states, abstract_states }
    }

    /// The concrete states of an abstract state.
    ///
    /// # Panics
    /// If a variable is not bounded.
    #[must_use]
    pub fn concretizations(&self, state: &AbstractState) -> Vec<State> {
        let mut all = states(self.question.model);
        all.retain(|concrete| self.abstraction(concrete) == *state);
        all
    }
}

impl AbstractGraph {
    /// Returns what is reachable from the abstract start states.
    #[must_use]
    pub fn reachable(&self) -> AbstractReachable {
        let mut result = AbstractReachable::default();
        let mut queue: VecDeque<(&AbstractState, usize)> =
            self.start_states.iter().map(|state| (state, 0)).collect();
        while let Some((state, distance)) = queue.pop_front() {
            if result.distances.contains_key(state) {
                continue;
            }
            result.distances.insert(state.clone(), distance);
            let Some(projection) = self.abstract_states.get(state) else { continue };
            if projection.is_unsafe {
                result.shortest = result.shortest.or(Some(distance));
                continue;
            }
            queue.extend(projection.successors.iter().map(|next| (next, distance + 1)));
        }
        result
    }
}
