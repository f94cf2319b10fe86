//! Evidence of queries: every answer about random networks has some that the check confirms, and no
//! proof, however it is changed, is confirmed of a property that an input satisfies.

use std::io::Write as _;
use std::path::Path;

use policert_engine_api::{Budget, CancelFlag, Silent};
use policert_numeric::Rational;
use policert_outcome::{Failure, file_digest};
use policert_policy::activation::Staircase;
use policert_policy::onnx::write_onnx;
use policert_policy::{
    Activation, ElementType, ExactEvaluator, Matrix, Network, NetworkBuilder, read_network,
};
use policert_query::{AnswerWord, QueryRequest, check_evidence, query};
use policert_testkit::{Random, case_numbers, slow_tests};
use policert_vnnlib::{NetworkProperty, read_property};
use serde_json::{Value, json};

use crate::query::on_a_grid;

const INPUTS: usize = 2;

/// Is some `factors · (inputs, outputs)` at least `bound`, for inputs from −2 to 2? With `halves`, the
/// same of either half of the inputs.
fn property(factors: &[i64], bound: i64, halves: bool) -> String {
    let names: Vec<String> = (0..factors.len())
        .map(|k| if k < INPUTS { format!("X_{k}") } else { format!("Y_{}", k - INPUTS) })
        .collect();
    let mut text: String =
        names.iter().map(|name| format!("(declare-const {name} Real)\n")).collect();
    for name in &names[..INPUTS] {
        text += &format!("(assert (<= -2 {name} 2))\n");
    }
    if halves {
        text += "(assert (or (<= X_0 0) (>= X_0 0)))\n";
    }
    let terms: String =
        names.iter().zip(factors).map(|(name, factor)| format!(" (* {factor} {name})")).collect();
    text + &format!("(assert (>= (+{terms}) (/ {bound} 4)))\n")
}

/// A network with steps behind small weights, and functions behind these.
fn network_with_steps(random: &mut Random) -> Network {
    let mut builder = NetworkBuilder::new(INPUTS).expect("inputs");
    let mut node = builder.input();
    let layers = 1 + random.below(2);
    for layer in 0..=layers {
        let (rows, columns) =
            (if layer < layers { 1 + random.below(3) } else { 1 }, builder.width(node));
        let mut weight = || *random.pick(&[-1.0, -0.5, 0.0, 0.5, 1.0]);
        let weights = Matrix::new(rows, columns, (0..rows * columns).map(|_| weight()).collect());
        let bias = (0..rows).map(|_| weight()).collect();
        node = builder.affine(node, weights.expect("sizes"), bias).expect("sizes");
        if layer == layers {
            break;
        }
        let steps =
            [Staircase::Floor, Staircase::Round, Staircase::Sign].map(Activation::Staircase);
        let function = if layer == 0 || random.percent(50) {
            *random.pick(&steps)
        } else {
            Activation::Leaky { alpha: 0.0 }
        };
        node = builder.activation(node, function).expect("finite");
    }
    builder.finish(node, ElementType::F32)
}

