//! Graphs as trainers' libraries write them: outputs that decide, integers, several inputs and
//! outputs, shapes that are computed.

use policert_numeric::IntInterval;

use super::*;
use crate::interface::{GroupFeed, InputGroup};
use crate::trees::Classes;

pub(super) fn file(graph: Graph) -> Result<OnnxFile, PolicyError> {
    let model = ml(graph).encode_to_vec();
    parse_within("net.onnx", model, &Reading::default(), &mut Meter::default())
}

/// With both operator sets.
fn ml(graph: Graph) -> ModelProto {
    let mut model = graph.model();
    model.opset_import.push(OperatorSetIdProto { domain: "ai.onnx.ml".to_owned(), version: 1 });
    model
}

pub(super) fn of_ml(mut graph: Graph) -> Graph {
    if let Some(node) = graph.0.node.last_mut() {
        node.domain = "ai.onnx.ml".to_owned();
    }
    graph
}

pub(super) fn texts(name: &str, values: &[&str]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![i64::try_from(values.len()).expect("few")],
        data_type: data_type::STRING,
        string_data: values.iter().map(|value| value.as_bytes().to_vec()).collect(),
        ..TensorProto::default()
    }
}

pub(super) fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.as_bytes().to_vec()), ..attribute(name, attribute_kind::STRING) }
}

pub(super) fn list(name: &str, floats: &[f32]) -> AttributeProto {
    AttributeProto { floats: floats.to_vec(), ..attribute(name, attribute_kind::FLOATS) }
}

/// The graph with these outputs.
pub(super) fn outputs(mut graph: Graph, outputs: &[(&str, i32)]) -> Graph {
    graph.0.output = outputs.iter().map(|&(name, kind)| shapeless(name, kind)).collect();
    graph
}

/// The scores of a state.
pub(super) fn exact(network: &Network, inputs: &[i64]) -> Vec<String> {
    let exact = ExactEvaluator::new(network).expect("piecewise linear");
    exact.scores(inputs).to_rationals().iter().map(ToString::to_string).collect()
}

/// A graph that reads integers.
fn integers_of(dims: &[Option<i64>]) -> Graph {
    let mut graph = Graph::new(dims);
    graph.0.input = vec![value_info("x", data_type::INT64, dims)];
    graph
}

#[test]
fn decisions_are_the_scores_that_they_choose_from() {
    let tails: [&[(&str, &str, Vec<AttributeProto>)]; 5] = [
        &[("ArgMax", "x -> y", vec![int("axis", 1), int("keepdims", 0)])],
        &[("Softmax", "x -> p", vec![]), ("ArgMax", "p -> y", vec![int("axis", -1)])],
        &[
            ("ReduceLogSumExp", "x -> s", vec![ints("axes", &[-1])]),
            ("Sub", "x s -> l", vec![]),
            ("Softmax", "l -> p", vec![int("axis", -1)]),
            ("ArgMax", "p -> a", vec![int("axis", 1)]),
            ("Squeeze", "a -> q", vec![]),
            ("Cast", "q -> y", vec![int("to", i64::from(data_type::INT64))]),
        ],
        &[
            ("ReduceMax", "x -> m", vec![ints("axes", &[1])]),
            ("Sub", "x m -> d", vec![]),
            ("Exp", "d -> e", vec![]),
            ("ReduceSum", "e -> s", vec![]),
            ("Div", "e s -> p", vec![]),
            ("ArgMax", "p -> y", vec![int("axis", 1)]),
        ],
        &[("TopK", "x k -> v y", vec![])],
    ];
    for tail in tails {
        let start =
            outputs(Graph::pair().with(integers("k", &[1], &[1])), &[("y", data_type::INT64)]);
        let graph = tail.iter().fold(start, |graph, (operator, values, attributes)| {
            graph.node(operator, values, attributes.clone())
        });
        let read = file(graph).expect("supported");
        assert_eq!(read.head, Head::Decision);
        let scores = exact(&read.network, &[3, -2]);
        assert!(scores == ["3", "-2"] || scores == ["0", "-5"], "{scores:?}");
    }
    for operator in ["Softmax", "LogSoftmax"] {
        let read = file(Graph::pair().node(operator, "x -> y", vec![])).expect("supported");
        assert_eq!(read.head, Head::Order);
        assert_eq!(exact(&read.network, &[3, -2]), ["3", "-2"]);
        let middle = Graph::pair().node(operator, "x -> p", vec![]).node("Relu", "p -> y", vec![]);
        let message = middle.unsupported();
        assert!(message.contains("node 1 (Relu)") && message.contains("order"), "{message}");
    }
    let last = int("select_last_index", 1);
    let graph = outputs(Graph::pair(), &[("y", data_type::INT64)]);
    let graph = graph.node("ArgMax", "x -> y", vec![int("axis", 1), last]);
    assert!(file(graph).expect_err("the last").to_string().contains("select_last_index"));
    let rows = outputs(Graph::new(&[Some(2), Some(2)]), &[("y", data_type::INT64)]);
    let rows = rows.node("ArgMax", "x -> y", vec![int("axis", 1)]);
    assert!(file(rows).expect_err("two choices").to_string().contains("along axis 1"));
}

