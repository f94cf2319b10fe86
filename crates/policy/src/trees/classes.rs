//! The classes of a classifier.

/// The classes of a classifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Classes {
    /// By name.
    Names(Vec<String>),
    /// By number.
    Numbers(Vec<i64>),
}

impl Classes {
    /// The classes as messages name them.
    pub(crate) fn shown(&self) -> Vec<String> {
        match self {
            Self::Names(names) => names.clone(),
            Self::Numbers(numbers) => numbers.iter().map(i64::to_string).collect(),
        }
    }
}
