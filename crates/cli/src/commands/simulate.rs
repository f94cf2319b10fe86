//! `policert simulate`.

use std::io;

use policert_generate::{Picture, Track};
use policert_verify::{
    CancelFlag, Ending, ExitStatus, Failure, Filter, InitialStates, Limits, OutputFiles, Problem,
    SimulateOutcome, SimulateRequest, SimulatedRun, TaskOptions, TerminalChoice, Ties, TraceChoice,
    simulate,
};

use super::{
    detail, end, fail, is_standard_output, named_inputs, output_failed, print, task_options,
    write_data,
};
use crate::args::{FilterArg, SimulateArgs, TiesArg, TraceArg};
use crate::interrupt::stop_on_interrupt;
use crate::progress::Progress;
use crate::render::{self, Detail};
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &SimulateArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    let inputs = named_inputs(&arguments.task).into_iter().chain(arguments.track.as_deref());
    if let Err(failure) = outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    let track = match track(arguments) {
        Ok(track) => track,
        Err(failure) => return fail(&failure, error_style),
    };
    let cancel = CancelFlag::default();
    if let Err(error) = stop_on_interrupt(cancel.clone()) {
        return fail(&Failure::Internal(error.to_string()), error_style);
    }
    let mut progress = Progress::new(detail(output) != Detail::Quiet);
    let outcome = simulate(&request(arguments), &cancel, &mut progress);
    progress.finish();
    let picture = match outcome.run.as_ref().filter(|_| arguments.render) {
        Some(run) => match picture(run, track) {
            Ok(picture) => Some(picture),
            Err(failure) => return fail(&failure, error_style),
        },
        None => None,
    };
    let shown = show(arguments, &outcome, picture.as_ref(), error_style);
    end(outcome.status, None, shown, error_style)
}

fn show(
    arguments: &SimulateArgs,
    outcome: &SimulateOutcome,
    picture: Option<&Picture>,
    error_style: Style,
) -> Result<(), Failure> {
    let output = &arguments.output;
    let written = write_data(output.json.as_deref(), &outcome.report);
    if let Some(failure) = &outcome.failure {
        fail(failure, error_style);
        return written;
    }
    let taken = is_standard_output(output.json.as_deref());
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| {
        render::simulate_report(out, &outcome.report, detail(output), style)?;
        match &outcome.run {
            Some(run) => render::simulated_run(out, run, picture, style),
            None if is_traced(arguments) => writeln!(out, "\nno run ends so"),
            None => Ok(()),
        }
    })
    .map_err(output_failed)
    .and(written)
}

fn is_traced(arguments: &SimulateArgs) -> bool {
    arguments.render || arguments.trace.is_some()
}

/// The map that is named.
fn track(arguments: &SimulateArgs) -> Result<Option<Track>, Failure> {
    let Some(path) = &arguments.track else { return Ok(None) };
    let problem = |what: String| {
        Failure::Problems(vec![Problem::invalid(format!("{}: {what}", path.display()))])
    };
    let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    let track = Track::read(&path.display().to_string(), &text);
    track.map(Some).map_err(|error| problem(error.to_string()))
}

/// How the states of a run are drawn.
fn picture(run: &SimulatedRun, track: Option<Track>) -> Result<Picture, Failure> {
    let variables: Vec<(&str, i64, i64)> =
        run.variables.iter().map(|v| (v.name.as_str(), v.lower, v.upper)).collect();
    Picture::new(&run.model, &variables, track).ok_or_else(|| {
        let message = "--render: the variables of the model are of no domain that is drawn: \
                       blocksworld, npuzzle, transport or racetrack";
        Failure::Usage(message.to_owned())
    })
}

fn request(arguments: &SimulateArgs) -> SimulateRequest {
    let which = arguments.trace.or(arguments.render.then_some(TraceArg::First));
    SimulateRequest {
        task: TaskOptions {
            filter: arguments.filter.map(|filter| match filter {
                FilterArg::None => Filter::None,
                FilterArg::Applicable => Filter::Applicable,
            }),
            ties: match arguments.ties {
                TiesArg::First => Ties::First,
                TiesArg::Any => Ties::Any,
                TiesArg::Strict => Ties::Strict,
            },
            terminal: match arguments.terminal.as_deref() {
                None => TerminalChoice::Nothing,
                Some("goal") => TerminalChoice::Goal,
                Some(condition) => TerminalChoice::Condition(condition.to_owned()),
            },
            initial_states: if arguments.no_initial {
                InitialStates::LeftOut
            } else {
                InitialStates::Included
            },
            ..task_options(&arguments.task)
        },
        runs: arguments.runs,
        steps: arguments.steps,
        past_goal: arguments.past_goal,
        seed: arguments.seed,
        trace: which.map(|which| match which {
            TraceArg::First => TraceChoice::First,
            TraceArg::Unsafe => TraceChoice::Ending(Ending::Unsafe),
            TraceArg::Goal => TraceChoice::Ending(Ending::Goal),
            TraceArg::Terminal => TraceChoice::Ending(Ending::Terminal),
            TraceArg::Stuck => TraceChoice::Ending(Ending::Stuck),
            TraceArg::Dropped => TraceChoice::Ending(Ending::Dropped),
            TraceArg::CutOff => TraceChoice::Ending(Ending::CutOff),
        }),
        limits: Limits { time: arguments.timeout, memory: None, states: None },
    }
}
