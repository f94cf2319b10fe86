//! Taylor models: polynomials in symbols and time, with an interval for the rest.
//!
//! A model encloses a function v of the symbols and time: v ∈ Σ cₘ·m + R everywhere. Coefficients are
//! doubles; what rounding, terms of too high a degree and terms that are too small to be kept change is
//! bounded and goes to R (Makino and Berz, *Taylor models and other validated functional inclusion
//! methods*, 2003). All magnitudes of monomials are at most 1, so the error of a sum of terms is at most
//! the sum of the errors of their coefficients.

use policert_numeric::Interval;
use policert_numeric::round::{LEAST_POSITIVE, add_down, add_up, gamma, mul_up};

use super::monomial::Monomial;

/// A relative amount that covers the rounding of sums of magnitudes.
const SLACK: f64 = 1.0 + 1e-9;

/// A monomial with its coefficient.
pub(super) type Term = (Monomial, f64);

/// A polynomial with an interval for the rest.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// In the order of the monomials, none of which occurs twice.
    pub(super) terms: Vec<Term>,
    pub(super) rest: Interval,
}

/// Bound of the errors of `count` numbers that `roundings` operations each were made of, given the sum of
/// the magnitudes that were added up.
pub(super) fn rounding(roundings: usize, size: f64, count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a bound with a wide margin")]
    let underflow = 2.0 * (roundings.max(1) as f64) * (count as f64) * LEAST_POSITIVE;
    add_up(mul_up(gamma(roundings), mul_up(size, SLACK)), underflow)
}

impl Model {
    /// A number of a range.
    pub(super) fn constant(range: Interval) -> Self {
        let middle = range.midpoint();
        let rest = range - Interval::point(middle);
        Self { terms: Vec::new(), rest }.shifted(middle)
    }

    /// `centre + radius · symbol`.
    pub(super) fn symbol(centre: f64, radius: f64, symbol: usize) -> Self {
        let terms = vec![(Monomial::symbol(symbol), radius)];
        Self { terms, rest: Interval::ZERO }.shifted(centre)
    }

    /// The polynomial alone.
    pub(super) fn polynomial(&self) -> Self {
        Self { terms: self.terms.clone(), rest: Interval::ZERO }
    }

    /// The coefficient of the empty product.
    pub(super) fn centre(&self) -> f64 {
        match self.terms.first() {
            Some(&(Monomial::ONE, centre)) => centre,
            Some(_) | None => 0.0,
        }
    }

    /// The sum of the magnitudes of all coefficients, rounded up.
    pub(super) fn size(&self) -> f64 {
        mul_up(self.terms.iter().map(|(_, c)| c.abs()).sum::<f64>(), SLACK)
    }

    /// The values of the polynomial.
    pub(super) fn polynomial_range(&self) -> Interval {
        let (mut centre, mut below, mut above) = (0.0, 0.0, 0.0);
        for &(monomial, c) in &self.terms {
            if monomial == Monomial::ONE {
                centre = c;
            } else if !monomial.is_even() {
                below += c.abs();
                above += c.abs();
            } else if c < 0.0 {
                below -= c;
            } else {
                above += c;
            }
        }
        let lo = add_down(centre, -mul_up(below, SLACK));
        let hi = add_up(centre, mul_up(above, SLACK));
        Interval::new(lo, hi).unwrap_or(Interval::EVERYTHING)
    }

    /// All values.
    pub(super) fn range(&self) -> Interval {
        self.polynomial_range() + self.rest
    }

    /// Returns whether all numbers are finite.
    pub(super) fn is_bounded(&self) -> bool {
        let rest = self.rest.lo().is_finite() && self.rest.hi().is_finite();
        rest && self.terms.iter().all(|(_, c)| c.is_finite())
    }

    /// The model without a term of the empty product.
    pub(super) fn around_centre(&self) -> Self {
        let from = usize::from(matches!(self.terms.first(), Some(&(Monomial::ONE, _))));
        Self { terms: self.terms[from..].to_vec(), rest: self.rest }
    }

    /// The sum with a number.
    pub(super) fn shifted(mut self, by: f64) -> Self {
        if by == 0.0 {
            return self;
        }
        match self.terms.first_mut() {
            Some((Monomial::ONE, centre)) => {
                let sum = *centre + by;
                self.rest = self.rest + Interval::ball(0.0, rounding(1, sum.abs(), 1));
                *centre = sum;
            }
            Some(_) | None => self.terms.insert(0, (Monomial::ONE, by)),
        }
        self
    }

    /// The sum with numbers of a range.
    pub(super) fn shifted_by(mut self, by: Interval) -> Self {
        let middle = by.midpoint();
        self.rest = self.rest + (by - Interval::point(middle));
        self.shifted(middle)
    }

    /// a + b.
    pub(super) fn plus(&self, other: &Self) -> Self {
        self.merged(other, 1.0, self.rest + other.rest)
    }

