//! Plain interval arithmetic through a network or tree ensemble: what a policy chooses nowhere in a
//! box.

use policert_engine_api::{Budget, EngineError};
use policert_numeric::round::{add_up, sub_down};
use policert_numeric::{IBig, IntBox, IntInterval, Interval, Rational};
use policert_policy::activation::{Curve, Elu, Staircase};
use policert_policy::trees::{IntegerNode, IntegerTree, IntegerTrees};
use policert_policy::{Activation, Network, NodeId, Op, Policy, RoundedScores, Scoring, Smooth};

use crate::invariant::{ChoicesInBoxes, Competing};
use crate::{single, single_trees};

/// Refutes labels by bounds of the scores, computed by plain interval arithmetic.
#[derive(Debug)]
pub struct IntervalChoices<'p> {
    policy: &'p Policy,
    /// By node.
    values: Vec<Vec<Interval>>,
    /// Of scores in single precision: what errors do to them.
    errors: Option<single::Errors>,
    /// The box that they belong to.
    computed: Option<IntBox>,
}

impl<'p> IntervalChoices<'p> {
    /// For this policy.
    #[must_use]
    pub fn new(policy: &'p Policy) -> Self {
        Self { policy, values: Vec::new(), errors: None, computed: None }
    }

    fn compute(&mut self, network: &Network, sides: &IntBox) {
        let inputs: Vec<Interval> = self
            .policy
            .inputs()
            .iter()
            .map(|v| {
                let side = sides[v.index()];
                let end = |value: i64| Interval::enclosing(&Rational::from(value));
                if side.is_bounded() {
                    end(side.lo).hull(end(side.hi))
                } else {
                    Interval::EVERYTHING
                }
            })
            .collect();
        self.values.clear();
        for node in network.nodes() {
            let value = evaluate(&node.op, &self.values, &inputs);
            self.values.push(value);
        }
        self.errors = match self.policy.single() {
            Some((RoundedScores::Network(single), _)) => Some(single::errors(single, &inputs)),
            Some((RoundedScores::Trees(_), _)) | None => None,
        };
        self.computed = Some(sides.clone());
    }
}

