//! What the commands do: turn arguments into a request, run it, print what comes back.

mod asnet;
mod bench;
mod certify;
mod check;
mod convert;
mod dataset;
mod generate;
mod interface;
mod plot;
mod query;
mod reach;
mod report;
mod shell;
mod simulate;
mod train;
mod verify;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Limits, Observer, Silent, StopReason};
use policert_outcome::{
    ExitStatus, Failure, FileRecord, Outcome, OutputFiles, unless_closed, write_json,
    write_or_remove,
};
use policert_problem::{InitialStates, PolicySource, ProblemOptions, TerminalChoice};
use policert_verify::Registry;
use serde::Serialize;

use crate::args::{Command, CommandLine, MemorySize, OutputArgs, TaskArgs};
use crate::interrupt::stop_on_interrupt;
use crate::progress::ProgressLine;
use crate::render::{self, Detail};
use crate::screen::Screen;
use crate::style::Style;

pub use generate::GenerateReport;

/// Runs a command to its end. These engines answer.
pub fn run(command_line: CommandLine, engines: Registry) -> ExitStatus {
    match command_line.command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments, engines),
        Command::Check(arguments) => check::run(&arguments),
        Command::Interface(arguments) => interface::run(&arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Reach(arguments) => reach::run(&arguments),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Asnet(arguments) => asnet::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Dataset(arguments) => dataset::run(&arguments),
        Command::Certify(arguments) => certify::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments, &engines),
        Command::Man(arguments) => shell::man(&arguments, &engines),
    }
}

/// The question, without what only `verify` has.
fn task_options(arguments: &TaskArgs) -> ProblemOptions {
    let constants = arguments.constants.iter().flat_map(|constants| constants.0.clone());
    ProblemOptions {
        pddl_problem: arguments.pddl_problem.clone(),
        property: arguments.property.clone(),
        unsafe_states: arguments.unsafe_states.clone(),
        start_states: arguments.start.clone(),
        constants: constants.collect(),
        scores: arguments.scores.clone(),
        probabilities: arguments.probabilities,
        policy: if arguments.no_policy {
            PolicySource::None
        } else {
            PolicySource::Given {
                interface: arguments.interface.clone(),
                network: arguments.policy.clone(),
            }
        },
        ..ProblemOptions::new(&arguments.model)
    }
}

/// The limits of time and memory that were given.
fn limits(time: Option<Duration>, memory: Option<MemorySize>) -> Limits {
    Limits { time, memory: memory.map(|size| size.0), states: None }
}

/// The rule for the initial states of the model.
fn initial_states(no_initial: bool) -> InitialStates {
    if no_initial { InitialStates::LeftOut } else { InitialStates::Included }
}

/// The value of `--terminal`.
fn terminal(text: Option<&str>) -> TerminalChoice {
    text.map(TerminalChoice::from).unwrap_or_default()
}

/// An outcome as a result file holds it: with the arguments that led to it.
#[derive(Serialize)]
struct Recorded<'a, T> {
    #[serde(flatten)]
    outcome: &'a Outcome<T>,
    arguments: &'a [String],
}

/// The options for showing the outcome of a command.
struct Showing<'a> {
    output: &'a OutputArgs,
    /// The files that are written; none of them may be an input.
    outputs: &'a OutputFiles,
    /// True if other data goes to standard output.
    is_taken: bool,
    /// True if the report says something also where there is a failure.
    with_failure: bool,
}

impl<'a> Showing<'a> {
    fn new(output: &'a OutputArgs, outputs: &'a OutputFiles) -> Self {
        Self { output, outputs, is_taken: false, with_failure: false }
    }

    /// Writes a file besides the result, or removes it where there is nothing to write, for a reason.
    fn write_or_remove<T: Serialize>(
        &mut self,
        path: &Path,
        content: Option<&T>,
        reason: &str,
    ) -> (FileRecord, Result<(), Failure>) {
        let (record, written) = write_or_remove(path, content, reason);
        self.is_taken |= record.written && is_standard_output(Some(path));
        (record, written)
    }

    /// Shows an outcome: as data where the user wants it, and printed, unless there is a failure
    /// to print. Returns the status that the run ends with: that of the outcome, unless something
    /// could not be written.
    fn show<T: Serialize>(
        &self,
        outcome: &Outcome<T>,
        error_style: Style,
        render: impl FnOnce(&mut dyn Write, &Outcome<T>, Detail, Style) -> io::Result<()>,
    ) -> ExitStatus {
        if let Some(refused) = self.refused(outcome) {
            return fail(&refused, error_style);
        }
        let json = self.output.json.as_deref();
        let recorded = Recorded { outcome, arguments: &self.output.arguments };
        let written = write_data(json, &recorded);
        if let Some(failure) = &outcome.failure {
            fail(failure, error_style);
        }
        let mut printed = Ok(());
        if outcome.failure.is_none() || self.with_failure {
            let taken = self.is_taken || is_standard_output(json);
            let style =
                if taken { error_style } else { Style::new(self.output.color.when, &io::stdout()) };
            let detail = detail(self.output);
            printed =
                print(taken, |out| render(out, outcome, detail, style)).map_err(output_failed);
        }
        let unwritten = [&printed.err(), &written.err()];
        let unwritten = outcome.unwritten.iter().chain(unwritten.into_iter().flatten());
        unwritten.fold(outcome.status, |_, failure| fail(failure, error_style))
    }

