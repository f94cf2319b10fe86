//! Abstract unsafe paths, and what a run along one has to satisfy, step by step.

use policert_model::{Condition, Destination, Operator, Truth};

use super::cell::{Cell, Literal};
use super::state_tree::{StateTree, TreeNodeId};
use crate::abstraction::Abstraction;
use crate::region::Region;

/// A path of abstract states with the operators between them, from an abstract start state to an
/// abstract unsafe state.
#[derive(Clone, Debug)]
pub(crate) struct AbstractPath {
    /// The abstract states; one more than there are steps.
    pub states: Vec<PathState>,
    /// The steps between them.
    pub steps: Vec<PathStep>,
}

/// An abstract state of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathState {
    /// Its node in the tree.
    pub node: TreeNodeId,
    /// Its states.
    pub cell: Cell,
    /// The predicates that it is given by.
    pub literals: Vec<Literal>,
}

/// A step of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathStep {
    /// Position of the operator.
    pub operator: usize,
    /// The position of the outcome among those of the operator.
    pub destination: usize,
    /// The policy's output for its label; `None` where the environment chooses.
    pub output: Option<usize>,
}

/// Says what a condition on a step comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RequirementKind {
    /// The state is not terminal.
    NotTerminal,
    /// The guard holds.
    Guard,
    /// The outcome exists and stays inside all domains.
    Outcome,
    /// The outcome leads into the next abstract state.
    Target,
    /// The last state is unsafe.
    Unsafe,
}

/// A condition on one step of a path, over the state before it and the free choices of its
/// outcome.
#[derive(Clone, Debug)]
pub(crate) struct Requirement {
    /// The step; for the last state the number of steps.
    pub step: usize,
    /// Its origin.
    pub kind: RequirementKind,
    /// The condition that has to hold.
    pub condition: Condition,
}

impl AbstractPath {
    /// The path by which `last` was first reached.
    pub fn to(abstraction: &Abstraction<'_>, tree: &StateTree, last: TreeNodeId) -> Self {
        let mut states = Vec::new();
        let mut steps = Vec::new();
        let mut at = Some(last);
        while let Some(node) = at {
            let arrival = tree.node(node).arrival;
            let literals = tree.path_literals(node).into_iter().map(|(_, literal)| literal);
            let (cell, literals) = (tree.cell(node), literals.collect());
            states.push(PathState { node, cell, literals });
            steps.extend(arrival.map(|arrival| PathStep {
                operator: arrival.operator as usize,
                destination: arrival.destination as usize,
                output: abstraction.operators.output_of(arrival.operator as usize),
            }));
            at = arrival.map(|arrival| arrival.source);
        }
        states.reverse();
        steps.reverse();
        Self { states, steps }
    }

    pub fn operator<'a>(&self, abstraction: &'a Abstraction<'_>, step: usize) -> &'a Operator {
        &abstraction.operators.all()[self.steps[step].operator]
    }

    pub fn outcome<'a>(&self, abstraction: &'a Abstraction<'_>, step: usize) -> &'a Destination {
        &self.operator(abstraction, step).destinations[self.steps[step].destination]
    }

    /// Returns what step number `step` requires, in the order in which it is checked; for the
    /// number of steps, that the last state is unsafe.
    pub fn requirements(&self, abstraction: &Abstraction<'_>, step: usize) -> Vec<Requirement> {
        let mut all = Vec::new();
        let mut add = |kind, condition: &Condition| match condition {
            Condition::False => {
                all.push(Requirement { step, kind, condition: Condition::False });
            }
            condition => {
                let parts = condition.conjuncts().iter();
                all.extend(parts.map(|part| Requirement { step, kind, condition: part.clone() }));
            }
        };
        let Some(PathStep { operator, destination, .. }) = self.steps.get(step).copied() else {
            let condition = &abstraction.question.property.unsafe_condition;
            add(RequirementKind::Unsafe, condition);
            return all;
        };
        add(RequirementKind::NotTerminal, abstraction.not_terminal());
        add(RequirementKind::Guard, &abstraction.operators.all()[operator].guard);
        for condition in &abstraction.effect(operator, destination).validity {
            add(RequirementKind::Outcome, condition);
        }
        let update = self.outcome(abstraction, step);
        for literal in &self.states[step + 1].literals {
            let condition = literal.condition();
            if condition.variables().iter().any(|&v| update.update(v).is_some()) {
                add(RequirementKind::Target, &update.weakest_precondition(condition));
            } else if condition.truth(&self.states[step].cell.sides) != Truth::True {
                add(RequirementKind::Target, condition);
            }
        }
        all
    }

    /// The states of abstract state number `step`, with the free choices of its outcome, that
    /// meet `requirements`.
    pub fn region<'r>(
        &'r self,
        abstraction: &Abstraction<'_>,
        step: usize,
        requirements: &'r [Requirement],
    ) -> Region<'r> {
        let mut states = self.states[step].cell.region();
        if step < self.steps.len() {
            let sides = self.outcome(abstraction, step).choice_sides(&states.sides);
            states = states.extend(sides);
        }
        states.restrict(requirements.iter().map(|r| &r.condition))
    }
}