/// What has the order of the scores need not have their probabilities.
#[test]
fn a_policy_draws_by_the_softmax_of_its_scores_alone() {
    let two = || Graph::pair().with(floats("two", &[1], &[2.0])).with(integers("a", &[1], &[1]));
    for (nodes, is_softmax) in [
        (&[("Identity", "x -> y")][..], true),
        (&[("Softmax", "x -> y")], true),
        (&[("LogSoftmax", "x -> y")], true),
        (&[("ReduceLogSumExp", "x a -> l"), ("Sub", "x l -> y")], true),
        (&[("ReduceLogSumExp", "x a -> l"), ("Sub", "x l -> s"), ("Softmax", "s -> y")], true),
        (&[("LogSoftmax", "x -> l"), ("Softmax", "l -> y")], true),
        (&[("LogSoftmax", "x -> l"), ("Add", "l two -> y")], true),
        (&[("Mul", "x two -> m"), ("Softmax", "m -> y")], true),
        (&[("Softmax", "x -> p"), ("Softmax", "p -> y")], false),
        (&[("LogSoftmax", "x -> l"), ("Mul", "l two -> y")], false),
        (&[("LogSoftmax", "x -> l"), ("Mul", "l two -> m"), ("Softmax", "m -> y")], false),
        (&[("Softmax", "x -> p"), ("Sub", "p two -> y")], false),
        (&[("Softmax", "x -> p"), ("Div", "p two -> y")], false),
        (&[("Exp", "x -> y")], false),
        (&[("Exp", "x -> e"), ("ReduceSum", "e a -> s"), ("Div", "e s -> y")], false),
    ] {
        let graph = nodes
            .iter()
            .fold(two(), |graph, (operator, names)| graph.node(operator, names, vec![]));
        let read = file(graph).unwrap_or_else(|error| panic!("{nodes:?}: {error}"));
        assert_eq!(read.draws_by_softmax, is_softmax, "{nodes:?}");
    }
}

#[test]
fn subtracting_what_differs_between_scores_is_no_order() {
    // The logarithm of a number that may be negative is not known to be real.
    let log = Graph::pair().with(integers("a", &[1], &[1]));
    let log = log.node("ReduceSum", "x a -> s", vec![]).node("Log", "s -> l", vec![]);
    let log = log.node("Sub", "x l -> y", vec![]);
    assert!(log.unsupported().contains("node 1 (Log): its argument could be 0 or negative"));
    // Not the same number for all scores: the values count.
    let each = Graph::pair().node("Exp", "x -> e", vec![]).node("Sub", "x e -> y", vec![]);
    let each = file(each).expect("supported");
    assert_eq!(each.head, Head::Values);
    let scores = precise_scores(&each.network, &[0, 2], 64).expect("enclosed");
    let values: Vec<f64> = scores.scores().iter().map(|s| s.upper().to_f64()).collect();
    let expected = [-1.0, 2.0 - std::f64::consts::E.powi(2)];
    assert!(values.iter().zip(expected).all(|(value, e)| (value - e).abs() < 1e-12), "{values:?}");
}

