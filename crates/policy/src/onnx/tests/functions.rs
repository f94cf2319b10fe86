//! Functions that a model defines itself.

use super::*;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

/// A node of the domain `own`.
fn call(
    op_type: &str,
    input: &[&str],
    output: &[&str],
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        domain: "own".to_owned(),
        input: texts(input),
        output: texts(output),
        attribute,
        ..NodeProto::default()
    }
}

fn standard(
    op_type: &str,
    input: &[&str],
    output: &str,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto { domain: String::new(), ..call(op_type, input, &[output], attribute) }
}

fn set(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: domain.to_owned(), version }
}

fn function(name: &str, input: &[&str], output: &[&str], node: Vec<NodeProto>) -> FunctionProto {
    FunctionProto {
        name: name.to_owned(),
        domain: "own".to_owned(),
        input: texts(input),
        output: texts(output),
        node,
        opset_import: vec![set("", 17)],
        ..FunctionProto::default()
    }
}

fn refers(name: &str, to: &str) -> AttributeProto {
    AttributeProto { ref_attr_name: to.to_owned(), ..attribute(name, attribute_kind::FLOAT) }
}

/// `leak(x · W + b)` by a function that calls another one, twice; `slope` of the second call is left
/// to the function's default.
fn model() -> ModelProto {
    let leak = FunctionProto {
        attribute_proto: vec![float("slope", 0.5)],
        ..function(
            "Leak",
            &["v"],
            &["w"],
            vec![standard("LeakyRelu", &["v"], "w", vec![refers("alpha", "slope")])],
        )
    };
    let layer = FunctionProto {
        attribute: texts(&["slope"]),
        ..function(
            "Layer",
            &["v", "weights", "bias"],
            &["result", "input"],
            vec![
                standard("Gemm", &["v", "weights", "bias"], "sum", vec![]),
                call("Leak", &["sum"], &["once"], vec![refers("slope", "slope")]),
                call("Leak", &["once"], &["result"], vec![]),
                standard("Identity", &["v"], "input", vec![]),
            ],
        )
    };
    let graph = Graph::pair().with(floats("W", &[2, 3], &W)).with(floats("b", &[3], &[-0.5; 3]));
    let mut model = graph.node("Relu", "x -> y", vec![]).model();
    let nodes = vec![call("Layer", &["x", "W", "b"], &["y"], vec![float("slope", 0.25)])];
    model.graph.get_or_insert_default().node = nodes;
    model.functions = vec![layer, leak];
    model.opset_import = vec![set("", 17), set("own", 1)];
    model
}

fn read(model: &ModelProto) -> Result<Network, PolicyError> {
    parse_onnx("net.onnx", &model.encode_to_vec())
}

#[test]
fn functions_stand_for_their_nodes() {
    let written = Graph::pair()
        .with(floats("W", &[2, 3], &W))
        .with(floats("b", &[3], &[-0.5; 3]))
        .node("Gemm", "x W b -> s", vec![])
        .node("LeakyRelu", "s -> t", vec![float("alpha", 0.25)])
        .node("LeakyRelu", "t -> y", vec![float("alpha", 0.5)]);
    let expected = read(&written.model()).expect("supported");
    assert_eq!(read(&model()).expect("supported"), expected);
    // A result that is an argument.
    let mut passing = model();
    passing.functions[0].output = texts(&["result", "v"]);
    passing.functions[0].node.pop();
    let graph = passing.graph.get_or_insert_default();
    graph.node[0].output = texts(&["y", "same"]);
    graph.node[0].input[0] = "twice".to_owned();
    graph.node.insert(0, standard("Identity", &["x"], "twice", vec![]));
    assert_eq!(read(&passing).expect("supported"), expected);
}

#[test]
fn functions_that_do_not_fit_are_refused() {
    type Change = fn(&mut ModelProto);
    let cases: [(&str, bool, Change); 7] = [
        ("`Leak` is defined twice", true, |model| model.functions.push(model.functions[1].clone())),
        ("64 deep", false, |model| {
            model.functions[1].node = vec![call("Leak", &["v"], &["w"], vec![])];
        }),
        ("needs version 18", false, |model| model.functions[0].opset_import = vec![set("", 18)]),
        ("4 arguments and 1 outputs, the function has 3 and 2", true, |model| {
            model.graph.get_or_insert_default().node[0].input.push("b".to_owned());
        }),
        ("no attribute `slope`", true, |model| model.functions[0].attribute.clear()),
        ("attribute `slope` has the wrong type", true, |model| {
            model.graph.get_or_insert_default().node[0].attribute = vec![int("slope", 1)];
        }),
        ("is not defined before it is used", true, |model| {
            model.functions[1].node[0].input = texts(&["W"]);
        }),
    ];
    for (words, is_invalid, change) in cases {
        let mut model = model();
        change(&mut model);
        let error = read(&model).expect_err(words);
        assert!(error.to_string().contains(words), "{error} does not say `{words}`");
        assert_eq!(matches!(error, PolicyError::Invalid { .. }), is_invalid, "{error}");
    }
}
