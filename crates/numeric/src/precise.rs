//! Enclosures of real numbers at any precision.
//!
//! An enclosure is an interval of fixed-point numbers with a chosen number of fractional bits;
//! every operation rounds outwards in the last bit. The exponential functions are in
//! `precise/exponential.rs`, the error function in `precise/erf.rs`, square root and logarithm in
//! `precise/root.rs`, sine and cosine in `precise/circle.rs`.

mod circle;
mod erf;
mod exponential;
mod root;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use dashu::base::{BitTest, DivEuclid};
use dashu::integer::{IBig, UBig};

use crate::dyadic::dyadic_parts;
use crate::interval::Interval;
use crate::rational::Rational;

/// A real number that lies between `lo · 2⁻ᵇ` and `hi · 2⁻ᵇ`, where b is the number of fractional
/// bits.
///
/// Operands of different precision are brought to the higher one. Zero and integers are exact.
#[derive(Clone, PartialEq, Eq)]
pub struct Enclosure {
    /// Invariant: `lo <= hi`.
    lo: IBig,
    hi: IBig,
    bits: usize,
}

impl Enclosure {
    /// An integer, exactly.
    #[must_use]
    pub fn integer(value: i64, bits: usize) -> Self {
        Self::exactly(IBig::from(value) << bits, bits)
    }

    /// The tightest enclosure of a rational.
    #[must_use]
    pub fn of(value: &Rational, bits: usize) -> Self {
        let (num, den) = value.to_parts();
        let (num, den) = (num << bits, IBig::from(den));
        Enclosure { lo: floor_div(&num, &den), hi: ceil_div(&num, &den), bits }
    }

    /// The tightest enclosure of a double; `None` for NaN and infinities.
    #[must_use]
    pub fn of_f64(value: f64, bits: usize) -> Option<Self> {
        Some(Self::of(&Rational::from_f64(value)?, bits))
    }

    /// The tightest enclosure of all numbers of an interval; `None` if it has no bounds.
    #[must_use]
    pub fn of_interval(range: Interval, bits: usize) -> Option<Self> {
        Some(Self::of_f64(range.lo(), bits)?.hull(&Self::of_f64(range.hi(), bits)?))
    }

    /// Everything between two enclosures' outer bounds.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Enclosure { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi), bits: a.bits }
    }

    /// The same number at another precision; outwards where bits are lost.
    #[must_use]
    pub fn with_bits(&self, bits: usize) -> Self {
        if bits >= self.bits {
            let shift = bits - self.bits;
            return Enclosure { lo: &self.lo << shift, hi: &self.hi << shift, bits };
        }
        let shift = self.bits - bits;
        Enclosure { lo: floor_shift(&self.lo, shift), hi: ceil_shift(&self.hi, shift), bits }
    }

    /// Number of fractional bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns whether all numbers inside are below 2 to this power in magnitude.
    #[must_use]
    pub fn is_below_power_of_two(&self, exponent: usize) -> bool {
        self.lo.bit_len().max(self.hi.bit_len()) <= self.bits + exponent
    }

    /// The lower bound.
    #[must_use]
    pub fn lower(&self) -> Rational {
        self.bound(&self.lo)
    }

    /// The upper bound.
    #[must_use]
    pub fn upper(&self) -> Rational {
        self.bound(&self.hi)
    }

    fn bound(&self, bound: &IBig) -> Rational {
        // The denominator is a power of two, so there is always a value.
        Rational::from_parts(bound.clone(), UBig::ONE << self.bits).unwrap_or_default()
    }

    /// The enclosure in double precision.
    #[must_use]
    pub fn to_interval(&self) -> Interval {
        Interval::enclosing(&self.lower()).hull(Interval::enclosing(&self.upper()))
    }

    /// Returns whether an exact number lies inside.
    #[must_use]
    pub fn contains(&self, value: &Rational) -> bool {
        self.lower() <= *value && *value <= self.upper()
    }

    /// Returns how the number compares with 0; `None` if the enclosure does not tell.
    #[must_use]
    pub fn sign(&self) -> Option<Ordering> {
        if self.lo > IBig::ZERO {
            Some(Ordering::Greater)
        } else if self.hi < IBig::ZERO {
            Some(Ordering::Less)
        } else if self.lo.is_zero() && self.hi.is_zero() {
            Some(Ordering::Equal)
        } else {
            None
        }
    }

    /// The quotient; `None` if the divisor may be 0.
    #[must_use]
    pub fn checked_div(&self, divisor: &Self) -> Option<Self> {
        let (a, b) = aligned(self, divisor);
        let b = match b.sign()? {
            Ordering::Equal => return None,
            Ordering::Greater => b,
            Ordering::Less => return (-&a).checked_div(&-&b),
        };
        let (lo, hi) = (a.lo << a.bits, a.hi << a.bits);
        let low_divisor = if lo < IBig::ZERO { &b.lo } else { &b.hi };
        let high_divisor = if hi < IBig::ZERO { &b.hi } else { &b.lo };
        let (lo, hi) = (floor_div(&lo, low_divisor), ceil_div(&hi, high_divisor));
        Some(Enclosure { lo, hi, bits: a.bits })
    }

    /// The quotient by a positive integer; that by 0 is that by 1.
    #[must_use]
    pub fn part(&self, count: u32) -> Self {
        let count = IBig::from(count.max(1));
        let (lo, hi) = (floor_div(&self.lo, &count), ceil_div(&self.hi, &count));
        Enclosure { lo, hi, bits: self.bits }
    }

    /// The product with `mantissa · 2^exponent`.
    #[must_use]
    pub fn times_dyadic(&self, mantissa: i64, exponent: i32) -> Self {
        let (lo, hi) = (&self.lo * mantissa, &self.hi * mantissa);
        let (lo, hi) = if mantissa < 0 { (hi, lo) } else { (lo, hi) };
        let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
        let (lo, hi) = if exponent >= 0 {
            (lo << shift, hi << shift)
        } else {
            (floor_shift(&lo, shift), ceil_shift(&hi, shift))
        };
        Enclosure { lo, hi, bits: self.bits }
    }

    /// The product with a finite double; 0 for any other.
    #[must_use]
    pub fn times_f64(&self, factor: f64) -> Self {
        let (mantissa, exponent) = dyadic_parts(factor).unwrap_or_default();
        self.times_dyadic(mantissa, exponent)
    }

    /// The larger of two numbers.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Enclosure { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi), bits: a.bits }
    }

    /// The smaller of two numbers.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Enclosure { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi), bits: a.bits }
    }

    /// max(x, 0).
    #[must_use]
    pub fn relu(&self) -> Self {
        self.max(&Self::integer(0, self.bits))
    }

    fn exactly(value: IBig, bits: usize) -> Self {
        Enclosure { lo: value.clone(), hi: value, bits }
    }
}

