//! Analysis of an abstract unsafe path: a run that follows it, or where it breaks and what to learn
//! from that.

use policert_engine_api::{Budget, EngineError, Trace};
use policert_model::State;
use policert_numeric::IntBox;

use super::config::{BrokenRequirements, CegarConfig};
use super::path::{AbstractPath, Requirement};
use super::path_condition::PathCondition;
use super::policy_choice::PolicyChoice;
use super::policy_realisability::PolicyRealisability;
use super::realisability::{Prefix, StartPart, longest_prefix, start_parts};
use super::refinement::{Refinement, Refiner, fixed_values};
use super::run::{End, Follower, PathRun};
use crate::abstraction::Abstraction;
use crate::queries::Queries;

/// Says what became of an abstract unsafe path.
pub(crate) enum PathAnalysis {
    /// A run that follows it.
    Run(Trace),
    /// It is spurious.
    Spurious(Refinement),
    /// The policy's choice cannot be told in this state.
    Undecided(State),
}

/// Says what became of an abstract unsafe path in the environment.
pub(crate) enum InEnvironment {
    /// It can be followed from this start state, with these free choices.
    Point(State),
    /// It is spurious.
    Spurious(Refinement),
}

/// Holds what a path is analysed with.
pub(crate) struct Analyst<'r, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub path: &'r AbstractPath,
    pub config: CegarConfig,
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

impl<'r, 's> Analyst<'r, 's, '_> {
    /// Returns whether the path is spurious, and what to learn from it.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error.
    pub fn analyse(&mut self) -> Result<PathAnalysis, EngineError> {
        let encoding = PathCondition::new(self.abstraction, self.path);
        let parts = start_parts(self.abstraction, self.path, &encoding);
        match self.in_the_environment(&encoding, &parts)? {
            InEnvironment::Spurious(refinement) => Ok(PathAnalysis::Spurious(refinement)),
            InEnvironment::Point(_) => self.under_the_policy(&encoding, &parts),
        }
    }

    /// Analyses whether a path can be followed in the environment (i-a).
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn in_the_environment(
        &mut self,
        encoding: &PathCondition,
        parts: &[StartPart],
    ) -> Result<InEnvironment, EngineError> {
        let mut point = State::new();
        // Runs that take the operators of the path, then runs that also stay in its abstract
        // states.
        for targets in [false, true] {
            let prefix = self.furthest_prefix(encoding, parts, targets)?;
            let Some(broken) = encoding.requirements.get(prefix.met) else {
                point = prefix.point;
                continue;
            };
            let further: Vec<&Requirement> = match self.config.broken {
                BrokenRequirements::First => Vec::new(),
                BrokenRequirements::All => prefix
                    .further
                    .iter()
                    .map(|&at| &encoding.requirements[at].requirement)
                    .collect(),
            };
            let requirement = &broken.requirement;
            let refined = self.refiner().by_requirement(requirement, &further, targets)?;
            if let Some(refinement) = refined {
                return Ok(InEnvironment::Spurious(refinement));
            }
            if targets {
                let mut follower = self.follower(encoding, None);
                let run = follower.follow(&prefix.point, self.queries, self.budget)?;
                let refinement = self.refiner().by_separation(run.last(), run.steps())?;
                return Ok(InEnvironment::Spurious(refinement));
            }
        }
        Ok(InEnvironment::Point(point))
    }

    /// Returns how far the path can be followed in the environment from some part of the start
    /// states.
    fn furthest_prefix(
        &mut self,
        encoding: &PathCondition,
        parts: &[StartPart],
        targets: bool,
    ) -> Result<Prefix, EngineError> {
        let mut furthest: Option<Prefix> = None;
        for part in parts {
            let prefix = {
                let wanted = (targets, self.config.broken);
                longest_prefix(encoding, part, wanted, self.queries, self.budget)?
            };
            if let Some(prefix) = prefix
                && furthest.as_ref().is_none_or(|known| known.met < prefix.met)
            {
                furthest = Some(prefix);
            }
        }
        furthest.ok_or_else(|| {
            EngineError::Internal("an abstract start state without start state".to_owned())
        })
    }

    /// Analyses a path that can be followed in the environment (i-b).
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn under_the_policy(
        &mut self,
        encoding: &PathCondition,
        parts: &[StartPart],
    ) -> Result<PathAnalysis, EngineError> {
        let mut policy = self.abstraction.policy.map(PolicyChoice::new);
        let choice_variables =
            policy.as_ref().map(|policy| policy.variables(self.abstraction)).unwrap_or_default();
        let mut follower = self.follower(encoding, policy.as_mut());
        let mut search = PolicyRealisability {
            follower: &mut follower,
            choice_variables: &choice_variables,
            queries: self.queries,
            budget: self.budget,
        };
        let Some(run) = search.furthest_run(parts)? else {
            let message = "a path that can be followed and has no run";
            return Err(EngineError::Internal(message.to_owned()));
        };
        let refinement = match &run.end {
            End::Unsafe => return Ok(PathAnalysis::Run(run.trace(self.abstraction, self.path))),
            End::Undecided => return Ok(PathAnalysis::Undecided(run.last().clone())),
            End::Requirement(requirement) => {
                self.refiner().by_requirement(requirement, &[], true)?
            }
            End::Choice(output) => {
                let (step, last) = (run.steps(), run.last());
                let sides = feasible_box(encoding, parts);
                let entailed = fixed_values(encoding, &sides, step, last.len());
                let Some(policy) = &mut policy else {
                    return Err(EngineError::Internal("a choice without policy".to_owned()));
                };
                let split = self.config.split;
                self.refiner().by_choice(split, policy, &entailed, last, step, *output)?
            }
        };
        match refinement {
            Some(refinement) => Ok(PathAnalysis::Spurious(refinement)),
            None => self.separate(&run),
        }
    }

    fn follower<'e, 'p>(
        &self,
        encoding: &'e PathCondition,
        policy: Option<&'e mut PolicyChoice<'p>>,
    ) -> Follower<'e, 'p>
    where
        'r: 'e,
    {
        Follower { abstraction: self.abstraction, path: self.path, encoding, policy }
    }

    fn refiner(&mut self) -> Refiner<'r, 's, '_> {
        let (abstraction, path) = (self.abstraction, self.path);
        Refiner { abstraction, path, queries: self.queries, budget: self.budget }
    }

    fn separate(&mut self, run: &PathRun) -> Result<PathAnalysis, EngineError> {
        Ok(PathAnalysis::Spurious(self.refiner().by_separation(run.last(), run.steps())?))
    }
}

/// The hull of the start states and free choices from which the path can be followed in the
/// environment, as far as bounds tell.
fn feasible_box(encoding: &PathCondition, parts: &[StartPart]) -> IntBox {
    let mut hull: Option<IntBox> = None;
    for part in parts {
        let conditions = encoding.requirements.iter().map(|r| &r.initially);
        let sides = part.region().restrict(conditions).sides;
        if sides.is_empty() {
            continue;
        }
        match &mut hull {
            None => hull = Some(sides),
            Some(hull) => hull.hull_with(&sides),
        }
    }
    hull.unwrap_or_else(|| encoding.sides.clone())
}
