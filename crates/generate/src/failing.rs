//! Actions that may fail and then raise a cost (Blocksworld, sliding tiles).

use serde_json::Value;

use crate::DecimalProbability;
use crate::instance::{Destination, Edge};
use crate::jani::{all, at_most, minus, name, plus};

/// Says how actions fail.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Failing {
    /// They may fail or not, nothing is said about how often: one more operator for each.
    #[default]
    NonDeterministic,
    /// They fail with this probability; with probability 0 there are no costs.
    Probability(DecimalProbability),
}

/// The constant with the probability.
pub(crate) const FAILING_PROBABILITY: &str = "failing_probability";

impl Failing {
    /// Returns whether an action can fail.
    pub(crate) fn is_possible(&self) -> bool {
        !matches!(self, Self::Probability(probability) if probability.is_zero())
    }

    /// The constants that edges speak of.
    pub(crate) fn constants(&self) -> Vec<(String, &'static str, Value)> {
        match self {
            Self::Probability(probability) if self.is_possible() => {
                vec![(FAILING_PROBABILITY.to_owned(), "real", probability.value())]
            }
            _ => Vec::new(),
        }
    }

    /// The edges of an action that moves something, whose moves have failed `cost` times, `bound`
    /// at most. `step_cost` remembers what a move cost, if it is there.
    pub(crate) fn edges(
        &self,
        label: &str,
        guard: Vec<Value>,
        moves: Vec<(String, Value)>,
        cost: &str,
        bound: i64,
        step_cost: Option<&str>,
    ) -> Vec<Edge> {
        let edge =
            |guard, destinations| Edge { label: Some(label.to_owned()), guard, destinations };
        if !self.is_possible() {
            return vec![edge(all(guard), vec![Destination::sure(moves)])];
        }
        // An action waits for ever once its cost has reached the bound.
        let guard = all([guard, vec![at_most(cost, bound - 1)]].concat());
        let noted = step_cost.map(|step_cost| (step_cost.to_owned(), name(cost)));
        let success: Vec<_> = moves.into_iter().chain(noted.clone()).collect();
        let raised = (cost.to_owned(), plus(cost, 1));
        let failure: Vec<_> = std::iter::once(raised).chain(noted).collect();
        match self {
            Self::NonDeterministic => vec![
                edge(guard.clone(), vec![Destination::sure(success)]),
                edge(guard, vec![Destination::sure(failure)]),
            ],
            Self::Probability(_) => {
                let fails = name(FAILING_PROBABILITY);
                let succeeds = minus(1.into(), fails.clone());
                vec![edge(
                    guard,
                    vec![
                        Destination { probability: Some(succeeds), assignments: success },
                        Destination { probability: Some(fails), assignments: failure },
                    ],
                )]
            }
        }
    }
}
