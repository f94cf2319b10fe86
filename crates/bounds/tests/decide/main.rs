//! The oracle against brute force over all points.

mod edges;
mod generator;

use std::cmp::Ordering;
use std::time::Duration;

use generator::{ChosenLabels, Instance, PolicyKind, Random, instance, instance_by};
use policert_bounds::{DecisionMap, Oracle, OracleConfig, SelectionQuery};
use policert_engine_api::{Answer, Budget, CancelFlag, Limits};
use policert_model::Condition;
use policert_numeric::{IntBox, IntInterval, Rational};
use policert_policy::{ChoiceRule, ExactEvaluator, Filter, Numbers};
use policert_testkit::slow_tests;

/// The result of brute force for one output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Truth {
    Chosen,
    Undecided,
    Never,
}

fn all_points(region: &IntBox) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for side in region.sides() {
        let values: Vec<i64> = (side.lo..=side.hi).collect();
        points = points
            .iter()
            .flat_map(|p| values.iter().map(|&v| p.iter().copied().chain([v]).collect()))
            .collect();
    }
    points
}

fn satisfies(conditions: &[&Condition], point: &[i64]) -> bool {
    conditions.iter().all(|c| c.holds(point) == Ok(true))
}

fn mask(instance: &Instance, point: &[i64]) -> Vec<bool> {
    instance.applicable.iter().map(|c| c.holds(point) == Ok(true)).collect()
}

/// For each output whether it is chosen at some point.
fn brute_force(instance: &Instance, conditions: &[&Condition]) -> Vec<Truth> {
    let mut truths = vec![Truth::Never; instance.policy.outputs().len()];
    let mut chooser = instance.policy.chooser();
    for point in all_points(&instance.region) {
        if !satisfies(conditions, &point) {
            continue;
        }
        let mut inputs = Vec::new();
        instance.policy.read_inputs(&point, &mut inputs);
        let choice = chooser.choose(&inputs, &mask(instance, &point));
        for (output, truth) in truths.iter_mut().enumerate() {
            match choice.contains(output) {
                Some(true) => *truth = Truth::Chosen,
                None if *truth == Truth::Never => *truth = Truth::Undecided,
                _ => {}
            }
        }
    }
    truths
}

/// Returns whether exact scores alone say what is chosen.
fn chooses_the_best(instance: &Instance) -> bool {
    let semantics = instance.policy.semantics();
    semantics.choice == ChoiceRule::Argmax && semantics.numbers == Numbers::Real
}

/// Returns whether an output is chosen at a point, by the definition: exact scores, every pair
/// compared.
fn chosen_by_definition(instance: &Instance, point: &[i64], output: usize) -> Option<bool> {
    let policy = &instance.policy;
    let mut inputs = Vec::new();
    policy.read_inputs(point, &mut inputs);
    if !chooses_the_best(instance) {
        return policy.chooser().choose(&inputs, &mask(instance, point)).contains(output);
    }
    let scores = ExactEvaluator::new(policy.network()?)?.scores(&inputs);
    let all = vec![true; policy.outputs().len()];
    let filtered = policy.semantics().filter == Filter::Applicable;
    let competing = if filtered { mask(instance, point) } else { all };
    let wins = |other: usize| {
        let order: Ordering = scores.compare(output, other);
        policy.semantics().requires(output, other).holds(order)
    };
    let others = (0..competing.len()).filter(|&o| o != output && competing[o]);
    Some(competing[output] && others.into_iter().all(wins))
}

#[derive(Default, Debug)]
struct Tally {
    chosen: usize,
    never: usize,
    undecided: usize,
    /// Queries that are refuted over the reals.
    relaxed: usize,
}

