//! An ensemble as a file says it.

use super::column::{Column, Reading};
use super::rule::Rule;
use crate::error::PolicyError;

/// A sum of trees: the score of an output is its base score plus the values of the leaves that are
/// reached.
#[derive(Clone, PartialEq, Debug)]
pub struct Ensemble {
    inputs: usize,
    columns: Vec<Column>,
    base: Vec<f64>,
    trees: Vec<Tree>,
    linear: Vec<LinearLeaf>,
}

/// A leaf that adds a linear function of inputs to what its node says.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearLeaf {
    /// The tree.
    pub tree: usize,
    /// Its node.
    pub node: usize,
    /// The output to whose score the function is added.
    pub output: usize,
    /// Inputs and coefficients.
    pub terms: Vec<(usize, f64)>,
}

/// A tree. The root is node 0, and children stand behind their parents.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// The nodes.
    pub nodes: Vec<TreeNode>,
}

impl Tree {
    /// The greatest depth.
    pub const DEEPEST: usize = 1000;
}

/// A node of a tree.
#[derive(Clone, PartialEq, Debug)]
pub enum TreeNode {
    /// A question about one input.
    Split {
        /// The input; or the column, if the file computes columns from its inputs.
        input: usize,
        /// The question.
        rule: Rule,
        /// The child where the rule holds.
        left: usize,
        /// The other child.
        right: usize,
    },
    /// Values by output; outputs that are not listed get zero, and what is listed twice counts twice.
    Leaf(Vec<(usize, f64)>),
}

impl Ensemble {
    /// The ensemble with at least `inputs` inputs and these base scores, one for each output.
    ///
    /// # Errors
    /// If a tree has no nodes or is deeper than [`Tree::DEEPEST`], a child does not stand behind its
    /// parent, an output does not exist, or a number is not finite.
    pub fn new(inputs: usize, base: Vec<f64>, trees: Vec<Tree>) -> Result<Self, PolicyError> {
        let mut inputs = inputs;
        if base.is_empty() {
            return Err(PolicyError::invalid("", "the ensemble has no outputs"));
        }
        if base.iter().any(|score| !score.is_finite()) {
            return Err(PolicyError::invalid("", "a base score is not finite"));
        }
        for (t, tree) in trees.iter().enumerate() {
            let wrong = |what: String| Err(PolicyError::invalid(format!("tree {t}"), what));
            if tree.nodes.is_empty() {
                return wrong("it has no nodes".to_owned());
            }
            let mut depths = vec![0usize; tree.nodes.len()];
            for (k, node) in tree.nodes.iter().enumerate() {
                match node {
                    TreeNode::Split { input, rule, left, right } => {
                        if [left, right].into_iter().any(|&c| c <= k || c >= tree.nodes.len()) {
                            return wrong(format!("node {k} has a child that is no later node"));
                        }
                        if rule.threshold.is_nan() {
                            return wrong(format!("the threshold of node {k} is no number"));
                        }
                        inputs = inputs.max(input + 1);
                        for child in [*left, *right] {
                            depths[child] = depths[child].max(depths[k] + 1);
                        }
                        if depths[k] >= Tree::DEEPEST {
                            let message = format!(
                                "trees deeper than {} levels are not supported",
                                Tree::DEEPEST
                            );
                            return Err(PolicyError::unsupported(format!("tree {t}"), message));
                        }
                    }
                    TreeNode::Leaf(values) => {
                        if values.iter().any(|&(output, _)| output >= base.len()) {
                            return wrong(format!("leaf {k} has a value for no output"));
                        }
                        if values.iter().any(|(_, value)| !value.is_finite()) {
                            return wrong(format!("a value of leaf {k} is not finite"));
                        }
                    }
                }
            }
        }
        Ok(Self { inputs, columns: Vec::new(), base, trees, linear: Vec::new() })
    }

