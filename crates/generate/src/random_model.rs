//! Random models: a few variables, guarded changes of them, all from a seed.

use serde_json::{Value, json};

use crate::GenerateError;
use crate::error::in_range;
use crate::instance::{Destination, DomainInstance, Edge, StartSet};
use crate::jani::{all, at_least, at_most, name, plus};
use crate::random::Random;
use crate::variable::Variable;

/// Most variables, labels, and operators for each label of a random model.
pub const MAX_RANDOM: i64 = 100;

/// Options of random models.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RandomModel {
    /// Number of variables, 1 to [`MAX_RANDOM`].
    pub variables: i64,
    /// Greatest value of the variables, 2 to 1000; the least is 0.
    pub highest: i64,
    /// Number of labels, 1 to [`MAX_RANDOM`].
    pub labels: i64,
    /// Number of operators for each label, 1 to [`MAX_RANDOM`].
    pub operators: i64,
    /// True if some operators have two outcomes by chance.
    pub probabilistic: bool,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for RandomModel {
    fn default() -> Self {
        let (variables, highest, labels, operators) = (3, 5, 3, 3);
        Self { variables, highest, labels, operators, probabilistic: true, seed: 1 }
    }
}

fn variable(k: i64) -> String {
    format!("v_{k}")
}

impl RandomModel {
    /// The instance.
    ///
    /// # Errors
    /// A size out of its range.
    pub fn instance(&self) -> Result<DomainInstance, GenerateError> {
        let n = in_range("the number of variables", self.variables, 1, MAX_RANDOM)?;
        let high = in_range("the greatest value", self.highest, 2, 1000)?;
        in_range("the number of labels", self.labels, 1, MAX_RANDOM)?;
        in_range("the number of operators of a label", self.operators, 1, MAX_RANDOM)?;
        let mut random = Random::new(self.seed);
        let labels: Vec<String> = (0..self.labels).map(|k| format!("act_{k}")).collect();
        let mut edges = Vec::new();
        for label in &labels {
            edges.extend((0..self.operators).map(|_| self.edge(label, &mut random)));
        }
        // The first variable keeps start states, unsafe states and goal states apart.
        let first = variable(0);
        let bounds: Vec<i64> = (0..n).map(|_| random.within(0, high / 2)).collect();
        let start = (0..).zip(&bounds).map(|(k, &bound)| at_most(&variable(k), bound));
        let other = variable(random.within(0, n - 1));
        let side = random.within(0, high / 2);
        Ok(DomainInstance {
            name: format!("random_{n}_{}", self.seed),
            comment: format!("Random model: {n} variables, seed {}", self.seed),
            constants: Vec::new(),
            variables: (0..n).map(|k| Variable::new(variable(k), 0, high, 0)).collect(),
            labels,
            edges,
            start: StartSet::Condition(all(start.collect())),
            start_count: bounds.iter().try_fold(1u128, |product, &bound| {
                product.checked_mul(u128::try_from(bound + 1).ok()?)
            }),
            unsafe_condition: all(vec![at_least(&first, high), at_least(&other, side)]),
            unsafe_text: format!("{first} = {high} and {other} ≥ {side}"),
            goal: all(vec![at_least(&first, high), at_most(&other, side - 1)]),
            goal_potential: Some(name(&first)),
            step_reward: None,
            planning: None,
        })
    }

    /// Changes of one or two variables, with bounds of two variables at most.
    fn edge(&self, label: &str, random: &mut Random) -> Edge {
        let high = self.highest;
        let mut guard = Vec::new();
        for _ in 0..random.within(0, 2) {
            let v = variable(random.within(0, self.variables - 1));
            let bound = random.within(1, high);
            guard.push(if random.within(0, 1) == 0 {
                at_least(&v, bound)
            } else {
                at_most(&v, bound - 1)
            });
        }
        let mut outcome = |probability| {
            let mut assignments: Vec<(String, Value)> = Vec::new();
            for _ in 0..random.within(1, 2) {
                let v = variable(random.within(0, self.variables - 1));
                if assignments.iter().any(|(name, _)| *name == v) {
                    continue;
                }
                let value = if random.within(0, 2) == 0 {
                    random.within(0, high).into()
                } else if random.within(0, 2) == 0 {
                    guard.push(at_least(&v, 1));
                    plus(&v, -1)
                } else {
                    guard.push(at_most(&v, high - 1));
                    plus(&v, 1)
                };
                assignments.push((v, value));
            }
            Destination { probability, assignments }
        };
        let mut destinations = vec![outcome(None)];
        if self.probabilistic {
            destinations.push(outcome(Some(json!(0.25))));
            destinations[0].probability = Some(json!(0.75));
        }
        Edge { label: Some(label.to_owned()), guard: all(guard), destinations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_makes_the_model() {
        let model = |seed| RandomModel { seed, ..RandomModel::default() }.instance();
        assert_eq!(model(7), model(7));
        let (one, two) = (model(1).expect("in range"), model(2).expect("in range"));
        assert_ne!(one.edges, two.edges);
        assert_eq!(one.edges.len(), 9);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(RandomModel { variables: 0, ..RandomModel::default() }.instance().is_err());
        assert!(RandomModel { highest: 1, ..RandomModel::default() }.instance().is_err());
        assert!(RandomModel { operators: 101, ..RandomModel::default() }.instance().is_err());
    }
}
