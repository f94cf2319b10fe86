//! Products, quotients, squares and roots of numbers in single precision that vary, and choices between them.
//!
//! A factor may itself be a sum, and a library may multiply its terms one by one: (x − m) · s as x · s − m · s, as
//! group normalisation is computed, the mean of (x − m)² as that of x² less m², or by updates of both (Chan, Golub and
//! LeVeque, *Algorithms for computing the sample variance*, 1983). So what counts is not the value of a factor but the sum
//! A of the magnitudes of its terms. With errors e of the operands x, and k roundings of each term:
//!
//! | step | error, γₖ = k·u / (1 − k·u) |
//! |---|---|
//! | a · b | abs(a')·e_b + abs(b)·e_a, and γ₁₆·A·B |
//! | a / b, where abs(b) and abs(b') are at least c > 0 | e_a / c + abs(a)·e_b / c², and γ₁₆·A / c |
//! | x², with sums of n terms before it | e·(2·abs(x) + e), and γ₈ₙ₊₁₆·A²: n terms of a mean and n of its squares |
//! | √x, where x and x' are at least c > 0 | e / (2·√c), at most √e, and γ₄ of the value |
//! | ln x, where x and x' are at least c > 0 | e / c, and 2⁻²⁰ of the value and 1 |
//! | a choice by a condition | that of what is chosen; where that is not certain, the distance of both too |

use policert_numeric::Interval;
use policert_numeric::round::{add_up, div_up, mul_up, sub_down, sub_up};

use super::element::{Element, GREATEST, UNDERFLOW, countable, gamma, underflow};
use crate::activation::{Activation, Staircase};
use crate::grain::{finer, is_zero, product_grain};

/// The greatest number of roundings of a product of two terms, beside those of the terms.
const PRODUCT: usize = 16;
/// The greatest number of roundings of a root, or of its inverse.
const ROOT: usize = 4;

impl Element {
    /// What may be flushed to 0 of products with terms of this magnitude.
    fn flushed(magnitude: f64) -> f64 {
        mul_up(underflow(PRODUCT), add_up(1.0, magnitude))
    }

