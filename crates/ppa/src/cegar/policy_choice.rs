//! What the policy chooses in a single state, exactly.

use policert_engine_api::EngineError;
use policert_model::ModelSemantics;
use policert_policy::trees::IntegerTrees;
use policert_policy::{Choice, Chooser, Evaluator, Filter, Policy, Scoring};

use crate::abstraction::Abstraction;

/// The policy, asked about single states.
#[derive(Debug)]
pub(crate) struct PolicyChoice<'p> {
    policy: &'p Policy,
    chooser: Chooser<'p>,
    scorer: Scorer<'p>,
}

/// Computes scores in double precision.
#[derive(Debug)]
enum Scorer<'p> {
    Network(Box<Evaluator>, Vec<f64>),
    Trees(&'p IntegerTrees, Vec<i128>),
}

impl<'p> PolicyChoice<'p> {
    pub fn new(policy: &'p Policy) -> Self {
        Self {
            policy,
            chooser: policy.chooser(),
            scorer: match policy.scoring() {
                Scoring::Network(network) => {
                    Scorer::Network(Box::new(Evaluator::new(network)), Vec::new())
                }
                Scoring::Trees(trees) => Scorer::Trees(trees, Vec::new()),
            },
        }
    }

    /// Returns whether the policy chooses an output in a state; `None` if that cannot be told.
    ///
    /// # Errors
    /// A modelling error in the state.
    pub fn chooses(
        &mut self,
        abstraction: &Abstraction<'_>,
        state: &[i64],
        output: usize,
    ) -> Result<Option<bool>, EngineError> {
        Ok(self.choice(abstraction, state)?.contains(output))
    }

    pub fn choice(
        &mut self,
        abstraction: &Abstraction<'_>,
        state: &[i64],
    ) -> Result<Choice, EngineError> {
        let mut applicable = Vec::new();
        if self.policy.semantics().filter == Filter::Applicable {
            applicable = vec![false; self.policy.outputs().len()];
            let question = abstraction.question;
            let semantics = ModelSemantics { model: question.model, rule: question.domain_rule };
            for group in abstraction.operators.groups() {
                let Some(output) = group.output else { continue };
                for &o in &group.operators {
                    let operator = &abstraction.operators.all()[o];
                    if semantics.is_enabled(operator, state)? {
                        applicable[output] = true;
                        break;
                    }
                }
            }
        }
        let inputs: Vec<i64> = self.policy.inputs().iter().map(|v| state[v.index()]).collect();
        Ok(self.chooser.choose(&inputs, &applicable))
    }

    /// The lead of an output over the best other one in a state, in double precision: a measure,
    /// no decision.
    pub fn lead(&mut self, state: &[i64], output: usize) -> f64 {
        let inputs: Vec<i64> = self.policy.inputs().iter().map(|v| state[v.index()]).collect();
        #[expect(clippy::cast_precision_loss, reason = "a measure, no decision")]
        match &mut self.scorer {
            Scorer::Network(evaluator, scores) => {
                let inputs: Vec<f64> = inputs.iter().map(|&input| input as f64).collect();
                evaluator.evaluate(&inputs, scores);
                lead_of(output, scores)
            }
            Scorer::Trees(trees, exact) => {
                trees.scores(&inputs, exact);
                let scores: Vec<f64> = exact.iter().map(|&score| score as f64).collect();
                lead_of(output, &scores)
            }
        }
    }

    /// The variables that the choice depends on, ascending.
    pub fn variables(&self, abstraction: &Abstraction<'_>) -> Vec<usize> {
        let mut variables: Vec<usize> = self.policy.inputs().iter().map(|v| v.index()).collect();
        if self.policy.semantics().filter == Filter::Applicable {
            for group in abstraction.operators.groups() {
                if group.output.is_some() {
                    for &o in &group.operators {
                        let guard = &abstraction.operators.all()[o].guard;
                        guard.for_each_var(&mut |v| variables.push(v.index()));
                    }
                }
            }
        }
        variables.sort_unstable();
        variables.dedup();
        variables
    }
}

/// The lead of an output over the best other one.
fn lead_of(output: usize, scores: &[f64]) -> f64 {
    let others = scores.iter().enumerate().filter(|(j, _)| *j != output);
    scores[output] - others.map(|(_, &score)| score).fold(f64::NEG_INFINITY, f64::max)
}
