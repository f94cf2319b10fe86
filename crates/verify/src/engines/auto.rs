//! The portfolio: a cheap look at the model, then its members until one is conclusive.
//!
//! Few states: explicit search. Otherwise guided search for an unsafe state and explicit search of the
//! first states; then policy predicate abstraction, abstraction refinement, IC3, and explicit search as far as
//! the memory reaches side by side: in turns where there are fewer threads than members. The first conclusive one stops the
//! others. Questions about probabilities go to `prob`.

mod side_by_side;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use policert_engine_api::configuration::{default_table, unknown_key};
use policert_engine_api::{
    Aim, Attempt, Budget, Conclusion, Configuration, ConfigurationError, Context, Engine,
    EngineAnswer, EngineError, Preset, Question, Setting, StopReason, StuckRule, UnknownReason,
};
use policert_explore::ExplicitConfig;
use policert_model::{DomainRule, Model};
use policert_outcome::available_memory;
use serde::{Deserialize, Serialize};

use super::cegar::{self, Cegar};
use super::explicit::Explicit;
use super::guided::Guided;
use super::ic3::Ic3;
use super::ppa::Ppa;
use super::prob::{self, Prob};
use super::{AnsweredQuestions, Registration, attempt, result_text, settled};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "auto",
    help: "a portfolio",
    questions: AnsweredQuestions {
        safety: true,
        runs: true,
        probability: true,
        standard: true,
        drawn: true,
    },
    passes_on: Some("prob"),
    options: &[
        EngineOption::Predicates,
        EngineOption::Last,
        EngineOption::KeepGoing,
        EngineOption::StopAtFirstUnsafe,
        EngineOption::BuildAll,
        EngineOption::RecordQueries,
        EngineOption::StateLimit,
        EngineOption::Threads,
    ],
    presets: Settings::presets,
    configure: |preset, settings| Ok(Box::new(Auto::new(preset, settings)?)),
};

/// Presets of the members.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Settings {
    explicit: String,
    ppa: String,
    cegar: String,
    ic3: String,
    prob: String,
}

impl Default for Settings {
    fn default() -> Self {
        let native = || "native".to_owned();
        Self { explicit: native(), ppa: native(), cegar: native(), ic3: native(), prob: native() }
    }
}

impl Configuration for Settings {
    fn presets() -> Vec<Preset> {
        vec![("native", include_str!("../../../../configs/auto/native.toml"))]
    }
}

/// The portfolio with its members.
#[derive(Clone)]
struct Auto {
    explicit: Explicit,
    ppa: Ppa,
    cegar: Cegar,
    ic3: Ic3,
    prob: Prob,
}

impl Auto {
    /// The members with their presets; a setting such as `cegar.scope` goes to the member. What a program
    /// that asks many questions leaves as it is, is read once.
    fn new(preset: &str, settings: &[Setting]) -> Result<Self, ConfigurationError> {
        static USUAL: OnceLock<Auto> = OnceLock::new();
        if !settings.is_empty() || Settings::presets().first().is_none_or(|usual| usual.0 != preset)
        {
            return Self::read(preset, settings);
        }
        if let Some(usual) = USUAL.get() {
            return Ok(usual.clone());
        }
        let usual = Self::read(preset, settings)?;
        Ok(USUAL.get_or_init(|| usual).clone())
    }

    fn read(preset: &str, settings: &[Setting]) -> Result<Self, ConfigurationError> {
        let (of_members, own): (Vec<Setting>, Vec<Setting>) =
            settings.iter().cloned().partition(|setting| setting.key.contains('.'));
        let keys = Self::keys()?;
        if let Some(unknown) = settings.iter().find(|setting| !keys.contains(&setting.key)) {
            return Err(ConfigurationError::Setting(unknown_key(&unknown.key, &keys)));
        }
        let chosen = Settings::choose(preset, &own)?.config;
        let of = |member: &str| -> Vec<Setting> {
            let inner = |setting: &Setting| {
                let (first, key) = setting.key.split_once('.')?;
                let (key, value) = (key.to_owned(), setting.value.clone());
                (first == member).then_some(Setting { key, value })
            };
            of_members.iter().filter_map(inner).collect()
        };
        Ok(Self {
            explicit: Explicit(Configuration::choose(&chosen.explicit, &of("explicit"))?),
            ppa: Ppa(Configuration::choose(&chosen.ppa, &of("ppa"))?),
            cegar: Cegar(Configuration::choose(&chosen.cegar, &of("cegar"))?),
            ic3: Ic3(Configuration::choose(&chosen.ic3, &of("ic3"))?),
            prob: Prob(Configuration::choose(&chosen.prob, &of("prob"))?),
        })
    }

