//! Figures that a suite asks for, from the runs of a journal.

use std::collections::BTreeMap;

use policert_outcome::Failure;
use policert_page::{Cell, Table};
use policert_plot::{LinesPlot, PairsPlot, TimePair};

use crate::journal::{JournalEntry, RunResult};
use crate::suite::{FigureKind, FigureSpec, Suite, SuiteInstance, Words, plain};

/// A figure.
pub(super) struct Figure {
    /// The name of its file, without ending.
    pub name: String,
    /// The figure of the suite that it is, or is a part of.
    pub spec: String,
    /// The figure of a paper that it corresponds to.
    pub source: Option<String>,
    pub drawing: Drawing,
}

/// What is drawn.
pub(super) enum Drawing {
    Lines(LinesPlot),
    Pairs(PairsPlot),
}

impl Figure {
    pub(super) fn title(&self) -> &str {
        match &self.drawing {
            Drawing::Lines(plot) => &plot.title,
            Drawing::Pairs(plot) => &plot.title,
        }
    }

    pub(super) fn svg(&self) -> Result<String, Failure> {
        match &self.drawing {
            Drawing::Lines(plot) => policert_plot::lines_svg(plot),
            Drawing::Pairs(plot) => policert_plot::pairs_svg(plot),
        }
    }

    /// The numbers of the figure, for whoever does not see it.
    pub(super) fn data(&self) -> Table {
        let number = |value: f64| Cell::Number(format!("{value:.4}"), value);
        let (columns, rows) = match &self.drawing {
            Drawing::Lines(plot) => {
                let row = |name: &String, (x, y): &(f64, f64)| {
                    vec![Cell::Text(name.clone()), Cell::Number(x.to_string(), *x), number(*y)]
                };
                let lines = plot.lines.iter();
                let rows = lines.flat_map(|(name, line)| line.iter().map(move |at| row(name, at)));
                ([&plot.x, &plot.y], rows.collect())
            }
            Drawing::Pairs(plot) => {
                let time =
                    |time: Option<f64>| time.map_or(Cell::Text("no verdict".to_owned()), number);
                let row = |name: &String, pair: &TimePair| {
                    vec![Cell::Text(name.clone()), time(pair.x), time(pair.y)]
                };
                let groups = plot.groups.iter();
                let rows =
                    groups.flat_map(|(name, all)| all.iter().map(move |pair| row(name, pair)));
                ([&plot.x, &plot.y], rows.collect())
            }
        };
        Table {
            id: format!("data-{}", self.name),
            caption: format!("Numbers of this figure: {}", self.title()),
            columns: ["", columns[0], columns[1]].map(str::to_owned).to_vec(),
            rows,
            filters: false,
        }
    }
}

/// All figures of the suite for which there are runs.
pub(super) fn figures(suite: &Suite, entries: &[JournalEntry]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for spec in &suite.figures {
        for part in parts(spec, entries) {
            let study = Study { suite, spec, part: &part, entries: part.entries(entries) };
            let drawing = match spec.kind {
                FigureKind::Cactus => Drawing::Lines(study.cactus()),
                FigureKind::Pairs => Drawing::Pairs(study.pairs()),
                FigureKind::Lines | FigureKind::Points => Drawing::Lines(study.lines()),
            };
            let names =
                [spec.name.as_str()].into_iter().chain(part.0.iter().map(|(_, v)| v.as_str()));
            let name = names.map(plain).collect::<Vec<_>>().join("-");
            let (spec, source) = (spec.name.clone(), spec.source.clone());
            figures.push(Figure { name, spec, source, drawing });
        }
    }
    figures.retain(|figure| match &figure.drawing {
        Drawing::Lines(plot) => plot.lines.iter().any(|(_, line)| !line.is_empty()),
        Drawing::Pairs(plot) => !plot.groups.is_empty(),
    });
    figures
}

/// Runs that a limit ended, or that failed, are left out.
fn is_finished(result: &RunResult) -> bool {
    result.has_answer() || result.exit_code == Some(20)
}

/// A picture of a figure that has one for each instance or value of an axis: the names and the values.
struct Part(Vec<(String, String)>);

/// The value of an axis, or the instance.
fn value_of<'a>(entry: &'a JournalEntry, name: &str) -> &'a str {
    match name {
        INSTANCE => &entry.key.instance,
        _ => entry.key.at.get(name).map_or("", String::as_str),
    }
}

const INSTANCE: &str = "instance";

/// The pictures of a figure, in the order of the runs.
fn parts(spec: &FigureSpec, entries: &[JournalEntry]) -> Vec<Part> {
    let takes_part = |entry: &&JournalEntry| {
        spec.instances.is_empty() || spec.instances.contains(&entry.key.instance)
    };
    let mut parts: Vec<Part> = Vec::new();
    for entry in entries.iter().filter(takes_part) {
        let value = |name: &String| (name.clone(), value_of(entry, name).to_owned());
        let values: Vec<(String, String)> = spec.each.iter().map(value).collect();
        if !parts.iter().any(|part| part.0 == values) {
            parts.push(Part(values));
        }
    }
    parts
}

impl Part {
    fn entries<'a>(&self, entries: &'a [JournalEntry]) -> Vec<&'a JournalEntry> {
        let belongs = |entry: &&JournalEntry| {
            self.0.iter().all(|(name, value)| value_of(entry, name) == value)
        };
        entries.iter().filter(belongs).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// What stands before the title.
    fn title(&self) -> String {
        let value = |(name, value): &(String, String)| match name.as_str() {
            INSTANCE => value.clone(),
            name => format!("{name} {value}"),
        };
        self.0.iter().map(value).collect::<Vec<_>>().join(", ")
    }
}

