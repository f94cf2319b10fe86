//! Sums of leaves as libraries compute them: in single or double precision, in any order.
//!
//! | step | error of n terms, u = 2⁻²⁴ or 2⁻⁵³ |
//! |---|---|
//! | a leaf's value becomes a number of the precision; n sums, and a division of the result | γₙ₊₃ times the sum of the magnitudes, further roundings of a leaf apart |
//! | what is below the normal numbers | the least normal number for each result and each operand |
//! | the base score of XGBoost is a logarithm | 2⁻²⁰, of the value where that is greater than 1 |
//!
//! Nothing is rounded where all terms are multiples of one power of two, of which the sum of their
//! magnitudes is at most 2²⁴ (2⁵³) times as much. Functions that the library applies to the sums may make
//! those equal, or exchange them, that are closer than [`SingleErrors::merged`].

use policert_numeric::round::{add_up, div_up, mul_up};
use policert_numeric::{IBig, Rational};

use super::bound::SingleErrors;
use crate::trees::{IntegerTree, IntegerTrees, LeafValue, Link, Precision, Summation};

/// How a tree ensemble is evaluated.
#[derive(Clone, Debug)]
pub struct SingleTrees {
    summation: Summation,
    merged: f64,
}

/// The numbers of a precision.
struct Format {
    unit_roundoff: f64,
    /// The number of bits that count multiples of a power of two.
    bits: u32,
    /// The exponents of powers of two below may be flushed to 0.
    least_exponent: i64,
    least_normal: f64,
    greatest: f64,
    /// The probabilities of sums that are closer than this may be equal, or exchanged: four times the error of a library's exponential function, relative to its value.
    merged: f64,
}

const SINGLE: Format = Format {
    unit_roundoff: f32::EPSILON as f64 / 2.0,
    bits: f32::MANTISSA_DIGITS,
    least_exponent: -120,
    least_normal: f32::MIN_POSITIVE as f64,
    greatest: f32::MAX as f64,
    merged: 1.0 / (1 << 18) as f64,
};

const DOUBLE: Format = Format {
    unit_roundoff: f64::EPSILON / 2.0,
    bits: f64::MANTISSA_DIGITS,
    least_exponent: -1000,
    least_normal: f64::MIN_POSITIVE,
    greatest: f64::MAX,
    merged: 64.0 * f64::EPSILON,
};

fn format(precision: Precision) -> &'static Format {
    match precision {
        Precision::Single => &SINGLE,
        Precision::Double => &DOUBLE,
    }
}

impl SingleTrees {
    /// How this ensemble is evaluated, and bounds of the errors in all states.
    pub(crate) fn new(trees: &IntegerTrees, summation: Summation) -> (Self, SingleErrors) {
        let mut single = Self { summation, merged: 0.0 };
        let mut all: Vec<Terms> = trees.base().iter().map(|&base| Terms::of(base)).collect();
        for tree in trees.trees() {
            for (terms, of_tree) in all.iter_mut().zip(Terms::of_any_leaf(tree, trees.outputs())) {
                terms.add(of_tree);
            }
        }
        let unit = trees.unit();
        let greatest = all.iter().map(|terms| terms.magnitude(&unit)).fold(0.0, f64::max);
        single.merged = single.merged_below(greatest);
        let errors = single.errors(&all, &unit);
        (single, errors)
    }

    /// The arithmetic of the library.
    #[must_use]
    pub fn summation(&self) -> &Summation {
        &self.summation
    }

    /// Bounds of the errors in one state.
    pub(crate) fn errors_at(&self, trees: &IntegerTrees, inputs: &[i64]) -> SingleErrors {
        let mut all: Vec<Terms> = trees.base().iter().map(|&base| Terms::of(base)).collect();
        for tree in trees.trees() {
            for &LeafValue { output, value } in tree.leaf(inputs) {
                all[output].add(Terms::of(value));
            }
        }
        self.errors(&all, &trees.unit())
    }

    /// The scores by the plain evaluation: the leaves' values, each rounded to the nearest number, are added
    /// to the base score in the order of the trees.
    pub(crate) fn plain_scores(&self, trees: &IntegerTrees, inputs: &[i64]) -> Vec<f64> {
        let unit = trees.unit();
        let exact = |value: i128| &Rational::from(IBig::from(value)) * &unit;
        match self.summation.precision {
            Precision::Single => {
                let number = |value: i128| exact(value).to_f32();
                plain_sums(trees, inputs, number).into_iter().map(f64::from).collect()
            }
            Precision::Double => plain_sums(trees, inputs, |value| exact(value).to_f64()),
        }
    }

