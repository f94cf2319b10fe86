//! The ONNX graphs whose evaluations in single precision are known.
//!
//! Libraries compute the operators listed here one by one, or merge factors and summands into the products
//! beside them, and round as the analysis says; convolutions as sums of products, not by Winograd's algorithm. Others
//! are computed in ways of their own. Functions that normalise all scores together may make those equal that are
//! close.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::unsupported;
use crate::error::PolicyError;
use crate::onnx::proto::{GraphProto, NodeProto, ValueInfoProto, data_type};
use crate::onnx::{CLASSICAL as TRADITIONAL, RUNTIME, decode};

/// Operators that only move numbers.
const MOVING: &[&str] = &[
    "ArrayFeatureExtractor",
    "Cast",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "Pad",
    "Range",
    "Reshape",
    "Shape",
    "Size",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];
/// Operators that choose among numbers, compare them, are constant but for jumps, or change signs.
const EXACT: &[&str] = &[
    "Abs",
    "ArgMax",
    "Ceil",
    "DequantizeLinear",
    "Equal",
    "Floor",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "MaxPool",
    "Min",
    "Neg",
    "Not",
    "OneHot",
    "QuantizeLinear",
    "ReduceMax",
    "ReduceMin",
    "Round",
    "Sign",
    "TopK",
    "Where",
];
/// Operators that round as the analysis says.
const ROUNDED: &[&str] = &[
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Celu",
    "Clip",
    "Conv",
    "Div",
    "Elu",
    "Erf",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "InstanceNormalization",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "MatMul",
    "Mish",
    "Mul",
    "PRelu",
    "Pow",
    "RMSNormalization",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceMean",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Scaler",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Sqrt",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
];
/// Operators that compare integers.
const COMPARING: &[&str] =
    &["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "OneHot", "OneHotEncoder"];
/// The number that may be subtracted from all scores.
const LOGARITHM_OF_SUM: &str = "ReduceLogSumExp";
/// Operators of the domain of traditional machine learning.
const CLASSICAL: &[&str] = &[
    "ArrayFeatureExtractor",
    "Binarizer",
    "FeatureVectorizer",
    "Imputer",
    "LinearClassifier",
    "LinearRegressor",
    "Normalizer",
    "OneHotEncoder",
    "Scaler",
];
/// Operators that ONNX Runtime has in a set of its own, too.
const OF_THE_RUNTIME: &[&str] = &["DequantizeLinear", "QuantizeLinear"];
/// Operators that choose among all scores.
const DECIDING: &[&str] = &["ArgMax", "TopK"];

/// What a graph says of evaluations in single precision that its network does not.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Graph {
    /// The number of functions of all scores together before they are compared.
    pub normalisations: u32,
    /// True if labels that are not applicable get a score of their own.
    pub is_masked: bool,
    /// True if integers are compared, or are indices.
    pub reads_integers: bool,
}

/// Refuses a graph with something whose evaluation in single precision is not known. `output` is the output
/// that is the policy, and `masks` are inputs that say which labels are applicable.
///
/// # Errors
/// What it is, with the way around it.
pub(crate) fn known_graph(
    bytes: &[u8],
    output: &str,
    masks: &[&str],
) -> Result<Graph, PolicyError> {
    let Some(graph) = decode(bytes)?.graph else { return Ok(Graph::default()) };
    let needed = needed(&graph, output);
    let stored: BTreeSet<&str> = graph.initializer.iter().map(|t| t.name.as_str()).collect();
    for tensor in graph.initializer.iter().filter(|tensor| needed.contains(tensor.name.as_str())) {
        refuse_type(tensor.data_type)?;
    }
    let mut walk = Walk::default();
    let is_read = |input: &&ValueInfoProto| !stored.contains(input.name.as_str());
    for input in graph.input.iter().filter(is_read) {
        let name = input.name.as_str();
        if masks.contains(&name) {
            walk.masks.insert(name);
            continue;
        }
        walk.varying.insert(name);
        let declared = input.r#type.as_ref().and_then(|declared| declared.tensor_type.as_ref());
        let Some(tensor) = declared.filter(|_| needed.contains(name)) else { continue };
        refuse_type(tensor.elem_type)?;
        if tensor.elem_type != data_type::FLOAT {
            walk.integers.insert(name);
            walk.found.reads_integers = true;
        }
    }
    for node in &graph.node {
        walk.producers.extend(node.output.iter().map(|output| (output.as_str(), node)));
        if node.input.iter().any(|input| walk.varying.contains(input.as_str())) {
            walk.varying.extend(node.output.iter().map(String::as_str));
        }
        if node.output.iter().any(|output| needed.contains(output.as_str())) {
            walk.node(node, &needed)?;
        }
    }
    match walk.decisions {
        0 | 1 => Ok(walk.found),
        _ => Err(unsupported("the graph makes several choices at once; export their scores")),
    }
}

/// How scores were changed together.
#[derive(Clone, Copy, Default)]
struct Ending {
    /// By so many functions.
    functions: u32,
    /// True if they are probabilities.
    are_probabilities: bool,
}