struct Case {
    folder: tempfile::TempDir,
    network: &'static str,
    evaluator: ExactEvaluator,
    factors: Vec<i64>,
    halves: bool,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut random = Random::new(number ^ 0x9e1e);
        let folder = tempfile::tempdir().expect("a folder");
        let network = if number.is_multiple_of(3) { "n.onnx" } else { "n.nnet" };
        let text = match network {
            "n.onnx" => {
                let steps = network_with_steps(&mut random);
                write_onnx(&steps, ElementType::F32).expect("an ONNX file")
            }
            _ => crate::query::network(&mut random, INPUTS, 1).into_bytes(),
        };
        std::fs::write(folder.path().join(network), text).expect("a file");
        let read = read_network(&folder.path().join(network)).expect("a network").network;
        let evaluator = ExactEvaluator::new(&read).expect("pieces that are linear");
        let mut factors = vec![random.between(-1, 1), random.between(-1, 1)];
        factors.push(*random.pick(&[-1, 1]));
        Self { folder, network, evaluator, factors, halves: random.percent(30) }
    }

    fn ask(&self, bound: i64) -> (Option<AnswerWord>, Option<Value>) {
        let path = |name: &str| self.folder.path().join(name);
        std::fs::write(path("p.vnnlib"), property(&self.factors, bound, self.halves))
            .expect("a file");
        let request = QueryRequest {
            evidence: true,
            certify: true,
            ..QueryRequest::new(path(self.network), path("p.vnnlib"))
        };
        let outcome = query(&request, &CancelFlag::default(), &mut Silent);
        let shown = format!("{bound}: {:?}, {}", outcome.failure, outcome.report.no_evidence);
        if outcome.report.evidence.is_some() {
            assert!(outcome.report.certified.expect("a check").confirmed, "{shown}");
        }
        let evidence = outcome.report.evidence.map(|e| serde_json::to_value(&e).expect("JSON"));
        (outcome.report.answer, evidence)
    }

    /// Checks evidence of the property with this bound.
    fn check(&self, evidence: &Value, bound: i64) -> Result<(), Failure> {
        let path = self.folder.path().join("p.vnnlib");
        std::fs::write(&path, property(&self.factors, bound, self.halves)).expect("a file");
        let mut evidence = evidence.clone();
        let inputs = evidence["inputs"].as_array_mut().expect("inputs");
        let input = inputs.iter_mut().find(|input| input["role"] == "property");
        input.expect("the property")["sha256"] = json!(file_digest(&path).expect("a digest"));
        let mut budget = Budget::unlimited();
        check_evidence(&evidence, Path::new("evidence"), &mut budget).map(|_| ())
    }

    fn property(&self) -> NetworkProperty {
        read_property(&self.folder.path().join("p.vnnlib")).expect("a property")
    }
}

/// The least bound that a grid does not reach, and the answer there.
fn bound_beyond_the_grid(case: &Case) -> i64 {
    let reached = |bound: i64| {
        let text = property(&case.factors, bound, case.halves);
        std::fs::write(case.folder.path().join("p.vnnlib"), text).expect("a file");
        on_a_grid(&case.evaluator, &case.property())
    };
    let (mut lo, mut hi) = (-4096, 4096);
    while lo + 1 < hi {
        let middle = (lo + hi) / 2;
        if reached(middle) { lo = middle } else { hi = middle }
    }
    hi
}

/// One of the numbers, lists and objects in a proof is changed, left out or put in twice.
fn changed(proof: &Value, random: &mut Random) -> Value {
    let mut changed = proof.clone();
    let disjuncts = changed.as_array_mut().expect("proofs");
    if random.percent(3) {
        let other = disjuncts[0].clone();
        disjuncts.push(other);
    }
    let at = random.below(disjuncts.len());
    let steps = disjuncts[at].as_array_mut().expect("steps");
    for _ in 0..1 + random.below(3) {
        if steps.is_empty() {
            break;
        }
        let k = random.below(steps.len());
        match random.below(9) {
            0 => _ = steps.remove(k),
            1 => {
                let step = steps[k].clone();
                steps.insert(k, step);
            }
            2 => steps[k] = Value::Null,
            // The other side has the value at which the part is split.
            8 => match steps[k].as_array_mut() {
                Some(parts) if parts.len() == 3 => parts.push(json!("below")),
                Some(parts) if parts.len() == 4 => _ = parts.pop(),
                Some(_) | None => {}
            },
            3 => steps[k] = json!(random.below(6)),
            4 => steps[k] = json!([random.below(3), random.between(-9, 9)]),
            5 => steps[k] = json!([random.below(6), random.below(4), random.between(-3, 3)]),
            6 => {
                let by = random.between(-3, 1_000_000);
                steps[k] =
                    json!({"sum": [[random.below(6), by]], "splits": [[random.below(2), by]]});
            }
            _ => {
                let by = format!("{}/{}", random.between(-3, 9), random.between(1, 9));
                let slopes = [[random.below(5), random.below(3), random.below(9)]];
                steps[k] = json!({"sum": [[random.below(6), by]], "slopes": slopes, "exact": true});
            }
        }
    }
    changed
}

