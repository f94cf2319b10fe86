//! `policert train`.

mod learn;

use std::io;

use policert_verify::{
    ExitStatus, Failure, HiddenActivation, ObservationChoice, OutputFiles, TrainOutcome,
    TrainRequest, train_network,
};

use super::{detail, end, fail, limits, run_within, show_report};
use crate::args::{ActivationArg, TrainArgs};
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &TrainArgs) -> ExitStatus {
    if learn::is_model(&arguments.task) { learn::run(arguments) } else { run_task(arguments) }
}

fn run_task(arguments: &TrainArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    if let Some(option) = arguments.given_for_models.first() {
        let message = format!("{option} is for models, not for control loops");
        return fail(&Failure::Usage(message), error_style);
    }
    if arguments.out.is_none() {
        return fail(&Failure::Usage("--out FILE is missing".to_owned()), error_style);
    }
    let outputs =
        OutputFiles::new([("--out", arguments.out.as_deref()), ("--json", output.json.as_deref())]);
    if let Err(failure) = outputs.check([arguments.task.as_path()]) {
        return fail(&failure, error_style);
    }
    let request = request(arguments);
    run_within(
        output,
        &request.limits,
        |cancel, observer| train_network(&request, cancel, observer),
        |outcome, error_style| {
            let shown = show(arguments, outcome, error_style);
            end(outcome.status, outcome.unwritten.as_ref(), shown, error_style)
        },
    )
}

fn show(arguments: &TrainArgs, outcome: &TrainOutcome, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    let (report, failure) = (&outcome.report, outcome.failure.as_ref());
    show_report(output, report, failure, error_style, |out, style| {
        render::train_report(out, report, detail(output), style)
    })
}

fn request(arguments: &TrainArgs) -> TrainRequest {
    let observation = if arguments.plain {
        ObservationChoice::State
    } else if arguments.cells.is_empty() {
        ObservationChoice::CellOfTask
    } else {
        ObservationChoice::CellOfWidth(arguments.cells.clone())
    };
    TrainRequest {
        task: arguments.task.clone(),
        instance: arguments.instance.clone(),
        observation,
        seed: arguments.seed,
        hidden: if arguments.hidden.is_empty() { vec![20, 20] } else { arguments.hidden.clone() },
        activation: match arguments.activation {
            Some(ActivationArg::Relu) => HiddenActivation::Relu,
            Some(ActivationArg::Tanh) | None => HiddenActivation::Tanh,
        },
        limits: limits(arguments.timeout, arguments.memory),
        out: arguments.out.clone().unwrap_or_default(),
    }
}
