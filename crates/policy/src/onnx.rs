//! Reader and writer of ONNX files, as far as feed-forward networks need them.
//!
//! The graph is read for one state at a time: a symbolic or unnamed dimension is 1, so every shape
//! is known, and what a network computes for a state is a vector. Weights in single precision are
//! widened exactly. Whatever is not certainly understood is refused, naming node and operator.

mod activation;
pub(crate) mod attributes;
pub(crate) mod consistency;
mod declared;
mod graph;
mod linear;
pub(crate) mod proto;
mod reshape;
pub(crate) mod tensor;
mod writer;

#[cfg(test)]
mod tests;

use prost::Message;

use crate::error::PolicyError;
use crate::network::Network;
use proto::ModelProto;

pub use graph::SUPPORTED_OPERATORS;
pub use writer::write_onnx;

/// Reads a network from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the file is no valid ONNX model, or uses something that is not supported.
pub fn parse_onnx(name: &str, bytes: &[u8]) -> Result<Network, PolicyError> {
    parse(bytes).map_err(|error| error.in_file(name))
}

fn parse(bytes: &[u8]) -> Result<Network, PolicyError> {
    let model = decode(bytes)?;
    let (graph, version) = consistency::check(&model)?;
    graph::import(graph, version)
}

/// The messages of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<ModelProto, PolicyError> {
    ModelProto::decode(bytes)
        .map_err(|error| PolicyError::invalid("", format!("not an ONNX model: {error}")))
}