    /// a · b; `None` if it may overflow.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let (a, b) = (self.terms(), other.terms());
        let magnitude = mul_up(a, b);
        let value = self.value * other.value;
        let grain = product_grain(self.grain, other.grain);
        if self.is_exact() && other.is_exact() && countable(magnitude, grain) {
            return Self::operand(value, 0.0, grain).bounded();
        }
        if mul_up(self.on_the_way(), other.on_the_way()) >= GREATEST {
            return None;
        }
        let from_other = mul_up(self.magnitude(), other.error_as_operand());
        let from_self = mul_up(other.value.magnitude(), self.error_as_operand());
        let own = add_up(mul_up(gamma(PRODUCT), magnitude), Self::flushed(add_up(a, b)));
        let error = add_up(add_up(from_other, from_self), own);
        Self::operand(value, error, None).bounded()
    }

    /// x²; `None` if it may overflow.
    pub(super) fn squared(&self) -> Option<Self> {
        let terms = self.terms();
        let magnitude = mul_up(terms, terms);
        let value = self.value.square();
        let grain = product_grain(self.grain, self.grain);
        if self.is_exact() && countable(magnitude, grain) {
            return Self::operand(value, 0.0, grain).bounded();
        }
        let greatest = self.on_the_way();
        if mul_up(greatest, greatest) >= GREATEST {
            return None;
        }
        let error = self.error_as_operand();
        let twice = add_up(mul_up(2.0, self.value.magnitude()), error);
        let roundings = self.length().checked_mul(8)?.checked_add(PRODUCT)?;
        let own = add_up(mul_up(gamma(roundings), magnitude), Self::flushed(mul_up(2.0, terms)));
        let own = add_up(own, mul_up(underflow(roundings), add_up(1.0, terms)));
        Self::operand(value, add_up(mul_up(error, twice), own), None).bounded()
    }

    /// a / b, 0 where both are 0 if it `keeps_zeros`; `None` if it may overflow, or b be 0.
    pub(super) fn divided_by(&self, divisor: &Self, keeps_zeros: bool) -> Option<Self> {
        let is_nothing = |x: &Self| x.is_exact() && x.value == Interval::ZERO;
        if keeps_zeros && is_nothing(self) && is_nothing(divisor) {
            return Some(*self);
        }
        let least = divisor.least_magnitude()?;
        let value = self.value.checked_div(divisor.value)?;
        let (terms, inverse) = (self.terms(), div_up(1.0, least));
        let magnitude = div_up(terms, least);
        if mul_up(self.on_the_way().max(1.0), inverse) >= GREATEST {
            return None;
        }
        let from_self = div_up(self.error_as_operand(), least);
        let from_divisor = mul_up(self.value.magnitude(), divisor.error_as_operand());
        let from_divisor = div_up(div_up(from_divisor, least), least);
        let flushed = mul_up(Self::flushed(terms), add_up(1.0, inverse));
        let own = add_up(mul_up(gamma(PRODUCT), magnitude), flushed);
        Self::operand(value, add_up(add_up(from_self, from_divisor), own), None).bounded()
    }

    /// 1 / x; `None` if it may overflow, or x be 0.
    pub(super) fn inverse(&self) -> Option<Self> {
        Self::operand(Interval::point(1.0), 0.0, Some(0)).divided_by(self, false)
    }

    /// √x, of which `value` contains the exact one; `None` if x may be negative.
    pub(super) fn root(&self, value: Interval) -> Option<Self> {
        let error = self.error_as_operand();
        let least = sub_down(self.value.lo(), error);
        if least.is_nan() || least < 0.0 {
            return None;
        }
        // √x − √x' is (x − x') / (√x + √x'), and at most √(x − x').
        let below = least.sqrt().next_down().max(0.0);
        let by_slope = if below > 0.0 { div_up(error, 2.0 * below) } else { f64::INFINITY };
        let inherited = error.sqrt().next_up().min(by_slope);
        let inherited = if is_zero(error) { 0.0 } else { inherited };
        let greatest = add_up(value.magnitude(), inherited);
        let own = add_up(mul_up(gamma(ROOT), greatest), UNDERFLOW);
        Self::operand(value, add_up(inherited, own), None).bounded()
    }

    /// ln x, of which `value` contains the exact one, with this error of a value of 1; `None` if x may be 0.
    pub(super) fn logarithm(&self, value: Interval, own: f64) -> Option<Self> {
        let error = self.error_as_operand();
        let least = sub_down(self.value.lo(), error);
        if least.is_nan() || least <= 0.0 {
            return None;
        }
        let inherited = div_up(error, least);
        let own = mul_up(own, add_up(value.magnitude(), inherited).max(1.0));
        Self::operand(value, add_up(inherited, own), None).bounded()
    }

    /// A number that is constant but for jumps: within the values at both ends of what is computed.
    pub(super) fn step(&self, staircase: Staircase) -> Option<Self> {
        let image = |x: Interval| Activation::Staircase(staircase).of_interval(x);
        let value = image(self.value);
        let error = self.error_as_operand();
        let computed = image(self.value + Interval::ball(0.0, error));
        let apart = sub_up(computed.hi(), value.lo()).max(sub_up(value.hi(), computed.lo()));
        let is_certain = is_zero(error) || computed.lo() >= computed.hi();
        let error = if is_certain { 0.0 } else { apart.min(staircase.spread(error)) };
        Self::operand(value, error, is_certain.then_some(0)).bounded()
    }

    /// `a` where the number is 1, `b` where it is 0.
    pub(super) fn chooses(&self, a: &Self, b: &Self) -> Option<Self> {
        let is = |value: f64| self.value == Interval::point(value);
        if self.is_exact() && (is(0.0) || is(1.0)) {
            return Some(if is(1.0) { *a } else { *b });
        }
        let mut error = a.error_as_operand().max(b.error_as_operand());
        if !self.is_exact() {
            let apart = sub_up(a.value.hi(), b.value.lo()).max(sub_up(b.value.hi(), a.value.lo()));
            error = add_up(error, apart.max(0.0));
        }
        let grain = finer(a.grain, b.grain).filter(|_| is_zero(error));
        Self::operand(a.value.hull(b.value), error, grain).bounded()
    }

    /// A lower bound of the magnitudes of the number and of what is computed of it; `None` if one may be 0.
    fn least_magnitude(&self) -> Option<f64> {
        let error = self.error_as_operand();
        let least = sub_down(self.value.lo(), error).max(sub_down(-self.value.hi(), error));
        (least > 0.0).then_some(least)
    }
}
