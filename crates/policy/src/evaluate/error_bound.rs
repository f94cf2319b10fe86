//! How far the evaluation in double precision can be from the exact scores, over a box of inputs.
//!
//! For each element of each node the analysis keeps bounds of its exact value, a bound of the
//! distance between computed and exact value, and, while everything is exact, its *grain*: a power
//! of two that divides the value. A sum of multiples of a grain is exact as long as it stays
//! below 2⁵³ grains, so networks with short weights on integer inputs have no error at all.
//!
//! Overflow is excluded by magnitude: where an intermediate result might not be finite, the whole
//! bound is infinite.

use policert_numeric::round::{
    LEAST_POSITIVE, UNIT_ROUNDOFF, add_up, div_up, dot_error, gamma, mul_up,
};
use policert_numeric::{IntBox, IntInterval, Interval, dyadic_parts, power_of_two};

use crate::activation::Activation;
use crate::grain::{finer, grain_of, is_countable, is_zero, product_grain};
use crate::network::{Elements, Network};

/// Integers up to this magnitude are doubles.
const EXACT_INTEGER: i64 = 1 << 53;
/// log₂ of the number of grains that a double can count.
const GRAINS: i32 = 53;
/// log₂ of the smallest grain.
const SMALLEST_GRAIN: i32 = -1074;

/// Rigorous bounds of `|computed - exact|` for each output of a network, valid for all integer
/// inputs of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBound {
    inputs: IntBox,
    radii: Vec<f64>,
    scores: Vec<Interval>,
}

impl ErrorBound {
    /// Analyses the evaluation of `network` by an [`Evaluator`](super::Evaluator), whose inputs
    /// are integers of the box, each converted to the nearest double.
    #[must_use]
    pub fn over(network: &Network, inputs: &IntBox) -> Self {
        let never = &mut || Ok::<(), std::convert::Infallible>(());
        match Self::over_while(network, inputs, never) {
            Ok(bound) => bound,
            Err(never) => match never {},
        }
    }

    /// As [`ErrorBound::over`]; `poll` is asked for every neuron whether to go on.
    ///
    /// # Errors
    /// The error of `poll`.
    pub(crate) fn over_while<E>(
        network: &Network,
        inputs: &IntBox,
        poll: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let output = analyse(network, inputs, poll)?;
        let (radii, scores) = match output {
            Some(elements) => elements.iter().map(|e| (e.error, e.value)).unzip(),
            None => (
                vec![f64::INFINITY; network.output_width()],
                vec![Interval::EVERYTHING; network.output_width()],
            ),
        };
        Ok(Self { inputs: inputs.clone(), radii, scores })
    }

    /// The box for which the bound holds.
    #[must_use]
    pub fn inputs(&self) -> &IntBox {
        &self.inputs
    }

    /// The bound for each output; infinite where nothing can be said. All are 0 if the evaluation
    /// is exact.
    #[must_use]
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Bounds of the exact value of each output over the box.
    #[must_use]
    pub fn scores(&self) -> &[Interval] {
        &self.scores
    }
}

/// The knowledge about one element of a vector.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// Bounds of the exact value.
    value: Interval,
    /// Bound of the distance of the computed value from it.
    error: f64,
    /// If the error is 0: k such that the value is a multiple of 2ᵏ.
    grain: Option<i32>,
}

/// The output elements; `None` if some intermediate result might overflow.
fn analyse<E>(
    network: &Network,
    inputs: &IntBox,
    poll: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<Vec<Element>>, E> {
    let input: Vec<Element> = inputs.sides().iter().map(|&side| input(side)).collect();
    if input.len() != network.input_width() || !input.iter().all(Element::is_bounded) {
        return Ok(None);
    }
    match network.fold(&mut Analysis { poll }, input) {
        Ok(mut values) => Ok(Some(values.swap_remove(network.output().index()))),
        Err(End::Overflow) => Ok(None),
        Err(End::Stopped(stop)) => Err(stop),
    }
}

/// The reason for which an analysis ended.
enum End<E> {
    /// An intermediate result might not be finite.
    Overflow,
    Stopped(E),
}

struct Analysis<'p, E> {
    poll: &'p mut dyn FnMut() -> Result<(), E>,
}

