//! The options of a request and what its engine uses: one without effect is refused by name.

use policert_engine_api::{ConfigurationError, Engine, Setting};
use policert_outcome::Failure;
use policert_problem::{DomainSetting, ProblemOptions, QuestionAim, StuckStates};

use crate::engine_option::EngineOption;
use crate::engines::Registration;
use crate::request::Request;

/// The engine of a request with its configuration, before any file of the question is read.
///
/// # Errors
/// An option that the engine does not use, or a configuration that cannot be used.
pub(crate) fn configure(
    request: &Request,
    engine: &Registration,
) -> Result<Box<dyn Engine>, Failure> {
    // What it does with a question is not known yet.
    if engine.passes_on.is_none() {
        check(request, engine)?;
    }
    let given = request.named.iter().map(|option| (option.name(), true));
    let set = request.settings.iter().map(|setting| (setting.key.as_str(), false));
    for (name, is_option) in given.chain(set) {
        if let Some(why) = left_out(name, is_option, engine, request.problem.options()) {
            let name = if is_option { format!("--{name}") } else { format!("--set {name}") };
            return Err(Failure::Usage(format!("{name} has no effect: {why}")));
        }
    }
    let named = |option: EngineOption| request.named.contains(&option);
    if named(EngineOption::Threads) && named(EngineOption::RecordQueries) {
        let message = "--threads has no effect: queries are recorded on one thread";
        return Err(Failure::Usage(message.to_owned()));
    }
    let chosen = (engine.configure)(&request.preset, &request.settings);
    let chosen = chosen.map_err(|error| refused(&error, engine))?;
    match chosen.idle_state_limit() {
        Some(why) if request.named.contains(&EngineOption::StateLimit) => {
            Err(Failure::Usage(format!("--state-limit has no effect: {why}")))
        }
        Some(_) | None => Ok(chosen),
    }
}

/// Returns why the search that uses an option or a setting is not part of the answer to a question,
/// in engines that answer questions about runs.
fn left_out(
    name: &str,
    is_option: bool,
    engine: &Registration,
    problem: &ProblemOptions,
) -> Option<&'static str> {
    if !engine.questions.runs {
        return None;
    }
    let abstracts = if is_option {
        ["predicates", "last", "record-queries"].contains(&name)
    } else {
        name.starts_with("cegar") || name.starts_with("ic3")
    };
    if problem.aim == QuestionAim::ReachGoal && (abstracts || !is_option || name == "threads") {
        return Some("--reach-goal is answered by one search through the states");
    }
    if problem.stuck == StuckStates::Unsafe && abstracts {
        return Some("--stuck unsafe is answered state by state, without an abstraction");
    }
    (problem.domain == DomainSetting::Error && abstracts)
        .then_some("--domain error is answered state by state, without an abstraction")
}

fn refused(error: &ConfigurationError, engine: &Registration) -> Failure {
    let message = format!("engine {}: {error}", engine.name);
    match error {
        ConfigurationError::UnknownPreset { .. } | ConfigurationError::Setting(_) => {
            Failure::Usage(message)
        }
        ConfigurationError::NeedsZ3(_) => Failure::unsupported(message),
        _ => Failure::invalid(message),
    }
}

/// Refuses options that `engine` does not use: the one of the request, or the one that it passes the
/// question on to.
///
/// # Errors
/// Such an option.
pub(crate) fn check(request: &Request, engine: &Registration) -> Result<(), Failure> {
    let where_to = match (engine.name == request.engine, engine.passes_on) {
        (true, None) => format!("with engine {}", engine.name),
        (true, Some(_)) => format!("on a question about safety that {} answers", engine.name),
        (false, _) => {
            format!("on a question about a probability, which engine {} answers", engine.name)
        }
    };
    if let Some(idle) = request.settings.iter().find(|setting| is_idle(request, engine, setting)) {
        return Err(Failure::Usage(format!("--set {} has no effect {where_to}", idle.key)));
    }
    let unused = request.named.iter().find(|option| !engine.options.contains(option));
    let Some(option) = unused else { return Ok(()) };
    let users = request.engines.names(|user| user.options.contains(option)).join(", ");
    Err(Failure::Usage(format!(
        "--{} has no effect {where_to}; it goes with --engine {users}",
        option.name()
    )))
}

/// Returns whether a setting is one of a member of a portfolio that has no part in the answer of
/// `engine`.
fn is_idle(request: &Request, engine: &Registration, setting: &Setting) -> bool {
    let portfolio = request.engines.iter().find(|engine| engine.name == request.engine);
    let Some(other) = portfolio.and_then(|portfolio| portfolio.passes_on) else { return false };
    let member = setting.key.split('.').next().unwrap_or_default();
    (member == other) != (engine.name == other)
}
