//! The result of `policert reach`: verdict, what it means, numbers.

mod trajectory;

use std::io::{self, Write};

use policert_files::{name, path, shown};
use policert_outcome::{FileRecord, Outcome, VerdictWord};
use policert_verify::reach::{AfterGoal, GoalRule, ReachReport, ReachSemantics, Rounding};

use super::{Detail, certified, not_certified, notes, unknown, warnings};
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn reach_report(
    out: &mut dyn Write,
    outcome: &Outcome<ReachReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    headline(out, outcome, style)?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    if let Some(counterexample) = &report.counterexample {
        trajectory::counterexample(out, counterexample, detail)?;
    }
    if let Some(hint) = &report.hint {
        writeln!(out, "  {}", shown(hint))?;
    }
    if let Some(statistics) = &report.statistics {
        writeln!(
            out,
            "  {} boxes, at most {} in one step of a part; {} of {} parts verified; {:.3} s",
            statistics.boxes,
            statistics.most_boxes,
            statistics.parts_verified,
            statistics.parts,
            statistics.analysis_s
        )?;
    }
    if let Some(semantics) = &report.semantics {
        writeln!(out, "  {}", meaning(semantics))?;
    }
    certified(out, report.certified.as_ref())?;
    warnings(out, &outcome.remarks.warnings, style)?;
    not_certified(out, report.certified.as_ref(), style)?;
    if let Some(remark) = report.evidence_file.as_ref().and_then(FileRecord::remark) {
        warnings(out, &[format!("evidence: {remark}")], style)?;
    }
    if detail == Detail::Full {
        notes(out, &outcome.remarks.notes, style)?;
        for input in &outcome.remarks.inputs {
            writeln!(out, "  {}  sha256 {}", path(&input.path), input.sha256)?;
        }
    }
    Ok(())
}

fn headline(out: &mut dyn Write, outcome: &Outcome<ReachReport>, style: Style) -> io::Result<()> {
    let report = &outcome.report;
    let task = name(report.task.as_deref().unwrap_or("task"));
    match report.verdict {
        VerdictWord::Safe => {
            let goal = report
                .goal_step
                .map_or(String::new(), |step| format!(" and is in the goal by step {step}"));
            let safe = style.paint(Mark::Good, "SAFE");
            let begins = match report.initial.as_slice() {
                [] => String::new(),
                part => format!(" that begins with {}", name(&part.join(", "))),
            };
            writeln!(out, "{safe}: {task}: every trajectory{begins} meets the specification{goal}")
        }
        VerdictWord::Unsafe => {
            let head = style.paint(Mark::Bad, "UNSAFE");
            let step = report.counterexample.as_ref().and_then(|found| found.step);
            match step {
                Some(step) => {
                    writeln!(
                        out,
                        "{head}: {task}: a trajectory is in the unsafe set at step {step}"
                    )
                }
                None => writeln!(out, "{head}: {task}: the goal is not reached"),
            }
        }
        _ => {
            let reason = shown(outcome.reason.as_deref().unwrap_or("no reason was given"));
            writeln!(out, "{}: {task}: {reason}", unknown(style))
        }
    }
}

/// The meaning of the verdict, in a line.
fn meaning(semantics: &ReachSemantics) -> String {
    let goal = goal_rules(semantics.question.goal, semantics.question.after_goal);
    let network = match (semantics.evaluation, semantics.rounding) {
        (None, _) => "",
        (Some("real"), _) => "network over the reals; ",
        (Some("f32"), Some(Rounding::AnyOrder)) => "network in f32, any order of sums; ",
        (Some(_), Some(Rounding::AnyOrder)) => "network in f64, any order of sums; ",
        (Some("f32"), _) => "network in f32, as computed; ",
        (Some(_), _) => "network in f64, as computed; ",
    };
    let looked = looked(semantics.between_samples);
    format!(
        "{goal}; up to step {}, {looked}; {network}bounds: {}",
        semantics.steps, semantics.bounds
    )
}

/// The rules about the goal, in words.
pub(super) fn goal_rules(goal: GoalRule, after_goal: AfterGoal) -> String {
    let goal = match goal {
        GoalRule::Each => "each",
        GoalRule::AllAtOnce => "all at once",
    };
    let after = match after_goal {
        AfterGoal::Stop => "stop",
        AfterGoal::Continue => "continue",
    };
    format!("goal: {goal}; after the goal: {after}")
}

/// The times at which unsafe sets count, in words.
pub(super) fn looked(between_samples: bool) -> &'static str {
    if between_samples { "also between samples" } else { "at samples" }
}