struct Study<'a> {
    suite: &'a Suite,
    spec: &'a FigureSpec,
    part: &'a Part,
    entries: Vec<&'a JournalEntry>,
}

impl<'a> Study<'a> {
    fn instances(&self) -> Vec<&'a SuiteInstance> {
        let named = &self.spec.instances;
        let takes_part = |i: &&SuiteInstance| named.is_empty() || named.contains(&i.name);
        self.suite.instances.iter().filter(takes_part).collect()
    }

    fn configurations(&self) -> Vec<&'a str> {
        let named = &self.spec.configurations;
        let names = self.suite.configurations.iter().map(|c| c.name.as_str());
        names.filter(|name| named.is_empty() || named.iter().any(|n| n == name)).collect()
    }

    fn runs(&self, instance: &str, configuration: &str) -> Vec<&'a JournalEntry> {
        let is_one = |entry: &&JournalEntry| {
            entry.key.instance == instance && entry.key.configuration == configuration
        };
        self.entries.iter().copied().filter(is_one).collect()
    }

    /// A number of a run: the value of an axis, a value of its instance, or a measure.
    fn number(entry: &JournalEntry, instance: &SuiteInstance, name: &str) -> Option<f64> {
        if let Some(value) = entry.key.at.get(name) {
            return value.parse().ok();
        }
        match instance.values.get(name) {
            Some(Words::One(text)) => text.parse().ok(),
            Some(Words::Several(_)) => None,
            None => entry.result.measure(name),
        }
    }

    /// A line for each configuration, instance and value of the other axes.
    fn lines(&self) -> LinesPlot {
        let instances = self.instances();
        let x = self.spec.x.as_deref().unwrap_or_default();
        let is_joined = self.spec.kind == FigureKind::Lines;
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for configuration in self.configurations() {
            for instance in &instances {
                let entries = self.runs(&instance.name, configuration);
                for entry in entries.into_iter().filter(|entry| is_finished(&entry.result)) {
                    let point =
                        Self::number(entry, instance, x).zip(entry.result.measure(&self.spec.y));
                    let Some(point) = point else { continue };
                    let others =
                        entry.key.at.iter().filter(|(name, _)| *name != x && !self.part.has(name));
                    let others = others.map(|(name, value)| format!("{name} {value}"));
                    let mut name = vec![configuration.to_owned()];
                    if is_joined {
                        name.extend((!self.part.has(INSTANCE)).then(|| instance.name.clone()));
                        name.extend(others);
                    }
                    let name = name.join(", ");
                    match lines.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, line)) => line.push(point),
                        None => lines.push((name, vec![point])),
                    }
                }
            }
        }
        for (_, line) in &mut lines {
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        self.plot(x.to_owned(), lines, is_joined)
    }

    /// How many runs each configuration answers within a time.
    fn cactus(&self) -> LinesPlot {
        let lines = self.configurations().into_iter().map(|configuration| {
            let instances = self.instances();
            let all = instances.iter().flat_map(|i| self.runs(&i.name, configuration));
            let answered = all.filter(|entry| entry.result.has_answer());
            let mut times: Vec<f64> =
                answered.filter_map(|entry| entry.result.measure(&self.spec.y)).collect();
            times.sort_by(f64::total_cmp);
            let line = (1u32..).map(f64::from).zip(times).collect();
            (configuration.to_owned(), line)
        });
        let lines = lines.collect();
        self.plot("runs with an answer".to_owned(), lines, true)
    }

    fn plot(&self, x: String, lines: Vec<(String, Vec<(f64, f64)>)>, is_joined: bool) -> LinesPlot {
        let ends = lines.iter().flat_map(|(_, line)| line).map(|(x, _)| *x);
        let ends = ends.fold(None, |ends: Option<(f64, f64)>, x| {
            Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        });
        let (low, high) = ends.unwrap_or((0.0, 1.0));
        LinesPlot {
            title: self.title(),
            x,
            x_range: (if low >= 0.0 { 0.0 } else { low }, high),
            y: policert_page::title_of(self.spec.y.rsplit('.').next().unwrap_or_default()),
            lines,
            is_joined,
        }
    }

    fn title(&self) -> String {
        let before = [self.part.title(), self.spec.title.clone()];
        before.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")
    }

    /// The times of two configurations on all instances.
    fn pairs(&self) -> PairsPlot {
        let (x, y) = (self.spec.x.as_deref().unwrap_or_default(), self.spec.y.as_str());
        let limit = self.entries.first().map_or(self.suite.seconds, |entry| entry.limits.0);
        let mut groups: BTreeMap<&str, Vec<TimePair>> = BTreeMap::new();
        for instance in self.instances() {
            let domain = instance.domain.as_deref().unwrap_or("instances");
            for a in self.runs(&instance.name, x) {
                let Some(b) =
                    self.runs(&instance.name, y).into_iter().find(|b| b.key.at == a.key.at)
                else {
                    continue;
                };
                let time = |entry: &JournalEntry| {
                    entry.result.has_answer().then_some(entry.result.time_s.min(limit))
                };
                groups.entry(domain).or_default().push(TimePair { x: time(a), y: time(b) });
            }
        }
        PairsPlot {
            title: self.title(),
            x: format!("{x} (s)"),
            y: format!("{y} (s)"),
            limit,
            groups: groups.into_iter().map(|(name, pairs)| (name.to_owned(), pairs)).collect(),
        }
    }
}
