//! Options that only some engines use: which ones. An option without effect is refused by name.

use policert_bmc::BmcSolver;
use policert_outcome::Failure;
use policert_ppa::PolicySolver;

use crate::Request;
use crate::engines::EngineChoice;
use policert_problem::{Domain, ProblemOptions, QuestionAim, StuckStates};

/// An option of `verify` that some engine does not use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineOption {
    /// `--preset`
    Preset,
    /// `--predicates`
    Predicates,
    /// `--last`
    Last,
    /// `--search-order`
    SearchOrder,
    /// `--scope`
    Scope,
    /// `--box-limit`
    BoxLimit,
    /// `--broken-requirements`
    BrokenRequirements,
    /// `--split-variable`
    SplitVariable,
    /// `--split-point`
    SplitPoint,
    /// `--split-until`
    SplitUntil,
    /// `--start-batch`
    StartBatch,
    /// `--bmc-solver`
    BmcSolver,
    /// `--bmc-steps`
    BmcSteps,
    /// `--no-loop-free`
    NoLoopFree,
    /// `--exact`
    Exact,
    /// `--precision`
    Precision,
    /// `--bound`
    Bound,
    /// `--probability-method`
    ProbabilityMethod,
    /// `--max-prob`
    MaxProb,
    /// `--counterexamples`
    Counterexamples,
    /// `--keep-going`
    KeepGoing,
    /// `--stop-at-first-unsafe`
    StopAtFirstUnsafe,
    /// `--build-all`
    BuildAll,
    /// `--start-states`
    StartStates,
    /// `--record-queries`
    RecordQueries,
    /// `--state-limit`
    StateLimit,
    /// `--threads`, with more than one.
    Threads,
}

impl EngineOption {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::Preset,
        Self::Predicates,
        Self::Last,
        Self::SearchOrder,
        Self::Scope,
        Self::BoxLimit,
        Self::BrokenRequirements,
        Self::SplitVariable,
        Self::SplitPoint,
        Self::SplitUntil,
        Self::StartBatch,
        Self::BmcSolver,
        Self::BmcSteps,
        Self::NoLoopFree,
        Self::Exact,
        Self::Precision,
        Self::Bound,
        Self::ProbabilityMethod,
        Self::MaxProb,
        Self::Counterexamples,
        Self::KeepGoing,
        Self::StopAtFirstUnsafe,
        Self::BuildAll,
        Self::StartStates,
        Self::RecordQueries,
        Self::StateLimit,
        Self::Threads,
    ];

    /// How it is written, without the dashes before it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Predicates => "predicates",
            Self::Last => "last",
            Self::SearchOrder => "search-order",
            Self::Scope => "scope",
            Self::BoxLimit => "box-limit",
            Self::BrokenRequirements => "broken-requirements",
            Self::SplitVariable => "split-variable",
            Self::SplitPoint => "split-point",
            Self::SplitUntil => "split-until",
            Self::StartBatch => "start-batch",
            Self::BmcSolver => "bmc-solver",
            Self::BmcSteps => "bmc-steps",
            Self::NoLoopFree => "no-loop-free",
            Self::Exact => "exact",
            Self::Precision => "precision",
            Self::Bound => "bound",
            Self::ProbabilityMethod => "probability-method",
            Self::MaxProb => "max-prob",
            Self::Counterexamples => "counterexamples",
            Self::KeepGoing => "keep-going",
            Self::StopAtFirstUnsafe => "stop-at-first-unsafe",
            Self::BuildAll => "build-all",
            Self::StartStates => "start-states",
            Self::RecordQueries => "record-queries",
            Self::StateLimit => "state-limit",
            Self::Threads => "threads",
        }
    }

    /// The engines that use it. `Auto` stands for questions about safety: others it passes on to
    /// `Prob`.
    fn engines(self) -> &'static [EngineChoice] {
        use EngineChoice::{Auto, Bmc, Cegar, Explicit, Ic3, Ppa, Prob, ProbCegar, ProbPpa};
        match self {
            Self::Preset => &[Auto, Ppa, Cegar, Ic3, ProbPpa, ProbCegar],
            Self::Predicates | Self::Last => &[Auto, Ppa, Cegar, ProbPpa, ProbCegar],
            Self::SearchOrder => &[Auto, Cegar],
            Self::Scope
            | Self::BoxLimit
            | Self::BrokenRequirements
            | Self::SplitVariable
            | Self::SplitPoint
            | Self::SplitUntil => &[Auto, Cegar, ProbCegar],
            Self::StartBatch => &[Auto, Explicit],
            Self::BmcSolver | Self::BmcSteps | Self::NoLoopFree => &[Bmc],
            Self::Exact | Self::ProbabilityMethod => &[Prob],
            Self::Precision | Self::Bound => &[Prob, ProbPpa, ProbCegar],
            Self::MaxProb => &[ProbPpa, ProbCegar],
            Self::Counterexamples => &[ProbCegar],
            Self::KeepGoing => &[Auto, Explicit, Ppa, Bmc],
            Self::StopAtFirstUnsafe => &[Auto, Explicit, Ppa, Cegar, Bmc, Ic3],
            Self::BuildAll => &[Auto, Explicit, Ppa, Prob],
            Self::StartStates => &[Ppa],
            Self::RecordQueries => &[Auto, Ppa, Cegar],
            Self::StateLimit => &[Auto, Explicit, Ppa, Cegar, Bmc, Ic3, Prob, ProbPpa, ProbCegar],
            Self::Threads => &[Auto, Ic3],
        }
    }
}