/// What is known of the values of a graph.
#[derive(Default)]
struct Walk<'g> {
    /// Those that depend on the state.
    varying: BTreeSet<&'g str>,
    /// Those that say which labels are applicable.
    masks: BTreeSet<&'g str>,
    /// Integers that depend on the state.
    integers: BTreeSet<&'g str>,
    /// Scores after functions of all of them.
    endings: BTreeMap<&'g str, Ending>,
    /// Logarithms of sums of exponentials, with what these are of.
    logarithms: BTreeMap<&'g str, &'g str>,
    producers: BTreeMap<&'g str, &'g NodeProto>,
    decisions: usize,
    found: Graph,
}

impl<'g> Walk<'g> {
    fn node(&mut self, node: &'g NodeProto, needed: &BTreeSet<&str>) -> Result<(), PolicyError> {
        let operator = node.op_type.as_str();
        let inputs: Vec<&str> = node.input.iter().map(String::as_str).collect();
        let outputs = || node.output.iter().map(String::as_str);
        let is_standard = matches!(node.domain.as_str(), "" | "ai.onnx");
        if is_standard && self.is_mask(operator, &inputs) {
            self.masks.extend(outputs());
            return Ok(());
        }
        let before = inputs.iter().find_map(|input| self.endings.get(input)).copied();
        let ending = self.ending(operator, &inputs, before.unwrap_or_default());
        if let Some(ending) = ending.filter(|_| is_standard) {
            self.found.normalisations = self.found.normalisations.max(ending.functions);
            self.endings.extend(outputs().map(|output| (output, ending)));
            return Ok(());
        }
        if is_standard && operator == LOGARITHM_OF_SUM {
            let of = *inputs.first().unwrap_or(&"");
            self.logarithms.extend(outputs().map(|output| (output, of)));
            return Ok(());
        }
        if inputs.iter().any(|input| self.logarithms.contains_key(input)) {
            return Err(unsupported(&format!(
                "{LOGARITHM_OF_SUM} is known where it is subtracted from the same scores"
            )));
        }
        if let Some(ending) = before {
            if !DECIDING.contains(&operator) && !MOVING.contains(&operator) {
                let after =
                    if ending.are_probabilities { "a softmax" } else { "a function of all scores" };
                return Err(unsupported(&format!(
                    "operator {operator} after {after}, which rounds again; export the scores before it"
                )));
            }
            self.endings.extend(outputs().map(|output| (output, ending)));
        }
        if !(is_standard && self.is_long_softplus(operator, &inputs)) {
            self.refuse(node, is_standard)?;
        }
        self.integer(node, &inputs)?;
        self.found.reads_integers |= COMPARING.contains(&operator);
        if operator == "LinearClassifier" {
            self.classify(node, needed)?;
        }
        self.decisions += usize::from(DECIDING.contains(&operator));
        Ok(())
    }

    /// Notes what a linear classifier does with its scores: its label is that of the greatest one.
    fn classify(
        &mut self,
        node: &'g NodeProto,
        needed: &BTreeSet<&str>,
    ) -> Result<(), PolicyError> {
        let mut outputs = node.output.iter().map(String::as_str);
        let is_needed = |name: Option<&&str>| name.is_some_and(|&name| needed.contains(name));
        let (label, scores) = (outputs.next(), outputs.next());
        self.decisions += usize::from(is_needed(label.as_ref()));
        let Some(scores) = scores.filter(|scores| is_needed(Some(scores))) else { return Ok(()) };
        let transform = node.attribute.iter().find(|one| one.name == "post_transform");
        let transform = transform.and_then(|one| one.s.as_deref()).unwrap_or(b"NONE");
        match transform {
            b"NONE" => Ok(()),
            b"SOFTMAX" => {
                self.found.normalisations = self.found.normalisations.max(1);
                let ending = Ending { functions: 1, are_probabilities: true };
                self.endings.insert(scores, ending);
                Ok(())
            }
            _ => Err(unsupported(&format!(
                "LinearClassifier with post_transform {}, which can make scores equal that differ; name its label \
                 with `scores` in the interface",
                String::from_utf8_lossy(transform)
            ))),
        }
    }

    /// Returns whether a node makes a mask of a mask.
    fn is_mask(&self, operator: &str, inputs: &[&str]) -> bool {
        let first = inputs.first().is_some_and(|input| self.masks.contains(input));
        first && operator != "Where"
    }

