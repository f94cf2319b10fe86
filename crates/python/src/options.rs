//! Options as Python gives them: dictionaries with the names of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use policert_engine_api::{Limits, Setting};
use policert_numeric::Rational;
use policert_problem::{
    InitialStates, Kept as Places, PolicySource, Predicates, ProblemOptions, QuestionAim, Share,
    StateSpace, TerminalChoice,
};
use policert_verify::{EngineOption, Request};
use pyo3::prelude::*;

use crate::failure::usage;

/// Where a model or a policy is kept once it was read.
#[pyclass(frozen)]
pub struct Kept(Places);

#[pymethods]
impl Kept {
    #[new]
    fn new() -> Self {
        Self(Places::place())
    }
}

/// A question, in the words of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Task {
    model: PathBuf,
    #[pyo3(default)]
    kept: Option<Py<Kept>>,
    #[pyo3(default)]
    kept_policy: Option<Py<Kept>>,
    #[pyo3(default)]
    problem: Option<PathBuf>,
    #[pyo3(item("unsafe"), default)]
    unsafe_states: Option<String>,
    #[pyo3(default)]
    start: Option<String>,
    #[pyo3(default)]
    property: Option<String>,
    #[pyo3(default)]
    constants: Vec<(String, String)>,
    #[pyo3(default)]
    no_policy: bool,
    #[pyo3(default)]
    policy: Option<PathBuf>,
    #[pyo3(default)]
    interface: Option<PathBuf>,
    #[pyo3(default)]
    filter: Option<String>,
    #[pyo3(default)]
    ties: Option<String>,
    #[pyo3(default)]
    numbers: Option<String>,
    #[pyo3(default)]
    choice: Option<String>,
    #[pyo3(default)]
    scores: Option<String>,
    #[pyo3(default)]
    at_least: Option<String>,
    #[pyo3(default)]
    domain: Option<String>,
    #[pyo3(default)]
    stuck: Option<String>,
    #[pyo3(default)]
    probabilities: Option<String>,
    #[pyo3(default)]
    terminal: Option<String>,
    #[pyo3(default)]
    goal: Option<String>,
    #[pyo3(default)]
    reach_goal: bool,
    #[pyo3(default)]
    no_initial: bool,
    #[pyo3(default)]
    predicates: Option<String>,
    #[pyo3(default)]
    last: Vec<String>,
    #[pyo3(default)]
    states: Option<String>,
}

impl Task {
    /// The options of the question.
    ///
    /// # Errors
    /// A value that an option does not have.
    pub fn options(&self) -> PyResult<ProblemOptions> {
        let mut options = ProblemOptions::new(&self.model);
        if let Some(kept) = &self.kept {
            options.kept = kept.get().0.clone();
        }
        if let Some(kept) = &self.kept_policy {
            options.kept.policy = kept.get().0.policy.clone();
        }
        options.pddl_problem.clone_from(&self.problem);
        options.property.clone_from(&self.property);
        options.unsafe_states.clone_from(&self.unsafe_states);
        options.start_states.clone_from(&self.start);
        options.constants.clone_from(&self.constants);
        options.policy = match self.no_policy {
            true => PolicySource::None,
            false => PolicySource::Given {
                interface: self.interface.clone(),
                network: self.policy.clone(),
            },
        };
        options.scores.clone_from(&self.scores);
        options.filter = named("filter", self.filter.as_deref())?;
        options.ties = named("ties", self.ties.as_deref())?;
        options.numbers = named("numbers", self.numbers.as_deref())?;
        options.choice = named("choice", self.choice.as_deref())?;
        options.at_least = parsed::<Share>("at_least", self.at_least.as_deref())?;
        options.domain = named("domain", self.domain.as_deref())?.unwrap_or(options.domain);
        options.stuck = named("stuck", self.stuck.as_deref())?.unwrap_or(options.stuck);
        if let Some(probabilities) = named("probabilities", self.probabilities.as_deref())? {
            options.probabilities = probabilities;
        }
        options.terminal = self.terminal.as_deref().map(TerminalChoice::from).unwrap_or_default();
        options.goal.clone_from(&self.goal);
        if self.reach_goal {
            options.aim = QuestionAim::ReachGoal;
        }
        if self.no_initial {
            options.initial_states = InitialStates::LeftOut;
        }
        options.predicates = self.predicates()?;
        options.state_space = match self.states.as_deref() {
            None => StateSpace::OfEngine,
            Some("until-unsafe") => StateSpace::UntilUnsafe,
            Some("reachable") => StateSpace::Reachable,
            Some("all") => StateSpace::All,
            Some(other) => {
                let message =
                    format!("states: `{other}` is none of until-unsafe, reachable and all");
                return Err(usage(message));
            }
        };
        Ok(options)
    }

