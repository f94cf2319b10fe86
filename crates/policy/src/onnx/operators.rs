//! The operators that can be read: one list.

use super::call::Call;
use super::graph::Import;
use super::proto::NodeProto;
use super::value::Value;
use super::{
    classical, constants, discrete, gates, normalise, order, powers, quantised, reduce, reshape,
    select, support_vectors, window,
};
use crate::activation::OPERATORS as ACTIVATIONS;
use crate::error::PolicyError;

/// Since this version of the operator set the bounds of Clip are arguments; before, attributes.
pub(super) const BOUNDS_ARE_ARGUMENTS: i64 = 11;
/// Since this version the ratio of Dropout is an argument; before, an attribute.
pub(super) const RATIO_IS_ARGUMENT: i64 = 12;
/// Since this version the axes of Squeeze and Unsqueeze are an argument; before, an attribute.
pub(super) const AXES_ARE_ARGUMENT: i64 = 13;

/// Any number of arguments.
const ANY: usize = usize::MAX;

/// An operator.
struct Operator {
    name: &'static str,
    /// The greatest number of arguments, and from which version of the operator set on; before it is 1.
    most: (usize, i64),
    read: Read,
}

/// The function that reads the value or the values of a node.
enum Read {
    One(fn(&mut Import<'_, '_>, Call<'_>) -> Result<Value, PolicyError>),
    Several(fn(&mut Import<'_, '_>, Call<'_>) -> Result<Vec<Value>, PolicyError>),
}

const fn operator(
    name: &'static str,
    most: usize,
    read: fn(&mut Import<'_, '_>, Call<'_>) -> Result<Value, PolicyError>,
) -> Operator {
    Operator { name, most: (most, 0), read: Read::One(read) }
}

/// All operators of the standard set but the functions of one number, which are in the table of the
/// activations.
const OPERATORS: [Operator; 83] = [
    operator("Gemm", 3, |import, call| import.gemm(call)),
    operator("MatMul", 2, |import, call| import.mat_mul(call)),
    operator("Conv", 3, |import, call| window::convolution(import, &call)),
    operator("BatchNormalization", 5, |import, call| normalise::batch(import, &call)),
    Operator {
        name: "LayerNormalization",
        most: (3, 0),
        read: Read::Several(|import, call| normalise::rows(import, &call)),
    },
    Operator {
        name: "RMSNormalization",
        most: (2, 0),
        read: Read::Several(|import, call| normalise::rows(import, &call)),
    },
    operator("GroupNormalization", 3, |import, call| normalise::channels(import, &call)),
    operator("InstanceNormalization", 3, |import, call| normalise::channels(import, &call)),
    operator("Add", 2, |import, call| import.arithmetic(&call)),
    operator("Sub", 2, |import, call| import.arithmetic(&call)),
    operator("Mul", 2, |import, call| import.arithmetic(&call)),
    operator("Div", 2, |import, call| import.arithmetic(&call)),
    operator("Pow", 2, |import, call| powers::pow(import, &call)),
    operator("Sqrt", 1, |import, call| powers::function(import, &call)),
    operator("Reciprocal", 1, |import, call| powers::function(import, &call)),
    operator("Log", 1, |import, call| powers::function(import, &call)),
    operator("Neg", 1, |import, call| import.negated(&call)),
    operator("Sum", ANY, |import, call| import.sum(&call)),
    Operator {
        most: (3, BOUNDS_ARE_ARGUMENTS),
        ..operator("Clip", 3, |import, call| import.clip(&call))
    },
    operator("PRelu", 2, |import, call| import.prelu(&call)),
    operator("Abs", 1, |import, call| gates::activation(import, &call)),
    operator("HardSigmoid", 1, |import, call| gates::activation(import, &call)),
    operator("HardSwish", 1, |import, call| gates::activation(import, &call)),
    operator("Mish", 1, |import, call| gates::activation(import, &call)),
    operator("Selu", 1, |import, call| gates::activation(import, &call)),
    operator("Celu", 1, |import, call| gates::activation(import, &call)),
    operator("Gelu", 1, |import, call| gates::activation(import, &call)),
    operator("Swish", 1, |import, call| gates::activation(import, &call)),
    operator("Max", ANY, |import, call| import.extremum(&call)),
    operator("Min", ANY, |import, call| import.extremum(&call)),
    operator("MaxPool", 1, |import, call| window::pool(import, &call)),
    operator("AveragePool", 1, |import, call| window::pool(import, &call)),
    operator("GlobalMaxPool", 1, |import, call| reduce::global(import, &call)),
    operator("GlobalAveragePool", 1, |import, call| reduce::global(import, &call)),
    operator("ReduceSum", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceMean", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceMax", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceMin", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceProd", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceLogSumExp", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceL1", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceL2", 2, |import, call| reduce::reduce(import, &call)),
    operator("ReduceSumSquare", 2, |import, call| reduce::reduce(import, &call)),
    operator("Softmax", 1, |import, call| order::increasing(import, &call)),
    operator("LogSoftmax", 1, |import, call| order::increasing(import, &call)),
    operator("Exp", 1, |import, call| order::increasing(import, &call)),
    operator("ArgMax", 1, |_, call| order::arg_max(&call)),
    Operator {
        name: "TopK",
        most: (2, 10),
        read: Read::Several(|import, call| order::top_k(import, &call)),
    },
    operator("OneHot", 3, |import, call| discrete::one_hot(import, &call)),
    operator("Equal", 2, |import, call| discrete::compare(import, &call)),
    operator("Greater", 2, |import, call| discrete::compare(import, &call)),
    operator("GreaterOrEqual", 2, |import, call| discrete::compare(import, &call)),
    operator("Less", 2, |import, call| discrete::compare(import, &call)),
    operator("LessOrEqual", 2, |import, call| discrete::compare(import, &call)),
    operator("Not", 1, |import, call| discrete::not(import, &call)),
    operator("Where", 3, |import, call| discrete::choose(import, &call)),
    operator("Concat", ANY, |import, call| select::concat(import, &call)),
    operator("Gather", 2, |import, call| select::gather(import, &call)),
    operator("Slice", 5, |import, call| select::slice(import, &call)),
    Operator {
        name: "Split",
        most: (2, 0),
        read: Read::Several(|import, call| select::split(import, &call)),
    },
    operator("Pad", 4, |import, call| select::pad(import, &call)),
    operator("Expand", 2, |import, call| select::repeat(import, &call)),
    operator("Tile", 2, |import, call| select::repeat(import, &call)),
    operator("Transpose", 1, |import, call| select::transpose(import, &call)),
    operator("Identity", 1, |_, call| {
        call.attributes(&[])?;
        call.required(0)
    }),
    Operator {
        name: "Dropout",
        most: (3, RATIO_IS_ARGUMENT),
        read: Read::Several(|_, call| reshape::dropout(&call)),
    },
    operator("Cast", 1, |import, call| reshape::cast(import, &call)),
    operator("Constant", 0, |_, call| constants::constant(&call)),
    operator("ConstantOfShape", 1, |_, call| constants::constant_of_shape(&call)),
    operator("Range", 3, |_, call| constants::range(&call)),
    operator("Flatten", 1, |_, call| reshape::flatten(&call)),
    operator("Reshape", 2, |_, call| reshape::reshape(&call)),
    Operator {
        most: (2, AXES_ARE_ARGUMENT),
        ..operator("Squeeze", 2, |_, call| reshape::squeeze(&call))
    },
    Operator {
        most: (2, AXES_ARE_ARGUMENT),
        ..operator("Unsqueeze", 2, |_, call| reshape::unsqueeze(&call))
    },
    operator("Shape", 1, |_, call| reshape::shape(&call)),
    operator("Size", 1, |_, call| constants::size(&call)),
    operator("Ceil", 1, |import, call| gates::activation(import, &call)),
    operator("QuantizeLinear", 3, |import, call| quantised::quantize(import, &call)),
    operator("DequantizeLinear", 3, |import, call| quantised::dequantize(import, &call)),
    operator("QLinearMatMul", 8, |import, call| quantised::mat_mul(import, &call)),
    operator("QLinearConv", 9, |import, call| quantised::convolution(import, &call)),
    operator("MatMulInteger", 4, |import, call| quantised::mat_mul(import, &call)),
    operator("ConvInteger", 4, |import, call| quantised::convolution(import, &call)),
];

/// The domain of ONNX Runtime, which has operators of later standard sets too.
pub(crate) const RUNTIME: &str = "com.microsoft";

/// The operators of that domain.
const RUNTIME_OPERATORS: [Operator; 10] = [
    operator("QuantizeLinear", 3, |import, call| quantised::quantize(import, &call)),
    operator("DequantizeLinear", 3, |import, call| quantised::dequantize(import, &call)),
    operator("QGemm", 9, |import, call| quantised::gemm(import, &call)),
    operator("QLinearAdd", 8, |import, call| quantised::of_two(import, &call)),
    operator("QLinearMul", 8, |import, call| quantised::of_two(import, &call)),
    operator("QLinearSigmoid", 5, |import, call| quantised::activation(import, &call)),
    operator("QLinearLeakyRelu", 5, |import, call| quantised::activation(import, &call)),
    operator("QLinearAveragePool", 5, |import, call| quantised::mean(import, &call)),
    operator("QLinearGlobalAveragePool", 5, |import, call| quantised::mean(import, &call)),
    operator("QLinearConcat", ANY, |import, call| quantised::concat(import, &call)),
];

/// The domain of traditional machine learning.
pub(crate) const CLASSICAL: &str = "ai.onnx.ml";

/// The operators of that domain, but tree ensembles.
const CLASSICAL_OPERATORS: [Operator; 13] = [
    Operator {
        name: "LinearClassifier",
        most: (1, 0),
        read: Read::Several(|import, call| classical::linear_classifier(import, &call)),
    },
    operator("LinearRegressor", 1, |import, call| classical::linear_regressor(import, &call)),
    operator("SVMRegressor", 1, |import, call| support_vectors::regressor(import, &call)),
    Operator {
        name: "SVMClassifier",
        most: (1, 0),
        read: Read::Several(|import, call| support_vectors::classifier(import, &call)),
    },
    operator("Scaler", 1, |import, call| classical::scaler(import, &call)),
    operator("Normalizer", 1, |import, call| classical::normalizer(import, &call)),
    operator("LabelEncoder", 1, |import, call| classical::label_encoder(import, &call)),
    operator("ZipMap", 1, |_, call| classical::zip_map(&call)),
    operator("ArrayFeatureExtractor", 2, |import, call| {
        classical::array_feature_extractor(import, &call)
    }),
    operator("OneHotEncoder", 1, |import, call| classical::one_hot_encoder(import, &call)),
    operator("Imputer", 1, |_, call| classical::imputer(&call)),
    operator("FeatureVectorizer", ANY, |import, call| classical::feature_vectorizer(import, &call)),
    operator("Binarizer", 1, |import, call| classical::binarizer(import, &call)),
];

/// The names of all operators that can be read.
pub fn supported_operators() -> impl Iterator<Item = &'static str> {
    let is_new = |operator: &&Operator| OPERATORS.iter().all(|other| other.name != operator.name);
    let runtime = RUNTIME_OPERATORS.iter().filter(is_new);
    let all = OPERATORS.iter().chain(&CLASSICAL_OPERATORS).chain(runtime);
    let others = all.map(|operator| operator.name);
    others.chain(ACTIVATIONS.iter().map(|operator| operator.name))
}

/// The operators of the set of a node.
fn of_domain(node: &NodeProto) -> &'static [Operator] {
    match node.domain.as_str() {
        "" | "ai.onnx" => &OPERATORS,
        CLASSICAL => &CLASSICAL_OPERATORS,
        RUNTIME => &RUNTIME_OPERATORS,
        _ => &[],
    }
}

fn activation(node: &NodeProto) -> Option<&'static crate::activation::Operator> {
    let is_standard = matches!(node.domain.as_str(), "" | "ai.onnx");
    ACTIVATIONS.iter().find(|operator| is_standard && operator.name == node.op_type)
}

/// Returns whether the operator of a node can be read.
pub(super) fn is_known(node: &NodeProto) -> bool {
    let mut operators = of_domain(node).iter();
    activation(node).is_some() || operators.any(|operator| operator.name == node.op_type)
}

/// The results of a node.
pub(super) fn apply(
    import: &mut Import<'_, '_>,
    call: Call<'_>,
) -> Result<Vec<Value>, PolicyError> {
    if let Some(activation) = activation(call.node) {
        call.at_most(1)?;
        return import.activation(&call, activation).map(|value| vec![value]);
    }
    let mut operators = of_domain(call.node).iter();
    let Some(operator) = operators.find(|operator| operator.name == call.node.op_type) else {
        return Err(unsupported(call.node));
    };
    let (most, since) = operator.most;
    call.at_most(if call.version < since { 1 } else { most })?;
    match operator.read {
        Read::One(read) => read(import, call).map(|value| vec![value]),
        Read::Several(read) => read(import, call),
    }
}

/// The reason why an operator is not read, and what can be done, for those that policies are known to have.
fn way_around(operator: &str) -> Option<&'static str> {
    match operator {
        "LSTM" | "GRU" | "RNN" => Some(
            "the policy remembers real numbers from one step to the next, which no state of a model has; \
             supported are policies without memory: train one on the last observations together (frame \
             stacking), which variables of the model keep and the interface lists",
        ),
        "Mod" | "BitShift" | "ThresholdedRelu" => Some(
            "it jumps between functions that are not constant; where it is applied to the observation, let \
             the interface compute it, otherwise write it with Floor or Sign, or train with Clip or \
             HardSigmoid in its place",
        ),
        "DynamicQuantizeLinear"
        | "DynamicQuantizeMatMul"
        | "DynamicQuantizeLSTM"
        | "MatMulIntegerToFloat" => Some(
            "its scales depend on the state (quantize_dynamic of ONNX Runtime); quantise with fixed scales \
             (quantize_static), or export the network as it was before it was quantised",
        ),
        "QLinearSoftmax" | "QLinearWhere" | "QLinearReduceMean" => Some(
            "leave these nodes out when quantising (nodes_to_exclude of quantize_static), or quantise in the \
             format with QuantizeLinear and DequantizeLinear (quant_format=QuantFormat.QDQ)",
        ),
        "Bernoulli" | "Multinomial" | "RandomNormal" | "RandomNormalLike" | "RandomUniform"
        | "RandomUniformLike" => Some(
            "it draws at random; export the scores, and ask with --choice sample about a policy that draws",
        ),
        "If" | "Loop" | "Scan" => Some(
            "what is computed must not depend on values; export the network by tracing it, in evaluation mode",
        ),
        _ => None,
    }
}

/// An operator that cannot be read.
pub(super) fn unsupported(node: &NodeProto) -> PolicyError {
    let name = &node.op_type;
    let message = match node.domain.as_str() {
        "" | "ai.onnx" | RUNTIME if way_around(name).is_some() => {
            format!("operator {name} is not supported: {}", way_around(name).unwrap_or_default())
        }
        "" | "ai.onnx" | CLASSICAL => {
            let supported = supported_operators().collect::<Vec<_>>().join(", ");
            format!("operator {name} is not supported; supported are {supported}")
        }
        domain => format!("operator {name} of domain {domain} is not supported"),
    };
    PolicyError::unsupported("", message)
}
