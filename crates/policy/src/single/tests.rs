//! Evaluations in any order, fused or not, with or without flushing, stay within the bounds, and choose
//! what may be chosen.

use std::convert::Infallible;

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval, Rational};
use policert_testkit::{Random, case_numbers};

use super::*;
use crate::activation::{Activation, Elu, Smooth, TanhGate};
use crate::choice::Choice;
use crate::matrix::Matrix;
use crate::network::{ElementType, Elements, NetworkBuilder, NodeId, WrittenElements};
use crate::policy::Policy;
use crate::precise::precise_scores;
use crate::semantics::{Filter, Numbers, PolicySemantics, Ties};

/// An evaluation in single precision with its own order of every sum.
pub(crate) struct AnyOrder<'r> {
    pub random: &'r mut Random,
    /// True if products are added without a rounding of their own.
    pub fused: bool,
    /// True if what is below the normal numbers becomes 0.
    pub flushes: bool,
}

/// A part of a sum that is not added yet.
#[derive(Clone, Copy)]
enum Part {
    Number(f32),
    Product(f32, f32),
}

#[expect(clippy::cast_possible_truncation, reason = "it is what is evaluated")]
impl AnyOrder<'_> {
    fn kept(&self, value: f32) -> f32 {
        if self.flushes && value.is_subnormal() { 0.0 } else { value }
    }

    fn number(&self, part: Part) -> f32 {
        match part {
            Part::Number(value) => self.kept(value),
            Part::Product(a, b) => self.kept(self.kept(a) * self.kept(b)),
        }
    }

    fn total(&mut self, mut parts: Vec<Part>) -> f32 {
        while parts.len() > 1 {
            let one = parts.swap_remove(self.random.below(parts.len()));
            let other = parts.swap_remove(self.random.below(parts.len()));
            let sum = match (one, other) {
                (Part::Product(a, b), part) if self.fused => {
                    self.kept(a).mul_add(self.kept(b), self.number(part))
                }
                _ => self.number(one) + self.number(other),
            };
            parts.push(Part::Number(self.kept(sum)));
        }
        parts.first().map_or(0.0, |&part| self.number(part))
    }

    /// The number itself, or the one before or after it.
    fn near(&mut self, value: f32) -> f32 {
        match self.random.below(4) {
            0 => value.next_up(),
            1 => value.next_down(),
            _ => value,
        }
    }

    fn constant(&self, value: f64) -> f32 {
        self.kept(value as f32)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is what is evaluated")]
impl Elements for AnyOrder<'_> {
    type Element = f32;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[f32]) -> Result<f32, Infallible> {
        let products = weights.iter().zip(x).map(|(&w, &x)| Part::Product(self.constant(w), x));
        let mut parts: Vec<Part> = products.collect();
        parts.push(Part::Number(self.constant(bias)));
        Ok(self.total(parts))
    }

    fn scale(&mut self, x: &f32, mul: f64, div: f64, add: f64) -> Result<f32, Infallible> {
        let (mul, div, x) = (self.constant(mul), self.constant(div), self.kept(*x));
        let way = self.random.below(4);
        let kept = |value: f32| self.kept(value);
        let (a, b) = match way {
            0 => (kept(x * mul), kept(1.0 / div)),
            1 => (kept(mul / div), x),
            2 => (kept(x / div), mul),
            _ => (kept(kept(x * mul) / div), 1.0),
        };
        let parts = vec![Part::Product(a, b), Part::Number(self.constant(add))];
        Ok(self.total(parts))
    }

    fn apply(&mut self, activation: Activation, x: &f32) -> Result<f32, Infallible> {
        let x = self.kept(*x);
        let value = match activation {
            Activation::Leaky { alpha } if x < 0.0 => self.constant(alpha) * x,
            Activation::Leaky { .. } => x,
            Activation::Clip { lo, hi } => x.max(self.constant(lo)).min(self.constant(hi)),
            Activation::Staircase(staircase) => staircase.value(f64::from(x)) as f32,
            Activation::Smooth(Smooth::Square) => self.near(x * x),
            Activation::Smooth(Smooth::Root(_)) => self.near(x.sqrt()),
            Activation::Smooth(Smooth::Reciprocal(_)) => self.near(1.0 / x),
            Activation::Smooth(smooth) => {
                let value = smooth.curve().value(f64::from(x));
                let size = match smooth {
                    Smooth::Silu
                    | Smooth::ErfGate
                    | Smooth::TanhGate(_)
                    | Smooth::HardGate
                    | Smooth::Mish => f64::from(x).abs(),
                    _ => value.abs().max(1.0),
                };
                let off = (unit(self.random) - 0.5) * 2.0f64.powi(-20) * size;
                (value + off) as f32
            }
        };
        Ok(self.kept(value))
    }

    fn sum(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        Ok(self.total(terms.iter().map(|&term| Part::Number(term)).collect()))
    }

    fn max(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        let greatest = terms.iter().map(|&term| self.kept(term)).fold(f32::NEG_INFINITY, f32::max);
        Ok(greatest)
    }
}