/// Returns whether the query is refuted over the reals; a witness is checked by definition.
fn check_relaxed(
    instance: &Instance,
    oracle: &mut Oracle<'_>,
    query: &SelectionQuery<'_>,
    seed: u64,
) -> bool {
    // Weights between 10⁻³¹¹ and 10³⁰ make exact numbers long.
    let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    let Ok(answer) = oracle.decide_relaxed(query, &mut budget) else { return false };
    if let Answer::Possible(Some(point)) = &answer {
        let policy = &instance.policy;
        let within = query
            .region
            .sides()
            .iter()
            .zip(point)
            .all(|(side, x)| Rational::from(side.lo) <= *x && *x <= Rational::from(side.hi));
        let inputs: Vec<Rational> =
            policy.inputs().iter().map(|variable| point[variable.index()].clone()).collect();
        let filtered = policy.semantics().filter == Filter::Applicable;
        // A question `x ≤ at` about integers has the same answer for x rounded up.
        let above: Vec<i64> = inputs.iter().map(|x| x.ceil().to_i64().expect("small")).collect();
        let of_trees = policy.trees().is_none_or(|_| {
            let mask = vec![true; policy.outputs().len()];
            policy.chooser().choose(&above, &mask).contains(query.output) == Some(true)
        });
        let chosen = policy.ranking().and_then(ExactEvaluator::new).is_none_or(|exact| {
            let scores = exact.scores_at(&inputs);
            let wins = |other: usize| {
                let order = scores[query.output].cmp(&scores[other]);
                policy.semantics().requires(query.output, other).holds(order)
            };
            let mut others = (0..scores.len()).filter(|&other| other != query.output);
            // What is applicable at a point that is no state is no question for a model.
            filtered || !chooses_the_best(instance) || others.all(wins)
        });
        let chosen = chosen && (filtered || of_trees);
        assert!(within && chosen, "seed {seed}: {point:?}");
    }
    answer.refuted()
}

fn check(instance: &Instance, config: OracleConfig, tally: &mut Tally, seed: u64) {
    let conditions: Vec<&Condition> = instance.conditions.iter().collect();
    let truths = brute_force(instance, &conditions);
    let mut oracle = Oracle::with_config(&instance.policy, instance.applicable.clone(), config);
    let mut map = DecisionMap::new(&oracle, &instance.region);
    let mut budget = Budget::unlimited();
    for (output, truth) in truths.into_iter().enumerate() {
        let query = SelectionQuery { region: &instance.region, conditions: &conditions, output };
        let alone = oracle.decide(&query, &mut budget).expect("no limits");
        let shared = map.decide(&mut oracle, &query, &mut budget).expect("no limits");
        match truth {
            Truth::Chosen => tally.chosen += 1,
            Truth::Never => tally.never += 1,
            Truth::Undecided => tally.undecided += 1,
        }
        let relaxed = check_relaxed(instance, &mut oracle, &query, seed);
        assert!(!(relaxed && truth == Truth::Chosen), "seed {seed}, output {output}");
        tally.relaxed += usize::from(relaxed);
        for answer in [alone, shared] {
            let context = format!("seed {seed}, output {output}: {answer:?}, but {truth:?}");
            match (truth, answer) {
                (Truth::Chosen, Answer::Possible(Some(witness))) => {
                    assert_eq!(witness.len(), instance.region.dimensions(), "{context}");
                    assert!(instance.region.contains(&witness), "{context}");
                    assert!(satisfies(&conditions, &witness), "{context}");
                    let chosen = chosen_by_definition(instance, &witness, output);
                    assert_ne!(chosen, Some(false), "{context}");
                }
                (Truth::Never, Answer::Refuted) => {}
                (Truth::Undecided, Answer::Possible(None)) => {}
                // Bounds may tell scores apart that enclosures do not.
                (Truth::Undecided, Answer::Refuted) if instance.policy.single().is_none() => {}
                _ => panic!("{context}"),
            }
        }
    }
}

fn run(
    kind: PolicyKind,
    cases: usize,
    points: u128,
    config: OracleConfig,
    first_seed: u64,
) -> Tally {
    let mut tally = Tally::default();
    let mut seed = first_seed;
    while tally.chosen + tally.never + tally.undecided < cases {
        seed += 1;
        check(&instance(points, kind, &mut Random::new(seed)), config, &mut tally, seed);
    }
    tally
}

