//! Options of the refinement.

/// How a variable is selected for a split on the policy's choice, among those in which the
/// concretisation and the witness differ. Variables whose value the path fixes come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SplitVariable {
    /// The one whose move changes the lead of the label's score most.
    #[default]
    Influence,
    /// The one in which they differ most.
    Distance,
    /// The first in the order of the model.
    First,
}

/// Where a variable is split, between the values of concretisation and witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SplitPoint {
    /// Where the policy's choice changes on the way from the witness, by bisection.
    #[default]
    Choice,
    /// In the middle.
    Middle,
    /// Next to the concretisation.
    Concretisation,
    /// Next to the witness.
    Witness,
}

/// How much one split on the policy's choice excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SplitUntil {
    /// All states of the abstract state in which the policy chooses the label.
    #[default]
    Refuted,
    /// One of them: a single predicate.
    Witness,
}

/// Options of splits on the policy's choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SplitConfig {
    /// Which variable.
    pub variable: SplitVariable,
    /// Where.
    pub point: SplitPoint,
    /// How much.
    pub until: SplitUntil,
}

/// Where a predicate is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// To all abstract states, each when it is looked at next.
    #[default]
    Global,
    /// To the abstract state of the path that needs it.
    Local,
}

/// Which requirements of a path that cannot be met give predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BrokenRequirements {
    /// The first one.
    #[default]
    First,
    /// The first one, and all that cannot be met either together with those that can.
    All,
}

/// In which order abstract states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchOrder {
    /// Those first that were close to an unsafe state on an earlier path, or are parts of such.
    #[default]
    Guided,
    /// Breadth-first: abstract unsafe paths are shortest.
    BreadthFirst,
}

/// Options of the refinement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CegarConfig {
    /// In which order abstract states are visited.
    pub order: SearchOrder,
    /// Splits on the policy's choice.
    pub split: SplitConfig,
    /// Where predicates are applied.
    pub scope: Scope,
    /// Which requirements of a path that cannot be met give predicates.
    pub broken: BrokenRequirements,
    /// After how many boxes that bounds leave open a test about the policy is given up: the
    /// transition counts as possible then, and a refinement decides. `None` for never.
    /// [default: 8]
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
