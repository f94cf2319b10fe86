//! Enclosures contain the exact results and shrink with the precision.

use std::str::FromStr;

use dashu::float::FBig;
use dashu::float::round::mode::HalfEven;
use dashu::rational::RBig;
use proptest::prelude::*;

use super::*;

fn rational() -> impl Strategy<Value = Rational> {
    prop_oneof![
        (-1000i64..1000, 1i64..1000).prop_filter_map("0", |(n, d)| Rational::new(n, d)),
        (-1e12f64..1e12).prop_filter_map("finite", Rational::from_f64),
        (-1e-9f64..1e-9).prop_filter_map("finite", Rational::from_f64),
        (-30.0f64..30.0).prop_filter_map("finite", Rational::from_f64),
        Just(Rational::ZERO),
    ]
}

/// Width in units of the last bit.
fn ulps(x: &Enclosure) -> IBig {
    &x.hi - &x.lo
}

/// e^x by an independent implementation, correct to within 2⁻³⁰⁰ relative.
fn reference_exp(x: &Rational) -> Rational {
    let (num, den) = x.to_parts();
    let context = 420;
    let num = FBig::<HalfEven, 2>::from(num).with_precision(context).value();
    let den = FBig::<HalfEven, 2>::from(den).with_precision(context).value();
    let result = (num / den).exp();
    let exact = RBig::try_from(result).expect("finite");
    let (num, den) = exact.into_parts();
    Rational::from_parts(num, den).expect("not 0")
}

fn tolerance() -> Rational {
    Rational::integer(2).pow(-300).expect("defined")
}

/// Returns whether the enclosure meets the interval of `tolerance` around `value`.
fn near(x: &Enclosure, value: &Rational) -> bool {
    let slack = tolerance() * (value.abs() + Rational::ONE);
    x.lower() <= value + &slack && value - &slack <= x.upper()
}

