//! Loading policies for models with the variables and labels of the cases.

use std::path::PathBuf;

use policert_model::{
    AutomatonInstance, Condition, Edge, EdgePlace, InitialValue, InstanceId, LabelId, Model,
    SyncVector, VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;
use policert_policy::activation::Reciprocal;
use policert_policy::interface::{Interface, VariablesOnly};
use policert_policy::onnx::write_onnx;
use policert_policy::{
    Activation, Choice, ChoiceRule, ElementType, Filter, LoadedPolicy, Matrix, Meter,
    NetworkBuilder, Numbers, PolicyError, PolicyOptions, Smooth, Ties, load_computing, load_policy,
    read_network_within,
};

use policert_testkit::cases_folder;

/// A model with these variables, and one edge for each label.
fn model(instances: &[&str], variables: &[&str], labels: &[&str]) -> Model {
    let location = |(i, automaton): (usize, &&str)| Variable {
        name: format!("{automaton}#{i}"),
        kind: VariableKind::Location { instance: InstanceId::new(i), names: vec!["l".to_owned()] },
        domain: IntInterval::new(0, 3),
    };
    let integer = |name: &&str| Variable {
        name: (*name).to_owned(),
        kind: VariableKind::Integer,
        domain: IntInterval::new(0, 20),
    };
    let variables: Vec<Variable> =
        instances.iter().enumerate().map(location).chain(variables.iter().map(integer)).collect();
    let edge = |label: usize| Edge {
        source: 0,
        action: Some(LabelId::new(label)),
        guard: Condition::and(Vec::new()),
        destinations: Vec::new(),
        place: EdgePlace::default(),
    };
    let instance = |(i, automaton): (usize, &&str)| AutomatonInstance {
        automaton: (*automaton).to_owned(),
        location: VarId::new(i),
        edges: (0..labels.len()).map(edge).collect(),
    };
    let vector = |label: usize| SyncVector {
        participants: vec![(InstanceId::new(0), LabelId::new(label))],
        result: Some(LabelId::new(label)),
    };
    Model {
        name: "test".to_owned(),
        initial_values: vec![InitialValue::Fixed(0); variables.len()],
        variables,
        transients: Vec::new(),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        instances: instances.iter().enumerate().map(instance).collect(),
        vectors: (0..labels.len()).map(vector).collect(),
        initial_condition: Condition::and(Vec::new()),
    }
}

/// Loads files of a case.
fn load(
    case: &str,
    network: Option<&str>,
    interface: Option<&str>,
    model: &Model,
    options: PolicyOptions,
) -> Result<LoadedPolicy, PolicyError> {
    let folder = cases_folder().join("policy").join(case);
    let path = |name: &str| -> PathBuf { folder.join(name) };
    let (network, interface) = (network.map(path), interface.map(path));
    load_policy(model, network.as_deref(), interface.as_deref(), &options)
}

#[test]
fn inputs_of_every_kind() {
    let variables = ["pos", "wet", "A[0]", "A[1]", "Car#0.v"];
    let model = model(&["Car", "Light"], &variables, &["drive", "hold"]);
    let loaded = load("input-kinds", None, Some("p.jani2nnet"), &model, PolicyOptions::default());
    let policy = loaded.expect("fits").policy;
    let name = |variable: &VarId| model.variables[variable.index()].name.as_str();
    let names: Vec<&str> = policy.inputs().iter().map(name).collect();
    assert_eq!(names, ["Light#1", "wet", "A[1]", "Car#0.v", "pos"]);
    let outputs: Vec<&str> =
        policy.outputs().iter().map(|&label| model.label_name(Some(label))).collect();
    assert_eq!(outputs, ["hold", "drive"]);
    let mut inputs = Vec::new();
    policy.read_inputs(&[0, 1, 2, 3, 4, 5, 6], &mut inputs);
    assert_eq!(inputs, [1, 3, 5, 6, 2]);
}

#[test]
fn what_does_not_fit_is_named() {
    let model = model(&["M"], &["x", "y"], &["east", "north"]);
    for (interface, mentions) in [
        ("inputs.jani2nnet", &["2 inputs", "has 3"][..]),
        ("outputs.jani2nnet", &["1 outputs", "has 2"]),
        ("elements.jani2nnet", &["elements", "[3]", "[2]"]),
        ("variable.jani2nnet", &["/input/1", "`speed`"]),
        ("label.jani2nnet", &["/output/1", "`up`"]),
    ] {
        let options = PolicyOptions::default();
        let loaded = load("interface-does-not-fit", None, Some(interface), &model, options);
        let error = loaded.expect_err("does not fit");
        assert!(matches!(error, PolicyError::Mismatch { .. }));
        let message = error.to_string();
        assert!(message.contains(interface));
        assert!(mentions.iter().all(|mention| message.contains(mention)), "{message}");
    }
}

#[test]
fn several_problems_at_once() {
    let model = model(&["M"], &["a", "b"], &["w"]);
    let options = PolicyOptions::default();
    let loaded = load("interface-does-not-fit", None, Some("inputs.jani2nnet"), &model, options);
    let Err(PolicyError::Mismatch { problems, .. }) = loaded else { unreachable!() };
    // The number of inputs, two variables, two labels.
    assert_eq!(problems.len(), 5, "{problems:?}");
}

#[test]
fn filter_of_the_interface_and_of_the_user() {
    let model = model(&["M"], &["x"], &["jump", "step", "rest"]);
    for (interface, filter, expected) in [
        ("plain.jani2nnet", None, Filter::None),
        ("filtered.jani2nnet", None, Filter::Applicable),
        ("plain.jani2nnet", Some(Filter::Applicable), Filter::Applicable),
        ("filtered.jani2nnet", Some(Filter::None), Filter::None),
    ] {
        let options = PolicyOptions { filter, ..PolicyOptions::default() };
        let loaded = load("filter", None, Some(interface), &model, options);
        let policy = loaded.expect("fits").policy;
        assert_eq!(policy.semantics().filter, expected);
        let applicable = [false, true, true];
        let choice = policy.chooser().choose(&[0], &applicable);
        let chosen = match expected {
            // jump has the best score, and rest the best of the others.
            Filter::None => 0,
            Filter::Applicable => 2,
        };
        assert_eq!(choice, Choice::One(chosen));
    }
}

#[test]
fn labels_that_are_never_chosen_have_no_operators() {
    let folder = cases_folder().join("policy/label-not-in-interface");
    let model = model(&["M"], &["x"], &["go", "wait", "eject"]);
    let read = std::fs::read_to_string(folder.join("p.jani2nnet")).expect("the interface");
    let mut interface = Interface::parse("p.jani2nnet", read.as_bytes()).expect("valid");
    interface.never = vec!["eject".to_owned()];
    let binding = interface.bind_names(&model, &VariablesOnly).expect("names of the model");
    assert_eq!(binding.never, [LabelId::new(2)]);
    let left = model.clone().without_labels(&binding.never);
    assert_eq!(left.operator_labels(), [LabelId::new(0), LabelId::new(1)]);
    assert_eq!(left.operator_count(), model.operator_count() - 1);
    interface.never = vec!["ejct".to_owned()];
    let error =
        interface.bind_names(&model, &VariablesOnly).expect_err("no such label").to_string();
    assert!(error.contains("/never/0: the model has no action `ejct`; did you mean `eject`?"));
}

/// Reading takes no more memory than it asked for before, and stops where it is told to.
#[test]
fn reading_stops_at_a_limit() {
    let folder = cases_folder().join("policy");
    let model = model(&["M"], &["x", "y"], &["east", "north"]);
    for case in ["onnx-gemm-forms/plain.onnx", "interface-does-not-fit/net.nnet"] {
        let path = folder.join(case);
        let mut requests = Vec::new();
        let mut count = |bytes| {
            requests.push(bytes);
            true
        };
        let meter = &mut Meter::new(&mut count);
        read_network_within(&path, meter).expect("a network");
        let length = std::fs::metadata(&path).expect("the file").len();
        assert_eq!(requests.first(), Some(&length), "the file is read before it is asked for");
        assert!(requests.len() > 3, "{requests:?}");
        for last in 0..requests.len() {
            let mut left = last;
            let mut limited = |_| {
                let goes_on = left > 0;
                left = left.saturating_sub(1);
                goes_on
            };
            let read = read_network_within(&path, &mut Meter::new(&mut limited));
            assert!(matches!(read, Err(PolicyError::Stopped)), "{case} after {last} requests");
        }
    }
    let path = folder.join("onnx-gemm-forms/plain.onnx");
    let mut asked = 0;
    let mut count = |_| {
        asked += 1;
        true
    };
    let options = PolicyOptions::default();
    let meter = &mut Meter::new(&mut count);
    let loaded = load_computing(&model, &VariablesOnly, Some(&path), None, &options, meter);
    assert!(loaded.is_ok());
    let mut left = asked - 1;
    let mut limited = |_| {
        left -= 1;
        left > 0
    };
    let meter = &mut Meter::new(&mut limited);
    let loaded = load_computing(&model, &VariablesOnly, Some(&path), None, &options, meter);
    assert!(matches!(loaded, Err(PolicyError::Stopped)));
}

#[test]
fn notes_for_the_user() {
    let labels = model(&["M"], &["x"], &["go", "wait", "eject"]);
    let options = PolicyOptions::default();
    let loaded =
        load("label-not-in-interface", None, Some("p.jani2nnet"), &labels, options.clone());
    let notes = loaded.expect("fits").warnings;
    assert!(notes.len() == 1 && notes[0].contains("eject"), "{notes:?}");

    let counter = model(&["M"], &["x"], &["inc", "dec"]);
    let loaded = load("nnet-normalisation", None, Some("p.jani2nnet"), &counter, options.clone());
    let notes = loaded.expect("fits").warnings;
    assert!(notes.len() == 1 && notes[0].contains("normalis"), "{notes:?}");

    let ties = model(&["M"], &["x"], &["go", "wait"]);
    let options = PolicyOptions { ties: Some(Ties::Strict), ..options };
    let loaded = load("tie-rules", None, Some("go-first.jani2nnet"), &ties, options);
    let loaded = loaded.expect("fits");
    assert!(loaded.warnings.len() == 1 && loaded.warnings[0].contains("strict"));
    assert_eq!(loaded.policy.chooser().choose(&[0], &[]), Choice::Nothing);
}

#[test]
fn without_interface_the_order_decides() {
    let two = model(&["M"], &["x", "y"], &["east", "north"]);
    let options = PolicyOptions::default();
    let case = "onnx-gemm-forms";
    let loaded = load(case, Some("plain.onnx"), None, &two, options.clone());
    let loaded = loaded.expect("fits");
    assert_eq!(loaded.policy.inputs(), [VarId(1), VarId(2)]);
    assert_eq!(loaded.policy.outputs(), [LabelId(0), LabelId(1)]);
    assert!(loaded.warnings[0].contains("no interface"));

    let three = model(&["M"], &["x", "y", "z"], &["east", "north", "up"]);
    let loaded = load(case, Some("plain.onnx"), None, &three, options.clone());
    let message = loaded.expect_err("does not fit").to_string();
    assert!(message.contains("3 variables") && message.contains("3 labels"), "{message}");

    let loaded = load(case, None, None, &two, options);
    assert!(matches!(loaded, Err(PolicyError::Invalid { .. })));
}

#[test]
fn scores_that_are_equal_in_single_precision_alone() {
    let model = model(&["M"], &["x", "k"], &["go", "wait"]);
    let load = |options| load("tie-only-in-f32", None, Some("p.jani2nnet"), &model, options);
    let real = load(PolicyOptions::default()).expect("fits").policy;
    assert_eq!(real.chooser().choose(&[1, 1], &[]), Choice::One(1));
    let options = PolicyOptions { numbers: Numbers::F32, ..PolicyOptions::default() };
    let rounded = load(options.clone()).expect("fits");
    let choice = rounded.policy.chooser().choose(&[1, 1], &[]);
    assert_eq!((choice.outputs(), choice.possible()), (&[0][..], &[0, 1][..]));
    assert!(rounded.notes.iter().any(|note| note.contains("apart")), "{:?}", rounded.notes);
    let drawn = PolicyOptions { choice: ChoiceRule::Sample, ..options };
    assert!(matches!(load(drawn), Err(PolicyError::Unsupported { .. })));
}

/// One over the sum of the variables and a number, which is at least that number; the other label has the
/// score 1/3.
#[test]
fn ranges_of_variables_keep_divisors_from_zero() {
    let model = model(&["M"], &["x", "k"], &["near", "far"]);
    let folder = tempfile::tempdir().expect("a folder");
    let load = |above: f64| {
        let mut builder = NetworkBuilder::new(2).expect("inputs");
        let matrix = |rows, columns, entries| Matrix::new(rows, columns, entries).expect("fits");
        let input = builder.input();
        let sum = builder.affine(input, matrix(1, 2, vec![3.0; 2]), vec![above]).expect("finite");
        let reciprocal = Smooth::Reciprocal(Reciprocal::new(1.0).expect("positive"));
        let inverse = builder.activation(sum, Activation::Smooth(reciprocal)).expect("finite");
        let weights = matrix(2, 1, vec![3.0, 0.0]);
        let scores = builder.affine(inverse, weights, vec![0.0, 1.0]).expect("finite");
        let network = builder.finish(scores, ElementType::F64);
        let path = folder.path().join("policy.onnx");
        let bytes = write_onnx(&network, ElementType::F64).expect("written");
        std::fs::write(&path, bytes).expect("a file");
        load_policy(&model, Some(&path), None, &PolicyOptions::default())
    };
    let refused = load(0.0).expect_err("may be 0").to_string();
    assert!(refused.contains("divisor could be 0"), "{refused}");
    let policy = load(1.5).expect("at least 1.5").policy;
    for (state, chosen) in [([0, 0], 0), ([1, 0], 1), ([3, 20], 1)] {
        assert_eq!(policy.chooser().choose(&state, &[]), Choice::One(chosen), "{state:?}");
    }
    // 3 / 3 = 1: a tie, which exact fractions decide.
    let policy = load(3.0).expect("at least 3").policy;
    assert_eq!(policy.chooser().choose(&[0, 0], &[]), Choice::One(0));
    assert_eq!(policy.chooser().choose(&[0, 1], &[]), Choice::One(1));
}
