//! Rationals against the big fractions they abbreviate.
#![expect(clippy::float_cmp, reason = "doubles are compared bit for bit")]

use std::collections::BTreeSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use dashu::base::Abs;
use proptest::prelude::*;

use super::*;

fn small(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("denominator is not 0")
}

/// Numbers of every size: machine integers, the edges of the fast path, and big fractions.
fn any_rational() -> impl Strategy<Value = Rational> {
    let edge = prop_oneof![
        -20i64..20,
        any::<i64>(),
        Just(i64::MIN),
        Just(i64::MAX),
        Just(i64::MIN + 1),
        (0u32..63).prop_map(|k| 1i64 << k),
    ];
    let fraction = (edge.clone(), edge).prop_filter_map("0", |(num, den)| Rational::new(num, den));
    let big = (any::<i128>(), any::<u128>())
        .prop_filter_map("0", |(num, den)| Rational::from_parts(IBig::from(num), UBig::from(den)));
    prop_oneof![4 => fraction, 1 => big]
}

/// Checks the canonical form and gives the value as a big fraction.
fn reference(value: &Rational) -> RBig {
    let (num, den) = value.to_parts();
    let big = RBig::from_parts(num.clone(), den.clone());
    assert_eq!((big.numerator(), big.denominator()), (&num, &den), "reduced");
    let fits = i64::try_from(&num).is_ok() && u64::try_from(&den).is_ok();
    assert_eq!(fits, matches!(value.0, Repr::Small { .. }), "canonical");
    big
}

fn hash(value: &Rational) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

proptest! {
    #[test]
    fn arithmetic_agrees_with_big_fractions(a in any_rational(), b in any_rational()) {
        let (x, y) = (reference(&a), reference(&b));
        prop_assert_eq!(reference(&(&a + &b)), &x + &y);
        prop_assert_eq!(reference(&(&a - &b)), &x - &y);
        prop_assert_eq!(reference(&(&a * &b)), &x * &y);
        prop_assert_eq!(reference(&-&a), -x.clone());
        prop_assert_eq!(reference(&a.abs()), x.clone().abs());
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!(a == b, x == y);
        if b.is_zero() {
            prop_assert_eq!(a.checked_div(&b), None);
            prop_assert_eq!(a.modulus(&b), None);
        } else {
            let quotient = a.checked_div(&b).expect("not 0");
            prop_assert_eq!(reference(&quotient), &x / &y);
            let modulus = a.modulus(&b).expect("not 0");
            prop_assert!(modulus.signum() >= 0 && modulus < b.abs());
            prop_assert!((&a - &modulus).checked_div(&b).expect("not 0").is_integer());
        }
    }

    #[test]
    fn sums_undo(a in any_rational(), b in any_rational()) {
        let back = (&a + &b) - &b;
        prop_assert_eq!(&back, &a);
        prop_assert_eq!(hash(&back), hash(&a));
    }

    #[test]
    fn rounding_to_integers(a in any_rational()) {
        let big = reference(&a);
        prop_assert_eq!(a.floor(), Rational::from(big.floor()));
        prop_assert_eq!(a.ceil(), Rational::from(big.ceil()));
        prop_assert_eq!(a.trunc(), Rational::from(big.trunc()));
        prop_assert_eq!(a.is_integer(), a.floor() == a);
        reference(&a.floor());
    }

    #[test]
    fn powers(a in any_rational(), k in -6i32..7) {
        if a.is_zero() && k < 0 {
            prop_assert_eq!(a.pow(k), None);
        } else {
            prop_assert_eq!(reference(&a.pow(k).expect("defined")), reference(&a).pow(k as isize));
        }
    }

    #[test]
    fn doubles_are_exact(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        match Rational::from_f64(value) {
            None => prop_assert!(!value.is_finite()),
            Some(exact) => {
                reference(&exact);
                prop_assert_eq!(RBig::try_from(value).expect("finite"), reference(&exact));
                prop_assert_eq!(exact.to_f64(), value);
                prop_assert_eq!(exact.to_f64_interval(), (value, value));
            }
        }
    }

    #[test]
    fn nearest_double(a in any_rational(), scale in -1100i32..1100) {
        let two = Rational::integer(2);
        let a = &a * &two.pow(scale).expect("defined");
        let (lo, hi) = a.to_f64_interval();
        prop_assert!(lo <= hi && (lo == hi || lo.next_up() == hi));
        if let Some(lo) = Rational::from_f64(lo) { prop_assert!(lo <= a); }
        if let Some(hi) = Rational::from_f64(hi) { prop_assert!(a <= hi); }
        prop_assert_eq!(lo == hi, Rational::from_f64(lo).as_ref() == Some(&a));
        let near = a.to_f64();
        prop_assert!(near == lo || near == hi);
        if let (Some(l), Some(h)) = (Rational::from_f64(lo), Rational::from_f64(hi)) {
            let near = Rational::from_f64(near).expect("finite");
            let other = if near == l { h } else { l };
            prop_assert!((&near - &a).abs() <= (&other - &a).abs());
        }
    }

    #[test]
    fn text_round_trip(a in any_rational()) {
        prop_assert_eq!(a.to_string().parse::<Rational>(), Ok(a));
    }

    #[test]
    fn decimals(whole in any::<i64>(), fraction in "[0-9]{0,30}", exponent in -40i32..40) {
        let text = format!("{whole}.{fraction}e{exponent}");
        let expected = RBig::from_str_radix(&format!("{whole}{fraction}"), 10).expect("digits")
            * RBig::from(10).pow(exponent as isize - fraction.len() as isize);
        prop_assert_eq!(reference(&Rational::parse_decimal(&text).expect("a number")), expected);
    }
}

