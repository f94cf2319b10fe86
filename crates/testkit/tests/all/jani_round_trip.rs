//! Random cases written as files and read again are as before.

use std::path::Path;

use policert_engine_api::Question;
use policert_jani::property::Property;
use policert_jani::{LoadOptions, Severity, load_bytes, load_model};
use policert_model::{DomainRule, Model, ModelSemantics, SafetyProperty};
use policert_policy::{Filter, PolicyOptions, load_policy};
use policert_testkit::case_files::{MODEL_FILE, write_case};
use policert_testkit::jani_text::{jani_model, jani_property};
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, case_numbers, states};

const PROFILES: [Profile; 3] = [Profile::Unary, Profile::Linear, Profile::General];

fn read_again(case: &Case) -> Option<(Model, SafetyProperty)> {
    let at = format!("{:?} {}", case.profile, case.number);
    let property = jani_property(&case.model, &case.property)?;
    let text = jani_model(&case.model, &[property])?.to_string();
    let loaded = load_bytes(Path::new("tiny.jani"), text.clone().into(), &LoadOptions::default());
    let errors = |all: &[policert_jani::Diagnostic]| {
        let errors: Vec<String> = all
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| format!("{d:?}"))
            .collect();
        assert!(errors.is_empty(), "{at}: {errors:#?}\n{text}");
    };
    errors(loaded.diagnostics());
    let found = loaded.property(&loaded.selector("0"));
    errors(&found.diagnostics);
    let Some(Property::Safety(property)) = found.property else { panic!("{at}: no property") };
    Some((loaded.into_model().expect("a model"), property))
}

fn check(case: &Case, model: &Model, property: &SafetyProperty) {
    let at = format!("{:?} {}", case.profile, case.number);
    let original = &case.model;
    assert_eq!(model.domains(), original.domains(), "{at}");
    assert_eq!(model.labels, original.labels, "{at}");
    let operators = model.operators(10_000).expect("operators");
    let expected = original.operators(10_000).expect("operators");
    let keys = |all: &[policert_model::Operator]| {
        all.iter().map(|o| (o.key.clone(), o.label)).collect::<Vec<_>>()
    };
    assert_eq!(keys(&operators), keys(&expected), "{at}");
    for rule in [DomainRule::Drop, DomainRule::Error] {
        let (found, wanted) =
            (ModelSemantics { model, rule }, ModelSemantics { model: original, rule });
        for state in states(original) {
            for (a, b) in operators.iter().zip(&expected) {
                let at = || format!("{at}, {rule:?}: {:?} in {state:?}", a.key);
                let enabled = found.is_enabled(a, &state).ok();
                assert_eq!(enabled, wanted.is_enabled(b, &state).ok(), "{}", at());
                if enabled == Some(true) {
                    let (a, b) = (found.successors(a, &state), wanted.successors(b, &state));
                    assert_eq!(a.ok(), b.ok(), "{}", at());
                }
            }
        }
    }
    for initial_states in [true, false] {
        let ask = |model, property| {
            let mut question = Question::new(model, property);
            question.initial_states = initial_states;
            Oracle::new(question, None).start_states()
        };
        assert_eq!(ask(model, property), ask(original, &case.property), "{at}");
    }
    assert_eq!(property.predicates.len(), case.property.predicates.len(), "{at}");
    for state in states(original) {
        let holds = |c: &policert_model::Condition| c.holds(&state).ok();
        let pairs = property.predicates.iter().zip(&case.property.predicates);
        for (a, b) in pairs.map(|(a, b)| (&a.condition, &b.condition)) {
            assert_eq!(holds(a), holds(b), "{at}");
        }
        let goal = |p: &SafetyProperty| p.goal.as_ref().map(holds);
        assert_eq!(goal(property), goal(&case.property), "{at}");
        let found = holds(&property.unsafe_condition);
        assert_eq!(found, holds(&case.property.unsafe_condition), "{at}");
    }
}

#[test]
fn reading_what_was_written_changes_nothing() {
    let mut written = [0; 3];
    for number in case_numbers(120) {
        for (i, profile) in PROFILES.into_iter().enumerate() {
            let case = Case::numbered(profile, number);
            if let Some((model, property)) = read_again(&case) {
                check(&case, &model, &property);
                written[i] += 1;
            }
        }
    }
    assert!(written.iter().all(|&n| n >= 80), "{written:?}");
}

#[test]
fn policies_are_read_as_they_were_written() {
    let mut endings = [0; 2];
    for number in case_numbers(100) {
        let case = Case::numbered(PROFILES[(number % 3) as usize], number);
        let folder = tempfile::tempdir().expect("a folder");
        let filter = if number % 2 == 0 { Filter::None } else { Filter::Applicable };
        if !write_case(folder.path(), &case, filter).expect("files") {
            continue;
        }
        let loaded = load_model(&folder.path().join(MODEL_FILE), &LoadOptions::default());
        let Some(Property::Safety(property)) = loaded.property(&loaded.selector("0")).property
        else {
            panic!("case {number}: no property")
        };
        let model = loaded.into_model().expect("a model");
        let interface = property.interface.expect("an interface");
        let options = PolicyOptions::default();
        let loaded = load_policy(&model, None, Some(&interface), &options).expect("a policy");
        let policy = loaded.policy;
        assert_eq!(
            policy.network().expect("a network").nodes(),
            case.policy.network.nodes(),
            "case {number}"
        );
        assert_eq!(policy.inputs(), case.policy.inputs, "case {number}");
        assert_eq!(policy.outputs(), case.policy.outputs, "case {number}");
        assert_eq!(policy.semantics().filter, filter, "case {number}");
        let onnx = loaded.network_file.extension().is_some_and(|ending| ending == "onnx");
        endings[usize::from(onnx)] += 1;
    }
    assert!(endings.iter().all(|&n| n >= 5), "{endings:?}");
}
