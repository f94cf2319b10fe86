//! What is refused, and with which words.

use prost::Message as _;

use super::*;
use crate::onnx::proto::{
    AttributeProto, ModelProto, OperatorSetIdProto, TensorProto, TensorTypeProto, TypeProto,
    attribute_kind,
};

fn named(name: &str, elem_type: i32) -> ValueInfoProto {
    let tensor_type = Some(TensorTypeProto { elem_type, shape: None });
    let r#type = Some(TypeProto { tensor_type, ..TypeProto::default() });
    ValueInfoProto { name: name.to_owned(), r#type }
}

/// A node, written as `Operator input input -> output`.
fn node(text: &str) -> NodeProto {
    let (call, output) = text.split_once(" -> ").expect("an arrow");
    let mut words = call.split(' ').map(str::to_owned);
    NodeProto {
        op_type: words.next().expect("an operator"),
        input: words.collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

/// A graph of `x` with a weight `w`.
fn graph(nodes: &[&str], outputs: &[&str]) -> GraphProto {
    let weight =
        TensorProto { name: "w".to_owned(), data_type: data_type::FLOAT, ..TensorProto::default() };
    GraphProto {
        node: nodes.iter().map(|text| node(text)).collect(),
        initializer: vec![weight],
        input: vec![named("x", data_type::FLOAT)],
        output: outputs.iter().map(|name| named(name, data_type::FLOAT)).collect(),
        ..GraphProto::default()
    }
}

/// The message of the refusal; empty for a graph that is read.
fn refusal(graph: GraphProto, wanted: Option<&str>) -> String {
    let version = OperatorSetIdProto { domain: String::new(), version: 13 };
    let model =
        ModelProto { graph: Some(graph), opset_import: vec![version], ..ModelProto::default() };
    let refused = refuse_operators(&model.encode_to_vec(), wanted);
    refused.map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn layers_and_their_activations_are_known() {
    let nodes = ["MatMul x w -> a", "Add a w -> b", "Relu b -> c", "Gemm c w w -> d"];
    assert_eq!(refusal(graph(&nodes, &["d"]), None), "");
    let decision = ["Gemm x w w -> d", "ArgMax d -> e"];
    assert_eq!(refusal(graph(&decision, &["e"]), None), "");
    let convolution = ["Conv x w -> a", "Relu a -> b", "Flatten b -> c", "Gemm c w -> d"];
    assert_eq!(refusal(graph(&convolution, &["d"]), None), "");
    let chosen = ["Gemm x w -> a", "LogSoftmax a -> b", "Squeeze b -> c", "ArgMax c -> d"];
    assert_eq!(refusal(graph(&chosen, &["d"]), None), "");
}

#[test]
fn operators_that_are_computed_in_other_ways_are_refused() {
    for (nodes, words) in [
        (&["AveragePool x -> a"][..], "AveragePool"),
        (&["Gemm x w -> b", "Softmax b -> c", "Add c w -> a"], "Add after a softmax"),
        (&["Gemm x w -> b", "Softmax b -> c", "Softmax c -> a"], "Softmax after a softmax"),
        (&["Mul x w -> a"], "Mul"),
        (&["Add w w -> c", "Gemm x c -> a"], "Add of constants"),
        (&["Gemm x w -> b", "ArgMax b -> c", "ArgMax b -> d", "Concat c d -> a"], "choices"),
    ] {
        let message = refusal(graph(nodes, &["a"]), None);
        assert!(message.contains(words), "{nodes:?}: {message}");
    }
    let mut foreign = graph(&["Relu x -> a"], &["a"]);
    foreign.node[0].domain = "com.microsoft".to_owned();
    assert!(refusal(foreign, None).contains("Relu"));
}

#[test]
fn only_what_the_policy_needs_counts() {
    let nodes = ["Gemm x w -> a", "Exp a -> b"];
    assert_eq!(refusal(graph(&nodes, &["a", "b"]), Some("a")), "");
    assert!(refusal(graph(&nodes, &["a", "b"]), None).contains("Exp"));
}

#[test]
fn other_precisions_and_factors_are_refused() {
    let attribute = |name: &str, f, i| AttributeProto {
        name: name.to_owned(),
        f,
        i,
        kind: if f.is_some() { attribute_kind::FLOAT } else { attribute_kind::INT },
        ..AttributeProto::default()
    };
    for element in [data_type::DOUBLE, data_type::FLOAT16, data_type::BFLOAT16] {
        let mut stored = graph(&["Gemm x w -> a"], &["a"]);
        stored.initializer[0].data_type = element;
        let mut read = graph(&["Gemm x w -> a"], &["a"]);
        read.input[0] = named("x", element);
        let mut cast = graph(&["Cast x -> b", "Gemm b w -> a"], &["a"]);
        cast.node[0].attribute.push(attribute("to", None, Some(i64::from(element))));
        for graph in [stored, read, cast] {
            assert!(refusal(graph, None).contains(&data_type::name(element)));
        }
    }
    let mut scaled = graph(&["Gemm x w -> a"], &["a"]);
    scaled.node[0].attribute.push(attribute("alpha", Some(0.5), None));
    assert!(refusal(scaled.clone(), None).contains("alpha"));
    scaled.node[0].attribute[0].f = Some(1.0);
    assert_eq!(refusal(scaled, None), "");
}
