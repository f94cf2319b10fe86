//! Spoilt inputs end with exit code 40 and one clear message that names the place.

use crate::support::example::Example;
use crate::support::program::{code, text};

/// Runs `verify` on a spoilt example: exit code 40, one problem, which mentions all of `parts`.
fn refused(example: &Example, arguments: &str, parts: &[&str]) {
    let output = example.run(&format!("verify model.jani --json result.json {arguments}"));
    let text = text(&output);
    assert_eq!(code(&output), 40, "{text}");
    let result: serde_json::Value =
        serde_json::from_str(&example.read("result.json")).expect("a result");
    assert_eq!(result["verdict"], "invalid");
    let errors = result["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let message = errors[0]["message"].as_str().expect("a message");
    assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{message}: {text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn truncated_model() {
    let example = Example::new();
    let model = example.read("model.jani");
    let middle = model.char_indices().nth(model.chars().count() / 2).expect("a middle").0;
    example.write("model.jani", &model[..middle]);
    let last_line = format!("model.jani:{}:", model[..middle].lines().count());
    refused(&example, "", &[&last_line]);
}

#[test]
fn truncated_network() {
    let example = Example::new();
    let network = example.read("policy.nnet");
    example.write("policy.nnet", &network[..network.len() / 2]);
    refused(&example, "", &["policy.nnet"]);
}

#[test]
fn truncated_interface() {
    let example = Example::new();
    let interface = example.read("policy.jani2nnet");
    example.write("policy.jani2nnet", &interface[..interface.len() / 2]);
    refused(&example, "", &["policy.jani2nnet"]);
}

#[test]
fn missing_constant() {
    let example = Example::new();
    example.replace("model.jani", r#""type": "int", "value": 1"#, r#""type": "int""#);
    refused(&example, "", &["model.jani:", "STEP", "--const"]);
    let output = example.run("verify model.jani --const STEP=1");
    assert_eq!(code(&output), 0, "{}", text(&output));
}

#[test]
fn interface_with_an_unknown_variable() {
    let example = Example::new();
    example.replace("policy.jani2nnet", r#""name": "x""#, r#""name": "speed""#);
    refused(&example, "", &["policy.jani2nnet", "speed"]);
}

#[test]
fn network_of_the_wrong_width() {
    let example = Example::new();
    // Three inputs: the first layer has three weights a row.
    for (old, new) in [
        ("2,1,2,2,", "2,3,2,3,"),
        ("1,2,2,", "3,2,2,"),
        ("\n0.0,\n9.0,\n0.0,0.0,\n1.0,1.0,\n", "\n0,0,0,\n9,9,9,\n0,0,0,0,\n1,1,1,1,\n"),
        ("\n1.0,\n1.0,\n0.0,\n-5.0,\n", "\n1,0,0,\n1,0,0,\n0,\n-5,\n"),
    ] {
        example.replace(
            "policy.nnet",
            &format!("\n{old}").replace("\n\n", "\n"),
            &format!("\n{new}").replace("\n\n", "\n"),
        );
    }
    refused(&example, "", &["policy.jani2nnet", "3", "1"]);
}

#[test]
fn weight_that_is_no_number() {
    let example = Example::new();
    example.replace("policy.nnet", "-1.0,1.0,", "nan,1.0,");
    refused(&example, "", &["policy.nnet", "nan"]);
}

#[test]
fn a_table_with_a_column_twice_is_refused() {
    let example = Example::new();
    example.write("s.csv", "x,x\n1,2\n");
    let output = example.run("dataset model.jani --rollouts 0 --states s.csv --output t.csv");
    assert_eq!(code(&output), 40, "{}", text(&output));
    assert!(text(&output).contains("the column `x` stands twice"), "{}", text(&output));
}
