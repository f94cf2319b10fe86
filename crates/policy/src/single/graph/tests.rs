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
fn refusal(graph: GraphProto, output: &str) -> String {
    known(graph, output).map_or_else(|error| error.to_string(), |_| String::new())
}

fn known(graph: GraphProto, output: &str) -> Result<Graph, PolicyError> {
    let version = OperatorSetIdProto { domain: String::new(), version: 13 };
    let model =
        ModelProto { graph: Some(graph), opset_import: vec![version], ..ModelProto::default() };
    known_graph(&model.encode_to_vec(), output, &["m"])
}

#[test]
fn layers_and_their_activations_are_known() {
    let nodes = ["MatMul x w -> a", "Add a w -> b", "Relu b -> c", "Gemm c w w -> d"];
    assert_eq!(refusal(graph(&nodes, &["d"]), "d"), "");
    let decision = ["Gemm x w w -> d", "ArgMax d -> e"];
    assert_eq!(refusal(graph(&decision, &["e"]), "e"), "");
    let convolution = ["Conv x w -> a", "Relu a -> b", "Flatten b -> c", "Gemm c w -> d"];
    assert_eq!(refusal(graph(&convolution, &["d"]), "d"), "");
    for operator in ["LayerNormalization", "GroupNormalization", "Floor", "Sqrt", "TopK"] {
        let node = format!("{operator} x w -> d");
        assert_eq!(refusal(graph(&[&node], &["d"]), "d"), "");
    }
    let compared = ["Greater x w -> b", "Where b x w -> a"];
    assert_eq!(refusal(graph(&compared, &["a"]), "a"), "");
    let chosen = ["Gemm x w -> a", "LogSoftmax a -> b", "Squeeze b -> c", "ArgMax c -> d"];
    assert_eq!(refusal(graph(&chosen, &["d"]), "d"), "");
}

#[test]
fn operators_that_are_computed_in_other_ways_are_refused() {
    for (nodes, words) in [
        (&["LSTM x w -> a"][..], "operator LSTM"),
        (&["Gemm x w -> b", "Softmax b -> c", "Add c w -> a"], "Add after a softmax"),
        (&["Gemm x w -> b", "Softmax b -> c", "Softmax c -> a"], "Softmax after a softmax"),
        (&["Gemm x w -> b", "ReduceLogSumExp b -> c", "Add b c -> a"], "subtracted"),
        (&["Gemm x w -> b", "ReduceLogSumExp x -> c", "Sub b c -> a"], "subtracted"),
        (&["Gemm x w -> b", "LogSoftmax b -> c", "Relu c -> a"], "Relu after"),
        (&["Exp x -> a"], "equal"),
        (&["Add w w -> c", "Gemm x c -> a"], "Add of constants"),
        (&["Gemm x w -> b", "ArgMax b -> c", "ArgMax b -> d", "Concat c d -> a"], "choices"),
    ] {
        let message = refusal(graph(nodes, &["a"]), "a");
        assert!(message.contains(words), "{nodes:?}: {message}");
    }
    let classified = |transform: &str, output: &str| {
        let mut graph = graph(&["LinearClassifier x -> a b"], &[output]);
        graph.node[0].output = vec!["a".to_owned(), "b".to_owned()];
        graph.node[0].domain = TRADITIONAL.to_owned();
        graph.node[0].attribute.push(AttributeProto {
            name: "post_transform".to_owned(),
            s: Some(transform.as_bytes().to_vec()),
            kind: attribute_kind::STRING,
            ..AttributeProto::default()
        });
        known(graph, output)
    };
    assert_eq!(classified("LOGISTIC", "a").expect("a label").normalisations, 0);
    assert_eq!(classified("NONE", "b").expect("scores").normalisations, 0);
    assert_eq!(classified("SOFTMAX", "b").expect("probabilities").normalisations, 1);
    let message = classified("LOGISTIC", "b").expect_err("equal scores").to_string();
    assert!(message.contains("LOGISTIC"), "{message}");
    let mut foreign = graph(&["Relu x -> a"], &["a"]);
    foreign.node[0].domain = "com.microsoft".to_owned();
    assert!(refusal(foreign, "a").contains("Relu"));
}

#[test]
fn only_what_the_policy_needs_counts() {
    let nodes = ["Gemm x w -> a", "Exp a -> b"];
    assert_eq!(refusal(graph(&nodes, &["a", "b"]), "a"), "");
    assert!(refusal(graph(&nodes, &["a", "b"]), "b").contains("Exp"));
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
        let mut inside = graph(&["LayerNormalization x w -> a"], &["a"]);
        inside.node[0].attribute.push(attribute("stash_type", None, Some(i64::from(element))));
        for graph in [stored, read, cast, inside] {
            assert!(refusal(graph, "a").contains(&data_type::name(element)));
        }
    }
}

#[test]
fn functions_of_all_scores_are_counted() {
    let ppo = [
        "Gemm x w -> a",
        "ReduceLogSumExp a -> l",
        "Sub a l -> b",
        "Softmax b -> p",
        "ArgMax p -> y",
    ];
    assert_eq!(known(graph(&ppo, &["y"]), "y").expect("known").normalisations, 2);
    let masked = [
        "Gemm x w -> a",
        "Reshape a w -> r",
        "ReduceLogSumExp r -> l",
        "Sub r l -> b",
        "Cast m -> c",
        "Where c b w -> d",
        "ReduceLogSumExp d -> k",
        "Sub d k -> e",
        "ArgMax e -> y",
    ];
    let mut graph_of_masked = graph(&masked, &["y"]);
    graph_of_masked.input.push(named("m", data_type::BOOL));
    let found = known(graph_of_masked, "y").expect("known");
    assert_eq!((found.normalisations, found.is_masked, found.reads_integers), (2, true, false));
    let plain = known(graph(&["Gemm x w -> a", "ArgMax a -> y"], &["y"]), "y").expect("known");
    assert_eq!((plain.normalisations, plain.is_masked), (0, false));
}

#[test]
fn integers_are_read_and_not_computed() {
    let of = |nodes: &[&str]| {
        let mut graph = graph(nodes, &["a"]);
        graph.input[0] = named("x", data_type::INT64);
        known(graph, "a")
    };
    assert!(of(&["OneHot x w w -> b", "Gemm b w -> a"]).expect("known").reads_integers);
    let message = of(&["Flatten x -> b", "Mul b w -> a"]).expect_err("refused").to_string();
    assert!(message.contains("Mul of integers"), "{message}");
}
