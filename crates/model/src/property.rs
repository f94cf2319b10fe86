//! Safety properties: start states, unsafe states, goal, and predicates for abstraction.

use std::path::PathBuf;

use crate::Condition;

/// A state: the values of all state variables, in the order of `Model::variables`.
pub type State = Vec<i64>;

/// Start states that a property names.
#[derive(Clone, PartialEq, Debug)]
pub enum Start {
    /// All states that satisfy a condition.
    Condition(Condition),
    /// These states, possibly with repetitions.
    States(Vec<State>),
}

/// A predicate for abstraction.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicate {
    /// Its text as a person would write it.
    pub text: String,
    /// Its meaning.
    pub condition: Condition,
}

/// Is a state that satisfies `unsafe_condition` reachable from a start state?
#[derive(Clone, PartialEq, Debug)]
pub struct SafetyProperty {
    /// Its name.
    pub name: String,
    /// Start states besides the model's own initial ones; `None` for those alone.
    pub start: Option<Start>,
    /// φ_U: what must not be reached.
    pub unsafe_condition: Condition,
    /// The goal of the task, if it has one.
    pub goal: Option<Condition>,
    /// 𝒫: the predicates that come with the property, in the order of the file.
    pub predicates: Vec<Predicate>,
    /// The policy interface that the property names, resolved to a path.
    pub interface: Option<PathBuf>,
}
