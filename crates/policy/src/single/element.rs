//! Numbers in single precision, and sums of products with them: bounds of their exact values, and of the
//! distance of any computed value.
//!
//! A sum may be followed by factors and summands. Libraries apply them one by one, or merge them into the
//! products before or after them. In each case what is computed is a sum of products of constants and operands, and the error
//! is at most γₖ times the sum of their magnitudes if none of them meets more than k roundings on its way. So a
//! number remembers the sum that it is, and a number that was stretched by factors what it is made of.

use policert_numeric::Interval;
use policert_numeric::round::{add_up, div_up, mul_up, sub_up};

use crate::grain::{finer, grain_of, is_countable, is_zero, product_grain};

/// u, the greatest relative error of a rounding.
pub(super) const UNIT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
/// More than what is flushed to 0.
pub(super) const UNDERFLOW: f64 = f32::MIN_POSITIVE as f64;
/// The number of bits that count grains.
const GRAINS: i32 = 24;
/// Multiples of smaller grains might underflow.
const SMALLEST_GRAIN: i32 = -120;
/// The greatest magnitude of computed values: sums of such do not overflow.
pub(super) const GREATEST: f64 = f32::MAX as f64 / 4.0;
/// Factors and divisors are 0 or have a magnitude of at most this, and of at least its inverse.
const GREATEST_FACTOR: f64 = (1 << 30) as f64;
/// The greatest number of roundings that an element meets where a factor, a divisor and a summand are applied: in
/// a batch normalisation the root of the variance and ε, its inverse, the factor, and their product with the mean.
const STRETCHING: usize = 8;

/// What is known about an element of a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// Bounds of the exact value.
    pub value: Interval,
    /// A bound of the distance of a computed value from it.
    pub error: f64,
    /// If the error is 0: k such that the value is a multiple of 2ᵏ.
    pub grain: Option<i32>,
    /// The sum that it is.
    sum: Option<Sum>,
    /// What it was before factors and summands.
    stretched: Option<Stretched>,
}

/// A number that factors and summands were applied to, as a sum of products with it.
#[derive(Clone, Copy, Debug)]
struct Stretched {
    /// A bound of the sum of the magnitudes of the products and summands.
    magnitude: f64,
    /// The greatest magnitude of a factor.
    factor: f64,
    /// A bound of the magnitude of the number, of what it is on the way, and of the summands.
    operands: f64,
    /// The greatest number of roundings of a product.
    roundings: usize,
}

/// γₙ, rounded up.
pub(super) fn gamma(n: usize) -> f64 {
    let Ok(n) = u32::try_from(n) else { return f64::INFINITY };
    let nu = f64::from(n) * UNIT_ROUNDOFF;
    if nu < 0.5 { div_up(nu, 1.0 - nu) } else { f64::INFINITY }
}

/// What so many operations lose below the normal numbers, and how much of that later ones make of it.
pub(super) fn underflow(operations: usize) -> f64 {
    u32::try_from(operations).map_or(f64::INFINITY, |n| (8.0 * f64::from(n) + 16.0) * UNDERFLOW)
}

/// Returns whether sums of such multiples of a grain, of at most this magnitude, are exact.
pub(super) fn countable(magnitude: f64, grain: Option<i32>) -> bool {
    is_countable(magnitude, grain, GRAINS, SMALLEST_GRAIN)
}

/// The nearest number in single precision, and the distance of what is computed with from the constant.
#[expect(clippy::cast_possible_truncation, reason = "the error is kept")]
pub(super) fn constant(value: f64) -> (f64, f64) {
    let nearest = f64::from(value as f32);
    let distance = sub_up(value.max(nearest), value.min(nearest));
    // Otherwise it may be flushed to 0.
    let is_normal = is_zero(value) || nearest.abs() >= UNDERFLOW;
    (nearest, if is_normal { distance } else { distance.max(value.abs()) })
}

impl Element {
    /// A number that is read; with a grain it is exact.
    pub(super) fn operand(value: Interval, error: f64, grain: Option<i32>) -> Self {
        Self { value, error, grain, sum: None, stretched: None }
    }

    /// A number that is rounded to single precision, after a rounding in double precision perhaps.
    pub(super) fn rounded(value: Interval, grain: Option<i32>) -> Self {
        let exact = Self::operand(value, 0.0, grain);
        if countable(exact.magnitude(), grain) {
            return exact;
        }
        let rounding = add_up(mul_up(gamma(2), exact.magnitude()), UNDERFLOW);
        Self::operand(value, rounding, None)
    }

    /// Itself if it cannot overflow.
    pub(super) fn bounded(self) -> Option<Self> {
        (self.magnitude() < GREATEST).then_some(self)
    }

