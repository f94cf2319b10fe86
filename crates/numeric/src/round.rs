//! Directed rounding and rounding-error bounds for double-precision arithmetic.
//!
//! The floating-point unit always rounds to nearest; a bound in one direction is the next double
//! in that direction wherever the nearest one may lie on the wrong side. Upper bounds that are
//! not defined (NaN) become +∞ and lower bounds −∞, so a bound never claims anything false.
//!
//! The a-priori bounds are the usual ones for sums and dot products in any order, with or without
//! fused multiply-adds (Higham, *Accuracy and Stability of Numerical Algorithms*, chapter 3),
//! with a term for underflow.

/// Half the distance from 1 to the next double, 2⁻⁵³: the relative error of one operation.
pub const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The smallest positive double, 2⁻¹⁰⁷⁴. A product or quotient that underflows is off by at most
/// half of it; sums and differences do not underflow.
pub const LEAST_POSITIVE: f64 = f64::from_bits(1);

/// The next double above; from −∞ that is the least finite one.
#[inline]
fn above(value: f64) -> f64 {
    at_most(value.next_up())
}

/// The next double below.
#[inline]
fn below(value: f64) -> f64 {
    at_least(value.next_down())
}

/// A little more than u, so that the product with a number is more than half of the distance to its
/// neighbours.
const MORE_THAN_U: f64 = f64::from_bits(0x3ca0_0000_0000_0001);

/// A double above a finite one, by at most two steps; +∞ beyond the largest. Without branches.
///
/// |x|·[`MORE_THAN_U`] is more than half of the distance to the next double, also after it was
/// rounded; where it underflows, the least positive double makes up for what is lost. So the
/// rounded sum is at least that double.
#[inline]
pub(crate) fn step_up(value: f64) -> f64 {
    value + (value.abs() * MORE_THAN_U + LEAST_POSITIVE)
}

/// A double below a finite one, by at most two steps.
#[inline]
pub(crate) fn step_down(value: f64) -> f64 {
    value - (value.abs() * MORE_THAN_U + LEAST_POSITIVE)
}

/// [`step_up`] unless `is_bound`, without branches.
#[inline]
pub(crate) fn step_up_unless(is_bound: bool, value: f64) -> f64 {
    value + (value.abs() * MORE_THAN_U + LEAST_POSITIVE) * f64::from(u8::from(!is_bound))
}

/// [`step_down`] unless `is_bound`, without branches.
#[inline]
pub(crate) fn step_down_unless(is_bound: bool, value: f64) -> f64 {
    value - (value.abs() * MORE_THAN_U + LEAST_POSITIVE) * f64::from(u8::from(!is_bound))
}

/// An upper bound that is no number becomes +∞.
#[inline]
#[must_use]
pub fn at_most(upper: f64) -> f64 {
    if upper.is_nan() { f64::INFINITY } else { upper }
}

/// A lower bound that is no number becomes −∞.
#[inline]
#[must_use]
pub fn at_least(lower: f64) -> f64 {
    if lower.is_nan() { f64::NEG_INFINITY } else { lower }
}

/// The error `a + b - fl(a + b)`, exact unless something overflows (Knuth's two-sum).
#[inline]
pub(crate) fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let b_part = sum - a;
    let a_part = sum - b_part;
    (a - a_part) + (b - b_part)
}

/// Upper bound of `a + b`, the sum itself where it is exact.
#[inline]
#[must_use]
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // An overflow, also of an intermediate value, makes the error infinite or NaN.
    if (-f64::MAX..=0.0).contains(&sum_error(a, b, sum)) { sum } else { above(sum) }
}

/// Lower bound of `a + b`, the sum itself where it is exact.
#[inline]
#[must_use]
pub fn add_down(a: f64, b: f64) -> f64 {
    -add_up(-a, -b)
}

/// Upper bound of `a - b`.
#[inline]
#[must_use]
pub fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// Lower bound of `a - b`.
#[inline]
#[must_use]
pub fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// Upper bound of `a * b`. A factor 0 gives 0, whatever the other one: an infinite bound stands
/// for finite numbers of any size.
#[inline]
#[must_use]
pub fn mul_up(a: f64, b: f64) -> f64 {
    if is_zero(a) || is_zero(b) { 0.0 } else { above(a * b) }
}

/// Lower bound of `a * b`; 0 as in [`mul_up`].
#[inline]
#[must_use]
pub fn mul_down(a: f64, b: f64) -> f64 {
    if is_zero(a) || is_zero(b) { 0.0 } else { below(a * b) }
}

/// Upper bound of `a / b`; +∞ for `b = 0`.
#[inline]
#[must_use]
pub fn div_up(a: f64, b: f64) -> f64 {
    if is_zero(b) {
        f64::INFINITY
    } else if is_zero(a) {
        0.0
    } else {
        above(a / b)
    }
}

/// Lower bound of `a / b`; −∞ for `b = 0`.
#[inline]
#[must_use]
pub fn div_down(a: f64, b: f64) -> f64 {
    -div_up(-a, b)
}

#[inline]
fn is_zero(value: f64) -> bool {
    value == 0.0
}

/// Upper bound of γₙ = n·u / (1 − n·u), the relative error of `n` successive roundings; +∞ where
/// it is not defined.
#[must_use]
pub fn gamma(n: usize) -> f64 {
    let Ok(n) = u32::try_from(n) else { return f64::INFINITY };
    // Exact: n has 32 bits and u is a power of two; so 1 - n·u is exact as well.
    let nu = f64::from(n) * UNIT_ROUNDOFF;
    div_up(nu, 1.0 - nu)
}

