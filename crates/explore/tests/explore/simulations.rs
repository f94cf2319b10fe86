//! Simulated runs end as they should.

use policert_engine_api::{Budget, CancelFlag, EngineError, Limits, Question, StopReason};
use policert_explore::{
    Random, Run, RunEnding, Simulation, SimulationConfig, SimulationStatistics,
};
use policert_model::{BinaryOp, Condition, Expr, Model, State};

use crate::automaton::{edge, equals, model, property, set, var};

/// `x0` counts from 0 to `last`, by the label a0.
fn counter(last: i64) -> Model {
    let next = Expr::binary(BinaryOp::Add, Expr::Var(var(0)), Expr::int(1));
    model(&[(0, last)], 1, vec![edge(Some(0), Condition::True, vec![set(var(0), next)])])
}

fn run(question: &Question<'_>, config: SimulationConfig) -> (Run, Vec<State>) {
    let mut states = Vec::new();
    let mut simulation = Simulation::new(question, None, config);
    let (mut random, mut budget) = (Random::new(1), Budget::unlimited());
    let run = simulation
        .run(&[0, 0], &mut random, &mut budget, &mut |step| states.push(step.state.to_vec()))
        .expect("no error");
    (run, states)
}

#[test]
fn runs_end_in_every_way() {
    let model = counter(4);
    let config = SimulationConfig { steps: 10, past_goal: false };
    let ending = |unsafe_at: i64, goal: Option<i64>, terminal: Option<i64>, config| {
        let mut property = property(equals(var(0), unsafe_at));
        property.goal = goal.map(|at| equals(var(0), at));
        let mut question = Question::new(&model, &property);
        question.terminal = terminal.map(|at| equals(var(0), at));
        let (run, states) = run(&question, config);
        assert_eq!(states.len(), usize::try_from(run.steps).expect("few"));
        (run.ending, run.steps, run.reached_goal)
    };
    assert_eq!(ending(2, None, None, config), (RunEnding::Unsafe, 2, false));
    assert_eq!(ending(2, Some(2), Some(2), config), (RunEnding::Unsafe, 2, true));
    assert_eq!(ending(2, Some(1), None, config), (RunEnding::Goal, 1, true));
    assert_eq!(ending(9, None, Some(3), config), (RunEnding::Terminal, 3, false));
    assert_eq!(ending(9, None, None, config), (RunEnding::Dropped, 4, false));
    let short = SimulationConfig { steps: 3, ..config };
    assert_eq!(ending(9, None, None, short), (RunEnding::CutOff, 3, false));
    // In the last state that is allowed it still counts what that is.
    assert_eq!(ending(3, None, None, short), (RunEnding::Unsafe, 3, false));
    let past = SimulationConfig { past_goal: true, ..config };
    assert_eq!(ending(2, Some(1), None, past), (RunEnding::Unsafe, 2, true));
    assert_eq!(ending(2, Some(1), Some(1), past), (RunEnding::Goal, 1, true));
}

#[test]
fn nothing_enabled_is_stuck() {
    let model = model(&[(0, 1)], 1, vec![edge(Some(0), Condition::False, Vec::new())]);
    let property = property(Condition::False);
    let config = SimulationConfig { steps: 10, past_goal: false };
    let (found, states) = run(&Question::new(&model, &property), config);
    assert_eq!((found.ending, found.chosen), (RunEnding::Stuck, None));
    assert!(states.is_empty());
}

#[test]
fn statistics_add_up() {
    let mut statistics = SimulationStatistics::default();
    assert_eq!(
        (statistics.runs(), statistics.mean_length(), statistics.longest()),
        (0, None, None)
    );
    for (ending, steps) in [(RunEnding::Goal, 4), (RunEnding::Goal, 1), (RunEnding::Stuck, 7)] {
        let reached_goal = ending == RunEnding::Goal;
        statistics.add(&Run { ending, steps, reached_goal, chosen: None });
    }
    assert_eq!((statistics.runs(), statistics.reached_goal()), (3, 2));
    assert_eq!((statistics.shortest(), statistics.longest()), (Some(1), Some(7)));
    assert_eq!(statistics.mean_length(), Some(4.0));
    assert_eq!(statistics.mean_length_of(RunEnding::Goal), Some(2.5));
    assert_eq!(statistics.mean_length_of(RunEnding::Unsafe), None);
    assert_eq!(statistics.ended(RunEnding::Stuck).runs, 1);
}

#[test]
fn a_stop_ends_a_run() {
    let model = counter(4);
    let property = property(Condition::False);
    let config = SimulationConfig { steps: 10, past_goal: false };
    let mut simulation = Simulation::new(&Question::new(&model, &property), None, config);
    let cancel = CancelFlag::default();
    cancel.raise();
    let mut budget = Budget::new(Limits::default(), cancel);
    let result = simulation.run(&[0, 0], &mut Random::new(1), &mut budget, &mut |_| ());
    assert_eq!(result, Err(EngineError::Stop(StopReason::Interrupted)));
}
