//! Tree ensembles as policies: what is said about their files reaches text and JSON, and what does
//! not fit is refused.

use crate::support::example::Example;
use crate::support::program::{code, text};
use serde_json::{Value, json};

/// A tree with one question about an input: `x < threshold`.
fn tree(id: usize, input: usize, threshold: f64, below: f64, above: f64, features: usize) -> Value {
    json!({
        "base_weights": [0, 0, 0], "categories": [], "categories_nodes": [],
        "categories_segments": [], "categories_sizes": [], "default_left": [0, 0, 0], "id": id,
        "left_children": [1, -1, -1], "loss_changes": [1, 0, 0], "parents": [2_147_483_647, 0, 0],
        "right_children": [2, -1, -1], "split_conditions": [threshold, below, above],
        "split_indices": [input, 0, 0], "split_type": [0, 0, 0], "sum_hessian": [2, 1, 1],
        "tree_param": {"num_deleted": "0", "num_feature": features.to_string(), "num_nodes": "3",
                       "size_leaf_vector": "1"}
    })
}

/// Two rounds with one score, where a negative one means `go`: the first alone goes below 5, both
/// together below 8.
fn xgboost(features: usize) -> Value {
    with_thresholds([5.0, 8.0], features)
}

/// The same two rounds with other thresholds.
pub fn with_thresholds([first, second]: [f64; 2], features: usize) -> Value {
    json!({
        "learner": {
            "attributes": {}, "feature_names": [], "feature_types": [],
            "gradient_booster": {
                "name": "gbtree",
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2"},
                    "iteration_indptr": [0, 1, 2], "tree_info": [0, 0],
                    "trees": [tree(0, 0, first, -1.0, 1.0, features),
                              tree(1, 0, second, -3.0, 1.0, features)]
                }
            },
            "learner_model_param": {"base_score": "[0E0]", "boost_from_average": "1",
                "num_class": "0", "num_feature": features.to_string(), "num_target": "1"},
            "objective": {"name": "reg:squarederror"}
        },
        "version": [3, 2, 0]
    })
}

fn early() -> Value {
    let mut file = xgboost(1);
    file["learner"]["attributes"] = json!({"best_iteration": "0", "best_score": "0.5"});
    file
}

const X: &str = r#"{"name": "x", "automaton": null}"#;
const LOCATION: &str = r#"{"name": "walker", "index": 0}"#;

/// The example with a policy file, and an interface with these inputs and further keys.
fn example(name: &str, policy: &str, inputs: &[&str], keys: &str) -> Example {
    let example = Example::new();
    example.write(name, policy);
    let interface = format!(
        r#"{{"file": "{name}", {keys} "input": [{}], "output": ["go", "rest"]}}"#,
        inputs.join(", ")
    );
    example.write("policy.jani2nnet", &interface);
    example
}

/// Runs `verify` and `check` on the example; the text and the JSON of each.
fn answers(example: &Example, exits: [i32; 2]) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for (command, exit) in ["verify", "check"].into_iter().zip(exits) {
        let run = example.run(&format!("{command} model.jani --json {command}.json"));
        assert_eq!(code(&run), exit, "{command}: {}", text(&run));
        answers.push((text(&run), example.read(&format!("{command}.json"))));
    }
    answers
}

