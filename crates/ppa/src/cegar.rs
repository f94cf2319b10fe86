//! Counterexample-guided abstraction refinement of the policy predicate abstraction.
//!
//! 𝒫 begins with the atoms of the unsafe condition, and the property's predicates if it lists
//! any. Each iteration looks for a shortest abstract unsafe path. If there is none the policy is
//! safe. Otherwise the path is followed by concrete runs, and where it breaks the abstraction is
//! refined:
//!
//! | spurious | broken where | predicates | file |
//! |---|---|---|---|
//! | in the environment (i-a) | guard, outcome, target | atoms of what cannot be met | `realisability.rs` |
//! | under the policy (i-b) | the policy's choice | cuts between the run and states where it chooses the label | `policy_realisability.rs`, `choice_split.rs` |
//!
//! and the weakest preconditions of these predicates at all steps before
//! (`weakest_precondition.rs`).

pub(crate) mod analysis;
pub(crate) mod cell;
pub(crate) mod choice_split;
pub(crate) mod config;
pub(crate) mod path;
pub(crate) mod path_condition;
pub(crate) mod path_literals;
pub(crate) mod policy_choice;
pub(crate) mod policy_realisability;
pub(crate) mod preconditions;
pub(crate) mod predicate_id;
pub(crate) mod reachability;
pub(crate) mod realisability;
pub(crate) mod refinement;
pub(crate) mod run;
pub(crate) mod start_list;
pub(crate) mod start_states;
pub(crate) mod state_tree;
pub(crate) mod successors;
pub(crate) mod weakest_precondition;

use std::collections::BTreeMap;

use policert_bounds::Recorder;
use policert_engine_api::{
    Budget, Counts, EngineError, Event, Invariant, Observer, Question, UnknownReason, Verdict,
};
use policert_model::{Condition, DomainRule, Predicate};
use policert_policy::Policy;

use crate::abstraction::Abstraction;
use crate::config::PpaConfig;
use crate::predicates::require_total;
use crate::queries::{Queries, QueryStats};

pub use config::{
    BrokenRequirements, CegarConfig, Scope, SearchOrder, SplitConfig, SplitPoint, SplitUntil,
    SplitVariable,
};
pub use refinement::Origin;

use analysis::{Analyst, PathAnalysis};
use path::AbstractPath;
use reachability::Reachability;
use refinement::Refinement;
use weakest_precondition::AtomAtStep;

/// Holds what the engine found.
#[derive(Debug)]
pub struct CegarReport {
    pub verdict: Verdict,
    /// Counts of the last abstraction, partial after a stop.
    pub counts: Counts,
    /// Tests by kind, over all iterations.
    pub queries: QueryStats,
    /// Iterations: abstractions that were built, the last one included.
    pub iterations: u64,
    /// Refinements by what they came from.
    pub refinements: BTreeMap<Origin, u64>,
    /// Predicates by what they came from.
    pub predicates: BTreeMap<Origin, u64>,
    /// Cuts on the policy's choice by variables whose value the path fixes.
    pub entailed_cuts: u64,
    /// Of a safe verdict, if evidence is wanted, the states that the abstract states of the last
    /// search stand for: an inductive invariant.
    pub invariant: Option<Invariant>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Runs the loop.
///
/// # Errors
/// Fails if the engine does not support something in the question, and on modelling errors. A stop
/// is a verdict *unknown*.
pub fn cegar(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
    cegar: CegarConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<CegarReport, EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(
            "engine cegar takes `--domain drop` only: whether an update that leaves its domain is \
             reachable is for engine explicit to say"
                .to_owned(),
        ));
    }
    if policy.is_some() && !config.t_sat_pi.is_on() {
        return Err(EngineError::Unsupported(format!(
            "engine cegar needs the exact transition test, which preset {} leaves out: an abstract \
             step that only the relaxed test allows could not be refined away",
            config.name
        )));
    }
    // The predicates are applied by the tree of abstract states.
    let mut property = question.property.clone();
    let listed = std::mem::take(&mut property.predicates);
    let question = &Question { property: &property, ..question.clone() };
    let abstraction = Abstraction::new(question, policy)?;
    let mut queries = abstraction.queries_for(config, recorder.map(|r| r as &mut dyn Recorder))?;
    queries.limit_boxes(cegar.box_limit);
    let mut refinements = Loop::new(&abstraction, &listed, cegar)?;
    let outcome = refinements.run(&abstraction, &mut queries, budget, observer);
    refinements.count();
    let verdict = match outcome {
        Ok(verdict) => verdict,
        Err(EngineError::Stop(reason)) => Verdict::Unknown(UnknownReason::Stopped(reason)),
        Err(EngineError::Undecided(text)) => Verdict::Unknown(UnknownReason::SolverGaveUp(text)),
        Err(error) => return Err(error),
    };
    let mut notes = Vec::new();
    if refinements.reachability.counts.dropped_outcomes > 0 {
        notes.push(format!(
            "{} abstract outcomes may leave a variable's domain; such an outcome is no transition",
            refinements.reachability.counts.dropped_outcomes
        ));
    }
    let is_wanted = question.evidence && matches!(verdict, Verdict::Safe { .. });
    Ok(CegarReport {
        invariant: is_wanted.then(|| refinements.reachability.invariant()),
        verdict,
        counts: refinements.reachability.counts,
        queries: *queries.stats(),
        iterations: refinements.iterations,
        refinements: refinements.refinements,
        predicates: refinements.predicates,
        entailed_cuts: refinements.entailed_cuts,
        notes,
    })
}

