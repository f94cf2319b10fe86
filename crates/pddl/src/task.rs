//! Grounded tasks: actions over the propositions that change.

use std::collections::BTreeMap;

use policert_numeric::Rational;

use crate::domain::{Atom, Domain, Effect, Test};
use crate::error::PddlError;
use crate::instances::for_each_instance;
use crate::problem::Problem;
use crate::reachable::{MAX_ACTIONS, Reachable};

/// Most outcomes of an action.
const MAX_OUTCOMES: usize = 10_000;

/// A predicate and the objects that it is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroundAtom {
    /// The predicate, or the function.
    pub predicate: usize,
    /// The objects.
    pub objects: Vec<usize>,
}

/// A proposition, by position, and a truth.
pub type GroundLiteral = (usize, bool);

/// A domain and a problem of it, grounded.
///
/// An action is left out if it is applicable in no state over the propositions, and an atom if its
/// truth never changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// The domain.
    pub domain: Domain,
    /// The problem.
    pub problem: Problem,
    /// The atoms whose truth may change.
    pub propositions: Vec<GroundAtom>,
    /// The truth of each proposition at first.
    pub initial: Vec<bool>,
    /// The actions, by schema and then by objects.
    pub actions: Vec<GroundAction>,
    /// What is wanted, all of it; `None` if that can never be.
    pub goal: Option<Vec<GroundLiteral>>,
}

/// An action with its objects.
#[derive(Clone, PartialEq, Debug)]
pub struct GroundAction {
    /// Its schema.
    pub schema: usize,
    /// The objects that its parameters are.
    pub objects: Vec<usize>,
    /// What has to hold.
    pub precondition: Vec<GroundLiteral>,
    /// What may happen; the probabilities are positive and sum to 1.
    pub outcomes: Vec<GroundOutcome>,
}

/// One outcome of an action.
#[derive(Clone, PartialEq, Debug)]
pub struct GroundOutcome {
    /// Its probability.
    pub probability: Rational,
    /// The changes, at once; where a proposition is set to both truths, it holds afterwards.
    pub effects: Vec<GroundEffect>,
    /// The cost.
    pub cost: Rational,
}

/// A change of a proposition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroundEffect {
    /// What has to hold before the action.
    pub condition: Vec<GroundLiteral>,
    /// What changes.
    pub change: GroundLiteral,
}

impl GroundOutcome {
    /// The state after it.
    #[must_use]
    pub fn after(&self, state: &[bool]) -> Vec<bool> {
        let mut after = state.to_vec();
        let happens = |effect: &&GroundEffect| holds(&effect.condition, state);
        for truth in [false, true] {
            for effect in
                self.effects.iter().filter(|effect| effect.change.1 == truth).filter(happens)
            {
                after[effect.change.0] = truth;
            }
        }
        after
    }
}

impl GroundAction {
    /// Returns whether it is applicable in a state.
    #[must_use]
    pub fn is_applicable(&self, state: &[bool]) -> bool {
        holds(&self.precondition, state)
    }
}

fn holds(literals: &[GroundLiteral], state: &[bool]) -> bool {
    literals.iter().all(|&(proposition, truth)| state[proposition] == truth)
}

impl Task {
    /// Grounds a problem. Stops where `stop` says so.
    ///
    /// # Errors
    /// More than [`MAX_ACTIONS`] actions, a cost without value, or a stop.
    pub fn ground(
        domain: Domain,
        problem: Problem,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, PddlError> {
        let reachable = Reachable::of(&domain, &problem, stop)?;
        let propositions = reachable.propositions();
        let positions: BTreeMap<&GroundAtom, usize> =
            propositions.iter().enumerate().map(|(i, atom)| (atom, i)).collect();
        let initial = propositions.iter().map(|atom| problem.initial.contains(atom)).collect();
        let mut actions: Vec<GroundAction> = Vec::new();
        for (position, schema) in reachable.domain().schemas.iter().enumerate() {
            let begin = actions.len();
            for_each_instance(&reachable, schema, stop, &mut |objects| {
                if actions.len() == MAX_ACTIONS {
                    let message =
                        format!("more than {MAX_ACTIONS} ground actions are not supported");
                    return Err(PddlError::TooLarge(message));
                }
                let grounder = Grounder { reachable: &reachable, positions: &positions, objects };
                // It may be applicable, so no test fails in all states.
                let precondition = grounder.literals(&schema.precondition).unwrap_or_default();
                let mut outcomes = grounder.outcomes(&schema.effect, &problem)?;
                // Those of the same changes stay apart: that costs nothing.
                outcomes.retain(|outcome| outcome.probability.signum() > 0);
                actions.push(GroundAction {
                    schema: position,
                    objects: objects.to_vec(),
                    precondition,
                    outcomes,
                });
                Ok(())
            })?;
            actions[begin..].sort_by(|a, b| a.objects.cmp(&b.objects));
        }
        let mut goal = (!problem.is_goal_contradictory).then(Vec::new);
        for (atom, truth) in &problem.goal {
            match positions.get(atom) {
                Some(&proposition) => {
                    if let Some(goal) = &mut goal {
                        goal.push((proposition, *truth));
                    }
                }
                None if reachable.may_be(atom, *truth) => {}
                None => goal = None,
            }
        }
        Ok(Self { propositions, initial, actions, goal, domain, problem })
    }

    /// The name of a ground atom: `on(a,b)`, or `handempty`.
    #[must_use]
    pub fn atom_name(&self, atom: &GroundAtom) -> String {
        self.applied(&self.domain.predicates[atom.predicate].name, &atom.objects)
    }

    /// The name of an action: `stack(a,b)`.
    #[must_use]
    pub fn action_name(&self, action: &GroundAction) -> String {
        self.applied(&self.domain.schemas[action.schema].name, &action.objects)
    }

    fn applied(&self, name: &str, objects: &[usize]) -> String {
        if objects.is_empty() {
            return name.to_owned();
        }
        let name_of = |&object: &usize| self.problem.objects[object].name.as_str();
        format!("{name}({})", objects.iter().map(name_of).collect::<Vec<_>>().join(","))
    }

    /// Returns whether a state satisfies the goal.
    #[must_use]
    pub fn is_goal(&self, state: &[bool]) -> bool {
        self.goal.as_ref().is_some_and(|goal| holds(goal, state))
    }
}

/// Grounds the parts of one action.
struct Grounder<'a> {
    reachable: &'a Reachable<'a>,
    positions: &'a BTreeMap<&'a GroundAtom, usize>,
    objects: &'a [usize],
}

