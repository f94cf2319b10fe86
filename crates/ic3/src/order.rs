//! The order in which the variables of a reason are generalised.

use policert_model::{Condition, Operator, VarId};
use policert_numeric::IntBox;
use policert_policy::{Evaluator, Policy};

use crate::config::VariableOrder;
use crate::frame_transition::Environment;

/// Ranks the variables.
#[derive(Debug)]
pub(crate) struct Ordering {
    order: VariableOrder,
    /// By variable: how many guards, updates and conditions of the property read it.
    readers: Vec<u32>,
    /// By variable: how often it could be dropped, with old times counting less.
    dropped: Vec<f64>,
    evaluator: Option<(Evaluator, Vec<VarId>)>,
}

/// The factor by which the weight of a past generalisation falls with each later one.
const FADING: f64 = 0.95;

impl Ordering {
    pub fn new(
        order: VariableOrder,
        environment: &Environment<'_>,
        policy: Option<&Policy>,
    ) -> Self {
        let variables = environment.domains.dimensions();
        let mut readers = vec![0u32; variables];
        let mut read = |condition: &Condition| {
            for v in condition.variables() {
                if let Some(count) = readers.get_mut(v.index()) {
                    *count += 1;
                }
            }
        };
        read(&environment.question.property.unsafe_condition);
        for Operator { guard, destinations, .. } in environment.operators.all() {
            read(guard);
            for destination in destinations {
                read(&destination.defined);
            }
        }
        let destinations = environment.operators.all().iter().flat_map(|o| &o.destinations);
        for update in destinations.flat_map(|destination| &destination.updates) {
            readers[update.variable.index()] += 1;
        }
        for &input in policy.map_or(&[][..], Policy::inputs) {
            readers[input.index()] += 1;
        }
        // Scores of tree ensembles are constant around a state.
        let evaluator = policy
            .filter(|_| order == VariableOrder::Influence)
            .and_then(|policy| Some((Evaluator::new(policy.ranking()?), policy.inputs().to_vec())));
        Self { order, readers, dropped: vec![0.0; variables], evaluator }
    }

    /// The variables, those first that are generalised first.
    pub fn of(&mut self, state: &[i64], domains: &IntBox) -> Vec<usize> {
        let mut variables: Vec<usize> = (0..state.len()).collect();
        match self.order {
            VariableOrder::Model => {}
            VariableOrder::Dependency => variables.sort_by_key(|&v| self.readers[v]),
            VariableOrder::Learned => variables.sort_by(|&a, &b| {
                let by_readers = self.readers[a].cmp(&self.readers[b]);
                self.dropped[b].total_cmp(&self.dropped[a]).then(by_readers)
            }),
            VariableOrder::Influence => {
                let influence = self.influence(state, domains);
                variables.sort_by(|&a, &b| influence[a].total_cmp(&influence[b]));
            }
        }
        variables
    }

    /// Learns which variables a generalisation could drop.
    pub fn learn(&mut self, reason: &IntBox, domains: &IntBox) {
        for (v, dropped) in self.dropped.iter_mut().enumerate() {
            *dropped *= FADING;
            if reason[v] == domains[v] {
                *dropped += 1.0;
            }
        }
    }

    /// Returns how much the scores change when a variable alone goes to either end of its domain.
    fn influence(&mut self, state: &[i64], domains: &IntBox) -> Vec<f64> {
        let mut influence = vec![0.0; state.len()];
        let Some((evaluator, inputs)) = &mut self.evaluator else { return influence };
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let read = |state: &[i64]| -> Vec<f64> {
            inputs.iter().map(|v| state[v.index()] as f64).collect()
        };
        let mut batch = read(state);
        for (v, side) in domains.sides().iter().enumerate() {
            for end in [side.lo, side.hi] {
                let mut other = state.to_vec();
                other[v] = end;
                batch.extend(read(&other));
            }
        }
        let mut scores = Vec::new();
        evaluator.evaluate(&batch, &mut scores);
        let rows: Vec<&[f64]> = scores.chunks_exact(evaluator.output_width().max(1)).collect();
        for (v, ends) in rows.get(1..).unwrap_or(&[]).chunks_exact(2).enumerate() {
            for end in ends {
                let change = end.iter().zip(rows[0]).map(|(a, b)| (a - b).abs());
                influence[v] = change.fold(influence[v], f64::max);
            }
        }
        influence
    }
}
