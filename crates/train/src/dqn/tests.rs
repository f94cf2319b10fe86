//! Deep Q-learning on small models.

use std::path::Path;

use policert_engine_api::{Budget, CancelFlag, Limits, Question, StopReason};
use policert_explore::{Random, Rollout, RunStep, StartSampler};
use policert_jani::property::Property;
use policert_jani::{LoadOptions, PropertyKey, Selector, load_bytes};
use policert_model::{Expr, Model, SafetyProperty};

use super::*;

/// A walk from 0: `right` and `left` by one, `jump` by three, which is unsafe to land on 4. The goal is 7,
/// where `right` alone takes eight steps and falls back with the given probability. `rest` is
/// never applicable.
fn walk(slip: &str) -> (Model, SafetyProperty) {
    let edge = |label: &str, low: i64, high: i64, add: i64, slip: &str| {
        let moved = |add: i64, p: &str| {
            format!(
                r#"{{"location": "l", "probability": {{"exp": {p}}}, "assignments":
                   [{{"ref": "x", "value": {{"op": "+", "left": "x", "right": {add}}}}}]}}"#
            )
        };
        let destinations = match slip {
            "0" => moved(add, "1"),
            slip => format!(
                "{}, {}",
                moved(add, &format!("{{\"op\":\"-\",\"left\":1,\"right\":{slip}}}")),
                moved(0, slip)
            ),
        };
        format!(
            r#"{{"action": "{label}", "location": "l", "destinations": [{destinations}],
               "guard": {{"exp": {{"op": "∧", "left": {{"op": "≤", "left": {low}, "right": "x"}},
                                   "right": {{"op": "≤", "left": "x", "right": {high}}}}}}}}}"#
        )
    };
    let edges = [
        edge("left", 1, 7, -1, slip),
        edge("right", 0, 6, 1, slip),
        edge("jump", 0, 4, 3, "0"),
        edge("rest", 8, 8, 0, "0"),
    ];
    let state = |op: &str, value: i64| {
        format!(
            r#"{{"op": "state-condition", "exp": {{"op": "{op}", "left": "x", "right": {value}}}}}"#
        )
    };
    let text = format!(
        r#"{{"jani-version": 1, "name": "walk", "type": "mdp",
        "actions": [{{"name": "left"}}, {{"name": "right"}}, {{"name": "jump"}}, {{"name": "rest"}}],
        "variables": [{{"name": "x", "initial-value": 0,
            "type": {{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 8}}}}],
        "properties": [{{"name": "p", "expression": {{"op": "PA", "reach": {},
            "objective": {{"op": "objective", "goal": {}, "goal-potential": "x"}}}}}}],
        "automata": [{{"name": "A", "locations": [{{"name": "l"}}], "initial-locations": ["l"],
                       "edges": [{}]}}],
        "system": {{"elements": [{{"automaton": "A"}}], "syncs": [
            {{"synchronise": ["left"], "result": "left"}}, {{"synchronise": ["right"], "result": "right"}},
            {{"synchronise": ["jump"], "result": "jump"}}, {{"synchronise": ["rest"], "result": "rest"}}]}}}}"#,
        state("=", 4),
        state("=", 7),
        edges.join(", ")
    );
    let loaded = load_bytes(Path::new("walk.jani"), text.into_bytes(), &LoadOptions::default());
    assert!(loaded.model().is_some(), "{:?}", loaded.diagnostics());
    let found = loaded.property(&Selector::Own(PropertyKey::Index(0)));
    assert!(found.rewards.potential.is_some());
    let Some(Property::Safety(property)) = found.property else {
        panic!("{:?}", found.diagnostics)
    };
    (loaded.into_model().expect("a model"), property)
}

fn objective(model: &Model) -> Objective {
    let x = model.variable_by_name("x").expect("a variable");
    let labels = ["left", "right", "jump", "rest"];
    Objective {
        inputs: vec![x],
        outputs: labels.iter().map(|l| model.label_by_name(l).expect("a label")).collect(),
        potential: Some(Expr::Var(x)),
        step_reward: None,
    }
}

