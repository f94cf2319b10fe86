//! Reader of ONNX-ML tree ensembles: `TreeEnsembleClassifier`, `TreeEnsembleRegressor`, and
//! `TreeEnsemble` of version 5 of the operator set (`indexed`).
//!
//! Values, weights and thresholds are single precision, or double in the attributes `…_as_tensor`.
//! What may stand around the ensemble in the graph is said in `surroundings`. The transformations of
//! the scores that keep their order are left out, others are refused. Of a classifier of two
//! classes with one score the second class is chosen above 0.5 if all weights are positive, else
//! above 0 (as in ONNX Runtime); where the runtime's label is not that of its greatest score, the
//! file is refused.

mod columns;
mod indexed;
mod node_lists;
mod numbers;
mod preprocessing;
mod surroundings;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::rule::Precision;
use super::summation::{Link, Summation};
use super::{Classes, Features, TreesFile};
use crate::error::PolicyError;
use crate::onnx::proto::NodeProto;
use crate::onnx::tensor::Data;
use crate::onnx::{self, attributes::Attributes};
use crate::sampling::Law;
use node_lists::NodeLists;
pub(crate) use numbers::{LABEL_ENCODER, lookup};
use surroundings::Surroundings;

const CLASSIFIER: &str = "TreeEnsembleClassifier";
const REGRESSOR: &str = "TreeEnsembleRegressor";
const INDEXED: &str = "TreeEnsemble";
const DOMAIN: &str = "ai.onnx.ml";

/// Returns whether the bytes are an ONNX model with a tree ensemble.
pub(crate) fn is_tree_ensemble(bytes: &[u8]) -> bool {
    let operators = onnx::operators(bytes).unwrap_or_default();
    operators.iter().any(|operator| operator.starts_with("TreeEnsemble"))
}

/// Reads an ensemble.
pub(super) fn parse(bytes: &[u8]) -> Result<TreesFile, PolicyError> {
    let model = onnx::decode(bytes)?;
    let (graph, _) = onnx::consistency::check(&model)?;
    let mut ensembles = graph.node.iter().filter(|node| is_ensemble(node));
    let (Some(node), None) = (ensembles.next(), ensembles.next()) else {
        let message =
            "one TreeEnsembleClassifier, TreeEnsembleRegressor or TreeEnsemble is expected";
        return Err(PolicyError::unsupported("", message));
    };
    let surroundings = Surroundings::read(graph, node)?;
    file(surroundings, node).map_err(|error| error.at(&place(node)))
}

/// The parts of an ensemble that its operator holds.
struct Parts {
    base: Vec<f64>,
    trees: Vec<Tree>,
    classes: Option<Classes>,
    /// The law by which the sums become probabilities, if it is known.
    law: Option<Law>,
    /// True if the sums are divided by the number of trees.
    averages: bool,
    /// What is compared, or why that is not known.
    link: Result<Link, &'static str>,
}

fn file(mut surroundings: Surroundings<'_>, node: &NodeProto) -> Result<TreesFile, PolicyError> {
    let (precision, features) = (surroundings.precision, surroundings.features);
    let Parts { base, trees, classes, law, averages, link } = if node.op_type == INDEXED {
        indexed::read(node, precision, features)?
    } else {
        read(node, precision, features)?
    };
    surroundings.check(base.len(), classes.as_ref())?;
    let count = surroundings.inputs;
    let divisor = if averages { trees.len().max(1) } else { 1 };
    let summation = match link {
        Ok(_) if trees.iter().any(names_an_output_twice) => {
            Err("a leaf has several values for one score, which ONNX Runtime adds one by one")
        }
        Ok(_) if surroundings.scaled && classes.is_none() => {
            Err("the scores are multiplied by a factor, which rounds; export the sums themselves")
        }
        Ok(link) => {
            Ok(Summation { divisor, link, ..Summation::plain(surroundings.sums, base.len()) })
        }
        Err(why) => Err(why),
    };
    let mut ensemble = Ensemble::new(features.unwrap_or(0), base, trees)?;
    if !surroundings.columns.is_empty() {
        let inputs = count.unwrap_or_default();
        ensemble = ensemble.with_columns(inputs, std::mem::take(&mut surroundings.columns));
    }
    let features = Features { count, names: Vec::new(), groups: surroundings.groups };
    Ok(TreesFile { ensemble, features, classes, law, summation, notes: Vec::new() })
}

fn names_an_output_twice(tree: &Tree) -> bool {
    tree.nodes.iter().any(|node| match node {
        TreeNode::Split { .. } => false,
        TreeNode::Leaf(values) => {
            let outputs: BTreeSet<usize> = values.iter().map(|&(output, _)| output).collect();
            outputs.len() < values.len()
        }
    })
}

/// What ONNX Runtime compares of so many scores that are no classifier's, which chooses its label by the
/// sums themselves.
fn link(transform: &str, outputs: usize) -> Result<Link, &'static str> {
    match (transform, outputs) {
        ("NONE", _) => Ok(Link::Identity),
        ("SOFTMAX", 2..) => Ok(Link::Softmax),
        ("LOGISTIC", 1) => Ok(Link::Logistic(1.0)),
        (_, _) => {
            Err("the scores pass through a function, after which scores that differ can be equal; \
                       export the sums themselves")
        }
    }
}

