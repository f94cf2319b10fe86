//! Reader of Veritas JSON, old and new layout.
//!
//! New: `{"base_scores": […], "trees": [{"structure": NODE, …}]}` with nodes
//! `{"feat_id", "split_value", "left", "right"}` or `{"leaf_value": […]}`. Old: one output,
//! `{"base_score", "trees": [NODE]}` with children `lt` and `gteq`, and a number as leaf value.

use serde_json::Value;

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::place::{At, single};
use super::rule::{Missing, Precision, Rule, RuleComparison};
use super::{Features, TreesFile};
use crate::error::PolicyError;

/// The purposes of the library's ensembles; scores are the sums in each case.
const KINDS: [&str; 4] = ["REGR", "REGR_MEAN", "CLF_SOFTMAX", "CLF_MEAN"];

/// Reads an ensemble.
pub(super) fn parse(value: &Value) -> Result<TreesFile, PolicyError> {
    let root = At::root(value);
    if let Some(kind) = root.optional("at_type") {
        let text = kind.text()?;
        if !KINDS.contains(&text) {
            let message = format!("kind {text} is not supported; {} are", KINDS.join(", "));
            return Err(kind.unsupported(message));
        }
    }
    let base = base_scores(&root)?;
    let mut trees = Vec::new();
    for tree in root.member("trees")?.elements()? {
        let mut nodes = Vec::new();
        match tree.optional("structure") {
            Some(structure) => {
                check_statements(&tree, base.len())?;
                read_node(&structure, base.len(), &mut nodes)?;
            }
            None => read_node(&tree, base.len(), &mut nodes)?,
        }
        trees.push(Tree { nodes });
    }
    let ensemble = Ensemble::new(0, base, trees)?;
    // The format does not say how many features there are.
    let features = Features { count: None, names: Vec::new(), groups: Vec::new() };
    let summation =
        Err("files of Veritas do not say which library computes the scores, which may be in \
                         single or in double precision; give the file of that library");
    let notes = Vec::new();
    Ok(TreesFile { ensemble, features, classes: None, law: None, summation, notes })
}

fn base_scores(root: &At<'_>) -> Result<Vec<f64>, PolicyError> {
    match (root.optional("base_scores"), root.optional("base_score")) {
        (Some(scores), None) => scores.elements()?.iter().map(At::number).collect(),
        (None, Some(score)) => Ok(vec![score.number()?]),
        (Some(_), Some(score)) => Err(score.invalid("`base_scores` is given, too")),
        (None, None) => {
            let message = "`base_scores` (a list) or `base_score` (a number) is expected";
            Err(PolicyError::invalid("", message))
        }
    }
}

/// Checks the statements of a tree about itself. Only comparisons with a threshold are known.
fn check_statements(tree: &At<'_>, outputs: usize) -> Result<(), PolicyError> {
    if let Some(kind) = tree.optional("split_type") {
        let text = kind.text()?;
        if text != "LtSplit" {
            let message = format!("split type {text} is not supported; LtSplit is");
            return Err(kind.unsupported(message));
        }
    }
    if let Some(count) = tree.optional("num_leaf_values") {
        let given = count.count()?;
        if given != outputs {
            let message = format!("it says {given}, and there are {outputs} base scores");
            return Err(count.invalid(message));
        }
    }
    Ok(())
}

/// Appends a node and what is below it.
fn read_node(node: &At<'_>, outputs: usize, nodes: &mut Vec<TreeNode>) -> Result<(), PolicyError> {
    if let Some(leaf) = node.optional("leaf_value") {
        for question in ["feat_id", "split_value", "left", "right", "lt", "gteq"] {
            if let Some(at) = node.optional(question) {
                return Err(at.invalid("a node has either a question or a value"));
            }
        }
        let values = match leaf.value {
            Value::Array(_) => leaf.elements()?,
            _ => vec![leaf.clone()],
        };
        if values.len() != outputs {
            return Err(leaf.invalid(format!("{} values for {outputs} outputs", values.len())));
        }
        let values: Vec<f64> = values.iter().map(At::number).collect::<Result<_, _>>()?;
        nodes.push(TreeNode::Leaf(values.into_iter().enumerate().collect()));
        return Ok(());
    }
    let input = node.member("feat_id")?.count()?;
    let at = node.member("split_value")?;
    // Veritas keeps thresholds in single precision.
    let threshold = single(at.value).ok_or_else(|| at.invalid("a number is expected"))?;
    let layouts = [["left", "right"], ["lt", "gteq"]];
    let given = layouts.map(|names| names.map(|name| node.optional(name)));
    let below = match given {
        [[Some(left), Some(right)], [None, None]] | [[None, None], [Some(left), Some(right)]] => {
            [left, right]
        }
        _ => {
            let message = "two children are expected: `left` and `right`, or `lt` and `gteq`";
            return Err(node.invalid(message));
        }
    };
    let rule = Rule {
        comparison: RuleComparison::Less,
        threshold: f64::from(threshold),
        precision: Precision::Single,
        missing: Missing::NotANumber(false),
    };
    let split = nodes.len();
    nodes.push(TreeNode::Leaf(Vec::new()));
    let mut children = [0; 2];
    for (child, below) in children.iter_mut().zip(&below) {
        *child = nodes.len();
        read_node(below, outputs, nodes)?;
    }
    let [left, right] = children;
    nodes[split] = TreeNode::Split { input, rule, left, right };
    Ok(())
}
