//! The abstract states, as the leaves of a tree of predicates that is split lazily and locally.
//!
//! There is one root for each combination of locations. An inner node has a predicate that tells
//! its two parts apart; a leaf is an abstract state. Predicates that hold for the whole
//! abstraction are applied when a leaf is looked at first, the others where a refinement needs
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

use policert_engine_api::{Budget, StopReason};
use policert_model::{Condition, Truth, VarId};
use policert_numeric::{IntBox, IntInterval};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cell::{Cell, Difference, Literal, Literals};
use super::path_literals::PathLiterals;
use super::predicate_id::PredicateId;
use crate::abstraction::Abstraction;

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TreeNodeId(u32);

/// A transition that is known or possible.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Position of the operator.
    pub operator: u32,
    /// The position of the outcome among those of the operator.
    pub destination: u32,
    /// The target, if the transition exists: a leaf, or a node that was split since.
    pub target: TreeNodeId,
    /// The knowledge about the transition.
    pub found: Found,
}

/// Says what is known of a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// Nothing: it was not tested.
    Nothing,
    /// It exists: from this state.
    Witness(Arc<[i64]>),
    /// Its test gave no witness and no refutation.
    Possible,
}

/// Says how a leaf was reached first in the latest search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub source: TreeNodeId,
    pub operator: u32,
    pub destination: u32,
}

/// A node with what is known of it.
#[derive(Debug)]
pub(crate) struct StateTreeNode {
    /// The node that it is a part of, the literal that tells it apart, and what it adds.
    parent: Option<(TreeNodeId, PredicateId, bool)>,
    difference: Option<Difference>,
    /// Of a root: its locations.
    locations: Box<[i64]>,
    /// Number of nodes above it.
    depth: u32,
    /// The data with which the walk to the root may end here; at some depths only.
    landmark: Option<Box<Landmark>>,
    split: Option<(PredicateId, [TreeNodeId; 2])>,
    /// Predicates of the whole abstraction that were applied.
    opened: usize,
    /// One bit for each source of start states: whether it is known to have one of them here.
    start: u64,
    /// One bit for each source: whether it is known to have none of its start states here.
    no_start: u64,
    /// True if an unsafe state is here, false if none is; `None` if neither is known.
    pub is_unsafe: Option<bool>,
    /// Its transitions, those that were refuted left out; `None` before the first visit.
    pub candidates: Option<Arc<Vec<Candidate>>>,
    /// True if they are those of a node that it is a part of.
    pub is_inherited: bool,
    /// The number of the latest search that reached it.
    pub reached_in: u64,
    pub arrival: Option<Arrival>,
    /// A lower bound, found for it or for the node that it was split from, of the number of steps
    /// to an unsafe state.
    pub distance: Option<u32>,
}

/// With this many nodes, and room for fewer more, it is looked whether there is memory for more.
const MANY: usize = 1 << 14;
const SOON_FULL: usize = 512;

/// One node of this many on a path has a landmark.
const LANDMARK_EVERY: u32 = 16;

/// The states of a node in full.
#[derive(Debug)]
struct Landmark {
    cell: Cell,
    literals: PathLiterals,
}

/// The tree.
#[derive(Debug)]
pub(crate) struct StateTree {
    domains: IntBox,
    locations: Vec<VarId>,
    nodes: Vec<StateTreeNode>,
    roots: BTreeMap<Vec<i64>, TreeNodeId>,
    predicates: Vec<Literals>,
    ids: FxHashMap<Condition, PredicateId>,
    everywhere: Vec<PredicateId>,
    is_everywhere: FxHashSet<PredicateId>,
}