impl WrittenElements for AnyOrder<'_> {
    fn product(&mut self, a: &f32, b: &f32) -> Result<f32, Infallible> {
        Ok(self.kept(self.kept(*a) * self.kept(*b)))
    }

    fn quotient(&mut self, a: &f32, b: &f32, keeps_zeros: bool) -> Result<f32, Infallible> {
        let (a, b) = (self.kept(*a), self.kept(*b));
        let divides = self.random.below(2) == 0;
        Ok(match (keeps_zeros && b.abs() <= 0.0, divides) {
            (true, _) => a,
            (false, true) => self.kept(a / b),
            (false, false) => {
                let inverse = self.near(1.0 / b);
                self.kept(a * self.kept(inverse))
            }
        })
    }

    fn choice(&mut self, condition: &f32, a: &f32, b: &f32) -> Result<f32, Infallible> {
        assert!([0.0, 1.0].contains(condition), "{condition}");
        Ok(if *condition > 0.5 { *a } else { *b })
    }
}

/// A number of [0, 1).
fn unit(random: &mut Random) -> f64 {
    f64::from(u32::try_from(random.bits() >> 32).unwrap_or(0)) / 2.0f64.powi(32)
}

/// The size of the constants of a network.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    /// Halves of small integers: nothing is rounded.
    Halves,
    /// Any numbers between -2 and 2.
    Plain,
    /// Of any magnitude.
    Any,
    /// Where they are large, some cancel.
    Cancelling,
    /// So large and so small that products overflow, or are flushed.
    Extreme,
}

fn constant(random: &mut Random, sizes: Sizes) -> f64 {
    let unit = unit(random) * 4.0 - 2.0;
    match (sizes, random.below(4)) {
        (_, 0) => 0.0,
        (Sizes::Halves, _) => (unit * 4.0).round() / 2.0,
        (Sizes::Plain, _) => unit,
        (Sizes::Any, k) => unit * [1.0, 1e-6, 1e4][k - 1],
        (Sizes::Cancelling, k) => [1e7, -1e7, unit][k - 1],
        (Sizes::Extreme, k) => unit * [1e-41, 1e19, 1e-20][k - 1],
    }
}

fn affine(b: &mut NetworkBuilder, random: &mut Random, x: NodeId, rows: usize, s: Sizes) -> NodeId {
    let columns = b.width(x);
    let mut rest = |count: usize| (0..count).map(|_| constant(random, s)).collect::<Vec<_>>();
    let (weights, bias) = (rest(rows * columns), rest(rows));
    b.affine(x, Matrix::new(rows, columns, weights).expect("size"), bias).expect("finite")
}

fn activation(random: &mut Random) -> Activation {
    match random.below(8) {
        0..=3 => Activation::RELU,
        4 => Activation::Leaky { alpha: 0.01 },
        5 => Activation::clip(Some(-1.5), Some(6.1)),
        6 => Activation::Smooth(Smooth::Tanh),
        _ => Activation::Smooth(match random.below(8) {
            0 => Smooth::Sigmoid,
            1 => Smooth::Softplus,
            2 => Smooth::Silu,
            3 => Smooth::ErfGate,
            4 => Smooth::TanhGate(TanhGate::new(0.8, 0.045).expect("usual")),
            5 => Smooth::HardGate,
            6 => Smooth::Mish,
            _ => Smooth::Elu(Elu { alpha: 1.5 }),
        }),
    }
}

