//! The result of `policert verify` for people.

use std::io::{self, Write};
use std::path::Path;

use policert_files::{name, shown};
use policert_verify::{Evidence, Proof, Report, Statistics, StepRecord, VerdictWord};
use serde_json::{Map, Value};

use super::{line, notes, warnings};
use crate::style::{Mark, Style};

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The verdict alone.
    Quiet,
    /// What a person wants to know first.
    Usual,
    /// Everything.
    Full,
}

/// Prints a verdict.
///
/// # Errors
/// If it cannot be written.
pub fn verdict(
    out: &mut dyn Write,
    report: &Report,
    evidence: Option<&Evidence>,
    evidence_file: Option<&Path>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    writeln!(out, "{}", headline(report, style))?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    match (evidence, evidence_file) {
        (Some(evidence), _) => match &evidence.proof {
            Proof::Trace { steps, start, trace } => {
                counterexample(out, (*steps, start, trace), evidence_file)?;
            }
            Proof::Invariant { invariant } => invariant_of(out, invariant.len(), evidence_file)?,
            Proof::Probability { values, .. } => bounds_of(out, values.len(), evidence_file)?,
        },
        (None, Some(path)) => {
            let text = "is not written: there is evidence for unsafe verdicts, for safe ones of \
                        engine ic3, and for greatest probabilities";
            line(out, "evidence", &format!("{} {text}", path.display()))?;
        }
        (None, None) => {}
    }
    if report.probability.is_some() && report.verdict != VerdictWord::Probability {
        line(out, "probability", &interval(report))?;
    }
    if let Some(path) = probable_path(report) {
        line(out, "path", &path)?;
    }
    if let Some(engine) = &report.engine {
        let preset = report.preset.as_ref().map_or(String::new(), |p| format!(", preset {p}"));
        line(out, "engine", &format!("{engine}{preset}"))?;
    }
    if report.attempts.len() > 1 {
        for attempt in &report.attempts {
            let time = match attempt.time_s {
                Some(time) => format!(" ({time:.2} s)"),
                None => String::new(),
            };
            line(out, "", &format!("{}: {}{time}", attempt.engine, attempt.result))?;
        }
    }
    if let Some(property) = &report.property {
        line(out, "property", &name(property).to_string())?;
    }
    if let Some(statistics) = &report.statistics {
        match statistics.engine.get("bmc").map(|numbers| &numbers["largest_length_checked"]) {
            Some(Value::Null) => line(out, "checked", "no length")?,
            Some(length) => line(out, "checked", &format!("paths of up to {length} steps"))?,
            None => line(out, "counts", &counts(statistics, report.probability.is_some()))?,
        }
        if detail == Detail::Full {
            for (engine, numbers) in &statistics.engine {
                numbers_of(out, engine, numbers)?;
            }
        }
    }
    start_states(out, report, detail)?;
    let memory = report.peak_memory_mb.map_or(String::new(), |mb| format!(", {mb:.0} MB"));
    line(out, "time", &format!("{:.2} s{memory}", report.time_s))?;
    if let Some(semantics) = &report.semantics {
        line(out, "semantics", &semantics.text)?;
    }
    if detail == Detail::Full {
        for input in &report.inputs {
            line(out, "input", &format!("{} sha256:{}", input.path.display(), input.sha256))?;
        }
    }
    warnings(out, &report.warnings, style)?;
    notes(out, &report.notes, style)
}

/// The verdict in words.
fn headline(report: &Report, style: Style) -> String {
    let policy = report.semantics.as_ref().is_some_and(|s| s.policy.is_some());
    let under = if policy { "under the policy" } else { "whatever actions are taken" };
    let reason = shown(report.reason.as_deref().unwrap_or("no conclusive answer"));
    match report.verdict {
        VerdictWord::Safe if report.probability.is_some() => format!(
            "{}: what the property says of the probability holds {under}",
            style.paint(Mark::Good, "SAFE")
        ),
        VerdictWord::Unsafe if report.probability.is_some() => format!(
            "{}: what the property says of the probability does not hold {under}",
            style.paint(Mark::Bad, "UNSAFE")
        ),
        VerdictWord::Safe if report.vacuous => format!(
            "{}: there is no start state, so no unsafe state is reachable",
            style.paint(Mark::Good, "SAFE (vacuous)")
        ),
        VerdictWord::Safe => {
            format!("{}: no unsafe state is reachable {under}", style.paint(Mark::Good, "SAFE"))
        }
        VerdictWord::Unsafe => {
            let steps = report.statistics.as_ref().and_then(|s| s.counterexample_steps);
            let how = match steps {
                Some(0) => "a start state is unsafe".to_owned(),
                Some(1) => format!("an unsafe state is reached in 1 step {under}"),
                Some(n) => format!("an unsafe state is reached in {n} steps {under}"),
                None => format!("an unsafe state is reachable {under}"),
            };
            format!("{}: {how}", style.paint(Mark::Bad, "UNSAFE"))
        }
        VerdictWord::Probability => {
            format!("{}: {}", style.paint(Mark::Name, "PROBABILITY"), interval(report))
        }
        VerdictWord::Unknown => format!("{}: {reason}", style.paint(Mark::Caution, "UNKNOWN")),
        VerdictWord::Invalid | VerdictWord::Unsupported | VerdictWord::Error => {
            format!("{}: {reason}", style.paint(Mark::Bad, "error"))
        }
    }
}

