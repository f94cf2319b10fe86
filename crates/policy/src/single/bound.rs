//! How far any evaluation in single precision can be from the exact scores.
//!
//! For each element of each node the analysis keeps bounds of its exact value, a bound of the distance
//! of any computed value from it, and, while everything is exact, its *grain*: a power of two of which
//! it is a multiple. A sum of multiples of a grain is exact as long as it stays below 2²⁴ grains.
//!
//! | step | error, u = 2⁻²⁴, γₙ = n·u / (1 − n·u) |
//! |---|---|
//! | a constant c becomes the nearest number | its distance from c; all of it where that may be flushed to 0 |
//! | Σ wᵢ·xᵢ + b with n terms, in any order, fused or not | γₙ₊₂·(Σ abs(wᵢ·xᵢ) + abs(b)): one rounding of each product, n of sums |
//! | what is below the normal numbers | 2⁻¹²⁶ for each result and each operand, which a machine may flush to 0 |
//! | softmax of the scores, or its logarithm | those closer than 2⁻¹⁸, and 2⁻²¹ of their magnitude and 64, may be equal |
//! | tanh, sigmoid, elu | 2⁻²⁰, of the value where that is greater than 1: libraries compute them in different ways |
//!
//! Terms with weight 0 are exactly 0 and do not count. Magnitudes are those of computed values. Where one
//! might overflow, nothing is known.

use policert_numeric::Interval;
use policert_numeric::round::{add_up, div_up, mul_up, sub_up};

use super::SinglePrecision;
use crate::activation::{Activation, Elu, Smooth};
use crate::grain::{finer, grain_of, is_countable, is_zero, product_grain};
use crate::network::Elements;

/// u, the greatest relative error of a rounding.
const UNIT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
/// More than what is flushed to 0.
const UNDERFLOW: f64 = f32::MIN_POSITIVE as f64;
/// The number of bits that count grains.
const GRAINS: i32 = 24;
/// Multiples of smaller grains might underflow.
const SMALLEST_GRAIN: i32 = -120;
/// The greatest magnitude of computed values: sums of such do not overflow.
const GREATEST: f64 = f32::MAX as f64 / 4.0;
/// The distance of a library's tanh from the true one, for values of at most 1.
const FUNCTION_ERROR: f64 = 1.0 / (1 << 20) as f64;

/// Bounds of the distance of any score in single precision from the exact one.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleErrors {
    radii: Vec<f64>,
    merged: f64,
}

impl SingleErrors {
    /// With these bounds by output. Computed scores that are closer than `merged` may be equal, or exchanged,
    /// after a function that is applied to them.
    pub(super) fn new(radii: Vec<f64>, merged: f64) -> Self {
        Self { radii, merged }
    }

    /// For all features in these ranges. `poll` is asked for every neuron whether to go on.
    ///
    /// # Errors
    /// The error of `poll`.
    pub(super) fn over<E>(
        single: &SinglePrecision,
        features: &[Feature],
        poll: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let network = single.network();
        let unknown = Self::new(vec![f64::INFINITY; network.output_width()], 0.0);
        let input: Vec<Element> = features.iter().copied().map(Feature::element).collect();
        if input.len() != network.input_width() || !input.iter().all(Element::is_bounded) {
            return Ok(unknown);
        }
        match network.fold(&mut Analysis { poll }, input) {
            Ok(mut values) => {
                let scores = values.swap_remove(network.output().index());
                let greatest = scores.iter().map(Element::magnitude).fold(0.0, f64::max);
                let merged =
                    if single.compares_softmax() { merged_by_softmax(greatest) } else { 0.0 };
                Ok(Self::new(scores.iter().map(Element::radius).collect(), merged))
            }
            Err(End::Unknown) => Ok(unknown),
            Err(End::Stopped(stop)) => Err(stop),
        }
    }

    /// The bound for each output; infinite where nothing is known, and 0 where every evaluation is exact.
    #[must_use]
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Computed scores that differ by less than this may be equal, or exchanged, after a function that the
    /// library applies to them; those that are equal stay equal.
    #[must_use]
    pub fn merged(&self) -> f64 {
        self.merged
    }

    /// Says what they mean for scores in this precision, such as `single precision`.
    pub(crate) fn remark(&self, precision: &str) -> String {
        let greatest = self.greatest();
        if greatest <= 0.0 {
            format!("{precision} computes all scores exactly, in every order")
        } else if greatest.is_finite() {
            format!(
                "in every evaluation in {precision} scores keep their order that are more than \
                 {greatest:.3e} apart"
            )
        } else {
            format!(
                "some evaluation in {precision} may overflow: nothing is known of the order of scores \
                 where that is not excluded"
            )
        }
    }

    /// By how much the exact score of any output may at most be below that of another one, if a computed one
    /// is not.
    pub(crate) fn greatest(&self) -> f64 {
        let radius = self.radii.iter().copied().fold(0.0, f64::max);
        add_up(add_up(radius, radius), self.merged)
    }

