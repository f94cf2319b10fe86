//! Maximal end components: sets of states in which a scheduler may stay for ever.
//!
//! Components of the graph are split until every choice that is left stays in its component
//! (de Alfaro: *Formal Verification of Probabilistic Systems*, algorithm 3.1).

use policert_engine_api::{Budget, StopReason};

use crate::components::{Graph, components};
use crate::{Mdp, StateSet};

/// The maximal end components inside a set of states, each in ascending order.
///
/// A choice that loses some of its probability, or that may leave the set, belongs to none.
///
/// # Errors
/// A stop of the budget.
pub fn end_components(
    mdp: &Mdp,
    states: &StateSet,
    budget: &mut Budget,
) -> Result<Vec<Vec<u32>>, StopReason> {
    let mut piece = vec![NOWHERE; mdp.states()];
    let mut all: Vec<u32> = Vec::new();
    for state in states.iter() {
        piece[state as usize] = 0;
        all.push(state);
    }
    let mut search =
        ComponentSearch { mdp, piece, position: vec![NOWHERE; mdp.states()], pieces: 1 };
    let mut found = Vec::new();
    let mut waiting = vec![all];
    while let Some(members) = waiting.pop() {
        search.split(members, &mut waiting, &mut found, budget)?;
    }
    found.sort_unstable();
    Ok(found)
}

const NOWHERE: u32 = u32::MAX;

struct ComponentSearch<'m> {
    mdp: &'m Mdp,
    /// By state: the piece that it is in.
    piece: Vec<u32>,
    /// By state: its position in the piece that is being split.
    position: Vec<u32>,
    pieces: u32,
}

impl ComponentSearch<'_> {
    /// Returns whether a choice stays in its piece, with all of its probability.
    fn stays(&self, choice: u32, piece: u32) -> bool {
        self.mdp.distributions().is_complete(self.mdp.distribution(choice))
            && self.mdp.successors(choice).iter().all(|&s| self.piece[s as usize] == piece)
    }

    /// Splits a piece into components; one that stays whole is final.
    fn split(
        &mut self,
        mut members: Vec<u32>,
        waiting: &mut Vec<Vec<u32>>,
        found: &mut Vec<Vec<u32>>,
        budget: &mut Budget,
    ) -> Result<(), StopReason> {
        let Some(&first) = members.first() else { return Ok(()) };
        let piece = self.piece[first as usize];
        for (i, &state) in (0u32..).zip(&members) {
            self.position[state as usize] = i;
        }
        let graph = Piece::new(self, &members, piece);
        let parts = components(&graph, 0..graph.count(), budget)?;
        if parts.starts.len() == 2 && (members.len() > 1 || !graph.targets.is_empty()) {
            members.sort_unstable();
            found.push(members);
            return Ok(());
        }
        for part in parts.iter() {
            let part: Vec<u32> = part.iter().map(|&node| members[node as usize]).collect();
            for &state in &part {
                self.piece[state as usize] = self.pieces;
            }
            self.pieces += 1;
            let alone = match part[..] {
                [state] => !self.mdp.choices_of(state).any(|c| self.stays(c, self.pieces - 1)),
                _ => false,
            };
            if !alone {
                waiting.push(part);
            }
        }
        Ok(())
    }
}

/// The graph of the choices that stay in a piece; nodes are positions among its members.
struct Piece {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Piece {
    fn new(search: &ComponentSearch<'_>, members: &[u32], piece: u32) -> Self {
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for &state in members {
            for choice in search.mdp.choices_of(state) {
                if search.stays(choice, piece) {
                    let successors = search.mdp.successors(choice).iter();
                    targets.extend(successors.map(|&s| search.position[s as usize]));
                }
            }
            starts.push(u32::try_from(targets.len()).unwrap_or(u32::MAX));
        }
        Self { starts, targets }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }
}

impl Graph for Piece {
    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn edge(&self, node: u32, k: u32) -> Option<Option<u32>> {
        let at = self.starts[node as usize] + k;
        (at < self.starts[node as usize + 1]).then(|| Some(self.targets[at as usize]))
    }
}