    /// The keys of its own, and those of the members with their names before them.
    fn keys() -> Result<Vec<String>, ConfigurationError> {
        let members = [
            ("explicit", default_table::<ExplicitConfig>()?),
            ("ppa", default_table::<policert_ppa::PpaConfig>()?),
            ("cegar", default_table::<cegar::Settings>()?),
            ("ic3", default_table::<policert_ic3::Ic3Config>()?),
            ("prob", default_table::<prob::Settings>()?),
        ];
        let of_members = members.iter().flat_map(|(member, table)| {
            let keys = table.keys().filter(|key| *key != "name");
            keys.map(move |key| format!("{member}.{key}"))
        });
        Ok(members.iter().map(|(name, _)| (*name).to_owned()).chain(of_members).collect())
    }
}

/// States of the first look.
const FIRST_LOOK: u32 = 200_000;
/// Memory where nothing is known, in bytes.
const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// A member of the portfolio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Guided,
    /// Explicit search of at most this many states.
    Explicit(u64),
    Ppa,
    Cegar,
    Ic3,
}

impl Member {
    fn name(self) -> &'static str {
        match self {
            Self::Guided => "guided",
            Self::Explicit(_) => "explicit",
            Self::Ppa => "ppa",
            Self::Cegar => "cegar",
            Self::Ic3 => "ic3",
        }
    }

    fn engine(self, auto: &Auto) -> &dyn Engine {
        match self {
            Self::Guided => &Guided,
            Self::Explicit(_) => &auto.explicit,
            Self::Ppa => &auto.ppa,
            Self::Cegar => &auto.cegar,
            Self::Ic3 => &auto.ic3,
        }
    }

    /// How long its turns are, as a multiple of the shortest ones.
    fn share(self) -> u32 {
        match self {
            Self::Ppa | Self::Cegar | Self::Explicit(_) => 2,
            Self::Guided | Self::Ic3 => 1,
        }
    }

    /// A budget for it: what is left of the time, or half of that if others wait for its end.
    fn budget(self, whole: &Budget, others_wait: bool) -> Budget {
        let left = whole.remaining();
        let budget = whole.within(if others_wait { left.map(|left| left / 2) } else { left });
        match self {
            Self::Explicit(states) => budget.with_states(states),
            Self::Guided | Self::Ppa | Self::Cegar | Self::Ic3 => budget,
        }
    }
}

impl Engine for Auto {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        match question.aim {
            Aim::AvoidUnsafe => portfolio(self, question, context),
            Aim::ReachGoal => self.explicit.answer(question, context),
            Aim::Probability(_) => self.prob.answer(question, context),
        }
    }
}

fn portfolio(
    auto: &Auto,
    question: &Question<'_>,
    context: &mut Context<'_>,
) -> Result<Conclusion, EngineError> {
    let all = states_in_memory(question.model, &context.budget);
    let few = points(question.model) <= f64::from(FIRST_LOOK);
    let builds = question.build_all || question.keep_going;
    let first_look = Member::Explicit(all.min(FIRST_LOOK.into()));
    let (mut in_a_row, mut in_turns) = if few || builds {
        (vec![Member::Explicit(all), Member::Cegar], Vec::new())
    } else {
        (
            vec![Member::Guided, first_look],
            vec![Member::Ppa, Member::Cegar, Member::Explicit(all), Member::Ic3],
        )
    };
    let mut portfolio = Portfolio::default();
    let mut pass_over_symbolic = |why: &str| {
        for members in [&mut in_a_row, &mut in_turns] {
            members.retain(|member| matches!(member, Member::Guided | Member::Explicit(_)));
        }
        for member in [Member::Ppa, Member::Cegar, Member::Ic3] {
            portfolio.pass_over(member, why);
        }
    };
    if question.domain_rule == DomainRule::Error {
        pass_over_symbolic(
            "it does not decide whether an update that leaves a domain is reachable",
        );
    }
    if question.stuck == StuckRule::Unsafe {
        pass_over_symbolic("it does not tell where a run gets stuck");
    }
    // Queries are recorded in the order in which one member asks them after another.
    if context.recorder.is_some() || in_turns.len() == 1 {
        in_a_row.append(&mut in_turns);
    }
    let mut waiting = in_a_row.into_iter().peekable();
    while let Some(member) = waiting.next() {
        let begin = Instant::now();
        let others_wait = waiting.peek().is_some() || !in_turns.is_empty();
        let budget = member.budget(&context.budget, others_wait);
        let (_, observer, recorder) = context.parts();
        let mut own = Context { recorder, ..Context::new(budget, observer) };
        let run = member.engine(auto).answer(question, &mut own);
        let mut ends = vec![StopReason::Memory, StopReason::Interrupted];
        if context.budget.remaining().is_some_and(|left| left.is_zero()) {
            ends.push(StopReason::Time);
        }
        if portfolio.note(member, run, begin.elapsed(), &ends)? == Next::Stop {
            for member in waiting.chain(in_turns) {
                portfolio.pass_over(member, "the run had ended");
            }
            return portfolio.finish(&context.budget);
        }
    }
    if !in_turns.is_empty() {
        side_by_side::run(&mut portfolio, auto, question, context, &in_turns)?;
    }
    portfolio.finish(&context.budget)
}

