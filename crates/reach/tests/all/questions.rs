//! Small tasks with known answers: the switches of the question, differential equations, limits,
//! the journal.

use std::path::Path;

use policert_engine_api::{Budget, CancelFlag, Limits, Silent, StopReason};
use policert_numeric::{Interval, Rational};
use policert_reach::{
    AfterGoal, Border, Evaluation, GoalRule, LoopAnalysis, LoopRegion, NetworkArithmetic,
    ObstacleKind, ReachConfig, ReachJournal, ReachVerdict, RefinementEnd, Rounding, StateSetKind,
    Task, UnknownCause, ViolationKind, analyse,
};

fn task(text: &str) -> Task {
    Task::parse("task.toml", text, Path::new(""), None).expect("well-formed")
}

fn answer(task: &Task, config: &ReachConfig) -> LoopAnalysis {
    analyse(task, config, None, Budget::unlimited(), &mut Silent).expect("an answer")
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
        match answer(&task, &ReachConfig::default()).verdict {
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
    let analysis = answer(&task, &ReachConfig::default());
    assert_eq!(analysis.verdict, ReachVerdict::Safe { goal_step: Some(3) });
    assert!(analysis.statistics.parts_refined > 0);
    task.question.goal = GoalRule::AllAtOnce;
    let few = ReachConfig { refinements: Some(4), ..ReachConfig::default() };
    assert!(!matches!(answer(&task, &few).verdict, ReachVerdict::Safe { .. }));
}

#[test]
fn what_is_not_known_has_a_reason() {
    let mut task = walk("unsafe = [50, 60]\n");
    task.steps = 200;
    let reason = |analysis: LoopAnalysis| match analysis.verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { kind, step, .. }) => (kind, step),
        other => panic!("{other:?}"),
    };
    task.avoid.clear();
    task.goal = None;
    assert_eq!(reason(answer(&task, &ReachConfig::default())), (ObstacleKind::LeavesGrid, 100));
    let divide = walk("unsafe = [50, 60]\n");
    let text = "[task]\nstate = [\"x\"]\ngrid = [-100, 100]\npolicy = \"0\"\nupdate = \"1/x + u\"\n\
                initial = [-1, 1]\nsteps = 2\nunsafe = [90, 99]\n";
    let config = ReachConfig { refinements: Some(2), ..ReachConfig::default() };
    assert_eq!(reason(answer(&self::task(text), &config)), (ObstacleKind::NoValue, 0));
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let budget = Budget::new(limits, CancelFlag::default());
    let stopped =
        analyse(&divide, &ReachConfig::default(), None, budget, &mut Silent).expect("an answer");
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
    let verdict = |task: &Task| answer(task, &ReachConfig::default()).verdict;
    let safe = ReachVerdict::Safe { goal_step: None };
    assert_eq!(verdict(&with("0.01", "0.1353")), safe);
    assert_eq!(verdict(&with("1.501", "9")), safe);
    assert!(matches!(verdict(&with("0.2", "0.25")), ReachVerdict::Unsafe(_)));
    let config = ReachConfig { record: true, ..ReachConfig::default() };
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
    let config =
        ReachConfig { between_samples: true, refinements: Some(1), ..ReachConfig::default() };
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
    let config = ReachConfig::default();
    let run = |key: &str| {
        let mut journal = ReachJournal::open(&path, key).expect("a journal");
        let budget = Budget::unlimited();
        let analysis =
            analyse(&task, &config, Some(&mut journal), budget, &mut Silent).expect("an answer");
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
    assert!(ReachJournal::open(&path, "b").is_err());
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
    for sets in [StateSetKind::Auto, StateSetKind::Zonotopes, StateSetKind::TaylorModels] {
        let config = ReachConfig { refinements: Some(0), sets, ..ReachConfig::default() };
        let verdict = answer(&with("0.1216"), &config).verdict;
        assert_eq!(verdict, ReachVerdict::Safe { goal_step: Some(20) }, "{sets:?}");
        assert!(matches!(answer(&with("0.1215"), &config).verdict, ReachVerdict::Unsafe(_)));
    }
}

