//! prob-CEGAR: refinement until the interval is narrow, or a bound is decided (Algorithm 2).
//!
//! | paper | here |
//! |---|---|
//! | [P_u^lo, P_u^up] | `lower`, `upper` |
//! | p_u, p_Δ | `BoundSearch::bound`, `ProbConfig::precision` |
//! | max-prob(…) (line 4) | [`max_prob`], [`Adversary`] |
//! | CeAna (line 11) | [`CeAna`], for `CounterexampleAnalysis::Paths` |

mod shown;

use std::collections::BTreeMap;

use policert_engine_api::{
    Answer, Budget, Counts, EngineError, Event, Observer, StartStates, UnknownReason,
};
use policert_mdp::{ProbabilityBounds, SolveOptions};
use policert_model::{Condition, State};
use policert_numeric::Rational;

use super::abstract_mdp::{AbstractMdp, Expanding};
use super::concrete_runs::{ConcreteRuns, Runner};
use super::counterexample::{CeAna, Finding, Spuriousness};
use super::max_prob::{Adversary, MaxProbMethod, max_prob};
use super::valued_pieces::{RunValues, Shown};
use super::{
    CounterexampleAnalysis, ProbConfig, ProbReport, Spurious, counts_of, divergence, notes,
    solve_options,
};
use crate::abstraction::Abstraction;
use crate::cegar::cell::Literal;
use crate::cegar::config::Scope;
use crate::cegar::path::AbstractPath;
use crate::cegar::policy_choice::PolicyChoice;
use crate::cegar::refinement::{Origin, Refinement};
use crate::cegar::start_list::StartList;
use crate::cegar::weakest_precondition::AtomAtStep;
use crate::queries::{Queries, QueryStats};
use crate::region::Region;

/// The state of the search.
pub(crate) struct BoundSearch<'r> {
    abstraction: &'r Abstraction<'r>,
    mdp: AbstractMdp,
    config: ProbConfig,
    lower: Rational,
    upper: Rational,
    /// p_u.
    bound: Rational,
    /// p_Δ.
    step: Rational,
    /// The precision with which abstract probabilities are computed.
    solving: SolveOptions,
    /// True if the precision follows the width of the interval as long as that is large.
    is_rough: bool,
    method: MaxProbMethod,
    run_limit: usize,
    /// The start state that the lower bound comes from.
    best_start: Option<State>,
    /// The best lower bound that runs have shown, and their states if evidence is wanted.
    of_runs: (Rational, RunValues),
    iterations: u64,
    refinements: BTreeMap<Origin, u64>,
    predicates: u64,
    spurious: Spurious,
    counts: Counts,
}

/// The number of start states of an abstract start state that are tried in an iteration.
const STARTS_TRIED: usize = 2;
/// Up to how many start states of an abstract start state are compared one by one.
const STARTS_LISTED: usize = 64;
/// The number of divergences that are refined on in an iteration.
const DIVERGENCES: usize = 8;
/// Below this, comparisons are left to exact arithmetic.
const FINEST: f64 = 1e-9;

impl<'r> BoundSearch<'r> {
    pub fn new(abstraction: &'r Abstraction<'r>, mdp: AbstractMdp, config: ProbConfig) -> Self {
        // Of a bound only one side is asked for: a rough value often tells.
        let precision = if config.bound.is_some() { 1e-3 } else { config.precision / 8.0 };
        Self {
            abstraction,
            mdp,
            lower: Rational::ZERO,
            upper: Rational::ONE,
            bound: config.bound.clone().unwrap_or(Rational::ZERO),
            step: Rational::from_f64(config.precision).unwrap_or(Rational::ONE),
            solving: solve_options(precision),
            is_rough: true,
            method: config.method,
            run_limit: config.run_limit,
            best_start: None,
            of_runs: (Rational::ZERO, RunValues::default()),
            iterations: 0,
            refinements: BTreeMap::new(),
            predicates: 0,
            spurious: Spurious::default(),
            counts: Counts::default(),
            config,
        }
    }

