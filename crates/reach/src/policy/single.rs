//! Evaluation of a network in single precision, as a simple runtime does it.
//!
//! Weights and intermediate values are 32-bit numbers; products are added one after the other, from
//! the first input to the last, the bias at the end, without fused multiply-adds. tanh and the
//! sigmoid are those of double precision, rounded.

use policert_numeric::activation;
use policert_policy::{Network, Op};

/// Evaluates one network.
#[derive(Clone, Debug)]
pub struct SingleEvaluator {
    network: Network,
}

impl SingleEvaluator {
    /// Prepares the evaluation.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Self { network: network.clone() }
    }

    /// The outputs for inputs that are rounded to single precision first.
    #[must_use]
    pub fn evaluate(&mut self, inputs: &[f64]) -> Vec<f32> {
        let mut values: Vec<Vec<f32>> = Vec::with_capacity(self.network.nodes().len());
        for node in self.network.nodes() {
            let sources = node.op.inputs();
            let x = sources.first().map_or(&[][..], |input| values[input.index()].as_slice());
            let all = || sources.iter().map(|input| values[input.index()].as_slice());
            let result: Vec<f32> = match &node.op {
                Op::Input => inputs.iter().map(|&x| single(x)).collect(),
                Op::Affine { weights, bias, .. } => weights
                    .row_iter()
                    .zip(bias)
                    .map(|(row, &bias)| {
                        let sum =
                            row.iter().zip(x).fold(0.0f32, |sum, (&w, &x)| sum + single(w) * x);
                        sum + single(bias)
                    })
                    .collect(),
                Op::Scale { mul, div, add, .. } => x
                    .iter()
                    .zip(mul.iter().zip(div).zip(add))
                    .map(|(&x, ((&mul, &div), &add))| x * single(mul) / single(div) + single(add))
                    .collect(),
                Op::Relu { .. } => x.iter().map(|&x| if x < 0.0 { 0.0 } else { x }).collect(),
                Op::LeakyRelu { alpha, .. } => {
                    x.iter().map(|&x| if x < 0.0 { single(*alpha) * x } else { x }).collect()
                }
                Op::Tanh { .. } => {
                    x.iter().map(|&x| single(activation::tanh(f64::from(x)))).collect()
                }
                Op::Sigmoid { .. } => {
                    x.iter().map(|&x| single(activation::sigmoid(f64::from(x)))).collect()
                }
                Op::Clip { lo, hi, .. } => x
                    .iter()
                    .map(|&x| {
                        let x = lo.map_or(x, |lo| if x < single(lo) { single(lo) } else { x });
                        hi.map_or(x, |hi| if x > single(hi) { single(hi) } else { x })
                    })
                    .collect(),
                Op::Add { .. } => {
                    (0..node.width).map(|i| all().fold(0.0, |sum: f32, x| sum + x[i])).collect()
                }
                Op::Max { .. } => (0..node.width)
                    .map(|i| {
                        all().map(|x| x[i]).fold(f32::NEG_INFINITY, |max, x| {
                            if x.is_nan() || x > max { x } else { max }
                        })
                    })
                    .collect(),
                Op::Concat { .. } => all().flatten().copied().collect(),
            };
            values.push(result);
        }
        values.swap_remove(self.network.output().index())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is meant")]
fn single(value: f64) -> f32 {
    value as f32
}
