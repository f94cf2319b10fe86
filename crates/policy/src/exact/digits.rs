//! How many digits exact scores may have.

use std::collections::BTreeSet;

use policert_numeric::dyadic_parts;

use crate::activation::{Activation, Smooth};
use crate::matrix::Matrix;
use crate::network::{Domain, Network, Op, Scaling};

/// With more bits than that, scores are enclosed instead.
const MOST_BITS: u64 = 1 << 16;
/// A constant with the exponents that are usual, and a carry.
const BITS_OF_CONSTANT: u64 = 128;

/// Returns whether the values of a network are certainly short. Those of linear pieces and steps are, as
/// each layer adds a few digits; squares and reciprocals multiply their number.
pub(super) fn are_few(network: &Network) -> bool {
    let multiplies =
        |op: &Op| matches!(op, Op::Pointwise { activation: Activation::Smooth(_), .. });
    if !network.nodes().iter().any(|node| multiplies(&node.op)) {
        return true;
    }
    let input = Digits { width: network.input_width(), numerator: 64, denominator: 0 };
    network.fold(&mut Bounds, input).is_ok()
}

/// Bounds of the digits of a vector whose elements have a common denominator.
#[derive(Clone, Copy)]
struct Digits {
    width: usize,
    /// Bits of the greatest numerator, powers of two included.
    numerator: u64,
    /// Bits of the common denominator, but for powers of two.
    denominator: u64,
}

impl Digits {
    /// The bits of a sum with constants.
    fn sum(&self) -> u64 {
        self.numerator.max(self.denominator).saturating_add(BITS_OF_CONSTANT)
    }

    fn checked(self) -> Result<Self, TooMany> {
        if self.numerator.max(self.denominator) > MOST_BITS { Err(TooMany) } else { Ok(self) }
    }
}

/// There may be too many digits, or there is no end of them.
struct TooMany;

struct Bounds;

impl Bounds {
    /// Brought to one denominator, of vectors that have `width` elements together.
    fn together(vectors: &[&Digits], width: usize) -> Result<Digits, TooMany> {
        let numerator = vectors.iter().map(|vector| vector.numerator).max().unwrap_or(0);
        let denominator =
            vectors.iter().fold(0u64, |sum, vector| sum.saturating_add(vector.denominator));
        let numerator = numerator.saturating_add(denominator).saturating_add(BITS_OF_CONSTANT);
        Digits { width, numerator, denominator }.checked()
    }
}

impl Domain for Bounds {
    type Vector = Digits;
    type Error = TooMany;

    fn affine(&mut self, x: &Digits, weights: &Matrix, _bias: &[f64]) -> Result<Digits, TooMany> {
        Digits { width: weights.rows(), numerator: x.sum(), ..*x }.checked()
    }

    fn scale(&mut self, x: &Digits, scaling: Scaling<'_>) -> Result<Digits, TooMany> {
        let odd = scaling.div.iter().filter_map(|&div| dyadic_parts(div));
        let divisors: BTreeSet<u64> = odd.map(|(mantissa, _)| mantissa.unsigned_abs()).collect();
        let odd = divisors.iter().filter(|&&divisor| divisor > 1);
        let bits: u64 = odd.map(|divisor| u64::from(u64::BITS - divisor.leading_zeros())).sum();
        let denominator = x.denominator.saturating_add(bits);
        Digits { numerator: x.sum().saturating_add(bits), denominator, ..*x }.checked()
    }

    fn apply(&mut self, activation: Activation, x: &Digits) -> Result<Digits, TooMany> {
        let Digits { width, numerator, denominator } = *x;
        let twice = |bits: u64| bits.saturating_mul(2);
        match activation {
            Activation::Leaky { .. } | Activation::Clip { .. } => {
                Digits { numerator: x.sum(), ..*x }.checked()
            }
            Activation::Staircase(_) => Digits { denominator: 0, ..*x }.checked(),
            Activation::Smooth(Smooth::Square) => {
                let (numerator, denominator) = (twice(numerator), twice(denominator));
                Digits { width, numerator, denominator }.checked()
            }
            Activation::Smooth(Smooth::HardGate) => {
                let (numerator, denominator) = (twice(x.sum()), twice(denominator));
                Digits { width, numerator, denominator }.checked()
            }
            Activation::Smooth(Smooth::Reciprocal(_)) => {
                // The common denominator is at most the product of the numerators.
                let all = x.sum().saturating_mul(u64::try_from(width).unwrap_or(u64::MAX));
                let numerator = denominator.saturating_add(all);
                Digits { width, numerator, denominator: all }.checked()
            }
            Activation::Smooth(
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
                | Smooth::Root(_),
            ) => Err(TooMany),
        }
    }

    fn sum(&mut self, vectors: &[&Digits]) -> Result<Digits, TooMany> {
        Self::together(vectors, vectors.first().map_or(0, |vector| vector.width))
    }

    fn max(&mut self, vectors: &[&Digits]) -> Result<Digits, TooMany> {
        Self::together(vectors, vectors.first().map_or(0, |vector| vector.width))
    }

    fn concat(&mut self, vectors: &[&Digits]) -> Result<Digits, TooMany> {
        Self::together(vectors, vectors.iter().map(|vector| vector.width).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{ElementType, NetworkBuilder};

    #[test]
    fn squares_of_squares_are_too_long() {
        let squared = |times: usize| {
            let mut builder = NetworkBuilder::new(2).expect("inputs");
            let square = Activation::Smooth(Smooth::Square);
            let input = builder.input();
            let built = (0..times).try_fold(input, |x, _| builder.activation(x, square));
            builder.finish(built.expect("finite"), ElementType::F64)
        };
        assert!(are_few(&squared(0)) && are_few(&squared(8)));
        assert!(!are_few(&squared(12)));
        let mut builder = NetworkBuilder::new(1).expect("inputs");
        let deep = (0..2000).fold(builder.input(), |x, _| builder.relu(x));
        assert!(are_few(&builder.finish(deep, ElementType::F64)));
    }
}
