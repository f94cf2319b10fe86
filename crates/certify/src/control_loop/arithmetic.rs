//! The kinds of numbers in which trajectories are followed.

use std::cmp::Ordering;

use policert_control_loop::{BoxEdge, ExpressionFunction};
use policert_numeric::{Enclosure, Interval, Rational};
use policert_policy::{Network, precise_scores_within};

use super::sets::LoopSide;

/// Numbers of more bits before the point than this, or exact ones of more bits, are given up.
const MOST_BITS: usize = 1 << 14;

/// A kind of numbers: ranges that contain what an operation gives for any numbers in its operands.
pub(super) trait Arithmetic {
    type Number: Clone + LoopSide;

    fn constant(&self, value: &Rational) -> Self::Number;

    /// A finite double.
    fn double(&self, value: f64) -> Option<Self::Number> {
        Rational::from_f64(value).map(|value| self.constant(&value))
    }

    /// All numbers of an interval; `None` if it is unbounded, or this kind has no ranges.
    fn enclosing(&self, range: Interval) -> Option<Self::Number>;

    fn neg(&self, a: &Self::Number) -> Self::Number;
    fn add(&self, a: &Self::Number, b: &Self::Number) -> Self::Number;
    fn mul(&self, a: &Self::Number, b: &Self::Number) -> Self::Number;
    fn div(&self, a: &Self::Number, b: &Self::Number) -> Option<Self::Number>;
    fn min(&self, a: &Self::Number, b: &Self::Number) -> Self::Number;
    fn max(&self, a: &Self::Number, b: &Self::Number) -> Self::Number;

    /// The quotient by a positive integer.
    fn part(&self, a: &Self::Number, count: u32) -> Self::Number;

    /// A function; not the tangent, which is a quotient. `None` if it has no value somewhere, or is not known.
    fn apply(&self, function: ExpressionFunction, a: &Self::Number) -> Option<Self::Number>;

    /// All numbers of both; `None` if that is no number of this kind.
    fn hull(&self, a: &Self::Number, b: &Self::Number) -> Option<Self::Number>;

    /// Returns whether a ≤ b (a < b if `strict`) holds for all numbers in them or for none.
    fn is_less(&self, strict: bool, a: &Self::Number, b: &Self::Number) -> Option<bool>;

    /// Returns whether a number is not too large to go on with.
    fn is_small(&self, a: &Self::Number) -> bool;

    /// The outputs of a network over the reals; `None` if they have no bounds.
    fn outputs(&self, network: &Network, inputs: &[Self::Number]) -> Option<Vec<Self::Number>>;

    fn sub(&self, a: &Self::Number, b: &Self::Number) -> Self::Number {
        self.add(a, &self.neg(b))
    }
}

/// Intervals of doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubles;

impl Arithmetic for Doubles {
    type Number = Interval;

    fn constant(&self, value: &Rational) -> Interval {
        Interval::enclosing(value)
    }

    fn enclosing(&self, range: Interval) -> Option<Interval> {
        Some(range)
    }

    fn neg(&self, a: &Interval) -> Interval {
        -*a
    }

    fn add(&self, a: &Interval, b: &Interval) -> Interval {
        *a + *b
    }

    fn mul(&self, a: &Interval, b: &Interval) -> Interval {
        *a * *b
    }

    fn div(&self, a: &Interval, b: &Interval) -> Option<Interval> {
        a.checked_div(*b)
    }

    fn min(&self, a: &Interval, b: &Interval) -> Interval {
        Interval::min(*a, *b)
    }

    fn max(&self, a: &Interval, b: &Interval) -> Interval {
        Interval::max(*a, *b)
    }

    fn part(&self, a: &Interval, count: u32) -> Interval {
        let count = Interval::point(f64::from(count.max(1)));
        a.checked_div(count).unwrap_or(Interval::EVERYTHING)
    }

    fn apply(&self, function: ExpressionFunction, a: &Interval) -> Option<Interval> {
        super::formulas::apply(function, *a)
    }

    fn hull(&self, a: &Interval, b: &Interval) -> Option<Interval> {
        Some(Interval::hull(*a, *b))
    }

    fn is_less(&self, strict: bool, a: &Interval, b: &Interval) -> Option<bool> {
        super::formulas::is_less(strict, *a, *b)
    }

    fn is_small(&self, a: &Interval) -> bool {
        a.magnitude().is_finite()
    }

    fn outputs(&self, _: &Network, _: &[Interval]) -> Option<Vec<Interval>> {
        None
    }
}

/// Enclosures with so many bits behind the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits(pub usize);

impl Arithmetic for Bits {
    type Number = Enclosure;

    fn constant(&self, value: &Rational) -> Enclosure {
        Enclosure::of(value, self.0)
    }