#[test]
fn several_choices_are_one_among_their_combinations() {
    let graph = outputs(Graph::new(&[None, Some(5)]), &[("y", data_type::INT64)]);
    let graph = graph.with(integers("s", &[2], &[2, 3])).with(integers("one", &[1], &[1]));
    let graph = graph.node("Split", "x s -> a b", vec![int("axis", 1)]);
    let pick = |graph: Graph, values: &str, to: &str| {
        let argmax = vec![int("axis", 1), int("keepdims", 0)];
        graph.node("ArgMax", &format!("{values} -> i{values}"), argmax).node(
            "Unsqueeze",
            &format!("i{values} one -> {to}"),
            vec![],
        )
    };
    let graph = pick(pick(graph, "a", "c"), "b", "d");
    let graph = graph.node("Concat", "c d -> y", vec![int("axis", 1)]);
    let read = file(graph).expect("supported");
    assert_eq!(exact(&read.network, &[1, 2, 10, 20, 30]), ["11", "21", "31", "12", "22", "32"]);
    assert!(read.remarks[0].contains("6 combinations"), "{:?}", read.remarks);
}

#[test]
fn the_output_of_several_that_decides() {
    let graph = || {
        Graph::pair()
            .with(floats("w", &[2, 1], &[1.0, 2.0]))
            .node("MatMul", "x w -> value", vec![])
            .node("Softmax", "x -> p", vec![])
            .node("ArgMax", "p -> action", vec![int("axis", 1)])
            .node("RandomNormalLike", "x -> noise", vec![])
    };
    let all = [
        ("noise", data_type::FLOAT),
        ("value", data_type::FLOAT),
        ("action", data_type::INT64),
        ("p", data_type::FLOAT),
    ];
    let read = file(outputs(graph(), &all)).expect("the action");
    assert_eq!(read.head, Head::Decision);
    assert!(read.remarks[0].ends_with("`action` is the policy"), "{:?}", read.remarks);
    // Without a decision, the only one with several elements.
    let read = file(outputs(graph(), &[all[1], all[3]])).expect("the scores");
    assert_eq!((read.head, read.network.output_width()), (Head::Order, 2));
    let named = |name: &str| {
        let reading = Reading { output: Some(name), ..Reading::default() };
        let model = outputs(graph(), &all).bytes();
        parse_within("net.onnx", model, &reading, &mut Meter::default())
    };
    assert_eq!(named("value").expect("named").network.output_width(), 1);
    assert!(named("noise").expect_err("noise").to_string().contains("RandomNormalLike"));
    let message = named("other").expect_err("no such").to_string();
    assert!(message.contains("no output `other`; it has `noise`, `value`"), "{message}");
    let two = outputs(
        graph().node("Identity", "action -> again", vec![]),
        &[all[2], ("again", data_type::INT64)],
    );
    assert!(file(two).expect_err("two decisions").to_string().contains("not clear"));
}

#[test]
fn several_inputs_stand_one_after_the_other() {
    let mut graph = Graph::pair();
    graph.0.input.push(value_info("z", data_type::FLOAT, &[Some(1), Some(1)]));
    let read = file(graph.node("Concat", "z x -> y", vec![int("axis", 1)])).expect("supported");
    let input = |name: &str, width| GraphInput { name: name.to_owned(), width, is_integer: false };
    assert_eq!(read.inputs, [input("x", 2), input("z", 1)]);
    assert_eq!(exact(&read.network, &[1, 2, 3]), ["3", "1", "2"]);
}

/// Inputs by name.
fn named(graph: Graph, groups: &[(&str, GroupFeed)]) -> Result<OnnxFile, PolicyError> {
    let group = |&(name, feed): &(&str, GroupFeed)| InputGroup { name: name.to_owned(), feed };
    let groups: Vec<InputGroup> = groups.iter().map(group).collect();
    let reading = Reading { groups: &groups, ..Reading::default() };
    parse_within("net.onnx", graph.bytes(), &reading, &mut Meter::default())
}

