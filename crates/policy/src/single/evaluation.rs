//! The plain evaluation in single precision.
//!
//! Features, weights and biases are rounded to the nearest number, ties to even. A sum begins with 0 and
//! adds its products from left to right, each rounded before it is added; the bias comes last. A function
//! such as tanh is the nearest number to its value. Products and quotients are rounded to the nearest number.

use std::convert::Infallible;

use policert_numeric::Enclosure;
use policert_numeric::round::{add_up, sub_down};

use crate::activation::{Activation, Smooth};
use crate::network::{Elements, Network, WrittenElements};

/// The scores of a network for these features.
///
/// # Panics
/// If there are fewer features than the network has.
pub(super) fn plain_scores(network: &Network, features: &[f32]) -> Vec<f32> {
    let input = features[..network.input_width()].to_vec();
    match network.fold_as_written(&mut Plain, input) {
        Ok(mut values) => values.swap_remove(network.output().index()),
        Err(never) => match never {},
    }
}

/// Single precision, as the module says.
struct Plain;

#[expect(clippy::cast_possible_truncation, reason = "it is what is evaluated")]
impl Elements for Plain {
    type Element = f32;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[f32]) -> Result<f32, Infallible> {
        let products = weights.iter().zip(x).map(|(&weight, x)| weight as f32 * x);
        Ok(products.fold(0.0, |sum: f32, product| sum + product) + bias as f32)
    }

    fn scale(&mut self, x: &f32, mul: f64, div: f64, add: f64) -> Result<f32, Infallible> {
        Ok(x * mul as f32 / div as f32 + add as f32)
    }

    fn apply(&mut self, activation: Activation, x: &f32) -> Result<f32, Infallible> {
        Ok(match activation {
            Activation::Leaky { alpha } if *x < 0.0 => alpha as f32 * x,
            Activation::Leaky { .. } => *x,
            Activation::Clip { lo, hi } => {
                let x = if *x < lo as f32 { lo as f32 } else { *x };
                if x > hi as f32 { hi as f32 } else { x }
            }
            Activation::Staircase(staircase) => staircase.value(f64::from(*x)) as f32,
            Activation::Smooth(smooth) => nearest_value(smooth, *x),
        })
    }

    fn sum(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        Ok(terms[1..].iter().fold(terms[0], |sum, term| sum + term))
    }

    fn max(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        // No number is not less than any.
        let greater = |a: f32, &b: &f32| if a < b || b.is_nan() { b } else { a };
        Ok(terms[1..].iter().fold(terms[0], greater))
    }
}

impl WrittenElements for Plain {
    fn product(&mut self, a: &f32, b: &f32) -> Result<f32, Infallible> {
        Ok(a * b)
    }

    fn quotient(&mut self, a: &f32, b: &f32, keeps_zeros: bool) -> Result<f32, Infallible> {
        Ok(if keeps_zeros && *b == 0.0 { *a } else { a / b })
    }

    fn choice(&mut self, condition: &f32, a: &f32, b: &f32) -> Result<f32, Infallible> {
        Ok(if *condition >= 1.0 {
            *a
        } else if *condition <= 0.0 {
            *b
        } else {
            f32::NAN
        })
    }
}

/// The number that is nearest to the value of a function.
#[expect(clippy::cast_possible_truncation, reason = "it is what is evaluated")]
fn nearest_value(smooth: Smooth, x: f32) -> f32 {
    let (curve, x) = (smooth.curve(), f64::from(x));
    let (value, error) = (curve.value(x), curve.error(x, x));
    let [lo, hi] = [sub_down(value, error), add_up(value, error)].map(|end| end as f32);
    // In most cases the bounds of the value round to the same number.
    if lo.to_bits() == hi.to_bits() || value.is_nan() || !x.is_finite() {
        return value as f32;
    }
    match Enclosure::of_f64(x, PRECISE_BITS).and_then(|x| curve.enclosed(&x)) {
        Some(value) => value.lower().to_f32(),
        None => value as f32,
    }
}

/// Fractional bits of enclosures whose bounds round to the same number, but for one that is exact.
const PRECISE_BITS: usize = 512;
