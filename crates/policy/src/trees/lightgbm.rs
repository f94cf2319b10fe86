//! Reader of LightGBM models: the text format, and JSON dumps.
//!
//! `x <= t` in double precision goes left. `decision_type` of the text format has the bits
//! categorical (1), default left (2) and the missing type (4, 8: none, zero, NaN). Trees belong to
//! the classes in turn. Leaves are children `-1 - leaf`.

use serde_json::Value;

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::rule::{Comparison, Missing, Precision, Rule};
use crate::error::PolicyError;

const CATEGORICAL: i64 = 1;
const DEFAULT_LEFT: i64 = 2;

/// Reads the text format.
pub(super) fn parse_text(text: &str) -> Result<Ensemble, PolicyError> {
    let body = text.lines().position(|line| line.trim() == "end of trees");
    let Some(body) = body else {
        return Err(PolicyError::invalid("", "the line `end of trees` is missing"));
    };
    let lines: Vec<(usize, &str)> = text.lines().take(body).enumerate().collect();
    let mut blocks: Vec<Block<'_>> =
        vec![Block { line: 1, name: "head".to_owned(), entries: Vec::new() }];
    for (k, line) in lines {
        let line = line.trim();
        if let Some(number) = line.strip_prefix("Tree=") {
            blocks.push(Block { line: k + 1, name: format!("tree {number}"), entries: Vec::new() });
        } else if let Some((key, value)) = line.split_once('=')
            && let Some(block) = blocks.last_mut()
        {
            block.entries.push((key, value));
        }
    }
    let Some((head, trees)) = blocks.split_first() else {
        return Err(PolicyError::invalid("", "the file is empty"));
    };
    let per_iteration: i64 = head.one("num_tree_per_iteration")?;
    let last_input: i64 = head.one("max_feature_idx")?;
    let (per_iteration, inputs) =
        match (usize::try_from(per_iteration), usize::try_from(last_input)) {
            (Ok(per_iteration), Ok(last)) if per_iteration > 0 => (per_iteration, last + 1),
            _ => {
                return Err(
                    head.invalid("`num_tree_per_iteration` or `max_feature_idx` is no count")
                );
            }
        };
    // Random forests average (`average_output`), which keeps the order of the sums.
    let mut read = Vec::with_capacity(trees.len());
    for (t, block) in trees.iter().enumerate() {
        read.push(text_tree(block, t % per_iteration)?);
    }
    Ensemble::new(inputs, vec![0.0; per_iteration], read)
}

/// The lines `key=value` of the head or of a tree.
struct Block<'t> {
    line: usize,
    name: String,
    entries: Vec<(&'t str, &'t str)>,
}

impl Block<'_> {
    fn invalid(&self, message: &str) -> PolicyError {
        PolicyError::invalid(format!("line {}, {}", self.line, self.name), message.to_owned())
    }

    fn text(&self, key: &str) -> Result<&str, PolicyError> {
        let entry = self.entries.iter().find(|(name, _)| *name == key);
        entry.map(|(_, value)| *value).ok_or_else(|| self.invalid(&format!("`{key}` is missing")))
    }

    fn list<T: std::str::FromStr>(&self, key: &str) -> Result<Vec<T>, PolicyError> {
        let parts = self.text(key)?.split_whitespace();
        parts
            .map(|part| {
                part.parse().map_err(|_| self.invalid(&format!("`{key}`: `{part}` is no number")))
            })
            .collect()
    }

    fn one<T: std::str::FromStr>(&self, key: &str) -> Result<T, PolicyError> {
        let mut list: Vec<T> = self.list(key)?;
        match (list.len(), list.pop()) {
            (1, Some(value)) => Ok(value),
            _ => Err(self.invalid(&format!("`{key}` is no single number"))),
        }
    }
}

fn text_tree(block: &Block<'_>, class: usize) -> Result<Tree, PolicyError> {
    if block.entries.iter().any(|(key, value)| *key == "is_linear" && *value != "0") {
        let message = "leaves with linear models are not supported";
        let place = format!("line {}, {}", block.line, block.name);
        return Err(PolicyError::unsupported(place, message));
    }
    let values: Vec<f64> = block.list("leaf_value")?;
    if values.len() == 1 {
        return Ok(Tree { nodes: vec![TreeNode::Leaf(vec![(class, values[0])])] });
    }
    let lists = Lists {
        inputs: block.list("split_feature")?,
        thresholds: block.list("threshold")?,
        kinds: block.list("decision_type")?,
        left: block.list("left_child")?,
        right: block.list("right_child")?,
        values,
    };
    let inner = lists.inputs.len();
    let lengths = [lists.thresholds.len(), lists.kinds.len(), lists.left.len(), lists.right.len()];
    if lengths.iter().any(|&length| length != inner) || lists.values.len() != inner + 1 {
        return Err(block.invalid("the lists of its nodes differ in length"));
    }
    let mut nodes = Vec::new();
    lists.copy(block, 0, class, 0, &mut nodes)?;
    Ok(Tree { nodes })
}

/// The inner nodes of a tree by list, and its leaves.
struct Lists {
    inputs: Vec<usize>,
    thresholds: Vec<f64>,
    kinds: Vec<i64>,
    left: Vec<i64>,
    right: Vec<i64>,
    values: Vec<f64>,
}

