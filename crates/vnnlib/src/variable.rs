//! The variables of a property: inputs and outputs of the network.

use std::fmt;

/// An input or an output of the network; inputs come first in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Variable {
    Input(usize),
    Output(usize),
}

impl Variable {
    /// From `X_3` or `Y_0`.
    pub fn from_name(name: &str) -> Option<Self> {
        let (kind, index) = name.split_once('_')?;
        let canonical = index == "0" || !index.starts_with('0');
        if !canonical || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let index = index.parse().ok()?;
        match kind {
            "X" => Some(Self::Input(index)),
            "Y" => Some(Self::Output(index)),
            _ => None,
        }
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(index) => write!(f, "X_{index}"),
            Self::Output(index) => write!(f, "Y_{index}"),
        }
    }
}
