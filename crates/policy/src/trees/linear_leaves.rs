//! Leaves whose value is a linear function of inputs: over bounded integers, a leaf for each value.

use policert_numeric::{IntInterval, Rational};

use super::ensemble::{Ensemble, LinearLeaf, Tree, TreeNode};
use super::rule::{Missing, Precision, Rule, RuleComparison};
use crate::error::PolicyError;

/// More nodes than this are refused.
const MOST_NODES: usize = 1 << 20;

/// The same ensemble, over integer inputs with these domains, with constant leaves only. `None` is the
/// domain of an input that is no variable.
///
/// # Errors
/// If a leaf reads an input without bounds, or there would be too many leaves.
pub(crate) fn with_constant_leaves(
    ensemble: Ensemble,
    sides: &[Option<IntInterval>],
) -> Result<Ensemble, PolicyError> {
    if ensemble.linear_leaves().is_empty() {
        return Ok(ensemble);
    }
    let mut count = 0;
    let mut trees = Vec::with_capacity(ensemble.trees().len());
    for (t, tree) in ensemble.trees().iter().enumerate() {
        let leaves = ensemble.linear_leaves().iter().filter(|leaf| leaf.tree == t).collect();
        let mut copy = Copy { tree, leaves, sides: sides.to_vec(), nodes: Vec::new(), count };
        copy.node(0).map_err(|error| error.at(&format!("tree {t}")))?;
        count += copy.nodes.len();
        trees.push(Tree { nodes: copy.nodes });
    }
    Ensemble::new(ensemble.inputs(), ensemble.base().to_vec(), trees)
}

/// A tree on the way.
struct Copy<'a> {
    tree: &'a Tree,
    leaves: Vec<&'a LinearLeaf>,
    /// The values that each input may have at the current node.
    sides: Vec<Option<IntInterval>>,
    nodes: Vec<TreeNode>,
    /// Nodes of the trees before.
    count: usize,
}

impl Copy<'_> {
    /// Appends a node and what is below it; returns where it begins.
    fn node(&mut self, k: usize) -> Result<usize, PolicyError> {
        let begin = self.nodes.len();
        match &self.tree.nodes[k] {
            TreeNode::Leaf(values) => {
                let linear = self.leaves.iter().find(|leaf| leaf.node == k).copied();
                let terms = linear.map_or(&[][..], |leaf| leaf.terms.as_slice());
                let output = linear.map_or(0, |leaf| leaf.output);
                let mut values = values.clone();
                self.leaf(output, terms, &mut values)?;
            }
            TreeNode::Split { input, rule, left, right } => {
                let own = self.sides[*input];
                let [below, above] = own.map_or([own; 2], |side| split(rule, side).map(Some));
                if let (Some(below), Some(above)) = (below, above) {
                    // Nothing gets to a child without values.
                    if below.is_empty() || above.is_empty() {
                        return self.node(if below.is_empty() { *right } else { *left });
                    }
                }
                self.push()?;
                self.sides[*input] = below;
                let first = self.node(*left)?;
                self.sides[*input] = above;
                let second = self.node(*right)?;
                self.sides[*input] = own;
                let (input, rule) = (*input, *rule);
                self.nodes[begin] = TreeNode::Split { input, rule, left: first, right: second };
            }
        }
        Ok(begin)
    }

    /// Appends the leaves for all values of the inputs of `terms`; `values` are what the leaf adds
    /// beside them.
    fn leaf(
        &mut self,
        output: usize,
        terms: &[(usize, f64)],
        values: &mut Vec<(usize, f64)>,
    ) -> Result<usize, PolicyError> {
        let Some((&(input, factor), others)) = terms.split_first() else {
            let begin = self.push()?;
            self.nodes[begin] = TreeNode::Leaf(values.clone());
            return Ok(begin);
        };
        let bounded = self.sides[input].filter(|side| side.is_bounded());
        let side = bounded.ok_or_else(|| {
            let message = format!(
                "a leaf is a linear function of input {input}, which is supported for variables \
                 with bounds; train with linear_tree=false"
            );
            PolicyError::unsupported("", message)
        })?;
        if side.lo == side.hi {
            let length = values.len();
            for part in product(factor, side.lo)? {
                values.push((output, part));
            }
            let begin = self.leaf(output, others, values)?;
            values.truncate(length);
            return Ok(begin);
        }
        let middle = i64::midpoint(side.lo, side.hi.saturating_sub(1));
        let begin = self.push()?;
        self.sides[input] = Some(IntInterval::new(side.lo, middle));
        let left = self.leaf(output, terms, values)?;
        self.sides[input] = Some(IntInterval::new(middle + 1, side.hi));
        let right = self.leaf(output, terms, values)?;
        self.sides[input] = Some(side);
        let threshold = Rational::from(middle).to_f64();
        let rule = Rule {
            comparison: RuleComparison::LessEqual,
            threshold,
            precision: Precision::Double,
            missing: Missing::NotANumber(false),
        };
        self.nodes[begin] = TreeNode::Split { input, rule, left, right };
        Ok(begin)
    }

    /// Appends room for a node.
    fn push(&mut self) -> Result<usize, PolicyError> {
        let begin = self.nodes.len();
        if self.count + begin >= MOST_NODES {
            let message = format!(
                "with a leaf for each value of the inputs that linear leaves read, the ensemble has \
                 more than {MOST_NODES} nodes; train with linear_tree=false"
            );
            return Err(PolicyError::unsupported("", message));
        }
        self.nodes.push(TreeNode::Leaf(Vec::new()));
        Ok(begin)
    }
}