    /// As [`greatest`](Self::greatest), for these two.
    pub(crate) fn together(&self, one: usize, other: usize) -> f64 {
        add_up(add_up(self.radii[one], self.radii[other]), self.merged)
    }

    /// Returns whether the score of an output is computed exactly.
    pub(super) fn is_exact(&self, output: usize) -> bool {
        self.radii[output] <= 0.0
    }
}

/// Scores of at most this magnitude may be equal, or exchanged, after a softmax or its logarithm if they are
/// closer than this: exponentials are off by [`FUNCTION_ERROR`], and the logarithm of their sum, or that and
/// the greatest score, are subtracted.
fn merged_by_softmax(greatest: f64) -> f64 {
    let subtracted = mul_up(8.0 * UNIT_ROUNDOFF, add_up(greatest, 64.0));
    add_up(4.0 * FUNCTION_ERROR, subtracted)
}

/// What is known of the exact value of a feature, before it is rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feature {
    pub value: Interval,
    pub is_integral: bool,
}

impl Feature {
    /// After its rounding; where it is computed, by one in double precision before.
    fn element(self) -> Element {
        let grain = self.is_integral.then_some(0);
        let exact = Element { value: self.value, error: 0.0, grain };
        if is_countable(exact.magnitude(), grain, GRAINS, SMALLEST_GRAIN) {
            return exact;
        }
        let rounding = add_up(mul_up(gamma(2), exact.magnitude()), UNDERFLOW);
        Element { value: self.value, error: rounding, grain: None }
    }
}

/// γₙ, rounded up.
fn gamma(n: usize) -> f64 {
    let Ok(n) = u32::try_from(n) else { return f64::INFINITY };
    let nu = f64::from(n) * UNIT_ROUNDOFF;
    if nu < 0.5 { div_up(nu, 1.0 - nu) } else { f64::INFINITY }
}

/// What so many operations lose below the normal numbers, and how much of that later ones make of it.
fn underflow(operations: usize) -> f64 {
    u32::try_from(operations).map_or(f64::INFINITY, |n| (8.0 * f64::from(n) + 16.0) * UNDERFLOW)
}

/// What is known about an element of a vector.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// Bounds of the exact value.
    value: Interval,
    /// A bound of the distance of a computed value from it.
    error: f64,
    /// If the error is 0: k such that the value is a multiple of 2ᵏ.
    grain: Option<i32>,
}

/// The reason for which an analysis ended.
enum End<E> {
    /// A value might not be finite, or the rounding of an operation is not known.
    Unknown,
    Stopped(E),
}

struct Analysis<'p, E> {
    poll: &'p mut dyn FnMut() -> Result<(), E>,
}

/// The nearest number in single precision, and the distance of what is computed with from the constant.
#[expect(clippy::cast_possible_truncation, reason = "the error is kept")]
fn constant(value: f64) -> (f64, f64) {
    let nearest = f64::from(value as f32);
    let distance = sub_up(value.max(nearest), value.min(nearest));
    // Otherwise it may be flushed to 0.
    let is_normal = is_zero(value) || nearest.abs() >= UNDERFLOW;
    (nearest, if is_normal { distance } else { distance.max(value.abs()) })
}

impl Element {
    fn bounded<E>(self) -> Result<Self, End<E>> {
        if self.is_bounded() { Ok(self) } else { Err(End::Unknown) }
    }

    fn is_bounded(&self) -> bool {
        self.magnitude() < GREATEST
    }

    /// A bound of the magnitude of a computed value.
    fn magnitude(&self) -> f64 {
        add_up(self.value.magnitude(), self.error)
    }

    /// The error, and what is lost where the operation that reads it flushes it to 0.
    fn error_as_operand(&self) -> f64 {
        if self.is_exact() { 0.0 } else { add_up(self.error, UNDERFLOW) }
    }

    fn is_exact(&self) -> bool {
        is_zero(self.error) && self.grain.is_some_and(|grain| grain >= SMALLEST_GRAIN)
    }

    /// The bound of a score; a comparison may flush it too.
    fn radius(&self) -> f64 {
        self.error_as_operand()
    }
}

/// A sum of terms.
#[derive(Clone, Copy)]
struct Sum {
    /// Bounds of its exact value.
    value: Interval,
    /// The errors of the terms.
    inherited: f64,
    /// A bound of the sum of the magnitudes of the terms as they are computed.
    magnitude: f64,
    /// The number of terms.
    terms: usize,
    grain: Option<i32>,
}

impl Sum {
    fn constant(value: f64) -> Self {
        let (nearest, error) = constant(value);
        let terms = usize::from(!is_zero(value));
        Self {
            value: Interval::point(value),
            inherited: error,
            magnitude: nearest.abs(),
            terms,
            grain: grain_of(nearest),
        }
    }

