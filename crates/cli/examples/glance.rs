//! A program with an engine of its own: it looks at start states, and no further.

use std::process::ExitCode;

use policert_engine_api::{
    Conclusion, Configuration, Configured, Context, Counts, Engine, EngineError, Preset, Question,
    Trace, UnknownReason, Verdict,
};
use policert_verify::{AnsweredQuestions, EngineOption, Registration, Registry};
use serde::{Deserialize, Serialize};

/// The engine, as the help, the list of presets and the check of options know it.
pub const GLANCE: Registration = Registration {
    name: "glance",
    help: "a look at start states",
    questions: AnsweredQuestions::SAFETY,
    passes_on: None,
    options: &[EngineOption::StopAtFirstUnsafe],
    presets: Settings::presets,
    configure: |preset, settings| Ok(Box::new(Glance(Settings::choose(preset, settings)?))),
};

/// Its settings, which are the keys of presets and of `--set`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settings {
    /// The greatest number of start states that it looks at.
    most_states: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { most_states: 1000 }
    }
}

impl Configuration for Settings {
    fn presets() -> Vec<Preset> {
        vec![("native", "name = \"native\""), ("short", "name = \"short\"\nmost-states = 1")]
    }
}

struct Glance(Configured<Settings>);

impl Engine for Glance {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        // An engine that answers one kind of question says so.
        question.require_safety("glance")?;
        let (mut seen, mut found) = (0, None);
        question.for_each_start_state(&mut context.budget, &mut |state| {
            seen += 1;
            if found.is_none() && seen <= self.0.config.most_states && question.is_unsafe(state) {
                found = Some(state.to_vec());
            }
            Ok(())
        })?;
        let verdict = match found {
            // The trace is replayed before anyone sees the verdict.
            Some(start) => Verdict::Unsafe(Trace { start, steps: Vec::new() }),
            None if seen == 0 => Verdict::Safe { vacuous: true },
            None => Verdict::Unknown(UnknownReason::StepLimit { steps: 0 }),
        };
        let counts = Counts { start_states: seen, reachable_states: seen, ..Counts::default() };
        let preset = Some(self.0.name.clone());
        Ok(Conclusion { preset, ..Conclusion::new("glance", verdict, counts) })
    }
}

/// The whole program.
#[allow(dead_code, reason = "a test calls what is above")]
fn main() -> ExitCode {
    policert_cli::main(Registry::standard().with(GLANCE))
}