impl ChoicesInBoxes for IntervalChoices<'_> {
    fn is_refuted(
        &mut self,
        output: usize,
        sides: &IntBox,
        competing: Competing<'_>,
        budget: &mut Budget,
    ) -> Result<bool, EngineError> {
        budget.poll()?;
        let policy = self.policy;
        let network = match self.policy.scoring() {
            Scoring::Network(network) => network,
            Scoring::Trees(trees) => {
                let inputs: Vec<IntInterval> =
                    self.policy.inputs().iter().map(|v| sides[v.index()]).collect();
                let errors = match policy.single() {
                    Some((RoundedScores::Trees(single), _)) => {
                        Some(single_trees::errors(single, trees, &inputs))
                    }
                    Some((RoundedScores::Network(_), _)) | None => None,
                };
                let mut rivals =
                    (0..self.policy.outputs().len()).filter(|&j| j != output && competing(j));
                return Ok(rivals.any(|rival| {
                    let lead = greatest_lead(trees, &inputs, output, rival).saturating_neg();
                    let Some(errors) = &errors else {
                        return policy.requires(output, rival).is_excluded_by_units(lead);
                    };
                    let comparison = policy.semantics().requires(output, rival);
                    errors.slack(output, rival).is_some_and(|slack| {
                        let lead = &Rational::from(IBig::from(lead)) * &trees.unit();
                        comparison.is_excluded_by(lead - slack)
                    })
                }));
            }
        };
        if self.computed.as_ref() != Some(sides) {
            self.compute(network, sides);
        }
        let rivals = (0..self.policy.outputs().len()).filter(|&j| j != output && competing(j));
        for rival in rivals {
            let lead = -difference(network, &self.values, output, rival).hi();
            let is_excluded = match &self.errors {
                None => policy.requires(output, rival).is_excluded_by(lead),
                Some(single::Errors { radii, merged }) => {
                    let slack = add_up(add_up(radii[output], radii[rival]), *merged);
                    slack < f64::INFINITY
                        && policy
                            .semantics()
                            .requires(output, rival)
                            .is_excluded_by(sub_down(lead, slack))
                }
            };
            if is_excluded {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// At most this many units the score of an output of a tree ensemble is above that of another one,
/// for inputs in these ranges: the sum of what each tree can add.
fn greatest_lead(trees: &IntegerTrees, inputs: &[IntInterval], a: usize, b: usize) -> i128 {
    let base = trees.base()[a] - trees.base()[b];
    let greatest = trees.trees().iter().map(|tree| greatest_in(tree, 0, inputs, a, b));
    // An empty range has no greatest one: then the sum saturates.
    greatest.fold(base, i128::saturating_add)
}

/// Returns what the subtree of a node can add to it.
fn greatest_in(
    tree: &IntegerTree,
    node: usize,
    inputs: &[IntInterval],
    a: usize,
    b: usize,
) -> i128 {
    match &tree.nodes[node] {
        IntegerNode::Leaf(values) => {
            let of = |output: usize| {
                values.iter().filter(|v| v.output == output).map(|v| v.value).sum::<i128>()
            };
            of(a) - of(b)
        }
        IntegerNode::Split { input, at, left, right } => {
            let side = inputs[*input];
            let mut greatest = i128::MIN;
            if side.lo <= *at {
                greatest = greatest_in(tree, *left, inputs, a, b);
            }
            if side.hi > *at {
                greatest = greatest.max(greatest_in(tree, *right, inputs, a, b));
            }
            greatest
        }
    }
}

/// Collects what the leaves of a subtree that inputs in these ranges may reach add to an output, in units.
pub(crate) fn units_in(
    tree: &IntegerTree,
    node: usize,
    inputs: &[IntInterval],
    output: usize,
    found: &mut Vec<i128>,
) {
    match &tree.nodes[node] {
        IntegerNode::Leaf(values) => {
            found.extend(values.iter().filter(|v| v.output == output).map(|v| v.value));
        }
        IntegerNode::Split { input, at, left, right } => {
            if inputs[*input].lo <= *at {
                units_in(tree, *left, inputs, output, found);
            }
            if inputs[*input].hi > *at {
                units_in(tree, *right, inputs, output, found);
            }
        }
    }
}

/// The score of an output less that of another one.
fn difference(network: &Network, values: &[Vec<Interval>], a: usize, b: usize) -> Interval {
    let output = network.output().index();
    if let Op::Affine { input, weights, bias } = &network.nodes()[output].op {
        let rows = weights.row(a).iter().zip(weights.row(b)).zip(&values[input.index()]);
        let start = Interval::point(bias[a]) - Interval::point(bias[b]);
        return rows.fold(start, |sum, ((&u, &v), &x)| {
            sum + (Interval::point(u) - Interval::point(v)) * x
        });
    }
    values[output][a] - values[output][b]
}

pub(crate) fn evaluate(op: &Op, values: &[Vec<Interval>], inputs: &[Interval]) -> Vec<Interval> {
    let of = |id: &NodeId| &values[id.index()];
    let each = |input: &NodeId, f: &dyn Fn(Interval) -> Interval| -> Vec<Interval> {
        of(input).iter().map(|&x| f(x)).collect()
    };
    let merged = |ids: &[NodeId], f: &dyn Fn(Interval, Interval) -> Interval| {
        let mut result = ids.first().map_or(Vec::new(), |id| of(id).clone());
        for id in ids.iter().skip(1) {
            for (a, &b) in result.iter_mut().zip(of(id)) {
                *a = f(*a, b);
            }
        }
        result
    };
    match op {
        Op::Input => inputs.to_vec(),
        Op::Affine { input, weights, bias } => weights
            .row_iter()
            .zip(bias)
            .map(|(row, &bias)| {
                let terms = row.iter().zip(of(input));
                terms.fold(Interval::point(bias), |sum, (&w, &x)| sum + Interval::point(w) * x)
            })
            .collect(),
        Op::Scale { input, mul, div, add } => {
            let constants = mul.iter().zip(div).zip(add);
            of(input)
                .iter()
                .zip(constants)
                .map(|(&x, ((&mul, &div), &add))| {
                    let scaled = (x * Interval::point(mul)).checked_div(Interval::point(div));
                    scaled.unwrap_or(Interval::EVERYTHING) + Interval::point(add)
                })
                .collect()
        }
        Op::Pointwise { input, activation } => each(input, &|x| match *activation {
            Activation::Leaky { alpha } => {
                // α·min(x, 0) + max(x, 0), of which at most one differs from 0.
                let below = Interval::point(alpha) * x.min(Interval::ZERO);
                if x.hi() <= 0.0 { below } else { below.hull(Interval::ZERO) + x.relu() }
            }
            Activation::Clip { lo, hi } => {
                let x = if lo.is_finite() { x.max(Interval::point(lo)) } else { x };
                if hi.is_finite() { x.min(Interval::point(hi)) } else { x }
            }
            Activation::Staircase(staircase) => {
                let at = |x: f64| step_at(staircase, x);
                // None of them ever falls.
                Interval::new(at(x.lo()), at(x.hi())).unwrap_or(Interval::EVERYTHING)
            }
            Activation::Smooth(Smooth::Tanh) => x.tanh(),
            Activation::Smooth(Smooth::Sigmoid) => x.sigmoid(),
            Activation::Smooth(Smooth::Elu(Elu { alpha })) => {
                // α·(e^min(x, 0) − 1) + max(x, 0), of which at most one differs from 0.
                let power = x.min(Interval::ZERO).exp() - Interval::point(1.0);
                let below = Interval::point(alpha) * power;
                if x.lo() >= 0.0 { x } else { below + x.relu() }
            }
            Activation::Smooth(Smooth::Softplus) => softplus(x),
            Activation::Smooth(Smooth::Silu) => x * x.sigmoid(),
            Activation::Smooth(Smooth::ErfGate) => {
                x * (Interval::point(0.5) + Interval::point(0.5) * x.erf())
            }
            Activation::Smooth(Smooth::TanhGate(gate)) => {
                let (outer, cubic) = gate.constants();
                let cube = Interval::point(cubic) * x * x.square();
                let argument = Interval::point(outer) * (x + cube);
                x * (Interval::point(0.5) + Interval::point(0.5) * argument.tanh())
            }
            Activation::Smooth(Smooth::HardGate) => {
                let gate = (x + Interval::point(0.5)).max(Interval::ZERO);
                x * gate.min(Interval::point(1.0))
            }
            Activation::Smooth(Smooth::Mish) => x * softplus(x).tanh(),
            Activation::Smooth(Smooth::Square) => x.square(),
            Activation::Smooth(Smooth::Exponential) => x.exp(),
            // Their arguments are known to be at least so great.
            Activation::Smooth(Smooth::Logarithm(logarithm)) => {
                let x = x.max(Interval::point(logarithm.least()));
                x.log().unwrap_or(Interval::EVERYTHING)
            }
            Activation::Smooth(Smooth::Root(root)) => {
                let x = x.max(Interval::point(root.least()));
                x.sqrt().unwrap_or(Interval::EVERYTHING)
            }
            Activation::Smooth(Smooth::Reciprocal(reciprocal)) => {
                let x = x.max(Interval::point(reciprocal.least()));
                Interval::point(1.0).checked_div(x).unwrap_or(Interval::EVERYTHING)
            }
        }),
        Op::Add { inputs } => merged(inputs, &|a, b| a + b),
        Op::Max { inputs } => merged(inputs, &Interval::max),
        Op::Concat { inputs } => inputs.iter().flat_map(|id| of(id).iter().copied()).collect(),
    }
}

/// Encloses max(x, 0) + ln(1 + e^−|x|), which grows.
fn softplus(x: Interval) -> Interval {
    let at = |x: f64| {
        let rest = Interval::point(1.0) + (-Interval::point(x).abs()).exp();
        Interval::point(x).relu() + rest.log().unwrap_or(Interval::EVERYTHING)
    };
    at(x.lo()).hull(at(x.hi()))
}

/// The value of a staircase at a double.
pub(crate) fn step_at(staircase: Staircase, x: f64) -> f64 {
    match staircase {
        Staircase::Floor => x.floor(),
        Staircase::Round => x.round_ties_even(),
        Staircase::Sign => f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
    }
}