/// Both at the higher of the two precisions.
fn aligned(a: &Enclosure, b: &Enclosure) -> (Enclosure, Enclosure) {
    let bits = a.bits.max(b.bits);
    (a.with_bits(bits), b.with_bits(bits))
}

impl Add for &Enclosure {
    type Output = Enclosure;
    fn add(self, other: &Enclosure) -> Enclosure {
        if self.bits == other.bits {
            let (lo, hi) = (&self.lo + &other.lo, &self.hi + &other.hi);
            return Enclosure { lo, hi, bits: self.bits };
        }
        let (a, b) = aligned(self, other);
        Enclosure { lo: a.lo + b.lo, hi: a.hi + b.hi, bits: a.bits }
    }
}

impl Sub for &Enclosure {
    type Output = Enclosure;
    fn sub(self, other: &Enclosure) -> Enclosure {
        self + &-other
    }
}

impl Neg for &Enclosure {
    type Output = Enclosure;
    fn neg(self) -> Enclosure {
        Enclosure { lo: -&self.hi, hi: -&self.lo, bits: self.bits }
    }
}

impl Mul for &Enclosure {
    type Output = Enclosure;
    fn mul(self, other: &Enclosure) -> Enclosure {
        if self.bits != other.bits {
            let (a, b) = aligned(self, other);
            return &a * &b;
        }
        let (a, b) = (self, other);
        let corners = [&a.lo * &b.lo, &a.lo * &b.hi, &a.hi * &b.lo, &a.hi * &b.hi];
        let [first, rest @ ..] = corners;
        let (lo, hi) = rest.into_iter().fold((first.clone(), first), |(lo, hi), corner| {
            (lo.min(corner.clone()), hi.max(corner))
        });
        Enclosure { lo: floor_shift(&lo, a.bits), hi: ceil_shift(&hi, a.bits), bits: a.bits }
    }
}

impl fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({} bits)", self.to_interval(), self.bits)
    }
}

/// ⌊a / 2ⁿ⌋.
fn floor_shift(a: &IBig, n: usize) -> IBig {
    // Right shifts of negative numbers round down.
    a >> n
}

/// ⌈a / 2ⁿ⌉.
fn ceil_shift(a: &IBig, n: usize) -> IBig {
    -floor_shift(&-a, n)
}

/// ⌊a / b⌋ for b > 0.
fn floor_div(a: &IBig, b: &IBig) -> IBig {
    a.div_euclid(b)
}

/// ⌈a / b⌉ for b > 0.
fn ceil_div(a: &IBig, b: &IBig) -> IBig {
    -floor_div(&-a, b)
}
