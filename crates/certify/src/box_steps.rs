//! Steps from boxes of states, for checks that halve boxes until interval arithmetic decides: where outcomes
//! lead, what competes, where a box is cut; and single states by the definition.

use policert_engine_api::{Budget, EngineError, Question, StartStates, point_of};
use policert_model::{
    Condition, Destination, Model, ModelSemantics, Operator, Region, State, Truth, UpdateValue,
    VarId,
};
use policert_numeric::IntBox;
use policert_policy::{Filter, Policy};

use crate::applicable::is_applicable;
use crate::cover::Cover;
use crate::error::ReplayError;
use crate::scores::{Contest, Evaluations, Scorer};
use crate::stuck::check_stuck;

/// A model under a policy.
pub(crate) struct BoxSteps<'a> {
    pub question: &'a Question<'a>,
    pub semantics: ModelSemantics<'a>,
    pub policy: Option<(&'a Policy, Scorer<'a>)>,
    pub operators: &'a [Operator],
}

impl<'a> BoxSteps<'a> {
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        operators: &'a [Operator],
    ) -> Self {
        let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
        let policy = policy.map(|policy| (policy, Scorer::new(policy, Evaluations::All)));
        Self { question, semantics, policy, operators }
    }

    /// The output of the policy that scores the label of an operator.
    pub fn output_of(&self, operator: &Operator) -> Option<usize> {
        self.policy.as_ref().and_then(|(policy, _)| policy.output_of(operator.label?))
    }

    /// Returns whether an operator may fire in a state, by the definition. An undecided choice counts as
    /// any of the policy's labels.
    pub fn may_fire(&self, operator: &Operator, state: &State) -> Result<bool, EngineError> {
        if self.question.is_terminal(state) || !self.semantics.is_enabled(operator, state)? {
            return Ok(false);
        }
        let (Some(output), Some((policy, scorer))) = (self.output_of(operator), &self.policy)
        else {
            return Ok(true);
        };
        let mut competing = Vec::new();
        for (j, &label) in policy.outputs().iter().enumerate() {
            let competes = policy.semantics().filter == Filter::None
                || is_applicable(self.semantics, label, state)?;
            if competes {
                competing.push(j);
            }
        }
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        let (contest, _) = scorer.contest(output, &competing, &inputs);
        Ok(!matches!(contest, Contest::LostTo(_) | Contest::Unlikely))
    }

    /// Returns whether no run gets stuck in a state, by the definition.
    pub fn goes_on(&self, state: &[i64]) -> bool {
        let stuck = check_stuck(self.semantics, self.policy.as_ref(), 0, state);
        matches!(stuck, Err(ReplayError::GoesOn { .. }))
    }

    /// Visits every state of a piece.
    ///
    /// # Errors
    /// A stop of the budget, or an error of the visitor.
    pub fn for_each_state<E: From<EngineError>>(
        &self,
        piece: &Region<Condition>,
        budget: &mut Budget,
        visit: &mut dyn FnMut(&State) -> Result<(), E>,
    ) -> Result<(), E> {
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
            if piece.conditions.iter().all(|condition| condition.holds(&state) == Ok(true)) {
                visit(&state)?;
            }
        }
        Ok(())
    }

    pub fn terminal_truth(&self, sides: &IntBox) -> Truth {
        self.question.terminal.as_ref().map_or(Truth::False, |c| c.truth(sides))
    }

    /// Returns whether an output competes everywhere in a box.
    pub fn competes(&self, output: usize, sides: &IntBox) -> bool {
        let Some((policy, _)) = &self.policy else { return false };
        policy.semantics().filter == Filter::None
            || self.operators.iter().any(|operator| {
                operator.label == Some(policy.outputs()[output])
                    && operator.guard.truth(sides) == Truth::True
            })
    }

    /// A box around where an outcome leads to.
    pub fn image(&self, destination: &Destination, piece: &IntBox) -> IntBox {
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

    /// The halves of a piece along a variable that something undecided depends on. `images` are what
    /// outcomes lead to from it.
    pub fn halves<'d>(
        &self,
        operator: &Operator,
        images: impl IntoIterator<Item = (&'d Destination, &'d IntBox)>,
        from: &Region<Condition>,
        cover: &Cover<'_>,
        piece: &IntBox,
    ) -> [IntBox; 2] {
        let mut reads: Vec<VarId> = Vec::new();
        let undecided = |condition: &Condition, reads: &mut Vec<VarId>| {
            if condition.truth(piece) == Truth::Maybe {
                reads.extend(condition.variables());
            }
        };
        for (destination, image) in images {
            // What decides whether the image satisfies the conditions of the piece around it.
            for v in cover.open_variables(image) {
                match destination.update(v) {
                    None => reads.push(v),
                    Some(update) => update.to_expr().for_each_var(&mut |v| reads.push(v)),
                }
            }
            let dimensions = self.question.model.variables.len() + destination.choices.len();
            if piece.dimensions() < dimensions {
                // Without its free choices, it has no truth value.
                reads.extend(destination.defined.variables());
            } else {
                undecided(&destination.defined, &mut reads);
            }
            for update in &destination.updates {
                if let UpdateValue::General(value) = &update.value {
                    value.for_each_var(&mut |v| reads.push(v));
                }
            }
        }
        undecided(&operator.guard, &mut reads);
        from.conditions.iter().for_each(|condition| undecided(condition, &mut reads));
        self.question.terminal.iter().for_each(|condition| undecided(condition, &mut reads));
        let inputs = self.policy.as_ref().map_or(&[][..], |(policy, _)| policy.inputs());
        let widest = |variables: &[VarId]| {
            // Free choices are no dimensions of every piece.
            let inside = variables.iter().map(|v| v.index()).filter(|&d| d < piece.dimensions());
            widest_side(piece, inside)
        };
        let all: Vec<VarId> = (0..piece.dimensions()).map(VarId::new).collect();
        let d = widest(&reads).or_else(|| widest(inputs)).or_else(|| widest(&all)).unwrap_or(0);
        piece.clone().cut(d, piece[d].midpoint())
    }

    /// Returns a start state that no piece contains, if there is one.
    ///
    /// # Errors
    /// A stop of the budget, or a start condition that leaves a variable unbounded.
    pub fn start_outside(
        &self,
        cover: &Cover<'_>,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        for source in self.question.start_states() {
            let (condition, sides) = match source {
                StartStates::Region(condition, sides) => (condition, sides),
                StartStates::List(states) => {
                    match states.iter().find(|state| !cover.contains(state)) {
                        Some(state) => return Ok(Some(state.clone())),
                        None => continue,
                    }
                }
            };
            let mut open = vec![sides];
            while let Some(mut sides) = open.pop() {
                budget.poll()?;
                condition.tighten(&mut sides);
                if sides.is_empty() || cover.includes(&sides) {
                    continue;
                }
                if let Some(cut) = cover.cut_at_a_face(&sides, &|d| Some((d, 1, 0)), &sides) {
                    open.extend(cut);
                    continue;
                }
                let undecided = cover.open_variables(&sides);
                let undecided: Vec<usize> = undecided.iter().map(|v| v.index()).collect();
                let mut widest = widest_side(&sides, undecided);
                if widest.is_none() {
                    match point_of(&condition, &sides, budget)? {
                        None => continue,
                        Some(state) if !cover.contains(&state) => return Ok(Some(state)),
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
        Ok(None)
    }
}

/// Returns whether a piece is one of states of the model, of which there are finitely many.
pub(crate) fn fits(model: &Model, piece: &Region<Condition>) -> bool {
    let (domains, sides) = (model.domains(), &piece.sides);
    sides.dimensions() == domains.dimensions() && domains.includes(sides) && sides.is_bounded()
}

/// Tells the variables whose new value is ± one old value and a constant.
pub(crate) fn direct(destination: &Destination, d: usize) -> Option<(usize, i64, i64)> {
    match destination.update(VarId::new(d)) {
        None => Some((d, 1, 0)),
        Some(UpdateValue::Linear(linear)) => match linear.terms[..] {
            [(w, factor @ (1 | -1))] => Some((w.index(), factor, linear.constant)),
            _ => None,
        },
        Some(UpdateValue::General(_)) => None,
    }
}

/// The widest of some sides that are no points.
pub(crate) fn widest_side(sides: &IntBox, among: impl IntoIterator<Item = usize>) -> Option<usize> {
    let open = among.into_iter().filter(|&d| !sides[d].is_point());
    open.max_by_key(|&d| sides[d].lo.abs_diff(sides[d].hi))
}
