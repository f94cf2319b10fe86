//! Reader of ONNX-ML tree ensembles: `TreeEnsembleClassifier` and `TreeEnsembleRegressor`.
//!
//! Values, weights and thresholds are single precision, or double in the attributes `…_as_tensor`.
//! What may stand around the ensemble in the graph is said in `surroundings`. The transformation of
//! the scores (`post_transform`) keeps their order and is left out. Of a classifier of two
//! classes with one score the second class is chosen above 0.5 if all weights are positive, else
//! above 0 (as in ONNX Runtime).

mod surroundings;

use std::collections::BTreeMap;

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::rule::{Comparison, Missing, Precision, Rule};
use crate::error::PolicyError;
use crate::onnx::proto::{GraphProto, NodeProto, data_type};
use crate::onnx::tensor::Data;
use crate::onnx::{self, attributes::Attributes};

const CLASSIFIER: &str = "TreeEnsembleClassifier";
const REGRESSOR: &str = "TreeEnsembleRegressor";
const DOMAIN: &str = "ai.onnx.ml";

/// Whether the bytes are an ONNX model with a tree ensemble.
pub(crate) fn is_tree_ensemble(bytes: &[u8]) -> bool {
    let nodes = onnx::decode(bytes).ok().and_then(|model| model.graph).map(|g| g.node);
    nodes.is_some_and(|nodes| nodes.iter().any(|n| n.op_type.starts_with("TreeEnsemble")))
}

/// Reads an ensemble.
pub(super) fn parse(bytes: &[u8]) -> Result<Ensemble, PolicyError> {
    let model = onnx::decode(bytes)?;
    let (graph, _) = onnx::consistency::check(&model)?;
    let mut ensembles = graph.node.iter().filter(|node| is_ensemble(node));
    let (Some(node), None) = (ensembles.next(), ensembles.next()) else {
        let message = "one TreeEnsembleClassifier or TreeEnsembleRegressor is expected";
        return Err(PolicyError::unsupported("", message));
    };
    surroundings::check(graph, node)?;
    read(graph, node).map_err(|error| error.at(&place(node)))
}

fn is_ensemble(node: &NodeProto) -> bool {
    node.domain == DOMAIN && [CLASSIFIER, REGRESSOR].contains(&node.op_type.as_str())
}

fn place(node: &NodeProto) -> String {
    match node.name.as_str() {
        "" => format!("node {}", node.op_type),
        name => format!("node `{name}` ({})", node.op_type),
    }
}

/// The attributes of both operators; a classifier's weights are called `class_…`, a regressor's
/// `target_…`.
const KNOWN: [&str; 18] = [
    "aggregate_function",
    "base_values",
    "base_values_as_tensor",
    "classlabels_int64s",
    "classlabels_strings",
    "n_targets",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_hitrates_as_tensor",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_nodeids",
    "nodes_treeids",
    "nodes_truenodeids",
    "nodes_values",
    "nodes_values_as_tensor",
    "post_transform",
];

