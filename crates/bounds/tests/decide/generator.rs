//! Random networks, trees, regions and conditions, small enough to try all points.

use policert_model::{BinaryOp, Condition, Expr, LabelId, UnaryOp, VarId};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::activation::{Elu, Logarithm, Reciprocal, Root, Staircase, TanhGate};
use policert_policy::trees::{
    Ensemble, IntegerTrees, Missing, Precision, Rule, RuleComparison, Summation, Tree, TreeNode,
};
use policert_policy::{
    Activation, ChoiceRule, ElementType, Filter, Matrix, Network, NetworkBuilder, NodeId, Numbers,
    Policy, PolicySemantics, Smooth, Ties,
};

/// SplitMix64: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below a usize")
    }

    pub fn int(&mut self, lo: i64, hi: i64) -> i64 {
        lo + i64::try_from(self.below(usize::try_from(hi - lo + 1).expect("small"))).expect("small")
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Between −1 and 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The distribution of weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weights {
    /// Small integers: many ties.
    Integers,
    /// Quarters.
    Quarters,
    /// Trained networks look like this.
    Reals,
    /// From 10⁻³⁰ to 10³⁰ and denormal.
    Extreme,
    /// Few that are not 0.
    Sparse,
}

impl Weights {
    const ALL: [Self; 5] =
        [Self::Integers, Self::Quarters, Self::Reals, Self::Extreme, Self::Sparse];

    fn draw(self, random: &mut Random) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let small = |random: &mut Random, size: i64| random.int(-size, size) as f64;
        match self {
            Self::Integers => small(random, 2),
            Self::Quarters => small(random, 9) / 4.0,
            Self::Reals => random.unit(),
            Self::Extreme => match random.below(6) {
                0 => random.unit() * 1e30,
                1 => random.unit() * 1e-30,
                2 => random.unit() * 1e-310,
                3 => small(random, 1) * 1e30,
                4 => 0.0,
                _ => random.unit(),
            },
            Self::Sparse if random.chance(70) => 0.0,
            Self::Sparse => small(random, 3),
        }
    }
}

fn affine(
    builder: &mut NetworkBuilder,
    input: NodeId,
    rows: usize,
    weights: Weights,
    random: &mut Random,
) -> NodeId {
    let columns = builder.width(input);
    let mut entries: Vec<f64> = (0..rows * columns).map(|_| weights.draw(random)).collect();
    let mut bias: Vec<f64> = (0..rows).map(|_| weights.draw(random)).collect();
    if rows > 1 && random.chance(15) {
        // Equal rows, with equal or different biases.
        let first: Vec<f64> = entries[..columns].to_vec();
        entries[columns..2 * columns].copy_from_slice(&first);
        if random.chance(50) {
            bias[1] = bias[0];
        }
    }
    let matrix = Matrix::new(rows, columns, entries).expect("the number of entries fits");
    builder.affine(input, matrix, bias).expect("finite")
}

fn activation(builder: &mut NetworkBuilder, input: NodeId, random: &mut Random) -> NodeId {
    let activation = match random.below(18) {
        0 => Activation::Leaky { alpha: 0.1 },
        1 => Activation::Leaky { alpha: [-0.5, 1.5][random.below(2)] },
        2 => Activation::Smooth(Smooth::Tanh),
        3 => Activation::Smooth(Smooth::Sigmoid),
        4 => Activation::Clip { lo: -1.0, hi: 2.5 },
        5 => Activation::clip(None, Some(1.0)),
        6 => return input,
        7 => Activation::Smooth(Smooth::Elu(Elu { alpha: [1.0, 0.5, 2.0, -1.0][random.below(4)] })),
        8 => Activation::Smooth(Smooth::Softplus),
        9 => {
            let gates = [Smooth::Silu, Smooth::ErfGate, Smooth::HardGate, Smooth::Mish];
            Activation::Smooth(gates[random.below(4)])
        }
        10 => {
            let gate = TanhGate::new(0.797_884_560_802_865_4, 0.044_715).expect("usual");
            Activation::Smooth(Smooth::TanhGate(gate))
        }
        11 => Activation::Smooth([Smooth::Square, Smooth::Exponential][random.below(2)]),
        // Defined for all numbers: constant below the least argument.
        12 => {
            let (logarithm, root) = (Logarithm::new(0.5), Root::new(0.25));
            let functions = [
                Smooth::Logarithm(logarithm.expect("positive")),
                Smooth::Root(root.expect("positive")),
                Smooth::Reciprocal(Reciprocal::new(0.5).expect("positive")),
            ];
            let above = Activation::clip(Some(1.0), None);
            let above = builder.activation(input, above).expect("finite");
            let function = Activation::Smooth(functions[random.below(3)]);
            return builder.activation(above, function).expect("finite");
        }
        13 => {
            let all = [Staircase::Floor, Staircase::Round, Staircase::Sign];
            Activation::Staircase(all[random.below(3)])
        }
        _ => Activation::RELU,
    };
    builder.activation(input, activation).expect("finite")
}

