//! Running a suite: one process for each run.

mod answer;
mod cluster;
mod film;
mod prepare;
mod process;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use policert_engine_api::CancelFlag;
use policert_outcome::{Failure, FileDigest, VERSION};

use crate::freshness::{changed, named_files};
use crate::journal::{JournalEntry, RunKey, RunResult, StudyJournal, latest};
use crate::suite::Suite;

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
    /// Where runs are made.
    pub workers: Workers,
    /// Which of how many parts of the study is run, the first one is 1.
    pub shard: (usize, usize),
}

/// Says where the runs of a study are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Workers {
    /// On this machine, so many at the same time.
    Here(usize),
    /// On the cluster of Ray with this address, as many at the same time as it has processors for.
    Ray(String),
}

/// Receives what a study does on the way.
pub trait StudyProgress: Send {
    /// A file or folder is made that runs need.
    fn prepares(&mut self, what: &str);
    /// The runs of a configuration are left out, since its program is not found.
    fn leaves_out(&mut self, configuration: &str, program: &str);
    /// A run begins: the `number`th of `count`.
    fn begins(&mut self, key: &RunKey, number: usize, count: usize);
    /// A run that the journal has is made again, for a reason.
    fn again(&mut self, key: &RunKey, why: &str);
    /// A run is finished.
    fn finished(&mut self, entry: &JournalEntry, number: usize, count: usize);
}

/// The result of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StudySummary {
    /// Runs of the suite, or of its part.
    pub runs: usize,
    /// Those that the journal had.
    pub known: usize,
    /// Those that were made.
    pub made: usize,
    /// True if it was interrupted.
    pub interrupted: bool,
}

/// The folder of generated files that belongs to a journal.
#[must_use]
pub fn work_folder(journal: &Path) -> PathBuf {
    journal.with_extension("files")
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
    let mut runs = chosen_runs(suite, options)?;
    for configuration in suite.configurations.iter().filter(|c| c.optional) {
        let Some(program) = configuration.program.as_deref() else { continue };
        let is_of = |key: &RunKey| key.configuration == configuration.name;
        if !is_found(program) && runs.iter().any(is_of) {
            progress.leaves_out(&configuration.name, program);
            runs.retain(|key| !is_of(key));
        }
    }
    let (journal, known) = if options.resume {
        StudyJournal::resume(&options.journal)?
    } else {
        (StudyJournal::create(&options.journal)?, Vec::new())
    };
    let known = latest(known);
    suite.check_entries(&known)?;
    let limits =
        (options.time.map_or(suite.seconds, |time| time.as_secs_f64()), suite.memory.clone());
    let mut summary = StudySummary { runs: runs.len(), ..StudySummary::default() };
    let work = work_folder(&options.journal);
    prepare::prepare(suite, &runs, options, &work, cancel, progress)?;
    let mut missing = Vec::new();
    for (number, key) in runs.iter().enumerate() {
        if let Some(entry) = known.iter().find(|entry| entry.key == *key) {
            match changed(suite, entry, &work, Some(&limits)) {
                None => {
                    summary.known += 1;
                    continue;
                }
                Some(why) => progress.again(key, &why),
            }
        }
        missing.push((number + 1, key));
    }
    let study = Study { suite, options, work: &work, limits: &limits, count: runs.len() };
    let shared = Shared { journal, progress, failure: None };
    summary.made = match &options.workers {
        Workers::Here(jobs) => study.make(&missing, *jobs, cancel, shared)?,
        // Ray need not be there for nothing.
        Workers::Ray(_) if missing.is_empty() => 0,
        Workers::Ray(address) => cluster::make(&study, address, &missing, cancel, shared)?,
    };
    summary.interrupted = cancel.is_raised();
    Ok(summary)
}

