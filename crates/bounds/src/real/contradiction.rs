//! Bounds of single variables that contradict each other: nothing else has to be looked at then.

use std::collections::BTreeMap;

use policert_numeric::{LinearInequality, Rational};

/// A bound, and whether it is strict.
type Bound = (Rational, bool);

/// Returns whether the inequalities with a single variable have no common solution. If not, all of
/// them together may still have none.
#[must_use]
pub fn contradict(inequalities: &[LinearInequality]) -> bool {
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
    use policert_engine_api::Budget;
    use policert_policy::{ElementType, NetworkBuilder};

    use super::*;
    use crate::{RealAnswer, RealOracle};

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

    #[test]
    fn strict_bounds_without_a_value_between_them_leave_nothing_of_smooth_functions() {
        let mut builder = NetworkBuilder::new(1).expect("inputs");
        let output = builder.tanh(builder.input());
        let network = builder.finish(output, ElementType::F64);
        let mut budget = Budget::unlimited();
        let mut oracle = RealOracle::new(&network, vec![0], 1, &mut budget).expect("a network");
        let mut decide = |last: LinearInequality| {
            let bounds = [inequality(0, 1, 1, false), inequality(0, -1, -1, false), last];
            oracle.decide(&bounds, &mut budget).expect("no limit")
        };
        assert!(matches!(decide(inequality(0, 1, 1, true)), RealAnswer::Unsat));
        assert!(matches!(decide(inequality(1, 1, 1, true)), RealAnswer::Sat(_)));
    }
}
