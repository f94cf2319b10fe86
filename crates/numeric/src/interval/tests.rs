//! Intervals contain the exact results.

use proptest::prelude::*;

use super::*;

/// An interval and an exact number inside it.
fn interval_with_member() -> impl Strategy<Value = (Interval, Rational)> {
    let bound = prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("no NaN", |x| !x.is_nan()),
        -10.0f64..10.0,
        (-4i32..5).prop_map(f64::from),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(-f64::MAX),
    ];
    (bound.clone(), bound, 0i64..=16).prop_filter_map("empty", |(a, b, part)| {
        let interval = Interval::new(a.min(b), a.max(b))?;
        let finite = |x: f64, beyond: &str| {
            Rational::from_f64(x).or_else(|| Rational::parse_decimal(beyond))
        };
        let lo = finite(interval.lo, "-1e400")?;
        let hi = finite(interval.hi, "1e400")?;
        let member = &lo + (&hi - &lo) * Rational::new(part, 16)?;
        Some((interval, member))
    })
}

fn well_formed(interval: Interval) -> bool {
    Interval::new(interval.lo, interval.hi) == Some(interval)
}

proptest! {
    #[test]
    fn operations_contain_the_results(
        (a, x) in interval_with_member(),
        (b, y) in interval_with_member(),
    ) {
        prop_assert!(a.contains_exact(&x) && b.contains_exact(&y));
        let results = [
            (a + b, &x + &y),
            (a - b, &x - &y),
            (a * b, &x * &y),
            (-a, -&x),
            (a.abs(), x.abs()),
            (a.max(b), x.clone().max(y.clone())),
            (a.min(b), x.clone().min(y.clone())),
            (a.relu(), x.clone().max(Rational::ZERO)),
            (a.hull(b), x.clone()),
            (a.hull(b), y.clone()),
        ];
        for (interval, value) in results {
            prop_assert!(well_formed(interval), "{interval:?}");
            prop_assert!(interval.contains_exact(&value), "{interval:?} {value}");
        }
        match a.checked_div(b) {
            None => prop_assert!(b.contains(0.0)),
            Some(interval) => {
                prop_assert!(well_formed(interval));
                prop_assert!(interval.contains_exact(&x.checked_div(&y).expect("not 0")));
            }
        }
        if let Some(both) = a.intersection(b) {
            prop_assert!(well_formed(both) && a.includes(both) && b.includes(both));
        } else {
            prop_assert!(a.hi < b.lo || b.hi < a.lo);
        }
        prop_assert!(well_formed(a.tanh()) && well_formed(a.sigmoid()));
        prop_assert!(a.contains(a.midpoint()) && a.midpoint().is_finite());
    }

    #[test]
    fn integers_stay_exact(a in -1000i32..1000, b in -1000i32..1000) {
        let sum = Interval::point(f64::from(a)) + Interval::point(f64::from(b));
        prop_assert_eq!(sum, Interval::point(f64::from(a + b)));
    }
}

#[test]
fn bounds_that_are_no_interval() {
    assert_eq!(Interval::new(f64::NAN, 1.0), None);
    assert_eq!(Interval::new(1.0, f64::NAN), None);
    assert_eq!(Interval::new(2.0, 1.0), None);
    assert_eq!(Interval::new(f64::INFINITY, f64::INFINITY), None);
    assert_eq!(Interval::point(f64::NAN), Interval::EVERYTHING);
    assert_eq!(Interval::ball(0.0, f64::INFINITY), Interval::EVERYTHING);
    assert_eq!(Interval::EVERYTHING * Interval::ZERO, Interval::ZERO);
    assert_eq!(Interval::EVERYTHING + -Interval::EVERYTHING, Interval::EVERYTHING);
}