    /// Adds a weight times a number.
    fn add(&mut self, weight: f64, x: &Element) {
        if is_zero(weight) {
            return;
        }
        let (nearest, error) = constant(weight);
        self.value = self.value + Interval::point(weight) * x.value;
        self.magnitude = add_up(self.magnitude, mul_up(nearest.abs(), x.magnitude()));
        let from_x = mul_up(nearest.abs(), x.error_as_operand());
        let from_weight = mul_up(error, x.value.magnitude());
        self.inherited = add_up(self.inherited, add_up(from_x, from_weight));
        self.grain = finer(self.grain, product_grain(grain_of(nearest), x.grain));
        self.terms += 1;
    }

    /// Its value as it is computed.
    fn computed<E>(self) -> Result<Element, End<E>> {
        let Self { value, inherited, magnitude, terms, grain } = self;
        if is_zero(inherited) && is_countable(magnitude, grain, GRAINS, SMALLEST_GRAIN) {
            return Element { value, error: 0.0, grain }.bounded();
        }
        if magnitude.is_nan() || magnitude >= GREATEST {
            return Err(End::Unknown);
        }
        let rounding = add_up(mul_up(gamma(terms + 2), magnitude), underflow(2 * terms));
        Element { value, error: add_up(inherited, rounding), grain: None }.bounded()
    }
}

impl<E> Elements for Analysis<'_, E> {
    type Element = Element;
    type Error = End<E>;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Element]) -> Result<Element, End<E>> {
        (self.poll)().map_err(End::Stopped)?;
        let mut sum = Sum::constant(bias);
        for (&weight, x) in weights.iter().zip(x) {
            sum.add(weight, x);
        }
        sum.computed()
    }

    fn scale(&mut self, x: &Element, mul: f64, div: f64, add: f64) -> Result<Element, End<E>> {
        // Libraries may divide, or multiply by the inverse.
        if !is_zero(div - 1.0) {
            return Err(End::Unknown);
        }
        let mut sum = Sum::constant(add);
        sum.add(mul, x);
        sum.computed()
    }

    fn apply(&mut self, activation: Activation, x: &Element) -> Result<Element, End<E>> {
        let value = activation.of_interval(x.value);
        match activation {
            Activation::Leaky { alpha } if is_zero(alpha) => {
                Element { value, error: x.error_as_operand(), grain: x.grain }.bounded()
            }
            Activation::Leaky { alpha } => {
                let mut scaled = Sum::constant(0.0);
                scaled.add(alpha, x);
                let scaled = scaled.computed()?;
                // Where x and its computed value have different signs, both are small.
                let inherited = mul_up(x.error_as_operand(), alpha.abs().max(1.0));
                let error = add_up(inherited, scaled.error);
                let grain = finer(x.grain, scaled.grain).filter(|_| is_zero(error));
                Element { value, error, grain }.bounded()
            }
            Activation::Clip { lo, hi } => {
                let ends = [lo, hi].into_iter().filter(|end| end.is_finite());
                let (mut error, mut grain) = (x.error_as_operand(), x.grain);
                for (nearest, distance) in ends.map(constant) {
                    error = error.max(add_up(x.error_as_operand(), distance));
                    grain = finer(grain, grain_of(nearest));
                }
                let grain = grain.filter(|_| is_zero(error));
                Element { value, error, grain }.bounded()
            }
            // A rounding error before a jump is a whole step behind it.
            Activation::Staircase(_) => Err(End::Unknown),
            Activation::Smooth(smooth) => {
                let amplitude = amplitude(smooth).ok_or(End::Unknown)?;
                let arguments = x.value + Interval::ball(0.0, x.error_as_operand());
                let steepness = smooth.curve().steepness(arguments.lo(), arguments.hi());
                let inherited = mul_up(x.error_as_operand(), steepness);
                let scale = add_up(value.magnitude(), inherited).max(amplitude);
                let own = mul_up(FUNCTION_ERROR, scale);
                Element { value, error: add_up(inherited, own), grain: None }.bounded()
            }
        }
    }

    fn sum(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        let mut sum = Sum::constant(0.0);
        terms.iter().for_each(|term| sum.add(1.0, term));
        sum.computed()
    }

    fn max(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        let greater = |a: Element, b: &Element| {
            let error = a.error_as_operand().max(b.error_as_operand());
            let grain = finer(a.grain, b.grain).filter(|_| is_zero(error));
            Element { value: a.value.max(b.value), error, grain }
        };
        terms[1..].iter().fold(terms[0], greater).bounded()
    }
}

/// The magnitude of what is added up to the value of a function whose rounding errors are known; `None`
/// for one that is composed of several operations, which libraries compute each in its own way, and for one
/// whose errors have no bound of this kind.
pub(super) fn amplitude(smooth: Smooth) -> Option<f64> {
    match smooth {
        Smooth::Tanh | Smooth::Sigmoid => Some(1.0),
        Smooth::Elu(Elu { alpha }) => Some(alpha.abs().max(1.0)),
        Smooth::Softplus
        | Smooth::Silu
        | Smooth::ErfGate
        | Smooth::TanhGate(_)
        | Smooth::HardGate
        | Smooth::Mish
        | Smooth::Square
        | Smooth::Exponential
        | Smooth::Logarithm(_)
        | Smooth::Root(_)
        | Smooth::Reciprocal(_) => None,
    }
}
