//! One tree of an XGBoost model.
//!
//! A leaf is a node whose left child is −1. Its value stands in `split_conditions`. Leaves with
//! several values have them in `leaf_weights`, with the number of the leaf as right child, or in
//! `base_weights` in older files. Nodes that were pruned stay in the lists and are counted by
//! `num_deleted`; no other node may be out of reach.

use std::collections::BTreeMap;

use super::super::assemble::{ListedNode, assemble};
use super::super::categories::{Categories, CategoryReading};
use super::super::ensemble::Tree;
use super::super::place::At;
use super::super::rule::{Missing, Precision, Rule, RuleComparison};
use crate::error::PolicyError;

/// Greater categories cannot be told apart in single precision.
const MOST_CATEGORIES: u32 = 1 << 24;

/// The numbers that stand for the parent of the root.
const NO_PARENTS: [i64; 2] = [-1, 2_147_483_647];

/// A tree that was read.
pub(super) struct ReadTree {
    pub tree: Tree,
    /// True if its leaves have a value for each output.
    pub for_all_outputs: bool,
}

/// Reads tree `t`, which is for one output, unless its leaves have a value for each.
pub(super) fn read(
    tree: &At<'_>,
    t: usize,
    output: usize,
    features: usize,
    outputs: usize,
) -> Result<ReadTree, PolicyError> {
    if let Some(id) = tree.optional("id")
        && id.count()? != t
    {
        return Err(id.invalid(format!("tree {t} has another number")));
    }
    let left = tree.member("left_children")?.integers()?;
    let nodes = left.len();
    let same_length = |name: &str| -> Result<At<'_>, PolicyError> {
        let at = tree.member(name)?;
        at.of_length(nodes, "nodes")?;
        Ok(at)
    };
    let kinds = match tree.optional("split_type") {
        None => vec![false; nodes],
        Some(_) => same_length("split_type")?.truths()?,
    };
    let categories = category_sets(tree, &kinds)?;
    for name in ["loss_changes", "sum_hessian"] {
        if tree.optional(name).is_some() {
            same_length(name)?;
        }
    }
    let parents = tree.optional("parents").map(|_| same_length("parents")?.integers());
    let parameters = Parameters::read(tree, nodes, features)?;
    let leaves = Leaves::read(tree, output, (nodes, outputs), parameters.leaf_size)?;
    let lists = Lists {
        tree,
        right: same_length("right_children")?.integers()?,
        inputs: same_length("split_indices")?.integers()?,
        conditions: same_length("split_conditions")?.singles()?,
        default_left: same_length("default_left")?.truths()?,
        parents: parents.transpose()?,
        left,
        kinds,
        categories,
        leaves,
        features,
    };
    let twice = |k| tree.invalid(format!("node {k} is the child of two nodes, or twice of one"));
    let missing = |k| tree.invalid(format!("there is no node {k}"));
    let assembled = assemble((nodes, 0), |k, parent| lists.node(k, parent), twice, missing)?;
    let missed = assembled.reached.iter().filter(|&&reached| !reached).count();
    if missed != parameters.deleted {
        let first = assembled.reached.iter().position(|reached| !reached).unwrap_or(0);
        let message = if missed == 0 {
            format!("`num_deleted` says {}, and all nodes are in the tree", parameters.deleted)
        } else {
            format!(
                "{missed} nodes are no child of any node, such as node {first}; `num_deleted` says \
                 {}",
                parameters.deleted
            )
        };
        return Err(tree.invalid(message));
    }
    let for_all_outputs = matches!(lists.leaves, Leaves::Several { .. });
    Ok(ReadTree { tree: Tree { nodes: assembled.nodes }, for_all_outputs })
}

