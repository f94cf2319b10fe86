//! Evidence that control loops are safe: that of true verdicts is confirmed, and no list of boxes, however it is
//! changed, is confirmed of a loop that does not meet its specification.

use std::fs;

use policert_engine_api::{CancelFlag, Silent};
use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, Evaluator, Network};
use policert_testkit::{Random, case_numbers};
use policert_verify::reach::{ReachRequest, reach};
use serde_json::{Value, json};

use super::loop_claims::{changed, check, network, of_another_task, shipped, swung};

/// The evidence of a task, which is confirmed before it is returned; null if there is none.
fn evidence(request: ReachRequest) -> Value {
    let request = ReachRequest { evidence: true, certify: true, ..request };
    let outcome = reach(&request, &CancelFlag::default(), &mut Silent);
    let report = outcome.report;
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    if let Some(certified) = &report.certified {
        assert_eq!(certified.confirmed, report.evidence.is_some(), "{certified:?}");
    }
    report.evidence.map_or(Value::Null, |evidence| serde_json::to_value(evidence).expect("JSON"))
}

/// The numbers of the boxes of a step.
fn numbers(boxes: &Value) -> Vec<Vec<f64>> {
    let boxes = boxes.as_str().expect("text").split(';').filter(|one| !one.is_empty());
    let number = |word: &str| word.parse().expect("a number");
    boxes.map(|one| one.split_whitespace().map(number).collect()).collect()
}

/// Changes the boxes of a step, none of which is `reached`.
fn change_boxes(boxes: &mut Value, mut change: impl FnMut(&mut Vec<f64>)) {
    let mut all = numbers(boxes);
    all.iter_mut().for_each(&mut change);
    let one = |one: Vec<f64>| one.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    *boxes = json!(all.into_iter().map(one).collect::<Vec<_>>().join("; "));
}

/// Where the evidence has boxes: part and step.
fn steps(evidence: &Value) -> Vec<(usize, usize)> {
    let parts = evidence["parts"].as_array().expect("parts").iter().enumerate();
    let lists = parts.map(|(at, part)| (at, part["steps"].as_array().expect("steps").len()));
    lists.flat_map(|(at, count)| (0..count).map(move |step| (at, step))).collect()
}

#[test]
fn lies_about_shipped_loops_are_rejected() {
    let request = |instance: &str| ReachRequest {
        instance: Some(instance.to_owned()),
        ..ReachRequest::new(shipped("suites/bbreach/b4.toml"))
    };
    let cart = evidence(ReachRequest::new(shipped("examples/cart/cells.toml")));
    let b4 = evidence(request("relu-2x20"));
    let other = evidence(request("tanh-2x20"));
    for honest in [&cart, &b4, &other] {
        assert_eq!(check(honest), 0);
        let all = steps(honest);
        for &(part, step) in all.iter().step_by(all.len() / 5) {
            let boxes = |lie: &mut Value| lie["parts"][part]["steps"][step].take();
            assert_eq!(changed(honest, |lie| _ = boxes(lie)), 40);
            let drop = |lie: &mut Value| lie["parts"][part]["steps"][step] = json!("");
            assert_eq!(changed(honest, drop), 51, "no boxes of step {step} of part {part}");
            let shrink = |lie: &mut Value| {
                change_boxes(&mut lie["parts"][part]["steps"][step], |one| {
                    one[1] = 0.5 * (one[0] + one[1]);
                });
            };
            assert_eq!(changed(honest, shrink), 51, "smaller boxes");
            let shorter = |lie: &mut Value| {
                lie["parts"][part]["steps"].as_array_mut().expect("steps").remove(step);
            };
            assert_eq!(changed(honest, shorter), 51, "a step less");
            let last = |lie: &mut Value| {
                lie["parts"][part]["steps"].as_array_mut().expect("steps").truncate(step);
            };
            assert_eq!(changed(honest, last), 51, "the end is missing");
        }
        let fewer = |lie: &mut Value| drop(lie["parts"].as_array_mut().expect("parts").pop());
        assert_eq!(changed(honest, fewer), 51, "a part less");
        let narrower = |lie: &mut Value| {
            lie["parts"][0]["initial"][0][1] = lie["parts"][0]["initial"][0][0].clone();
        };
        assert_eq!(changed(honest, narrower), 51, "a smaller part");
        assert_eq!(
            changed(honest, |lie| lie["inputs"] = json!([])),
            51,
            "files that it does not name"
        );
        let after_all = |lie: &mut Value| {
            let steps = lie["parts"][0]["steps"].as_array_mut().expect("steps");
            steps.resize(1000, json!(""));
            steps.push(steps[0].clone());
        };
        assert_eq!(changed(honest, after_all), 51, "boxes that nothing leads to");
        assert_eq!(changed(honest, |lie| lie["goal_step"] = json!(u32::MAX)), 51);
        assert_eq!(changed(honest, |lie| lie["semantics"] = json!("something else")), 51);
        assert_eq!(changed(honest, |lie| lie["verdict"] = json!("unsafe")), 51);
        assert_eq!(changed(honest, |lie| lie["inputs"][0]["sha256"] = json!("0")), 40);
    }
    // The boxes of one network say nothing about another one.
    let of_other = |lie: &mut Value| {
        (lie["task"], lie["inputs"]) = (other["task"].clone(), other["inputs"].clone());
    };
    assert_eq!(changed(&b4, of_other), 51);
    // One box that contains everything is one, but it is not safe.
    let everything = |lie: &mut Value| {
        for boxes in lie["parts"][0]["steps"].as_array_mut().expect("steps") {
            *boxes = json!("-2 2 -2 2");
        }
    };
    assert_eq!(changed(&cart, everything), 51);
}

