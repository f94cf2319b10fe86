//! The engines, and the registry of them: their names, what they answer, presets and options.
//!
//! To add one: a file in `engines/` with an [`Engine`] and its [`Registration`], a line in
//! [`Registry::standard`], and a preset in `configs/`; CONTRIBUTING.md has an example.

mod auto;
mod bmc;
mod cegar;
mod explicit;
mod guided;
mod ic3;
mod pieces;
mod ppa;
mod prob;
mod prob_ppa;

pub(crate) use prob::truth;

use std::time::{Duration, Instant};

use policert_engine_api::{
    Aim, Attempt, Conclusion, Configuration, ConfigurationError, Configured, Context, Engine,
    EngineAnswer, EngineError, Preset, Question, Setting, StuckRule, UnknownReason,
};
use policert_outcome::Failure;
use policert_policy::{ChoiceRule, Law};

use crate::engine_option::EngineOption;
use crate::request::Request;

/// Makes an engine of the name of a preset, or a file, and some settings.
pub type Configure = fn(&str, &[Setting]) -> Result<Box<dyn Engine>, ConfigurationError>;

/// An engine as users choose it.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// Its name.
    pub name: &'static str,
    /// The description of the engine in the help.
    pub help: &'static str,
    /// The questions that it answers.
    pub questions: AnsweredQuestions,
    /// The engine that questions about probabilities go to, where it does not answer them itself.
    pub passes_on: Option<&'static str>,
    /// The options that it uses, of those that not every engine does.
    pub options: &'static [EngineOption],
    /// Its presets; the first one is the default.
    pub presets: fn() -> Vec<Preset>,
    /// The engine with a preset, or a file of one's own, and some settings changed.
    pub configure: Configure,
}

/// Says which questions an engine answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AnsweredQuestions {
    /// The question whether an unsafe state is reachable.
    pub safety: bool,
    /// The questions whether every run reaches the goal, and whether one gets stuck.
    pub runs: bool,
    /// The question for the greatest probability of reaching an unsafe state.
    pub probability: bool,
    /// Standard properties that ask for other probabilities.
    pub standard: bool,
    /// Questions about policies that draw their labels, or whose scores are in single precision: several
    /// labels may be chosen in a state.
    pub drawn: bool,
}

impl AnsweredQuestions {
    /// The question whether an unsafe state is reachable, and no other.
    pub const SAFETY: Self =
        Self { safety: true, runs: false, probability: false, standard: false, drawn: true };
    /// The question for the greatest probability of reaching an unsafe state, and no other.
    pub const PROBABILITY: Self =
        Self { safety: false, runs: false, probability: true, standard: false, drawn: false };
}

/// The engines that there are.
#[derive(Clone, Debug)]
pub struct Registry(Vec<Registration>);

impl Registry {
    /// All engines of this library.
    #[must_use]
    pub fn standard() -> Self {
        Self(vec![
            auto::REGISTRATION,
            explicit::REGISTRATION,
            ppa::REGISTRATION,
            cegar::REGISTRATION,
            ic3::REGISTRATION,
            bmc::REGISTRATION,
            prob::REGISTRATION,
            prob_ppa::GIVEN,
            prob_ppa::REFINED,
        ])
    }

    /// These engines and another one.
    #[must_use]
    pub fn with(mut self, registration: Registration) -> Self {
        self.0.push(registration);
        self
    }

    /// The engines, in the order of the help.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.0.iter()
    }

    /// The engine of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: &str) -> Result<&Registration, Failure> {
        self.0.iter().find(|engine| engine.name == name).ok_or_else(|| {
            let known = self.names(|_| true).join(", ");
            Failure::Usage(format!("no engine `{name}`; there are {known}"))
        })
    }

    /// Names of the engines of a kind.
    pub(crate) fn names(&self, is_one: impl Fn(&Registration) -> bool) -> Vec<&'static str> {
        self.0.iter().filter(|engine| is_one(engine)).map(|engine| engine.name).collect()
    }

    /// Refuses a question about runs that an engine does not answer.
    pub(crate) fn refuse(
        &self,
        engine: &Registration,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        let option = match (&question.aim, question.stuck) {
            (Aim::ReachGoal, _) => "--reach-goal",
            (Aim::AvoidUnsafe | Aim::Probability(_), StuckRule::Unsafe) => "--stuck unsafe",
            (Aim::AvoidUnsafe | Aim::Probability(_), StuckRule::Allowed) => return Ok(()),
        };
        if engine.questions.runs {
            return Ok(());
        }
        let name = engine.name;
        let others = self.names(|engine| engine.questions.runs).join(" and ");
        Err(Failure::Usage(format!(
            "{option} is not supported by engine {name}; {others} answer it"
        )))
    }
}

