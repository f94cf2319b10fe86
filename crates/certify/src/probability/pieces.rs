//! Upper bounds of the greatest probability by pieces: boxes with conditions, each with one bound for all of
//! its states.
//!
//! Where several pieces contain a state, the least of their bounds is that of the state; a state in none has
//! the bound 1. They are bounds if no piece with a bound below 1 contains a state of the target, and if
//! each operator that the policy may choose in a state of a piece has Σ p u(s') ≤ the piece's bound, for the
//! worst of free choices. As in an invariant, boxes are halved, or cut at the faces of others, until interval
//! arithmetic shows this, or a single state is left, which is decided by the definition.

use policert_engine_api::{
    Budget, Direction, EngineError, OverStarts, Question, StartStates, ValuedPieces, point_of,
};
use policert_model::{
    Condition, Destination, DomainRule, Operator, Probability, Region, State, Truth,
};
use policert_numeric::{IntBox, Rational};
use policert_policy::{ChoiceRule, Policy};

use super::moves::Move;
use super::{Check, ProbabilityClaim, ProbabilityError};
use crate::box_steps::{BoxSteps, direct, fits};
use crate::cover::Cover;
use crate::invariant::ChoicesInBoxes;

/// Pieces, those with the least bounds first.
pub(super) struct Bounded {
    regions: Vec<Region<Condition>>,
    uppers: Vec<Rational>,
}

impl Bounded {
    /// # Errors
    /// Bounds that are none, boxes that leave the domains, or a claim that pieces say nothing about.
    pub fn new(
        claim: &ProbabilityClaim<'_>,
        claimed: &ValuedPieces,
    ) -> Result<Self, ProbabilityError> {
        refuse(claim)?;
        let mut pairs = Vec::with_capacity(claimed.pieces.len());
        for (at, (piece, upper)) in claimed.pieces.iter().enumerate() {
            let upper = Rational::from_f64(*upper);
            let upper = upper.filter(|upper| upper.signum() >= 0 && *upper <= Rational::ONE);
            match upper {
                Some(upper) if fits(claim.question.model, piece) => {
                    pairs.push((upper, piece.clone()))
                }
                _ => return Err(ProbabilityError::NoPiece(at)),
            }
        }
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        let (uppers, regions) = pairs.into_iter().unzip();
        Ok(Self { regions, uppers })
    }

    pub fn cover(&self) -> BoundedCover<'_> {
        BoundedCover { cover: Cover::new(&self.regions), pieces: self }
    }
}

/// Refuses what pieces are no evidence of.
fn refuse(claim: &ProbabilityClaim<'_>) -> Result<(), ProbabilityError> {
    let draws = |policy: &Policy| policy.semantics().choice == ChoiceRule::Sample;
    let what = if claim.direction != Direction::Max || claim.complement {
        "other than the greatest probability of reaching the target"
    } else if claim.over != OverStarts::Greatest {
        "of other numbers than the greatest one from any start state"
    } else if claim.policy.is_some_and(draws) {
        "under a policy that draws its labels"
    } else if claim.question.domain_rule == DomainRule::Error {
        "where updates that leave a domain are errors"
    } else {
        return Ok(());
    };
    let message = format!("bounds by pieces {what}; bounds by state (`values`) are supported");
    Err(EngineError::Unsupported(message).into())
}

/// Pieces, found by the boxes that they meet.
pub(super) struct BoundedCover<'a> {
    cover: Cover<'a>,
    pieces: &'a Bounded,
}

impl BoundedCover<'_> {
    /// The piece with the least bound that contains a state.
    pub fn piece_of(&self, state: &[i64]) -> Option<usize> {
        self.cover.first_with(state)
    }

    /// The bound of a piece.
    pub fn of_piece(&self, piece: usize) -> Rational {
        self.pieces.uppers[piece].clone()
    }

    /// The bound of a state.
    pub fn of_state(&self, state: &[i64]) -> Rational {
        self.piece_of(state).map_or(Rational::ONE, |piece| self.of_piece(piece))
    }

    /// A bound of all states of a box, as far as boxes show it.
    fn of_box(&self, sides: &IntBox) -> Rational {
        match self.cover.prefix_with(sides) {
            Some(0) => Rational::ZERO,
            Some(count) => self.pieces.uppers[count - 1].clone(),
            None => Rational::ONE,
        }
    }
}

/// Checks that every start state lies in pieces with bounds of at most this.
pub(super) fn check_starts(
    steps: &BoxSteps<'_>,
    pieces: &Bounded,
    most: &Rational,
    budget: &mut Budget,
) -> Result<(), ProbabilityError> {
    if *most >= Rational::ONE {
        return Ok(());
    }
    let count = pieces.uppers.partition_point(|upper| upper <= most);
    let cover = Cover::new(&pieces.regions[..count]);
    match steps.start_outside(&cover, budget)? {
        Some(state) => Err(ProbabilityError::Start(steps.question.model.display_state(&state))),
        None => Ok(()),
    }
}

/// Returns whether runs may start in a state.
pub(super) fn is_start(question: &Question<'_>, state: &State) -> bool {
    question.start_states().iter().any(|source| match source {
        StartStates::List(states) => states.contains(state),
        StartStates::Region(condition, sides) => {
            sides.contains(state) && condition.holds(state) == Ok(true)
        }
    })
}