/// A walk on a line: the task, with a controller as a formula.
fn walk(random: &mut Random) -> (String, Walk) {
    let walk = Walk {
        kind: ["difference", "ode"][random.below(2)],
        slope: *random.pick(&[-4, -2, 1]),
        pull: *random.pick(&[-3, -1, 0, 2]),
        start: random.below(8).try_into().expect("small"),
        between: random.percent(50),
    };
    // An update that is applied once has nothing between samples.
    let walk = Walk { between: walk.between && walk.kind == "ode", ..walk };
    let Walk { kind, slope, pull, start, .. } = walk;
    let name = if kind == "ode" { "derivative" } else { "update" };
    let own = if kind == "ode" { 0 } else { 1 };
    let dynamics = format!("{own}*x + ({slope}/8)*x + ({pull}/16)*u*x/(1 + x^2) + u/4");
    let text = format!(
        "name = \"walk\"\nstate = [\"x\"]\ninput = [\"u\"]\naggregation_distance = [0.01]\n\
         [dynamics]\nkind = \"{kind}\"\ndt = 1\n{name} = [\"{dynamics}\"]\n\
         [abstraction]\nstate_space_lower = [-8]\nstate_space_upper = [8]\ngranularity = [0.25]\n\
         [policy]\nformula = [\"1 if lo < 0 else -1\"]\n\
         [initial]\nlower = [\"{start}/4\"]\nupper = [\"{}/8\"]\n[horizon]\nsteps = 5\n",
        2 * start + 1
    );
    (text, walk)
}

#[derive(Clone, Copy, Debug)]
struct Walk {
    kind: &'static str,
    slope: i32,
    pull: i32,
    start: i32,
    between: bool,
}

impl Walk {
    /// States of a run, about: those at steps, and of differential equations those between.
    fn run(self, x: f64) -> Vec<(u32, f64)> {
        let (mut x, mut states) = (x, vec![(0, x)]);
        for step in 1..=5 {
            let cell = (x * 4.0).floor() / 4.0;
            let u = if cell < 0.0 { 1.0 } else { -1.0 };
            let f = |x: f64| {
                f64::from(self.slope) / 8.0 * x
                    + f64::from(self.pull) / 16.0 * u * x / (1.0 + x * x)
                    + u / 4.0
            };
            if self.kind == "ode" {
                for part in 1..=100 {
                    let h = 0.01;
                    let k1 = f(x);
                    let k2 = f(x + h / 2.0 * k1);
                    x += h * f(x + h / 2.0 * k2);
                    if part < 100 && self.between {
                        states.push((step, x));
                    }
                }
            } else {
                x += f(x);
            }
            states.push((step, x));
        }
        states
    }
}

#[test]
fn no_boxes_of_an_unsafe_loop_are_confirmed() {
    let (mut confirmed, mut rejected) = (0, 0);
    for number in case_numbers(60) {
        let mut random = Random::new(number);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("walk.toml");
        let (text, walk) = walk(&mut random);
        let region = |low: f64, high: f64| {
            format!("{text}[unsafe]\nlower = [{low:?}]\nupper = [{high:?}]\n")
        };
        fs::write(&path, region(6.0, 7.0)).expect("written");
        let between_samples = walk.between;
        let request = ReachRequest {
            between_samples,
            refinements: Some(0),
            ..ReachRequest::new(path.clone())
        };
        let honest = evidence(request);
        if honest.is_null() {
            continue;
        }
        confirmed += 1;
        // States that are reached lie in boxes of their step, and are not unsafe without notice.
        let ends = [f64::from(walk.start) / 4.0, f64::from(2 * walk.start + 1) / 8.0];
        let x = ends[0]
            + (ends[1] - ends[0])
                * 0.25
                * f64::from(u32::try_from(random.below(5)).expect("small"));
        let states = walk.run(x);
        let (step, state) = *random.pick(&states);
        if step > 0 {
            let boxes = honest["parts"].as_array().expect("parts").iter();
            let mut boxes = boxes.flat_map(|part| numbers(&part["steps"][step as usize - 1]));
            let at_step = states.iter().rev().find(|(at, _)| *at == step).expect("a state").1;
            let holds = |one: &Vec<f64>| one[0] <= at_step + 1e-3 && at_step - 1e-3 <= one[1];
            assert!(
                boxes.any(|one| holds(&one)),
                "case {number}: {walk:?}: {at_step} at step {step}"
            );
        }
        let text = region(state - 0.01, state + 0.01);
        let mut lie = of_another_task(&honest, &path, text);
        assert_eq!(check(&lie), 51, "case {number}: {walk:?}: {state} at step {step} is unsafe");
        // Boxes without that state.
        for part in lie["parts"].as_array_mut().expect("parts") {
            for boxes in part["steps"].as_array_mut().expect("steps") {
                change_boxes(boxes, |one| {
                    let (low, high) = (one[0], one[1]);
                    if low <= state && state <= high {
                        let below = (low, low.max(state - 0.02));
                        let above = (high.min(state + 0.02), high);
                        (one[0], one[1]) = if random.percent(50) { below } else { above };
                    }
                });
            }
        }
        assert_eq!(check(&lie), 51, "case {number}: {walk:?}: without {state} at step {step}");
        rejected += 1;
    }
    assert!(confirmed > 20 && rejected > 20, "{confirmed} {rejected}");
}

