//! `policert verify`.

use std::io;
use std::path::Path;

use policert_verify::{
    BmcConfig, BmcSolver, BrokenRequirements, CegarConfig, CounterexampleAnalysis, Domain,
    EngineChoice, ExitStatus, ExplicitConfig, Failure, Limits, MaxProbMethod, Numbers, OutputFiles,
    Predicates, ProbabilityMethod, ProbabilityOptions, QuestionAim, Request, Scope, SearchOrder,
    SplitConfig, SplitPoint, SplitUntil, SplitVariable, Splits, StateSpace, StuckStates,
    TaskOptions, Verified, verify, write_or_remove,
};

use super::{
    detail, end, fail, initial_states, is_refused, is_standard_output, named_inputs, output_failed,
    print, run_within, task_options, terminal, write_data,
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
        |verified, error_style| {
            let shown = show(arguments, verified, error_style);
            end(verified.status, verified.unwritten.as_ref(), shown, error_style)
        },
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
fn show(arguments: &VerifyArgs, verified: &Verified, error_style: Style) -> Result<(), Failure> {
    let output = &arguments.output;
    if is_refused(verified.failure.as_ref(), error_style) {
        return Ok(());
    }
    let (evidence, starts) = (verified.evidence.as_ref(), verified.start_states.as_ref());
    let (mut evidence_written, mut starts_written) = (Ok(()), Ok(()));
    let mut report = verified.report.clone();
    if let Some(path) = &arguments.evidence {
        let (record, result) = write_or_remove(path, evidence, &verified.no_evidence);
        (report.evidence_file, evidence_written) = (Some(record), result);
    }
    if let Some(path) = &arguments.start_states {
        let (record, result) = write_or_remove(path, starts, "the abstraction is not complete");
        (report.start_states_file, starts_written) = (Some(record), result);
    }
    let written =
        write_data(output.json.as_deref(), &report).and(evidence_written).and(starts_written);
    if let Some(failure) = &verified.failure {
        fail(failure, error_style);
        let mut err = io::stderr().lock();
        // Nothing can be done if standard error is gone.
        let _ = render::files_not_written(&mut err, &report, error_style);
        return written;
    }
    let files = [&report.evidence_file, &report.start_states_file].into_iter().flatten();
    let files = files.filter(|file| file.written).map(|file| file.path.as_path());
    let taken = files.chain(output.json.as_deref()).any(|file| is_standard_output(Some(file)));
    let style = if taken { error_style } else { Style::new(output.color, &io::stdout()) };
    print(taken, |out| render::verdict(out, &report, evidence, detail(output), style))
        .map_err(output_failed)
        .and(written)
}

fn request(arguments: &VerifyArgs) -> Request {
    let task = TaskOptions {
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
        task,
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
