//! One line of progress on standard error, on a terminal only.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use policert_engine_api::{Event, Observer, resident_memory};

/// Turns the events of an engine into a line.
#[derive(Debug)]
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    phase: &'static str,
}

impl ProgressLine {
    /// A line on standard error if that is a terminal and `wanted`.
    pub fn new(wanted: bool) -> Self {
        if !wanted || !std::io::stderr().is_terminal() {
            return Self { bar: None, phase: "" };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar: Some(bar), phase: "" }
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Observer for ProgressLine {
    fn event(&mut self, event: Event) {
        let Some(bar) = &self.bar else { return };
        match event {
            Event::Phase(phase) => {
                self.phase = phase;
                bar.set_message(phase);
            }
            Event::Progress { expanded, reached, waiting, transitions } => {
                let memory = resident_memory()
                    .map_or(String::new(), |bytes| format!(", {} MB", bytes / 1_000_000));
                bar.set_message(format!(
                    "{}: {reached} states, {expanded} expanded, {waiting} waiting, \
                     {transitions} transitions{memory}",
                    self.phase
                ));
            }
            Event::Interval { lower, upper } => {
                bar.set_message(format!("{}: between {lower:.6} and {upper:.6}", self.phase));
            }
            Event::Training { attempt, episode, solved, runs } => {
                bar.set_message(format!(
                    "{}: attempt {attempt}, episode {episode}, {solved} of {runs} runs do as asked",
                    self.phase
                ));
            }
            Event::Learning { seed, step, mean_return, goal, unsafe_runs, runs } => {
                bar.set_message(format!(
                    "{}: seed {seed}, step {step}, return {mean_return:.2}, {goal} of {runs} runs \
                     reach the goal, {unsafe_runs} an unsafe state",
                    self.phase
                ));
            }
            _ => {}
        }
    }
}
