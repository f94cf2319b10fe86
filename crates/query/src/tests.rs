//! Tests of queries: witnesses and how they are written, what is not known, what does not fit.

use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_numeric::Rational;
use policert_policy::{ElementType, Matrix, Network, NetworkBuilder, NodeId};
use policert_vnnlib::parse_property;

use super::*;

fn number(text: &str) -> Rational {
    text.parse().expect("a number")
}

fn property(inputs: usize, outputs: usize, assertions: &str) -> String {
    let declaration = |name: String| format!("(declare-const {name} Real)\n");
    let names = (0..inputs).map(|i| format!("X_{i}")).chain((0..outputs).map(|j| format!("Y_{j}")));
    names.map(declaration).collect::<String>() + assertions
}

fn network(build: impl FnOnce(&mut NetworkBuilder) -> NodeId) -> Network {
    let mut builder = NetworkBuilder::new(1).expect("a width");
    let output = build(&mut builder);
    builder.finish(output, ElementType::F64)
}

/// `y = factor · x` as a NNet file with these means and ranges.
fn nnet(factor: &str, mean: &str, range: &str) -> String {
    format!("1,1,1,1,\n1,1,\n0,\n0,\n1,\n{mean},0,\n{range},1,\n{factor},\n0,\n")
}

struct Files(tempfile::TempDir);

impl Files {
    fn new(network: &str, property: &str) -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        std::fs::write(files.0.path().join("net.nnet"), network).expect("a file");
        std::fs::write(files.0.path().join("p.vnnlib"), property).expect("a file");
        files
    }

    fn query(&self, limits: Limits) -> Outcome<QueryReport> {
        let path = |name: &str| self.0.path().join(name);
        let request =
            QueryRequest { limits, ..QueryRequest::new(path("net.nnet"), path("p.vnnlib")) };
        query(&request, &CancelFlag::default(), &mut Silent)
    }
}

/// The witness for one input of a network.
fn witness_at(network: &Network, assertions: &str, input: &str) -> Option<Witness> {
    let text = property(1, network.output_width(), assertions);
    let property = parse_property("p.vnnlib", text.as_bytes()).expect("a property");
    witness::witness(&Scores::new(network), &property, 0, &[number(input)])
}

fn values(witness: &Witness) -> Vec<(&str, &str)> {
    let values = witness.inputs.iter().chain(&witness.outputs);
    values.map(|value| (value.name.as_str(), value.value.as_str())).collect()
}

#[test]
fn witnesses_are_short_and_exact() {
    let third = network(|builder| {
        let (mul, div, add) = (vec![1.0], vec![3.0], vec![0.0]);
        builder.scale(builder.input(), mul, div, add).expect("a width")
    });
    for (assertions, input, expected) in [
        // An end of many digits is cut off where that is allowed.
        ("(assert (> X_0 0))", "1/3", [("X_0", "0.333"), ("Y_0", "0.111")]),
        ("(assert (> X_0 0.3333))", "1/3", [("X_0", "0.333333"), ("Y_0", "0.111111")]),
        ("(assert (= X_0 0.75))", "3/4", [("X_0", "0.75"), ("Y_0", "0.25")]),
        // The only witness is no decimal.
        (
            "(assert (= (* 3 X_0) -1))",
            "-1/3",
            [("X_0", "(- (/ 1 3))"), ("Y_0", "-0.11111111111111111")],
        ),
        // Enough digits for the inequality to hold of what is printed.
        (
            "(assert (> Y_0 0.33333333333333333333)) (assert (= X_0 1))",
            "1",
            [("X_0", "1"), ("Y_0", "0.3333333333333333333333333333333333")],
        ),
    ] {
        let witness = witness_at(&third, assertions, input).expect(assertions);
        assert_eq!(values(&witness), expected, "{assertions}");
        let exact = &witness.outputs[0].exact;
        let is_exact = exact.as_deref().map(number) == Some(number(&witness.outputs[0].value));
        assert_eq!(witness.rounded_outputs().is_empty(), is_exact);
    }
    assert_eq!(witness_at(&third, "(assert (> Y_0 0.1))", "0.3"), None);
    assert_eq!(witness_at(&third, "(assert (< Y_0 0.1))", "0.3"), None);
    assert!(witness_at(&third, "(assert (<= Y_0 0.1))", "0.3").is_some());
}