/// A network of two or three outputs, in most cases nearly the same.
fn network(random: &mut Random, inputs: usize, sizes: Sizes) -> Network {
    let mut b = NetworkBuilder::new(inputs).expect("inputs");
    let mut x = b.input();
    for _ in 0..random.below(3) {
        let rows = 1 + random.below(6);
        let y = affine(&mut b, random, x, rows, sizes);
        let y = b.activation(y, activation(random)).expect("finite");
        x = match random.below(4) {
            0 => {
                let other = affine(&mut b, random, x, rows, sizes);
                let both = vec![y, other];
                if random.below(2) == 0 { b.add(both) } else { b.max(both) }.expect("widths")
            }
            1 => b.concat(vec![x, y]).expect("vectors"),
            _ => y,
        };
        if random.below(3) == 0 {
            x = stretched(&mut b, random, x, sizes);
        }
    }
    let (rows, columns) = (2 + random.below(2), b.width(x));
    let first: Vec<f64> = (0..columns).map(|_| constant(random, sizes)).collect();
    let near = |random: &mut Random, value: f64| match random.below(4) {
        0 => value + constant(random, sizes) * 1e-7,
        1 => value + 2.0f64.powi(-30),
        _ => value,
    };
    let mut weights = first.clone();
    for _ in 1..rows {
        first.iter().for_each(|&weight| weights.push(near(random, weight)));
    }
    let one = constant(random, sizes);
    let bias: Vec<f64> = (0..rows).map(|_| near(random, one)).collect();
    let x = b.affine(x, Matrix::new(rows, columns, weights).expect("size"), bias).expect("finite");
    b.finish_as_written(x, ElementType::F32)
}

/// A factor, a divisor and a summand for each element.
fn stretched(b: &mut NetworkBuilder, random: &mut Random, x: NodeId, s: Sizes) -> NodeId {
    let width = b.width(x);
    let mut all = |count: usize| (0..count).map(|_| constant(random, s)).collect::<Vec<_>>();
    let (mul, add) = (all(width), all(width));
    let div = all(width).into_iter().map(|d| if d.abs() > 0.0 { d } else { 1.0 }).collect();
    b.scale(x, mul, div, add).expect("finite")
}

fn semantics(ties: Ties) -> PolicySemantics {
    PolicySemantics { ties, numbers: Numbers::F32, ..PolicySemantics::default() }
}

fn policy_of(network: Network, ties: Ties, sides: Vec<IntInterval>) -> Policy {
    let inputs = (0..sides.len()).map(VarId::new).collect();
    let outputs = (0..network.output_width()).map(LabelId::new).collect();
    Policy::new(network, inputs, outputs, semantics(ties), &IntBox::new(sides)).expect("fits")
}

/// The scores by an evaluation with an order of its own.
pub(crate) fn scores_in_any_order(
    network: &Network,
    inputs: &[i64],
    random: &mut Random,
) -> Vec<f32> {
    let (fused, flushes) = (random.below(2) == 0, random.below(2) == 0);
    #[expect(clippy::cast_precision_loss, reason = "it is what is evaluated")]
    let input = inputs.iter().map(|&input| input as f32).collect();
    match network.fold_as_written(&mut AnyOrder { random, fused, flushes }, input) {
        Ok(mut values) => values.swap_remove(network.output().index()),
        Err(never) => match never {},
    }
}

/// A policy about one variable up to `most`, of a network that has these scores in a graph.
pub(super) fn policy_in_graph(
    network: Network,
    graph: Graph,
    filter: Filter,
    most: i64,
) -> Result<Policy, PolicyError> {
    let single = SinglePrecision { graph, ..SinglePrecision::new(&network)? };
    let (inputs, domains) = (vec![VarId(0)], IntBox::new(vec![IntInterval::new(0, most)]));
    let outputs = (0..network.output_width()).map(LabelId::new).collect();
    let semantics = PolicySemantics { filter, ..semantics(Ties::First) };
    let meter = &mut Meter::default();
    Policy::within(network, inputs, outputs, semantics, &domains, Some(single), meter)
}

