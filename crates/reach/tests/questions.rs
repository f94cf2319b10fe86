//! Small tasks with known answers: the switches of the question, differential equations, limits,
//! the journal.

use std::path::Path;

use policert_engine_api::{CancelFlag, Limits, Silent, StopReason};
use policert_numeric::Interval;
use policert_reach::{
    AfterGoal, Analysis, Config, GoalRule, Journal, ObstacleKind, ReachVerdict, Task, UnknownCause,
    ViolationKind, analyse,
};

fn task(text: &str) -> Task {
    Task::parse("task.toml", text, Path::new(""), None).expect("well-formed")
}

fn answer(task: &Task, config: &Config) -> Analysis {
    analyse(task, config, None, &CancelFlag::default(), &mut Silent).expect("an answer")
}

/// x goes up by u = 1 in each step, from [0, 1]; the goal is [3, 4].
fn walk(extra: &str) -> Task {
    task(&format!(
        "[task]\nstate = [\"x\"]\ngrid = [-100, 100]\npolicy = \"1\"\nupdate = \"x + u\"\n\
         initial = [0, 1]\nsteps = 8\n{extra}"
    ))
}

#[test]
fn the_switches_of_the_question() {
    // All are in [3, 4] at step 3. At step 6 they are in [6, 7].
    let mut task = walk("goal = [3, 4]\nunsafe = [6, 7]\n");
    for (goal, after_goal, safe) in [
        (GoalRule::AllAtOnce, AfterGoal::Stop, true),
        (GoalRule::AllAtOnce, AfterGoal::Continue, false),
        (GoalRule::Each, AfterGoal::Stop, true),
        (GoalRule::Each, AfterGoal::Continue, false),
    ] {
        task.question.goal = goal;
        task.question.after_goal = after_goal;
        match answer(&task, &Config::default()).verdict {
            ReachVerdict::Safe { goal_step } => assert!(safe && goal_step == Some(3)),
            ReachVerdict::Unsafe(found) => {
                assert!(!safe && matches!(found.kind, ViolationKind::Unsafe { .. }));
            }
            ReachVerdict::Unknown(cause) => panic!("{cause:?}"),
        }
    }
    // A goal that is narrower than the boxes: each reaches it if the parts are small enough.
    let mut task = walk("goal = [2.75, 3.75]\n");
    task.question = Default::default();
    let analysis = answer(&task, &Config::default());
    assert_eq!(analysis.verdict, ReachVerdict::Safe { goal_step: Some(3) });
    assert!(analysis.statistics.parts_refined > 0);
    task.question.goal = GoalRule::AllAtOnce;
    assert!(!matches!(answer(&task, &Config::default()).verdict, ReachVerdict::Safe { .. }));
}

#[test]
fn what_is_not_known_has_a_reason() {
    let mut task = walk("unsafe = [50, 60]\n");
    task.steps = 200;
    let reason = |analysis: Analysis| match analysis.verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { kind, step, .. }) => (kind, step),
        other => panic!("{other:?}"),
    };
    task.avoid = None;
    task.goal = None;
    assert_eq!(reason(answer(&task, &Config::default())), (ObstacleKind::LeavesGrid, 100));
    let divide = walk("unsafe = [50, 60]\n");
    let text = "[task]\nstate = [\"x\"]\ngrid = [-100, 100]\npolicy = \"0\"\nupdate = \"1/x + u\"\n\
                initial = [-1, 1]\nsteps = 2\nunsafe = [90, 99]\n";
    let config = Config { refinements: 2, ..Config::default() };
    assert_eq!(reason(answer(&self::task(text), &config)), (ObstacleKind::NoValue, 0));
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let stopped = answer(&divide, &Config { limits, ..Config::default() });
    let cause = UnknownCause::Stopped(StopReason::Time);
    assert_eq!(stopped.verdict, ReachVerdict::Unknown(cause));
}

/// x′ = −x + u with u = 0, from [1, 1.5]: e⁻ᵗ·x.
const DECAY: &str = r#"
state = ["x"]
input = ["u"]
[dynamics]
kind = "ode"
dt = 0.5
substeps = 10
derivative = ["-x + u"]
[abstraction]
edges = [[-10, 10]]
[policy]
formula = "0*lo"
[initial]
lower = [1]
upper = [1.5]
[unsafe]
lower = [LOW]
upper = [HIGH]
[horizon]
steps = 4
"#;

