//! Checking an inductive invariant that is given as boxes with conditions: every start state lies in
//! one, no unsafe state does, and no transition that the policy allows leaves them.
//!
//! Boxes are halved, or cut at the faces of other boxes, until interval reasoning decides, or a
//! single state is left, which the plain semantics and the exact scores decide. Where the question
//! forbids to get stuck, or to leave a domain, every state is looked at by itself.

mod cover;

use policert_engine_api::{
    Budget, EngineError, Invariant, Question, StartStates, StuckRule, point_of,
};
use policert_model::{
    Condition, Destination, DomainRule, ModelSemantics, OPERATOR_LIMIT, Operator, Region, State,
    Truth, UpdateValue, VarId,
};
use policert_numeric::IntBox;
use policert_policy::{Filter, Policy};
use thiserror::Error;

use crate::applicable::is_applicable;
use crate::error::ReplayError;
use crate::scores::{Contest, Evaluations, Scorer};
use crate::stuck::check_stuck;
use cover::Cover;

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
    let domains = question.model.domains();
    let fits =
        |sides: &IntBox| sides.dimensions() == domains.dimensions() && domains.includes(sides);
    let fits = |piece: &Region<Condition>| fits(&piece.sides) && piece.sides.is_bounded();
    if let Some(i) = pieces.iter().position(|piece| !fits(piece)) {
        return Err(InvariantError::NoStates(i));
    }
    let operators = question.model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
    let scored = policy.map(|policy| (policy, Scorer::new(policy, Evaluations::All)));
    let cover = Cover::new(invariant);
    let mut check = Check { question, semantics, policy, scored, cover, operators: &operators };
    check.starts(budget)?;
    for piece in pieces {
        let bad = question.property.unsafe_condition.clone();
        let bad = Condition::and(piece.conditions.iter().cloned().chain([bad]));
        if let Some(state) = point_of(&bad, &piece.sides, budget)? {
            return Err(InvariantError::Unsafe(question.model.display_state(&state)));
        }
    }
    let by_state = question.stuck == StuckRule::Unsafe || question.domain_rule == DomainRule::Error;
    for piece in pieces {
        if by_state {
            check.states(piece, budget)?;
        } else {
            check.steps(piece, choices, budget)?;
        }
    }
    Ok(())
}

struct Check<'a> {
    question: &'a Question<'a>,
    semantics: ModelSemantics<'a>,
    policy: Option<&'a Policy>,
    scored: Option<(&'a Policy, Scorer<'a>)>,
    cover: Cover<'a>,
    operators: &'a [Operator],
}

