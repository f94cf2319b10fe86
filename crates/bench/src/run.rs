//! Running a suite: one process for each run.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use policert_engine_api::CancelFlag;
use policert_outcome::{Failure, FileDigest, VERSION};
use serde_json::Value;

use crate::freshness::{changed, named_files};
use crate::journal::{JournalEntry, RunKey, RunResult, StudyJournal, latest};
use crate::suite::Suite;

/// The time between two looks at a process.
const POLL: Duration = Duration::from_millis(5);
/// After the limit of the time, a process gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(60);

/// Says how to run a suite.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// The program, `policert`.
    pub program: PathBuf,
    /// The file of the journal.
    pub journal: PathBuf,
    /// True if a journal that is there is continued.
    pub resume: bool,
    /// Only instances or configurations whose name contains this text.
    pub only: Option<String>,
    /// The limit of the time of each run, in place of the suite's.
    pub time: Option<Duration>,
}

/// Receives what a study does on the way.
pub trait StudyProgress {
    /// A run begins: the `number`th of `count`.
    fn begins(&mut self, key: &RunKey, number: usize, count: usize);
    /// A run that the journal has is made again, for a reason.
    fn again(&mut self, key: &RunKey, why: &str);
    /// A run is finished.
    fn finished(&mut self, entry: &JournalEntry);
}

/// The result of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StudySummary {
    /// Runs of the suite.
    pub runs: usize,
    /// Those that the journal had.
    pub known: usize,
    /// Those that were made.
    pub made: usize,
    /// True if it was interrupted.
    pub interrupted: bool,
}

/// Runs what the journal does not have yet.
///
/// # Errors
/// If the journal cannot be read or written, or the program cannot be started.
pub fn run_suite(
    suite: &Suite,
    options: &StudyOptions,
    cancel: &CancelFlag,
    progress: &mut dyn StudyProgress,
) -> Result<StudySummary, Failure> {
    let chosen = |key: &RunKey| {
        let only = options.only.as_deref().unwrap_or_default();
        key.instance.contains(only) || key.configuration.contains(only)
    };
    let runs: Vec<RunKey> = suite.runs().into_iter().filter(chosen).collect();
    if let (Some(only), true) = (&options.only, runs.is_empty()) {
        return Err(Failure::Usage(format!(
            "--only {only}: no instance and no configuration has this in its name; there are {}",
            suite.names().join(", ")
        )));
    }
    let (mut journal, known) = if options.resume {
        StudyJournal::resume(&options.journal)?
    } else {
        (StudyJournal::create(&options.journal)?, Vec::new())
    };
    let known = latest(known);
    suite.check_entries(&known)?;
    let limits =
        (options.time.map_or(suite.seconds, |time| time.as_secs_f64()), suite.memory.clone());
    let mut summary = StudySummary { runs: runs.len(), ..StudySummary::default() };
    for (number, key) in runs.iter().enumerate() {
        if let Some(entry) = known.iter().find(|entry| entry.key == *key) {
            match changed(suite, entry, Some(&limits)) {
                None => {
                    summary.known += 1;
                    continue;
                }
                Some(why) => progress.again(key, &why),
            }
        }
        progress.begins(key, number + 1, runs.len());
        let mut files = named_files(suite, key);
        let Some((result, read)) = run(suite, key, options, cancel)? else {
            summary.interrupted = true;
            break;
        };
        // What the run read counts as it was then.
        for file in read {
            files.retain(|named| named.path != file.path);
            files.push(file);
        }
        let entry = JournalEntry {
            key: key.clone(),
            arguments: suite.arguments(key),
            limits: limits.clone(),
            version: VERSION.to_owned(),
            files,
            result,
        };
        journal.add(&entry)?;
        progress.finished(&entry);
        summary.made += 1;
    }
    Ok(summary)
}