/// The runs that the options choose.
fn chosen_runs(suite: &Suite, options: &StudyOptions) -> Result<Vec<RunKey>, Failure> {
    let chosen = |key: &RunKey| {
        let only = options.only.as_deref().unwrap_or_default();
        [&key.instance, &key.configuration, &key.point()].iter().any(|name| name.contains(only))
    };
    let runs: Vec<RunKey> = suite.runs().into_iter().filter(chosen).collect();
    if let (Some(only), true) = (&options.only, runs.is_empty()) {
        return Err(Failure::Usage(format!(
            "--only {only}: no instance, no configuration and no value of an axis has this in its name; there are {}",
            suite.names().join(", ")
        )));
    }
    let (shard, shards) = options.shard;
    let of_shard = |(at, key): (usize, RunKey)| (at % shards.max(1) + 1 == shard).then_some(key);
    Ok(runs.into_iter().enumerate().filter_map(of_shard).collect())
}

/// Returns whether a program can be started: a path, or a name in one of the folders of `PATH`.
fn is_found(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let has = |folder: PathBuf| folder.join(program).is_file();
    Path::new(program).is_file()
        || (!program.contains('/') && std::env::split_paths(&folders).any(has))
}

/// What every run needs.
struct Study<'a> {
    suite: &'a Suite,
    options: &'a StudyOptions,
    work: &'a Path,
    limits: &'a (f64, String),
    count: usize,
}

/// What runs take turns with.
struct Shared<'a> {
    journal: StudyJournal,
    progress: &'a mut dyn StudyProgress,
    failure: Option<Failure>,
}

impl Shared<'_> {
    /// Keeps a finished run.
    fn keep(&mut self, entry: &JournalEntry, number: usize, count: usize) -> Result<(), Failure> {
        self.journal.add(entry)?;
        self.progress.finished(entry, number, count);
        Ok(())
    }
}

impl Study<'_> {
    /// Makes runs on this machine, so many at the same time; the number of those that are finished.
    fn make(
        &self,
        runs: &[(usize, &RunKey)],
        jobs: usize,
        cancel: &CancelFlag,
        shared: Shared<'_>,
    ) -> Result<usize, Failure> {
        let (next, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Mutex::new(shared);
        let poisoned = |()| Failure::Internal("a run's thread ended without result".to_owned());
        let work = || -> Result<(), Failure> {
            while let Some((number, key)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if cancel.is_raised() || shared.lock().map_err(|_| poisoned(()))?.failure.is_some()
                {
                    return Ok(());
                }
                shared.lock().map_err(|_| poisoned(()))?.progress.begins(key, *number, self.count);
                let Some(entry) = self.run(key, cancel)? else { return Ok(()) };
                let mut shared = shared.lock().map_err(|_| poisoned(()))?;
                shared.keep(&entry, *number, self.count)?;
                made.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1).min(runs.len()) {
                scope.spawn(|| {
                    if let (Err(failure), Ok(mut shared)) = (work(), shared.lock()) {
                        shared.failure.get_or_insert(failure);
                    }
                });
            }
        });
        match shared.into_inner().map_err(|_| poisoned(()))?.failure {
            Some(failure) => Err(failure),
            None => Ok(made.into_inner()),
        }
    }

    /// One run; `None` if it was interrupted.
    fn run(&self, key: &RunKey, cancel: &CancelFlag) -> Result<Option<JournalEntry>, Failure> {
        let files = named_files(self.suite, key, self.work);
        let answer = process::run(self, key, cancel)?;
        Ok(answer.map(|answer| self.entry(key, files, answer)))
    }

    /// The entry of a run: what it answered, the files that its arguments name, and those that it read.
    fn entry(
        &self,
        key: &RunKey,
        mut files: Vec<FileDigest>,
        (result, read): (RunResult, Vec<FileDigest>),
    ) -> JournalEntry {
        // What the run read counts as it was then.
        for file in read {
            files.retain(|named| named.path != file.path);
            files.push(file);
        }
        JournalEntry {
            key: key.clone(),
            arguments: self.suite.arguments(key),
            limits: self.limits.clone(),
            version: VERSION.to_owned(),
            files,
            result,
        }
    }
}