    /// a − b.
    pub(super) fn minus(&self, other: &Self) -> Self {
        self.merged(other, -1.0, self.rest - other.rest)
    }

    /// The terms of a and those of b times `sign`, which is 1 or −1.
    fn merged(&self, other: &Self, sign: f64, rest: Interval) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let (mut size, mut count) = (0.0, 0);
        loop {
            match (left.peek(), right.peek()) {
                (Some(&&(m, a)), Some(&&(k, b))) if m == k => {
                    let sum = a + sign * b;
                    if sum != 0.0 {
                        terms.push((m, sum));
                    }
                    size += sum.abs();
                    count += 1;
                    left.next();
                    right.next();
                }
                (Some(&&(m, a)), Some(&&(k, _))) if m < k => {
                    terms.push((m, a));
                    left.next();
                }
                (_, Some(&&(k, b))) => {
                    terms.push((k, sign * b));
                    right.next();
                }
                (Some(&&(m, a)), None) => {
                    terms.push((m, a));
                    left.next();
                }
                (None, None) => break,
            }
        }
        let error = if count > 0 { rounding(1, size, count) } else { 0.0 };
        Self { terms, rest: rest + Interval::ball(0.0, error) }
    }

    /// −a.
    pub(super) fn negated(&self) -> Self {
        let terms = self.terms.iter().map(|&(m, c)| (m, -c)).collect();
        Self { terms, rest: -self.rest }
    }

    /// The product with a number.
    pub(super) fn scaled(&self, by: f64) -> Self {
        let terms: Vec<_> = self.terms.iter().map(|&(m, c)| (m, c * by)).collect();
        let mut product = Self { terms, rest: self.rest * Interval::point(by) };
        let error = rounding(1, product.size(), product.terms.len());
        product.terms.retain(|(_, c)| *c != 0.0);
        product.rest = product.rest + Interval::ball(0.0, error);
        product
    }

    /// The product with numbers of a range.
    pub(super) fn scaled_by(&self, by: Interval) -> Self {
        let middle = by.midpoint();
        let mut product = self.scaled(middle);
        if by.lo() < by.hi() {
            product.rest = product.rest + self.range() * (by - Interval::point(middle));
        }
        product
    }

    /// The model at the end, where time is 1.
    pub(super) fn at_end(&self) -> Self {
        let mut terms: Vec<_> = self.terms.iter().map(|&(m, c)| (m.without_time(), c)).collect();
        terms.sort_by_key(|&(m, _)| m);
        Self { terms: Vec::new(), rest: self.rest }.with_sums(&terms)
    }

    /// Adds terms to a model that has none: those of one monomial, which follow each other, become one.
    fn with_sums(mut self, terms: &[(Monomial, f64)]) -> Self {
        let (mut size, mut most) = (0.0, 0);
        for group in terms.chunk_by(|a, b| a.0 == b.0) {
            let sum = group.iter().map(|(_, c)| c).sum::<f64>();
            if group.len() > 1 {
                size += group.iter().map(|(_, c)| c.abs()).sum::<f64>();
                most = most.max(group.len());
            }
            if sum != 0.0 {
                self.terms.push((group[0].0, sum));
            }
        }
        if most > 0 {
            self.rest = self.rest + Interval::ball(0.0, rounding(most, size, terms.len()));
        }
        self
    }

    /// The derivative by time of the polynomial.
    pub(super) fn by_time(&self) -> Self {
        let moving = self.terms.iter().filter(|(m, _)| m.time() > 0);
        let terms: Vec<_> =
            moving.map(|&(m, c)| (m.over_time(), c * f64::from(m.time()))).collect();
        let mut slope = Self { terms, rest: Interval::ZERO };
        let error = rounding(1, slope.size(), slope.terms.len());
        slope.rest = Interval::ball(0.0, error);
        slope.terms.sort_by_key(|&(m, _)| m);
        slope
    }

    /// About the integral of the polynomial from 0 to a time, all errors left out.
    pub(super) fn rough_integral(&self) -> Self {
        let longer = |&(m, c): &(Monomial, f64)| (m.times_time(), c / (f64::from(m.time()) + 1.0));
        let mut terms: Vec<_> = self.terms.iter().map(longer).collect();
        terms.sort_by_key(|&(m, _)| m);
        Self { terms, rest: Interval::ZERO }
    }

    /// Contains the integral from 0 to any time, for all values of the symbols.
    pub(super) fn integral_range(&self) -> Interval {
        let integrals = self.terms.iter().map(|(m, c)| c.abs() / (f64::from(m.time()) + 1.0));
        let size = mul_up(integrals.sum::<f64>(), SLACK);
        #[expect(clippy::cast_precision_loss, reason = "a bound with a wide margin")]
        let underflow = self.terms.len() as f64 * LEAST_POSITIVE;
        Interval::ball(0.0, add_up(size, underflow)) + self.rest.hull(Interval::ZERO)
    }
}