fn config() -> DqnConfig {
    DqnConfig {
        hidden: vec![16],
        steps: 12_000,
        learn_every: 2,
        warm_up: 500,
        buffer: 4000,
        target_every: 100,
        horizon: 50,
        evaluate_every: 2000,
        evaluation_runs: 20,
        final_runs: 50,
        ..DqnConfig::default()
    }
}

/// The bytes of checkpoints, the first of which stops training if `stop` says so.
#[derive(Default)]
struct Checkpoints {
    all: Vec<Vec<u8>>,
    stop_after: Option<(usize, CancelFlag)>,
}

impl DqnObserver for Checkpoints {
    fn progress(&mut self, _: &DqnProgress) {}

    fn wants_checkpoints(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, bytes: Vec<u8>) -> Result<(), TrainError> {
        self.all.push(bytes);
        if let Some((count, flag)) = &self.stop_after
            && self.all.len() == *count
        {
            flag.raise();
        }
        Ok(())
    }
}

/// Trains on the walk.
fn learn(
    slip: &str,
    config: &DqnConfig,
    checkpoint: Option<&[u8]>,
    budget: &mut Budget,
    observer: &mut dyn DqnObserver,
) -> Result<DqnTrained, TrainError> {
    let (model, property) = walk(slip);
    let question = Question::new(&model, &property);
    let starts = StartSampler::new(&question, 10, &mut Budget::unlimited())?;
    let objective = objective(&model);
    let task =
        DqnTask { question: &question, objective: &objective, starts: &starts, fingerprint: slip };
    train_dqn(task, config, checkpoint, budget, observer)
}

fn quietly(slip: &str, config: &DqnConfig) -> Result<DqnTrained, TrainError> {
    learn(slip, config, None, &mut Budget::unlimited(), &mut |_: &DqnProgress| {})
}

#[test]
fn the_shortest_safe_way_is_learnt() {
    for (mask, double, potential) in [(false, true, 1.0), (true, false, 0.0), (false, false, 0.5)] {
        let rewards = Rewards { potential, ..Rewards::default() };
        let config = DqnConfig { mask, double, rewards, ..config() };
        let trained = quietly("0", &config).expect("trained");
        assert!(trained.score.is_perfect(), "{:?}", trained.score);
        assert_eq!(trained.score.unsafe_runs, 0);
    }
    // Without an early end: 0, 3, 2, 5, 6, 7 is the shortest way past 4, as 0, 1, 2, 5, 6, 7 is.
    let patient = DqnConfig { rewards: Rewards { step: -0.05, ..Rewards::default() }, ..config() };
    let mut network = quietly("0", &patient).expect("trained").network;
    let choice = network.choose(&[2.0], None);
    assert_eq!(choice, Some(2), "only a jump leads past 4");
    assert_eq!(network.choose(&[6.0], None), Some(1));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let config = DqnConfig { seeds: 2, steps: 3000, ..config() };
    let bytes = |config: &DqnConfig| {
        let trained = quietly("0.25", config).expect("trained");
        (trained.network.to_onnx().expect("finite"), trained.seed, trained.score)
    };
    assert!(bytes(&config) == bytes(&config));
    let other = DqnConfig { seed: 7, ..config.clone() };
    assert!(bytes(&config).0 != bytes(&other).0);
}

