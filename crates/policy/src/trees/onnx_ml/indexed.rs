//! The operator `TreeEnsemble` of version 5 of the operator set: nodes by index, and leaves of their
//! own. A leaf adds to one target; several children may be the same leaf.

use super::super::assemble::{ListedNode, assemble};
use super::super::ensemble::Tree;
use super::super::rule::{Missing, Precision, Rule, RuleComparison};
use super::{Parts, features_text, link};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;
use crate::onnx::proto::NodeProto;
use crate::onnx::tensor::Tensor;

const KNOWN: [&str; 16] = [
    "aggregate_function",
    "leaf_targetids",
    "leaf_weights",
    "membership_values",
    "n_targets",
    "nodes_falseleafs",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_splits",
    "nodes_trueleafs",
    "nodes_truenodeids",
    "post_transform",
    "tree_roots",
];

/// Codes of the sum and the average, which differ by a positive factor.
const SUMS: [i64; 2] = [0, 1];
/// The code of the average.
const AVERAGE: i64 = 0;
/// Codes of the transformations that keep the order of scores.
const KEEP_ORDER: [i64; 3] = [0, 1, 2];
/// Their names.
const TRANSFORMS: [&str; 3] = ["NONE", "SOFTMAX", "LOGISTIC"];

fn invalid(message: String) -> PolicyError {
    PolicyError::invalid("", message)
}

/// Reads an ensemble; `features` is the number of features, if the graph says it.
pub(super) fn read(
    node: &NodeProto,
    precision: Precision,
    features: Option<usize>,
) -> Result<Parts, PolicyError> {
    let attributes = Attributes::of(node, &KNOWN)?;
    let mut codes = Vec::new();
    for (name, default, supported) in
        [("aggregate_function", 1, &SUMS[..]), ("post_transform", 0, &KEEP_ORDER[..])]
    {
        let given = attributes.integer(name)?.unwrap_or(default);
        if !supported.contains(&given) {
            let message = format!("`{name}` {given} is not supported; {supported:?} are");
            return Err(PolicyError::unsupported("", message));
        }
        codes.push(given);
    }
    let targets = usize::try_from(attributes.integer("n_targets")?.unwrap_or(1)).unwrap_or(0);
    if targets == 0 {
        return Err(invalid("it has no targets".to_owned()));
    }
    let lists = Lists::read(&attributes, targets, precision, features)?;
    let mut reached = vec![false; lists.inputs.len()];
    let mut trees = Vec::with_capacity(lists.roots.len());
    for &root in lists.roots {
        let root = usize::try_from(root).ok().filter(|&root| root < lists.inputs.len());
        let root = root.ok_or_else(|| invalid("a root in `tree_roots` is not there".to_owned()))?;
        let assembled = assemble(
            (lists.places(), root),
            |place, _| lists.node(place),
            |place| invalid(format!("node {place} is the child of two nodes, or twice of one")),
            |place| invalid(format!("node {place} is not there")),
        )?;
        for place in assembled.places {
            if let Some(reached) = reached.get_mut(place)
                && std::mem::replace(reached, true)
            {
                return Err(invalid(format!("node {place} belongs to two trees")));
            }
        }
        trees.push(Tree { nodes: assembled.nodes });
    }
    match reached.iter().position(|reached| !reached) {
        None => {
            let transform = usize::try_from(codes[1]).ok().and_then(|code| TRANSFORMS.get(code));
            let link = link(transform.copied().unwrap_or_default(), targets);
            let (base, averages) = (vec![0.0; targets], codes[0] == AVERAGE);
            Ok(Parts { base, trees, classes: None, law: None, averages, link })
        }
        Some(node) => Err(invalid(format!("node {node} belongs to no tree"))),
    }
}

struct Lists<'a> {
    roots: &'a [i64],
    inputs: &'a [i64],
    modes: Vec<i64>,
    splits: Vec<f64>,
    /// By side, the true one first: the child, and whether it is a leaf.
    children: [(&'a [i64], &'a [i64]); 2],
    missing_yes: &'a [i64],
    /// By leaf: the target and the weight.
    leaves: Vec<(usize, f64)>,
    precision: Precision,
    features: Option<usize>,
}

