//! Random tiny policies: networks of one to three layers with integer, half or float weights.

use policert_model::{LabelId, Model, VarId};
use policert_policy::activation::{Elu, Reciprocal, Root, Staircase};
use policert_policy::trees::{
    Ensemble, IntegerTrees, Missing, Precision, Rule, RuleComparison, Summation, Tree, TreeNode,
};
use policert_policy::{
    Activation, ElementType, Matrix, Network, NetworkBuilder, NodeId, Policy, PolicyError,
    PolicySemantics, Smooth,
};

use crate::Random;

/// Holds what a policy is made of, without its semantics.
#[derive(Clone, Debug)]
pub struct PolicyParts {
    pub network: Network,
    /// A tree ensemble that counts in place of the network.
    pub trees: Option<Ensemble>,
    /// The variables that it reads.
    pub inputs: Vec<VarId>,
    /// The labels that it chooses among.
    pub outputs: Vec<LabelId>,
}

impl PolicyParts {
    /// The policy with this meaning.
    ///
    /// # Errors
    /// As [`Policy::new`].
    pub fn policy(&self, model: &Model, semantics: PolicySemantics) -> Result<Policy, PolicyError> {
        let (network, inputs) = (self.network.clone(), self.inputs.clone());
        if let Some(trees) = &self.trees {
            let trees = IntegerTrees::new(trees)?;
            let (outputs, domains) = (self.outputs.clone(), model.domains());
            let summation = Ok(Summation::plain(Precision::Single, outputs.len()));
            return Policy::of_summed_trees(trees, summation, inputs, outputs, semantics, &domains);
        }
        Policy::new(network, inputs, self.outputs.clone(), semantics, &model.domains())
    }
}

/// Says how the weights of a network are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weights {
    /// −2 to 2: many exact ties.
    SmallIntegers,
    /// Halves from −3 to 3.
    Halves,
    /// Single precision from −1 to 1.
    Floats,
}

/// A random policy for a model: some of its variables to some of its labels, in any order.
#[must_use]
pub fn policy(random: &mut Random, size: usize, model: &Model) -> PolicyParts {
    let inputs = some_of(random, model.variables.len(), 85);
    let inputs: Vec<VarId> = inputs.into_iter().map(VarId::new).collect();
    let outputs = some_of(random, model.labels.len(), 80);
    let outputs: Vec<LabelId> = outputs.into_iter().map(LabelId::new).collect();
    let network = network(random, size, inputs.len(), outputs.len())
        .expect("sizes fit and constants are finite");
    PolicyParts { network, trees: None, inputs, outputs }
}

/// A random tree ensemble in place of a policy's network: up to four trees with thresholds in the
/// domains of its inputs, values with many ties, every comparison and precision.
#[must_use]
pub fn with_trees(random: &mut Random, model: &Model, policy: &PolicyParts) -> PolicyParts {
    let outputs = policy.outputs.len();
    let value = |random: &mut Random| match random.below(3) {
        0 => 0.1,
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        _ => random.between(-4, 4) as f64 / 4.0,
    };
    let trees = (0..1 + random.below(4))
        .map(|_| {
            let mut nodes = Vec::new();
            let class = random.percent(40).then(|| random.below(outputs));
            tree_node(random, model, policy, (class, 3), &mut nodes, &value);
            Tree { nodes }
        })
        .collect();
    let base = (0..outputs).map(|_| value(random)).collect();
    let trees = Ensemble::new(policy.inputs.len(), base, trees).expect("it is right");
    PolicyParts { trees: Some(trees), ..policy.clone() }
}

/// Appends a subtree of at most this depth, for one class or all.
fn tree_node(
    random: &mut Random,
    model: &Model,
    policy: &PolicyParts,
    (class, depth): (Option<usize>, usize),
    nodes: &mut Vec<TreeNode>,
    value: &dyn Fn(&mut Random) -> f64,
) {
    let place = nodes.len();
    if depth == 0 || random.percent(15) {
        let outputs = class.map_or(0..policy.outputs.len(), |class| class..class + 1);
        let values = outputs.map(|output| (output, value(random))).collect();
        nodes.push(TreeNode::Leaf(values));
        return;
    }
    let input = random.below(policy.inputs.len());
    let domain = model.variables[policy.inputs[input].index()].domain;
    let (low, high) = (domain.lo.max(-50), domain.hi.min(50));
    let missing = [Missing::NotANumber(false), Missing::IsZero, Missing::Zero(true)];
    let comparisons = [
        RuleComparison::Less,
        RuleComparison::LessEqual,
        RuleComparison::Greater,
        RuleComparison::GreaterEqual,
        RuleComparison::Equal,
        RuleComparison::NotEqual,
    ];
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let threshold = random.between(low.min(high), high.max(low)) as f64;
    let rule = Rule {
        comparison: *random.pick(&comparisons),
        threshold: if random.percent(30) { threshold + 0.5 } else { threshold },
        precision: *random.pick(&[Precision::Single, Precision::Double]),
        missing: *random.pick(&missing),
    };
    nodes.push(TreeNode::Leaf(Vec::new()));
    let left = nodes.len();
    tree_node(random, model, policy, (class, depth - 1), nodes, value);
    let right = nodes.len();
    tree_node(random, model, policy, (class, depth - 1), nodes, value);
    nodes[place] = TreeNode::Split { input, rule, left, right };
}