    fn predicates(&self) -> PyResult<Predicates> {
        let predicates = self.predicates.as_deref().map(str::parse).transpose();
        let predicates: Predicates = predicates
            .map_err(|error: String| usage(format!("predicates: {error}")))?
            .unwrap_or_default();
        if !self.last.is_empty() && !matches!(predicates, Predicates::Splits(_)) {
            let message = "last has no effect: it goes with predicates=\"splits:N\"";
            return Err(usage(message.to_owned()));
        }
        Ok(predicates.with_last(self.last.clone()))
    }

    /// The options of engines that are named here.
    fn named(&self) -> impl Iterator<Item = EngineOption> {
        let predicates = self.predicates.is_some().then_some(EngineOption::Predicates);
        let last = (!self.last.is_empty()).then_some(EngineOption::Last);
        let states = self.states.as_deref().and_then(|states| match states {
            "until-unsafe" => Some(EngineOption::StopAtFirstUnsafe),
            "reachable" => Some(EngineOption::KeepGoing),
            "all" => Some(EngineOption::BuildAll),
            _ => None,
        });
        predicates.into_iter().chain(last).chain(states)
    }
}

/// Limits, in seconds, bytes and states.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Bounds {
    timeout: Option<f64>,
    #[pyo3(default)]
    memory: Option<u64>,
    #[pyo3(default)]
    state_limit: Option<u64>,
}

impl Bounds {
    /// The limits.
    ///
    /// # Errors
    /// A time that is none.
    pub fn limits(&self) -> PyResult<Limits> {
        let time = self.timeout.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| usage(format!("timeout: {seconds} is no time in seconds")))
        });
        Ok(Limits { time: time.transpose()?, memory: self.memory, states: self.state_limit })
    }
}

/// What `verify` needs besides the question.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Answering {
    #[pyo3(default)]
    engine: Option<String>,
    #[pyo3(default)]
    preset: Option<String>,
    #[pyo3(default)]
    settings: Vec<(String, String)>,
    #[pyo3(default)]
    bound: Option<String>,
    #[pyo3(default)]
    precision: Option<f64>,
    #[pyo3(default)]
    exact: bool,
    #[pyo3(default)]
    threads: Option<u16>,
    #[pyo3(default)]
    start_states: bool,
    evidence: bool,
}

/// The request of `verify`.
///
/// # Errors
/// A value that an option does not have.
pub fn request(task: &Task, answering: &Answering, bounds: &Bounds) -> PyResult<Request> {
    let mut problem = task.options()?;
    // Evidence names the files by their digests; nobody else asks for them.
    problem.digests = answering.evidence;
    let mut request = Request::new(problem);
    if let Some(engine) = &answering.engine {
        request.engine.clone_from(engine);
    }
    if let Some(preset) = &answering.preset {
        request.preset.clone_from(preset);
    }
    let setting =
        |(key, value): &(String, String)| Setting { key: key.clone(), value: value.clone() };
    request.settings = answering.settings.iter().map(setting).collect();
    request.bound = parsed::<Rational>("bound", answering.bound.as_deref())?;
    if let Some(bound) = &request.bound
        && !(Rational::ZERO..=Rational::ONE).contains(bound)
    {
        return Err(usage(format!("bound: {bound} is no probability")));
    }
    if let Some(width) = answering.precision {
        if !(width > 0.0 && width <= 1.0) {
            return Err(usage(format!("precision: {width} is no number above 0 and up to 1")));
        }
        request.precision = Some(width);
    }
    request.exact = answering.exact;
    request.threads = answering.threads.unwrap_or(1).max(1);
    request.limits = bounds.limits()?;
    request.evidence = answering.evidence;
    request.start_states = answering.start_states;
    let given = [
        (answering.bound.is_some(), EngineOption::Bound),
        (answering.precision.is_some(), EngineOption::Precision),
        (answering.exact, EngineOption::Exact),
        (answering.start_states, EngineOption::StartStates),
        (bounds.state_limit.is_some(), EngineOption::StateLimit),
        (request.threads > 1, EngineOption::Threads),
    ];
    let given = given.into_iter().filter(|(is, _)| *is).map(|(_, option)| option);
    request.named = task.named().chain(given).collect();
    Ok(request)
}

/// The value of an option that has a name.
fn named<T: ValueEnum>(option: &str, text: Option<&str>) -> PyResult<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let found = T::from_str(text, false).map(Some);
    found.map_err(|_| {
        let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        usage(format!("{option}: `{text}` is none of {}", names.join(", ")))
    })
}

/// The value of an option that is a number.
fn parsed<T: std::str::FromStr>(option: &str, text: Option<&str>) -> PyResult<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let wrong = |_| usage(format!("{option}: `{text}` is no number such as 0.25 or 1/3"));
    text.parse().map(Some).map_err(wrong)
}