impl<E> Elements for Analysis<'_, E> {
    type Element = Element;
    type Error = End<E>;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Element]) -> Result<Element, End<E>> {
        (self.poll)().map_err(End::Stopped)?;
        affine(weights, bias, x).bounded()
    }

    fn scale(&mut self, x: &Element, mul: f64, div: f64, add: f64) -> Result<Element, End<E>> {
        x.times(mul).over(div).plus(add).bounded()
    }

    fn apply(&mut self, activation: Activation, x: &Element) -> Result<Element, End<E>> {
        x.applied(activation).bounded()
    }

    fn sum(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        sum(terms).bounded()
    }

    fn max(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        // The maximum is one of them and has no rounding of its own.
        let greater = |a: Element, b: &Element| Element {
            value: a.value.max(b.value),
            error: a.error.max(b.error),
            grain: finer(a.grain, b.grain),
        };
        terms[1..].iter().fold(terms[0], greater).bounded()
    }
}

#[expect(clippy::cast_precision_loss, reason = "the error of the conversion is bounded")]
fn input(side: IntInterval) -> Element {
    if side.is_empty() || !side.is_bounded() {
        return Element::unknown();
    }
    if -EXACT_INTEGER <= side.lo && side.hi <= EXACT_INTEGER {
        let value = Interval::new(side.lo as f64, side.hi as f64);
        return Element {
            value: value.unwrap_or(Interval::EVERYTHING),
            error: 0.0,
            grain: Some(0),
        };
    }
    let value = Interval::new((side.lo as f64).next_down(), (side.hi as f64).next_up());
    let value = value.unwrap_or(Interval::EVERYTHING);
    Element { value, error: mul_up(UNIT_ROUNDOFF, value.magnitude()), grain: None }
}

/// One row of weights.
fn affine(row: &[f64], bias: f64, inputs: &[Element]) -> Element {
    let mut value = Interval::point(bias);
    // Magnitude of all terms as computed, and error that comes with the inputs.
    let (mut magnitude, mut inherited) = (bias.abs(), 0.0);
    let mut grain = grain_of(bias);
    for (&weight, x) in row.iter().zip(inputs) {
        value = value + Interval::point(weight) * x.value;
        magnitude = add_up(magnitude, mul_up(weight.abs(), x.computed_magnitude()));
        inherited = add_up(inherited, mul_up(weight.abs(), x.error));
        grain = finer(grain, product_grain(grain_of(weight), x.grain));
    }
    if is_zero(inherited) && countable(magnitude, grain) {
        return Element { value, error: 0.0, grain };
    }
    let error = add_up(inherited, dot_error(row.len() + 1, magnitude));
    Element { value, error, grain: None }
}

/// The sum from left to right.
fn sum(terms: &[Element]) -> Element {
    let value = terms.iter().skip(1).fold(terms[0].value, |sum, x| sum + x.value);
    let magnitude = terms.iter().fold(0.0, |sum, x| add_up(sum, x.computed_magnitude()));
    let inherited = terms.iter().fold(0.0, |sum, x| add_up(sum, x.error));
    let grain = terms.iter().skip(1).fold(terms[0].grain, |grain, x| finer(grain, x.grain));
    if terms.len() == 1 || (is_zero(inherited) && countable(magnitude, grain)) {
        return Element { value, error: inherited, grain };
    }
    Element { value, error: add_up(inherited, dot_error(terms.len(), magnitude)), grain: None }
}

impl Element {
    fn unknown() -> Self {
        Element { value: Interval::EVERYTHING, error: f64::INFINITY, grain: None }
    }

    fn constant(value: f64) -> Self {
        Element { value: Interval::point(value), error: 0.0, grain: grain_of(value) }
    }

    fn bounded<E>(self) -> Result<Self, End<E>> {
        if self.is_bounded() { Ok(self) } else { Err(End::Overflow) }
    }

    /// Returns whether the computed value is certainly finite, with room for one more rounding.
    fn is_bounded(&self) -> bool {
        self.computed_magnitude() < f64::MAX / 2.0
    }

    /// Bound of the magnitude of the computed value.
    fn computed_magnitude(&self) -> f64 {
        add_up(self.value.magnitude(), self.error)
    }