/// The state of the loop.
struct Loop {
    config: CegarConfig,
    reachability: Reachability,
    iterations: u64,
    refinements: BTreeMap<Origin, u64>,
    predicates: BTreeMap<Origin, u64>,
    entailed_cuts: u64,
}

impl Loop {
    /// With the predicates that the abstraction begins with.
    fn new(
        abstraction: &Abstraction<'_>,
        listed: &[Predicate],
        config: CegarConfig,
    ) -> Result<Self, EngineError> {
        let mut reachability = Reachability::new(abstraction);
        let mut first: Vec<Condition> = Vec::new();
        for predicate in listed {
            require_total(&predicate.condition, abstraction.predicates.domains(), &predicate.text)?;
            first.push(predicate.condition.clone());
        }
        let unsafe_condition = &abstraction.question.property.unsafe_condition;
        first.extend(abstraction.predicates.candidates(unsafe_condition));
        let mut count = 0;
        for condition in &first {
            let (predicate, new) = reachability.tree.predicate(condition);
            count += u64::from(new);
            reachability.tree.split_everywhere(predicate);
        }
        Ok(Self {
            config,
            reachability,
            iterations: 0,
            refinements: BTreeMap::new(),
            predicates: BTreeMap::from([(Origin::Property, count)]),
            entailed_cuts: 0,
        })
    }

    fn run(
        &mut self,
        abstraction: &Abstraction<'_>,
        queries: &mut Queries<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Verdict, EngineError> {
        loop {
            self.iterations += 1;
            observer.event(Event::Phase("abstract states"));
            let found = self.reachability.search(
                abstraction,
                queries,
                budget,
                observer,
                self.config.order,
            )?;
            let Some(last) = found else {
                let vacuous = self.reachability.counts.start_states == 0;
                return Ok(Verdict::Safe { vacuous });
            };
            observer.event(Event::Phase("abstract unsafe path"));
            let path = AbstractPath::to(abstraction, &self.reachability.tree, last);
            self.reachability.note_distances(last);
            let config = self.config;
            let mut analyst = Analyst { abstraction, path: &path, config, queries, budget };
            match analyst.analyse()? {
                PathAnalysis::Run(trace) => return Ok(Verdict::Unsafe(trace)),
                PathAnalysis::Undecided(state) => {
                    return Ok(Verdict::Unknown(abstraction.question.undecided_choice(&state)));
                }
                PathAnalysis::Spurious(refinement) => self.refine(&path, refinement)?,
            }
        }
    }

    fn refine(&mut self, path: &AbstractPath, refinement: Refinement) -> Result<(), EngineError> {
        let Refinement { origin, predicates, entailed_cuts } = refinement;
        let tree = &mut self.reachability.tree;
        let mut new = 0;
        let mut progress = false;
        for AtomAtStep { step, atom } in &predicates {
            let (predicate, is_new) = tree.predicate(atom);
            new += u64::from(is_new);
            progress |= tree.split_under(path.states[*step].node, predicate);
            if self.config.scope == Scope::Global {
                tree.split_everywhere(predicate);
            }
        }
        *self.refinements.entry(origin).or_default() += 1;
        *self.predicates.entry(origin).or_default() += new;
        self.entailed_cuts += entailed_cuts as u64;
        if progress {
            Ok(())
        } else {
            Err(EngineError::Internal("a refinement that splits no abstract state".to_owned()))
        }
    }

    fn count(&mut self) {
        self.reachability.counts.predicates = Some(self.predicates.values().sum());
    }
}

#[cfg(test)]
mod tests;
