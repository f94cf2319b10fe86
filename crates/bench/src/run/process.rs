//! The process of a run, measured.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use policert_engine_api::CancelFlag;
use policert_outcome::{Failure, FileDigest, VERSION};
use tempfile::TempDir;

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
    /// The evidence, where the report is to have films.
    pub evidence: &'a Path,
}

/// A run that is to be made.
pub(super) struct Launch {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The folder that it runs in.
    pub folder: PathBuf,
    /// The folder of the files that it writes.
    pub files: TempDir,
}

/// The files in [`Launch::files`].
const RESULT: &str = "result.json";
const MEASURED: &str = "measured.json";
const EVIDENCE: &str = "evidence.json";
/// What the run says to standard output.
pub(super) const OUTPUT: &str = "output";
/// What it says to standard error.
pub(super) const MESSAGES: &str = "messages";

impl Launch {
    pub(super) fn new(study: &Study<'_>, key: &RunKey) -> Result<Self, Failure> {
        let files = tempfile::tempdir();
        let files = files.map_err(|source| failed("a temporary folder", source))?;
        let mut words = vec![study.options.program.clone().into_os_string()];
        words.extend(["bench", "measure", "--ends-with-input", "--out"].map(OsString::from));
        words.push(files.path().join(MEASURED).into_os_string());
        words.extend(command_line(study, key, files.path())?);
        Ok(Self { words, folder: study.suite.data(key).to_owned(), files })
    }
}

fn failed(what: &str, source: std::io::Error) -> Failure {
    Failure::Output { what: what.to_owned(), source }
}

/// One run, and the files that it read; `None` if it was interrupted.
pub(super) fn run(
    study: &Study<'_>,
    key: &RunKey,
    cancel: &CancelFlag,
) -> Result<Option<(RunResult, Vec<FileDigest>)>, Failure> {
    let launch = Launch::new(study, key)?;
    let file = |name: &str| {
        let file = File::create(launch.files.path().join(name));
        file.map_err(|source| failed("a temporary file", source))
    };
    let (program, arguments) = launch
        .words
        .split_first()
        .ok_or_else(|| Failure::Internal("a run without a program".to_owned()))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&launch.folder)
        .stdin(Stdio::piped())
        .stdout(file(OUTPUT)?)
        .stderr(file(MESSAGES)?);
    let what = format!("{} in {}", study.options.program.display(), launch.folder.display());
    let mut process =
        in_own_group(&mut command).spawn().map_err(|source| Failure::Output { what, source })?;
    if !wait(&mut process, cancel)? {
        return Ok(None);
    }
    answered(study, key, launch.files.path()).map(Some)
}

/// What a run that has ended answered, and the files that it read.
pub(super) fn answered(
    study: &Study<'_>,
    key: &RunKey,
    folder: &Path,
) -> Result<(RunResult, Vec<FileDigest>), Failure> {
    let [result, output, messages, evidence] =
        [RESULT, OUTPUT, MESSAGES, EVIDENCE].map(|name| folder.join(name));
    let files =
        Files { result: &result, output: &output, messages: &messages, evidence: &evidence };
    let refused = |message: String| {
        let RunKey { instance, configuration, .. } = key;
        Failure::Usage(format!("`{instance}` with `{configuration}`: {message}"))
    };
    let Some(measurement) = measured(&folder.join(MEASURED)) else {
        return Err(refused(answer::first_line(files.messages)));
    };
    let configuration = study.suite.configuration(key);
    if let Some(rules) = configuration.filter(|c| c.program.is_some()).map(|c| &c.reads) {
        return Ok((answer::of_output(rules, &files, &measurement), Vec::new()));
    }
    if measurement.exit_code == Some(WRONG_USAGE) {
        // The suite is wrong: nothing is kept, so that it can be corrected and continued.
        return Err(refused(answer::first_line(files.messages)));
    }
    let command = study.suite.instance(key).map_or("verify", |instance| &instance.command);
    let (result, read, version) = answer::of_result(command, &files, &measurement);
    match version.filter(|version| version != VERSION) {
        None => Ok((result, read)),
        Some(other) => Err(refused(format!(
            "it was run by version {other} of {}, and the study is one of version {VERSION}",
            study.options.program.display()
        ))),
    }
}

/// What `bench measure` wrote; none where it could not start the program.
pub(super) fn measured(file: &Path) -> Option<Measurement> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// The other options of `bench measure`, and the program with its arguments.
fn command_line(study: &Study<'_>, key: &RunKey, files: &Path) -> Result<Vec<OsString>, Failure> {
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
    words.extend(["--quiet".into(), "--json".into(), files.join(RESULT).into_os_string()]);
    let is_verify = study.suite.instance(key).is_some_and(|instance| instance.command == "verify");
    if study.suite.films && is_verify && !has("--evidence") {
        words.extend(["--evidence".into(), files.join(EVIDENCE).into_os_string()]);
    }
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
