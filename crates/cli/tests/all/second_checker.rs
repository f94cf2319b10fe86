//! Two checkers of evidence: `policert certify`, and `tools/certify`, which shares no code with it. Both
//! confirm the evidence of every engine, and both reject the same lies.

mod lies;
mod mutations;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use policert_policy::Filter;
use policert_testkit::case_files::write_case;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, slow_tests};
use serde_json::{Value, json};

use crate::support::program::{code, policert, text};
use lies::{LIES, Lie};

/// The engines that write evidence.
const ENGINES: [&str; 8] =
    ["explicit", "bmc", "ppa", "cegar", "ic3", "prob", "prob-ppa", "prob-cegar"];

/// The oldest minor version of Python 3 that runs the second checker.
const PYTHON_VERSION: u32 = 10;

/// The answers of the second checker about a file, with its exit codes.
const ANSWERS: [(&str, i32); 5] =
    [("CONFIRMED", 0), ("UNKNOWN", 30), ("INVALID", 40), ("UNSUPPORTED", 41), ("REJECTED", 51)];

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns whether there is a Python that runs the second checker; says so if there is none.
fn has_python() -> bool {
    let output = Command::new("python3").arg("--version").output();
    let version = output.map(|output| text(&output)).unwrap_or_default();
    let minor = version.trim().strip_prefix("Python 3.").and_then(|rest| rest.split('.').next());
    let found = minor.and_then(|minor| minor.parse::<u32>().ok());
    let suits = found.is_some_and(|minor| minor >= PYTHON_VERSION);
    if !suits {
        let message = "left out: the second checker needs python3, 3.10 or later";
        writeln!(std::io::stderr(), "{message}").expect("standard error");
    }
    suits
}

/// Exit codes of the second checker for files, in one run of it, with what it says.
fn second(folder: &Path, files: &[PathBuf]) -> Vec<(i32, String)> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut command = Command::new("python3");
    command.arg(root().join("tools/certify")).arg("--quiet").args(files).current_dir(folder);
    let output = command.output().expect("python3 runs");
    let said = text(&output);
    let answer = |line: &str| {
        let known = ANSWERS.iter().find(|(word, _)| line.starts_with(&format!("{word} ")));
        (known.unwrap_or_else(|| panic!("no answer: {said}")).1, line.to_owned())
    };
    let answers: Vec<_> = said.lines().map(answer).collect();
    assert_eq!(answers.len(), files.len(), "{said}");
    let first = answers.iter().map(|(code, _)| *code).find(|code| *code != 0);
    assert_eq!(code(&output), first.unwrap_or(0), "{said}");
    answers
}

/// The exit code of `policert certify`.
fn first(folder: &Path, file: &Path) -> i32 {
    let mut command = policert(folder, "certify --quiet");
    code(&command.arg(file).output().expect("policert runs"))
}

/// Writes evidence of a question by each engine that has some: files of the name `stem` and that of the
/// engine.
fn write_evidence(folder: &Path, arguments: &str, stem: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for engine in ENGINES {
        let file = PathBuf::from(format!("{stem}{engine}.json"));
        let arguments = format!("verify {arguments} --quiet --engine {engine} --evidence");
        let mut command = policert(folder, &arguments);
        let output = command.arg(&file).output().expect("policert runs");
        assert!(code(&output) < 50, "{arguments}: {}", text(&output));
        if folder.join(&file).is_file() {
            files.push(file);
        }
    }
    files
}

#[test]
fn both_confirm_the_shipped_examples() {
    if !has_python() {
        return;
    }
    let written = tempfile::tempdir().expect("a folder");
    for world in ["icy_road", "warehouse"] {
        let folder = root().join("examples").join(world);
        let mut files = Vec::new();
        for policy in ["careful", "hasty", "careful_onnx", "hasty_onnx"] {
            let stem = written.path().join(format!("{world}_{policy}_")).display().to_string();
            let arguments = format!("model.jani --interface {policy}.jani2nnet");
            files.extend(write_evidence(&folder, &arguments, &stem));
        }
        if world == "icy_road" {
            for trees in ["boosted.json", "boosted.txt", "forest.onnx"] {
                let stem = written.path().join(trees).display().to_string();
                let policy =
                    format!("model.jani --interface careful.jani2nnet --policy ../trees/{trees}");
                files.extend(write_evidence(&folder, &policy, &stem));
            }
        }
        assert!(files.len() >= 10, "{world}: {files:?}");
        for (file, (code, said)) in files.iter().zip(second(&folder, &files)) {
            assert_eq!((first(&folder, file), code), (0, 0), "{said}");
        }
    }
}

