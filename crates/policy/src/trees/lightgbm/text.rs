//! The text format of LightGBM.
//!
//! Lines `key=value`: a head, then a block for each tree, then `end of trees`. `decision_type` has
//! the bits categorical (1), default left (2) and the missing type (4, 8: none, zero, NaN). Leaves
//! are children `-1 - leaf`. The threshold of a split by categories is the number of a set, whose
//! categories are bits of `cat_threshold`; they go left. `tree_sizes` lists the bytes of each block.

use policert_numeric::Rational;

use super::super::assemble::{ListedNode, assemble};
use super::super::categories::Categories;
use super::super::ensemble::{Ensemble, LinearLeaf, Tree, TreeNode};
use super::super::rule::Missing;
use super::super::{Features, Rounds, TreesFile};
use super::{CATEGORY_READING, Head, Statements, averaged, rule};
use crate::error::PolicyError;

const CATEGORICAL: i64 = 1;
const DEFAULT_LEFT: i64 = 2;
/// Greater numbers than this have no meaning as a decision type.
const LAST_DECISION_TYPE: i64 = 15;

/// The line behind the last tree.
const END: &str = "end of trees";
/// The line of a random forest.
const AVERAGES: &str = "average_output";

/// Reads the text format.
pub(in super::super) fn parse(text: &str, rounds: Rounds) -> Result<TreesFile, PolicyError> {
    let (head, trees) = blocks(text)?;
    head.no_key_twice()?;
    let names = |key: &str| head.text(key).map(|text| text.split(' ').map(str::to_owned).collect());
    let statements = Statements {
        version: head.text("version")?.trim(),
        classes: head.one("num_class")?,
        per_round: head.one("num_tree_per_iteration")?,
        last_feature: head.one("max_feature_idx")?,
        objective: head.entry("objective")?.map(|entry| entry.value),
        names: names("feature_names")?,
    };
    let read = statements.check(|key| head.place(key))?;
    for key in ["feature_infos", "monotone_constraints"] {
        let Some(entry) = head.entry(key)? else { continue };
        let given = entry.value.split_whitespace().count();
        if given != read.features {
            let message = format!("{given} entries for {} features", read.features);
            return Err(head.invalid(key, message));
        }
    }
    let sizes = match head.entry("tree_sizes")? {
        None => None,
        Some(_) => Some(head.list::<usize>("tree_sizes")?),
    };
    if let Some(sizes) = &sizes
        && sizes.len() != trees.len()
    {
        let message = format!("it lists {} trees, the file has {}", sizes.len(), trees.len());
        return Err(head.invalid("tree_sizes", message));
    }
    Statements::whole_rounds(trees.len(), read.per_round)
        .map_err(|message| head.invalid("num_tree_per_iteration", message))?;
    let mut ensemble = Vec::with_capacity(trees.len());
    let mut linear = Vec::new();
    for (t, block) in trees.iter().enumerate() {
        let number: usize = block.one("Tree")?;
        if number != t {
            let message = format!("tree {t} of the file has this number");
            return Err(block.invalid("Tree", message));
        }
        let output = t % read.per_round;
        let ReadTree { tree, linear: leaves } = self::tree(block, output, &read)?;
        ensemble.push(tree);
        let leaf = |(node, terms)| LinearLeaf { tree: t, node, output, terms };
        linear.extend(leaves.into_iter().map(leaf));
    }
    // Last, since a tree of another size has most often something else that is wrong.
    for (tree, (size, block)) in sizes.into_iter().flatten().zip(&trees).enumerate() {
        if size != block.bytes {
            let message = format!("tree {tree} should have {size} bytes and has {}", block.bytes);
            return Err(head.invalid("tree_sizes", message));
        }
    }
    ensemble.truncate(read.per_round * rounds.of(ensemble.len() / read.per_round)?);
    linear.retain(|leaf| leaf.tree < ensemble.len());
    let ensemble = Ensemble::new(read.features, vec![0.0; read.per_round], ensemble)?;
    let ensemble = ensemble.with_linear_leaves(linear)?;
    let features = Features { count: Some(read.features), names: read.names, groups: Vec::new() };
    let averages = text.lines().any(|line| line.trim() == AVERAGES);
    let law = read.law.filter(|_| !averages);
    let summation = read.summation.and_then(|summation| averaged(summation, averages, &ensemble));
    let notes = Vec::new();
    Ok(TreesFile { ensemble, features, classes: None, law, summation, notes })
}

