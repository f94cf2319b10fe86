//! Questions about probabilities, and bounds of them.

use policert_model::{Condition, FilterFunction, QuantityComparison, Region, Relation, State};
use policert_numeric::Rational;
use serde::{Deserialize, Serialize};

/// Says which probability over all schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl Direction {
    /// Returns whether `a` is better than `b`.
    #[inline]
    #[must_use]
    pub fn is_better<T: PartialOrd + ?Sized>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Max => a > b,
            Self::Min => a < b,
        }
    }
}

/// Says which number the greatest probabilities from the start states make.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverStarts {
    /// The greatest of them.
    #[default]
    Greatest,
    /// The least of them.
    Least,
    /// Their sum.
    Sum,
    /// Their mean.
    Average,
}

impl OverStarts {
    /// The number that these values make; 0 without any.
    #[must_use]
    pub fn of(self, values: &[Rational]) -> Rational {
        let greatest = |a: Rational, b: &Rational| a.max(b.clone());
        let least = |a: Rational, b: &Rational| a.min(b.clone());
        let sum = |a: Rational, b: &Rational| &a + b;
        let Some((first, rest)) = values.split_first() else { return Rational::ZERO };
        let first = first.clone();
        match self {
            Self::Greatest => rest.iter().fold(first, greatest),
            Self::Least => rest.iter().fold(first, least),
            Self::Sum => rest.iter().fold(first, sum),
            Self::Average => {
                let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
                &rest.iter().fold(first, sum) * &Rational::new(1, count).unwrap_or_default()
            }
        }
    }
}

/// Bounds of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbabilityBounds {
    /// Lower bound.
    pub lo: Rational,
    /// Upper bound.
    pub hi: Rational,
}

impl ProbabilityBounds {
    /// Nothing is known of a probability.
    #[must_use]
    pub fn unknown() -> Self {
        Self { lo: Rational::ZERO, hi: Rational::ONE }
    }

    /// One value.
    #[must_use]
    pub fn exact(value: Rational) -> Self {
        Self { lo: value.clone(), hi: value }
    }

    /// Between two doubles.
    #[must_use]
    pub fn of_floats([lo, hi]: [f64; 2]) -> Self {
        let lo = Rational::from_f64(lo).unwrap_or(Rational::ZERO);
        Self { lo, hi: Rational::from_f64(hi).unwrap_or(Rational::ONE) }
    }

    /// Upper bound minus lower bound.
    #[must_use]
    pub fn width(&self) -> Rational {
        &self.hi - &self.lo
    }

    /// Returns whether they are at most this far apart.
    #[must_use]
    pub fn is_narrow(&self, precision: f64) -> bool {
        Rational::from_f64(precision).is_some_and(|precision| self.width() <= precision)
    }

    /// The bounds of the best of two values.
    #[must_use]
    pub fn best(self, other: Self, direction: Direction) -> Self {
        match direction {
            Direction::Max => Self { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) },
            Direction::Min => Self { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) },
        }
    }
}

/// A state with bounds of its value: 64-bit numbers that are meant exactly.
#[derive(Clone, PartialEq, Debug)]
pub struct ValuedState {
    /// The state.
    pub state: State,
    /// Lower and upper bound.
    pub bounds: [f64; 2],
}

/// Upper bounds of the greatest probability of reaching an unsafe state, by piece.
#[derive(Clone, PartialEq, Debug)]
pub struct ValuedPieces {
    /// Sets of states, each with a bound that holds from all of its states: a 64-bit number that is meant
    /// exactly. States in no piece have the bound 1.
    pub pieces: Vec<(Region<Condition>, f64)>,
    /// The bound that is claimed of every start state.
    pub start: Rational,
}

/// What a claim about a probability rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimedValues {
    /// Bounds by state.
    pub states: Vec<ValuedState>,
    /// Upper bounds by piece, for engines that do not enumerate states.
    pub pieces: Option<ValuedPieces>,
}

impl From<Vec<ValuedState>> for ClaimedValues {
    fn from(states: Vec<ValuedState>) -> Self {
        Self { states, pieces: None }
    }
}

/// A question about the probability of reaching an unsafe state.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbabilityAim {
    /// The condition that has to hold until an unsafe state is reached; a run that comes to another
    /// state before has failed.
    pub stay: Condition,
    /// The best probability of reaching it.
    pub direction: Direction,
    /// True if the probability of not reaching it is asked for.
    pub complement: bool,
    /// The function that is applied to the probabilities of the start states.
    pub function: FilterFunction,
    /// The bound that each of them is compared with.
    pub comparison: Option<QuantityComparison>,
    /// Width of the interval; `None` for that which the engine has by default.
    pub precision: Option<f64>,
    /// True if the exact value is wanted.
    pub exact: bool,
    /// True if the model calls itself a Markov chain: several operators in a state are no choice
    /// then.
    pub is_chain: bool,
}

impl ProbabilityAim {
    /// Asks for the greatest probability from any start state, or whether it is at most `bound`.
    #[must_use]
    pub fn greatest(bound: Option<Rational>) -> Self {
        Self {
            stay: Condition::True,
            direction: Direction::Max,
            complement: false,
            function: match bound {
                Some(_) => FilterFunction::Forall,
                None => FilterFunction::Max,
            },
            comparison: bound.map(|bound| QuantityComparison { relation: Relation::AtMost, bound }),
            precision: None,
            exact: false,
            is_chain: false,
        }
    }

    /// Returns which number the probabilities from the start states make; of a comparison, that of
    /// the start state that decides it: the hardest one where it is to hold for all, the easiest
    /// one where one suffices.
    #[must_use]
    pub fn over_starts(&self) -> OverStarts {
        let is_above = |comparison: &QuantityComparison| match comparison.relation {
            Relation::Greater | Relation::AtLeast => true,
            Relation::Less | Relation::AtMost | Relation::Equal | Relation::NotEqual => false,
        };
        match (&self.comparison, self.function) {
            (Some(comparison), FilterFunction::Exists) if is_above(comparison) => {
                OverStarts::Greatest
            }
            (Some(_), FilterFunction::Exists) => OverStarts::Least,
            (Some(comparison), _) if is_above(comparison) => OverStarts::Least,
            (Some(_), _) => OverStarts::Greatest,
            (None, FilterFunction::Min) => OverStarts::Least,
            (None, FilterFunction::Sum) => OverStarts::Sum,
            (None, FilterFunction::Avg) => OverStarts::Average,
            (
                None,
                FilterFunction::Max
                | FilterFunction::Values
                | FilterFunction::Forall
                | FilterFunction::Exists
                | FilterFunction::Count
                | FilterFunction::ArgMin
                | FilterFunction::ArgMax,
            ) => OverStarts::Greatest,
        }
    }

    /// Returns whether numbers are compared for being equal: no start state alone decides that.
    #[must_use]
    pub fn compares_equal(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| match comparison.relation {
            Relation::Equal | Relation::NotEqual => true,
            Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => false,
        })
    }

    /// Bounds of the probability asked for, from those of reaching an unsafe state.
    #[must_use]
    pub fn asked_for(&self, reached: &ProbabilityBounds) -> ProbabilityBounds {
        if !self.complement {
            return reached.clone();
        }
        let one = Rational::ONE;
        ProbabilityBounds { lo: &one - &reached.hi, hi: &one - &reached.lo }
    }
}
