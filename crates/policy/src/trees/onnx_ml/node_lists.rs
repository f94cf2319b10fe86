//! The lists `nodes_…` of an ONNX-ML tree ensemble.

use std::collections::BTreeMap;

use super::super::assemble::{ListedNode, assemble};
use super::super::rule::{Missing, Precision, Rule, RuleComparison};
use super::{IdentifiedTree, features_text, real_list};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;

/// The lists, one entry for each node of each tree.
pub(super) struct NodeLists<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    inputs: &'a [i64],
    modes: Vec<String>,
    yes: &'a [i64],
    no: &'a [i64],
    values: Vec<f64>,
    missing_yes: &'a [i64],
    precision: Precision,
    /// The number of features, if the graph says it.
    features: Option<usize>,
}

impl<'a> NodeLists<'a> {
    pub(super) fn read(
        attributes: &'a Attributes<'a>,
        precision: Precision,
        features: Option<usize>,
    ) -> Result<Self, PolicyError> {
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
            precision,
            features,
        };
        let count = lists.trees.len();
        let hitrates = real_list(attributes, "nodes_hitrates")?.len();
        for (name, length, optional) in [
            ("nodes_nodeids", lists.nodes.len(), false),
            ("nodes_featureids", lists.inputs.len(), false),
            ("nodes_modes", lists.modes.len(), false),
            ("nodes_truenodeids", lists.yes.len(), false),
            ("nodes_falsenodeids", lists.no.len(), false),
            ("nodes_values", lists.values.len(), false),
            ("nodes_missing_value_tracks_true", lists.missing_yes.len(), true),
            ("nodes_hitrates", hitrates, true),
        ] {
            if length != count && !(optional && length == 0) {
                let message = format!(
                    "`{name}` has {length} entries, `nodes_treeids` has {count}: one for each node"
                );
                return Err(PolicyError::invalid("", message));
            }
        }
        Ok(lists)
    }

    /// The trees by id, in the order in which they begin; the values of leaves are not there yet.
    pub(super) fn trees(&self) -> Result<Vec<IdentifiedTree>, PolicyError> {
        let mut places: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        // The root is the first node of its tree.
        let mut roots: BTreeMap<i64, usize> = BTreeMap::new();
        for (k, (&tree, &node)) in self.trees.iter().zip(self.nodes).enumerate() {
            if places.insert((tree, node), k).is_some() {
                return Err(self.wrong(k, "is there twice"));
            }
            roots.entry(tree).or_insert(k);
        }
        let mut roots: Vec<(i64, usize)> = roots.into_iter().collect();
        roots.sort_unstable_by_key(|&(_, root)| root);
        let mut trees = Vec::with_capacity(roots.len());
        let mut reached = vec![false; self.trees.len()];
        for (tree, root) in roots {
            let assembled = assemble(
                (self.trees.len(), root),
                |k, _| self.node(&places, k),
                |k| self.wrong(k, "is the child of two nodes, or twice of one"),
                |k| self.wrong(k, "is not there"),
            )?;
            for &place in &assembled.places {
                reached[place] = true;
            }
            let ids = assembled.places.iter().map(|&place| self.nodes[place]).collect();
            trees.push(IdentifiedTree { tree, ids, nodes: assembled.nodes });
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(trees),
            Some(k) => Err(self.wrong(k, "is no child of any node")),
        }
    }

    fn wrong(&self, k: usize, what: &str) -> PolicyError {
        let name = |list: &[i64]| list.get(k).map_or("?".to_owned(), i64::to_string);
        let message = format!("node {} of tree {} {what}", name(self.nodes), name(self.trees));
        PolicyError::invalid("", message)
    }

    /// The node of entry `k` of the lists.
    fn node(
        &self,
        places: &BTreeMap<(i64, i64), usize>,
        k: usize,
    ) -> Result<ListedNode, PolicyError> {
        let tree = self.trees[k];
        let comparison = match self.modes[k].as_str() {
            "LEAF" => return Ok(ListedNode::Leaf(Vec::new())),
            "BRANCH_LT" => RuleComparison::Less,
            "BRANCH_LEQ" => RuleComparison::LessEqual,
            "BRANCH_GT" => RuleComparison::Greater,
            "BRANCH_GTE" => RuleComparison::GreaterEqual,
            "BRANCH_EQ" => RuleComparison::Equal,
            "BRANCH_NEQ" => RuleComparison::NotEqual,
            other => {
                let message = format!(
                    "mode {other} of node {} of tree {tree} is not supported",
                    self.nodes[k]
                );
                return Err(PolicyError::unsupported("", message));
            }
        };
        let feature = self.inputs[k];
        let input = usize::try_from(feature)
            .ok()
            .filter(|&input| self.features.is_none_or(|features| input < features));
        let input = input.ok_or_else(|| {
            let features = features_text(self.features);
            self.wrong(k, &format!("splits on feature {feature}{features}"))
        })?;
        let child = |id: i64| {
            places.get(&(tree, id)).copied().ok_or_else(|| {
                self.wrong(k, &format!("has child {id}, which is no node of that tree"))
            })
        };
        let children = [child(self.yes[k])?, child(self.no[k])?];
        let tracks_true = self.missing_yes.get(k).is_some_and(|&yes| yes != 0);
        let rule = Rule {
            comparison,
            threshold: self.values[k],
            precision: self.precision,
            missing: Missing::NotANumber(tracks_true),
        };
        Ok(ListedNode::Split { input, rule, children })
    }
}
