//! Enclosures of the exact scores at any precision, for networks with tanh or sigmoid.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, Rational, dyadic_parts};

use crate::matrix::Matrix;
use crate::network::{Network, Op};

/// Encloses the scores for integer inputs, with `bits` fractional bits in all intermediate
/// results.
///
/// # Panics
/// If there are fewer inputs than the network has.
#[must_use]
pub fn precise_scores<'a>(network: &'a Network, inputs: &[i64], bits: usize) -> PreciseScores<'a> {
    let inputs: Vec<Enclosure> =
        inputs.iter().map(|&input| Enclosure::integer(input, bits)).collect();
    enclosed(network, &inputs, bits)
}

/// Encloses the scores for rational inputs, as [`precise_scores`] does for integers.
///
/// # Panics
/// If there are fewer inputs than the network has.
#[must_use]
pub fn precise_scores_at<'a>(
    network: &'a Network,
    inputs: &[Rational],
    bits: usize,
) -> PreciseScores<'a> {
    let inputs: Vec<Enclosure> = inputs.iter().map(|input| Enclosure::of(input, bits)).collect();
    enclosed(network, &inputs, bits)
}

fn enclosed<'a>(network: &'a Network, inputs: &[Enclosure], bits: usize) -> PreciseScores<'a> {
    let mut values: Vec<Vec<Enclosure>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let args: Vec<&[Enclosure]> =
            node.op.inputs().iter().map(|input| values[input.index()].as_slice()).collect();
        let first = args.first().copied().unwrap_or_default();
        let each =
            |function: &dyn Fn(&Enclosure) -> Enclosure| first.iter().map(function).collect();
        let combined = |function: &dyn Fn(&Enclosure, &Enclosure) -> Enclosure| {
            (0..node.width)
                .map(|i| {
                    let rest = args.iter().skip(1);
                    rest.fold(first[i].clone(), |all, arg| function(&all, &arg[i]))
                })
                .collect()
        };
        let bound = |bound: f64| times(&Enclosure::integer(1, bits), bound);
        let value: Vec<Enclosure> = match &node.op {
            Op::Input => inputs[..node.width].to_vec(),
            Op::Affine { weights, bias, .. } => affine(weights, bias, first, bits),
            Op::Scale { mul, div, add, .. } => first
                .iter()
                .zip(mul.iter().zip(div).zip(add))
                .map(|(x, ((&mul, &div), &add))| &scaled(x, mul, div) + &bound(add))
                .collect(),
            Op::Relu { .. } => each(&Enclosure::relu),
            Op::LeakyRelu { alpha, .. } => each(&|x| {
                let zero = Enclosure::integer(0, bits);
                &x.max(&zero) + &times(&x.min(&zero), *alpha)
            }),
            Op::Tanh { .. } => each(&Enclosure::tanh),
            Op::Sigmoid { .. } => each(&Enclosure::sigmoid),
            Op::Clip { lo, hi, .. } => each(&|x| {
                let x = lo.map_or_else(|| x.clone(), |lo| x.max(&bound(lo)));
                hi.map_or_else(|| x.clone(), |hi| x.min(&bound(hi)))
            }),
            Op::Add { .. } => combined(&|a, b| a + b),
            Op::Max { .. } => combined(&Enclosure::max),
            Op::Concat { .. } => args.concat(),
        };
        values.push(value);
    }
    PreciseScores { network, values, bits }
}

/// Enclosures of the scores for one input.
#[derive(Clone, Debug)]
pub struct PreciseScores<'a> {
    network: &'a Network,
    /// By node.
    values: Vec<Vec<Enclosure>>,
    bits: usize,
}

impl PreciseScores<'_> {
    /// The scores, one for each output.
    #[must_use]
    pub fn scores(&self) -> &[Enclosure] {
        &self.values[self.network.output().index()]
    }

    /// How the score of output `a` compares with that of output `b`; `None` if the precision does
    /// not suffice to tell.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn compare(&self, a: usize, b: usize) -> Option<Ordering> {
        if a == b {
            return Some(Ordering::Equal);
        }
        self.difference(a, b).sign()
    }

    /// The score of `a` less that of `b`. After a weight matrix, the difference of the two rows is
    /// applied: what both scores share cancels exactly.
    fn difference(&self, a: usize, b: usize) -> Enclosure {
        let Op::Affine { input, weights, bias } = &self.network.node(self.network.output()).op
        else {
            return &self.scores()[a] - &self.scores()[b];
        };
        let minus = |x: f64, y: f64| {
            let difference = Rational::from_f64(x).zip(Rational::from_f64(y)).map(|(x, y)| x - y);
            difference.unwrap_or_default()
        };
        let mut sum = Enclosure::of(&minus(bias[a], bias[b]), self.bits);
        let rows = weights.row(a).iter().zip(weights.row(b));
        for ((&x, &y), value) in rows.zip(&self.values[input.index()]) {
            let weight = minus(x, y);
            if !weight.is_zero() {
                sum = &sum + &(&Enclosure::of(&weight, self.bits) * value);
            }
        }
        sum
    }
}

fn affine(weights: &Matrix, bias: &[f64], x: &[Enclosure], bits: usize) -> Vec<Enclosure> {
    let rows = weights.row_iter().zip(bias);
    rows.map(|(row, &bias)| {
        let bias = times(&Enclosure::integer(1, bits), bias);
        row.iter().zip(x).fold(bias, |sum, (&weight, x)| &sum + &times(x, weight))
    })
    .collect()
}

/// The product with a finite constant.
fn times(x: &Enclosure, constant: f64) -> Enclosure {
    let (mantissa, exponent) = dyadic_parts(constant).unwrap_or_default();
    x.times_dyadic(mantissa, exponent)
}

/// `x · mul / div`.
fn scaled(x: &Enclosure, mul: f64, div: f64) -> Enclosure {
    let factor = Rational::from_f64(mul).zip(Rational::from_f64(div));
    let factor = factor.and_then(|(mul, div)| mul.checked_div(&div)).unwrap_or_default();
    &Enclosure::of(&factor, x.bits()) * x
}

#[cfg(test)]
mod tests;
