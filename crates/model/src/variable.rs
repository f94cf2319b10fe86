//! State variables: bounded integers, booleans as 0/1, and locations of automaton instances.

use policert_numeric::IntInterval;

use crate::InstanceId;

/// Says what the values of a variable stand for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VariableKind {
    /// An integer.
    Integer,
    /// A truth value: 0 is false, 1 is true.
    Boolean,
    /// The location of an instance: the position in its list of locations.
    Location {
        /// The instance whose location it is.
        instance: InstanceId,
        /// Names of the locations, by value.
        names: Vec<String>,
    },
}

/// A state variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Name for people: `x`, `A[2]` for a cell, `Car#0.v` for a local variable of instance 0,
    /// `Car#0` for a location.
    pub name: String,
    /// The meaning of its values.
    pub kind: VariableKind,
    /// Its values; unbounded sides are possible for integers.
    pub domain: IntInterval,
}

impl Variable {
    /// Returns how a person would write `value`: a truth value, a location's name, or the number.
    #[must_use]
    pub fn display_value(&self, value: i64) -> String {
        match &self.kind {
            VariableKind::Integer => value.to_string(),
            VariableKind::Boolean => (value != 0).to_string(),
            VariableKind::Location { names, .. } => usize::try_from(value)
                .ok()
                .and_then(|i| names.get(i))
                .map_or_else(|| value.to_string(), Clone::clone),
        }
    }

    /// Returns whether it is the location of an instance.
    #[must_use]
    pub fn is_location(&self) -> bool {
        matches!(self.kind, VariableKind::Location { .. })
    }
}
