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
//! | x · a / b + c | [`element`](super::element): the factor applied, or merged into products |
//! | softmax of the scores, its logarithm, x − log Σ eˣ | those closer than 2⁻¹⁸, and for each of these functions 2⁻²¹ of their magnitude and 64, may be equal |
//! | tanh, sigmoid, elu | 2⁻²⁰, of the value where that is greater than 1: libraries compute them in different ways |
//! | softplus | twice that |
//! | x times a sigmoid, an erf, a tanh, x/6 + ½ | 2⁻¹⁹ of x; Mish 2⁻¹⁸ of x |
//! | eˣ | 2⁻²⁰ of the value |
//! | products, quotients, squares, roots, logarithms, steps, choices | [`products`](super::products) |
//!
//! Terms with weight 0 are exactly 0 and do not count. Magnitudes are those of computed values. Where one
//! might overflow, nothing is known.

use policert_numeric::Interval;
use policert_numeric::round::{add_up, mul_up};

use super::SinglePrecision;
use super::element::{Element, Sum, UNDERFLOW, UNIT_ROUNDOFF, constant};
use crate::activation::{Activation, Elu, Smooth};
use crate::grain::{finer, grain_of, is_zero};
use crate::network::{Elements, WrittenElements};

/// The distance of a library's tanh from the true one, for values of at most 1.
const FUNCTION_ERROR: f64 = 1.0 / (1 << 20) as f64;
/// Arguments of at most this magnitude, 2⁴⁰, have a third power in single precision.
const GREATEST_CUBED: f64 = 1_099_511_627_776.0;

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
        let bounded = |feature: &Feature| feature.element().bounded();
        let input: Option<Vec<Element>> = features.iter().map(bounded).collect();
        let Some(input) = input.filter(|input| input.len() == network.input_width()) else {
            return Ok(unknown);
        };
        match network.fold_as_written(&mut Analysis { poll }, input) {
            Ok(mut values) => {
                let scores = values.swap_remove(network.output().index());
                let greatest = scores.iter().map(Element::magnitude).fold(0.0, f64::max);
                let merged = merged_by_normalising(single.normalisations(), greatest);
                Ok(Self::new(scores.iter().map(Element::error_as_operand).collect(), merged))
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
                "some evaluation in {precision} may overflow, or divide by 0: nothing is known of the order of scores \
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

/// Scores of at most this magnitude may be equal, or exchanged, after so many functions that normalise all
/// scores together, if they are closer than this. Each subtracts numbers from all scores that are the same for
/// all: the greatest score, the logarithm of the sum of the exponentials. So what it subtracts from, and the result,
/// have at most twice the magnitude, and the logarithm of the number of scores, which is below 64. A softmax takes
/// exponentials, which are off by [`FUNCTION_ERROR`].
fn merged_by_normalising(functions: u32, greatest: f64) -> f64 {
    if functions == 0 {
        return 0.0;
    }
    let subtracted = mul_up(8.0 * UNIT_ROUNDOFF, add_up(greatest, 64.0));
    add_up(4.0 * FUNCTION_ERROR, mul_up(f64::from(functions), subtracted))
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
        Element::rounded(self.value, self.is_integral.then_some(0))
    }
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

impl<E> Elements for Analysis<'_, E> {
    type Element = Element;
    type Error = End<E>;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Element]) -> Result<Element, End<E>> {
        (self.poll)().map_err(End::Stopped)?;
        let mut factors = weights.iter().zip(x).filter(|(weight, _)| !is_zero(**weight));
        if is_zero(bias)
            && let (Some((weight, x)), None) = (factors.next(), factors.next())
            && is_zero(weight - 1.0)
        {
            // It is moved.
            return Ok(*x);
        }
        let mut sum = Sum::constant(bias);
        for (&weight, x) in weights.iter().zip(x) {
            sum.add(weight, x);
        }
        sum.computed().ok_or(End::Unknown)
    }

    fn scale(&mut self, x: &Element, mul: f64, div: f64, add: f64) -> Result<Element, End<E>> {
        x.scaled(mul, div, add).ok_or(End::Unknown)
    }

    fn apply(&mut self, activation: Activation, x: &Element) -> Result<Element, End<E>> {
        let value = activation.of_interval(x.value);
        let result = match activation {
            Activation::Leaky { alpha } if is_zero(alpha) => {
                Element::operand(value, x.error_as_operand(), x.grain)
            }
            Activation::Leaky { alpha } => {
                let mut scaled = Sum::constant(0.0);
                scaled.add(alpha, x);
                let scaled = scaled.computed().ok_or(End::Unknown)?;
                // Where x and its computed value have different signs, both are small.
                let inherited = mul_up(x.error_as_operand(), alpha.abs().max(1.0));
                let error = add_up(inherited, scaled.error);
                let grain = finer(x.grain, scaled.grain).filter(|_| is_zero(error));
                Element::operand(value, error, grain)
            }
            Activation::Clip { lo, hi } => {
                let ends = [lo, hi].into_iter().filter(|end| end.is_finite());
                let (mut error, mut grain) = (x.error_as_operand(), x.grain);
                for (nearest, distance) in ends.map(constant) {
                    error = error.max(add_up(x.error_as_operand(), distance));
                    grain = finer(grain, grain_of(nearest));
                }
                let grain = grain.filter(|_| is_zero(error));
                Element::operand(value, error, grain)
            }
            Activation::Staircase(staircase) => x.step(staircase).ok_or(End::Unknown)?,
            Activation::Smooth(Smooth::Square) => x.squared().ok_or(End::Unknown)?,
            Activation::Smooth(Smooth::Root(_)) => x.root(value).ok_or(End::Unknown)?,
            Activation::Smooth(Smooth::Reciprocal(_)) => x.inverse().ok_or(End::Unknown)?,
            Activation::Smooth(Smooth::Logarithm(_)) => {
                x.logarithm(value, FUNCTION_ERROR).ok_or(End::Unknown)?
            }
            Activation::Smooth(smooth) => {
                let arguments = x.value + Interval::ball(0.0, x.error_as_operand());
                let steepness = smooth.curve().steepness(arguments.lo(), arguments.hi());
                let inherited = mul_up(x.error_as_operand(), steepness);
                let greatest = add_up(value.magnitude(), inherited);
                let own = own_error(smooth, x.magnitude(), greatest).ok_or(End::Unknown)?;
                Element::operand(value, add_up(inherited, own), None)
            }
        };
        result.bounded().ok_or(End::Unknown)
    }

    fn sum(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        let mut sum = Sum::constant(0.0);
        terms.iter().for_each(|term| sum.add(1.0, term));
        sum.computed().ok_or(End::Unknown)
    }

    fn max(&mut self, terms: &[Element]) -> Result<Element, End<E>> {
        let greater = |a: Element, b: &Element| {
            let error = a.error_as_operand().max(b.error_as_operand());
            let grain = finer(a.grain, b.grain).filter(|_| is_zero(error));
            Element::operand(a.value.max(b.value), error, grain)
        };
        terms[1..].iter().fold(terms[0], greater).bounded().ok_or(End::Unknown)
    }
}