#[test]
fn masks_of_applicable_labels() {
    let graph = |low: &[f32]| {
        let mut graph = outputs(Graph::pair(), &[("y", data_type::INT64)]);
        graph.0.input.push(value_info("m", data_type::BOOL, &[Some(1), Some(2)]));
        let length = i64::try_from(low.len()).expect("few");
        graph.with(floats("low", &[length], low)).with(integers("s", &[2], &[1, 2]))
    };
    let masked = |graph: Graph| {
        let boolean = vec![int("to", i64::from(data_type::BOOL))];
        let graph = graph.node("Cast", "m -> c", boolean).node("Reshape", "c s -> r", vec![]);
        let graph = graph.node("Where", "r x low -> w", vec![]);
        graph.node("ArgMax", "w -> y", vec![int("axis", 1)])
    };
    let groups = [("x", GroupFeed::Inputs(2)), ("m", GroupFeed::Applicable)];
    let read = named(masked(graph(&[-1e8])), &groups).expect("supported");
    assert_eq!((read.masked, read.network.input_width()), (Some(-1e8), 2));
    assert_eq!(exact(&read.network, &[1, 2]), ["1", "2"]);
    // Without the interface's word, it is an input like others.
    let message = file(masked(graph(&[-1e8]))).expect_err("a condition").to_string();
    assert!(message.contains("node 0 (Cast)") && message.contains("applicable"), "{message}");
    let message = named(masked(graph(&[-1e8, -1e9])), &groups).expect_err("two").to_string();
    assert!(
        message.contains("input `m`: which labels are applicable may only choose"),
        "{message}"
    );
    // Only what the policy itself masks counts.
    let beside = masked(graph(&[-1e8])).node("ArgMax", "x -> z", vec![int("axis", 1)]);
    let read = named(outputs(beside, &[("z", data_type::INT64)]), &groups).expect("supported");
    assert_eq!(read.masked, None);
    let other = [("x", GroupFeed::Inputs(2)), ("n", GroupFeed::Applicable)];
    let message = named(masked(graph(&[-1e8])), &other).expect_err("n").to_string();
    assert!(message.contains("no input `n`; it has `x`, `m`"), "{message}");
    let added = graph(&[0.0]).node("Cast", "m -> f", vec![int("to", 1)]);
    let added =
        added.node("Add", "x f -> w", vec![]).node("ArgMax", "w -> y", vec![int("axis", 1)]);
    assert!(named(added, &groups).is_err());
}

#[test]
fn one_hot_vectors_of_integers() {
    let graph = || {
        let graph = integers_of(&[Some(2)]).with(integers("d", &[], &[3]));
        graph.with(floats("v", &[2], &[0.0, 1.0]))
    };
    let read = file(graph().node("OneHot", "x d v -> y", vec![])).expect("supported");
    assert_eq!(read.needs, [Some(IntInterval::new(0, i64::MAX)); 2]);
    assert_eq!(exact(&read.network, &[1, 2]), ["0", "1", "0", "0", "0", "1"]);
    assert_eq!(exact(&read.network, &[0, 7]), ["1", "0", "0", "0", "0", "0"]);
    let columns = graph().node("OneHot", "x d v -> y", vec![int("axis", 0)]);
    let read = file(columns).expect("supported");
    assert_eq!(exact(&read.network, &[1, 2]), ["0", "0", "1", "0", "0", "1"]);
    // As torch's default exporter writes it.
    let equal = integers_of(&[Some(2)])
        .with(integers("all", &[3], &[0, 1, 2]))
        .with(integers("last", &[1], &[-1]))
        .node("Unsqueeze", "x last -> u", vec![])
        .node("Equal", "u all -> e", vec![])
        .node("Cast", "e -> i", vec![int("to", i64::from(data_type::INT64))])
        .node("Cast", "i -> y", vec![int("to", i64::from(data_type::FLOAT))]);
    let read = file(equal).expect("supported");
    assert_eq!(exact(&read.network, &[1, -4]), ["0", "1", "0", "0", "0", "0"]);
    let computed =
        Graph::pair().with(integers("d", &[], &[3])).with(floats("v", &[2], &[0.0, 1.0]));
    let computed = computed.node("Relu", "x -> r", vec![]).node("OneHot", "r d v -> y", vec![]);
    assert!(computed.unsupported().contains("integers that are computed"));
}

