//! The lines of a query log as versioned data: `docs/formats/queries.md`.

use std::path::PathBuf;

use policert_model::{Condition, LinearConstraint, Model, VarId};
use policert_numeric::IntInterval;
use policert_policy::{Filter, Numbers, Ties};
use serde::{Deserialize, Serialize};

/// Version of the format. It grows when the meaning of a field changes or a field goes; new
/// fields may come without.
pub const QUERY_LOG_VERSION: u32 = 1;

/// The first line: the policy that all queries are about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueryLogHeader {
    /// The name of the format: `policert-queries`.
    pub format: String,
    /// [`QUERY_LOG_VERSION`].
    pub version: u32,
    /// Version of the program.
    pub policert: String,
    /// The network file.
    pub network: PathBuf,
    /// SHA-256 of its bytes.
    pub network_sha256: String,
    /// The number of trees that count, where the policy is a tree ensemble.
    #[serde(default)]
    pub trees: Option<usize>,
    /// The variables of the state.
    pub variables: Vec<VariableRecord>,
    /// For each input of the network the position of its variable.
    pub inputs: Vec<usize>,
    /// The label of each output of the network.
    pub outputs: Vec<String>,
    /// The rule for ties.
    pub ties: Ties,
    /// The outputs that compete.
    pub filter: Filter,
    /// In which arithmetic scores are meant.
    pub numbers: Numbers,
    /// With the filter `applicable`: where each output is applicable.
    pub applicable: Option<Vec<ConditionRecord>>,
}

/// A variable and its domain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VariableRecord {
    /// Its name.
    pub name: String,
    /// Its least and its greatest value.
    pub domain: SideRecord,
}

/// Least and greatest value; `null` where there is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SideRecord(pub Option<i64>, pub Option<i64>);

/// Any other line: a query with its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueryRecord {
    /// Number of the region, counted from 0, of which the box is a part: an abstract state.
    pub region: u64,
    /// The output: is there a point at which it is chosen?
    pub output: usize,
    /// True if the variables range over the real numbers.
    pub relaxed: bool,
    /// The sides of the variables, then of free choices where there are any.
    #[serde(rename = "box")]
    pub sides: Vec<SideRecord>,
    /// The conditions that must hold besides.
    pub conditions: Vec<ConditionRecord>,
    /// The answer.
    pub answer: AnswerRecord,
    /// A point of the box at which the output is chosen.
    pub witness: Option<Vec<i64>>,
    /// The time that the answer took, in microseconds.
    pub time_us: f64,
}

/// The answer to a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerRecord {
    /// There is no such point.
    Refuted,
    /// There is one, or none was ruled out.
    Possible,
}

/// A condition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionRecord {
    /// Always, or never.
    Constant(bool),
    /// A linear constraint.
    Linear(LinearRecord),
    /// All hold.
    And(Vec<ConditionRecord>),
    /// One holds.
    Or(Vec<ConditionRecord>),
    /// Anything else, as a person would write it.
    Text(String),
}

/// `Σ coefficient · variable ≤ upper`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinearRecord {
    /// Variable and coefficient.
    pub terms: Vec<(u32, i64)>,
    /// The greatest value allowed.
    pub upper: i64,
}

impl From<IntInterval> for SideRecord {
    fn from(side: IntInterval) -> Self {
        Self(
            (side.lo != IntInterval::UNBOUNDED_BELOW).then_some(side.lo),
            (side.hi != IntInterval::UNBOUNDED_ABOVE).then_some(side.hi),
        )
    }
}

impl SideRecord {
    /// As an interval.
    #[must_use]
    pub fn interval(self) -> IntInterval {
        IntInterval::new(
            self.0.unwrap_or(IntInterval::UNBOUNDED_BELOW),
            self.1.unwrap_or(IntInterval::UNBOUNDED_ABOVE),
        )
    }
}

impl ConditionRecord {
    /// The record of a condition over the variables of a model.
    #[must_use]
    pub fn new(model: &Model, condition: &Condition) -> Self {
        let parts = |parts: &[Condition]| parts.iter().map(|part| Self::new(model, part)).collect();
        match condition {
            Condition::True => Self::Constant(true),
            Condition::False => Self::Constant(false),
            Condition::Linear(constraint) => Self::Linear(LinearRecord {
                terms: constraint.terms.iter().map(|&(v, c)| (v.0, c)).collect(),
                upper: constraint.upper,
            }),
            Condition::And(all) => Self::And(parts(all)),
            Condition::Or(any) => Self::Or(parts(any)),
            Condition::General { .. } => Self::Text(model.display_condition(condition)),
        }
    }

    /// The condition; `None` if a part of it is only a text.
    #[must_use]
    pub fn condition(&self) -> Option<Condition> {
        let parts =
            |parts: &[Self]| parts.iter().map(Self::condition).collect::<Option<Vec<Condition>>>();
        Some(match self {
            Self::Constant(value) => Condition::constant(*value),
            Self::Linear(LinearRecord { terms, upper }) => Condition::Linear(LinearConstraint {
                terms: terms.iter().map(|&(v, c)| (VarId(v), c)).collect(),
                upper: *upper,
            }),
            Self::And(all) => Condition::and(parts(all)?),
            Self::Or(any) => Condition::or(parts(any)?),
            Self::Text(_) => return None,
        })
    }
}
