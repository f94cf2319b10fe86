//! Forward search over the abstract states to the first unsafe one, with what earlier searches
//! found out.
//!
//! A transition is tested only when it leads to an abstract state that was not reached yet. What
//! was refuted for an abstract state stays refuted for its parts; a witness stays in the part that
//! holds it. So a refinement costs the tests about the abstract states that it split and their
//! predecessors.

mod outcome;
mod start;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use policert_engine_api::{Answer, Budget, Counts, EngineError, Event, Observer, StartStates};
use policert_model::{Condition, State, Truth};
use policert_numeric::IntInterval;
use rustc_hash::FxHashMap;

use super::config::SearchOrder;
use super::path::AbstractPath;
use super::state_tree::{
    Arrival, Candidate, Found, Literal, Literals, NodeId, PredicateId, StateTree,
};
use crate::engine::Abstraction;
use crate::operators::choice_sides;
use crate::queries::Queries;
use crate::region::Region;

/// What the searches of all iterations share.
#[derive(Debug)]
pub(super) struct Reachability {
    pub tree: StateTree,
    /// Weakest preconditions of predicates by operator and outcome; `None` where the outcome
    /// updates none of their variables.
    preconditions: FxHashMap<(u32, u32, PredicateId), Option<Literals>>,
    /// Outcomes that may leave a domain.
    may_drop: BTreeSet<(usize, usize)>,
    /// The number of the search.
    number: u64,
    pub counts: Counts,
}

/// One search.
struct Search<'r, 's, 'q> {
    reachability: &'q mut Reachability,
    abstraction: &'r Abstraction<'r>,
    queries: &'q mut Queries<'s>,
    budget: &'q mut Budget,
    waiting: Waiting,
    first_unsafe: Option<NodeId>,
}

/// The abstract states that wait to be visited.
#[derive(Debug)]
struct Waiting {
    order: SearchOrder,
    /// The nearest to unsafe states first, then the oldest.
    heap: BinaryHeap<Reverse<(u32, u64, NodeId)>>,
    pushed: u64,
}

impl Waiting {
    fn new(order: SearchOrder) -> Self {
        Self { order, heap: BinaryHeap::new(), pushed: 0 }
    }

    fn push(&mut self, leaf: NodeId, distance: Option<u32>) {
        let distance = match self.order {
            SearchOrder::BreadthFirst => 0,
            SearchOrder::Guided => distance.unwrap_or(u32::MAX),
        };
        self.heap.push(Reverse((distance, self.pushed, leaf)));
        self.pushed += 1;
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.heap.pop().map(|Reverse((_, _, leaf))| leaf)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }
}

/// The transitions of one abstract state by one outcome.
struct Outgoing {
    source: NodeId,
    operator: u32,
    destination: u32,
    output: Option<usize>,
    /// The candidates that remain.
    kept: Vec<Candidate>,
    /// Whether the policy is known to choose the label somewhere, or may.
    is_selected: bool,
    /// A source state in which it does.
    selected_in: Option<State>,
    /// Whether it is known that it does not.
    is_refuted: bool,
}

impl Reachability {
    pub fn new(abstraction: &Abstraction<'_>) -> Self {
        let predicates = &abstraction.predicates;
        let locations = predicates.layout().locations().to_vec();
        let sources = abstraction.question.start_states().len();
        Self {
            tree: StateTree::new(predicates.domains().clone(), locations, sources),
            preconditions: FxHashMap::default(),
            may_drop: BTreeSet::new(),
            number: 0,
            counts: Counts::default(),
        }
    }

    /// Notes how far the abstract states of a path are from its end.
    pub fn note_distances(&mut self, path: &AbstractPath) {
        for (distance, state) in (0u32..).zip(path.states.iter().rev()) {
            self.tree.node_mut(state.node).distance = Some(distance);
        }
    }

    /// Searches for an abstract unsafe state; breadth-first on a shortest path.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn search(
        &mut self,
        abstraction: &Abstraction<'_>,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
        search_order: SearchOrder,
    ) -> Result<Option<NodeId>, EngineError> {
        self.number += 1;
        self.counts = Counts { predicates: self.counts.predicates, ..Counts::default() };
        let mut search = Search {
            reachability: self,
            abstraction,
            queries,
            budget,
            waiting: Waiting::new(search_order),
            first_unsafe: None,
        };
        search.start()?;
        while search.first_unsafe.is_none()
            && let Some(source) = search.waiting.pop()
        {
            search.budget.poll_clock()?;
            let counts = &search.reachability.counts;
            let stored = usize::try_from(counts.reachable_states).unwrap_or(usize::MAX);
            search.budget.check_states(stored)?;
            search.visit(source)?;
            let waiting = search.waiting.len() as u64;
            let counts = &mut search.reachability.counts;
            counts.expanded_states += 1;
            observer.event(Event::Progress {
                expanded: counts.expanded_states,
                reached: counts.reachable_states,
                waiting,
                transitions: counts.transitions,
            });
        }
        let first_unsafe = search.first_unsafe;
        self.counts.dropped_outcomes = self.may_drop.len() as u64;
        Ok(first_unsafe)
    }
}