/// Bound of the error of a dot product of `terms` products (an added constant counts as one more
/// term), given an upper bound of the sum of the magnitudes of all terms: in any order of
/// summation, with or without fused multiply-adds, and with underflow.
///
/// The bound is infinite where the computation might overflow.
#[must_use]
pub fn dot_error(terms: usize, magnitude: f64) -> f64 {
    let relative = gamma(terms);
    let Ok(count) = u32::try_from(terms) else { return f64::INFINITY };
    // Each product may lose half of the least positive double, which later roundings may enlarge
    // by less than a factor of two.
    let underflow = f64::from(count) * LEAST_POSITIVE;
    let error = add_up(mul_up(relative, magnitude), underflow);
    // Partial sums are at most (1 + γ)·magnitude, so they stay finite.
    if magnitude < f64::MAX / 2.0 { error } else { f64::INFINITY }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Rational;

    fn exact(value: f64) -> Rational {
        Rational::from_f64(value).expect("finite")
    }

    fn is_below(lower: f64, value: &Rational) -> bool {
        lower == f64::NEG_INFINITY || (lower.is_finite() && exact(lower) <= *value)
    }

    fn is_above(upper: f64, value: &Rational) -> bool {
        upper == f64::INFINITY || (upper.is_finite() && exact(upper) >= *value)
    }

    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
            -100.0f64..100.0,
            (-50i32..50).prop_map(f64::from),
            Just(f64::MAX),
            Just(f64::from_bits(1)),
            Just(0.0),
            Just(-0.0),
        ]
    }

    proptest! {
        #[test]
        fn directed_operations_bound_the_exact_result(a in finite(), b in finite()) {
            let (x, y) = (exact(a), exact(b));
            let results = [
                (&x + &y, add_down(a, b), add_up(a, b)),
                (&x - &y, sub_down(a, b), sub_up(a, b)),
                (&x * &y, mul_down(a, b), mul_up(a, b)),
            ];
            for (value, lo, hi) in results {
                prop_assert!(is_below(lo, &value) && is_above(hi, &value), "{lo} {hi} {value}");
            }
            if let Some(quotient) = x.checked_div(&y) {
                prop_assert!(is_below(div_down(a, b), &quotient));
                prop_assert!(is_above(div_up(a, b), &quotient));
            }
        }

        #[test]
        fn steps_lead_outwards(a in finite()) {
            let (up, down) = (step_up(a), step_down(a));
            prop_assert!(up >= a.next_up() && up <= a.next_up().next_up(), "{a:?} {up:?}");
            prop_assert!(down <= a.next_down() && down >= a.next_down().next_down());
        }

        #[test]
        fn exact_sums_stay(a in -1_000_000i32..1_000_000, b in -1_000_000i32..1_000_000) {
            let (a, b) = (f64::from(a), f64::from(b));
            prop_assert_eq!((add_down(a, b), add_up(a, b)), (a + b, a + b));
        }

        #[test]
        fn dot_products_err_within_the_bound(
            terms in prop::collection::vec((finite(), finite()), 0..40),
        ) {
            let computed: f64 = terms.iter().map(|(a, b)| a * b).sum();
            let fused = terms.iter().fold(0.0f64, |sum, (a, b)| a.mul_add(*b, sum));
            let value: Rational = terms.iter().map(|(a, b)| exact(*a) * exact(*b)).sum();
            let magnitude = terms.iter().fold(0.0, |m, (a, b)| add_up(m, mul_up(a.abs(), b.abs())));
            let error = dot_error(terms.len(), magnitude);
            if error.is_finite() {
                prop_assert!((exact(computed) - &value).abs() <= exact(error));
                prop_assert!((exact(fused) - &value).abs() <= exact(error));
            }
        }
    }

    #[test]
    fn undefined_bounds_claim_nothing() {
        assert_eq!(add_up(f64::INFINITY, f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(add_down(f64::INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(add_up(-f64::MAX, -f64::MAX), -f64::MAX);
        assert_eq!(add_down(f64::MAX, f64::MAX), f64::MAX);
        assert_eq!(mul_up(0.0, f64::INFINITY), 0.0);
        assert_eq!(mul_down(f64::NAN, 1.0), f64::NEG_INFINITY);
        assert_eq!(div_up(1.0, 0.0), f64::INFINITY);
        assert_eq!(gamma(usize::MAX), f64::INFINITY);
        assert_eq!(dot_error(3, f64::INFINITY), f64::INFINITY);
        assert_eq!(dot_error(3, f64::NAN), f64::INFINITY);
    }

    #[test]
    fn steps_from_powers_of_two() {
        for exponent in 0..2046u64 {
            for mantissa in [0, 1, (1 << 52) - 1, 1 << 51] {
                for sign in [0, 1 << 63] {
                    let a = f64::from_bits(sign | exponent << 52 | mantissa);
                    assert!(step_up(a) >= a.next_up() && step_down(a) <= a.next_down(), "{a:?}");
                }
            }
        }
    }

    #[test]
    fn gamma_is_tight() {
        let n = 33;
        let u = exact(UNIT_ROUNDOFF);
        let nu = Rational::from(33) * u;
        let value = nu.checked_div(&(Rational::ONE - &nu)).expect("not 0");
        let bound = exact(gamma(n));
        assert!(bound >= value);
        assert!(bound < value * Rational::new(1_000_001, 1_000_000).expect("not 0"));
    }
}
