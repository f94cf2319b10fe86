//! Enclosures of the exact scores at any precision, for networks that are not piecewise linear.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, Rational};

use crate::activation::Activation;
use crate::network::{Elements, Network, Op};

/// Encloses the scores for integer inputs, with `bits` fractional bits in all intermediate
/// results; `None` if one of these has no enclosure at that precision.
///
/// # Panics
/// If there are fewer inputs than the network has.
#[must_use]
pub fn precise_scores<'a>(
    network: &'a Network,
    inputs: &[i64],
    bits: usize,
) -> Option<PreciseScores<'a>> {
    let inputs: Vec<Enclosure> =
        inputs.iter().map(|&input| Enclosure::integer(input, bits)).collect();
    precise_scores_within(network, &inputs, bits)
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
) -> Option<PreciseScores<'a>> {
    let inputs: Vec<Enclosure> = inputs.iter().map(|input| Enclosure::of(input, bits)).collect();
    precise_scores_within(network, &inputs, bits)
}

/// Encloses the scores for all inputs in enclosures, as [`precise_scores`] does for integers.
///
/// # Panics
/// If there are fewer inputs than the network has.
#[must_use]
pub fn precise_scores_within<'a>(
    network: &'a Network,
    inputs: &[Enclosure],
    bits: usize,
) -> Option<PreciseScores<'a>> {
    let input = inputs[..network.input_width()].to_vec();
    let values = network.fold(&mut Precise { bits }, input).ok()?;
    Some(PreciseScores { network, values, bits })
}

/// A function has no enclosure at the precision.
struct NotEnclosed;

/// Enclosures with so many fractional bits.
struct Precise {
    bits: usize,
}

impl Precise {
    fn constant(&self, value: f64) -> Enclosure {
        Enclosure::integer(1, self.bits).times_f64(value)
    }
}

impl Elements for Precise {
    type Element = Enclosure;
    type Error = NotEnclosed;

    fn row(
        &mut self,
        weights: &[f64],
        bias: f64,
        x: &[Enclosure],
    ) -> Result<Enclosure, NotEnclosed> {
        let terms = weights.iter().zip(x);
        Ok(terms.fold(self.constant(bias), |sum, (&weight, x)| &sum + &x.times_f64(weight)))
    }

    fn scale(
        &mut self,
        x: &Enclosure,
        mul: f64,
        div: f64,
        add: f64,
    ) -> Result<Enclosure, NotEnclosed> {
        let factor = Rational::from_f64(mul).zip(Rational::from_f64(div));
        let factor = factor.and_then(|(mul, div)| mul.checked_div(&div)).unwrap_or_default();
        let (lower, upper) = (x.lower(), x.upper());
        // A quotient may be a number of few bits where the factor is none, and at a jump.
        let scaled = if lower == upper {
            Enclosure::of(&(lower * factor), x.bits())
        } else {
            &Enclosure::of(&factor, x.bits()) * x
        };
        Ok(&scaled + &self.constant(add))
    }

    fn apply(&mut self, activation: Activation, x: &Enclosure) -> Result<Enclosure, NotEnclosed> {
        activation.of_enclosure(x).ok_or(NotEnclosed)
    }

    fn sum(&mut self, terms: &[Enclosure]) -> Result<Enclosure, NotEnclosed> {
        Ok(terms[1..].iter().fold(terms[0].clone(), |sum, term| &sum + term))
    }

    fn max(&mut self, terms: &[Enclosure]) -> Result<Enclosure, NotEnclosed> {
        Ok(terms[1..].iter().fold(terms[0].clone(), |greatest, term| greatest.max(term)))
    }
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

    /// Compares the score of output `a` with that of output `b`; `None` if the precision does not
    /// suffice.
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
    pub(crate) fn difference(&self, a: usize, b: usize) -> Enclosure {
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

#[cfg(test)]
mod tests;