impl StateTree {
    /// A tree without predicates.
    pub fn new(domains: IntBox, locations: Vec<VarId>) -> Self {
        Self {
            domains,
            locations,
            nodes: Vec::new(),
            roots: BTreeMap::new(),
            predicates: Vec::new(),
            ids: FxHashMap::default(),
            everywhere: Vec::new(),
            is_everywhere: FxHashSet::default(),
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
        let id = PredicateId::new(self.predicates.len());
        let negation = condition.negate();
        self.predicates.push(Arc::new([negation.clone(), condition.clone()]));
        self.ids.insert(condition.clone(), id);
        self.ids.entry(negation).or_insert(id);
        (id, true)
    }

    pub fn literals(&self, predicate: PredicateId) -> Literals {
        Arc::clone(&self.predicates[predicate.index()])
    }

    /// Applies a predicate to all abstract states, each when it is looked at next.
    pub fn split_everywhere(&mut self, predicate: PredicateId) {
        if self.is_everywhere.insert(predicate) {
            self.everywhere.push(predicate);
        }
    }

    /// The root of these locations.
    pub fn root(&mut self, locations: &[i64]) -> TreeNodeId {
        if let Some(&root) = self.roots.get(locations) {
            return root;
        }
        let root = self.push(StateTreeNode {
            parent: None,
            difference: None,
            locations: locations.into(),
            depth: 0,
            landmark: None,
            split: None,
            opened: 0,
            start: 0,
            no_start: 0,
            is_unsafe: None,
            candidates: None,
            is_inherited: false,
            reached_in: 0,
            arrival: None,
            distance: None,
        });
        self.roots.insert(locations.to_vec(), root);
        root
    }

    /// The root that outcome number `d` of operator number `o` leads to from a box of one combination of
    /// locations.
    pub fn root_after(
        &mut self,
        abstraction: &Abstraction<'_>,
        sides: &IntBox,
        o: usize,
        d: usize,
    ) -> TreeNodeId {
        let mut locations: Vec<i64> = self.locations.iter().map(|l| sides[l.index()].lo).collect();
        for &(k, location) in &abstraction.effect(o, d).locations {
            locations[k] = location;
        }
        self.root(&locations)
    }

    /// Checks whether there is memory for twice the nodes, where there is soon no room for more.
    ///
    /// # Errors
    /// [`StopReason::Memory`] if there is not.
    pub fn check_memory(&self, budget: &Budget) -> Result<(), StopReason> {
        let left = self.nodes.capacity() - self.nodes.len();
        if left >= SOON_FULL || self.nodes.len() < MANY {
            return Ok(());
        }
        budget.check_memory((2 * self.nodes.capacity() * size_of::<StateTreeNode>()) as u64)
    }

    fn push(&mut self, node: StateTreeNode) -> TreeNodeId {
        let id = TreeNodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    pub fn node(&self, id: TreeNodeId) -> &StateTreeNode {
        &self.nodes[id.0 as usize]
    }

    /// A node, to note what was found out about it.
    pub fn node_mut(&mut self, id: TreeNodeId) -> &mut StateTreeNode {
        &mut self.nodes[id.0 as usize]
    }

    /// The predicate and the parts of an inner node, where the second part is that of states that
    /// satisfy it; `None` for a leaf. Applies predicates of the whole abstraction first.
    pub fn open(&mut self, id: TreeNodeId) -> Option<(PredicateId, [TreeNodeId; 2])> {
        let mut cell = None;
        loop {
            let node = self.node(id);
            if node.split.is_some() {
                return node.split;
            }
            let &predicate = self.everywhere.get(node.opened)?;
            self.node_mut(id).opened += 1;
            let cell = cell.get_or_insert_with(|| self.cell(id));
            self.split(id, cell, predicate);
        }
    }

    /// The part of an inner node in which its predicate has a truth value; a leaf is its own part.
    pub fn part(&self, id: TreeNodeId, value: bool) -> TreeNodeId {
        self.node(id).split.map_or(id, |(_, parts)| parts[usize::from(value)])
    }

    /// Splits all leaves under a node. Returns whether one was.
    pub fn split_under(&mut self, id: TreeNodeId, predicate: PredicateId) -> bool {
        match self.node(id).split {
            Some((_, parts)) => {
                let [low, high] = parts.map(|part| self.split_under(part, predicate));
                low || high
            }
            None => self.split(id, &self.cell(id), predicate),
        }
    }

    /// Splits a leaf, whose states are `cell`, unless one part is empty as far as bounds tell.
    fn split(&mut self, id: TreeNodeId, cell: &Cell, predicate: PredicateId) -> bool {
        let literals = self.literals(predicate);
        if literals[1].truth(&cell.sides) != Truth::Maybe {
            return false;
        }
        let literal = |value| Literal { literals: Arc::clone(&literals), value };
        let cells = [false, true].map(|value| cell.with(literal(value)));
        let [Some(no), Some(yes)] = cells else { return false };
        let node = self.node(id);
        let (opened, distance, no_start) = (node.opened, node.distance, node.no_start);
        let is_unsafe = node.is_unsafe.filter(|&any| !any);
        let depth = node.depth.saturating_add(1);
        let candidates = self.node_mut(id).candidates.take();
        let above = depth.is_multiple_of(LANDMARK_EVERY).then(|| self.literals_of(id));
        let parts = [(false, no), (true, yes)].map(|(value, part)| {
            let candidates = candidates.clone();
            let landmark = above.clone().map(|mut literals| {
                literals.add(predicate, literal(value));
                Box::new(Landmark { cell: part.clone(), literals })
            });
            self.push(StateTreeNode {
                parent: Some((id, predicate, value)),
                difference: Some(Difference::between(cell, part)),
                locations: Box::default(),
                depth,
                landmark,
                split: None,
                opened,
                start: 0,
                no_start,
                is_unsafe,
                candidates,
                is_inherited: true,
                reached_in: 0,
                arrival: None,
                distance,
            })
        });
        self.node_mut(id).split = Some((predicate, parts));
        true
    }

    /// The leaf of a state.
    pub fn leaf_of(&mut self, state: &[i64]) -> TreeNodeId {
        let locations: Vec<i64> = self.locations.iter().map(|l| state[l.index()]).collect();
        let mut at = self.root(&locations);
        while let Some((predicate, parts)) = self.open(at) {
            let holds = self.predicates[predicate.index()][1].holds(state) == Ok(true);
            at = parts[usize::from(holds)];
        }
        at
    }

    /// The literal that tells a node apart from the node that it is a part of; `None` for a root.
    pub fn last_literal(&self, id: TreeNodeId) -> Option<Literal> {
        let (_, predicate, value) = self.node(id).parent?;
        Some(Literal { literals: self.literals(predicate), value })
    }

    /// The literals from the root to a node, without bounds that others imply.
    pub fn path_literals(&self, id: TreeNodeId) -> Vec<(PredicateId, Literal)> {
        self.literals_of(id).into()
    }

    fn literals_of(&self, id: TreeNodeId) -> PathLiterals {
        let mut below = Vec::new();
        let mut at = self.node(id);
        while at.landmark.is_none()
            && let Some((parent, predicate, value)) = at.parent
        {
            below.push((predicate, Literal { literals: self.literals(predicate), value }));
            at = self.node(parent);
        }
        let landmark = at.landmark.as_ref();
        let mut all = landmark.map(|landmark| landmark.literals.clone()).unwrap_or_default();
        for (predicate, literal) in below.into_iter().rev() {
            all.add(predicate, literal);
        }
        all
    }

    /// The states of a node.
    pub fn cell(&self, id: TreeNodeId) -> Cell {
        let mut differences = Vec::new();
        let mut at = self.node(id);
        while at.landmark.is_none()
            && let (Some((parent, ..)), Some(difference)) = (at.parent, &at.difference)
        {
            differences.push(difference);
            at = self.node(parent);
        }
        let mut cell = match &at.landmark {
            Some(landmark) => landmark.cell.clone(),
            None => self.root_cell(at),
        };
        if let Some(last) = differences.first() {
            cell.others = last.others().to_vec();
        }
        for difference in differences.iter().rev() {
            difference.apply(&mut cell);
        }
        cell
    }

    fn root_cell(&self, root: &StateTreeNode) -> Cell {
        let mut sides = self.domains.clone();
        for (&variable, &value) in self.locations.iter().zip(&root.locations) {
            sides[variable.index()] = IntInterval::point(value);
        }
        Cell { sides, others: Vec::new() }
    }
}

impl StateTreeNode {
    /// The node that it is a part of; `None` for a root.
    pub fn parent(&self) -> Option<TreeNodeId> {
        self.parent.map(|(parent, ..)| parent)
    }

    /// Returns whether it has a start state of a source, as far as it is known.
    pub fn holds_start(&self, source: usize) -> Option<bool> {
        let bit = 1u64.checked_shl(u32::try_from(source).ok()?)?;
        if self.start & bit != 0 { Some(true) } else { (self.no_start & bit != 0).then_some(false) }
    }

    /// Notes whether it has a start state of a source.
    pub fn note_start(&mut self, source: usize, any: bool) {
        let bit = u32::try_from(source).ok().and_then(|source| 1u64.checked_shl(source));
        let bits = if any { &mut self.start } else { &mut self.no_start };
        *bits |= bit.unwrap_or(0);
    }

    /// Its transitions, for a visit; `None` before the first one. `cell` is its states.
    pub fn take_candidates(&mut self, cell: &Cell) -> Option<Vec<Candidate>> {
        let shared = self.candidates.take()?;
        let mut all = Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
        if self.is_inherited {
            for candidate in &mut all {
                candidate.found = match std::mem::replace(&mut candidate.found, Found::Nothing) {
                    Found::Witness(state) if cell.contains(&state) => Found::Witness(state),
                    _ => Found::Nothing,
                };
            }
        }
        Some(all)
    }

    /// Notes its transitions after a visit.
    pub fn set_candidates(&mut self, all: Vec<Candidate>) {
        self.candidates = Some(Arc::new(all));
        self.is_inherited = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policert_model::{BinaryOp, Expr};

    fn at_most(variable: usize, value: i64) -> Condition {
        let variable = Expr::Var(VarId::new(variable));
        Condition::from_expr(&Expr::binary(BinaryOp::Le, variable, Expr::int(value)))
    }

    #[test]
    fn a_predicate_is_known_in_both_polarities() {
        let mut tree = StateTree::new(IntBox::new(vec![IntInterval::new(0, 9)]), Vec::new());
        let (predicate, new) = tree.predicate(&at_most(0, 4));
        assert!(new);
        assert_eq!(tree.predicate(&at_most(0, 4)), (predicate, false));
        assert_eq!(tree.predicate(&at_most(0, 4).negate()), (predicate, false));
    }

    #[test]
    fn leaves_are_split_where_a_predicate_says_something() {
        let sides = vec![IntInterval::new(0, 9), IntInterval::new(0, 9)];
        let mut tree = StateTree::new(IntBox::new(sides), Vec::new());
        let root = tree.root(&[]);
        let (four, _) = tree.predicate(&at_most(0, 4));
        let (six, _) = tree.predicate(&at_most(0, 6));
        assert!(tree.split_under(root, four));
        // Only the upper part is split.
        assert!(tree.split_under(root, six));
        let low = tree.leaf_of(&[3, 0]);
        assert_eq!(tree.leaf_of(&[4, 9]), low);
        assert_eq!(tree.cell(low).sides[0], IntInterval::new(0, 4));
        assert!(!tree.split_under(low, six));
        let middle = tree.leaf_of(&[5, 0]);
        assert_eq!(tree.cell(middle).sides[0], IntInterval::new(5, 6));
        assert_ne!(tree.leaf_of(&[7, 0]), middle);
        assert_eq!(tree.path_literals(middle).len(), 2);
    }

    #[test]
    fn deep_leaves_have_the_states_that_their_literals_say() {
        let mut tree = StateTree::new(IntBox::new(vec![IntInterval::new(0, 99)]), Vec::new());
        for value in 0..99 {
            let (predicate, _) = tree.predicate(&at_most(0, value));
            tree.split_everywhere(predicate);
        }
        for value in [0, 7, 31, 50, 99] {
            let leaf = tree.leaf_of(&[value]);
            assert_eq!(tree.cell(leaf).sides[0], IntInterval::point(value));
            // The nearest thresholds on both sides say all.
            let literals = tree.path_literals(leaf);
            assert_eq!(literals.len(), if value == 0 || value == 99 { 1 } else { 2 });
            assert!(literals.iter().all(|(_, l)| l.condition().holds(&[value]) == Ok(true)));
        }
    }

    #[test]
    fn every_state_is_in_the_cell_of_its_leaf_and_in_no_other() {
        let (x, y) = (|| Expr::Var(VarId::new(0)), || Expr::Var(VarId::new(1)));
        let sides = IntBox::new(vec![IntInterval::new(0, 9), IntInterval::new(0, 9)]);
        let sum_at_most = |value| {
            let sum = Expr::binary(BinaryOp::Add, x(), y());
            Condition::from_expr(&Expr::binary(BinaryOp::Le, sum, Expr::int(value)))
        };
        let mut tree = StateTree::new(sides.clone(), Vec::new());
        let states: Vec<[i64; 2]> = (0..100).map(|n| [n / 10, n % 10]).collect();
        for (number, round) in (0..12).enumerate() {
            let condition = match round % 3 {
                0 => at_most(0, round / 2),
                1 => at_most(1, 9 - round / 2),
                _ => sum_at_most(round),
            };
            let (predicate, _) = tree.predicate(&condition);
            if round % 4 == 3 {
                tree.split_everywhere(predicate);
            } else {
                // Only where one of the states is.
                let leaf = tree.leaf_of(&states[37 * number % 100]);
                tree.split_under(leaf, predicate);
            }
            let leaves: BTreeMap<[i64; 2], TreeNodeId> =
                states.iter().map(|&state| (state, tree.leaf_of(&state))).collect();
            for (state, leaf) in &leaves {
                for (other, leaf_of_other) in &leaves {
                    let is_inside = tree.cell(*leaf_of_other).contains(state);
                    assert_eq!(is_inside, leaf == leaf_of_other, "{round}: {state:?} {other:?}");
                }
                let literals = tree.path_literals(*leaf);
                assert!(literals.iter().all(|(_, l)| l.condition().holds(state) == Ok(true)));
            }
        }
        assert!(tree.nodes.len() > 20);
    }

    #[test]
    fn predicates_of_the_whole_abstraction_are_applied_when_a_leaf_is_opened() {
        let mut tree = StateTree::new(IntBox::new(vec![IntInterval::new(0, 9)]), Vec::new());
        let root = tree.root(&[]);
        assert!(tree.open(root).is_none());
        let (four, _) = tree.predicate(&at_most(0, 4));
        tree.split_everywhere(four);
        let (predicate, [no, yes]) = tree.open(root).expect("it is split");
        assert_eq!(predicate, four);
        assert_eq!(tree.cell(yes).sides[0], IntInterval::new(0, 4));
        assert_eq!(tree.cell(no).sides[0], IntInterval::new(5, 9));
    }

    #[test]
    fn parts_inherit_what_was_refuted_and_the_witnesses_in_them() {
        let mut tree = StateTree::new(IntBox::new(vec![IntInterval::new(0, 9)]), Vec::new());
        let root = tree.root(&[]);
        let candidate = |found| Candidate { operator: 0, destination: 0, target: root, found };
        let witness = Found::Witness(Arc::from([3]));
        tree.node_mut(root)
            .set_candidates(vec![candidate(witness.clone()), candidate(Found::Possible)]);
        let (four, _) = tree.predicate(&at_most(0, 4));
        assert!(tree.split_under(root, four));
        for (state, first) in [(3, witness), (7, Found::Nothing)] {
            let leaf = tree.leaf_of(&[state]);
            let cell = tree.cell(leaf);
            let inherited = tree.node_mut(leaf).take_candidates(&cell).expect("they are known");
            let found: Vec<Found> = inherited.into_iter().map(|c| c.found).collect();
            assert_eq!(found, [first, Found::Nothing]);
        }
    }
}
