//! Files that say something twice, or in a version that is not known.

use super::*;

/// A Gemm of the inputs, with a bias.
fn gemm() -> Graph {
    let graph = Graph::pair().with(floats("W", &[2, 3], &W)).with(floats("b", &[3], &[0.0; 3]));
    graph.node("Gemm", "x W b -> y", vec![])
}

fn changed(change: impl FnOnce(&mut ModelProto)) -> PolicyError {
    let mut model = gemm().model();
    assert!(parse_onnx("net.onnx", &model.encode_to_vec()).is_ok());
    change(&mut model);
    parse_onnx("net.onnx", &model.encode_to_vec()).expect_err("refused")
}

/// The message about an invalid file; it must contain `part`.
fn invalid(part: &str, change: impl FnOnce(&mut ModelProto)) {
    let error = changed(change);
    assert!(matches!(error, PolicyError::Invalid { .. }), "{error}");
    assert!(error.to_string().contains(part), "{error} does not say `{part}`");
}

fn unsupported(part: &str, change: impl FnOnce(&mut ModelProto)) {
    let error = changed(change);
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains(part), "{error} does not say `{part}`");
}

fn graph(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.get_or_insert_default()
}

#[test]
fn a_name_with_two_values_is_refused() {
    invalid("initialiser `W`: two initialisers have this name", |model| {
        graph(model).initializer.push(floats("W", &[2, 3], &[0.0; 6]));
    });
    invalid("initialiser 2: it has no name", |model| {
        graph(model).initializer.push(floats("", &[1], &[0.0]));
    });
    invalid("node 1 (Gemm): `y` is defined twice", |model| {
        let node = graph(model).node[0].clone();
        graph(model).node.push(node);
    });
    invalid("`b` is an initialiser, too", |model| {
        let node = NodeProto { output: vec!["b".to_owned()], ..graph(model).node[0].clone() };
        graph(model).node.push(node);
    });
    invalid("`x` is defined twice", |model| {
        graph(model).node[0].output[0] = "x".to_owned();
    });
    invalid("input `x`: two inputs have this name", |model| {
        let input = graph(model).input[0].clone();
        graph(model).input.push(input);
    });
    invalid("output `y`: two outputs have this name", |model| {
        let output = graph(model).output[0].clone();
        graph(model).output.push(output);
    });
    invalid("value `h`: its type is declared twice", |model| {
        let value = shapeless("h", data_type::FLOAT);
        graph(model).value_info = vec![value.clone(), value];
    });
}

#[test]
fn an_attribute_with_two_values_is_refused() {
    invalid("node 0 (Gemm): attribute `alpha` is given twice", |model| {
        graph(model).node[0].attribute = vec![float("alpha", 1.0), float("alpha", -1.0)];
    });
    invalid("attribute `alpha` has several values", |model| {
        let alpha = AttributeProto { i: Some(1), ..float("alpha", 1.0) };
        graph(model).node[0].attribute = vec![alpha];
    });
    invalid("attribute `alpha` has the wrong type: it says FLOAT, and holds INT", |model| {
        let alpha = AttributeProto { i: Some(1), ..attribute("alpha", attribute_kind::FLOAT) };
        graph(model).node[0].attribute = vec![alpha];
    });
    invalid("attribute `alpha` refers to one of a function", |model| {
        let ref_attr_name = "a".to_owned();
        let alpha = attribute("alpha", attribute_kind::FLOAT);
        graph(model).node[0].attribute = vec![AttributeProto { ref_attr_name, ..alpha }];
    });
    let values = vec![float("value_float", 1.0), ints("value_ints", &[1])];
    let constants = Graph::pair().node("Constant", "-> c", values).node("Add", "x c -> y", vec![]);
    assert!(constants.invalid().contains("the constant has several values"));
    // A bound, an axis or a ratio is an attribute in early versions, an argument in later ones.
    let clip = || Graph::pair().with(floats("lo", &[], &[-1.0]));
    let both = clip().node("Clip", "x lo -> y", vec![float("min", 1.0)]);
    assert!(both.unsupported().contains("attribute `min`"));
    let early = clip().version(10).node("Clip", "x lo -> y", vec![]);
    assert!(early.invalid().contains("2 arguments, at most 1"));
    let axes = Graph::pair().with(integers("a", &[1], &[0]));
    let both = axes.node("Unsqueeze", "x a -> y", vec![ints("axes", &[1])]);
    assert!(both.unsupported().contains("attribute `axes`"));
}