    fn enclosing(&self, range: Interval) -> Option<Enclosure> {
        Enclosure::of_interval(range, self.0)
    }

    fn neg(&self, a: &Enclosure) -> Enclosure {
        -a
    }

    fn add(&self, a: &Enclosure, b: &Enclosure) -> Enclosure {
        a + b
    }

    fn sub(&self, a: &Enclosure, b: &Enclosure) -> Enclosure {
        a - b
    }

    fn mul(&self, a: &Enclosure, b: &Enclosure) -> Enclosure {
        a * b
    }

    fn div(&self, a: &Enclosure, b: &Enclosure) -> Option<Enclosure> {
        a.checked_div(b)
    }

    fn min(&self, a: &Enclosure, b: &Enclosure) -> Enclosure {
        a.min(b)
    }

    fn max(&self, a: &Enclosure, b: &Enclosure) -> Enclosure {
        a.max(b)
    }

    fn part(&self, a: &Enclosure, count: u32) -> Enclosure {
        a.part(count)
    }

    fn apply(&self, function: ExpressionFunction, a: &Enclosure) -> Option<Enclosure> {
        Some(match function {
            ExpressionFunction::Sin => a.sin(),
            ExpressionFunction::Cos => a.cos(),
            ExpressionFunction::Tan => return None,
            ExpressionFunction::Exp => a.exp()?,
            ExpressionFunction::Log => a.log()?,
            ExpressionFunction::Sqrt => a.sqrt()?,
            ExpressionFunction::Tanh => a.tanh(),
            ExpressionFunction::Abs => a.max(&-a).relu(),
        })
    }

    fn hull(&self, a: &Enclosure, b: &Enclosure) -> Option<Enclosure> {
        Some(a.hull(b))
    }

    fn is_less(&self, strict: bool, a: &Enclosure, b: &Enclosure) -> Option<bool> {
        let difference = a - b;
        let (low, high) = (difference.lower().signum(), difference.upper().signum());
        let (always, never) = match strict {
            true => (high < 0, low >= 0),
            false => (high <= 0, low > 0),
        };
        (always || never).then_some(always)
    }

    fn is_small(&self, a: &Enclosure) -> bool {
        a.is_below_power_of_two(MOST_BITS)
    }

    fn outputs(&self, network: &Network, inputs: &[Enclosure]) -> Option<Vec<Enclosure>> {
        Some(precise_scores_within(network, inputs, self.0)?.scores().to_vec())
    }
}

/// Exact numbers, for what is computed without functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact;

impl Arithmetic for Exact {
    type Number = Rational;

    fn constant(&self, value: &Rational) -> Rational {
        value.clone()
    }

    fn enclosing(&self, _: Interval) -> Option<Rational> {
        None
    }

    fn neg(&self, a: &Rational) -> Rational {
        -a
    }

    fn add(&self, a: &Rational, b: &Rational) -> Rational {
        a + b
    }

    fn mul(&self, a: &Rational, b: &Rational) -> Rational {
        a * b
    }

    fn div(&self, a: &Rational, b: &Rational) -> Option<Rational> {
        a.checked_div(b)
    }

    fn min(&self, a: &Rational, b: &Rational) -> Rational {
        a.clone().min(b.clone())
    }

    fn max(&self, a: &Rational, b: &Rational) -> Rational {
        a.clone().max(b.clone())
    }

    fn part(&self, a: &Rational, count: u32) -> Rational {
        a.checked_div(&Rational::integer(i64::from(count.max(1)))).unwrap_or_default()
    }

    fn apply(&self, function: ExpressionFunction, a: &Rational) -> Option<Rational> {
        (function == ExpressionFunction::Abs).then(|| a.abs())
    }

    fn hull(&self, a: &Rational, b: &Rational) -> Option<Rational> {
        (a == b).then(|| a.clone())
    }

    fn is_less(&self, strict: bool, a: &Rational, b: &Rational) -> Option<bool> {
        Some(if strict { a < b } else { a <= b })
    }

    fn is_small(&self, a: &Rational) -> bool {
        usize::try_from(a.bit_len()).is_ok_and(|bits| bits <= MOST_BITS)
    }

    fn outputs(&self, _: &Network, _: &[Rational]) -> Option<Vec<Rational>> {
        None
    }
}

impl LoopSide for Enclosure {
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.lower().cmp(edge.exact())
    }

    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.upper().cmp(edge.exact())
    }

    fn outer(&self) -> Interval {
        self.to_interval()
    }
}

impl LoopSide for Rational {
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.cmp(edge.exact())
    }

    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.cmp(edge.exact())
    }

    fn outer(&self) -> Interval {
        Interval::enclosing(self)
    }
}
