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
    /// The values of the axes that it varies with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, String>,
}

impl RunKey {
    /// The values of the axes in a line, such as `share 20, seed 1`.
    #[must_use]
    pub fn point(&self) -> String {
        let values = self.at.iter().map(|(name, value)| format!("{name} {value}"));
        values.collect::<Vec<_>>().join(", ")
    }
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
    /// Processor time of the process and those that it started, as the system measures it.
    #[serde(default)]
    pub cpu_s: Option<f64>,
    /// Most memory that one of them had, in megabytes, as the system measures it.
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
    /// What else the result file says (`docs/formats/result.md`), without inputs and boxes.
    #[serde(default)]
    pub report: Value,
}

impl RunResult {
    /// A number of the result: `time_s`, `cpu_s`, `peak_memory_mb`, `value`, or a member of the result file with
    /// the names that lead to it, such as `statistics.ic3.frames`.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<f64> {
        match name {
            "time_s" => Some(self.time_s),
            "cpu_s" => self.cpu_s,
            "peak_memory_mb" => self.peak_memory_mb,
            "value" => self.value.as_ref()?.parse().ok(),
            _ => {
                let member = name.split('.').fold(&self.report, |value, name| &value[name]);
                member.as_f64()
            }
        }
    }

    /// Whether the evidence of the verdict was confirmed, where that was asked for.
    #[must_use]
    pub fn certified(&self) -> Option<bool> {
        self.report["certified"]["confirmed"].as_bool()
    }

    /// True if the question is answered.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        matches!(
            &*self.verdict,
            "safe" | "unsafe" | "probability" | "confirmed" | "rejected" | "done"
        )
    }
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

/// The runs of several journals, as those of shards: the last entry of each run.
///
/// # Errors
/// If they were made by different versions of the program, or a run had other options or the opposite verdict in
/// one of them.
pub fn merged(journals: Vec<(PathBuf, Vec<JournalEntry>)>) -> Result<Vec<JournalEntry>, Failure> {
    let mut all: Vec<JournalEntry> = Vec::new();
    let mut first: BTreeMap<RunKey, (PathBuf, Vec<String>)> = BTreeMap::new();
    let mut verdicts: BTreeMap<RunKey, (PathBuf, String)> = BTreeMap::new();
    let mut version: Option<(PathBuf, String)> = None;
    for (path, entries) in journals {
        for entry in latest(entries) {
            let (known, known_version) =
                version.get_or_insert_with(|| (path.clone(), entry.version.clone()));
            if *known_version != entry.version {
                return Err(Failure::Usage(format!(
                    "{} has runs of version {known_version} and {} of version {}: they are not \
                     mixed; bench run --resume makes runs of another version again",
                    known.display(),
                    path.display(),
                    entry.version
                )));
            }
            let known = first.entry(entry.key.clone());
            let (known, arguments) =
                known.or_insert_with(|| (path.clone(), entry.arguments.clone()));
            if *arguments != entry.arguments {
                let RunKey { instance, configuration, .. } = &entry.key;
                return Err(Failure::Usage(format!(
                    "`{instance}` with `{configuration}` has other options in {} than in {}: these \
                     are journals of different suites",
                    known.display(),
                    path.display()
                )));
            }
            if let verdict @ ("safe" | "unsafe") = &*entry.result.verdict {
                let said = || (path.clone(), verdict.to_owned());
                let (known, other) = verdicts.entry(entry.key.clone()).or_insert_with(said);
                if other != verdict {
                    let RunKey { instance, configuration, .. } = &entry.key;
                    return Err(Failure::invalid(format!(
                        "`{instance}` with `{configuration}` is {other} in {} and {verdict} in {}: \
                         one of them is wrong, or their files differ",
                        known.display(),
                        path.display()
                    )));
                }
            }
            all.push(entry);
        }
    }
    Ok(latest(all))
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
                at: BTreeMap::from([("share".to_owned(), "20".to_owned())]),
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
                cpu_s: None,
                peak_memory_mb: None,
                probability: None,
                value: None,
                semantics: None,
                report: Value::Null,
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
    fn versions_and_suites_are_not_mixed() {
        let (a, b) = (PathBuf::from("a"), PathBuf::from("b"));
        let of = |version: &str, argument: &str| JournalEntry {
            version: version.to_owned(),
            arguments: vec![argument.to_owned()],
            ..entry("a")
        };
        let merge = |x: JournalEntry, y: JournalEntry| {
            merged(vec![(a.clone(), vec![x]), (b.clone(), vec![y])])
        };
        let again = JournalEntry { limits: (1.0, String::new()), ..of("1", "x") };
        assert_eq!(merge(of("1", "x"), again.clone()).expect("one suite"), [again]);
        for (x, y) in [(of("1", "x"), of("2", "x")), (of("1", "x"), of("1", "y"))] {
            assert!(merge(x, y).is_err());
        }
    }

    #[test]
    fn measures_are_numbers_of_the_result() {
        let mut result = entry("a").result;
        result.report = serde_json::json!({"statistics": {"ic3": {"frames": 4}}});
        result.value = Some("0.25".to_owned());
        assert_eq!(result.measure("time_s"), Some(0.5));
        assert_eq!(result.measure("statistics.ic3.frames"), Some(4.0));
        assert_eq!(result.measure("value"), Some(0.25));
        assert_eq!(result.measure("statistics.bmc.frames"), None);
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
