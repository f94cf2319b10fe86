//! A hand-made model and policy in every format, and what is refused by name.

use std::path::Path;

use policert_convert::{
    Conversion, ConvertError, PolicyEncoding, Reach, WrittenAutomata, drn_text, jani_text,
    prism_properties, prism_text,
};
use policert_engine_api::{Budget, Question, Silent};
use policert_explore::{ExplicitConfig, ReachQuestion, induced_mdp};
use policert_jani::{LoadOptions, load_bytes};
use policert_mdp::Direction;
use policert_model::{Condition, LabelId, Model, SafetyProperty, VarId};
use policert_policy::{
    Activation, ElementType, Matrix, NetworkBuilder, Policy, PolicySemantics, Smooth,
};

/// A walk on 0 to 2: `go` ends with 1/3 one step further, else where it was; `back` leads to 0.
const WALK: &str = r#"{
  "jani-version": 1, "name": "walk", "type": "mdp",
  "actions": [{"name": "go"}, {"name": "back"}],
  "variables": [{"name": "max", "initial-value": 0,
    "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2}}],
  "properties": [],
  "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
    {"location": "l", "action": "go", "guard": {"exp": {"op": "<", "left": "max", "right": 2}},
     "destinations": [
      {"location": "l", "probability": {"exp": {"op": "/", "left": 1, "right": 3}},
       "assignments": [{"ref": "max", "value": {"op": "+", "left": "max", "right": 1}}]},
      {"location": "l", "probability": {"exp": {"op": "/", "left": 2, "right": 3}}}]},
    {"location": "l", "action": "back",
     "destinations": [{"location": "l", "assignments": [{"ref": "max", "value": 0}]}]}]}],
  "system": {"elements": [{"automaton": "a"}],
    "syncs": [{"synchronise": ["go"], "result": "go"},
              {"synchronise": ["back"], "result": "back"}]}
}"#;

fn walk() -> Model {
    let loaded = load_bytes(Path::new("walk.jani"), WALK.into(), &LoadOptions::default());
    let problems = format!("{:?}", loaded.diagnostics());
    loaded.into_model().unwrap_or_else(|| panic!("{problems}"))
}

/// The variable of the walk.
fn place(model: &Model) -> VarId {
    let variable = model.variables.iter().position(|variable| variable.name == "max");
    VarId::new(variable.expect("it is declared"))
}

/// That the walk reaches 2.
fn at_its_end(model: &Model) -> SafetyProperty {
    SafetyProperty {
        name: "end".to_owned(),
        start: None,
        unsafe_condition: Condition::var_equals(place(model), 2),
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}

/// Scores f(1 − x) for `go` and f(0) for `back`, where f is the identity without activation.
fn policy(model: &Model, activation: Option<Activation>) -> Policy {
    let mut builder = NetworkBuilder::new(1).expect("an input");
    let weights = Matrix::new(2, 1, vec![-1.0, 0.0]).expect("two rows");
    let mut node = builder.affine(builder.input(), weights, vec![1.0, 0.0]).expect("it fits");
    if let Some(activation) = activation {
        node = builder.activation(node, activation).expect("it fits");
        let identity = Matrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).expect("two rows");
        node = builder.affine(node, identity, vec![0.0, 0.0]).expect("it fits");
    }
    let network = builder.finish(node, ElementType::F64);
    let (inputs, outputs) = (vec![place(model)], vec![LabelId::new(0), LabelId::new(1)]);
    let semantics = PolicySemantics::default();
    Policy::new(network, inputs, outputs, semantics, &model.domains()).expect("it fits")
}

fn written(
    model: &Model,
    policy: Option<(&Policy, PolicyEncoding)>,
) -> Result<WrittenAutomata, ConvertError> {
    let property = at_its_end(model);
    let question = Question::new(model, &property);
    let reach = Reach { question, stay: Condition::True, direction: Direction::Max };
    WrittenAutomata::new(&Conversion { reach, policy })
}

#[test]
fn the_model_in_the_language_of_prism() {
    let model = walk();
    let automata = written(&model, None).expect("plain");
    insta::assert_snapshot!(prism_text(&automata).expect("integers"));
    assert_eq!(prism_properties(&automata), "Pmax=? [ F \"target\" ]\n");
}

#[test]
fn the_policy_as_a_module_of_its_own() {
    let model = walk();
    let policy = policy(&model, Some(Activation::RELU));
    let automata = written(&model, Some((&policy, PolicyEncoding::Discrete(2)))).expect("plain");
    insta::assert_snapshot!(prism_text(&automata).expect("integers"));
    // Real numbers are for JANI alone.
    let automata = written(&model, Some((&policy, PolicyEncoding::Real))).expect("plain");
    assert!(jani_text(&automata).expect("JANI has them").contains("\"real\""));
    let why = prism_text(&automata).expect_err("PRISM has none").to_string();
    assert!(why.contains("real-valued") && why.contains("discrete"), "{why}");
}

#[test]
fn what_an_automaton_cannot_compute_is_refused_by_name() {
    let model = walk();
    let tanh = policy(&model, Some(Activation::Smooth(Smooth::Tanh)));
    let refused = written(&model, Some((&tanh, PolicyEncoding::Real))).expect_err("no tanh");
    assert!(refused.to_string().contains("Tanh"), "{refused}");
}

#[test]
fn the_chain_in_the_format_of_storm() {
    let model = walk();
    let property = at_its_end(&model);
    let question =
        ReachQuestion { question: Question::new(&model, &property), stay: Condition::True };
    let policy = policy(&model, None);
    let (config, mut budget) = (ExplicitConfig::default(), Budget::unlimited());
    let induced = induced_mdp(&question, Some(&policy), &config, &mut budget, &mut Silent);
    insta::assert_snapshot!(drn_text(&induced.expect("three states")).expect("complete"));
}
