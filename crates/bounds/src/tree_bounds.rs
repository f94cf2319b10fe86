//! Bounds of score differences of a tree ensemble over a box, and where to cut it.
//!
//! In a box a tree reaches some of its leaves. The least difference of two scores over these,
//! summed up over all trees, bounds the difference from below, in exact integers. It is attained
//! where no tree has more than one leaf left, so cuts at the trees' own thresholds decide every
//! question (as in Veritas, Devos et al. 2021, where sets of compatible leaves are boxes too).

use std::collections::BTreeMap;

use policert_numeric::IntInterval;
use policert_policy::trees::{IntegerNode, IntegerTree, IntegerTrees};

/// A tree ensemble prepared for bounds.
#[derive(Debug)]
pub(crate) struct TreeBounds<'p> {
    trees: Vec<PreparedTree<'p>>,
    base: &'p [i128],
    /// The approximate value of one unit of a score: for measures, not for decisions.
    unit: f64,
}

#[derive(Debug)]
struct PreparedTree<'p> {
    tree: &'p IntegerTree,
    /// By leaf the values of all outputs.
    values: Vec<i128>,
    /// By node the row of `values`; of leaves only.
    rows: Vec<usize>,
    /// The rows of the leaves that the box of the last [`TreeBounds::enter`] reaches.
    reached: Vec<usize>,
    /// The first question that the box leaves open, and how many of the reached leaves are on its
    /// left.
    open: Option<Open>,
}

/// A question `input ≤ at`.
#[derive(Clone, Copy, Debug)]
struct Open {
    input: usize,
    at: i64,
    left: usize,
}

impl<'p> TreeBounds<'p> {
    pub fn new(ensemble: &'p IntegerTrees) -> Self {
        let outputs = ensemble.outputs();
        let trees = ensemble.trees().iter().map(|tree| PreparedTree::new(tree, outputs)).collect();
        Self { trees, base: ensemble.base(), unit: ensemble.unit().to_f64() }
    }

    /// Turns to a box, given by the ranges of the inputs.
    pub fn enter(&mut self, inputs: &[IntInterval]) {
        for tree in &mut self.trees {
            tree.enter(inputs);
        }
    }

    /// A lower bound of the score of `greater` minus that of `lesser` over the box, in units.
    pub fn lower(&self, greater: usize, lesser: usize) -> i128 {
        let outputs = self.base.len();
        let base = self.base[greater] - self.base[lesser];
        let least = |tree: &PreparedTree<'_>| {
            tree.least(&tree.reached, outputs, greater, lesser).unwrap_or_default()
        };
        base + self.trees.iter().map(least).sum::<i128>()
    }

    /// A number of units as a score, rounded.
    #[expect(clippy::cast_precision_loss, reason = "a measure, no decision")]
    pub fn score(&self, units: i128) -> f64 {
        units as f64 * self.unit
    }

    /// The question, `input ≤ at`, that the box leaves open and whose answers raise the lower bound
    /// most; `None` if each tree has one leaf left.
    pub fn cut(&self, greater: usize, lesser: usize) -> Option<(usize, i64)> {
        let outputs = self.base.len();
        let mut gains: BTreeMap<(usize, i64), (u128, usize)> = BTreeMap::new();
        for tree in &self.trees {
            let Some(Open { input, at, left }) = tree.open else { continue };
            let (low, high) = tree.reached.split_at(left);
            let low = tree.least(low, outputs, greater, lesser).unwrap_or_default();
            let high = tree.least(high, outputs, greater, lesser).unwrap_or_default();
            let gain = gains.entry((input, at)).or_default();
            gain.0 = gain.0.saturating_add(low.abs_diff(high));
            gain.1 += 1;
        }
        gains.into_iter().max_by_key(|&(_, gain)| gain).map(|(question, _)| question)
    }
}

impl<'p> PreparedTree<'p> {
    fn new(tree: &'p IntegerTree, outputs: usize) -> Self {
        let mut values = Vec::new();
        let mut rows = vec![0; tree.nodes.len()];
        for (row, node) in rows.iter_mut().zip(&tree.nodes) {
            if let IntegerNode::Leaf(leaf) = node {
                *row = values.len() / outputs;
                let begin = values.len();
                values.resize(begin + outputs, 0);
                for value in leaf {
                    values[begin + value.output] = value.value;
                }
            }
        }
        Self { tree, values, rows, reached: Vec::new(), open: None }
    }

    fn enter(&mut self, inputs: &[IntInterval]) {
        self.reached.clear();
        self.open = None;
        let mut k = 0;
        loop {
            match &self.tree.nodes[k] {
                IntegerNode::Leaf(_) => {
                    self.reached.push(self.rows[k]);
                    return;
                }
                &IntegerNode::Split { input, at, left, right } => {
                    let side = inputs[input];
                    if side.hi <= at {
                        k = left;
                    } else if side.lo > at {
                        k = right;
                    } else {
                        self.collect(left, inputs);
                        let count = self.reached.len();
                        self.collect(right, inputs);
                        self.open = Some(Open { input, at, left: count });
                        return;
                    }
                }
            }
        }
    }

    /// Adds the leaves below a node that the box reaches. Questions on the way down narrow it.
    fn collect(&mut self, node: usize, inputs: &[IntInterval]) {
        let mut waiting = vec![(node, Vec::new())];
        while let Some((k, bounds)) = waiting.pop() {
            match &self.tree.nodes[k] {
                IntegerNode::Leaf(_) => self.reached.push(self.rows[k]),
                &IntegerNode::Split { input, at, left, right } => {
                    let side = narrowed(inputs[input], input, &bounds);
                    if side.lo <= at {
                        waiting.push((left, below(&bounds, input, IntInterval::new(side.lo, at))));
                    }
                    if side.hi > at {
                        let rest = IntInterval::new(at.saturating_add(1), side.hi);
                        waiting.push((right, below(&bounds, input, rest)));
                    }
                }
            }
        }
    }

    /// The least difference of two outputs' values among leaves.
    fn least(&self, rows: &[usize], outputs: usize, greater: usize, lesser: usize) -> Option<i128> {
        let difference = |&row: &usize| {
            let values = &self.values[row * outputs..(row + 1) * outputs];
            values[greater] - values[lesser]
        };
        rows.iter().map(difference).min()
    }
}

/// The range of an input after the questions on the way down, the last of which counts.
fn narrowed(side: IntInterval, input: usize, bounds: &[(usize, IntInterval)]) -> IntInterval {
    let last = bounds.iter().rev().find(|(narrowed, _)| *narrowed == input);
    last.map_or(side, |&(_, range)| range)
}

fn below(
    bounds: &[(usize, IntInterval)],
    input: usize,
    range: IntInterval,
) -> Vec<(usize, IntInterval)> {
    let mut bounds: Vec<(usize, IntInterval)> =
        bounds.iter().copied().filter(|(narrowed, _)| *narrowed != input).collect();
    bounds.push((input, range));
    bounds
}