impl Search<'_, '_, '_> {
    /// Notes that an abstract state is reached.
    fn reach(&mut self, leaf: NodeId, arrival: Option<Arrival>) -> Result<(), EngineError> {
        let number = self.reachability.number;
        let node = self.reachability.tree.node_mut(leaf);
        node.reached_in = number;
        node.arrival = arrival;
        self.reachability.counts.reachable_states += 1;
        let known = self.reachability.tree.node(leaf).is_unsafe;
        let is_unsafe = match known {
            Some(is_unsafe) => is_unsafe,
            None => {
                let cell = &self.reachability.tree.node(leaf).cell;
                let condition = &self.abstraction.question.property.unsafe_condition;
                let region = cell.region().restrict([condition]);
                let is_unsafe = self.queries.is_inhabited(&region, self.budget)?;
                self.reachability.tree.node_mut(leaf).is_unsafe = Some(is_unsafe);
                is_unsafe
            }
        };
        if is_unsafe {
            self.reachability.counts.unsafe_states += 1;
            self.first_unsafe.get_or_insert(leaf);
        } else {
            let distance = self.reachability.tree.node(leaf).distance;
            self.waiting.push(leaf, distance);
        }
        Ok(())
    }

    fn is_reached(&self, leaf: NodeId) -> bool {
        self.reachability.tree.node(leaf).reached_in == self.reachability.number
    }

    /// Reaches the successors of an abstract state.
    fn visit(&mut self, source: NodeId) -> Result<(), EngineError> {
        let cell = self.reachability.tree.node(source).cell.clone();
        let states = cell.region().restrict([self.abstraction.not_terminal()]);
        self.queries.enter(&states);
        let candidates = match self.reachability.tree.node_mut(source).candidates.take() {
            Some(candidates) => candidates,
            None => self.all_candidates(&states)?,
        };
        let mut kept = Vec::with_capacity(candidates.len());
        let mut refuted: Option<usize> = None;
        let mut selected: Option<usize> = None;
        let mut selected_in: Option<State> = None;
        let mut rest = &candidates[..];
        while let Some(first) = rest.first() {
            let same =
                |c: &&Candidate| (c.operator, c.destination) == (first.operator, first.destination);
            let count = rest.iter().take_while(same).count();
            let (group, after) = rest.split_at(count);
            rest = after;
            let output = self.abstraction.operators.output_of(first.operator as usize);
            if output.is_some() && refuted == output {
                continue;
            }
            let is_selected = self.abstraction.policy.is_none()
                || output.is_none()
                || selected == output
                || group.iter().any(|c| c.found != Found::Nothing);
            let mut outgoing = Outgoing {
                source,
                operator: first.operator,
                destination: first.destination,
                output,
                kept: Vec::new(),
                is_selected,
                selected_in: if selected == output { selected_in.take() } else { None },
                is_refuted: false,
            };
            self.follow(group, &states, &mut outgoing)?;
            if outgoing.is_refuted {
                refuted = output;
                kept.retain(|c: &Candidate| {
                    self.abstraction.operators.output_of(c.operator as usize) != output
                });
                continue;
            }
            if outgoing.is_selected {
                selected = output;
                selected_in = outgoing.selected_in.take();
            }
            self.reachability.counts.transitions +=
                outgoing.kept.iter().filter(|c| c.found != Found::Nothing).count() as u64;
            kept.append(&mut outgoing.kept);
        }
        self.reachability.tree.node_mut(source).candidates = Some(kept);
        Ok(())
    }

    /// Every outcome that may exist in these states, leading anywhere.
    fn all_candidates(&mut self, states: &Region<'_>) -> Result<Vec<Candidate>, EngineError> {
        let mut all = Vec::new();
        if states.is_empty() {
            return Ok(all);
        }
        let abstraction = self.abstraction;
        for group in abstraction.operators.groups() {
            if let Some(output) = group.output
                && !group.operators.is_empty()
                && self.queries.is_select_pi(states, output, self.budget)?.refuted()
            {
                continue;
            }
            for &o in &group.operators {
                self.budget.poll()?;
                let prepared = &abstraction.operators.all()[o];
                if prepared.operator.guard.truth(&states.sides) == Truth::False {
                    continue;
                }
                let applicable = states.restrict([&prepared.operator.guard]);
                if applicable.is_empty() || self.queries.is_app(&applicable, self.budget)?.refuted()
                {
                    continue;
                }
                for d in 0..prepared.operator.destinations.len() {
                    let valid = valid_region(abstraction, &applicable, o, d);
                    if prepared.operator.destinations[d].choices.is_empty()
                        && !outcome_is_certain(abstraction, &applicable, o, d)
                    {
                        self.reachability.may_drop.insert((o, d));
                    }
                    if valid.is_empty() {
                        continue;
                    }
                    self.refuse_conflict(&valid, group.output, o, d)?;
                    let target = self.root_after(states, o, d);
                    let (Ok(operator), Ok(destination)) = (u32::try_from(o), u32::try_from(d))
                    else {
                        return Err(EngineError::Unsupported("too many operators".to_owned()));
                    };
                    let found = Found::Nothing;
                    all.push(Candidate { operator, destination, target, found });
                }
            }
        }
        Ok(all)
    }

    /// The root that an outcome leads to.
    fn root_after(&mut self, states: &Region<'_>, operator: usize, destination: usize) -> NodeId {
        let abstraction = self.abstraction;
        let outcome = abstraction.operators.all()[operator].outcome(
            destination,
            abstraction.question.model,
            &abstraction.predicates,
        );
        let tree = &mut self.reachability.tree;
        let mut locations: Vec<i64> =
            tree.locations().iter().map(|l| states.sides[l.index()].lo).collect();
        for &(k, location) in &outcome.locations {
            locations[k] = location;
        }
        tree.root(&locations)
    }

    /// Refuses an outcome that assigns two values at once where the policy chooses it.
    fn refuse_conflict(
        &mut self,
        valid: &Region<'_>,
        output: Option<usize>,
        operator: usize,
        destination: usize,
    ) -> Result<(), EngineError> {
        let operator = &self.abstraction.operators.all()[operator].operator;
        let conflict = &operator.destinations[destination].conflict;
        if conflict.condition == Condition::False {
            return Ok(());
        }
        let conflicting = valid.restrict([&conflict.condition]);
        if !self.queries.is_inhabited(&conflicting, self.budget)? {
            return Ok(());
        }
        if let Some(output) = output
            && self.queries.t_sat_pi(&conflicting, output, self.budget)?.refuted()
        {
            return Ok(());
        }
        Err(EngineError::Unsupported(format!(
            "{} may assign two values at once to {}",
            self.abstraction.question.model.display_operator(&operator.key),
            conflict.variables.join(", ")
        )))
    }
}