#[test]
fn networks_that_read_the_state_over_differential_equations() {
    let folder = tempfile::tempdir().expect("a folder");
    let nnet = "// u = -x\n1,1,1,1,\n1,1,\n0,\n-10,\n10,\n0,0,\n1,1,\n-1.0,\n0.0,\n";
    std::fs::write(folder.path().join("minus.nnet"), nnet).expect("written");
    // x' = u·x with u held for 1/2: from x to x·e^(-x/2), and from 1 to 0.60653 and 0.44786.
    let with = |initial: &str, avoid: &str| {
        let text = format!(
            "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"ode\"\ndt = 0.5\nsubsteps = 10\n\
             derivative = [\"u*x\"]\n[policy]\nnetwork = \"minus.nnet\"\ninput = \"state\"\n\
             [initial]\nlower = [{initial}]\nupper = [1]\n[unsafe]\nlower = [{avoid}]\n\
             upper = [10]\nfrom_step = 2\n[horizon]\nsteps = 2\n"
        );
        Task::parse("task.toml", &text, folder.path(), None).expect("well-formed")
    };
    for sets in [StateSetKind::Auto, StateSetKind::Zonotopes, StateSetKind::TaylorModels] {
        let config = ReachConfig { sets, ..ReachConfig::default() };
        for initial in ["0.9", "1"] {
            let safe = answer(&with(initial, "0.45"), &config).verdict;
            assert_eq!(safe, ReachVerdict::Safe { goal_step: None }, "{sets:?} {initial}");
            let violated = answer(&with(initial, "0.445"), &config).verdict;
            assert!(matches!(violated, ReachVerdict::Unsafe(_)), "{sets:?} {initial}");
        }
    }
}

/// A loop from the text of a task file with tables.
fn loop_of(policy: &str, update: &str, initial: &str, rest: &str) -> Task {
    task(&format!(
        "state = [\"x\"]\ninput = [\"u\"]\n[abstraction]\nedges = [[-1, 0, 1, 3]]\n[policy]\n\
         formula = [\"{policy}\"]\n[initial]\nlower = [{initial}]\nupper = [{initial}]\n[dynamics]\n\
         kind = \"difference\"\nupdate = [\"{update}\"]\n{rest}"
    ))
}

#[test]
fn a_policy_without_value_gives_no_action_rather_than_any() {
    let obstacle = |task: &Task| match answer(task, &ReachConfig::default()).verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { kind, step, .. }) => (kind, step),
        other => panic!("{other:?}"),
    };
    // Neither clamp makes an action of what is none: the first rest would be safe, the second unsafe.
    for rest in [
        "clamp = [[0, 1]]\n[unsafe]\nlower = [2]\nupper = [3]\n[horizon]\nsteps = 2\n",
        "clamp = [[1, 1]]\n[unsafe]\nlower = [1]\nupper = [3]\n[horizon]\nsteps = 1\n",
        "[action]\nclamp = [0, 0.25]\n[unsafe]\nlower = [2]\nupper = [3]\n[horizon]\nsteps = 1\n",
        "[action]\nclamp = [1, 1]\n[unsafe]\nlower = [1]\nupper = [3]\n[horizon]\nsteps = 1\n",
    ] {
        for policy in
            ["1/lo", "log(lo)", "sqrt(lo - 1)", "lo^-2", "0*log(lo - 9)", "1 if 1/lo < 2 else 1"]
        {
            let task = loop_of(policy, "x + u", "0.5", rest);
            assert_eq!(obstacle(&task), (ObstacleKind::NoAction, 0), "{policy}: {rest}");
        }
        for update in [
            "1/(x - 0.5) + u",
            "log(x - 0.5) + u",
            "u + 0*sqrt(x - 1)",
            "1 if 1/(x - 0.5) < u else 1",
        ] {
            let task = loop_of("0", update, "0.5", rest);
            assert_eq!(obstacle(&task), (ObstacleKind::NoValue, 0), "{update}: {rest}");
        }
    }
    // Elsewhere the same policies have values.
    let rest = "clamp = [[0, 1]]\n[unsafe]\nlower = [2]\nupper = [3]\n[horizon]\nsteps = 1\n";
    let verdict = answer(&loop_of("1/lo", "x + u", "1", rest), &ReachConfig::default()).verdict;
    assert_eq!(verdict, ReachVerdict::Safe { goal_step: None });
}

