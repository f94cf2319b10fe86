//! The journal of a study: one JSON object a line for each finished run.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use policert_outcome::{Failure, FileDigest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Says what is run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RunKey {
    /// Name of the instance.
    pub instance: String,
    /// Name of the configuration.
    pub configuration: String,
    /// Percent of the maximal predicate set.
    pub share: Option<u32>,
}

/// The result of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// `safe`, `unsafe`, `unknown`, or what kept it from an answer.
    pub verdict: String,
    /// The exit code; `None` if the process was ended by a signal.
    pub exit_code: Option<i32>,
    /// The reason why there is no verdict.
    pub reason: Option<String>,
    /// Time of the process in seconds.
    pub time_s: f64,
    /// Most memory in use, in megabytes.
    pub peak_memory_mb: Option<f64>,
    /// Lower and upper bound of a probability, where one was asked for.
    #[serde(default)]
    pub probability: Option<[String; 2]>,
    /// Its exact value, where it is known.
    #[serde(default)]
    pub value: Option<String>,
    /// The meaning of the answer, in a line.
    #[serde(default)]
    pub semantics: Option<String>,
    /// `statistics` of the result file (`docs/formats/result.md`).
    pub statistics: Value,
}

/// A finished run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The question and the configuration.
    pub key: RunKey,
    /// The arguments of the run, without those about limits and output.
    pub arguments: Vec<String>,
    /// Limits of time, in seconds, and of memory.
    pub limits: (f64, String),
    /// Version of the program.
    #[serde(default)]
    pub version: String,
    /// The files that the run was about, with their SHA-256.
    #[serde(default)]
    pub files: Vec<FileDigest>,
    /// The result of the run.
    pub result: RunResult,
}

/// The last entry of each run: what was run again since has taken the place of an earlier one.
#[must_use]
pub fn latest(entries: Vec<JournalEntry>) -> Vec<JournalEntry> {
    let mut last: BTreeMap<RunKey, usize> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        last.insert(entry.key.clone(), at);
    }
    let is_last =
        |(at, entry): (usize, JournalEntry)| (last.get(&entry.key) == Some(&at)).then_some(entry);
    entries.into_iter().enumerate().filter_map(is_last).collect()
}

/// A journal that is open for more.
#[derive(Debug)]
pub struct StudyJournal {
    file: File,
    path: PathBuf,
}

impl StudyJournal {
    /// The finished runs of a journal. A last line that was cut off does not count.
    ///
    /// # Errors
    /// If the file cannot be read, or another line is no entry.
    pub fn read(path: &Path) -> Result<Vec<JournalEntry>, Failure> {
        let text = policert_files::read_text(path)
            .map_err(|error| Failure::Usage(format!("--journal {}: {error}", path.display())))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                serde_json::from_str(line).map_err(|error| {
                    Failure::Usage(format!(
                        "{}: line {} is no finished run: {error}",
                        path.display(),
                        number + 1
                    ))
                })
            })
            .collect()
    }

    /// Opens a journal to go on, with the runs that are finished.
    ///
    /// # Errors
    /// If there is none, or it cannot be read or written.
    pub fn resume(path: &Path) -> Result<(Self, Vec<JournalEntry>), Failure> {
        if !path.exists() {
            return Err(Failure::Usage(format!(
                "--resume has no effect: {} is not there; without it a study begins",
                path.display()
            )));
        }
        let known = Self::read(path)?;
        let file = OpenOptions::new().append(true).open(path);
        let mut journal =
            Self { file: file.map_err(|error| failed(path, error))?, path: path.to_owned() };
        lock(&journal.file, path)?;
        // What a cut-off line left behind would spoil the next one.
        let text = policert_files::read(path).map_err(|error| failed(path, error))?;
        if text.last().is_some_and(|last| *last != b'\n') {
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let length = u64::try_from(whole).unwrap_or(0);
            journal.file.set_len(length).map_err(|error| failed(path, error))?;
        }
        journal.file.flush().map_err(|error| failed(path, error))?;
        Ok((journal, known))
    }

    /// Makes a journal.
    ///
    /// # Errors
    /// If there is one already, or it cannot be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        match OpenOptions::new().create_new(true).append(true).open(path) {
            Ok(file) => {
                lock(&file, path)?;
                Ok(Self { file, path: path.to_owned() })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::Usage(
                format!("{} is there already: --resume goes on with it", path.display()),
            )),
            Err(error) => Err(Failure::Usage(format!("--journal {}: {error}", path.display()))),
        }
    }

    /// Adds a finished run; it is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, entry: &JournalEntry) -> Result<(), Failure> {
        let mut line = serde_json::to_string(entry)
            .map_err(|error| Failure::Internal(format!("a run as JSON: {error}")))?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed(&self.path, error))
    }
}

/// Two studies would mix up one journal. Where files cannot be locked, nothing keeps them apart.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let what = "another study is writing this journal";
            Err(Failure::Usage(format!("{}: {what}", path.display())))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn failed(path: &Path, source: io::Error) -> Failure {
    Failure::Output { what: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(instance: &str) -> JournalEntry {
        JournalEntry {
            key: RunKey {
                instance: instance.to_owned(),
                configuration: "c".to_owned(),
                share: Some(20),
            },
            arguments: Vec::new(),
            limits: (60.0, "4GB".to_owned()),
            version: String::new(),
            files: Vec::new(),
            result: RunResult {
                verdict: "safe".to_owned(),
                exit_code: Some(0),
                reason: None,
                time_s: 0.5,
                peak_memory_mb: None,
                probability: None,
                value: None,
                semantics: None,
                statistics: Value::Null,
            },
        }
    }

    #[test]
    fn what_was_run_again_counts() {
        let again = JournalEntry { version: "2".to_owned(), ..entry("a") };
        let entries = latest(vec![entry("a"), entry("b"), again.clone()]);
        assert_eq!(entries, [entry("b"), again]);
    }

    #[test]
    fn a_line_that_was_cut_off_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let mut journal = StudyJournal::create(&path).expect("new");
        assert!(StudyJournal::create(&path).is_err());
        journal.add(&entry("a")).expect("written");
        journal.add(&entry("b")).expect("written");
        drop(journal);
        let text = std::fs::read(&path).expect("there");
        std::fs::write(&path, &text[..text.len() - 9]).expect("cut");
        let (mut journal, known) = StudyJournal::resume(&path).expect("goes on");
        assert_eq!(known, [entry("a")]);
        journal.add(&entry("c")).expect("written");
        assert_eq!(StudyJournal::read(&path).expect("whole"), [entry("a"), entry("c")]);
    }
}
