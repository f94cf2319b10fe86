//! The evidence of a verdict as versioned data that a person can read too:
//! `docs/formats/evidence.md`.

mod from_bounds;
mod from_invariant;
mod from_trace;

use std::collections::BTreeMap;

use policert_certify::OverStarts;
use policert_model::{Model, OperatorKey};
use policert_outcome::{Input, VERSION};
use policert_problem::{Problem, ProblemRecord, SemanticsRecord};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use from_bounds::read_pieces;
pub use from_bounds::{Unconfirmed, check as check_bounds};
pub(crate) use from_invariant::{read_diagram, read_invariant};

/// Version of the schema of evidence files.
pub const EVIDENCE_VERSION: u32 = 1;

/// The evidence that `policert verify --evidence` writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// [`EVIDENCE_VERSION`].
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The verdict that it is evidence of: `unsafe`, `safe`, or `probability`.
    pub verdict: String,
    /// The engine that found it.
    pub engine: String,
    /// The question, as it was asked.
    pub task: ProblemRecord,
    /// The meaning of the verdict.
    pub semantics: SemanticsRecord,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The unsafe condition as a person would write it.
    pub unsafe_condition: String,
    /// The proof of the verdict.
    #[serde(flatten)]
    pub proof: Proof,
}

/// Says what shows a verdict.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Proof {
    /// *unsafe*: a run that does not do what is asked.
    Trace {
        /// Number of steps.
        steps: usize,
        /// The start state.
        start: Map<String, Value>,
        /// The steps in order.
        trace: Vec<StepRecord>,
        /// The way in which it ends.
        end: EndRecord,
    },
    /// *safe*: boxes of states whose union with a diagram is an inductive invariant, or with ranks that fall.
    Invariant {
        /// For each box the variables that do not have all values of their domain: the least and
        /// the greatest value.
        invariant: Vec<Map<String, Value>>,
        /// For each box what its states satisfy besides; left out if they satisfy nothing.
        #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
        conditions: Vec<Vec<ConditionRecord>>,
        /// Where every run reaches the goal: for each box a rank, which falls with every step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ranks: Option<Vec<u64>>,
        /// States of the invariant besides those of the boxes, where these would be too many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diagram: Option<DiagramRecord>,
    },
    /// *probability*: bounds by state that no step contradicts.
    Probability {
        /// Lower and upper bound of the number that was asked for.
        probability: [String; 2],
        /// The function that makes one number of the greatest probabilities from the start states.
        #[serde(default)]
        over_start_states: OverStarts,
        /// Names of the variables, in the order of the values of a state.
        variables: Vec<String>,
        /// The operators that the scheduler takes.
        operators: Vec<OperatorRecord>,
        /// Bounds by state.
        values: Vec<ValueRecord>,
        /// Upper bounds by piece; left out if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pieces: Option<Vec<PieceRecord>>,
        /// The most probable paths of the scheduler to the target.
        paths: Vec<WitnessPathRecord>,
    },
}

/// A decision diagram of states.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiagramRecord {
    /// The variables that nodes ask for, in the order in which they do.
    pub variables: Vec<String>,
    /// The nodes; the last one is the root. Each has the position of its variable, then for each edge the least
    /// and the greatest value and the node after it: its position from 1 among those before, or 0 where all states
    /// that are left are in the set.
    pub nodes: Vec<Vec<i64>>,
}

/// A condition on states.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum ConditionRecord {
    /// A linear constraint: the sum of coefficient times variable is at most a number.
    Linear {
        /// Coefficients by variable.
        terms: BTreeMap<String, i64>,
        /// The greatest value of the sum.
        at_most: i64,
    },
    /// One at least holds.
    Any {
        /// The conditions.
        any: Vec<ConditionRecord>,
    },
    /// All hold.
    All {
        /// The conditions.
        all: Vec<ConditionRecord>,
    },
}

/// A state, the lower and the upper bound of its value, and the position of the operator that the
/// scheduler takes. The bounds are the 64-bit numbers nearest to the decimals written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ValueRecord(pub Vec<i64>, pub f64, pub f64, pub Option<usize>);

/// A box of states as in an invariant, the conditions that its states satisfy besides, and an upper bound of
/// their values: the 64-bit number nearest to the decimals written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PieceRecord(pub Map<String, Value>, pub Vec<ConditionRecord>, pub f64);

/// A path to the target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WitnessPathRecord {
    /// Its probability as a fraction.
    pub probability: String,
    /// The same to the nearest 64-bit number.
    pub decimal: f64,
    /// The start state.
    pub start: Map<String, Value>,
    /// The steps in order.
    pub steps: Vec<WitnessStepRecord>,
}

