//! From bounds of the start states to the answer.

use policert_jani::property::{Comparison, FilterFunction, Relation};
use policert_mdp::{Bounds, Direction};
use policert_numeric::Rational;

use super::induced::Found;
use super::question::Asked;
use crate::Failure;

/// The answer to a question about a probability.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Answer {
    /// Bounds of the number; of a comparison, those of the worst start state.
    pub bounds: Bounds,
    /// Whether the comparison holds, if there is one and the bounds tell.
    pub holds: Option<bool>,
    /// Whether there is no start state.
    pub vacuous: bool,
}

impl Answer {
    /// # Errors
    /// A filter that does not go with several start states.
    pub(super) fn new(asked: &Asked<'_>, found: &Found) -> Result<Self, Failure> {
        let mut values: Vec<Bounds> = found.reached.iter().map(|b| asked.asked_for(b)).collect();
        if asked.function == FilterFunction::Values && values.len() > 1 {
            return Err(Failure::unsupported(format!(
                "unsupported: property `{}`: the filter `values` where there are {} initial states",
                asked.reach.question.property.name,
                values.len()
            )));
        }
        let vacuous = values.is_empty() && found.starts_complete;
        if let (false, Some(reason)) = (found.starts_complete, found.stopped) {
            if matches!(asked.function, FilterFunction::Sum | FilterFunction::Avg) {
                return Err(Failure::Stopped(reason));
            }
            // Some more start states, of which nothing is known.
            values.push(Bounds::unknown());
        }
        let Some(comparison) = &asked.comparison else {
            let bounds = number(asked.function, &values);
            return Ok(Self { bounds, holds: None, vacuous });
        };
        let truths = values.iter().map(|bounds| truth(comparison, bounds));
        let holds = match asked.function {
            FilterFunction::Exists => any(truths),
            _ => any(truths.map(|truth| truth.map(|holds| !holds))).map(|fails| !fails),
        };
        Ok(Self { bounds: worst(comparison, &values), holds, vacuous })
    }
}

/// What a filter makes of numbers. Without any, the least probability there is.
fn number(function: FilterFunction, values: &[Bounds]) -> Bounds {
    let mut rest = values.iter().cloned();
    let Some(first) = rest.next() else { return Bounds::exact(Rational::ZERO) };
    match function {
        FilterFunction::Min => rest.fold(first, |a, b| a.best(b, Direction::Min)),
        FilterFunction::Sum => rest.fold(first, sum),
        FilterFunction::Avg => {
            let all = rest.fold(first, sum);
            let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
            let share = Rational::new(1, count).unwrap_or_default();
            Bounds { lo: &all.lo * &share, hi: &all.hi * &share }
        }
        _ => rest.fold(first, |a, b| a.best(b, Direction::Max)),
    }
}

fn sum(a: Bounds, b: Bounds) -> Bounds {
    Bounds { lo: &a.lo + &b.lo, hi: &a.hi + &b.hi }
}

/// Whether some truth value is true; `None` where that is open.
fn any(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(false);
    for truth in truths {
        match truth {
            Some(true) => return truth,
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

/// Whether a comparison holds for a number between bounds.
fn truth(comparison: &Comparison, bounds: &Bounds) -> Option<bool> {
    let Comparison { relation, bound } = comparison;
    let (lo, hi) = (relation.holds(&bounds.lo, bound), relation.holds(&bounds.hi, bound));
    match relation {
        // True between two points where it is true, and false between two where it is false.
        Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => {
            (lo == hi).then_some(lo)
        }
        Relation::Equal | Relation::NotEqual => {
            let apart = *bound < bounds.lo || *bound > bounds.hi;
            let is_point = bounds.lo == bounds.hi;
            (apart || is_point).then_some(lo)
        }
    }
}

/// The bounds of the start state for which the comparison is hardest.
fn worst(comparison: &Comparison, values: &[Bounds]) -> Bounds {
    match comparison.relation {
        Relation::Greater | Relation::AtLeast => number(FilterFunction::Min, values),
        _ => number(FilterFunction::Max, values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(lo: i64, hi: i64) -> Bounds {
        let tenth = |n| Rational::new(n, 10).expect("not 0");
        Bounds { lo: tenth(lo), hi: tenth(hi) }
    }

    fn compare(relation: Relation, tenths: i64) -> Comparison {
        Comparison { relation, bound: Rational::new(tenths, 10).expect("not 0") }
    }

    #[test]
    fn numbers_are_filtered() {
        let values = [bounds(1, 3), bounds(2, 4), bounds(0, 9)];
        assert_eq!(number(FilterFunction::Max, &values), bounds(2, 9));
        assert_eq!(number(FilterFunction::Min, &values), bounds(0, 3));
        assert_eq!(number(FilterFunction::Sum, &values), bounds(3, 16));
        assert_eq!(number(FilterFunction::Avg, &values[..2]).lo, Rational::new(3, 20).expect("0"));
    }

    #[test]
    fn comparisons_are_open_where_the_bounds_do_not_tell() {
        for (relation, tenths, expected) in [
            (Relation::AtMost, 3, Some(true)),
            (Relation::Less, 3, None),
            (Relation::AtLeast, 1, Some(true)),
            (Relation::Greater, 1, None),
            (Relation::Greater, 4, Some(false)),
            (Relation::Equal, 2, None),
            (Relation::NotEqual, 4, Some(true)),
            (Relation::Equal, 4, Some(false)),
        ] {
            let found = truth(&compare(relation, tenths), &bounds(1, 3));
            assert_eq!(found, expected, "{relation:?} {tenths}");
        }
        assert_eq!(truth(&compare(Relation::Equal, 2), &bounds(2, 2)), Some(true));
    }

    #[test]
    fn one_true_suffices() {
        assert_eq!(any([None, Some(true)].into_iter()), Some(true));
        assert_eq!(any([None, Some(false)].into_iter()), None);
        assert_eq!(any([Some(false)].into_iter()), Some(false));
    }
}