impl<'a> Lists<'a> {
    fn read(
        attributes: &'a Attributes<'a>,
        targets: usize,
        precision: Precision,
        features: Option<usize>,
    ) -> Result<Self, PolicyError> {
        let missing = |name: &str| invalid(format!("attribute `{name}` is missing"));
        let integers = |name: &str| attributes.integers(name)?.ok_or_else(|| missing(name));
        let tensor = |name: &str| attributes.tensor(name)?.ok_or_else(|| missing(name));
        let reals = |name: &str| {
            let tensor: Tensor = tensor(name)?;
            let values = tensor.floats().map(<[f64]>::to_vec);
            values.ok_or_else(|| invalid(format!("attribute `{name}` holds no real numbers")))
        };
        let modes = tensor("nodes_modes")?.as_integers().map(<[i64]>::to_vec);
        let modes = modes.ok_or_else(|| invalid("`nodes_modes` holds no integers".to_owned()))?;
        let (ids, weights) = (integers("leaf_targetids")?, reals("leaf_weights")?);
        if ids.len() != weights.len() {
            let message =
                format!("{} `leaf_targetids`, {} `leaf_weights`", ids.len(), weights.len());
            return Err(invalid(message));
        }
        let leaf = |(&id, weight): (&i64, f64)| match usize::try_from(id) {
            Ok(target) if target < targets => Ok((target, weight)),
            Ok(_) | Err(_) => {
                Err(invalid(format!("`leaf_targetids` names target {id} of {targets}")))
            }
        };
        let lists = Self {
            roots: integers("tree_roots")?,
            inputs: integers("nodes_featureids")?,
            modes,
            splits: reals("nodes_splits")?,
            children: [
                (integers("nodes_truenodeids")?, integers("nodes_trueleafs")?),
                (integers("nodes_falsenodeids")?, integers("nodes_falseleafs")?),
            ],
            missing_yes: attributes
                .integers("nodes_missing_value_tracks_true")?
                .unwrap_or_default(),
            leaves: ids.iter().zip(weights).map(leaf).collect::<Result<_, _>>()?,
            precision,
            features,
        };
        let count = lists.inputs.len();
        let hitrates = attributes.tensor("nodes_hitrates")?.map_or(0, |tensor| tensor.len());
        let [(yes, yes_leaf), (no, no_leaf)] = lists.children;
        for (name, length, optional) in [
            ("nodes_modes", lists.modes.len(), false),
            ("nodes_splits", lists.splits.len(), false),
            ("nodes_truenodeids", yes.len(), false),
            ("nodes_trueleafs", yes_leaf.len(), false),
            ("nodes_falsenodeids", no.len(), false),
            ("nodes_falseleafs", no_leaf.len(), false),
            ("nodes_missing_value_tracks_true", lists.missing_yes.len(), true),
            ("nodes_hitrates", hitrates, true),
        ] {
            if length != count && !(optional && length == 0) {
                let message = format!(
                    "`{name}` has {length} entries, `nodes_featureids` has {count}: one for each node"
                );
                return Err(invalid(message));
            }
        }
        Ok(lists)
    }

    /// Returns the number of places: one for each node, and behind them two for each node, whose
    /// children may be leaves.
    fn places(&self) -> usize {
        self.inputs.len().saturating_mul(3)
    }

    fn node(&self, place: usize) -> Result<ListedNode, PolicyError> {
        let count = self.inputs.len();
        if let Some(child) = place.checked_sub(count) {
            let (ids, _) = self.children[child % 2];
            let id = ids[child / 2];
            let leaf = usize::try_from(id).ok().and_then(|id| self.leaves.get(id));
            return match leaf {
                Some(&leaf) => Ok(ListedNode::Leaf(vec![leaf])),
                None => {
                    Err(invalid(format!("node {} has leaf {id}, which is not there", child / 2)))
                }
            };
        }
        let comparison = match self.modes[place] {
            0 => RuleComparison::LessEqual,
            1 => RuleComparison::Less,
            2 => RuleComparison::GreaterEqual,
            3 => RuleComparison::Greater,
            4 => RuleComparison::Equal,
            5 => RuleComparison::NotEqual,
            other => {
                let message = format!(
                    "mode {other} of node {place} is not supported; 0 to 5 are, and sets of values \
                     (6) can be written as questions for equality"
                );
                return Err(PolicyError::unsupported("", message));
            }
        };
        let feature = self.inputs[place];
        let input = usize::try_from(feature).ok();
        let input = input.filter(|&input| self.features.is_none_or(|features| input < features));
        let input = input.ok_or_else(|| {
            let features = features_text(self.features);
            invalid(format!("node {place} splits on feature {feature}{features}"))
        })?;
        let mut children = [0; 2];
        for (side, child) in children.iter_mut().enumerate() {
            let (ids, are_leaves) = self.children[side];
            *child = if are_leaves[place] != 0 {
                count + 2 * place + side
            } else {
                let id = ids[place];
                let known = usize::try_from(id).ok().filter(|&id| id < count);
                known.ok_or_else(|| {
                    invalid(format!("node {place} has child {id}, which is not there"))
                })?
            };
        }
        let rule = Rule {
            comparison,
            threshold: self.splits[place],
            precision: self.precision,
            missing: Missing::NotANumber(self.missing_yes.get(place).is_some_and(|&yes| yes != 0)),
        };
        Ok(ListedNode::Split { input, rule, children })
    }
}
