//! The text format of LightGBM.
//!
//! Lines `key=value`: a head, then a block for each tree, then `end of trees`. `decision_type` has
//! the bits categorical (1), default left (2) and the missing type (4, 8: none, zero, NaN). Leaves
//! are children `-1 - leaf`. `tree_sizes` lists the bytes of each block.

use super::super::assemble::{ListedNode, assemble};
use super::super::ensemble::{Ensemble, Tree, TreeNode};
use super::super::rule::Missing;
use super::super::{Features, TreesFile};
use super::{Head, Statements, rule};
use crate::error::PolicyError;

const CATEGORICAL: i64 = 1;
const DEFAULT_LEFT: i64 = 2;
/// Greater numbers than this have no meaning as a decision type.
const LAST_DECISION_TYPE: i64 = 15;

/// The line behind the last tree.
const END: &str = "end of trees";

/// Reads the text format.
pub(in super::super) fn parse(text: &str) -> Result<TreesFile, PolicyError> {
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
    for (t, block) in trees.iter().enumerate() {
        let number: usize = block.one("Tree")?;
        if number != t {
            let message = format!("tree {t} of the file has this number");
            return Err(block.invalid("Tree", message));
        }
        ensemble.push(tree(block, t % read.per_round, &read)?);
    }
    // Last, since a tree of another size has most often something else that is wrong.
    for (tree, (size, block)) in sizes.into_iter().flatten().zip(&trees).enumerate() {
        if size != block.bytes {
            let message = format!("tree {tree} should have {size} bytes and has {}", block.bytes);
            return Err(head.invalid("tree_sizes", message));
        }
    }
    let ensemble = Ensemble::new(read.features, vec![0.0; read.per_round], ensemble)?;
    let features = Features { count: Some(read.features), names: read.names };
    Ok(TreesFile { ensemble, features, classes: None, notes: Vec::new() })
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
            None if line.is_empty() || (k == 0 && line == "tree") || line == "average_output" => {}
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
    /// Where a key stands, or else where the block begins.
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

fn tree(block: &Block<'_>, class: usize, head: &Head) -> Result<Tree, PolicyError> {
    block.no_key_twice()?;
    if block.entry("is_linear")?.is_some_and(|entry| entry.value.trim() != "0") {
        let message = "leaves with linear models are not supported; train with linear_tree=false";
        return Err(PolicyError::unsupported(block.place("is_linear"), message));
    }
    let leaves: usize = block.one("num_leaves")?;
    let Some(inner) = leaves.checked_sub(1) else {
        return Err(block.invalid("num_leaves", "a tree has at least one leaf"));
    };
    let values = block.per("leaf_value", leaves, "leaves (`num_leaves`)")?;
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
        return Ok(Tree { nodes: vec![TreeNode::Leaf(vec![(class, values[0])])] });
    }
    let nodes = "inner nodes (`num_leaves` less one)";
    let lists = Lists {
        inputs: block.per("split_feature", inner, nodes)?,
        thresholds: block.per("threshold", inner, nodes)?,
        kinds: block.per("decision_type", inner, nodes)?,
        left: block.per("left_child", inner, nodes)?,
        right: block.per("right_child", inner, nodes)?,
        values,
        block,
        class,
        features: head.features,
    };
    let by_category = lists.kinds.iter().any(|&kind| kind & CATEGORICAL != 0);
    if let Some(entry) = block.entry("num_cat")? {
        let stated: usize = block.one("num_cat")?;
        if (stated > 0) != by_category {
            let message = format!(
                "it says {} splits by categories, `decision_type` has {}",
                entry.value,
                if by_category { "some" } else { "none" }
            );
            return Err(block.invalid("num_cat", message));
        }
    }
    if by_category {
        let message = "a node splits by categories, which is not supported; train without \
                       categorical_feature";
        return Err(PolicyError::unsupported(block.place("decision_type"), message));
    }
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
        None => Ok(Tree { nodes: assembled.nodes }),
        Some(place) => {
            let message = format!("{} is no child of any node", named(place));
            Err(block.invalid("left_child", message))
        }
    }
}

/// The inner nodes of a tree by list, and its leaves, which are counted behind them.
struct Lists<'b> {
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
        Ok(ListedNode::Split { input, rule: rule(self.thresholds[k], missing), children })
    }
}
