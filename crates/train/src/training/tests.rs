//! Training on a plant that is simple enough to be learnt in seconds.

use std::time::Duration;

use policert_engine_api::{CancelFlag, Limits};

use super::*;
use crate::observation::Cells;
use crate::plant::{PlantRegion, PlantSide};

/// A cart that moves by its action; it is to get to the other side of 0 and not beyond −1.5.
struct Cart {
    initial: Vec<(f64, f64)>,
    ranges: Vec<(f64, f64)>,
    goal: PlantRegion,
    avoid: PlantRegion,
}

impl Cart {
    fn new() -> Self {
        let side = |lower, upper| PlantSide { variable: 0, lower, upper };
        Self {
            initial: vec![(0.8, 1.0)],
            ranges: vec![(-2.0, 2.0)],
            goal: PlantRegion::new(vec![side(-1.0, -0.8)]),
            avoid: PlantRegion::new(vec![side(-9.0, -1.5)]),
        }
    }
}

impl Plant for Cart {
    fn dimension(&self) -> usize {
        1
    }

    fn initial(&self) -> &[(f64, f64)] {
        &self.initial
    }

    fn action_ranges(&self) -> &[(f64, f64)] {
        &self.ranges
    }

    fn horizon(&self) -> u32 {
        40
    }

    fn goal(&self) -> Option<&PlantRegion> {
        Some(&self.goal)
    }

    fn avoid(&self) -> Option<&PlantRegion> {
        Some(&self.avoid)
    }

    fn step(&mut self, state: &mut [f64], action: &[f64]) {
        state[0] += 0.05 * action[0];
    }
}

fn small() -> DdpgConfig {
    DdpgConfig {
        hidden: vec![8, 8],
        critic_hidden: vec![16, 16],
        batch: 32,
        warm_up: 200,
        attempts: 5,
        ..DdpgConfig::default()
    }
}

fn learn(observation: &Observation, config: &DdpgConfig) -> Trained {
    train(&mut Cart::new(), observation, config, &mut Budget::unlimited(), &mut |_| {})
        .expect("a valid configuration")
}

fn cells() -> Observation {
    let edges = (-30..=30).map(|k| f64::from(k) / 10.0).collect();
    Observation::Cell(Cells::new(vec![edges]).expect("ordered"))
}

/// A plant whose steps raise a flag after a while.
struct Deaf {
    cart: Cart,
    steps: u32,
    flag: CancelFlag,
    after: u32,
}

impl Plant for Deaf {
    fn dimension(&self) -> usize {
        self.cart.dimension()
    }

    fn initial(&self) -> &[(f64, f64)] {
        self.cart.initial()
    }

    fn action_ranges(&self) -> &[(f64, f64)] {
        self.cart.action_ranges()
    }

    fn horizon(&self) -> u32 {
        self.cart.horizon()
    }

    fn goal(&self) -> Option<&PlantRegion> {
        self.cart.goal()
    }

    fn avoid(&self) -> Option<&PlantRegion> {
        self.cart.avoid()
    }

    fn step(&mut self, state: &mut [f64], action: &[f64]) {
        self.steps += 1;
        if self.steps == self.after {
            self.flag.raise();
        }
        self.cart.step(state, action);
    }
}

#[test]
fn every_phase_looks_at_its_budget_after_each_step() {
    let config = DdpgConfig { warm_up: 50, ..DdpgConfig::default() };
    // In the random steps at the beginning, in the first evaluation, and in runs to learn from.
    for after in [10, 100, 500, 3000] {
        let flag = CancelFlag::default();
        let mut plant = Deaf { cart: Cart::new(), steps: 0, flag: flag.clone(), after };
        let mut budget = Budget::new(Limits::default(), flag);
        let trained = train(&mut plant, &Observation::State, &config, &mut budget, &mut |_| {})
            .expect("stops");
        assert_eq!(trained.ending, TrainingEnding::Stopped(StopReason::Interrupted), "{after}");
        assert!(plant.steps <= after + 1, "{} after {after}", plant.steps);
    }
}

