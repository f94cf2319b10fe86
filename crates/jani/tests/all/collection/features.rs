//! Models that are refused, and why.

use std::collections::BTreeMap;

use policert_jani::{DiagnosticKind, Selector, Severity};

use super::inputs::{jani_files, load_with};
use policert_testkit::shared_folder;

/// Words in the first error of each model that cannot be used: everything else loads.
const REFUSED: [(&str, DiagnosticKind, &str); 12] = [
    (
        "bouncing_ball/bouncing_ball.jani",
        DiagnosticKind::Unsupported,
        "real-valued variables: the state variable `height`",
    ),
    (
        "inverted_pendulum/inverted_pendulum.jani",
        DiagnosticKind::Unsupported,
        "the state variable `angle`",
    ),
    (
        "unit/storm/dtmc__test_trigonometry.jani",
        DiagnosticKind::Unsupported,
        "the irrational constant π",
    ),
    ("unit/storm/ma__ftwc.jani", DiagnosticKind::Unsupported, "models of the type ma"),
    (
        "unit/storm/ctmc__steadystatetest.jani",
        DiagnosticKind::Unsupported,
        "models of the type ctmc",
    ),
    ("unit/storm/ctmc__expvisittimes.jani", DiagnosticKind::Unsupported, "models of the type ctmc"),
    (
        "unit/qcomp_other_types/wlan-large.jani",
        DiagnosticKind::Unsupported,
        "models of the type sta",
    ),
    (
        "unit/qcomp_other_types/polling-system.jani",
        DiagnosticKind::Unsupported,
        "models of the type ma",
    ),
    (
        "unit/qcomp_other_types/breakdown-queues.jani",
        DiagnosticKind::Unsupported,
        "models of the type ma",
    ),
    ("unit/qcomp_other_types/cluster.jani", DiagnosticKind::Unsupported, "models of the type ctmc"),
    ("unit/qcomp_other_types/brp-pta.jani", DiagnosticKind::Unsupported, "models of the type pta"),
    // A local variable with the name of a constant.
    ("unit/storm/mdp__unassigned-variables.jani", DiagnosticKind::Invalid, "named `c`"),
    // Decimal probabilities that miss 1 by more than rounding.
];

#[test]
fn every_model_loads_or_is_refused_for_its_reason() {
    let Some(shared) = shared_folder("") else { return };
    let mut refused: BTreeMap<&str, bool> = REFUSED.iter().map(|r| (r.0, false)).collect();
    let mut models = 0;
    for file in jani_files(&shared.join("benchmarks")) {
        let loaded = load_with(&file, &[]);
        if loaded.summary().is_none() {
            // A file of properties, or a part of one.
            assert!(loaded.model().is_none() && loaded.diagnostics()[0].is_error());
            continue;
        }
        models += 1;
        let reason = REFUSED.iter().find(|(name, ..)| file.ends_with(name));
        match (reason, loaded.model()) {
            (None, Some(model)) => {
                let summary = loaded.summary().expect("a summary");
                assert_eq!(model.operator_count(), summary.operators, "{}", file.display());
                let errors = loaded.diagnostics().iter().filter(|d| d.is_error());
                assert_eq!(errors.count(), 0, "{}", file.display());
            }
            (Some((name, kind, words)), None) => {
                let first = &loaded.diagnostics()[0];
                assert_eq!((first.severity, first.kind), (Severity::Error, *kind), "{first}");
                assert!(first.message.contains(words), "{first}");
                refused.insert(name, true);
            }
            (_, model) => {
                let all: Vec<_> = loaded.diagnostics().iter().map(ToString::to_string).collect();
                panic!("{}: loaded: {}, {all:#?}", file.display(), model.is_some());
            }
        }
    }
    assert!(models >= 106, "only {models}");
    assert!(refused.values().all(|seen| *seen), "{refused:?}");
}

/// All own properties of all models that load: read, or refused as not supported.
#[test]
fn every_property_loads_or_is_not_supported() {
    let Some(shared) = shared_folder("") else { return };
    let (mut read, mut unsupported) = (0, 0);
    for file in jani_files(&shared.join("benchmarks")) {
        let loaded = load_with(&file, &[]);
        if loaded.model().is_none() {
            continue;
        }
        for index in 0..loaded.own_properties().len() {
            let key = policert_jani::PropertyKey::Index(index);
            let property = loaded.property(&Selector::Own(key));
            if property.property.is_some() {
                assert!(property.diagnostics.iter().all(|d| !d.is_error()));
                read += 1;
            } else {
                let errors = property.diagnostics.iter().filter(|d| d.is_error());
                for error in errors {
                    assert_eq!(error.kind, DiagnosticKind::Unsupported, "{error}");
                }
                unsupported += 1;
            }
        }
    }
    assert!(read >= 100, "only {read} properties");
    assert!(unsupported >= 20, "only {unsupported} refused");
}
