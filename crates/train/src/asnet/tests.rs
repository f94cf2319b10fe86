//! Gradients against differences; a network that learns a small domain.

use policert_asnet::{Architecture, Asnet, DomainShape, Instance, Nonlinearity, network};
use policert_pddl::{Task, parse_domain, parse_problem};
use policert_policy::Evaluator;

use super::gradient::Pass;
use super::session::{flat, loss_of, put};
use super::*;
use crate::Random;

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

#[test]
fn the_teacher_knows_shortest_ways() {
    let task = task(FOUR);
    let lessons = Lessons::of(&task, &mut || false).expect("small");
    assert_eq!(lessons.count(), 125);
    // Take a off b, put it down, take b, put it on c, take a, put it on b.
    assert_eq!(lessons.distance(&task.initial), Some(6));
    let lesson = lessons.lesson(&task.initial).expect("no goal state");
    let names: Vec<String> =
        lesson.best.iter().map(|&action| task.action_name(&task.actions[action])).collect();
    assert_eq!(names, ["unstack(a,b)"]);
}

#[test]
fn gradients_are_those_of_differences() {
    let task = task(FOUR);
    let instance = Instance::of(&DomainShape::of(&task.domain), &task);
    let lessons = Lessons::of(&task, &mut || false).expect("small");
    let lesson = lessons.lesson(&task.initial).expect("no goal state");
    let mut applicable = vec![false; task.actions.len()];
    lesson.applicable.iter().for_each(|&action| applicable[action] = true);
    for nonlinearity in [Nonlinearity::Relu, Nonlinearity::Elu] {
        let mut random = Random::new(5);
        let mut asnet = drawn(&task, nonlinearity, &mut random);
        let loss = |asnet: &Asnet| {
            let pass = Pass::new(asnet, &instance, &lesson.state, &applicable);
            loss_of(pass.scores(), &lesson).0
        };
        let mut gradient = Asnet::zeros(asnet.shape.clone(), asnet.architecture);
        let pass = Pass::new(&asnet, &instance, &lesson.state, &applicable);
        let by_scores = loss_of(pass.scores(), &lesson).1;
        pass.add_gradient(&by_scores, &mut gradient);
        let (slopes, parameters) = (flat(&mut gradient), flat(&mut asnet));
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
        let states = asnet_run(&asnet, &task, &instance, 20, &mut random).states;
        assert!(!states.is_empty());
        for state in states {
            let applicable: Vec<bool> =
                task.actions.iter().map(|action| action.is_applicable(&state)).collect();
            let inputs: Vec<f64> = state.iter().map(|&truth| f64::from(u8::from(truth))).collect();
            let found = Pass::new(&asnet, &instance, &state, &applicable);
            let mut expected = Vec::new();
            evaluator.evaluate(&inputs, &mut expected);
            for (a, b) in found.scores().iter().zip(expected) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }
}

#[test]
fn a_network_learns_to_stack_blocks_and_the_seed_repeats_it() {
    let train = || {
        let problem = |goal: &str| FOUR.replace("(on a b) (on b c) (on c d)))", goal);
        let goals = ["(on a b) (on b c) (on c d)))", "(on d c) (on c b) (on b a)))", "(on b d)))"];
        let tasks = goals.iter().map(|goal| task(&problem(goal))).collect();
        let config = AsnetConfig {
            rounds: 25,
            batches: 30,
            batch: 16,
            rate: 0.01,
            ..AsnetConfig::new(Architecture {
                layers: 2,
                dimension: 6,
                nonlinearity: Nonlinearity::Relu,
                skip: true,
            })
        };
        let training = AsnetTraining::new(config, tasks, &mut || false).expect("prepared");
        training.run(&mut |_| {}, &mut || false)
    };
    let trained = train();
    assert!(!trained.is_incomplete, "{:?}", trained.best);
    assert_eq!(train().asnet, trained.asnet);
}