impl Lists {
    /// Appends the subtree of a node, parents first. Negative numbers are leaves.
    fn copy(
        &self,
        block: &Block<'_>,
        node: i64,
        class: usize,
        depth: usize,
        nodes: &mut Vec<TreeNode>,
    ) -> Result<(), PolicyError> {
        let Ok(k) = usize::try_from(node) else {
            let leaf = usize::try_from(-1 - node).ok().and_then(|leaf| self.values.get(leaf));
            let Some(&value) = leaf else {
                return Err(block.invalid(&format!("child {node} is no leaf")));
            };
            nodes.push(TreeNode::Leaf(vec![(class, value)]));
            return Ok(());
        };
        let most = self.inputs.len() + self.values.len();
        if k >= self.inputs.len() || depth > self.inputs.len() || nodes.len() > most {
            let message = format!("child {k} is no node, its own child, or the child of two nodes");
            return Err(block.invalid(&message));
        }
        let kind = self.kinds[k];
        if kind & CATEGORICAL != 0 {
            let message = format!("node {k} splits by categories, which is not supported");
            let place = format!("line {}, {}", block.line, block.name);
            return Err(PolicyError::unsupported(place, message));
        }
        let default_left = kind & DEFAULT_LEFT != 0;
        let missing = match (kind >> 2) & 3 {
            0 => Missing::IsZero,
            1 => Missing::Zero(default_left),
            2 => Missing::NotANumber(default_left),
            _ => return Err(block.invalid(&format!("`decision_type` {kind} has no meaning"))),
        };
        let rule = rule(self.thresholds[k], missing);
        let split = nodes.len();
        nodes.push(TreeNode::Leaf(Vec::new()));
        let mut children = [0; 2];
        for (place, child) in children.iter_mut().zip([self.left[k], self.right[k]]) {
            *place = nodes.len();
            self.copy(block, child, class, depth + 1, nodes)?;
        }
        let [left, right] = children;
        nodes[split] = TreeNode::Split { input: self.inputs[k], rule, left, right };
        Ok(())
    }
}

fn rule(threshold: f64, missing: Missing) -> Rule {
    Rule { comparison: Comparison::LessEqual, threshold, precision: Precision::Double, missing }
}

/// Reads a JSON dump (`dump_model`).
pub(super) fn parse_json(value: &Value) -> Result<Ensemble, PolicyError> {
    let count = |key: &str| {
        let number = value.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        number.ok_or_else(|| PolicyError::invalid(format!("/{key}"), "a count is expected"))
    };
    let per_iteration = count("num_tree_per_iteration")?;
    let inputs = count("max_feature_idx")? + 1;
    if per_iteration == 0 {
        return Err(PolicyError::invalid("/num_tree_per_iteration", "it is zero"));
    }
    let list = value["tree_info"]
        .as_array()
        .ok_or_else(|| PolicyError::invalid("/tree_info", "a list is expected"))?;
    let mut trees = Vec::with_capacity(list.len());
    for (t, tree) in list.iter().enumerate() {
        let pointer = format!("/tree_info/{t}/tree_structure");
        let Some(root) = tree.get("tree_structure") else {
            return Err(PolicyError::invalid(pointer, "it is missing"));
        };
        let mut nodes = Vec::new();
        json_node(root, &pointer, t % per_iteration, &mut nodes)?;
        trees.push(Tree { nodes });
    }
    Ensemble::new(inputs, vec![0.0; per_iteration], trees)
}

fn json_node(
    value: &Value,
    pointer: &str,
    class: usize,
    nodes: &mut Vec<TreeNode>,
) -> Result<(), PolicyError> {
    let invalid = |place: &str, message: &str| {
        PolicyError::invalid(format!("{pointer}/{place}"), message.to_owned())
    };
    if value.get("split_feature").is_none() {
        let leaf = value.get("leaf_value").and_then(Value::as_f64);
        let leaf = leaf.ok_or_else(|| invalid("leaf_value", "a number is expected"))?;
        if value.get("leaf_const").is_some() {
            let message = "leaves with linear models are not supported";
            return Err(PolicyError::unsupported(pointer, message));
        }
        nodes.push(TreeNode::Leaf(vec![(class, leaf)]));
        return Ok(());
    }
    let input = value["split_feature"].as_u64().and_then(|input| usize::try_from(input).ok());
    let input = input.ok_or_else(|| invalid("split_feature", "an input's number is expected"))?;
    if value.get("decision_type").and_then(Value::as_str) != Some("<=") {
        let message = "only the decision type `<=` is supported; `==` splits by categories";
        return Err(PolicyError::unsupported(format!("{pointer}/decision_type"), message));
    }
    let threshold = match value.get("threshold") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_f64(),
        None => None,
    };
    let threshold = threshold.ok_or_else(|| invalid("threshold", "a number is expected"))?;
    let default_left = value.get("default_left").and_then(Value::as_bool).unwrap_or(false);
    let missing = match value.get("missing_type").and_then(Value::as_str) {
        None | Some("None") => Missing::IsZero,
        Some("Zero") => Missing::Zero(default_left),
        Some("NaN") => Missing::NotANumber(default_left),
        Some(_) => return Err(invalid("missing_type", "None, Zero or NaN is expected")),
    };
    let split = nodes.len();
    nodes.push(TreeNode::Leaf(Vec::new()));
    let mut children = [0; 2];
    for (place, name) in children.iter_mut().zip(["left_child", "right_child"]) {
        let child = value.get(name).ok_or_else(|| invalid(name, "it is missing"))?;
        *place = nodes.len();
        json_node(child, &format!("{pointer}/{name}"), class, nodes)?;
    }
    let [left, right] = children;
    nodes[split] = TreeNode::Split { input, rule: rule(threshold, missing), left, right };
    Ok(())
}
