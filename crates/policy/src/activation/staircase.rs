//! Functions that are constant but for jumps.

use std::cmp::Ordering;

use policert_numeric::{Enclosure, Rational};

/// A function that never decreases, has integers as values, and is constant but where it jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staircase {
    /// The greatest integer that is not above x.
    Floor,
    /// The integer nearest to x; of two the even one.
    Round,
    /// −1 below 0, 0 at 0, 1 above 0.
    Sign,
}

/// A place where a staircase jumps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jump {
    /// The argument.
    pub at: f64,
    /// True if the value there is the one of the arguments just below; those above have another one.
    pub is_below: bool,
}

/// Between arguments of such a magnitude that jump some doubles are in between.
const GREATEST_JUMP: f64 = 1e15;

impl Staircase {
    /// A jump between two arguments, these included, that is near to their middle: neither of the two sides
    /// has all arguments between them. `None` if there is none, or it is too far from 0.
    #[must_use]
    pub fn jump(self, lo: f64, hi: f64) -> Option<Jump> {
        let middle = (lo / 2.0 + hi / 2.0).floor();
        if self.is_constant(lo, hi) || !middle.is_finite() {
            return None;
        }
        let near = [0.0, 1.0, -1.0].map(|by| middle + by);
        let jumps = match self {
            Self::Floor => near.map(|at| Jump { at, is_below: false }),
            // The value at k + ½ is k for even k.
            Self::Round => near.map(|k| Jump { at: k + 0.5, is_below: (k / 2.0).fract() == 0.0 }),
            Self::Sign => [false, true, true].map(|is_below| Jump { at: 0.0, is_below }),
        };
        jumps.into_iter().find(|&Jump { at, is_below }| {
            let divides = if is_below { lo <= at && at < hi } else { lo < at && at <= hi };
            divides && at.abs() <= GREATEST_JUMP
        })
    }

    /// Returns whether it jumps at an argument, which is not too far from 0.
    #[must_use]
    pub fn jumps_at(self, at: f64) -> bool {
        let is_integer = |x: f64| x.fract().abs() <= 0.0;
        at.abs() <= GREATEST_JUMP
            && match self {
                Self::Floor => is_integer(at),
                Self::Round => is_integer(2.0 * at) && !is_integer(at),
                Self::Sign => at.abs() <= 0.0,
            }
    }

