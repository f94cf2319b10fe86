//! The cases about reading models: each of them is answered by plain search.

use std::path::{Path, PathBuf};

use policert_jani::{
    DiagnosticKind, LoadOptions, Loaded, PropertyKey, Selector, load_model, property::Property,
};
use policert_model::DomainRule;
use toml::{Table, Value};

use super::{
    exploration::{Outcome, answer, initial_states},
    inputs::jani_files,
};
use policert_testkit::cases_folder;

/// A command line of a case: model, property, constants and domain rule.
struct Run {
    model: PathBuf,
    property: Option<String>,
    constants: Vec<(String, String)>,
    rule: DomainRule,
}

impl Run {
    fn of(folder: &Path, command: &str) -> Self {
        let mut words = command.split_whitespace().skip(2);
        let model = folder.join(words.next().expect("a model"));
        let mut run = Self { model, property: None, constants: Vec::new(), rule: DomainRule::Drop };
        while let Some(option) = words.next() {
            if option == "--no-policy" {
                continue;
            }
            let value = words.next().expect("a value");
            match option {
                "--property" => run.property = Some(value.to_owned()),
                "--domain" if value == "error" => run.rule = DomainRule::Error,
                "--domain" => {}
                "--const" => run.constants.extend(value.split(',').map(|pair| {
                    let (name, value) = pair.split_once('=').expect("name=value");
                    (name.to_owned(), value.to_owned())
                })),
                other => panic!("unknown option {other}"),
            }
        }
        run
    }

    fn selector(&self, folder: &Path, loaded: &Loaded) -> Selector {
        match &self.property {
            None => Selector::Own(PropertyKey::Index(0)),
            // The command runs in the case's folder.
            Some(text) => match loaded.selector(text) {
                Selector::File(file, key) => Selector::File(folder.join(file), key),
                own => own,
            },
        }
    }
}

/// Checks one run; whether there was something to compare.
fn check(folder: &Path, command: &str, expect: &Table) -> bool {
    let context = format!("{}: {command}", folder.display());
    let run = Run::of(folder, command);
    let number = |key: &str| {
        expect.get(key).and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok())
    };
    let mentions = |text: &str| {
        for word in expect.get("mentions").and_then(Value::as_array).into_iter().flatten() {
            let word = word.as_str().expect("a word");
            assert!(text.contains(word), "{context}: `{word}` not in: {text}");
        }
    };
    let loaded = load_model(
        &run.model,
        &LoadOptions { constants: run.constants.clone(), ..LoadOptions::default() },
    );
    let verdict = expect.get("verdict").and_then(Value::as_str);
    let mut diagnostics = loaded.diagnostics().to_vec();
    let property = loaded.model().map(|_| loaded.property(&run.selector(folder, &loaded)));
    if let Some(property) = &property {
        diagnostics.extend(property.diagnostics.iter().cloned());
    }
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    if !errors.is_empty() {
        let text: Vec<_> = errors.iter().map(|d| d.render()).collect();
        let text = text.join("\n");
        assert_eq!(verdict, Some("invalid"), "{context}: {text}");
        assert!(errors.iter().any(|d| d.kind == DiagnosticKind::Invalid), "{context}: {text}");
        mentions(&text);
        return true;
    }
    let model = loaded.model().expect("a model without errors");
    let mut compared = false;
    if let Some(operators) = number("operators") {
        assert_eq!(model.operator_count(), operators as u128, "{context}");
        compared = true;
    }
    if let Some(silent) = number("silent_operators") {
        let operators = model.operators(100).expect("few");
        assert_eq!(operators.iter().filter(|o| o.label.is_none()).count(), silent, "{context}");
    }
    if let Some(labels) = expect.get("labels").and_then(Value::as_array) {
        let mut labels: Vec<_> = labels.iter().filter_map(Value::as_str).collect();
        labels.sort_unstable();
        let mut found: Vec<_> =
            model.operator_labels().iter().map(|l| model.label_name(Some(*l))).collect();
        found.sort_unstable();
        assert_eq!(found, labels, "{context}");
    }
    if let Some(count) = number("initial_states") {
        assert_eq!(initial_states(model).len(), count, "{context}");
    }
    let Some(Property::Safety(safety)) = property.and_then(|p| p.property) else {
        return compared;
    };
    match (answer(model, &safety, run.rule), verdict) {
        (Outcome::Safe(states), Some("safe")) => {
            if let Some(expected) = number("reachable_states") {
                assert_eq!(states, expected, "{context}");
            }
        }
        (Outcome::Unsafe(steps), Some("unsafe")) => {
            if let Some(expected) = number("steps") {
                assert_eq!(steps, expected, "{context}");
            }
        }
        (Outcome::Invalid(message), Some("invalid")) => mentions(&message),
        (outcome, verdict) => panic!("{context}: {outcome:?}, not {verdict:?}"),
    }
    true
}

#[test]
fn reading_cases_have_the_right_answers() {
    let (mut cases, mut runs) = (0, 0);
    for entry in std::fs::read_dir(cases_folder().join("jani")).expect("cases") {
        let folder = entry.expect("entry").path();
        let text = std::fs::read_to_string(folder.join("case.toml")).expect("case.toml");
        let case: Table = text.parse().expect("TOML");
        let command = |table: &Table| table["command"].as_str().expect("command").to_owned();
        let mut all = vec![(command(&case), case["expect"].as_table().expect("expect").clone())];
        for also in case.get("also").and_then(Value::as_array).into_iter().flatten() {
            let also = also.as_table().expect("table");
            all.push((command(also), also["expect"].as_table().expect("expect").clone()));
        }
        let compared = all.iter().filter(|(command, e)| check(&folder, command, e)).count();
        runs += compared;
        cases += usize::from(compared > 0);
    }
    // `thirds` asks for numbers only, and so does one run of another case.
    assert!(cases >= 28, "only {cases} cases");
    assert!(runs >= 54, "only {runs} runs");
}

/// The models of the other cases are read as well, most of them with all properties.
#[test]
fn models_of_other_cases_load() {
    let mut loaded_models = 0;
    for group in ["mdp", "policy", "ppa", "trees"] {
        for file in jani_files(&cases_folder().join(group)) {
            let text = std::fs::read_to_string(&file).expect("text");
            if !text.contains("\"automata\"") {
                continue;
            }
            let loaded = load_model(&file, &LoadOptions::default());
            let errors: Vec<_> = loaded.diagnostics().iter().map(ToString::to_string).collect();
            if file.ends_with("mdp/sum-wrong/model.jani") {
                assert!(loaded.model().is_none(), "a sum that misses 1 by more than rounding");
                continue;
            }
            assert!(loaded.model().is_some(), "{}: {errors:?}", file.display());
            for index in 0..loaded.own_properties().len() {
                let property = loaded.property(&Selector::Own(PropertyKey::Index(index)));
                assert!(property.property.is_some(), "{}: {:?}", file.display(), property);
            }
            loaded_models += 1;
        }
    }
    assert!(loaded_models >= 30, "only {loaded_models}");
}
