//! The modules on which the scores of some actions depend.

use policert_asnet::{Architecture, Instance};

/// The positions of modules, ascending, layer by layer.
#[derive(Clone, Debug)]
pub(crate) struct Needed {
    /// By action layer.
    pub actions: Vec<Vec<usize>>,
    /// By proposition layer.
    pub atoms: Vec<Vec<usize>>,
}

impl Needed {
    /// Those for the scores of these actions.
    pub fn of(instance: &Instance, architecture: &Architecture, applicable: &[bool]) -> Self {
        let Architecture { layers, skip, .. } = *architecture;
        let mut needed = Self { actions: Vec::new(), atoms: Vec::new() };
        let mut actions = applicable.to_vec();
        let mut atoms = vec![false; instance.atoms.len()];
        needed.actions.push(positions(&actions));
        for _ in 0..layers {
            if !skip {
                atoms.fill(false);
            }
            for (action, _) in instance.actions.iter().zip(&actions).filter(|(_, is)| **is) {
                action.slots.iter().for_each(|&atom| atoms[atom] = true);
            }
            needed.atoms.push(positions(&atoms));
            if !skip {
                actions.fill(false);
            }
            for (atom, _) in instance.atoms.iter().zip(&atoms).filter(|(_, is)| **is) {
                atom.pools.iter().flatten().for_each(|&action| actions[action] = true);
            }
            needed.actions.push(positions(&actions));
        }
        needed.actions.reverse();
        needed.atoms.reverse();
        needed
    }
}

fn positions(are: &[bool]) -> Vec<usize> {
    (0..are.len()).filter(|&position| are[position]).collect()
}
