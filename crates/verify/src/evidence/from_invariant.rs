//! From an inductive invariant to its evidence.

use policert_numeric::IntBox;
use serde_json::{Map, Value};

use crate::evidence::{EVIDENCE_VERSION, Proof, value_record};
use crate::{Evidence, Task, VERSION};

impl Evidence {
    /// The evidence that an invariant is. It must have been checked.
    pub(crate) fn of_invariant(task: &Task, engine: &str, boxes: &[IntBox]) -> Self {
        let model = &task.model;
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
        Self {
            schema_version: EVIDENCE_VERSION,
            version: VERSION.to_owned(),
            verdict: "safe".to_owned(),
            engine: engine.to_owned(),
            task: task.record.clone(),
            semantics: task.semantics.clone(),
            inputs: task.inputs.clone(),
            unsafe_condition: model.display_condition(&task.property.unsafe_condition),
            proof: Proof::Invariant { invariant: boxes.iter().map(record).collect() },
        }
    }
}
