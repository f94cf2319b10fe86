//! Sums of leaves in any order, flushed or not, with functions of the sums that are slightly off, stay
//! within the bounds, and choose what may be chosen.

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval};
use policert_testkit::{Random, case_numbers};

use super::*;
use crate::choice::Choice;
use crate::policy::Policy;
use crate::semantics::{Numbers, PolicySemantics, Ties};
use crate::single::RoundedScores;
use crate::trees::{Ensemble, Missing, Rule, RuleComparison, Tree, TreeNode};

/// A number of [0, 1).
fn unit(random: &mut Random) -> f64 {
    f64::from(u32::try_from(random.bits() >> 32).unwrap_or(0)) / 2.0f64.powi(32)
}

/// Values of leaves: multiples of ¼, of which in some cases the last bits differ, of any size, or of which
/// large ones cancel.
fn value(kind: usize, random: &mut Random) -> f64 {
    let number = unit(random) * 4.0 - 2.0;
    match (kind, random.below(4)) {
        (_, 0) | (0, _) => (number * 4.0).round() / 4.0,
        (1, k) => number.round() + [2.0f64.powi(-25), 2.0f64.powi(-30), 0.0][k - 1],
        (2, _) => number,
        (_, k) => [1e7, -1e7, number][k - 1],
    }
}

fn ensemble(outputs: usize, random: &mut Random) -> Ensemble {
    let kind = random.below(4);
    let mut trees = Vec::new();
    for _ in 0..1 + random.below(6) {
        let rule = Rule {
            comparison: RuleComparison::LessEqual,
            threshold: [0.5, 1.5, 2.5][random.below(3)],
            precision: Precision::Single,
            missing: Missing::NotANumber(false),
        };
        // All outputs, or one.
        let one = random.below(2 * outputs);
        let mut leaf = || {
            let of = (0..outputs).filter(|&output| one >= outputs || output == one);
            TreeNode::Leaf(of.map(|output| (output, value(kind, random))).collect())
        };
        let split = TreeNode::Split { input: 0, rule, left: 1, right: 2 };
        trees.push(Tree { nodes: vec![split, leaf(), leaf()] });
    }
    let first = value(kind, random);
    // Scores that are nearly the same.
    let base = (0..outputs).map(|_| if random.below(2) == 0 { first } else { value(kind, random) });
    let base = base.collect();
    Ensemble::new(1, base, trees).expect("it is right")
}

/// Numbers of a precision.
trait Float: Copy {
    fn of(value: &Rational) -> Self;
    fn plus(self, other: Self) -> Self;
    fn over(self, divisor: usize) -> Self;
    fn flushed(self) -> Self;
    fn wide(self) -> f64;
}