/// The last limit of states is one of memory, unless the user gave it.
fn of_memory(mut run: Conclusion, member: Member, budget: &Budget) -> Conclusion {
    if let EngineAnswer::Unknown(UnknownReason::Stopped(StopReason::States(limit))) = run.answer
        && budget.limits().states.is_none()
        && member == Member::Explicit(limit)
        && limit > FIRST_LOOK.into()
    {
        run.answer = EngineAnswer::Unknown(UnknownReason::Stopped(StopReason::Memory));
    }
    run
}

/// Says whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

#[derive(Default)]
struct Portfolio {
    attempts: Vec<Attempt>,
    last: Option<(Member, Conclusion)>,
    refused: Vec<EngineError>,
}

impl Portfolio {
    fn pass_over(&mut self, member: Member, why: &str) {
        // One that runs twice is named once.
        let engine = member.name();
        if self.attempts.iter().any(|attempt| attempt.engine == engine) {
            return;
        }
        let result = format!("not tried: {why}");
        self.attempts.push(Attempt { engine: engine.to_owned(), result, time_s: None });
    }

    /// Notes that a member was stopped by another, after so much work.
    fn stopped(&mut self, member: Member, why: &str, time: Duration) {
        self.attempts.push(attempt(member.name(), format!("stopped: {why}"), time));
    }

    /// Notes what a member found, after so much work. A stop for one of `ends` is the end of all.
    fn note(
        &mut self,
        member: Member,
        run: Result<Conclusion, EngineError>,
        time: Duration,
        ends: &[StopReason],
    ) -> Result<Next, EngineError> {
        let engine = member.name();
        match settled(engine, run) {
            Ok(run) => {
                self.attempts.push(attempt(engine, result_text(&run.answer), time));
                let next = match &run.answer {
                    EngineAnswer::Unknown(UnknownReason::Stopped(reason))
                        if ends.contains(reason) =>
                    {
                        Next::Stop
                    }
                    EngineAnswer::Unknown(_) => Next::Continue,
                    _ => Next::Stop,
                };
                self.last = Some((member, run));
                Ok(next)
            }
            Err(error @ EngineError::Unsupported(_)) => {
                self.attempts.push(attempt(engine, error.to_string(), time));
                self.refused.push(error);
                Ok(Next::Continue)
            }
            // Another member may meet an unsafe state before the error.
            Err(error @ EngineError::Modelling(_)) if member == Member::Guided => {
                self.attempts.push(attempt(engine, error.to_string(), time));
                self.refused.push(error);
                Ok(Next::Continue)
            }
            Err(error) => Err(error),
        }
    }

    /// What the run comes to, within this budget.
    fn finish(self, budget: &Budget) -> Result<Conclusion, EngineError> {
        match (self.last, self.refused.into_iter().next()) {
            (Some((member, run)), _) => {
                let run = of_memory(run, member, budget);
                Ok(Conclusion { attempts: self.attempts, ..run })
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(EngineError::Internal("no engine ran".to_owned())),
        }
    }
}

/// Returns how many states explicit search may store: half of the memory that may be used, by an
/// estimate of what a state takes.
fn states_in_memory(model: &Model, budget: &Budget) -> u64 {
    let free = available_memory().unwrap_or(DEFAULT_MEMORY);
    let memory = budget.limits().memory.map_or(free, |limit| limit.min(free));
    let bits = model.variables.iter().map(|v| match v.domain.count() {
        Some(count) => u64::from(128 - count.leading_zeros()),
        None => 64,
    });
    let packed = bits.sum::<u64>().div_ceil(64) * 8;
    // The state itself, its slot in the table while that grows, and what is known of some.
    let bytes = packed + 16;
    (memory / 2 / bytes).max(1000)
}

/// Points of the domains, roughly; infinite if a variable is unbounded.
fn points(model: &Model) -> f64 {
    let sizes = model.variables.iter().map(|v| match v.domain.count() {
        #[expect(clippy::cast_precision_loss, reason = "an order of magnitude")]
        Some(count) => count as f64,
        None => f64::INFINITY,
    });
    sizes.product()
}
