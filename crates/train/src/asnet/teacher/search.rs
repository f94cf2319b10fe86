//! Shortest ways from single states: A* with the heuristic LM-cut.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use policert_engine_api::{Budget, StopReason};
use policert_pddl::Task;

use super::landmarks::LandmarkCut;
use super::lengths::Lengths;
use super::packed::{packed, unpacked};

/// States that one search expands at most: beyond, no way is known.
const MOST: usize = 20_000;

/// Search with what it found before.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    cut: LandmarkCut,
    lengths: Lengths,
    /// What is known of states.
    known: BTreeMap<Vec<u64>, Known>,
}

/// What is known of the distance of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// It is this.
    Exactly(u32),
    /// It is this at least.
    AtLeast(u32),
    /// There is no way, or it is too long to be found.
    Never,
}

/// What a search came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Way(u32),
    /// There is no way within the bound.
    None,
    /// Too many states.
    TooMany,
}

/// A state that a search came to.
struct Node {
    state: Vec<u64>,
    before: Option<usize>,
    /// The length of the way to it.
    length: u32,
}

impl Search {
    /// A search that knows nothing yet.
    pub fn of(task: &Task, lengths: Lengths) -> Self {
        Self { cut: LandmarkCut::of(task, &lengths), lengths, known: BTreeMap::new() }
    }

    /// Forgets all distances.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// The distance of a state; `None` if there is no way, or none was found.
    pub fn distance(
        &mut self,
        task: &Task,
        state: &[bool],
        budget: &mut Budget,
    ) -> Result<Option<u32>, StopReason> {
        let key = packed(state);
        match self.known.get(&key) {
            Some(Known::Exactly(distance)) => return Ok(Some(*distance)),
            Some(Known::Never) => return Ok(None),
            Some(Known::AtLeast(_)) | None => {}
        }
        match self.way(task, &key, u32::MAX, budget)? {
            Found::Way(distance) => Ok(Some(distance)),
            Found::None | Found::TooMany => {
                self.known.insert(key, Known::Never);
                Ok(None)
            }
        }
    }

    /// The actions that begin a shortest way; `None` in goal states, and where no way is known.
    pub fn best(
        &mut self,
        task: &Task,
        state: &[bool],
        budget: &mut Budget,
    ) -> Result<Option<Vec<usize>>, StopReason> {
        let Some(distance) = self.distance(task, state, budget)?.filter(|&distance| distance > 0)
        else {
            return Ok(None);
        };
        let mut best = Vec::new();
        for (position, action) in task.actions.iter().enumerate() {
            if !action.is_applicable(state) {
                continue;
            }
            for (i, outcome) in action.outcomes.iter().enumerate() {
                let Some(left) = distance.checked_sub(self.lengths[position][i]) else { continue };
                if self.is_within(task, &packed(&outcome.after(state)), left, budget)? {
                    best.push(position);
                    break;
                }
            }
        }
        Ok(Some(best))
    }

    /// Returns whether a state is at most so far from the goal; one that is too far to tell is not.
    fn is_within(
        &mut self,
        task: &Task,
        key: &[u64],
        bound: u32,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        match self.known.get(key) {
            Some(Known::Exactly(distance)) => return Ok(*distance <= bound),
            Some(Known::AtLeast(least)) if *least > bound => return Ok(false),
            Some(Known::Never) => return Ok(false),
            Some(Known::AtLeast(_)) | None => {}
        }
        Ok(match self.way(task, key, bound, budget)? {
            Found::Way(_) => true,
            Found::None => {
                self.known.insert(key.to_vec(), Known::AtLeast(bound.saturating_add(1)));
                false
            }
            Found::TooMany => false,
        })
    }

    /// The length of a shortest way of at most this length; the states on it are known afterwards.
    fn way(
        &mut self,
        task: &Task,
        from: &[u64],
        bound: u32,
        budget: &mut Budget,
    ) -> Result<Found, StopReason> {
        let propositions = task.propositions.len();
        let Some(least) = self.cut.bound(&unpacked(from, propositions)) else {
            return Ok(Found::None);
        };
        let mut nodes = vec![Node { state: from.to_vec(), before: None, length: 0 }];
        // By state the length of the shortest way to it so far, and the bound on those that are left.
        let mut reached = BTreeMap::from([(from.to_vec(), (0, Some(least)))]);
        let mut queue = BinaryHeap::new();
        if least <= bound {
            queue.push((Reverse(least), 0, Reverse(0)));
        }
        let mut expanded = 0;
        while let Some((_, _, Reverse(position))) = queue.pop() {
            budget.poll_clock()?;
            let Node { state: key, length, .. } = &nodes[position];
            let (key, length) = (key.clone(), *length);
            if reached.get(&key).is_some_and(|&(shortest, _)| length > shortest) {
                continue;
            }
            let state = unpacked(&key, propositions);
            if task.is_goal(&state) {
                self.note(&nodes, position);
                return Ok(Found::Way(length));
            }
            expanded += 1;
            if expanded > MOST {
                return Ok(Found::TooMany);
            }
            let actions = task.actions.iter().zip(self.lengths.iter());
            let actions = actions.filter(|(action, _)| action.is_applicable(&state));
            for (outcome, more) in actions.flat_map(|(action, of)| action.outcomes.iter().zip(of)) {
                let length = length.saturating_add(*more);
                let next = outcome.after(&state);
                let key = packed(&next);
                let left = match reached.get(&key) {
                    Some(&(shortest, _)) if shortest <= length => continue,
                    Some(&(_, left)) => left,
                    None => match self.known.get(&key) {
                        Some(Known::Exactly(distance)) => Some(*distance),
                        Some(Known::AtLeast(_) | Known::Never) | None => self.cut.bound(&next),
                    },
                };
                reached.insert(key.clone(), (length, left));
                let through = left.map(|left| length.saturating_add(left));
                if let Some(through) = through.filter(|through| *through <= bound) {
                    queue.push((Reverse(through), length, Reverse(nodes.len())));
                    nodes.push(Node { state: key, before: Some(position), length });
                }
            }
        }
        Ok(Found::None)
    }

    /// Notes the distances on the way that ends in this node, a goal state.
    fn note(&mut self, nodes: &[Node], last: usize) {
        let length = nodes[last].length;
        let mut at = Some(last);
        while let Some(position) = at {
            let node = &nodes[position];
            self.known.insert(node.state.clone(), Known::Exactly(length - node.length));
            at = node.before;
        }
    }
}