/// Random models in folders of their own below one, with evidence of each engine and settings that
/// differ.
fn random_evidence(root: &Path, numbers: impl Iterator<Item = u64>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for number in numbers {
        let mut random = Random::new(number ^ 0x5ec0);
        let profile = [Profile::Unary, Profile::Linear, Profile::General][random.below(3)];
        let case = Case::numbered(profile, number);
        let rules = semantics(&mut random);
        let name = number.to_string();
        let folder = root.join(&name);
        std::fs::create_dir(&folder).expect("a folder");
        if !write_case(&folder, &case, rules.filter).expect("files") {
            continue;
        }
        let has_least = add_least(&folder);
        let value = |rule: Value| rule.as_str().unwrap_or_default().to_owned();
        let ties = value(serde_json::to_value(rules.ties).expect("a word"));
        let mut arguments = format!("{name}/model.jani --ties {ties}");
        if rules.filter == Filter::None && random.percent(20) {
            arguments.push_str(" --filter applicable");
        }
        if random.percent(20) {
            arguments = format!("{name}/model.jani --no-policy");
        } else if number % 5 == 2 {
            arguments = arguments.replace(&format!(" --ties {ties}"), " --choice sample");
        }
        if case.property.goal.is_some() && random.percent(30) {
            arguments.push_str(" --terminal goal");
        }
        let other = ["", "", "", " --domain error", " --stuck unsafe", " --reach-goal"];
        arguments.push_str(random.pick::<&str>(&other));
        files.extend(write_evidence(root, &arguments, &format!("{name}/")));
        if case.property.goal.is_some() {
            let file = PathBuf::from(format!("{name}/goal.json"));
            let arguments = format!(
                "verify {name}/model.jani --ties {ties} --engine explicit --reach-goal --quiet --evidence"
            );
            let output = policert(root, &arguments).arg(&file).output().expect("policert runs");
            assert!(code(&output) < 50, "{arguments}: {}", text(&output));
            files.extend(root.join(&file).is_file().then_some(file));
        }
        if has_least {
            let file = PathBuf::from(format!("{name}/least.json"));
            let arguments = format!(
                "verify {name}/model.jani --property #1 --interface {name}/policy.jani2nnet \
                 --ties {ties} --engine prob --quiet --evidence"
            );
            let output = policert(root, &arguments).arg(&file).output().expect("policert runs");
            assert!(code(&output) < 50, "{arguments}: {}", text(&output));
            files.extend(root.join(&file).is_file().then_some(file));
        }
    }
    files
}

/// Evidence that every run of the careful truck comes as far as this, for several goals.
fn goals_on_the_road(folder: &Path) -> Vec<PathBuf> {
    let world = root().join("examples/icy_road");
    let evidence = |goal: u32| {
        let file = PathBuf::from(format!("road{goal}.json"));
        let arguments = format!(
            "verify {} --interface {} --reach-goal --goal position>={goal} --quiet --evidence",
            world.join("model.jani").display(),
            world.join("careful.jani2nnet").display(),
        );
        let output = policert(folder, &arguments).arg(&file).output().expect("policert runs");
        assert_eq!(code(&output), 0, "{arguments}: {}", text(&output));
        file
    };
    (13..21).map(evidence).collect()
}

/// Adds a property to a model, the least probability of what its first one is about; false where that
/// speaks of locations.
fn add_least(folder: &Path) -> bool {
    let path = folder.join("model.jani");
    let mut model = lies::read(&path);
    let reach = &model["properties"][0]["expression"]["reach"];
    let speaks_of = |part: &str| reach[part].as_array().is_some_and(|list| !list.is_empty());
    if speaks_of("locations") || reach.get("exp").is_none() {
        return false;
    }
    let least = json!({"name": "least", "expression": {
        "op": "filter", "fun": "min", "states": {"op": "initial"},
        "values": {"op": "Pmin", "exp": {"op": "F", "exp": reach["exp"]}},
    }});
    model["properties"].as_array_mut().expect("properties").push(least);
    std::fs::write(path, model.to_string()).is_ok()
}

