//! Reader and writer of ONNX files, as far as feed-forward networks need them.
//!
//! The graph is read for one state at a time: a symbolic or unnamed dimension is 1, so every shape
//! is known, and what a network computes for a state is a vector. Weights in single precision are
//! widened exactly. Whatever is not certainly understood is refused, naming node and operator.

mod activation;
pub(crate) mod attributes;
mod call;
mod classical;
pub(crate) mod consistency;
mod constants;
mod declared;
mod discrete;
mod external;
mod functions;
mod gates;
mod graph;
mod inputs;
mod linear;
mod normalise;
mod operators;
mod order;
mod output;
mod powers;
pub(crate) mod proto;
mod quantised;
mod reduce;
mod reshape;
mod select;
mod support_vectors;
pub(crate) mod tensor;
mod unread;
mod value;
mod window;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;

use policert_numeric::{IntInterval, Interval};
use prost::Message;
use prost::bytes::Bytes;

use crate::error::PolicyError;
use crate::interface::InputGroup;
use crate::meter::Meter;
use crate::network::Network;
use crate::trees::Classes;
use proto::{ModelProto, OperatorsProto};

pub use graph::GraphInput;
pub use operators::supported_operators;
pub(crate) use operators::{CLASSICAL, RUNTIME};
pub use output::Head;
pub use writer::write_onnx;

/// The content of an ONNX file.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxFile {
    /// The network.
    pub network: Network,
    /// The name of the graph's output that is the policy.
    pub output: String,
    /// The meaning of the graph's output, in terms of the outputs of the network.
    pub head: Head,
    /// The classes in the order of the outputs, if the file names them.
    pub classes: Option<Classes>,
    /// The inputs of the graph, in the order of the inputs of the network; without masks.
    pub inputs: Vec<GraphInput>,
    /// For each input of the network that must be an integer: in which range.
    pub needs: Vec<Option<IntInterval>>,
    /// The score that labels get which are not applicable, if the graph itself sets it.
    pub masked: Option<f64>,
    /// True if the probabilities of a policy that draws are the softmax of the outputs of the network.
    pub draws_by_softmax: bool,
    /// True if functions that have no value everywhere were read as if they had.
    pub assumes_ranges: bool,
    /// Other files with numbers of the network.
    pub data_files: Vec<std::path::PathBuf>,
    /// Remarks for the user on how the graph was read.
    pub remarks: Vec<String>,
}

/// Reads a network from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the file is no valid ONNX model, or uses something that is not supported: such as numbers in
/// another file.
pub fn parse_onnx(name: &str, bytes: &[u8]) -> Result<Network, PolicyError> {
    let bytes = Bytes::copy_from_slice(bytes);
    let read = parse(bytes, &Reading::default(), &mut Meter::default());
    read.map(|file| file.network).map_err(|error| error.in_file(name))
}

/// The settings for reading a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading<'a> {
    /// The folder of the model, for numbers in other files.
    pub folder: Option<&'a Path>,
    /// The output that is the policy, if it is named.
    pub output: Option<&'a str>,
    /// The sources of the graph's inputs, if the interface gives them.
    pub groups: &'a [InputGroup],
    /// What is known of the inputs of the network.
    pub ranges: Ranges<'a>,
    /// True if constants stay apart that are written apart, but for products and their biases.
    pub as_written: bool,
}

/// What is known of the inputs of a network while its file is read. Functions such as 1/x are read where
/// their arguments are certainly such that they have a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Ranges<'a> {
    /// Nothing: they may be any real numbers.
    #[default]
    Any,
    /// Their ranges follow when the file is read again. Until then functions have values everywhere, and
    /// the network is of no use but to count its inputs and outputs.
    Later,
    /// One range for each input.
    Given(&'a [Interval]),
}

/// As [`parse_onnx`], within limits; the weights are not copied.
pub(crate) fn parse_within(
    name: &str,
    bytes: Vec<u8>,
    reading: &Reading<'_>,
    meter: &mut Meter,
) -> Result<OnnxFile, PolicyError> {
    parse(Bytes::from(bytes), reading, meter).map_err(|error| error.in_file(name))
}

fn parse(bytes: Bytes, reading: &Reading<'_>, meter: &mut Meter) -> Result<OnnxFile, PolicyError> {
    let mut model = ModelProto::decode(bytes).map_err(no_model)?;
    functions::inline(&mut model, meter)?;
    consistency::check(&model)?;
    let data_files = external::resolve(&mut model, reading.folder, meter)?;
    let (graph, version) = consistency::check(&model)?;
    let file = graph::import(graph, version, reading, meter)?;
    Ok(OnnxFile { data_files, ..file })
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
    let mut model = ModelProto::decode(bytes).map_err(no_model)?;
    functions::inline(&mut model, &mut Meter::default())?;
    Ok(model)
}