/// Proofs that a careless check would take: leaves without reasons, halves left out, multipliers and slopes that no
/// inequality has, and the proof of another network.
fn aimed(proof: &Value, other: &Value) -> Vec<Value> {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut proof = proof.clone();
        for steps in proof.as_array_mut().expect("proofs") {
            steps.as_array_mut().expect("steps").iter_mut().for_each(change);
        }
        proof
    };
    let each = |member: &'static str, number: Value| {
        with(&move |step: &mut Value| {
            let entries = step.get_mut(member).and_then(Value::as_array_mut);
            for entry in entries.into_iter().flatten() {
                *entry.as_array_mut().expect("numbers").last_mut().expect("one") = number.clone();
            }
        })
    };
    let is_leaf = |step: &Value| !step.is_array();
    let mut halved = proof.clone();
    for steps in halved.as_array_mut().expect("proofs") {
        let steps = steps.as_array_mut().expect("steps");
        steps.truncate(1 + steps.iter().position(is_leaf).unwrap_or(0));
    }
    let objects = |step: &mut Value, change: &dyn Fn(&mut Value)| {
        if step.is_object() {
            change(step);
        }
    };
    vec![
        with(&|step| {
            if is_leaf(step) {
                *step = Value::Null
            }
        }),
        with(&|step| {
            if is_leaf(step) {
                *step = json!(0)
            }
        }),
        with(&|step| objects(step, &|step| step["slopes"] = json!([[1, 0, 2], [1, 1, -1]]))),
        with(&|step| objects(step, &|step| step["splits"] = json!([[0, 1_000_000]]))),
        each("sum", json!(-1)),
        each("sum", json!(1e308)),
        each("splits", json!(-1)),
        each("slopes", json!(-3)),
        halved,
        json!([[Value::Null]]),
        json!([]),
        other.clone(),
    ]
}

#[test]
fn answers_have_evidence_and_no_lie_is_confirmed() {
    let (mut aims, mut other) = (0, json!([[0]]));
    let (mut sat, mut unsat, mut lies, mut shifted, mut still_right) = (0, 0, 0, 0, 0);
    for number in case_numbers(150) {
        let case = Case::new(number);
        let beyond = bound_beyond_the_grid(&case);
        let mut random = Random::new(number);
        // The grid may miss the maximum; a bound is attained in many of the cases.
        let mut proof = None;
        for bound in [beyond - 1, beyond, beyond + 2, beyond + 64, beyond + (1 << 14)] {
            let (answer, evidence) = case.ask(bound);
            match answer {
                Some(AnswerWord::Sat) => sat += 1,
                Some(AnswerWord::Unsat) => {
                    unsat += 1;
                    proof = Some((bound, evidence.expect("a proof")));
                    break;
                }
                other => panic!("case {number}: {other:?}"),
            }
            assert!(evidence.is_some(), "case {number}, {bound}");
        }
        let (proved, proof) = proof.expect("no output is that great");
        // What was proved of a higher bound does not hold of lower ones.
        for bound in [beyond - 1, beyond - 2, beyond - 9] {
            assert!(case.check(&proof, bound).is_err(), "case {number}: {bound}");
            shifted += 1;
        }
        for _ in 0..if slow_tests() { 400 } else { 16 } {
            let mut lie = proof.clone();
            lie["refutation"] = changed(&proof["refutation"], &mut random);
            assert!(case.check(&lie, beyond - 1).is_err(), "case {number}: {lie:#}");
            lies += 1;
            still_right += usize::from(case.check(&lie, proved).is_ok());
        }
        for refutation in aimed(&proof["refutation"], &other) {
            let mut lie = proof.clone();
            lie["refutation"] = refutation;
            assert!(case.check(&lie, beyond - 1).is_err(), "case {number}: {lie:#}");
            aims += 1;
        }
        other = proof["refutation"].clone();
        // A witness is one of its own question alone.
        let (_, Some(witness)) = case.ask(beyond - 1) else { panic!("case {number}") };
        let mut point: Vec<Rational> = Vec::new();
        for input in witness["witness"]["inputs"].as_array().expect("inputs") {
            point.push(input["exact"].as_str().expect("exact").parse().expect("a number"));
        }
        assert!(case.check(&witness, beyond + 9).is_err(), "case {number}");
        for input in 0..INPUTS {
            let mut lie = witness.clone();
            let mut values = point.clone();
            values[input] = Rational::integer(random.between(-3, 3));
            let text = values[input].to_string();
            let is_same = values[input] == point[input];
            lie["witness"]["inputs"][input]["exact"] = json!(text);
            let accepted = case.check(&lie, beyond - 1).is_ok();
            assert!(accepted == is_same, "case {number}: two values of an input: {lie:#}");
            lie["witness"]["inputs"][input]["value"] = json!(text);
            let accepted = case.check(&lie, beyond - 1).is_ok();
            let outputs = case.evaluator.scores_at(&values);
            values.extend(outputs);
            assert!(!accepted || case.property().holds(&values), "case {number}: {lie:#}");
            lies += 2;
        }
    }
    let counts = format!(
        "{sat} sat, {unsat} unsat, {lies} random lies, {aims} aimed ones, {still_right} changes are right"
    );
    writeln!(std::io::stderr(), "{counts}").expect("standard error");
    assert!(
        sat >= 150 && unsat >= 150 && shifted >= 400 && lies >= 2000 && aims >= 100,
        "{counts}"
    );
    assert!(still_right > 0, "{counts}");
}