impl Grounder<'_> {
    /// The tests on propositions; `None` if a test fails in all states.
    fn literals(&self, tests: &[Test]) -> Option<Vec<GroundLiteral>> {
        let mut literals = Vec::new();
        for test in tests {
            if !self.reachable.may_pass(test, self.objects) {
                return None;
            }
            if let Test::Holds(atom, truth) = test
                && let Some(&proposition) = self.positions.get(&atom.ground(self.objects))
                && !literals.contains(&(proposition, *truth))
            {
                literals.push((proposition, *truth));
            }
        }
        Some(literals)
    }

    /// The outcomes of an effect.
    fn outcomes(
        &self,
        effect: &Effect,
        problem: &Problem,
    ) -> Result<Vec<GroundOutcome>, PddlError> {
        let nothing =
            GroundOutcome { probability: Rational::ONE, effects: Vec::new(), cost: Rational::ZERO };
        Ok(match effect {
            Effect::Set(atom, truth) => {
                let mut outcome = nothing;
                outcome.effects.extend(self.change(atom, *truth));
                vec![outcome]
            }
            Effect::All(effects) => {
                let mut product = vec![nothing];
                for effect in effects {
                    let outcomes = self.outcomes(effect, problem)?;
                    let both = |first: &GroundOutcome| {
                        let both = |second: &GroundOutcome| first.and(second);
                        outcomes.iter().map(both).collect::<Vec<_>>()
                    };
                    if product.len().saturating_mul(outcomes.len()) > MAX_OUTCOMES {
                        let message = format!(
                            "more than {MAX_OUTCOMES} outcomes of an action are not supported"
                        );
                        return Err(PddlError::TooLarge(message));
                    }
                    product = product.iter().flat_map(both).collect();
                }
                product
            }
            Effect::When(tests, effect) => match self.literals(tests) {
                None => vec![nothing],
                Some(condition) => {
                    let mut outcomes = self.outcomes(effect, problem)?;
                    for effect in outcomes.iter_mut().flat_map(|outcome| &mut outcome.effects) {
                        effect.condition.extend(condition.iter().copied());
                    }
                    outcomes
                }
            },
            Effect::OneOf(effects) => {
                let mut outcomes = Vec::new();
                let mut rest = Rational::ONE;
                for (probability, effect) in effects {
                    rest = &rest - probability;
                    for mut outcome in self.outcomes(effect, problem)? {
                        outcome.probability = &outcome.probability * probability;
                        outcomes.push(outcome);
                    }
                }
                outcomes.push(GroundOutcome { probability: rest, ..nothing });
                outcomes
            }
            Effect::Cost(cost) => vec![GroundOutcome { cost: cost.clone(), ..nothing }],
            Effect::CostOf(atom) => {
                let atom = atom.ground(self.objects);
                let Some(cost) = problem.values.get(&atom) else {
                    let function = &self.reachable.domain().functions[atom.predicate].name;
                    let name = |&object: &usize| problem.objects[object].name.as_str();
                    let objects: Vec<&str> = atom.objects.iter().map(name).collect();
                    let message = format!(
                        "the initial state of `{}` gives no value of ({function} {}), which an \
                         action costs",
                        problem.name,
                        objects.join(" ")
                    );
                    return Err(PddlError::NoCost(message));
                };
                vec![GroundOutcome { cost: cost.clone(), ..nothing }]
            }
        })
    }

    /// The change of an atom, if it is a proposition.
    fn change(&self, atom: &Atom, truth: bool) -> Option<GroundEffect> {
        let proposition = *self.positions.get(&atom.ground(self.objects))?;
        Some(GroundEffect { condition: Vec::new(), change: (proposition, truth) })
    }
}

impl GroundOutcome {
    /// Both outcomes, where they are independent.
    fn and(&self, other: &Self) -> Self {
        let mut effects = self.effects.clone();
        effects.extend(other.effects.iter().cloned());
        Self {
            probability: &self.probability * &other.probability,
            effects,
            cost: &self.cost + &other.cost,
        }
    }
}
