//! A run that does not do what is asked, step by step, with who decided what.

use std::io::{self, Write};

use policert_evidence::{EndKind, EndRecord, Mover, StepRecord};
use policert_files::name;
use serde_json::{Map, Value};

use super::line;

/// Runs of up to this many steps are shown whole.
const WHOLE: usize = 12;
/// Steps of a longer run that are shown at its beginning, and at its end.
const ENDS: usize = 5;

/// Prints the start state, the steps, and how the run ends.
///
/// # Errors
/// If it cannot be written.
pub fn trace(
    out: &mut dyn Write,
    start: &Map<String, Value>,
    steps: &[StepRecord],
    end: &EndRecord,
) -> io::Result<()> {
    line(out, "start", &state(start))?;
    let loop_from = end.back_to.unwrap_or(steps.len());
    for (at, step) in steps.iter().enumerate() {
        if steps.len() > WHOLE && at >= ENDS && at + ENDS < steps.len() {
            if at == ENDS {
                let hidden = steps.len() - 2 * ENDS;
                line(out, "", &format!("… {hidden} more steps"))?;
            }
            continue;
        }
        let is_last = at + 1 == steps.len();
        let mark = match end.kind {
            EndKind::Unsafe if is_last => "unsafe",
            EndKind::Terminal if is_last => "terminal",
            EndKind::Loop if at == loop_from => "loop",
            EndKind::Unsafe | EndKind::Stuck | EndKind::Terminal | EndKind::Loop => "",
        };
        let after = if is_last { state(&step.state) } else { changed(&step.changed) };
        line(out, mark, &format!("{} → {after}", decided(step)))?;
    }
    match end.kind {
        EndKind::Unsafe | EndKind::Terminal => Ok(()),
        EndKind::Stuck => line(out, "stuck", &stuck(end)),
        EndKind::Loop => match loop_from {
            0 => line(out, "", "and so on for ever: this is the start state again"),
            1 => line(out, "", "and so on for ever: this is the state after step 1 again"),
            n => line(
                out,
                "",
                &format!("and so on for ever: this is the state after step {n} again"),
            ),
        },
    }
}

/// The label of a step, and who decided on it: the policy, the environment, chance.
fn decided(step: &StepRecord) -> String {
    let label = name(step.label.as_deref().unwrap_or("τ"));
    let mut also = Vec::new();
    let several = step.operators.is_some_and(|operators| operators > 1);
    match step.by {
        Mover::Policy if several => also.push("environment: which edge".to_owned()),
        Mover::Policy | Mover::Environment | Mover::Anyone => {}
    }
    if !step.choices.is_empty() {
        also.push("environment: value".to_owned());
    }
    if let Some(probability) = step.probability.as_deref().filter(|p| *p != "1") {
        also.push(format!("chance: {probability}"));
    }
    let by = match step.by {
        Mover::Policy => "policy: ",
        Mover::Environment => "environment: ",
        Mover::Anyone => "",
    };
    let also = if also.is_empty() { String::new() } else { format!(" ({})", also.join("; ")) };
    format!("{by}{label}{also}")
}

/// The reason why a run gets stuck, in words.
fn stuck(end: &EndRecord) -> String {
    let Some(policy) = &end.policy else {
        return "here no action leads on".to_owned();
    };
    match policy.chosen.as_deref() {
        Some([]) => "here the policy chooses nothing".to_owned(),
        Some(chosen) => {
            let applicable = |label: &String| {
                policy.scores.iter().any(|score| score.label == *label && score.applicable)
            };
            let (done, undone): (Vec<&String>, Vec<&String>) =
                chosen.iter().partition(|label| applicable(label));
            match undone.first() {
                Some(label) => {
                    format!("here the policy chooses {}, which is not applicable", name(label))
                }
                None => {
                    let names: Vec<String> =
                        done.iter().map(|label| name(label).to_string()).collect();
                    format!("here the policy chooses {}, which leads nowhere", names.join(" or "))
                }
            }
        }
        None => "here the policy leads nowhere".to_owned(),
    }
}

/// Variables with their values, in one line.
fn state(values: &Map<String, Value>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let pairs: Vec<String> = values
        .iter()
        .map(|(variable, value)| format!("{}={}", name(variable), name(&text(value))))
        .collect();
    pairs.join(", ")
}

/// The values after a change.
fn changed(values: &Map<String, Value>) -> String {
    let after = |(name, both): (&String, &Value)| (name.clone(), both[1].clone());
    if values.is_empty() {
        "no change".to_owned()
    } else {
        state(&values.iter().map(after).collect())
    }
}
