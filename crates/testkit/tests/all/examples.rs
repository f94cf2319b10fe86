//! The example files are what the code writes, and what their descriptions say is true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use policert_engine_api::Question;
use policert_jani::property::Property;
use policert_jani::{LoadOptions, load_model};
use policert_model::{Condition, Model, SafetyProperty};
use policert_policy::{PolicyOptions, PolicySemantics, load_policy, read_network};
use policert_testkit::examples::{EXAMPLES, example_files};
use policert_testkit::oracle::Oracle;
use policert_testkit::{PolicyParts, states};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn the_files_are_what_the_code_writes() {
    let mut expected: BTreeSet<String> =
        EXAMPLES.iter().map(|e| format!("{e}/README.md")).collect();
    for file in example_files() {
        let found = std::fs::read(folder().join(&file.path)).unwrap_or_default();
        let hint = "cargo run -p policert-testkit --example make_examples";
        assert!(found == file.bytes, "examples/{} is stale: {hint}", file.path);
        expected.insert(file.path);
    }
    let mut found = BTreeSet::new();
    for example in EXAMPLES {
        for entry in std::fs::read_dir(folder().join(example)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            found.insert(format!("{example}/{name}"));
        }
    }
    assert_eq!(found, expected);
}

fn model_and_property(example: &str, property: &str) -> (Model, SafetyProperty) {
    let loaded = load_model(&folder().join(example).join("model.jani"), &LoadOptions::default());
    assert!(loaded.diagnostics().is_empty(), "{:?}", loaded.diagnostics());
    let found = loaded.property(&loaded.selector(property));
    assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
    let Some(Property::Safety(property)) = found.property else { panic!("a safety property") };
    (loaded.into_model().expect("a model"), property)
}

fn policy(model: &Model, interface: &Path) -> PolicyParts {
    let loaded = load_policy(model, None, Some(interface), &PolicyOptions::default());
    let loaded = loaded.expect("a policy");
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    let policy = loaded.policy;
    PolicyParts {
        network: policy.network().expect("a network").clone(),
        trees: None,
        inputs: policy.inputs().to_vec(),
        outputs: policy.outputs().to_vec(),
    }
}

/// Checks one policy by brute force: its verdict, and that the description says these things.
fn check(example: &str, name: &str, steps: Option<usize>) {
    let readme = std::fs::read_to_string(folder().join(example).join("README.md"));
    let readme = readme.expect("a description");
    let says = |text: &str| {
        assert!(readme.contains(text), "{example} does not say `{text}`");
    };
    let (model, property) = model_and_property(example, name);
    let interface = property.interface.clone().expect("the property names an interface");
    let parts = policy(&model, &interface);
    let question = Question::new(&model, &property);
    let oracle = Oracle::new(question.clone(), Some((&parts, PolicySemantics::default())));
    let truth = oracle.reachable();
    assert_eq!(truth.shortest, steps, "{example}, {name}");
    assert!(truth.no_answer.is_empty() && !truth.dropped);
    for state in truth.distances.keys().filter(|state| oracle.is_expanded(state)) {
        let expansion = oracle.expand(state).expect("an answer");
        assert!(!expansion.stuck && !expansion.tied, "{example}, {name} in {state:?}");
    }
    // some other policy is unsafe
    assert!(!Oracle::new(question, None).reachable().is_safe());
    let abstraction = oracle.abstract_graph().reachable();
    match steps {
        None => {
            assert_eq!(abstraction.shortest, None, "the predicates prove it");
            let (reached, all) = (truth.distances.len(), states(&model).len());
            says(&format!("`{name}` reaches {reached} of the {all} states"));
            says(&format!("with {} reachable abstract", abstraction.distances.len()));
        }
        Some(steps) => {
            assert!(abstraction.shortest.is_some());
            says(&format!("unsafe, in {steps} steps"));
        }
    }
    // the same network as ONNX
    let onnx = policy(&model, &interface.with_file_name(format!("{name}_onnx.jani2nnet")));
    assert_eq!(onnx.network.nodes(), parts.network.nodes());
    assert_eq!((onnx.inputs, onnx.outputs), (parts.inputs, parts.outputs));
    let network = read_network(&interface.with_extension("onnx")).expect("a network").network;
    assert_eq!(network, onnx.network);
}

#[test]
fn on_the_icy_road() {
    check("icy_road", "careful", None);
    check("icy_road", "hasty", Some(7));
}

#[test]
fn in_the_warehouse() {
    check("warehouse", "careful", None);
    check("warehouse", "hasty", Some(3));
}

#[test]
fn the_hasty_truck_would_be_safe_on_a_dry_road() {
    let (mut model, property) = model_and_property("icy_road", "hasty");
    let parts = policy(&model, &property.interface.clone().expect("an interface"));
    // Only the first outcome of each edge: brakes that work.
    for edge in model.instances.iter_mut().flat_map(|instance| &mut instance.edges) {
        edge.destinations.truncate(1);
        edge.destinations[0].probability = policert_model::Probability::one();
    }
    let question = Question::new(&model, &property);
    let truth = Oracle::new(question, Some((&parts, PolicySemantics::default()))).reachable();
    assert!(truth.is_safe() && !matches!(property.unsafe_condition, Condition::False));
}