fn read(graph: &GraphProto, node: &NodeProto) -> Result<Ensemble, PolicyError> {
    let is_classifier = node.op_type == CLASSIFIER;
    let weights_name = if is_classifier { "class" } else { "target" };
    let own = ["_ids", "_nodeids", "_treeids", "_weights", "_weights_as_tensor"]
        .map(|rest| format!("{weights_name}{rest}"));
    let known: Vec<&str> = KNOWN.into_iter().chain(own.iter().map(String::as_str)).collect();
    let attributes = Attributes::of(node, &known)?;
    if let Some(function) = attributes.text("aggregate_function")?
        && function != "SUM"
    {
        let message = format!("aggregate function {function} is not supported; SUM is");
        return Err(PolicyError::unsupported("", message));
    }
    let precision = input_precision(graph, node)?;
    let trees = NodeLists::read(&attributes)?.trees(precision)?;

    let ids = attributes.integers(&own[0])?.unwrap_or_default();
    let outputs = if is_classifier {
        let integers = attributes.integers("classlabels_int64s")?.unwrap_or_default().len();
        integers.max(attributes.texts("classlabels_strings")?.len())
    } else {
        usize::try_from(attributes.integer("n_targets")?.unwrap_or(1)).unwrap_or(0)
    };
    if outputs == 0 {
        return Err(PolicyError::invalid("", "it has no classes or targets"));
    }
    let values = |name: &str| real_list(&attributes, name);
    let weights = values(&own[3])?;
    let nodeids = attributes.integers(&own[1])?.unwrap_or_default();
    let treeids = attributes.integers(&own[2])?.unwrap_or_default();
    if [nodeids.len(), treeids.len(), weights.len()].iter().any(|&length| length != ids.len()) {
        let message = format!("the lists `{weights_name}_…` differ in length");
        return Err(PolicyError::invalid("", message));
    }
    let base = values("base_values")?;
    // One score for two classes.
    let single = is_classifier && outputs == 2 && ids.windows(2).all(|pair| pair[0] == pair[1]);
    let mut leaves: BTreeMap<(i64, i64), Vec<(usize, f64)>> = BTreeMap::new();
    for (((&id, &node), &tree), &weight) in ids.iter().zip(nodeids).zip(treeids).zip(&weights) {
        let output = if single { Some(1) } else { usize::try_from(id).ok() };
        let output = output.filter(|&output| output < outputs).ok_or_else(|| {
            PolicyError::invalid("", format!("`{weights_name}_ids` names output {id}"))
        })?;
        leaves.entry((tree, node)).or_default().push((output, weight));
    }
    let mut result = Vec::with_capacity(trees.len());
    for (tree, mut nodes) in trees {
        for (id, node) in &mut nodes {
            let values = leaves.remove(&(tree, *id));
            match (node, values) {
                (TreeNode::Leaf(leaf), Some(values)) => *leaf = values,
                (TreeNode::Split { .. }, Some(_)) => {
                    let message = format!("node {id} of tree {tree} is no leaf but has weights");
                    return Err(PolicyError::invalid("", message));
                }
                (_, None) => {}
            }
        }
        result.push(Tree { nodes: nodes.into_iter().map(|(_, node)| node).collect() });
    }
    if let Some((tree, node)) = leaves.keys().next() {
        let message =
            format!("weights are given for node {node} of tree {tree}, which is not there");
        return Err(PolicyError::invalid("", message));
    }
    let base = if single {
        let positive = weights.iter().all(|&weight| weight >= 0.0);
        let given = match base.as_slice() {
            [] => 0.0,
            &[score] | &[_, score] => score,
            _ => return Err(PolicyError::invalid("", "`base_values` does not fit the classes")),
        };
        vec![if positive { 0.5 } else { 0.0 }, given]
    } else if base.is_empty() {
        vec![0.0; outputs]
    } else if base.len() == outputs {
        base
    } else {
        return Err(PolicyError::invalid("", "`base_values` does not fit the outputs"));
    };
    Ensemble::new(0, base, result)
}

/// A list of numbers, or the tensor that stands for it.
fn real_list(attributes: &Attributes<'_>, name: &str) -> Result<Vec<f64>, PolicyError> {
    if let Some(tensor) = attributes.tensor(&format!("{name}_as_tensor"))? {
        return match tensor.data {
            Data::Floats(values, _) => Ok(values),
            Data::Integers(_) => {
                let message = format!("attribute `{name}_as_tensor` holds no real numbers");
                Err(PolicyError::invalid("", message))
            }
        };
    }
    Ok(attributes.floats(name)?.unwrap_or_default())
}

/// The precision in which inputs are compared: double only for a graph that reads double.
fn input_precision(graph: &GraphProto, node: &NodeProto) -> Result<Precision, PolicyError> {
    let reads = node.input.first().map(String::as_str).unwrap_or_default();
    if graph.node.iter().any(|other| other.output.iter().any(|output| output == reads)) {
        // After a cast; skl2onnx casts to single precision.
        return Ok(Precision::Single);
    }
    let input = graph.input.iter().find(|input| input.name == reads);
    let kind = input.and_then(|i| i.r#type.as_ref()).and_then(|t| t.tensor_type.as_ref());
    match kind.map(|tensor| tensor.elem_type) {
        Some(data_type::DOUBLE) => Ok(Precision::Double),
        Some(data_type::FLOAT | data_type::INT32 | data_type::INT64) => Ok(Precision::Single),
        _ => Err(PolicyError::unsupported("", "its input is no list of numbers")),
    }
}

/// Nodes with their ids, parents first.
type IdentifiedNodes = Vec<(i64, TreeNode)>;

/// The lists `nodes_…`.
struct NodeLists<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    inputs: &'a [i64],
    modes: Vec<String>,
    yes: &'a [i64],
    no: &'a [i64],
    values: Vec<f64>,
    missing_yes: &'a [i64],
}

