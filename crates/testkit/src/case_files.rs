//! A case as the files that a user would have.

use std::path::{Path, PathBuf};

use policert_model::{Model, SafetyProperty, VariableKind};
use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, Filter};
use serde_json::{Value, json};

use crate::jani_text::{jani_model, jani_property};
use crate::json_text::readable;
use crate::nnet_text::nnet_text;
use crate::{Case, ExampleFile, PolicyParts};

/// Name of the model's file, whose first property is the case's.
pub const MODEL_FILE: &str = "model.jani";
/// Name of the interface's file, which names the policy's.
pub const INTERFACE_FILE: &str = "policy.jani2nnet";

/// The files: a model with its property, an interface, and a policy as NNet where that is
/// possible, as ONNX else. `None` if JANI cannot say it.
#[must_use]
pub fn case_files(case: &Case, filter: Filter) -> Option<Vec<ExampleFile>> {
    let property =
        SafetyProperty { interface: Some(PathBuf::from(INTERFACE_FILE)), ..case.property.clone() };
    let property = jani_property(&case.model, &property)?;
    let model = jani_model(&case.model, &[property])?;
    let (name, bytes) = policy_file(&case.model, &case.policy)?;
    let interface = interface(&case.model, &case.policy, &name, filter);
    let file = |path: &str, bytes| ExampleFile { path: path.to_owned(), bytes };
    Some(vec![
        file(MODEL_FILE, readable(&model).into_bytes()),
        file(INTERFACE_FILE, readable(&interface).into_bytes()),
        file(&name, bytes),
    ])
}

/// Writes the files of a case into an existing folder; false if JANI cannot say it.
///
/// # Errors
/// If a file cannot be written.
pub fn write_case(folder: &Path, case: &Case, filter: Filter) -> std::io::Result<bool> {
    let Some(files) = case_files(case, filter) else { return Ok(false) };
    for file in files {
        std::fs::write(folder.join(file.path), file.bytes)?;
    }
    Ok(true)
}

fn policy_file(model: &Model, policy: &PolicyParts) -> Option<(String, Vec<u8>)> {
    let domain = |v: &policert_model::VarId| model.variables[v.index()].domain;
    let bounds: Vec<(i64, i64)> =
        policy.inputs.iter().map(|v| (domain(v).lo, domain(v).hi)).collect();
    if let Some(text) = nnet_text(&policy.network, "A random network", &bounds) {
        return Some(("policy.nnet".to_owned(), text.into_bytes()));
    }
    let bytes = write_onnx(&policy.network, ElementType::F64).ok()?;
    Some(("policy.onnx".to_owned(), bytes))
}

fn interface(model: &Model, policy: &PolicyParts, file: &str, filter: Filter) -> Value {
    let inputs = policy.inputs.iter().map(|v| {
        let variable = &model.variables[v.index()];
        let cell = variable.name.strip_suffix(']').and_then(|name| name.split_once('['));
        match (&variable.kind, cell) {
            (VariableKind::Location { instance, .. }, _) => {
                json!({"name": model.instance(*instance).automaton, "index": instance.index()})
            }
            (_, Some((array, index))) => {
                let index = index.parse::<usize>().unwrap_or(0);
                json!({"name": array, "automaton": null, "index": index})
            }
            (_, None) => json!({"name": variable.name, "automaton": null}),
        }
    });
    let outputs = policy.outputs.iter().map(|&label| model.label_name(Some(label)));
    json!({
        "file": file,
        "filter": filter == Filter::Applicable,
        "elements": policy.network.hidden_sizes(),
        "input": inputs.collect::<Vec<_>>(),
        "output": outputs.collect::<Vec<_>>(),
    })
}
