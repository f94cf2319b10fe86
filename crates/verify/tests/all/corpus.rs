//! Policies as the libraries save them: each folder of the collection has a policy, what its own
//! library decides with it in every state, and what is expected of a verdict. Interfaces that the
//! collection lacks stand in `tests/data/policies`. A folder that is not answered as expected yet
//! stands in a list with the reason.

mod expected;
mod pending;
mod single_precision;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use expected::{Card, Row, grid, rows};
use pending::PENDING;
use policert_engine_api::Budget;
use policert_model::{DomainRule, LabelId, ModelSemantics, OPERATOR_LIMIT};
use policert_numeric::Rational;
use policert_outcome::{Remarks, VerdictWord};
use policert_policy::{Choice, ChoiceRule, Filter, precise_scores_at, read_network};
use policert_problem::{PolicySource, Problem, ProblemOptions};
use policert_testkit::shared_folder;
use policert_verify::reach::{ReachRequest, reach};
use policert_verify::{CancelFlag, Request, Silent, verify};

/// The result of a check; the error says what is not as expected.
type Checked = Result<(), String>;

/// Policies whose runs are so long, if sampled, that the card's probability is far off.
const IMPRECISE: [&str; 1] = ["maskableppo-mask-second"];

#[test]
fn every_policy_decides_as_its_library_does() {
    let Some(collection) = shared_folder("benchmarks/policies") else { return };
    let mut pending = PENDING.to_vec();
    let (mut passed, mut waiting, mut failures) = (0, String::new(), String::new());
    for folder in folders(&collection) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let reason = pending.iter().position(|(listed, _)| *listed == name);
        let reason = reason.map(|at| pending.remove(at).1);
        match (reason, check(&folder, &name)) {
            (None, Ok(())) => passed += 1,
            (None, Err(problem)) => {
                let _ = writeln!(failures, "{name}: {problem}");
            }
            (Some(reason), Err(problem)) => {
                let _ = writeln!(waiting, "pending ({reason}): {name}: {problem}");
            }
            (Some(reason), Ok(())) => {
                let _ = writeln!(failures, "{name} passes, but is listed as pending ({reason})");
            }
        }
    }
    for (name, _) in pending {
        let _ = writeln!(failures, "{name} is listed as pending and does not exist");
    }
    writeln!(std::io::stderr(), "{waiting}{passed} policies as expected").expect("standard error");
    assert!(failures.is_empty(), "\n{failures}");
}

fn folders(collection: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(collection).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

fn check(folder: &Path, name: &str) -> Checked {
    let files = policies(folder);
    assert!(!files.is_empty(), "{name} has no policy");
    for file in files {
        let result = if folder.join("task.toml").exists() {
            check_loop(folder, &file)
        } else {
            check_policy(folder, name, &file)
        };
        result.map_err(|problem| format!("{}: {problem}", file.display()))?;
    }
    Ok(())
}

/// The files of the policy, by their names.
fn policies(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| PathBuf::from(entry.expect("an entry").file_name()));
    let is_policy = |name: &PathBuf| {
        let text = name.to_string_lossy();
        text.starts_with("policy") && !text.ends_with(".data")
    };
    let mut names: Vec<PathBuf> = names.filter(is_policy).collect();
    names.sort_unstable();
    names
}

/// The problem of a folder with one of its policies.
fn options(folder: &Path, name: &str, file: &Path) -> ProblemOptions {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/policies");
    let own = own.join(format!("{name}.json"));
    let interface = if own.exists() { own } else { folder.join("interface.json") };
    let network = Some(folder.join(file));
    let policy = PolicySource::Given { interface: Some(interface), network };
    ProblemOptions { policy, ..ProblemOptions::new(&folder.join("model.jani")) }
}

/// A policy of a model: its decisions in every state, its verdict and the exact probabilities.
fn check_policy(folder: &Path, name: &str, file: &Path) -> Checked {
    let card = Card::read(folder);
    let load_by = |property: &str, choice: Option<ChoiceRule>| {
        let mut options = options(folder, name, file);
        options.property = Some(property.to_owned());
        options.choice = choice;
        let (budget, mut remarks) = (Budget::unlimited(), Remarks::default());
        Problem::load_any(&options, &budget, &mut remarks).map_err(|failure| failure.to_string())
    };
    let load = |property: &str| load_by(property, None);
    let load_drawing = |property: &str| load_by(property, Some(ChoiceRule::Sample));
    let problem = load("safe")?;
    decisions(&problem, &rows(folder))?;
    let mut request = Request::new(problem);
    request.engine = "explicit".to_owned();
    let verdict = answer(&request)?.verdict;
    let expected = if card.is_safe { VerdictWord::Safe } else { VerdictWord::Unsafe };
    if verdict != expected {
        return Err(format!("the verdict is {verdict:?}, not {expected:?}"));
    }
    if let Some(expected) = card.p_unsafe_if_sampled {
        let mut request = Request::new(load_drawing("safe")?);
        request.engine = "prob".to_owned();
        request.precision = Some(1e-9);
        let bounds = answer(&request)?.bounds.ok_or("there are no bounds")?;
        let (lo, hi) = (bounds.lo.to_f64(), bounds.hi.to_f64());
        // The card adds up probabilities in single precision, which do not sum to 1.
        let is_near = (lo - expected).abs() < 2e-4 || IMPRECISE.contains(&name);
        if hi - lo > 1e-6 || !is_near {
            return Err(format!("if sampled, the probability is {lo}..{hi}, not {expected}"));
        }
        let mut request = Request::new(load_drawing("safe")?);
        request.engine = "explicit".to_owned();
        let verdict = answer(&request)?.verdict;
        let expected = if lo > 0.0 { VerdictWord::Unsafe } else { VerdictWord::Safe };
        if verdict != expected {
            return Err(format!("if sampled, the verdict is {verdict:?}, not {expected:?}"));
        }
    }
    for (property, expected) in [("safe", &card.p_unsafe), ("p_goal", &card.p_goal)] {
        let Some(expected) = expected else { continue };
        let mut request = Request::new(load(property)?);
        request.engine = "prob".to_owned();
        request.exact = true;
        let value = answer(&request)?.value;
        let value = value.as_deref().and_then(expected::fraction);
        if value.as_ref() != Some(expected) {
            return Err(format!("the probability of {property} is {value:?}, not {expected}"));
        }
    }
    Ok(())
}