#[test]
fn rows_of_a_table() {
    let graph = integers_of(&[Some(2)]).with(floats("t", &[3, 2], &[0.5, 1.0, 2.0, 3.0, 4.0, 5.0]));
    let read = file(graph.node("Gather", "t x -> y", vec![])).expect("supported");
    assert_eq!(read.needs, [Some(IntInterval::new(0, 2)); 2]);
    assert_eq!(exact(&read.network, &[2, 0]), ["4", "5", "1/2", "1"]);
}

#[test]
fn comparisons_of_integers() {
    for (operator, values, expected) in [
        ("Greater", "x c -> b", ["0", "0", "1"]),
        ("GreaterOrEqual", "x c -> b", ["0", "1", "1"]),
        ("Less", "x c -> b", ["1", "0", "0"]),
        ("LessOrEqual", "x c -> b", ["1", "1", "0"]),
        ("Greater", "c x -> b", ["1", "0", "0"]),
        ("LessOrEqual", "c x -> b", ["0", "1", "1"]),
        ("Equal", "c x -> b", ["0", "1", "0"]),
    ] {
        let graph = || integers_of(&[Some(3)]).with(integers("c", &[], &[4]));
        let to = vec![int("to", i64::from(data_type::FLOAT))];
        let truth = graph().node(operator, values, vec![]).node("Cast", "b -> y", to.clone());
        let read = file(truth).expect("supported");
        assert_eq!(exact(&read.network, &[3, 4, 5]), expected, "{operator} {values}");
        let chosen = graph().with(floats("p", &[], &[2.5])).with(floats("q", &[3], &[7.0; 3]));
        let chosen = chosen.node(operator, values, vec![]).node("Not", "b -> n", vec![]);
        let read = file(chosen.node("Where", "n p q -> y", vec![])).expect("supported");
        let wanted = expected.map(|truth| if truth == "0" { "5/2" } else { "7" });
        assert_eq!(exact(&read.network, &[3, 4, 5]), wanted, "{operator} {values}");
    }
}

#[test]
fn shapes_of_values_that_are_not_computed() {
    // As the exporter writes a normal distribution of which only the mean is used.
    let graph = Graph::pair()
        .node("Exp", "x -> deviation", vec![])
        .node("Shape", "x -> s", vec![])
        .node("ConstantOfShape", "s -> zeros", vec![])
        .node("Add", "zeros x -> mean", vec![])
        .node("Mul", "mean deviation -> product", vec![])
        .node("Shape", "product -> t", vec![])
        .node("Expand", "x t -> y", vec![]);
    assert_eq!(graph.scores(&[4, -1]), ["4", "-1"]);
    let graph = Graph::pair()
        .with(integers("zero", &[], &[0]))
        .with(integers("two", &[], &[2]))
        .with(integers("step", &[], &[1]))
        .node("Range", "zero two step -> r", vec![])
        .node("Gather", "x r -> y", vec![int("axis", 1)]);
    assert_eq!(graph.scores(&[4, -1]), ["4", "-1"]);
}

