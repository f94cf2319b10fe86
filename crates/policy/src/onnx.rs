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
mod operators;
pub(crate) mod proto;
mod reshape;
pub(crate) mod tensor;
mod writer;

#[cfg(test)]
mod tests;

use prost::Message;
use prost::bytes::Bytes;

use crate::error::PolicyError;
use crate::meter::Meter;
use crate::network::Network;
use proto::{ModelProto, OperatorsProto};

pub use operators::supported_operators;
pub use writer::write_onnx;

/// Reads a network from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the file is no valid ONNX model, or uses something that is not supported.
pub fn parse_onnx(name: &str, bytes: &[u8]) -> Result<Network, PolicyError> {
    let bytes = Bytes::copy_from_slice(bytes);
    parse(bytes, &mut Meter::default()).map_err(|error| error.in_file(name))
}

/// As [`parse_onnx`], within limits; the weights are not copied.
pub(crate) fn parse_within(
    name: &str,
    bytes: Vec<u8>,
    meter: &mut Meter,
) -> Result<Network, PolicyError> {
    parse(Bytes::from(bytes), meter).map_err(|error| error.in_file(name))
}

fn parse(bytes: Bytes, meter: &mut Meter) -> Result<Network, PolicyError> {
    let model = ModelProto::decode(bytes).map_err(no_model)?;
    let (graph, version) = consistency::check(&model)?;
    graph::import(graph, version, meter)
}

/// The operators of all nodes of a file; `None` if it is no ONNX model.
pub(crate) fn operators(bytes: &[u8]) -> Option<Vec<String>> {
    let graph = OperatorsProto::decode(bytes).ok()?.graph?;
    Some(graph.node.into_iter().map(|node| node.op_type).collect())
}

fn no_model(error: prost::DecodeError) -> PolicyError {
    PolicyError::invalid("", format!("not an ONNX model: {error}"))
}

/// The messages of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<ModelProto, PolicyError> {
    ModelProto::decode(bytes).map_err(no_model)
}