/// What is said about the question, and what the file is made of, has to be so.
#[test]
fn evidence_of_another_question_is_rejected_with_the_reason() {
    let case = Case::new(1);
    let beyond = bound_beyond_the_grid(&case);
    let (_, Some(evidence)) = case.ask(beyond + 2) else { panic!("no evidence") };
    let code = |evidence: &Value| {
        let mut budget = Budget::unlimited();
        match check_evidence(evidence, Path::new("evidence"), &mut budget) {
            Ok(_) => (0, String::new()),
            Err(failure) => (failure.status().code(), failure.to_string()),
        }
    };
    assert_eq!(code(&evidence).0, 0);
    let with = |pointer: &str, value: Value| {
        let mut other = evidence.clone();
        *other.pointer_mut(pointer).expect(pointer) = value;
        code(&other)
    };
    let without = |member: &str| {
        let mut other = evidence.clone();
        other.as_object_mut().expect("an object").remove(member);
        code(&other)
    };
    for ((code, said), expected, words) in [
        (with("/verdict", json!("sat")), 51, "claims `sat`"),
        (with("/verdict", json!("safe")), 40, "`verdict`"),
        (with("/semantics", json!("floats")), 51, "`semantics`"),
        (with("/inputs/0/sha256", json!("0".repeat(64))), 40, "is not the file"),
        (with("/inputs", json!([])), 51, "does not name"),
        (with("/task/property", evidence["task"]["network"].clone()), 40, "not the file"),
        (with("/refutation", json!([])), 51, "0 proofs"),
        (with("/refutation", json!([[]])), 51, "proof"),
        (with("/refutation", json!([[true]])), 40, "refutation[0]"),
        (with("/refutation", json!([[[0, "1"]]])), 40, "refutation[0]"),
        (with("/refutation", json!([[{"sum": [[0, 1]], "more": 1}]])), 40, "refutation[0]"),
        (without("verdict"), 40, "`verdict`"),
        (without("task"), 40, "task.network"),
        (without("inputs"), 40, "`inputs`"),
        (without("semantics"), 40, "`semantics`"),
        (without("refutation"), 40, "`refutation`"),
    ] {
        assert_eq!(code, expected, "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
    // A proof of a million splits takes no memory beyond its own, and ends.
    let deep: Vec<Value> = (0..200_000).map(|_| json!([0, 0.5])).collect();
    assert_eq!(with("/refutation", json!([deep])).0, 51);
}
