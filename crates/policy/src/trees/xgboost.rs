//! Reader of XGBoost models (JSON, and UBJSON that was brought into that form).
//!
//! Trees belong to classes as `tree_info` says. A leaf is a node whose left child is −1; its value
//! stands in `split_conditions`, or in `base_weights` for leaves with several values. Of a
//! classifier of two classes the margin is the score: positive chooses the second class.

use serde_json::Value;

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::rule::{Comparison, Missing, Precision, Rule};
use crate::error::PolicyError;

/// Objectives whose base score is a probability, of which the margin starts at the logit.
const LOGISTIC: [&str; 3] = ["binary:logistic", "reg:logistic", "binary:logitraw"];
/// Objectives whose base score is an expectation, of which the margin starts at the logarithm.
const LOGARITHMIC: [&str; 4] = ["count:poisson", "reg:gamma", "reg:tweedie", "survival:cox"];

/// Reads an ensemble.
pub(super) fn parse(value: &Value) -> Result<Ensemble, PolicyError> {
    let learner = At { value, pointer: String::new() }.member("learner")?;
    let booster = learner.member("gradient_booster")?;
    let name = booster.value.get("name").and_then(Value::as_str).unwrap_or("gbtree");
    if name != "gbtree" {
        let message = format!("booster {name} is not supported; gbtree is");
        return Err(booster.unsupported(&message));
    }
    let model = booster.member("model")?;
    let parameters = learner.member("learner_model_param")?;
    let classes = parameters.optional_number("num_class")?.unwrap_or(0.0);
    let targets = parameters.optional_number("num_target")?.unwrap_or(1.0);
    let outputs = count(classes.max(targets).max(1.0), &parameters)?;
    let inputs = count(parameters.optional_number("num_feature")?.unwrap_or(0.0), &parameters)?;
    let base = base_scores(&learner, &parameters, outputs)?;
    let classes = model.member("tree_info")?.indices()?;
    let list = model.member("trees")?;
    let mut trees = Vec::new();
    for (t, tree) in list.elements()?.into_iter().enumerate() {
        let class = match classes.get(t) {
            Some(Some(class)) if *class < outputs => *class,
            _ => return Err(tree.invalid("`tree_info` names no class for it")),
        };
        trees.push(read_tree(&tree, class, outputs)?);
    }
    Ensemble::new(inputs, base, trees)
}

fn base_scores(
    learner: &At<'_>,
    parameters: &At<'_>,
    outputs: usize,
) -> Result<Vec<f64>, PolicyError> {
    let text = match parameters.value.get("base_score") {
        None => "0.5".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => return Err(parameters.invalid("`base_score` is no number")),
    };
    // "0.2", "2E-1", "[2E-1]", "[1E-1,2E-1]".
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    let mut scores = Vec::new();
    for part in inner.split(',') {
        let score: f32 = part
            .trim()
            .parse()
            .map_err(|_| parameters.invalid(&format!("`base_score` `{text}` is no number")))?;
        scores.push(score);
    }
    let objective = learner.value.pointer("/objective/name").and_then(Value::as_str);
    let objective = objective.unwrap_or_default();
    for score in &mut scores {
        *score = if LOGISTIC.contains(&objective) {
            -(1.0 / *score - 1.0).ln()
        } else if LOGARITHMIC.contains(&objective) {
            score.ln()
        } else {
            *score
        };
    }
    match scores.as_slice() {
        &[score] => Ok(vec![f64::from(score); outputs]),
        several if several.len() == outputs => Ok(several.iter().copied().map(f64::from).collect()),
        several => {
            let message = format!("{} base scores for {outputs} outputs", several.len());
            Err(parameters.invalid(&message))
        }
    }
}

fn read_tree(tree: &At<'_>, class: usize, outputs: usize) -> Result<Tree, PolicyError> {
    let left = tree.member("left_children")?.indices()?;
    let right = tree.member("right_children")?.indices()?;
    let inputs = tree.member("split_indices")?.indices()?;
    let conditions = tree.member("split_conditions")?.numbers()?;
    let default_left = tree.member("default_left")?.numbers()?;
    let kinds = match tree.value.get("split_type") {
        Some(_) => tree.member("split_type")?.numbers()?,
        None => vec![0.0; left.len()],
    };
    if [right.len(), inputs.len(), conditions.len(), default_left.len(), kinds.len()]
        .iter()
        .any(|&length| length != left.len())
    {
        return Err(tree.invalid("the lists of its nodes differ in length"));
    }
    let size = tree.value.pointer("/tree_param/size_leaf_vector").and_then(Value::as_str);
    let size: usize = size.and_then(|size| size.parse().ok()).unwrap_or(1);
    let vectors = if size > 1 {
        if size != outputs {
            return Err(tree.invalid(&format!("leaves of {size} values for {outputs} outputs")));
        }
        let weights = tree.member("base_weights")?.numbers()?;
        if weights.len() != left.len() * size {
            return Err(tree.invalid("`base_weights` does not fit the leaves"));
        }
        Some(weights)
    } else {
        None
    };
    let mut nodes = Vec::new();
    let lists = Lists { left, right, inputs, conditions, default_left, kinds, vectors };
    lists.copy(tree, 0, (class, outputs), 0, &mut nodes)?;
    Ok(Tree { nodes })
}

