//! What a journal keeps of the evidence of an unsafe verdict: enough to show the run as a film.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The longest film that is kept, as text.
const MOST_BYTES: usize = 64 << 10;
/// Evidence files beyond this size are not read.
const MOST_READ: u64 = 8 << 20;

/// The run of an evidence file, without scores; none if it is no evidence of *unsafe*, or too long.
pub(super) fn kept(file: &Path) -> Option<Value> {
    if std::fs::metadata(file).ok()?.len() > MOST_READ {
        return None;
    }
    let evidence: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    if evidence["verdict"] != "unsafe" {
        return None;
    }
    let step = |step: &Value| {
        let names = ["label", "by", "probability", "changed", "state"];
        let mut kept: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), step[*name].clone())).collect();
        let edges = step["operator"]["edges"].as_array().into_iter().flatten();
        let edges: Vec<Value> = edges.map(|e| json!({"automaton": e["automaton"]})).collect();
        kept.insert("operator".to_owned(), json!({"edges": edges}));
        Value::Object(kept)
    };
    let film = json!({
        "task": {"model": evidence["task"]["model"]},
        "steps": evidence["steps"],
        "start": evidence["start"],
        "trace": evidence["trace"].as_array()?.iter().map(step).collect::<Vec<_>>(),
        "end": evidence["end"],
    });
    (film.to_string().len() <= MOST_BYTES).then_some(film)
}
