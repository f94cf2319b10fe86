//! What is asked about a probability, in the terms of reaching a target.

use policert_engine_api::{Direction, ProbabilityAim};
use policert_jani::property::{FilterFunction, PathSet, Quantity, StandardProperty};
use policert_model::{Condition, SafetyProperty};
use policert_numeric::Rational;
use policert_outcome::Failure;

use crate::Problem;

impl Problem {
    /// Returns what is asked about a probability; `bound`: whether the greatest one is at most
    /// that.
    ///
    /// # Errors
    /// A standard property that is not supported, or one together with a bound.
    pub fn probability_aim(&self, bound: Option<Rational>) -> Result<ProbabilityAim, Failure> {
        let aim = match &self.standard {
            Some(_) if bound.is_some() => Err(Failure::Usage(format!(
                "--bound goes with safety (PA) properties; `{}` is a standard property, which may \
                 have a bound of its own",
                self.property.name
            ))),
            Some(standard) => aim_of(standard),
            None => Ok(ProbabilityAim::greatest(bound)),
        };
        Ok(ProbabilityAim { is_chain: self.is_markov_chain, ..aim? })
    }
}

fn aim_of(property: &StandardProperty) -> Result<ProbabilityAim, Failure> {
    let direction = direction(property)?;
    // What holds for ever is what never fails.
    let (stay, complement) = match &property.path {
        PathSet::Until { stay, .. } => (stay.clone(), false),
        PathSet::Globally(_) => (Condition::True, true),
    };
    Ok(ProbabilityAim {
        stay,
        direction: match (direction, complement) {
            (direction, false) => direction,
            (Direction::Max, true) => Direction::Min,
            (Direction::Min, true) => Direction::Max,
        },
        complement,
        function: property.function,
        comparison: property.comparison.clone(),
        ..ProbabilityAim::greatest(None)
    })
}

/// Returns the probability that a standard property asks for, if it is one that is supported.
///
/// # Errors
/// Fails if the property is not supported, and says what in it is not.
pub fn direction(property: &StandardProperty) -> Result<Direction, Failure> {
    let refuse = |what: &str| {
        Failure::unsupported(format!("unsupported: property `{}`: {what}", property.name))
    };
    let direction = match property.quantity {
        Quantity::MaxProbability => Direction::Max,
        Quantity::MinProbability => Direction::Min,
        Quantity::Possible | Quantity::Certain => return Err(refuse(about_paths(property))),
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

/// Returns whether a standard property asks for reachability, as a safety property does: whether a
/// state is reachable from some initial state (`∃ F`), or whether all reachable states satisfy a
/// condition (`∀ G`). The unsafe states are then those that are looked for, or those that do not
/// satisfy it.
#[must_use]
pub fn is_reachability(property: &StandardProperty, one_initial_state: bool) -> bool {
    let (wanted, plain) = match (property.quantity, &property.path) {
        (Quantity::Possible, PathSet::Until { stay: Condition::True, .. }) => {
            (FilterFunction::Exists, true)
        }
        // A state in which the condition has no value does not satisfy it, nor its negation.
        (Quantity::Certain, PathSet::Globally(condition)) => {
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

/// Names the unsupported part of a property about the existence of paths.
fn about_paths(property: &StandardProperty) -> &'static str {
    match (property.quantity, &property.path) {
        (Quantity::Certain, PathSet::Globally(condition)) if !condition.to_expr().is_total() => {
            "∀ G of a condition that may have no value, as by a division; write a condition that \
             has a value in every state, or a safety (PA) property"
        }
        _ => {
            "of properties about the existence of paths, ∃ F over some initial state and \
             ∀ G over all initial states are supported; write Pmax or Pmin, or a safety (PA) \
             property"
        }
    }
}

/// A safety property that stands for a standard one: its unsafe states are what is to be reached.
#[must_use]
pub fn reaching(property: &StandardProperty) -> SafetyProperty {
    SafetyProperty {
        name: property.name.clone(),
        start: None,
        unsafe_condition: match &property.path {
            PathSet::Until { target, .. } => target.clone(),
            PathSet::Globally(condition) => fails(condition),
        },
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}

/// Returns where a condition does not hold.
fn fails(condition: &Condition) -> Condition {
    condition.negate()
}

/// Returns what a verdict says about a standard property that is answered as a safety property.
pub(crate) fn as_safety(standard: &StandardProperty) -> String {
    let name = &standard.name;
    match standard.quantity {
        Quantity::Possible => format!(
            "property `{name}` asks whether a state is reachable: unsafe means that it is, and the \
             property holds; safe means that it does not hold"
        ),
        Quantity::Certain | Quantity::MaxProbability | Quantity::MinProbability => format!(
            "property `{name}` asks whether all reachable states satisfy a condition: safe means that \
             the property holds, unsafe that a state that does not satisfy it is reachable"
        ),
    }
}
