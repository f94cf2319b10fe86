//! The result of `policert query`: the answer as VNN-COMP writes it, then what to know about it.

use std::io::{self, Write};

use policert_files::{name, shown};
use policert_outcome::{FileRecord, Outcome};
use policert_query::{AnswerWord, QueryReport};

use super::{Detail, certified, line, not_certified, notes, warnings};
use crate::style::{Mark, Style};

/// Prints the answer and, if it is sat, the witness.
///
/// # Errors
/// If it cannot be written.
pub fn answer(
    out: &mut dyn Write,
    outcome: &Outcome<QueryReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let answer = report.answer.unwrap_or(AnswerWord::Unknown);
    let mark = match answer {
        AnswerWord::Unsat => Mark::Good,
        AnswerWord::Sat => Mark::Bad,
        AnswerWord::Unknown | AnswerWord::Timeout => Mark::Caution,
    };
    writeln!(out, "{}", style.paint(mark, answer.as_str()))?;
    let Some(witness) = report.witness.as_ref().filter(|_| detail != Detail::Quiet) else {
        return Ok(());
    };
    let count = witness.inputs.len() + witness.outputs.len();
    for (at, value) in witness.inputs.iter().chain(&witness.outputs).enumerate() {
        let open = if at == 0 { "(" } else { " " };
        let close = if at + 1 == count { ")" } else { "" };
        writeln!(out, "{open}({} {}){close}", name(&value.name), value.value)?;
    }
    Ok(())
}

/// Prints what to know about the answer.
///
/// # Errors
/// If it cannot be written.
pub fn query_details(
    out: &mut dyn Write,
    outcome: &Outcome<QueryReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    not_certified(out, report.certified.as_ref(), style)?;
    if let Some(remark) = report.evidence_file.as_ref().and_then(FileRecord::remark) {
        let head = style.paint(Mark::Caution, "warning");
        writeln!(out, "{head}: evidence: {}", shown(&remark))?;
    }
    if detail == Detail::Quiet {
        return Ok(());
    }
    certified(out, report.certified.as_ref())?;
    if let Some(reason) = &outcome.reason {
        writeln!(out, "{}: {}", style.paint(Mark::Caution, "unknown"), shown(reason))?;
    }
    warnings(out, &outcome.remarks.warnings, style)?;
    notes(out, &outcome.remarks.notes, style)?;
    if detail == Detail::Full {
        full(out, outcome)?;
    }
    Ok(())
}

fn full(out: &mut dyn Write, outcome: &Outcome<QueryReport>) -> io::Result<()> {
    let report = &outcome.report;
    if let Some(network) = &report.network {
        let mut sizes = vec![network.inputs];
        sizes.extend(&network.hidden);
        sizes.push(network.outputs);
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        line(out, "network", &format!("{}, weights in {}", sizes.join("-"), network.weights))?;
    }
    if let Some(property) = &report.property {
        let (disjuncts, inequalities) = (property.disjuncts, property.inequalities);
        line(out, "property", &format!("disjuncts: {disjuncts}, inequalities: {inequalities}"))?;
    }
    if let Some(s) = &report.statistics {
        line(
            out,
            "search",
            &format!(
                "queries: {}, parts: {} ({} refuted by a plane, {} jointly, {} decided exactly)",
                s.queries, s.parts, s.by_plane, s.jointly, s.polytopes
            ),
        )?;
        line(
            out,
            "",
            &format!(
                "bisections: {}, splits at bends: {}, points: {}, exact checks: {}",
                s.bisections, s.bends, s.points, s.checks
            ),
        )?;
    }
    let memory = outcome.peak_memory_mb.map_or(String::new(), |mb| format!(", {mb:.0} MB"));
    line(out, "time", &format!("{:.2} s{memory}", outcome.time_s))?;
    line(out, "semantics", report.semantics)?;
    for input in &outcome.remarks.inputs {
        line(out, "input", &format!("{} sha256:{}", input.path.display(), input.sha256))?;
    }
    Ok(())
}