#[test]
fn witnesses_of_smooth_networks() {
    let tanh = network(|builder| builder.tanh(builder.input()));
    let assertions =
        "(assert (>= Y_0 0.76159415595576488811)) (assert (<= Y_0 0.76159415595576488812))";
    let witness = witness_at(&tanh, assertions, "1").expect("tanh 1 lies between");
    assert_eq!(witness.outputs[0].exact, None);
    assert_eq!(witness.rounded_outputs(), ["Y_0"]);
    assert!(witness.outputs[0].value.starts_with("0.76159415595576488811"), "{witness:?}");
    assert_eq!(witness_at(&tanh, "(assert (>= Y_0 0.7615941559557649))", "1"), None);
}

#[test]
fn answers() {
    for (assertions, answer, status, vacuous) in [
        ("(assert (<= 0 X_0 1)) (assert (>= Y_0 2))", AnswerWord::Sat, ExitStatus::Unsafe, false),
        ("(assert (<= 0 X_0 1)) (assert (> Y_0 2))", AnswerWord::Unsat, ExitStatus::Safe, false),
        ("(assert (<= 1 X_0 0))", AnswerWord::Unsat, ExitStatus::Safe, true),
        ("(assert (< X_0 X_0))", AnswerWord::Unsat, ExitStatus::Safe, true),
        (
            "(assert (<= 0 X_0 1)) (assert (> (* 2 X_0) 2))",
            AnswerWord::Unsat,
            ExitStatus::Safe,
            true,
        ),
        (
            "(assert (<= 0 X_0 1)) (assert (< Y_0 0 Y_0))",
            AnswerWord::Unsat,
            ExitStatus::Safe,
            false,
        ),
        // The region of one disjunct is empty, that of the other is not.
        (
            "(assert (or (<= 1 X_0 0) (and (<= 0 X_0 1) (> Y_0 2))))",
            AnswerWord::Unsat,
            ExitStatus::Safe,
            false,
        ),
        (
            "(assert (<= 0 X_0)) (assert (>= Y_0 2))",
            AnswerWord::Unknown,
            ExitStatus::Unknown,
            false,
        ),
        // What is not known of one disjunct does not matter if another is satisfied.
        (
            "(assert (or (and (<= 0 X_0) (>= Y_0 9)) (and (<= 0 X_0 1) (>= Y_0 2))))",
            AnswerWord::Sat,
            ExitStatus::Unsafe,
            false,
        ),
        (
            "(assert (or (and (<= 0 X_0) (>= Y_0 9)) (and (<= 0 X_0 1) (> Y_0 2))))",
            AnswerWord::Unknown,
            ExitStatus::Unknown,
            false,
        ),
        // Inputs and outputs in one condition.
        ("(assert (<= 1 X_0 2)) (assert (>= X_0 Y_0))", AnswerWord::Unsat, ExitStatus::Safe, false),
        ("(assert (<= 0 X_0 2)) (assert (>= X_0 Y_0))", AnswerWord::Sat, ExitStatus::Unsafe, false),
    ] {
        let files = Files::new(&nnet("2", "0", "1"), &property(1, 1, assertions));
        let queried = files.query(Limits::default());
        let report = &queried.report;
        assert!(queried.failure.is_none(), "{assertions}: {:?}", queried.failure);
        assert_eq!(report.answer, Some(answer), "{assertions}");
        assert_eq!(queried.status, status, "{assertions}");
        assert_eq!(report.vacuous, vacuous, "{assertions}");
        assert_eq!(queried.remarks.warnings.len(), usize::from(vacuous), "{assertions}");
        assert_eq!(report.witness.is_some(), answer == AnswerWord::Sat, "{assertions}");
        assert_eq!(queried.reason.is_some(), answer == AnswerWord::Unknown, "{assertions}");
        assert_eq!(queried.remarks.inputs.len(), 2);
    }
}

