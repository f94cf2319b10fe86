//! The modules of a problem, and which are related.

use std::collections::BTreeMap;

use policert_pddl::{GroundAtom, GroundLiteral, Task};

use crate::shape::DomainShape;

/// The modules of a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Instance {
    /// Number of propositions of the task, which are the inputs.
    pub propositions: usize,
    /// The atoms that are related to an action, in order.
    pub atoms: Vec<AtomNode>,
    /// The actions, in the order of the task.
    pub actions: Vec<ActionNode>,
}

/// The modules of an atom.
#[derive(Clone, PartialEq, Debug)]
pub struct AtomNode {
    /// Its name.
    pub name: String,
    /// The predicate, by position in the shape.
    pub predicate: usize,
    /// Its truth.
    pub truth: Truth,
    /// 1 if the goal wants it to be true, −1 if false, else 0.
    pub goal: i8,
    /// For each pool of the predicate the actions that have the atom there.
    pub pools: Vec<Vec<usize>>,
}

/// The truth of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// That of a proposition.
    Proposition(usize),
    /// The same in all states.
    Constant(bool),
}

/// The modules of an action.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionNode {
    /// Its name.
    pub name: String,
    /// The schema.
    pub schema: usize,
    /// The atom of each slot.
    pub slots: Vec<usize>,
    /// The preconditions.
    pub precondition: Vec<GroundLiteral>,
}

impl Instance {
    /// The modules of a problem of the domain of this shape.
    #[must_use]
    pub fn of(shape: &DomainShape, task: &Task) -> Self {
        let ground_slots: Vec<Vec<GroundAtom>> = task
            .actions
            .iter()
            .map(|action| {
                let slots = shape.schemas[action.schema].slots.iter();
                slots.map(|atom| atom.ground(&action.objects)).collect()
            })
            .collect();
        let mut positions: BTreeMap<&GroundAtom, usize> =
            ground_slots.iter().flatten().map(|atom| (atom, 0)).collect();
        positions.values_mut().enumerate().for_each(|(i, position)| *position = i);
        let mut predicates = vec![0; task.domain.predicates.len()];
        for (position, predicate) in shape.predicates.iter().enumerate() {
            predicates[predicate.predicate] = position;
        }
        let node = |atom: &GroundAtom| {
            let predicate = predicates[atom.predicate];
            let truth = match task.propositions.binary_search(atom) {
                Ok(proposition) => Truth::Proposition(proposition),
                Err(_) => Truth::Constant(task.problem.initial.contains(atom)),
            };
            let wanted = task.problem.goal.iter().find(|(wanted, _)| wanted == atom);
            AtomNode {
                name: task.atom_name(atom),
                predicate,
                truth,
                goal: wanted.map_or(0, |(_, truth)| if *truth { 1 } else { -1 }),
                pools: vec![Vec::new(); shape.predicates[predicate].pools.len()],
            }
        };
        let mut atoms: Vec<AtomNode> = positions.keys().map(|atom| node(atom)).collect();
        let mut actions = Vec::with_capacity(task.actions.len());
        for (i, (action, slots)) in task.actions.iter().zip(&ground_slots).enumerate() {
            let slots: Vec<usize> = slots.iter().map(|atom| positions[atom]).collect();
            for (slot, &atom) in slots.iter().enumerate() {
                let atom = &mut atoms[atom];
                let pools = &shape.predicates[atom.predicate].pools;
                if let Some(pool) = pools.iter().position(|&place| place == (action.schema, slot)) {
                    atom.pools[pool].push(i);
                }
            }
            actions.push(ActionNode {
                name: task.action_name(action),
                schema: action.schema,
                slots,
                precondition: action.precondition.clone(),
            });
        }
        Self { propositions: task.propositions.len(), atoms, actions }
    }
}
