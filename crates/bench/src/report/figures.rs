//! Figures: lines over the share of predicates.

use policert_verify::LinesPlot;

use crate::journal::{Entry, RunResult};
use crate::suite::{Figure, Instance, Suite, plain};

/// All figures that the runs give, with names of files.
pub(super) fn figures(suite: &Suite, entries: &[Entry]) -> Vec<(String, LinesPlot)> {
    let mut figures = Vec::new();
    for instance in suite.instances.iter().filter(|instance| !instance.shares.is_empty()) {
        let study = Study { suite, instance, entries };
        for (figure, name, title) in [
            (Figure::Presets, "figure1-time", "time by configuration"),
            (Figure::Tests, "figure2-time", "time by tests"),
        ] {
            let lines = study.lines(figure, |result| finished(result).then_some(result.time_s));
            figures.push(study.plot(name, title, "time (s)", lines));
        }
        let mut sizes = Vec::new();
        for (label, key) in [
            ("reachable", "reachable_states"),
            ("start states", "start_states"),
            ("proved safe", "start_states_proved_safe"),
        ] {
            let lines = study.lines(Figure::Sizes, |result| {
                let number = || result.statistics[key].as_f64();
                finished(result).then(number).flatten()
            });
            sizes.extend(lines.into_iter().map(|(name, line)| (format!("{name}: {label}"), line)));
        }
        figures.push(study.plot("figure1-sizes", "abstract states", "abstract states", sizes));
    }
    figures.retain(|(_, plot)| plot.lines.iter().any(|(_, line)| !line.is_empty()));
    figures
}

/// Runs that a limit ended, or that failed, are left out.
fn finished(result: &RunResult) -> bool {
    matches!(result.exit_code, Some(0 | 10 | 20))
}

struct Study<'a> {
    suite: &'a Suite,
    instance: &'a Instance,
    entries: &'a [Entry],
}

impl Study<'_> {
    /// A line for each configuration of a figure.
    fn lines(
        &self,
        figure: Figure,
        value: impl Fn(&RunResult) -> Option<f64>,
    ) -> Vec<(String, Vec<(f64, f64)>)> {
        let chosen = self.suite.configurations.iter().filter(|c| c.figures.contains(&figure));
        chosen
            .map(|configuration| {
                let own = self.entries.iter().filter(|entry| {
                    entry.key.instance == self.instance.name
                        && entry.key.configuration == configuration.name
                });
                let points = own
                    .filter_map(|entry| Some((f64::from(entry.key.share?), value(&entry.result)?)));
                let mut line: Vec<(f64, f64)> = points.collect();
                line.sort_by(|a, b| a.0.total_cmp(&b.0));
                (configuration.name.clone(), line)
            })
            .collect()
    }

    fn plot(
        &self,
        name: &str,
        title: &str,
        y: &str,
        lines: Vec<(String, Vec<(f64, f64)>)>,
    ) -> (String, LinesPlot) {
        let instance = &self.instance.name;
        let plain = plain(instance);
        let plot = LinesPlot {
            title: format!("{instance}: {title}"),
            x: "share of predicates (%)".to_owned(),
            x_range: (0.0, 100.0),
            y: y.to_owned(),
            lines,
        };
        (format!("{name}-{plain}"), plot)
    }
}
