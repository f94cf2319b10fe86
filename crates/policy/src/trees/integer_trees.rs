//! An ensemble over integers: every question is `x ≤ k`, every value an integer times a power of two.

use std::rc::Rc;

use policert_numeric::{IBig, IntInterval, Rational};

use super::ensemble::{Ensemble, Tree, TreeNode};
use super::question::{Answer, Questions};
use crate::error::PolicyError;

/// Bits of a score, sign included, that are left free.
const FREE_BITS: u32 = 2;

/// A tree ensemble over integer inputs with exact scores: all values are multiples of one power of
/// two, the [unit](Self::unit).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegerTrees {
    inputs: usize,
    base: Vec<i128>,
    trees: Vec<IntegerTree>,
    /// The unit is two to the minus this.
    scale: i32,
}

/// A tree; the root is node 0, and children stand behind their parents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegerTree {
    /// The nodes.
    pub nodes: Vec<IntegerNode>,
}

/// A node of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntegerNode {
    /// Left where the input is at most `at`.
    Split {
        /// The input.
        input: usize,
        /// The last integer that goes left.
        at: i64,
        /// The child for it and what is below.
        left: usize,
        /// The child for what is above.
        right: usize,
    },
    /// Values of outputs, ascending; others get zero.
    Leaf(Vec<LeafValue>),
}

/// The units that a leaf adds to the score of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafValue {
    /// The output.
    pub output: usize,
    /// The value.
    pub value: i128,
}

impl IntegerTrees {
    /// The ensemble over integers.
    ///
    /// # Errors
    /// If the values lie too far apart: sums must fit into 126 bits.
    pub fn new(ensemble: &Ensemble) -> Result<Self, PolicyError> {
        Self::asking(ensemble, Questions::of_integers(ensemble.inputs()))
    }

    /// The ensemble over the variables that `questions` reads.
    pub(crate) fn asking(ensemble: &Ensemble, questions: Questions) -> Result<Self, PolicyError> {
        let questions = &questions.with_columns(ensemble.columns())?;
        if !ensemble.linear_leaves().is_empty() {
            let message = "linear leaves are supported for inputs with bounds";
            return Err(PolicyError::unsupported("", message));
        }
        let unit = Unit::of(ensemble)?;
        let base = ensemble.base().iter().map(|&score| unit.count(score)).collect();
        let sides = vec![IntInterval::ALL; questions.variables()];
        let (answers, nodes) = (Vec::new(), Vec::new());
        let mut copier = Copier { questions, unit: &unit, sides, answers, nodes, copied: 0 };
        let trees = ensemble.trees().iter().map(|tree| copier.tree(tree));
        let trees = trees.collect::<Result<_, _>>()?;
        Ok(Self { inputs: questions.variables(), base, trees, scale: unit.scale })
    }

    /// The number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The base scores by output, in units.
    #[must_use]
    pub fn base(&self) -> &[i128] {
        &self.base
    }

    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[IntegerTree] {
        &self.trees
    }

    /// The value of one unit of a score, a power of two.
    #[must_use]
    pub fn unit(&self) -> Rational {
        // Exponents of double precision are far below the limit of powers.
        Rational::integer(2).pow(-self.scale).unwrap_or(Rational::ONE)
    }

    /// Writes the scores of all outputs, in units.
    ///
    /// # Panics
    /// If there are fewer inputs than the trees read.
    pub fn scores(&self, inputs: &[i64], scores: &mut Vec<i128>) {
        scores.clear();
        scores.extend_from_slice(&self.base);
        for tree in &self.trees {
            for &LeafValue { output, value } in tree.leaf(inputs) {
                scores[output] += value;
            }
        }
    }
}

impl IntegerTrees {
    /// The scores of all outputs as rational numbers.
    ///
    /// # Panics
    /// If there are fewer inputs than the trees read.
    #[must_use]
    pub fn exact_scores(&self, inputs: &[i64]) -> Vec<Rational> {
        let mut scores = Vec::new();
        self.scores(inputs, &mut scores);
        let unit = self.unit();
        scores.into_iter().map(|score| &Rational::from(IBig::from(score)) * &unit).collect()
    }
}

impl IntegerTree {
    /// The leaf that inputs reach.
    ///
    /// # Panics
    /// If there are fewer inputs than the tree reads.
    #[must_use]
    pub fn leaf(&self, inputs: &[i64]) -> &[LeafValue] {
        let mut k = 0;
        loop {
            match &self.nodes[k] {
                IntegerNode::Split { input, at, left, right } => {
                    k = if inputs[*input] <= *at { *left } else { *right };
                }
                IntegerNode::Leaf(values) => return values,
            }
        }
    }
}

impl IntegerTree {
    /// All leaves.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &[LeafValue]> {
        self.nodes.iter().filter_map(|node| match node {
            IntegerNode::Leaf(values) => Some(values.as_slice()),
            IntegerNode::Split { .. } => None,
        })
    }
}

/// More nodes than this, where questions read functions of the state, are refused.
const MOST_NODES: usize = 1 << 22;

/// Copies trees as trees over integers.
struct Copier<'a> {
    questions: &'a Questions,
    unit: &'a Unit,
    /// The values of the variables that get to the node at hand, where questions read functions of them.
    sides: Vec<IntInterval>,
    /// The answers of the tree at hand, by node.
    answers: Vec<Option<Rc<Answer>>>,
    /// Those of the tree at hand.
    nodes: Vec<IntegerNode>,
    /// Nodes of the trees before it.
    copied: usize,
}