proptest! {
    /// Against the same at far more bits, addition theorems, and double precision.
    #[test]
    fn sine_and_cosine(a in rational(), bits in 1usize..200, width in 0i64..3) {
        let x = Enclosure::of(&a, bits);
        let x = &x + &Enclosure::integer(0, bits).hull(&Enclosure::of(&Rational::new(width, 7).expect("defined"), bits));
        let (cos, sin) = x.on_the_circle();
        let (fine_cos, fine_sin) = Enclosure::of(&a, 400).on_the_circle();
        let tiny = Rational::integer(2).pow(-390).expect("defined");
        prop_assert!(&fine_cos.upper() - &fine_cos.lower() < tiny && fine_sin.upper() - fine_sin.lower() < tiny);
        for (coarse, fine, double) in [
            (&cos, &fine_cos, Interval::enclosing(&a).cos()),
            (&sin, &fine_sin, Interval::enclosing(&a).sin()),
        ] {
            prop_assert!(coarse.lower() <= fine.lower() && fine.upper() <= coarse.upper(), "{coarse:?}");
            prop_assert!(double.lo() <= fine.to_interval().hi() && fine.to_interval().lo() <= double.hi());
            let unit = Rational::integer(2).pow(2 - i32::try_from(bits).expect("few"));
            let spread = x.upper() - x.lower() + unit.expect("defined");
            prop_assert!(coarse.upper() - coarse.lower() <= spread, "{coarse:?}");
        }
        let one = &fine_cos.square() + &fine_sin.square();
        prop_assert!(one.contains(&Rational::ONE));
        let double_angle = Enclosure::of(&(&a + &a), 400).sin();
        let product = &fine_sin * &fine_cos;
        let product = &product + &product;
        prop_assert!(double_angle.lower() <= product.upper() && product.lower() <= double_angle.upper());
        prop_assert!(x.is_below_power_of_two(60) && x.part(3).contains(&a.checked_div(&Rational::integer(3)).expect("not 0")));
    }

    #[test]
    fn roots_and_logarithms(a in rational(), bits in 1usize..200) {
        let size = a.abs();
        let x = Enclosure::of(&size, bits);
        prop_assert!(x.square().contains(&(&size * &size)) && x.square().lower().signum() >= 0);
        let root = x.sqrt().expect("not negative");
        prop_assert!(&root.lower() * &root.lower() <= size, "{root:?}");
        prop_assert!(&root.upper() * &root.upper() >= size, "{root:?}");
        let narrow = Enclosure::of(&size, 200).sqrt().expect("not negative");
        prop_assert!(root.lower() <= narrow.upper() && narrow.lower() <= root.upper());
        match x.log() {
            None => prop_assert!(x.lower().signum() <= 0),
            Some(log) => {
                // e^ln x is x.
                let back = log.with_bits(bits + 400).exp().expect("a small exponent");
                prop_assert!(back.contains(&size), "{log:?} of {size:?}");
                let wide = x.upper() - x.lower();
                let steep = wide.checked_div(&x.lower()).expect("positive");
                let unit = Rational::integer(2).pow(2 - i32::try_from(bits).expect("few"));
                let width = log.upper() - log.lower();
                prop_assert!(width <= steep + unit.expect("defined"), "{log:?}");
            }
        }
        let mixed = Enclosure::of(&-&size, bits).hull(&x);
        prop_assert!(mixed.square().contains(&Rational::ZERO));
        prop_assert!(size.is_zero() || mixed.sqrt().is_none() || mixed.lower().is_zero());
    }

    #[test]
    fn logarithms_in_double_precision(x in prop_oneof![
        1e-3..1e3f64, 0.7..1.5f64, 1e-300..1e-290f64, 1e300..1e308f64, Just(1.0), Just(f64::MAX),
    ]) {
        let exact = Enclosure::of_f64(x, 1200).expect("finite").log().expect("positive");
        let value = Rational::from_f64(crate::activation::log(x)).expect("finite");
        let error = (&value - &exact.lower()).abs();
        let bound = Rational::from_f64(crate::activation::LOG_ERROR).expect("finite")
            * (value.abs() + Rational::ONE);
        prop_assert!(error <= bound, "{x:?}");
    }

    #[test]
    fn operations_contain_the_results(
        a in rational(), b in rational(), bits in 1usize..200, other_bits in 1usize..200,
    ) {
        let (x, y) = (Enclosure::of(&a, bits), Enclosure::of(&b, other_bits));
        prop_assert!(x.contains(&a) && ulps(&x) <= IBig::ONE);
        prop_assert!((&x + &y).contains(&(&a + &b)));
        prop_assert!((&x - &y).contains(&(&a - &b)));
        prop_assert!((&x * &y).contains(&(&a * &b)));
        prop_assert!((-&x).contains(&-&a));
        prop_assert!(x.max(&y).contains(&a.clone().max(b.clone())));
        prop_assert!(x.min(&y).contains(&a.clone().min(b.clone())));
        prop_assert!(x.relu().contains(&a.clone().max(Rational::ZERO)));
        prop_assert!(x.hull(&y).contains(&a) && x.hull(&y).contains(&b));
        prop_assert!(x.with_bits(other_bits).contains(&a));
        prop_assert!(x.to_interval().contains_exact(&a));
        let weight = b.to_f64();
        let (mantissa, exponent) = crate::dyadic_parts(weight).expect("finite");
        let product = &a * Rational::from_f64(weight).expect("finite");
        prop_assert!(x.times_dyadic(mantissa, exponent).contains(&product));
        if let Some(quotient) = x.checked_div(&y) {
            prop_assert!(quotient.contains(&a.checked_div(&b).expect("not 0")));
        } else {
            prop_assert!(y.contains(&Rational::ZERO));
        }
        if let Some(sign) = x.sign() {
            prop_assert_eq!(sign, a.cmp(&Rational::ZERO));
        }
    }

    #[test]
    fn exponentials_contain_the_results(x in -60.0f64..60.0, bits in 8usize..260) {
        let exact = Rational::from_f64(x).expect("finite");
        let enclosed = Enclosure::of(&exact, bits.max(60));
        prop_assume!(enclosed.lo == enclosed.hi);
        let e = reference_exp(&exact);
        let exp = enclosed.exp().expect("small exponent");
        prop_assert!(near(&exp, &e));
        prop_assert!(ulps(&exp) <= IBig::from(4));

        let reciprocal = e.recip().expect("positive");
        let sum = &e + &reciprocal;
        let tanh = (&e - &reciprocal).checked_div(&sum).expect("positive");
        prop_assert!(near(&enclosed.tanh(), &tanh));
        prop_assert!(ulps(&enclosed.tanh()) <= IBig::from(4));

        let sigmoid = e.checked_div(&(&e + &Rational::ONE)).expect("positive");
        prop_assert!(near(&enclosed.sigmoid(), &sigmoid));
        prop_assert!(ulps(&enclosed.sigmoid()) <= IBig::from(4));
    }

    #[test]
    fn precision_nests(x in rational(), bits in 1usize..150, more in 0usize..150) {
        let coarse = Enclosure::of(&x, bits);
        let fine = Enclosure::of(&x, bits + more);
        for (c, f) in [(coarse.tanh(), fine.tanh()), (coarse.sigmoid(), fine.sigmoid())] {
            prop_assert!(f.lower() <= c.upper() && c.lower() <= f.upper(), "they overlap");
            prop_assert!(f.lo <= f.hi && c.lo <= c.hi);
        }
        let limit = IBig::ONE << (bits + more);
        let (tanh, sigmoid) = (fine.tanh(), fine.sigmoid());
        prop_assert!(tanh.lo >= -&limit && tanh.hi <= limit);
        prop_assert!(sigmoid.lo >= IBig::ZERO && sigmoid.hi <= limit);
    }

    #[test]
    fn double_precision_activations_err_within_their_bound(
        x in prop_oneof![-45.0f64..45.0, -1.5f64..1.5, any::<f64>()],
    ) {
        prop_assume!(x.is_finite());
        let bits = 120;
        let enclosed = Enclosure::of_f64(x, bits).expect("finite");
        let bound = Rational::from_f64(crate::activation::ABSOLUTE_ERROR).expect("finite");
        // The proved bound is 12 units; what is measured stays far below it.
        let bound = bound * Rational::new(12, 16).expect("not 0");
        for (computed, exact) in [
            (crate::activation::tanh(x), enclosed.tanh()),
            (crate::activation::sigmoid(x), enclosed.sigmoid()),
        ] {
            let computed = Rational::from_f64(computed).expect("finite");
            prop_assert!((&computed - exact.lower()).abs() <= bound);
            prop_assert!((&computed - exact.upper()).abs() <= bound);
        }
        let narrow = Interval::point(x).tanh();
        prop_assert!(narrow.contains_exact(&enclosed.tanh().lower()));
        prop_assert!(narrow.contains_exact(&enclosed.tanh().upper()));
        prop_assert!(Interval::point(x).sigmoid().contains_exact(&enclosed.sigmoid().lower()));
    }
}

