//! The worlds in the folder `examples`: models, hand-made policies and what is true of them.

mod icy_road;
mod warehouse;

use policert_policy::{ElementType, Matrix, Network, NetworkBuilder, onnx::write_onnx};
use serde_json::{Value, json};

use crate::json_text::readable;
use crate::nnet_text::nnet_text;

/// A file of an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExampleFile {
    /// Path below the folder `examples`, with forward slashes.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// All files of all examples but those that say what they are about (`README.md`).
#[must_use]
pub fn example_files() -> Vec<ExampleFile> {
    let mut files = icy_road::files();
    files.extend(warehouse::files());
    files
}

/// The names of the example folders.
pub const EXAMPLES: [&str; 2] = ["icy_road", "warehouse"];

fn text_file(folder: &str, name: &str, text: &str) -> ExampleFile {
    ExampleFile { path: format!("{folder}/{name}"), bytes: text.as_bytes().to_vec() }
}

/// A layer: a row of weights and a bias for each neuron.
type Layer<'a> = &'a [(&'a [f64], f64)];

/// The network of these layers, with ReLU between them.
fn network(layers: &[Layer<'_>]) -> Network {
    let inputs = layers[0][0].0.len();
    let mut builder = NetworkBuilder::new(inputs).expect("there are inputs");
    let mut node = builder.input();
    for (i, layer) in layers.iter().enumerate() {
        if i > 0 {
            node = builder.relu(node);
        }
        let entries = layer.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        let weights =
            Matrix::new(layer.len(), builder.width(node), entries).expect("rows of equal length");
        let bias = layer.iter().map(|&(_, bias)| bias).collect();
        node = builder.affine(node, weights, bias).expect("sizes fit");
    }
    builder.finish(node, ElementType::F32)
}

/// Holds what the policies of one example have in common.
struct Interface<'a> {
    folder: &'a str,
    inputs: &'a [(&'a str, (i64, i64))],
    outputs: &'a [&'a str],
}

impl Interface<'_> {
    /// The files of a policy: NNet and ONNX with the same weights, and their interfaces.
    fn policy_files(&self, name: &str, comment: &str, network: &Network) -> Vec<ExampleFile> {
        let bounds: Vec<(i64, i64)> = self.inputs.iter().map(|(_, bounds)| *bounds).collect();
        let nnet = nnet_text(network, comment, &bounds).expect("a chain of layers");
        let onnx = write_onnx(network, ElementType::F32).expect("numbers in single precision");
        let interface = |ending: &str| {
            let inputs: Vec<Value> = self
                .inputs
                .iter()
                .map(|(name, _)| json!({"name": name, "automaton": null}))
                .collect();
            let value = json!({
                "file": format!("{name}.{ending}"),
                "filter": false,
                "elements": network.hidden_sizes(),
                "input": inputs,
                "output": self.outputs,
            });
            let file = match ending {
                "nnet" => format!("{name}.jani2nnet"),
                _ => format!("{name}_{ending}.jani2nnet"),
            };
            text_file(self.folder, &file, &readable(&value))
        };
        vec![
            text_file(self.folder, &format!("{name}.nnet"), &nnet),
            ExampleFile { path: format!("{}/{name}.onnx", self.folder), bytes: onnx },
            interface("nnet"),
            interface("onnx"),
        ]
    }
}

/// `left op right`.
fn binary(op: &str, left: impl Into<Value>, right: impl Into<Value>) -> Value {
    json!({"op": op, "left": left.into(), "right": right.into()})
}

/// The conjunction of some conditions.
fn all(conditions: impl IntoIterator<Item = Value>) -> Value {
    conditions.into_iter().reduce(|a, b| binary("∧", a, b)).unwrap_or(Value::Bool(true))
}

fn bounded(name: &str, lo: i64, hi: i64, initial: i64) -> Value {
    let kind = json!({"kind": "bounded", "base": "int", "lower-bound": lo, "upper-bound": hi});
    json!({"name": name, "type": kind, "initial-value": initial})
}

/// A destination with a probability and assignments.
fn destination(probability: Option<f64>, assignments: &[(&str, Value)]) -> Value {
    let assignments: Vec<Value> =
        assignments.iter().map(|(name, value)| json!({"ref": name, "value": value})).collect();
    match probability {
        None => json!({"location": "ready", "assignments": assignments}),
        Some(p) => json!({
            "location": "ready",
            "probability": {"exp": p},
            "assignments": assignments,
        }),
    }
}

fn edge(action: &str, guard: Value, destinations: Vec<Value>) -> Value {
    json!({
        "location": "ready",
        "action": action,
        "guard": {"exp": guard},
        "destinations": destinations,
    })
}

/// A question about one policy: an interface file, start, unsafe condition, predicates.
fn policy_property(
    name: &str,
    interface: &str,
    start: &Value,
    reach: &Value,
    predicates: &[Value],
) -> Value {
    json!({
        "name": name,
        "expression": {
            "op": "PA",
            "file": interface,
            "start": {"op": "state-condition", "exp": start},
            "reach": {"op": "state-condition", "exp": reach},
            "predicates": predicates,
        },
    })
}

/// A model of one automaton with one location.
fn model(
    name: &str,
    comment: &str,
    actions: &[&str],
    variables: Vec<Value>,
    properties: Vec<Value>,
    edges: Vec<Value>,
) -> Value {
    let action = |name: &&str| json!({"name": name});
    let sync = |name: &&str| json!({"synchronise": [name], "result": name});
    json!({
        "jani-version": 1,
        "name": name,
        "metadata": {"description": comment},
        "type": "mdp",
        "features": ["derived-operators"],
        "actions": actions.iter().map(action).collect::<Vec<_>>(),
        "variables": variables,
        "properties": properties,
        "automata": [{
            "name": name,
            "locations": [{"name": "ready"}],
            "initial-locations": ["ready"],
            "edges": edges,
        }],
        "system": {
            "elements": [{"automaton": name}],
            "syncs": actions.iter().map(sync).collect::<Vec<_>>(),
        },
    })
}