macro_rules! float {
    ($float:ty, $of:ident) => {
        #[expect(clippy::cast_precision_loss, reason = "it is evaluated")]
        impl Float for $float {
            fn of(value: &Rational) -> Self {
                value.$of()
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn over(self, divisor: usize) -> Self {
                self / divisor as $float
            }
            fn flushed(self) -> Self {
                if self.is_subnormal() { 0.0 } else { self }
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

float!(f32, to_f32);
float!(f64, to_f64);

/// The sums, and those divided, by an evaluation with an order of its own.
fn sums<F: Float>(
    trees: &IntegerTrees,
    input: i64,
    divisor: usize,
    random: &mut Random,
) -> Vec<(f64, f64)> {
    let flushes = random.below(2) == 0;
    let kept = |value: F| if flushes { value.flushed() } else { value };
    let exact = |value: i128| kept(F::of(&(&Rational::from(IBig::from(value)) * &trees.unit())));
    let of_output = |output: usize| {
        let mut terms = vec![exact(trees.base()[output])];
        for tree in trees.trees() {
            let values = tree.leaf(&[input]).iter().filter(|leaf| leaf.output == output);
            terms.extend(values.map(|leaf| exact(leaf.value)));
        }
        while terms.len() > 1 {
            let one = terms.swap_remove(random.below(terms.len()));
            let other = terms.swap_remove(random.below(terms.len()));
            terms.push(kept(one.plus(other)));
        }
        (terms[0].wide(), terms[0].over(divisor).wide())
    };
    (0..trees.outputs()).map(of_output).collect()
}

/// What a library may compare: each value of the exponential function is off by up to 2⁻²⁰ or 2⁻⁴⁸, the same
/// argument has the same value.
fn compared(scores: &[f64], summation: &Summation, random: &mut Random) -> Vec<f64> {
    let error = match summation.precision {
        Precision::Single => 2.0f64.powi(-20),
        Precision::Double => 2.0f64.powi(-48),
    };
    let mut known: Vec<(f64, f64)> = vec![(0.0, 1.0)];
    let mut power = |x: f64| match known.iter().find(|(known, _)| known.total_cmp(&x).is_eq()) {
        Some(&(_, value)) => value,
        None => {
            let value = x.exp() * (1.0 + error * (2.0 * unit(random) - 1.0));
            known.push((x, value));
            value
        }
    };
    match summation.link {
        Link::Identity => scores.to_vec(),
        Link::Softmax => {
            let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            scores.iter().map(|&score| power(score - best + 0.0)).collect()
        }
        Link::Logistic(factor) => {
            // ½ < 1 / (1 + e^−x).
            vec![power(-factor * scores[1] + 0.0), 1.0]
        }
    }
}

#[test]
fn every_sum_is_within_the_bounds_and_chooses_what_is_possible() {
    let (mut exact, mut open, mut decided, mut merged) = (0, 0, 0, 0);
    for number in case_numbers(600) {
        let mut random = Random::new(number);
        let precision = [Precision::Single, Precision::Double][random.below(2)];
        let links = [Link::Identity, Link::Softmax, Link::Logistic(1.0), Link::Logistic(0.7)];
        let link = links[random.below(4)];
        let outputs = if matches!(link, Link::Logistic(_)) { 1 } else { 2 + random.below(2) };
        let divisor = [1, 1, 3, 10][random.below(4)];
        let summation = Summation { link, divisor, ..Summation::plain(precision, outputs) };
        let ensemble = ensemble(outputs, &mut random);
        let (ensemble, summation) = match link {
            Link::Logistic(_) => (ensemble.as_two_classes(), summation.of_two_classes()),
            Link::Identity | Link::Softmax => (ensemble, summation),
        };
        let outputs = ensemble.outputs();
        let trees = IntegerTrees::new(&ensemble).expect("it fits");
        let ties = [Ties::First, Ties::Any, Ties::Strict][random.below(3)];
        let semantics =
            PolicySemantics { ties, numbers: Numbers::F32, ..PolicySemantics::default() };
        let labels = (0..outputs).map(LabelId::new).collect();
        let domains = IntBox::new(vec![IntInterval::new(0, 3)]);
        let policy = Policy::of_summed_trees(
            trees.clone(),
            Ok(summation.clone()),
            vec![VarId::new(0)],
            labels,
            semantics,
            &domains,
        );
        let policy = policy.expect("it fits");
        let Some((RoundedScores::Trees(single), over)) = policy.single() else {
            panic!("case {number}: single precision")
        };
        for input in 0..=3 {
            let at = single.errors_at(&trees, &[input]);
            let exactly = trees.exact_scores(&[input]);
            let choice = policy.chooser().choose(&[input], &[]);
            for _ in 0..8 {
                let both = match precision {
                    Precision::Single => sums::<f32>(&trees, input, divisor, &mut random),
                    Precision::Double => sums::<f64>(&trees, input, divisor, &mut random),
                };
                for (output, &(sum, _)) in both.iter().enumerate() {
                    let error = (Rational::from_f64(sum).expect("finite") - &exactly[output]).abs();
                    for radius in [at.radii()[output], over.radii()[output]] {
                        let radius = Rational::from_f64(radius).expect("no overflow");
                        assert!(error <= radius, "case {number}: {error} > {radius}");
                        exact += i32::from(radius.is_zero());
                    }
                }
                let divided: Vec<f64> = both.iter().map(|&(_, divided)| divided).collect();
                let compared = compared(&divided, &summation, &mut random);
                let compared = match link {
                    // The second class is chosen where the power is less than 1.
                    Link::Logistic(_) => vec![compared[0], compared[1]],
                    Link::Identity | Link::Softmax => compared,
                };
                let best = compared.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let leaders: Vec<usize> =
                    (0..outputs).filter(|&output| compared[output] >= best).collect();
                let chosen = match ties {
                    Ties::First => leaders[..1].to_vec(),
                    Ties::Any => leaders,
                    Ties::Strict => {
                        if leaders.len() == 1 {
                            leaders
                        } else {
                            Vec::new()
                        }
                    }
                };
                for output in &chosen {
                    assert!(
                        choice.possible().contains(output),
                        "case {number}, {input}: {choice:?}, {chosen:?} {compared:?} {summation:?}"
                    );
                    let lead = |rival: usize| &exactly[rival] - &exactly[*output];
                    for rival in (0..outputs).filter(|rival| rival != output) {
                        let units = lead(rival).checked_div(&trees.unit()).expect("not 0");
                        let units = i128::try_from(units.floor().to_parts().0).expect("small");
                        let required = policy.requires(*output, rival);
                        assert!(!required.is_excluded_by_units(units), "case {number}");
                    }
                }
                if choice.is_undecided() {
                    open += 1;
                    let alone = policy.semantics().ties != Ties::Any;
                    merged += i32::from(choice.outputs().is_empty() && alone);
                } else {
                    decided += 1;
                    assert!(chosen == choice.outputs() || ties == Ties::Any, "case {number}");
                }
            }
            // What is certain is chosen by the plain evaluation, whatever the functions do.
            let plain = single.plain_scores(&trees, &[input]);
            if divisor == 1 {
                let compared = compared(&plain, &summation, &mut random);
                let best = compared.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for &output in choice.outputs() {
                    assert!(compared[output] >= best, "case {number}: {choice:?} {compared:?}");
                }
            }
        }
    }
    assert!(
        exact > 1000 && open > 200 && decided > 1000 && merged > 50,
        "{exact} {open} {decided} {merged}"
    );
}

#[test]
fn sums_that_single_precision_changes_choose_another_label() {
    // In single precision 2²⁴ + 1 + 1 is 2²⁴, if it is added from left to right.
    let leaf = |output, value| Tree { nodes: vec![TreeNode::Leaf(vec![(output, value)])] };
    let far = f64::from(1 << 24);
    let trees = vec![leaf(0, 1.0), leaf(0, 1.0), leaf(1, 1.0)];
    let ensemble = Ensemble::new(1, vec![far, far], trees).expect("it is right");
    let policy = |precision: Precision, numbers| {
        let semantics = PolicySemantics { numbers, ..PolicySemantics::default() };
        let (labels, domains) = (vec![LabelId(0), LabelId(1)], IntBox::new(vec![IntInterval::ALL]));
        let trees = IntegerTrees::new(&ensemble).expect("it fits");
        let summation = Ok(Summation::plain(precision, 2));
        Policy::of_summed_trees(trees, summation, vec![VarId(0)], labels, semantics, &domains)
            .expect("it fits")
    };
    let chosen = |precision, numbers| policy(precision, numbers).chooser().choose(&[0], &[]);
    assert_eq!(chosen(Precision::Single, Numbers::Real), Choice::One(0));
    assert_eq!(chosen(Precision::Double, Numbers::F32), Choice::One(0));
    let open = Choice::Undecided { certain: [0].into(), possible: [0, 1].into() };
    assert_eq!(chosen(Precision::Single, Numbers::F32), open);
    let policy = policy(Precision::Single, Numbers::F32);
    let mut chooser = policy.chooser();
    chooser.choose(&[0], &[]);
    let narrowest = chooser.narrowest_lead().expect("one is known");
    assert!((narrowest.lead - 1.0).abs() < 1e-9 && narrowest.bound > 1.0, "{narrowest:?}");
}
