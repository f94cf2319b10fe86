//! Evidence that control loops do not meet their specification: that of true verdicts is confirmed, and no trajectory is
//! that does not do what is claimed of it.

use std::fs;

use policert_engine_api::{CancelFlag, Silent};
use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, Evaluator, Network};
use policert_testkit::{Random, case_numbers};
use policert_verify::reach::{ReachRequest, reach};
use serde_json::{Value, json};

use super::loop_claims::{self, check, eighths, network, shipped};

/// The evidence of a task that is unsafe, which is confirmed before it is returned; null if the verdict is another one.
fn evidence(request: ReachRequest) -> Value {
    let request = ReachRequest { evidence: true, certify: true, ..request };
    let outcome = reach(&request, &CancelFlag::default(), &mut Silent);
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let report = outcome.report;
    if outcome.status.code() != 10 {
        return Value::Null;
    }
    let certified = report.certified.expect("a check");
    assert!(certified.confirmed, "{certified:?}");
    serde_json::to_value(report.evidence).expect("JSON")
}

/// The check of evidence whose claim was changed.
fn changed(evidence: &Value, change: impl FnOnce(&mut Value)) -> i32 {
    loop_claims::changed(evidence, |lie| change(&mut lie["violation"]))
}

/// A pendulum under a random network that reads the state, with wind.
struct Pendulum {
    kind: &'static str,
    /// The network chooses between two actions.
    chooses: bool,
    network: Network,
}

impl Pendulum {
    fn draw(random: &mut Random) -> Self {
        let chooses = random.percent(30);
        let network = network(random, if chooses { 2 } else { 1 });
        Self { kind: ["difference", "ode"][random.below(2)], chooses, network }
    }

    fn text(&self, unsafe_box: [f64; 4]) -> String {
        let force = "-sin(x) - 0.25*y + u + w*cos(y)/(1 + x^2) - 0.125*abs(u)*tanh(y)";
        let dynamics = match self.kind {
            "ode" => format!("dt = 0.25\nderivative = [\"y\", \"{force}\"]"),
            _ => format!("update = [\"x + 0.25*y\", \"y + 0.25*({force})\"]"),
        };
        let (kind, [x0, x1, y0, y1]) = (self.kind, unsafe_box);
        let actions = if self.chooses { "actions = [-1, 1]\n" } else { "" };
        format!(
            "name = \"pendulum\"\nstate = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\n\
             {dynamics}\n[uncertain]\nw = {{ lower = -0.125, upper = 0.125, changes = \"each-step\" }}\n\
             [policy]\nnetwork = \"net.onnx\"\ninput = \"state\"\n{actions}\
             [initial]\nlower = [0.5, 0]\nupper = [0.625, 0.125]\n[horizon]\nsteps = 8\n\
             [unsafe]\nlower = [{x0:?}, {y0:?}]\nupper = [{x1:?}, {y1:?}]\n"
        )
    }