#[test]
fn resumed_training_gives_the_same_bytes() {
    // Runs are cut off before the goal, so no evaluation is perfect and all steps are made.
    let config = DqnConfig { seeds: 2, steps: 2500, horizon: 3, evaluate_every: 700, ..config() };
    let mut whole = Checkpoints::default();
    let mut unlimited = Budget::unlimited();
    let expected = learn("0.25", &config, None, &mut unlimited, &mut whole).expect("trained");
    assert_eq!(whole.all.len(), 8);
    for stop in [1, 3, 5] {
        let flag = CancelFlag::default();
        let mut budget = Budget::new(Limits::default(), flag.clone());
        let mut part = Checkpoints { stop_after: Some((stop, flag)), ..Checkpoints::default() };
        let stopped = learn("0.25", &config, None, &mut budget, &mut part).expect("stopped");
        assert_eq!(stopped.ending, DqnEnding::Stopped(StopReason::Interrupted));
        let last = part.all.last().expect("written");
        let mut rest = Checkpoints::default();
        let resumed =
            learn("0.25", &config, Some(last), &mut unlimited, &mut rest).expect("resumed");
        assert_eq!(resumed.network.to_onnx().ok(), expected.network.to_onnx().ok());
        assert_eq!((resumed.score, resumed.seed), (expected.score, expected.seed));
        assert_eq!((resumed.steps, resumed.updates), (expected.steps, expected.updates));
        assert!(part.all.iter().chain(&rest.all).eq(&whole.all), "after {stop}");
    }
    let other = DqnConfig { batch: 32, ..config.clone() };
    let resumed = learn(
        "0.25",
        &other,
        whole.all.last().map(Vec::as_slice),
        &mut unlimited,
        &mut |_: &DqnProgress| {},
    );
    assert!(matches!(resumed, Err(TrainError::Checkpoint(_))), "{resumed:?}");
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let (model, mut property) = walk("0");
    let refuses = |property: &SafetyProperty, objective: &Objective| {
        let question = Question::new(&model, property);
        let starts = StartSampler::new(&question, 10, &mut Budget::unlimited()).expect("a start");
        let task = DqnTask { question: &question, objective, starts: &starts, fingerprint: "" };
        let mut budget = Budget::unlimited();
        let observer = &mut |_: &DqnProgress| {};
        matches!(
            train_dqn(task, &config(), None, &mut budget, observer),
            Err(TrainError::Config(_))
        )
    };
    let complete = objective(&model);
    assert!(refuses(&property, &Objective { outputs: Vec::new(), ..complete.clone() }));
    assert!(refuses(&property, &Objective { inputs: Vec::new(), ..complete.clone() }));
    let goal = property.goal.take();
    assert!(refuses(&property, &complete));
    // Every run ends where it begins.
    property.unsafe_condition = policert_model::Condition::True;
    property.goal = goal;
    assert!(refuses(&property, &complete));
}

#[test]
fn a_stop_before_the_first_evaluation_still_gives_a_network() {
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    let trained =
        learn("0", &config(), None, &mut budget, &mut |_: &DqnProgress| {}).expect("stopped");
    assert_eq!(trained.ending, DqnEnding::Stopped(StopReason::Time));
    assert_eq!((trained.steps, trained.score.runs), (0, 50));
    assert!(trained.network.to_onnx().is_ok());
}

#[test]
fn divergence_is_named() {
    let error = quietly("0", &DqnConfig { rate: 1e38, ..config() }).expect_err("no numbers");
    assert!(error.to_string().contains("diverged"), "{error}");
}

#[test]
fn outcomes_are_drawn_by_their_probability() {
    let (model, property) = walk("0.25");
    let question = Question::new(&model, &property);
    let mut rollout = Rollout::new(&question, &objective(&model).outputs);
    let mut random = Random::new(3);
    let mut slipped = 0u32;
    for _ in 0..20_000 {
        rollout.enter(&[0, 2]).expect("a state");
        assert_eq!(rollout.applicable(), [true, true, true, false]);
        let Ok(RunStep::Moved { destination, .. }) = rollout.step(Some(1), &mut random) else {
            panic!("`right` is applicable")
        };
        assert_eq!(rollout.state()[1], if destination == 0 { 3 } else { 2 });
        slipped += u32::from(destination == 1);
    }
    assert!((4700..5300).contains(&slipped), "{slipped}");
    rollout.enter(&[0, 2]).expect("a state");
    assert_eq!(rollout.step(Some(3), &mut random).ok(), Some(RunStep::Stuck));
    assert_eq!(rollout.step(None, &mut random).ok(), Some(RunStep::Stuck));
}