#[test]
fn a_reason_names_the_input() {
    let files = Files::new(&nnet("2", "0", "1"), &property(1, 1, "(assert (>= Y_0 2))"));
    let queried = files.query(Limits::default());
    assert_eq!(queried.reason_code, Some(ReasonCode::UnboundedInput));
    assert!(
        queried.reason.as_deref().is_some_and(|r| r.contains("X_0 is not bounded")),
        "{queried:?}"
    );
}

#[test]
fn the_normalisation_of_a_file_is_applied() {
    // y = 2 (x - 5) / 10
    let text = property(1, 1, "(assert (<= 0 X_0 10)) (assert (>= Y_0 1))");
    let queried = Files::new(&nnet("2", "5", "10"), &text).query(Limits::default());
    let witness = queried.report.witness.as_ref().expect("a witness");
    assert_eq!(values(witness), [("X_0", "10"), ("Y_0", "1")]);
    let notes = &queried.remarks.notes;
    assert!(notes.iter().any(|note| note.contains("normalised")), "{notes:?}");
}

#[test]
fn network_and_property_must_fit() {
    let files = Files::new(&nnet("2", "0", "1"), &property(2, 1, ""));
    let queried = files.query(Limits::default());
    assert_eq!(queried.status, ExitStatus::Invalid);
    let [problem] = &queried.errors[..] else { panic!("{:?}", queried.errors) };
    for part in ["p.vnnlib", "net.nnet", "X_0 to X_1 (2 inputs)", "net.nnet has 1 input"] {
        assert!(problem.message.contains(part), "{part}: {}", problem.message);
    }
    let files = Files::new("nothing", &property(2, 1, "(assert (<= X_9 1))"));
    let queried = files.query(Limits::default());
    assert_eq!(queried.errors.len(), 2, "both files are looked at");
    assert_eq!(queried.errors[1].line, Some(4));
    assert_eq!(queried.report.answer, None);
}

#[test]
fn no_time_is_a_timeout() {
    let text = property(1, 1, "(assert (<= 0 X_0 1)) (assert (>= Y_0 1))");
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let queried = Files::new(&nnet("2", "0", "1"), &text).query(limits);
    assert_eq!(queried.report.answer, Some(AnswerWord::Timeout));
    assert_eq!(queried.status, ExitStatus::Time);
    assert_eq!(queried.reason_code, Some(ReasonCode::Time));
}

#[test]
fn no_memory_ends_before_the_network_is_prepared() {
    let text = property(1, 1, "(assert (<= 0 X_0 1)) (assert (>= Y_0 1))");
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    let queried = Files::new(&nnet("2", "0", "1"), &text).query(limits);
    assert_eq!(queried.report.answer, Some(AnswerWord::Unknown));
    assert_eq!(queried.status, ExitStatus::Memory);
    assert_eq!(queried.reason_code, Some(ReasonCode::Memory));
    assert!(queried.report.statistics.is_none(), "nothing was searched");
}

#[test]
fn a_layer_of_weights() {
    // y0 = relu(x), y1 = relu(-x): both are 0 at 0 only.
    let both = network(|builder| {
        let weights = Matrix::new(2, 1, vec![1.0, -1.0]).expect("a matrix");
        let sums = builder.affine(builder.input(), weights, vec![0.0, 0.0]).expect("widths");
        builder.relu(sums)
    });
    let witness = witness_at(&both, "(assert (= Y_0 Y_1 0))", "0").expect("a witness");
    assert_eq!(values(&witness), [("X_0", "0"), ("Y_0", "0"), ("Y_1", "0")]);
    assert_eq!(witness_at(&both, "(assert (= Y_0 Y_1))", "1/1000000000000"), None);
}
