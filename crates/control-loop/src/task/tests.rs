//! Task files: what is read, and where errors are.

use std::path::Path;

use policert_numeric::Rational;

use super::*;
use crate::region::Border;

const TASK: &str = r#"
name = "two"
dimension = 2
state = ["x1", "x2"]
input = ["u"]

[dynamics]
kind = "explicit-euler"
dt = 0.1
update = ["x1 + x2*dt", "x2 + u*dt"]
clamp = [[-2, 2], [-2, 2]]

[action]
scale = 4
offset = 0.5
clamp = [-1, 1]

[abstraction]
state_space_lower = [-2.5, -2.5]
state_space_upper = [2.5, 2.5]
granularity = [0.02, 0.3]

[initial]
lower = [0.8, 0.5]
upper = [0.9, 0.6]
partition_step = [0.03, 0.05]

[goal]
variables = ["x2"]
lower = [0]
upper = ["1/3"]
boundary = "open"

[unsafe]
variables = [1, 2]
lower = [0.4, -0.1]
upper = [0.7, 0.2]

[horizon]
steps = 70

[[instance]]
id = "a"
network = "nets/a.onnx"
aggregation_distance = [1e-4, 0.5]

[[instance]]
id = "b"
network = "nets/b.onnx"
"#;

fn read(text: &str, instance: Option<&str>) -> Result<Task, ReachError> {
    Task::parse("t.toml", text, Path::new("folder"), instance)
}

fn number(text: &str) -> Rational {
    text.parse().expect("a number")
}

#[test]
fn a_task_is_read_exactly() {
    let task = read(TASK, Some("a")).expect("well-formed");
    assert_eq!(task.name, "a");
    assert_eq!(task.initial[0], (number("0.8"), number("0.9")));
    let cuts: Vec<String> = task.partition[0].iter().map(ToString::to_string).collect();
    let expected: Vec<String> =
        ["0.8", "0.83", "0.86", "0.89", "0.9"].map(|cut| number(cut).to_string()).to_vec();
    assert_eq!(cuts, expected);
    assert_eq!(task.partition[1].len(), 3);
    let grid = task.grid.as_ref().expect("cells");
    assert_eq!((grid.axes()[0].len(), grid.axes()[1].len()), (250, 17));
    assert_eq!(grid.axes()[1].edge(17).exact(), &number("2.5"));
    assert_eq!(grid.axes()[1].edge(16).exact(), &number("2.3"));
    let goal = task.goal.as_ref().expect("a goal");
    assert_eq!(goal.border(), Some(Border::Open));
    let sides = goal.sides().expect("a box");
    assert_eq!((sides[0].variable, sides.len()), (1, 1));
    assert_eq!(sides[0].upper.exact(), &number("1/3"));
    assert_eq!(task.aggregation, Some(vec![1e-4, 0.5]));
    assert!(matches!(
        &task.controller,
        Controller::CellNetwork(path) if path == Path::new("folder/nets/a.onnx")
    ));
    assert_eq!(task.question, LoopQuestion::default());
    assert_eq!(read(TASK, Some("b")).expect("well-formed").aggregation, None);
}

#[test]
fn an_initial_box_is_restricted_with_its_cuts() {
    let mut task = read(TASK, Some("a")).expect("well-formed");
    let range = |text: &str| text.parse::<InitialRange>().expect("a range");
    let first = task.state[0].clone();
    task.restrict_initial(&range(&format!("{first} = 0.83 .. 7/8"))).expect("a part");
    assert_eq!(task.initial[0], (number("0.83"), number("7/8")));
    assert_eq!(task.partition[0], ["0.83", "0.86", "7/8"].map(number));
    assert_eq!((task.partition[1].len(), task.parts()), (3, 4));
    for outside in ["0.83..0.9", "0.8..0.85", "0.86..0.85"] {
        assert!(task.restrict_initial(&range(&format!("{first}={outside}"))).is_err());
    }
    assert!(task.restrict_initial(&range("nobody=0..1")).is_err());
    for wrong in ["x", "x=1", "x=1..", "x=..1", "x=a..1", "=0.1"] {
        assert!(wrong.parse::<InitialRange>().is_err(), "{wrong}");
    }
}

#[test]
fn an_instance_must_be_named() {
    for instance in [None, Some("c")] {
        let error = read(TASK, instance).expect_err("no instance").to_string();
        assert!(error.contains("a, b"), "{error}");
    }
}

