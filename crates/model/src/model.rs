//! The model: variables, labels, and the network of automata that operators are composed from.

use policert_numeric::{IntBox, IntInterval};

use crate::{
    AutomatonInstance, Condition, InstanceId, LabelId, SyncVector, Transient, VarId, Variable,
};

/// The initial values of one variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InitialValue {
    /// One value.
    Fixed(i64),
    /// Any value of the domain.
    Any,
    /// One of these: initial locations.
    OneOf(Vec<i64>),
}

/// A state space ⟨V, L, O⟩ given as a network of automata.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// State variables: locations of the instances, then globals, then locals by instance;
    /// arrays cell by cell.
    pub variables: Vec<Variable>,
    /// Transient variables that assignments read.
    pub transients: Vec<Transient>,
    /// Names of actions and labels, in the order of the file.
    pub labels: Vec<String>,
    /// The automaton instances of the system.
    pub instances: Vec<AutomatonInstance>,
    /// The synchronisation vectors.
    pub vectors: Vec<SyncVector>,
    /// Initial values by variable.
    pub initial_values: Vec<InitialValue>,
    /// The condition that initial states must satisfy besides.
    pub initial_condition: Condition,
}

impl Model {
    /// The box of all states.
    #[must_use]
    pub fn domains(&self) -> IntBox {
        IntBox::new(self.variables.iter().map(|v| v.domain).collect())
    }

    /// The condition and box of the initial states.
    #[must_use]
    pub fn initial_states(&self) -> (Condition, IntBox) {
        let mut sides = self.domains();
        let mut parts = vec![self.initial_condition.clone()];
        for (i, value) in self.initial_values.iter().enumerate() {
            match value {
                InitialValue::Fixed(value) => sides[i] = IntInterval::point(*value),
                InitialValue::Any => {}
                InitialValue::OneOf(values) => {
                    parts.push(Condition::or(
                        values.iter().map(|&v| Condition::var_equals(VarId::new(i), v)),
                    ));
                }
            }
        }
        (Condition::and(parts), sides)
    }

    /// The variable named `name`.
    #[must_use]
    pub fn variable_by_name(&self, name: &str) -> Option<VarId> {
        self.variables.iter().position(|v| v.name == name).map(VarId::new)
    }

    /// The label named `name`.
    #[must_use]
    pub fn label_by_name(&self, name: &str) -> Option<LabelId> {
        self.labels.iter().position(|l| l == name).map(LabelId::new)
    }

    /// Name of a label, `τ` for none.
    #[must_use]
    pub fn label_name(&self, label: Option<LabelId>) -> &str {
        label.and_then(|l| self.labels.get(l.index())).map_or("τ", |l| l)
    }

    /// The model without the operators that carry one of these labels, and without edges that only
    /// these have.
    #[must_use]
    pub fn without_labels(mut self, labels: &[LabelId]) -> Self {
        let is_left_out =
            |vector: &SyncVector| vector.result.is_some_and(|label| labels.contains(&label));
        let (left_out, kept): (Vec<SyncVector>, Vec<SyncVector>) =
            self.vectors.into_iter().partition(is_left_out);
        let takes_part = |vectors: &[SyncVector], participant: &(InstanceId, LabelId)| {
            vectors.iter().any(|vector| vector.participants.contains(participant))
        };
        for (i, instance) in self.instances.iter_mut().enumerate() {
            instance.edges.retain(|edge| {
                edge.action.is_none_or(|action| {
                    let participant = (InstanceId::new(i), action);
                    takes_part(&kept, &participant) || !takes_part(&left_out, &participant)
                })
            });
        }
        self.vectors = kept;
        self
    }

    /// The edges of an instance.
    #[must_use]
    pub fn instance(&self, id: InstanceId) -> &AutomatonInstance {
        &self.instances[id.index()]
    }

    /// Labels that some operator may carry: results of vectors all of whose actions occur.
    #[must_use]
    pub fn operator_labels(&self) -> Vec<LabelId> {
        let mut labels: Vec<LabelId> = self
            .vectors
            .iter()
            .filter(|v| self.vector_operators(v) > 0)
            .filter_map(|v| v.result)
            .collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Number of operators that a vector composes.
    #[must_use]
    pub fn vector_operators(&self, vector: &SyncVector) -> u128 {
        if vector.participants.is_empty() {
            return 0;
        }
        vector
            .participants
            .iter()
            .map(|&(i, action)| {
                self.instance(i).edges.iter().filter(|e| e.action == Some(action)).count() as u128
            })
            .fold(1u128, u128::saturating_mul)
    }

    /// Number of operators of the composed model, without composing it.
    #[must_use]
    pub fn operator_count(&self) -> u128 {
        let silent: usize = self
            .instances
            .iter()
            .map(|i| i.edges.iter().filter(|e| e.action.is_none()).count())
            .sum();
        self.vectors.iter().fold(silent as u128, |n, v| n.saturating_add(self.vector_operators(v)))
    }
}
