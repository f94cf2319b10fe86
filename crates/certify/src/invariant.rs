//! Checking an inductive invariant that is given as boxes: every start state lies in one, no unsafe
//! state does, and no transition that the policy allows leaves them.
//!
//! Boxes are halved, or cut at the faces of other boxes, until interval reasoning decides, or a
//! single state is left, which the plain semantics and the exact scores decide.

use policert_engine_api::{Budget, EngineError, Question, StartStates, point_of};
use policert_model::{
    Condition, Destination, ModelSemantics, OPERATOR_LIMIT, Operator, State, Truth, UpdateValue,
    VarId,
};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{Filter, Policy};
use thiserror::Error;

use crate::applicable::is_applicable;
use crate::scores::{Contest, Scorer};

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

/// Checks that the union of `boxes` is an inductive invariant. `choices` refutes labels in boxes;
/// single states are decided here. An undecided choice counts as any of the policy's labels.
///
/// # Errors
/// The fault of the invariant, or a stop of the budget.
pub fn check_invariant(
    question: &Question<'_>,
    policy: Option<&Policy>,
    boxes: &[IntBox],
    choices: &mut dyn ChoicesInBoxes,
    budget: &mut Budget,
) -> Result<(), InvariantError> {
    let domains = question.model.domains();
    let fits =
        |sides: &IntBox| sides.dimensions() == domains.dimensions() && domains.includes(sides);
    if let Some(i) = boxes.iter().position(|sides| !fits(sides) || !sides.is_bounded()) {
        return Err(InvariantError::NoStates(i));
    }
    let operators = question.model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
    let scorer = policy.map(Scorer::new);
    let mut check = Check { question, semantics, policy, scorer, boxes, operators: &operators };
    check.starts(budget)?;
    for sides in boxes {
        let bad = &question.property.unsafe_condition;
        if let Some(state) = point_of(bad, sides, budget)? {
            return Err(InvariantError::Unsafe(question.model.display_state(&state)));
        }
    }
    for sides in boxes {
        check.steps(sides, choices, budget)?;
    }
    Ok(())
}

struct Check<'a> {
    question: &'a Question<'a>,
    semantics: ModelSemantics<'a>,
    policy: Option<&'a Policy>,
    scorer: Option<Scorer<'a>>,
    boxes: &'a [IntBox],
    operators: &'a [Operator],
}

