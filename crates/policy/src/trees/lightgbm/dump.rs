//! JSON dumps of LightGBM (`dump_model`).

use serde_json::Value;

use super::super::categories::Categories;
use super::super::ensemble::{Ensemble, LinearLeaf, Tree, TreeNode};
use super::super::place::At;
use super::super::rule::Missing;
use super::super::{Features, Rounds, TreesFile};
use super::{CATEGORY_READING, Head, Statements, averaged, rule};
use crate::error::PolicyError;

/// Reads a JSON dump.
pub(in super::super) fn parse(value: &Value, rounds: Rounds) -> Result<TreesFile, PolicyError> {
    let root = At::root(value);
    let names = root.member("feature_names")?.texts()?;
    let statements = Statements {
        version: root.member("version")?.text()?,
        classes: root.member("num_class")?.count()?,
        per_round: root.member("num_tree_per_iteration")?.count()?,
        last_feature: root.member("max_feature_idx")?.count()?,
        objective: root.optional("objective").map(|at| at.text()).transpose()?,
        names: names.into_iter().map(str::to_owned).collect(),
    };
    let head = statements.check(|key| format!("/{key}"))?;
    let list = root.member("tree_info")?;
    let elements = list.elements()?;
    Statements::whole_rounds(elements.len(), head.per_round)
        .map_err(|message| list.invalid(message))?;
    let mut trees = Vec::with_capacity(elements.len());
    let mut linear = Vec::new();
    for (t, tree) in elements.iter().enumerate() {
        trees.push(read_tree(tree, t, &head, &mut linear)?);
    }
    trees.truncate(head.per_round * rounds.of(trees.len() / head.per_round)?);
    linear.retain(|leaf| leaf.tree < trees.len());
    let ensemble = Ensemble::new(head.features, vec![0.0; head.per_round], trees)?;
    let ensemble = ensemble.with_linear_leaves(linear)?;
    let features = Features { count: Some(head.features), names: head.names, groups: Vec::new() };
    let averages =
        root.optional("average_output").is_some_and(|at| *at.value != Value::Bool(false));
    let law = head.law.filter(|_| !averages);
    let summation = head.summation.and_then(|summation| averaged(summation, averages, &ensemble));
    let notes = Vec::new();
    Ok(TreesFile { ensemble, features, classes: None, law, summation, notes })
}

fn read_tree(
    tree: &At<'_>,
    t: usize,
    head: &Head,
    linear: &mut Vec<LinearLeaf>,
) -> Result<Tree, PolicyError> {
    let root = tree.member("tree_structure")?;
    let mut reader = Reader {
        class: t % head.per_round,
        features: head.features,
        nodes: Vec::new(),
        linear: Vec::new(),
        categorical: 0,
    };
    let (mut splits, mut leaves) = (Numbers::default(), Numbers::default());
    reader.node(&root, &mut splits, &mut leaves)?;
    for (key, expected) in
        [("tree_index", t), ("num_leaves", leaves.count), ("num_cat", reader.categorical)]
    {
        if let Some(at) = tree.optional(key) {
            let given = at.count()?;
            if given != expected {
                return Err(at.invalid(format!("it says {given} in place of {expected}")));
            }
        }
    }
    let output = reader.class;
    let leaf = |(node, terms)| LinearLeaf { tree: t, node, output, terms };
    linear.extend(reader.linear.into_iter().map(leaf));
    Ok(Tree { nodes: reader.nodes })
}

/// The numbers that nodes of one kind have in a tree.
#[derive(Default)]
struct Numbers {
    count: usize,
    given: std::collections::BTreeSet<usize>,
}

impl Numbers {
    /// Counts a node, and looks at its number, if it has one.
    fn add(&mut self, node: &At<'_>, key: &str) -> Result<(), PolicyError> {
        self.count += 1;
        let Some(at) = node.optional(key) else { return Ok(()) };
        let number = at.count()?;
        if self.given.insert(number) {
            return Ok(());
        }
        Err(at.invalid(format!("number {number} stands twice in the tree")))
    }
}

struct Reader {
    class: usize,
    features: usize,
    nodes: Vec<TreeNode>,
    /// The terms of leaves that are linear, by node.
    linear: Vec<(usize, Vec<(usize, f64)>)>,
    /// Splits by categories.
    categorical: usize,
}