impl<E> WrittenElements for Analysis<'_, E> {
    fn product(&mut self, a: &Element, b: &Element) -> Result<Element, End<E>> {
        (self.poll)().map_err(End::Stopped)?;
        a.times(b).ok_or(End::Unknown)
    }

    fn quotient(&mut self, a: &Element, b: &Element, zeros: bool) -> Result<Element, End<E>> {
        a.divided_by(b, zeros).ok_or(End::Unknown)
    }

    fn choice(&mut self, condition: &Element, a: &Element, b: &Element) -> Result<Element, End<E>> {
        condition.chooses(a, b).ok_or(End::Unknown)
    }
}

/// The distance of a library's value of a function from the true one, for arguments and values of at most these
/// magnitudes; `None` for a function that is bounded in another way, or has no bound.
///
/// A gate is a number between 0 and 1, with the error of a tanh or a sigmoid, times the argument. In the gate, rounded
/// arguments are off by their size times few u, and that times its slope is at most as much again.
fn own_error(smooth: Smooth, argument: f64, value: f64) -> Option<f64> {
    let off = |size: f64| Some(mul_up(FUNCTION_ERROR, size));
    match smooth {
        Smooth::Tanh | Smooth::Sigmoid => off(value.max(1.0)),
        Smooth::Elu(Elu { alpha }) => off(value.max(alpha.abs()).max(1.0)),
        // An exponential and a logarithm.
        Smooth::Softplus => off(2.0 * value.max(1.0)),
        Smooth::TanhGate(_) if argument > GREATEST_CUBED => None,
        Smooth::Silu | Smooth::ErfGate | Smooth::TanhGate(_) | Smooth::HardGate => {
            off(add_up(2.0 * argument, UNDERFLOW))
        }
        Smooth::Mish => off(add_up(4.0 * argument, UNDERFLOW)),
        Smooth::Exponential => off(value),
        Smooth::Square | Smooth::Logarithm(_) | Smooth::Root(_) | Smooth::Reciprocal(_) => None,
    }
}
