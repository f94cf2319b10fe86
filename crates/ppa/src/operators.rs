//! Operators made ready for abstraction: grouped by label, with the predicates that each outcome
//! affects and their weakest preconditions.

use std::cell::OnceCell;

use policert_engine_api::{EngineError, Question};
use policert_model::{
    BinaryOp, Condition, Destination, Expr, LabelId, Model, Operator, Truth, UpdateValue, VarId,
};
use policert_numeric::IntInterval;

use crate::{PredId, PredicateSet};

/// The most operators that are composed for abstraction.
pub const OPERATOR_LIMIT: usize = 200_000;

/// Operators of one label.
#[derive(Debug)]
pub struct LabelGroup {
    /// The label; `None` for the silent operators.
    pub label: Option<LabelId>,
    /// The policy's output for the label; `None` where the environment chooses.
    pub output: Option<usize>,
    /// The operators, by position in [`Operators::all`].
    pub operators: Vec<usize>,
}

/// All operators, ready for abstraction.
#[derive(Debug)]
pub struct Operators {
    all: Vec<PreparedOperator>,
    groups: Vec<LabelGroup>,
}

/// An operator with its outcomes.
#[derive(Debug)]
pub struct PreparedOperator {
    /// The operator.
    pub operator: Operator,
    outcomes: Vec<OnceCell<Outcome>>,
}

/// An outcome of an operator, seen through the predicates.
#[derive(Debug)]
pub struct Outcome {
    /// What must hold before, and of the choices, that the outcome exists and stays inside all
    /// domains.
    pub validity: Vec<Condition>,
    /// The locations that it sets: position in the layout, new value.
    pub locations: Vec<(usize, i64)>,
    /// The predicates whose variables it updates.
    pub affected: Vec<Affected>,
}

/// A predicate whose variables an outcome updates.
#[derive(Debug)]
pub struct Affected {
    /// The predicate.
    pub predicate: PredId,
    /// Weakest preconditions of its literals: that it is false, that it is true.
    pub literals: [Condition; 2],
}

impl Operators {
    /// Composes and groups the operators of a model. `outputs` are the labels that the policy
    /// outputs, in its order.
    ///
    /// # Errors
    /// Too many operators, or one that cannot be composed: unsupported.
    pub fn new(question: &Question<'_>, outputs: &[LabelId]) -> Result<Self, EngineError> {
        let all: Vec<PreparedOperator> = question
            .model
            .operators(OPERATOR_LIMIT)?
            .into_iter()
            .map(|operator| PreparedOperator {
                outcomes: operator.destinations.iter().map(|_| OnceCell::new()).collect(),
                operator,
            })
            .collect();
        let mut groups: Vec<LabelGroup> = outputs
            .iter()
            .enumerate()
            .map(|(j, &label)| LabelGroup {
                label: Some(label),
                output: Some(j),
                operators: Vec::new(),
            })
            .collect();
        for (i, prepared) in all.iter().enumerate() {
            let label = prepared.operator.label;
            match groups.iter_mut().find(|g| g.label == label) {
                Some(group) => group.operators.push(i),
                None => {
                    groups.push(LabelGroup { label, output: None, operators: vec![i] });
                }
            }
        }
        Ok(Self { all, groups })
    }

    /// The operators, in the order of composition.
    #[must_use]
    pub fn all(&self) -> &[PreparedOperator] {
        &self.all
    }

    /// The groups: the policy's labels in its order, then the environment's.
    #[must_use]
    pub fn groups(&self) -> &[LabelGroup] {
        &self.groups
    }

    /// The policy's output for the label of an operator; `None` where the environment chooses.
    #[must_use]
    pub fn output_of(&self, operator: usize) -> Option<usize> {
        let label = self.all[operator].operator.label;
        self.groups.iter().find(|group| group.label == label).and_then(|group| group.output)
    }

    /// Forgets what was prepared for a set of predicates.
    pub fn forget_outcomes(&mut self) {
        for prepared in &mut self.all {
            prepared.outcomes.iter_mut().for_each(|outcome| drop(outcome.take()));
        }
    }

    /// For each output of the policy: where its label is applicable, the disjunction of the
    /// guards of its operators.
    #[must_use]
    pub fn applicability(&self) -> Vec<Condition> {
        self.groups
            .iter()
            .filter(|g| g.output.is_some())
            .map(|g| Condition::or(g.operators.iter().map(|&i| self.all[i].operator.guard.clone())))
            .collect()
    }
}

impl PreparedOperator {
    /// Outcome number `d`, prepared at first use.
    pub fn outcome(&self, d: usize, model: &Model, predicates: &PredicateSet) -> &Outcome {
        self.outcomes[d]
            .get_or_init(|| Outcome::new(model, predicates, &self.operator.destinations[d]))
    }
}

impl Outcome {
    fn new(model: &Model, predicates: &PredicateSet, destination: &Destination) -> Self {
        let mut validity: Vec<Condition> = destination.defined.conjuncts().to_vec();
        for update in &destination.updates {
            let domain = model.variables[update.variable.index()].domain;
            validity.extend(inside(&update.value, domain));
        }
        if destination.choices.is_empty() {
            validity.retain(|c| c.truth(predicates.domains()) != Truth::True);
        }
        let layout = predicates.layout();
        let locations = layout
            .locations()
            .iter()
            .enumerate()
            .filter_map(|(k, &location)| match destination.update(location)? {
                UpdateValue::Linear(value) if value.terms.is_empty() => Some((k, value.constant)),
                _ => None,
            })
            .collect();
        let updated = |v: VarId| destination.update(v).is_some();
        let affected = predicates
            .ids()
            .filter(|&p| predicates.literal(p, true).variables().into_iter().any(updated))
            .map(|predicate| Affected {
                predicate,
                literals: [false, true].map(|value| {
                    destination.weakest_precondition(predicates.literal(predicate, value))
                }),
            })
            .collect();
        Self { validity, locations, affected }
    }
}

/// The conditions that a new value lies in a domain (which is bounded).
fn inside(value: &UpdateValue, domain: IntInterval) -> Vec<Condition> {
    let value = value.to_expr();
    let le = |a: Expr, b: Expr| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
    let both =
        Condition::and([le(Expr::int(domain.lo), value.clone()), le(value, Expr::int(domain.hi))]);
    both.conjuncts().to_vec()
}
