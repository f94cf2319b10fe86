//! The abstract states, as the leaves of a tree of predicates that is split lazily and locally.
//!
//! There is one root for each combination of locations. An inner node has a predicate that tells
//! its two parts apart; a leaf is an abstract state. Predicates that hold for the whole
//! abstraction are applied when a leaf is looked at first, the others where a refinement needs
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use policert_model::{Condition, Truth, VarId};
use policert_numeric::{IntBox, IntInterval};
use rustc_hash::FxHashMap;

use crate::region::Region;

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NodeId(u32);

/// Position of a predicate among all of the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct PredicateId(u32);

/// The two literals of a predicate: that it is false, that it is true.
pub(super) type Literals = Arc<[Condition; 2]>;

/// A predicate with a truth value.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub predicate: PredicateId,
    pub literals: Literals,
    pub value: bool,
}

impl Literal {
    /// What it says.
    pub fn condition(&self) -> &Condition {
        &self.literals[usize::from(self.value)]
    }
}

/// The states of a node.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// Contains all of them.
    pub sides: IntBox,
    /// The literals that the box does not say yet.
    pub others: Vec<Literal>,
}

impl Cell {
    /// As a region.
    pub fn region(&self) -> Region<'_> {
        let conditions = self.others.iter().map(Literal::condition).collect();
        Region { sides: self.sides.clone(), conditions }
    }

    /// Whether a state belongs to it.
    pub fn contains(&self, state: &[i64]) -> bool {
        self.sides.contains(state)
            && self.others.iter().all(|literal| literal.condition().holds(state) == Ok(true))
    }

    /// The states that satisfy a literal too; `None` if there are none, as far as bounds tell.
    fn with(&self, literal: Literal) -> Option<Self> {
        let mut region = self.region();
        region = region.restrict([literal.condition()]);
        if region.is_empty() {
            return None;
        }
        let sides = region.sides;
        let mut others = self.others.clone();
        others.push(literal);
        others.retain(|literal| literal.condition().truth(&sides) != Truth::True);
        Some(Self { sides, others })
    }
}

/// A transition that is known or possible.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Position of the operator.
    pub operator: u32,
    /// Which of its outcomes.
    pub destination: u32,
    /// Where it may lead: a leaf, or a node that was split since.
    pub target: NodeId,
    /// What is known of it.
    pub found: Found,
}

/// What is known of a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// Nothing: it was not tested.
    Nothing,
    /// It exists: from this state.
    Witness(Box<[i64]>),
    /// Its test gave no witness and no refutation.
    Possible,
}

/// How a leaf was reached first in the latest search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    pub source: NodeId,
    pub operator: u32,
    pub destination: u32,
}

/// A node with what is known of it.
#[derive(Debug)]
pub(super) struct Node {
    pub cell: Cell,
    parent: Option<(NodeId, Literal)>,
    split: Option<(PredicateId, [NodeId; 2])>,
    /// Predicates of the whole abstraction that were applied.
    opened: usize,
    /// For each source of start states whether one of them is here, as far as it is known.
    pub start: Vec<Option<bool>>,
    /// Whether an unsafe state is here, as far as it is known.
    pub is_unsafe: Option<bool>,
    /// Its transitions, those that were refuted left out; `None` before the first visit.
    pub candidates: Option<Vec<Candidate>>,
    /// The number of the latest search that reached it.
    pub reached_in: u64,
    pub arrival: Option<Arrival>,
    /// How many steps from an unsafe state it was on the latest path through it, or through the
    /// node that it was split from.
    pub distance: Option<u32>,
}

/// The tree.
#[derive(Debug)]
pub(super) struct StateTree {
    domains: IntBox,
    locations: Vec<VarId>,
    sources: usize,
    nodes: Vec<Node>,
    roots: BTreeMap<Vec<i64>, NodeId>,
    predicates: Vec<Literals>,
    ids: FxHashMap<Condition, PredicateId>,
    everywhere: Vec<PredicateId>,
}

impl StateTree {
    /// A tree without predicates. `sources` is the number of sources of start states.
    pub fn new(domains: IntBox, locations: Vec<VarId>, sources: usize) -> Self {
        Self {
            domains,
            locations,
            sources,
            nodes: Vec::new(),
            roots: BTreeMap::new(),
            predicates: Vec::new(),
            ids: FxHashMap::default(),
            everywhere: Vec::new(),
        }
    }

    /// The location variables, in the order of the roots' keys.
    pub fn locations(&self) -> &[VarId] {
        &self.locations
    }

