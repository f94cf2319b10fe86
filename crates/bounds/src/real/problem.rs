//! A question over the reals, made ready: the box of the variables, and each inequality in double
//! precision with an upper side that is loosened by what the conversion loses.

use std::iter::zip;

use policert_numeric::round::{add_up, mul_up, sub_up};
use policert_numeric::{LinearInequality, Rational};

use super::UndecidedReason;
use super::contradiction::contradict;
use crate::symbolic::{Form, FormTerm};

/// Inequalities over the variables 0 to `dimensions` − 1 and the scores after them.
#[derive(Debug)]
pub(super) struct RealProblem {
    pub dimensions: usize,
    /// Bounds of the variables, exactly.
    pub lo: Vec<Rational>,
    pub hi: Vec<Rational>,
    /// The inequalities that are not bounds of single variables.
    pub exact: Vec<LinearInequality>,
    /// Their positions among all inequalities of the question.
    pub positions: Vec<usize>,
}

/// An inequality in double precision: implied by the exact one everywhere in the region.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    /// Its part over the scores.
    pub scores: Form,
    /// Its part over the variables.
    pub slopes: Vec<f64>,
    pub upper: f64,
    pub strict: bool,
}

impl Constraint {
    /// The size of its left side and upper side, for magnitudes of the scores and the variables.
    pub fn size(&self, scores: &[f64], variables: &[f64]) -> f64 {
        let of_scores = self.scores.iter().map(|term| term.factor.abs() * scores[term.element]);
        let of_variables = zip(&self.slopes, variables).map(|(slope, size)| slope.abs() * size);
        let size = of_scores.chain(of_variables).sum::<f64>() + self.upper.abs();
        if size.is_normal() { size } else { 1.0 }
    }

    /// By how much it does not hold at a point with these scores, in double precision.
    pub fn excess(&self, point: &[f64], scores: &[f64]) -> f64 {
        let of_scores = self.scores.iter().map(|term| term.factor * scores[term.element]);
        let of_point = zip(&self.slopes, point).map(|(slope, x)| slope * x);
        of_scores.chain(of_point).sum::<f64>() - self.upper
    }
}

/// A question that was read: decided already, or open.
pub(super) enum RealStart {
    /// No values satisfy the bounds of single variables.
    Empty,
    Open(RealProblem),
}

impl RealProblem {
    /// Reads the bounds off the inequalities with a single variable. `is_read` are the variables
    /// that the network reads.
    pub fn read(
        dimensions: usize,
        is_read: &[bool],
        inequalities: &[LinearInequality],
    ) -> Result<RealStart, UndecidedReason> {
        // Bounds that exclude each other by being strict are closed in double precision, where nothing refutes
        // them.
        if contradict(inequalities) {
            return Ok(RealStart::Empty);
        }
        let mut lo: Vec<Option<Rational>> = vec![None; dimensions];
        let mut hi: Vec<Option<Rational>> = vec![None; dimensions];
        let (mut exact, mut positions) = (Vec::new(), Vec::new());
        let mut occurs = is_read.to_vec();
        for (position, inequality) in inequalities.iter().enumerate() {
            let bound = match inequality.terms.as_slice() {
                [] if Rational::ZERO < inequality.upper => continue,
                [] if inequality.upper.is_zero() && !inequality.strict => continue,
                [] => return Ok(RealStart::Empty),
                [(variable, coefficient)] if *variable < dimensions => {
                    let bound = inequality.upper.checked_div(coefficient);
                    bound.map(|bound| (*variable, bound, coefficient.signum() > 0))
                }
                _ => None,
            };
            match bound {
                Some((variable, bound, true)) => {
                    let old = hi[variable].take();
                    hi[variable] = Some(old.map_or(bound.clone(), |old| old.min(bound)));
                }
                Some((variable, bound, false)) => {
                    let old = lo[variable].take();
                    lo[variable] = Some(old.map_or(bound.clone(), |old| old.max(bound)));
                }
                None => {}
            }
            if bound_is_all(inequality, dimensions) {
                continue;
            }
            for &(variable, _) in inequality.terms.iter().filter(|(v, _)| *v < dimensions) {
                occurs[variable] = true;
            }
            exact.push(inequality.clone());
            positions.push(position);
        }
        let mut sides = Vec::with_capacity(dimensions);
        for (variable, side) in lo.into_iter().zip(hi).enumerate() {
            sides.push(match side {
                (Some(lo), Some(hi)) => (lo, hi),
                // A variable that nothing else is about.
                (lo, hi) if !occurs[variable] => {
                    let value = lo.or(hi).unwrap_or(Rational::ZERO);
                    (value.clone(), value)
                }
                _ => return Err(UndecidedReason::Unbounded { variable }),
            });
        }
        let (lo, hi) = sides.into_iter().unzip();
        Ok(RealStart::Open(Self { dimensions, lo, hi, exact, positions }))
    }

    /// The box in double precision, rounded outwards.
    pub fn sides(&self) -> (Vec<f64>, Vec<f64>) {
        let lo = self.lo.iter().map(|lo| lo.to_f64_interval().0).collect();
        let hi = self.hi.iter().map(|hi| hi.to_f64_interval().1).collect();
        (lo, hi)
    }

    /// The inequalities in double precision. `score_sizes` bounds the magnitude of each score.
    pub fn constraints(&self, score_sizes: &[f64]) -> Vec<Constraint> {
        let (lo, hi) = self.sides();
        let size = |variable: usize| match variable.checked_sub(self.dimensions) {
            Some(score) => score_sizes[score],
            None => lo[variable].abs().max(hi[variable].abs()),
        };
        let constraint = |inequality: &LinearInequality| {
            let mut scores = Form::new();
            let mut slopes = vec![0.0; self.dimensions];
            let mut upper = inequality.upper.to_f64_interval().1;
            for (variable, coefficient) in &inequality.terms {
                let factor = coefficient.to_f64();
                let (below, above) = coefficient.to_f64_interval();
                if below < above {
                    let loss = mul_up(sub_up(above, below), size(*variable));
                    upper = add_up(upper, loss);
                }
                match variable.checked_sub(self.dimensions) {
                    Some(element) => scores.push(FormTerm { element, factor }),
                    None => slopes[*variable] = factor,
                }
            }
            Constraint { scores, slopes, upper, strict: inequality.strict }
        };
        self.exact.iter().map(constraint).collect()
    }
}

/// Returns whether an inequality says no more than a bound of one variable.
fn bound_is_all(inequality: &LinearInequality, dimensions: usize) -> bool {
    !inequality.strict && matches!(inequality.terms.as_slice(), [(v, _)] if *v < dimensions)
}
