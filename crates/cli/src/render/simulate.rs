//! The result of `policert simulate`, and a run step by step.

use std::io::{self, Write};

use policert_files::{name, shown};
use policert_generate::StatePicture;
use policert_lab::{EndingRecord, RunEnding, SimulateReport, SimulatedModel, SimulatedRun};
use policert_outcome::Outcome;

use super::{Detail, notes, unknown, warnings};
use crate::style::{Mark, Style};

/// Prints how the runs ended. There is no time in it: the same seed gives the same text.
///
/// # Errors
/// If it cannot be written.
pub fn simulate_report(
    out: &mut dyn Write,
    outcome: &Outcome<SimulateReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = match &outcome.reason {
        None => style.paint(Mark::Name, "SIMULATED"),
        Some(reason) => format!("{}: {}", unknown(style), shown(reason)),
    };
    let model = name(report.model.as_deref().unwrap_or("model"));
    let share = |runs| percent(runs, report.runs);
    let endings = &report.endings;
    writeln!(
        out,
        "{head}: {model}: {} runs, {} reach the goal, {} end unsafe",
        report.runs,
        share(report.reached_goal),
        share(endings.unsafe_state.runs)
    )?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    let always = [
        ("goal", &endings.goal),
        ("unsafe", &endings.unsafe_state),
        ("stuck", &endings.stuck),
        ("cut off", &endings.cut_off),
    ];
    let rare = [
        ("terminal", &endings.terminal),
        ("out of a domain", &endings.dropped),
        ("undecided", &endings.undecided),
    ];
    let rare = rare.into_iter().filter(|(_, record)| record.runs > 0);
    for (word, record) in always.into_iter().chain(rare) {
        ending_line(out, word, record, report.runs)?;
    }
    if let Some(length) = &report.length {
        let (mean, min, max) = (length.mean, length.min, length.max);
        writeln!(out, "  steps: {mean:.2} on average, {min} to {max}")?;
    }
    if let Some(semantics) = &report.semantics {
        writeln!(out, "  semantics: {}", shown(&semantics.text))?;
    }
    warnings(out, &outcome.remarks.warnings, style)?;
    if detail == Detail::Full {
        notes(out, &outcome.remarks.notes, style)?;
        match report.start_states {
            Some(count) => writeln!(out, "  start states: {count}, drawn uniformly")?,
            None => writeln!(out, "  start states: too many to list")?,
        }
        writeln!(out, "  seed {}; {:.2} s", report.seed, outcome.time_s)?;
    }
    Ok(())
}

fn ending_line(
    out: &mut dyn Write,
    word: &str,
    record: &EndingRecord,
    runs: u64,
) -> io::Result<()> {
    let share = percent(record.runs, runs);
    write!(out, "  {word}: {} ({share})", record.runs)?;
    match record.mean_length {
        Some(mean) => writeln!(out, ", after {mean:.2} steps on average"),
        None => writeln!(out),
    }
}

/// A share in percent; `-` of nothing. Only all is 100.0 %, and only nothing is 0.0 %.
fn percent(part: u64, whole: u64) -> String {
    let tenths = match u128::from(part) * 1000 {
        _ if whole == 0 => return "-".to_owned(),
        0 => 0,
        scaled => {
            let rounded = (2 * scaled + u128::from(whole)) / (2 * u128::from(whole));
            if part == whole { 1000 } else { rounded.clamp(1, 999) }
        }
    };
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Prints a run: its start, then what each step changes, with pictures if there are some.
///
/// # Errors
/// If it cannot be written.
pub fn simulated_run(
    out: &mut dyn Write,
    (model, run): (&SimulatedModel, &SimulatedRun),
    picture: Option<&StatePicture>,
    style: Style,
) -> io::Result<()> {
    writeln!(out, "\n{}", style.paint(Mark::Name, &format!("run {}", run.number)))?;
    let shown = model.variables.iter().zip(&run.start).filter(|(v, _)| !v.is_constant());
    let values: Vec<String> =
        shown.map(|(v, &value)| format!("{}={}", name(&v.name), name(&v.text(value)))).collect();
    writeln!(out, "  start: {}", values.join(" "))?;
    draw(out, picture, &run.start)?;
    let mut before = &run.start;
    for (number, step) in (1_usize..).zip(&run.steps) {
        let label = name(step.label.as_deref().unwrap_or("silent")).to_string();
        let by = if step.is_chosen { "" } else { " (environment)" };
        let both = model.variables.iter().zip(before.iter().zip(&step.state));
        let changes: Vec<String> = both
            .filter(|(_, (old, new))| old != new)
            .map(|(v, (&old, &new))| {
                format!("{}: {} → {}", name(&v.name), name(&v.text(old)), name(&v.text(new)))
            })
            .collect();
        let changes =
            if changes.is_empty() { "nothing changes".to_owned() } else { changes.join(", ") };
        writeln!(out, "  {number}. {}{by}: {changes}", style.paint(Mark::Name, &label))?;
        draw(out, picture, &step.state)?;
        before = &step.state;
    }
    let (mark, text) = ending(run);
    writeln!(out, "  end: {}", style.paint(mark, &text))
}

fn draw(out: &mut dyn Write, picture: Option<&StatePicture>, state: &[i64]) -> io::Result<()> {
    let Some(picture) = picture else { return Ok(()) };
    writeln!(out)?;
    for line in picture.draw(state).lines() {
        writeln!(out, "{}", format!("      {}", shown(line)).trim_end())?;
    }
    writeln!(out)
}

fn ending(run: &SimulatedRun) -> (Mark, String) {
    let steps = match run.steps.len() {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let chosen = run.chosen.as_deref().map(name);
    match run.ending {
        RunEnding::Unsafe => (Mark::Bad, format!("unsafe after {steps}")),
        RunEnding::Goal => (Mark::Good, format!("goal after {steps}")),
        RunEnding::Terminal => (Mark::Name, format!("terminal after {steps}")),
        RunEnding::Stuck => match chosen {
            Some(label) => {
                (Mark::Caution, format!("stuck after {steps}: {label} is chosen, not applicable"))
            }
            None => (Mark::Caution, format!("stuck after {steps}: nothing is chosen")),
        },
        RunEnding::Dropped => {
            (Mark::Caution, format!("after {steps}: the outcome that was drawn leaves a domain"))
        }
        RunEnding::Undecided => {
            (Mark::Caution, format!("after {steps}: what the policy chooses cannot be told"))
        }
        RunEnding::CutOff => (Mark::Caution, format!("cut off after {steps}")),
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn shares_are_rounded_but_never_to_all_or_nothing() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(1, 1_000_000), "0.1 %");
        assert_eq!(percent(999_999, 1_000_000), "99.9 %");
        assert_eq!((percent(5, 5), percent(0, 5)), ("100.0 %".to_owned(), "0.0 %".to_owned()));
        assert_eq!(percent(0, 0), "-");
    }
}
