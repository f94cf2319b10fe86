//! `policert bench`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use policert_bench::{
    ExportFormat, JournalEntry, MeasureRequest, RunKey, StudyJournal, StudyOptions, StudyProgress,
    Suite, Workers, export, latest, measure, merged, run_suite, work_folder, write_report,
};
use policert_engine_api::{CancelFlag, StopReason};
use policert_files::name;
use policert_outcome::{ExitStatus, Failure, OutputFiles};

use super::{fail, say};
use crate::args::{
    BenchArgs, BenchCommand, BenchExportArgs, BenchMeasureArgs, BenchMergeArgs, BenchReportArgs,
    BenchRunArgs, CompetitionFormat,
};
use crate::interrupt::stop_on_interrupt;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &BenchArgs) -> ExitStatus {
    let (result, color) = match &arguments.command {
        BenchCommand::Run(arguments) => (run_study(arguments), arguments.color),
        BenchCommand::Report(arguments) => (report(arguments), arguments.color),
        BenchCommand::Export(arguments) => (export_runs(arguments), arguments.color),
        BenchCommand::Merge(arguments) => (merge(arguments), arguments.color),
        BenchCommand::Measure(arguments) => (run_measured(arguments), arguments.color),
    };
    match result {
        Ok(status) => status,
        Err(failure) => fail(&failure, Style::new(color.when, &io::stderr())),
    }
}

fn run_study(arguments: &BenchRunArgs) -> Result<ExitStatus, Failure> {
    let suite = Suite::read(&arguments.suite)?;
    let suite = if arguments.quick { suite.quick()? } else { suite };
    let cancel = CancelFlag::default();
    stop_on_interrupt(cancel.clone()).map_err(|error| Failure::Internal(error.to_string()))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::Internal(format!("the program itself: {error}")))?;
    let workers = match &arguments.ray {
        Some(address) => Workers::Ray(address.clone()),
        None => Workers::Here(usize::from(arguments.jobs)),
    };
    let is_alone = workers == Workers::Here(1);
    let options = StudyOptions {
        program,
        journal: arguments.journal.clone(),
        resume: arguments.resume,
        only: arguments.only.clone(),
        time: arguments.timeout,
        workers,
        shard: (usize::from(arguments.shard.part), usize::from(arguments.shard.of)),
    };
    let mut lines = Lines { quiet: arguments.quiet, is_alone };
    let summary = run_suite(&suite, &options, &cancel, &mut lines)?;
    if !arguments.quiet {
        say(format_args!(
            "{} of {} runs are finished, {} of them now",
            summary.known + summary.made,
            summary.runs,
            summary.made
        ))?;
    }
    if summary.interrupted {
        return Err(Failure::Stopped(StopReason::Interrupted));
    }
    Ok(ExitStatus::Safe)
}

fn report(arguments: &BenchReportArgs) -> Result<ExitStatus, Failure> {
    let suite = Suite::read(&arguments.suite)?;
    let entries = latest(StudyJournal::read(&arguments.journal)?);
    let ending = arguments.figures.ending();
    let work = work_folder(&arguments.journal);
    for path in write_report(&suite, &entries, &work, &arguments.out, ending)? {
        say(policert_files::path(&path))?;
    }
    Ok(ExitStatus::Safe)
}

fn export_runs(arguments: &BenchExportArgs) -> Result<ExitStatus, Failure> {
    let suite = Suite::read(&arguments.suite)?;
    let entries = latest(StudyJournal::read(&arguments.journal)?);
    let format = match arguments.format {
        CompetitionFormat::ArchComp => ExportFormat::ArchComp,
        CompetitionFormat::Qcomp => ExportFormat::QComp,
    };
    for path in export(&suite, &entries, format, &arguments.out)? {
        say(policert_files::path(&path))?;
    }
    Ok(ExitStatus::Safe)
}

fn merge(arguments: &BenchMergeArgs) -> Result<ExitStatus, Failure> {
    let outputs = OutputFiles::new([("--out", Some(arguments.out.as_path()))]);
    outputs.check(arguments.journals.iter().map(|path| path.as_path()))?;
    let read = |path: &PathBuf| Ok((path.clone(), StudyJournal::read(path)?));
    let journals = arguments.journals.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let entries = merged(journals)?;
    let mut journal = StudyJournal::create(&arguments.out)?;
    entries.iter().try_for_each(|entry| journal.add(entry))?;
    Ok(ExitStatus::Safe)
}

fn run_measured(arguments: &BenchMeasureArgs) -> Result<ExitStatus, Failure> {
    let outputs = OutputFiles::new([("--out", Some(arguments.out.as_path()))]);
    outputs.check([])?;
    let request = MeasureRequest {
        command: arguments.command.clone(),
        time: arguments.time,
        cpu_seconds: arguments.cpu,
        memory: arguments.memory.map(|size| size.0),
        ends_with_input: arguments.ends_with_input,
    };
    measure(&request, &arguments.out)?;
    Ok(ExitStatus::Safe)
}

/// A line for each run.
struct Lines {
    quiet: bool,
    /// True if no other run prints between the beginning and the end of one.
    is_alone: bool,
}

impl Lines {
    /// A study goes on whether or not someone looks.
    fn print(&self, text: &str) {
        if !self.quiet {
            let _ = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
        }
    }

    fn name(key: &RunKey, number: usize, count: usize) -> String {
        let words = [key.instance.clone(), key.configuration.clone(), key.point()];
        let words = words.iter().filter(|word| !word.is_empty()).map(|word| name(word).to_string());
        format!("[{number}/{count}] {}", words.collect::<Vec<_>>().join(", "))
    }
}

impl StudyProgress for Lines {
    fn prepares(&mut self, what: &str) {
        self.print(&format!("{} is made\n", name(what)));
    }

    fn leaves_out(&mut self, configuration: &str, program: &str) {
        let text = format!("{} is left out: there is no {}\n", name(configuration), name(program));
        self.print(&text);
    }

    fn begins(&mut self, key: &RunKey, number: usize, count: usize) {
        if self.is_alone {
            self.print(&format!("{}: ", Self::name(key, number, count)));
        }
    }

    fn again(&mut self, key: &RunKey, why: &str) {
        let (instance, configuration) = (name(&key.instance), name(&key.configuration));
        self.print(&format!("{instance}, {configuration} is run again: {}\n", name(why)));
    }

    fn finished(&mut self, entry: &JournalEntry, number: usize, count: usize) {
        let result = &entry.result;
        let text = format!("{}, {:.2} s\n", name(&result.verdict), result.time_s);
        match self.is_alone {
            true => self.print(&text),
            false => self.print(&format!("{}: {text}", Self::name(&entry.key, number, count))),
        }
    }
}
