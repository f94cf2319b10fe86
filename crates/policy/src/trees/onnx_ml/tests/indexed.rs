//! The operator `TreeEnsemble` of version 5.

use super::*;
use crate::onnx::proto::TensorProto;

fn int(name: &str, i: i64) -> AttributeProto {
    let (name, i) = (name.to_owned(), Some(i));
    AttributeProto { name, i, kind: attribute_kind::INT, ..AttributeProto::default() }
}

fn tensor(name: &str, tensor: TensorProto) -> AttributeProto {
    let dims = vec![i64::try_from(tensor.stored()).expect("short")];
    let t = Some(TensorProto { dims, ..tensor });
    AttributeProto {
        name: name.to_owned(),
        t,
        kind: attribute_kind::TENSOR,
        ..AttributeProto::default()
    }
}

fn reals(name: &str, values: &[f32]) -> AttributeProto {
    let (data_type, float_data) = (data_type::FLOAT, values.to_vec());
    tensor(name, TensorProto { data_type, float_data, ..TensorProto::default() })
}

fn modes(values: &[i32]) -> AttributeProto {
    let (data_type, int32_data) = (data_type::UINT8, values.to_vec());
    tensor("nodes_modes", TensorProto { data_type, int32_data, ..TensorProto::default() })
}

/// Two trees: x₀ ≤ 0 adds 1 to target 0, else x₁ > 1 adds 2 to target 1, and otherwise 3 to target
/// 2; and the other tree always adds 0.5 to target 0, with one leaf on both sides.
fn ensemble() -> ModelProto {
    let mut model = classifier();
    let graph = graph(&mut model);
    graph.node.truncate(1);
    let ensemble = &mut graph.node[0];
    ensemble.op_type = INDEXED.to_owned();
    ensemble.output = vec!["scores".to_owned()];
    ensemble.attribute = vec![
        int("n_targets", 3),
        ints("tree_roots", &[0, 2]),
        ints("nodes_featureids", &[0, 1, 0]),
        modes(&[0, 3, 1]),
        reals("nodes_splits", &[0.0, 1.0, 0.0]),
        ints("nodes_truenodeids", &[0, 1, 3]),
        ints("nodes_trueleafs", &[1, 1, 1]),
        ints("nodes_falsenodeids", &[1, 2, 3]),
        ints("nodes_falseleafs", &[0, 1, 1]),
        ints("leaf_targetids", &[0, 1, 2, 0]),
        reals("leaf_weights", &[1.0, 2.0, 3.0, 0.5]),
    ];
    model.opset_import[1].version = 5;
    model
}

#[test]
fn nodes_and_leaves_are_found_by_index() {
    let read = read_model(&ensemble()).expect("it is right");
    assert_eq!((read.features.count, read.classes), (Some(2), None));
    for (input, scores) in [
        ([0.0, 5.0], [1.5, 0.0, 0.0]),
        ([1.0, 2.0], [0.5, 2.0, 0.0]),
        ([1.0, 1.0], [0.5, 0.0, 3.0]),
    ] {
        assert_eq!(read.ensemble.approximate_scores(&input), scores, "{input:?}");
    }
    let mut averaged = ensemble();
    set(&mut averaged, int("aggregate_function", 0));
    assert!(read_model(&averaged).is_ok());
}

#[test]
fn ensembles_by_index_that_are_wrong_are_refused() {
    for (attribute, words, is_invalid) in [
        (int("aggregate_function", 2), "`aggregate_function` 2", false),
        (int("post_transform", 3), "`post_transform` 3", false),
        (modes(&[0, 6, 1]), "mode 6 of node 1", false),
        (modes(&[0, 3]), "`nodes_modes` has 2 entries", true),
        (reals("nodes_splits", &[0.0]), "`nodes_splits` has 1 entries", true),
        (ints("tree_roots", &[0]), "node 2 belongs to no tree", true),
        (ints("tree_roots", &[0, 2, 1]), "node 1 belongs to two trees", true),
        (ints("tree_roots", &[0, 3]), "a root in `tree_roots` is not there", true),
        (ints("nodes_falsenodeids", &[0, 2, 3]), "node 0 is the child of two nodes", true),
        (ints("nodes_falsenodeids", &[5, 2, 3]), "node 0 has child 5", true),
        (ints("nodes_truenodeids", &[4, 1, 3]), "node 0 has leaf 4", true),
        (ints("nodes_featureids", &[0, 2, 0]), "node 1 splits on feature 2; the graph's", true),
        (ints("leaf_targetids", &[0, 1, 3, 0]), "names target 3 of 3", true),
        (ints("leaf_targetids", &[0]), "1 `leaf_targetids`, 4 `leaf_weights`", true),
        (int("n_targets", 0), "it has no targets", true),
        (int("n_targets", 4), "its shape says 3 scores", true),
    ] {
        let mut model = ensemble();
        set(&mut model, attribute);
        let error = read_model(&model).expect_err(words);
        assert!(error.to_string().contains(words), "{error} does not say `{words}`");
        assert_eq!(matches!(error, PolicyError::Invalid { .. }), is_invalid, "{words}: {error}");
    }
}