/// The outputs that a tie rule lets be chosen by scores.
pub(super) fn chosen(scores: &[f32], ties: Ties) -> Vec<usize> {
    let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let all: Vec<usize> = (0..scores.len()).filter(|&i| scores[i] >= best).collect();
    match ties {
        Ties::First => all[..1].to_vec(),
        Ties::Any => all,
        Ties::Strict => all.iter().copied().filter(|_| all.len() == 1).collect(),
    }
}

const SIZES: [Sizes; 5] =
    [Sizes::Halves, Sizes::Plain, Sizes::Any, Sizes::Cancelling, Sizes::Extreme];

#[test]
fn every_evaluation_is_within_the_bounds_and_chooses_what_is_possible() {
    let (mut finite, mut exact, mut open, mut decided) = (0, 0, 0, 0);
    for number in case_numbers(400) {
        let mut random = Random::new(number);
        let sizes = SIZES[random.below(SIZES.len())];
        let inputs = 1 + random.below(3);
        let most = [3i64, 1000, 1 << 26][random.below(3)];
        let network = network(&mut random, inputs, sizes);
        let ties = [Ties::First, Ties::Any, Ties::Strict][random.below(3)];
        let side = IntInterval::new(-most, most);
        let policy = policy_of(network.clone(), ties, vec![side; inputs]);
        let Some((RoundedScores::Network(single), over)) = policy.single() else {
            panic!("case {number}: single precision")
        };
        let span = usize::try_from(2 * most + 1).expect("small");
        for _ in 0..3 {
            let point: Vec<i64> = (0..inputs)
                .map(|_| i64::try_from(random.below(span)).expect("small") - most)
                .collect();
            let at = single.errors_at(&point);
            let enclosed = precise_scores(&network, &point, 512).expect("enclosed");
            let choice = policy.chooser().choose(&point, &[]);
            let plain = single.plain_scores(&point);
            let mut all = vec![plain.clone()];
            all.extend((0..8).map(|_| scores_in_any_order(&network, &point, &mut random)));
            for scores in &all {
                for (output, &score) in scores.iter().enumerate() {
                    for radius in [at.radii()[output], over.radii()[output]] {
                        let Some(radius) = Rational::from_f64(radius) else { continue };
                        let score = Rational::from_f32(score).expect("no overflow is possible");
                        let exactly = &enclosed.scores()[output];
                        let slip = exactly.upper() - exactly.lower();
                        let error = (score - exactly.lower()).abs();
                        assert!(error <= &radius + &slip, "case {number}: {error} > {radius}");
                        finite += 1;
                        exact += i32::from(radius.is_zero());
                    }
                }
                if scores.iter().any(|score| score.is_nan()) {
                    assert_eq!(choice.possible().len(), scores.len(), "case {number}");
                    continue;
                }
                for output in chosen(scores, ties) {
                    assert!(choice.possible().contains(&output), "case {number}: {choice:?}");
                    for rival in (0..scores.len()).filter(|&rival| rival != output) {
                        let lead = enclosed.difference(rival, output).lower().to_f64_interval().0;
                        let required = policy.requires(output, rival);
                        assert!(!required.is_excluded_by(lead), "case {number}");
                    }
                }
                if let (Choice::One(_) | Choice::Several(_), false) =
                    (&choice, choice.is_undecided())
                {
                    decided += 1;
                    let is_chosen = choice.outputs() == chosen(scores, ties);
                    assert!(
                        is_chosen || choice.outputs().len() > 1,
                        "case {number}: {choice:?} {scores:?} {ties:?} {point:?} {at:?}"
                    );
                } else {
                    open += 1;
                }
            }
            if plain.iter().all(|score| score.is_finite()) {
                let certain = chosen(&plain, ties);
                assert_eq!(choice.outputs(), certain, "case {number}: the plain evaluation");
            }
        }
    }
    assert!(finite > 10_000 && exact > 1000, "{finite} {exact}");
    assert!(open > 500 && decided > 500, "{open} {decided}");
}

