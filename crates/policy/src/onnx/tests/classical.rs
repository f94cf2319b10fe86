//! Operators of pipelines before networks and linear models.

use policert_numeric::Interval;

use super::policies::{exact, file, list, of_ml, outputs, text};
use super::*;
use crate::onnx::Ranges;
use crate::trees::Classes;

/// Three classes with one, two and one support vectors.
fn machine(change: impl Fn(&mut Vec<AttributeProto>)) -> Graph {
    let mut attributes = vec![
        text("kernel_type", "LINEAR"),
        ints("classlabels_ints", &[5, 6, 7]),
        ints("vectors_per_class", &[1, 2, 1]),
        list("support_vectors", &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 2.0]),
        list("coefficients", &[1.0, -0.5, -0.5, -1.0, 2.0, 1.0, 0.5, -3.0]),
        list("rho", &[0.5, -1.0, 0.25]),
    ];
    change(&mut attributes);
    let graph = outputs(Graph::pair(), &[("l", data_type::INT64)]);
    of_ml(graph.node("SVMClassifier", "x -> l p", attributes))
}

#[test]
fn support_vector_machines_vote() {
    let read = file(machine(|_| ())).expect("supported");
    assert_eq!((read.head, read.classes), (Head::Decision, Some(Classes::Numbers(vec![5, 6, 7]))));
    for inputs in [[3i64, 1], [0, 0], [-2, 4], [1, -3], [2, 2], [-1, -1]] {
        let [x, y] = inputs.map(|input| f64::from(i32::try_from(input).expect("small")));
        let kernels = [x, y, x + y, 2.0 * y - x];
        // Each pair by the coefficients of its two classes against each other.
        let sums = [
            kernels[0] - 0.5 * kernels[1] - 0.5 * kernels[2] + 0.5,
            2.0 * kernels[0] - kernels[3] - 1.0,
            kernels[1] + 0.5 * kernels[2] - 3.0 * kernels[3] + 0.25,
        ];
        let mut votes = [0, 0, 0];
        for (sum, (first, second)) in sums.iter().zip([(0, 1), (0, 2), (1, 2)]) {
            votes[if *sum > 0.0 { first } else { second }] += 1;
        }
        let expected: Vec<String> = votes.iter().map(ToString::to_string).collect();
        assert_eq!(exact(&read.network, &inputs), expected, "{inputs:?} {sums:?}");
    }
    let replaced = |name: &str, by: AttributeProto| {
        let change = |attributes: &mut Vec<AttributeProto>| {
            attributes.retain(|attribute| attribute.name != name);
            attributes.push(by.clone());
        };
        file(machine(change)).expect_err(name).to_string()
    };
    for (name, by, words) in [
        ("kernel_type", text("kernel_type", "RBF"), "kernel RBF is not supported"),
        ("rho", list("rho", &[0.5]), "1 summands do not fit"),
        ("support_vectors", list("support_vectors", &[1.0]), "1 numbers of 4 support vectors"),
        ("vectors_per_class", ints("vectors_per_class", &[1, 1]), "do not fit"),
        ("classlabels_ints", ints("classlabels_ints", &[]), "classes are not listed"),
    ] {
        let message = replaced(name, by);
        assert!(message.contains(words), "{message} does not say `{words}`");
    }
}

#[test]
fn rows_are_divided_by_their_norm() {
    let graph =
        |norm: &str| of_ml(Graph::pair().node("Normalizer", "x -> y", vec![text("norm", norm)]));
    let read = file(graph("L1")).expect("supported");
    for (inputs, expected) in
        [([3, -1], ["3/4", "-1/4"]), ([0, 0], ["0", "0"]), ([0, -7], ["0", "-1"])]
    {
        assert_eq!(exact(&read.network, &inputs), expected);
    }
    let read = file(graph("MAX")).expect("supported");
    assert_eq!(read.needs, [Some(policert_numeric::IntInterval::new(0, i64::MAX)); 2]);
    assert_eq!(exact(&read.network, &[3, 2]), ["1", "2/3"]);
    let read = file(graph("L2")).expect("supported");
    let scores = precise_scores(&read.network, &[3, -4], 200).expect("enclosed");
    for (score, expected) in scores.scores().iter().zip([0.6, -0.8]) {
        assert!((score.upper().to_f64() - expected).abs() < 1e-15);
    }
    let scaled = vec![list("offset", &[1.0]), list("scale", &[0.3])];
    let computed = of_ml(of_ml(Graph::pair().node("Scaler", "x -> s", scaled)).node(
        "Normalizer",
        "s -> y",
        vec![],
    ));
    assert!(file(computed).expect_err("computed").to_string().contains("let it be the first step"));
}

#[test]
fn numbers_stand_for_integers() {
    let encoder = |attributes| of_ml(Graph::pair().node("LabelEncoder", "x -> y", attributes));
    let read = file(encoder(vec![
        list("keys_floats", &[2.0, -1.0, 0.5]),
        list("values_floats", &[0.25, 10.0, 3.0]),
        float("default_float", 0.5),
    ]));
    let read = read.expect("supported");
    assert_eq!(exact(&read.network, &[2, -1]), ["1/4", "10"]);
    assert_eq!(exact(&read.network, &[0, 1]), ["1/2", "1/2"]);
    let wrong = file(encoder(vec![ints("keys_int64s", &[1]), ints("values_int64s", &[2])]));
    assert!(wrong.expect_err("type").to_string().contains("of another type"));
}

/// Functions that have no value somewhere, where the inputs are elsewhere.
#[test]
fn ranges_of_inputs() {
    let graph = || {
        Graph::pair().with(floats("one", &[], &[1.0])).node("Add", "x one -> z", vec![]).node(
            "Reciprocal",
            "z -> y",
            vec![],
        )
    };
    let read = |ranges: Ranges<'_>| {
        let reading = Reading { ranges, ..Reading::default() };
        parse_within("net.onnx", graph().bytes(), &reading, &mut Meter::default())
    };
    assert!(read(Ranges::Any).is_err());
    let later = read(Ranges::Later).expect("not known yet");
    assert!(later.assumes_ranges);
    let side = |lo, hi| Interval::new(lo, hi).expect("a range");
    assert!(read(Ranges::Given(&[side(0.0, 9.0), side(-1.0, 9.0)])).is_err());
    let given = read(Ranges::Given(&[side(0.0, 9.0), side(-0.5, 9.0)])).expect("known");
    assert!(!given.assumes_ranges);
    assert_eq!(exact(&given.network, &[1, 3]), ["1/2", "1/4"]);
}
