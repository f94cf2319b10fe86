//! Scores in single precision: engines against a search that takes every label that may be chosen, and
//! one that takes what the plain evaluation chooses.

use std::collections::BTreeSet;

use policert_bmc::{BmcConfig, bmc};
use policert_certify::{IntervalChoices, check_invariant, replay};
use policert_engine_api::{
    Budget, Configuration as _, EngineError, Invariant, Question, Silent, Verdict,
};
use policert_explore::{ExplicitConfig, explicit};
use policert_ic3::Ic3Config;
use policert_model::State;
use policert_policy::{
    Activation, Domain, ElementType, Filter, Matrix, Network, NetworkBuilder, NodeId, Numbers,
    Policy, PolicyError, PolicySemantics, Scaling,
};
use policert_ppa::{CegarConfig, PpaConfig, cegar};
use policert_testkit::{Profile, Random, Setting, case_numbers, semantics};

use super::tell;

/// A copy of a network, some of whose constants are slightly larger.
struct Perturbed {
    builder: NetworkBuilder,
    random: Random,
}

impl Perturbed {
    fn constant(&mut self, value: f64) -> f64 {
        match self.random.below(4) {
            0 => value * (1.0 + 2.0f64.powi(-27)),
            1 => value + 2.0f64.powi(-40),
            _ => value,
        }
    }
}

impl Domain for Perturbed {
    type Vector = NodeId;
    type Error = PolicyError;

    fn affine(&mut self, x: &NodeId, w: &Matrix, bias: &[f64]) -> Result<NodeId, PolicyError> {
        let entries: Vec<f64> = w.entries().iter().map(|&weight| self.constant(weight)).collect();
        let bias = bias.iter().map(|&bias| self.constant(bias)).collect();
        let weights = Matrix::new(w.rows(), w.columns(), entries).expect("size");
        self.builder.affine(*x, weights, bias)
    }

    fn scale(&mut self, x: &NodeId, scaling: Scaling<'_>) -> Result<NodeId, PolicyError> {
        Domain::scale(&mut self.builder, x, scaling)
    }

    fn apply(&mut self, activation: Activation, x: &NodeId) -> Result<NodeId, PolicyError> {
        self.builder.activation(*x, activation)
    }

    fn sum(&mut self, vectors: &[&NodeId]) -> Result<NodeId, PolicyError> {
        Domain::sum(&mut self.builder, vectors)
    }

    fn max(&mut self, vectors: &[&NodeId]) -> Result<NodeId, PolicyError> {
        Domain::max(&mut self.builder, vectors)
    }

    fn concat(&mut self, vectors: &[&NodeId]) -> Result<NodeId, PolicyError> {
        Domain::concat(&mut self.builder, vectors)
    }
}

fn perturbed(network: &Network, number: u64) -> Network {
    let builder = NetworkBuilder::new(network.input_width()).expect("inputs");
    let mut copy = Perturbed { builder, random: Random::new(number) };
    let nodes = network.fold(&mut copy, NodeId::INPUT).expect("a network");
    copy.builder.finish(nodes[network.output().index()], ElementType::F32)
}

/// The case of a number with scores in single precision that are nearly the same in many states, of a tree
/// ensemble with `trees`; `None` if its roundings are not known.
fn setting(profile: Profile, number: u64, trees: bool) -> Option<(Setting, Policy)> {
    let mut random = Random::new(number ^ 0xf32);
    let semantics =
        PolicySemantics { numbers: Numbers::F32, filter: Filter::None, ..semantics(&mut random) };
    let mut setting = Setting::new(profile, number, semantics, trees, 100, &mut random);
    setting.case.policy.network = perturbed(&setting.case.policy.network, number);
    let policy = setting.case.policy.policy(&setting.case.model, semantics).ok()?;
    Some((setting, policy))
}

/// The states that are reached, or `None` where the model is wrong; labels of the policy are taken if they
/// are `possible`, else if the plain evaluation chooses them.
fn reached(
    setting: &Setting,
    question: &Question<'_>,
    policy: &Policy,
    possible: bool,
) -> Option<BTreeSet<State>> {
    let everything = Setting { with_policy: false, ..setting.clone() };
    let oracle = everything.oracle(question);
    let mut chooser = policy.chooser();
    let mut waiting: Vec<State> = oracle.start_states().into_iter().collect();
    let mut reached: BTreeSet<State> = waiting.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        if !oracle.is_expanded(&state) {
            continue;
        }
        let mut inputs = Vec::new();
        policy.read_inputs(&state, &mut inputs);
        let choice = chooser.choose(&inputs, &[]);
        let outputs = if possible { choice.possible() } else { choice.outputs() };
        for transition in oracle.expand(&state).ok()?.transitions {
            let output = transition.label.and_then(|label| policy.output_of(label));
            let is_taken = output.is_none_or(|output| outputs.contains(&output));
            if is_taken && reached.insert(transition.step.state.clone()) {
                waiting.push(transition.step.state);
            }
        }
    }
    Some(reached)
}

