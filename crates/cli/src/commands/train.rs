//! `policert train`.

mod learn;

use std::io;

use policert_lab::{ObservationChoice, TrainRequest, train_network};
use policert_outcome::{ExitStatus, Failure, OutputFiles};

use super::{Showing, fail, limits, run_within};
use crate::args::TrainArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &TrainArgs) -> ExitStatus {
    if learn::is_model(&arguments.task) { learn::run(arguments) } else { run_task(arguments) }
}

fn run_task(arguments: &TrainArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
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
        |outcome, style| Showing::new(output, &outputs).show(&outcome, style, render::train_report),
    )
}

fn request(arguments: &TrainArgs) -> TrainRequest {
    let observation = if arguments.plain {
        ObservationChoice::State
    } else if arguments.cells.is_empty() {
        ObservationChoice::CellOfTask
    } else {
        ObservationChoice::CellOfWidth(arguments.cells.clone())
    };
    let mut request =
        TrainRequest::new(arguments.task.clone(), arguments.out.clone().unwrap_or_default());
    if !arguments.hidden.is_empty() {
        request.hidden.clone_from(&arguments.hidden);
    }
    request.activation = arguments.activation.unwrap_or(request.activation);
    TrainRequest {
        instance: arguments.instance.clone(),
        observation,
        seed: arguments.seed,
        limits: limits(arguments.timeout, arguments.memory),
        ..request
    }
}

#[cfg(test)]
mod tests {
    use policert_verify::Registry;

    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        let words = ["policert", "train", "t.toml", "--out", "n.onnx"];
        let read = CommandLine::read(words.map(Into::into), &Registry::standard())
            .expect("a command line");
        let Command::Train(arguments) = read.command else { panic!("train") };
        let default = TrainRequest::new("t.toml".into(), "n.onnx".into());
        assert_eq!(format!("{:?}", request(&arguments)), format!("{default:?}"));
    }
}