impl Reader {
    /// Appends a node and what is below it.
    fn node(
        &mut self,
        node: &At<'_>,
        splits: &mut Numbers,
        leaves: &mut Numbers,
    ) -> Result<(), PolicyError> {
        let Some(input) = node.optional("split_feature") else {
            leaves.add(node, "leaf_index")?;
            let mut value = node.member("leaf_value")?.number()?;
            if let Some(at) = node.optional("leaf_const") {
                // The value is for inputs that are missing.
                value = at.number()?;
                let features = node.member("leaf_features")?.integers()?;
                let factors = node.member("leaf_coeff")?;
                factors.of_length(features.len(), "features")?;
                let factors = factors.elements()?;
                let mut terms = Vec::with_capacity(features.len());
                for (feature, factor) in features.into_iter().zip(&factors) {
                    let feature = usize::try_from(feature).ok().filter(|&f| f < self.features);
                    let feature = feature
                        .ok_or_else(|| at.invalid("a leaf reads a feature that there is not"))?;
                    terms.push((feature, factor.number()?));
                }
                self.linear.push((self.nodes.len(), terms));
            }
            self.nodes.push(TreeNode::Leaf(vec![(self.class, value)]));
            return Ok(());
        };
        if let Some(at) = node.optional("leaf_value") {
            return Err(at.invalid("a node has either a question or a value"));
        }
        splits.add(node, "split_index")?;
        let decision = node.member("decision_type")?;
        let by_category = match decision.text()? {
            "<=" => false,
            "==" => true,
            other => {
                let message = format!("`<=` or `==` is expected, not `{other}`");
                return Err(decision.invalid(message));
            }
        };
        let feature = input.count()?;
        if feature >= self.features {
            let message = format!(
                "there are {} features (`max_feature_idx` and one), not {feature} and more",
                self.features
            );
            return Err(input.invalid(message));
        }
        let at = node.member("threshold")?;
        if by_category {
            let set = at.text()?.split("||").map(|category| category.trim().parse::<u32>());
            let set = set.collect::<Result<Vec<u32>, _>>();
            let set = set.map_err(|_| at.invalid("categories, such as `0||2`, are expected"))?;
            let categories = Categories::new(set, CATEGORY_READING);
            let first = self.nodes.len();
            self.nodes.resize(first + categories.size(), TreeNode::Leaf(Vec::new()));
            let children = self.children(node, splits, leaves)?;
            let nodes = categories.nodes(feature, first, children);
            self.nodes.splice(first..first + nodes.len(), nodes);
            self.categorical += 1;
            return Ok(());
        }
        let threshold = match at.value {
            Value::String(text) => text.parse().map_err(|_| at.invalid("a number is expected"))?,
            _ => at.number()?,
        };
        let default_left = node
            .optional("default_left")
            .map(|at| at.value.as_bool().ok_or_else(|| at.invalid("true or false is expected")));
        let default_left = default_left.transpose()?.unwrap_or(false);
        let missing = match node.optional("missing_type") {
            None => Missing::IsZero,
            Some(at) => match at.text()? {
                "None" => Missing::IsZero,
                "Zero" => Missing::Zero(default_left),
                "NaN" => Missing::NotANumber(default_left),
                _ => return Err(at.invalid("None, Zero or NaN is expected")),
            },
        };
        let split = self.nodes.len();
        self.nodes.push(TreeNode::Leaf(Vec::new()));
        let [left, right] = self.children(node, splits, leaves)?;
        let rule = rule(threshold, missing);
        self.nodes[split] = TreeNode::Split { input: feature, rule, left, right };
        Ok(())
    }

    /// Appends both children of a node and what is below them.
    fn children(
        &mut self,
        node: &At<'_>,
        splits: &mut Numbers,
        leaves: &mut Numbers,
    ) -> Result<[usize; 2], PolicyError> {
        let mut children = [0; 2];
        for (place, name) in children.iter_mut().zip(["left_child", "right_child"]) {
            *place = self.nodes.len();
            self.node(&node.member(name)?, splits, leaves)?;
        }
        Ok(children)
    }
}