/// The verdicts, by engine.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    /// Cases in which other evaluations reach more.
    differ: usize,
    /// Safe, unsafe and unknown by enumeration.
    explicit: [usize; 3],
    bmc: [usize; 3],
    ppa: [usize; 3],
    cegar: [usize; 3],
    ic3: [usize; 3],
    /// Invariants that were checked.
    invariants: usize,
}

fn count(counts: &mut [usize; 3], verdict: &Verdict) {
    counts[match verdict {
        Verdict::Safe { .. } => 0,
        Verdict::Unsafe(_) => 1,
        Verdict::Unknown(_) => 2,
    }] += 1;
}

fn check(setting: &Setting, policy: &Policy, tally: &mut Tally) {
    let place = &setting.place;
    let question = Question { policy: Some(policy), ..setting.question() };
    let question = &question;
    let all = reached(setting, question, policy, true);
    let plain = reached(setting, question, policy, false);
    let (Some(all), Some(plain)) = (all, plain) else { return };
    let is_bad = |states: &BTreeSet<State>| states.iter().any(|state| question.is_unsafe(state));
    tally.cases += 1;
    tally.differ += usize::from(all != plain);
    let judge = |name: &str, verdict: &Verdict, counts: &mut [usize; 3]| {
        count(counts, verdict);
        match verdict {
            Verdict::Safe { .. } => assert!(!is_bad(&all), "{place}: {name} says safe"),
            Verdict::Unsafe(trace) => {
                assert!(is_bad(&plain), "{place}: {name} says unsafe");
                replay(question, Some(policy), trace)
                    .unwrap_or_else(|error| panic!("{place}, {name}: {error}"));
            }
            Verdict::Unknown(_) => {}
        }
    };
    let is_sure = |verdict: &Verdict| match verdict {
        Verdict::Safe { .. } => !is_bad(&all),
        Verdict::Unsafe(_) => is_bad(&plain),
        Verdict::Unknown(_) => is_bad(&all) && !is_bad(&plain),
    };
    let budget = &mut Budget::unlimited();
    let run = explicit(question, Some(policy), &ExplicitConfig::default(), budget, &mut Silent);
    let verdict = run.unwrap_or_else(|error| panic!("{place}: {error}")).verdict;
    judge("explicit", &verdict, &mut tally.explicit);
    assert!(is_sure(&verdict), "{place}: {verdict:?}");
    let run = bmc(question, Some(policy), &BmcConfig::default(), budget, &mut Silent);
    let verdict = run.unwrap_or_else(|error| panic!("{place}: {error}")).verdict;
    judge("bmc", &verdict, &mut tally.bmc);
    assert!(is_sure(&verdict), "{place}: bmc: {verdict:?}");
    let config = PpaConfig::default();
    match policert_ppa::run(question, Some(policy), &config, budget, &mut Silent) {
        Ok(report) => judge("ppa", &report.verdict, &mut tally.ppa),
        Err(EngineError::Unsupported(_)) => {}
        Err(error) => panic!("{place}: {error}"),
    }
    let options = CegarConfig::default();
    match cegar(question, Some(policy), &config, options, budget, &mut Silent, None) {
        Ok(report) => judge("cegar", &report.verdict, &mut tally.cegar),
        Err(EngineError::Unsupported(_)) => {}
        Err(error) => panic!("{place}: {error}"),
    }
    let config = Ic3Config::preset("native").expect("it is built in");
    match policert_ic3::run(question, Some(policy), &config, 1, budget, &mut Silent) {
        Ok(report) => {
            judge("ic3", &report.verdict, &mut tally.ic3);
            if let Some(boxes) = report.invariant {
                let invariant: Invariant = boxes.into();
                let choices = &mut IntervalChoices::new(policy);
                check_invariant(question, Some(policy), &invariant, choices, budget)
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
                tally.invariants += 1;
            }
        }
        Err(EngineError::Unsupported(_)) => {}
        Err(error) => panic!("{place}: {error}"),
    }
}

fn tally(cases: u64, trees: bool) -> Tally {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(cases) {
            if let Some((setting, policy)) = setting(profile, number, trees) {
                check(&setting, &policy, &mut tally);
            }
        }
    }
    tally
}

#[test]
fn engines_agree_on_sums_of_leaves_in_single_precision() {
    let tally = tally(300, true);
    tell(&format!("{tally:?}"));
    let [safe, bad, open] = tally.explicit;
    assert!(safe > 50 && bad > 50 && open > 0 && tally.differ > 5, "{tally:?}");
    for [safe, bad, _] in [tally.ppa, tally.cegar, tally.ic3] {
        assert!(safe > 20 && bad > 20, "{tally:?}");
    }
    assert!(tally.invariants > 20, "{tally:?}");
}

#[test]
fn engines_agree_on_scores_in_single_precision() {
    let tally = tally(350, false);
    tell(&format!("{tally:?}"));
    let [safe, bad, open] = tally.explicit;
    assert!(safe > 50 && bad > 50 && open > 5 && tally.differ > 20, "{tally:?}");
    for [safe, bad, _] in [tally.ppa, tally.cegar, tally.ic3] {
        assert!(safe > 20 && bad > 20, "{tally:?}");
    }
    assert!(tally.invariants > 20, "{tally:?}");
}
