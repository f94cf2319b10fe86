//! The reachable fragment of the policy predicate abstraction Θ^π_𝒫: forward search from the
//! abstract start states (PPA 2022, Section 7).

use std::collections::VecDeque;

use policert_engine_api::{Budget, Counts, EngineError, Event, Id, Observer, SideTable};

use crate::abstraction::Abstraction;
use crate::expansion::Expansion;
use crate::given::Transitions;
use crate::queries::Queries;
use crate::start_states::abstract_start_states;
use crate::{AbstractStateId, AbstractStateTable};

/// Holds what is known of an abstract state that was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateInfo {
    /// True if it is an abstract start state.
    pub is_start: bool,
    /// True if it contains an unsafe state.
    pub is_unsafe: bool,
    /// Number of transitions from a start state.
    pub depth: u32,
    /// The way in which it was reached first.
    pub parent: Option<AbstractStep>,
}

/// An abstract transition with its operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AbstractStep {
    pub source: AbstractStateId,
    /// Position of the operator.
    pub operator: usize,
    /// The position of the outcome among those of the operator.
    pub destination: usize,
}

/// The fragment built so far.
#[derive(Debug, Default)]
pub struct AbstractFragment {
    /// The states met.
    pub states: AbstractStateTable,
    /// The knowledge about each of them.
    pub info: SideTable<AbstractStateId, StateInfo>,
    /// The transitions, each pair once, in the order of finding.
    pub transitions: Vec<(AbstractStateId, AbstractStateId)>,
    /// The abstract unsafe state that was met first: its path is shortest.
    pub first_unsafe: Option<AbstractStateId>,
    /// Counts for the report.
    pub counts: Counts,
}

/// Everything that the search works with.
pub struct FragmentSearch<'a, 's, 'q> {
    /// Predicates and operators.
    pub abstraction: &'a Abstraction<'a>,
    /// The tests.
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
    /// Receives events.
    pub observer: &'q mut dyn Observer,
}

impl Abstraction<'_> {
    /// Builds the reachable fragment. What was built before a stop stays in `fragment`.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn build(
        &self,
        queries: &mut Queries<'_>,
        fragment: &mut AbstractFragment,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        FragmentSearch { abstraction: self, queries, budget, observer }.run(fragment)
    }
}

impl FragmentSearch<'_, '_, '_> {
    /// Builds the fragment reachable from the abstract start states. What was built before a
    /// stop stays in `fragment`.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn run(&mut self, fragment: &mut AbstractFragment) -> Result<(), EngineError> {
        fragment.counts.predicates = Some(self.abstraction.predicates.len() as u64);
        self.observer.event(Event::Phase("abstract start states"));
        let mut queue = VecDeque::new();
        let start = abstract_start_states(self.abstraction, self.queries, self.budget)?;
        // The first abstract unsafe state has a shortest path.
        let until_unsafe = self.abstraction.question.stop_at_first_unsafe;
        for id in start.sorted() {
            self.budget.poll()?;
            let (id, _) = fragment.states.intern(&start.state(id));
            self.meet(fragment, id, None, true)?;
            // An unsafe abstract start state is expanded: it may hold safe start states.
            queue.push_back(id);
        }
        self.count(fragment);
        if until_unsafe && fragment.first_unsafe.is_some() {
            return Ok(());
        }
        self.observer.event(Event::Phase("abstract states"));
        let mut may_drop = 0;
        while let Some(source) = queue.pop_front() {
            self.budget.poll_clock()?;
            self.budget.check_states(fragment.states.len())?;
            let state = fragment.states.state(source);
            let mut transitions = Transitions::new(&mut fragment.states);
            let mut expansion = Expansion {
                abstraction: self.abstraction,
                queries: &mut *self.queries,
                budget: &mut *self.budget,
            };
            may_drop += expansion.expand(&state, &mut transitions)?;
            for (target, (operator, destination)) in transitions.found {
                let step = AbstractStep { source, operator, destination };
                fragment.transitions.push((source, target));
                if target.to_index() < fragment.info.len() {
                    continue;
                }
                self.meet(fragment, target, Some(step), false)?;
                if !fragment.info[target].is_unsafe || self.abstraction.question.build_all {
                    queue.push_back(target);
                }
            }
            fragment.counts.expanded_states += 1;
            fragment.counts.dropped_outcomes = may_drop;
            self.count(fragment);
            if until_unsafe && fragment.first_unsafe.is_some() {
                return Ok(());
            }
            self.observer.event(Event::Progress {
                expanded: fragment.counts.expanded_states,
                reached: fragment.states.len() as u64,
                waiting: queue.len() as u64,
                transitions: fragment.transitions.len() as u64,
            });
        }
        self.count(fragment);
        Ok(())
    }

    /// Notes a state that is met for the first time. States are met in the order of their ids.
    fn meet(
        &mut self,
        fragment: &mut AbstractFragment,
        id: AbstractStateId,
        parent: Option<AbstractStep>,
        is_start: bool,
    ) -> Result<(), EngineError> {
        let state = fragment.states.state(id);
        let states = self.abstraction.predicates.concretisation(&state);
        let unsafe_states = states.restrict([&self.abstraction.question.property.unsafe_condition]);
        let is_unsafe = self.queries.is_inhabited(&unsafe_states, self.budget)?;
        let depth = parent.map_or(0, |step| fragment.info[step.source].depth + 1);
        fragment.info.push(StateInfo { is_start, is_unsafe, depth, parent });
        fragment.counts.start_states += u64::from(is_start);
        if is_unsafe {
            fragment.counts.unsafe_states += 1;
            fragment.first_unsafe.get_or_insert(id);
        }
        Ok(())
    }

    fn count(&self, fragment: &mut AbstractFragment) {
        fragment.counts.reachable_states = fragment.info.len() as u64;
        fragment.counts.transitions = fragment.transitions.len() as u64;
    }
}

impl AbstractFragment {
    /// For each abstract start state, in the order of ids, whether no abstract unsafe state is
    /// reachable from it: then it is proved safe. Meaningful once the fragment is complete.
    #[must_use]
    pub fn safe_start_states(&self) -> Vec<(AbstractStateId, bool)> {
        // Backward reachability from the unsafe states.
        let mut predecessors: Vec<Vec<AbstractStateId>> = vec![Vec::new(); self.info.len()];
        for &(source, target) in &self.transitions {
            predecessors[target.to_index()].push(source);
        }
        let mut reaches: Vec<bool> = self.info.iter().map(|(_, info)| info.is_unsafe).collect();
        let mut stack: Vec<AbstractStateId> =
            self.info.iter().filter(|(_, info)| info.is_unsafe).map(|(id, _)| id).collect();
        while let Some(id) = stack.pop() {
            for &source in &predecessors[id.to_index()] {
                if !std::mem::replace(&mut reaches[source.to_index()], true) {
                    stack.push(source);
                }
            }
        }
        self.info
            .iter()
            .filter(|(_, info)| info.is_start)
            .map(|(id, _)| (id, !reaches[id.to_index()]))
            .collect()
    }

    /// The states on the path by which `last` was first reached, from a start state on.
    #[must_use]
    pub fn path_to(&self, last: AbstractStateId) -> Vec<(AbstractStateId, Option<AbstractStep>)> {
        let mut path = Vec::new();
        let mut at = Some(last);
        while let Some(id) = at {
            let parent = self.info[id].parent;
            path.push((id, parent));
            at = parent.map(|step| step.source);
        }
        path.reverse();
        path
    }
}
