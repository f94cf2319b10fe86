//! Sizes of models, properties and policies.

use std::ops::ControlFlow;

use policert_engine_api::Budget;
use policert_jani::JaniSummary;
use policert_jani::property::{Quantity, StandardProperty};
use policert_model::{
    LabelId, Model, SafetyProperty, Start, VariableKind, Visit, for_each_solution,
};
use policert_policy::trees::{IntegerNode, IntegerTrees};
use policert_policy::{ElementType, Network, Policy};
use policert_problem::shortened;
use serde::Serialize;

/// Initial states that are counted.
const INITIAL_STATES: u64 = 1_000_000;

/// A model in numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ModelSummary {
    /// Its name.
    pub name: String,
    /// Its type, as the format names it.
    #[serde(rename = "type")]
    pub model_type: String,
    /// State variables, array cells one by one, locations not counted.
    pub variables: usize,
    /// The number of those that are truth values.
    pub boolean_variables: usize,
    /// The number of those that have an unbounded side.
    pub unbounded_variables: usize,
    /// Transient variables that assignments write.
    pub transient_variables: usize,
    /// Variables as they are written, by kind, in words.
    pub declared_variables: String,
    /// Automaton instances of the system.
    pub instances: usize,
    /// Locations of each instance.
    pub locations: Vec<usize>,
    /// Edges of the automata as they are written.
    pub edges: usize,
    /// Those without action.
    pub silent_edges: usize,
    /// Destinations of the edges as they are written.
    pub destinations: usize,
    /// Synchronisation vectors.
    pub sync_vectors: usize,
    /// Operators of the composed model.
    pub operators: OperatorCount,
    /// Operators without label.
    pub silent_operators: OperatorCount,
    /// Points of the domains, reachable or not; `null` for infinitely many.
    pub domain_points: Option<f64>,
    /// The model's own initial states; `null` if there are too many to count.
    pub initial_states: Option<u64>,
    /// Features of the format that it uses.
    pub features: Vec<String>,
}

/// A number of operators: exact up to 2^64, beyond that as a decimal number.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum OperatorCount {
    /// Exact.
    Exact(u64),
    /// To the nearest 64-bit floating-point number.
    About(f64),
}

impl From<u128> for OperatorCount {
    fn from(count: u128) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a size for people")]
        u64::try_from(count).map_or(Self::About(count as f64), Self::Exact)
    }
}

impl std::fmt::Display for OperatorCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact(count) => write!(f, "{count}"),
            Self::About(count) => write!(f, "about {count:.2e}"),
        }
    }
}

/// A label that some operator carries.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LabelSummary {
    /// Its name.
    pub name: String,
    /// Operators that carry it.
    pub operators: OperatorCount,
    /// True if the policy outputs it; `null` without policy.
    pub learned: Option<bool>,
}

/// A property in numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PropertySummary {
    /// Its name.
    pub name: String,
    /// The kind of question: `safety`, `greatest probability` or `least probability`.
    pub asks: &'static str,
    /// The way in which its start states are given: `condition`, `list` or `initial`.
    pub start: &'static str,
    /// Start states of a list, with repetitions.
    pub listed_start_states: Option<usize>,
    /// The unsafe condition, or the one whose probability is asked for, as a person would write it,
    /// shortened.
    pub unsafe_condition: String,
    /// True if it names a goal.
    pub goal: bool,
    /// Predicates that it gives.
    pub predicates: usize,
}

/// A policy in numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PolicySummary {
    /// The kind of policy, in words.
    pub kind: String,
    /// Names of its inputs, in order.
    pub inputs: Vec<String>,
    /// Names of its labels, in the order of its outputs.
    pub outputs: Vec<String>,
    /// Sizes of its hidden layers.
    pub hidden: Vec<usize>,
    /// The meaning of its scores and choices, in one line.
    pub semantics: String,
}

impl ModelSummary {
    /// The sizes of a model; `written` are those of its file. Initial states are counted up to a
    /// number and within the budget.
    #[must_use]
    pub fn new(model: &Model, written: &JaniSummary, budget: &mut Budget) -> Self {
        let kinds = |keep: fn(&VariableKind) -> bool| {
            model.variables.iter().filter(|variable| keep(&variable.kind)).count()
        };
        let unbounded = model.variables.iter().filter(|variable| !variable.domain.is_bounded());
        Self {
            name: model.name.clone(),
            model_type: written.model_type.clone(),
            variables: kinds(|kind| !matches!(kind, VariableKind::Location { .. })),
            boolean_variables: kinds(|kind| *kind == VariableKind::Boolean),
            unbounded_variables: unbounded.count(),
            transient_variables: model.transients.len(),
            declared_variables: written.variables_text(),
            instances: written.instances,
            locations: written.locations.clone(),
            edges: written.edges,
            silent_edges: written.silent_edges,
            destinations: written.destinations,
            sync_vectors: written.vectors,
            operators: model.operator_count().into(),
            silent_operators: silent_operators(model).into(),
            domain_points: domain_points(model),
            initial_states: initial_states(model, budget),
            features: written.features_used.clone(),
        }
    }
}

