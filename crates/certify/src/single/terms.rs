//! Numbers that some evaluation in single precision computes, as sums of products.
//!
//! A sum of n terms that is computed in any order, fused or not, is off by at most γₙ times the sum of
//! the magnitudes of its terms (Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2, and
//! one rounding of each product), and by 2⁻¹²⁶ for each number that is flushed to 0. Where all terms are
//! multiples of a power of two, and less than 2²⁴ times as much together, nothing is rounded.
//!
//! A factor, a divisor and a summand may be applied to a sum, or merged into the products before or after them:
//! then a number is what it is as a sum of products of operands, and its error that of more roundings.

use policert_numeric::round::{add_up, div_up, mul_up, sub_up};
use policert_numeric::{Interval, dyadic_parts, power_of_two};

pub(super) const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
pub(super) const FLUSHED: f64 = f32::MIN_POSITIVE as f64;
/// Numbers below are computed without overflow.
pub(super) const LIMIT: f64 = f32::MAX as f64 / 4.0;
/// The unit of 0.
const ANY_UNIT: i32 = 4000;
/// Smaller units may be flushed.
pub(super) const LEAST_UNIT: i32 = -120;

/// A number that some evaluation computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    /// Contains the exact value.
    pub exact: Interval,
    /// The greatest distance from it.
    pub off: f64,
    /// The exponent of a power of two of which it is a multiple, where it is not off.
    pub unit: Option<i32>,
    /// The sum that it is: what constants after it are merged into.
    terms: Option<Terms>,
    /// The constants after an operand: what they are merged into is after it.
    constants: Option<Constants>,
}

/// A sum of products of constants and operands.
#[derive(Clone, Copy, Debug)]
struct Terms {
    exact: Interval,
    /// What the operands are off, and what is flushed of products.
    off: f64,
    /// The sum of the magnitudes of the products.
    magnitude: f64,
    /// The greatest number of roundings of a product.
    roundings: u32,
    /// That of the sums that are operands.
    longest: u32,
    unit: Option<i32>,
    /// The greatest product of constants.
    factor: f64,
    /// Magnitudes of operands, and of what is computed of them on the way.
    passed: f64,
}

/// A sum of products of one operand, and of summands.
#[derive(Clone, Copy, Debug)]
struct Constants {
    magnitude: f64,
    roundings: u32,
    factor: f64,
    passed: f64,
}

impl Computed {
    pub(super) fn number(exact: Interval, off: f64, unit: Option<i32>) -> Self {
        Self { exact, off, unit, terms: None, constants: None }
    }

    /// The constants after it, none if it is an operand itself.
    fn constants(&self) -> Constants {
        let magnitude = self.greatest();
        let none = Constants { magnitude, roundings: 0, factor: 1.0, passed: magnitude };
        self.constants.unwrap_or(none)
    }

    pub(super) fn greatest(&self) -> f64 {
        add_up(self.exact.magnitude(), self.off)
    }

    /// Its distance from the exact value where an operation reads it, which may flush it.
    pub(super) fn read(&self) -> f64 {
        if self.unit.is_some_and(|unit| unit >= LEAST_UNIT) {
            self.off
        } else {
            add_up(self.off, FLUSHED)
        }
    }

    /// The unit of a number that every evaluation computes as it is.
    pub(super) fn whole(&self) -> Option<i32> {
        self.unit.filter(|&unit| unit >= LEAST_UNIT && self.off <= 0.0)
    }

    /// The sum of the magnitudes of the terms of the sum that it is.
    pub(super) fn spread(&self) -> f64 {
        let terms = self.terms.map_or(0.0, |terms| add_up(terms.magnitude, terms.off));
        terms.max(self.constants().magnitude).max(self.greatest())
    }

    /// As [`spread`](Self::spread), of what its terms are on the way, too.
    pub(super) fn passed(&self) -> f64 {
        let terms = self.terms.map_or(0.0, |terms| terms.passed);
        terms.max(self.constants().passed).max(self.spread())
    }

    /// The most terms that a sum has on the way to it.
    pub(super) fn longest(&self) -> u32 {
        self.terms.map_or(0, |terms| terms.longest.max(terms.roundings))
    }
}

/// A constant in single precision, how far it may be from the one that is written, and its unit.
#[expect(clippy::cast_possible_truncation, reason = "it is rounded")]
pub(super) fn rounded(constant: f64) -> (f64, f64, i32) {
    let near = f64::from(constant as f32);
    let mut off = sub_up(near.max(constant), near.min(constant));
    if near.abs() < FLUSHED {
        off = off.max(constant.abs());
    }
    (near, off, unit_of(near))
}

fn unit_of(value: f64) -> i32 {
    dyadic_parts(value)
        .filter(|(mantissa, _)| *mantissa != 0)
        .map_or(ANY_UNIT, |(_, exponent)| exponent)
}

