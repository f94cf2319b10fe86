//! Figures: lines over the share of predicates, times of two configurations against each other.

use std::collections::BTreeMap;

use policert_plot::{LinesPlot, PairsPlot, TimePair};

use crate::journal::{JournalEntry, RunResult};
use crate::suite::{Figure, Suite, SuiteInstance, plain};

/// All figures that the runs give, with names of files.
pub(super) fn figures(suite: &Suite, entries: &[JournalEntry]) -> Vec<(String, LinesPlot)> {
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

/// TimePair of pairs of configurations on all instances, with names of files.
pub(super) fn comparisons(suite: &Suite, entries: &[JournalEntry]) -> Vec<(String, PairsPlot)> {
    let limit = entries.first().map_or(suite.seconds, |entry| entry.limits.0);
    let time = |instance: &str, configuration: &str| {
        let of_run = |entry: &&JournalEntry| {
            entry.key.instance == instance && entry.key.configuration == configuration
        };
        let result = &entries.iter().find(of_run)?.result;
        let solved = matches!(result.exit_code, Some(0 | 10));
        Some(solved.then_some(result.time_s.min(limit)))
    };
    let figure = |x: &str, y: &str| {
        let mut groups: BTreeMap<&str, Vec<TimePair>> = BTreeMap::new();
        for instance in &suite.instances {
            let domain = instance.domain.as_deref().unwrap_or("instances");
            if let (Some(x), Some(y)) = (time(&instance.name, x), time(&instance.name, y)) {
                groups.entry(domain).or_default().push(TimePair { x, y });
            }
        }
        PairsPlot {
            title: format!("{y} against {x}: time of each instance"),
            x: format!("{x} (s)"),
            y: format!("{y} (s)"),
            limit,
            groups: groups.into_iter().map(|(name, pairs)| (name.to_owned(), pairs)).collect(),
        }
    };
    let pairs = suite.comparisons.iter();
    let figures = pairs.map(|pair| {
        let name = format!("comparison-{}-{}", plain(&pair.y), plain(&pair.x));
        (name, figure(&pair.x, &pair.y))
    });
    figures.filter(|(_, plot)| !plot.groups.is_empty()).collect()
}

/// Runs that a limit ended, or that failed, are left out.
fn finished(result: &RunResult) -> bool {
    matches!(result.exit_code, Some(0 | 10 | 20))
}

struct Study<'a> {
    suite: &'a Suite,
    instance: &'a SuiteInstance,
    entries: &'a [JournalEntry],
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
