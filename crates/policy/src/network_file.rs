//! What is read from a network file.

use crate::network::Network;

/// The content of a network file.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// The network.
    pub network: Network,
    /// Remarks for the user, for example that the file normalises its inputs.
    pub notes: Vec<String>,
}
