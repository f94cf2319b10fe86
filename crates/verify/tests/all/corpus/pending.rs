//! The policies of the collection that are not answered as expected yet.

/// Something that the reader of ONNX does not know.
const ONNX: &str = "graphs of ONNX";

/// Folder, and what it waits for.
#[rustfmt::skip]
pub const PENDING: &[(&str, &str)] = &[
    ("torch-layernorm", ONNX),
];