/// The values of a side for which a rule holds, and the others, each with what is between them.
fn split(rule: &Rule, side: IntInterval) -> [IntInterval; 2] {
    let empty = IntInterval::new(1, 0);
    let mut parts = [empty; 2];
    let mut low = i64::MIN;
    for (last, holds) in rule.pieces() {
        let piece = IntInterval::new(low, last).intersect(side);
        if !piece.is_empty() {
            let part = &mut parts[usize::from(!holds)];
            *part = if part.is_empty() { piece } else { IntInterval::new(part.lo, piece.hi) };
        }
        low = last.saturating_add(1);
    }
    parts
}

/// The product as a sum of two doubles.
fn product(factor: f64, value: i64) -> Result<[f64; 2], PolicyError> {
    let exact = Rational::from_f64(factor).map(|factor| factor * Rational::from(value));
    let parts = exact.and_then(|exact| {
        let high = exact.to_f64();
        let rest = exact - Rational::from_f64(high)?;
        let low = rest.to_f64();
        (Rational::from_f64(low)? == rest).then_some([high, low])
    });
    parts.ok_or_else(|| {
        let message = format!("the coefficient {factor} of a linear leaf is out of range");
        PolicyError::unsupported("", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees::IntegerTrees;

    #[test]
    fn constant_leaves_are_the_values_of_linear_ones() {
        let rule = Rule {
            comparison: RuleComparison::LessEqual,
            threshold: 1.5,
            precision: Precision::Double,
            missing: Missing::IsZero,
        };
        let nodes = vec![
            TreeNode::Split { input: 0, rule, left: 1, right: 2 },
            TreeNode::Leaf(vec![(0, 0.1)]),
            TreeNode::Leaf(vec![(0, -0.3)]),
        ];
        let ensemble = Ensemble::new(2, vec![0.0], vec![Tree { nodes }]).expect("a tree");
        let leaf = |node, terms| LinearLeaf { tree: 0, node, output: 0, terms };
        let leaves = vec![leaf(1, vec![(0, 0.1), (1, 1e-9)]), leaf(2, vec![(1, -0.7), (1, 0.2)])];
        let ensemble = ensemble.with_linear_leaves(leaves).expect("both are leaves");
        assert!(IntegerTrees::new(&ensemble).is_err());
        let sides = [Some(IntInterval::new(-3, 4)), Some(IntInterval::new(0, 6))];
        let constant = with_constant_leaves(ensemble.clone(), &sides).expect("bounded");
        let trees = IntegerTrees::new(&constant).expect("it fits");
        let exact = |value: f64| Rational::from_f64(value).expect("finite");
        for (x, y) in (-3..=4).flat_map(|x| (0..=6).map(move |y| (x, y))) {
            let (a, b) = (Rational::from(x), Rational::from(y));
            let expected = match x <= 1 {
                true => exact(0.1) + exact(0.1) * a + exact(1e-9) * b,
                false => exact(-0.3) + exact(-0.7) * b.clone() + exact(0.2) * b,
            };
            assert_eq!(trees.exact_scores(&[x, y]), [expected], "at {x}, {y}");
        }
        let unbounded = [Some(IntInterval::new(-3, 4)), None];
        let error = with_constant_leaves(ensemble, &unbounded).expect_err("not bounded");
        assert!(error.to_string().contains("linear_tree=false"), "{error}");
    }
}