/// Two scores x and x + c.
fn lead_of(c: f64) -> Network {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(2, 1, vec![1.0, 1.0]).expect("size");
    let x = b.affine(b.input(), weights, vec![0.0, c]).expect("finite");
    b.finish(x, ElementType::F64)
}

#[test]
fn a_lead_that_no_evaluation_sees_leaves_both_labels_possible() {
    let policy = policy_of(lead_of(1e-12), Ties::First, vec![IntInterval::new(0, 1000)]);
    let open =
        |certain: usize| Choice::Undecided { certain: [certain].into(), possible: [0, 1].into() };
    let mut chooser = policy.chooser();
    // 0 + 1e-12 is more than 0, and 1 + 1e-12 is 1.
    assert_eq!(chooser.choose(&[0], &[]), Choice::One(1));
    assert_eq!(chooser.choose(&[1], &[]), open(0));
    assert_eq!(chooser.choose(&[1000], &[]), open(0));
    let exact = policy_of(lead_of(0.5), Ties::First, vec![IntInterval::new(0, 1000)]);
    assert_eq!(exact.chooser().choose(&[1000], &[]), Choice::One(1));
    assert_eq!(exact.single().expect("single precision").1.radii(), [0.0, 0.0]);
    let strict = policy_of(lead_of(0.0), Ties::Strict, vec![IntInterval::new(0, 1000)]);
    assert_eq!(strict.chooser().choose(&[1000], &[]), Choice::Nothing);
}

#[test]
fn integers_beyond_single_precision_are_rounded() {
    let far = 1i64 << 24;
    let policy = policy_of(lead_of(1.0), Ties::First, vec![IntInterval::new(0, far + 4)]);
    let mut chooser = policy.chooser();
    assert_eq!(chooser.choose(&[far - 2], &[]), Choice::One(1));
    // 2²⁴ + 1 is rounded to 2²⁴.
    let choice = chooser.choose(&[far], &[]);
    assert_eq!((choice.outputs(), choice.possible()), (&[0][..], &[0, 1][..]));
    assert!(!policy.requires(0, 1).is_excluded_by(1.0));
    assert!(policy.requires(0, 1).is_excluded_by(1e3));
}

#[test]
fn what_may_overflow_excludes_nothing() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(2, 1, vec![3e38, 1.0]).expect("size");
    let x = b.affine(b.input(), weights, vec![0.0; 2]).expect("finite");
    let network = b.finish(x, ElementType::F32);
    let policy = policy_of(network, Ties::First, vec![IntInterval::new(-9, 9)]);
    assert!(!policy.requires(1, 0).is_excluded_by(f64::INFINITY));
    let choice = policy.chooser().choose(&[9], &[]);
    assert_eq!((choice.outputs(), choice.possible()), (&[][..], &[0, 1][..]));
}

#[test]
fn a_softmax_leaves_close_scores_open() {
    let chosen = |c: f64, filter: Filter, most: i64| {
        let graph = Graph { normalisations: 1, ..Graph::default() };
        let policy = policy_in_graph(lead_of(c), graph, filter, most)?;
        Ok::<Choice, PolicyError>(policy.chooser().choose(&[0], &[true, true]))
    };
    let of = |c: f64| chosen(c, Filter::None, 1000).expect("it fits");
    assert_eq!(of(0.5), Choice::One(1));
    assert_eq!(of(1e-4), Choice::One(1));
    // Whichever the exponentials are, equal scores stay equal.
    assert_eq!(of(0.0), Choice::One(0));
    let open = Choice::Undecided { certain: [].into(), possible: [0, 1].into() };
    assert_eq!(of(1e-7), open);
    // Sums that are exact do not help.
    assert_eq!(chosen((-20f64).exp2(), Filter::None, 1).expect("it fits"), open);
    // Without a softmax it is exact.
    let policy = policy_of(lead_of(1e-7), Ties::First, vec![IntInterval::new(0, 1000)]);
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::One(1));
    let refused = chosen(0.5, Filter::Applicable, 1000).expect_err("all may be 0");
    assert!(refused.to_string().contains("filter none"), "{refused}");
    // Not where all scores are close to each other.
    let narrow = chosen(0.5, Filter::Applicable, 60).expect("none is 0");
    assert_eq!(narrow, Choice::One(1));
}

