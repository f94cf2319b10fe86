//! From bounds of the start states to the number that is asked for.

use policert_engine_api::{EngineError, OverStarts, ProbabilityAim, ProbabilityBounds, Question};
use policert_model::{FilterFunction, QuantityComparison, Relation};
use policert_numeric::Rational;

use super::induced::Found;

/// Says what the filter makes of the bounds of the start states.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Filtered {
    /// Bounds of the number; of a comparison, those of the start state that decides it.
    pub bounds: ProbabilityBounds,
    /// The truth of the comparison; `None` without a comparison, or if the bounds do not decide it.
    pub holds: Option<bool>,
    /// True if there is no start state.
    pub vacuous: bool,
}

impl Filtered {
    /// # Errors
    /// A filter that does not go with several start states.
    pub(super) fn new(
        question: &Question<'_>,
        asked: &ProbabilityAim,
        found: &Found,
    ) -> Result<Self, EngineError> {
        let mut values: Vec<ProbabilityBounds> =
            found.reached.iter().map(|b| asked.asked_for(b)).collect();
        if asked.function == FilterFunction::Values && values.len() > 1 {
            return Err(EngineError::Unsupported(format!(
                "property `{}`: the filter `values` where there are {} initial states",
                question.property.name,
                values.len()
            )));
        }
        let vacuous = values.is_empty() && found.starts_complete;
        if let (false, Some(reason)) = (found.starts_complete, found.stopped) {
            if matches!(asked.function, FilterFunction::Sum | FilterFunction::Avg) {
                return Err(reason.into());
            }
            // Some more start states, of which nothing is known.
            values.push(ProbabilityBounds::unknown());
        }
        let Some(comparison) = &asked.comparison else {
            let bounds = number(asked.over_starts(), &values);
            return Ok(Self { bounds, holds: None, vacuous });
        };
        let truths = values.iter().map(|bounds| truth(comparison, bounds));
        let holds = match asked.function {
            FilterFunction::Exists => any(truths),
            _ => any(truths.map(|truth| truth.map(|holds| !holds))).map(|fails| !fails),
        };
        Ok(Self { bounds: number(asked.over_starts(), &values), holds, vacuous })
    }
}

/// The number that those from the start states make.
fn number(over: OverStarts, values: &[ProbabilityBounds]) -> ProbabilityBounds {
    let ends =
        |end: fn(&ProbabilityBounds) -> &Rational| values.iter().map(|b| end(b).clone()).collect();
    let (lo, hi): (Vec<_>, Vec<_>) = (ends(|b| &b.lo), ends(|b| &b.hi));
    ProbabilityBounds { lo: over.of(&lo), hi: over.of(&hi) }
}

/// Returns whether some truth value is true; `None` where that is open.
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

/// Returns whether a comparison holds for a number between bounds.
pub(crate) fn truth(comparison: &QuantityComparison, bounds: &ProbabilityBounds) -> Option<bool> {
    let QuantityComparison { relation, bound } = comparison;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(lo: i64, hi: i64) -> ProbabilityBounds {
        let tenth = |n| Rational::new(n, 10).expect("not 0");
        ProbabilityBounds { lo: tenth(lo), hi: tenth(hi) }
    }

    fn compare(relation: Relation, tenths: i64) -> QuantityComparison {
        QuantityComparison { relation, bound: Rational::new(tenths, 10).expect("not 0") }
    }

    #[test]
    fn numbers_are_filtered() {
        let values = [bounds(1, 3), bounds(2, 4), bounds(0, 9)];
        assert_eq!(number(OverStarts::Greatest, &values), bounds(2, 9));
        assert_eq!(number(OverStarts::Least, &values), bounds(0, 3));
        assert_eq!(number(OverStarts::Sum, &values), bounds(3, 16));
        assert_eq!(number(OverStarts::Average, &values[..2]).lo, Rational::new(3, 20).expect("0"));
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
