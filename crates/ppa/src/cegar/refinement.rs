//! Refinement: from the place where an abstract unsafe path breaks to new predicates.
//!
//! Every refinement is strict: one of its predicates tells states apart that were in one abstract
//! state of the path. This is checked, and where the predicates of the reason do not, the
//! concretisation is separated from the abstract state's witness by a threshold. On finitely many
//! states the loop therefore ends.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State, VarId};

use super::choice_split::{ChoiceSplit, Cut};
use super::config::SplitConfig;
use super::path::{AbstractPath, Requirement, RequirementKind};
use super::path_condition::PathCondition;
use super::policy_choice::PolicyChoice;
use super::weakest_precondition::{AtomAtStep, propagate};
use crate::engine::Abstraction;
use crate::queries::Queries;

/// What a predicate, or a refinement, comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// The unsafe condition, or the property's own list.
    Property,
    /// A guard.
    Guard,
    /// The policy's choice.
    Choice,
    /// The next abstract state, or the unsafe condition at the end.
    Target,
    /// The outcome of an operator, or the terminal condition.
    Outcome,
    /// A concretisation and a witness that nothing else tells apart.
    Separation,
}

impl Origin {
    fn of(kind: RequirementKind) -> Self {
        match kind {
            RequirementKind::Guard => Self::Guard,
            RequirementKind::Target | RequirementKind::Unsafe => Self::Target,
            RequirementKind::NotTerminal | RequirementKind::Outcome => Self::Outcome,
        }
    }
}

/// Predicates that refine an abstraction.
#[derive(Clone, Debug)]
pub(super) struct Refinement {
    /// What it comes from.
    pub origin: Origin,
    /// The predicates, none of them known before.
    pub predicates: Vec<Condition>,
    /// How many cuts it made on variables whose value the path fixes.
    pub entailed_cuts: usize,
}

/// What refinements are computed with.
#[derive(Debug)]
pub(super) struct Refiner<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub path: &'r AbstractPath,
    /// The predicates so far.
    pub known: &'r [Condition],
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

impl Refiner<'_, '_, '_> {
    /// Refines by a requirement that cannot be met. `on_path` says that it cannot be met by runs
    /// that stay in the abstract states of the path. `None` if that is not strict.
    ///
    /// # Errors
    /// A stop of the budget, or a query that is not decided.
    pub fn by_requirement(
        &mut self,
        requirement: &Requirement,
        on_path: bool,
    ) -> Result<Option<Refinement>, EngineError> {
        let origin = Origin::of(requirement.kind);
        let condition = &requirement.condition;
        let found = propagate(self.abstraction, self.path, requirement.step, condition, on_path);
        Ok(self.strict(found)?.map(|predicates| Refinement {
            origin,
            predicates,
            entailed_cuts: 0,
        }))
    }

    /// Refines by the choice of the policy in the last state of a run along the path. `None` if
    /// that is not strict.
    ///
    /// # Errors
    /// A stop of the budget, or a query that is not decided.
    pub fn by_choice(
        &mut self,
        config: SplitConfig,
        policy: &mut PolicyChoice<'_>,
        entailed: &[bool],
        last: &State,
        step: usize,
        output: usize,
    ) -> Result<Option<Refinement>, EngineError> {
        let choice_variables = policy.variables(self.abstraction);
        let requirements = self.path.requirements(self.abstraction, step);
        let region = self.path.region(self.abstraction, step, &requirements);
        self.queries.enter(&region);
        let mut split = ChoiceSplit {
            abstraction: self.abstraction,
            config,
            policy,
            choice_variables: &choice_variables,
            entailed,
            queries: self.queries,
            budget: self.budget,
        };
        let cuts = split.cuts(&region, last, output)?;
        let mut found = Vec::new();
        for cut in &cuts {
            let atoms = propagate(self.abstraction, self.path, step, &cut.predicate(), true);
            found.extend(atoms);
        }
        let entailed_cuts = cuts.iter().filter(|cut: &&Cut| cut.entailed).count();
        let predicates = self.strict(found)?;
        Ok(predicates.map(|predicates| Refinement {
            origin: Origin::Choice,
            predicates,
            entailed_cuts,
        }))
    }

    /// Separates a concretisation, which cannot go on along the path at `step`, from a state of
    /// the same abstract state that can.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or an abstract step that no state takes.
    pub fn by_separation(
        &mut self,
        concretisation: &State,
        step: usize,
    ) -> Result<Refinement, EngineError> {
        let requirements = self.path.requirements(self.abstraction, step);
        let region = self.path.region(self.abstraction, step, &requirements);
        let output = self.path.steps.get(step).and_then(|s| s.output);
        let answer = match output {
            _ if region.is_empty() => Answer::Refuted,
            Some(output) if self.abstraction.policy.is_some() => {
                self.queries.t_sat_pi(&region, output, self.budget)?
            }
            _ => self.queries.inhabitant(&region, self.budget)?,
        };
        let witness = match answer {
            Answer::Possible(Some(witness)) => witness,
            Answer::Possible(None) => {
                return Err(EngineError::Undecided("whether an abstract step exists".to_owned()));
            }
            Answer::Refuted => {
                return Err(EngineError::Internal(
                    "an abstract step that no state takes".to_owned(),
                ));
            }
        };
        let different = (0..concretisation.len()).find(|&v| witness[v] != concretisation[v]);
        let Some(variable) = different else {
            return Err(EngineError::Internal(
                "no strict refinement of an abstract path".to_owned(),
            ));
        };
        let (a, b) = (concretisation[variable], witness[variable]);
        let at = a.min(b);
        let cut = Cut { variable, at, below: a < b, entailed: false };
        let found = propagate(self.abstraction, self.path, step, &cut.predicate(), true);
        match self.strict(found)? {
            Some(predicates) => {
                Ok(Refinement { origin: Origin::Separation, predicates, entailed_cuts: 0 })
            }
            None => {
                Err(EngineError::Internal("no strict refinement of an abstract path".to_owned()))
            }
        }
    }

    /// The new ones among atoms at steps of the path, if one of them tells states of its abstract
    /// state apart.
    fn strict(&mut self, found: Vec<AtomAtStep>) -> Result<Option<Vec<Condition>>, EngineError> {
        let mut new: Vec<Condition> = Vec::new();
        let mut strict = false;
        for AtomAtStep { step, atom } in found {
            if self.known.contains(&atom) {
                continue;
            }
            if !strict {
                let states = self.abstraction.predicates.concretisation(&self.path.states[step]);
                let negation = atom.negate();
                strict = self.queries.is_inhabited(&states.restrict([&atom]), self.budget)?
                    && self.queries.is_inhabited(&states.restrict([&negation]), self.budget)?;
            }
            if !new.contains(&atom) {
                new.push(atom);
            }
        }
        Ok(strict.then_some(new))
    }
}

/// For each variable whether the path fixes its value after `step` steps: predicates about it are
/// entailed there.
pub(super) fn fixed_values(
    encoding: &PathCondition,
    sides: &policert_numeric::IntBox,
    step: usize,
    variables: usize,
) -> Vec<bool> {
    match encoding.moments.get(step) {
        Some(moment) => {
            let image = moment.image(sides);
            (0..variables).map(|v| image[VarId::new(v).index()].is_point()).collect()
        }
        None => vec![false; variables],
    }
}
