//! Gradients against differences; a network that learns a small domain.

use policert_asnet::{Architecture, Asnet, DomainShape, Instance, Nonlinearity, network};
use policert_pddl::{Task, parse_domain, parse_problem};
use policert_policy::Evaluator;
use policert_testkit::{case_numbers, pddl_text};

use policert_engine_api::{Budget, CancelFlag, EngineError, Limits, StopReason};

use super::any_way::actions_that_do;
use super::pass::{Dropout, Pass, Weighted};
use super::run::Runner;
use super::session::loss_of;
use super::teacher::{Lesson, Space, Teacher, lengths};
use super::weights::{Weights, flat, put};
use super::*;
use crate::{Random, TrainError};

const BLOCKS: &str = include_str!("../../../../examples/blocks/domain.pddl");
const FOUR: &str = include_str!("../../../../examples/blocks/four.pddl");

fn task(problem: &str) -> Task {
    let domain = parse_domain("d", BLOCKS.as_bytes()).expect("a domain");
    let problem = parse_problem("p", problem.as_bytes(), &domain).expect("a problem");
    Task::ground(domain, problem, &mut || false).expect("grounded")
}

fn architecture(nonlinearity: Nonlinearity) -> Architecture {
    Architecture { layers: 2, dimension: 3, nonlinearity, skip: true }
}

fn drawn(task: &Task, nonlinearity: Nonlinearity, random: &mut Random) -> Asnet {
    let mut asnet = Asnet::zeros(DomainShape::of(&task.domain), architecture(nonlinearity));
    let parameters: Vec<f64> = flat(&mut asnet).iter().map(|_| random.between(-0.7, 0.7)).collect();
    put(&mut asnet, &parameters);
    asnet
}

fn teacher(task: &Task, exact_states: usize) -> Teacher {
    let lengths = lengths(task).expect("whole costs");
    let budget = &mut Budget::unlimited();
    Teacher::of(task, &lengths, std::iter::empty(), exact_states, budget).expect("no stop")
}

fn first_lesson(task: &Task) -> Lesson {
    let lesson = teacher(task, 1000).lesson(task, &task.initial, &mut Budget::unlimited());
    lesson.expect("no stop").expect("no goal state")
}

/// All states that actions lead to; `None` if they are more than these.
fn all_states(task: &Task, most: usize) -> Option<Vec<Vec<bool>>> {
    let mut states = vec![task.initial.clone()];
    let mut at = 0;
    while let Some(state) = states.get(at).cloned() {
        let actions = task.actions.iter().filter(|action| action.is_applicable(&state));
        for next in actions.flat_map(|action| &action.outcomes).map(|outcome| outcome.after(&state))
        {
            if !states.contains(&next) {
                states.push(next);
            }
        }
        if states.len() > most {
            return None;
        }
        at += 1;
    }
    Some(states)
}

#[test]
fn the_teacher_knows_shortest_ways() {
    let task = task(FOUR);
    let budget = &mut Budget::unlimited();
    let lengths = lengths(&task).expect("whole costs");
    let space = Space::of(&task, &lengths, 125, budget).expect("no stop").expect("small");
    assert_eq!(space.count(), 125);
    // Take a off b, put it down, take b, put it on c, take a, put it on b.
    assert_eq!(space.distance(&task.initial), Some(6));
    let names: Vec<String> = first_lesson(&task)
        .best
        .iter()
        .map(|&action| task.action_name(&task.actions[action]))
        .collect();
    assert_eq!(names, ["unstack(a,b)"]);
    assert!(Space::of(&task, &lengths, 124, budget).expect("no stop").is_none());
}

/// Most states of a random problem whose teachers are compared.
const MOST_COMPARED: usize = 125;