/// Indices below `count` in random order, each kept with a chance of `percent`; at least one.
fn some_of(random: &mut Random, count: usize, percent: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for i in (1..all.len()).rev() {
        all.swap(i, random.below(i + 1));
    }
    let first = all[0];
    all.retain(|_| random.percent(percent));
    if all.is_empty() {
        all.push(first);
    }
    all
}

fn network(
    random: &mut Random,
    size: usize,
    inputs: usize,
    outputs: usize,
) -> Result<Network, PolicyError> {
    let weights = match random.below(10) {
        0..6 => Weights::SmallIntegers,
        6..8 => Weights::Halves,
        _ => Weights::Floats,
    };
    let element_type = if random.percent(50) { ElementType::F32 } else { ElementType::F64 };
    let mut builder = NetworkBuilder::new(inputs)?;
    let mut node = builder.input();
    for _ in 0..random.below(3) {
        let width = 1 + random.below(2 + size);
        node = affine(random, &mut builder, node, width, weights)?;
        node = match random.below(40) {
            0 => builder.activation(node, Activation::Leaky { alpha: 0.25 })?,
            1 => builder.activation(node, Activation::Clip { lo: -1.0, hi: 6.0 })?,
            2 => builder.tanh(node),
            3 => builder.activation(node, Activation::Smooth(Smooth::Elu(Elu { alpha: 1.5 })))?,
            4 => builder.activation(node, Activation::Smooth(Smooth::Square))?,
            5 => over_root(&mut builder, node)?,
            6 => {
                let all = [Staircase::Floor, Staircase::Round, Staircase::Sign];
                builder.activation(node, Activation::Staircase(all[random.below(3)]))?
            }
            _ => builder.relu(node),
        };
    }
    node = affine(random, &mut builder, node, outputs, weights)?;
    if random.percent(5) {
        node = builder.tanh(node);
    }
    Ok(builder.finish(node, element_type))
}

/// x / √(x² + 1), element by element: a quotient, as layers that normalise have it.
fn over_root(builder: &mut NetworkBuilder, x: NodeId) -> Result<NodeId, PolicyError> {
    let all = |value: f64| vec![value; builder.width(x)];
    let (ones, minus, zeros, fours) = (all(1.0), all(-1.0), all(0.0), all(4.0));
    let smooth = Activation::Smooth;
    let square = builder.activation(x, smooth(Smooth::Square))?;
    let above = builder.scale(square, ones.clone(), ones.clone(), ones.clone())?;
    let root = Root::new(1.0).expect("positive");
    let root = builder.activation(above, smooth(Smooth::Root(root)))?;
    let reciprocal = Reciprocal::new(1.0).expect("positive");
    let inverse = builder.activation(root, smooth(Smooth::Reciprocal(reciprocal)))?;
    let opposite = builder.scale(inverse, minus.clone(), ones.clone(), zeros.clone())?;
    let (sum, difference) = (builder.add(vec![x, inverse])?, builder.add(vec![x, opposite])?);
    let sum = builder.activation(sum, smooth(Smooth::Square))?;
    let difference = builder.activation(difference, smooth(Smooth::Square))?;
    let opposite = builder.scale(difference, minus, ones.clone(), zeros.clone())?;
    let four = builder.add(vec![sum, opposite])?;
    builder.scale(four, ones, fours, zeros)
}

fn affine(
    random: &mut Random,
    builder: &mut NetworkBuilder,
    input: NodeId,
    rows: usize,
    weights: Weights,
) -> Result<NodeId, PolicyError> {
    let columns = builder.width(input);
    let mut entries: Vec<f64> = (0..rows * columns).map(|_| weight(random, weights)).collect();
    let mut bias: Vec<f64> = (0..rows).map(|_| 2.0 * weight(random, weights)).collect();
    if rows > 1 && random.percent(30) {
        // Two neurons that always tie.
        let (from, to) = (random.below(rows), random.below(rows));
        entries.copy_within(from * columns..(from + 1) * columns, to * columns);
        bias[to] = bias[from];
    }
    let matrix = Matrix::new(rows, columns, entries).expect("rows of equal length");
    builder.affine(input, matrix, bias)
}

fn weight(random: &mut Random, weights: Weights) -> f64 {
    let small =
        |lo, hi, random: &mut Random| f64::from(i32::try_from(random.between(lo, hi)).unwrap_or(0));
    match weights {
        Weights::SmallIntegers => small(-2, 2, random),
        Weights::Halves => small(-6, 6, random) / 2.0,
        // 24 bits, so that it is a number in single precision
        Weights::Floats => small(-(1 << 23), 1 << 23, random) / f64::from(1 << 23),
    }
}