/// Silent edges, and what vectors without result compose.
fn silent_operators(model: &Model) -> u128 {
    let edges = model.instances.iter().flat_map(|instance| &instance.edges);
    let silent_edges = edges.filter(|edge| edge.action.is_none()).count() as u128;
    let vectors = model.vectors.iter().filter(|vector| vector.result.is_none());
    vectors.map(|vector| model.vector_operators(vector)).fold(silent_edges, u128::saturating_add)
}

fn domain_points(model: &Model) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    let sizes = model.variables.iter().map(|v| v.domain.count().map(|count| count as f64));
    sizes.product::<Option<f64>>()
}

fn initial_states(model: &Model, budget: &mut Budget) -> Option<u64> {
    let (condition, sides) = model.initial_states();
    let mut count = 0;
    let flow = for_each_solution(&condition, &sides, false, &mut |visit| {
        count += u64::from(matches!(visit, Visit::Solution(_)));
        if count > INITIAL_STATES || budget.poll().is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    matches!(flow, Ok(ControlFlow::Continue(()))).then_some(count)
}

/// The labels that operators carry, in the order of the file; `learned` are those that the policy
/// outputs.
#[must_use]
pub fn labels(model: &Model, learned: Option<&[&str]>) -> Vec<LabelSummary> {
    let operators = |label| {
        let vectors = model.vectors.iter().filter(move |vector| vector.result == Some(label));
        vectors.map(|vector| model.vector_operators(vector)).fold(0, u128::saturating_add)
    };
    let summary = |label: LabelId| {
        let name = model.label_name(Some(label));
        LabelSummary {
            name: name.to_owned(),
            operators: operators(label).into(),
            learned: learned.map(|learned| learned.contains(&name)),
        }
    };
    model.operator_labels().into_iter().map(summary).collect()
}

impl PropertySummary {
    /// The sizes of a safety property, which may stand for a standard one.
    #[must_use]
    pub fn new(
        model: &Model,
        property: &SafetyProperty,
        standard: Option<&StandardProperty>,
    ) -> Self {
        const SHOWN: usize = 300;
        let unsafe_condition = model.display_condition(&property.unsafe_condition);
        Self {
            name: property.name.clone(),
            asks: match standard.map(|standard| standard.quantity) {
                None => "safety",
                Some(Quantity::MaxProbability) => "greatest probability",
                Some(Quantity::MinProbability) => "least probability",
                Some(Quantity::Possible | Quantity::Certain) => "existence of paths",
            },
            start: match &property.start {
                None => "initial",
                Some(Start::Condition(_)) => "condition",
                Some(Start::States(_)) => "list",
            },
            listed_start_states: match &property.start {
                Some(Start::States(states)) => Some(states.len()),
                _ => None,
            },
            unsafe_condition: shortened(&unsafe_condition, SHOWN),
            goal: property.goal.is_some(),
            predicates: property.predicates.len(),
        }
    }
}

impl PolicySummary {
    /// The sizes of a policy.
    #[must_use]
    pub fn new(model: &Model, policy: &Policy) -> Self {
        let kind = match (policy.network(), policy.trees()) {
            (Some(network), _) => {
                let precision = match network.element_type() {
                    ElementType::F32 => "single",
                    ElementType::F64 => "double",
                };
                let linear = if network.is_piecewise_linear() { "piecewise linear " } else { "" };
                format!("{linear}network, weights in {precision} precision")
            }
            (None, trees) => {
                let trees = trees.map(IntegerTrees::trees).unwrap_or_default();
                let leaf = |node: &&IntegerNode| matches!(node, IntegerNode::Leaf(_));
                let leaves = trees.iter().flat_map(|tree| &tree.nodes).filter(leaf).count();
                let count = trees.len();
                let s = if count == 1 { "" } else { "s" };
                format!("ensemble of {count} tree{s} with {leaves} leaves")
            }
        };
        let variables = policy.inputs().iter().map(|v| model.variables[v.index()].name.clone());
        let labels = policy.outputs().iter().map(|&label| model.label_name(Some(label)).to_owned());
        Self {
            kind,
            inputs: variables.collect(),
            outputs: labels.collect(),
            hidden: policy.network().map(Network::hidden_widths).unwrap_or_default(),
            semantics: policy.semantics().to_string(),
        }
    }
}
