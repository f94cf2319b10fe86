//! Properties as the engines ask them: safety of a policy, and the standard ones that this
//! program answers.

use policert_model::{Condition, Expr, SafetyProperty};
use policert_numeric::Rational;

pub use crate::ast::FilterFunction;

/// A property over the model's variables.
#[derive(Clone, PartialEq, Debug)]
pub enum Property {
    /// Whether unsafe states are reachable from start states.
    Safety(SafetyProperty),
    /// A standard property: possibility or probability of paths.
    Standard(StandardProperty),
}

impl Property {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Safety(safety) => &safety.name,
            Self::Standard(standard) => &standard.name,
        }
    }
}

/// What the objective of a safety property says for training, beside the goal. Whatever cannot be
/// read is left out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TrainingRewards {
    /// Grows towards the goal.
    pub potential: Option<Expr>,
    /// What a step that leads to a state is worth. Files do not agree on its sign.
    pub step_reward: Option<Expr>,
}

/// A filter over states of a quantity of paths, possibly compared with a bound.
#[derive(Clone, PartialEq, Debug)]
pub struct StandardProperty {
    /// Its name.
    pub name: String,
    /// What becomes of the values of the states.
    pub function: FilterFunction,
    /// The states: those that satisfy the condition; `None` for the initial ones.
    pub states: Option<Condition>,
    /// The quantity.
    pub quantity: Quantity,
    /// The paths.
    pub path: Path,
    /// What the quantity is compared with.
    pub comparison: Option<Comparison>,
}

/// What is asked of paths from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Whether there is such a path.
    Possible,
    /// Whether all paths are so.
    Certain,
    /// The greatest probability over all schedulers.
    MaxProbability,
    /// The least probability over all schedulers.
    MinProbability,
}

/// A set of paths.
#[derive(Clone, PartialEq, Debug)]
pub enum Path {
    /// `stay` holds until `target` does, and it does at some time.
    Until {
        /// What holds before; true for "finally".
        stay: Condition,
        /// What is reached.
        target: Condition,
    },
    /// It holds for ever.
    Globally(Condition),
}

/// A comparison of a quantity with a bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// How: the quantity is on the left.
    pub relation: Relation,
    /// The bound.
    pub bound: Rational,
}

/// A relation between numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    NotEqual,
}

impl Relation {
    /// The relation that holds between exchanged sides.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }

    /// Whether it holds.
    #[must_use]
    pub fn holds(self, left: &Rational, right: &Rational) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}
