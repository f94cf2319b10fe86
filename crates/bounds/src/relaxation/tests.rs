//! Lines against exact values at points.

#![expect(clippy::float_cmp, reason = "exact values are meant")]

use policert_numeric::Rational;
use proptest::prelude::*;

use policert_policy::Smooth;
use policert_policy::activation::Elu;

use super::*;

const TANH: Activation = Activation::Smooth(Smooth::Tanh);
const SIGMOID: Activation = Activation::Smooth(Smooth::Sigmoid);

fn elu(alpha: f64) -> Activation {
    Activation::Smooth(Smooth::Elu(Elu { alpha }))
}

fn exact(value: f64) -> Rational {
    Rational::from_f64(value).expect("finite")
}

fn function() -> impl Strategy<Value = Activation> {
    let clip = |(a, b): (f64, f64)| Activation::Clip { lo: a.min(b), hi: a.max(b) };
    prop_oneof![
        Just(Activation::Leaky { alpha: 0.0 }),
        prop_oneof![-2.0..3.0, Just(1.0), Just(1e30), Just(-1e-310)]
            .prop_map(|alpha| Activation::Leaky { alpha }),
        (-5.0..5.0, -5.0..5.0).prop_map(clip),
        Just(Activation::Clip { lo: f64::NEG_INFINITY, hi: 1.0 }),
        Just(Activation::Clip { lo: -1.0, hi: f64::INFINITY }),
        Just(TANH),
        Just(SIGMOID),
        prop_oneof![-2.0..3.0, Just(1.0), Just(0.0), Just(1e30), Just(-1e-310)].prop_map(elu),
        Just(Activation::Smooth(Smooth::Softplus)),
        Just(Activation::Smooth(Smooth::Silu)),
        Just(Activation::Smooth(Smooth::HardGate)),
        Just(Activation::Smooth(Smooth::Mish)),
        Just(Activation::Smooth(Smooth::ErfGate)),
    ]
}

fn end() -> impl Strategy<Value = f64> {
    prop_oneof![
        -4.0..4.0,
        -0.01..0.01,
        -1e-15..1e-15,
        -1e3..1e3,
        Just(0.0),
        Just(1e30),
        Just(-1e30),
        Just(1e-310),
        Just(-1e-310),
    ]
}

/// Bounds of the value at a double, exact where the function is piecewise linear.
fn value(function: Activation, x: f64) -> (Rational, Rational) {
    let same = |y: Rational| (y.clone(), y);
    match function {
        Activation::Leaky { alpha } if x < 0.0 => same(&exact(alpha) * &exact(x)),
        Activation::Leaky { .. } => same(exact(x)),
        Activation::Clip { lo, hi } => same(exact(x.max(lo).min(hi))),
        Activation::Smooth(smooth) => {
            let y = smooth.curve().at(x);
            (exact(y.lo()), exact(y.hi()))
        }
    }
}

fn check(function: Activation, lo: f64, hi: f64, x: f64) {
    let (below, above) = value(function, x);
    let lines = lines(function, lo, hi);
    let line = |slope: f64, offset: f64| exact(slope) * exact(x) + exact(offset);
    let context = format!("{function:?} over [{lo:?}, {hi:?}] at {x:?}: {lines:?}");
    if lines.lower_offset.is_finite() {
        assert!(line(lines.lower_slope, lines.lower_offset) <= above, "{context}");
    }
    if lines.upper_offset.is_finite() {
        assert!(line(lines.upper_slope, lines.upper_offset) >= below, "{context}");
    }
    let (least, greatest) = function.image(lo, hi);
    assert!(exact(least) <= above && exact(greatest) >= below, "{context}");
    let steepness = function.steepness() * (1.0 + 1e-12);
    assert!(lines.lower_slope.abs() <= steepness && lines.upper_slope.abs() <= steepness);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn lines_are_on_the_right_side(
        function in function(),
        (a, b) in (end(), end()),
        share in 0.0f64..1.0,
    ) {
        let (lo, hi) = (a.min(b), a.max(b));
        let inside = (lo + share * (hi - lo)).clamp(lo, hi);
        for x in [lo, hi, inside, 0.0f64.clamp(lo, hi)] {
            check(function, lo, hi, x);
        }
    }
}

#[test]
fn unbounded_intervals_give_no_wrong_lines() {
    let functions = [
        Activation::Leaky { alpha: 0.0 },
        Activation::Leaky { alpha: 1.5 },
        Activation::Clip { lo: -1.0, hi: 1.0 },
        TANH,
        SIGMOID,
        elu(1.0),
        elu(2.0),
        elu(-1.0),
    ];
    let ends = [f64::NEG_INFINITY, -3.0, 0.0, 3.0, f64::INFINITY];
    for function in functions {
        for (i, &lo) in ends.iter().enumerate() {
            for &hi in &ends[i..] {
                for x in [-1e300, -1.0, 0.0, 2.0, 1e300] {
                    let lines = lines(function, lo, hi);
                    if (lo..=hi).contains(&x) && !lines.lower_offset.is_nan() {
                        let (below, above) = value(function, x);
                        let line = |slope: f64, offset: f64| {
                            offset.is_finite().then(|| exact(slope) * exact(x) + exact(offset))
                        };
                        let lower = line(lines.lower_slope, lines.lower_offset);
                        let upper = line(lines.upper_slope, lines.upper_offset);
                        assert!(lower.is_none_or(|lower| lower <= above), "{function:?} {lo} {hi}");
                        assert!(upper.is_none_or(|upper| upper >= below), "{function:?} {lo} {hi}");
                    }
                }
            }
        }
    }
}

#[test]
fn relu_takes_the_chord_and_the_better_line_through_the_origin() {
    let over = |lo: f64, hi: f64| lines(Activation::RELU, lo, hi);
    let lines = over(-1.0, 3.0);
    assert_eq!((lines.lower_slope, lines.lower_offset), (1.0, 0.0));
    assert_eq!(lines.upper_slope, 0.75);
    assert!((lines.upper_offset - 0.75).abs() < 1e-12);
    assert_eq!(over(-3.0, 1.0).lower_slope, 0.0);
    assert_eq!(over(0.0, 1.0), Lines::through_origin(1.0));
    assert_eq!(over(-1.0, 0.0), Lines::through_origin(0.0));
}

/// The values at the ends are off by more than such an interval is wide.
#[test]
fn chords_over_tiny_intervals_are_no_steeper_than_the_function() {
    for function in [TANH, SIGMOID, elu(0.5), elu(1.0), elu(2.0), elu(-1.0)] {
        for lo in [-1.0, -0.25, 0.25, 1.0f64] {
            let lines = lines(function, lo, lo.next_up());
            let steepest = function.steepness();
            assert!(lines.lower_slope.abs() <= steepest && lines.upper_slope.abs() <= steepest);
        }
    }
}