    /// The error after one more rounding of a result of at most `magnitude`.
    fn rounded(error: f64, magnitude: f64) -> f64 {
        add_up(add_up(error, mul_up(gamma(1), magnitude)), LEAST_POSITIVE)
    }

    /// Computed as `x * factor`.
    fn times(&self, factor: f64) -> Self {
        let value = self.value * Interval::point(factor);
        let magnitude = mul_up(self.computed_magnitude(), factor.abs());
        let grain = product_grain(self.grain, grain_of(factor));
        if is_zero(self.error) && countable(magnitude, grain) {
            return Element { value, error: 0.0, grain };
        }
        let inherited = mul_up(self.error, factor.abs());
        if is_zero(factor.abs() - 1.0) {
            return Element { value, error: inherited, grain: None };
        }
        Element { value, error: Self::rounded(inherited, magnitude), grain: None }
    }

    /// Computed as `x / divisor`.
    fn over(&self, divisor: f64) -> Self {
        if is_zero(divisor - 1.0) {
            return *self;
        }
        let Some(value) = self.value.checked_div(Interval::point(divisor)) else {
            return Self::unknown();
        };
        // The quotient by a power of two is the product with its inverse.
        if let Some((1 | -1, exponent)) = dyadic_parts(divisor)
            && let Some(inverse) = power_of_two(-exponent)
        {
            return self.times(inverse.copysign(divisor));
        }
        let error = div_up(self.error, divisor.abs());
        let magnitude = add_up(value.magnitude(), error);
        Element { value, error: Self::rounded(error, magnitude), grain: None }
    }

    /// Computed as `x + summand`.
    fn plus(&self, summand: f64) -> Self {
        if is_zero(summand) { *self } else { sum(&[*self, Self::constant(summand)]) }
    }

    /// Computed as the value of a function.
    fn applied(&self, activation: Activation) -> Self {
        let value = activation.of_interval(self.value);
        match activation {
            Activation::Leaky { alpha: 0.0 } => Element { value, ..*self },
            Activation::Leaky { alpha } => self.leaky(alpha, value),
            Activation::Clip { lo, hi } => {
                let bounds = [lo, hi].into_iter().filter(|bound| bound.is_finite());
                let grain = bounds.fold(self.grain, |grain, bound| finer(grain, grain_of(bound)));
                Element { value, error: self.error, grain }
            }
            Activation::Staircase(staircase) => {
                let computed = self.value + Interval::ball(0.0, self.error);
                let is_exact =
                    is_zero(self.error) || staircase.is_constant(computed.lo(), computed.hi());
                let error = if is_exact { 0.0 } else { staircase.spread(self.error) };
                Element { value, error, grain: is_exact.then_some(0) }
            }
            Activation::Smooth(smooth) => {
                let curve = smooth.curve();
                let computed = self.value + Interval::ball(0.0, self.error);
                // The slope may have no bound where there is no error to be carried on.
                let inherited = if is_zero(self.error) {
                    0.0
                } else {
                    mul_up(self.error, curve.steepness(computed.lo(), computed.hi()))
                };
                let error = add_up(inherited, curve.error(computed.lo(), computed.hi()));
                Element { value, error, grain: None }
            }
        }
    }

    fn leaky(&self, alpha: f64, value: Interval) -> Self {
        if self.value.lo() >= 0.0 && is_zero(self.error) {
            return *self;
        }
        let scaled = self.times(alpha);
        // |f(x) - f(y)| <= max(1, |alpha|)·|x - y|, and then the rounding of the product.
        let error = if is_zero(self.error) && is_zero(scaled.error) {
            0.0
        } else {
            let inherited = mul_up(self.error, alpha.abs().max(1.0));
            Self::rounded(inherited, mul_up(self.computed_magnitude(), alpha.abs()))
        };
        let grain = if is_zero(error) { finer(self.grain, scaled.grain) } else { None };
        Element { value, error, grain }
    }
}

/// Returns whether sums of multiples of the grain, of at most this magnitude, are exact.
fn countable(magnitude: f64, grain: Option<i32>) -> bool {
    is_countable(magnitude, grain, GRAINS, SMALLEST_GRAIN)
}