/// The nodes of a tree, by list.
struct Lists {
    left: Vec<Option<usize>>,
    right: Vec<Option<usize>>,
    inputs: Vec<Option<usize>>,
    conditions: Vec<f64>,
    default_left: Vec<f64>,
    kinds: Vec<f64>,
    vectors: Option<Vec<f64>>,
}

impl Lists {
    /// Appends the subtree of a node, parents first.
    fn copy(
        &self,
        tree: &At<'_>,
        k: usize,
        (class, outputs): (usize, usize),
        depth: usize,
        nodes: &mut Vec<TreeNode>,
    ) -> Result<(), PolicyError> {
        if k >= self.left.len() || depth > self.left.len() || nodes.len() > self.left.len() {
            let message = format!(
                "node {k} is no node of the tree, its own child, or the child of two nodes"
            );
            return Err(tree.invalid(&message));
        }
        let (Some(left), Some(right)) = (self.left[k], self.right[k]) else {
            nodes.push(TreeNode::Leaf(match &self.vectors {
                None => vec![(class, single(self.conditions[k]))],
                Some(weights) => {
                    let own = &weights[k * outputs..(k + 1) * outputs];
                    own.iter().map(|&value| single(value)).enumerate().collect()
                }
            }));
            return Ok(());
        };
        if self.kinds[k] != 0.0 {
            let message = format!("node {k} splits by categories, which is not supported");
            return Err(tree.unsupported(&message));
        }
        let Some(input) = self.inputs[k] else {
            return Err(tree.invalid(&format!("node {k} names no input")));
        };
        let rule = Rule {
            comparison: Comparison::Less,
            threshold: single(self.conditions[k]),
            precision: Precision::Single,
            missing: Missing::NotANumber(self.default_left[k] != 0.0),
        };
        let split = nodes.len();
        nodes.push(TreeNode::Leaf(Vec::new()));
        let mut children = [0; 2];
        for (place, child) in children.iter_mut().zip([left, right]) {
            *place = nodes.len();
            self.copy(tree, child, (class, outputs), depth + 1, nodes)?;
        }
        let [left, right] = children;
        nodes[split] = TreeNode::Split { input, rule, left, right };
        Ok(())
    }
}

/// The library keeps thresholds and values in single precision.
fn single(value: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "as the library reads the number")]
    f64::from(value as f32)
}

/// A count that was read as a number.
fn count(number: f64, at: &At<'_>) -> Result<usize, PolicyError> {
    if number.fract() != 0.0 || !(0.0..=1e6).contains(&number) {
        return Err(at.invalid(&format!("{number} is no count")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(number as usize)
}

/// A value and where it stands.
struct At<'v> {
    value: &'v Value,
    pointer: String,
}

impl<'v> At<'v> {
    fn invalid(&self, message: &str) -> PolicyError {
        PolicyError::invalid(self.pointer.clone(), message.to_owned())
    }

    fn unsupported(&self, message: &str) -> PolicyError {
        PolicyError::unsupported(self.pointer.clone(), message.to_owned())
    }

    fn member(&self, name: &str) -> Result<At<'v>, PolicyError> {
        match self.value.get(name) {
            Some(value) => Ok(At { value, pointer: format!("{}/{name}", self.pointer) }),
            None => Err(self.invalid(&format!("`{name}` is missing"))),
        }
    }

    /// A number that may be written as text.
    fn optional_number(&self, name: &str) -> Result<Option<f64>, PolicyError> {
        let number = match self.value.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_f64(),
        };
        number.map(Some).ok_or_else(|| self.invalid(&format!("`{name}` is no number")))
    }

    fn elements(&self) -> Result<Vec<At<'v>>, PolicyError> {
        let list = self.value.as_array().ok_or_else(|| self.invalid("a list is expected"))?;
        let place = |k| format!("{}/{k}", self.pointer);
        Ok(list.iter().enumerate().map(|(k, value)| At { value, pointer: place(k) }).collect())
    }

    fn numbers(&self) -> Result<Vec<f64>, PolicyError> {
        let number = |at: &At<'_>| match at.value {
            Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
            value => value.as_f64().ok_or_else(|| at.invalid("a number is expected")),
        };
        self.elements()?.iter().map(number).collect()
    }

    /// Numbers of nodes, inputs or classes; negative ones stand for none.
    fn indices(&self) -> Result<Vec<Option<usize>>, PolicyError> {
        let index = |at: &At<'_>| match at.value.as_i64() {
            Some(index) => Ok(usize::try_from(index).ok()),
            None => Err(at.invalid("an integer is expected")),
        };
        self.elements()?.iter().map(index).collect()
    }
}