impl<'a> NodeLists<'a> {
    fn read(attributes: &'a Attributes<'a>) -> Result<Self, PolicyError> {
        let integers = |name: &str| {
            let list = attributes.integers(name)?;
            list.ok_or_else(|| PolicyError::invalid("", format!("attribute `{name}` is missing")))
        };
        let lists = Self {
            trees: integers("nodes_treeids")?,
            nodes: integers("nodes_nodeids")?,
            inputs: integers("nodes_featureids")?,
            modes: attributes.texts("nodes_modes")?,
            yes: integers("nodes_truenodeids")?,
            no: integers("nodes_falsenodeids")?,
            values: real_list(attributes, "nodes_values")?,
            missing_yes: attributes
                .integers("nodes_missing_value_tracks_true")?
                .unwrap_or_default(),
        };
        let count = lists.trees.len();
        let lengths = [
            lists.nodes.len(),
            lists.inputs.len(),
            lists.modes.len(),
            lists.yes.len(),
            lists.no.len(),
            lists.values.len(),
        ];
        let missing = lists.missing_yes.len();
        if lengths.iter().any(|&length| length != count) || (missing != 0 && missing != count) {
            return Err(PolicyError::invalid("", "the lists `nodes_…` differ in length"));
        }
        Ok(lists)
    }

    /// The trees by id, each with its nodes' ids, parents first.
    fn trees(&self, precision: Precision) -> Result<Vec<(i64, IdentifiedNodes)>, PolicyError> {
        let mut places: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        let mut roots: Vec<(i64, usize)> = Vec::new();
        for (k, (&tree, &node)) in self.trees.iter().zip(self.nodes).enumerate() {
            if places.insert((tree, node), k).is_some() {
                let message = format!("node {node} of tree {tree} is there twice");
                return Err(PolicyError::invalid("", message));
            }
            // The root is the first node of its tree.
            if roots.iter().all(|&(known, _)| known != tree) {
                roots.push((tree, k));
            }
        }
        let mut trees = Vec::with_capacity(roots.len());
        for (tree, root) in roots {
            let mut nodes = Vec::new();
            self.copy(&places, root, precision, 0, &mut nodes)?;
            trees.push((tree, nodes));
        }
        Ok(trees)
    }

    fn copy(
        &self,
        places: &BTreeMap<(i64, i64), usize>,
        k: usize,
        precision: Precision,
        depth: usize,
        nodes: &mut IdentifiedNodes,
    ) -> Result<usize, PolicyError> {
        let (tree, node) = (self.trees[k], self.nodes[k]);
        let wrong =
            |what: &str| PolicyError::invalid("", format!("node {node} of tree {tree} {what}"));
        if depth > self.trees.len() || nodes.len() > self.trees.len() {
            return Err(wrong("is its own child, or the child of two nodes"));
        }
        let place = nodes.len();
        nodes.push((node, TreeNode::Leaf(Vec::new())));
        let comparison = match self.modes[k].as_str() {
            "LEAF" => return Ok(place),
            "BRANCH_LT" => Comparison::Less,
            "BRANCH_LEQ" => Comparison::LessEqual,
            "BRANCH_GT" => Comparison::Greater,
            "BRANCH_GTE" => Comparison::GreaterEqual,
            "BRANCH_EQ" => Comparison::Equal,
            "BRANCH_NEQ" => Comparison::NotEqual,
            other => {
                let message =
                    format!("mode {other} of node {node} of tree {tree} is not supported");
                return Err(PolicyError::unsupported("", message));
            }
        };
        let input = usize::try_from(self.inputs[k]).map_err(|_| wrong("names no input"))?;
        let tracks_true = self.missing_yes.get(k).is_some_and(|&yes| yes != 0);
        let rule = Rule {
            comparison,
            threshold: self.values[k],
            precision,
            missing: Missing::NotANumber(tracks_true),
        };
        let mut children = [0; 2];
        for (child, id) in children.iter_mut().zip([self.yes[k], self.no[k]]) {
            let below =
                places.get(&(tree, id)).ok_or_else(|| wrong("has a child that is not there"))?;
            *child = self.copy(places, *below, precision, depth + 1, nodes)?;
        }
        let [left, right] = children;
        nodes[place].1 = TreeNode::Split { input, rule, left, right };
        Ok(place)
    }
}