/// The categories of the nodes that split by them: those of one node stand after those of another one.
fn category_sets(tree: &At<'_>, kinds: &[bool]) -> Result<BTreeMap<usize, Vec<u32>>, PolicyError> {
    let mut sets = BTreeMap::new();
    let Some(at) = tree.optional("categories_nodes") else { return Ok(sets) };
    let nodes = at.integers()?;
    for (entry, &node) in nodes.iter().enumerate() {
        let known = usize::try_from(node).ok().filter(|&node| kinds.get(node) == Some(&true));
        if known.is_none() {
            let message = format!("`split_type` says that node {node} has no categories");
            return Err(PolicyError::invalid(format!("{}/{entry}", at.pointer), message));
        }
    }
    if nodes.is_empty() {
        return Ok(sets);
    }
    let list = |name: &str| {
        let list = tree.member(name)?;
        list.of_length(nodes.len(), "nodes in `categories_nodes`")?;
        Ok::<_, PolicyError>((list.integers()?, list))
    };
    let ((segments, segments_at), (sizes, sizes_at)) =
        (list("categories_segments")?, list("categories_sizes")?);
    let all_at = tree.member("categories")?;
    let all = all_at.integers()?;
    let mut begin = 0;
    for (entry, &node) in nodes.iter().enumerate() {
        let place = |at: &At<'_>| format!("{}/{entry}", at.pointer);
        let node = usize::try_from(node).unwrap_or(usize::MAX);
        if usize::try_from(segments[entry]) != Ok(begin) {
            let message = format!("the categories of node {node} begin at {begin}");
            return Err(PolicyError::invalid(place(&segments_at), message));
        }
        let end = usize::try_from(sizes[entry]).ok().and_then(|size| begin.checked_add(size));
        let Some(own) = end.and_then(|end| all.get(begin..end)) else {
            let message = format!("`categories` has {} entries", all.len());
            return Err(PolicyError::invalid(place(&sizes_at), message));
        };
        let set: Result<Vec<u32>, _> =
            own.iter().map(|&category| u32::try_from(category)).collect();
        let set = set.ok().filter(|set| set.iter().all(|&category| category <= MOST_CATEGORIES));
        let set = set.ok_or_else(|| all_at.invalid("a category is negative, or too large"))?;
        begin += own.len();
        if sets.insert(node, set).is_some() {
            return Err(PolicyError::invalid(place(&at), format!("node {node} stands twice")));
        }
    }
    if begin == all.len() {
        return Ok(sets);
    }
    Err(all_at.invalid(format!("it has {} entries, the nodes have {begin}", all.len())))
}

/// The numbers in `tree_param`.
struct Parameters {
    deleted: usize,
    /// Values of a leaf.
    leaf_size: usize,
}

impl Parameters {
    fn read(tree: &At<'_>, nodes: usize, features: usize) -> Result<Self, PolicyError> {
        let mut read = Self { deleted: 0, leaf_size: 1 };
        let Some(parameters) = tree.optional("tree_param") else { return Ok(read) };
        for (name, at) in parameters.members()? {
            let what = match name {
                "num_deleted" => {
                    read.deleted = at.written_count()?;
                    continue;
                }
                "size_leaf_vector" => {
                    // Version 1 writes 0.
                    read.leaf_size = at.written_count()?.max(1);
                    continue;
                }
                "num_nodes" => (nodes, "the lists have"),
                "num_feature" => (features, "`num_feature` of the learner says"),
                _ => continue,
            };
            let given = at.written_count()?;
            if given != what.0 {
                return Err(at.invalid(format!("it says {given}, {} {}", what.1, what.0)));
            }
        }
        Ok(read)
    }
}

/// The place of the leaves' values.
enum Leaves {
    /// In the conditions, for one output.
    One { output: usize },
    /// In a list of their own, for all outputs.
    Several { values: Vec<f32>, outputs: usize, by_leaf: bool },
}

impl Leaves {
    fn read(
        tree: &At<'_>,
        output: usize,
        (nodes, outputs): (usize, usize),
        leaf_size: usize,
    ) -> Result<Self, PolicyError> {
        let weights = tree.optional("base_weights");
        if leaf_size == 1 {
            if let Some(at) = weights {
                at.of_length(nodes, "nodes")?;
            }
            return Ok(Self::One { output });
        }
        if leaf_size != outputs {
            let message = format!("leaves of {leaf_size} values for {outputs} outputs");
            return Err(tree.invalid(message));
        }
        if let Some(at) = &weights {
            at.of_length(nodes.saturating_mul(outputs), "values of nodes")?;
        }
        match (tree.optional("leaf_weights"), weights) {
            (Some(at), _) => Ok(Self::Several { values: at.singles()?, outputs, by_leaf: true }),
            (None, Some(at)) => {
                Ok(Self::Several { values: at.singles()?, outputs, by_leaf: false })
            }
            (None, None) => Err(tree.invalid("`leaf_weights` is missing")),
        }
    }
}

