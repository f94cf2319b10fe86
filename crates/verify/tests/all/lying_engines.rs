//! Engines that lie are caught: evidence of another model, or under another policy, that says it is about
//! the right one, also where parts of it are changed besides, is confirmed only if what it claims is so.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use policert_engine_api::{CancelFlag, Direction, Limits, Question, Silent};
use policert_evidence::{CertifyRequest, certify};
use policert_model::SafetyProperty;
use policert_numeric::Rational;
use policert_policy::PolicySemantics;
use policert_problem::{PolicySource, ProblemOptions};
use policert_testkit::case_files::write_case;
use policert_testkit::lies::{Lie, mutated, retold};
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, slow_tests};
use policert_verify::{Request, verify};
use serde_json::{Value, json};

/// The engines that write evidence, with the property that they are asked about.
const ENGINES: [(&str, usize); 7] =
    [("explicit", 0), ("bmc", 0), ("ppa", 0), ("cegar", 0), ("ic3", 0), ("prob", 0), ("prob", 1)];

/// What is so, by enumeration.
struct Truth {
    is_safe: bool,
    /// The greatest probability of the first property, and the least one of the second.
    probabilities: [Option<Rational>; 2],
}

impl Truth {
    fn of(case: &Case, rules: PolicySemantics) -> Option<Self> {
        let policy = Some((&case.policy, rules));
        let oracle = Oracle::new(Question::new(&case.model, &case.property), policy);
        let reachable = oracle.reachable();
        if !reachable.no_answer.is_empty() {
            return None;
        }
        let from_initial = SafetyProperty { start: None, ..case.property.clone() };
        let from_initial = Oracle::new(Question::new(&case.model, &from_initial), policy);
        let value = |oracle: &Oracle<'_>, direction: Direction| {
            let process = oracle.decision_process(400).ok()??;
            if direction == Direction::Min && process.dropped {
                // An operator that only loses is no choice to the oracle.
                return None;
            }
            let values = match direction {
                Direction::Max => process.greatest(),
                Direction::Min => process.least(),
            };
            let starts = process.start.iter().map(|&start| values[start].clone());
            Some(match direction {
                Direction::Max => starts.fold(Rational::ZERO, Rational::max),
                Direction::Min => starts.reduce(Rational::min).unwrap_or_default(),
            })
        };
        let greatest = value(&oracle, Direction::Max);
        let least = value(&from_initial, Direction::Min);
        Some(Self { is_safe: reachable.is_safe(), probabilities: [greatest, least] })
    }

    /// Returns whether what evidence about a property claims is so.
    fn confirms(&self, evidence: &Value, property: usize) -> bool {
        match evidence["verdict"].as_str() {
            Some("safe") => self.is_safe,
            Some("unsafe") => !self.is_safe,
            _ => {
                let bound = |k: usize| -> Option<Rational> {
                    evidence["probability"][k].as_str()?.parse().ok()
                };
                let Some(value) = &self.probabilities[property] else { return true };
                bound(0).is_some_and(|lo| lo <= *value) && bound(1).is_some_and(|hi| *value <= hi)
            }
        }
    }
}

/// The files of a case, and how its questions are asked.
struct World {
    folder: PathBuf,
    rules: PolicySemantics,
}

impl World {
    /// Evidence about a property of a model of the folder by an engine.
    fn evidence(
        &self,
        model: &str,
        interface: &str,
        engine: &str,
        property: usize,
    ) -> Option<Value> {
        let options = ProblemOptions {
            property: Some(format!("#{property}")),
            ties: Some(self.rules.ties),
            policy: PolicySource::Given {
                interface: Some(self.folder.join(interface)),
                network: None,
            },
            ..ProblemOptions::new(&self.folder.join(model))
        };
        let request =
            Request { engine: engine.to_owned(), evidence: true, ..Request::new(options) };
        let outcome = verify(&request, &CancelFlag::default(), &mut Silent);
        assert!(outcome.status.code() < 50, "{}: {:?}", self.folder.display(), outcome.failure);
        Some(serde_json::to_value(outcome.report.evidence?).expect("JSON"))
    }

    /// The exit code of the check.
    fn certified(&self, evidence: &Value) -> i32 {
        let path = self.folder.join("evidence.json");
        std::fs::write(&path, evidence.to_string()).expect("a file");
        let limits = Limits { states: Some(20_000), ..Limits::default() };
        let request = CertifyRequest { evidence: path, limits };
        let outcome = certify(&request, &CancelFlag::default(), &mut Silent);
        i32::from(outcome.status.code())
    }
}

/// Writes a case with a second property, the least probability of what the first one is about; the
/// model.
fn written(folder: &Path, case: &Case, rules: PolicySemantics) -> Option<Value> {
    if !write_case(folder, case, rules.filter).expect("files") {
        return None;
    }
    let text = std::fs::read_to_string(folder.join("model.jani")).expect("the model");
    let mut model: Value = serde_json::from_str(&text).expect("JSON");
    let reach = &model["properties"][0]["expression"]["reach"];
    if reach["locations"].as_array().is_some_and(|locations| !locations.is_empty()) {
        return None;
    }
    let least = json!({"name": "least", "expression": {
        "op": "filter", "fun": "min", "states": {"op": "initial"},
        "values": {"op": "Pmin", "exp": {"op": "F", "exp": reach.get("exp")?}},
    }});
    model["properties"].as_array_mut()?.push(least);
    std::fs::write(folder.join("model.jani"), model.to_string()).expect("a file");
    Some(model)
}

