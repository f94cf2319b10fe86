//! What curves say of their functions, against enclosures at high precision.

use policert_numeric::Rational;
use proptest::prelude::*;

use super::*;

/// Enough for every double to be exact.
const BITS: usize = 1200;

fn smooth() -> impl Strategy<Value = Smooth> {
    let alpha = prop_oneof![-2.0..3.0, Just(1.0), Just(0.0), Just(1e30), Just(-1e-310)];
    let elu = alpha.prop_map(|alpha| Smooth::Elu(Elu { alpha }));
    let outer = prop_oneof![Just(0.797_884_560_802_865_4), 0.25..4.0];
    let gate = (outer, prop_oneof![Just(0.044_715), 1e-3..1.0]).prop_map(|(outer, cubic)| {
        Smooth::TanhGate(TanhGate::new(outer, cubic).expect("usual constants"))
    });
    let gates = [
        Smooth::Silu,
        Smooth::ErfGate,
        Smooth::HardGate,
        Smooth::Mish,
        Smooth::Square,
        Smooth::Exponential,
    ];
    let fixed = [&[Smooth::Tanh, Smooth::Sigmoid, Smooth::Softplus][..], &gates[..]].concat();
    let above = prop_oneof![Just(1e-5), Just(1.0), 1e-3..3.0].prop_flat_map(|least| {
        let logarithm = Logarithm::new(least).expect("positive");
        let reciprocal = Reciprocal::new(least).expect("positive");
        let roots = [0.0, least].map(|least| Root::new(least).expect("not negative"));
        prop::sample::select(vec![
            Smooth::Logarithm(logarithm),
            Smooth::Reciprocal(reciprocal),
            Smooth::Root(roots[0]),
            Smooth::Root(roots[1]),
        ])
    });
    prop_oneof![5 => prop::sample::select(fixed), 3 => elu, 2 => gate, 4 => above]
}

fn argument() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -4.0..4.0,
        2 => -50.0..50.0,
        1 => -0.01..0.01,
        1 => -1e-9..1e-9,
        1 => -1e3..1e3,
        1 => prop_oneof![Just(0.0), Just(1e30), Just(-1e30), Just(1e-310), Just(-1e-310)],
    ]
}

fn exactly(x: f64) -> Enclosure {
    Enclosure::of_f64(x, BITS).expect("finite")
}

/// Returns whether a number that lies in an enclosure may lie in an interval.
fn meets(interval: Interval, number: &Enclosure) -> bool {
    let above = Rational::from_f64(interval.lo()).is_none_or(|lo| lo <= number.upper());
    above && Rational::from_f64(interval.hi()).is_none_or(|hi| hi >= number.lower())
}

/// (f(b) − f(a)) / (b − a); `None` for values that are too large to be written down.
fn quotient(smooth: Smooth, a: f64, b: f64) -> Option<Enclosure> {
    let [at_a, at_b] = [a, b].map(|x| smooth.curve().enclosed(&exactly(x)));
    (&at_b? - &at_a?).checked_div(&(&exactly(b) - &exactly(a)))
}

