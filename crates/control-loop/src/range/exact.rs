//! Ranges with rational bounds.

use std::cmp::Ordering;

use policert_numeric::{IBig, Interval, Rational, UBig};

use super::ClosedRange;
use crate::edge::BoxEdge;
use crate::expression::ExpressionFunction;

/// A closed range between two rationals, or without bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct ExactRange {
    /// `None` stands for all real numbers.
    bounds: Option<(Rational, Rational)>,
}

/// Denominators of more bits than this are replaced by this power of two, outwards rounded.
const DENOMINATOR_BITS: usize = 1024;

impl ExactRange {
    const EVERYTHING: Self = ExactRange { bounds: None };

    /// The range between two numbers, in either order.
    #[must_use]
    pub fn new(a: Rational, b: Rational) -> Self {
        let bounds = Some(if a <= b { (a, b) } else { (b, a) });
        Self { bounds }
    }

    /// The least range of another kind around this one.
    #[must_use]
    pub fn converted<R: ClosedRange>(&self) -> R {
        match &self.bounds {
            Some((lo, hi)) => R::between(lo, hi),
            None => R::from_interval(Interval::EVERYTHING),
        }
    }

    fn point(value: &Rational) -> Self {
        Self { bounds: Some((value.clone(), value.clone())) }
    }

    /// An operation that has bounds where both operands do.
    fn with(
        &self,
        other: &Self,
        operation: impl Fn(&(Rational, Rational), &(Rational, Rational)) -> (Rational, Rational),
    ) -> Self {
        let bounds = match (&self.bounds, &other.bounds) {
            (Some(a), Some(b)) => Some(operation(a, b)),
            _ => None,
        };
        Self { bounds }
    }

    fn map(&self, operation: impl Fn(&Rational, &Rational) -> (Rational, Rational)) -> Self {
        Self { bounds: self.bounds.as_ref().map(|(lo, hi)| operation(lo, hi)) }
    }
}

/// Least and greatest of some numbers.
fn span(numbers: [Rational; 4]) -> (Rational, Rational) {
    let [a, b, c, d] = numbers;
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    let (low2, high2) = if c <= d { (c, d) } else { (d, c) };
    (low.min(low2), high.max(high2))
}

impl ClosedRange for ExactRange {
    const EXACT: bool = true;

    fn enclosing(value: &Rational) -> Self {
        Self::point(value)
    }

    fn between(lo: &Rational, hi: &Rational) -> Self {
        Self::new(lo.clone(), hi.clone())
    }

    fn from_interval(interval: Interval) -> Self {
        match (Rational::from_f64(interval.lo()), Rational::from_f64(interval.hi())) {
            (Some(lo), Some(hi)) => Self::new(lo, hi),
            _ => Self::EVERYTHING,
        }
    }

    fn to_interval(&self) -> Interval {
        match &self.bounds {
            Some((lo, hi)) => Interval::enclosing(lo).hull(Interval::enclosing(hi)),
            None => Interval::EVERYTHING,
        }
    }

    fn lower(&self) -> Option<Rational> {
        self.bounds.as_ref().map(|(lo, _)| lo.clone())
    }

    fn upper(&self) -> Option<Rational> {
        self.bounds.as_ref().map(|(_, hi)| hi.clone())
    }

    fn neg(&self) -> Self {
        self.map(|lo, hi| (-hi, -lo))
    }

    fn add(&self, other: &Self) -> Self {
        self.with(other, |a, b| (&a.0 + &b.0, &a.1 + &b.1))
    }

    fn sub(&self, other: &Self) -> Self {
        self.with(other, |a, b| (&a.0 - &b.1, &a.1 - &b.0))
    }

    fn mul(&self, other: &Self) -> Self {
        self.with(other, |a, b| span([&a.0 * &b.0, &a.0 * &b.1, &a.1 * &b.0, &a.1 * &b.1]))
    }

    fn div(&self, other: &Self) -> Option<Self> {
        let (lo, hi) = other.bounds.as_ref()?;
        if lo.signum() * hi.signum() <= 0 {
            return None;
        }
        let inverse = Self::new(lo.recip()?, hi.recip()?);
        Some(self.mul(&inverse))
    }

    fn square(&self) -> Self {
        self.map(|lo, hi| {
            let (a, b) = (lo * lo, hi * hi);
            let greatest = a.clone().max(b.clone());
            let least = if lo.signum() * hi.signum() <= 0 { Rational::ZERO } else { a.min(b) };
            (least, greatest)
        })
    }

    fn power(&self, exponent: i32) -> Option<Self> {
        if exponent < 0 {
            return Self::point(&Rational::ONE).div(&self.power(exponent.checked_neg()?)?);
        }
        let Some((lo, hi)) = &self.bounds else { return Some(Self::EVERYTHING) };
        let (a, b) = (lo.pow(exponent)?, hi.pow(exponent)?);
        if exponent % 2 == 1 || exponent == 0 {
            return Some(Self::new(a, b));
        }
        let meets_zero = lo.signum() * hi.signum() <= 0;
        let least = if meets_zero { Rational::ZERO } else { a.clone().min(b.clone()) };
        Some(Self::new(least, a.max(b)))
    }

