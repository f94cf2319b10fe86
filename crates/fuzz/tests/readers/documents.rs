//! Models, properties, questions, evidence and journals.

use std::path::{Path, PathBuf};

use policert_bench::{StudyJournal, Suite};
use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_evidence::{CertifyRequest, certify};
use policert_jani::{LoadOptions, load_bytes, load_model};
use policert_pddl::{parse_domain, parse_problem};
use policert_reach::{ReachJournal, Task};
use policert_vnnlib::parse_property;

use super::{fuzz, root, seeds};

/// Reads damaged files by their path.
fn fuzz_file(name: &str, seeds: Vec<Vec<u8>>, read: impl Fn(&Path) + std::panic::RefUnwindSafe) {
    let folder = tempfile::tempdir().expect("a folder");
    let file: PathBuf = folder.path().join(name);
    fuzz(seeds, |bytes| {
        std::fs::write(&file, bytes).expect("a file");
        read(&file);
    });
}

#[test]
fn models() {
    fuzz(seeds("examples", &["model.jani"]), |bytes| {
        let options = LoadOptions::default();
        let loaded = load_bytes(Path::new("model.jani"), bytes.to_vec(), &options);
        assert!(loaded.model().is_some() || !loaded.diagnostics().is_empty());
    });
}

#[test]
fn properties() {
    let model = root().join("benchmarks/blocksworld_4_ci/blocksworld_4_3.jani");
    let loaded = load_model(&model, &LoadOptions::default());
    assert!(loaded.model().is_some());
    let loaded = std::panic::AssertUnwindSafe(loaded);
    fuzz_file(
        "property.jani",
        seeds("benchmarks/blocksworld_4_ci", &["start.jani", "reach.jani", "objective.jani"]),
        |file| {
            let property = loaded.property_of_file(file, 0);
            assert!(property.property.is_some() || !property.diagnostics.is_empty());
        },
    );
}

#[test]
fn vnnlib() {
    fuzz(seeds("examples", &[".vnnlib"]), |bytes| {
        let _ = parse_property("property.vnnlib", bytes);
    });
}

#[test]
fn pddl() {
    let domain = std::fs::read(root().join("examples/blocks/domain.pddl")).expect("a domain");
    let problem = std::fs::read(root().join("examples/blocks/four.pddl")).expect("a problem");
    fuzz(seeds("examples/blocks", &[".pddl"]), |bytes| {
        for (domain, problem) in [(bytes, &problem[..]), (&domain[..], bytes)] {
            let Ok(domain) = parse_domain("domain.pddl", domain) else { continue };
            let Ok(problem) = parse_problem("problem.pddl", problem, &domain) else { continue };
            let mut polls = 0;
            let grounded = policert_pddl::Task::ground(domain, problem, &mut || {
                polls += 1;
                polls > 20
            });
            if let Ok(task) = grounded {
                let text = task.jani().into_bytes();
                let loaded = load_bytes(Path::new("task.jani"), text, &LoadOptions::default());
                assert!(loaded.model().is_some(), "{:?}", loaded.diagnostics());
            }
        }
    });
}

#[test]
fn tasks_of_control_loops() {
    let folder = root().join("examples/cart");
    fuzz(seeds("examples/cart", &[".toml"]), |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let _ = Task::parse("task.toml", text, &folder, None);
        }
    });
}

#[test]
fn suites() {
    fuzz_file("suite.toml", seeds("examples", &["study.toml"]), |file| {
        let _ = Suite::read(file);
    });
}

#[test]
fn journals_of_studies() {
    fuzz_file("study.jsonl", seeds("crates/fuzz/seeds", &["study.jsonl"]), |file| {
        let _ = StudyJournal::read(file);
    });
}

#[test]
fn journals_of_reach() {
    let seeds = seeds("crates/fuzz/seeds", &["reach.jsonl"]);
    let header: serde_json::Value =
        serde_json::from_slice(seeds[0].split(|&byte| byte == b'\n').next().expect("a line"))
            .expect("a header");
    let run = header["run"].as_str().expect("a run").to_owned();
    fuzz_file("reach.jsonl", seeds, |file| {
        let _ = ReachJournal::open(file, &run);
    });
}

#[test]
fn evidence() {
    let examples = root().join("examples/icy_road");
    let text = String::from_utf8(seeds("crates/fuzz/seeds", &["evidence.json"]).remove(0));
    let mut text = text.expect("text");
    for name in ["model.jani", "hasty.nnet", "hasty.jani2nnet"] {
        let path = examples.join(name).display().to_string();
        text = text.replace(&format!("\"{name}\""), &format!("{path:?}"));
    }
    let check = |file: &Path| {
        let request = CertifyRequest { evidence: file.to_owned(), limits: Limits::default() };
        certify(&request, &CancelFlag::default(), &mut Silent)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("evidence.json");
    std::fs::write(&whole, &text).expect("a file");
    assert_eq!(check(&whole).status.code(), 0, "{:?}", check(&whole).failure);
    fuzz_file("evidence.json", vec![text.into_bytes()], |file| drop(check(file)));
}