proptest! {
    #[test]
    fn values_are_within_their_error(smooth in smooth(), x in argument()) {
        let curve = smooth.curve();
        let Some(value) = curve.enclosed(&exactly(x)) else {
            prop_assert!(smooth == Smooth::Exponential && x > 1e3);
            return Ok(());
        };
        let error = curve.error(x, x);
        prop_assert!(meets(Interval::ball(curve.value(x), error), &value), "{smooth:?} {x:?}");
        prop_assert!(meets(curve.at(x), &value), "{smooth:?} {x:?}");
        prop_assert!(curve.range().includes(curve.at(x)));
        prop_assert!(curve.value(f64::NAN).is_nan());
        let coarse = curve.enclosed(&exactly(x).with_bits(60)).expect("precise enough");
        prop_assert!(coarse.lower() <= value.upper() && value.lower() <= coarse.upper());
        let mut applied = [[f64::NAN; 2]];
        Activation::Smooth(smooth).apply(&[[x, 0.0]], &mut applied, 1);
        prop_assert_eq!(applied[0][0].to_bits(), curve.value(x).to_bits());
    }

    #[test]
    fn images_contain_the_values(
        smooth in smooth(), (a, b) in (argument(), argument()), share in 0.0f64..1.0,
    ) {
        let (lo, hi) = (a.min(b), a.max(b));
        let x = (lo + share * (hi - lo)).clamp(lo, hi);
        let curve = smooth.curve();
        let Some(value) = curve.enclosed(&exactly(x)) else { return Ok(()) };
        for image in [
            curve.image(lo, hi),
            curve.image(f64::NEG_INFINITY, hi),
            curve.image(lo, f64::INFINITY),
        ] {
            prop_assert!(meets(image, &value), "{smooth:?} [{lo:?}, {hi:?}] {x:?} {image:?}");
        }
        let Some(wide) = curve.enclosed(&exactly(lo).hull(&exactly(hi))) else { return Ok(()) };
        prop_assert!(wide.lower() <= value.upper() && value.lower() <= wide.upper());
    }

    #[test]
    fn slopes_contain_the_quotients(
        smooth in smooth(), a in argument(), b in argument(), near in any::<bool>(),
    ) {
        let b = if near { a + 1e-6 } else { b };
        let (lo, hi) = (a.min(b), a.max(b));
        prop_assume!(lo < hi);
        let curve = smooth.curve();
        let Some(quotient) = quotient(smooth, lo, hi) else { return Ok(()) };
        let context = format!("{smooth:?} [{lo:?}, {hi:?}] {quotient:?}");
        prop_assert!(meets(curve.slopes(lo, hi), &quotient), "{context}");
        let steepest = curve.steepness(lo, hi);
        prop_assert!(meets(Interval::ball(0.0, steepest), &quotient), "{context}");
        prop_assert!(curve.slope(lo).magnitude() <= steepest * (1.0 + 1e-12), "{context}");
        if curve.is_strictly_increasing() {
            prop_assert!(quotient.upper().signum() >= 0, "{context}");
        }
    }

    #[test]
    fn chords_are_on_the_side_of_the_curvature(
        smooth in smooth(), (a, b) in (argument(), argument()),
    ) {
        let (lo, hi) = (a.min(b), a.max(b));
        let curve = smooth.curve();
        let [Some(at_lo), Some(at_hi)] = [lo, hi].map(|x| curve.enclosed(&exactly(x))) else {
            return Ok(());
        };
        let half = |x: &Enclosure| x.times_f64(0.5);
        let middle = half(&(&exactly(lo) + &exactly(hi)));
        let middle = curve.enclosed(&middle).expect("as at both ends");
        let bulge = &middle - &half(&(&at_lo + &at_hi));
        match curve.curvature(lo, hi) {
            Curvature::Convex => prop_assert!(bulge.lower().signum() <= 0, "{smooth:?} {lo:?} {hi:?}"),
            Curvature::Concave => prop_assert!(bulge.upper().signum() >= 0, "{smooth:?} {lo:?} {hi:?}"),
            Curvature::Mixed => {}
        }
    }
}

#[test]
fn the_least_value_of_gelu_is_narrow() {
    let gate = TanhGate::new(0.797_884_560_802_865_4, 0.044_715).expect("usual constants");
    let (place, least) = gate.minimum().expect("a least value");
    assert!(
        place.hi() - place.lo() < 1e-6 && least.hi() - least.lo() < 1e-6,
        "{place:?} {least:?}"
    );
    assert!((place.lo() + 0.752_46).abs() < 1e-4 && (least.lo() + 0.170_04).abs() < 1e-4);
    for x in [place.lo() - 1e-3, place.hi() + 1e-3, place.lo()] {
        assert!(gate.value(x) >= least.lo(), "{x}");
    }
}
