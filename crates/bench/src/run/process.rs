//! The process of a run, measured.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use policert_engine_api::CancelFlag;
use policert_outcome::{Failure, FileDigest};

use super::{Study, answer};
use crate::freshness::in_work;
use crate::journal::{RunKey, RunResult};
use crate::measure::Measurement;

/// The time between two looks at a process.
const POLL: Duration = Duration::from_millis(5);
/// After the limit of the time, a process of policert gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(60);
/// The exit code of wrong usage.
const WRONG_USAGE: i32 = 42;

/// The files of a run.
pub(super) struct Files<'a> {
    /// The result of policert.
    pub result: &'a Path,
    /// What it said to standard output.
    pub output: &'a Path,
    /// What it said to standard error.
    pub messages: &'a Path,
}

/// One run, and the files that it read; `None` if it was interrupted.
pub(super) fn run(
    study: &Study<'_>,
    key: &RunKey,
    cancel: &CancelFlag,
) -> Result<Option<(RunResult, Vec<FileDigest>)>, Failure> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |source| Failure::Output { what, source }
    };
    let folder = tempfile::tempdir().map_err(failed("a temporary folder"))?;
    let path = |name: &str| folder.path().join(name);
    let (result, output, messages) = (path("result.json"), path("output"), path("messages"));
    let measurements = path("measured.json");
    let file = |path: &Path| File::create(path).map_err(failed("a temporary file"));
    let mut command = Command::new(&study.options.program);
    command
        .args(["bench", "measure", "--ends-with-input", "--out"])
        .arg(&measurements)
        .args(command_line(study, key, &result)?)
        .current_dir(study.suite.data(key))
        .stdin(Stdio::piped())
        .stdout(file(&output)?)
        .stderr(file(&messages)?);
    let what =
        format!("{} in {}", study.options.program.display(), study.suite.data(key).display());
    let mut process =
        in_own_group(&mut command).spawn().map_err(|source| Failure::Output { what, source })?;
    if !wait(&mut process, cancel)? {
        return Ok(None);
    }
    let files = Files { result: &result, output: &output, messages: &messages };
    let message = answer::first_line(files.messages);
    let Some(measurement) = measured(&measurements) else {
        let RunKey { instance, configuration, .. } = key;
        return Err(Failure::Usage(format!("`{instance}` with `{configuration}`: {message}")));
    };
    let configuration = study.suite.configuration(key);
    if let Some(rules) = configuration.filter(|c| c.program.is_some()).map(|c| &c.reads) {
        return Ok(Some((answer::of_output(rules, &files, &measurement), Vec::new())));
    }
    if measurement.exit_code == Some(WRONG_USAGE) {
        // The suite is wrong: nothing is kept, so that it can be corrected and continued.
        let RunKey { instance, configuration, .. } = key;
        return Err(Failure::Usage(format!("`{instance}` with `{configuration}`: {message}")));
    }
    let command = study.suite.instance(key).map_or("verify", |instance| &instance.command);
    Ok(Some(answer::of_result(command, &files, &measurement)))
}

/// What `bench measure` wrote; none where it could not start the program.
pub(super) fn measured(file: &Path) -> Option<Measurement> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// The options of `bench measure`, and the program with its arguments.
fn command_line(study: &Study<'_>, key: &RunKey, result: &Path) -> Result<Vec<OsString>, Failure> {
    let (seconds, memory) = study.limits;
    let arguments = study.suite.arguments(key);
    let in_folder = |word: &String| OsString::from(in_work(word, study.work));
    let mut words: Vec<OsString> = Vec::new();
    if let Some(cpu) = study.suite.cpu_seconds {
        words.extend(["--cpu".into(), cpu.to_string().into()]);
    }
    if study.suite.configuration(key).is_some_and(|c| c.program.is_some()) {
        words.extend(["--time".into(), format!("{seconds}s").into()]);
        words.extend(["--memory".into(), memory.into(), "--".into()]);
        words.extend(arguments.iter().map(in_folder));
        return Ok(words);
    }
    // A limit of an instance or a configuration goes before that of the suite.
    let has = |option: &str| {
        arguments.iter().any(|a| a == option || a.starts_with(&format!("{option}=")))
    };
    let longest = Duration::try_from_secs_f64(*seconds).ok().map(|limit| limit + GRACE);
    if let Some(longest) = longest.filter(|_| !has("--timeout")) {
        words.extend(["--time".into(), format!("{}s", longest.as_secs_f64()).into()]);
    }
    words.extend(["--".into(), study.options.program.clone().into_os_string()]);
    words.extend(arguments.iter().map(in_folder));
    for (option, value) in [("--timeout", &seconds.to_string()), ("--memory", memory)] {
        if !has(option) {
            words.extend([option.into(), value.into()]);
        }
    }
    words.extend(["--quiet".into(), "--json".into(), result.as_os_str().to_owned()]);
    Ok(words)
}

/// Keeps an interrupt from the keyboard to the study itself, which then ends its runs.
pub(super) fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Waits for a process; ends it when interrupted. True if it ended by itself.
pub(super) fn wait(process: &mut Child, cancel: &CancelFlag) -> Result<bool, Failure> {
    let failed = |source| Failure::Output { what: "a run".to_owned(), source };
    // Closing the input ends the program that is measured, and all that it started.
    let mut input = process.stdin.take();
    loop {
        if process.try_wait().map_err(failed)?.is_some() {
            return Ok(!cancel.is_raised());
        }
        if cancel.is_raised() {
            drop(input.take());
        }
        std::thread::sleep(POLL);
    }
}
