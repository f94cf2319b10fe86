//! Random small loops against exact simulation: a sampled trajectory refutes a wrong *safe*, and the
//! trajectories of *unsafe* are replayed.

mod loops;

use policert_engine_api::{Budget, Silent};
use policert_numeric::Rational;
use policert_reach::{
    AfterGoal, Counterexample, GoalRule, LoopAnalysis, ReachConfig, ReachVerdict, Task,
    UnknownCause, ViolationKind, analyse,
};
use policert_testkit::slow_tests;

use loops::{Loop, Random, Run};

/// The seed of the fast tier; the slow one draws another and prints it.
const SEED: u64 = 0x1234_5678_9abc_def1;

fn answer(task: &Task, config: &ReachConfig) -> LoopAnalysis {
    analyse(task, config, None, Budget::unlimited(), &mut Silent).expect("an answer")
}

/// Checks a run against a verdict *safe*, with the step at which all are in the goal.
fn is_as_asked(task: &Task, run: &Run, goal_step: Option<u32>) -> Result<(), String> {
    let (rule, after) = (task.question.goal, task.question.after_goal);
    let counts = |step: usize| task.first_unsafe_step().is_some_and(|first| step >= first as usize);
    let mut reached = task.goal.is_none();
    for step in 0..=task.steps as usize {
        let Some(state) = run.states.get(step) else {
            return Err(format!("there is no state at step {step}"));
        };
        if counts(step) && state.is_unsafe {
            return Err(format!("unsafe at step {step}"));
        }
        match rule {
            GoalRule::Each => reached |= state.in_goal,
            GoalRule::AllAtOnce if goal_step == u32::try_from(step).ok() => {
                if !state.in_goal {
                    return Err(format!("not in the goal at step {step}"));
                }
                reached = true;
            }
            GoalRule::AllAtOnce => {}
        }
        let nothing_after = after == AfterGoal::Stop || task.never_avoids();
        if reached && task.goal.is_some() && nothing_after {
            return Ok(());
        }
    }
    if reached { Ok(()) } else { Err("the goal is never reached".to_owned()) }
}

/// Replays what shows *unsafe*.
fn replay(task: &Task, drawn: &Loop, found: &Counterexample) -> Result<(), String> {
    let runs: Vec<Run> = found.trajectories.iter().map(|path| drawn.run(&path.start)).collect();
    for path in &found.trajectories {
        let inside = path.start.iter().zip(&task.initial).all(|(x, (lo, hi))| lo <= x && x <= hi);
        if !inside {
            return Err("the start is no start state".to_owned());
        }
    }
    let outside = |run: &Run, step: usize| run.states.get(step).is_some_and(|s| !s.in_goal);
    let goal_before = |step: usize| match task.question.goal {
        GoalRule::Each => (0..step).any(|k| !outside(&runs[0], k)),
        GoalRule::AllAtOnce => (0..step).any(|k| runs.iter().all(|run| !outside(run, k))),
    };
    match found.kind {
        ViolationKind::Unsafe { step } => {
            let at = step as usize;
            let is_unsafe = runs[0].states.get(at).is_some_and(|state| state.is_unsafe);
            if !is_unsafe || task.first_unsafe_step().is_none_or(|first| step < first) {
                return Err(format!("not unsafe at step {step}"));
            }
            if task.ends_in_goal() && goal_before(at) {
                return Err("the goal comes before".to_owned());
            }
        }
        ViolationKind::MissesGoal => {
            if task.goal.is_none() || goal_before(task.steps as usize + 1) {
                return Err("the goal is reached".to_owned());
            }
        }
    }
    Ok(())
}

/// The number of verdicts of each kind.
#[derive(Default, Debug)]
struct Tally {
    safe: u32,
    goals: u32,
    counterexamples: u32,
    misses: u32,
    unknown: u32,
    undefined: u32,
    decided_points: u32,
}

fn check(drawn: &Loop, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let text = drawn.text();
    let task = match Task::parse("task.toml", &text, std::path::Path::new(""), None) {
        Ok(task) => task,
        // A divisor that is the number 0 is noticed when the formula is read.
        Err(error) if error.to_string().contains("division by 0") => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let config = ReachConfig { refinements: Some(3), ..ReachConfig::default() };
    let analysis = answer(&task, &config);
    let starts = drawn.starts(random);
    match &analysis.verdict {
        ReachVerdict::Safe { goal_step } => {
            tally.safe += 1;
            tally.goals += u32::from(goal_step.is_some());
            for start in &starts {
                is_as_asked(&task, &drawn.run(start), *goal_step)
                    .map_err(|what| format!("SAFE, but from {start:?}: {what}"))?;
            }
        }
        ReachVerdict::Unsafe(found) => {
            tally.counterexamples += 1;
            tally.misses += u32::from(found.kind == ViolationKind::MissesGoal);
            replay(&task, drawn, found).map_err(|what| format!("UNSAFE: {what}: {found:?}"))?;
        }
        ReachVerdict::Unknown(UnknownCause::Stopped(reason)) => return Err(reason.to_string()),
        ReachVerdict::Unknown(_) => {
            tally.unknown += 1;
            let run = drawn.run(&starts[0]);
            tally.undefined += u32::from(run.states.len() <= task.steps as usize);
            // Bounds are exact: a single start whose run is defined is decided.
            if !drawn.rounded && drawn.is_point() && run.states.len() > task.steps as usize {
                return Err("a single start is not decided".to_owned());
            }
        }
    }
    tally.decided_points += u32::from(drawn.is_point());
    if analysis.exact == drawn.rounded {
        return Err("bounds are exact where they should not be, or the reverse".to_owned());
    }
    Ok(())
}

#[test]
fn verdicts_agree_with_exact_simulation() {
    let (count, seed) = if slow_tests() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        (20_000, now.map_or(SEED, |now| now.as_secs() | 1))
    } else {
        (600, SEED)
    };
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for k in 0..count {
        let drawn = Loop::draw(&mut random);
        check(&drawn, &mut random, &mut tally)
            .unwrap_or_else(|what| panic!("seed {seed}, loop {k}: {what}\n{}", drawn.text()));
    }
    // All kinds of answers occur, or nothing was compared.
    let least = count / 60;
    assert!(
        tally.safe > least
            && tally.goals > least
            && tally.counterexamples > least
            && tally.misses > least
            && tally.undefined > least
            && tally.decided_points > least,
        "{tally:?}"
    );
}

#[test]
fn threads_change_nothing() {
    let mut random = Random::new(SEED);
    let mut compared = 0;
    for _ in 0..60 {
        let drawn = Loop::draw(&mut random);
        let Ok(task) = Task::parse("task.toml", &drawn.text(), std::path::Path::new(""), None)
        else {
            continue;
        };
        let config = |threads| ReachConfig {
            threads,
            record: true,
            refinements: Some(3),
            ..ReachConfig::default()
        };
        let (one, two) = (answer(&task, &config(1)), answer(&task, &config(3)));
        assert_eq!(one.verdict, two.verdict, "{}", drawn.text());
        assert_eq!(one.cells, two.cells, "{}", drawn.text());
        assert_eq!(one.recorded, two.recorded, "{}", drawn.text());
        let mut statistics = two.statistics.clone();
        (statistics.time, statistics.times) = (one.statistics.time, one.statistics.times);
        assert_eq!(one.statistics, statistics, "{}", drawn.text());
        compared += usize::from(one.statistics.parts > 1 && !one.cells.is_empty());
    }
    assert!(compared > 10, "only {compared} loops had parts");
}

/// A fraction.
fn number(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("not 0")
}
