//! Evaluation of a network in single precision, as a simple runtime does it.
//!
//! Weights and intermediate values are 32-bit numbers; products are added one after the other, from
//! the first input to the last, the bias at the end, without fused multiply-adds. Functions
//! that are not piecewise linear are those of double precision, rounded.

use std::convert::Infallible;

use policert_policy::{Activation, Elements, Network};

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
        let inputs = inputs.iter().map(|&x| single(x)).collect();
        match self.network.fold(&mut Single, inputs) {
            Ok(mut values) => values.swap_remove(self.network.output().index()),
            Err(never) => match never {},
        }
    }
}

/// Single precision, one operation after the other.
struct Single;

impl Elements for Single {
    type Element = f32;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[f32]) -> Result<f32, Infallible> {
        let products = weights.iter().zip(x).map(|(&w, &x)| single(w) * x);
        Ok(products.fold(0.0, |sum: f32, product| sum + product) + single(bias))
    }

    fn scale(&mut self, x: &f32, mul: f64, div: f64, add: f64) -> Result<f32, Infallible> {
        Ok(x * single(mul) / single(div) + single(add))
    }

    fn apply(&mut self, activation: Activation, &x: &f32) -> Result<f32, Infallible> {
        Ok(match activation {
            Activation::Leaky { alpha: 0.0 } => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::Leaky { alpha } => {
                if x < 0.0 {
                    single(alpha) * x
                } else {
                    x
                }
            }
            Activation::Clip { lo, hi } => {
                let x = if x < single(lo) { single(lo) } else { x };
                if x > single(hi) { single(hi) } else { x }
            }
            Activation::Staircase(staircase) => single(staircase.value(f64::from(x))),
            Activation::Smooth(function) => single(function.curve().value(f64::from(x))),
        })
    }

    fn sum(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        Ok(terms.iter().fold(0.0, |sum, x| sum + x))
    }

    fn max(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        let greater = |max: f32, &x: &f32| if x.is_nan() || x > max { x } else { max };
        Ok(terms.iter().fold(f32::NEG_INFINITY, greater))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is meant")]
fn single(value: f64) -> f32 {
    value as f32
}
