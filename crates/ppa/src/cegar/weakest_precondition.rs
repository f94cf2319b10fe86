//! Predicates by weakest preconditions: what the atoms of a condition are before each step of a path.

use policert_model::{Condition, Truth};

use super::path::AbstractPath;
use crate::abstraction::Abstraction;
use crate::atoms::atoms;

/// The most atoms that are carried back over one step.
const ATOM_LIMIT: usize = 256;

/// An atom at a step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AtomAtStep {
    /// The number of steps before it.
    pub step: usize,
    /// The atom, as a condition on the state there.
    pub atom: Condition,
}

/// The atoms of a condition on the state after `step` steps, and those of its weakest
/// preconditions at every step before.
///
/// A predicate that is entailed by its abstract state gains nothing. With `until_entailed` its
/// weakest preconditions are not followed either: runs that stay on the path agree on them.
pub(crate) fn propagate(
    abstraction: &Abstraction<'_>,
    path: &AbstractPath,
    step: usize,
    condition: &Condition,
    until_entailed: bool,
) -> Vec<AtomAtStep> {
    let dimensions = abstraction.predicates.domains().dimensions();
    let mut found = Vec::new();
    let mut wave = Vec::new();
    atoms(condition, &mut wave);
    for at in (0..=step).rev() {
        wave.truncate(ATOM_LIMIT);
        // A condition on free choices is none on states.
        wave.retain(|atom| atom.variables().iter().all(|v| v.index() < dimensions));
        wave.retain(|atom| {
            let open = atom.truth(&path.states[at].cell.sides) == Truth::Maybe;
            if open && abstraction.predicates.is_candidate(atom) {
                found.push(AtomAtStep { step: at, atom: atom.clone() });
            }
            open || !until_entailed
        });
        if at == 0 || wave.is_empty() {
            break;
        }
        let outcome = path.outcome(abstraction, at - 1);
        for atom in std::mem::take(&mut wave) {
            atoms(&outcome.weakest_precondition(&atom), &mut wave);
        }
    }
    found
}