fn answer(request: &Request) -> Result<policert_verify::Report, String> {
    let outcome = verify(request, &CancelFlag::default(), &mut Silent);
    match outcome.failure {
        None => Ok(outcome.report),
        Some(failure) => Err(failure.to_string()),
    }
}

/// Compares what is chosen with what the library chose, ties aside.
fn decisions(problem: &Problem, rows: &[Row]) -> Checked {
    let policy = problem.policy.as_ref().ok_or("there is no policy")?;
    let model = &problem.model;
    let semantics = ModelSemantics { model, rule: DomainRule::Drop };
    let operators = model.operators(OPERATOR_LIMIT).map_err(|error| error.to_string())?;
    let mut chooser = policy.chooser();
    for row in rows {
        let value = |name: &String| row.values.get(name).copied().unwrap_or(0);
        let state: Vec<i64> = model.variables.iter().map(|v| value(&v.name)).collect();
        let applicable = semantics.applicable_labels(&operators, &state);
        let applicable = applicable.map_err(|error| format!("{error:?}"))?;
        let allowed: Vec<bool> = policy.outputs().iter().map(|l| applicable.contains(l)).collect();
        let mut inputs = Vec::new();
        policy.read_inputs(&state, &mut inputs);
        let name = |label: LabelId| model.label_name(Some(label)).to_owned();
        let chosen = match chooser.choose(&inputs, &allowed) {
            Choice::One(output) => name(policy.outputs()[output]),
            // Without any applicable action, what is chosen does not matter.
            Choice::Nothing if policy.semantics().filter == Filter::Applicable => continue,
            other => return Err(format!("in {:?}: {other:?}", row.values)),
        };
        let competing: Vec<usize> = match policy.semantics().filter {
            Filter::None => (0..allowed.len()).collect(),
            Filter::Applicable => (0..allowed.len()).filter(|&o| allowed[o]).collect(),
        };
        if !row.probabilities.is_empty() {
            for (output, least) in policy.probabilities(&inputs, &competing).outputs {
                let expected = row.probabilities[&name(policy.outputs()[output])];
                let least = least.to_f64();
                if (least - expected).abs() > 1e-5 {
                    return Err(format!("in {:?}: drawn by {least}, not {expected}", row.values));
                }
            }
        }
        if chosen != row.action && !row.is_tie {
            let message = format!("in {:?}: {chosen}, not {}", row.values, row.action);
            return Err(message);
        }
    }
    Ok(())
}

/// A policy of a control loop: what it does at the points of a grid, and the verdict.
fn check_loop(folder: &Path, file: &Path) -> Checked {
    let text = std::fs::read_to_string(folder.join("task.toml")).expect("a task");
    let task: toml::Table = text.parse().expect("TOML");
    let scale = task["action"].get("scale").and_then(toml::Value::as_integer).unwrap_or(1);
    let scale = Rational::from(scale);
    let network = read_network(&folder.join(file)).map_err(|error| error.to_string())?.network;
    for (point, expected) in grid(folder) {
        let scores = precise_scores_at(&network, &point, 128).expect("enclosed");
        let action = (scores.scores()[0].upper() * &scale).to_f64();
        if (action.clamp(-2.0, 2.0) - expected).abs() > 1e-4 {
            return Err(format!("at {point:?}: {action}, not {expected}"));
        }
    }
    let copy = tempfile::tempdir().expect("a folder");
    let path = copy.path().join("task.toml");
    let network = toml::Value::from(folder.join(file).display().to_string());
    std::fs::write(&path, text.replace("\"policy.onnx\"", &network.to_string())).expect("a file");
    let mut request = ReachRequest::new(path);
    request.refinements = Some(9);
    let outcome = reach(&request, &CancelFlag::default(), &mut Silent);
    match (outcome.failure, outcome.report.verdict) {
        (Some(failure), _) => Err(failure.to_string()),
        (None, VerdictWord::Safe) => Ok(()),
        (None, other) => Err(format!("the verdict is {other:?}, not Safe")),
    }
}
