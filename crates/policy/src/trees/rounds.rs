//! The rounds of training of an ensemble that count.

use crate::error::PolicyError;

/// Which rounds of training count, where a file says which one was the best.
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
    /// How many rounds count of a file that has `all`, the best one of which is the last.
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
