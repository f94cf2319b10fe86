//! Elementary functions against enclosures of 240 bits at random points. `SLOW_TESTS=1` takes
//! more of them.

use super::*;
use crate::{Enclosure, Interval, Rational};

const BITS: usize = 240;

fn points() -> u32 {
    if policert_testkit::slow_tests() { 120_000 } else { 2_500 }
}

/// Deterministic random numbers (xorshift).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Of any order of magnitude from 2⁻⁴⁰ to 2^`top`, either sign.
    fn number(&mut self, top: i32) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "any number will do")]
        let fraction = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let exponents = u64::from((top + 40).unsigned_abs());
        let exponent = i32::try_from(self.bits() % exponents).expect("small") - 40;
        let sign = if self.bits() & 1 == 1 { 1.0 } else { -1.0 };
        sign * (1.0 + fraction) * power_of_two(exponent).expect("normal")
    }
}

/// π by Machin's formula.
fn pi() -> Enclosure {
    let bits = BITS + 60;
    let arctan_inverse = |n: i64| {
        let n2 = Enclosure::integer(n * n, bits);
        let mut power =
            Enclosure::integer(1, bits).checked_div(&Enclosure::integer(n, bits)).expect("not 0");
        let mut sum = Enclosure::integer(0, bits);
        for k in 0..140i64 {
            let term = power.checked_div(&Enclosure::integer(2 * k + 1, bits)).expect("not 0");
            sum = if k % 2 == 0 { &sum + &term } else { &sum - &term };
            power = power.checked_div(&n2).expect("not 0");
        }
        sum
    };
    let four = Enclosure::integer(4, bits);
    &four * &(&(&four * &arctan_inverse(5)) - &arctan_inverse(239))
}

/// sin and cos by Taylor's series of the number less a multiple of 2π, widened by 2⁻²²⁰ for what
/// both leave out.
fn sin_cos(x: f64, pi: &Enclosure) -> (Enclosure, Enclosure) {
    let bits = pi.bits();
    let x = Enclosure::of_f64(x, bits).expect("finite");
    let two_pi = pi + pi;
    let turns = x.checked_div(&two_pi).expect("not 0").lower().floor();
    let x = &x - &(&Enclosure::of(&turns, bits) * &two_pi);
    let mut term = Enclosure::integer(1, bits);
    let (mut sin, mut cos) = (Enclosure::integer(0, bits), Enclosure::integer(0, bits));
    for i in 0..90i64 {
        match i % 4 {
            0 => cos = &cos + &term,
            1 => sin = &sin + &term,
            2 => cos = &cos - &term,
            _ => sin = &sin - &term,
        }
        let next = Enclosure::integer(i + 1, bits);
        term = (&term * &x).checked_div(&next).expect("not 0");
    }
    let slack = Enclosure::integer(1, bits).times_dyadic(1, -220);
    let widen = |e: Enclosure| (&e - &slack).hull(&(&e + &slack));
    (widen(sin), widen(cos))
}

fn inside(value: &Enclosure, (lo, hi): (f64, f64), what: &str, x: f64) {
    let above = Rational::from_f64(lo).is_none_or(|lo| lo <= value.lower());
    let below = Rational::from_f64(hi).is_none_or(|hi| hi >= value.upper());
    assert!(above && below, "{what}({x:?}): {value:?} outside [{lo:?}, {hi:?}]");
}

#[test]
fn exponential_and_logarithm() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..points() {
        let x = random.number(10);
        let (lo, hi) = exp_bounds(x);
        if x > -140.0 {
            let value = Enclosure::of_f64(x, BITS + 200).and_then(|x| x.exp()).expect("small");
            if x < 709.0 {
                inside(&value, (lo, hi), "exp", x);
                assert!(hi <= lo * (1.0 + 1e-14), "exp({x:?}) is in [{lo:?}, {hi:?}]");
            }
        } else {
            assert!(lo >= 0.0 && hi > 0.0 && hi < 1e-60);
        }
        // e^log(x) = x.
        let x = random.number(60).abs();
        let (lo, hi) = log_bounds(x);
        let exact = Rational::from_f64(x).expect("finite");
        let exp_lo = Enclosure::of_f64(lo, BITS).and_then(|x| x.exp()).expect("small");
        let exp_hi = Enclosure::of_f64(hi, BITS).and_then(|x| x.exp()).expect("small");
        assert!(exp_lo.lower() <= exact && exp_hi.upper() >= exact, "log({x:?})");
        assert!(hi - lo <= 1e-14 * (1.0 + lo.abs()), "log({x:?}) is in [{lo:?}, {hi:?}]");
    }
}

