//! The abstraction before the search: predicates and operators.

use policert_engine_api::{EngineError, Question};
use policert_model::{Condition, Predicate, Truth};
use policert_policy::Policy;
use policert_symbolic::{LabelGroup, Operators};

use crate::PredicateSet;
use crate::effects::{Effects, PredicateEffect};
use crate::predicates::require_total;
use crate::region::Region;

/// The abstraction before the search: predicates and operators, ready to expand single states.
#[derive(Debug)]
pub struct Abstraction<'a> {
    pub question: &'a Question<'a>,
    /// The policy; `None` for plain predicate abstraction.
    pub policy: Option<&'a Policy>,
    /// 𝒫.
    pub predicates: PredicateSet,
    /// 𝒪.
    pub operators: Operators,
    effects: Effects,
    not_terminal: Condition,
}

impl<'a> Abstraction<'a> {
    /// Prepares the predicates of the property and the operators of the model.
    ///
    /// # Errors
    /// Fails if the abstraction does not support something in the question.
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
    ) -> Result<Self, EngineError> {
        let predicates = PredicateSet::new(question.model, &question.property.predicates)?;
        let outputs = policy.map_or(&[][..], Policy::outputs);
        let operators = Operators::new(question.model, outputs)?;
        let not_terminal = match &question.terminal {
            None => Condition::True,
            Some(terminal) => {
                require_total(terminal, predicates.domains(), "the terminal condition")?;
                terminal.negate()
            }
        };
        let effects = Effects::new(operators.all());
        Ok(Self { question, policy, predicates, operators, effects, not_terminal })
    }

    /// Adds the atoms of the unsafe condition that 𝒫 lacks: without them abstract states do not tell
    /// unsafe states from others, and nothing about them can be proved. Returns how many there were.
    ///
    /// # Errors
    /// None that [`Abstraction::new`] does not have.
    pub fn add_unsafe_atoms(&mut self) -> Result<usize, EngineError> {
        let unsafe_condition = &self.question.property.unsafe_condition;
        let mut unsafe_atoms = self.predicates.candidates(unsafe_condition);
        unsafe_atoms.retain(|atom| !self.predicates.tells(atom));
        let text = "the unsafe condition".to_owned();
        let predicate = |condition| Predicate { text: text.clone(), condition };
        let new: Vec<Predicate> = unsafe_atoms.into_iter().map(predicate).collect();
        self.predicates.extend(self.question.model, &new)?;
        Ok(new.len())
    }

    /// Refuses a start state outside the domains.
    ///
    /// # Errors
    /// Such a state, as unsupported.
    pub fn require_in_domains(&self, start: &[i64]) -> Result<(), EngineError> {
        if self.predicates.domains().contains(start) {
            return Ok(());
        }
        let state = self.question.model.display_state(start);
        Err(EngineError::Unsupported(format!("a start state outside the domains: {state}")))
    }

    /// The effect of outcome number `d` of operator number `o` on the predicates.
    #[must_use]
    pub fn effect(&self, o: usize, d: usize) -> &PredicateEffect {
        let destination = &self.operators.all()[o].destinations[d];
        self.effects.of((o, d), destination, self.question.model, &self.predicates)
    }

    /// The states, and free choices, in which outcome number `d` of operator number `o` exists and stays
    /// inside all domains.
    #[must_use]
    pub fn valid_region<'c>(&'c self, applicable: &Region<'c>, o: usize, d: usize) -> Region<'c> {
        let sides = self.operators.all()[o].destinations[d].choice_sides(&applicable.sides);
        applicable.extend(sides).restrict(&self.effect(o, d).validity)
    }

    /// Returns whether an outcome without free choices may leave a domain, or not exist, as far as
    /// bounds tell: then it is no transition.
    #[must_use]
    pub fn may_drop(&self, applicable: &Region<'_>, o: usize, d: usize) -> bool {
        self.operators.all()[o].destinations[d].choices.is_empty()
            && self.effect(o, d).validity.iter().any(|c| c.truth(&applicable.sides) != Truth::True)
    }

    /// The operators of a label that may apply in a region, as far as its box shows.
    pub fn possible<'o>(
        &'o self,
        group: &'o LabelGroup,
        states: &'o Region<'_>,
    ) -> impl Iterator<Item = usize> + 'o {
        let is_possible =
            |&o: &usize| self.operators.all()[o].guard.truth(&states.sides) != Truth::False;
        group.operators.iter().copied().filter(is_possible)
    }

    /// That a state is not declared terminal.
    #[must_use]
    pub fn not_terminal(&self) -> &Condition {
        &self.not_terminal
    }
}
