//! ONNX-ML files that contradict themselves, or mean what is not supported.

use prost::Message;

mod indexed;
mod pipelines;

use super::*;
use crate::onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, OperatorSetIdProto, TensorShapeProto,
    TensorTypeProto, TypeProto, ValueInfoProto, attribute_kind, data_type,
};

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    let (name, ints) = (name.to_owned(), ints.to_vec());
    AttributeProto { name, ints, kind: attribute_kind::INTS, ..AttributeProto::default() }
}

fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    let (name, floats) = (name.to_owned(), floats.to_vec());
    AttributeProto { name, floats, kind: attribute_kind::FLOATS, ..AttributeProto::default() }
}

fn texts(name: &str, texts: &[&str]) -> AttributeProto {
    let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let name = name.to_owned();
    AttributeProto { name, strings, kind: attribute_kind::STRINGS, ..AttributeProto::default() }
}

fn text(name: &str, text: &str) -> AttributeProto {
    let (name, s) = (name.to_owned(), Some(text.as_bytes().to_vec()));
    AttributeProto { name, s, kind: attribute_kind::STRING, ..AttributeProto::default() }
}

fn value(name: &str, elem_type: i32, width: Option<i64>) -> ValueInfoProto {
    let dim = [None, width]
        .map(|dim_value| DimensionProto { dim_value, ..DimensionProto::default() })
        .to_vec();
    let tensor = TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) };
    let kind = TypeProto { tensor_type: Some(tensor), ..TypeProto::default() };
    ValueInfoProto { name: name.to_owned(), r#type: Some(kind) }
}

fn node(op_type: &str, domain: &str, input: &str, outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        domain: domain.to_owned(),
        input: vec![input.to_owned()],
        output: outputs.iter().map(|&output| output.to_owned()).collect(),
        ..NodeProto::default()
    }
}

/// Two questions and three leaves, of three classes: x₀ ≤ 0, else x₁ ≤ 1.
fn classifier() -> ModelProto {
    let mut ensemble = node(CLASSIFIER, DOMAIN, "x", &["label", "scores"]);
    let branch = "BRANCH_LEQ";
    ensemble.attribute = vec![
        ints("nodes_treeids", &[0; 5]),
        ints("nodes_nodeids", &[0, 1, 2, 3, 4]),
        ints("nodes_featureids", &[0, 0, 1, 0, 0]),
        texts("nodes_modes", &[branch, "LEAF", branch, "LEAF", "LEAF"]),
        ints("nodes_truenodeids", &[1, 0, 3, 0, 0]),
        ints("nodes_falsenodeids", &[2, 0, 4, 0, 0]),
        floats("nodes_values", &[0.0, 0.0, 1.0, 0.0, 0.0]),
        ints("class_treeids", &[0; 3]),
        ints("class_nodeids", &[1, 3, 4]),
        ints("class_ids", &[0, 1, 2]),
        floats("class_weights", &[1.0, 2.0, 3.0]),
        texts("classlabels_strings", &["a", "b", "c"]),
        text("post_transform", "NONE"),
    ];
    let mut map = node("ZipMap", DOMAIN, "scores", &["map"]);
    map.attribute = vec![texts("classlabels_strings", &["a", "b", "c"])];
    let graph = GraphProto {
        node: vec![ensemble, map],
        input: vec![value("x", data_type::FLOAT, Some(2))],
        output: vec![value("scores", data_type::FLOAT, Some(3))],
        ..GraphProto::default()
    };
    let set = |domain: &str, version| OperatorSetIdProto { domain: domain.to_owned(), version };
    ModelProto {
        ir_version: 8,
        graph: Some(graph),
        opset_import: vec![set("", 13), set(DOMAIN, 3)],
        ..ModelProto::default()
    }
}

fn graph(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.as_mut().expect("a graph")
}

/// Gives the ensemble this attribute in place of the one of its name, if it has one.
fn set(model: &mut ModelProto, attribute: AttributeProto) {
    let attributes = &mut graph(model).node[0].attribute;
    attributes.retain(|other| other.name != attribute.name);
    attributes.push(attribute);
}

fn read_model(model: &ModelProto) -> Result<TreesFile, PolicyError> {
    parse(&model.encode_to_vec())
}

