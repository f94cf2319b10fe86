//! The result of `policert certify`.

use std::io::{self, Write};

use policert_evidence::{CertifyReport, EndKind, LoopEvaluation, LoopTask, OverStarts, Quantity};
use policert_files::{name, shown};
use policert_outcome::{Certified, Outcome};
use policert_problem::QuestionAim;

use super::reach::{goal_rules, looked};
use super::verdict::missed;
use super::{Detail, line, warnings};
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn certify_report(
    out: &mut dyn Write,
    outcome: &Outcome<CertifyReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = style.paint(Mark::Good, "CONFIRMED");
    writeln!(out, "{head}: {}", what(report))?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    if let Some(pieces) = report.pieces {
        write!(out, "  bounds of {pieces} pieces and of {} states; ", report.states)?;
    } else if report.probability.is_some() {
        write!(
            out,
            "  bounds of {} states, {} start states; ",
            report.states, report.start_states
        )?;
    } else {
        write!(out, "  ")?;
    }
    writeln!(out, "{:.1} s", outcome.time_s)?;
    if let Some(task) = &report.loop_task {
        writeln!(out, "  question   {}", question(task))?;
    }
    if let Some(semantics) = &report.semantics {
        writeln!(out, "  semantics  {}", shown(&semantics.text))?;
    }
    Ok(())
}

/// What was asked of a control loop.
fn question(task: &LoopTask) -> String {
    let mut parts = vec![name(&task.file.display().to_string()).to_string()];
    parts.extend(task.instance.iter().map(|instance| format!("instance {}", name(instance))));
    let rules = task.goal.zip(task.after_goal);
    parts.extend(rules.map(|(goal, after)| goal_rules(goal, after)));
    let widths = task.granularity.as_ref();
    parts.extend(widths.map(|widths| format!("cells of width {}", name(&widths.join(", ")))));
    parts.push(looked(task.between_samples).to_owned());
    if task.evaluation == LoopEvaluation::F32 {
        parts.push("network in f32, as computed".to_owned());
    }
    parts.join("; ")
}

/// The claim that is confirmed, in words.
fn what(report: &CertifyReport) -> String {
    if let Some([lo, hi]) = &report.probability {
        let over = match report.over_start_states.unwrap_or_default() {
            OverStarts::Greatest => "greatest over the start states of the",
            OverStarts::Least => "least over the start states of the",
            OverStarts::Sum => "sum over the start states of the",
            OverStarts::Average => "mean over the start states of the",
        };
        let quantity = match report.quantity {
            Some(Quantity::GreatestOfReaching) | None => "greatest probability",
            Some(Quantity::LeastOfReaching) => "least probability",
            Some(Quantity::GreatestOfAvoiding) => {
                "greatest probability of never reaching the target"
            }
            Some(Quantity::LeastOfAvoiding) => "least probability of never reaching the target",
        };
        let what = format!("the {over} {quantity} lies between {lo} and {hi}");
        // The greatest of the greatest ones is the greatest one.
        return what.replace("greatest over the start states of the greatest", "greatest");
    }
    if let Some(parts) = report.parts {
        return format!(
            "no input satisfies the property: it is refuted in {parts} parts of the inputs"
        );
    }
    if report.answer.is_some() {
        return "an input satisfies the property".to_owned();
    }
    let aim = report.semantics.as_ref().map_or_else(QuestionAim::default, |s| s.aim);
    if let (Some(steps), Some(end)) = (report.steps, report.end)
        && end != EndKind::Unsafe
    {
        return missed(steps as u64, Some((end, report.back_to)), aim);
    }
    if let Some(task) = &report.loop_task {
        return of_loop(report, task);
    }
    match (report.steps, report.boxes) {
        (None, Some(boxes)) if aim == QuestionAim::ReachGoal => {
            format!("every run reaches the goal: the ranks of {boxes} boxes show it")
        }
        (Some(1), _) => "an unsafe state is reached in 1 step".to_owned(),
        (Some(steps), _) => format!("an unsafe state is reached in {steps} steps"),
        (None, Some(0)) => "no unsafe state is reachable: there is no start state".to_owned(),
        (None, Some(boxes)) => {
            format!(
                "no unsafe state is reachable: an inductive invariant of {boxes} boxes shows it"
            )
        }
        (None, None) => "the evidence shows what it claims".to_owned(),
    }
}

/// What is so of a control loop.
fn of_loop(report: &CertifyReport, task: &LoopTask) -> String {
    let begins = match task.initial.as_slice() {
        [] => String::new(),
        part => format!(" that begins with {}", name(&part.join(", "))),
    };
    if let Some(trajectories) = report.trajectories {
        return match (report.steps, trajectories) {
            (Some(step), _) => format!("a trajectory{begins} is unsafe at step {step}"),
            (None, 1) => format!("a trajectory{begins} never reaches the goal"),
            (None, count) => {
                format!(
                    "{count} trajectories show that there is no step at which all are in the goal"
                )
            }
        };
    }
    let (boxes, parts) = (report.boxes.unwrap_or(0), report.initial_parts.unwrap_or(0));
    let shown = match (boxes > parts, parts) {
        (true, 1) => format!("{boxes} boxes show it"),
        (true, _) => format!("{boxes} boxes show it, for {parts} parts of the initial box"),
        (false, 1) => "it is shown for the initial box as a whole".to_owned(),
        (false, _) => format!("it is shown for {parts} parts of the initial box"),
    };
    format!("every trajectory{begins} meets the specification: {shown}")
}

/// Says that the evidence of a verdict was checked before the verdict is printed.
///
/// # Errors
/// If it cannot be written.
pub fn certified(out: &mut dyn Write, check: Option<&Certified>) -> io::Result<()> {
    match check.filter(|check| check.confirmed) {
        Some(check) => {
            let time = format!("the evidence was checked from the files ({:.2} s)", check.time_s);
            line(out, "certified", &time)
        }
        None => Ok(()),
    }
}

/// Warns that the evidence of a verdict was not checked, although that was asked for.
///
/// # Errors
/// If it cannot be written.
pub fn not_certified(
    out: &mut dyn Write,
    check: Option<&Certified>,
    style: Style,
) -> io::Result<()> {
    match check.and_then(|check| check.reason.as_deref()) {
        Some(reason) => warnings(out, &[format!("not certified: {reason}")], style),
        None => Ok(()),
    }
}
