//! Runs on a cluster of Ray. The Python package sends them there and brings back the files that they
//! write: `crates/python/python/policert/ray/programs.py`. Ray decides where a run is made, and makes it
//! again where a worker dies.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, StopReason};
use policert_outcome::{Failure, FileDigest, VERSION};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::process::{self, Launch, MESSAGES, OUTPUT, in_own_group};
use super::{Shared, Study};
use crate::freshness::named_files;
use crate::journal::RunKey;

/// The time between two looks at whether the study was interrupted.
const POLL: Duration = Duration::from_millis(50);
/// How long the package gets to end what it began on the cluster.
const GRACE: Duration = Duration::from_secs(10);

/// A run as the package reads it.
#[derive(Serialize)]
struct Task {
    task: usize,
    words: Vec<String>,
    folder: String,
    /// The folder of the files that it writes, which `words` name.
    files: String,
    output: &'static str,
    messages: &'static str,
    /// The processors that it needs.
    threads: u16,
}

/// A line that the package writes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    /// It has the cluster.
    Ready { version: String },
    /// A run could not be made.
    Failed { task: usize, failed: String },
    /// A run has ended, and its files are there.
    Ended { task: usize },
}

/// A run, the files that its arguments name, and its process.
struct Begun<'a> {
    number: usize,
    key: &'a RunKey,
    named: Vec<FileDigest>,
    launch: Launch,
}

/// Makes runs on a cluster; the number of those that are finished. A run that cannot be made ends the
/// study after the others.
pub(super) fn make(
    study: &Study<'_>,
    address: &str,
    runs: &[(usize, &RunKey)],
    cancel: &CancelFlag,
    mut shared: Shared<'_>,
) -> Result<usize, Failure> {
    let mut package = Package::start(address, cancel)?;
    let mut begun = Vec::with_capacity(runs.len());
    for &(number, key) in runs {
        let named = named_files(study.suite, key, study.work);
        let launch = Launch::new(study, key)?;
        package.send(begun.len(), &launch, threads(&study.suite.arguments(key)))?;
        shared.progress.begins(key, number, study.count);
        begun.push(Some(Begun { number, key, named, launch }));
    }
    package.send_end()?;
    let (mut ended, mut made) = (0, 0);
    while ended < runs.len() {
        let (task, failed) = match package.said(cancel)? {
            None => break,
            Some(Said::Ready { .. }) => continue,
            Some(Said::Ended { task }) => (task, None),
            Some(Said::Failed { task, failed }) => (task, Some(failed)),
        };
        // Its files are removed with it.
        let Some(run) = begun.get_mut(task).and_then(Option::take) else { continue };
        ended += 1;
        if let Some(message) = failed {
            let RunKey { instance, configuration, .. } = run.key;
            let message = format!("`{instance}` with `{configuration}`: {message}");
            shared.failure.get_or_insert(Failure::Usage(message));
            continue;
        }
        let answer = process::answered(study, run.key, run.launch.files.path())?;
        shared.keep(&study.entry(run.key, run.named, answer), run.number, study.count)?;
        made += 1;
    }
    match shared.failure {
        Some(failure) => Err(failure),
        None => Ok(made),
    }
}

/// The processors that a run uses.
fn threads(arguments: &[String]) -> u16 {
    let apart = arguments.iter().skip_while(|word| *word != "--threads").nth(1).map(String::as_str);
    let joined = arguments.iter().find_map(|word| word.strip_prefix("--threads="));
    // What is no number, the run itself refuses.
    apart.or(joined).and_then(|value| value.parse().ok()).unwrap_or(1).max(1)
}

/// The Python package at work.
struct Package {
    process: Child,
    /// Its end stops what the package does.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    messages: NamedTempFile,
    address: String,
}