fn is_ensemble(node: &NodeProto) -> bool {
    node.domain == DOMAIN && [CLASSIFIER, REGRESSOR, INDEXED].contains(&node.op_type.as_str())
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

/// The transformations of scores that keep their order.
const KEEP_ORDER: [&str; 3] = ["NONE", "SOFTMAX", "LOGISTIC"];

/// Reads a classifier or a regressor.
fn read(
    node: &NodeProto,
    precision: Precision,
    features: Option<usize>,
) -> Result<Parts, PolicyError> {
    let invalid = |message: String| Err(PolicyError::invalid("", message));
    let is_classifier = node.op_type == CLASSIFIER;
    let weights_name = if is_classifier { "class" } else { "target" };
    let own = ["_ids", "_nodeids", "_treeids", "_weights", "_weights_as_tensor"]
        .map(|rest| format!("{weights_name}{rest}"));
    let known: Vec<&str> = KNOWN.into_iter().chain(own.iter().map(String::as_str)).collect();
    let attributes = Attributes::of(node, &known)?;
    for (name, supported) in
        [("aggregate_function", &["SUM"][..]), ("post_transform", &KEEP_ORDER[..])]
    {
        if let Some(given) = attributes.text(name)?
            && !supported.contains(&given.as_str())
        {
            let message =
                format!("`{name}` {given} is not supported; {} is", supported.join(" or "));
            return Err(PolicyError::unsupported("", message));
        }
    }
    let lists = NodeLists::read(&attributes, precision, features)?;
    let trees = lists.trees()?;
    let classes = if is_classifier { Some(classes(&attributes)?) } else { None };
    let outputs = match &classes {
        Some(Classes::Names(names)) => names.len(),
        Some(Classes::Numbers(numbers)) => numbers.len(),
        None => usize::try_from(attributes.integer("n_targets")?.unwrap_or(1)).unwrap_or(0),
    };
    if outputs == 0 {
        return invalid("it has no classes or targets".to_owned());
    }
    let leaves = Leaves::read(&attributes, weights_name, &own, outputs, is_classifier)?;
    let base = leaves.base(&attributes, outputs)?;
    let transform = attributes.text("post_transform")?;
    let law = if is_classifier { leaves.law(transform.as_deref(), &base) } else { None };
    let trees = leaves.attach(trees)?;
    let link = match &classes {
        Some(_) => Ok(Link::Identity),
        None => link(transform.as_deref().unwrap_or("NONE"), outputs),
    };
    Ok(Parts { base, trees, classes, law, averages: false, link })
}

/// Returns what a message adds about the number of features.
fn features_text(features: Option<usize>) -> String {
    features.map_or(String::new(), |features| format!("; the graph's input has {features}"))
}

/// The classes of a classifier, by name or by number.
fn classes(attributes: &Attributes<'_>) -> Result<Classes, PolicyError> {
    fn distinct<T: Ord + std::fmt::Display>(list: &[T]) -> Result<(), PolicyError> {
        let mut known = BTreeSet::new();
        match list.iter().find(|class| !known.insert(*class)) {
            None => Ok(()),
            Some(class) => {
                let message = format!("class `{class}` is listed twice");
                Err(PolicyError::invalid("", message))
            }
        }
    }
    let numbers = attributes.integers("classlabels_int64s")?.unwrap_or_default();
    let names = attributes.texts("classlabels_strings")?;
    distinct(numbers)?;
    distinct(&names)?;
    match (numbers.is_empty(), names.is_empty()) {
        (true, true) => Err(PolicyError::invalid("", "it has no classes")),
        (false, true) => Ok(Classes::Numbers(numbers.to_vec())),
        (true, false) => Ok(Classes::Names(names)),
        (false, false) => {
            let message = "its classes are given twice: `classlabels_int64s` and \
                           `classlabels_strings`";
            Err(PolicyError::invalid("", message))
        }
    }
}

/// The values of leaves, and to which output each belongs.
struct Leaves {
    /// By id of tree and of node.
    values: BTreeMap<(i64, i64), Vec<(usize, f64)>>,
    /// There is one score for two classes, listed under this class; and whether all weights are
    /// positive.
    single: Option<(i64, bool)>,
}

impl Leaves {
    fn read(
        attributes: &Attributes<'_>,
        kind: &str,
        own: &[String; 5],
        outputs: usize,
        is_classifier: bool,
    ) -> Result<Self, PolicyError> {
        let integers = |name: &str| Ok(attributes.integers(name)?.unwrap_or_default());
        let ids = integers(&own[0])?;
        let (nodeids, treeids) = (integers(&own[1])?, integers(&own[2])?);
        let weights = real_list(attributes, &own[3])?;
        let lengths = [nodeids.len(), treeids.len(), weights.len()];
        if lengths.iter().any(|&length| length != ids.len()) {
            let message = format!("the lists `{kind}_…` differ in length");
            return Err(PolicyError::invalid("", message));
        }
        let is_single = is_classifier && outputs == 2 && ids.windows(2).all(|p| p[0] == p[1]);
        let mut values: BTreeMap<(i64, i64), Vec<(usize, f64)>> = BTreeMap::new();
        for (((&id, &node), &tree), &weight) in ids.iter().zip(nodeids).zip(treeids).zip(&weights) {
            let output = usize::try_from(id).ok().filter(|&output| output < outputs);
            let output = output.ok_or_else(|| {
                let message = format!("`{kind}_ids` names output {id} of {outputs}");
                PolicyError::invalid("", message)
            })?;
            let output = if is_single { 1 } else { output };
            values.entry((tree, node)).or_default().push((output, weight));
        }
        let all_positive = weights.iter().all(|&weight| weight >= 0.0);
        let single = is_single.then(|| (ids.first().copied().unwrap_or(0), all_positive));
        Ok(Self { values, single })
    }

    /// The base scores.
    fn base(&self, attributes: &Attributes<'_>, outputs: usize) -> Result<Vec<f64>, PolicyError> {
        let base = real_list(attributes, "base_values")?;
        let Some((class, all_positive)) = self.single else {
            return match base.len() {
                0 => Ok(vec![0.0; outputs]),
                given if given == outputs => Ok(base),
                given => {
                    let message = format!("{given} `base_values` for {outputs} outputs");
                    Err(PolicyError::invalid("", message))
                }
            };
        };
        let is_transformed =
            attributes.text("post_transform")?.is_some_and(|transform| transform != "NONE");
        let threshold = if all_positive { 0.5 } else { 0.0 };
        let score = match (base.as_slice(), class) {
            ([], _) => Some(0.0),
            (&[score], 0) => Some(score),
            (&[_] | &[_, _], _) => None,
            (several, _) => {
                let message = format!("{} `base_values` for two classes", several.len());
                return Err(PolicyError::invalid("", message));
            }
        };
        match score {
            Some(score) if !all_positive || (class == 0 && !is_transformed) => {
                Ok(vec![threshold, score])
            }
            Some(_) | None => {
                let message = "this classifier of two classes with one score is not supported: of \
                               such files ONNX Runtime computes labels that are not those of the \
                               greatest score. Supported are weights under class 0 with at most one \
                               base value, and `post_transform` NONE if no weight is negative";
                Err(PolicyError::unsupported("", message))
            }
        }
    }

    /// Returns the law by which the sums become probabilities. Of one score for two classes, the
    /// logistic function is the softmax of 0 and the score.
    fn law(&self, transform: Option<&str>, base: &[f64]) -> Option<Law> {
        let weights = self.values.values().flatten().map(|&(_, weight)| weight);
        let is_signed = weights.chain(base.iter().copied()).any(|value| value < 0.0);
        match (transform, self.single) {
            (Some("SOFTMAX"), None) | (Some("LOGISTIC"), Some((_, false))) => Some(Law::Softmax),
            (None | Some("NONE"), None) if !is_signed => Some(Law::Shares),
            (_, _) => None,
        }
    }

    /// Gives the leaves their values.
    fn attach(mut self, trees: Vec<IdentifiedTree>) -> Result<Vec<Tree>, PolicyError> {
        let mut result = Vec::with_capacity(trees.len());
        for IdentifiedTree { tree, ids, mut nodes } in trees {
            for (id, node) in ids.iter().zip(&mut nodes) {
                match (node, self.values.remove(&(tree, *id))) {
                    (TreeNode::Leaf(leaf), Some(values)) => *leaf = values,
                    (TreeNode::Split { .. }, Some(_)) => {
                        let message =
                            format!("node {id} of tree {tree} is no leaf but has weights");
                        return Err(PolicyError::invalid("", message));
                    }
                    (_, None) => {}
                }
            }
            result.push(Tree { nodes });
        }
        match self.values.keys().next() {
            None => Ok(result),
            Some((tree, node)) => {
                let message =
                    format!("weights are given for node {node} of tree {tree}, which is not there");
                Err(PolicyError::invalid("", message))
            }
        }
    }
}

/// A tree with its id and those of its nodes, parents first.
struct IdentifiedTree {
    tree: i64,
    ids: Vec<i64>,
    nodes: Vec<TreeNode>,
}

/// A list of numbers, or the tensor that stands for it.
fn real_list(attributes: &Attributes<'_>, name: &str) -> Result<Vec<f64>, PolicyError> {
    let list = attributes.floats(name)?;
    let as_tensor = format!("{name}_as_tensor");
    match (list, attributes.tensor(&as_tensor)?) {
        (list, None) => Ok(list.unwrap_or_default()),
        (None, Some(tensor)) => match tensor.data {
            Data::Floats(values, _) => Ok(values),
            Data::Integers(_) | Data::Texts(_) => {
                let message = format!("attribute `{as_tensor}` holds no real numbers");
                Err(PolicyError::invalid("", message))
            }
        },
        (Some(_), Some(_)) => {
            let message = format!("both `{name}` and `{as_tensor}` are given");
            Err(PolicyError::invalid("", message))
        }
    }
}
