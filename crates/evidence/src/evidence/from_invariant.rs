//! From an inductive invariant to its evidence.

use policert_numeric::IntBox;
use policert_problem::{Problem, value_record};
use serde_json::{Map, Value};

use crate::{Evidence, Proof};

impl Evidence {
    /// The evidence that an invariant is. It must have been checked.
    #[must_use]
    pub fn of_invariant(problem: &Problem, engine: &str, boxes: &[IntBox]) -> Self {
        let model = &problem.model;
        let record = |sides: &IntBox| -> Map<String, Value> {
            let sides = model.variables.iter().zip(sides.sides());
            let bounded = sides.filter(|(variable, side)| variable.domain != **side);
            bounded
                .map(|(variable, side)| {
                    let ends = [side.lo, side.hi].map(|value| value_record(variable, value));
                    (variable.name.clone(), Value::from(ends.to_vec()))
                })
                .collect()
        };
        let proof = Proof::Invariant { invariant: boxes.iter().map(record).collect() };
        Self::new(problem, "safe", engine, proof)
    }
}
