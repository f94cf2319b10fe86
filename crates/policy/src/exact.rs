//! Exact scores of networks that map rational numbers to rational numbers: those of linear pieces, steps,
//! squares and reciprocals.
//!
//! A vector is held as integers with a common power of two and a common odd denominator, so a
//! layer is a product of integer matrices. While the integers are known to fit 128 bits machine
//! arithmetic is used, big integers otherwise.

mod digits;
mod scaled;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use policert_numeric::{IBig, Rational, dyadic_parts};

use crate::activation::{Activation, Curve, Smooth, Staircase};
use crate::matrix::Matrix;
use crate::network::{Network, NodeId, Op};
use scaled::{Integers, Scaled};

/// Evaluates one network exactly.
#[derive(Clone, Debug)]
pub struct ExactEvaluator {
    steps: Vec<Step>,
    output: NodeId,
}

/// A number `mantissa · 2^exponent`.
type Dyadic = (i64, i32);

#[derive(Clone, Debug)]
enum Step {
    Input,
    Affine { input: NodeId, layer: Layer },
    Scale { input: NodeId, factors: Vec<Factor> },
    LeakyRelu { input: NodeId, alpha: Dyadic },
    Clip { input: NodeId, lo: Option<Dyadic>, hi: Option<Dyadic> },
    Staircase { input: NodeId, staircase: Staircase },
    Square { input: NodeId },
    HardGate { input: NodeId },
    Reciprocal { input: NodeId, least: Dyadic },
    Add { inputs: Vec<NodeId> },
    Concat { inputs: Vec<NodeId> },
    Max { inputs: Vec<NodeId> },
}

/// A weight matrix as integers with a common power of two, and its biases.
#[derive(Clone, Debug)]
struct Layer {
    columns: usize,
    weights: Weights,
    exponent: i32,
    bias: Vec<Dyadic>,
    /// Smallest exponent of the biases that are not 0.
    bias_exponent: Option<i32>,
}

#[derive(Clone, Debug)]
enum Weights {
    /// With the number of bits of the largest magnitude.
    Small(Vec<i64>, u32),
    Big(Vec<IBig>),
}

/// `· mul / div + add`.
#[derive(Clone, Copy, Debug)]
struct Factor {
    mul: Dyadic,
    div: Dyadic,
    add: Dyadic,
}

impl ExactEvaluator {
    /// Prepares the evaluation; `None` if scores are not rational, or could have too many digits.
    #[must_use]
    pub fn new(network: &Network) -> Option<Self> {
        if !digits::are_few(network) {
            return None;
        }
        let steps: Option<Vec<Step>> = network.nodes().iter().map(|node| step(&node.op)).collect();
        Some(Self { steps: steps?, output: network.output() })
    }

    /// The exact scores for integer inputs.
    ///
    /// # Panics
    /// If there are fewer inputs than the network has.
    #[must_use]
    pub fn scores(&self, inputs: &[i64]) -> ExactScores {
        let mut values = self.evaluate(Scaled::integers(inputs), None);
        ExactScores(values.swap_remove(self.output.index()))
    }

    /// The exact scores for rational inputs.
    ///
    /// # Panics
    /// If there are fewer inputs than the network has.
    #[must_use]
    pub fn scores_at(&self, inputs: &[Rational]) -> Vec<Rational> {
        let mut values = self.evaluate(Scaled::rationals(inputs), None);
        values.swap_remove(self.output.index()).to_rationals()
    }

    /// The exact values of all nodes for rational inputs, on the pieces that `piece` chooses for
    /// the elements of nodes that have such, wherever the inputs lie: an affine function of the
    /// inputs, if no node is smooth. Pieces are counted in ascending order of the argument (ReLU
    /// and leaky ReLU: below and above 0; a clip: below, between and above its bounds, as many as it
    /// has); those of a maximum are its sources, and that of a staircase is its value.
    ///
    /// # Panics
    /// If there are fewer inputs than the network has, or no such piece.
    #[must_use]
    pub fn values_on_pieces(
        &self,
        inputs: &[Rational],
        piece: &dyn Fn(usize, usize) -> i64,
    ) -> Vec<Vec<Rational>> {
        let values = self.evaluate(Scaled::rationals(inputs), Some(piece));
        values.iter().map(Scaled::to_rationals).collect()
    }

