//! `policert simulate`.

use std::io;

use policert_generate::{GenerateError, StatePicture, Track};
use policert_lab::{RunEnding, SimulateRequest, SimulatedModel, TraceChoice, simulate};
use policert_outcome::{ExitStatus, Failure, OutputFiles};
use policert_problem::ProblemOptions;

use super::generate::read_track;
use super::{
    Showing, fail, initial_states, limits, named_inputs, run_within, task_options, terminal,
};
use crate::args::{SimulateArgs, TraceArg};
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &SimulateArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    let outputs = OutputFiles::new([("--json", output.json.as_deref())]);
    let inputs = named_inputs(&arguments.task).into_iter().chain(arguments.track.as_deref());
    if let Err(failure) = outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    let track = match arguments.track.as_deref().map(read_track).transpose() {
        Ok(track) => track,
        Err(failure) => return fail(&failure, error_style),
    };
    let request = request(arguments);
    run_within(
        output,
        &request.limits,
        |cancel, observer| simulate(&request, cancel, observer),
        |outcome, style| {
            // Whether a run is told or not: the option is noticed in any case.
            let model = outcome.report.shape.as_ref();
            let drawn = model.filter(|_| arguments.render);
            let picture = match drawn.map(|model| picture(model, track.clone())).transpose() {
                Ok(picture) => picture,
                Err(failure) => return fail(&failure, style),
            };
            Showing::new(output, &outputs).show(&outcome, style, |out, outcome, detail, style| {
                render::simulate_report(out, outcome, detail, style)?;
                match (&outcome.report.told, model) {
                    (Some(run), Some(model)) => {
                        render::simulated_run(out, (model, run), picture.as_ref(), style)
                    }
                    _ if is_traced(arguments) => writeln!(out, "\nno run ends so"),
                    _ => Ok(()),
                }
            })
        },
    )
}

fn is_traced(arguments: &SimulateArgs) -> bool {
    arguments.render || arguments.trace.is_some()
}

/// Prepares the drawing of the states of runs.
fn picture(model: &SimulatedModel, track: Option<Track>) -> Result<StatePicture, Failure> {
    let variables: Vec<(&str, i64, i64)> =
        model.variables.iter().map(|v| (v.name.as_str(), v.lower, v.upper)).collect();
    StatePicture::new(&model.name, &variables, track).map_err(|error| {
        let is_idle = matches!(error, GenerateError::NoRacetrack(_));
        let option = if is_idle { "--track has no effect" } else { "--render" };
        Failure::Usage(format!("{option}: {error}"))
    })
}

fn request(arguments: &SimulateArgs) -> SimulateRequest {
    let which = arguments.trace.or(arguments.render.then_some(TraceArg::First));
    SimulateRequest {
        problem: ProblemOptions {
            filter: arguments.filter,
            ties: arguments.ties,
            choice: arguments.choice,
            numbers: arguments.numbers,
            terminal: terminal(arguments.terminal.as_deref()),
            initial_states: initial_states(arguments.no_initial),
            ..task_options(&arguments.task)
        },
        runs: arguments.runs,
        steps: arguments.steps,
        past_goal: arguments.past_goal,
        seed: arguments.seed,
        trace: which.map(|which| match which {
            TraceArg::First => TraceChoice::First,
            TraceArg::Unsafe => TraceChoice::Ending(RunEnding::Unsafe),
            TraceArg::Goal => TraceChoice::Ending(RunEnding::Goal),
            TraceArg::Terminal => TraceChoice::Ending(RunEnding::Terminal),
            TraceArg::Stuck => TraceChoice::Ending(RunEnding::Stuck),
            TraceArg::Dropped => TraceChoice::Ending(RunEnding::Dropped),
            TraceArg::CutOff => TraceChoice::Ending(RunEnding::CutOff),
        }),
        limits: limits(arguments.timeout, arguments.memory),
    }
}

#[cfg(test)]
mod tests {
    use policert_verify::Registry;

    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        let words = ["policert", "simulate", "m.jani"];
        let read = CommandLine::read(words.map(Into::into), &Registry::standard())
            .expect("a command line");
        let Command::Simulate(arguments) = read.command else { panic!("simulate") };
        let default = SimulateRequest::new(ProblemOptions::new("m.jani".as_ref()));
        assert_eq!(format!("{:?}", request(&arguments)), format!("{default:?}"));
    }
}