/// The most probable path to the target in words.
fn probable_path(report: &Report) -> Option<String> {
    let numbers = report.statistics.as_ref()?.engine.get("prob")?;
    let path = numbers.get("most_probable_path").filter(|path| !path.is_null())?;
    let (steps, probability) = (&path["steps"], path["probability"].as_f64()?);
    let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    let probability = if probability >= 0.001 {
        format!("{probability:.6}")
    } else {
        format!("{probability:.3e}")
    };
    Some(format!("the most probable one to the target takes {steps}, probability {probability}"))
}

/// The bounds of a probability in words.
fn interval(report: &Report) -> String {
    match (&report.value, &report.probability) {
        (Some(value), Some([lo, hi])) if lo == hi && lo == value => value.clone(),
        (Some(value), Some([lo, hi])) if lo == hi => format!("{value} = {lo}"),
        (Some(value), Some([lo, _])) => format!("{value} ≈ {lo}"),
        (_, Some([lo, hi])) => format!("between {lo} and {hi}"),
        (_, None) => "not known".to_owned(),
    }
}

/// The ends of the counterexample, and where to find the rest.
fn counterexample(
    out: &mut dyn Write,
    (steps, start, trace): (usize, &Map<String, Value>, &[StepRecord]),
    file: Option<&Path>,
) -> io::Result<()> {
    line(out, "start", &state(start))?;
    if let Some(last) = trace.last() {
        if let Some(first) = trace.first()
            && steps > 1
        {
            let label = name(first.label.as_deref().unwrap_or("τ"));
            line(out, "", &format!("{label} → {}", changed(&first.changed)))?;
        }
        if steps > 2 {
            line(out, "", "…")?;
        }
        let label = name(last.label.as_deref().unwrap_or("τ"));
        line(out, "unsafe", &format!("{label} → {}", state(&last.state)))?;
    }
    match file {
        Some(path) if path == Path::new("-") => line(out, "trace", "written to standard output"),
        Some(path) => line(out, "trace", &format!("written to {}", path.display())),
        None => line(out, "trace", "replayed exactly; --evidence FILE writes it step by step"),
    }
}

/// What the invariant consists of, and where to find it.
fn invariant_of(out: &mut dyn Write, boxes: usize, file: Option<&Path>) -> io::Result<()> {
    let place = match file {
        Some(path) if path == Path::new("-") => "written to standard output".to_owned(),
        Some(path) => format!("written to {}", path.display()),
        None => "checked; --evidence FILE writes it".to_owned(),
    };
    line(out, "invariant", &format!("{boxes} boxes of states, {place}"))
}

/// What the bounds of a probability rest on, and where to find it.
fn bounds_of(out: &mut dyn Write, states: usize, file: Option<&Path>) -> io::Result<()> {
    let place = match file {
        Some(path) if path == Path::new("-") => "written to standard output".to_owned(),
        Some(path) => format!("written to {}; policert certify checks it", path.display()),
        None => "checked".to_owned(),
    };
    line(out, "evidence", &format!("bounds of {states} states, {place}"))
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

fn counts(statistics: &Statistics, is_probability: bool) -> String {
    let s = statistics;
    let mut parts = Vec::new();
    if let Some(predicates) = s.predicates {
        let plural = if predicates == 1 { "" } else { "s" };
        parts.push(format!("{predicates} predicate{plural}"));
    }
    let states = if s.predicates.is_some() { "abstract states" } else { "states" };
    parts.push(format!("{} start", s.start_states));
    parts.push(format!("{} reachable {states}", s.reachable_states));
    parts.push(format!("{} expanded", s.expanded_states));
    parts.push(format!("{} transitions", s.transitions));
    let kind = if is_probability { "in the target" } else { "unsafe" };
    parts.push(format!("{} {kind}", s.unsafe_states));
    if s.dropped_outcomes > 0 {
        parts.push(format!("{} dropped outcomes", s.dropped_outcomes));
    }
    parts.join(", ")
}

/// The numbers of one engine, one a line; nested ones with dots.
fn numbers_of(out: &mut dyn Write, name: &str, value: &Value) -> io::Result<()> {
    match value {
        Value::Object(members) => members
            .iter()
            .try_for_each(|(key, value)| numbers_of(out, &format!("{name}.{key}"), value)),
        Value::Null => Ok(()),
        other => line(out, "", &format!("{name} = {other}")),
    }
}

fn start_states(out: &mut dyn Write, report: &Report, detail: Detail) -> io::Result<()> {
    let Some(statistics) = &report.statistics else { return Ok(()) };
    match statistics.start_states_proved_safe {
        Some(safe) if report.verdict != VerdictWord::Safe || detail == Detail::Full => {
            let all = statistics.start_states;
            line(out, "starts", &format!("{safe} of {all} start states proved safe"))
        }
        _ => Ok(()),
    }
}