    /// States of a run, about.
    fn run(&self, start: [f64; 2], winds: &[f64]) -> Vec<[f64; 2]> {
        let mut evaluator = Evaluator::new(&self.network);
        let ([mut x, mut y], mut states) = (start, vec![start]);
        for &w in winds {
            let mut outputs = Vec::new();
            evaluator.evaluate(&[x, y], &mut outputs);
            let u = match outputs[..] {
                [first, second] => {
                    if second > first {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => outputs[0],
            };
            let f = |x: f64, y: f64| {
                -x.sin() - 0.25 * y + u + w * y.cos() / (1.0 + x * x) - 0.125 * u.abs() * y.tanh()
            };
            if self.kind == "ode" {
                for _ in 0..500 {
                    let h = 0.25 / 500.0;
                    let (half_x, half_y) = (x + 0.5 * h * y, y + 0.5 * h * f(x, y));
                    (x, y) = (x + h * half_y, y + h * f(half_x, half_y));
                }
            } else {
                (x, y) = (x + 0.25 * y, y + 0.25 * f(x, y));
            }
            states.push([x, y]);
        }
        states
    }
}

/// The start and the winds of a claim.
fn claimed(evidence: &Value) -> ([f64; 2], Vec<f64>) {
    let number = |text: &Value| {
        let text = text.as_str().expect("text");
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        above.parse::<f64>().expect("a number") / below.parse::<f64>().expect("a number")
    };
    let run = &evidence["violation"]["trajectories"][0];
    let start = [number(&run["start"][0]), number(&run["start"][1])];
    let winds = run["disturbances"].as_array().expect("rows").iter();
    (start, winds.map(|row| number(&row[0])).collect())
}

#[test]
fn trajectories_are_confirmed_where_they_are_unsafe() {
    let (mut found, mut confirmed, mut rejected) = (0, 0, 0);
    for number in case_numbers(20) {
        let mut random = Random::new(number);
        let pendulum = Pendulum::draw(&mut random);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pendulum.toml");
        let network = write_onnx(&pendulum.network, ElementType::F32).expect("an ONNX file");
        fs::write(folder.path().join("net.onnx"), network).expect("written");
        let states = pendulum.run([0.5625, 0.0625], &[0.0; 8]);
        let [x, y] = states[2 + random.below(7)];
        let around = [x - 0.02, x + 0.02, y - 0.02, y + 0.02];
        fs::write(&path, pendulum.text(around)).expect("written");
        let request = ReachRequest { refinements: Some(2), ..ReachRequest::new(path.clone()) };
        let honest = evidence(request);
        if honest.is_null() {
            continue;
        }
        found += 1;
        assert_eq!(check(&honest), 0, "case {number}");
        let (start, winds) = claimed(&honest);
        let step = honest["violation"]["step"].as_u64().expect("a step");
        assert_eq!(winds.len() as u64, step);
        let distance = |[x, y]: [f64; 2]| {
            (around[0] - x).max(x - around[1]).max(around[2] - y).max(y - around[3])
        };
        assert!(distance(*pendulum.run(start, &winds).last().expect("a state")) < 1e-4);
        // What is claimed in other words is so where a simulation says so, but on the border.
        for turn in 0..4 {
            let mut start = [0.5 + eighths(&mut random, 1) / 8.0, eighths(&mut random, 1) / 8.0];
            let mut step = random.below(9);
            let mut winds: Vec<f64> =
                (0..step).map(|_| eighths(&mut random, 2) / 8.0 - 0.125).collect();
            if turn % 2 == 0 {
                // Little else than what was found.
                (start, winds) = claimed(&honest);
                step = winds.len();
                if let Some(last) = winds.last_mut() {
                    *last = eighths(&mut random, 2) / 8.0 - 0.125;
                }
            }
            let mut claim = honest.clone();
            claim["violation"]["step"] = json!(step);
            claim["violation"]["trajectories"] = json!([{
                "start": start.map(|x| x.to_string()),
                "disturbances": winds.iter().map(|w| [w.to_string()]).collect::<Vec<_>>(),
            }]);
            let distance = distance(*pendulum.run(start, &winds).last().expect("a state"));
            match check(&claim) {
                0 => {
                    assert!(distance < 1e-4, "case {number}: {distance} at step {step}");
                    confirmed += 1;
                }
                51 => {
                    assert!(distance > -1e-4, "case {number}: {distance} at step {step}");
                    rejected += 1;
                }
                other => panic!("case {number}: {other}"),
            }
        }
    }
    assert!(found > 10 && confirmed > 8 && rejected > 20, "{found} {confirmed} {rejected}");
}

type Change = fn(&mut Value);

#[test]
fn claims_that_do_not_fit_are_rejected() {
    let airplane = evidence(ReachRequest::new(shipped("suites/arch/airplane.toml")));
    assert_eq!(check(&airplane), 0);
    let lies: [(&str, Change); 15] = [
        ("another step", |claim| claim["step"] = json!(0)),
        ("a step behind the last one", |claim| claim["step"] = json!(100_000)),
        ("no goal that is missed", |claim| claim["step"] = Value::Null),
        ("no bits", |claim| claim["bits"] = json!(0)),
        ("too many bits", |claim| claim["bits"] = json!(100_000)),
        ("numbers that are too coarse", |claim| claim["bits"] = json!(1)),
        ("exact numbers of a differential equation", |claim| claim["bits"] = Value::Null),
        ("no stretches", |claim| claim["stretches"] = json!(0)),
        ("too many stretches", |claim| claim["stretches"] = json!(5000)),
        ("too high an order", |claim| claim["order"] = json!(1000)),
        ("no trajectory", |claim| claim["trajectories"] = json!([])),
        ("two trajectories", |claim| {
            let first = claim["trajectories"][0].clone();
            claim["trajectories"].as_array_mut().expect("a list").push(first);
        }),
        ("disturbances of a task without any", |claim| {
            claim["trajectories"][0]["disturbances"] = json!([["0"]]);
        }),
        ("a start outside of the initial box", |claim| {
            claim["trajectories"][0]["start"][0] = json!("1000");
        }),
        ("a start of another width", |claim| {
            claim["trajectories"][0]["start"].as_array_mut().expect("a list").pop();
        }),
    ];
    for (what, lie) in lies {
        assert_eq!(changed(&airplane, lie), 51, "{what}");
    }
    let garbage: [Change; 4] = [
        |claim| claim["trajectories"] = json!("all"),
        |claim| claim["trajectories"][0]["start"][0] = json!("one"),
        |claim| claim["stretches"] = Value::Null,
        |claim| claim["step"] = json!(-1),
    ];
    for garbage in garbage {
        assert_eq!(changed(&airplane, garbage), 40);
    }
    for (member, value, code) in [
        ("verdict", json!("safe"), 51),
        ("semantics", json!("something else"), 51),
        ("parts", json!([]), 51),
        ("inputs", json!([]), 51),
    ] {
        let mut lie = airplane.clone();
        lie[member] = value;
        assert_eq!(check(&lie), code, "{member}");
    }
}

/// A task about one number, as text.
fn number_task(update: &str, initial: &str, steps: u32, more: &str) -> String {
    format!(
        "name = \"number\"\nstate = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
         update = [\"{update}\"]\n[abstraction]\nedges = [[-9, 9]]\n[policy]\nformula = [\"0\"]\n\
         [initial]\n{initial}\n[horizon]\nsteps = {steps}\n{more}\n"
    )
}

#[test]
fn borders_are_decided_exactly_and_goals_by_several_trajectories() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("task.toml");
    let of = |text: String| {
        fs::write(&path, text).expect("written");
        evidence(ReachRequest::new(path.clone()))
    };
    let border = of(number_task(
        "x/3 + u",
        "lower = [1]\nupper = [1]",
        3,
        "[unsafe]\nlower = [\"1/9\"]\nupper = [\"1/9\"]",
    ));
    assert_eq!(
        (&border["violation"]["bits"], &border["violation"]["step"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(changed(&border, |claim| claim["bits"] = json!(200)), 51, "no border in 200 bits");
    // The start is compared exactly in any case.
    let start = of(number_task(
        "x/3 + u",
        "lower = [\"1/3\"]\nupper = [\"1/3\"]",
        3,
        "[unsafe]\nlower = [\"1/3\"]\nupper = [1]",
    ));
    assert_eq!(start["violation"]["step"], json!(0));
    // −1 is outside of the goal at even steps, 1 at odd ones.
    let goal = of(number_task(
        "-x + u",
        "lower = [-1]\nupper = [1]",
        4,
        "[goal]\ncondition = \"x > 0.5 or x > -0.25 and x < 0.25\"\n\
         [question]\ngoal_rule = \"all-at-once\"",
    ));
    assert_eq!(goal["violation"]["step"], Value::Null);
    let runs = goal["violation"]["trajectories"].as_array().expect("a list").len();
    assert!(runs > 1, "{runs}");
    let fewer = |claim: &mut Value| {
        claim["trajectories"].as_array_mut().expect("a list").truncate(1);
    };
    assert_eq!(changed(&goal, fewer), 51);
    assert_eq!(changed(&goal, |claim| claim["step"] = json!(2)), 51, "nothing is unsafe");
    // Each trajectory by itself: 1 never comes below 1/2 as 2x/3 + 1/3 does not move it.
    let missed = of(number_task(
        "2*x/3 + 1/3 + u",
        "lower = [\"3/4\"]\nupper = [1]",
        4,
        "[goal]\ncondition = \"x < 0.5\"",
    ));
    assert_eq!(missed["violation"]["step"], Value::Null);
}