/// Compares what is known of all states with what is found by search. Returns how many states are not
/// goal states, and from how many there is no way.
fn compare_teachers(task: &Task, states: &[Vec<bool>]) -> (usize, usize) {
    let budget = &mut Budget::unlimited();
    let (mut all, mut search) = (teacher(task, 10_000), teacher(task, 0));
    assert!(matches!((&all, &search), (Teacher::Space(_), Teacher::Search(_))));
    let (mut lessons, mut without) = (0, 0);
    for state in states {
        let distance = all.distance(task, state, budget).expect("no stop");
        assert_eq!(search.distance(task, state, budget).expect("no stop"), distance);
        let lesson = all.lesson(task, state, budget).expect("no stop");
        assert_eq!(search.lesson(task, state, budget).expect("no stop"), lesson);
        search.forget();
        assert_eq!(search.lesson(task, state, budget).expect("no stop"), lesson);
        lessons += usize::from(lesson.is_some());
        without += usize::from(distance.is_none());
    }
    (lessons, without)
}

#[test]
fn search_finds_the_distances_that_the_whole_space_has() {
    let four = task(FOUR);
    let states = all_states(&four, MOST_COMPARED).expect("few states");
    assert_eq!(compare_teachers(&four, &states), (124, 0));
    let (mut lessons, mut without) = (0, 0);
    for number in case_numbers(800) {
        let mut random = policert_testkit::Random::new(number);
        let size = 1 + random.below(3);
        let text = pddl_text(&mut random, size);
        let domain = parse_domain("d", text.domain.as_bytes()).expect("a domain");
        let problem = parse_problem("p", text.problem.as_bytes(), &domain).expect("a problem");
        let mut task = Task::ground(domain, problem, &mut || false).expect("grounded");
        // Two propositions as they are in some state.
        let Some(states) = all_states(&task, MOST_COMPARED) else { continue };
        let wanted = &states[random.below(states.len())];
        let literal = |p: usize| wanted.get(p).map(|&truth| (p, truth));
        let places = [random.below(wanted.len().max(1)), random.below(wanted.len().max(1))];
        task.goal = Some(places.into_iter().filter_map(literal).collect());
        let (more, never) = compare_teachers(&task, &states);
        lessons += more;
        without += never;
    }
    assert!(lessons > 200 && without > 100, "{lessons} lessons, {without} states without way");
}

#[test]
fn problems_that_differ_in_their_start_share_what_is_known() {
    let first = task(FOUR);
    let mut second = first.clone();
    second.initial = first
        .actions
        .iter()
        .find(|a| a.is_applicable(&first.initial))
        .map_or_else(|| first.initial.clone(), |action| action.outcomes[0].after(&first.initial));
    let known = teacher(&first, 1000);
    let lengths = lengths(&first).expect("whole costs");
    let earlier = || std::iter::once((&first, &known));
    let budget = &mut Budget::unlimited();
    // Of the second one alone no space is known.
    let shared = Teacher::of(&second, &lengths, earlier(), 0, budget).expect("no stop");
    assert!(matches!(shared, Teacher::Space(_)));
    second.goal = Some(vec![(0, true)]);
    let other = Teacher::of(&second, &lengths, earlier(), 0, budget).expect("no stop");
    assert!(matches!(other, Teacher::Search(_)));
}

#[test]
fn gradients_are_those_of_differences() {
    let task = task(FOUR);
    let instance = Instance::of(&DomainShape::of(&task.domain), &task);
    let lesson = first_lesson(&task);
    let mut applicable = vec![false; task.actions.len()];
    lesson.applicable.iter().for_each(|&action| applicable[action] = true);
    for (nonlinearity, probability) in
        [(Nonlinearity::Relu, 0.0), (Nonlinearity::Elu, 0.0), (Nonlinearity::Elu, 0.2)]
    {
        let mut random = Random::new(5);
        let mut asnet = drawn(&task, nonlinearity, &mut random);
        // The same outputs are left out each time.
        let pass = |asnet: &Asnet, then: &mut dyn FnMut(&Pass<'_>)| {
            let mut random = Random::new(9);
            let dropout = Some(Dropout { probability, random: &mut random });
            let network = Weighted::new(asnet);
            then(&Pass::new(&network, &instance, &lesson.state, &applicable, dropout));
        };
        let loss = |asnet: &Asnet| {
            let mut loss = 0.0;
            pass(asnet, &mut |pass| loss = loss_of(pass.scores(), &lesson).0);
            loss
        };
        let mut gradient = Weights::zeros(&asnet);
        pass(&asnet, &mut |pass| {
            let by_scores = loss_of(pass.scores(), &lesson).1;
            pass.add_gradient(&by_scores, &mut gradient);
        });
        let (slopes, parameters) = (gradient.flat(), flat(&mut asnet));
        let mut other_than_zero = 0;
        for (i, slope) in slopes.iter().enumerate() {
            let mut changed = parameters.clone();
            let mut at = |shift: f64| {
                changed[i] = parameters[i] + shift;
                let mut asnet = asnet.clone();
                put(&mut asnet, &changed);
                loss(&asnet)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - difference).abs() < 1e-5, "{i}: {slope}, {difference}");
            other_than_zero += usize::from(slope.abs() > 1e-6);
        }
        assert!(other_than_zero > slopes.len() / 5, "{other_than_zero} of {}", slopes.len());
    }
}