#[test]
fn errors_have_places() {
    for (from, to, place, part) in [
        ("x2 + u*dt", "x2 + v*dt", "t.toml:10:31", "`v` is not known"),
        ("steps = 70", "steps = -1", "t.toml:40:9", "whole number"),
        ("boundary = \"open\"", "boundary = \"ajar\"", "t.toml:32:12", "closed"),
        ("scale = 4", "skale = 4", "t.toml:14:1", "no meaning"),
        ("lower = [0.8, 0.5]", "lower = [0.8]", "t.toml:24:9", "2 numbers"),
        ("dt = 0.1", "dt = 0", "t.toml:9:6", "positive"),
        ("[horizon]\nsteps = 70", "", "t.toml:1:1", "`horizon` is missing"),
        ("granularity = [0.02, 0.3]", "granularity = [0.02, 0]", "t.toml:21:15", "impossible"),
        ("dimension = 2", "dimension = ", "t.toml:3:13", ""),
    ] {
        assert!(TASK.contains(from), "{from}");
        let error = read(&TASK.replace(from, to), Some("a")).expect_err(to).to_string();
        assert!(error.starts_with(place) && error.contains(part), "{to}: {error}");
    }
}

#[test]
fn formulas() {
    let text = r#"
what = "not read"
[task]
state = ["x"]
grid = ["0.1", "0.2", "0.3"]
policy = "u = 0.1 if lo < 0.25 else -hi"
update = "x + u"
initial = ["0.1", "0.2"]
unsafe = ["-0.05", "0.05"]
unsafe_from_step = 1
steps = 4
"#;
    let task = read(text, None).expect("well-formed");
    assert_eq!(task.question.goal, GoalRule::AllAtOnce);
    assert_eq!(task.question.after_goal, AfterGoal::Continue);
    assert_eq!((task.steps, task.first_unsafe_step()), (4, Some(1)));
    assert!(task.aggregation.is_none() && task.goal.is_none());
    assert!(
        matches!(&task.controller, Controller::CellFormula { outputs, .. } if outputs.len() == 1)
    );
}

#[test]
fn what_says_nothing_or_two_things_is_refused() {
    let text = r#"
state = ["x", "y"]
input = ["u"]
[dynamics]
kind = "difference"
update = ["x", "y + u"]
[abstraction]
edges = [[0, 1], [0, 1]]
[policy]
formula = "0"
[initial]
lower = [0, 0]
upper = [1, 1]
[unsafe]
variables = [1, 2]
lower = [0.5, 0.5]
upper = [1, 1]
[horizon]
steps = 1
"#;
    assert!(read(text, None).is_ok());
    for (from, to, place, part) in [
        ("variables = [1, 2]", "variables = [1, 1]", "t.toml:15:17", "`x` is bounded twice"),
        ("variables = [1, 2]", "variables = [\"y\", 2]", "t.toml:15:19", "`y` is bounded twice"),
        ("variables = [1, 2]", "variables = []", "t.toml:15:13", "no variables"),
        (
            "upper = [1, 1]\n[horizon]",
            "upper = [1, 0.5]\nboundary = \"open\"\n[horizon]",
            "t.toml:16:9",
            "contains no state",
        ),
        ("state = [\"x\", \"y\"]", "state = [\"x\", \"true\"]", "t.toml:2:9", "cannot be the name"),
        (
            "[horizon]",
            "[[instance]]\nid = \"a\"\n[[instance]]\nid = \"a\"\n[horizon]",
            "t.toml:21:6",
            "two instances",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let instance = to.contains("instance").then_some("a");
        let error = read(&text.replace(from, to), instance).expect_err(to).to_string();
        assert!(error.starts_with(place) && error.contains(part), "{to}: {error}");
    }
    let one = "[task]\nstate = [\"u\"]\ngrid = [0, 1]\npolicy = \"0\"\nupdate = \"u\"\n\
               initial = [0, 0]\nunsafe = [1, 1]\nsteps = 1\n";
    let error = read(one, None).expect_err("two meanings").to_string();
    assert!(error.contains("`u` is the name of a variable and of an action"), "{error}");
    let one = one.replace("\"u\"", "\"x\"");
    let error = read(&format!("{one}aggregation_distance = [-1]\n"), None).expect_err("negative");
    assert!(error.to_string().contains("not negative"), "{error}");
    let beside = format!("{one}[unsafe]\ncondition = \"x > 0\"\n");
    let error = read(&beside, None).expect_err("it would count for nothing").to_string();
    assert!(error.starts_with("t.toml") && error.contains("beside [task]"), "{error}");
    assert!(read(&format!("{one}[notes]\nby = \"me\"\n"), None).is_ok());
}