/// A line `key=value`.
struct Entry<'t> {
    line: usize,
    key: &'t str,
    value: &'t str,
}

/// The head or a tree.
struct Block<'t> {
    line: usize,
    entries: Vec<Entry<'t>>,
    /// Length of the text, line ends counted as one byte.
    bytes: usize,
}

/// The head and the blocks of the trees.
fn blocks(text: &str) -> Result<(Block<'_>, Vec<Block<'_>>), PolicyError> {
    let mut head = Block { line: 1, entries: Vec::new(), bytes: 0 };
    let mut trees: Vec<Block<'_>> = Vec::new();
    let mut ended = false;
    for (k, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim();
        let is_tree = line.starts_with("Tree=");
        let place = || format!("line {}", k + 1);
        if ended {
            if is_tree || line == END {
                let message = format!("there is more than one line `{END}`, or a tree behind it");
                return Err(PolicyError::invalid(place(), message));
            }
            continue;
        }
        if line == END {
            ended = true;
            continue;
        }
        if is_tree {
            trees.push(Block { line: k + 1, entries: Vec::new(), bytes: 0 });
        }
        let block = trees.last_mut().unwrap_or(&mut head);
        block.bytes += whole.len() - usize::from(whole.ends_with("\r\n"));
        match line.split_once('=') {
            Some((key, value)) => block.entries.push(Entry { line: k + 1, key, value }),
            None if line.is_empty() || (k == 0 && line == "tree") || line == AVERAGES => {}
            None => {
                let message = "the line is neither empty nor of the form `key=value`";
                return Err(PolicyError::invalid(place(), message));
            }
        }
    }
    if ended {
        Ok((head, trees))
    } else {
        let message = format!("the line `{END}` is missing: the file is cut off");
        Err(PolicyError::invalid("", message))
    }
}

impl<'t> Block<'t> {
    /// The line of a key, or else the first line of the block.
    fn place(&self, key: &str) -> String {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        match entry {
            Some(entry) => format!("line {} ({key})", entry.line),
            None => format!("line {}", self.line),
        }
    }

    fn invalid(&self, key: &str, message: impl Into<String>) -> PolicyError {
        PolicyError::invalid(self.place(key), message)
    }

    /// The line of a key, which may stand there once only.
    fn entry(&self, key: &str) -> Result<Option<&Entry<'t>>, PolicyError> {
        let mut entries = self.entries.iter().filter(|entry| entry.key == key);
        let first = entries.next();
        match entries.next() {
            None => Ok(first),
            Some(second) => {
                let message = format!("the key `{key}` stands twice: on line {}, too", second.line);
                Err(self.invalid(key, message))
            }
        }
    }

    fn no_key_twice(&self) -> Result<(), PolicyError> {
        self.entries.iter().try_for_each(|entry| self.entry(entry.key).map(|_| ()))
    }

    fn text(&self, key: &str) -> Result<&'t str, PolicyError> {
        match self.entry(key)? {
            Some(entry) => Ok(entry.value),
            None => Err(self.invalid(key, format!("`{key}` is missing"))),
        }
    }

    fn list<T: std::str::FromStr>(&self, key: &str) -> Result<Vec<T>, PolicyError> {
        let parse = |part: &str| {
            part.parse().map_err(|_| self.invalid(key, format!("`{part}` is no number for it")))
        };
        self.text(key)?.split_whitespace().map(parse).collect()
    }

    fn one<T: std::str::FromStr>(&self, key: &str) -> Result<T, PolicyError> {
        let mut list: Vec<T> = self.list(key)?;
        match (list.len(), list.pop()) {
            (1, Some(value)) => Ok(value),
            _ => Err(self.invalid(key, "a single number is expected")),
        }
    }

    /// A list with one entry for each of `count` nodes or leaves.
    fn per<T: std::str::FromStr>(
        &self,
        key: &str,
        count: usize,
        of: &str,
    ) -> Result<Vec<T>, PolicyError> {
        let list = self.list(key)?;
        if list.len() == count {
            return Ok(list);
        }
        let message = format!("{} entries for {count} {of}", list.len());
        Err(self.invalid(key, message))
    }
}

/// A tree, and the terms of its leaves that are linear, by node.
struct ReadTree {
    tree: Tree,
    linear: Vec<(usize, Vec<(usize, f64)>)>,
}