#[test]
fn elements_picked_and_put_together() {
    let rows = |dims: &[Option<i64>]| Graph::new(dims);
    let matrix = || rows(&[Some(2), Some(3)]);
    let slice = |starts: &[i64], ends: &[i64], steps: &[i64]| {
        let graph = matrix().with(integers("s", &[1], starts)).with(integers("e", &[1], ends));
        let graph = graph.with(integers("a", &[1], &[1])).with(integers("t", &[1], steps));
        graph.node("Slice", "x s e a t -> y", vec![]).scores(&[1, 2, 3, 4, 5, 6])
    };
    assert_eq!(slice(&[1], &[i64::MAX], &[1]), ["2", "3", "5", "6"]);
    assert_eq!(slice(&[0], &[-1], &[2]), ["1", "4"]);
    assert_eq!(slice(&[-1], &[i64::MIN], &[-2]), ["3", "1", "6", "4"]);
    let tile = matrix().with(integers("r", &[2], &[1, 2])).node("Tile", "x r -> y", vec![]);
    let tiled = tile.scores(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(tiled, ["1", "2", "3", "1", "2", "3", "4", "5", "6", "4", "5", "6"]);
    let pads = ints("pads", &[0, 1, 0, 0]);
    let pad = matrix().version(10).node("Pad", "x -> y", vec![pads, float("value", 0.5)]);
    let padded = pad.scores(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(padded, ["1/2", "1", "2", "3", "1/2", "4", "5", "6"]);
    for (operator, axes, expected) in [
        ("ReduceSum", None, vec!["21"]),
        ("ReduceMean", Some(1), vec!["2", "5"]),
        ("ReduceMax", Some(0), vec!["4", "5", "6"]),
        ("ReduceMin", Some(1), vec!["1", "4"]),
    ] {
        let attributes = axes.map(|axis| ints("axes", &[axis])).into_iter().collect();
        let graph = matrix().version(11).node(operator, "x -> y", attributes);
        assert_eq!(graph.scores(&[1, 2, 3, 4, 5, 6]), expected, "{operator}");
    }
    let slopes = matrix().with(floats("s", &[3], &[0.5, 0.25, -1.0]));
    let slopes = slopes.node("PRelu", "x s -> y", vec![]);
    assert_eq!(slopes.scores(&[-4, -4, -4, 4, 4, 4]), ["-2", "-1", "4", "4", "4", "4"]);
}

#[test]
fn images() {
    let image = || Graph::new(&[None, Some(1), Some(2), Some(3)]);
    let state = [1, 2, 3, 4, 5, 6];
    let conv = image().with(floats("k", &[1, 1, 2, 2], &[1.0, 0.0, 0.0, 10.0]));
    let conv = conv.with(floats("b", &[1], &[0.5])).node("Conv", "x k b -> y", vec![]);
    assert_eq!(conv.scores(&state), ["103/2", "125/2"]);
    let same = image().with(floats("k", &[1, 1, 2, 2], &[1.0, 0.0, 0.0, 10.0]));
    let same = same.node("Conv", "x k -> y", vec![text("auto_pad", "SAME_UPPER")]);
    assert_eq!(same.scores(&state), ["51", "62", "3", "4", "5", "6"]);
    let grouped = Graph::new(&[Some(1), Some(2), Some(2)]);
    let grouped = grouped.with(floats("k", &[2, 1, 1], &[2.0, 3.0]));
    let grouped = grouped.node("Conv", "x k -> y", vec![int("group", 2)]);
    assert_eq!(grouped.scores(&[1, 2, 3, 4]), ["2", "4", "9", "12"]);
    let window = || vec![ints("kernel_shape", &[2, 2]), ints("pads", &[0, 1, 0, 0])];
    let max = image().node("MaxPool", "x -> y", window());
    assert_eq!(max.scores(&state), ["4", "5", "6"]);
    let mean = image().node("AveragePool", "x -> y", window());
    assert_eq!(mean.scores(&state), ["5/2", "3", "4"]);
    let mut all = window();
    all.push(int("count_include_pad", 1));
    let mean = image().node("AveragePool", "x -> y", all);
    assert_eq!(mean.scores(&state), ["5/4", "3", "4"]);
    assert_eq!(image().node("GlobalAveragePool", "x -> y", vec![]).scores(&state), ["7/2"]);
    let statistics = [("s", 2.0), ("b", 1.0), ("m", 3.0), ("v", 15.75)];
    let graph = statistics
        .iter()
        .fold(image(), |graph, (name, value)| graph.with(floats(name, &[1], &[*value])));
    let graph = graph.node("BatchNormalization", "x s b m v -> y", vec![float("epsilon", 0.25)]);
    assert_eq!(graph.scores(&state), ["0", "1/2", "1", "3/2", "2", "5/2"]);
}

#[test]
fn support_vector_machines_with_a_linear_kernel() {
    let machine = |attributes| of_ml(Graph::pair().node("SVMRegressor", "x -> y", attributes));
    let common = |kernel: &str| vec![text("kernel_type", kernel), list("rho", &[0.5])];
    let supported = |kernel: &str, coefficients: &[f32]| {
        let mut attributes = common(kernel);
        attributes.extend([
            int("n_supports", 3),
            list("support_vectors", &[1.0, 0.0, 0.0, 2.0, -1.0, 1.0]),
            list("coefficients", coefficients),
        ]);
        machine(attributes)
    };
    // 1 · 3 − 2 · 10 + 3 · 2 + 1/2
    let read = file(supported("LINEAR", &[1.0, -2.0, 3.0])).expect("supported");
    assert_eq!(exact(&read.network, &[3, 5]), ["-21/2"]);
    let mut attributes = common("LINEAR");
    attributes.push(list("coefficients", &[1.0, -2.0]));
    let read = file(machine(attributes)).expect("supported");
    assert_eq!(exact(&read.network, &[3, 5]), ["-13/2"]);
    for (graph, words) in [
        (supported("RBF", &[1.0, -2.0, 3.0]), "kernel RBF is not supported; train with"),
        (supported("LINEAR", &[1.0, -2.0]), "3 support vectors and 2 coefficients for 2 features"),
    ] {
        let error = file(graph).expect_err(words).to_string();
        assert!(error.contains(words), "{error} does not say `{words}`");
    }
}

#[test]
fn classifiers_name_their_classes() {
    let labelled = outputs(Graph::pair(), &[("l", data_type::STRING), ("m", 0)]);
    let graph = of_ml(labelled.node(
        "LinearClassifier",
        "x -> l p",
        vec![
            list("coefficients", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            list("intercepts", &[0.5, 0.0, 0.0]),
            AttributeProto {
                strings: [b"a", b"b", b"c"].map(|name| name.to_vec()).to_vec(),
                ..attribute("classlabels_strings", attribute_kind::STRINGS)
            },
            text("post_transform", "SOFTMAX"),
        ],
    ));
    let graph = of_ml(graph.node("Normalizer", "p -> n", vec![text("norm", "L1")]));
    let graph = of_ml(graph.node("ZipMap", "n -> m", vec![]));
    let read = file(graph).expect("supported");
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!((read.head, read.classes), (Head::Decision, Some(Classes::Names(names))));
    assert_eq!(exact(&read.network, &[1, 1]), ["7/2", "7", "11"]);
    // One score for two classes.
    let single = outputs(Graph::pair(), &[("l", data_type::INT64)]);
    let single = of_ml(single.node(
        "LinearClassifier",
        "x -> l p",
        vec![
            list("coefficients", &[1.0, -2.0]),
            list("intercepts", &[0.5]),
            ints("classlabels_ints", &[7, 8]),
        ],
    ));
    let read = file(single).expect("supported");
    assert_eq!(read.classes, Some(Classes::Numbers(vec![7, 8])));
    assert_eq!(exact(&read.network, &[1, 1]), ["0", "-1/2"]);
    // Names that are looked up, after features are scaled.
    let graph = outputs(Graph::pair(), &[("y", data_type::STRING)]);
    let graph = graph.with(texts("names", &["u", "v"]));
    let scale = vec![list("offset", &[1.0, 2.0]), list("scale", &[0.5])];
    let graph = of_ml(graph.node("Scaler", "x -> s", scale));
    let graph = graph.node("ArgMax", "s -> i", vec![int("axis", 1)]);
    let graph = of_ml(graph.node("ArrayFeatureExtractor", "names i -> y", vec![]));
    let read = file(graph).expect("supported");
    assert_eq!(read.classes, Some(Classes::Names(vec!["u".to_owned(), "v".to_owned()])));
    assert_eq!(exact(&read.network, &[2, 5]), ["1/2", "3/2"]);
}
