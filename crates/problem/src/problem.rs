//! A problem: model, property and policy, loaded and fitted together.

use std::path::Path;

use policert_engine_api::{Aim, Question, StuckRule};
use policert_jani::property::{StandardProperty, TrainingRewards};
use policert_model::{Condition, DomainRule, Model, SafetyProperty};
use policert_outcome::Input;
use policert_policy::Policy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::semantics::semantics;
use crate::{
    DomainSetting, InitialStates, ProblemOptions, QuestionAim, SemanticsRecord, StateSpace,
    StuckStates,
};

/// A question with everything that its answer needs.
#[derive(Debug)]
pub struct Problem {
    /// The model.
    pub model: Model,
    /// The property.
    pub property: SafetyProperty,
    /// The standard property that `property` stands for, if the question is one: its unsafe states
    /// are what is to be reached.
    pub standard: Option<StandardProperty>,
    /// True if the model calls itself a Markov chain (`dtmc`): several operators in a state are no
    /// choice then.
    pub is_markov_chain: bool,
    /// The rewards that its objective sets for training.
    pub rewards: TrainingRewards,
    /// The policy; `None` allows all actions.
    pub policy: Option<Policy>,
    /// The meaning that the verdict will have.
    pub semantics: SemanticsRecord,
    /// The question as it was asked.
    pub record: ProblemRecord,
    /// The files that were read.
    pub inputs: Vec<Input>,
    pub(crate) terminal: Option<Condition>,
    pub(crate) options: ProblemOptions,
    pub(crate) ignored_keys: Vec<String>,
}

impl Problem {
    /// Makes a problem of parts that are there already. It means what [`ProblemOptions::new`] says;
    /// without policy all actions are allowed.
    #[must_use]
    pub fn from_parts(model: Model, property: SafetyProperty, policy: Option<Policy>) -> Self {
        let options = ProblemOptions::new(Path::new(&model.name));
        let semantics = semantics(&options, &model, &property, policy.as_ref(), &[], None);
        let record = ProblemRecord {
            model: model.name.clone(),
            property: property.name.clone(),
            initial_states: true,
            ..ProblemRecord::default()
        };
        Self {
            model,
            property,
            standard: None,
            is_markov_chain: false,
            rewards: TrainingRewards::default(),
            policy,
            semantics,
            record,
            inputs: Vec::new(),
            terminal: None,
            options,
            ignored_keys: Vec::new(),
        }
    }

    /// Returns what was chosen about the question.
    #[must_use]
    pub fn options(&self) -> &ProblemOptions {
        &self.options
    }

    /// The question for the engines.
    #[must_use]
    pub fn question(&self) -> Question<'_> {
        Question {
            domain_rule: match self.options.domain {
                DomainSetting::Drop => DomainRule::Drop,
                DomainSetting::Error => DomainRule::Error,
            },
            terminal: self.terminal.clone(),
            aim: match self.options.aim {
                QuestionAim::AvoidUnsafe => Aim::AvoidUnsafe,
                QuestionAim::ReachGoal => Aim::ReachGoal,
            },
            stuck: match self.options.stuck {
                StuckStates::Allowed => StuckRule::Allowed,
                StuckStates::Unsafe => StuckRule::Unsafe,
            },
            initial_states: self.options.initial_states == InitialStates::Included,
            keep_going: matches!(self.options.state_space, StateSpace::Reachable | StateSpace::All),
            stop_at_first_unsafe: self.options.state_space == StateSpace::UntilUnsafe,
            build_all: self.options.state_space == StateSpace::All,
            policy: self.policy.as_ref(),
            ..Question::new(&self.model, &self.property)
        }
    }
}

/// A question as it was asked, for evidence.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProblemRecord {
    /// The model file.
    pub model: String,
    /// The file of the problem, where the model is a domain in PDDL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pddl_problem: Option<String>,
    /// Name of the property.
    pub property: String,
    /// The file of the property; `null` for a property of the model.
    pub property_file: Option<String>,
    /// Position of the property in its file or in the model.
    pub property_index: Option<usize>,
    /// The condition of unsafe states as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_states: Option<String>,
    /// The condition of start states, or its file, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_states: Option<String>,
    /// Values given for constants.
    pub constants: Map<String, Value>,
    /// The interface file.
    pub interface: Option<String>,
    /// The policy file.
    pub policy: Option<String>,
    /// The output of the policy file that holds the scores, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<String>,
    /// The condition of terminal states as it was given.
    pub terminal: Option<String>,
    /// The condition of goal states as it was given.
    #[serde(default)]
    pub goal: Option<String>,
    /// True if the model's own initial states are start states besides.
    pub initial_states: bool,
}