#[test]
fn learns_to_get_there() {
    for observation in [Observation::State, cells()] {
        for activation in [crate::LayerActivation::Relu, crate::LayerActivation::Tanh] {
            let mut trained = learn(&observation, &DdpgConfig { activation, ..small() });
            assert_eq!(trained.ending, TrainingEnding::Solved);
            let mut cart = Cart::new();
            for start in [0.8, 0.9, 1.0] {
                let (mut state, mut action) = ([start], Vec::new());
                let arrives = (0..cart.horizon()).any(|_| {
                    trained.actor.act(&state, &mut action);
                    cart.step(&mut state, &action);
                    assert!(state[0] > -1.5);
                    cart.goal.contains(&state)
                });
                assert!(arrives, "{start}");
            }
        }
    }
}

#[test]
fn the_seed_decides_every_byte() {
    let bytes = |seed| {
        let config = DdpgConfig { seed, ..small() };
        learn(&cells(), &config).actor.to_onnx().expect("finite weights")
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn a_stop_leaves_the_best_network_so_far() {
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    let mut reports = 0;
    let trained = train(&mut Cart::new(), &cells(), &small(), &mut budget, &mut |_| reports += 1)
        .expect("a valid configuration");
    assert_eq!(trained.ending, TrainingEnding::Stopped(StopReason::Time));
    assert!(!trained.evaluation.is_solved());
    assert_eq!((trained.evaluation.runs, reports), (0, 0));
}

#[test]
fn attempts_are_limited() {
    let config = DdpgConfig { attempts: 2, episodes: 1, ..small() };
    let trained = learn(&Observation::State, &config);
    assert_eq!(
        (trained.ending, trained.attempts, trained.episodes),
        (TrainingEnding::Exhausted, 2, 2)
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let edges = vec![vec![0.0, 1.0], vec![0.0, 1.0]];
    let observation = Observation::Cell(Cells::new(edges).expect("ordered"));
    let mut budget = Budget::unlimited();
    let result = train(&mut Cart::new(), &observation, &small(), &mut budget, &mut |_| {});
    assert!(matches!(result, Err(TrainError::Config(_))));
}

/// The first variable passes its goal whatever is done, at one step only, and nearly fills it then;
/// the second is to be lifted up to that step.
struct Passage {
    initial: Vec<(f64, f64)>,
    ranges: Vec<(f64, f64)>,
    goal: PlantRegion,
}

impl Passage {
    fn new() -> Self {
        let side = |variable, lower, upper| PlantSide { variable, lower, upper };
        Self {
            initial: vec![(1.0, 1.0625), (0.0, 0.0625)],
            ranges: vec![(-1.0, 1.0)],
            goal: PlantRegion::new(vec![side(0, -0.002, 0.0645), side(1, 0.25, 0.75)]),
        }
    }
}

impl Plant for Passage {
    fn dimension(&self) -> usize {
        2
    }

    fn initial(&self) -> &[(f64, f64)] {
        &self.initial
    }

    fn action_ranges(&self) -> &[(f64, f64)] {
        &self.ranges
    }

    fn horizon(&self) -> u32 {
        10
    }

    fn goal(&self) -> Option<&PlantRegion> {
        Some(&self.goal)
    }

    fn avoid(&self) -> Option<&PlantRegion> {
        None
    }

    fn step(&mut self, state: &mut [f64], action: &[f64]) {
        state[0] -= 0.125;
        state[1] += 0.125 * action[0];
    }
}

#[test]
fn a_margin_that_nothing_can_keep_is_given_up() {
    let config = DdpgConfig { decay: 100, evaluate_every: 1, ..small() };
    let mut whole = Vec::new();
    let trained = train(
        &mut Passage::new(),
        &Observation::State,
        &config,
        &mut Budget::unlimited(),
        &mut |progress| whole.push(progress.evaluation.is_solved()),
    )
    .expect("a valid configuration");
    assert_eq!((trained.ending, trained.attempts), (TrainingEnding::Solved, 1));
    // 0.002 of 0.0665 is kept from about the seventieth run on.
    let first = whole.iter().position(|solved| *solved).expect("the last one");
    assert!(first >= 69, "{first}");
}
