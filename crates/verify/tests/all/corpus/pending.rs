//! The policies of the collection that are not answered as expected yet.

/// Something that the reader of ONNX does not know.
const ONNX: &str = "graphs of ONNX";
/// Something that an interface cannot say.
const INTERFACE: &str = "inputs that are computed";
/// Splits by categories.
const CATEGORIES: &str = "splits by categories";
/// Leaves with linear functions.
const LINEAR: &str = "linear leaves";

/// Folder, and what it waits for.
#[rustfmt::skip]
pub const PENDING: &[(&str, &str)] = &[
    ("a2c-discrete-legacy17", ONNX),
    ("a2c-docs-legacy20", ONNX),
    ("dqn-constants", INTERFACE),
    ("dqn-discrete-computed", INTERFACE),
    ("dqn-discrete-dynamo", ONNX),
    ("dqn-discrete-legacy17", ONNX),
    ("dqn-docs-dynamo", ONNX),
    ("dqn-docs-legacy17", ONNX),
    ("dqn-elu", ONNX),
    ("dqn-expressions", INTERFACE),
    ("dqn-gelu", ONNX),
    ("dqn-leakyrelu", ONNX),
    ("dqn-multidiscrete-legacy18", ONNX),
    ("dqn-onehot-flat", INTERFACE),
    ("dqn-scaled-floats", INTERFACE),
    ("dqn-silu", ONNX),
    ("dqn-tanh", ONNX),
    ("keras-batchnorm-softmax", ONNX),
    ("lgb-categorical", CATEGORIES),
    ("lgb-linear-tree", LINEAR),
    ("maskableppo-docs", ONNX),
    ("maskableppo-mask-second", INTERFACE),
    ("ppo-actionnet-dynamo", ONNX),
    ("ppo-cart-relu", ONNX),
    ("ppo-dict", INTERFACE),
    ("ppo-docs-legacy17", ONNX),
    ("ppo-multidiscrete", ONNX),
    ("ppo-vecnormalize", INTERFACE),
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
    ("torch-embedding", INTERFACE),
    ("torch-layernorm", ONNX),
    ("torch-logsoftmax-gelu-tanh", ONNX),
    ("torch-prelu-hardtanh-softplus", ONNX),
    ("torch-sequential-default", ONNX),
    ("torch-softmax", ONNX),
    ("xgb-categorical", CATEGORIES),
];