/// A text without the line breaks and indents of the terminal.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_best_round_is_the_last_that_counts_and_a_note_says_so() {
    let example_of = |keys| example("policy.json", &early().to_string(), &[X], keys);
    for (keys, exit, note) in [
        ("", 0, "the first 1 of 2 rounds count"),
        (r#""rounds": "best","#, 0, "the first 1 of 2 rounds count"),
        (r#""rounds": "all","#, 10, "the interface asks for all 2 rounds"),
    ] {
        for (shown, json) in answers(&example_of(keys), [exit, 0]) {
            assert!(words(&shown).contains(note), "{shown}");
            let json: Value = serde_json::from_str(&json).expect("JSON");
            let notes = json["notes"].as_array().expect("notes");
            let found = notes.iter().filter_map(Value::as_str).any(|text| text.contains(note));
            assert!(found, "{notes:?}");
        }
    }
    let run = example_of(r#""rounds": "some","#).run("verify model.jani");
    assert_eq!(code(&run), 40);
    assert!(text(&run).contains("/rounds: \"best\" or \"all\""), "{}", text(&run));
}

/// The ending of a name does not tell a tree ensemble in JSON from an interface.
#[test]
fn a_property_may_name_a_tree_ensemble_itself() {
    let example = Example::new();
    let node = json!({"feat_id": 0, "split_value": 5.0,
        "left": {"leaf_value": [1.0, 0.0]}, "right": {"leaf_value": [0.0, 1.0]}});
    let ensemble = json!({"base_scores": [0.0, 0.0], "trees": [{"structure": node}]});
    example.write("trees.json", &ensemble.to_string());
    let model = example.read("model.jani").replace("policy.jani2nnet", "trees.json");
    example.write("model.jani", &model);
    let run = example.run("verify model.jani");
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(words(&text(&run)).contains("no interface"), "{}", text(&run));
}

#[test]
fn rounds_of_a_network_are_refused() {
    let example = Example::new();
    example.replace("policy.jani2nnet", "\"filter\"", "\"rounds\": \"all\", \"filter\"");
    let run = example.run("verify model.jani");
    assert_eq!(code(&run), 40, "{}", text(&run));
    assert!(text(&run).contains("/rounds: the policy is a network"), "{}", text(&run));
}

fn lightgbm(last_feature: usize) -> String {
    let names: Vec<String> = (0..=last_feature).map(|k| format!("f{k}")).collect();
    format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n\
         max_feature_idx={last_feature}\nobjective=regression\nfeature_names={}\n\nTree=0\n\
         num_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold=4.5\ndecision_type=2\n\
         left_child=-1\nright_child=-2\nleaf_value=-1 1\nis_linear=0\nshrinkage=1\n\n\n\
         end of trees\n",
        names.join(" ")
    )
}

fn veritas(feature: usize) -> String {
    json!({"base_scores": [0], "trees": [{"structure": {"feat_id": feature, "split_value": 5,
        "left": {"leaf_value": [-1]}, "right": {"leaf_value": [1]}}}]})
    .to_string()
}

#[test]
fn an_interface_with_another_number_of_inputs_than_features_is_refused() {
    let two = &[X, LOCATION][..];
    let one = &two[..1];
    for (name, policy, right, wrong, message) in [
        ("p.json", xgboost(1).to_string(), one, two, "lists 2 inputs, the tree ensemble has 1"),
        ("p.json", xgboost(2).to_string(), two, one, "lists 1 inputs, the tree ensemble has 2"),
        ("p.txt", lightgbm(0), one, two, "lists 2 inputs, the tree ensemble has 1"),
        ("p.txt", lightgbm(1), two, one, "lists 1 inputs, the tree ensemble has 2"),
        ("p.json", veritas(1), &[LOCATION, X], one, "reads input 1, counted from 0"),
    ] {
        let run = example(name, &policy, wrong, "").run("verify model.jani");
        assert_eq!(code(&run), 40, "{}", text(&run));
        assert!(text(&run).contains(message), "{}", text(&run));
        let run = example(name, &policy, right, "").run("verify model.jani");
        assert!([0, 10].contains(&code(&run)), "{}", text(&run));
    }
}

#[test]
fn a_note_says_that_a_file_does_not_state_the_number_of_its_features() {
    let note = "the policy file does not say how many inputs it has";
    for inputs in [&[X][..], &[X, LOCATION]] {
        for (shown, json) in answers(&example("p.json", &veritas(0), inputs, ""), [0, 0]) {
            assert!(words(&shown).contains(note) && json.contains(note), "{shown}");
        }
    }
}

#[test]
fn features_of_the_same_names_in_another_order_are_refused() {
    let mut file = xgboost(2);
    file["learner"]["feature_names"] = json!(["x", "walker#0"]);
    let run = example("p.json", &file.to_string(), &[LOCATION, X], "").run("verify model.jani");
    assert_eq!(code(&run), 40, "{}", text(&run));
    assert!(text(&run).contains("in another order"), "{}", text(&run));
    // In the same order, or with other names, all is well.
    for names in [json!(["x", "walker#0"]), json!(["a", "b"]), json!([])] {
        file["learner"]["feature_names"] = names;
        let run = example("p.json", &file.to_string(), &[X, LOCATION], "").run("verify model.jani");
        assert_eq!(code(&run), 10, "{}", text(&run));
    }
}