    /// The values of all nodes, on given pieces or on those where the arguments lie.
    fn evaluate(&self, inputs: Scaled, piece: Option<&dyn Fn(usize, usize) -> i64>) -> Vec<Scaled> {
        let mut values: Vec<Scaled> = Vec::with_capacity(self.steps.len());
        for (node, step) in self.steps.iter().enumerate() {
            let at = |node: &NodeId| &values[node.index()];
            let all = |nodes: &[NodeId]| -> Vec<&Scaled> { nodes.iter().map(at).collect() };
            let piece = piece.map(|piece| move |element| piece(node, element));
            let value = match step {
                Step::Input => inputs.clone(),
                Step::Affine { input, layer } => layer.apply(at(input)),
                Step::Scale { input, factors } => at(input).scaled(factors),
                Step::LeakyRelu { input, alpha } => match piece {
                    None => at(input).leaky_relu(*alpha),
                    Some(piece) => at(input).leaky_piece(*alpha, |element| piece(element) == 0),
                },
                Step::Clip { input, lo, hi } => match piece {
                    None => {
                        let bounded = lo.map(|lo| at(input).bounded(lo, Ordering::Less));
                        let bounded = bounded.as_ref().unwrap_or_else(|| at(input));
                        hi.map_or_else(
                            || bounded.clone(),
                            |hi| bounded.bounded(hi, Ordering::Greater),
                        )
                    }
                    Some(piece) => {
                        let constant = |element| match (lo, hi, piece(element)) {
                            (Some(lo), _, 0) => Some(*lo),
                            (Some(_), Some(hi), 2) | (None, Some(hi), 1) => Some(*hi),
                            _ => None,
                        };
                        at(input).replaced(constant)
                    }
                },
                Step::Staircase { input, staircase } => match piece {
                    None => at(input).stepped(*staircase),
                    Some(piece) => at(input).replaced(|element| Some((piece(element), 0))),
                },
                Step::Square { input } => at(input).product(at(input)),
                Step::HardGate { input } => at(input).product(&gate(at(input))),
                Step::Reciprocal { input, least } => {
                    at(input).bounded(*least, Ordering::Less).reciprocals()
                }
                Step::Add { inputs } => Scaled::sum(&all(inputs)),
                Step::Concat { inputs } => Scaled::joined(&all(inputs)),
                Step::Max { inputs } => match piece {
                    None => Scaled::maximum(&all(inputs)),
                    Some(piece) => Scaled::chosen(&all(inputs), |element| {
                        usize::try_from(piece(element)).unwrap_or(usize::MAX)
                    }),
                },
            };
            values.push(value);
        }
        values
    }
}

/// Exact scores, one for each output.
#[derive(Clone, Debug)]
pub struct ExactScores(Scaled);

impl ExactScores {
    /// Compares the score of output `a` with that of output `b`.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        match &self.0.values {
            Integers::Small(values) => values[a].cmp(&values[b]),
            Integers::Big(values) => values[a].cmp(&values[b]),
        }
    }

    /// The scores as numbers.
    #[must_use]
    pub fn to_rationals(&self) -> Vec<Rational> {
        self.0.to_rationals()
    }
}

fn step(op: &Op) -> Option<Step> {
    Some(match op {
        Op::Input => Step::Input,
        Op::Affine { input, weights, bias } => {
            Step::Affine { input: *input, layer: Layer::new(weights, bias)? }
        }
        Op::Scale { input, mul, div, add } => {
            let factors: Option<Vec<Factor>> = mul
                .iter()
                .zip(div.iter().zip(add))
                .map(|(&mul, (&div, &add))| {
                    let parts = (dyadic_parts(mul)?, dyadic_parts(div)?, dyadic_parts(add)?);
                    Some(Factor { mul: parts.0, div: parts.1, add: parts.2 })
                })
                .collect();
            Step::Scale { input: *input, factors: factors? }
        }
        Op::Pointwise { input, activation } => match *activation {
            Activation::Leaky { alpha: 0.0 } => {
                Step::Clip { input: *input, lo: Some((0, 0)), hi: None }
            }
            Activation::Leaky { alpha } => {
                Step::LeakyRelu { input: *input, alpha: dyadic_parts(alpha)? }
            }
            // Infinite bounds have no parts.
            Activation::Clip { lo, hi } => {
                Step::Clip { input: *input, lo: dyadic_parts(lo), hi: dyadic_parts(hi) }
            }
            Activation::Staircase(staircase) => Step::Staircase { input: *input, staircase },
            Activation::Smooth(smooth) => rational(smooth, *input)?,
        },
        Op::Add { inputs } => Step::Add { inputs: inputs.clone() },
        Op::Concat { inputs } => Step::Concat { inputs: inputs.clone() },
        Op::Max { inputs } => Step::Max { inputs: inputs.clone() },
    })
}

/// The step of a function that maps rational numbers to such; `None` for others.
fn rational(smooth: Smooth, input: NodeId) -> Option<Step> {
    match smooth {
        Smooth::Square => Some(Step::Square { input }),
        Smooth::HardGate => Some(Step::HardGate { input }),
        Smooth::Reciprocal(reciprocal) => {
            Some(Step::Reciprocal { input, least: dyadic_parts(reciprocal.least())? })
        }
        Smooth::Tanh
        | Smooth::Sigmoid
        | Smooth::Elu(_)
        | Smooth::Softplus
        | Smooth::Silu
        | Smooth::ErfGate
        | Smooth::TanhGate(_)
        | Smooth::Mish
        | Smooth::Exponential
        | Smooth::Logarithm(_)
        | Smooth::Root(_) => None,
    }
}

