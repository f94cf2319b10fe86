//! Evidence of loops whose network chooses among actions, and of loops with disturbances at any time: no such evidence is confirmed
//! where a run that it speaks of is unsafe, however the choices are followed.

use std::fs;

use policert_engine_api::{CancelFlag, Silent};
use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, Evaluator, Network};
use policert_testkit::{Random, case_numbers};
use policert_verify::reach::{ReachRequest, reach};
use serde_json::{Value, json};

use super::loop_claims::{changed, check, network, of_another_task, swung};

/// A pendulum under a random network.
struct Pendulum {
    kind: &'static str,
    network: Network,
    /// The actions among which the network chooses; its output is the action where there are none.
    table: Vec<f64>,
    /// The greatest magnitude of a disturbance at any time.
    gust: f64,
    steps: u32,
}

impl Pendulum {
    fn that_chooses(random: &mut Random) -> Self {
        let count = 2 + random.below(2);
        let table = [-1.0, 1.0, 0.25][..count].to_vec();
        let kind = ["difference", "ode"][random.below(2)];
        Self { kind, network: network(random, count), table, gust: 0.0, steps: 8 }
    }

    fn in_the_wind(random: &mut Random) -> Self {
        let gust = [0.125, 0.5][random.below(2)];
        Self { kind: "ode", network: network(random, 1), table: Vec::new(), gust, steps: 6 }
    }

    fn text(&self, unsafe_box: [f64; 4]) -> String {
        let dynamics = match self.kind {
            "ode" => "dt = 0.25\nderivative = [\"y\", \"-sin(x) - 0.25*y + u + w\"]",
            _ => "update = [\"x + 0.25*y\", \"y - 0.25*sin(x) + 0.25*(u + w)\"]",
        };
        let disturbance = match self.gust {
            0.0 => "w = { lower = 0, upper = 0, changes = \"each-step\" }".to_owned(),
            gust => format!("w = {{ lower = -{gust}, upper = {gust}, changes = \"any-time\" }}"),
        };
        let actions = match self.table.as_slice() {
            [] => String::new(),
            table => format!("actions = {table:?}\n"),
        };
        let (kind, [x0, x1, y0, y1], steps) = (self.kind, unsafe_box, self.steps);
        format!(
            "name = \"pendulum\"\nstate = [\"x\", \"y\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\n\
             {dynamics}\n[policy]\nnetwork = \"net.onnx\"\ninput = \"state\"\n{actions}\
             [uncertain]\n{disturbance}\n\
             [initial]\nlower = [0.5, 0]\nupper = [0.625, 0.125]\n[horizon]\nsteps = {steps}\n\
             [unsafe]\nlower = [{x0:?}, {y0:?}]\nupper = [{x1:?}, {y1:?}]\n"
        )
    }

    /// States of a run, about.
    fn run(&self, [mut x, mut y]: [f64; 2], random: &mut Random) -> Vec<[f64; 2]> {
        let mut evaluator = Evaluator::new(&self.network);
        let mut states = vec![[x, y]];
        for _ in 0..self.steps {
            let mut outputs = Vec::new();
            evaluator.evaluate(&[x, y], &mut outputs);
            let best = (1..outputs.len())
                .fold(0, |best, i| if outputs[i] > outputs[best] { i } else { best });
            let u = self.table.get(best).copied().unwrap_or(outputs[0]);
            if self.kind == "ode" {
                let mut w = self.gust;
                for _ in 0..8 {
                    if random.percent(50) {
                        w = -w;
                    }
                    [x, y] = swung([x, y], u + w, (0.25 / 800.0, 100));
                }
            } else {
                (x, y) = (x + 0.25 * y, y - 0.25 * x.sin() + 0.25 * u);
            }
            states.push([x, y]);
        }
        states
    }
}

/// Follows pendulums, the evidence of each of which is confirmed, and then asked to show that a state of a run is not unsafe. The
/// number of those that have evidence, and of lies.
fn followed(cases: u64, draw: impl Fn(&mut Random) -> Pendulum) -> (u32, u32) {
    let (mut confirmed, mut rejected) = (0, 0);
    for number in case_numbers(cases) {
        let mut random = Random::new(number);
        let pendulum = draw(&mut random);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pendulum.toml");
        let network = write_onnx(&pendulum.network, ElementType::F32).expect("an ONNX file");
        fs::write(folder.path().join("net.onnx"), network).expect("written");
        fs::write(&path, pendulum.text([50.0, 60.0, 50.0, 60.0])).expect("written");
        let request =
            ReachRequest { evidence: true, certify: true, ..ReachRequest::new(path.clone()) };
        let outcome = reach(&request, &CancelFlag::default(), &mut Silent);
        assert!(outcome.failure.is_none(), "case {number}: {:?}", outcome.failure);
        let Some(evidence) = outcome.report.evidence else { continue };
        confirmed += 1;
        let mut honest = serde_json::to_value(evidence).expect("JSON");
        assert_eq!(check(&honest), 0, "case {number}");
        if !pendulum.table.is_empty() {
            let unknown = |lie: &mut Value| lie["parts"][0]["choices"] = json!("none");
            assert_eq!(changed(&honest, unknown), 40, "case {number}");
            if random.percent(50) {
                for part in honest["parts"].as_array_mut().expect("parts") {
                    part["choices"] = json!("together");
                }
            }
        }
        let mut quarter =
            || 0.125 * 0.25 * f64::from(u8::try_from(random.below(5)).expect("small"));
        let start = [0.5 + quarter(), quarter()];
        let states = pendulum.run(start, &mut random);
        for state in [*random.pick(&states), states[states.len() - 1]] {
            let [x, y] = state;
            let text = pendulum.text([x - 0.01, x + 0.01, y - 0.01, y + 0.01]);
            let lie = of_another_task(&honest, &path, text);
            assert_eq!(check(&lie), 51, "case {number}: {} {state:?} is unsafe", pendulum.kind);
            rejected += 1;
        }
    }
    (confirmed, rejected)
}

