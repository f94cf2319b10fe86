//! Forward search over the abstract states to the first unsafe one, with what earlier searches
//! found out.
//!
//! A transition is tested only when it leads to an abstract state that was not reached yet. What
//! was refuted for an abstract state stays refuted for its parts; a witness stays in the part that
//! holds it. So a refinement costs the tests about the abstract states that it split and their
//! predecessors.

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
    /// Reaches the abstract start states.
    fn start(&mut self) -> Result<(), EngineError> {
        let sources = self.abstraction.question.start_states();
        let mut found = BTreeSet::new();
        for (number, source) in sources.iter().enumerate() {
            for locations in self.start_locations(source)? {
                let root = self.reachability.tree.root(&locations);
                self.start_leaves(root, number, source, &mut found)?;
            }
        }
        for leaf in found {
            self.reachability.counts.start_states += 1;
            self.reach(leaf, None)?;
        }
        Ok(())
    }

    /// The locations in which there may be start states.
    fn start_locations(&mut self, source: &StartStates<'_>) -> Result<Vec<Vec<i64>>, EngineError> {
        let locations = self.reachability.tree.locations().to_vec();
        match source {
            StartStates::List(states) => {
                let mut all = BTreeSet::new();
                for state in *states {
                    self.budget.poll()?;
                    if !self.abstraction.predicates.domains().contains(state) {
                        let state = self.abstraction.question.model.display_state(state);
                        let message = format!("a start state outside the domains: {state}");
                        return Err(EngineError::Unsupported(message));
                    }
                    all.insert(locations.iter().map(|l| state[l.index()]).collect());
                }
                Ok(all.into_iter().collect())
            }
            StartStates::Region(condition, sides) => {
                let mut parts = vec![(Vec::new(), sides.clone())];
                for location in &locations {
                    let mut next = Vec::new();
                    for (values, sides) in parts {
                        self.budget.poll()?;
                        let side = sides[location.index()];
                        for value in side.lo..=side.hi {
                            let mut part = sides.clone();
                            part[location.index()] = IntInterval::point(value);
                            condition.tighten(&mut part);
                            if !part.is_empty() {
                                let mut values: Vec<i64> = values.clone();
                                values.push(value);
                                next.push((values, part));
                            }
                        }
                    }
                    parts = next;
                }
                Ok(parts.into_iter().map(|(values, _)| values).collect())
            }
        }
    }

    /// Collects the leaves under a node that hold start states of a source.
    fn start_leaves(
        &mut self,
        id: NodeId,
        number: usize,
        source: &StartStates<'_>,
        found: &mut BTreeSet<NodeId>,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        let known = self.reachability.tree.node(id).start[number];
        let any = match known {
            Some(any) => any,
            None => {
                let any = self.holds_start(id, source)?;
                self.reachability.tree.node_mut(id).start[number] = Some(any);
                any
            }
        };
        if !any {
            return Ok(());
        }
        match self.reachability.tree.open(id) {
            None => {
                found.insert(id);
            }
            Some((_, parts)) => {
                for part in parts {
                    self.start_leaves(part, number, source, found)?;
                }
            }
        }
        Ok(())
    }

    fn holds_start(&mut self, id: NodeId, source: &StartStates<'_>) -> Result<bool, EngineError> {
        let cell = &self.reachability.tree.node(id).cell;
        match source {
            StartStates::List(states) => Ok(states.iter().any(|state| cell.contains(state))),
            StartStates::Region(condition, sides) => {
                let sides = sides.intersect(&cell.sides);
                if sides.is_empty() {
                    return Ok(false);
                }
                let conditions = cell.others.iter().map(Literal::condition);
                let region = Region::new(sides, conditions.chain([condition]));
                self.queries.is_inhabited(&region, self.budget)
            }
        }
    }

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

    /// Follows the candidates of one outcome to the abstract states that they lead to.
    fn follow(
        &mut self,
        group: &[Candidate],
        states: &Region<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        let mut region: Option<Region<'_>> = None;
        for candidate in group {
            self.budget.poll()?;
            let target = candidate.target;
            if self.first_unsafe.is_some() {
                outgoing.kept.push(candidate.clone());
                continue;
            }
            if self.reachability.tree.open(target).is_none() {
                if self.is_reached(target) {
                    outgoing.kept.push(candidate.clone());
                    continue;
                }
                if candidate.found != Found::Nothing {
                    outgoing.kept.push(candidate.clone());
                    self.reach(target, Some(outgoing.arrival()))?;
                    continue;
                }
            }
            let valid = match &region {
                Some(region) => region,
                None => {
                    let (o, d) = (outgoing.operator as usize, outgoing.destination as usize);
                    let prepared = &abstraction.operators.all()[o];
                    let applicable = states.restrict([&prepared.operator.guard]);
                    region.insert(valid_region(abstraction, &applicable, o, d))
                }
            };
            if valid.is_empty() {
                return Ok(());
            }
            let literals = self.reachability.tree.path_literals(target);
            let effects: Vec<Literals> = literals
                .iter()
                .map(|literal| self.precondition(outgoing, literal.predicate))
                .collect();
            let conditions = effects
                .iter()
                .zip(&literals)
                .map(|(effect, literal)| &effect[usize::from(literal.value)]);
            let part = valid.restrict(conditions);
            let witness = match &candidate.found {
                Found::Witness(state) if valid.sides.dimensions() == state.len() => Some(&**state),
                _ => None,
            };
            self.descend(target, &part, witness, outgoing)?;
            if outgoing.is_refuted {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The literals of a predicate before the outcome.
    fn precondition(&mut self, outgoing: &Outgoing, predicate: PredicateId) -> Literals {
        let Reachability { tree, preconditions, .. } = &mut *self.reachability;
        let key = (outgoing.operator, outgoing.destination, predicate);
        let known = preconditions.entry(key).or_insert_with(|| {
            let operator = &self.abstraction.operators.all()[outgoing.operator as usize].operator;
            let destination = &operator.destinations[outgoing.destination as usize];
            let literals = tree.literals(predicate);
            let updated = literals[1].variables().iter().any(|&v| destination.update(v).is_some());
            updated.then(|| {
                Arc::new([0, 1].map(|value| destination.weakest_precondition(&literals[value])))
            })
        });
        match known {
            Some(literals) => Arc::clone(literals),
            None => tree.literals(predicate),
        }
    }

    /// The abstract states under a node that the source states of `region` lead to; `witness` is
    /// one of them in which the policy chooses the label.
    fn descend(
        &mut self,
        id: NodeId,
        region: &Region<'_>,
        witness: Option<&[i64]>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        if region.is_empty() || outgoing.is_refuted {
            return Ok(());
        }
        if self.first_unsafe.is_some() {
            outgoing.keep(id, Found::Nothing);
            return Ok(());
        }
        let Some((predicate, parts)) = self.reachability.tree.open(id) else {
            return self.test(id, region, witness, outgoing);
        };
        let literals = self.precondition(outgoing, predicate);
        for value in [1, 0] {
            let part = region.restrict([&literals[value]]);
            let witness = witness.filter(|state| literals[value].holds(state) == Ok(true));
            self.descend(parts[value], &part, witness, outgoing)?;
        }
        Ok(())
    }

    /// The transition tests, for an abstract state that was not reached yet.
    fn test(
        &mut self,
        leaf: NodeId,
        region: &Region<'_>,
        witness: Option<&[i64]>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        if let Some(witness) = witness {
            outgoing.keep(leaf, Found::Witness(witness.into()));
            if !self.is_reached(leaf) {
                self.reach(leaf, Some(outgoing.arrival()))?;
            }
            return Ok(());
        }
        if self.is_reached(leaf) {
            outgoing.keep(leaf, Found::Nothing);
            return Ok(());
        }
        let output = outgoing.output.filter(|_| self.abstraction.policy.is_some());
        let mut answer = self.queries.t_sat(region, output.is_none(), self.budget)?;
        if let Some(output) = output
            && !answer.refuted()
        {
            if !outgoing.is_selected {
                let cell = self.reachability.tree.node(outgoing.source).cell.clone();
                let states = cell.region().restrict([self.abstraction.not_terminal()]);
                match self.queries.is_select_pi(&states, output, self.budget)? {
                    Answer::Refuted => {
                        outgoing.is_refuted = true;
                        return Ok(());
                    }
                    Answer::Possible(state) => outgoing.selected_in = state,
                }
                outgoing.is_selected = true;
            }
            answer = match &outgoing.selected_in {
                Some(state) if is_in(region, state) => Answer::Possible(Some(state.clone())),
                _ => self.queries.t_sat_pi(region, output, self.budget)?,
            };
        }
        let found = match answer {
            Answer::Refuted => return Ok(()),
            Answer::Possible(Some(witness)) => {
                let variables = self.abstraction.predicates.domains().dimensions();
                let state: State = witness[..variables].to_vec();
                Found::Witness(state.into())
            }
            Answer::Possible(None) => Found::Possible,
        };
        outgoing.keep(leaf, found);
        self.reach(leaf, Some(outgoing.arrival()))
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
