//! What is asked, in the terms of reaching a target.

use policert_certify::OverStarts;
use policert_engine_api::Question;
use policert_explore::ReachQuestion;
use policert_jani::property::{
    Comparison, FilterFunction, Path, Quantity, Relation, StandardProperty,
};
use policert_mdp::{Bounds, Direction};
use policert_model::{Condition, SafetyProperty};
use policert_numeric::Rational;
use policert_outcome::Failure;

use crate::Problem;

/// A question about a probability.
#[derive(Clone, Debug)]
pub struct ProbabilityQuestion<'t> {
    /// What is to be reached, and what has to hold before.
    pub reach: ReachQuestion<'t>,
    /// The best probability of reaching it.
    pub direction: Direction,
    /// Whether the probability asked for is that of not reaching it.
    pub complement: bool,
    /// What becomes of the probabilities of the start states.
    pub function: FilterFunction,
    /// What each of them is compared with.
    pub comparison: Option<Comparison>,
}

impl<'t> ProbabilityQuestion<'t> {
    /// The question of a task; `bound`: whether the greatest probability is at most that.
    ///
    /// # Errors
    /// A standard property that is not supported, or one together with a bound.
    pub fn new(problem: &'t Problem, bound: Option<&Rational>) -> Result<Self, Failure> {
        match &problem.standard {
            Some(_) if bound.is_some() => Err(Failure::Usage(format!(
                "--bound goes with safety (PA) properties; `{}` is a standard property, which may \
                 have a bound of its own",
                problem.property.name
            ))),
            Some(standard) => Self::standard(problem.question(), standard),
            None => Ok(Self {
                reach: ReachQuestion { question: problem.question(), stay: Condition::True },
                direction: Direction::Max,
                complement: false,
                function: match bound {
                    Some(_) => FilterFunction::Forall,
                    None => FilterFunction::Max,
                },
                comparison: bound
                    .map(|bound| Comparison { relation: Relation::AtMost, bound: bound.clone() }),
            }),
        }
    }

    fn standard(question: Question<'t>, property: &StandardProperty) -> Result<Self, Failure> {
        let direction = direction(property)?;
        // What holds for ever is what never fails.
        let (stay, complement) = match &property.path {
            Path::Until { stay, .. } => (stay.clone(), false),
            Path::Globally(_) => (Condition::True, true),
        };
        Ok(Self {
            reach: ReachQuestion { question, stay },
            direction: match (direction, complement) {
                (direction, false) => direction,
                (Direction::Max, true) => Direction::Min,
                (Direction::Min, true) => Direction::Max,
            },
            complement,
            function: property.function,
            comparison: property.comparison.clone(),
        })
    }

    /// Which number the probabilities from the start states make; of a comparison, that of the start
    /// state that decides it: the hardest one where it is to hold for all, the easiest one where one
    /// suffices.
    #[must_use]
    pub fn over_starts(&self) -> OverStarts {
        let is_above = |comparison: &Comparison| match comparison.relation {
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

    /// Whether numbers are compared for being equal: no start state alone decides that.
    #[must_use]
    pub fn compares_equal(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| match comparison.relation {
            Relation::Equal | Relation::NotEqual => true,
            Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => false,
        })
    }

    /// Bounds of the probability asked for, from those of reaching the target.
    #[must_use]
    pub fn asked_for(&self, reached: &Bounds) -> Bounds {
        if !self.complement {
            return reached.clone();
        }
        let one = Rational::ONE;
        Bounds { lo: &one - &reached.hi, hi: &one - &reached.lo }
    }
}

/// Which probability a standard property asks for, if it is one that is supported.
///
/// # Errors
/// What is not supported of it.
pub fn direction(property: &StandardProperty) -> Result<Direction, Failure> {
    let refuse = |what: &str| {
        Failure::unsupported(format!("unsupported: property `{}`: {what}", property.name))
    };
    let direction = match property.quantity {
        Quantity::MaxProbability => Direction::Max,
        Quantity::MinProbability => Direction::Min,
        Quantity::Possible | Quantity::Certain => {
            return Err(refuse(
                "of properties about the existence of paths, ∃ F over some initial state and \
                 ∀ G over all initial states are supported; write Pmax or Pmin, or a safety (PA) \
                 property",
            ));
        }
    };
    if property.states.is_some() {
        return Err(refuse("filters over states other than the initial ones"));
    }
    match (property.function, &property.comparison) {
        (FilterFunction::Count | FilterFunction::ArgMin | FilterFunction::ArgMax, _) => {
            return Err(refuse("filters with count, argmin or argmax"));
        }
        (FilterFunction::Forall | FilterFunction::Exists, None) => {
            return Err(refuse("∀ or ∃ over numbers"));
        }
        (
            FilterFunction::Min | FilterFunction::Max | FilterFunction::Sum | FilterFunction::Avg,
            Some(_),
        ) => {
            return Err(refuse("min, max, sum or avg over truth values"));
        }
        _ => {}
    }
    Ok(direction)
}

/// Whether a standard property asks for reachability, as a safety property does: whether a state is
/// reachable from some initial state (`∃ F`), or whether all reachable states satisfy a condition
/// (`∀ G`). The unsafe states are then those that are looked for, or those that do not satisfy it.
#[must_use]
pub fn is_reachability(property: &StandardProperty, one_initial_state: bool) -> bool {
    let (wanted, plain) = match (property.quantity, &property.path) {
        (Quantity::Possible, Path::Until { stay: Condition::True, .. }) => {
            (FilterFunction::Exists, true)
        }
        // A state in which the condition has no value does not satisfy it, nor its negation.
        (Quantity::Certain, Path::Globally(condition)) => {
            (FilterFunction::Forall, condition.to_expr().is_total())
        }
        (Quantity::Possible | Quantity::Certain, _) => (FilterFunction::Forall, false),
        (Quantity::MaxProbability | Quantity::MinProbability, _) => (FilterFunction::Max, false),
    };
    let function = property.function;
    // Of a single state, both quantifiers are the value itself.
    let of_one = one_initial_state
        && matches!(
            function,
            FilterFunction::Exists | FilterFunction::Forall | FilterFunction::Values
        );
    plain
        && property.states.is_none()
        && property.comparison.is_none()
        && (function == wanted || of_one)
}

/// A safety property that stands for a standard one: its unsafe states are what is to be reached.
#[must_use]
pub fn reaching(property: &StandardProperty) -> SafetyProperty {
    SafetyProperty {
        name: property.name.clone(),
        start: None,
        unsafe_condition: match &property.path {
            Path::Until { target, .. } => target.clone(),
            Path::Globally(condition) => fails(condition),
        },
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}

/// Where a condition does not hold.
fn fails(condition: &Condition) -> Condition {
    condition.negate()
}