#[test]
fn both_say_the_same_of_random_models_and_of_lies_about_them() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let models = if slow_tests() { 1500 } else { 120 };
    let mut files = random_evidence(folder, case_numbers(models));
    files.extend(goals_on_the_road(folder));
    assert!(files.len() > 300, "{}", files.len());
    let mut verdicts = [0; 3];
    let mut confirmed = Vec::new();
    for (file, (code, said)) in files.iter().zip(second(folder, &files)) {
        assert_eq!((first(folder, file), code), (0, 0), "{said}");
        let evidence = lies::read(&folder.join(file));
        let kinds = ["unsafe", "safe", "probability"];
        let kind = kinds.iter().position(|kind| evidence["verdict"] == *kind);
        verdicts[kind.expect("a verdict")] += 1;
        confirmed.push((file, evidence));
    }
    assert!(verdicts.iter().all(|&count| count >= 40), "{verdicts:?}");
    let mut told = vec![[0; 2]; LIES.len()];
    let mut lied: Vec<(usize, PathBuf)> = Vec::new();
    for (number, (file, evidence)) in confirmed.iter().enumerate() {
        let (_, other) = &confirmed[(number + 7) % confirmed.len()];
        // Each evidence is turned into some kinds of lies, in turn.
        for kind in (0..LIES.len()).filter(|kind| (number / 2 + kind).is_multiple_of(4)) {
            let Lie { tell, .. } = LIES[kind];
            let Some(lie) = tell(evidence, other) else { continue };
            let path = file.with_extension(format!("lie{kind}"));
            std::fs::write(folder.join(&path), lie.to_string()).expect("a file");
            lied.push((kind, path));
        }
    }
    let paths: Vec<PathBuf> = lied.iter().map(|(_, path)| path.clone()).collect();
    for ((kind, path), (code, said)) in lied.iter().zip(second(folder, &paths)) {
        let lie = &LIES[*kind];
        let first = first(folder, path);
        assert_eq!(first == 0, code == 0, "{}: {first}, {said}", lie.what);
        assert!(code != 0 || !lie.is_always_false, "{}: {said}", lie.what);
        told[*kind][usize::from(code != 0)] += 1;
    }
    for (lie, told) in LIES.iter().zip(&told) {
        assert!(told[1] > 0, "{}: {told:?}", lie.what);
    }
}

/// Evidence that says `2 · (x + y) ≤ battery + slack` of the careful robot, as the only condition.
fn battery_suffices(slack: i64) -> Value {
    let folder = root().join("examples/warehouse");
    let written = tempfile::tempdir().expect("a folder");
    let stem = written.path().join("").display().to_string();
    let files = write_evidence(&folder, "model.jani --interface careful.jani2nnet", &stem);
    let proved = files.iter().find(|file| file.ends_with("ic3.json")).expect("an invariant");
    let mut evidence = lies::read(proved);
    evidence["invariant"] = json!([{}]);
    evidence["where"] =
        json!([[{"any": [{"terms": {"x": 2, "y": 2, "battery": -1}, "at_most": slack}]}]]);
    evidence
}

#[test]
fn the_second_checker_reads_conditions_of_an_invariant() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    let mut write = |name: &str, evidence: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, evidence.to_string()).expect("a file");
        files.push(path);
    };
    let right = battery_suffices(0);
    write("right", &right);
    // The far corner with an empty battery; the charger with a full one.
    write("too wide", &battery_suffices(28));
    write("too narrow", &battery_suffices(-41));
    let mut unknown = right;
    unknown["where"][0][0]["any"][0]["terms"] = json!({"speed": 1});
    write("unknown variable", &unknown);
    let answers = second(&root().join("examples/warehouse"), &files);
    let codes: Vec<i32> = answers.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [0, 51, 51, 40], "{answers:?}");
}

#[test]
fn the_second_checker_says_what_is_wrong_with_hostile_files() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let deep = "[".repeat(200_000);
    let head = |rest: &str| format!("{{\"schema_version\": 1, \"verdict\": \"safe\", {rest}}}");
    let texts = [
        String::new(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"schema_version\": NaN}".to_owned(),
        "{\"schema_version\": 1e999999999}".to_owned(),
        "{\"schema_version\": true}".to_owned(),
        format!("{{\"schema_version\": {}}}", "9".repeat(100_000)),
        deep.clone(),
        head("\"invariant\": {}"),
        head("\"invariant\": [], \"inputs\": [1]"),
        head(&format!("\"invariant\": {deep}")),
        head("\"invariant\": [], \"inputs\": [], \"task\": {\"model\": \"\\u0000\"}"),
        head(
            "\"invariant\": [], \"inputs\": [], \"semantics\": {}, \"task\": {\"model\": \"/dev/zero\", \"constants\": {}}",
        ),
    ];
    let mut files = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let path = folder.path().join(i.to_string());
        std::fs::write(&path, text).expect("a file");
        files.push(path);
    }
    files.push(folder.path().to_path_buf());
    files.push(folder.path().join("missing"));
    for (code, said) in second(folder.path(), &files) {
        assert_eq!(code, 40, "{said}");
    }
}