    /// The value at a double, which is one; NaN for NaN.
    #[must_use]
    #[inline(always)]
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Floor => x.floor(),
            Self::Round => x.round_ties_even(),
            Self::Sign if x > 0.0 => 1.0,
            Self::Sign if x < 0.0 => -1.0,
            // 0, or no number.
            Self::Sign => x,
        }
    }

    /// The value at a rational number.
    #[must_use]
    pub fn of(self, x: &Rational) -> Rational {
        match self {
            Self::Floor => x.floor(),
            Self::Round => {
                let half = Rational::new(1, 2).unwrap_or_default();
                let below = x.floor();
                let is_even = || below.checked_div(&2.into()).is_some_and(|half| half.is_integer());
                let share = x - &below;
                if share < half || (share == half && is_even()) {
                    below
                } else {
                    below + Rational::ONE
                }
            }
            Self::Sign => Rational::integer(x.signum().into()),
        }
    }

    /// The value at value / unit, for a positive unit; `None` if an integer does not suffice for it.
    pub(crate) fn of_quotient(self, value: i128, unit: i128) -> Option<i128> {
        match self {
            Self::Floor => Some(value.div_euclid(unit)),
            Self::Round => {
                let below = value.div_euclid(unit);
                let twice = value.rem_euclid(unit).checked_mul(2)?;
                Some(match twice.cmp(&unit) {
                    Ordering::Less => below,
                    Ordering::Equal => below + below.rem_euclid(2),
                    Ordering::Greater => below + 1,
                })
            }
            Self::Sign => Some(value.signum()),
        }
    }

    /// Encloses the values at the numbers of an enclosure.
    pub(super) fn enclosed(self, x: &Enclosure) -> Enclosure {
        let at = |bound: Rational| Enclosure::of(&self.of(&bound), x.bits());
        at(x.lower()).hull(&at(x.upper()))
    }

    /// Returns whether it does not jump between two arguments, these included.
    #[must_use]
    #[inline]
    pub fn is_constant(self, lo: f64, hi: f64) -> bool {
        self.value(lo) >= self.value(hi)
    }

    /// How far apart the values at two arguments are at most that are at most this far apart.
    #[must_use]
    pub fn spread(self, distance: f64) -> f64 {
        match self {
            Self::Floor | Self::Round if distance > 0.0 => distance.floor() + 1.0,
            Self::Sign if distance > 0.0 => 2.0,
            Self::Floor | Self::Round | Self::Sign => 0.0,
        }
    }

    /// How far below and above the argument the value is at most; `None` if there is no bound.
    #[must_use]
    pub fn distances(self) -> Option<(f64, f64)> {
        match self {
            Self::Floor => Some((1.0, 0.0)),
            Self::Round => Some((0.5, 0.5)),
            Self::Sign => None,
        }
    }

    /// The operator of ONNX.
    #[must_use]
    pub fn operator(self) -> &'static str {
        match self {
            Self::Floor => "Floor",
            Self::Round => "Round",
            Self::Sign => "Sign",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Staircase; 3] = [Staircase::Floor, Staircase::Round, Staircase::Sign];

    fn number() -> impl Strategy<Value = f64> {
        let quarters = (-40i32..40).prop_map(|quarters| f64::from(quarters) / 4.0);
        prop_oneof![
            4 => quarters,
            2 => -10.0..10.0,
            1 => (-40i32..40).prop_map(|halves| (f64::from(halves) / 2.0).next_up()),
            1 => prop_oneof![Just(-0.0), Just(1e300), Just(-1e300), Just(1e-310), Just(-1e-310)],
        ]
    }

    fn exactly(x: f64) -> Rational {
        Rational::from_f64(x).expect("finite")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn doubles_rationals_and_enclosures_agree(x in number(), y in number()) {
            for staircase in ALL {
                let value = exactly(staircase.value(x));
                prop_assert_eq!(&staircase.of(&exactly(x)), &value, "{:?} {}", staircase, x);
                let of = |x: f64| Enclosure::of_f64(x, 1200).expect("finite");
                let hull = staircase.enclosed(&of(x).hull(&of(y)));
                prop_assert!(hull.contains(&value));
                let single = staircase.enclosed(&of(x));
                prop_assert!(single.lower() == value && single.upper() == value);
                prop_assert_eq!(
                    staircase.is_constant(x.min(y), x.max(y)),
                    staircase.of(&exactly(x)) == staircase.of(&exactly(y))
                );
            }
        }

        #[test]
        fn values_are_as_far_apart_as_is_said(x in number(), distance in prop_oneof![
            Just(0.0), Just(0.25), Just(0.5), Just(1.0), Just(2.0), 0.0..5.0, Just(1e-300),
        ]) {
            for staircase in ALL {
                let (near, far) = (exactly(x), exactly(x) + exactly(distance));
                let apart = staircase.of(&far) - staircase.of(&near);
                prop_assert!(apart <= exactly(staircase.spread(distance)), "{staircase:?} {x} {distance}");
                if let Some((below, above)) = staircase.distances() {
                    let value = staircase.of(&near);
                    prop_assert!(value >= &near - exactly(below) && value <= &near + exactly(above));
                }
            }
        }
    }

    #[test]
    fn jumps_divide_what_is_not_constant() {
        let quarters = (-14i32..14).map(|quarters| f64::from(quarters) / 4.0);
        let ends: Vec<f64> = quarters.flat_map(|x| [x.next_down(), x, x.next_up()]).collect();
        for staircase in ALL {
            for (i, &lo) in ends.iter().enumerate() {
                for &hi in &ends[i..] {
                    let Some(Jump { at, is_below }) = staircase.jump(lo, hi) else {
                        assert!(staircase.is_constant(lo, hi), "{staircase:?} {lo} {hi}");
                        continue;
                    };
                    // The ends of both sides, and different values beside the jump.
                    let (low, high) =
                        if is_below { (at, at.next_up()) } else { (at.next_down(), at) };
                    assert!(lo <= low && high <= hi, "{staircase:?} {lo} {hi}");
                    assert!(
                        staircase.value(low) < staircase.value(high),
                        "{staircase:?} {lo} {hi}"
                    );
                    assert!(staircase.jumps_at(at) && !staircase.jumps_at(at.next_up()));
                }
            }
        }
        assert_eq!(Staircase::Floor.jump(1e300, f64::INFINITY), None);
    }

    #[test]
    fn quotients_of_integers() {
        for staircase in ALL {
            for value in -40i64..40 {
                for unit in [1i64, 2, 3, 4, 7, 16] {
                    let quotient = Rational::new(value, unit).expect("not 0");
                    let found = staircase.of_quotient(value.into(), unit.into());
                    let found = found.and_then(|found| i64::try_from(found).ok());
                    assert_eq!(found.map(Rational::integer), Some(staircase.of(&quotient)));
                }
            }
        }
    }

    #[test]
    fn halves_round_to_even_integers() {
        let rounded = |x: f64| Staircase::Round.value(x);
        let values = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].map(rounded);
        assert_eq!(values.map(exactly), [-2, -2, 0, 0, 2, 2].map(Rational::integer));
        assert!(
            Staircase::Sign.value(f64::NAN).is_nan() && Staircase::Round.value(f64::NAN).is_nan()
        );
    }
}
