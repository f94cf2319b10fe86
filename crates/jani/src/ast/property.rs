//! Properties: safety of a policy, and the standard ones.

use std::path::PathBuf;

pub use policert_model::FilterFunction;

use super::{BinaryOp, Expr, Name};
use crate::source::At;

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its place in the text.
    pub at: At,
    /// Its name.
    pub name: String,
    /// The question that it asks.
    pub kind: PropertyKind,
}

/// Says what a property asks.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// `PA`: whether a policy is safe.
    Policy(Box<PolicyProperty>),
    /// A property of the standard.
    Standard(Formula),
    /// Could not be read.
    Broken,
}

/// Says whether a policy is safe.
#[derive(Clone, Debug)]
pub struct PolicyProperty {
    /// The policy interface.
    pub interface: Option<PathBuf>,
    /// The states in which runs start, besides the initial states.
    pub start: Option<StateSet>,
    /// The states that must not be reached.
    pub reach: Option<StateSet>,
    /// The task.
    pub objective: Option<Objective>,
    /// Predicates for abstraction.
    pub predicates: Vec<Expr>,
}

/// A set of states.
#[derive(Clone, Debug)]
pub enum StateSet {
    /// All states in which an expression is true and instances are in locations.
    Condition {
        /// The expression; true if there is none.
        exp: Option<Expr>,
        /// The locations.
        locations: Vec<LocationRef>,
    },
    /// A list of states.
    Values {
        /// Its place in the text.
        at: At,
        /// The states.
        states: Vec<StateValues>,
    },
    /// The set of a label.
    Label(Name),
}

/// A location of an instance.
#[derive(Clone, Debug)]
pub struct LocationRef {
    /// Its place in the text.
    pub at: At,
    /// Name of the automaton.
    pub automaton: Name,
    /// Position of the instance among the elements of the system.
    pub index: Option<i64>,
    /// Name of the location.
    pub location: Name,
}

/// A state: what is not named keeps its initial value.
#[derive(Clone, Debug)]
pub struct StateValues {
    /// Its place in the text.
    pub at: At,
    /// Locations.
    pub locations: Vec<LocationRef>,
    /// Variables and cells with their values.
    pub variables: Vec<(Expr, Expr)>,
}

/// Says what a policy is to do.
#[derive(Clone, Debug)]
pub struct Objective {
    /// The states that are to be reached.
    pub goal: Option<StateSet>,
    /// Grows towards the goal; for training.
    pub potential: Option<Expr>,
    /// The reward of a step; for training.
    pub step_reward: Option<Expr>,
}

/// A named state set.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: Name,
    /// The states.
    pub set: StateSet,
}

/// A formula of a standard property.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its place in the text.
    pub at: At,
    /// Its kind.
    pub kind: FormulaKind,
}

/// Says what a formula is.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// A filter over states.
    Filter(Box<Filter>),
    /// `Pmin`, `Pmax`: the probability of paths.
    Probability(Extremum, Box<Formula>),
    /// `Smin`, `Smax`: the steady-state probability.
    SteadyState,
    /// `∀`, `∃` over paths; whether it is ∃.
    Quantifier(bool, Box<Formula>),
    /// `Emin`, `Emax`: an expected reward.
    Expectation,
    /// A path formula with one operand (`F`, `G`) or two (`U`, `W`, `R`).
    Path {
        /// The operator.
        operator: PathOperator,
        /// Its operands.
        operands: Vec<Formula>,
        /// True if it has bounds on steps, time or rewards.
        bounded: bool,
    },
    /// A Boolean or comparing operator over formulas.
    Binary(BinaryOp, Box<[Formula; 2]>),
    /// Negation.
    Not,
    /// An expression over states, without anything of the above.
    State(Expr),
    /// Something read, but never evaluated, by its operator.
    Other(String),
    /// Could not be read.
    Broken,
}

/// A filter.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The function that is applied to the values.
    pub function: FilterFunction,
    /// The values.
    pub values: Formula,
    /// The states.
    pub states: StatesFilter,
}

/// The states of a filter.
#[derive(Clone, Debug)]
pub enum StatesFilter {
    /// The initial states.
    Initial,
    /// States without transition.
    Deadlock,
    /// States in which time stops.
    Timelock,
    /// States that satisfy an expression.
    Expr(Expr),
}

/// Least or greatest, over the schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extremum {
    Min,
    Max,
}

/// Operators of path formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathOperator {
    Until,
    WeakUntil,
    Finally,
    Globally,
    Release,
}
