//! Properties as the engines ask them: safety of a policy, and the standard ones that this
//! program answers.

use policert_model::{Condition, Expr, SafetyProperty};
pub use policert_model::{FilterFunction, QuantityComparison, Relation};

/// A property over the model's variables.
#[derive(Clone, PartialEq, Debug)]
pub enum Property {
    /// The question whether unsafe states are reachable from start states.
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

/// Holds what the objective of a safety property says for training, besides the goal. Whatever
/// cannot be read is left out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TrainingRewards {
    /// Grows towards the goal.
    pub potential: Option<Expr>,
    /// The reward of a step that leads to a state. Files do not agree on its sign.
    pub step_reward: Option<Expr>,
}

/// A filter over states of a quantity of paths, possibly compared with a bound.
#[derive(Clone, PartialEq, Debug)]
pub struct StandardProperty {
    /// Its name.
    pub name: String,
    /// The function that is applied to the values of the states.
    pub function: FilterFunction,
    /// The states: those that satisfy the condition; `None` for the initial ones.
    pub states: Option<Condition>,
    /// The quantity.
    pub quantity: Quantity,
    /// The paths.
    pub path: PathSet,
    /// The bound that the quantity is compared with.
    pub comparison: Option<QuantityComparison>,
}

/// Says what is asked of paths from a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// The question whether there is such a path.
    Possible,
    /// The question whether all paths are of the set.
    Certain,
    /// The greatest probability over all schedulers.
    MaxProbability,
    /// The least probability over all schedulers.
    MinProbability,
}

/// A set of paths.
#[derive(Clone, PartialEq, Debug)]
pub enum PathSet {
    /// `stay` holds until `target` does, and it does at some time.
    Until {
        /// The condition that holds before; true for "finally".
        stay: Condition,
        /// The condition that is reached.
        target: Condition,
    },
    /// It holds for ever.
    Globally(Condition),
}
