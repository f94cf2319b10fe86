//! Sums, products and order of rationals.
//!
//! The fast path follows the usual reduction by partial divisors (Knuth, TAOCP 2, 4.5.1), so that
//! only 64-bit divisors are ever computed.

use std::cmp::Ordering;
use std::iter::Sum;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Rational, Repr, UNIT, divide, gcd};

impl Rational {
    #[inline]
    fn plus(&self, other: &Self) -> Self {
        match self.integers(other).and_then(|(a, c)| a.checked_add(c)) {
            Some(sum) => Self::integer(sum),
            None => self.general_sum(other),
        }
    }

    #[inline]
    fn minus(&self, other: &Self) -> Self {
        match self.integers(other).and_then(|(a, c)| a.checked_sub(c)) {
            Some(difference) => Self::integer(difference),
            None => self.general_sum(&other.negated()),
        }
    }

    #[inline]
    fn times(&self, other: &Self) -> Self {
        match self.integers(other).and_then(|(a, c)| a.checked_mul(c)) {
            Some(product) => Self::integer(product),
            None => self.general_product(other),
        }
    }

    #[inline]
    fn negated(&self) -> Self {
        match &self.0 {
            Repr::Small { num, den } => match num.checked_neg() {
                Some(num) => Rational(Repr::Small { num, den: *den }),
                None => Self::from_reduced(-i128::from(*num), *den),
            },
            Repr::Big(big) => Self::from_big(-(**big).clone()),
        }
    }

    /// Both values if both are machine integers.
    #[inline]
    fn integers(&self, other: &Self) -> Option<(i64, i64)> {
        match (&self.0, &other.0) {
            (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d })
                if *b == UNIT && *d == UNIT =>
            {
                Some((*a, *c))
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn general_sum(&self, other: &Self) -> Self {
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) =
            (&self.0, &other.0)
            && let Some(sum) = small_sum(*a, *b, *c, *d)
        {
            return sum;
        }
        Self::from_big(self.to_big() + other.to_big())
    }

    #[inline(never)]
    fn general_product(&self, other: &Self) -> Self {
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) =
            (&self.0, &other.0)
            && let Some(product) = small_product(*a, *b, *c, *d)
        {
            return product;
        }
        Self::from_big(self.to_big() * other.to_big())
    }
}

impl Rational {
    #[inline(never)]
    fn general_cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) => {
                // |i64| * u64 stays below 2^127.
                let left = i128::from(*a) * i128::from(d.get());
                let right = i128::from(*c) * i128::from(b.get());
                left.cmp(&right)
            }
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

/// `a/b + c/d`, or `None` if an intermediate value leaves 128 bits or the result's denominator
/// leaves 64.
fn small_sum(a: i64, b: NonZeroU64, c: i64, d: NonZeroU64) -> Option<Rational> {
    let common = gcd(b.get(), d);
    let (b_rest, d_rest) = (divide(b, common), divide(d, common));
    let left = i128::from(a) * i128::from(d_rest.get());
    let right = i128::from(c) * i128::from(b_rest.get());
    let num = left.checked_add(right)?;
    if common == UNIT {
        return Some(Rational::from_reduced(num, b_rest.checked_mul(d)?));
    }
    // Only divisors of `common` can divide the numerator as well.
    let rest = num.unsigned_abs() % u128::from(common.get());
    let divisor = gcd(u64::try_from(rest).ok()?, common);
    let den = b_rest.checked_mul(divide(d, divisor))?;
    Some(Rational::from_reduced(num / i128::from(divisor.get()), den))
}

/// `(a/b) * (c/d)`, or `None` if the result's denominator leaves 64 bits.
fn small_product(a: i64, b: NonZeroU64, c: i64, d: NonZeroU64) -> Option<Rational> {
    let first = gcd(a.unsigned_abs(), d);
    let second = gcd(c.unsigned_abs(), b);
    let left = i128::from(a) / i128::from(first.get());
    let right = i128::from(c) / i128::from(second.get());
    let den = divide(b, second).checked_mul(divide(d, first))?;
    Some(Rational::from_reduced(left * right, den))
}

impl Ord for Rational {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) if b == d => a.cmp(c),
            _ => self.general_cmp(other),
        }
    }
}

impl PartialOrd for Rational {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Implements one operator for all four combinations of values and references.
macro_rules! operator {
    ($trait:ident, $method:ident, $assign_trait:ident, $assign_method:ident, $by:ident) => {
        impl $trait<&Rational> for &Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: &Rational) -> Rational {
                self.$by(other)
            }
        }
        impl $trait<Rational> for &Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: Rational) -> Rational {
                self.$by(&other)
            }
        }
        impl $trait<&Rational> for Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: &Rational) -> Rational {
                self.$by(other)
            }
        }
        impl $trait<Rational> for Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: Rational) -> Rational {
                self.$by(&other)
            }
        }
        impl $assign_trait<&Rational> for Rational {
            #[inline]
            fn $assign_method(&mut self, other: &Rational) {
                *self = self.$by(other);
            }
        }
        impl $assign_trait<Rational> for Rational {
            #[inline]
            fn $assign_method(&mut self, other: Rational) {
                *self = self.$by(&other);
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign, plus);
operator!(Sub, sub, SubAssign, sub_assign, minus);
operator!(Mul, mul, MulAssign, mul_assign, times);

impl Neg for &Rational {
    type Output = Rational;
    #[inline]
    fn neg(self) -> Rational {
        self.negated()
    }
}

impl Neg for Rational {
    type Output = Rational;
    #[inline]
    fn neg(self) -> Rational {
        self.negated()
    }
}

impl Sum for Rational {
    fn sum<I: Iterator<Item = Rational>>(terms: I) -> Rational {
        terms.fold(Rational::ZERO, |sum, term| sum + term)
    }
}

impl<'a> Sum<&'a Rational> for Rational {
    fn sum<I: Iterator<Item = &'a Rational>>(terms: I) -> Rational {
        terms.fold(Rational::ZERO, |sum, term| sum + term)
    }
}
