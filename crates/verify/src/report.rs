//! The result of a run as versioned data: `docs/formats/result.md`.

use policert_engine_api::{Attempt, Counted, Counts, Invariant, ProbabilityBounds, Trace};
use policert_evidence::Evidence;
use policert_outcome::{Certified, FileRecord, VerdictWord};
use policert_problem::SemanticsRecord;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Hollow, StartStatesRecord};

/// The report that `policert verify --json` writes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The verdict in a word.
    pub verdict: VerdictWord,
    /// True if the verdict holds because there is nothing to check.
    pub vacuous: bool,
    /// The reasons why a good verdict says nothing about the policy.
    pub hollow: Vec<Hollow>,
    /// Of a question about a probability: lower and upper bound, exact decimals rounded outwards.
    pub probability: Option<[String; 2]>,
    /// The exact value, where it is known: an integer or a fraction.
    pub value: Option<String>,
    /// Name of the property.
    pub property: Option<String>,
    /// The engine that the answer comes from.
    pub engine: Option<String>,
    /// Its configuration, where it has several.
    pub preset: Option<String>,
    /// The results of every engine that was considered, in order.
    pub attempts: Vec<Attempt>,
    /// The meaning of the verdict.
    pub semantics: Option<SemanticsRecord>,
    /// Counts of the engine that the answer comes from.
    pub statistics: Option<Statistics>,
    /// The check of the evidence from its text and the input files, if it was asked for.
    pub certified: Option<Certified>,
    /// The evidence file, if one was asked for.
    pub evidence_file: Option<FileRecord>,
    /// The file of start states, if one was asked for.
    pub start_states_file: Option<FileRecord>,
    /// Of *unsafe*: the run that shows it, which was replayed.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// Of *safe*: the inductive invariant that shows it, where the engine has one; it was checked.
    #[serde(skip)]
    pub invariant: Option<Invariant>,
    /// Of a question about a probability: its bounds, exact.
    #[serde(skip)]
    pub bounds: Option<ProbabilityBounds>,
    /// The evidence of the verdict: of an unsafe one, and of a safe one where the engine has an
    /// invariant.
    #[serde(skip)]
    pub evidence: Option<Evidence>,
    /// The reason why there is no evidence, where there is none.
    #[serde(skip)]
    pub no_evidence: String,
    /// The start states that are proved safe, if they were asked for and the engine tells.
    #[serde(skip)]
    pub start_states: Option<StartStatesRecord>,
}

impl Report {
    /// A report that says nothing but a verdict.
    #[must_use]
    pub fn empty(verdict: VerdictWord) -> Self {
        Self {
            verdict,
            vacuous: false,
            hollow: Vec::new(),
            probability: None,
            value: None,
            property: None,
            engine: None,
            preset: None,
            attempts: Vec::new(),
            semantics: None,
            statistics: None,
            certified: None,
            evidence_file: None,
            start_states_file: None,
            trace: None,
            invariant: None,
            bounds: None,
            evidence: None,
            no_evidence: "there is no verdict".to_owned(),
            start_states: None,
        }
    }
}

/// Counts, which mean the same for every engine; `null` where the engine does not count such things.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// Predicates of the abstraction.
    pub predicates: Option<u64>,
    /// Start states: abstract ones for abstractions, else concrete ones.
    pub start_states: Option<u64>,
    /// States whose successors were computed.
    pub expanded_states: Option<u64>,
    /// States reached, start states included.
    pub reachable_states: Option<u64>,
    /// Distinct (source, target) pairs.
    pub transitions: Option<u64>,
    /// Unsafe states among the reached ones.
    pub unsafe_states: Option<u64>,
    /// Transitions of the counterexample.
    pub counterexample_steps: Option<u64>,
    /// Outcomes that were no transition because they leave a domain.
    pub dropped_outcomes: Option<u64>,
    /// Start states from which no unsafe state is reachable; where the engine tells.
    pub start_states_proved_safe: Option<u64>,
    /// Wall-clock time by phase in seconds.
    pub times_s: Times,
    /// Numbers of one engine alone, under its name.
    #[serde(flatten)]
    pub engine: Map<String, Value>,
}

/// Wall-clock time by phase in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Times {
    /// Reading model, property and policy.
    pub load: f64,
    /// All engines.
    pub engines: f64,
    /// Replaying the counterexample.
    pub replay: f64,
}

impl Statistics {
    /// The counts that an engine has.
    #[must_use]
    pub fn new(
        counts: &Counts,
        counted: Counted,
        counterexample_steps: Option<usize>,
        times_s: Times,
    ) -> Self {
        let Counted { start_states, states, transitions, dropped_outcomes } = counted;
        Self {
            predicates: counts.predicates,
            start_states: start_states.then_some(counts.start_states),
            expanded_states: states.then_some(counts.expanded_states),
            reachable_states: states.then_some(counts.reachable_states),
            transitions: transitions.then_some(counts.transitions),
            unsafe_states: states.then_some(counts.unsafe_states),
            counterexample_steps: counterexample_steps.map(|steps| steps as u64),
            dropped_outcomes: dropped_outcomes.then_some(counts.dropped_outcomes),
            start_states_proved_safe: None,
            times_s,
            engine: Map::new(),
        }
    }
}