#[test]
fn exact_values_stay_exact() {
    let zero = Enclosure::integer(0, 30);
    assert_eq!(zero.exp(), Some(Enclosure::integer(1, 30)));
    assert_eq!(zero.tanh(), zero);
    let half = Enclosure::of(&Rational::new(1, 2).expect("not 0"), 30);
    assert_eq!(zero.sigmoid(), half);
    assert_eq!(zero.sign(), Some(Ordering::Equal));
    assert_eq!(half.checked_div(&zero), None);
}

#[test]
fn huge_arguments() {
    let huge = Enclosure::of(&Rational::integer(10).pow(40).expect("defined"), 100);
    assert_eq!(huge.exp(), None);
    assert!(huge.tanh().contains(&Rational::ONE) && ulps(&huge.tanh()) <= IBig::from(2));
    let negative = -&huge;
    let exp = negative.exp().expect("small");
    assert!(exp.lo.is_zero() && exp.hi == IBig::ONE);
    assert!(negative.sigmoid().lo.is_zero() && negative.sigmoid().hi <= IBig::from(2));
}

#[test]
fn tanh_shrinks_with_the_precision() {
    let x = Rational::from_str("0.7").expect("a number");
    let mut width = Rational::ONE;
    for bits in [16, 32, 64, 128, 512, 2048] {
        let tanh = Enclosure::of(&x, bits).tanh();
        let next = tanh.upper() - tanh.lower();
        assert!(next < width && next.signum() > 0);
        assert!(
            next <= Rational::integer(2)
                .pow(3 - i32::try_from(bits).expect("small"))
                .expect("defined")
        );
        width = next;
    }
}
