//! Checking an inductive invariant that is given as boxes with conditions: every start state lies in
//! one, no unsafe state does, and no transition that the policy allows leaves them.
//!
//! Boxes are halved, or cut at the faces of other boxes, until interval reasoning decides, or a
//! single state is left, which the plain semantics and the exact scores decide. Where the question
//! forbids to get stuck, or to leave a domain, every state is looked at by itself.

mod parts;

use policert_engine_api::{Budget, EngineError, Invariant, Question, StuckRule, point_of};
use policert_model::{
    Condition, Destination, DomainRule, OPERATOR_LIMIT, Operator, Region, State, Truth,
};
use policert_numeric::IntBox;
use policert_policy::Policy;
use thiserror::Error;

use crate::box_steps::{BoxSteps, direct, fits};
use crate::cover::Cover;

/// Says why boxes are no inductive invariant.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum InvariantError {
    /// A box with states that the model does not have.
    #[error("box {0} leaves the domains of the variables")]
    NoStates(usize),
    /// A start state outside.
    #[error("a start state lies outside: {0}")]
    Start(String),
    /// An unsafe state inside.
    #[error("an unsafe state lies inside: {0}")]
    Unsafe(String),
    /// A transition that leaves the boxes.
    #[error("{operator} leads from {state} outside, to {target}")]
    Leaves {
        operator: String,
        state: String,
        /// The state after it.
        target: String,
    },
    /// A run may get stuck, which the question forbids.
    #[error("a run may get stuck in {0}")]
    Stuck(String),
    /// Another number of ranks than of pieces.
    #[error("there is not one rank for each box")]
    Ranks,
    /// A step that leads to no smaller rank.
    #[error("{operator} leads from {state} to no smaller rank: to {target}")]
    NotLower {
        operator: String,
        state: String,
        /// The state after it.
        target: String,
    },
    /// It was not decided.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Says whether an output competes with the others everywhere in a box.
pub type Competing<'a> = &'a dyn Fn(usize) -> bool;

/// Refutes labels in boxes of states.
pub trait ChoicesInBoxes {
    /// Returns whether the policy is proved to choose an output nowhere in a box. `competing` tells
    /// the outputs that compete everywhere in it; the others may or may not.
    ///
    /// # Errors
    /// A stop of the budget.
    fn is_refuted(
        &mut self,
        output: usize,
        sides: &IntBox,
        competing: Competing<'_>,
        budget: &mut Budget,
    ) -> Result<bool, EngineError>;
}

/// Refutes nothing: without policy every label may be chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingRefuted;

impl ChoicesInBoxes for NothingRefuted {
    fn is_refuted(
        &mut self,
        _: usize,
        _: &IntBox,
        _: Competing<'_>,
        _: &mut Budget,
    ) -> Result<bool, EngineError> {
        Ok(false)
    }
}

/// Checks that an invariant is inductive, has all start states and no unsafe one. `choices` refutes labels in boxes;
/// single states are decided here. An undecided choice counts as any of the policy's labels.
///
/// # Errors
/// The fault of the invariant, or a stop of the budget.
pub fn check_invariant(
    question: &Question<'_>,
    policy: Option<&Policy>,
    invariant: &Invariant,
    choices: &mut dyn ChoicesInBoxes,
    budget: &mut Budget,
) -> Result<(), InvariantError> {
    let pieces = invariant.pieces();
    if let Some(i) = pieces.iter().position(|piece| !fits(question.model, piece)) {
        return Err(InvariantError::NoStates(i));
    }
    let operators = question.model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let diagram = invariant.diagram();
    if diagram.is_some_and(|diagram| *diagram.space() != question.model.domains()) {
        return Err(InvariantError::NoStates(pieces.len()));
    }
    let cover = Cover::new(pieces).with_diagram(diagram);
    let check = Check { steps: BoxSteps::new(question, policy, &operators), cover };
    if let Some(state) = check.steps.start_outside(&check.cover, budget)? {
        return Err(InvariantError::Start(question.model.display_state(&state)));
    }
    let by_state = question.stuck == StuckRule::Unsafe || question.domain_rule == DomainRule::Error;
    for piece in pieces {
        check.no_unsafe_state(piece, budget)?;
        if by_state {
            check.states(piece, budget)?;
        } else {
            check.steps(piece, choices, budget)?;
        }
    }
    let Some(diagram) = diagram else { return Ok(()) };
    if !by_state {
        return check.parts(diagram, choices, budget);
    }
    diagram.for_each_box(&mut |sides| {
        let piece = Region { sides: sides.clone(), conditions: Vec::new() };
        check.no_unsafe_state(&piece, budget)?;
        check.states(&piece, budget)
    })
}