#[test]
fn differential_equations() {
    // After two seconds: [0.13533, 0.20300].
    let with = |low: &str, high: &str| task(&DECAY.replace("LOW", low).replace("HIGH", high));
    let verdict = |task: &Task| answer(task, &Config::default()).verdict;
    let safe = ReachVerdict::Safe { goal_step: None };
    assert_eq!(verdict(&with("0.01", "0.1353")), safe);
    assert_eq!(verdict(&with("1.501", "9")), safe);
    assert!(matches!(verdict(&with("0.2", "0.25")), ReachVerdict::Unsafe(_)));
    let config = Config { record: true, ..Config::default() };
    let analysis = answer(&with("0.01", "0.1353"), &config);
    let last = analysis.recorded.last().expect("boxes").iter().map(|one| one[0].outer);
    let last = last.reduce(Interval::hull).expect("boxes");
    let (lo, hi) = ((-2.0f64).exp(), 1.5 * (-2.0f64).exp());
    assert!(last.lo() <= lo && last.hi() >= hi);
    assert!(last.lo() > lo - 1e-3 && last.hi() < hi + 1e-3, "{last:?}");
    // x passes 0.75 to 0.8 between samples: e⁻⁰·⁵ = 0.6065 and 1.5·e⁻¹ = 0.5518, 1 and 1.5 at 0.
    let narrow = task(
        &DECAY
            .replace("LOW", "0.75")
            .replace("HIGH", "0.8")
            .replace("upper = [1.5]", "upper = [1.1]"),
    );
    assert_eq!(verdict(&narrow), safe);
    let config = Config { between_samples: true, refinements: 1, ..Config::default() };
    match answer(&narrow, &config).verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { kind, step, .. }) => {
            assert_eq!((kind, step), (ObstacleKind::MeetsUnsafeBetween, 1));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_interrupted_run_resumes() {
    let mut task = walk("goal = [2.75, 3.75]\n");
    task.question = Default::default();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal");
    let config = Config::default();
    let run = |key: &str| {
        let mut journal = Journal::open(&path, key).expect("a journal");
        let cancel = CancelFlag::default();
        let analysis =
            analyse(&task, &config, Some(&mut journal), &cancel, &mut Silent).expect("an answer");
        journal.finish().expect("written");
        analysis
    };
    let first = run("a");
    assert_eq!(first.statistics.parts_resumed, 0);
    // A line that was cut off does no harm.
    let text = std::fs::read_to_string(&path).expect("lines");
    std::fs::write(&path, &text[..text.len() - 20]).expect("shortened");
    let second = run("a");
    assert_eq!(second.verdict, first.verdict);
    assert_eq!(second.statistics.boxes_per_step, first.statistics.boxes_per_step);
    assert!(second.statistics.parts_resumed > 0);
    assert!(Journal::open(&path, "b").is_err());
}

/// A loop whose controller reads the state: x′ = x + 0.1·u, u = −x by a network.
#[test]
fn networks_that_read_the_state() {
    let folder = tempfile::tempdir().expect("a folder");
    // One layer, 1 × 1: u = −x.
    let nnet = "// u = -x\n1,1,1,1,\n1,1,\n0,\n-10,\n10,\n0,0,\n1,1,\n-1.0,\n0.0,\n";
    std::fs::write(folder.path().join("minus.nnet"), nnet).expect("written");
    let text = "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
                update = [\"x + 0.1*u\"]\n[policy]\nnetwork = \"minus.nnet\"\n\
                input = \"state\"\n[initial]\nlower = [-1]\nupper = [1]\n[goal]\n\
                lower = [LOW]\nupper = [HIGH]\n[horizon]\nsteps = 20\n";
    // 0.9²⁰ = 0.12158.
    let with = |bound: &str| {
        let text = text.replace("LOW", &format!("-{bound}")).replace("HIGH", bound);
        Task::parse("task.toml", &text, folder.path(), None).expect("well-formed")
    };
    let config = Config { refinements: 0, ..Config::default() };
    let verdict = answer(&with("0.1216"), &config).verdict;
    assert_eq!(verdict, ReachVerdict::Safe { goal_step: Some(20) });
    assert!(matches!(answer(&with("0.1215"), &config).verdict, ReachVerdict::Unsafe(_)));
}