#[test]
fn only_what_competes_is_compared() {
    let sides = IntBox::new(vec![IntInterval::new(0, 1000)]);
    let filtered = PolicySemantics { filter: Filter::Applicable, ..semantics(Ties::First) };
    let outputs = vec![LabelId(0), LabelId(1)];
    let policy = Policy::new(lead_of(1e-12), vec![VarId(0)], outputs, filtered, &sides);
    let policy = policy.expect("fits");
    let mut chooser = policy.chooser();
    assert_eq!(chooser.choose(&[7], &[false, true]), Choice::One(1));
    assert_eq!(chooser.choose(&[7], &[false, false]), Choice::Nothing);
    assert!(chooser.choose(&[7], &[true, true]).is_undecided());
}

#[test]
fn networks_whose_roundings_are_not_known_are_refused() {
    let refused = |network: &Network| SinglePrecision::new(network).map(|_| ()).unwrap_err();
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = || Matrix::new(2, 1, vec![2.0, 4.0]).expect("size");
    // A normalisation that the reader merges.
    let x = b.scale(b.input(), vec![1.0], vec![2.0], vec![-1.0]).expect("finite");
    let x = b.affine(x, weights(), vec![0.0; 2]).expect("finite");
    assert!(refused(&b.finish(x, ElementType::F32)).to_string().contains("merged"));
    // In a format that does not say how it is computed.
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let x = b.scale(b.input(), vec![1.0], vec![3.0], vec![0.0]).expect("finite");
    let x = b.affine(x, weights(), vec![0.0; 2]).expect("finite");
    let normalised = b.finish(x, ElementType::F32);
    let message = SinglePrecision::without_factors(&normalised).expect_err("refused").to_string();
    assert!(message.contains("normalisation"), "{message}");
    assert!(SinglePrecision::new(&normalised).is_ok());
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let x = b.affine(b.input(), weights(), vec![0.0; 2]).expect("finite");
    let tanh = b.tanh(x);
    assert!(refused(&b.finish(tanh, ElementType::F32)).to_string().contains("Tanh"));
    // A bias after a product without one is what a library computes.
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let x = b.affine(b.input(), weights(), vec![0.0; 2]).expect("finite");
    let x = b.scale(x, vec![1.0; 2], vec![1.0; 2], vec![0.5; 2]).expect("finite");
    assert!(SinglePrecision::new(&b.finish(x, ElementType::F32)).is_ok());
}

#[test]
fn features_are_exact_numbers_that_are_rounded_once() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let third = b.scale(b.input(), vec![1.0], vec![3.0], vec![0.0]).expect("finite");
    let network = b.finish(third, ElementType::F64);
    let exact = ExactEvaluator::new(&network).expect("rational");
    let features = Features { network, exact, are_integral: vec![false] };
    let single = SinglePrecision {
        network: lead_of(1e-3),
        features: Some(features),
        graph: Graph::default(),
    };
    assert_eq!(single.features(&[1]), [Rational::new(1, 3).expect("not 0")]);
    let third = 1.0f32 / 3.0;
    assert_eq!(single.plain_scores(&[1]), [third, third + 1e-3]);
    let point = single.errors_at(&[1]);
    let sides = IntBox::new(vec![IntInterval::new(-9, 9)]);
    let all = single.errors_over(&sides, &mut Meter::default()).expect("no limit");
    // Off by half of a unit in the last place of 1/3 at least, and not by much more.
    for radius in [point.radii()[0], all.radii()[0]] {
        assert!(radius > 1e-8 && radius < 4e-6, "{radius}");
    }
    assert!(all.radii()[0] > point.radii()[0]);
}