struct Check<'a> {
    steps: BoxSteps<'a>,
    cover: Cover<'a>,
}

impl Check<'_> {
    /// A piece has no unsafe state.
    fn no_unsafe_state(
        &self,
        piece: &Region<Condition>,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        budget.poll().map_err(EngineError::from)?;
        let question = self.steps.question;
        let bad = question.property.unsafe_condition.clone();
        let bad = Condition::and(piece.conditions.iter().cloned().chain([bad]));
        match point_of(&bad, &piece.sides, budget)? {
            Some(state) => Err(InvariantError::Unsafe(question.model.display_state(&state))),
            None => Ok(()),
        }
    }

    /// No transition leaves the invariant from one of its pieces.
    fn steps(
        &self,
        piece: &Region<Condition>,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        for operator in self.steps.operators {
            self.operator(operator, piece, choices, budget)?;
        }
        Ok(())
    }

    /// No transition by an operator leaves the invariant from a piece.
    fn operator(
        &self,
        operator: &Operator,
        piece: &Region<Condition>,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        if operator.guard.truth(&piece.sides) == Truth::False {
            return Ok(());
        }
        for destination in &operator.destinations {
            self.outcome(operator, destination, piece, choices, budget)?;
        }
        Ok(())
    }

    /// No transition leaves the invariant from a state of a piece, and no run gets stuck there.
    fn states(&self, piece: &Region<Condition>, budget: &mut Budget) -> Result<(), InvariantError> {
        let steps = &self.steps;
        steps.for_each_state(piece, budget, &mut |state| {
            for operator in steps.operators {
                self.single_state(operator, state)?;
            }
            if steps.question.must_go_on(state) && !steps.goes_on(state) {
                return Err(InvariantError::Stuck(steps.question.model.display_state(state)));
            }
            Ok(())
        })
    }

    fn outcome(
        &self,
        operator: &Operator,
        destination: &Destination,
        from: &Region<Condition>,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        let (steps, sides) = (&self.steps, &from.sides);
        let variables = sides.dimensions();
        let output = steps.output_of(operator);
        let exists = destination.exists(&steps.question.model.variables);
        let mut first = sides.clone();
        destination.choice_sides(sides).into_iter().for_each(|side| first.push(side));
        let mut open = vec![first];
        while let Some(mut piece) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            operator.guard.tighten(&mut piece);
            exists.tighten(&mut piece);
            for condition in &from.conditions {
                condition.tighten(&mut piece);
            }
            if piece.is_empty()
                || from.conditions.iter().any(|condition| condition.truth(&piece) == Truth::False)
                || operator.guard.truth(&piece) == Truth::False
                || exists.truth(&piece) == Truth::False
                || steps.terminal_truth(&piece) == Truth::True
            {
                continue;
            }
            let image = steps.image(destination, &piece);
            if self.cover.includes(&image) {
                continue;
            }
            let mut states = piece.clone();
            states.truncate(variables);
            if let Some(output) = output {
                let competing = |j: usize| steps.competes(j, &states);
                if choices.is_refuted(output, &states, &competing, budget)? {
                    continue;
                }
            }
            if states.is_point() {
                self.single_state(operator, &states.lower_corner())?;
                continue;
            }
            let parts = self
                .cover
                .cut_at_a_face(&image, &|d| direct(destination, d), &piece)
                .unwrap_or_else(|| {
                    steps.halves(operator, [(destination, &image)], from, &self.cover, &piece)
                });
            open.extend(parts);
        }
        Ok(())
    }

    /// The state by the definition.
    fn single_state(&self, operator: &Operator, state: &State) -> Result<(), InvariantError> {
        let steps = &self.steps;
        if !steps.may_fire(operator, state)? {
            return Ok(());
        }
        let found = steps.semantics.successors(operator, state).map_err(EngineError::from)?;
        for successor in found.list {
            if !self.cover.contains(&successor.state) {
                let model = steps.question.model;
                return Err(InvariantError::Leaves {
                    operator: model.display_operator(&operator.key),
                    state: model.display_state(state),
                    target: model.display_state(&successor.state),
                });
            }
        }
        Ok(())
    }
}