#[test]
fn a_file_that_is_right_says_features_and_classes() {
    let read = read_model(&classifier()).expect("it is right");
    assert_eq!(read.features.count, Some(2));
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(read.classes, Some(Classes::Names(names)));
    assert_eq!(read.ensemble.approximate_scores(&[1.0, 2.0]), [0.0, 0.0, 3.0]);
    let mut model = classifier();
    graph(&mut model).input = vec![value("x", data_type::FLOAT, None)];
    assert_eq!(read_model(&model).expect("the width is open").features.count, None);
}

#[test]
fn files_that_contradict_themselves_are_invalid() {
    for (attribute, words) in [
        (ints("nodes_nodeids", &[0, 1, 2, 3]), "`nodes_nodeids` has 4 entries"),
        (ints("nodes_nodeids", &[0, 1, 2, 3, 3]), "node 3 of tree 0 is there twice"),
        (
            ints("nodes_featureids", &[0, 0, 2, 0, 0]),
            "splits on feature 2; the graph's input has 2",
        ),
        (ints("nodes_featureids", &[-1, 0, 1, 0, 0]), "splits on feature -1"),
        (ints("nodes_truenodeids", &[2, 0, 3, 0, 0]), "node 2 of tree 0 is the child of two nodes"),
        (ints("nodes_truenodeids", &[0, 0, 3, 0, 0]), "node 0 of tree 0 is the child of two nodes"),
        (ints("nodes_truenodeids", &[9, 0, 3, 0, 0]), "node 0 of tree 0 has child 9"),
        (ints("nodes_truenodeids", &[-1, 0, 3, 0, 0]), "node 0 of tree 0 has child -1"),
        (
            texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "LEAF"]),
            "node 3 of tree 0 is no child of any node",
        ),
        (floats("nodes_hitrates", &[1.0]), "`nodes_hitrates` has 1 entries"),
        (ints("nodes_missing_value_tracks_true", &[1]), "has 1 entries"),
        (ints("class_ids", &[0, 1, 3]), "`class_ids` names output 3 of 3"),
        (ints("class_ids", &[0, 1, -1]), "`class_ids` names output -1 of 3"),
        (ints("class_ids", &[0, 1]), "the lists `class_…` differ"),
        (ints("class_nodeids", &[1, 3, 2]), "node 2 of tree 0 is no leaf but has weights"),
        (ints("class_treeids", &[0, 0, 1]), "node 4 of tree 1, which is not there"),
        (floats("base_values", &[1.0, 2.0]), "2 `base_values` for 3 outputs"),
        (ints("classlabels_int64s", &[0, 1, 2]), "its classes are given twice"),
        (texts("classlabels_strings", &["a", "b", "b"]), "class `b` is listed twice"),
        (texts("classlabels_strings", &[]), "it has no classes"),
        (texts("classlabels_strings", &["a", "c", "b"]), "its classes are not those"),
        (texts("classlabels_strings", &["a", "b", "c", "d"]), "its shape says 3 scores"),
    ] {
        let mut model = classifier();
        let name = attribute.name.clone();
        set(&mut model, attribute);
        let error = read_model(&model).expect_err(&name);
        assert!(matches!(error, PolicyError::Invalid { .. }), "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

#[test]
fn a_regressor_of_several_targets_may_declare_one_score() {
    for (width, is_read) in [(3, true), (1, true), (2, false)] {
        let mut model = classifier();
        let graph = graph(&mut model);
        graph.node.truncate(1);
        graph.output = vec![value("scores", data_type::FLOAT, Some(width))];
        let ensemble = &mut graph.node[0];
        ensemble.op_type = REGRESSOR.to_owned();
        ensemble.output = vec!["scores".to_owned()];
        ensemble.attribute.retain(|attribute| attribute.name != "classlabels_strings");
        for attribute in &mut ensemble.attribute {
            attribute.name = attribute.name.replace("class_", "target_");
        }
        let targets = AttributeProto {
            name: "n_targets".to_owned(),
            i: Some(3),
            kind: attribute_kind::INT,
            ..AttributeProto::default()
        };
        ensemble.attribute.push(targets);
        match read_model(&model) {
            Ok(read) => assert!(is_read && read.classes.is_none(), "{width}"),
            Err(error) => assert!(!is_read, "{width}: {error}"),
        }
    }
}

#[test]
fn transformations_that_change_the_order_are_refused() {
    for transform in ["SOFTMAX_ZERO", "PROBIT", "SIGMOID"] {
        let mut model = classifier();
        set(&mut model, text("post_transform", transform));
        let error = read_model(&model).expect_err(transform);
        assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
    }
}

#[test]
fn casts_decide_the_precision_of_comparisons() {
    for (element, to, expected) in [
        (data_type::DOUBLE, None, 1.0),
        (data_type::DOUBLE, Some(data_type::FLOAT), 2.0),
        (data_type::INT64, Some(data_type::DOUBLE), 1.0),
        (data_type::INT64, Some(data_type::FLOAT), 2.0),
        (data_type::FLOAT, Some(data_type::DOUBLE), 2.0),
    ] {
        let mut model = classifier();
        set(&mut model, floats("nodes_values", &[16_777_216.0, 0.0, -1.0, 0.0, 0.0]));
        set(&mut model, ints("class_ids", &[0, 0, 1]));
        set(&mut model, floats("class_weights", &[2.0, 5.0, 1.0]));
        let graph = graph(&mut model);
        graph.input = vec![value("x", element, Some(2))];
        if let Some(to) = to {
            let mut cast = node("Cast", "", "x", &["y"]);
            cast.attribute = vec![AttributeProto {
                name: "to".to_owned(),
                i: Some(to.into()),
                kind: attribute_kind::INT,
                ..AttributeProto::default()
            }];
            graph.node[0].input = vec!["y".to_owned()];
            graph.node.insert(0, cast);
        }
        let read = read_model(&model).expect("it is right").ensemble;
        // In single precision it is rounded to the threshold, and goes left.
        let scores = read.approximate_scores(&[16_777_217.0, 0.0]);
        let greatest = scores[0].max(scores[1]);
        assert!((greatest - expected).abs() < 0.5, "{element} {to:?}: {scores:?}");
    }
}

/// Two classes with one score: the weights of three leaves under one class.
fn two_classes(class: i64, weights: [f32; 3], base: &[f32], transform: &str) -> ModelProto {
    let mut model = classifier();
    set(&mut model, ints("class_ids", &[class; 3]));
    set(&mut model, floats("class_weights", &weights));
    set(&mut model, texts("classlabels_strings", &["a", "b"]));
    set(&mut model, text("post_transform", transform));
    if !base.is_empty() {
        set(&mut model, floats("base_values", base));
    }
    graph(&mut model).node.truncate(1);
    graph(&mut model).output = vec![value("scores", data_type::FLOAT, Some(2))];
    model
}

#[test]
fn one_score_for_two_classes_is_read_where_label_and_greatest_score_agree() {
    let (positive, mixed) = ([0.25, 0.5, 1.0], [-0.25, 0.5, 1.0]);
    for (class, weights, base, transform, expected) in [
        (0, positive, &[][..], "NONE", Some(0.5)),
        (0, positive, &[0.125], "NONE", Some(0.5)),
        (0, mixed, &[0.125], "NONE", Some(0.0)),
        (0, mixed, &[0.125], "LOGISTIC", Some(0.0)),
        (1, mixed, &[], "NONE", Some(0.0)),
        (1, mixed, &[], "SOFTMAX", Some(0.0)),
        (0, positive, &[], "LOGISTIC", None),
        (1, positive, &[], "NONE", None),
        (1, mixed, &[0.125], "NONE", None),
        (0, mixed, &[0.125, 0.125], "NONE", None),
    ] {
        let read = read_model(&two_classes(class, weights, base, transform));
        let what = format!("class {class}, {weights:?}, {base:?}, {transform}");
        match (read, expected) {
            (Ok(read), Some(threshold)) => {
                let score = f64::from(weights[0] + base.first().copied().unwrap_or(0.0));
                assert_eq!(read.ensemble.approximate_scores(&[0.0, 0.0]), [threshold, score]);
            }
            (Err(PolicyError::Unsupported { .. }), None) => {}
            (other, _) => panic!("{what}: {other:?}"),
        }
    }
    let read = read_model(&two_classes(0, mixed, &[0.0; 3], "NONE"));
    assert!(matches!(read, Err(PolicyError::Invalid { .. })), "{read:?}");
}
