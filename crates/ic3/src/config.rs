//! Configuration: what reasons are, how they are found, and who answers.

use policert_engine_api::{Configuration, ConfigurationError, Preset, Setting};
use serde::{Deserialize, Serialize};

/// Says what a reason may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
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

/// Says how the policy frame transition problem is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameTransition {
    /// As it is stated, the transition and the choice in one state. [paper: Definition 2, (4)]
    #[default]
    Exact,
    /// The transition and the choice each for itself: APFT. Single states are decided exactly all
    /// the same. [paper: Section 3.3.2, (5)]
    Decoupled,
}

/// Says who answers questions about the environment alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentSolver {
    /// Interval reasoning and bisection.
    #[default]
    Native,
    /// Z3. [paper: Appendix A.3]
    Z3,
}

/// In which order the variables of a reason are generalised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
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

/// Says whether a state that is blocked is asked about again with one more step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescheduling {
    /// It is.
    #[default]
    On,
    /// It is not. [paper: Algorithm 1]
    Off,
}

/// Says how far a new reason goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pushing {
    /// As far as it holds, up to the last frame.
    #[default]
    Far,
    /// To the frame that it was asked for. [paper: Algorithm 1]
    Asked,
}

/// Says what the states of a reason may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Induction {
    /// They may have transitions into the reason itself: it is inductive relative to the frame.
    #[default]
    Relative,
    /// They have no transition into the frame at all. [paper: Assertion 4]
    Absent,
}

/// Configuration of the engine. All of them find the same verdicts, given time.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ic3Config {
    /// Name of the preset.
    pub name: String,
    /// The kind of sets that reasons are. [default: boxes]
    pub reasons: Reasons,
    /// The way in which the policy frame transition problem is decided. [default: exact]
    pub frame_transition: FrameTransition,
    /// After how many boxes that bounds of the scores leave open a question about the policy is
    /// given up, so that the reason stays smaller; 0 for never. Single states are decided in any
    /// case. [default: 16] [paper: bounds over one box, 1]
    pub box_limit: u64,
    /// Who answers questions about the environment alone. Z3 needs `frame-transition =
    /// "decoupled"`. [default: native]
    pub environment: EnvironmentSolver,
    /// In which order the variables of a reason are generalised. [default: learned]
    pub order: VariableOrder,
    /// The transitions that the states of a reason may have. [default: relative]
    pub induction: Induction,
    /// The number of times, in each attempt, that a successor outside of a reason that is being
    /// generalised is made part of it, or of another reason close by; needs `induction =
    /// "relative"`. Variables for which that seldom helps are spared it. [default: 8] [paper: 0]
    pub joins: u32,
    /// The number of states that depth-first search, which goes first, may have open before it
    /// gives up; 0 turns it off. [default: 20000] [paper: 0]
    pub depth_first: usize,
    /// The number of steps up to which a path is looked for before that, by Algorithm 1 with the reasons of
    /// preset `polic3`, which cost little; it is given up after 500 obligations; 0 turns it off. [default: 2]
    /// [paper: 0]
    pub short_paths: usize,
    /// The rule for asking about a blocked state again with one more step. [default: on]
    pub rescheduling: Rescheduling,
    /// The frame up to which a new reason is pushed. [default: far]
    pub pushing: Pushing,
}

/// The presets that come with the engine: name and text.
const PRESETS: [Preset; 5] = [
    ("native", include_str!("../../../configs/ic3/native.toml")),
    ("polic3", include_str!("../../../configs/ic3/polic3.toml")),
    ("polic3-nog", include_str!("../../../configs/ic3/polic3-nog.toml")),
    ("polic3-z3", include_str!("../../../configs/ic3/polic3-z3.toml")),
    ("assignments", include_str!("../../../configs/ic3/assignments.toml")),
];

impl Configuration for Ic3Config {
    fn presets() -> Vec<Preset> {
        PRESETS.to_vec()
    }

    fn check(&self, _: &[Setting]) -> Result<(), ConfigurationError> {
        let contradiction = |problem: &str| {
            let (name, problem) = (self.name.clone(), problem.to_owned());
            Err(ConfigurationError::Contradiction { name, problem })
        };
        let z3 = self.environment == EnvironmentSolver::Z3;
        if z3 && self.frame_transition == FrameTransition::Exact {
            return contradiction(
                "with `environment = \"z3\"` the frame transition must be `decoupled`",
            );
        }
        if self.depth_first > 0 && self.induction == Induction::Absent {
            return contradiction("`depth-first` needs `induction = \"relative\"`; 0 turns it off");
        }
        match z3 && !cfg!(feature = "z3") {
            true => Err(ConfigurationError::NeedsZ3(self.name.clone())),
            false => Ok(()),
        }
    }
}

impl Ic3Config {
    /// How short paths are looked for: as in preset `polic3`.
    #[must_use]
    pub(crate) fn of_short_paths() -> Self {
        Self {
            name: "polic3".to_owned(),
            reasons: Reasons::Assignments,
            frame_transition: FrameTransition::Decoupled,
            box_limit: 1,
            environment: EnvironmentSolver::Native,
            order: VariableOrder::Model,
            induction: Induction::Absent,
            joins: 0,
            depth_first: 0,
            short_paths: 0,
            rescheduling: Rescheduling::Off,
            pushing: Pushing::Asked,
        }
    }
}

impl Default for Ic3Config {
    fn default() -> Self {
        Self {
            name: "native".to_owned(),
            reasons: Reasons::Boxes,
            frame_transition: FrameTransition::Exact,
            box_limit: 16,
            environment: EnvironmentSolver::Native,
            order: VariableOrder::Learned,
            induction: Induction::Relative,
            joins: 8,
            depth_first: 20_000,
            short_paths: 2,
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
        assert_eq!(Ic3Config::preset("native"), Ok(Ic3Config::default()));
    }

    #[test]
    fn short_paths_are_looked_for_as_by_polic3() {
        assert_eq!(Ic3Config::preset("polic3"), Ok(Ic3Config::of_short_paths()));
    }

    #[test]
    fn presets_parse_or_say_that_they_need_z3() {
        for (name, text) in PRESETS {
            match Ic3Config::parse(text, &[]) {
                Ok(chosen) => assert_eq!(chosen.config.name, name),
                Err(error) => assert_eq!(error, ConfigurationError::NeedsZ3(name.to_owned())),
            }
        }
        assert!(Ic3Config::preset("none").is_err());
    }

    #[test]
    fn z3_answers_decoupled_questions_only() {
        let error = Ic3Config::parse("name = \"mine\"\nenvironment = \"z3\"", &[]).expect_err("no");
        assert!(matches!(error, ConfigurationError::Contradiction { .. }), "{error}");
    }
}
