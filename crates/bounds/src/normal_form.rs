//! Conditions as disjunctions of conjunctions of linear inequalities.

use policert_model::{Condition, LinearConstraint, Truth};
use policert_numeric::{IntBox, LinearInequality, Rational};

/// With more disjuncts than that a condition is left out, which makes refutations rarer.
const MANY_DISJUNCTS: usize = 256;

/// A disjunction of conjunctions, and whether something was left out.
#[derive(Debug)]
pub(crate) struct NormalForm {
    pub disjuncts: Vec<Vec<LinearInequality>>,
    pub is_partial: bool,
}

impl NormalForm {
    /// Adds the conjunct that one of these disjunctions of conjunctions holds.
    pub fn add(&mut self, other: &Self) {
        self.is_partial |= other.is_partial;
        if self.disjuncts.len().saturating_mul(other.disjuncts.len()) > MANY_DISJUNCTS {
            self.is_partial = true;
            return;
        }
        let joined = |a: &Vec<LinearInequality>| -> Vec<Vec<LinearInequality>> {
            other.disjuncts.iter().map(|b| [a.as_slice(), b.as_slice()].concat()).collect()
        };
        self.disjuncts = self.disjuncts.iter().flat_map(joined).collect();
    }

    /// Adds a disjunct.
    pub fn add_disjuncts(&mut self, other: Self) {
        self.is_partial |= other.is_partial;
        self.disjuncts.extend(other.disjuncts);
    }

    pub fn constant(value: bool) -> Self {
        let disjuncts = if value { vec![Vec::new()] } else { Vec::new() };
        Self { disjuncts, is_partial: false }
    }

    /// That a condition has the value false, or none, over the points of a box.
    pub fn absence(condition: &Condition, sides: &IntBox) -> Self {
        match condition.truth(sides) {
            Truth::True => Self::constant(false),
            Truth::False => Self::constant(true),
            // ¬condition is less where it may have no value.
            Truth::Maybe if is_total(condition) => Self::of(&condition.negate(), sides),
            Truth::Maybe => Self { is_partial: true, ..Self::constant(true) },
        }
    }

    /// A condition over the points of a box. What is not linear counts as true.
    pub fn of(condition: &Condition, sides: &IntBox) -> Self {
        match condition.truth(sides) {
            Truth::True => return Self::constant(true),
            Truth::False => return Self::constant(false),
            Truth::Maybe => {}
        }
        match condition {
            Condition::True => Self::constant(true),
            Condition::False => Self::constant(false),
            Condition::Linear(constraint) => {
                Self { disjuncts: vec![vec![over_reals(constraint)]], is_partial: false }
            }
            Condition::General { .. } => Self { is_partial: true, ..Self::constant(true) },
            Condition::And(parts) => parts.iter().fold(Self::constant(true), |mut all, part| {
                all.add(&Self::of(part, sides));
                all
            }),
            Condition::Or(parts) => parts.iter().fold(Self::constant(false), |mut all, part| {
                all.add_disjuncts(Self::of(part, sides));
                all
            }),
        }
    }
}

fn over_reals(constraint: &LinearConstraint) -> LinearInequality {
    let terms = constraint.terms.iter().map(|&(v, c)| (v.index(), Rational::from(c)));
    LinearInequality::new(terms, Rational::from(constraint.upper), false)
}

/// Returns whether a condition has a truth value everywhere.
fn is_total(condition: &Condition) -> bool {
    match condition {
        Condition::True | Condition::False | Condition::Linear(_) => true,
        Condition::General { expr, .. } => expr.is_total(),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(is_total),
    }
}
