//! The plane that multipliers make of all inequalities and bends of a part, with proved rounding.

use std::iter::zip;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::round::{add_down, add_up, mul_down, mul_up, sub_up};

use super::RealOracle;
use super::ascent::Multipliers;
use super::queue::RealPart;
use super::search::RealSearch;
use crate::planes::{self, PlaneRow};
use crate::symbolic::{Form, FormTerm};

/// Bounds of a sum of products.
#[derive(Clone, Copy, Default)]
struct Sum {
    below: f64,
    above: f64,
}

impl Sum {
    fn add(&mut self, a: f64, b: f64) {
        self.below = add_down(self.below, mul_down(a, b));
        self.above = add_up(self.above, mul_up(a, b));
    }

    /// A number between, and a bound of what is lost where it is used instead of the sum as the
    /// factor of something of at most this size.
    fn rounded(self, size: f64) -> (f64, f64) {
        let middle = self.below / 2.0 + self.above / 2.0;
        (middle, mul_up(sub_up(self.above, self.below), size))
    }
}

impl RealSearch {
    /// The sum of all inequalities and bends with these multipliers as a plane over the part that
    /// was entered last; `None` if they are no multipliers.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn mixed_row(
        &self,
        oracle: &mut RealOracle,
        part: &RealPart,
        multipliers: &Multipliers,
        budget: &mut Budget,
    ) -> Result<Option<PlaneRow>, StopReason> {
        let RealOracle { bounder, reads, .. } = oracle;
        let of_constraints =
            zip(&multipliers.constraints, &self.scales).map(|(by, scale)| by / scale);
        let of_constraints: Vec<f64> = of_constraints.collect();
        let is_multiplier = |&by: &f64| (0.0..f64::INFINITY).contains(&by);
        if !of_constraints.iter().chain(&multipliers.bends).all(is_multiplier) {
            return Ok(None);
        }
        for function in bounder.convex() {
            if let Some(slope) = multipliers.slopes.get(function.slot).filter(|s| !s.is_nan()) {
                bounder.slope_below(&function, f64::from(*slope));
            }
        }
        let scores = bounder.program().range(bounder.program().output);
        let mut of_scores = vec![Sum::default(); scores.len()];
        let mut of_variables = vec![Sum::default(); self.sizes.len()];
        let mut upper = Sum::default();
        for (constraint, &by) in zip(&self.constraints, &of_constraints) {
            for term in &constraint.scores {
                of_scores[term.element].add(by, term.factor);
            }
            zip(&mut of_variables, &constraint.slopes).for_each(|(sum, &slope)| sum.add(by, slope));
            upper.add(by, constraint.upper);
        }
        let mut elements = Vec::new();
        // The sides of inputs are those of the box.
        let bends = zip(&part.bends, &multipliers.bends)
            .filter(|(bend, by)| **by > 0.0 && bend.slot >= reads.len());
        for (bend, &by) in bends {
            let by = if bend.above { -by } else { by };
            elements.push((bend.slot, by));
            upper.add(by, bend.at);
        }
        let mut upper = upper.above;
        let mut form = Form::new();
        for ((element, sum), &size) in
            zip(of_scores.iter().enumerate(), &self.frame.magnitude[scores])
        {
            let (factor, loss) = sum.rounded(size);
            upper = add_up(upper, loss);
            if factor != 0.0 {
                form.push(FormTerm { element, factor });
            }
        }
        bounder.mixed_plane(&self.frame, &form, &elements, budget, |plane| {
            for (input, &variable) in reads.iter().enumerate() {
                of_variables[variable].add(1.0, plane.slope(input));
            }
            upper = planes::upper_side(upper, plane.constant());
        })?;
        let mut slopes = Vec::with_capacity(of_variables.len());
        for (sum, &size) in zip(of_variables, &self.sizes) {
            let (slope, loss) = sum.rounded(size);
            upper = add_up(upper, loss);
            slopes.push(slope);
        }
        Ok(Some(PlaneRow { slopes, upper }))
    }
}