    /// The reason why nothing may be written: an input would be overwritten, whoever names it.
    fn refused<T>(&self, outcome: &Outcome<T>) -> Option<Failure> {
        let remarks = &outcome.remarks;
        let inputs = remarks.inputs.iter().map(|input| &input.path).chain(&remarks.files);
        let known = self.outputs.check_inputs(inputs.map(PathBuf::as_path));
        let refused = known.and_then(|()| self.outputs.check_findings(&outcome.errors)).err();
        refused.or(match &outcome.failure {
            Some(Failure::Refused(what)) => Some(Failure::Refused(what.clone())),
            _ => None,
        })
    }
}

/// True if work was abandoned at a limit, so that it is not known which files are inputs.
static IS_ABANDONED: AtomicBool = AtomicBool::new(false);

/// Does `work` within limits of time and memory, and until it is interrupted; then shows what came
/// out. Work that does not end at a limit is abandoned: asked again, with the flag raised, it says
/// at once that it was stopped.
fn run_within<T>(
    output: &OutputArgs,
    limits: &Limits,
    work: impl Fn(&CancelFlag, &mut dyn Observer) -> T + Sync,
    show: impl Fn(T, Style) -> ExitStatus + Sync,
) -> ExitStatus {
    let error_style = Style::new(output.color.when, &io::stderr());
    let progress = ProgressLine::new(detail(output) != Detail::Quiet);
    run_showing(progress, error_style, limits, work, show)
}

/// The same with this line of progress, and this style of what goes to standard error.
fn run_showing<T>(
    mut progress: ProgressLine,
    error_style: Style,
    limits: &Limits,
    work: impl Fn(&CancelFlag, &mut dyn Observer) -> T + Sync,
    show: impl Fn(T, Style) -> ExitStatus + Sync,
) -> ExitStatus {
    let begin = Instant::now();
    let cancel = CancelFlag::default();
    // Where no thread can be started, memory is what is missing.
    let failed = || fail(&Failure::Stopped(StopReason::Memory), error_style);
    if stop_on_interrupt(cancel.clone()).is_err() {
        return failed();
    }
    let abandon = || {
        IS_ABANDONED.store(true, Ordering::Relaxed);
        show(work(&cancel, &mut Silent), error_style)
    };
    let result =
        crate::limits::within(limits, begin, &cancel, || work(&cancel, &mut progress), abandon);
    progress.finish();
    match result {
        Ok(result) => show(result, error_style),
        Err(_) => failed(),
    }
}

fn detail(arguments: &OutputArgs) -> Detail {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Detail::Quiet,
        (false, true) => Detail::Full,
        (false, false) => Detail::Usual,
    }
}

/// Prints to standard output, unless that is taken by data.
fn print(taken: bool, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    unless_closed(if taken {
        print(&mut Screen::new(io::stderr().lock()))
    } else {
        let mut out = Screen::new(io::stdout().lock());
        print(&mut out).and_then(|()| out.flush())
    })
}

/// Prints a line to standard output.
fn say(line: impl std::fmt::Display) -> Result<(), Failure> {
    print(false, |out| writeln!(out, "{line}")).map_err(output_failed)
}

fn is_standard_output(path: Option<&Path>) -> bool {
    path == Some(Path::new("-"))
}

/// Writes data to where the user wants it.
fn write_data(path: Option<&Path>, data: &impl Serialize) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    if IS_ABANDONED.load(Ordering::Relaxed) && !is_result(path) {
        let what = "not written: the run ended before it was known whether this is an input";
        let _ = writeln!(Screen::new(io::stderr()), "warning: {}: {what}", path.display());
        return Ok(());
    }
    write_json(&path.into(), data)
        .map_err(|source| Failure::Output { what: path.display().to_string(), source })
}

/// Returns whether there is no such file, or an earlier result of this program, which is no input.
fn is_result(path: &Path) -> bool {
    let mut start = [0; 256];
    let read = |mut file: std::fs::File| io::Read::read(&mut file, &mut start);
    match policert_files::open(path).and_then(read) {
        Ok(length) => {
            length == 0 || String::from_utf8_lossy(&start[..length]).contains("\"schema_version\"")
        }
        Err(_) => true,
    }
}

/// The files that the question names.
fn named_inputs(arguments: &TaskArgs) -> Vec<&Path> {
    let mut inputs = vec![arguments.model.as_path()];
    inputs.extend(arguments.pddl_problem.as_deref());
    inputs.extend(arguments.start.as_deref().map(Path::new));
    inputs.extend(arguments.policy.as_deref());
    inputs.extend(arguments.interface.as_deref());
    // What is something else is no file.
    inputs.extend(property_files(arguments.property.as_deref()));
    inputs
}

/// The files that the name of a property may mean.
fn property_files(property: Option<&str>) -> impl Iterator<Item = &Path> {
    let with_position = property.and_then(|text| text.rsplit_once(':'));
    property.into_iter().chain(with_position.map(|(file, _)| file)).map(Path::new)
}

/// Prints a failure to standard error; its exit status.
fn fail(failure: &Failure, style: Style) -> ExitStatus {
    // Nothing can be done if standard error is gone.
    let _ = render::failure(&mut Screen::new(io::stderr().lock()), failure, style);
    failure.status()
}

/// The failure of standard output.
fn output_failed(source: io::Error) -> Failure {
    Failure::Output { what: "standard output".to_owned(), source }
}
