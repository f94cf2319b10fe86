//! `policert convert`.

use std::io;

use policert_lab::{ConvertRequest, convert};
use policert_outcome::{ExitStatus, OutputFiles};
use policert_problem::ProblemOptions;

use super::{
    Showing, fail, initial_states, limits, named_inputs, run_within, task_options, terminal,
};
use crate::args::ConvertArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &ConvertArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    let request = request(arguments);
    let properties = request.properties();
    let outputs = OutputFiles::new([
        ("--output", Some(arguments.file.as_path())),
        ("the file of properties", properties.as_deref()),
        ("--json", output.json.as_deref()),
    ]);
    if let Err(failure) = outputs.check(named_inputs(&arguments.task)) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| convert(&request, cancel, observer),
        |outcome, style| {
            Showing::new(output, &outputs).show(&outcome, style, render::convert_report)
        },
    )
}

fn request(arguments: &ConvertArgs) -> ConvertRequest {
    ConvertRequest {
        problem: ProblemOptions {
            filter: arguments.filter,
            ties: arguments.ties,
            domain: arguments.domain,
            terminal: terminal(arguments.terminal.as_deref()),
            initial_states: initial_states(arguments.no_initial),
            ..task_options(&arguments.task)
        },
        format: arguments.format,
        policy: arguments.policy_as_automaton,
        limits: limits(arguments.timeout, arguments.memory),
        output: arguments.file.clone(),
    }
}