    fn apply(&self, function: ExpressionFunction) -> Option<Self> {
        if function != ExpressionFunction::Abs {
            return None;
        }
        Some(self.map(|lo, hi| {
            let greatest = lo.abs().max(hi.abs());
            let meets_zero = lo.signum() * hi.signum() <= 0;
            let least = if meets_zero { Rational::ZERO } else { lo.abs().min(hi.abs()) };
            (least, greatest)
        }))
    }

    fn min(&self, other: &Self) -> Self {
        self.with(other, |a, b| (a.0.clone().min(b.0.clone()), a.1.clone().min(b.1.clone())))
    }

    fn max(&self, other: &Self) -> Self {
        self.with(other, |a, b| (a.0.clone().max(b.0.clone()), a.1.clone().max(b.1.clone())))
    }

    fn less(&self, other: &Self) -> Option<bool> {
        let (a, b) = (self.bounds.as_ref()?, other.bounds.as_ref()?);
        if a.1 < b.0 {
            Some(true)
        } else if a.0 >= b.1 {
            Some(false)
        } else {
            None
        }
    }

    fn at_most(&self, other: &Self) -> Option<bool> {
        other.less(self).map(|greater| !greater)
    }

    fn hull(&self, other: &Self) -> Self {
        self.with(other, |a, b| (a.0.clone().min(b.0.clone()), a.1.clone().max(b.1.clone())))
    }

    fn tightened(&self, other: &Self) -> Self {
        let (Some(a), Some(b)) = (&self.bounds, &other.bounds) else {
            return if self.bounds.is_some() { self.clone() } else { other.clone() };
        };
        let (lo, hi) = (a.0.clone().max(b.0.clone()), a.1.clone().min(b.1.clone()));
        if lo <= hi { Self { bounds: Some((lo, hi)) } } else { self.clone() }
    }

    fn at_lower(&self) -> Self {
        self.map(|lo, _| (lo.clone(), lo.clone()))
    }

    fn at_upper(&self) -> Self {
        self.map(|_, hi| (hi.clone(), hi.clone()))
    }

    fn at_middle(&self) -> Self {
        let half = Rational::new(1, 2).unwrap_or_default();
        self.map(|lo, hi| {
            let middle = (lo + hi) * half.clone();
            (middle.clone(), middle)
        })
    }

    fn from_to(lower: &Self, upper: &Self) -> Self {
        lower.with(upper, |a, b| {
            if a.0 <= b.1 {
                (a.0.clone(), b.1.clone())
            } else {
                (b.0.clone().min(a.0.clone()), a.1.clone().max(b.1.clone()))
            }
        })
    }

    fn is_nonnegative(&self) -> bool {
        self.bounds.as_ref().is_some_and(|(lo, _)| lo.signum() >= 0)
    }

    fn is_nonpositive(&self) -> bool {
        self.bounds.as_ref().is_some_and(|(_, hi)| hi.signum() <= 0)
    }

    fn is_point(&self) -> bool {
        self.bounds.as_ref().is_some_and(|(lo, hi)| lo == hi)
    }

    fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    fn includes(&self, other: &Self) -> bool {
        match (&self.bounds, &other.bounds) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a.0 <= b.0 && b.1 <= a.1,
        }
    }

    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.bounds.as_ref().map_or(Ordering::Less, |(lo, _)| lo.cmp(edge.exact()))
    }

    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.bounds.as_ref().map_or(Ordering::Greater, |(_, hi)| hi.cmp(edge.exact()))
    }

    fn clipped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self {
        self.tightened(&Self::between(lower.exact(), upper.exact()))
    }

    fn clamped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self {
        let (lower, upper) = (lower.exact(), upper.exact());
        let clamp = |x: &Rational| x.clone().max(lower.clone()).min(upper.clone());
        match &self.bounds {
            Some((lo, hi)) => Self { bounds: Some((clamp(lo), clamp(hi))) },
            None => Self::between(lower, upper),
        }
    }

    fn tidied(self) -> Self {
        let Some((lo, hi)) = self.bounds else { return Self::EVERYTHING };
        Self { bounds: Some((rounded_down(lo), -rounded_down(-hi))) }
    }
}

/// The number itself, or a fixed-point number just below it if its denominator is long.
fn rounded_down(value: Rational) -> Rational {
    if value.to_small_parts().is_some() {
        return value;
    }
    let (num, den) = value.to_parts();
    if den <= UBig::ONE << DENOMINATOR_BITS {
        return value;
    }
    let scaled = Rational::from_parts(num << DENOMINATOR_BITS, den).unwrap_or_default().floor();
    let (scaled, _): (IBig, UBig) = scaled.to_parts();
    Rational::from_parts(scaled, UBig::ONE << DENOMINATOR_BITS).unwrap_or(value)
}
