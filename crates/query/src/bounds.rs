//! Bounds of single variables that contradict each other: nothing else has to be looked at then.

use std::collections::BTreeMap;

use policert_numeric::{LinearInequality, Rational};

/// A bound, and whether it is strict.
type Bound = (Rational, bool);

/// Returns whether the inequalities with a single variable have no common solution. If not, all of
/// them together may still have none.
pub(super) fn contradict(inequalities: &[LinearInequality]) -> bool {
    let mut bounds: BTreeMap<usize, [Option<Bound>; 2]> = BTreeMap::new();
    for inequality in inequalities {
        let [(variable, coefficient)] = inequality.terms.as_slice() else { continue };
        let Some(value) = inequality.upper.checked_div(coefficient) else { continue };
        let is_upper = coefficient.signum() > 0;
        let bound = &mut bounds.entry(*variable).or_default()[usize::from(is_upper)];
        let tighter = bound.as_ref().is_none_or(|(old, strict)| {
            value == *old && !strict || (value < *old) == is_upper && value != *old
        });
        if tighter {
            *bound = Some((value, inequality.strict));
        }
    }
    bounds.values().any(|sides| match sides {
        [Some((lower, lower_strict)), Some((upper, upper_strict))] => {
            lower > upper || lower == upper && (*lower_strict || *upper_strict)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `factor · variable ≤ upper`, or `<`.
    fn inequality(variable: usize, factor: i64, upper: i64, strict: bool) -> LinearInequality {
        let term = (variable, Rational::integer(factor));
        LinearInequality::new([term], Rational::integer(upper), strict)
    }

    #[test]
    fn contradictions() {
        let (below, above) = (inequality(0, 2, 2, false), inequality(0, -3, -3, false));
        let strictly =
            |bound: &LinearInequality| LinearInequality { strict: true, ..bound.clone() };
        assert!(!contradict(&[]));
        assert!(!contradict(&[below.clone(), above.clone()]), "one point");
        assert!(contradict(&[below.clone(), strictly(&above)]));
        assert!(contradict(&[strictly(&below), below.clone(), above.clone()]));
        assert!(contradict(&[below.clone(), strictly(&below), above.clone()]));
        assert!(contradict(&[
            above.clone(),
            inequality(0, 1, 9, false),
            inequality(0, 1, 0, false)
        ]));
        assert!(!contradict(&[above, inequality(1, 1, 0, false)]), "different variables");
    }
}