impl Outgoing {
    fn arrival(&self) -> Arrival {
        Arrival { source: self.source, operator: self.operator, destination: self.destination }
    }

    fn keep(&mut self, target: NodeId, found: Found) {
        let (operator, destination) = (self.operator, self.destination);
        self.kept.push(Candidate { operator, destination, target, found });
    }
}

/// Whether a state without free choices belongs to a region.
fn is_in(region: &Region<'_>, state: &[i64]) -> bool {
    region.sides.dimensions() == state.len()
        && region.sides.contains(state)
        && region.conditions.iter().all(|condition| condition.holds(state) == Ok(true))
}

/// The states, and free choices, in which an outcome exists and stays inside all domains.
fn valid_region<'x>(
    abstraction: &'x Abstraction<'_>,
    applicable: &Region<'x>,
    operator: usize,
    destination: usize,
) -> Region<'x> {
    let prepared = &abstraction.operators.all()[operator];
    let model = abstraction.question.model;
    let outcome = prepared.outcome(destination, model, &abstraction.predicates);
    let sides = choice_sides(&prepared.operator.destinations[destination], &applicable.sides);
    applicable.extend(sides).restrict(&outcome.validity)
}

/// Whether an outcome exists in all of these states, as far as bounds tell.
fn outcome_is_certain(
    abstraction: &Abstraction<'_>,
    applicable: &Region<'_>,
    operator: usize,
    destination: usize,
) -> bool {
    let prepared = &abstraction.operators.all()[operator];
    let model = abstraction.question.model;
    let outcome = prepared.outcome(destination, model, &abstraction.predicates);
    outcome.validity.iter().all(|c| c.truth(&applicable.sides) == Truth::True)
}
