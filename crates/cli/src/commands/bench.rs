//! `policert bench`.

use std::io::{self, Write as _};

use policert_bench::{
    JournalEntry, RunKey, StudyJournal, StudyOptions, StudyProgress, Suite, latest, run_suite,
    write_report,
};
use policert_engine_api::{CancelFlag, StopReason};
use policert_files::name;
use policert_outcome::{ExitStatus, Failure};

use super::{fail, output_failed};
use crate::args::{BenchArgs, BenchCommand, BenchReportArgs, BenchRunArgs};
use crate::interrupt::stop_on_interrupt;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &BenchArgs) -> ExitStatus {
    let (result, color) = match &arguments.command {
        BenchCommand::Run(arguments) => (run_study(arguments), arguments.color),
        BenchCommand::Report(arguments) => (report(arguments), arguments.color),
    };
    match result {
        Ok(status) => status,
        Err(failure) => fail(&failure, Style::new(color.when, &io::stderr())),
    }
}

fn run_study(arguments: &BenchRunArgs) -> Result<ExitStatus, Failure> {
    let suite = Suite::read(&arguments.suite)?;
    let cancel = CancelFlag::default();
    stop_on_interrupt(cancel.clone()).map_err(|error| Failure::Internal(error.to_string()))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::Internal(format!("the program itself: {error}")))?;
    let options = StudyOptions {
        program,
        journal: arguments.journal.clone(),
        resume: arguments.resume,
        only: arguments.only.clone(),
        time: arguments.timeout,
    };
    let mut lines = Lines { quiet: arguments.quiet };
    let summary = run_suite(&suite, &options, &cancel, &mut lines)?;
    if !arguments.quiet {
        let text = format!(
            "{} of {} runs are finished, {} of them now\n",
            summary.known + summary.made,
            summary.runs,
            summary.made
        );
        io::stdout().write_all(text.as_bytes()).map_err(output_failed)?;
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
    let mut out = io::stdout().lock();
    for path in write_report(&suite, &entries, &arguments.out, ending)? {
        writeln!(out, "{}", policert_files::path(&path)).map_err(output_failed)?;
    }
    Ok(ExitStatus::Safe)
}

/// A line for each run.
struct Lines {
    quiet: bool,
}

impl StudyProgress for Lines {
    fn begins(&mut self, key: &RunKey, number: usize, count: usize) {
        if self.quiet {
            return;
        }
        let share = key.share.map_or(String::new(), |share| format!(", {share} %"));
        let (instance, configuration) = (name(&key.instance), name(&key.configuration));
        let text = format!("[{number}/{count}] {instance}, {configuration}{share}: ");
        // A study goes on whether or not someone looks.
        let _ = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    }

    fn again(&mut self, key: &RunKey, why: &str) {
        if self.quiet {
            return;
        }
        let (instance, configuration) = (name(&key.instance), name(&key.configuration));
        let text = format!("{instance}, {configuration} is run again: {}\n", name(why));
        let _ = io::stdout().write_all(text.as_bytes());
    }

    fn finished(&mut self, entry: &JournalEntry) {
        if self.quiet {
            return;
        }
        let result = &entry.result;
        let text = format!("{}, {:.2} s\n", name(&result.verdict), result.time_s);
        let _ = io::stdout().write_all(text.as_bytes());
    }
}
