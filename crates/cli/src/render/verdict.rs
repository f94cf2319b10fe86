//! The result of `policert verify` for people.

use std::io::{self, Write};
use std::path::Path;

use policert_evidence::{EndKind, EndRecord, Proof};
use policert_files::{name, shown};
use policert_outcome::{FileRecord, Outcome, VerdictWord};
use policert_problem::QuestionAim;
use policert_verify::{Hollow, Report, Statistics};
use serde_json::Value;

use super::{certified, line, not_certified, notes, warnings};
use crate::style::{Mark, Style};

/// The amount of text that is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The verdict alone.
    Quiet,
    /// The verdict with the things that a person wants to know first.
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
    outcome: &Outcome<Report>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let evidence = report.evidence.as_ref();
    let end = evidence.and_then(|evidence| match &evidence.proof {
        Proof::Trace { end, .. } => Some(end),
        Proof::Invariant { .. } | Proof::Probability { .. } => None,
    });
    writeln!(out, "{}", headline(outcome, end, style))?;
    for hollow in &report.hollow {
        let head = style.paint(Mark::Caution, "HOLLOW");
        writeln!(out, "{head}: {}", shown(&hollow.text))?;
    }
    files_not_written(out, report, style)?;
    not_certified(out, report.certified.as_ref(), style)?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    let written = report.evidence_file.as_ref().filter(|file| file.written);
    let file = written.map(|file| file.path.as_path());
    match evidence.map(|evidence| &evidence.proof) {
        Some(Proof::Trace { start, trace, end, .. }) => {
            super::trace::trace(out, start, trace, end)?;
            place_of(out, file)?;
        }
        Some(Proof::Invariant { invariant, ranks, diagram, .. }) => {
            let what = if ranks.is_some() { "ranks" } else { "invariant" };
            let size = match diagram {
                Some(diagram) => format!("a decision diagram of {} nodes", diagram.nodes.len()),
                None => format!("{} boxes of states", invariant.len()),
            };
            invariant_of(out, what, &size, file)?;
        }
        Some(Proof::Probability { values, pieces, .. }) => {
            bounds_of(out, values.len(), pieces.as_ref().map(Vec::len), file)?;
        }
        None => {}
    }
    certified(out, report.certified.as_ref())?;
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
    let memory = outcome.peak_memory_mb.map_or(String::new(), |mb| format!(", {mb:.0} MB"));
    line(out, "time", &format!("{:.2} s{memory}", outcome.time_s))?;
    if let Some(semantics) = &report.semantics {
        line(out, "semantics", &semantics.text)?;
    }
    if detail == Detail::Full {
        for input in &outcome.remarks.inputs {
            line(out, "input", &format!("{} sha256:{}", input.path.display(), input.sha256))?;
        }
    }
    let hollow: Vec<String> = report.hollow.iter().map(Hollow::warning).collect();
    let rest = outcome.remarks.warnings.iter().filter(|warning| !hollow.contains(warning));
    warnings(out, &rest.cloned().collect::<Vec<_>>(), style)?;
    notes(out, &outcome.remarks.notes, style)
}

/// Says which files that were asked for are not written, and why.
///
/// # Errors
/// If it cannot be written.
pub fn files_not_written(out: &mut dyn Write, report: &Report, style: Style) -> io::Result<()> {
    for (name, file) in
        [("evidence", &report.evidence_file), ("start states", &report.start_states_file)]
    {
        if let Some(remark) = file.as_ref().and_then(FileRecord::remark) {
            let head = style.paint(Mark::Caution, "warning");
            writeln!(out, "{head}: {name}: {}", shown(&remark))?;
        }
    }
    Ok(())
}