/// The nodes of a tree, by list.
struct Lists<'v> {
    tree: &'v At<'v>,
    left: Vec<i64>,
    right: Vec<i64>,
    inputs: Vec<i64>,
    conditions: Vec<f32>,
    default_left: Vec<bool>,
    kinds: Vec<bool>,
    /// The categories of the nodes that split by them.
    categories: BTreeMap<usize, Vec<u32>>,
    parents: Option<Vec<i64>>,
    leaves: Leaves,
    features: usize,
}

impl Lists<'_> {
    fn wrong(&self, list: &str, k: usize, message: String) -> PolicyError {
        PolicyError::invalid(format!("{}/{list}/{k}", self.tree.pointer), message)
    }

    /// The values of a leaf.
    fn leaf(&self, k: usize) -> Result<ListedNode, PolicyError> {
        let right = self.right[k];
        let (values, outputs, place) = match &self.leaves {
            Leaves::One { .. } | Leaves::Several { by_leaf: false, .. } if right != -1 => {
                let message = format!("node {k} has no left child, but {right} as right child");
                return Err(self.wrong("right_children", k, message));
            }
            Leaves::One { output } => {
                return Ok(ListedNode::Leaf(vec![(*output, f64::from(self.conditions[k]))]));
            }
            Leaves::Several { values, outputs, by_leaf: false } => (values, *outputs, k),
            Leaves::Several { values, outputs, by_leaf: true } => {
                let place = usize::try_from(right).ok();
                let place = place.filter(|&place| place < values.len() / outputs);
                let place = place.ok_or_else(|| {
                    let message = format!("leaf {k} has number {right}, which has no values");
                    self.wrong("right_children", k, message)
                })?;
                (values, *outputs, place)
            }
        };
        let own = &values[place * outputs..(place + 1) * outputs];
        Ok(ListedNode::Leaf(own.iter().map(|&value| f64::from(value)).enumerate().collect()))
    }

    /// Node `k`, as the lists give it; its parent must be `parent`.
    fn node(&self, k: usize, parent: Option<usize>) -> Result<ListedNode, PolicyError> {
        if let Some(parents) = &self.parents {
            let given = parents[k];
            let fits = match parent {
                None => NO_PARENTS.contains(&given),
                Some(parent) => usize::try_from(given) == Ok(parent),
            };
            if !fits {
                let parent = parent.map_or("none".to_owned(), |parent| parent.to_string());
                let message = format!("the parent of node {k} is {parent}, not {given}");
                return Err(self.wrong("parents", k, message));
            }
        }
        if self.left[k] == -1 {
            return self.leaf(k);
        }
        let input = usize::try_from(self.inputs[k]).ok();
        let input = input.filter(|&input| input < self.features).ok_or_else(|| {
            let message = format!(
                "node {k} splits on feature {}, and `num_feature` says {}",
                self.inputs[k], self.features
            );
            self.wrong("split_indices", k, message)
        })?;
        let child = |list: &str, child: i64| {
            let found = usize::try_from(child).ok().filter(|&child| child < self.left.len());
            found.ok_or_else(|| {
                self.wrong(list, k, format!("child {child} of node {k} is no node of the tree"))
            })
        };
        let children =
            [child("left_children", self.left[k])?, child("right_children", self.right[k])?];
        if self.kinds[k] {
            let set = self.categories.get(&k).cloned().ok_or_else(|| {
                let message = format!("node {k} splits by categories, and the file lists none");
                self.wrong("split_type", k, message)
            })?;
            let reading = CategoryReading {
                precision: Precision::Single,
                zero_from_below: false,
                // Categories of the set go right.
                missing_inside: !self.default_left[k],
            };
            let [left, right] = children;
            let categories = Categories::new(set, reading);
            return Ok(ListedNode::Categories { input, categories, children: [right, left] });
        }
        let rule = Rule {
            comparison: RuleComparison::Less,
            threshold: f64::from(self.conditions[k]),
            precision: Precision::Single,
            missing: Missing::NotANumber(self.default_left[k]),
        };
        Ok(ListedNode::Split { input, rule, children })
    }
}
