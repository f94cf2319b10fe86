//! The encoding of a path: its requirements as conditions on the start state.
//!
//! Updates are deterministic once the free choices are given, so the state after a number of
//! steps is a vector of expressions over the start state and these choices, and the weakest
//! precondition of the whole path is one conjunction over them.

use policert_model::{Condition, Expr, LinearExpr, VarId};
use policert_numeric::IntBox;

use super::path::{AbstractPath, Requirement};
use crate::abstraction::Abstraction;

/// Variables that the value of one variable may mention before the encoding ends.
const VALUE_LIMIT: usize = 512;

/// The requirements of a path, over the start state and all free choices on the way.
#[derive(Debug)]
pub(crate) struct PathCondition {
    /// The domains of the variables, then the sides of the free choices of all steps.
    pub sides: IntBox,
    /// In the order of the steps.
    pub requirements: Vec<EncodedRequirement>,
    /// For each step that is encoded, and the state after the last of them.
    pub moments: Vec<Moment>,
}

/// A requirement in both forms.
#[derive(Debug)]
pub(crate) struct EncodedRequirement {
    /// Over the state and the choices of its step.
    pub requirement: Requirement,
    /// Over the start state and all choices.
    pub initially: Condition,
}

/// The state after a number of steps.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// The values of the variables over the start state and all choices; `None` for the value in
    /// the start state.
    values: Vec<Option<Expr>>,
    /// The dimension of the first choice of the step that begins here.
    first_choice: usize,
}

impl Moment {
    /// Returns what a variable, or a choice of the step that begins here, is in the encoding.
    pub fn value(&self, variable: VarId) -> Option<Expr> {
        match self.values.get(variable.index()) {
            Some(value) => value.clone(),
            None => {
                let choice = variable.index() - self.values.len();
                Some(Expr::Var(VarId::new(self.first_choice + choice)))
            }
        }
    }

    /// A superset of the states here, given a box of start states and choices.
    pub fn image(&self, sides: &IntBox) -> IntBox {
        let side = |(v, value): (usize, &Option<Expr>)| match value {
            None => sides[v],
            Some(expr) => expr.range(sides).integers(),
        };
        IntBox::new(self.values.iter().enumerate().map(side).collect())
    }

    /// The condition that a variable has a value here.
    pub fn equals(&self, variable: VarId, value: i64) -> Condition {
        Condition::var_equals(variable, value).substitute(&|v| self.value(v))
    }

    /// The dimensions of the encoding that the value of a variable depends on.
    pub fn reads(&self, variable: usize, reads: &mut Vec<usize>) {
        match &self.values[variable] {
            None => reads.push(variable),
            Some(expr) => expr.for_each_var(&mut |v| reads.push(v.index())),
        }
    }

    /// The choices of the step that begins here, as they stand in a point of the encoding.
    pub fn choices<'p>(&self, point: &'p [i64], count: usize) -> &'p [i64] {
        &point[self.first_choice..self.first_choice + count]
    }
}

impl PathCondition {
    /// Encodes a path, as far as the values of variables stay small.
    pub fn new(abstraction: &Abstraction<'_>, path: &AbstractPath) -> Self {
        let mut sides = abstraction.predicates.domains().clone();
        let variables = sides.dimensions();
        let mut moment = Moment { values: vec![None; variables], first_choice: variables };
        let mut requirements = Vec::new();
        let mut moments = Vec::new();
        for step in 0..=path.steps.len() {
            for requirement in path.requirements(abstraction, step) {
                let initially = requirement.condition.substitute(&|v| moment.value(v));
                requirements.push(EncodedRequirement { requirement, initially });
            }
            moments.push(moment.clone());
            if step == path.steps.len() {
                break;
            }
            let outcome = path.outcome(abstraction, step);
            for side in outcome.choice_sides(abstraction.predicates.domains()) {
                sides.push(side);
            }
            let mut next = moment.values.clone();
            let mut greatest = 0;
            for update in &outcome.updates {
                let value = update.value.to_expr().substitute(&|v| moment.value(v), &|_| None);
                let value = LinearExpr::from_expr(&value).map_or(value, |linear| linear.to_expr());
                let mut mentioned = 0;
                value.for_each_var(&mut |_| mentioned += 1);
                greatest = greatest.max(mentioned);
                next[update.variable.index()] = Some(value);
            }
            if greatest > VALUE_LIMIT {
                break;
            }
            moment = Moment { values: next, first_choice: sides.dimensions() };
        }
        Self { sides, requirements, moments }
    }
}
