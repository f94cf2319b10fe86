//! Forward search over the abstract states to the first unsafe one, with what earlier searches
//! found out.
//!
//! A transition is tested only when it leads to an abstract state that was not reached yet. What
//! was refuted for an abstract state stays refuted for its parts; a witness stays in the part that
//! holds it. So a refinement costs the tests about the abstract states that it split and their
//! predecessors.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use policert_engine_api::{Budget, Counts, EngineError, Event, Invariant, Observer};
use rustc_hash::{FxHashMap, FxHashSet};

use super::config::SearchOrder;
use super::preconditions::Preconditions;
use super::start_list::StartList;
use super::state_tree::{Arrival, StateTree, TreeNodeId};
use crate::abstraction::Abstraction;
use crate::queries::Queries;

/// Holds what the searches of all iterations share.
#[derive(Debug)]
pub(crate) struct Reachability {
    pub tree: StateTree,
    /// By operator and outcome.
    pub preconditions: FxHashMap<(u32, u32), Preconditions>,
    /// Outcomes that may leave a domain.
    pub may_drop: BTreeSet<(usize, usize)>,
    /// The number of the search.
    number: u64,
    /// The abstract states that the latest search visited.
    pub visited: Vec<TreeNodeId>,
    /// The start states, once they were looked at.
    pub start_list: Option<StartList>,
    pub counts: Counts,
}

pub(crate) struct LeafSearch<'r, 's, 'q> {
    pub reachability: &'q mut Reachability,
    pub abstraction: &'r Abstraction<'r>,
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
    waiting: Waiting,
    pub first_unsafe: Option<TreeNodeId>,
}

/// The abstract states that wait to be visited.
#[derive(Debug)]
struct Waiting {
    order: SearchOrder,
    /// The nearest to unsafe states first, then the oldest.
    heap: BinaryHeap<Reverse<(u32, u64, TreeNodeId)>>,
    pushed: u64,
}

impl Waiting {
    fn new(order: SearchOrder) -> Self {
        Self { order, heap: BinaryHeap::new(), pushed: 0 }
    }

    fn push(&mut self, leaf: TreeNodeId, distance: Option<u32>) {
        let distance = match self.order {
            SearchOrder::BreadthFirst => 0,
            SearchOrder::Guided => distance.unwrap_or(u32::MAX),
        };
        self.heap.push(Reverse((distance, self.pushed, leaf)));
        self.pushed += 1;
    }

    fn pop(&mut self) -> Option<TreeNodeId> {
        self.heap.pop().map(|Reverse((_, _, leaf))| leaf)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }
}

impl Reachability {
    pub fn new(abstraction: &Abstraction<'_>) -> Self {
        let predicates = &abstraction.predicates;
        let locations = predicates.layout().locations().to_vec();
        Self {
            tree: StateTree::new(predicates.domains().clone(), locations),
            preconditions: FxHashMap::default(),
            may_drop: BTreeSet::new(),
            number: 0,
            visited: Vec::new(),
            start_list: None,
            counts: Counts::default(),
        }
    }

    /// Notes how far the abstract states that the latest search visited are from `last`, by
    /// transitions that are possible as far as is known.
    pub fn note_distances(&mut self, last: TreeNodeId) {
        let mut predecessors: FxHashMap<TreeNodeId, Vec<TreeNodeId>> = FxHashMap::default();
        for &source in &self.visited {
            let candidates = self.tree.node(source).candidates.as_ref();
            for candidate in candidates.into_iter().flat_map(|all| all.iter()) {
                predecessors.entry(candidate.target).or_default().push(source);
            }
        }
        self.tree.node_mut(last).distance = Some(0);
        let mut seen: FxHashSet<TreeNodeId> = FxHashSet::from_iter([last]);
        let mut layer = vec![last];
        let mut distance = 0;
        while !layer.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for target in layer {
                for &source in predecessors.get(&target).into_iter().flatten() {
                    if seen.insert(source) {
                        self.tree.node_mut(source).distance = Some(distance);
                        next.push(source);
                    }
                }
            }
            layer = next;
        }
    }

    /// The states that the abstract states of the latest search stand for.
    pub fn invariant(&self) -> Invariant {
        let piece = |&id: &TreeNodeId| {
            let cell = self.tree.cell(id);
            let conditions = cell.others.iter().map(|literal| literal.condition().clone());
            policert_model::Region { conditions: conditions.collect(), sides: cell.sides }
        };
        Invariant::new(self.visited.iter().map(piece).collect())
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
    ) -> Result<Option<TreeNodeId>, EngineError> {
        self.number += 1;
        self.visited.clear();
        self.counts = Counts { predicates: self.counts.predicates, ..Counts::default() };
        let mut search = LeafSearch {
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
            search.reachability.tree.check_memory(search.budget)?;
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

impl LeafSearch<'_, '_, '_> {
    /// Notes that an abstract state is reached.
    pub fn reach(&mut self, leaf: TreeNodeId, arrival: Option<Arrival>) -> Result<(), EngineError> {
        let number = self.reachability.number;
        let node = self.reachability.tree.node_mut(leaf);
        node.reached_in = number;
        node.arrival = arrival;
        self.reachability.counts.reachable_states += 1;
        let known = self.reachability.tree.node(leaf).is_unsafe;
        let is_unsafe = match known {
            Some(is_unsafe) => is_unsafe,
            None => {
                let cell = self.reachability.tree.cell(leaf);
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

    pub fn is_reached(&self, leaf: TreeNodeId) -> bool {
        self.reachability.tree.node(leaf).reached_in == self.reachability.number
    }
}
