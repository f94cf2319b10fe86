//! Why an instance cannot be generated.

use thiserror::Error;

/// Says why an instance cannot be generated.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A size or option outside of its range.
    #[error("{what} must be {low} to {high}, not {given}")]
    Range {
        /// The option or size.
        what: &'static str,
        /// The least value.
        low: i64,
        /// The greatest value.
        high: i64,
        /// The given value.
        given: i64,
    },
    /// A probability that is none.
    #[error("{what} must be a decimal number from 0 to 1, not `{given}`")]
    Probability {
        /// The option.
        what: &'static str,
        /// The given text.
        given: String,
    },
    /// A track that cannot be read.
    #[error("track, line {line}: {what}")]
    Track {
        /// Line, from 1.
        line: usize,
        /// The problem in words.
        what: String,
    },
    /// A model whose states are to be drawn, and whose variables are of no known domain.
    #[error(
        "the variables of the model are of no domain that is drawn: blocksworld, npuzzle, \
         transport, racetrack, beluga or the icy road"
    )]
    NoPicture,
    /// A map for a model that is no racetrack.
    #[error("the variables of the model are those of {0}; a map goes with a racetrack")]
    NoRacetrack(&'static str),
    /// Options that do not fit together.
    #[error("{0}")]
    Conflict(String),
}

/// The value if it lies in the range.
pub(crate) fn in_range(
    what: &'static str,
    given: i64,
    low: i64,
    high: i64,
) -> Result<i64, GenerateError> {
    if (low..=high).contains(&given) {
        Ok(given)
    } else {
        Err(GenerateError::Range { what, low, high, given })
    }
}