    fn errors(&self, all: &[Terms], unit: &Rational) -> SingleErrors {
        let radius = |(terms, &offset): (&Terms, &f64)| self.radius(terms, offset, unit);
        let radii = all.iter().zip(&self.summation.offsets).map(radius).collect();
        SingleErrors::new(radii, self.merged)
    }

    fn radius(&self, terms: &Terms, offset: f64, unit: &Rational) -> f64 {
        let format = format(self.summation.precision);
        let magnitude = terms.magnitude(unit);
        if !(magnitude < format.greatest / 4.0 && offset < format.greatest / 4.0) {
            return f64::INFINITY;
        }
        let may_be_exact = self.summation.roundings == 0 && offset <= 0.0;
        if may_be_exact && terms.is_countable(unit, format) {
            return 0.0;
        }
        let roundings = terms.count.saturating_add(3).saturating_add(self.summation.roundings);
        let share = mul_up(f64::from(roundings), format.unit_roundoff);
        if share >= 0.5 {
            return f64::INFINITY;
        }
        let gamma = div_up(share, 1.0 - share);
        let flushed = mul_up(16.0 * f64::from(terms.count) + 32.0, format.least_normal);
        // The other offset is rounded with everything else.
        let magnitude = add_up(magnitude, offset);
        add_up(offset, add_up(mul_up(gamma, magnitude), flushed))
    }

    /// Sums of at most this magnitude that are closer than the result may be equal, or exchanged, after what
    /// the library makes of them.
    fn merged_below(&self, greatest: f64) -> f64 {
        let Summation { divisor, link, .. } = &self.summation;
        let format = format(self.summation.precision);
        let by_link = match link {
            Link::Identity => 0.0,
            Link::Softmax => format.merged,
            Link::Logistic(factor) => div_up(format.merged, *factor),
        };
        if *divisor == 1 {
            return by_link;
        }
        let divisor = u32::try_from(*divisor).map_or(f64::INFINITY, f64::from);
        let rounded = mul_up(4.0 * format.unit_roundoff, greatest);
        let flushed = mul_up(4.0 * divisor, format.least_normal);
        add_up(mul_up(by_link, divisor), add_up(rounded, flushed))
    }
}

/// The base scores and what the trees add to them, in the order of the trees.
fn plain_sums<T: Copy + std::ops::AddAssign>(
    trees: &IntegerTrees,
    inputs: &[i64],
    number: impl Fn(i128) -> T,
) -> Vec<T> {
    let mut sums: Vec<T> = trees.base().iter().map(|&base| number(base)).collect();
    for tree in trees.trees() {
        for &LeafValue { output, value } in tree.leaf(inputs) {
            sums[output] += number(value);
        }
    }
    sums
}

/// The terms of a sum, in units of the ensemble.
#[derive(Clone, Copy, Default)]
struct Terms {
    /// Those that are not 0.
    count: u32,
    /// The sum of their magnitudes.
    total: u128,
    /// Their magnitudes joined bit by bit: its lowest bit is the power of two that divides them all.
    bits: u128,
}

impl Terms {
    fn of(value: i128) -> Self {
        let size = value.unsigned_abs();
        Self { count: u32::from(size > 0), total: size, bits: size }
    }

    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        self.bits |= other.bits;
    }

    /// For each output what any leaf of a tree adds at most.
    fn of_any_leaf(tree: &IntegerTree, outputs: usize) -> Vec<Self> {
        let mut all = vec![Self::default(); outputs];
        for &LeafValue { output, value } in tree.leaves().flatten() {
            let (terms, leaf) = (&mut all[output], Self::of(value));
            *terms = Self {
                count: terms.count.max(leaf.count),
                total: terms.total.max(leaf.total),
                bits: terms.bits | leaf.bits,
            };
        }
        all
    }

    /// An upper bound of the sum of the magnitudes.
    fn magnitude(&self, unit: &Rational) -> f64 {
        (&Rational::from(IBig::from(self.total)) * unit).to_f64_interval().1
    }

    /// Returns whether every sum of them is exact in every order.
    fn is_countable(&self, unit: &Rational, format: &Format) -> bool {
        if self.bits == 0 {
            return true;
        }
        let zeros = self.bits.trailing_zeros();
        let unit = policert_numeric::dyadic_parts(unit.to_f64());
        let exponent = unit.map(|(_, exponent)| i64::from(exponent) + i64::from(zeros));
        exponent.is_some_and(|exponent| exponent >= format.least_exponent)
            && (self.total >> zeros) <= 1 << format.bits
    }
}

#[cfg(test)]
mod tests;
