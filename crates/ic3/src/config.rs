//! Configuration: what reasons are, how they are found, and who answers.

use serde::Deserialize;
use thiserror::Error;

/// What a reason may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reasons {
    /// An interval for each variable.
    #[default]
    Boxes,
    /// A partial assignment: each variable has one value or any. [paper: Section 3.1]
    Assignments,
    /// A single state: no generalisation. [paper: the ablation `nog`]
    States,
}

/// How the policy frame transition problem is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameTransition {
    /// As it is stated, the transition and the choice in one state. [paper: Definition 2, (4)]
    #[default]
    Exact,
    /// The transition and the choice each for itself: APFT. Single states are decided exactly all
    /// the same. [paper: Section 3.3.2, (5)]
    Decoupled,
}

/// Who answers questions about the environment alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentSolver {
    /// Interval reasoning and bisection.
    #[default]
    Native,
    /// Z3. [paper: Appendix A.3]
    Z3,
}

/// In which order the variables of a reason are generalised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariableOrder {
    /// As the model declares them.
    Model,
    /// Those first whose value changes the scores least around the state.
    Influence,
    /// Those first that the fewest guards, updates and conditions of the property read.
    Dependency,
    /// Those first that could be dropped most often so far.
    #[default]
    Learned,
}

/// Whether a state that is blocked is asked about again with one more step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescheduling {
    /// It is.
    #[default]
    On,
    /// It is not. [paper: Algorithm 1]
    Off,
}

/// How far a new reason goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pushing {
    /// As far as it holds, up to the last frame.
    #[default]
    Far,
    /// To the frame that it was asked for. [paper: Algorithm 1]
    Asked,
}

/// What the states of a reason may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Induction {
    /// They may have transitions into the reason itself: it is inductive relative to the frame.
    #[default]
    Relative,
    /// They have no transition into the frame at all. [paper: Assertion 4]
    Absent,
}

/// Configuration of the engine. All of them find the same verdicts, given time.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// Name of the preset.
    pub name: String,
    /// What a reason may be. [default: boxes]
    #[serde(default)]
    pub reasons: Reasons,
    /// How the policy frame transition problem is decided. [default: exact]
    #[serde(default)]
    pub frame_transition: FrameTransition,
    /// After how many boxes that bounds of the scores leave open a question about the policy is
    /// given up, so that the reason stays smaller; 0 for never. Single states are decided in any
    /// case. [default: 16] [paper: bounds over one box, 1]
    #[serde(default = "box_limit")]
    pub box_limit: u64,
    /// Who answers questions about the environment alone. Z3 needs `frame-transition =
    /// "decoupled"`. [default: native]
    #[serde(default)]
    pub environment: EnvironmentSolver,
    /// In which order the variables of a reason are generalised. [default: learned]
    #[serde(default)]
    pub order: VariableOrder,
    /// What the states of a reason may do. [default: relative]
    #[serde(default)]
    pub induction: Induction,
    /// How often a successor outside of a reason that is being generalised is made part of it, or
    /// of another reason close by, for each attempt; needs `induction = "relative"`. Variables for
    /// which that seldom helps are spared it. [default: 8] [paper: 0]
    #[serde(default = "joins")]
    pub joins: u32,
    /// How many states depth-first search, which goes first, may have open before it gives up; 0
    /// for none. [default: 20000] [paper: 0]
    #[serde(default = "depth_first")]
    pub depth_first: usize,
    /// Whether a blocked state is asked about again with one more step. [default: on]
    #[serde(default)]
    pub rescheduling: Rescheduling,
    /// How far a new reason goes. [default: far]
    #[serde(default)]
    pub pushing: Pushing,
}

fn joins() -> u32 {
    8
}

fn depth_first() -> usize {
    20_000
}

fn box_limit() -> u64 {
    16
}

/// A preset that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No preset of this name.
    #[error("engine ic3 has no preset `{name}`; there are {known}")]
    UnknownPreset {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A file that does not parse.
    #[error("preset: {0}")]
    Parse(String),
    /// Settings that do not go together.
    #[error("preset `{name}`: {problem}")]
    Contradiction {
        /// The preset.
        name: String,
        /// What does not go together.
        problem: String,
    },
    /// Z3 is not built in.
    #[error(
        "preset `{0}` needs Z3, which is not built in: build with `./x build`, or with \
         `cargo build --release --features z3` and the Z3 library in place"
    )]
    NeedsZ3(String),
}

/// The presets that come with the engine: name and text.
const PRESETS: [(&str, &str); 5] = [
    ("native", include_str!("../../../configs/ic3/native.toml")),
    ("polic3", include_str!("../../../configs/ic3/polic3.toml")),
    ("polic3-nog", include_str!("../../../configs/ic3/polic3-nog.toml")),
    ("polic3-z3", include_str!("../../../configs/ic3/polic3-z3.toml")),
    ("assignments", include_str!("../../../configs/ic3/assignments.toml")),
];

impl Config {
    /// The preset of this name.
    ///
    /// # Errors
    /// An unknown name, or a preset that needs a solver that is not built in.
    pub fn preset(name: &str) -> Result<Self, ConfigError> {
        match PRESETS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(text),
            None => Err(ConfigError::UnknownPreset {
                name: name.to_owned(),
                known: Self::preset_names().join(", "),
            }),
        }
    }

    /// Names of the presets.
    #[must_use]
    pub fn preset_names() -> Vec<&'static str> {
        PRESETS.iter().map(|(name, _)| *name).collect()
    }

    /// Reads the text of a preset file.
    ///
    /// # Errors
    /// Text that does not parse, settings that do not go together, or a preset that needs a solver
    /// that is not built in.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let offset = error.span().map(|span| span.start);
            ConfigError::Parse(policert_files::placed(text, offset, error.message()))
        })?;
        let z3 = config.environment == EnvironmentSolver::Z3;
        if z3 && config.frame_transition == FrameTransition::Exact {
            return Err(ConfigError::Contradiction {
                name: config.name,
                problem: "with `environment = \"z3\"` the frame transition must be `decoupled`"
                    .to_owned(),
            });
        }
        if config.depth_first > 0 && config.induction == Induction::Absent {
            return Err(ConfigError::Contradiction {
                name: config.name,
                problem: "`depth-first` needs `induction = \"relative\"`; 0 turns it off"
                    .to_owned(),
            });
        }
        if z3 && !cfg!(feature = "z3") {
            return Err(ConfigError::NeedsZ3(config.name));
        }
        Ok(config)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: "native".to_owned(),
            reasons: Reasons::Boxes,
            frame_transition: FrameTransition::Exact,
            box_limit: box_limit(),
            environment: EnvironmentSolver::Native,
            order: VariableOrder::Learned,
            induction: Induction::Relative,
            joins: joins(),
            depth_first: depth_first(),
            rescheduling: Rescheduling::On,
            pushing: Pushing::Far,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_native_preset() {
        assert_eq!(Config::preset("native"), Ok(Config::default()));
    }

    #[test]
    fn presets_parse_or_say_that_they_need_z3() {
        for (name, text) in PRESETS {
            match Config::parse(text) {
                Ok(config) => assert_eq!(config.name, name),
                Err(error) => assert_eq!(error, ConfigError::NeedsZ3(name.to_owned())),
            }
        }
        assert!(Config::preset("none").is_err());
    }

    #[test]
    fn z3_answers_decoupled_questions_only() {
        let error =
            Config::parse("name = \"mine\"\nenvironment = \"z3\"").expect_err("it does not");
        assert!(matches!(error, ConfigError::Contradiction { .. }), "{error}");
    }
}
