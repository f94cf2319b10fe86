//! Factors that are merged into the products before or after them, and functions of all scores.

use policert_numeric::{IntBox, IntInterval, Rational};
use policert_testkit::{Random, case_numbers};

use super::tests::{chosen, policy_in_graph};
use super::*;
use crate::choice::Choice;
use crate::exact::ExactEvaluator;
use crate::matrix::Matrix;
use crate::network::{ElementType, NetworkBuilder};
use crate::semantics::{Filter, Ties};

/// A number between -2 and 2 in single precision.
fn number(random: &mut Random) -> f32 {
    let thousandths = i16::try_from(random.below(4001)).expect("small") - 2000;
    f32::from(thousandths) / 997.0
}

/// x ↦ second · ((first · x + bias − mean) · factor / root + summand).
#[derive(Debug)]
struct Normalised {
    first: Vec<[f32; 3]>,
    bias: Vec<f32>,
    mean: Vec<f32>,
    factor: Vec<f32>,
    root: Vec<f32>,
    summand: Vec<f32>,
    second: Vec<f32>,
}

impl Normalised {
    fn random(random: &mut Random) -> Self {
        let width = 1 + random.below(5);
        let mut all = || (0..width).map(|_| number(random)).collect::<Vec<f32>>();
        let (bias, mean, factor, summand, second) = (all(), all(), all(), all(), all());
        let root = all().into_iter().map(|root| root.abs() + 0.003).collect();
        let first = (0..width).map(|_| [number(random), number(random), number(random)]).collect();
        Self { first, bias, mean, factor, root, summand, second }
    }

    fn network(&self) -> Network {
        let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
        let width = self.bias.len();
        let ones = || vec![1.0; width];
        let mut b = NetworkBuilder::new(3).expect("inputs");
        let entries = self.first.iter().flatten().copied().map(f64::from).collect();
        let first = Matrix::new(width, 3, entries).expect("size");
        let x = b.affine(b.input(), first, wide(&self.bias)).expect("finite");
        let negated = wide(&self.mean).into_iter().map(|mean| -mean).collect();
        let x = b.scale(x, ones(), ones(), negated).expect("finite");
        let (factor, root) = (wide(&self.factor), wide(&self.root));
        let x = b.scale(x, factor, root, wide(&self.summand)).expect("finite");
        let second = Matrix::new(1, width, wide(&self.second)).expect("size");
        let x = b.affine(x, second, vec![0.0]).expect("finite");
        b.finish_as_written(x, ElementType::F32)
    }

    /// With the factors merged into the products before them.
    fn merged_before(&self, x: [f32; 3]) -> f32 {
        let mut sum = 0.0;
        for (i, row) in self.first.iter().enumerate() {
            let factor = self.factor[i] / self.root[i];
            let bias = (self.bias[i] - self.mean[i]) * factor + self.summand[i];
            let products = row.iter().zip(x).map(|(weight, x)| weight * factor * x);
            sum += self.second[i] * (products.sum::<f32>() + bias);
        }
        sum
    }

    /// With the factors merged into the products after them.
    fn merged_after(&self, x: [f32; 3]) -> f32 {
        let (mut sum, mut bias) = (0.0, 0.0);
        for (i, row) in self.first.iter().enumerate() {
            let factor = self.factor[i] * (1.0 / self.root[i]);
            let products = row.iter().zip(x).map(|(weight, x)| weight * x);
            let y = products.sum::<f32>() + self.bias[i];
            sum += self.second[i] * factor * y;
            bias += self.second[i] * (self.summand[i] - self.mean[i] * factor);
        }
        sum + bias
    }
}

