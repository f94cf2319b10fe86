//! Variables of an instance, and the predicates that are made of them.

/// A variable over integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub lower: i64,
    pub upper: i64,
    pub initial: i64,
    pub role: Role,
    /// True if the policy reads it.
    pub is_input: bool,
}

impl Variable {
    /// A variable that the policy reads.
    pub fn new(name: impl Into<String>, lower: i64, upper: i64, initial: i64) -> Self {
        Self { name: name.into(), lower, upper, initial, role: Role::Main, is_input: true }
    }

    /// A cost, which the policy reads or not.
    pub fn cost(name: impl Into<String>, upper: i64, is_input: bool) -> Self {
        Self { role: Role::Cost, is_input, ..Self::new(name, 0, upper, 0) }
    }

    /// A variable that the policy does not read, and predicates do not speak of.
    pub fn hidden(name: impl Into<String>, lower: i64, upper: i64, initial: i64) -> Self {
        Self { role: Role::Hidden, is_input: false, ..Self::new(name, lower, upper, initial) }
    }
}

/// Says what predicates are made of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Predicates from the first set on.
    Main,
    /// Predicates in the last set only.
    Cost,
    /// No predicates.
    Hidden,
}