/// Both answers must occur often, or the test says little.
fn assert_balanced(tally: &Tally) {
    let cases = tally.chosen + tally.never + tally.undecided;
    assert!(tally.chosen * 4 > cases, "{tally:?}");
    assert!(tally.never * 4 > cases, "{tally:?}");
    assert!(tally.undecided * 20 < cases, "{tally:?}");
    assert!(tally.relaxed * 2 > tally.never, "{tally:?}");
}

#[test]
fn agrees_with_brute_force() {
    let cases = if slow_tests() { 50_000 } else { 2_600 };
    assert_balanced(&run(PolicyKind::Network, cases, 600, OracleConfig::default(), 0));
}

#[test]
fn agrees_with_brute_force_by_bounds_alone() {
    let cases = if slow_tests() { 50_000 } else { 2_600 };
    let config = OracleConfig { enumerated_points: 1 };
    assert_balanced(&run(PolicyKind::Network, cases, 300, config, 1 << 32));
}

#[test]
fn trees_agree_with_brute_force() {
    let cases = if slow_tests() { 50_000 } else { 2_600 };
    for (points, enumerated_points) in [(600, 64), (300, 1)] {
        let config = OracleConfig { enumerated_points };
        assert_balanced(&run(PolicyKind::Trees, cases, points, config, 1 << 33));
    }
}

#[test]
fn agrees_with_brute_force_where_several_labels_may_be_chosen() {
    let cases = if slow_tests() { 40_000 } else { 1_500 };
    for (rule, kind) in [
        (ChosenLabels::LeastProbability, PolicyKind::Network),
        (ChosenLabels::SinglePrecision, PolicyKind::Network),
        (ChosenLabels::SinglePrecision, PolicyKind::Trees),
    ] {
        for points in [1, 600] {
            let config = OracleConfig { enumerated_points: points };
            let mut tally = Tally::default();
            let mut seed = 1 << 36;
            while tally.chosen + tally.never + tally.undecided < cases {
                seed += 1;
                let random = &mut Random::new(seed);
                if let Some(instance) = instance_by(rule, 300, kind, random) {
                    check(&instance, config, &mut tally, seed);
                }
            }
            assert!(
                tally.chosen * 5 > cases && tally.never * 5 > cases,
                "{rule:?} {kind:?}: {tally:?}"
            );
        }
    }
}

#[test]
fn widened_refutations_hold_everywhere() {
    let cases = if slow_tests() { 20_000 } else { 1_000 };
    let (mut refuted, mut wider) = (0, 0);
    for seed in 0..cases {
        let mut instance = instance(400, PolicyKind::Network, &mut Random::new((1 << 40) + seed));
        instance.conditions.clear();
        let truths = brute_force(&instance, &[]);
        let mut oracle = Oracle::new(&instance.policy, instance.applicable.clone());
        let mut budget = Budget::unlimited();
        let within = instance.region.clone();
        // A part of the region to start from.
        let mut random = Random::new(seed);
        let mut part = within.clone();
        for side in part.sides_mut() {
            if side.lo <= side.hi {
                let at = random.int(side.lo, side.hi);
                *side = IntInterval::new(at, random.int(at, side.hi));
            }
        }
        for output in 0..truths.len() {
            let widened = oracle.refute_widened(output, &part, &within, &mut budget);
            let Some(widened) = widened.expect("no limits") else { continue };
            refuted += 1;
            wider += u64::from(widened != part);
            assert!(widened.includes(&part) && within.includes(&widened), "seed {seed}");
            let inside = Instance { region: widened.clone(), ..instance_of(&instance) };
            assert_ne!(brute_force(&inside, &[])[output], Truth::Chosen, "seed {seed}");
            let query = SelectionQuery { region: &widened, conditions: &[], output };
            let again = oracle.decide(&query, &mut budget).expect("no limits");
            assert!(again.refuted(), "seed {seed}, output {output}");
        }
    }
    assert!(refuted > cases && wider * 2 > refuted, "{refuted} {wider}");
}

/// The same instance once more.
fn instance_of(instance: &Instance) -> Instance {
    Instance {
        policy: instance.policy.clone(),
        applicable: instance.applicable.clone(),
        region: instance.region.clone(),
        conditions: instance.conditions.clone(),
    }
}