    /// A bound of the magnitude of a computed value.
    pub(super) fn magnitude(&self) -> f64 {
        add_up(self.value.magnitude(), self.error)
    }

    /// The error, and what is lost where the operation that reads it flushes it to 0. A comparison may do that
    /// too.
    pub(super) fn error_as_operand(&self) -> f64 {
        if self.is_exact() { 0.0 } else { add_up(self.error, UNDERFLOW) }
    }

    pub(super) fn is_exact(&self) -> bool {
        is_zero(self.error) && self.grain.is_some_and(|grain| grain >= SMALLEST_GRAIN)
    }

    /// A bound of the sum of the magnitudes of the terms that it is the sum of.
    pub(super) fn terms(&self) -> f64 {
        let summed = self.sum.map_or(0.0, |sum| add_up(sum.magnitude, sum.inherited));
        summed.max(self.stretched().magnitude).max(self.magnitude())
    }

    /// A bound of the magnitudes of its terms and of what they are on the way, without the factors after them too.
    pub(super) fn on_the_way(&self) -> f64 {
        let summed = self.sum.map_or(0.0, |sum| sum.operands);
        summed.max(self.stretched().operands).max(self.terms())
    }

    /// The greatest number of terms of a sum that it is a sum of.
    pub(super) fn length(&self) -> usize {
        self.sum.map_or(0, |sum| sum.terms.max(sum.length))
    }

    /// What it is made of, for products that factors before them are merged into.
    fn stretched(&self) -> Stretched {
        let magnitude = self.magnitude();
        let itself = Stretched { magnitude, factor: 1.0, operands: magnitude, roundings: 0 };
        self.stretched.unwrap_or(itself)
    }

    /// `x · mul / div + add`; `None` if it may overflow.
    pub(super) fn scaled(&self, mul: f64, div: f64, add: f64) -> Option<Self> {
        if is_zero(mul + 1.0) && is_zero(div - 1.0) && is_zero(add) {
            let sum = self.sum.map(|sum| Sum { value: -sum.value, ..sum });
            return Some(Self { value: -self.value, sum, ..*self });
        }
        let own = || {
            let mut itself = Sum::constant(0.0);
            itself.add(1.0, self);
            itself
        };
        let factor = Factor::new(mul, div)?;
        let sum = self.sum.unwrap_or_else(own).scaled(&factor, add)?;
        let before = self.stretched();
        let magnitude = constant(add).0.abs();
        let stretched = Stretched {
            magnitude: add_up(mul_up(factor.magnitude, before.magnitude), magnitude),
            factor: mul_up(factor.magnitude, before.factor).max(before.factor),
            operands: add_up(before.operands.max(before.magnitude), magnitude),
            roundings: before.roundings + factor.roundings(),
        };
        Some(Self { stretched: Some(stretched), ..sum.computed()? })
    }
}

/// A constant factor, perhaps with a divisor.
struct Factor {
    mul: f64,
    div: f64,
    /// A bound of the magnitude of their quotient in single precision.
    magnitude: f64,
    /// A bound of the distance of that from the quotient.
    error: f64,
    /// A bound of the magnitude of the inverse of the divisor.
    inverse: f64,
    /// A bound of what a number may be multiplied by on the way.
    greatest: f64,
}

impl Factor {
    /// `None` if some order of operations may overflow.
    fn new(mul: f64, div: f64) -> Option<Self> {
        let [(near_mul, mul_error), (near_div, div_error)] = [mul, div].map(constant);
        let (m, d) = (near_mul.abs(), near_div.abs());
        let is_moderate = |x: f64| (1.0 / GREATEST_FACTOR..=GREATEST_FACTOR).contains(&x);
        if !is_moderate(d) || !(is_zero(mul) || is_moderate(m)) {
            return None;
        }
        let magnitude = if is_zero(div - 1.0) { m } else { div_up(m, d) };
        // m/d - m'/d' = (m - m')/d + m'·(d' - d)/(d·d').
        let of_div = div_up(mul_up(magnitude, div_error), div.abs());
        let error = add_up(div_up(mul_error, div.abs()), of_div);
        let inverse = div_up(1.0, d);
        Some(Self { mul, div, magnitude, error, inverse, greatest: m.max(inverse).max(1.0) })
    }

    fn is_unit(&self) -> bool {
        is_zero(self.mul.abs() - 1.0) && is_zero(self.div - 1.0)
    }

    /// The greatest number of roundings that it and a summand add.
    fn roundings(&self) -> usize {
        if self.is_unit() { 2 } else { STRETCHING }
    }
}

