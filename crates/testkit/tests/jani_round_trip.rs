//! Random models written as JANI text and read again behave as before.

use std::path::Path;

use policert_engine_api::Question;
use policert_jani::property::Property;
use policert_jani::{LoadOptions, Severity, load_bytes};
use policert_model::{DomainRule, Model, SafetyProperty, Semantics};
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
        let (found, wanted) = (Semantics { model, rule }, Semantics { model: original, rule });
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
