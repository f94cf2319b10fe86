//! Sums of leaves as libraries compute them, by definition: the plain evaluation, and how far any other one
//! can be from the exact scores. The policy has code of its own for both.
//!
//! As in `single`, a sum of n terms that is computed in any order is off by at most γₙ times the sum of the
//! magnitudes of its terms; each term may be rounded before, and the sum after that.

use policert_numeric::{IBig, Rational, power_of_two};
use policert_policy::SingleTrees;
use policert_policy::trees::{IntegerTrees, Link, Precision};

use crate::interval_scores::units_in;
use policert_numeric::IntInterval;

/// The scores by the plain evaluation in a state; `None` for one that is no finite number.
pub(crate) fn plain_scores(
    single: &SingleTrees,
    trees: &IntegerTrees,
    inputs: &[i64],
) -> Vec<Option<Rational>> {
    let unit = trees.unit();
    let score = |output: usize| {
        let value = |units: i128| &Rational::from(IBig::from(units)) * &unit;
        let leaves = trees.trees().iter().flat_map(|tree| tree.leaf(inputs));
        let leaves = leaves.filter(|leaf| leaf.output == output).map(|leaf| value(leaf.value));
        let terms = std::iter::once(value(trees.base()[output])).chain(leaves);
        match single.summation().precision {
            Precision::Single => {
                let sum = terms.map(|term| term.to_f32()).reduce(|sum, term| sum + term);
                sum.and_then(Rational::from_f32)
            }
            Precision::Double => {
                let sum = terms.map(|term| term.to_f64()).reduce(|sum, term| sum + term);
                sum.and_then(Rational::from_f64)
            }
        }
    };
    (0..trees.outputs()).map(score).collect()
}

/// What errors do to scores.
#[derive(Clone, Debug)]
pub(crate) struct SumErrors {
    /// By output: how far a score may be from the exact one; `None` where nothing is known.
    pub radii: Vec<Option<Rational>>,
    /// Computed scores that differ by less may be equal, or exchanged, after what the library makes of them.
    pub merged: Rational,
}

impl SumErrors {
    /// By how much the exact score of one of two outputs may be below that of the other one where its computed
    /// score is not; `None` if by any number.
    pub fn slack(&self, one: usize, other: usize) -> Option<Rational> {
        let (one, other) = (self.radii[one].as_ref()?, self.radii[other].as_ref()?);
        Some(&(one + other) + &self.merged)
    }
}

/// The terms of a score in units: their number, the sum of their magnitudes, and the greatest power of two
/// that divides all of them.
#[derive(Clone, Copy)]
struct Sum {
    count: i64,
    magnitude: u128,
    zeros: u32,
}

/// The errors for states with inputs in these ranges.
pub(crate) fn errors(
    single: &SingleTrees,
    trees: &IntegerTrees,
    inputs: &[IntInterval],
) -> SumErrors {
    let summation = single.summation();
    let (bits, least, greatest, flushed) = match summation.precision {
        Precision::Single => (24, -120, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)),
        Precision::Double => (53, -1000, f64::MAX, f64::MIN_POSITIVE),
    };
    let exact = |value: f64| Rational::from_f64(value).unwrap_or_default();
    let (unit, limit, flushed) = (trees.unit(), exact(greatest / 4.0), exact(flushed));
    let value = |units: u128| &Rational::from(IBig::from(units)) * &unit;
    let rounding = power_of_two(-bits).map(exact).unwrap_or_default();
    let sums: Vec<Sum> = (0..trees.outputs()).map(|output| sum(trees, inputs, output)).collect();
    let radius = |(sum, &offset): (&Sum, &f64)| {
        let (magnitude, offset) = (value(sum.magnitude), Rational::from_f64(offset)?);
        if magnitude >= limit || offset >= limit {
            return None;
        }
        let grain = value(1u128.checked_shl(sum.zeros)?);
        let is_whole = sum.magnitude == 0
            || (grain >= power_of_two(least).map(exact)?
                && magnitude <= &grain * &power_of_two(bits).map(exact)?);
        if summation.roundings == 0 && offset.is_zero() && is_whole {
            return Some(Rational::ZERO);
        }
        let share = &Rational::from(sum.count + 2 + i64::from(summation.roundings)) * &rounding;
        let rest = Rational::ONE - share.clone();
        if rest.signum() <= 0 {
            return None;
        }
        let gamma = share.checked_div(&rest)?;
        let below = &Rational::from(8 * sum.count + 16) * &flushed;
        Some(&(&offset + &below) + &(&gamma * &(magnitude + offset.clone())))
    };
    let radii = sums.iter().zip(&summation.offsets).map(radius).collect();
    // An exponential function is off by 2⁻²⁰ (2⁻⁴⁸) of its value, twice in a quotient of two, and those two
    // are rounded.
    let function = match summation.precision {
        Precision::Single => power_of_two(-18),
        Precision::Double => power_of_two(-46),
    };
    let function = function.map(exact).unwrap_or_default();
    let by_link = match summation.link {
        Link::Identity => Rational::ZERO,
        Link::Softmax => function,
        Link::Logistic(factor) => function.checked_div(&exact(factor)).unwrap_or_default(),
    };
    let merged = if summation.divisor == 1 {
        by_link
    } else {
        let divisor = Rational::from(i64::try_from(summation.divisor).unwrap_or(i64::MAX));
        let most = sums.iter().map(|sum| value(sum.magnitude)).max().unwrap_or_default();
        let lost = &Rational::from(4) * &(&(&rounding * &most) + &(&divisor * &flushed));
        &(&by_link * &divisor) + &lost
    };
    SumErrors { radii, merged }
}

/// The terms of a score, of each tree the greatest ones.
fn sum(trees: &IntegerTrees, inputs: &[IntInterval], output: usize) -> Sum {
    let mut sum = Sum { count: 0, magnitude: 0, zeros: 127 };
    let mut add = |values: &[i128]| {
        let values: Vec<u128> =
            values.iter().map(|v| v.unsigned_abs()).filter(|&v| v > 0).collect();
        sum.count += i64::from(!values.is_empty());
        sum.magnitude = sum.magnitude.saturating_add(values.iter().copied().max().unwrap_or(0));
        sum.zeros = values.iter().map(|v| v.trailing_zeros()).fold(sum.zeros, u32::min);
    };
    add(&[trees.base()[output]]);
    for tree in trees.trees() {
        let mut values = Vec::new();
        units_in(tree, 0, inputs, output, &mut values);
        add(&values);
    }
    sum
}