fn tree(block: &Block<'_>, class: usize, head: &Head) -> Result<ReadTree, PolicyError> {
    block.no_key_twice()?;
    let leaves: usize = block.one("num_leaves")?;
    let Some(inner) = leaves.checked_sub(1) else {
        return Err(block.invalid("num_leaves", "a tree has at least one leaf"));
    };
    let values = block.per("leaf_value", leaves, "leaves (`num_leaves`)")?;
    // Of a linear leaf, the value is for inputs that are missing.
    let values = match is_linear(block)? {
        true => block.per("leaf_const", leaves, "leaves (`num_leaves`)")?,
        false => values,
    };
    for (key, count, of) in [
        ("leaf_weight", leaves, "leaves"),
        ("leaf_count", leaves, "leaves"),
        ("split_gain", inner, "inner nodes"),
        ("internal_value", inner, "inner nodes"),
        ("internal_weight", inner, "inner nodes"),
        ("internal_count", inner, "inner nodes"),
    ] {
        // Not all are written for a tree of one leaf.
        if block.entry(key)?.is_some_and(|entry| !entry.value.trim().is_empty()) {
            block.per::<f64>(key, count, of)?;
        }
    }
    if leaves == 1 {
        for key in ["split_feature", "threshold", "decision_type", "left_child", "right_child"] {
            if block.entry(key)?.is_some_and(|entry| !entry.value.trim().is_empty()) {
                return Err(block.invalid(key, "a tree of one leaf has no inner nodes"));
            }
        }
        let terms = linear_leaves(block, leaves, head)?.pop().unwrap_or_default();
        let tree = Tree { nodes: vec![TreeNode::Leaf(vec![(class, values[0])])] };
        return Ok(ReadTree { tree, linear: vec![(0, terms)] });
    }
    let nodes = "inner nodes (`num_leaves` less one)";
    let kinds: Vec<i64> = block.per("decision_type", inner, nodes)?;
    let lists = Lists {
        sets: category_sets(block, &kinds)?,
        inputs: block.per("split_feature", inner, nodes)?,
        thresholds: block.per("threshold", inner, nodes)?,
        kinds,
        left: block.per("left_child", inner, nodes)?,
        right: block.per("right_child", inner, nodes)?,
        values,
        block,
        class,
        features: head.features,
    };
    let named = |place: usize| match place.checked_sub(inner) {
        None => format!("node {place}"),
        Some(leaf) => format!("leaf {leaf}"),
    };
    let twice = |place: usize| {
        let message = format!("{} is the child of two nodes, or twice of one", named(place));
        block.invalid("left_child", message)
    };
    let missing = |place| block.invalid("left_child", format!("there is no {}", named(place)));
    let count = inner + leaves;
    let assembled = assemble((count, 0), |place, _| lists.node(place), twice, missing)?;
    match assembled.reached.iter().position(|reached| !reached) {
        None => {
            let linear = linear_leaves(block, leaves, head)?;
            let leaf = |(node, &place): (usize, &usize)| {
                let terms = linear.get(place.checked_sub(inner)?)?.clone();
                Some((node, terms)).filter(|(_, terms)| !terms.is_empty())
            };
            let linear = assembled.places.iter().enumerate().filter_map(leaf).collect();
            Ok(ReadTree { tree: Tree { nodes: assembled.nodes }, linear })
        }
        Some(place) => {
            let message = format!("{} is no child of any node", named(place));
            Err(block.invalid("left_child", message))
        }
    }
}

fn is_linear(block: &Block<'_>) -> Result<bool, PolicyError> {
    match block.entry("is_linear")?.map(|entry| entry.value.trim()) {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => {
            Err(block.invalid("is_linear", format!("0 or 1 is expected, not `{other}`")))
        }
    }
}

/// The terms of each leaf, where leaves are linear.
fn linear_leaves(
    block: &Block<'_>,
    leaves: usize,
    head: &Head,
) -> Result<Vec<Vec<(usize, f64)>>, PolicyError> {
    if !is_linear(block)? {
        return Ok(Vec::new());
    }
    let counts: Vec<usize> = block.per("num_features", leaves, "leaves (`num_leaves`)")?;
    let total = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
    let of = "features of leaves (`num_features`)";
    let features: Vec<usize> = block.per("leaf_features", total, of)?;
    let factors: Vec<f64> = block.per("leaf_coeff", total, of)?;
    if let Some(feature) = features.iter().find(|&&feature| feature >= head.features) {
        let message = format!(
            "a leaf reads feature {feature}; there are {} (`max_feature_idx` and one)",
            head.features
        );
        return Err(block.invalid("leaf_features", message));
    }
    let mut terms = features.into_iter().zip(factors);
    Ok(counts.iter().map(|&count| terms.by_ref().take(count).collect()).collect())
}