#[test]
fn decimal_text_that_is_accepted() {
    let cases = [
        ("0", 0, 1),
        ("-0", 0, 1),
        ("-1.5e-3", -3, 2000),
        ("+2", 2, 1),
        (".5", 1, 2),
        ("5.", 5, 1),
        ("007", 7, 1),
        ("1E2", 100, 1),
        ("1e+2", 100, 1),
        ("0.1", 1, 10),
        ("12.50", 25, 2),
        ("1e0000000000000000000000000002", 100, 1),
    ];
    for (text, num, den) in cases {
        assert_eq!(Rational::parse_decimal(text), Some(small(num, den)), "{text}");
    }
    assert!(Rational::parse_decimal("1e10000").is_some());
}

#[test]
fn decimal_text_that_is_refused() {
    for text in [
        "",
        "-",
        "+",
        ".",
        "e",
        "1e",
        "1e+",
        "e5",
        "nan",
        "inf",
        "1e10001",
        "1e-10001",
        " 1",
        "1 ",
        "1_000",
        "0x10",
        "1.2.3",
        "--1",
        "+-1",
        "1/2",
        "１",
        "1e99999999999999999999",
        "é",
        "-é",
    ] {
        assert_eq!(Rational::parse_decimal(text), None, "{text:?}");
    }
    assert!(Rational::parse_decimal(&"1".repeat(MAX_LENGTH + 1)).is_none());
}

const MAX_LENGTH: usize = 100_000;

#[test]
fn signs_and_edges() {
    let least = Rational::integer(i64::MIN);
    assert_eq!((-&least).to_string(), "9223372036854775808");
    assert_eq!(-(-&least), least);
    assert_eq!(Rational::new(i64::MIN, i64::MIN), Some(Rational::ONE));
    assert_eq!(Rational::new(1, i64::MIN).map(|x| x.signum()), Some(-1));
    assert_eq!(Rational::new(3, 0), None);
    assert_eq!(small(-7, 3).modulus(&Rational::integer(-2)), Some(small(5, 3)));
    assert_eq!(Rational::integer(-7).modulus(&Rational::integer(3)), Some(Rational::integer(2)));
    assert_eq!(least.modulus(&Rational::integer(-1)), Some(Rational::ZERO));
    assert_eq!(Rational::integer(2).pow(i32::MAX), None);
    assert_eq!(Rational::integer(-1).pow(i32::MAX), Some(Rational::integer(-1)));
    assert_eq!(Rational::from_f64(f64::NAN), None);
    assert_eq!(Rational::from_f64(f64::NEG_INFINITY), None);
    assert_eq!(Rational::from_f32(0.1), Some(small(13_421_773, 134_217_728)));
    let huge = Rational::integer(10).pow(400).expect("defined");
    assert_eq!(huge.to_f64_interval(), (f64::MAX, f64::INFINITY));
    assert_eq!((-huge).to_f64_interval(), (f64::NEG_INFINITY, -f64::MAX));
    let sorted: BTreeSet<_> = [small(1, 2), small(1, 3), small(-1, 2), small(2, 4)].into();
    assert_eq!(format!("{sorted:?}"), "{-1/2, 1/3, 1/2}");
    assert_eq!(size_of::<Rational>(), 16);
}
