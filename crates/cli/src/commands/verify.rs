//! `policert verify`.

use std::io;
use std::path::Path;

use policert_engine_api::Limits;
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles};
use policert_problem::{Predicates, ProblemOptions, QuestionAim, StateSpace};
use policert_verify::{Registry, Report, Request, verify};

use super::{
    Showing, fail, initial_states, is_standard_output, named_inputs, run_within, task_options,
    terminal,
};
use crate::args::VerifyArgs;
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &VerifyArgs, engines: Registry) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color.when, &io::stderr());
    if let Some(message) = contradiction(arguments) {
        return fail(&Failure::Usage(message.to_owned()), error_style);
    }
    let request = request(arguments, engines);
    let inputs = named_inputs(&arguments.task).into_iter().chain([Path::new(&arguments.preset)]);
    if let Err(failure) = request.outputs.check(inputs) {
        return fail(&failure, error_style);
    }
    run_within(
        output,
        &request.limits,
        |cancel, observer| verify(&request, cancel, observer),
        |mut outcome, style| show(arguments, &request.outputs, &mut outcome, style),
    )
}

/// Options that do not go together.
fn contradiction(arguments: &VerifyArgs) -> Option<&'static str> {
    let files = [&arguments.output.json, &arguments.evidence, &arguments.start_states];
    if files.into_iter().filter(|file| is_standard_output(file.as_deref())).count() > 1 {
        return Some("of --json, --evidence and --start-states one can go to standard output");
    }
    let VerifyArgs { task, reach_goal, .. } = arguments;
    if *reach_goal && task.unsafe_states.is_some() {
        return Some("--unsafe has no effect: with --reach-goal only the goal matters");
    }
    if arguments.predicates == Some(Predicates::None) && !arguments.last.is_empty() {
        return Some("--last goes with --predicates splits:N");
    }
    None
}

/// Writes the files first: what is printed may refer to them.
fn show(
    arguments: &VerifyArgs,
    outputs: &OutputFiles,
    outcome: &mut Outcome<Report>,
    error_style: Style,
) -> ExitStatus {
    let mut showing = Showing::new(&arguments.output, outputs);
    let mut unwritten = Vec::new();
    if showing.refused(outcome).is_none() {
        let report = &mut outcome.report;
        if let Some(path) = &arguments.evidence {
            let (record, written) =
                showing.write_or_remove(path, report.evidence.as_ref(), &report.no_evidence);
            report.evidence_file = Some(record);
            unwritten.extend(written.err());
        }
        if let Some(path) = &arguments.start_states {
            let starts = report.start_states.as_ref();
            let (record, written) =
                showing.write_or_remove(path, starts, "the abstraction is not complete");
            report.start_states_file = Some(record);
            unwritten.extend(written.err());
        }
    }
    let status = showing.show(outcome, error_style, render::verdict);
    if outcome.failure.is_some() {
        let mut err = io::stderr().lock();
        // Nothing can be done if standard error is gone.
        let _ = render::files_not_written(&mut err, &outcome.report, error_style);
    }
    unwritten.iter().fold(status, |_, failure| fail(failure, error_style))
}

fn request(arguments: &VerifyArgs, engines: Registry) -> Request {
    let problem = ProblemOptions {
        filter: arguments.filter,
        ties: arguments.ties,
        numbers: arguments.numbers,
        choice: arguments.choice,
        at_least: arguments.at_least,
        domain: arguments.domain,
        terminal: terminal(arguments.terminal.as_deref()),
        goal: arguments.goal.clone(),
        aim: match arguments.reach_goal {
            true => QuestionAim::ReachGoal,
            false => QuestionAim::AvoidUnsafe,
        },
        stuck: arguments.stuck,
        initial_states: initial_states(arguments.no_initial),
        predicates: arguments
            .predicates
            .clone()
            .unwrap_or_default()
            .with_last(arguments.last.clone()),
        state_space: match arguments {
            VerifyArgs { build_all: true, .. } => StateSpace::All,
            VerifyArgs { keep_going: true, .. } => StateSpace::Reachable,
            VerifyArgs { stop_at_first_unsafe: true, .. } => StateSpace::UntilUnsafe,
            _ => StateSpace::OfEngine,
        },
        // What nobody sees need not be computed.
        digests: arguments.output.json.is_some() || arguments.output.verbose,
        ..task_options(&arguments.task)
    };
    Request {
        problem: problem.into(),
        engines,
        engine: arguments.engine.clone(),
        preset: arguments.preset.clone(),
        settings: arguments.settings.clone(),
        bound: arguments.probability.bound.clone(),
        precision: arguments.probability.precision,
        exact: arguments.probability.exact,
        named: arguments.named.clone(),
        limits: Limits {
            time: arguments.timeout,
            memory: arguments.memory.map(|size| size.0),
            states: arguments.state_limit,
        },
        threads: arguments.threads,
        record_queries: arguments.record_queries.clone(),
        evidence: arguments.evidence.is_some(),
        certify: arguments.certify,
        start_states: arguments.start_states.is_some(),
        outputs: OutputFiles::new([
            ("--json", arguments.output.json.as_deref()),
            ("--evidence", arguments.evidence.as_deref()),
            ("--start-states", arguments.start_states.as_deref()),
            ("--record-queries", arguments.record_queries.as_deref()),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        for engine in ["auto", "cegar", "ic3", "bmc", "prob", "prob-cegar"] {
            let words = ["policert", "verify", "m.jani", "--verbose", "--engine", engine];
            let read = CommandLine::read(words.map(Into::into), &Registry::standard())
                .expect("a command line");
            let Command::Verify(arguments) = read.command else { panic!("verify") };
            let request = request(&arguments, Registry::standard());
            let default = Request { engine: request.engine.clone(), ..Request::new("m.jani") };
            assert_eq!(format!("{request:?}"), format!("{default:?}"), "{engine}");
        }
    }
}
