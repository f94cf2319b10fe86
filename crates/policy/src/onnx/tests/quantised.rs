//! Steps, and values that are quantised by them.

use super::policies::file;
use super::*;

fn constants() -> Graph {
    Graph::pair().with(floats("quarter", &[], &[0.25])).with(floats("two", &[2], &[2.0; 2]))
}

/// Constants of a type of integers.
pub(super) fn typed(name: &str, dims: &[i64], data_type: i32, values: &[i32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type,
        int32_data: values.to_vec(),
        ..TensorProto::default()
    }
}

#[test]
fn steps() {
    for (operator, expected) in [
        ("Floor", [["-2", "1"], ["0", "0"], ["1", "-1"]]),
        ("Ceil", [["-1", "2"], ["0", "1"], ["2", "0"]]),
        ("Round", [["-2", "2"], ["0", "0"], ["2", "0"]]),
        ("Sign", [["-1", "1"], ["0", "1"], ["1", "-1"]]),
    ] {
        for (inputs, expected) in [[-3, 3], [0, 1], [3, -1]].into_iter().zip(expected) {
            let graph = constants().node("Div", "x two -> h", vec![]);
            let scores = graph.node(operator, "h -> y", vec![]).scores(&inputs);
            assert_eq!(scores, expected, "{operator} {inputs:?}");
        }
    }
    let network = constants().node("Floor", "x -> y", vec![]).parse().expect("supported");
    assert!(!network.is_piecewise_linear());
}

/// What is quantised and scaled back, for x = −3, −1, 1, 3 and 9 quarters.
fn there_and_back(graph: Graph, zero: &str) -> Vec<String> {
    let graph = graph
        .node("Mul", "x quarter -> z", vec![])
        .node("QuantizeLinear", &format!("z half {zero} -> q"), vec![])
        .node("DequantizeLinear", &format!("q half {zero} -> y"), vec![]);
    let network = graph.parse().expect("supported");
    let exact = ExactEvaluator::new(&network).expect("rational");
    let score = |&x: &i64| exact.scores(&[x, 0]).to_rationals()[0].to_string();
    [-3, -1, 1, 3, 9].iter().map(score).collect()
}

#[test]
fn quantised_values_round_and_saturate() {
    let graph = |kind: i32, zero: i32| {
        constants().with(floats("half", &[], &[0.5])).with(typed("zero", &[], kind, &[zero]))
    };
    // The quotients are −1½, −½, ½, 1½ and 4½.
    for (kind, zero, expected) in [
        (data_type::UINT8, 10, ["-1", "0", "0", "1", "2"]),
        (data_type::UINT8, 0, ["0", "0", "0", "1", "2"]),
        (data_type::UINT8, 254, ["-1", "0", "0", "1/2", "1/2"]),
        (data_type::INT8, -128, ["0", "0", "0", "1", "2"]),
        (data_type::INT8, 0, ["-1", "0", "0", "1", "2"]),
        (data_type::UINT16, 1, ["-1/2", "0", "0", "1", "2"]),
        (data_type::INT16, 32_766, ["-1", "0", "0", "1/2", "1/2"]),
    ] {
        assert_eq!(there_and_back(graph(kind, zero), "zero"), expected, "{kind} {zero}");
    }
    // Without a zero point: 0, of bytes.
    let plain = constants().with(floats("half", &[], &[0.5]));
    assert_eq!(there_and_back(plain, ""), ["0", "0", "0", "1", "2"]);
    // The integers themselves.
    let mut whole = graph(data_type::UINT8, 3)
        .node("QuantizeLinear", "x half zero -> q", vec![])
        .node("Cast", "q -> y", vec![int("to", data_type::FLOAT.into())]);
    whole.0.value_info.push(shapeless("q", data_type::UINT8));
    assert_eq!(whole.scores(&[1, 200]), ["5", "255"]);
}

/// As ONNX Runtime writes them for its own domain, and with the type as an attribute.
#[test]
fn other_forms_of_quantisation() {
    let graph = || {
        constants()
            .with(floats("half", &[], &[0.5]))
            .with(typed("zero", &[], data_type::INT16, &[1]))
            .node("QuantizeLinear", "x half zero -> q", vec![])
            .node("DequantizeLinear", "q half zero -> y", vec![])
    };
    let mut model = graph().model();
    let domain = "com.microsoft".to_owned();
    model.opset_import.push(OperatorSetIdProto { domain: domain.clone(), version: 1 });
    let nodes = &mut model.graph.as_mut().expect("a graph").node;
    nodes.iter_mut().for_each(|node| node.domain.clone_from(&domain));
    let network = parse_onnx("net.onnx", &model.encode_to_vec()).expect("supported");
    let scores = ExactEvaluator::new(&network).expect("rational").scores(&[3, -20_000]);
    let scores: Vec<String> = scores.to_rationals().iter().map(ToString::to_string).collect();
    assert_eq!(scores, ["3", "-32769/2"]);
    let attribute = vec![int("output_dtype", data_type::INT8.into())];
    let graph = constants()
        .version(21)
        .with(floats("half", &[], &[0.5]))
        .node("QuantizeLinear", "x half -> q", attribute)
        .node("DequantizeLinear", "q half -> y", vec![]);
    assert_eq!(graph.scores(&[3, -100]), ["3", "-64"]);
}

