//! Refinement: from the place where an abstract unsafe path breaks to new predicates.
//!
//! Every refinement is strict: one of its predicates tells states apart that were in one abstract
//! state of the path. This is checked, and where the predicates of the reason do not, the
//! concretisation is separated from the abstract state's witness by a threshold. On finitely many
//! states the loop therefore ends.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;

use super::choice_split::{ChoiceSplit, Cut};
use super::config::SplitConfig;
use super::path::{AbstractPath, Requirement, RequirementKind};
use super::path_condition::PathCondition;
use super::policy_choice::PolicyChoice;
use super::weakest_precondition::{AtomAtStep, propagate};
use crate::abstraction::Abstraction;
use crate::queries::Queries;

/// Says what a predicate, or a refinement, comes from.
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
    /// Start states that several paths do not have in common.
    StartStates,
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
pub(crate) struct Refinement {
    pub origin: Origin,
    /// The predicates, each with the abstract state of the path that it is for.
    pub predicates: Vec<AtomAtStep>,
    /// The number of cuts that it made on variables whose value the path fixes.
    pub entailed_cuts: usize,
}

/// Holds what refinements are computed with.
#[derive(Debug)]
pub(crate) struct Refiner<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub path: &'r AbstractPath,
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

impl Refiner<'_, '_, '_> {
    /// Refines by a requirement that cannot be met, and `further` ones. `on_path` says that it cannot be met by runs
    /// that stay in the abstract states of the path. `None` if that is not strict.
    ///
    /// # Errors
    /// A stop of the budget, or a query that is not decided.
    pub fn by_requirement(
        &mut self,
        requirement: &Requirement,
        further: &[&Requirement],
        on_path: bool,
    ) -> Result<Option<Refinement>, EngineError> {
        let origin = Origin::of(requirement.kind);
        let mut found = Vec::new();
        for Requirement { step, condition, .. } in std::iter::once(&requirement).chain(further) {
            found.extend(propagate(self.abstraction, self.path, *step, condition, on_path));
        }
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
            _ if region.is_empty() => Answer::Possible(None),
            Some(output) if self.abstraction.policy.is_some() => {
                self.queries.t_sat_pi(&region, output, self.budget)?
            }
            _ => self.queries.inhabitant(&region, self.budget)?,
        };
        let mut cuts = Vec::new();
        if let Answer::Possible(Some(witness)) = answer {
            for (variable, &value) in concretisation.iter().enumerate() {
                let below = value < witness[variable];
                if value != witness[variable] {
                    let at = value.min(witness[variable]);
                    cuts.push(Cut { variable, at, below, entailed: false });
                }
            }
        }
        let sides = &self.path.states[step].cell.sides;
        for (variable, &value) in concretisation.iter().enumerate() {
            let side = sides[variable];
            if value < side.hi {
                cuts.push(Cut { variable, at: value, below: true, entailed: false });
            }
            if value > side.lo {
                cuts.push(Cut { variable, at: value - 1, below: false, entailed: false });
            }
        }
        for cut in cuts {
            let found = propagate(self.abstraction, self.path, step, &cut.predicate(), true);
            if let Some(predicates) = self.strict(found)? {
                let origin = Origin::Separation;
                return Ok(Refinement { origin, predicates, entailed_cuts: 0 });
            }
        }
        Err(EngineError::Undecided("whether an abstract step exists in a single state".to_owned()))
    }

    /// The atoms at steps of the path, if one of them tells states of its abstract state apart.
    fn strict(&mut self, found: Vec<AtomAtStep>) -> Result<Option<Vec<AtomAtStep>>, EngineError> {
        for AtomAtStep { step, atom } in &found {
            let states = self.path.states[*step].cell.region();
            let negation = atom.negate();
            if self.queries.is_inhabited(&states.restrict([atom]), self.budget)?
                && self.queries.is_inhabited(&states.restrict([&negation]), self.budget)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// For each variable whether the path fixes its value after `step` steps: predicates about it are
/// entailed there.
pub(crate) fn fixed_values(
    encoding: &PathCondition,
    sides: &policert_numeric::IntBox,
    step: usize,
    variables: usize,
) -> Vec<bool> {
    match encoding.moments.get(step) {
        Some(moment) => {
            let image = moment.image(sides);
            (0..variables).map(|v| image[v].is_point()).collect()
        }
        None => vec![false; variables],
    }
}
