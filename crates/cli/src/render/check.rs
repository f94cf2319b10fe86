//! The result of `policert check` for people.

use std::fmt::Display;
use std::io::{self, Write};

use policert_outcome::{ExitStatus, Outcome};
use policert_verify::check::{
    CheckReport, DomainExit, DomainExits, LabelSummary, ModelSummary, PolicySummary,
};

use super::verdict::Detail;
use super::{line, notes, warnings};
use crate::style::{Mark, Style};

/// Entries of a list that are shown.
const SHOWN: usize = 10;

/// Prints what a check found.
///
/// # Errors
/// If it cannot be written.
pub fn check_report(
    out: &mut dyn Write,
    outcome: &Outcome<CheckReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    if outcome.status == ExitStatus::Safe {
        let ok = style.paint(Mark::Good, "OK");
        writeln!(out, "{ok}: everything can be read and fits together")?;
    }
    if detail == Detail::Quiet {
        return Ok(());
    }
    let shown = if detail == Detail::Full { usize::MAX } else { SHOWN };
    if let Some(summary) = &report.model {
        model(out, summary)?;
        labels(out, &report.labels, shown)?;
    }
    if let Some(property) = &report.property {
        let mut text = format!("{} ({}), start: {}", property.name, property.asks, property.start);
        if let Some(count) = property.listed_start_states {
            text.push_str(&format!(" of {}", number(count, "state")));
        }
        text.push_str(&format!(", {}", number(property.predicates, "predicate")));
        if property.goal {
            text.push_str(", with a goal");
        }
        line(out, "property", &text)?;
        let reached = if property.asks == "safety" { "unsafe" } else { "reached" };
        line(out, reached, &property.unsafe_condition)?;
    }
    if let Some(summary) = &report.policy {
        policy(out, summary, shown)?;
    }
    if let Some(exits) = &report.domain_exits {
        domain_exits(out, exits, shown)?;
    }
    if report.divisions_by_variables > 0 {
        let count = report.divisions_by_variables;
        line(
            out,
            "division",
            &format!("{count} divisors are not constant; {}", policert_verify::check::BY_ZERO),
        )?;
    }
    warnings(out, &outcome.remarks.warnings, style)?;
    notes(out, &outcome.remarks.notes, style)
}

fn model(out: &mut dyn Write, model: &ModelSummary) -> io::Result<()> {
    line(out, "model", &format!("{} ({})", model.name, model.model_type))?;
    let points = match model.domain_points {
        Some(points) if points < 1e6 => format!("; {points} points of the domains"),
        Some(points) => format!("; about {points:.1e} points of the domains"),
        None => format!("; {} unbounded", model.unbounded_variables),
    };
    let cells = number(model.variables, "value");
    line(out, "variables", &format!("{}; {cells} in a state{points}", model.declared_variables))?;
    let locations: Vec<String> = model.locations.iter().map(usize::to_string).collect();
    line(
        out,
        "automata",
        &format!(
            "{}, with locations: {}",
            number(model.instances, "instance"),
            locations.join(", ")
        ),
    )?;
    let (edges, destinations) = (model.edges, number(model.destinations, "destination"));
    let silent = model.silent_edges;
    line(out, "edges", &format!("{edges} ({silent} silent), with {destinations}"))?;
    let vectors = number(model.sync_vectors, "synchronisation vector");
    let (operators, silent) = (&model.operators, &model.silent_operators);
    line(
        out,
        "operators",
        &format!("{operators} ({silent} silent), of {vectors} and the silent edges"),
    )?;
    match model.initial_states {
        Some(count) => line(out, "initial", &number(count, "state"))?,
        None => line(out, "initial", "too many states to count")?,
    }
    if model.features.is_empty() {
        return Ok(());
    }
    line(out, "features", &model.features.join(", "))
}

fn labels(out: &mut dyn Write, labels: &[LabelSummary], shown: usize) -> io::Result<()> {
    let text = |label: &LabelSummary| {
        let unlearned = if label.learned == Some(false) { ", not of the policy" } else { "" };
        format!("{} ({}{unlearned})", label.name, number(label.operators, "operator"))
    };
    line(out, "labels", &list(labels.iter().map(text), shown))
}

fn policy(out: &mut dyn Write, policy: &PolicySummary, shown: usize) -> io::Result<()> {
    let hidden: Vec<String> = policy.hidden.iter().map(usize::to_string).collect();
    let hidden = if hidden.is_empty() { "no".to_owned() } else { hidden.join(", ") };
    line(out, "policy", &format!("{}; hidden layers: {hidden}", policy.kind))?;
    line(out, "inputs", &list(policy.inputs.iter().cloned(), shown))?;
    line(out, "outputs", &list(policy.outputs.iter().cloned(), shown))?;
    line(out, "semantics", &policy.semantics)
}

fn domain_exits(out: &mut dyn Write, exits: &DomainExits, shown: usize) -> io::Result<()> {
    let checked = exits.checked_operators;
    let mut text = match exits.found.len() {
        0 => "no operator can leave a domain".to_owned(),
        1 => "1 update can leave a domain".to_owned(),
        n => format!("{n} updates can leave a domain"),
    };
    if !exits.complete {
        text.push_str(&format!(" (of the first {checked} operators)"));
    }
    if !exits.undecided.is_empty() {
        text.push_str(&format!("; {} questions are open", exits.undecided.len()));
    }
    line(out, "domains", &text)?;
    // One example for each variable and problem.
    let mut examples: Vec<(&DomainExit, usize)> = Vec::new();
    for exit in &exits.found {
        let same = |(e, _): &&mut (&DomainExit, usize)| {
            (&e.variable, &e.problem) == (&exit.variable, &exit.problem)
        };
        match examples.iter_mut().find(same) {
            Some((_, more)) => *more += 1,
            None => examples.push((exit, 0)),
        }
    }
    for (exit, more) in examples.iter().take(shown) {
        let more = if *more == 0 { String::new() } else { format!(" (and {more} more)") };
        let (variable, problem, operator) = (&exit.variable, &exit.problem, &exit.operator);
        line(out, "", &format!("{variable} {problem}, by {operator} where {}{more}", exit.state))?;
    }
    match examples.len().checked_sub(shown) {
        Some(more) if more > 0 => line(out, "", &format!("… and {more} more (--verbose)")),
        _ => Ok(()),
    }
}

/// `1 state`, `2 states`.
fn number(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Some entries, and how many more there are.
fn list(entries: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let more = entries.len().saturating_sub(shown);
    let mut texts: Vec<String> = entries.take(shown).collect();
    if more > 0 {
        texts.push(format!("… and {more} more"));
    }
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}