impl Check<'_> {
    /// Every start state lies in a box.
    fn starts(&mut self, budget: &mut Budget) -> Result<(), InvariantError> {
        for source in self.question.start_states() {
            let (condition, sides) = match source {
                StartStates::Region(condition, sides) => (condition, sides),
                StartStates::List(states) => {
                    let outside = states.iter().find(|state| !self.cover.contains(state));
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
                if sides.is_empty() || self.cover.includes(&sides) {
                    continue;
                }
                if let Some(cut) = self.cut_at_a_face(&sides, &|d| Some((d, 1, 0)), &sides) {
                    open.extend(cut);
                    continue;
                }
                let undecided = self.cover.open_variables(&sides);
                let undecided: Vec<usize> = undecided.iter().map(|v| v.index()).collect();
                let mut widest = widest_side(&sides, undecided);
                if widest.is_none() {
                    match point_of(&condition, &sides, budget)? {
                        None => continue,
                        Some(state) if !self.cover.contains(&state) => {
                            return Err(self.start_outside(&state));
                        }
                        // It lies inside, which the ranges of the conditions do not show.
                        Some(_) => widest = widest_side(&sides, 0..sides.dimensions()),
                    }
                }
                if let Some(d) = widest {
                    let at = sides[d].midpoint();
                    open.extend(sides.cut(d, at));
                }
            }
        }
        Ok(())
    }

    fn start_outside(&self, state: &[i64]) -> InvariantError {
        InvariantError::Start(self.question.model.display_state(state))
    }

    /// No transition leaves the invariant from one of its pieces.
    fn steps(
        &mut self,
        piece: &Region<Condition>,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        for operator in self.operators {
            if operator.guard.truth(&piece.sides) == Truth::False {
                continue;
            }
            for destination in &operator.destinations {
                self.outcome(operator, destination, piece, choices, budget)?;
            }
        }
        Ok(())
    }

    /// No transition leaves the invariant from a state of a piece, and no run gets stuck there.
    fn states(&self, piece: &Region<Condition>, budget: &mut Budget) -> Result<(), InvariantError> {
        let mut open = vec![piece.sides.clone()];
        while let Some(sides) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            let wide = (0..sides.dimensions()).find(|&d| !sides[d].is_point());
            if let Some(d) = wide {
                let at = sides[d].midpoint();
                open.extend(sides.cut(d, at));
                continue;
            }
            let state = sides.lower_corner();
            if piece.conditions.iter().any(|condition| condition.holds(&state) != Ok(true)) {
                continue;
            }
            for operator in self.operators {
                let output = self.policy.and_then(|policy| policy.output_of(operator.label?));
                self.single_state(operator, output, &state)?;
            }
            if self.question.must_go_on(&state) {
                self.goes_on(&state)?;
            }
        }
        Ok(())
    }

    /// No run gets stuck in a state.
    fn goes_on(&self, state: &[i64]) -> Result<(), InvariantError> {
        match check_stuck(self.semantics, self.scored.as_ref(), 0, state) {
            Err(ReplayError::GoesOn { .. }) => Ok(()),
            _ => Err(InvariantError::Stuck(self.question.model.display_state(state))),
        }
    }

    fn outcome(
        &mut self,
        operator: &Operator,
        destination: &Destination,
        from: &Region<Condition>,
        choices: &mut dyn ChoicesInBoxes,
        budget: &mut Budget,
    ) -> Result<(), InvariantError> {
        let sides = &from.sides;
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
            for condition in &from.conditions {
                condition.tighten(&mut piece);
            }
            if piece.is_empty()
                || from.conditions.iter().any(|condition| condition.truth(&piece) == Truth::False)
                || operator.guard.truth(&piece) == Truth::False
                || exists.truth(&piece) == Truth::False
                || self.terminal_truth(&piece) == Truth::True
            {
                continue;
            }
            let image = self.image(destination, &piece);
            if self.cover.includes(&image) {
                continue;
            }
            let mut states = piece.clone();
            states.truncate(variables);
            if let Some(output) = output {
                let competing = |j: usize| self.competes(j, &states);
                if choices.is_refuted(output, &states, &competing, budget)? {
                    continue;
                }
            }
            if states.is_point() {
                self.single_state(operator, output, &states.lower_corner())?;
                continue;
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
                .unwrap_or_else(|| self.halves(operator, destination, &image, from, &piece));
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
        if let (Some(output), Some((policy, scorer))) = (output, &self.scored) {
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
            if !self.cover.contains(&successor.state) {
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
        let face = &self.cover.nearest(image)?.sides;
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
        image: &IntBox,
        from: &Region<Condition>,
        piece: &IntBox,
    ) -> [IntBox; 2] {
        let mut reads: Vec<VarId> = Vec::new();
        // What decides whether the image satisfies the conditions of the piece around it.
        for v in self.cover.open_variables(image) {
            match destination.update(v) {
                None => reads.push(v),
                Some(update) => update.to_expr().for_each_var(&mut |v| reads.push(v)),
            }
        }
        let mut undecided = |condition: &Condition| {
            if condition.truth(piece) == Truth::Maybe {
                reads.extend(condition.variables());
            }
        };
        undecided(&operator.guard);
        undecided(&destination.defined);
        from.conditions.iter().for_each(&mut undecided);
        self.question.terminal.iter().for_each(undecided);
        for update in &destination.updates {
            if let UpdateValue::General(value) = &update.value {
                value.for_each_var(&mut |v| reads.push(v));
            }
        }
        let inputs = self.policy.map_or(&[][..], Policy::inputs);
        let widest = |variables: &[VarId]| widest_side(piece, variables.iter().map(|v| v.index()));
        let all: Vec<VarId> = (0..piece.dimensions()).map(VarId::new).collect();
        let d = widest(&reads).or_else(|| widest(inputs)).or_else(|| widest(&all)).unwrap_or(0);
        piece.clone().cut(d, piece[d].midpoint())
    }
}

/// The widest of some sides that are no points.
fn widest_side(sides: &IntBox, among: impl IntoIterator<Item = usize>) -> Option<usize> {
    let open = among.into_iter().filter(|&d| !sides[d].is_point());
    open.max_by_key(|&d| sides[d].lo.abs_diff(sides[d].hi))
}