#[test]
fn sine_and_cosine() {
    let pi = pi();
    assert!((pi.to_interval().midpoint() - std::f64::consts::PI).abs() < 1e-15);
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..points() {
        let x = random.number(19);
        let (sin, cos) = sin_cos(x, &pi);
        for (value, bounds, what) in [(&sin, sin_bounds(x), "sin"), (&cos, cos_bounds(x), "cos")] {
            inside(value, bounds, what, x);
            assert!(bounds.1 - bounds.0 < 5e-15, "{what}({x:?})");
        }
        let y = x + random.number(3).abs();
        let interval = Interval::new(x, y).expect("ordered");
        let inner = x + (y - x) * 0.3;
        let (sin, cos) = sin_cos(inner, &pi);
        let bounds = |i: Interval| (i.lo(), i.hi());
        inside(&sin, bounds(interval.sin()), "sin", inner);
        inside(&cos, bounds(interval.cos()), "cos", inner);
        if let (Some(tan), Some(value)) = (interval.tan(), sin.checked_div(&cos)) {
            inside(&value, bounds(tan), "tan", inner);
        }
    }
    assert_eq!(sin_bounds(1e9), (-1.0, 1.0));
    assert_eq!(cos_bounds(f64::NAN), (-1.0, 1.0));
}

#[test]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
fn turning_points() {
    let bounds = |lo, hi| Interval::new(lo, hi).expect("ordered");
    assert_eq!(bounds(1.5, 1.6).sin().hi(), 1.0);
    assert!(bounds(1.5, 1.6).sin().lo() > 0.99);
    assert_eq!(bounds(4.6, 4.8).sin().lo(), -1.0);
    assert_eq!(bounds(-0.1, 0.1).cos().hi(), 1.0);
    assert_eq!(bounds(3.0, 3.2).cos().lo(), -1.0);
    assert!(bounds(0.5, 1.0).cos().hi() < 0.9);
    assert!(bounds(1.5, 1.6).tan().is_none());
    assert!(bounds(-1.5, 1.5).tan().is_some());
    assert_eq!(Interval::EVERYTHING.sin(), bounds(-1.0, 1.0));
}

#[test]
fn roots_and_powers() {
    let mut random = Random(0x0bad_cafe_dead_beef);
    for _ in 0..points() {
        let x = random.number(60);
        let exact = Rational::from_f64(x).expect("finite");
        let (lo, hi) = sqrt_bounds(x.abs());
        let square = |x: f64| Rational::from_f64(x).expect("finite").pow(2).expect("small");
        assert!(square(lo) <= exact.abs() && square(hi) >= exact.abs(), "sqrt({x:?})");
        assert!(hi <= lo.next_up());
        let y = x + random.number(60).abs();
        let interval = Interval::new(x, y).expect("ordered");
        for exponent in [0, 1, 2, 3, 4, 5, 7, -1, -2, -3] {
            let Some(power) = interval.powi(exponent) else {
                assert!(exponent < 0 && interval.contains(0.0));
                continue;
            };
            for inner in [x, y, x / 2.0 + y / 2.0] {
                let value = Rational::from_f64(inner).and_then(|x| x.pow(exponent));
                assert!(power.contains_exact(&value.expect("not 0")), "{interval:?}^{exponent}");
            }
        }
        assert!(interval.square().contains_exact(&(&exact * &exact)));
        assert!(interval.square().lo() >= 0.0);
    }
    assert_eq!(sqrt_bounds(4.0), (2.0, 2.0));
    assert_eq!(sqrt_bounds(-1.0), (0.0, f64::INFINITY));
}
