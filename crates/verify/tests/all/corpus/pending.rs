//! The policies of the collection that are not answered as expected yet.

/// Something that the reader of ONNX does not know.
const ONNX: &str = "graphs of ONNX";
/// Several inputs of a graph, and masks of applicable actions.
const INTERFACE: &str = "several inputs of a graph";

/// Folder, and what it waits for.
#[rustfmt::skip]
pub const PENDING: &[(&str, &str)] = &[
    ("a2c-discrete-legacy17", ONNX),
    ("a2c-docs-legacy20", ONNX),
    ("dqn-discrete-computed", ONNX),
    ("dqn-discrete-dynamo", ONNX),
    ("dqn-discrete-legacy17", ONNX),
    ("dqn-docs-dynamo", ONNX),
    ("dqn-docs-legacy17", ONNX),
    ("dqn-elu", ONNX),
    ("dqn-gelu", ONNX),
    ("dqn-leakyrelu", ONNX),
    ("dqn-multidiscrete-legacy18", ONNX),
    ("dqn-silu", ONNX),
    ("dqn-tanh", ONNX),
    ("keras-batchnorm-softmax", ONNX),
    ("maskableppo-docs", ONNX),
    ("maskableppo-mask-second", INTERFACE),
    ("ppo-actionnet-dynamo", ONNX),
    ("ppo-cart-relu", ONNX),
    ("ppo-dict", INTERFACE),
    ("ppo-docs-legacy17", ONNX),
    ("ppo-multidiscrete", ONNX),
    ("ppo-vecnormalize", ONNX),
    ("ppo-vecnormalize-inside", ONNX),
    ("qrdqn-docs-legacy17", ONNX),
    ("sac-cart", ONNX),
    ("sk-columns-forest", ONNX),
    ("sk-logistic", ONNX),
    ("sk-mlp", ONNX),
    ("sk-mlp-binary-tanh", ONNX),
    ("sk-mlp-tanh-strings", ONNX),
    ("sk-pipeline-forest", ONNX),
    ("sk-pipeline-mlp", ONNX),
    ("td3-cart", ONNX),
    ("torch-batchnorm", ONNX),
    ("torch-dueling", ONNX),
    ("torch-embedding", ONNX),
    ("torch-layernorm", ONNX),
    ("torch-logsoftmax-gelu-tanh", ONNX),
    ("torch-prelu-hardtanh-softplus", ONNX),
    ("torch-sequential-default", ONNX),
    ("torch-softmax", ONNX),
];