impl Check<'_> {
    /// Every start state lies in a box.
    fn starts(&mut self, budget: &mut Budget) -> Result<(), InvariantError> {
        for source in self.question.start_states() {
            let (condition, sides) = match source {
                StartStates::Region(condition, sides) => (condition, sides),
                StartStates::List(states) => {
                    let outside = states.iter().find(|s| !self.boxes.iter().any(|b| b.contains(s)));
                    match outside {
                        Some(state) => return Err(self.start_outside(state)),
                        None => continue,
                    }
                }
            };
            let mut open = vec![sides];
            while let Some(mut sides) = open.pop() {
                budget.poll().map_err(EngineError::from)?;
                condition.tighten(&mut sides);
                if sides.is_empty() || self.is_inside(&sides) {
                    continue;
                }
                if let Some(cut) = self.cut_at_a_face(&sides, &|d| Some((d, 1, 0)), &sides) {
                    open.extend(cut);
                    continue;
                }
                if let Some(state) = point_of(&condition, &sides, budget)? {
                    return Err(self.start_outside(&state));
                }
            }
        }
        Ok(())
    }

    /// Returns whether one of the boxes includes a whole one.
    fn is_inside(&self, sides: &IntBox) -> bool {
        let includes = |b: &IntBox| {
            let mut pairs = b.sides().iter().zip(sides.sides());
            pairs.all(|(outer, inner)| outer.lo <= inner.lo && inner.hi <= outer.hi)
        };
        sides.is_empty() || self.boxes.iter().any(includes)
    }

    fn start_outside(&self, state: &[i64]) -> InvariantError {
        InvariantError::Start(self.question.model.display_state(state))
    }

    /// No transition leaves the boxes from one of them.
    fn steps(
        &mut self,
        sides: &IntBox,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        for operator in self.operators {
            if operator.guard.truth(sides) == Truth::False {
                continue;
            }
            for destination in &operator.destinations {
                self.outcome(operator, destination, sides, choices, budget)?;
            }
        }
        Ok(())
    }

    fn outcome(
        &mut self,
        operator: &Operator,
        destination: &Destination,
        sides: &IntBox,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        let variables = sides.dimensions();
        let output = self.policy.and_then(|policy| policy.output_of(operator.label?));
        let exists = destination.exists(&self.question.model.variables);
        let mut first = sides.clone();
        destination.choice_sides(sides).into_iter().for_each(|side| first.push(side));
        let mut open = vec![first];
        while let Some(mut piece) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            operator.guard.tighten(&mut piece);
            exists.tighten(&mut piece);
            if piece.is_empty()
                || operator.guard.truth(&piece) == Truth::False
                || exists.truth(&piece) == Truth::False
                || self.terminal_truth(&piece) == Truth::True
            {
                continue;
            }
            let image = self.image(destination, &piece);
            if self.is_inside(&image) {
                continue;
            }
            let mut states = piece.clone();
            states.truncate(variables);
            if states.is_point() {
                self.single_state(operator, output, &states.lower_corner())?;
                continue;
            }
            if let Some(output) = output {
                let competing = |j: usize| self.competes(j, &states);
                if choices.is_refuted(output, &states, &competing, budget)? {
                    continue;
                }
            }
            let direct = |d: usize| match destination.update(VarId::new(d)) {
                None => Some((d, 1, 0)),
                Some(UpdateValue::Linear(linear)) => match linear.terms[..] {
                    [(w, factor @ (1 | -1))] => Some((w.index(), factor, linear.constant)),
                    _ => None,
                },
                Some(UpdateValue::General(_)) => None,
            };
            let parts = self
                .cut_at_a_face(&image, &direct, &piece)
                .unwrap_or_else(|| self.halves(operator, destination, &piece));
            open.extend(parts);
        }
        Ok(())
    }

    /// The state by the definition.
    fn single_state(
        &self,
        operator: &Operator,
        output: Option<usize>,
        state: &State,
    ) -> Result<(), InvariantError> {
        let modelling = |error| InvariantError::from(EngineError::from(error));
        if self.question.is_terminal(state)
            || !self.semantics.is_enabled(operator, state).map_err(modelling)?
        {
            return Ok(());
        }
        if let (Some(output), Some(policy), Some(scorer)) = (output, self.policy, &self.scorer) {
            let mut competing = Vec::new();
            for (j, &label) in policy.outputs().iter().enumerate() {
                let competes = policy.semantics().filter == Filter::None
                    || is_applicable(self.semantics, label, state).map_err(modelling)?;
                if competes {
                    competing.push(j);
                }
            }
            let mut inputs = Vec::new();
            policy.read_inputs(state, &mut inputs);
            if let (Contest::LostTo(_) | Contest::Unlikely, _) =
                scorer.contest(output, &competing, &inputs)
            {
                return Ok(());
            }
        }
        for successor in self.semantics.successors(operator, state).map_err(modelling)?.list {
            if !self.boxes.iter().any(|b| b.contains(&successor.state)) {
                let model = self.question.model;
                return Err(InvariantError::Leaves {
                    operator: model.display_operator(&operator.key),
                    state: model.display_state(state),
                    target: model.display_state(&successor.state),
                });
            }
        }
        Ok(())
    }

    fn terminal_truth(&self, sides: &IntBox) -> Truth {
        self.question.terminal.as_ref().map_or(Truth::False, |c| c.truth(sides))
    }

    /// Returns whether an output competes everywhere in a box.
    fn competes(&self, output: usize, sides: &IntBox) -> bool {
        let Some(policy) = self.policy else { return false };
        policy.semantics().filter == Filter::None
            || self.operators.iter().any(|operator| {
                operator.label == Some(policy.outputs()[output])
                    && operator.guard.truth(sides) == Truth::True
            })
    }

    /// A box around where an outcome leads to.
    fn image(&self, destination: &Destination, piece: &IntBox) -> IntBox {
        let variables = &self.question.model.variables;
        let mut image = piece.clone();
        image.truncate(variables.len());
        for update in &destination.updates {
            let d = update.variable.index();
            let values = update.value.to_expr().range(piece).integers();
            image[d] = values.intersect(variables[d].domain);
        }
        image
    }

    /// Cuts a piece such that its image is cut at a face of the box that has most of it. `direct`
    /// tells the variables whose new value is ± one old value and a constant.
    fn cut_at_a_face(
        &self,
        image: &IntBox,
        direct: &dyn Fn(usize) -> Option<(usize, i64, i64)>,
        piece: &IntBox,
    ) -> Option<[IntBox; 2]> {
        // `None` once it is no more than `least`: shares only shrink.
        let overlap = |b: &IntBox, least: f64| {
            let mut sides = b.sides().iter().zip(image.sides());
            sides.try_fold(1.0, |share, (b, side)| {
                Some(share * shared(*b, *side)).filter(|&share| share > least)
            })
        };
        let mut best: Option<(f64, &IntBox)> = None;
        for b in self.boxes {
            if let Some(share) = overlap(b, best.map_or(0.0, |(most, _)| most)) {
                best = Some((share, b));
            }
        }
        let (_, face) = best?;
        for (d, (inner, outer)) in face.sides().iter().zip(image.sides()).enumerate() {
            // v' ≤ at in one part, v' > at in the other.
            for at in [inner.lo - 1, inner.hi] {
                if at < outer.lo || at >= outer.hi {
                    continue;
                }
                let Some((w, factor, constant)) = direct(d) else { continue };
                let before = if factor > 0 {
                    at.checked_sub(constant)
                } else {
                    constant.checked_sub(at).and_then(|bound| bound.checked_sub(1))
                };
                let side = piece[w];
                if let Some(at) = before.filter(|&at| side.lo <= at && at < side.hi) {
                    return Some(piece.clone().cut(w, at));
                }
            }
        }
        None
    }

    /// The halves of a piece along a variable that something undecided depends on.
    fn halves(
        &self,
        operator: &Operator,
        destination: &Destination,
        piece: &IntBox,
    ) -> [IntBox; 2] {
        let mut reads: Vec<VarId> = Vec::new();
        let mut undecided = |condition: &Condition| {
            if condition.truth(piece) == Truth::Maybe {
                reads.extend(condition.variables());
            }
        };
        undecided(&operator.guard);
        undecided(&destination.defined);
        self.question.terminal.iter().for_each(undecided);
        for update in &destination.updates {
            if let UpdateValue::General(value) = &update.value {
                value.for_each_var(&mut |v| reads.push(v));
            }
        }
        let inputs = self.policy.map_or(&[][..], Policy::inputs);
        let widest = |variables: &[VarId]| {
            let open = variables.iter().map(|v| v.index()).filter(|&d| !piece[d].is_point());
            open.max_by_key(|&d| piece[d].lo.abs_diff(piece[d].hi))
        };
        let all: Vec<VarId> = (0..piece.dimensions()).map(VarId::new).collect();
        let d = widest(&reads).or_else(|| widest(inputs)).or_else(|| widest(&all)).unwrap_or(0);
        piece.clone().cut(d, piece[d].midpoint())
    }
}

/// Returns which part of a side lies in another one.
#[expect(clippy::cast_precision_loss, reason = "a heuristic")]
fn shared(a: IntInterval, side: IntInterval) -> f64 {
    let common = a.intersect(side);
    if common.is_empty() {
        return 0.0;
    }
    let size = |side: IntInterval| side.lo.abs_diff(side.hi) as f64 + 1.0;
    size(common) / size(side)
}