/// Refuses options that the engine of a request does not use, before any file is read; what
/// `auto` does with a question is not known then.
///
/// # Errors
/// Such an option.
pub(crate) fn check(request: &Request) -> Result<(), Failure> {
    if request.engine != EngineChoice::Auto {
        check_engine(request, request.engine)?;
    }
    for &option in &request.named {
        if let Some(why) = left_out(option, request.engine, request.problem.options()) {
            return refused(option, why);
        }
    }
    let named = |option: EngineOption| request.named.contains(&option);
    if named(EngineOption::Threads) && named(EngineOption::RecordQueries) {
        return refused(EngineOption::Threads, "queries are recorded on one thread");
    }
    if named(EngineOption::NoLoopFree) && request.bmc.solver == BmcSolver::Native {
        return refused(
            EngineOption::NoLoopFree,
            "boxes are unrolled into new states only; it goes with --bmc-solver z3",
        );
    }
    let unrolls_formula =
        request.engine == EngineChoice::Bmc && request.bmc.solver == BmcSolver::Z3;
    if named(EngineOption::StateLimit) && unrolls_formula {
        return refused(
            EngineOption::StateLimit,
            "a formula has no states to count; --bmc-steps limits it",
        );
    }
    Ok(())
}

/// Why the search that uses an option is not part of the answer to a question.
fn left_out(
    option: EngineOption,
    engine: EngineChoice,
    problem: &ProblemOptions,
) -> Option<&'static str> {
    let searches_states = match engine {
        EngineChoice::Auto | EngineChoice::Explicit => true,
        EngineChoice::Ppa
        | EngineChoice::Cegar
        | EngineChoice::Bmc
        | EngineChoice::Ic3
        | EngineChoice::Prob
        | EngineChoice::ProbPpa
        | EngineChoice::ProbCegar => false,
    };
    let users = option.engines();
    let abstracts =
        users.contains(&EngineChoice::Cegar) && !users.contains(&EngineChoice::Explicit);
    let is_of_search = [EngineOption::Threads, EngineOption::StartBatch].contains(&option);
    if !searches_states {
        return None;
    }
    if problem.aim == QuestionAim::ReachGoal && (abstracts || is_of_search) {
        return Some("--reach-goal is answered by one search through the states");
    }
    if problem.stuck == StuckStates::Unsafe && abstracts {
        return Some("--stuck unsafe is answered state by state, without an abstraction");
    }
    (problem.domain == Domain::Error && abstracts)
        .then_some("--domain error is answered state by state, without an abstraction")
}

/// Refuses an option that the preset of `request` leaves without effect.
///
/// # Errors
/// Such an option.
pub(crate) fn check_preset(request: &Request, ppa: &policert_ppa::Config) -> Result<(), Failure> {
    let by_z3 = match ppa.policy {
        PolicySolver::Z3 | PolicySolver::Z3FixedPhases => true,
        PolicySolver::Native | PolicySolver::BranchAndBound => false,
    };
    if request.named.contains(&EngineOption::BoxLimit) && by_z3 {
        let why = format!("preset {} asks Z3, which does not work with boxes", ppa.name);
        return refused(EngineOption::BoxLimit, &why);
    }
    Ok(())
}

fn refused(option: EngineOption, why: &str) -> Result<(), Failure> {
    let name = option.name();
    Err(Failure::Usage(format!("--{name} has no effect: {why}")))
}

/// Refuses options that `engine` does not use.
///
/// # Errors
/// Such an option.
pub(crate) fn check_engine(request: &Request, engine: EngineChoice) -> Result<(), Failure> {
    for option in &request.named {
        let users = option.engines();
        if users.contains(&engine) {
            continue;
        }
        let list: Vec<&str> = users.iter().map(|user| user.name()).collect();
        let where_to = match (request.engine, engine) {
            (EngineChoice::Auto, EngineChoice::Auto) => {
                "on a question about safety that auto answers".to_owned()
            }
            (EngineChoice::Auto, _) => {
                format!("on a question about a probability, which engine {} answers", engine.name())
            }
            _ => format!("with engine {}", engine.name()),
        };
        let name = option.name();
        let list = list.join(", ");
        return Err(Failure::Usage(format!(
            "--{name} has no effect {where_to}; it goes with --engine {list}"
        )));
    }
    Ok(())
}