/// A step of a path to the target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WitnessStepRecord {
    /// The label; `null` for a silent step.
    pub label: Option<String>,
    /// The operator.
    pub operator: OperatorRecord,
    /// The position of the outcome that happens, from 0.
    pub outcome: usize,
    /// The values of the outcome's free choices.
    pub choices: Vec<i64>,
    /// The probability of the outcome as a fraction.
    pub probability: String,
    /// The state after the step.
    pub state: Map<String, Value>,
}

/// Says how a run ends that does not do what is asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EndRecord {
    /// In which way.
    pub kind: EndKind,
    /// Of a loop: after how many steps it begins.
    pub back_to: Option<usize>,
    /// Of a run that gets stuck: what the policy says at its end; `null` without policy.
    pub policy: Option<PolicyRecord>,
}

/// In which way a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// In an unsafe state.
    Unsafe,
    /// In a state without successors.
    Stuck,
    /// In a terminal state.
    Terminal,
    /// Not at all: it goes round, back to an earlier state.
    Loop,
}

/// One step of a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: usize,
    /// The label; `null` for a silent step of the environment.
    pub label: Option<String>,
    /// Whose step it is.
    pub by: Mover,
    /// The policy's choice in the state before the step; `null` without policy.
    pub policy: Option<PolicyRecord>,
    /// The operator that fires.
    pub operator: OperatorRecord,
    /// The position of the outcome that happens, from 0.
    pub outcome: usize,
    /// The probability of the outcome as a fraction: below 1, chance decides.
    #[serde(default)]
    pub probability: Option<String>,
    /// The number of operators of this label, or of silent ones, that are enabled: of several the
    /// environment takes one.
    #[serde(default)]
    pub operators: Option<u64>,
    /// The values of the outcome's free choices.
    pub choices: Vec<i64>,
    /// The variables that change: value before and after.
    pub changed: Map<String, Value>,
    /// The state after the step.
    pub state: Map<String, Value>,
}

/// Whose step it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mover {
    /// The policy chose the label.
    Policy,
    /// A silent step, or one by a label that the policy does not output.
    Environment,
    /// There is no policy.
    Anyone,
}

/// Holds what the policy says in a state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// The labels that it may choose; `null` where that is not decided, which is possible in
    /// steps of the environment only.
    pub chosen: Option<Vec<String>>,
    /// The score of each of its labels, in the order of the outputs.
    pub scores: Vec<ScoreRecord>,
}

/// The score of a label.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// The label.
    pub label: String,
    /// The exact score as a fraction; `null` where it is no rational number.
    pub exact: Option<String>,
    /// The score in decimals, to the nearest 64-bit number.
    pub decimal: f64,
    /// True if an operator of this label is enabled in the state.
    pub applicable: bool,
}

/// An operator, by the edges that it takes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OperatorRecord {
    /// Position of the synchronisation vector in the model; `null` for a silent edge alone.
    pub vector: Option<u32>,
    /// The edges.
    pub edges: Vec<EdgeRecord>,
}

/// An edge of an instance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EdgeRecord {
    /// Position of the instance in the system.
    pub instance: u32,
    /// Name of its automaton.
    pub automaton: String,
    /// Position of the edge in the instance's list.
    pub edge: u32,
    /// JSON pointer of the edge in the model file.
    pub pointer: String,
}

impl Evidence {
    fn new(problem: &Problem, verdict: &str, engine: &str, proof: Proof) -> Self {
        Self {
            schema_version: EVIDENCE_VERSION,
            version: VERSION.to_owned(),
            verdict: verdict.to_owned(),
            engine: engine.to_owned(),
            task: problem.record.clone(),
            semantics: problem.semantics.clone(),
            inputs: problem.inputs.clone(),
            unsafe_condition: problem.model.display_condition(&problem.property.unsafe_condition),
            proof,
        }
    }
}

impl OperatorRecord {
    /// The operator of this key.
    #[must_use]
    pub fn new(model: &Model, key: &OperatorKey) -> Self {
        let edges = key.edges.iter().map(|&(instance, edge)| {
            let automaton = model.instance(instance);
            EdgeRecord {
                instance: instance.0,
                automaton: automaton.automaton.clone(),
                edge,
                pointer: automaton.edges[edge as usize].place.to_string(),
            }
        });
        Self { vector: key.vector, edges: edges.collect() }
    }
}