/// A pendulum under a random network that reads the state: the task without an unsafe set.
struct Pendulum {
    kind: &'static str,
    network: Network,
}

impl Pendulum {
    fn draw(random: &mut Random) -> Self {
        let network = network(random, 1);
        Self { kind: ["difference", "ode"][random.below(2)], network }
    }

    fn text(&self, unsafe_box: [f64; 4]) -> String {
        let dynamics = match self.kind {
            "ode" => "dt = 0.25\nderivative = [\"y\", \"-sin(x) - 0.25*y + u\"]",
            _ => "update = [\"x + 0.25*y\", \"y - 0.25*sin(x) + 0.25*u\"]",
        };
        let (kind, [x0, x1, y0, y1]) = (self.kind, unsafe_box);
        format!(
            "name = \"pendulum\"\nstate = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\n\
             {dynamics}\n[policy]\nnetwork = \"net.onnx\"\ninput = \"state\"\n\
             [initial]\nlower = [0.5, 0]\nupper = [0.625, 0.125]\n[horizon]\nsteps = 8\n\
             [unsafe]\nlower = [{x0:?}, {y0:?}]\nupper = [{x1:?}, {y1:?}]\n"
        )
    }

    /// States of a run, about.
    fn run(&self, start: [f64; 2]) -> Vec<[f64; 2]> {
        let mut evaluator = Evaluator::new(&self.network);
        let ([mut x, mut y], mut states) = (start, vec![start]);
        for _ in 0..8 {
            let mut outputs = Vec::new();
            evaluator.evaluate(&[x, y], &mut outputs);
            let u = outputs[0];
            if self.kind == "ode" {
                [x, y] = swung([x, y], u, (0.25 / 1000.0, 1000));
            } else {
                (x, y) = (x + 0.25 * y, y - 0.25 * x.sin() + 0.25 * u);
            }
            states.push([x, y]);
        }
        states
    }
}

#[test]
fn no_stretches_of_an_unsafe_loop_are_confirmed() {
    let (mut confirmed, mut rejected) = (0, 0);
    for number in case_numbers(24) {
        let mut random = Random::new(number);
        let pendulum = Pendulum::draw(&mut random);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pendulum.toml");
        let network = write_onnx(&pendulum.network, ElementType::F32).expect("an ONNX file");
        fs::write(folder.path().join("net.onnx"), network).expect("written");
        fs::write(&path, pendulum.text([50.0, 60.0, 50.0, 60.0])).expect("written");
        let honest = evidence(ReachRequest::new(path.clone()));
        if honest.is_null() {
            continue;
        }
        confirmed += 1;
        assert_eq!(check(&honest), 0);
        let none = |lie: &mut Value| lie["parts"] = json!([]);
        assert_eq!(changed(&honest, none), 51);
        let boxes = |lie: &mut Value| lie["parts"][0]["steps"] = json!(["0 1 0 1"]);
        assert_eq!(changed(&honest, boxes), 51, "boxes that are not looked at");
        let endless = |lie: &mut Value| lie["parts"][0]["stretches"] = json!(0);
        assert_eq!(changed(&honest, endless), 51);
        let mut quarter =
            || 0.125 * 0.25 * f64::from(u8::try_from(random.below(5)).expect("small"));
        let states = pendulum.run([0.5 + quarter(), quarter()]);
        for state in [*random.pick(&states), states[states.len() - 1]] {
            let [x, y] = state;
            let text = pendulum.text([x - 0.01, x + 0.01, y - 0.01, y + 0.01]);
            let lie = of_another_task(&honest, &path, text);
            assert_eq!(check(&lie), 51, "case {number}: {} {state:?} is unsafe", pendulum.kind);
            rejected += 1;
        }
    }
    assert!(confirmed > 12 && rejected > 24, "{confirmed} {rejected}");
}