/// One run, and the files that it read; `None` if it was interrupted.
fn run(
    suite: &Suite,
    key: &RunKey,
    options: &StudyOptions,
    cancel: &CancelFlag,
) -> Result<Option<(RunResult, Vec<FileDigest>)>, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|source| Failure::Output { what: "a temporary folder".to_owned(), source })?;
    let file = folder.path().join("result.json");
    let limit = options.time.map_or(suite.seconds, |time| time.as_secs_f64());
    let mut arguments: Vec<OsString> =
        suite.arguments(key).into_iter().map(OsString::from).collect();
    // A limit of an instance or a configuration goes before that of the suite.
    let has = |option: &str| {
        let own = suite.arguments(key);
        own.iter().any(|a| a == option || a.starts_with(&format!("{option}=")))
    };
    for (option, value) in [("--timeout", &limit.to_string()), ("--memory", &suite.memory)] {
        if !has(option) {
            arguments.extend([option.into(), value.into()]);
        }
    }
    arguments.extend(["--quiet".into(), "--json".into(), file.clone().into_os_string()]);
    let messages = folder.path().join("messages");
    let standard_error = File::create(&messages)
        .map_err(|source| Failure::Output { what: "a temporary file".to_owned(), source })?;
    let begin = Instant::now();
    let process = Command::new(&options.program)
        .args(&arguments)
        .current_dir(suite.data(key))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(standard_error)
        .spawn();
    let what = format!("{} in {}", options.program.display(), suite.data(key).display());
    let mut process = process.map_err(|source| Failure::Output { what, source })?;
    let longest = Duration::try_from_secs_f64(limit).ok().map(|limit| limit + GRACE);
    let longest = longest.filter(|_| !has("--timeout"));
    let Some(status) = wait(&mut process, cancel, longest)? else {
        return Ok(None);
    };
    let time = begin.elapsed();
    let message = first_line(&messages);
    if status.code() == Some(WRONG_USAGE) {
        // The suite is wrong: nothing is kept, so that it can be corrected and continued.
        let RunKey { instance, configuration, .. } = key;
        return Err(Failure::Usage(format!("`{instance}` with `{configuration}`: {message}")));
    }
    Ok(Some(result(status, &file, &message, time)))
}

/// The beginning of what a run said.
fn first_line(file: &Path) -> String {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().next().unwrap_or_default().chars().take(500).collect()
}

/// The exit code of wrong usage.
const WRONG_USAGE: i32 = 42;

/// Waits for a process; ends it after the time given, and when interrupted (then `None`).
fn wait(
    process: &mut Child,
    cancel: &CancelFlag,
    longest: Option<Duration>,
) -> Result<Option<ExitStatus>, Failure> {
    let failed = |source| Failure::Output { what: "a run".to_owned(), source };
    let begin = Instant::now();
    loop {
        if let Some(status) = process.try_wait().map_err(failed)? {
            // A run that an interrupt from the keyboard reached as well is not finished.
            return Ok((!cancel.is_raised()).then_some(status));
        }
        if cancel.is_raised() || longest.is_some_and(|longest| begin.elapsed() > longest) {
            process.kill().map_err(failed)?;
            let status = process.wait().map_err(failed)?;
            return Ok((!cancel.is_raised()).then_some(status));
        }
        std::thread::sleep(POLL);
    }
}

fn result(
    status: ExitStatus,
    file: &Path,
    message: &str,
    time: Duration,
) -> (RunResult, Vec<FileDigest>) {
    let text = std::fs::read(file).unwrap_or_default();
    let mut value: Value = serde_json::from_slice(&text).unwrap_or(Value::Null);
    let text_of = |name: &str| value[name].as_str().map(str::to_owned);
    let ended = || match status.code() {
        Some(_) if !message.is_empty() => message.to_owned(),
        Some(code) => format!("no result, exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let result = RunResult {
        verdict: text_of("verdict").unwrap_or_else(|| "none".to_owned()),
        exit_code: status.code(),
        reason: text_of("reason").or_else(|| value.is_null().then(ended)),
        time_s: time.as_secs_f64(),
        peak_memory_mb: value["peak_memory_mb"].as_f64(),
        probability: serde_json::from_value(value["probability"].clone()).unwrap_or_default(),
        value: text_of("value"),
        semantics: value["semantics"]["text"].as_str().map(str::to_owned),
        statistics: value["statistics"].clone(),
    };
    let inputs = value.get_mut("inputs").map(Value::take).unwrap_or_default();
    (result, serde_json::from_value(inputs).unwrap_or_default())
}