    /// The predicates that the abstraction begins with, besides the atoms of the unsafe condition.
    pub fn begin_with(&mut self, mut first: Vec<Condition>) {
        let unsafe_condition = &self.abstraction.question.property.unsafe_condition;
        first.extend(self.abstraction.predicates.candidates(unsafe_condition));
        for condition in &first {
            let (predicate, new) = self.mdp.tree.predicate(condition);
            self.predicates += u64::from(new);
            self.mdp.tree.split_everywhere(predicate);
        }
    }

    pub fn into_mdp(self) -> AbstractMdp {
        self.mdp
    }

    /// Searches until the answer is found; else why not.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error: the bounds stand.
    pub fn run(
        &mut self,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Option<UnknownReason>, EngineError> {
        loop {
            self.iterations += 1;
            observer.event(Event::Phase("abstract probability"));
            let solving = self.solving();
            // l.4
            let mut expanding = Expanding {
                mdp: &mut self.mdp,
                abstraction: self.abstraction,
                queries,
                observer: &mut *observer,
                expanded: 0,
                transitions: 0,
            };
            let found = max_prob(&mut expanding, self.method, &solving, budget);
            let (expanded, transitions) = (expanding.expanded, expanding.transitions);
            self.counts = counts_of(&self.mdp, expanded, transitions);
            let found = found?;
            if found.bounds.hi < self.upper {
                self.upper = found.bounds.hi; // l.5
                self.tell(observer);
            }
            if let Some(reason) = found.stopped {
                return Ok(Some(UnknownReason::Stopped(reason)));
            }
            if self.is_settled() {
                return Ok(None); // l.6
            }
            let adversary = Adversary::new(&self.mdp, &solving, budget)?;
            let Some(adversary) = adversary else { return Ok(None) };
            observer.event(Event::Phase("counterexample"));
            let is_refined = self.config.analysis == CounterexampleAnalysis::Paths
                && self.analyse_paths(&adversary, queries, budget, observer)?;
            if !is_refined
                && !self.is_settled()
                && let Some(reason) = self.analyse_runs(&adversary, queries, budget, observer)?
            {
                return Ok(Some(reason));
            }
            if self.is_settled() {
                return Ok(None); // l.14
            }
        }
    }

    /// Returns how precisely abstract probabilities are computed in this iteration: not much more
    /// than the interval is wide.
    fn solving(&self) -> SolveOptions {
        let gap = (&self.upper - &self.lower).to_f64_interval().0;
        let precision = if self.is_rough {
            self.solving.precision.max(gap / 10.0)
        } else {
            self.solving.precision
        };
        SolveOptions { precision, ..self.solving }
    }

    /// Returns whether the interval tells what was asked.
    fn is_settled(&self) -> bool {
        match &self.config.bound {
            Some(bound) => self.upper <= *bound || self.lower > *bound,
            None => Rational::from_f64(self.config.precision)
                .is_some_and(|precision| &self.upper - &self.lower <= precision),
        }
    }

    fn tell(&self, observer: &mut dyn Observer) {
        observer.event(Event::Interval {
            lower: self.lower.to_f64_interval().0,
            upper: self.upper.to_f64_interval().1,
        });
    }

    /// Analyses the adversary's unsafe paths, for bounds that grow while they are exceeded
    /// (lines 7 to 15); whether the abstraction was refined.
    fn analyse_paths(
        &mut self,
        adversary: &Adversary,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<bool, EngineError> {
        self.best_runs(adversary, queries, budget)?;
        self.move_bound();
        let starts = self.listed_starts(adversary);
        let limits = (self.config.cegar, self.config.path_step_limit);
        let mut analysis =
            CeAna::new(self.abstraction, &self.mdp, adversary, limits, starts, budget)?;
        let (lower, bound) = (&mut self.lower, &mut self.bound);
        let spurious = loop {
            if adversary.bounds.lo <= *bound {
                break None;
            }
            match analysis.analyse(bound, queries, budget)? {
                Finding::Spurious(kind, refined) => break Some((kind, refined)),
                Finding::Real(start, probability) => {
                    self.spurious.real += 1;
                    if probability > *lower {
                        *lower = probability;
                        self.best_start = Some(start);
                    }
                    if self.config.bound.is_some() {
                        break None;
                    }
                    while *lower > *bound {
                        *bound = &*bound + &self.step; // l.15
                    }
                }
                Finding::Undecided | Finding::TooManyPaths => break None,
            }
        };
        self.tell(observer);
        let Some((kind, refined)) = spurious else { return Ok(false) };
        let count = match kind {
            Spuriousness::Path => &mut self.spurious.path,
            Spuriousness::PathUnderPolicy => &mut self.spurious.path_under_policy,
            Spuriousness::Set => &mut self.spurious.set,
            Spuriousness::SetUnderPolicy => &mut self.spurious.set_under_policy,
        };
        *count += 1;
        Ok(self.split(&refined.0, &refined.1))
    }

    /// Moves p_u into the interval (lines 7 and 15).
    fn move_bound(&mut self) {
        if self.config.bound.is_some() {
            return;
        }
        while self.upper <= self.bound && !self.bound.is_zero() {
            self.bound = (&self.bound - &self.step).max(Rational::ZERO);
        }
        while self.lower > self.bound {
            self.bound = &self.bound + &self.step;
        }
    }

    /// The start states in the adversary's abstract start state, where they are few.
    fn listed_starts(&self, adversary: &Adversary) -> Option<Vec<State>> {
        let Some(StartList::All(states)) = &self.mdp.start_list else { return None };
        let cell = self.mdp.tree.cell(self.mdp.node(adversary.start));
        let inside: Vec<State> = states
            .iter()
            .filter(|state| cell.contains(state))
            .take(STARTS_LISTED + 1)
            .cloned()
            .collect();
        (inside.len() <= STARTS_LISTED).then_some(inside)
    }

    /// Follows the adversary from concrete start states, and refines where it is left.
    fn analyse_runs(
        &mut self,
        adversary: &Adversary,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Option<UnknownReason>, EngineError> {
        let before = self.lower.clone();
        let runs = self.best_runs(adversary, queries, budget)?;
        if self.lower > before {
            self.tell(observer);
        }
        if self.is_settled() {
            return Ok(None);
        }
        let Some(runs) = runs else {
            let text = "whether an abstract start state holds a start state";
            return Ok(Some(UnknownReason::SolverGaveUp(text.to_owned())));
        };
        let at_stake: f64 = runs.divergences.iter().map(|divergence| divergence.weight).sum();
        let gap = (&self.upper - &self.lower).to_f64_interval().0;
        if !runs.is_complete && at_stake < gap / 4.0 {
            self.run_limit = self.run_limit.saturating_mul(2);
        }
        let mut progress = false;
        let mut undecided = None;
        let most = runs.divergences.first().map_or(0.0, |d| d.weight);
        for divergence in runs.divergences.iter().take(DIVERGENCES) {
            if divergence.weight < most / 16.0 {
                break;
            }
            if divergence.is_undecided {
                undecided = divergence.run.last().map(|(state, _)| state.clone());
                continue;
            }
            let found = divergence::refine(
                self.abstraction,
                &mut self.mdp,
                divergence,
                (self.config.cegar, !progress),
                queries,
                budget,
            );
            match found {
                Ok(Some((path, refinement))) => {
                    self.spurious.run += 1;
                    progress |= self.split(&path, &refinement);
                }
                Ok(None) => {}
                // What the first ones were split by may have settled the others.
                Err(EngineError::Undecided(_)) if progress => {}
                Err(error) => return Err(error),
            }
        }
        if progress {
            return Ok(None);
        }
        if let Some(state) = undecided {
            return Ok(Some(self.abstraction.question.undecided_choice(&state)));
        }
        if !runs.divergences.is_empty() {
            return Err(EngineError::Internal(
                "a refinement that splits no abstract state".to_owned(),
            ));
        }
        if !runs.is_complete {
            // More of them are followed from now on.
        } else if self.is_rough {
            self.is_rough = false;
        } else if self.solving.precision > FINEST {
            self.solving.precision = (self.solving.precision / 100.0).max(FINEST);
        } else if !self.solving.exact {
            self.solving.exact = true;
            self.method = MaxProbMethod::Complete;
        } else {
            // An abstract unsafe state that no predicate tells from its safe states.
            let text = "whether an abstract state is unsafe in all of its states";
            return Ok(Some(UnknownReason::SolverGaveUp(text.to_owned())));
        }
        self.spurious.real += 1;
        Ok(None)
    }

    /// Splits abstract states; whether one was.
    fn split(&mut self, path: &AbstractPath, refinement: &Refinement) -> bool {
        let tree = &mut self.mdp.tree;
        let mut progress = false;
        for AtomAtStep { step, atom } in &refinement.predicates {
            let (predicate, new) = tree.predicate(atom);
            self.predicates += u64::from(new);
            progress |= tree.split_under(path.states[*step].node, predicate);
            if self.config.cegar.scope == Scope::Global {
                tree.split_everywhere(predicate);
            }
        }
        *self.refinements.entry(refinement.origin).or_default() += 1;
        progress
    }

    /// The runs from the best of some start states in the adversary's abstract start state.
    fn best_runs(
        &mut self,
        adversary: &Adversary,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<Option<ConcreteRuns>, EngineError> {
        let starts = self.starts(adversary, queries, budget)?;
        let mut best: Option<ConcreteRuns> = None;
        for start in starts {
            let mut policy = self.abstraction.policy.map(PolicyChoice::new);
            let mut runner = Runner {
                abstraction: self.abstraction,
                mdp: &mut self.mdp,
                adversary,
                policy: policy.as_mut(),
                limit: self.run_limit,
                solving: self.solving,
            };
            let runs = runner.run(&start, budget)?;
            if runs.lower > self.of_runs.0 {
                self.of_runs = (runs.lower.clone(), runs.values.clone());
            }
            if runs.lower > self.lower {
                self.lower = runs.lower.clone();
                self.best_start = Some(start);
            }
            if best.as_ref().is_none_or(|known| runs.lower > known.lower) {
                best = Some(runs);
            }
        }
        Ok(best)
    }

    /// Some start states in the adversary's abstract start state.
    fn starts(
        &mut self,
        adversary: &Adversary,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<State>, EngineError> {
        let node = self.mdp.node(adversary.start);
        let cell = self.mdp.tree.cell(node);
        let mut found: Vec<State> = Vec::new();
        found.extend(self.best_start.iter().filter(|state| cell.contains(state)).cloned());
        if let Some(StartList::All(states)) = &self.mdp.start_list {
            let inside = states.iter().filter(|state| cell.contains(state));
            for state in inside {
                if found.len() >= STARTS_TRIED {
                    break;
                }
                if !found.contains(state) {
                    found.push(state.clone());
                }
            }
            return Ok(found);
        }
        for source in self.abstraction.question.start_states() {
            if found.len() >= STARTS_TRIED {
                break;
            }
            match source {
                StartStates::List(states) => {
                    found.extend(states.iter().find(|state| cell.contains(state)).cloned());
                }
                StartStates::Region(condition, sides) => {
                    let sides = sides.intersect(&cell.sides);
                    let conditions = cell.others.iter().map(Literal::condition);
                    let region = Region::new(sides, conditions.chain([&condition]));
                    if !region.is_empty()
                        && let Answer::Possible(Some(state)) =
                            queries.inhabitant(&region, budget)?
                    {
                        found.push(state);
                    }
                }
            }
        }
        Ok(found)
    }

    /// A proved lower bound of the greatest probability, by the best adversary of what was built.
    ///
    /// # Errors
    /// A stop of the budget, a query that is not decided, or a modelling error.
    pub fn lower_bound(
        &mut self,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
    ) -> Result<Rational, EngineError> {
        if let Some(adversary) = Adversary::new(&self.mdp, &self.solving, budget)? {
            self.best_runs(&adversary, queries, budget)?;
        }
        Ok(self.lower.clone())
    }

    pub fn report(
        mut self,
        unknown: Option<UnknownReason>,
        shown: Result<Shown, String>,
        queries: &Queries<'_>,
    ) -> ProbReport {
        self.counts.predicates = Some(self.predicates);
        let stats: &QueryStats = queries.stats();
        ProbReport {
            vacuous: self.mdp.start().is_some_and(<[u32]>::is_empty),
            bounds: ProbabilityBounds { lo: self.lower, hi: self.upper },
            unknown,
            counts: self.counts,
            queries: *stats,
            iterations: self.iterations,
            expansions: self.mdp.expansions,
            refinements: self.refinements,
            spurious: self.spurious,
            notes: notes(&self.mdp),
            shown,
        }
    }
}