/// The sum of products with weights, and of a summand.
fn terms(terms: &[(f64, Computed)], summand: f64) -> Terms {
    let (near, mut off, least) = rounded(summand);
    let (mut exact, mut magnitude) = (Interval::point(summand), near.abs());
    let mut unit = Some(least);
    let mut count = u32::from(near.abs() > 0.0 || off > 0.0);
    let (mut factor, mut passed, mut merged) = (1.0f64, near.abs(), None);
    let mut longest = 0;
    for (weight, x) in terms.iter().filter(|(weight, _)| weight.abs() > 0.0) {
        let (near, weight_off, weight_unit) = rounded(*weight);
        let constants = x.constants();
        let of_x = constants.magnitude.max(x.greatest());
        exact = exact + Interval::point(*weight) * x.exact;
        magnitude = add_up(magnitude, mul_up(near.abs(), of_x));
        off = add_up(off, mul_up(near.abs(), x.read()));
        off = add_up(off, mul_up(weight_off, of_x));
        if x.constants.is_some() {
            merged = Some(constants.roundings.max(merged.unwrap_or(0)));
            if x.read() > 0.0 {
                off = add_up(off, mul_up(FLUSHED, constants.passed.max(of_x)));
            }
        }
        factor = factor.max(mul_up(near.abs(), constants.factor));
        passed = add_up(passed, constants.passed);
        let product = |unit: i32| match unit == ANY_UNIT || weight_unit == ANY_UNIT {
            true => ANY_UNIT,
            false => unit + weight_unit,
        };
        unit = unit.zip(x.unit.map(product)).map(|(a, b)| a.min(b));
        count += 1;
        longest = longest.max(x.longest());
    }
    // A product with merged constants is rounded as these are, and a merged summand in a sum of its own.
    let roundings = merged.map_or(count, |merged| 2 * count + merged + 4);
    Terms { exact, off, magnitude, roundings, longest, unit, factor, passed }
}

impl Terms {
    /// The value in any order.
    fn computed(self) -> Option<Computed> {
        let Self { exact, off, magnitude, roundings, unit, factor, .. } = self;
        let number = |off: f64, unit: Option<i32>| {
            Some(Computed { terms: Some(self), ..Computed::number(exact, off, unit) })
        };
        if let Some(unit) = unit.filter(|&unit| unit >= LEAST_UNIT)
            && off <= 0.0
            && magnitude <= power_of_two(unit.min(900) + 24)?
        {
            return number(0.0, Some(unit));
        }
        let share = f64::from(roundings) * ROUNDING;
        if share >= 0.5 || magnitude >= LIMIT || magnitude.is_nan() || factor >= LIMIT {
            return None;
        }
        let gamma = div_up(share, 1.0 - share);
        number(add_up(off, add_up(mul_up(gamma, magnitude), lost(roundings))), None)
    }
}

/// What so many operations lose where they flush.
fn lost(operations: u32) -> f64 {
    mul_up(8.0 * f64::from(operations) + 8.0, FLUSHED)
}

/// The sum of products with weights, and of a summand, in any order.
pub(super) fn sum_in_any_order(products: &[(f64, Computed)], summand: f64) -> Option<Computed> {
    terms(products, summand).computed()
}

/// x · mul / div + add, with the constants merged into anything beside them or not.
pub(super) fn scaled(x: &Computed, mul: f64, div: f64, add: f64) -> Option<Computed> {
    let is_one = |constant: f64| (constant - 1.0).abs() <= 0.0;
    if is_one(-mul) && is_one(div) && add.abs() <= 0.0 {
        let terms = x.terms.map(|terms| Terms { exact: -terms.exact, ..terms });
        return Some(Computed { exact: -x.exact, terms, ..*x });
    }
    let [(near_mul, mul_off, _), (near_div, div_off, _), (near_add, add_off, add_unit)] =
        [mul, div, add].map(rounded);
    let (m, d, add_size) = (near_mul.abs(), near_div.abs(), near_add.abs());
    let extreme = f64::from(1 << 30);
    let is_moderate = |size: f64| size >= 1.0 / extreme && size <= extreme;
    if !is_moderate(d) || (m > 0.0 || mul_off > 0.0) && !is_moderate(m) {
        return None;
    }
    let (ratio, inverse) = (if is_one(div) { m } else { div_up(m, d) }, div_up(1.0, d));
    let ratio_off = div_up(add_up(mul_off, mul_up(ratio, div_off)), div.abs());
    let is_sign = is_one(mul.abs()) && is_one(div);
    // Of the variance of a batch normalisation, of its root, the inverse, the scale, the mean.
    let more = if is_sign { 2 } else { 8 };
    let of = x.terms.unwrap_or_else(|| terms(&[(1.0, *x)], 0.0));
    let whole = add_up(of.magnitude, of.off);
    if mul_up(whole, m.max(inverse).max(1.0)) >= LIMIT {
        return None;
    }
    let passed = add_up(of.passed.max(of.magnitude), add_size);
    let mut off = add_up(mul_up(ratio, of.off), add_off);
    if !is_sign {
        let flushed = mul_up(add_up(mul_up(4.0, passed), 16.0), add_up(1.0, inverse));
        let flushed = add_up(mul_up(FLUSHED, flushed), mul_up(ratio, lost(of.roundings)));
        off = add_up(off, add_up(mul_up(ratio_off, whole), flushed));
    }
    let exact = (of.exact * Interval::point(mul)).checked_div(Interval::point(div))?;
    let result = Terms {
        exact: exact + Interval::point(add),
        off,
        magnitude: add_up(mul_up(ratio, of.magnitude), add_size),
        roundings: of.roundings + more,
        longest: of.longest,
        unit: of.unit.filter(|_| is_sign).map(|unit| unit.min(add_unit)),
        factor: mul_up(ratio, of.factor).max(of.factor),
        passed,
    };
    let before = x.constants();
    let constants = Constants {
        magnitude: add_up(mul_up(ratio, before.magnitude), add_size),
        roundings: before.roundings + more,
        factor: mul_up(ratio, before.factor).max(before.factor),
        passed: add_up(before.passed.max(before.magnitude), add_size),
    };
    Some(Computed { constants: Some(constants), ..result.computed()? })
}