#[test]
fn elements_stored_twice_are_refused() {
    invalid(
        "initialiser `b`: its elements are stored twice: in float_data and in raw_data",
        |model| {
            graph(model).initializer[1].raw_data = vec![0; 12].into();
        },
    );
    invalid("stored twice: in float_data and in external_data", |model| {
        graph(model).initializer[1].data_location = 1;
    });
    invalid("elements of type float are stored in float_data, not in double_data", |model| {
        graph(model).initializer[1].float_data.clear();
        graph(model).initializer[1].double_data = vec![0.0; 3];
    });
    unsupported("segments", |model| {
        graph(model).initializer[1].segment = Some(Unread {});
    });
    invalid("an element is 2, which is no truth value", |model| {
        let training = TensorProto {
            name: "t".to_owned(),
            data_type: data_type::BOOL,
            int32_data: vec![2],
            ..TensorProto::default()
        };
        graph(model).initializer.push(training);
        let dropout = Graph::pair().node("Dropout", "x _ t -> d", vec![]).0.node;
        graph(model).node.extend(dropout);
    });
    let value = AttributeProto {
        t: Some(TensorProto { raw_data: vec![0; 4].into(), ..floats("", &[1], &[0.0]) }),
        ..attribute("value", attribute_kind::TENSOR)
    };
    let constant = Graph::pair().node("Constant", "-> c", vec![value]);
    let message = constant.node("Add", "x c -> y", vec![]).invalid();
    assert!(message.contains("stored twice"), "{message}");
}

#[test]
fn versions_that_are_not_known_are_refused() {
    invalid("names no version of the file format", |model| model.ir_version = 0);
    unsupported("version 2 of the file format (IR)", |model| model.ir_version = 2);
    unsupported("version 99 of the file format (IR)", |model| model.ir_version = 99);
    invalid("names no version of the standard operator set", |model| model.opset_import.clear());
    invalid("version 0 of the standard", |model| model.opset_import[0].version = 0);
    unsupported("version 6 of the standard", |model| model.opset_import[0].version = 6);
    unsupported("versions 7 to 28 are", |model| model.opset_import[0].version = 29);
    for domain in ["", "ai.onnx"] {
        invalid("the standard operator set is imported twice, as 13 and as 7", |model| {
            let domain = domain.to_owned();
            model.opset_import.push(OperatorSetIdProto { domain, version: 7 });
        });
    }
    let mut model = gemm().model();
    model.opset_import.push(model.opset_import[0].clone());
    assert!(parse_onnx("net.onnx", &model.encode_to_vec()).is_ok());
    invalid("names no version of the operator set com.example", |model| {
        graph(model).node[0].domain = "com.example".to_owned();
    });
    unsupported("the model defines this standard operator itself", |model| {
        let name = "Gemm".to_owned();
        model.functions.push(FunctionProto {
            name,
            domain: "ai.onnx".to_owned(),
            ..FunctionProto::default()
        });
    });
}

#[test]
fn declared_types_and_shapes_are_those_that_are_computed() {
    let declare = |model: &mut ModelProto, elem_type, dims: &[Option<i64>]| {
        graph(model).output[0] = value_info("y", elem_type, dims);
    };
    for dims in [&[Some(1), Some(9)][..], &[None, Some(9)], &[Some(3)], &[None, None, None]] {
        invalid("output `y`: its shape is declared as [", |model| {
            declare(model, data_type::FLOAT, dims);
        });
    }
    for elem_type in [data_type::DOUBLE, data_type::INT64, 10] {
        invalid("output `y`: its elements are declared as", |model| {
            declare(model, elem_type, &[None, Some(3)]);
        });
    }
    for dims in [&[None, None][..], &[Some(1), Some(3)], &[Some(0), Some(3)], &[Some(-1), None]] {
        let mut model = gemm().model();
        declare(&mut model, data_type::FLOAT, dims);
        assert!(parse_onnx("net.onnx", &model.encode_to_vec()).is_ok());
    }
    invalid("declared as something else than a tensor", |model| {
        let r#type = TypeProto { sequence_type: Some(Unread {}), ..TypeProto::default() };
        graph(model).output[0].r#type = Some(r#type);
    });
    invalid("node 0 (Gemm): its shape is declared as [N, 4], and is [1, 3]", |model| {
        graph(model).value_info = vec![value_info("y", data_type::FLOAT, &[None, Some(4)])];
    });
    invalid("initialiser `W`: its shape is declared as [3, 2], and is [2, 3]", |model| {
        let listed = value_info("W", data_type::FLOAT, &[Some(3), Some(2)]);
        graph(model).input.push(listed);
    });
    invalid("node 0 (Gemm): 2 outputs", |model| {
        graph(model).node[0].output.push("z".to_owned());
    });
    let concat = Graph::pair().node("Concat", "x x -> y", vec![]);
    assert!(concat.invalid().contains("attribute `axis` is missing"));
}
