//! A question about a probability, converted to automata: one for the model, one for the policy.

use policert_engine_api::Question;
use policert_mdp::Direction;
use policert_model::Condition;
use policert_policy::Policy;

use crate::automata::WrittenAutomata;
use crate::environment::Environment;
use crate::error::ConvertError;
use crate::expression::check_expression;
use crate::identifiers::Identifiers;
use crate::policy_automaton::{PolicyEncoding, add_policy};

/// A question about the probability of reaching a target.
#[derive(Clone, Debug)]
pub struct Reach<'m> {
    /// Model, start states and target: its unsafe states.
    pub question: Question<'m>,
    /// The condition that has to hold until the target is reached.
    pub stay: Condition,
    /// The best probability.
    pub direction: Direction,
}

/// Says what is converted.
#[derive(Clone, Debug)]
pub struct Conversion<'a> {
    /// The question.
    pub reach: Reach<'a>,
    /// The policy, and how it is written; all actions are allowed without.
    pub policy: Option<(&'a Policy, PolicyEncoding)>,
}

impl WrittenAutomata {
    /// Converts a question.
    ///
    /// # Errors
    /// Names something in the question that cannot be written.
    pub fn new(conversion: &Conversion<'_>) -> Result<Self, ConvertError> {
        let Reach { question, stay, direction } = &conversion.reach;
        let mut names = Identifiers::default();
        let environment = Environment::new(question, &mut names)?;
        let sides = question.model.domains();
        let mut written = Self {
            name: question.model.name.clone(),
            stay: stay.holds_with_cells(&sides),
            target: question.property.unsafe_condition.holds_with_cells(&sides),
            direction: *direction,
            variables: environment.variables,
            automata: vec![environment.automaton],
            actions: environment.actions,
            initial: environment.initial,
        };
        if let Some((policy, encoding)) = conversion.policy {
            add_policy(&mut written, policy, encoding, &environment.labels, &mut names)?;
        }
        for expr in [&written.stay, &written.target] {
            check_expression(expr)?;
        }
        Ok(written)
    }
}