#[test]
fn no_choices_of_an_unsafe_loop_are_confirmed() {
    let (confirmed, rejected) = followed(24, Pendulum::that_chooses);
    assert!(confirmed > 16 && rejected > 32, "{confirmed} {rejected}");
}

#[test]
fn no_loop_that_gusts_make_unsafe_is_confirmed() {
    let (confirmed, rejected) = followed(16, Pendulum::in_the_wind);
    assert!(confirmed > 10 && rejected > 20, "{confirmed} {rejected}");
}

/// A switch: from [0.5, 1] by a quarter down where x is not negative, else up.
#[test]
fn a_switch_that_is_unclear_at_every_step_is_followed_as_one_set() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("switch.toml");
    let text = |bound: f64| {
        format!(
            "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\n\
             update = [\"x + 0.25*u\"]\n[policy]\ninput = \"state\"\nnetwork = \"net.onnx\"\n\
             actions = [-1, 1]\n[initial]\nlower = [0.5]\nupper = [1]\n[horizon]\nsteps = 200\n\
             [unsafe]\ncondition = \"x < {bound}\"\n"
        )
    };
    let mut builder = policert_policy::NetworkBuilder::new(1).expect("an input");
    let matrix = policert_policy::Matrix::new(2, 1, vec![1.0, -1.0]).expect("the shape fits");
    let output = builder.affine(builder.input(), matrix, vec![0.0, 0.0]).expect("fits");
    let network = builder.finish(output, ElementType::F32);
    let network = write_onnx(&network, ElementType::F32).expect("an ONNX file");
    fs::write(folder.path().join("net.onnx"), network).expect("written");
    fs::write(&path, text(-0.3)).expect("written");
    let request = ReachRequest { evidence: true, certify: true, ..ReachRequest::new(path.clone()) };
    let report = reach(&request, &CancelFlag::default(), &mut Silent).report;
    let honest = serde_json::to_value(report.evidence.expect("evidence")).expect("JSON");
    assert_eq!(check(&honest), 0);
    assert_eq!(honest["parts"][0]["choices"], json!("together"));
    let apart = |lie: &mut Value| {
        let part = lie["parts"][0].as_object_mut().expect("a part");
        part.remove("choices");
    };
    assert_eq!(changed(&honest, apart), 51, "too many sets");
    // From 0 on it goes down to -0.25.
    assert_eq!(check(&of_another_task(&honest, &path, text(-0.2))), 51);
}

/// A network whose sum is 1 in doubles and 0 in single precision: 2²⁴ + 1 − 2²⁴.
#[test]
fn evidence_in_single_precision_is_about_single_precision() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sum.toml");
    let mut builder = policert_policy::NetworkBuilder::new(2).expect("inputs");
    let input = builder.input();
    let zeros = policert_policy::Matrix::new(3, 2, vec![0.0; 6]).expect("the shape fits");
    let large = 16_777_216.0;
    let node = builder.affine(input, zeros, vec![large, 1.0, large]).expect("fits");
    let sum = policert_policy::Matrix::new(1, 3, vec![1.0, 1.0, -1.0]).expect("the shape fits");
    let output = builder.affine(node, sum, vec![0.0]).expect("fits");
    let network = builder.finish(output, ElementType::F32);
    fs::write(
        folder.path().join("net.onnx"),
        write_onnx(&network, ElementType::F32).expect("an ONNX file"),
    )
    .expect("written");
    let text = |condition: &str| {
        format!(
            "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"difference\"\nupdate = [\"x + u\"]\n\
             [abstraction]\nstate_space_lower = [-8]\nstate_space_upper = [8]\ngranularity = [1]\n\
             [policy]\nnetwork = \"net.onnx\"\n[initial]\nlower = [\"1/4\"]\nupper = [\"1/2\"]\n\
             [horizon]\nsteps = 3\n[unsafe]\ncondition = \"{condition}\"\n"
        )
    };
    for (evaluation, condition) in [("f32", "x > 1"), ("f64", "x < 3 and x > 2.6")] {
        fs::write(&path, text(condition)).expect("written");
        let mut request =
            ReachRequest { evidence: true, certify: true, ..ReachRequest::new(path.clone()) };
        if evaluation == "f32" {
            request.arithmetic.evaluation = policert_reach::Evaluation::F32;
        }
        let outcome = reach(&request, &CancelFlag::default(), &mut Silent);
        let evidence = outcome.report.evidence.expect("evidence");
        let honest = serde_json::to_value(evidence).expect("JSON");
        assert_eq!(check(&honest), 0, "{evaluation}");
        assert_eq!(honest["task"].get("evaluation").is_some(), evaluation == "f32");
        // The same boxes about the other arithmetic.
        let other = |lie: &mut Value| {
            let words = [("f32", "f64"), ("f64", "f32")];
            let (own, other) = words[usize::from(evaluation == "f64")];
            let text = lie["semantics"].as_str().expect("text").replace(own, other);
            lie["semantics"] = json!(text);
            lie["task"]["evaluation"] = json!(other);
        };
        assert_eq!(changed(&honest, other), 51, "{evaluation}");
        let half = |lie: &mut Value| {
            lie["task"]["evaluation"] = json!(if evaluation == "f32" { "f64" } else { "f32" });
        };
        assert_eq!(changed(&honest, half), 51, "{evaluation}");
    }
}