/// The sets of categories: bits of words, from each boundary to the next one.
fn category_sets(block: &Block<'_>, kinds: &[i64]) -> Result<Vec<Vec<u32>>, PolicyError> {
    let count = if block.entry("num_cat")?.is_some() { block.one("num_cat")? } else { 0usize };
    let used = kinds.iter().filter(|&&kind| kind & CATEGORICAL != 0).count();
    if used != count {
        let message = format!("it says {count} splits by categories, `decision_type` has {used}");
        return Err(block.invalid("num_cat", message));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let ends = count.saturating_add(1);
    let ends: Vec<usize> = block.per("cat_boundaries", ends, "sets (`num_cat`), and one")?;
    let words: Vec<u32> = block.list("cat_threshold")?;
    let ascend = ends.windows(2).all(|pair| pair[0] <= pair[1]);
    if ends.first() != Some(&0) || ends.last() != Some(&words.len()) || !ascend {
        let message = format!("it does not ascend from 0 to the {} words", words.len());
        return Err(block.invalid("cat_boundaries", message));
    }
    let set = |pair: &[usize]| {
        let words = words[pair[0]..pair[1]].iter().zip(0u32..);
        let bits = words.flat_map(|(&word, at)| {
            let bits = (0..u32::BITS).filter(move |bit| (word >> bit) & 1 == 1);
            bits.map(move |bit| at * u32::BITS + bit)
        });
        bits.collect()
    };
    Ok(ends.windows(2).map(set).collect())
}

/// The inner nodes of a tree by list, and its leaves, which are counted behind them.
struct Lists<'b> {
    /// The sets of categories; the threshold of a split by categories is the number of its set.
    sets: Vec<Vec<u32>>,
    inputs: Vec<usize>,
    thresholds: Vec<f64>,
    kinds: Vec<i64>,
    left: Vec<i64>,
    right: Vec<i64>,
    values: Vec<f64>,
    block: &'b Block<'b>,
    class: usize,
    features: usize,
}

impl Lists<'_> {
    fn node(&self, k: usize) -> Result<ListedNode, PolicyError> {
        let inner = self.inputs.len();
        if let Some(leaf) = k.checked_sub(inner) {
            return Ok(ListedNode::Leaf(vec![(self.class, self.values[leaf])]));
        }
        let kind = self.kinds[k];
        let default_left = kind & DEFAULT_LEFT != 0;
        let by_category = kind & CATEGORICAL != 0;
        let missing = match (kind >> 2) & 3 {
            0 => Some(Missing::IsZero),
            1 => Some(Missing::Zero(default_left)),
            2 => Some(Missing::NotANumber(default_left)),
            _ => None,
        };
        let missing = missing.filter(|_| (0..=LAST_DECISION_TYPE).contains(&kind));
        let missing = missing.ok_or_else(|| {
            self.block.invalid("decision_type", format!("{kind} of node {k} has no meaning"))
        })?;
        let input = self.inputs[k];
        if input >= self.features {
            let message = format!(
                "node {k} splits on feature {input}; there are {} (`max_feature_idx` and one)",
                self.features
            );
            return Err(self.block.invalid("split_feature", message));
        }
        let child = |key: &str, child: i64| {
            let place = match usize::try_from(child) {
                Ok(node) => Some(node).filter(|&node| node < inner),
                Err(_) => usize::try_from(-1 - child)
                    .ok()
                    .filter(|&leaf| leaf < self.values.len())
                    .map(|leaf| inner + leaf),
            };
            place.ok_or_else(|| {
                let message = format!("child {child} of node {k} is neither a node nor a leaf");
                self.block.invalid(key, message)
            })
        };
        let children = [child("left_child", self.left[k])?, child("right_child", self.right[k])?];
        if !by_category {
            return Ok(ListedNode::Split {
                input,
                rule: rule(self.thresholds[k], missing),
                children,
            });
        }
        let number = Rational::from_f64(self.thresholds[k]).and_then(|number| number.to_i64());
        let set = number.and_then(|number| self.sets.get(usize::try_from(number).ok()?));
        let set = set.ok_or_else(|| {
            let message = format!("node {k} splits by a set of categories that there is not");
            self.block.invalid("threshold", message)
        })?;
        let categories = Categories::new(set.clone(), CATEGORY_READING);
        Ok(ListedNode::Categories { input, categories, children })
    }
}