#[test]
fn merged_factors_are_within_the_bounds() {
    let mut narrowest = f64::INFINITY;
    for number in case_numbers(300) {
        let mut random = Random::new(number);
        let network = Normalised::random(&mut random);
        let read = network.network();
        let exact = ExactEvaluator::new(&read).expect("piecewise linear");
        let single = SinglePrecision::new(&read).expect("known");
        for _ in 0..10 {
            let integer = |random: &mut Random| i8::try_from(random.below(41)).expect("small") - 20;
            let point: [i8; 3] = std::array::from_fn(|_| integer(&mut random));
            let inputs = point.map(i64::from);
            let radius = single.errors_at(&inputs).radii()[0];
            let score = &exact.scores(&inputs).to_rationals()[0];
            let x = point.map(f32::from);
            for computed in [network.merged_before(x), network.merged_after(x)] {
                let off = (Rational::from_f32(computed).expect("finite") - score).abs();
                assert!(
                    off <= Rational::from_f64(radius).expect("finite"),
                    "case {number}: {off} > {radius} {network:?} {point:?}"
                );
                narrowest = narrowest.min(radius / off.to_f64().max(1e-30));
            }
        }
    }
    // The bound is not far from what happens.
    assert!(narrowest < 40.0, "{narrowest}");
}

/// The scores after a function of all of them, as libraries compute it.
fn normalised(scores: &[f32], functions: u32, softmax: bool) -> Vec<f32> {
    let mut scores = scores.to_vec();
    for _ in 0..functions {
        let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = scores.iter().map(|score| (score - greatest).exp()).sum();
        let logarithm = greatest + sum.ln();
        scores.iter_mut().for_each(|score| *score -= logarithm);
    }
    if softmax {
        let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
        let sum: f32 = powers.iter().sum();
        scores = powers.iter().map(|power| power / sum).collect();
    }
    scores
}

/// What a policy chooses that has these scores, each computed exactly, everywhere.
fn choice_of(scores: &[f32], graph: Graph) -> Choice {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(scores.len(), 1, vec![0.0; scores.len()]).expect("size");
    let biases = scores.iter().map(|&score| f64::from(score)).collect();
    let x = b.affine(b.input(), weights, biases).expect("finite");
    let network = b.finish_as_written(x, ElementType::F32);
    let policy = policy_in_graph(network, graph, Filter::None, 1);
    policy.expect("it fits").chooser().choose(&[0], &[])
}

#[test]
fn scores_that_are_normalised_keep_the_order_that_the_bound_promises() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(3, 1, vec![1.0; 3]).expect("size");
    let x = b.affine(b.input(), weights, vec![0.0; 3]).expect("finite");
    let network = b.finish_as_written(x, ElementType::F32);
    let sides = IntBox::new(vec![IntInterval::new(-1000, 1000)]);
    let (mut exchanged, mut kept, mut decided) = (0, 0, 0);
    for number in case_numbers(2000) {
        let mut random = Random::new(number);
        let softmax = random.below(2) == 0;
        let functions = u32::try_from(random.below(3)).expect("small");
        let graph = Graph { normalisations: functions + u32::from(softmax), ..Graph::default() };
        let single = SinglePrecision { graph, ..SinglePrecision::new(&network).expect("known") };
        let merged = single.errors_over(&sides, &mut Meter::default()).expect("no limit").merged();
        assert!(merged < 3e-3, "{merged}");
        let size = [0.997, 1e-3][random.below(2)];
        let first = f32::from(i16::try_from(random.below(1000)).expect("small") - 500) * size;
        let step = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3][random.below(5)];
        // Beside a greater score close ones become equal.
        let third = first + [-3.0, 300.0][random.below(2)];
        let scores = [first, first + step, third];
        let computed = normalised(&scores, functions, softmax);
        let choice = choice_of(&scores, graph);
        let is_possible = |output| choice.possible().contains(output);
        assert!(
            chosen(&computed, Ties::First).iter().all(is_possible),
            "case {number}: {choice:?} of {computed:?}"
        );
        decided += usize::from(!choice.is_undecided());
        for (i, j) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
            let lead = f64::from(scores[i]) - f64::from(scores[j]);
            if lead > 0.0 && lead >= merged {
                // Far below the greatest score all probabilities are 0.
                let is_zero = softmax && computed[i] <= 1e-30;
                kept += usize::from(!is_zero);
                assert!(
                    is_zero || computed[i] > computed[j],
                    "case {number}: {scores:?} {computed:?}"
                );
            } else if lead > 0.0 && computed[i] <= computed[j] {
                exchanged += 1;
            }
            assert!(lead < 0.0 || computed[i] >= computed[j] || merged > lead, "case {number}");
        }
    }
    assert!(exchanged > 50 && kept > 500 && decided > 500, "{exchanged} {kept} {decided}");
}