    /// What scores are after a function of all of them; `None` if the operator is none.
    fn ending(&mut self, operator: &str, inputs: &[&'g str], before: Ending) -> Option<Ending> {
        match (operator, inputs) {
            _ if before.are_probabilities => None,
            ("Softmax", _) => {
                Some(Ending { are_probabilities: true, functions: before.functions + 1 })
            }
            ("LogSoftmax", _) => Some(Ending { functions: before.functions + 1, ..before }),
            ("Sub", [scores, logarithm]) if self.logarithms.get(logarithm) == Some(scores) => {
                Some(Ending { functions: before.functions + 1, ..before })
            }
            ("Where", [mask, _, _]) if self.masks.contains(mask) => {
                self.found.is_masked = true;
                Some(before)
            }
            _ => None,
        }
    }

    /// Returns whether a node chooses x itself where its softplus is the same.
    fn is_long_softplus(&self, operator: &str, inputs: &[&str]) -> bool {
        let made_by = |name: &str, operator: &str, of: &str| {
            let producer = self.producers.get(name);
            producer.is_some_and(|node| {
                node.op_type == operator && node.input.first().is_some_and(|input| input == of)
            })
        };
        match (operator, inputs) {
            ("Where", &[condition, x, soft]) => {
                made_by(condition, "Greater", x) && made_by(soft, "Softplus", x)
            }
            _ => false,
        }
    }

    /// Notes which values are integers, and refuses arithmetic with them.
    fn integer(&mut self, node: &'g NodeProto, inputs: &[&str]) -> Result<(), PolicyError> {
        let operator = node.op_type.as_str();
        let reads = inputs.iter().any(|input| self.integers.contains(input));
        // Those of traditional machine learning convert integers themselves.
        let is_classical = node.domain == TRADITIONAL;
        if reads && ROUNDED.contains(&operator) && !is_classical {
            return Err(unsupported(&format!(
                "{operator} of integers; export the graph such that they become numbers in single \
                 precision first"
            )));
        }
        let target = node.attribute.iter().find(|attribute| attribute.name == "to");
        let target = target.and_then(|attribute| attribute.i);
        let makes = match (operator, target) {
            ("Cast", Some(target)) => target != i64::from(data_type::FLOAT),
            // Of a table, and of a list.
            ("Gather" | "ArrayFeatureExtractor", _) => {
                inputs.first().is_some_and(|input| self.integers.contains(input))
            }
            ("ConstantOfShape" | "Shape" | "Size", _) => false,
            _ => reads && MOVING.contains(&operator),
        };
        let varies = inputs.iter().any(|input| self.varying.contains(input));
        if makes && varies {
            self.found.reads_integers = true;
            self.integers.extend(node.output.iter().map(String::as_str));
        }
        Ok(())
    }
}

/// The values that an output depends on.
fn needed<'g>(graph: &'g GraphProto, output: &'g str) -> BTreeSet<&'g str> {
    let mut needed = BTreeSet::from([output]);
    for node in graph.node.iter().rev() {
        if node.output.iter().any(|output| needed.contains(output.as_str())) {
            needed.extend(node.input.iter().map(String::as_str));
        }
    }
    needed
}

fn refuse_type(element: i32) -> Result<(), PolicyError> {
    match element {
        data_type::FLOAT16 | data_type::DOUBLE | data_type::BFLOAT16 => Err(unsupported(&format!(
            "the graph computes with numbers of type {}; export it in single precision",
            data_type::name(element)
        ))),
        _ => Ok(()),
    }
}

impl Walk<'_> {
    /// Refuses a node whose evaluation is not known.
    fn refuse(&self, node: &NodeProto, is_standard: bool) -> Result<(), PolicyError> {
        let operator = node.op_type.as_str();
        let is_known = match node.domain.as_str() {
            TRADITIONAL => CLASSICAL.contains(&operator),
            RUNTIME => OF_THE_RUNTIME.contains(&operator),
            _ => is_standard && [MOVING, EXACT, ROUNDED].iter().any(|l| l.contains(&operator)),
        };
        if !is_known {
            return Err(unsupported(&format!("operator {operator}: {}", way_around(operator))));
        }
        let varies = node.output.iter().any(|output| self.varying.contains(output.as_str()));
        if !varies && ROUNDED.contains(&operator) && is_standard {
            return Err(unsupported(&format!(
                "{operator} of constants, which a library rounds; export the graph with constants folded"
            )));
        }
        for attribute in &node.attribute {
            if let (Some(tensor), true) = (&attribute.t, operator == "Constant") {
                refuse_type(tensor.data_type)?;
            }
            let names_type = match attribute.name.as_str() {
                "to" => operator == "Cast",
                // The type in which a normalisation is computed.
                "stash_type" => true,
                _ => false,
            };
            if let (Some(to), true) = (attribute.i, names_type) {
                refuse_type(i32::try_from(to).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

/// The reason for which an operator is refused, and the way around it.
fn way_around(operator: &str) -> &'static str {
    match operator {
        "Exp" => {
            "it can make scores equal that differ; export the scores before it, or name their output with \
             `scores` in the interface"
        }
        "LabelEncoder" => "it replaces numbers by others; let the interface compute them",
        "SVMClassifier" | "SVMRegressor" => {
            "libraries compute it from its support vectors, not from the sums that they make together; train a \
             linear model"
        }
        name if name.starts_with("QLinear") || name == "QGemm" || name.ends_with("Integer") => {
            "libraries compute it with integers of their own; quantise in the format with QuantizeLinear and \
             DequantizeLinear (quant_format=QuantFormat.QDQ)"
        }
        _ => {
            "libraries compute it in more ways than the order of a sum; supported are layers of Gemm, Conv or \
             MatMul and Add, pools, normalisations, arithmetic, comparisons and activation functions"
        }
    }
}