#[test]
fn training_runs_the_network_that_is_verified() {
    let task = task(FOUR);
    let instance = Instance::of(&DomainShape::of(&task.domain), &task);
    let mut random = Random::new(7);
    for nonlinearity in [Nonlinearity::Relu, Nonlinearity::Elu] {
        let asnet = drawn(&task, nonlinearity, &mut random);
        let mut evaluator = Evaluator::new(&network(&asnet, &instance).expect("a network"));
        let budget = &mut Budget::unlimited();
        let run = asnet_run(&asnet, &task, &instance, 20, &mut random, budget).expect("no stop");
        assert!(!run.states.is_empty());
        for state in run.states {
            let applicable: Vec<bool> =
                task.actions.iter().map(|action| action.is_applicable(&state)).collect();
            let inputs: Vec<f64> = state.iter().map(|&truth| f64::from(u8::from(truth))).collect();
            let network = Weighted::new(&asnet);
            let found = Pass::new(&network, &instance, &state, &applicable, None);
            let mut expected = Vec::new();
            evaluator.evaluate(&inputs, &mut expected);
            for (action, (a, b)) in found.scores().iter().zip(expected).enumerate() {
                assert!(!applicable[action] || (a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }
}

#[test]
fn what_leads_out_of_a_round_reaches_the_goal() {
    let tasks = three_problems();
    let budget = &mut Budget::unlimited();
    let (mut own, mut out, mut none) = (0, 0, 0);
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let task = &tasks[random.below(tasks.len())];
        let instance = Instance::of(&DomainShape::of(&task.domain), task);
        let asnet = drawn(task, Nonlinearity::Relu, &mut random);
        let runner = Runner::new(&asnet, task, &instance, 50);
        for state in all_states(task, MOST_COMPARED).expect("few states") {
            let run = runner.run(&state, &mut random, budget).expect("no stop");
            assert!(run.reaches_goal || run.round_from.is_some());
            let found = actions_that_do(&runner, &run, &mut random, budget).expect("no stop");
            for (place, actions) in found {
                none += usize::from(actions.is_empty());
                for action in actions {
                    let ground = &task.actions[action];
                    assert!(ground.is_applicable(&run.states[place]));
                    let next = ground.outcomes[0].after(&run.states[place]);
                    let rest = runner.run(&next, &mut random, budget).expect("no stop");
                    assert!(rest.reaches_goal);
                    let is_own = action == run.actions[place];
                    assert_eq!(is_own, run.reaches_goal);
                    *(if is_own { &mut own } else { &mut out }) += 1;
                }
            }
        }
    }
    assert!(own > 20 && out > 20 && none > 20, "{own} own, {out} out, {none} without");
}

fn three_problems() -> Vec<Task> {
    let problem = |goal: &str| FOUR.replace("(on a b) (on b c) (on c d)))", goal);
    let goals = ["(on a b) (on b c) (on c d)))", "(on d c) (on c b) (on b a)))", "(on b d)))"];
    goals.iter().map(|goal| task(&problem(goal))).collect()
}

fn config(dimension: usize, rounds: usize) -> AsnetConfig {
    let (layers, nonlinearity, skip) = (2, Nonlinearity::Relu, true);
    AsnetConfig {
        rounds,
        batches: 30,
        batch: 16,
        rate: 0.01,
        ..AsnetConfig::new(Architecture { layers, dimension, nonlinearity, skip })
    }
}

/// Counts rounds and keeps checkpoints.
#[derive(Default)]
struct Heard {
    rounds: usize,
    checkpoints: Vec<Vec<u8>>,
}

impl AsnetObserver for Heard {
    fn progress(&mut self, progress: &AsnetProgress) {
        self.rounds = progress.round;
    }

    fn wants_checkpoints(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, bytes: Vec<u8>) {
        self.checkpoints.push(bytes);
    }
}

fn train(config: &AsnetConfig, checkpoint: Option<&[u8]>) -> (AsnetTrained, Heard) {
    let budget = &mut Budget::unlimited();
    let mut training =
        AsnetTraining::new(config.clone(), three_problems(), budget).expect("prepared");
    if let Some(bytes) = checkpoint {
        training.restore(bytes).expect("restored");
    }
    let mut heard = Heard::default();
    (training.run(&mut heard, budget).expect("trained"), heard)
}

#[test]
fn a_network_learns_to_stack_blocks_and_the_seed_repeats_it() {
    let config = config(6, 25);
    let (trained, _) = train(&config, None);
    assert_eq!((trained.best.solved, trained.stopped), (3, None));
    assert_eq!(train(&config, None).0.asnet, trained.asnet);
}

#[test]
fn resumed_training_gives_the_same_network() {
    // By search the teacher's memory is no part of a checkpoint.
    for (exact_states, dropout, any_way) in [(1000, 0.1, false), (0, 0.0, false), (1000, 0.0, true)]
    {
        let settings = AsnetConfig { exact_states, dropout, any_way, ..config(3, 4) };
        let config = AsnetConfig { l1: 1e-5, batches: 5, ..settings };
        let (whole, heard) = train(&config, None);
        assert_eq!(heard.rounds, 4);
        for checkpoint in &heard.checkpoints {
            let (resumed, rest) = train(&config, Some(checkpoint));
            assert_eq!((&resumed.asnet, &resumed.best), (&whole.asnet, &whole.best));
            assert_eq!(rest.checkpoints.last().or(Some(checkpoint)), heard.checkpoints.last());
        }
        // More rounds may be asked for, but nothing else.
        let more = AsnetConfig { rounds: 6, ..config.clone() };
        let last = heard.checkpoints.last().expect("checkpoints");
        assert_eq!(train(&more, Some(last)).0.asnet, train(&more, None).0.asnet);
        let other = AsnetConfig { seed: 2, ..config };
        let budget = &mut Budget::unlimited();
        let mut training = AsnetTraining::new(other, three_problems(), budget).expect("prepared");
        assert!(matches!(training.restore(last), Err(TrainError::Checkpoint(_))));
    }
}

#[test]
fn stops_and_settings_without_sense_are_told() {
    let stopped = |limits: Limits| {
        let mut budget = Budget::new(limits, CancelFlag::default());
        AsnetTraining::new(config(3, 4), three_problems(), &mut budget).err()
    };
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    assert!(matches!(
        stopped(limits),
        Some(TrainError::Engine(EngineError::Stop(StopReason::Time)))
    ));
    assert!(stopped(Limits::default()).is_none());
    // A stop after a round leaves what was learnt.
    let flag = CancelFlag::default();
    struct StopAfter<'f>(&'f CancelFlag);
    impl AsnetObserver for StopAfter<'_> {
        fn progress(&mut self, progress: &AsnetProgress) {
            if progress.round == 2 {
                self.0.raise();
            }
        }
    }
    let mut budget = Budget::new(Limits::default(), flag.clone());
    let training = AsnetTraining::new(config(3, 4), three_problems(), &mut budget);
    let trained =
        training.expect("prepared").run(&mut StopAfter(&flag), &mut budget).expect("trained");
    assert_eq!(trained.stopped, Some(StopReason::Interrupted));
    for wrong in [
        AsnetConfig { dropout: 1.0, ..config(3, 4) },
        AsnetConfig { rate: f64::NAN, ..config(3, 4) },
        AsnetConfig { l1: -1.0, ..config(3, 4) },
        AsnetConfig { batch: 0, ..config(3, 4) },
    ] {
        let training = AsnetTraining::new(wrong, three_problems(), &mut Budget::unlimited());
        assert!(matches!(training, Err(TrainError::Setting(_))));
    }
}