impl Check<'_> {
    /// Checks that no step from a piece leads to more than its bound, and that no state of the target lies in a
    /// piece with a bound below 1.
    pub(super) fn check_pieces(
        &self,
        steps: &BoxSteps<'_>,
        bounded: &Bounded,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), ProbabilityError> {
        let question = self.claim.question;
        let cover = bounded.cover();
        for (piece, upper) in bounded.regions.iter().zip(&bounded.uppers) {
            if *upper == Rational::ONE {
                continue;
            }
            let target = question.property.unsafe_condition.clone();
            let target = Condition::and(piece.conditions.iter().cloned().chain([target]));
            if let Some(state) = point_of(&target, &piece.sides, budget)? {
                return Err(ProbabilityError::Target(question.model.display_state(&state)));
            }
            let (cover, steps) = (&cover, steps);
            let mut of_piece = PieceCheck { check: self, steps, cover, piece, upper };
            for (at, operator) in self.operators.iter().enumerate() {
                of_piece.operator(at, operator, choices, budget)?;
            }
        }
        Ok(())
    }
}

/// The check of one piece.
struct PieceCheck<'c> {
    check: &'c Check<'c>,
    steps: &'c BoxSteps<'c>,
    cover: &'c BoundedCover<'c>,
    piece: &'c Region<Condition>,
    upper: &'c Rational,
}

impl PieceCheck<'_> {
    fn operator(
        &mut self,
        at: usize,
        operator: &Operator,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), ProbabilityError> {
        let (steps, from) = (self.steps, self.piece);
        if operator.guard.truth(&from.sides) == Truth::False {
            return Ok(());
        }
        let output = steps.output_of(operator);
        let mut open = vec![from.sides.clone()];
        while let Some(mut part) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            operator.guard.tighten(&mut part);
            for condition in &from.conditions {
                condition.tighten(&mut part);
            }
            if part.is_empty()
                || from.conditions.iter().any(|condition| condition.truth(&part) == Truth::False)
                || operator.guard.truth(&part) == Truth::False
                || steps.terminal_truth(&part) == Truth::True
            {
                continue;
            }
            let mut images = self.images(operator, &part);
            if self.mean(&images).is_some_and(|mean| mean <= *self.upper) {
                continue;
            }
            if let Some(output) = output {
                let competing = |j: usize| steps.competes(j, &part);
                if choices.is_refuted(output, &part, &competing, budget)? {
                    continue;
                }
            }
            if part.is_point() {
                self.single_state(at, operator, &part.lower_corner())?;
                continue;
            }
            // Where most is at stake first.
            images.sort_by(|a, b| b.bound.cmp(&a.bound));
            let cover = &self.cover.cover;
            let mut cuts = images.iter().filter_map(|image| {
                let direct = |d: usize| {
                    // Free choices are no sides of the part.
                    let found = direct(image.destination, d)?;
                    (found.0 < part.dimensions()).then_some(found)
                };
                cover.cut_at_a_face(&image.sides, &direct, &part)
            });
            let parts = cuts.next().unwrap_or_else(|| {
                let images = images.iter().map(|image| (image.destination, &image.sides));
                steps.halves(operator, images, from, cover, &part)
            });
            open.extend(parts);
        }
        Ok(())
    }

    /// What the outcomes of an operator lead to from a box.
    fn images<'o>(&self, operator: &'o Operator, part: &IntBox) -> Vec<Image<'o>> {
        let variables = &self.steps.question.model.variables;
        let mut images = Vec::with_capacity(operator.destinations.len());
        for destination in &operator.destinations {
            let mut extended = part.clone();
            destination.choice_sides(part).into_iter().for_each(|side| extended.push(side));
            let exists = destination.exists(variables);
            operator.guard.tighten(&mut extended);
            exists.tighten(&mut extended);
            if extended.is_empty() || exists.truth(&extended) == Truth::False {
                continue;
            }
            let sides = self.steps.image(destination, &extended);
            let bound = self.cover.of_box(&sides);
            images.push(Image { destination, sides, bound });
        }
        images
    }

    /// A bound of the mean over the outcomes; `None` if their probabilities depend on the state.
    fn mean(&self, images: &[Image<'_>]) -> Option<Rational> {
        let weighted = images.iter().map(|image| match &image.destination.probability {
            Probability::Constant(p) => Some(p * &image.bound),
            Probability::Expr(_) => None,
        });
        weighted.sum()
    }

    /// A state by the definition.
    fn single_state(
        &self,
        at: usize,
        operator: &Operator,
        state: &State,
    ) -> Result<(), ProbabilityError> {
        let holds = |condition: &Condition| condition.holds(state) == Ok(true);
        // Where the run has failed, nothing is reached.
        let counts = self.piece.conditions.iter().all(holds) && holds(self.check.claim.stay);
        if !counts || !self.steps.may_fire(operator, state)? {
            return Ok(());
        }
        let step = Move::of_operator(at, self.check.outcomes(operator, state)?, true);
        if step.mean(self.check, 1) <= *self.upper {
            return Ok(());
        }
        let model = self.steps.question.model;
        Err(ProbabilityError::Upper {
            operator: model.display_operator(&operator.key),
            state: model.display_state(state),
        })
    }
}

/// A box around what an outcome leads to, with a bound of all states in it.
struct Image<'o> {
    destination: &'o Destination,
    sides: IntBox,
    bound: Rational,
}