impl Registry {
    /// Refuses a question about a policy of which only the plain evaluation in single precision is known
    /// in some states, where an engine or an option does not go with that.
    pub(crate) fn refuse_rounded(
        &self,
        request: &Request,
        engine: &Registration,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        if question.policy.is_none_or(|policy| policy.single().is_none()) {
            return Ok(());
        }
        let message = if !engine.questions.drawn {
            let others = self.names(|engine| engine.questions.drawn).join(", ");
            let name = engine.name;
            format!("--numbers f32 is not supported by engine {name}; it goes with {others}")
        } else if request.record_queries.is_some() {
            "--record-queries does not go with --numbers f32: other solvers compute with real numbers"
                .to_owned()
        } else if matches!(question.aim, Aim::Probability(_)) && question.evidence {
            "--evidence does not go with --numbers f32 for a question about a probability: without it \
             the bounds are computed"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Failure::Usage(message))
    }

    /// Refuses a question about a policy that draws, where an engine or an option does not go with
    /// that.
    pub(crate) fn refuse_drawn(
        &self,
        request: &Request,
        engine: &Registration,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        let Some(policy) = question.policy else { return Ok(()) };
        let rules = policy.semantics();
        if rules.choice != ChoiceRule::Sample {
            return Ok(());
        }
        let name = engine.name;
        let message = if !engine.questions.drawn {
            let others = self.names(|engine| engine.questions.drawn).join(", ");
            format!("--choice sample is not supported by engine {name}; it goes with {others}")
        } else if question.aim == Aim::ReachGoal {
            "--reach-goal does not go with --choice sample: that every run reaches the goal would be \
             asked as if chance never chose well; a property with Pmin or Pmax asks how probable it is"
                .to_owned()
        } else if request.record_queries.is_some() {
            "--record-queries does not go with --choice sample: the format of queries has no word for \
             it"
                .to_owned()
        } else if matches!(question.aim, Aim::Probability(_)) && rules.at_least.is_some() {
            "--at-least does not go with a question about a probability: that counts each label by \
             its probability"
                .to_owned()
        } else if request.exact && policy.law() == Law::Softmax {
            "--exact does not go with --choice sample: probabilities of a softmax are no fractions"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Failure::Usage(message))
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

/// Lets an engine answer. A stop, and a query that stayed open, are answers too: unknown.
pub(crate) fn answer(
    name: &'static str,
    engine: &dyn Engine,
    question: &Question<'_>,
    context: &mut Context<'_>,
) -> Result<Conclusion, EngineError> {
    let begin = Instant::now();
    let mut conclusion = settled(name, engine.answer(question, context))?;
    if conclusion.attempts.is_empty() {
        let result = result_text(&conclusion.answer);
        conclusion.attempts.push(attempt(conclusion.engine, result, begin.elapsed()));
    }
    Ok(conclusion)
}

fn settled(
    engine: &'static str,
    run: Result<Conclusion, EngineError>,
) -> Result<Conclusion, EngineError> {
    let reason = match run {
        Err(EngineError::Stop(reason)) => UnknownReason::Stopped(reason),
        Err(EngineError::Undecided(text)) => UnknownReason::SolverGaveUp(text),
        other => return other,
    };
    Ok(Conclusion::new(
        engine,
        EngineAnswer::Unknown(reason),
        policert_engine_api::Counts::default(),
    ))
}

fn attempt(engine: &str, result: String, time: Duration) -> Attempt {
    Attempt { engine: engine.to_owned(), result, time_s: Some(time.as_secs_f64()) }
}

fn result_text(answer: &EngineAnswer) -> String {
    match answer {
        EngineAnswer::Safe { vacuous: false, .. } => "safe".to_owned(),
        EngineAnswer::Safe { vacuous: true, .. } => "safe (vacuous)".to_owned(),
        EngineAnswer::Unsafe(trace) => match trace.steps.len() {
            1 => "unsafe in 1 step".to_owned(),
            n => format!("unsafe in {n} steps"),
        },
        EngineAnswer::Probability(found) => match (found.holds, &found.unknown) {
            (Some(true), _) => "safe".to_owned(),
            (Some(false), _) => "unsafe".to_owned(),
            (None, None) => "probability bounded".to_owned(),
            (None, Some(reason)) => format!("unknown: {reason}"),
        },
        EngineAnswer::Unknown(reason) => format!("unknown: {reason}"),
    }
}

/// An engine with its configuration.
fn configured<C: Configuration, E: Engine + 'static>(
    preset: &str,
    settings: &[Setting],
    engine: impl FnOnce(Configured<C>) -> E,
) -> Result<Box<dyn Engine>, ConfigurationError> {
    Ok(Box::new(engine(C::choose(preset, settings)?)))
}

/// The name of a configuration, where it is not the only preset.
fn unusual(name: &str) -> Option<String> {
    (name != "native").then(|| name.to_owned())
}