/// A sum of products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    /// Bounds of its exact value.
    value: Interval,
    /// The errors of the operands, and what is lost below the normal numbers before the sum itself.
    inherited: f64,
    /// A bound of the sum of the magnitudes of the products as they are computed.
    magnitude: f64,
    /// The number of roundings of a sum of so many products, but for 2.
    terms: usize,
    /// That of the sums that are added up.
    length: usize,
    grain: Option<i32>,
    /// The greatest number of roundings of a product before; none if no operand was stretched.
    before: Option<usize>,
    /// The greatest magnitude of a factor.
    factor: f64,
    /// A bound of the sum of the magnitudes of the operands, of what they are on the way, and of the summands.
    operands: f64,
}

impl Sum {
    pub(super) fn constant(value: f64) -> Self {
        let (nearest, error) = constant(value);
        let terms = usize::from(!is_zero(value));
        Self {
            value: Interval::point(value),
            inherited: error,
            magnitude: nearest.abs(),
            terms,
            length: 0,
            grain: grain_of(nearest),
            before: None,
            factor: 1.0,
            operands: nearest.abs(),
        }
    }

    /// Adds a weight times a number.
    pub(super) fn add(&mut self, weight: f64, x: &Element) {
        if is_zero(weight) {
            return;
        }
        let (nearest, error) = constant(weight);
        let Stretched { magnitude, factor, operands, roundings } = x.stretched();
        let magnitude = magnitude.max(x.magnitude());
        self.value = self.value + Interval::point(weight) * x.value;
        self.magnitude = add_up(self.magnitude, mul_up(nearest.abs(), magnitude));
        let from_x = mul_up(nearest.abs(), x.error_as_operand());
        let from_weight = mul_up(error, magnitude);
        self.inherited = add_up(self.inherited, add_up(from_x, from_weight));
        if x.stretched.is_some() {
            self.before = Some(self.before.unwrap_or(0).max(roundings));
            if !x.is_exact() {
                // Products of the weight and a factor may be flushed.
                let operands = operands.max(magnitude);
                self.inherited = add_up(self.inherited, mul_up(UNDERFLOW, operands));
            }
        }
        self.grain = finer(self.grain, product_grain(grain_of(nearest), x.grain));
        self.factor = self.factor.max(mul_up(nearest.abs(), factor));
        self.operands = add_up(self.operands, operands);
        self.terms += 1;
        self.length = self.length.max(x.length());
    }

    /// The sum with a factor and a summand merged into it, or not.
    fn scaled(self, factor: &Factor, add: f64) -> Option<Self> {
        let (nearest, error) = constant(add);
        let &Factor { mul, div, magnitude, .. } = factor;
        let value = (self.value * Interval::point(mul)).checked_div(Interval::point(div))?;
        let scaled = mul_up(magnitude, self.magnitude);
        let mut inherited = add_up(mul_up(magnitude, self.inherited), error);
        let exact = add_up(self.magnitude, self.inherited);
        if mul_up(factor.greatest, exact) >= GREATEST {
            return None;
        }
        // All that a product may be made of on the way.
        let operands = add_up(self.operands.max(self.magnitude), nearest.abs());
        let grain = if factor.is_unit() {
            finer(self.grain, grain_of(nearest))
        } else {
            let from_factor = mul_up(factor.error, exact);
            // What is flushed of the sum, of merged weights, of the factor itself and of its products.
            let losses = add_up(mul_up(4.0, operands), 16.0);
            let losses = mul_up(mul_up(losses, UNDERFLOW), add_up(1.0, factor.inverse));
            let before = mul_up(magnitude, underflow(2 * self.terms));
            inherited = add_up(inherited, add_up(from_factor, add_up(before, losses)));
            None
        };
        let factor_so_far = mul_up(magnitude, self.factor).max(self.factor);
        Some(Self {
            value: value + Interval::point(add),
            inherited,
            magnitude: add_up(scaled, nearest.abs()),
            terms: self.terms + factor.roundings(),
            length: self.length,
            grain,
            before: self.before,
            factor: factor_so_far,
            operands,
        })
    }

    /// Its value as it is computed; `None` if it may overflow.
    pub(super) fn computed(self) -> Option<Element> {
        let Self { value, inherited, magnitude, terms, grain, before, factor, .. } = self;
        let sum = Some(self);
        if is_zero(inherited) && countable(magnitude, grain) {
            return Element { sum, ..Element::operand(value, 0.0, grain) }.bounded();
        }
        if magnitude.is_nan() || magnitude >= GREATEST || factor >= GREATEST {
            return None;
        }
        // Merged summands are added up before, each a product with a weight.
        let roundings = before.map_or(terms, |before| 2 * terms + 4 + before) + 2;
        let rounding = add_up(mul_up(gamma(roundings), magnitude), underflow(2 * terms));
        Element { sum, ..Element::operand(value, add_up(inherited, rounding), None) }.bounded()
    }
}
