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
    /// Those that wait on a way through a tree.
    steps: Vec<Step>,
}

/// A step of a way through a tree.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// To a node.
    Visit(usize),
    /// To the part of the box where an input has this range.
    Turn(usize, IntInterval),
}

#[derive(Debug)]
struct PreparedTree<'p> {
    tree: &'p IntegerTree,
    /// The outputs that its leaves name, ascending; mostly one.
    outputs: Vec<usize>,
    /// By leaf the values of these.
    values: Vec<i128>,
    /// By node the row of `values`; of leaves only.
    rows: Vec<usize>,
    /// The rows of the leaves that the box of the last [`TreeBounds::enter`] reaches.
    reached: Vec<usize>,
    /// For each of the outputs the least and the greatest value among these.
    extremes: Vec<(i128, i128)>,
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
        let trees = ensemble.trees().iter().map(PreparedTree::new).collect();
        Self { trees, base: ensemble.base(), unit: ensemble.unit().to_f64(), steps: Vec::new() }
    }

    /// Turns to a box, given by the ranges of the inputs.
    pub fn enter(&mut self, mut inputs: Vec<IntInterval>) {
        for tree in &mut self.trees {
            tree.enter(&mut inputs, &mut self.steps);
        }
    }

    /// A lower bound of the score of `greater` minus that of `lesser` over the box, in units.
    pub fn lower(&self, greater: usize, lesser: usize) -> i128 {
        let base = self.base[greater] - self.base[lesser];
        base + self.trees.iter().map(|tree| tree.least(greater, lesser)).sum::<i128>()
    }

    /// A number of units as a score, rounded.
    #[expect(clippy::cast_precision_loss, reason = "a measure, no decision")]
    pub fn score(&self, units: i128) -> f64 {
        units as f64 * self.unit
    }

    /// The question, `input ≤ at`, that the box leaves open and whose answers raise the lower bound
    /// most; `None` if each tree that the difference depends on has one leaf left.
    pub fn cut(&self, greater: usize, lesser: usize) -> Option<(usize, i64)> {
        let mut gains: BTreeMap<(usize, i64), (u128, usize)> = BTreeMap::new();
        for tree in &self.trees {
            let Some(Open { input, at, left }) = tree.open else { continue };
            if tree.place(greater).is_none() && tree.place(lesser).is_none() {
                continue;
            }
            let (low, high) = tree.reached.split_at(left);
            let (low, high) =
                (tree.least_of(low, greater, lesser), tree.least_of(high, greater, lesser));
            let gain = gains.entry((input, at)).or_default();
            gain.0 = gain.0.saturating_add(low.abs_diff(high));
            gain.1 += 1;
        }
        gains.into_iter().max_by_key(|&(_, gain)| gain).map(|(question, _)| question)
    }
}

impl<'p> PreparedTree<'p> {
    fn new(tree: &'p IntegerTree) -> Self {
        let leaves = || {
            tree.nodes.iter().filter_map(|node| match node {
                IntegerNode::Leaf(leaf) => Some(leaf),
                IntegerNode::Split { .. } => None,
            })
        };
        let mut outputs: Vec<usize> = leaves().flatten().map(|value| value.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        let (mut values, mut rows) = (Vec::new(), Vec::with_capacity(tree.nodes.len()));
        let mut row = 0;
        for node in &tree.nodes {
            rows.push(row);
            if let IntegerNode::Leaf(leaf) = node {
                let of = |output| leaf.iter().find(|value| value.output == output);
                values.extend(outputs.iter().map(|&output| of(output).map_or(0, |v| v.value)));
                row += 1;
            }
        }
        Self { tree, outputs, values, rows, reached: Vec::new(), extremes: Vec::new(), open: None }
    }

    fn enter(&mut self, inputs: &mut [IntInterval], steps: &mut Vec<Step>) {
        self.reached.clear();
        self.open = None;
        let mut k = 0;
        while let &IntegerNode::Split { input, at, left, right } = &self.tree.nodes[k] {
            let side = inputs[input];
            if side.hi <= at {
                k = left;
            } else if side.lo > at {
                k = right;
            } else {
                inputs[input].hi = at;
                self.collect(left, inputs, steps);
                let count = self.reached.len();
                inputs[input] = IntInterval::new(at.saturating_add(1), side.hi);
                self.collect(right, inputs, steps);
                inputs[input] = side;
                self.open = Some(Open { input, at, left: count });
                break;
            }
        }
        if self.open.is_none() {
            self.reached.push(self.rows[k]);
        }
        self.extremes.clear();
        for place in 0..self.outputs.len() {
            let values =
                self.reached.iter().map(|row| self.values[row * self.outputs.len() + place]);
            let extremes = values.fold((i128::MAX, i128::MIN), |(least, greatest), value| {
                (least.min(value), greatest.max(value))
            });
            self.extremes.push(extremes);
        }
    }

    /// Adds the leaves below a node that the box reaches. Questions on the way down narrow it.
    fn collect(&mut self, node: usize, inputs: &mut [IntInterval], steps: &mut Vec<Step>) {
        steps.push(Step::Visit(node));
        while let Some(step) = steps.pop() {
            let node = match step {
                Step::Turn(input, side) => {
                    inputs[input] = side;
                    continue;
                }
                Step::Visit(node) => node,
            };
            match &self.tree.nodes[node] {
                IntegerNode::Leaf(_) => self.reached.push(self.rows[node]),
                &IntegerNode::Split { input, at, left, right } => {
                    let side = inputs[input];
                    if side.hi <= at {
                        steps.push(Step::Visit(left));
                    } else if side.lo > at {
                        steps.push(Step::Visit(right));
                    } else {
                        let above = IntInterval::new(at.saturating_add(1), side.hi);
                        steps.push(Step::Turn(input, side));
                        steps.push(Step::Visit(right));
                        steps.push(Step::Turn(input, above));
                        steps.push(Step::Visit(left));
                        inputs[input].hi = at;
                    }
                }
            }
        }
    }

    /// The place of an output among those that the leaves name.
    fn place(&self, output: usize) -> Option<usize> {
        self.outputs.binary_search(&output).ok()
    }

    /// The least difference of two outputs' values among the leaves that are reached.
    fn least(&self, greater: usize, lesser: usize) -> i128 {
        match (self.place(greater), self.place(lesser)) {
            (None, None) => 0,
            (Some(greater), None) => self.extremes[greater].0,
            (None, Some(lesser)) => -self.extremes[lesser].1,
            (Some(_), Some(_)) => self.least_of(&self.reached, greater, lesser),
        }
    }

    /// The least difference of two outputs' values among leaves.
    fn least_of(&self, rows: &[usize], greater: usize, lesser: usize) -> i128 {
        let (greater, lesser) = (self.place(greater), self.place(lesser));
        let difference = |&row: &usize| {
            let values = &self.values[row * self.outputs.len()..];
            greater.map_or(0, |at| values[at]) - lesser.map_or(0, |at| values[at])
        };
        rows.iter().map(difference).min().unwrap_or_default()
    }
}
