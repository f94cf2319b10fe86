//! Affine forms: numbers as `centre + Σ slope · s + e` over symbols s from −1 to 1 that they share, with |e| at most an
//! error of their own.

use policert_numeric::Interval;
use policert_numeric::round::{add_up, dot_error, mul_up, sub_up};

use super::formulas::Formula;

/// A number over symbols.
#[derive(Clone, Debug)]
pub(super) struct Affine {
    pub centre: f64,
    /// By symbol; those that are left out are 0.
    pub slopes: Vec<f64>,
    pub error: f64,
}

impl Affine {
    /// Any number of a range.
    pub fn constant(range: Interval) -> Self {
        let centre = range.midpoint();
        Self { centre, slopes: Vec::new(), error: radius_of(range, centre) }
    }

    /// The greatest distance from the centre.
    pub fn radius(&self) -> f64 {
        self.slopes.iter().fold(self.error, |sum, slope| add_up(sum, slope.abs()))
    }

    pub fn range(&self) -> Interval {
        Interval::ball(self.centre, self.radius())
    }

    /// The same with its error as the symbol of this number.
    pub fn with_symbol(mut self, symbol: usize) -> Self {
        if self.error > 0.0 {
            self.slopes.resize(symbol, 0.0);
            self.slopes.push(self.error);
            self.error = 0.0;
        }
        self
    }

    /// `constant + Σ weight · number`.
    pub fn sum(constant: Interval, terms: &[(Interval, &Self)]) -> Self {
        let centre = constant.midpoint();
        let mut error = radius_of(constant, centre);
        let mut weights = Vec::with_capacity(terms.len());
        for (weight, term) in terms {
            let middle = weight.midpoint();
            let radius = radius_of(*weight, middle);
            error = add_up(error, mul_up(add_up(middle.abs(), radius), term.error));
            if radius > 0.0 {
                let exact = Self { error: 0.0, ..(*term).clone() }.radius();
                error = add_up(error, mul_up(radius, add_up(term.centre.abs(), exact)));
            }
            weights.push(middle);
        }
        // Sums are rounded to nearest, and what that may lose counts as an error.
        let mut lost = 0.0;
        let mut summed = |first: f64, column: &dyn Fn(&Self) -> f64| {
            let (mut sum, mut magnitude) = (first, first.abs());
            for (weight, (_, term)) in weights.iter().zip(terms) {
                let product = weight * column(term);
                sum += product;
                magnitude += product.abs();
            }
            lost = add_up(lost, dot_error(terms.len() + 2, mul_up(magnitude, 1.0 + 1e-9)));
            sum
        };
        let centre = summed(centre, &|term| term.centre);
        let symbols = terms.iter().map(|(_, term)| term.slopes.len()).max().unwrap_or(0);
        let slopes = (0..symbols)
            .map(|j| summed(0.0, &|term| term.slopes.get(j).copied().unwrap_or(0.0)))
            .collect();
        let sum = Self { centre, slopes, error: add_up(error, lost) };
        let is_finite = sum.error.is_finite() && sum.centre.is_finite();
        if is_finite && sum.slopes.iter().all(|slope| slope.is_finite()) {
            sum
        } else {
            Self::constant(Interval::EVERYTHING)
        }
    }

    /// A formula by its value in the centre and its slopes over all (mean values); `None` if it has none
    /// somewhere.
    pub fn of_formula(formula: &Formula, at: &[Self]) -> Option<Self> {
        let centres: Vec<Interval> = at.iter().map(|x| Interval::point(x.centre)).collect();
        let ranges: Vec<Interval> = at.iter().map(Self::range).collect();
        let slopes = formula.slopes(&ranges)?;
        let moved: Vec<Self> = at.iter().map(|x| Self { centre: 0.0, ..x.clone() }).collect();
        let terms = slopes.into_iter().zip(&moved);
        let terms: Vec<_> = terms.filter(|(slope, _)| slope.magnitude() > 0.0).collect();
        Some(Self::sum(formula.value(&centres)?, &terms))
    }
}

/// The greatest distance of a number of a range from a number.
fn radius_of(range: Interval, centre: f64) -> f64 {
    sub_up(range.hi(), centre).max(sub_up(centre, range.lo()))
}
