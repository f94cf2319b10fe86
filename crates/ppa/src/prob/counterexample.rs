//! Counterexample analysis, CeAna: is the abstract adversary's probability real as far as it
//! exceeds the bound?
//!
//! | paper | here |
//! |---|---|
//! | ups_𝒫 | `collected` |
//! | P_max, P_unused | `at_most`, `unused` |
//! | can-add(ups_𝒫) | [`CeAna::can_add`] |
//! | maxPr(ups_𝒫) | `maximal_realisation.rs` |
//!
//! Deviations: paths are followed by runs, and sets of them from single start states, rather than
//! encoded in one formula. A refinement for (ii-a) and (ii-b) takes two start states that have
//! different paths, not all of S⁰ (Lemma 14 for a set of two).

use policert_engine_api::{Budget, EngineError};
use policert_model::{BinaryOp, Condition, Expr, State, VarId};
use policert_numeric::Rational;

use super::abstract_mdp::AbstractMdp;
use super::divergence::{path_state, path_step};
use super::max_prob::Adversary;
use super::maximal_realisation::{CollectedPath, Realiser};
use super::unsafe_paths::{UnsafePath, UnsafePaths};
use crate::abstraction::Abstraction;
use crate::cegar::analysis::{Analyst, InEnvironment, PathAnalysis};
use crate::cegar::config::CegarConfig;
use crate::cegar::path::AbstractPath;
use crate::cegar::path_condition::PathCondition;
use crate::cegar::policy_choice::PolicyChoice;
use crate::cegar::realisability::start_parts;
use crate::cegar::refinement::{Origin, Refinement};
use crate::cegar::weakest_precondition::AtomAtStep;
use crate::queries::Queries;

/// Says what is wrong with an abstract counterexample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spuriousness {
    /// (i-a)
    Path,
    /// (i-b)
    PathUnderPolicy,
    /// (ii-a)
    Set,
    /// (ii-b)
    SetUnderPolicy,
}

/// Says what an analysis found.
pub(crate) enum Finding {
    /// The counterexample is spurious; a refinement along a path.
    Spurious(Spuriousness, Box<(AbstractPath, Refinement)>),
    /// From this start state more than the bound is real.
    Real(State, Rational),
    /// The policy's choice cannot be told in some state.
    Undecided,
    /// Nothing can be said with this many paths.
    TooManyPaths,
}

/// The analysis of one adversary, for growing bounds.
pub(crate) struct CeAna<'m, 'r> {
    abstraction: &'r Abstraction<'r>,
    mdp: &'m AbstractMdp,
    config: CegarConfig,
    /// Start states in the adversary's abstract start state, where they are few.
    starts: Option<Vec<State>>,
    paths: UnsafePaths<'m>,
    /// Steps of paths that are looked at yet.
    steps_left: usize,
    collected: Vec<CollectedPath>,
    at_most: Rational,
    unused: Rational,
}