    /// The predicate that a condition is, and whether it is new.
    pub fn predicate(&mut self, condition: &Condition) -> (PredicateId, bool) {
        if let Some(&id) = self.ids.get(condition) {
            return (id, false);
        }
        let id = PredicateId(u32::try_from(self.predicates.len()).unwrap_or(u32::MAX));
        let negation = condition.negate();
        self.predicates.push(Arc::new([negation.clone(), condition.clone()]));
        self.ids.insert(condition.clone(), id);
        self.ids.entry(negation).or_insert(id);
        (id, true)
    }

    /// The literals of a predicate.
    pub fn literals(&self, predicate: PredicateId) -> Literals {
        Arc::clone(&self.predicates[predicate.0 as usize])
    }

    /// Applies a predicate to all abstract states, each when it is looked at next.
    pub fn split_everywhere(&mut self, predicate: PredicateId) {
        if !self.everywhere.contains(&predicate) {
            self.everywhere.push(predicate);
        }
    }

    /// The root of these locations.
    pub fn root(&mut self, locations: &[i64]) -> NodeId {
        if let Some(&root) = self.roots.get(locations) {
            return root;
        }
        let mut sides = self.domains.clone();
        for (&variable, &value) in self.locations.iter().zip(locations) {
            sides[variable.index()] = IntInterval::point(value);
        }
        let cell = Cell { sides, others: Vec::new() };
        let root = self.push(Node {
            cell,
            parent: None,
            split: None,
            opened: 0,
            start: vec![None; self.sources],
            is_unsafe: None,
            candidates: None,
            reached_in: 0,
            arrival: None,
            distance: None,
        });
        self.roots.insert(locations.to_vec(), root);
        root
    }

    fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A node, to note what was found out about it.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// The predicate and the parts of an inner node, where the second part is that of states that
    /// satisfy it; `None` for a leaf. Applies predicates of the whole abstraction first.
    pub fn open(&mut self, id: NodeId) -> Option<(PredicateId, [NodeId; 2])> {
        loop {
            let node = self.node_mut(id);
            if node.split.is_some() {
                return node.split;
            }
            let at = node.opened;
            let &predicate = self.everywhere.get(at)?;
            self.node_mut(id).opened += 1;
            self.split(id, predicate);
        }
    }

    /// Splits all leaves under a node. Returns whether one was.
    pub fn split_under(&mut self, id: NodeId, predicate: PredicateId) -> bool {
        match self.node(id).split {
            Some((_, parts)) => {
                let [low, high] = parts.map(|part| self.split_under(part, predicate));
                low || high
            }
            None => self.split(id, predicate),
        }
    }

    /// Splits a leaf, unless one part is empty as far as bounds tell.
    fn split(&mut self, id: NodeId, predicate: PredicateId) -> bool {
        let literals = self.literals(predicate);
        let node = self.node(id);
        if literals[1].truth(&node.cell.sides) != Truth::Maybe {
            return false;
        }
        let literal = |value| Literal { predicate, literals: Arc::clone(&literals), value };
        let cells = [false, true].map(|value| node.cell.with(literal(value)));
        let [Some(no), Some(yes)] = cells else { return false };
        let (opened, distance) = (node.opened, node.distance);
        let start: Vec<Option<bool>> =
            node.start.iter().map(|&known| known.filter(|&any| !any)).collect();
        let is_unsafe = node.is_unsafe.filter(|&any| !any);
        let candidates = self.node_mut(id).candidates.take();
        let parts = [(false, no), (true, yes)].map(|(value, cell)| {
            let candidates =
                candidates.as_ref().map(|all| inherited(all, &literals[usize::from(value)]));
            self.push(Node {
                cell,
                parent: Some((id, literal(value))),
                split: None,
                opened,
                start: start.clone(),
                is_unsafe,
                candidates,
                reached_in: 0,
                arrival: None,
                distance,
            })
        });
        self.node_mut(id).split = Some((predicate, parts));
        true
    }

    /// The literals from the root to a node.
    pub fn path_literals(&self, id: NodeId) -> Vec<Literal> {
        let mut all = Vec::new();
        let mut at = id;
        while let Some((parent, literal)) = &self.node(at).parent {
            all.push(literal.clone());
            at = *parent;
        }
        all.reverse();
        all
    }
}

/// The transitions of a part: witnesses stay where they are.
fn inherited(candidates: &[Candidate], literal: &Condition) -> Vec<Candidate> {
    candidates
        .iter()
        .map(|candidate| {
            let found = match &candidate.found {
                Found::Witness(state) if literal.holds(state) == Ok(true) => {
                    candidate.found.clone()
                }
                _ => Found::Nothing,
            };
            Candidate { found, ..candidate.clone() }
        })
        .collect()
}