/// A layer with scales for each of its neurons, and a bias in 32 bits.
#[test]
fn quantised_layers() {
    let graph = Graph::pair()
        .with(floats("sx", &[], &[0.5]))
        .with(typed("zx", &[], data_type::UINT8, &[128]))
        .with(floats("sw", &[2], &[0.25, 0.125]))
        .with(typed("zw", &[2], data_type::INT8, &[0, 0]))
        .with(typed("w", &[2, 2], data_type::INT8, &[3, -2, 127, 1]))
        .with(floats("sb", &[2], &[0.125, 0.0625]))
        .with(typed("zb", &[2], data_type::INT32, &[0, 0]))
        .with(typed("b", &[2], data_type::INT32, &[100, -7]))
        .with(floats("sy", &[], &[1.0]))
        .with(typed("zy", &[], data_type::UINT8, &[0]))
        .node("QuantizeLinear", "x sx zx -> xq", vec![])
        .node("DequantizeLinear", "xq sx zx -> xd", vec![])
        .node("DequantizeLinear", "w sw zw -> wd", vec![int("axis", 0)])
        .node("DequantizeLinear", "b sb zb -> bd", vec![int("axis", 0)])
        .node("Gemm", "xd wd bd -> h", vec![int("transB", 1)])
        .node("QuantizeLinear", "h sy zy -> hq", vec![])
        .node("DequantizeLinear", "hq sy zy -> y", vec![]);
    // ¾ · 2 − ½ · 1 + 12½ = 13½, and 127/8 · 2 + 1/8 · 1 − 7/16 = 31 7/16.
    assert_eq!(graph.scores(&[2, 1]), ["14", "31"]);
}

#[test]
fn what_cannot_be_quantised() {
    let graph = || {
        constants()
            .with(floats("half", &[], &[0.5]))
            .with(floats("three", &[3], &[0.5; 3]))
            .with(integers("long", &[], &[0]))
            .with(typed("zeros", &[2], data_type::UINT8, &[0, 0]))
    };
    let message = graph().node("QuantizeLinear", "x half long -> y", vec![]).unsupported();
    assert!(message.contains("to int64"), "{message}");
    let message = graph().node("QuantizeLinear", "x three -> y", vec![]).invalid();
    assert!(message.contains("3 scales"), "{message}");
    let message = graph().node("QuantizeLinear", "x half zeros -> y", vec![]).invalid();
    assert!(message.contains("2 zero points"), "{message}");
    let message = graph().node("DequantizeLinear", "x half -> y", vec![]).invalid();
    assert!(message.contains("must be integers"), "{message}");
    let blocks = vec![int("block_size", 2)];
    let message = graph().node("QuantizeLinear", "x half -> y", blocks).unsupported();
    assert!(message.contains("blocks"), "{message}");
    let message = graph().node("DynamicQuantizeLinear", "x -> y", vec![]).unsupported();
    assert!(message.contains("quantize_static"), "{message}");
    // The reason why is the one of the node that quantises, not of those that need its scale.
    let layer = graph()
        .with(typed("w", &[2, 2], data_type::UINT8, &[1, 2, 3, 4]))
        .with(typed("wz", &[], data_type::UINT8, &[2]))
        .node("DynamicQuantizeLinear", "x -> q s z", vec![])
        .node("MatMulInteger", "q w z wz -> p", vec![])
        .node("Cast", "p -> c", vec![int("to", data_type::FLOAT.into())])
        .node("Mul", "c s -> y", vec![]);
    let message = layer.unsupported();
    assert!(message.contains("DynamicQuantizeLinear") && message.contains("static"), "{message}");
}

/// Steps of functions such as tanh are known where the argument is not at a jump.
#[test]
fn steps_behind_smooth_functions() {
    let network = file(constants().node("Tanh", "x -> t", vec![]).node("Sign", "t -> y", vec![]))
        .expect("supported")
        .network;
    assert!(ExactEvaluator::new(&network).is_none());
    let scores = precise_scores(&network, &[3, -2], 100).expect("enclosed");
    let exact =
        |i: usize| (scores.scores()[i].lower().to_string(), scores.scores()[i].upper().to_string());
    assert_eq!(exact(0), ("1".to_owned(), "1".to_owned()));
    assert_eq!(exact(1), ("-1".to_owned(), "-1".to_owned()));
}

/// What is computed is compared by signs.
#[test]
fn comparisons_of_computed_numbers() {
    for (operator, expected) in [
        ("Greater", ["1", "0"]),
        ("GreaterOrEqual", ["1", "1"]),
        ("Less", ["0", "0"]),
        ("LessOrEqual", ["0", "1"]),
        ("Equal", ["0", "1"]),
    ] {
        let graph = constants().node("Mul", "x quarter -> h", vec![]);
        let graph = graph
            .with(floats("bound", &[], &[0.5]))
            .node(operator, "h bound -> t", vec![])
            .node("Cast", "t -> y", vec![int("to", data_type::FLOAT.into())]);
        assert_eq!(graph.scores(&[3, 2]), expected, "{operator}");
    }
    // A quarter of x where that is above one half, else x itself.
    let graph = constants()
        .with(floats("bound", &[], &[0.5]))
        .node("Mul", "x quarter -> h", vec![])
        .node("Less", "bound h -> t", vec![])
        .node("Where", "t h x -> y", vec![]);
    assert_eq!(graph.scores(&[3, -5]), ["3/4", "-5"]);
    let graph = constants()
        .node("Mul", "x quarter -> h", vec![])
        .node("Equal", "h x -> t", vec![])
        .node("Not", "t -> n", vec![])
        .node("Cast", "n -> y", vec![int("to", data_type::FLOAT.into())]);
    assert_eq!(graph.scores(&[3, 0]), ["1", "0"]);
}
