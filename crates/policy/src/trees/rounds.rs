//! The rounds of training of an ensemble that count.

use crate::error::PolicyError;

/// The rounds of training that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rounds {
    /// Those up to the best one.
    #[default]
    Best,
    /// All.
    All,
    /// The first ones: so many.
    First(usize),
}

impl Rounds {
    /// The number of rounds that count in a file that has `all`, the last of which is the best one.
    pub(super) fn of(self, all: usize) -> Result<usize, PolicyError> {
        match self {
            Self::Best | Self::All => Ok(all),
            Self::First(count) if count <= all => Ok(count),
            Self::First(count) => {
                let message =
                    format!("the interface asks for the first {count} rounds, the file has {all}");
                Err(PolicyError::invalid("", message))
            }
        }
    }
}