/// The model and the interface of a lie, in files beside the right ones.
fn told(lie: Lie, model: &Value, folder: &Path, random: &mut Random) -> Option<[&'static str; 2]> {
    if let Some(other) = lie.model(model, random) {
        std::fs::write(folder.join("lie.jani"), other.to_string()).expect("a file");
        return Some(["lie.jani", "policy.jani2nnet"]);
    }
    let network = std::fs::read_to_string(folder.join("policy.nnet")).ok()?;
    let other = lie.policy(&network, random)?;
    std::fs::write(folder.join("lie.nnet"), other).expect("a file");
    let interface = std::fs::read_to_string(folder.join("policy.jani2nnet")).expect("a file");
    let interface = interface.replace("policy.nnet", "lie.nnet");
    std::fs::write(folder.join("lie.jani2nnet"), interface).expect("a file");
    Some(["model.jani", "lie.jani2nnet"])
}

#[derive(Debug, Default)]
struct Tally {
    /// False claims by way of lying, and by kind of evidence.
    ways: BTreeMap<String, usize>,
    kinds: BTreeMap<String, usize>,
    /// False claims that were changed besides.
    mutations: BTreeMap<String, usize>,
    /// Lies that claim what is so: confirmed or not.
    harmless: [usize; 2],
}

#[test]
fn no_lie_that_changes_the_truth_is_confirmed() {
    let root = tempfile::tempdir().expect("a folder");
    let mut tally = Tally::default();
    let mut last: Option<Vec<Value>> = None;
    for number in case_numbers(if slow_tests() { 1500 } else { 80 }) {
        let mut random = Random::new(number ^ 0x11e5);
        let profile = [Profile::Unary, Profile::Linear, Profile::General][random.below(3)];
        let case = Case::numbered(profile, number);
        let rules = semantics(&mut random);
        let folder = root.path().join(number.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        let Some(truth) = Truth::of(&case, rules) else { continue };
        let Some(model) = written(&folder, &case, rules) else { continue };
        let world = World { folder, rules };
        let right: Vec<Option<Value>> = ENGINES
            .iter()
            .map(|(engine, property)| {
                world.evidence("model.jani", "policy.jani2nnet", engine, *property)
            })
            .collect();
        // The question, as evidence about each property says it.
        let questions = [0, 1].map(|property| {
            let known =
                ENGINES.iter().zip(&right).find(|((_, of), e)| *of == property && e.is_some());
            known.and_then(|(_, evidence)| evidence.clone())
        });
        for ((engine, property), evidence) in ENGINES.iter().zip(&right) {
            let Some(evidence) = evidence else { continue };
            let place = format!("{}, {engine}", world.folder.display());
            assert!(truth.confirms(evidence, *property), "{place}: {evidence:#}");
            assert_eq!(world.certified(evidence), 0, "{place}: {evidence:#}");
        }
        let mut lies: Vec<(String, usize, Value)> = Vec::new();
        for lie in Lie::ALL {
            let Some([model, interface]) = told(lie, &model, &world.folder, &mut random) else {
                continue;
            };
            for (engine, property) in ENGINES {
                let evidence = world.evidence(model, interface, engine, property);
                lies.extend(evidence.map(|evidence| (format!("{lie:?}"), property, evidence)));
            }
        }
        // The answer about the model before this one.
        let now: Vec<Value> = right.iter().flatten().cloned().collect();
        for evidence in last.replace(now).into_iter().flatten() {
            let property = usize::from(evidence["task"]["property"] == "least");
            lies.push(("Reuse".to_owned(), property, evidence));
        }
        for (way, property, evidence) in lies {
            let Some(question) = &questions[property] else { continue };
            let lie = retold(&evidence, question);
            let is_so = truth.confirms(&lie, property);
            let code = world.certified(&lie);
            let place = format!("{}, {way}: {code}: {lie:#}", world.folder.display());
            assert!(code != 0 || is_so, "{place}");
            if is_so {
                tally.harmless[usize::from(code != 0)] += 1;
                continue;
            }
            let kind = lie["verdict"].as_str().expect("a verdict").to_owned();
            *tally.ways.entry(way).or_default() += 1;
            *tally.kinds.entry(kind.clone()).or_default() += 1;
            for _ in 0..if slow_tests() { 20 } else { 8 } {
                let changed = mutated(&lie, &mut random);
                let is_so = truth.confirms(&changed, property);
                let code = world.certified(&changed);
                assert!(code != 0 || is_so, "changed: {place}: {changed:#}");
                assert!(code != 50, "changed: {place}: {changed:#}");
                *tally.mutations.entry(kind.clone()).or_default() += 1;
            }
        }
        std::fs::remove_dir_all(&world.folder).expect("the folder");
    }
    let _ = writeln!(std::io::stderr(), "{tally:?}");
    assert!(tally.ways.len() >= 4 && tally.kinds.len() == 3, "{tally:?}");
    assert!(tally.mutations.values().all(|&count| count >= 200), "{tally:?}");
    if slow_tests() {
        assert!(tally.mutations.values().all(|&count| count >= 2000), "{tally:?}");
    }
}
