//! Options of the refinement.

use policert_engine_api::configuration::zero_is_none;
use serde::{Deserialize, Serialize};

/// Says how a variable is selected for a split on the policy's choice, among those in which the
/// concretisation and the witness differ. Variables whose value the path fixes come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitVariable {
    /// The one whose move changes the lead of the label's score most.
    #[default]
    Influence,
    /// The one in which they differ most.
    Distance,
    /// The first in the order of the model.
    First,
}

/// Says where a variable is split, between the values of concretisation and witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitPoint {
    /// At the point where the policy's choice changes on the way from the witness, found by
    /// bisection.
    #[default]
    Choice,
    /// In the middle.
    Middle,
    /// Next to the concretisation.
    #[serde(rename = "run")]
    Concretisation,
    /// Next to the witness.
    #[serde(rename = "other")]
    Witness,
}

/// Says how much one split on the policy's choice excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitUntil {
    /// All states of the abstract state in which the policy chooses the label.
    #[default]
    Refuted,
    /// One of them: a single predicate.
    #[serde(rename = "once")]
    Witness,
}

/// Options of splits on the policy's choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub struct SplitConfig {
    /// The rule for choosing the variable.
    #[serde(rename = "split-variable")]
    pub variable: SplitVariable,
    /// The rule for choosing the value at which it is split.
    #[serde(rename = "split-point")]
    pub point: SplitPoint,
    /// The states that the split is to exclude.
    #[serde(rename = "split-until")]
    pub until: SplitUntil,
}

/// Says where a predicate is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// To all abstract states, each when it is looked at next.
    #[default]
    Global,
    /// To the abstract state of the path that needs it.
    Local,
}

/// Says which requirements of a path that cannot be met give predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokenRequirements {
    /// The first one.
    #[default]
    First,
    /// The first one, and all that cannot be met either together with those that can.
    All,
}

/// In which order abstract states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchOrder {
    /// Those first that were close to an unsafe state on an earlier path, or are parts of such.
    #[default]
    Guided,
    /// Breadth-first: abstract unsafe paths are shortest.
    BreadthFirst,
}

/// Options of the refinement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub struct CegarConfig {
    /// In which order abstract states are visited.
    #[serde(rename = "search-order")]
    pub order: SearchOrder,
    /// Splits on the policy's choice.
    #[serde(flatten)]
    pub split: SplitConfig,
    /// The abstract states to which predicates are applied.
    pub scope: Scope,
    /// The requirements, of a path that cannot be met, that give predicates.
    #[serde(rename = "broken-requirements")]
    pub broken: BrokenRequirements,
    /// After how many boxes that bounds leave open a test about the policy is given up: the
    /// transition counts as possible then, and a refinement decides. `None` for never.
    /// [default: 8]
    #[serde(rename = "box-limit", with = "zero_is_none")]
    pub box_limit: Option<u64>,
}

impl Default for CegarConfig {
    fn default() -> Self {
        Self {
            order: SearchOrder::default(),
            split: SplitConfig::default(),
            scope: Scope::default(),
            broken: BrokenRequirements::default(),
            box_limit: Some(8),
        }
    }
}