impl<'m, 'r> CeAna<'m, 'r> {
    /// # Errors
    /// A stop of the budget.
    pub fn new(
        abstraction: &'r Abstraction<'r>,
        mdp: &'m AbstractMdp,
        adversary: &'m Adversary,
        (config, steps_left): (CegarConfig, usize),
        starts: Option<Vec<State>>,
        budget: &mut Budget,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            abstraction,
            mdp,
            config,
            starts,
            paths: UnsafePaths::new(mdp, adversary, budget)?,
            steps_left,
            collected: Vec::new(),
            at_most: Rational::ZERO,
            unused: adversary.bounds.hi.clone(),
        })
    }

    /// Analyses the adversary with respect to a bound that it exceeds.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error.
    pub fn analyse(
        &mut self,
        bound: &Rational,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<Finding, EngineError> {
        // T-analysis.
        let followed = loop {
            while self.at_most <= *bound && self.can_add(bound) {
                let Some(path) = self.paths.next(budget)? else {
                    self.unused = Rational::ZERO;
                    break;
                };
                let Some(left) = self.steps_left.checked_sub(path.states.len()) else {
                    return Ok(Finding::TooManyPaths);
                };
                self.steps_left = left;
                if let Some(spurious) = self.collect(&path, queries, budget)? {
                    return Ok(spurious);
                }
            }
            let starts = self.starts.as_deref();
            let paths = &self.collected;
            let abstraction = self.abstraction;
            let mut realiser = Realiser { abstraction, paths, queries, budget };
            let best = realiser.maximal(starts)?;
            self.at_most.clone_from(&best.probability);
            if best.probability > *bound {
                break best;
            }
            if !self.can_add(bound) {
                let all = self.collected.iter().map(|path| Some(&path.point));
                let others: Vec<_> = all.collect();
                return Ok(self.spurious_set(
                    Spuriousness::Set,
                    &best.start,
                    &best.followed,
                    &others,
                ));
            }
        };
        // π-analysis.
        let mut starts = vec![followed.start.clone()];
        let mut own_starts: Vec<Option<State>> = vec![None; self.collected.len()];
        for &i in &followed.followed {
            let CollectedPath { path, encoding, parts, .. } = &self.collected[i];
            let mut analyst = Analyst {
                abstraction: self.abstraction,
                path,
                config: self.config,
                queries,
                budget,
            };
            match analyst.under_the_policy(encoding, parts)? {
                PathAnalysis::Spurious(refinement) => {
                    let found = Box::new((path.clone(), refinement));
                    return Ok(Finding::Spurious(Spuriousness::PathUnderPolicy, found));
                }
                PathAnalysis::Undecided(_) => return Ok(Finding::Undecided),
                PathAnalysis::Run(trace) => {
                    own_starts[i] = Some(trace.start.clone());
                    if !starts.contains(&trace.start) {
                        starts.push(trace.start);
                    }
                }
            }
        }
        let mut policy = self.abstraction.policy.map(PolicyChoice::new);
        let (abstraction, paths) = (self.abstraction, &self.collected);
        let mut realiser = Realiser { abstraction, paths, queries, budget };
        let mut best: Option<(State, Vec<usize>, Rational)> = None;
        for start in starts {
            let (followed, probability) = realiser.follow_all(&start, policy.as_mut())?;
            if best.as_ref().is_none_or(|(.., most)| probability > *most) {
                best = Some((start, followed, probability));
            }
        }
        let Some((start, followed, probability)) = best else { return Ok(Finding::TooManyPaths) };
        if probability > *bound {
            self.at_most.clone_from(&probability);
            return Ok(Finding::Real(start, probability));
        }
        let others: Vec<_> = own_starts.iter().map(Option::as_ref).collect();
        Ok(self.spurious_set(Spuriousness::SetUnderPolicy, &start, &followed, &others))
    }

    /// Returns whether paths that were not collected can make up for what is lacking to the bound.
    fn can_add(&self, bound: &Rational) -> bool {
        &self.at_most + &self.unused > *bound
    }

    /// Collects a path, unless it is spurious in the environment.
    fn collect(
        &mut self,
        path: &UnsafePath,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Finding>, EngineError> {
        let UnsafePath { states, steps, probability } = path;
        let tree = &self.mdp.tree;
        let path = AbstractPath {
            states: states.iter().map(|&state| path_state(tree, self.mdp.node(state))).collect(),
            steps: steps.iter().map(|&(o, d)| path_step(self.abstraction, o, d)).collect(),
        };
        let encoding = PathCondition::new(self.abstraction, &path);
        let parts = start_parts(self.abstraction, &path, &encoding);
        let config = self.config;
        let mut analyst =
            Analyst { abstraction: self.abstraction, path: &path, config, queries, budget };
        match analyst.in_the_environment(&encoding, &parts)? {
            InEnvironment::Spurious(refinement) => {
                let found = Box::new((path, refinement));
                Ok(Some(Finding::Spurious(Spuriousness::Path, found)))
            }
            InEnvironment::Point(point) => {
                self.at_most = &self.at_most + probability;
                self.unused = &self.unused - probability;
                let probability = probability.clone();
                self.collected.push(CollectedPath { path, encoding, parts, probability, point });
                Ok(None)
            }
        }
    }

    /// Tells a start state apart from one that has a path which it does not have; `others` are
    /// start states of the paths, where they are known.
    fn spurious_set(
        &self,
        kind: Spuriousness,
        start: &State,
        followed: &[usize],
        others: &[Option<&State>],
    ) -> Finding {
        for (i, point) in others.iter().enumerate() {
            let Some(point) = point.filter(|_| !followed.contains(&i)) else { continue };
            let path = &self.collected[i].path;
            let mut predicates = Vec::new();
            for (v, (&a, &b)) in start.iter().zip(point.iter()).enumerate() {
                if a != b {
                    let variable = Expr::Var(VarId::new(v));
                    let at_most = Expr::binary(BinaryOp::Le, variable, Expr::int(a.min(b)));
                    predicates.push(AtomAtStep { step: 0, atom: Condition::from_expr(&at_most) });
                }
            }
            if !predicates.is_empty() {
                let origin = Origin::StartStates;
                let refinement = Refinement { origin, predicates, entailed_cuts: 0 };
                return Finding::Spurious(kind, Box::new((path.clone(), refinement)));
            }
        }
        Finding::TooManyPaths
    }
}

#[cfg(test)]
mod tests;
