//! What is read from a network file.

use crate::network::Network;

/// What a network file contains.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// The network.
    pub network: Network,
    /// What a user should know, for example that the file normalises its inputs.
    pub notes: Vec<String>,
}