/// A network with at most three weight matrices on the longest path.
pub fn network(inputs: usize, outputs: usize, random: &mut Random) -> Network {
    let weights = Weights::ALL[random.below(Weights::ALL.len())];
    let mut builder = NetworkBuilder::new(inputs).expect("inputs");
    let mut node = builder.input();
    if random.chance(15) {
        let numbers = |random: &mut Random| (0..inputs).map(|_| random.unit() * 3.0).collect();
        let (mul, add) = (numbers(random), numbers(random));
        let div = (0..inputs).map(|_| 0.1 + random.unit().abs()).collect();
        node = builder.scale(node, mul, div, add).expect("finite");
    }
    for _ in 0..random.below(3) {
        let width = 1 + random.below(7);
        let first = affine(&mut builder, node, width, weights, random);
        let hidden = activation(&mut builder, first, random);
        node = match random.below(12) {
            0 => {
                let second = affine(&mut builder, node, width, weights, random);
                let second = activation(&mut builder, second, random);
                builder.max(vec![hidden, second, first]).expect("same width")
            }
            1 => builder.concat(vec![hidden, node]).expect("not empty"),
            2 => builder.add(vec![hidden, first]).expect("same width"),
            _ => hidden,
        };
    }
    let mut output = affine(&mut builder, node, outputs, weights, random);
    if random.chance(10) {
        output = activation(&mut builder, output, random);
    }
    builder.finish(output, ElementType::F64)
}

/// A random condition over the first `dimensions` variables.
pub fn condition(dimensions: usize, depth: usize, random: &mut Random) -> Condition {
    let var = |random: &mut Random| Expr::Var(VarId::new(random.below(dimensions)));
    let compare = |random: &mut Random, left: Expr, right: Expr| {
        let op = [BinaryOp::Le, BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Ne][random.below(4)];
        let (left, right) = if random.chance(50) { (left, right) } else { (right, left) };
        Condition::from_expr(&Expr::binary(op, left, right))
    };
    match random.below(if depth == 0 { 7 } else { 9 }) {
        0..=2 => {
            let left = var(random);
            let right = Expr::int(random.int(-4, 6));
            compare(random, left, right)
        }
        3 | 4 => {
            let terms = 2 + random.below(2);
            let sum = (0..terms).fold(Expr::int(0), |sum, _| {
                let factor = Expr::int(random.int(-3, 3));
                let term = Expr::binary(BinaryOp::Mul, factor, var(random));
                Expr::binary(BinaryOp::Add, sum, term)
            });
            let right = Expr::int(random.int(-8, 12));
            compare(random, sum, right)
        }
        5 => {
            // Not linear, and without value at some points.
            let op = [BinaryOp::Mul, BinaryOp::Mod, BinaryOp::Div, BinaryOp::Min][random.below(4)];
            let left = Expr::binary(op, var(random), var(random));
            let right = Expr::int(random.int(-3, 6));
            compare(random, left, right)
        }
        6 => {
            let left = Expr::unary(UnaryOp::Abs, var(random));
            let right = Expr::binary(BinaryOp::Add, var(random), Expr::int(random.int(-2, 4)));
            compare(random, left, right)
        }
        7 => Condition::or((0..2).map(|_| condition(dimensions, depth - 1, random))),
        _ => Condition::and((0..2).map(|_| condition(dimensions, depth - 1, random))),
    }
}

/// A policy with everything that queries about it need.
pub struct Instance {
    pub policy: Policy,
    pub applicable: Vec<Condition>,
    pub region: IntBox,
    pub conditions: Vec<Condition>,
}

/// A value of a leaf: a multiple of ¼, or in some cases a bit more if it is to be rounded.
fn leaf_value(is_rounded: bool, random: &mut Random) -> f64 {
    let value = Weights::Quarters.draw(random);
    if is_rounded && random.chance(30) { value + 2.0f64.powi(-26) } else { value }
}

/// Up to seven trees of depth 4 at most, with thresholds in the domain of the inputs and many ties.
fn ensemble(
    (inputs, outputs): (usize, usize),
    is_rounded: bool,
    random: &mut Random,
) -> IntegerTrees {
    let mut trees = Vec::new();
    for _ in 0..1 + random.below(7) {
        let class = random.chance(60).then(|| random.below(outputs));
        let mut nodes = Vec::new();
        let classes = class.map_or(0..outputs, |class| class..class + 1);
        subtree((inputs, is_rounded), classes, 4, random, &mut nodes);
        trees.push(Tree { nodes });
    }
    let base = (0..outputs).map(|_| Weights::Quarters.draw(random)).collect();
    let ensemble = Ensemble::new(inputs, base, trees).expect("it is right");
    IntegerTrees::new(&ensemble).expect("small values")
}

