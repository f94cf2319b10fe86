//! Lines against exact values at points.

#![expect(clippy::float_cmp, reason = "exact values are meant")]

use policert_numeric::Rational;
use proptest::prelude::*;

use policert_policy::Smooth;
use policert_policy::activation::{Elu, Logarithm, Reciprocal, Root, Staircase};

use super::*;

const TANH: Activation = Activation::Smooth(Smooth::Tanh);
const SIGMOID: Activation = Activation::Smooth(Smooth::Sigmoid);

fn elu(alpha: f64) -> Activation {
    Activation::Smooth(Smooth::Elu(Elu { alpha }))
}

fn logarithm(least: f64) -> Activation {
    Activation::Smooth(Smooth::Logarithm(Logarithm::new(least).expect("positive")))
}

fn root(least: f64) -> Activation {
    Activation::Smooth(Smooth::Root(Root::new(least).expect("not negative")))
}

fn reciprocal(least: f64) -> Activation {
    Activation::Smooth(Smooth::Reciprocal(Reciprocal::new(least).expect("positive")))
}

/// The least argument of a function.
fn least(function: Activation) -> f64 {
    match function {
        Activation::Leaky { .. } | Activation::Clip { .. } | Activation::Staircase(_) => {
            f64::NEG_INFINITY
        }
        Activation::Smooth(smooth) => smooth.curve().least(),
    }
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
        Just(Activation::Staircase(Staircase::Floor)),
        Just(Activation::Staircase(Staircase::Round)),
        Just(Activation::Staircase(Staircase::Sign)),
        Just(TANH),
        Just(SIGMOID),
        prop_oneof![-2.0..3.0, Just(1.0), Just(0.0), Just(1e30), Just(-1e-310)].prop_map(elu),
        Just(Activation::Smooth(Smooth::Softplus)),
        Just(Activation::Smooth(Smooth::Silu)),
        Just(Activation::Smooth(Smooth::HardGate)),
        Just(Activation::Smooth(Smooth::Mish)),
        Just(Activation::Smooth(Smooth::ErfGate)),
        Just(Activation::Smooth(Smooth::Square)),
        Just(Activation::Smooth(Smooth::Exponential)),
        prop_oneof![Just(1e-5), Just(1.0), 1e-3..3.0].prop_map(logarithm),
        prop_oneof![Just(0.0), Just(1e-5), 1e-3..3.0].prop_map(root),
        prop_oneof![Just(1e-5), Just(1.0), 1e-3..3.0].prop_map(reciprocal),
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

/// Bounds of the value at a double, exact where the function is piecewise linear; no upper one beyond
/// every double.
fn value(function: Activation, x: f64) -> (Rational, Option<Rational>) {
    let same = |y: Rational| (y.clone(), Some(y));
    match function {
        Activation::Leaky { alpha } if x < 0.0 => same(&exact(alpha) * &exact(x)),
        Activation::Leaky { .. } => same(exact(x)),
        Activation::Clip { lo, hi } => same(exact(x.max(lo).min(hi))),
        Activation::Staircase(staircase) => same(staircase.of(&exact(x))),
        Activation::Smooth(smooth) => {
            let y = smooth.curve().at(x);
            (exact(y.lo()), Rational::from_f64(y.hi()))
        }
    }
}

fn check(function: Activation, lo: f64, hi: f64, x: f64) {
    let (below, above) = value(function, x);
    let is_below = |number: Rational| above.as_ref().is_none_or(|above| number <= *above);
    let lines = lines(function, lo, hi);
    let line = |slope: f64, offset: f64| exact(slope) * exact(x) + exact(offset);
    let context = format!("{function:?} over [{lo:?}, {hi:?}] at {x:?}: {lines:?}");
    // What is less is never an argument.
    if x >= least(function) && lines.lower_offset.is_finite() {
        assert!(is_below(line(lines.lower_slope, lines.lower_offset)), "{context}");
    }
    if x >= least(function) && lines.upper_offset.is_finite() {
        assert!(line(lines.upper_slope, lines.upper_offset) >= below, "{context}");
    }
    let (least, greatest) = function.image(lo, hi);
    assert!(is_below(exact(least)), "{context}");
    assert!(Rational::from_f64(greatest).is_none_or(|greatest| greatest >= below), "{context}");
    let steepness = function.steepness(lo, hi) * (1.0 + 1e-12);
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
        Activation::Staircase(Staircase::Floor),
        Activation::Staircase(Staircase::Round),
        Activation::Staircase(Staircase::Sign),
        TANH,
        SIGMOID,
        elu(1.0),
        elu(2.0),
        elu(-1.0),
        Activation::Smooth(Smooth::Square),
        Activation::Smooth(Smooth::Exponential),
        logarithm(1.0),
        root(0.0),
        reciprocal(1.0),
    ];
    let ends = [f64::NEG_INFINITY, -3.0, 0.0, 3.0, f64::INFINITY];
    for function in functions {
        for (i, &lo) in ends.iter().enumerate() {
            for &hi in &ends[i..] {
                for x in [-1e300, -1.0, 0.0, 2.0, 1e300] {
                    let lines = lines(function, lo, hi);
                    let is_argument = (lo..=hi).contains(&x) && x >= least(function);
                    if is_argument && !lines.lower_offset.is_nan() {
                        let (below, above) = value(function, x);
                        let line = |slope: f64, offset: f64| {
                            offset.is_finite().then(|| exact(slope) * exact(x) + exact(offset))
                        };
                        let lower = line(lines.lower_slope, lines.lower_offset);
                        let upper = line(lines.upper_slope, lines.upper_offset);
                        let above = above.as_ref();
                        let fits = |lower| above.is_none_or(|above| lower <= *above);
                        assert!(lower.is_none_or(fits), "{function:?} {lo} {hi}");
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
    for function in
        [TANH, SIGMOID, elu(0.5), elu(1.0), elu(2.0), elu(-1.0), logarithm(0.25), root(0.25)]
    {
        for lo in [-1.0, -0.25, 0.25, 1.0f64] {
            let lines = lines(function, lo, lo.next_up());
            let steepest = function.steepness(lo, lo.next_up());
            assert!(lines.lower_slope.abs() <= steepest && lines.upper_slope.abs() <= steepest);
        }
    }
}
