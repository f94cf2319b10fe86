//! `policert dataset`.

use std::io;

use policert_lab::{DatasetRequest, dataset};
use policert_outcome::{ExitStatus, OutputFiles};
use policert_problem::ProblemOptions;

use super::{Showing, fail, initial_states, limits, named_inputs, run_within, task_options};
use crate::args::DatasetArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &DatasetArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    let outputs = OutputFiles::new([
        ("--output", Some(arguments.table.as_path())),
        ("--json", output.json.as_deref()),
    ]);
    let inputs = named_inputs(&arguments.task).into_iter().chain(arguments.states.as_deref());
    if let Err(failure) = outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    let request = request(arguments);
    run_within(
        output,
        &request.limits,
        |cancel, observer| dataset(&request, cancel, observer),
        |outcome, style| {
            Showing::new(output, &outputs).show(&outcome, style, render::dataset_report)
        },
    )
}

fn request(arguments: &DatasetArgs) -> DatasetRequest {
    DatasetRequest {
        problem: ProblemOptions {
            filter: arguments.filter,
            initial_states: initial_states(arguments.no_initial),
            ..task_options(&arguments.task)
        },
        rollouts: arguments.rollouts,
        horizon: arguments.horizon,
        states: arguments.states.clone(),
        seed: arguments.seed,
        limits: limits(arguments.timeout, arguments.memory),
        output: arguments.table.clone(),
    }
}

#[cfg(test)]
mod tests {
    use policert_verify::Registry;

    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        let words = ["policert", "dataset", "m.jani", "--output", "t.csv"];
        let read = CommandLine::read(words.map(Into::into), &Registry::standard())
            .expect("a command line");
        let Command::Dataset(arguments) = read.command else { panic!("dataset") };
        let default = DatasetRequest::new(ProblemOptions::new("m.jani".as_ref()), "t.csv".into());
        assert_eq!(format!("{:?}", request(&arguments)), format!("{default:?}"));
    }
}