/// min(max(x + ½, 0), 1).
fn gate(x: &Scaled) -> Scaled {
    let shift = Factor { mul: (1, 0), div: (1, 0), add: (1, -1) };
    let shifted = x.scaled(&vec![shift; x.len()]);
    shifted.bounded((0, 0), Ordering::Less).bounded((1, 0), Ordering::Greater)
}

fn least_exponent(numbers: &[Dyadic]) -> Option<i32> {
    numbers.iter().filter(|(mantissa, _)| *mantissa != 0).map(|&(_, exponent)| exponent).min()
}

/// Smallest exponent of the numbers that are not 0.
fn common_exponent(numbers: &[Dyadic]) -> i32 {
    least_exponent(numbers).unwrap_or(0)
}

/// `number / 2^exponent`, for an exponent that is not above that of the number.
fn integer_of((mantissa, exponent): Dyadic, common: i32) -> IBig {
    if mantissa == 0 { IBig::ZERO } else { IBig::from(mantissa) << shift(exponent, common) }
}

/// A difference of exponents as a number of bits.
fn shift(high: i32, low: i32) -> usize {
    usize::try_from(i64::from(high) - i64::from(low)).unwrap_or(0)
}

impl Layer {
    fn new(weights: &Matrix, bias: &[f64]) -> Option<Self> {
        let parts = |numbers: &[f64]| -> Option<Vec<Dyadic>> {
            numbers.iter().map(|&number| dyadic_parts(number)).collect()
        };
        let dyadic = parts(weights.entries())?;
        let exponent = common_exponent(&dyadic);
        let big: Vec<IBig> = dyadic.iter().map(|&weight| integer_of(weight, exponent)).collect();
        let small: Result<Vec<i64>, _> = big.iter().map(i64::try_from).collect();
        let weights = match small {
            Ok(small) => {
                let largest = small.iter().map(|w| w.unsigned_abs()).max().unwrap_or(0);
                Weights::Small(small, u64::BITS - largest.leading_zeros())
            }
            Err(_) => Weights::Big(big),
        };
        let bias = parts(bias)?;
        let bias_exponent = least_exponent(&bias);
        Some(Self { columns: dyadic.len() / bias.len(), weights, exponent, bias, bias_exponent })
    }

    fn apply(&self, x: &Scaled) -> Scaled {
        let products = x.exponent + self.exponent;
        let exponent = self.bias_exponent.map_or(products, |bias| bias.min(products));
        let lift = shift(products, exponent);
        let values = match (&x.values, &self.weights) {
            (Integers::Small(values), Weights::Small(weights, bits))
                if x.denominator == IBig::ONE && self.fits(values, *bits, lift, exponent) =>
            {
                let rows = weights.chunks_exact(self.columns).zip(&self.bias);
                let sums = rows.map(|(row, &(mantissa, e))| {
                    let sum: i128 = row.iter().zip(values).map(|(&w, &v)| i128::from(w) * v).sum();
                    let bias =
                        if mantissa == 0 { 0 } else { i128::from(mantissa) << shift(e, exponent) };
                    (sum << lift) + bias
                });
                Integers::Small(sums.collect())
            }
            (values, weights) => {
                let values = values.to_big();
                let weights = weights.to_big();
                let rows = weights.chunks_exact(self.columns).zip(&self.bias);
                let sums = rows.map(|(row, &bias)| {
                    let products = row.iter().zip(values.iter()).map(|(w, v)| w * v);
                    let sum = products.fold(IBig::ZERO, |sum, product| sum + product);
                    (sum << lift) + integer_of(bias, exponent) * &x.denominator
                });
                Integers::Big(sums.collect())
            }
        };
        Scaled { values, exponent, denominator: x.denominator.clone() }.reduced()
    }

    /// Returns whether sums of products and biases stay below 2¹²⁶.
    fn fits(&self, values: &[i128], weight_bits: u32, lift: usize, exponent: i32) -> bool {
        let largest = values.iter().map(|v| v.unsigned_abs()).max().unwrap_or(0);
        let bits = |magnitude: u128| (u128::BITS - magnitude.leading_zeros()) as usize;
        let terms = bits(values.len() as u128);
        let sum = bits(largest) + weight_bits as usize + terms + lift;
        let nonzero = self.bias.iter().filter(|(mantissa, _)| *mantissa != 0);
        let bias = nonzero.map(|&(_, e)| 54 + shift(e, exponent)).max().unwrap_or(0);
        sum.max(bias) < 126
    }
}

impl Weights {
    fn to_big(&self) -> std::borrow::Cow<'_, [IBig]> {
        match self {
            Weights::Small(weights, _) => weights.iter().map(|&w| IBig::from(w)).collect(),
            Weights::Big(weights) => std::borrow::Cow::Borrowed(weights),
        }
    }
}