fn subtree(
    (inputs, is_rounded): (usize, bool),
    classes: std::ops::Range<usize>,
    depth: usize,
    random: &mut Random,
    nodes: &mut Vec<TreeNode>,
) {
    let place = nodes.len();
    nodes.push(TreeNode::Leaf(Vec::new()));
    if depth == 0 || random.chance(15) {
        let values = classes.map(|class| (class, leaf_value(is_rounded, random))).collect();
        nodes[place] = TreeNode::Leaf(values);
        return;
    }
    let input = random.below(inputs);
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let threshold = random.int(-14, 18) as f64 / 2.0;
    let rule = Rule {
        comparison: RuleComparison::LessEqual,
        threshold,
        precision: Precision::Double,
        missing: Missing::NotANumber(false),
    };
    let left = nodes.len();
    subtree((inputs, is_rounded), classes.clone(), depth - 1, random, nodes);
    let right = nodes.len();
    subtree((inputs, is_rounded), classes, depth - 1, random, nodes);
    nodes[place] = TreeNode::Split { input, rule, left, right };
}

/// The kind of policy of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyKind {
    Network,
    Trees,
}

/// The rule by which labels are chosen that is tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChosenLabels {
    /// One of the best labels.
    Best,
    /// Those of a least probability.
    LeastProbability,
    /// One of the best labels, in single precision.
    SinglePrecision,
}

/// A random instance whose region has at most `points` points.
pub fn instance(points: u128, kind: PolicyKind, random: &mut Random) -> Instance {
    instance_by(ChosenLabels::Best, points, kind, random).expect("it fits")
}

/// A random instance with this rule; `None` if its policy does not go with that.
pub fn instance_by(
    rule: ChosenLabels,
    points: u128,
    kind: PolicyKind,
    random: &mut Random,
) -> Option<Instance> {
    let inputs = 1 + random.below(6);
    let outputs = 1 + random.below(5);
    let variables = inputs + random.below(2);
    let dimensions = variables + random.below(2);
    // The network may read a variable twice, and leave one out.
    let mut reads: Vec<VarId> = (0..inputs).map(VarId::new).collect();
    if random.chance(20) {
        reads[0] = VarId::new(random.below(variables));
    }
    let labels = (0..outputs).map(LabelId::new).collect();
    let filter = if random.chance(50) { Filter::Applicable } else { Filter::None };
    let ties = [Ties::First, Ties::Any, Ties::Strict][random.below(3)];
    let semantics = PolicySemantics { ties, filter, ..PolicySemantics::default() };
    let semantics = match rule {
        ChosenLabels::Best => semantics,
        ChosenLabels::LeastProbability => {
            let share = ["0.01", "0.2", "1/3", "0.6"][random.below(4)];
            let at_least = Some(share.parse().expect("a share"));
            PolicySemantics { choice: ChoiceRule::Sample, at_least, ..semantics }
        }
        ChosenLabels::SinglePrecision => PolicySemantics { numbers: Numbers::F32, ..semantics },
    };
    let domains = IntBox::new(vec![IntInterval::new(-20, 20); variables]);
    let policy = match kind {
        PolicyKind::Network => {
            Policy::new(network(inputs, outputs, random), reads, labels, semantics, &domains)
        }
        PolicyKind::Trees => {
            let is_rounded = rule == ChosenLabels::SinglePrecision;
            let trees = ensemble((inputs, outputs), is_rounded, random);
            let summation = Ok(Summation::plain(Precision::Single, outputs));
            Policy::of_summed_trees(trees, summation, reads, labels, semantics, &domains)
        }
    };
    let policy = policy.ok()?;
    let applicable = (0..outputs)
        .map(|_| match random.below(8) {
            0 => Condition::False,
            1..=3 => Condition::True,
            _ => condition(variables, 1, random),
        })
        .collect();
    let mut region = IntBox::new(vec![IntInterval::point(0); dimensions]);
    for _ in 0..3 * dimensions {
        let side = random.below(dimensions);
        let before = region[side];
        let lo = random.int(-6, 4);
        region[side] = IntInterval::new(lo, lo + random.int(0, 9));
        if region.count().is_none_or(|count| count > points) {
            region[side] = before;
        }
    }
    if random.chance(2) {
        region[0] = IntInterval::new(1, 0);
    }
    let conditions = (0..random.below(3)).map(|_| condition(dimensions, 1, random)).collect();
    Some(Instance { policy, applicable, region, conditions })
}
