//! How far the evaluation in double precision can be from the exact scores, over a box of inputs.
//!
//! For each element of each node the analysis keeps bounds of its exact value, a bound of the
//! distance between computed and exact value, and, while everything is exact, its *grain*: a power
//! of two that divides the value. A sum of multiples of a grain is exact as long as it stays
//! below 2⁵³ grains, so networks with short weights on integer inputs have no error at all.
//!
//! Overflow is excluded by magnitude: where an intermediate result might not be finite, the whole
//! bound is infinite.

use policert_numeric::activation::ABSOLUTE_ERROR;
use policert_numeric::round::{
    LEAST_POSITIVE, UNIT_ROUNDOFF, add_up, div_up, dot_error, gamma, mul_up,
};
use policert_numeric::{IntBox, IntInterval, Interval, dyadic_parts, power_of_two};

use crate::network::{Network, Node, Op};

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
    /// What `poll` says.
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

/// What is known about an element of a vector.
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
    let mut nodes: Vec<Vec<Element>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let elements = match &node.op {
            Op::Input => inputs.sides().iter().map(|&side| input(side)).collect(),
            Op::Affine { input, weights, bias } => {
                let first = nodes[input.index()].as_slice();
                let mut elements = Vec::with_capacity(bias.len());
                for (row, &bias) in weights.row_iter().zip(bias) {
                    poll()?;
                    elements.push(affine(row, bias, first));
                }
                elements
            }
            _ => node_elements(node, &nodes),
        };
        if elements.len() != node.width || !elements.iter().all(Element::is_bounded) {
            return Ok(None);
        }
        nodes.push(elements);
    }
    Ok(nodes.into_iter().nth(network.output().index()))
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

fn node_elements(node: &Node, nodes: &[Vec<Element>]) -> Vec<Element> {
    let inputs: Vec<&[Element]> =
        node.op.inputs().iter().map(|input| nodes[input.index()].as_slice()).collect();
    let first = inputs.first().copied().unwrap_or_default();
    let each = |function: &dyn Fn(&Element) -> Element| first.iter().map(function).collect();
    match &node.op {
        Op::Input => Vec::new(),
        Op::Affine { weights, bias, .. } => {
            weights.row_iter().zip(bias).map(|(row, &bias)| affine(row, bias, first)).collect()
        }
        Op::Scale { mul, div, add, .. } => first
            .iter()
            .zip(mul.iter().zip(div).zip(add))
            .map(|(x, ((&mul, &div), &add))| x.times(mul).over(div).plus(add))
            .collect(),
        Op::Relu { .. } => each(&|x| Element { value: x.value.relu(), ..*x }),
        Op::LeakyRelu { alpha, .. } => each(&|x| x.leaky_relu(*alpha)),
        // Both functions change at most as much as their argument (the sigmoid a quarter).
        Op::Tanh { .. } => each(&|x| x.smooth(x.value.tanh())),
        Op::Sigmoid { .. } => each(&|x| x.smooth(x.value.sigmoid())),
        Op::Clip { lo, hi, .. } => each(&|x| {
            let x = lo.map_or(*x, |lo| x.combined(&Element::constant(lo), Interval::max));
            hi.map_or(x, |hi| x.combined(&Element::constant(hi), Interval::min))
        }),
        Op::Add { .. } => (0..node.width).map(|i| sum(&column(&inputs, i))).collect(),
        Op::Max { .. } => (0..node.width)
            .filter_map(|i| {
                column(&inputs, i).into_iter().reduce(|a, b| a.combined(&b, Interval::max))
            })
            .collect(),
        Op::Concat { .. } => inputs.concat(),
    }
}

/// Element `i` of each vector.
fn column(inputs: &[&[Element]], i: usize) -> Vec<Element> {
    inputs.iter().map(|input| input[i]).collect()
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

    /// Whether the computed value is certainly finite, with room for one more rounding.
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

    fn leaky_relu(&self, alpha: f64) -> Self {
        if self.value.lo() >= 0.0 && is_zero(self.error) {
            return *self;
        }
        let scaled = self.times(alpha);
        let mut value = scaled.value;
        if self.value.hi() > 0.0 {
            // Both branches are possible; a negative slope gives positive values as well.
            let below = self.value.min(Interval::ZERO) * Interval::point(alpha);
            value = below.hull(self.value.max(Interval::ZERO));
        }
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

    /// A function with slope in [0, 1], computed within the activation error.
    fn smooth(&self, value: Interval) -> Self {
        Element { value, error: add_up(self.error, ABSOLUTE_ERROR), grain: None }
    }

    /// The maximum or minimum, which is one of the two and has no rounding of its own.
    fn combined(&self, other: &Self, value: impl Fn(Interval, Interval) -> Interval) -> Self {
        Element {
            value: value(self.value, other.value),
            error: self.error.max(other.error),
            grain: finer(self.grain, other.grain),
        }
    }
}

/// Exponent of the lowest set bit. A zero is a multiple of everything.
fn grain_of(value: f64) -> Option<i32> {
    let (mantissa, exponent) = dyadic_parts(value)?;
    Some(if mantissa == 0 { COARSEST_GRAIN } else { exponent })
}

/// The grain of 0: coarser than that of any other number.
const COARSEST_GRAIN: i32 = 2048;

/// The grain of which both are multiples.
fn finer(a: Option<i32>, b: Option<i32>) -> Option<i32> {
    Some(a?.min(b?))
}

/// The grain of a product.
fn product_grain(a: Option<i32>, b: Option<i32>) -> Option<i32> {
    let (a, b) = (a?, b?);
    Some(if a == COARSEST_GRAIN || b == COARSEST_GRAIN { COARSEST_GRAIN } else { a + b })
}

/// Whether sums of multiples of the grain, of at most this magnitude, are exact.
fn countable(magnitude: f64, grain: Option<i32>) -> bool {
    let Some(grain) = grain else { return false };
    let limit = power_of_two((grain + GRAINS).min(1000)).unwrap_or(0.0);
    grain >= SMALLEST_GRAIN && magnitude <= limit
}

fn is_zero(value: f64) -> bool {
    value.partial_cmp(&0.0) == Some(std::cmp::Ordering::Equal)
}