impl Package {
    /// Starts it, and waits until it has the cluster.
    fn start(address: &str, cancel: &CancelFlag) -> Result<Self, Failure> {
        let messages = NamedTempFile::new().and_then(|file| Ok((file.reopen()?, file)));
        let (errors, messages): (File, NamedTempFile) = messages
            .map_err(|source| Failure::Output { what: "a temporary file".to_owned(), source })?;
        let mut command = Command::new("python3");
        command
            .args(["-m", "policert.ray", address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut process = in_own_group(&mut command)
            .spawn()
            .map_err(|error| wrong(address, &format!("python3 cannot be started: {error}")))?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (send, lines) = channel();
        if let Some(output) = output {
            std::thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                // Nobody listens any more after an interruption.
                lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
            });
        }
        let mut package = Self { process, input, lines, messages, address: address.to_owned() };
        match package.said(cancel)? {
            Some(Said::Ready { version }) if version == VERSION => Ok(package),
            Some(Said::Ready { version }) => {
                let message = format!("the package is version {version}, this program {VERSION}");
                Err(wrong(address, &message))
            }
            Some(Said::Failed { .. } | Said::Ended { .. }) => Err(package.silent()),
            None => Err(Failure::Stopped(StopReason::Interrupted)),
        }
    }

    /// Hands a run over.
    fn send(&mut self, task: usize, launch: &Launch, threads: u16) -> Result<(), Failure> {
        // A worker runs in a folder of its own.
        let folder = std::path::absolute(&launch.folder).unwrap_or_else(|_| launch.folder.clone());
        let text = |text: Option<&str>| {
            let unreadable = || wrong(&self.address, "a path or an argument is no UTF-8");
            text.map(str::to_owned).ok_or_else(unreadable)
        };
        let words = launch.words.iter().map(|word| text(word.to_str()));
        let task = Task {
            task,
            words: words.collect::<Result<_, Failure>>()?,
            folder: text(folder.to_str())?,
            files: text(launch.files.path().to_str())?,
            output: OUTPUT,
            messages: MESSAGES,
            threads,
        };
        let line = serde_json::to_string(&task)
            .map_err(|error| Failure::Internal(format!("a run as JSON: {error}")))?;
        self.write(&line)
    }

    /// There are no more runs.
    fn send_end(&mut self) -> Result<(), Failure> {
        self.write("")
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        if written.is_some_and(|written| written.is_ok()) { Ok(()) } else { Err(self.silent()) }
    }

    /// The next line that it writes; `None` after an interruption.
    fn said(&mut self, cancel: &CancelFlag) -> Result<Option<Said>, Failure> {
        loop {
            if cancel.is_raised() {
                return Ok(None);
            }
            match self.lines.recv_timeout(POLL) {
                Ok(line) => {
                    return serde_json::from_str(&line)
                        .map(Some)
                        .map_err(|_| wrong(&self.address, &format!("python3 says `{line}`")));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.silent()),
            }
        }
    }

    /// Why it says nothing any more: the last line of its messages.
    fn silent(&self) -> Failure {
        let messages = policert_files::read(self.messages.path()).unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        let last = messages.lines().rfind(|line| !line.trim().is_empty());
        wrong(&self.address, last.unwrap_or("python3 has ended without a message"))
    }
}

fn wrong(address: &str, message: &str) -> Failure {
    Failure::Usage(format!(
        "--ray {address}: {}; clusters of Ray are reached through the Python package of the same \
         version, with Ray, which `python3` has to find (docs/bench.md)",
        policert_files::shown(message)
    ))
}

impl Drop for Package {
    /// Ends what it began on the cluster.
    fn drop(&mut self) {
        drop(self.input.take());
        let end = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(POLL);
        }
        // It may have ended just now.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_threads_gets_their_processors() {
        let of = |words: &[&str]| {
            threads(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["verify", "model.jani"]), 1);
        assert_eq!(of(&["verify", "--threads", "4", "model.jani"]), 4);
        assert_eq!(of(&["verify", "--threads=3"]), 3);
        assert_eq!(of(&["verify", "--threads"]), 1);
        assert_eq!(of(&["verify", "--threads", "many"]), 1);
    }
}