impl Copier<'_> {
    fn tree(&mut self, tree: &Tree) -> Result<IntegerTree, PolicyError> {
        self.answers = vec![None; tree.nodes.len()];
        self.node(tree, 0)?;
        self.copied += self.nodes.len();
        Ok(IntegerTree { nodes: std::mem::take(&mut self.nodes) })
    }

    /// Appends the subtree of a node; returns where it begins.
    fn node(&mut self, tree: &Tree, node: usize) -> Result<usize, PolicyError> {
        let begin = self.nodes.len();
        match &tree.nodes[node] {
            TreeNode::Leaf(values) => {
                let mut sums: Vec<LeafValue> = Vec::with_capacity(values.len());
                for &(output, value) in values {
                    let value = self.unit.count(value);
                    match sums.iter_mut().find(|sum| sum.output == output) {
                        Some(sum) => sum.value += value,
                        None => sums.push(LeafValue { output, value }),
                    }
                }
                sums.retain(|sum| sum.value != 0);
                sums.sort_by_key(|sum| sum.output);
                self.nodes.push(IntegerNode::Leaf(sums));
            }
            TreeNode::Split { input, rule, left, right } => {
                let answer = match &self.answers[node] {
                    Some(answer) => Rc::clone(answer),
                    None => {
                        let answer = Rc::new(self.questions.answer(*input, rule));
                        self.answers[node] = Some(Rc::clone(&answer));
                        answer
                    }
                };
                self.answered(tree, &answer, [*left, *right])?;
            }
        }
        Ok(begin)
    }

    /// Appends what follows from an answer: the left child where it is yes.
    fn answered(
        &mut self,
        tree: &Tree,
        answer: &Answer,
        [left, right]: [usize; 2],
    ) -> Result<usize, PolicyError> {
        let begin = self.nodes.len();
        if self.copied + begin > MOST_NODES && !self.questions.are_of_integers() {
            let message = format!(
                "over the variables of the model, the ensemble has more than {MOST_NODES} nodes"
            );
            return Err(PolicyError::unsupported("", message));
        }
        match answer {
            Answer::Fixed(holds) => {
                self.node(tree, if *holds { left } else { right })?;
            }
            Answer::Pieces { variable, pieces, above } => {
                let side = self.sides[*variable];
                let is_function = !self.questions.are_of_integers();
                // One split for each piece: left the piece, right what is above it.
                for (at, piece) in pieces {
                    let own = self.sides[*variable];
                    if is_function && own.lo > *at {
                        continue;
                    }
                    if is_function && own.hi <= *at {
                        // Nothing is above it.
                        self.answered(tree, piece, [left, right])?;
                        self.sides[*variable] = side;
                        return Ok(begin);
                    }
                    let split = self.nodes.len();
                    self.nodes.push(IntegerNode::Leaf(Vec::new()));
                    if is_function {
                        self.sides[*variable].hi = *at;
                    }
                    let low = self.answered(tree, piece, [left, right])?;
                    let high = self.nodes.len();
                    self.nodes[split] =
                        IntegerNode::Split { input: *variable, at: *at, left: low, right: high };
                    if is_function {
                        self.sides[*variable] = IntInterval::new(at + 1, own.hi);
                    }
                }
                self.answered(tree, above, [left, right])?;
                self.sides[*variable] = side;
            }
        }
        Ok(begin)
    }
}

/// The power of two of which all values are multiples.
struct Unit {
    scale: i32,
}

impl Unit {
    fn of(ensemble: &Ensemble) -> Result<Self, PolicyError> {
        let leaves = ensemble.trees().iter().flat_map(|tree| {
            tree.nodes.iter().flat_map(|node| match node {
                TreeNode::Leaf(values) => values.as_slice(),
                TreeNode::Split { .. } => &[],
            })
        });
        let values = leaves.map(|&(_, value)| value).chain(ensemble.base().iter().copied());
        let parts = values.filter(|&value| value != 0.0).map(parts);
        let (mut lowest, mut highest) = (i32::MAX, i32::MIN);
        for (mantissa, exponent) in parts {
            let bits = 64 - i32::try_from(mantissa.leading_zeros()).unwrap_or(0);
            lowest = lowest.min(exponent);
            highest = highest.max(exponent + bits);
        }
        if lowest > highest {
            return Ok(Self { scale: 0 });
        }
        // A sum has one leaf of each tree, whose list may name an output several times.
        let longest = ensemble.trees().iter().map(|tree| {
            let lengths = tree.nodes.iter().map(|node| match node {
                TreeNode::Leaf(values) => values.len(),
                TreeNode::Split { .. } => 0,
            });
            lengths.max().unwrap_or(0)
        });
        let summands = longest.sum::<usize>() + 1;
        let bits = i64::from(highest) - i64::from(lowest) + i64::from(summands.ilog2()) + 1;
        if bits > i64::from(i128::BITS - FREE_BITS) {
            let message = format!(
                "the values of leaves lie too far apart: their sums take {bits} bits, {} are \
                 supported",
                i128::BITS - FREE_BITS
            );
            return Err(PolicyError::unsupported("", message));
        }
        Ok(Self { scale: -lowest })
    }

    /// A value in units.
    fn count(&self, value: f64) -> i128 {
        if value == 0.0 {
            return 0;
        }
        let (mantissa, exponent) = parts(value);
        let shift = u32::try_from(exponent + self.scale).unwrap_or(0);
        let magnitude = i128::from(mantissa) << shift;
        if value < 0.0 { -magnitude } else { magnitude }
    }
}

/// Odd mantissa and exponent of the magnitude of a finite number that is not zero.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let field = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | (1 << 52), field - 1075) };
    let zeros = mantissa.trailing_zeros();
    (mantissa >> zeros, exponent + i32::try_from(zeros).unwrap_or(0))
}
