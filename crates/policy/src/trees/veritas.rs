//! Reader of Veritas JSON, old and new layout.
//!
//! New: `{"base_scores": […], "trees": [{"structure": NODE, …}]}` with nodes
//! `{"feat_id", "split_value", "left", "right"}` or `{"leaf_value": […]}`. Old: one output,
//! `{"base_score", "trees": [NODE]}` with children `lt` and `gteq`, and a number as leaf value.

use serde_json::Value;

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::rule::{Comparison, Missing, Precision, Rule};
use crate::error::PolicyError;

/// Reads an ensemble.
pub(super) fn parse(value: &Value) -> Result<Ensemble, PolicyError> {
    let base = base_scores(value)?;
    let list = value["trees"]
        .as_array()
        .ok_or_else(|| PolicyError::invalid("/trees", "a list is expected"))?;
    let mut trees = Vec::with_capacity(list.len());
    for (t, tree) in list.iter().enumerate() {
        let mut nodes = Vec::new();
        let pointer = format!("/trees/{t}");
        match tree.get("structure") {
            Some(structure) => {
                check_split_type(tree, &pointer)?;
                let pointer = format!("{pointer}/structure");
                read_node(structure, &pointer, base.len(), &mut nodes)?;
            }
            None => read_node(tree, &pointer, base.len(), &mut nodes)?,
        }
        trees.push(Tree { nodes });
    }
    Ensemble::new(0, base, trees)
}

fn base_scores(value: &Value) -> Result<Vec<f64>, PolicyError> {
    let scores = match (value.get("base_scores"), value.get("base_score")) {
        (Some(Value::Array(scores)), _) => scores.as_slice(),
        (None, Some(score)) => std::slice::from_ref(score),
        _ => {
            let message = "`base_scores` (a list) or `base_score` (a number) is expected";
            return Err(PolicyError::invalid("", message));
        }
    };
    let number = |score: &Value| {
        score.as_f64().ok_or_else(|| PolicyError::invalid("/base_scores", "numbers are expected"))
    };
    scores.iter().map(number).collect()
}

/// Only comparisons with a threshold are known.
fn check_split_type(tree: &Value, pointer: &str) -> Result<(), PolicyError> {
    match tree.get("split_type").and_then(Value::as_str) {
        None | Some("LtSplit") => Ok(()),
        Some(other) => {
            let message = format!("split type {other} is not supported; LtSplit is");
            Err(PolicyError::unsupported(format!("{pointer}/split_type"), message))
        }
    }
}

/// Appends a node and what is below it.
fn read_node(
    value: &Value,
    pointer: &str,
    outputs: usize,
    nodes: &mut Vec<TreeNode>,
) -> Result<(), PolicyError> {
    let invalid = |place: &str, message: &str| {
        PolicyError::invalid(format!("{pointer}{place}"), message.to_owned())
    };
    if let Some(leaf) = value.get("leaf_value") {
        let values = match leaf {
            Value::Array(values) => values.as_slice(),
            single => std::slice::from_ref(single),
        };
        if values.len() != outputs {
            let message = format!("{} values for {outputs} outputs", values.len());
            return Err(invalid("/leaf_value", &message));
        }
        let mut leaf = Vec::with_capacity(values.len());
        for (output, value) in values.iter().enumerate() {
            let value =
                value.as_f64().ok_or_else(|| invalid("/leaf_value", "numbers are expected"))?;
            leaf.push((output, value));
        }
        nodes.push(TreeNode::Leaf(leaf));
        return Ok(());
    }
    let input = value.get("feat_id").and_then(Value::as_u64);
    let input = input.and_then(|input| usize::try_from(input).ok());
    let input = input.ok_or_else(|| invalid("/feat_id", "an input's number is expected"))?;
    let threshold = value.get("split_value").and_then(Value::as_f64);
    let threshold = threshold.ok_or_else(|| invalid("/split_value", "a number is expected"))?;
    // Veritas keeps thresholds in single precision.
    #[expect(clippy::cast_possible_truncation, reason = "as the library reads the number")]
    let threshold = f64::from(threshold as f32);
    let names = if value.get("left").is_some() { ["left", "right"] } else { ["lt", "gteq"] };
    let rule = Rule {
        comparison: Comparison::Less,
        threshold,
        precision: Precision::Single,
        missing: Missing::NotANumber(false),
    };
    let split = nodes.len();
    nodes.push(TreeNode::Leaf(Vec::new()));
    let mut children = [0; 2];
    for (child, name) in children.iter_mut().zip(names) {
        let below = value.get(name);
        let below = below.ok_or_else(|| invalid("", "neither a leaf nor two children"))?;
        *child = nodes.len();
        read_node(below, &format!("{pointer}/{name}"), outputs, nodes)?;
    }
    let [left, right] = children;
    nodes[split] = TreeNode::Split { input, rule, left, right };
    Ok(())
}
