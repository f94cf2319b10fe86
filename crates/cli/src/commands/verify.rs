//! `policert verify`.

use std::io;
use std::path::Path;

use policert_engine_api::Limits;
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles, write_or_remove};
use policert_problem::{
    Domain, Numbers, Predicates, ProblemOptions, QuestionAim, Splits, StateSpace, StuckStates,
};
use policert_verify::{
    BmcConfig, BmcSolver, BrokenRequirements, CegarConfig, CounterexampleAnalysis, EngineChoice,
    ExplicitConfig, MaxProbMethod, ProbabilityMethod, ProbabilityOptions, Report, Request, Scope,
    SearchOrder, SplitConfig, SplitPoint, SplitUntil, SplitVariable, verify,
};

use super::{
    Showing, fail, initial_states, is_standard_output, named_inputs, run_within, task_options,
    terminal,
};
use crate::args::{
    BmcSolverArg, BrokenRequirementsArg, CounterexamplesArg, DomainArg, EngineArg, MaxProbArg,
    NumbersArg, PredicatesArg, ProbabilityMethodArg, ScopeArg, SearchOrderArg, SplitPointArg,
    SplitUntilArg, SplitVariableArg, StuckArg, VerifyArgs,
};
use crate::render;
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &VerifyArgs) -> ExitStatus {
    let output = &arguments.output;
    let error_style = Style::new(output.color, &io::stderr());
    if let Some(message) = contradiction(arguments) {
        return fail(&Failure::Usage(message.to_owned()), error_style);
    }
    let request = request(arguments);
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
    if arguments.predicates == Some(PredicatesArg::None) && !arguments.last.is_empty() {
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
                write_or_remove(path, report.evidence.as_ref(), &report.no_evidence);
            showing.is_taken |= record.written && is_standard_output(Some(path));
            report.evidence_file = Some(record);
            unwritten.extend(written.err());
        }
        if let Some(path) = &arguments.start_states {
            let starts = report.start_states.as_ref();
            let (record, written) =
                write_or_remove(path, starts, "the abstraction is not complete");
            showing.is_taken |= record.written && is_standard_output(Some(path));
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

fn request(arguments: &VerifyArgs) -> Request {
    let problem = ProblemOptions {
        filter: arguments.filter.map(Into::into),
        ties: arguments.ties.map(Into::into),
        numbers: arguments.numbers.map(|numbers| match numbers {
            NumbersArg::Real => Numbers::Real,
            NumbersArg::F32 => Numbers::F32,
        }),
        domain: match arguments.domain {
            DomainArg::Drop => Domain::Drop,
            DomainArg::Error => Domain::Error,
        },
        terminal: terminal(arguments.terminal.as_deref()),
        goal: arguments.goal.clone(),
        aim: match arguments.reach_goal {
            true => QuestionAim::ReachGoal,
            false => QuestionAim::AvoidUnsafe,
        },
        stuck: match arguments.stuck {
            StuckArg::Allowed => StuckStates::Allowed,
            StuckArg::Unsafe => StuckStates::Unsafe,
        },
        initial_states: initial_states(arguments.no_initial),
        predicates: match arguments.predicates {
            None => Predicates::OfProperty,
            Some(PredicatesArg::None) => Predicates::None,
            Some(PredicatesArg::Splits(percent)) => {
                Predicates::Splits(Splits { percent, last: arguments.last.clone() })
            }
        },
        state_space: match arguments {
            VerifyArgs { build_all: true, .. } => StateSpace::All,
            VerifyArgs { keep_going: true, .. } => StateSpace::Reachable,
            VerifyArgs { stop_at_first_unsafe: true, .. } => StateSpace::UntilUnsafe,
            _ => StateSpace::OfEngine,
        },
        ..task_options(&arguments.task)
    };
    Request {
        problem: problem.into(),
        engine: match arguments.engine {
            EngineArg::Auto => EngineChoice::Auto,
            EngineArg::Explicit => EngineChoice::Explicit,
            EngineArg::Ppa => EngineChoice::Ppa,
            EngineArg::Cegar => EngineChoice::Cegar,
            EngineArg::Bmc => EngineChoice::Bmc,
            EngineArg::Ic3 => EngineChoice::Ic3,
            EngineArg::Prob => EngineChoice::Prob,
            EngineArg::ProbPpa => EngineChoice::ProbPpa,
            EngineArg::ProbCegar => EngineChoice::ProbCegar,
        },
        preset: arguments.preset.clone(),
        explicit: ExplicitConfig {
            start_batch: arguments.start_batch,
            ..ExplicitConfig::default()
        },
        cegar: cegar(arguments),
        bmc: BmcConfig {
            solver: match arguments.bmc_solver {
                BmcSolverArg::Native => BmcSolver::Native,
                BmcSolverArg::Z3 => BmcSolver::Z3,
            },
            steps: arguments.bmc_steps,
            loop_free: !arguments.no_loop_free,
        },
        probability: ProbabilityOptions {
            precision: arguments.probability.precision,
            exact: arguments.probability.exact,
            method: match arguments.probability.probability_method {
                ProbabilityMethodArg::Interval => ProbabilityMethod::IntervalIteration,
                ProbabilityMethodArg::Optimistic => ProbabilityMethod::Optimistic,
            },
            bound: arguments.probability.bound.clone(),
            max_prob: match arguments.probability.max_prob {
                MaxProbArg::OnTheFly => MaxProbMethod::OnTheFly,
                MaxProbArg::Complete => MaxProbMethod::Complete,
            },
            counterexamples: match arguments.probability.counterexamples {
                CounterexamplesArg::Paths => CounterexampleAnalysis::Paths,
                CounterexamplesArg::Runs => CounterexampleAnalysis::Runs,
            },
        },
        named: arguments.named.clone(),
        limits: Limits {
            time: arguments.timeout,
            memory: arguments.memory.map(|size| size.0),
            states: arguments.state_limit,
        },
        threads: arguments.threads,
        record_queries: arguments.record_queries.clone(),
        evidence: arguments.evidence.is_some(),
        start_states: arguments.start_states.is_some(),
        outputs: OutputFiles::new([
            ("--json", arguments.output.json.as_deref()),
            ("--evidence", arguments.evidence.as_deref()),
            ("--start-states", arguments.start_states.as_deref()),
            ("--record-queries", arguments.record_queries.as_deref()),
        ]),
    }
}

/// Options of cegar.
fn cegar(arguments: &VerifyArgs) -> CegarConfig {
    let split = SplitConfig {
        variable: match arguments.split_variable {
            SplitVariableArg::Influence => SplitVariable::Influence,
            SplitVariableArg::Distance => SplitVariable::Distance,
            SplitVariableArg::First => SplitVariable::First,
        },
        point: match arguments.split_point {
            SplitPointArg::Choice => SplitPoint::Choice,
            SplitPointArg::Middle => SplitPoint::Middle,
            SplitPointArg::Run => SplitPoint::Concretisation,
            SplitPointArg::Other => SplitPoint::Witness,
        },
        until: match arguments.split_until {
            SplitUntilArg::Refuted => SplitUntil::Refuted,
            SplitUntilArg::Once => SplitUntil::Witness,
        },
    };
    let scope = match arguments.scope {
        ScopeArg::Local => Scope::Local,
        ScopeArg::Global => Scope::Global,
    };
    let order = match arguments.search_order {
        SearchOrderArg::Guided => SearchOrder::Guided,
        SearchOrderArg::BreadthFirst => SearchOrder::BreadthFirst,
    };
    let broken = match arguments.broken_requirements {
        BrokenRequirementsArg::First => BrokenRequirements::First,
        BrokenRequirementsArg::All => BrokenRequirements::All,
    };
    CegarConfig {
        broken,
        order,
        split,
        scope,
        box_limit: arguments.box_limit.filter(|&limit| limit > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, CommandLine};

    #[test]
    fn the_command_line_has_no_defaults_of_its_own() {
        for engine in ["auto", "cegar", "ic3", "bmc", "prob", "prob-cegar"] {
            let words = ["policert", "verify", "m.jani", "--engine", engine];
            let read = CommandLine::read(words.map(Into::into)).expect("a command line");
            let Command::Verify(arguments) = read.command else { panic!("verify") };
            let request = request(&arguments);
            let default = Request { engine: request.engine, ..Request::new("m.jani") };
            assert_eq!(format!("{request:?}"), format!("{default:?}"), "{engine}");
        }
    }
}