#[test]
fn a_network_that_computes_no_number_gives_no_action() {
    let folder = tempfile::tempdir().expect("a folder");
    // relu(w·lo + 0·hi), then minus itself: in 32 bits ∞ − ∞ for a large w; with a clamp of the action.
    let nnet = "// w\n2,2,1,2,\n2,2,1,\n0,\n-10,-10,\n10,10,\n0,0,0,\n1,1,1,\n3e38,0,\n3e38,0,\n0,\n0,\n\
                1,-1,\n0,\n";
    std::fs::write(folder.path().join("w.nnet"), nnet).expect("written");
    let text = "state = [\"x\"]\ninput = [\"u\"]\n[abstraction]\nedges = [[-4, 2, 4]]\n[policy]\n\
                network = \"w.nnet\"\n[action]\nclamp = [0, 0]\n[initial]\nlower = [START]\n\
                upper = [START]\n[dynamics]\nkind = \"difference\"\nupdate = [\"x + u\"]\n\
                [unsafe]\nlower = [9]\nupper = [10]\n[horizon]\nsteps = 1\n";
    let verdict = |start: &str, evaluation, rounding| {
        let text = text.replace("START", start);
        let task = Task::parse("t.toml", &text, folder.path(), None).expect("well-formed");
        let arithmetic = NetworkArithmetic { evaluation, rounding };
        answer(&task, &ReachConfig { arithmetic, ..ReachConfig::default() }).verdict
    };
    let safe = ReachVerdict::Safe { goal_step: None };
    for rounding in [Rounding::AsComputed, Rounding::AnyOrder] {
        // In the cell [-4, 2) max(−∞, 0) = 0 hides the overflow: it is not relied on.
        for start in ["-3", "3"] {
            match verdict(start, Evaluation::F32, rounding) {
                ReachVerdict::Unknown(UnknownCause::Obstacle { kind, .. }) => {
                    assert_eq!(kind, ObstacleKind::NoAction);
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(verdict(start, Evaluation::F64, rounding), safe);
        }
    }
}

#[test]
fn a_start_on_the_edge_of_the_unsafe_set_is_unsafe_at_once() {
    // One tenth and three tenths are no doubles, and sin makes bounds inexact.
    let rest = |boundary: &str| {
        format!(
            "[unsafe]\nlower = [0.1]\nupper = [0.3]\nboundary = \"{boundary}\"\n[horizon]\nsteps = 2\n"
        )
    };
    for start in ["0.1", "0.3"] {
        let task = loop_of("0", "x + 0.5 + sin(u)", start, &rest("closed"));
        match answer(&task, &ReachConfig::default()).verdict {
            ReachVerdict::Unsafe(found) => {
                assert_eq!(found.kind, ViolationKind::Unsafe { step: 0 })
            }
            other => panic!("{other:?}"),
        }
        let task = loop_of("0", "x + 0.5 + sin(u)", start, &rest("open"));
        let verdict = answer(&task, &ReachConfig::default()).verdict;
        assert_eq!(verdict, ReachVerdict::Safe { goal_step: None }, "{start}");
    }
    // Inside the initial box, far from its corners and middle.
    let mut task = loop_of("0", "x + u", "0.5", &rest("closed"));
    task.initial = vec![(Rational::from(0), Rational::from(1))];
    task.partition = vec![vec![Rational::from(0), Rational::from(1)]];
    task.avoid[0].region = LoopRegion::new(
        vec![(
            0,
            Rational::new(713, 1000).expect("a number"),
            Rational::new(714, 1000).expect("a number"),
        )],
        Border::Open,
    );
    match answer(&task, &ReachConfig::default()).verdict {
        ReachVerdict::Unsafe(found) => assert_eq!(found.kind, ViolationKind::Unsafe { step: 0 }),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_comes_after_the_goal_does_not_matter_where_runs_end_there() {
    // All are in the goal at step 3, and leave the cells afterwards.
    let mut task = task(
        "[task]\nstate = [\"x\"]\ngrid = [-1, 5]\npolicy = \"1\"\nupdate = \"x + u\"\n\
         initial = [0, 1]\nsteps = 8\ngoal = [3, 4]\nunsafe = [50, 60]\n",
    );
    for (goal, after_goal, avoids, safe) in [
        (GoalRule::AllAtOnce, AfterGoal::Stop, true, true),
        (GoalRule::AllAtOnce, AfterGoal::Continue, true, false),
        (GoalRule::AllAtOnce, AfterGoal::Continue, false, true),
        (GoalRule::Each, AfterGoal::Stop, true, true),
        (GoalRule::Each, AfterGoal::Continue, true, false),
        (GoalRule::Each, AfterGoal::Continue, false, true),
    ] {
        let mut asked = task.clone();
        asked.question.goal = goal;
        asked.question.after_goal = after_goal;
        if !avoids {
            asked.avoid.clear();
        }
        for parts in [1, 2] {
            if parts == 2 {
                asked.partition[0].insert(1, Rational::new(1, 2).expect("a number"));
            }
            let verdict = answer(&asked, &ReachConfig::default()).verdict;
            let is_safe = verdict == ReachVerdict::Safe { goal_step: Some(3) };
            assert_eq!(is_safe, safe, "{goal:?} {after_goal:?} {parts}: {verdict:?}");
        }
    }
    // An unsafe set that counts from after the last step on is none.
    task.question.after_goal = AfterGoal::Continue;
    task.avoid[0].from_step = 9;
    let verdict = answer(&task, &ReachConfig::default()).verdict;
    assert_eq!(verdict, ReachVerdict::Safe { goal_step: Some(3) });
}

#[test]
fn refinement_ends_where_it_cannot_help() {
    // From 0 there is no next state, however small the part around it.
    let text = "[task]\nstate = [\"x\"]\ngrid = [-100, 100]\npolicy = \"0\"\nupdate = \"1/x + u\"\n\
                initial = [-1, 1]\nsteps = 2\nunsafe = [101, 102]\n";
    match answer(&self::task(text), &ReachConfig::default()).verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { kind, end, .. }) => {
            assert!(matches!(kind, ObstacleKind::NoValue | ObstacleKind::LeavesGrid), "{kind:?}");
            assert!(
                matches!(end, RefinementEnd::Depth(_) | RefinementEnd::SingleState(_)),
                "{end:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    // Six halvings are needed: parts have to be narrower than the goal by a step.
    let text = "state = [\"x\"]\ninput = [\"u\"]\n[abstraction]\nedges = [[-1, 3]]\n[policy]\n\
                formula = [\"0.01\"]\n[initial]\nlower = [0]\nupper = [1]\n[dynamics]\n\
                kind = \"difference\"\nupdate = [\"x + u\"]\n[goal]\nlower = [1]\nupper = [1.03]\n\
                [horizon]\nsteps = 110\n";
    let task = self::task(text);
    let few = ReachConfig { refinements: Some(4), ..ReachConfig::default() };
    match answer(&task, &few).verdict {
        ReachVerdict::Unknown(UnknownCause::Obstacle { end, .. }) => {
            assert_eq!(end, RefinementEnd::Refinements(4));
        }
        other => panic!("{other:?}"),
    }
    let verdict = answer(&task, &ReachConfig::default()).verdict;
    assert!(matches!(verdict, ReachVerdict::Safe { goal_step: Some(_) }), "{verdict:?}");
}

#[test]
fn a_network_that_leads_to_the_very_edge_of_the_unsafe_set_is_unsafe() {
    let folder = tempfile::tempdir().expect("a folder");
    // u = 0.25, whatever the cell.
    let nnet = "// u\n1,2,1,2,\n2,1,\n0,\n-10,-10,\n10,10,\n0,0,0,\n1,1,1,\n0,0,\n0.25,\n";
    std::fs::write(folder.path().join("u.nnet"), nnet).expect("written");
    // 0.1 + 0.25 = 0.35, which is no double.
    let text = "state = [\"x\"]\ninput = [\"u\"]\n[abstraction]\nedges = [[0, 0.35, 4]]\n[policy]\n\
                network = \"u.nnet\"\n[initial]\nlower = [0.1]\nupper = [0.1]\n[dynamics]\n\
                kind = \"difference\"\nupdate = [\"x + u\"]\n[unsafe]\nlower = [0.6]\n\
                upper = [0.6]\n[horizon]\nsteps = 2\n";
    let task = Task::parse("t.toml", text, folder.path(), None).expect("well-formed");
    match answer(&task, &ReachConfig::default()).verdict {
        ReachVerdict::Unsafe(found) => assert_eq!(found.kind, ViolationKind::Unsafe { step: 2 }),
        other => panic!("{other:?}"),
    }
}