    /// Returns the same ensemble, whose trees read these columns of `inputs` inputs. Columns that no tree reads
    /// must have values, too.
    ///
    /// # Panics
    /// If there are fewer columns than the trees read, or a column reads an input that is not there.
    #[must_use]
    pub fn with_columns(mut self, inputs: usize, columns: Vec<Column>) -> Self {
        assert!(self.inputs <= columns.len(), "trees read columns that are there");
        let reads = columns.iter().flat_map(Column::inputs);
        assert!(reads.into_iter().all(|input| input < inputs), "columns read inputs");
        self.inputs = inputs;
        self.columns = columns;
        self
    }

    /// Returns the columns that the trees read, if the file computes some from its inputs; else none.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The same ensemble, some of whose leaves are linear.
    ///
    /// # Errors
    /// If there is no such leaf or output, or a coefficient is not finite.
    pub fn with_linear_leaves(mut self, leaves: Vec<LinearLeaf>) -> Result<Self, PolicyError> {
        for leaf in &leaves {
            let node = self.trees.get(leaf.tree).and_then(|tree| tree.nodes.get(leaf.node));
            let wrong = match node {
                Some(TreeNode::Leaf(_)) if leaf.output < self.base.len() => {
                    let finite = leaf.terms.iter().all(|(_, factor)| factor.is_finite());
                    (!finite).then_some("a coefficient is not finite")
                }
                _ => Some("there is no such leaf or output"),
            };
            if let Some(message) = wrong {
                return Err(PolicyError::invalid(format!("tree {}", leaf.tree), message));
            }
            self.inputs =
                leaf.terms.iter().map(|(input, _)| input + 1).fold(self.inputs, usize::max);
        }
        self.linear = leaves;
        Ok(self)
    }

    /// The leaves that are linear.
    #[must_use]
    pub fn linear_leaves(&self) -> &[LinearLeaf] {
        &self.linear
    }

    /// The number of inputs: what the file says, and at least what its trees read.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The base scores by output.
    #[must_use]
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The same ensemble for a model with this many inputs; those that it has beyond its own are
    /// not read.
    ///
    /// # Panics
    /// If it reads more.
    #[must_use]
    pub fn with_inputs(mut self, inputs: usize) -> Self {
        assert!(inputs >= self.inputs, "an ensemble reads at least its own inputs");
        self.inputs = inputs;
        self
    }

    /// A single score as the scores of two outputs, the first of which is zero: of a classifier of
    /// two classes the second is chosen where the score is positive.
    #[must_use]
    pub fn as_two_classes(&self) -> Self {
        let mut base = vec![0.0];
        base.extend(&self.base);
        let mut trees = self.trees.clone();
        for node in trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
            if let TreeNode::Leaf(values) = node {
                for (output, _) in values {
                    *output += 1;
                }
            }
        }
        let mut linear = self.linear.clone();
        linear.iter_mut().for_each(|leaf| leaf.output += 1);
        Self { inputs: self.inputs, columns: self.columns.clone(), base, trees, linear }
    }

    /// The scores for inputs that need not be integers, summed up in double precision: to compare
    /// with a library, not to decide. A column without a value counts as NaN.
    ///
    /// # Panics
    /// If there are fewer inputs than the trees read.
    #[must_use]
    pub fn approximate_scores(&self, inputs: &[f64]) -> Vec<f64> {
        let read = |input: usize| Reading::Real(inputs[input]);
        let column = |column: &Column| column.value(&read).unwrap_or(f64::NAN);
        let columns: Vec<f64> = self.columns.iter().map(column).collect();
        let inputs = if columns.is_empty() { inputs } else { &columns };
        let mut scores = self.base.clone();
        for (t, tree) in self.trees.iter().enumerate() {
            let mut at = 0;
            let values = loop {
                match &tree.nodes[at] {
                    TreeNode::Split { input, rule, left, right } => {
                        at = if rule.holds(inputs[*input]) { *left } else { *right };
                    }
                    TreeNode::Leaf(values) => break values,
                }
            };
            for &(output, value) in values {
                scores[output] += value;
            }
            for leaf in self.linear.iter().filter(|leaf| (leaf.tree, leaf.node) == (t, at)) {
                for &(input, factor) in &leaf.terms {
                    scores[leaf.output] += factor * inputs[input];
                }
            }
        }
        scores
    }
}