/// The verdict in words.
fn headline(outcome: &Outcome<Report>, end: Option<&EndRecord>, style: Style) -> String {
    let report = &outcome.report;
    let policy = report.semantics.as_ref().is_some_and(|s| s.policy.is_some());
    let under = match report.verdict {
        _ if policy => "under the policy",
        VerdictWord::Unsafe if report.probability.is_none() => "if actions are chosen so",
        _ => "whatever actions are taken",
    };
    let reason = shown(outcome.reason.as_deref().unwrap_or("no conclusive answer"));
    let aim = report.semantics.as_ref().map_or(QuestionAim::AvoidUnsafe, |s| s.aim);
    match report.verdict {
        VerdictWord::Safe if report.probability.is_some() => format!(
            "{}: what the property says of the probability holds {under}",
            style.paint(Mark::Good, "SAFE")
        ),
        VerdictWord::Unsafe if report.probability.is_some() => format!(
            "{}: what the property says of the probability does not hold {under}",
            style.paint(Mark::Bad, "UNSAFE")
        ),
        VerdictWord::Safe if report.vacuous => {
            let what = match aim {
                QuestionAim::AvoidUnsafe => "no unsafe state is reachable",
                QuestionAim::ReachGoal => "no run misses the goal",
            };
            let head = style.paint(Mark::Good, "SAFE (vacuous)");
            format!("{head}: there is no start state, so {what}")
        }
        VerdictWord::Safe => {
            let what = match aim {
                QuestionAim::AvoidUnsafe => "no unsafe state is reachable",
                QuestionAim::ReachGoal => "every run reaches the goal",
            };
            format!("{}: {what} {under}", style.paint(Mark::Good, "SAFE"))
        }
        VerdictWord::Unsafe if end.is_some_and(|end| end.kind != EndKind::Unsafe) => {
            let head = style.paint(Mark::Bad, "UNSAFE");
            let all = report.statistics.as_ref().and_then(|s| s.counterexample_steps).unwrap_or(0);
            let end = end.map(|end| (end.kind, end.back_to));
            format!("{head}: {} {under}", missed(all, end, aim))
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

/// A run of so many steps that gets stuck, or never reaches the goal, in words: how it ends, and where
/// its loop begins.
pub(super) fn missed(all: u64, end: Option<(EndKind, Option<usize>)>, aim: QuestionAim) -> String {
    let steps = |count: u64| match count {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let after =
        if all == 0 { "in a start state".to_owned() } else { format!("after {}", steps(all)) };
    let missed = match aim {
        QuestionAim::AvoidUnsafe => "",
        QuestionAim::ReachGoal => " and never reaches the goal",
    };
    let Some((kind, back_to)) = end else { return format!("a run{missed}") };
    match kind {
        EndKind::Unsafe | EndKind::Stuck => format!("a run gets stuck {after}{missed}"),
        EndKind::Terminal => format!("a run ends in a terminal state {after}{missed}"),
        EndKind::Loop => {
            let from = back_to.unwrap_or(0) as u64;
            let round = steps(all.saturating_sub(from));
            let after = match from {
                0 => "from the start on".to_owned(),
                n => format!("after {}", steps(n)),
            };
            format!("a run goes round for ever ({round}) {after}{missed}")
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

/// Prints the place of the whole run.
fn place_of(out: &mut dyn Write, file: Option<&Path>) -> io::Result<()> {
    match file {
        Some(path) if path == Path::new("-") => line(out, "trace", "written to standard output"),
        Some(path) => line(out, "trace", &format!("written to {}", path.display())),
        None => line(out, "trace", "replayed exactly; --evidence FILE writes it step by step"),
    }
}

/// Prints the size of the invariant, or of ranked sets, and its place.
fn invariant_of(
    out: &mut dyn Write,
    what: &str,
    size: &str,
    file: Option<&Path>,
) -> io::Result<()> {
    let place = match file {
        Some(path) if path == Path::new("-") => "written to standard output".to_owned(),
        Some(path) => format!("written to {}", path.display()),
        None => "checked; --evidence FILE writes it".to_owned(),
    };
    line(out, what, &format!("{size}, {place}"))
}

/// Prints the size of the evidence for the bounds of a probability, and its place.
fn bounds_of(
    out: &mut dyn Write,
    states: usize,
    pieces: Option<usize>,
    file: Option<&Path>,
) -> io::Result<()> {
    let place = match file {
        Some(path) if path == Path::new("-") => "written to standard output".to_owned(),
        Some(path) => format!("written to {}; policert certify checks it", path.display()),
        None => "checked".to_owned(),
    };
    let pieces = pieces.map_or(String::new(), |pieces| format!("{pieces} pieces and of "));
    line(out, "evidence", &format!("bounds of {pieces}{states} states, {place}"))
}

fn counts(statistics: &Statistics, is_probability: bool) -> String {
    let s = statistics;
    let mut parts = Vec::new();
    if let Some(predicates) = s.predicates {
        let plural = if predicates == 1 { "" } else { "s" };
        parts.push(format!("{predicates} predicate{plural}"));
    }
    let states = if s.predicates.is_some() { "abstract states" } else { "states" };
    let kind = if is_probability { "in the target" } else { "unsafe" };
    let reachable = format!("reachable {states}");
    for (count, what) in [
        (s.start_states, "start"),
        (s.reachable_states, &*reachable),
        (s.expanded_states, "expanded"),
        (s.transitions, "transitions"),
        (s.unsafe_states, kind),
        (s.dropped_outcomes.filter(|count| *count > 0), "dropped outcomes"),
    ] {
        parts.extend(count.map(|count| format!("{count} {what}")));
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
            let all = statistics.start_states.unwrap_or_default();
            line(out, "starts", &format!("{safe} of {all} start states proved safe"))
        }
        _ => Ok(()),
    }
}
