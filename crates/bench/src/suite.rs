//! Suites: what a study runs. A TOML file, see `docs/bench.md`.

mod check;
mod display;
mod reading;
mod template;
mod value;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use policert_outcome::Failure;
use serde::Deserialize;

use crate::journal::{JournalEntry, RunKey};
use template::{Values, filled, filled_word, names};

pub use display::{ColumnSpec, FigureKind, FigureSpec, Published, TableRows, TableSpec};
pub(crate) use template::WORK;
pub use value::{Word, Words};

/// Holds what a study runs: every instance with every configuration that answers its command.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    /// What the study is about, above its report.
    pub about: Option<String>,
    /// The folder that the instances' paths are relative to, itself relative to the suite's file.
    /// `${NAME:-text}` stands for an environment variable, or the text if it is not set.
    pub folder: String,
    /// Limit of the time of each run.
    pub seconds: f64,
    /// Limit of the processor time of each run, in whole seconds.
    pub cpu_seconds: Option<u64>,
    /// Limit of the memory of each run, as for `--memory`.
    pub memory: String,
    /// True if the evidence of every verdict of `verify`, `query` and `reach` is checked before the verdict
    /// counts, as `--certify` does. [default: no]
    #[serde(default)]
    pub certify: bool,
    /// True if runs of `verify` write their evidence, so that the report shows those to unsafe states as films.
    /// [default: no]
    #[serde(default)]
    pub films: bool,
    /// What `--quick` runs.
    pub quick: Option<Quick>,
    /// Other suites whose instances are this one's as well, relative to the suite's file.
    #[serde(default)]
    pub include: Vec<PathBuf>,
    /// Files that are made before runs that need them.
    #[serde(rename = "prepare", default)]
    pub preparations: Vec<Preparation>,
    /// The instances.
    #[serde(rename = "instance", default)]
    pub instances: Vec<SuiteInstance>,
    /// The configurations.
    #[serde(rename = "configuration")]
    pub configurations: Vec<SuiteConfiguration>,
    /// Figures of the report.
    #[serde(rename = "figure", default)]
    pub figures: Vec<FigureSpec>,
    /// Tables of the report.
    #[serde(rename = "table", default)]
    pub tables: Vec<TableSpec>,
    /// Published numbers beside them.
    #[serde(rename = "published", default)]
    pub published: Vec<Published>,
    /// `folder`, from here.
    #[serde(skip)]
    home: PathBuf,
}

/// A shorter study: other limits, and fewer values of axes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Limit of the time of each run.
    pub seconds: f64,
    /// Values of axes; those of the other axes stay.
    #[serde(default)]
    pub axes: Axes,
    /// The instances that stay, all if none is named.
    #[serde(default)]
    pub instances: Vec<String>,
    /// The configurations that stay, all if none is named.
    #[serde(default)]
    pub configurations: Vec<String>,
}

/// Axes and their values.
pub type Axes = BTreeMap<String, Vec<Word>>;

/// Files that a command of policert makes, in the folder `{work}` beside the journal.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The file or folder that it makes, relative to `{work}`. Runs that name it need it.
    pub makes: String,
    /// The command and its arguments.
    pub arguments: Vec<String>,
    /// The axes that it is made for.
    #[serde(default)]
    pub axes: Axes,
}

/// A question.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteInstance {
    /// Its name, also in figures.
    pub name: String,
    /// The command that it is a question for.
    #[serde(default = "verify")]
    pub command: String,
    /// Model and options of the command.
    pub arguments: Vec<String>,
    /// Further options, about the policy; left out where a configuration has `--no-policy`.
    #[serde(default)]
    pub policy: Vec<String>,
    /// What names in braces stand for, in these options and in those of configurations.
    #[serde(default)]
    pub values: BTreeMap<String, Words>,
    /// Names with several values: there is a run for each value of those that its options name.
    #[serde(default)]
    pub axes: Axes,
    /// The domain to which it belongs in the table of coverage.
    pub domain: Option<String>,
    /// The folder that its paths are relative to.
    #[serde(skip)]
    folder: PathBuf,
}

/// Says how a question is answered.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteConfiguration {
    /// Its name, also in figures.
    pub name: String,
    /// The command whose questions it answers.
    #[serde(default = "verify")]
    pub command: String,
    /// Options of the command; of another program, all its arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Names with several values, as for instances.
    #[serde(default)]
    pub axes: Axes,
    /// Another program that answers in place of this one.
    pub program: Option<String>,
    /// True if its runs are left out where that program is not found. [default: no]
    #[serde(default)]
    pub optional: bool,
    /// How its output is read; the first rule that a line fits decides.
    #[serde(default)]
    pub reads: Vec<OutputRule>,
}

/// A line of another program's output, and what it says.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputRule {
    /// A part of the line; `*` is any text, and `{value}` a word that is kept.
    pub line: String,
    /// The verdict that it is.
    pub verdict: String,
}

fn verify() -> String {
    "verify".to_owned()
}

impl Suite {
    /// The folder that paths of the suite are relative to.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The folder that paths of a run are relative to.
    #[must_use]
    pub fn data(&self, key: &RunKey) -> &Path {
        self.instance(key).map_or(Path::new(""), |instance| &instance.folder)
    }

    pub(crate) fn instance(&self, key: &RunKey) -> Option<&SuiteInstance> {
        self.instances.iter().find(|instance| instance.name == key.instance)
    }

    pub(crate) fn configuration(&self, key: &RunKey) -> Option<&SuiteConfiguration> {
        self.configurations.iter().find(|c| c.name == key.configuration)
    }

    /// All runs, in the order in which they are made.
    #[must_use]
    pub fn runs(&self) -> Vec<RunKey> {
        let mut runs = Vec::new();
        for instance in &self.instances {
            let answers = |c: &&SuiteConfiguration| c.command == instance.command;
            for configuration in self.configurations.iter().filter(answers) {
                runs.extend(points(&axes(instance, configuration)).into_iter().map(|at| RunKey {
                    instance: instance.name.clone(),
                    configuration: configuration.name.clone(),
                    at,
                }));
            }
        }
        runs
    }

    /// The suite that `--quick` runs.
    ///
    /// # Errors
    /// If it has none.
    pub fn quick(&self) -> Result<Self, Failure> {
        let Some(quick) = &self.quick else {
            let what = "--quick has no effect: the suite does not say what it would run";
            return Err(Failure::Usage(what.to_owned()));
        };
        let mut suite = self.clone();
        suite.seconds = quick.seconds;
        let stays = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        suite.instances.retain(|instance| stays(&quick.instances, &instance.name));
        suite.configurations.retain(|c| stays(&quick.configurations, &c.name));
        let instances = suite.instances.iter_mut().map(|instance| &mut instance.axes);
        let configurations = suite.configurations.iter_mut().map(|c| &mut c.axes);
        for axes in instances.chain(configurations) {
            for (name, values) in axes {
                if let Some(fewer) = quick.axes.get(name) {
                    values.retain(|value| fewer.contains(value));
                }
            }
        }
        Ok(suite)
    }

    /// Checks that runs of a journal are runs of this suite.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check_entries(&self, entries: &[JournalEntry]) -> Result<(), Failure> {
        let runs = self.runs();
        match entries.iter().find(|entry| !runs.contains(&entry.key)) {
            Some(JournalEntry { key, arguments, .. }) => Err(Failure::Usage(format!(
                "the journal is one of another suite: `{}` with `{}` was `{}`",
                key.instance,
                key.configuration,
                arguments.join(" ")
            ))),
            None => Ok(()),
        }
    }

    /// The names of instances and configurations.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let instances = self.instances.iter().map(|instance| instance.name.as_str());
        let configurations = self.configurations.iter().map(|c| c.name.as_str());
        instances.chain(configurations).collect()
    }

    /// The arguments of a run, without those about limits and output; the command goes first, or the
    /// name of another program. `{work}` stands for the folder of generated files.
    #[must_use]
    pub fn arguments(&self, key: &RunKey) -> Vec<String> {
        // The suite was checked when it was read.
        self.filled_arguments(key).unwrap_or_default()
    }

    /// The commands that make files, in order.
    pub(crate) fn steps(&self) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        for Preparation { makes, arguments, axes } in &self.preparations {
            let axes: Vec<(&str, &[Word])> =
                axes.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect();
            for point in points(&axes) {
                let one = |(name, value)| (name, Words::One(value));
                let values: Values = point.into_iter().map(one).collect();
                let step = filled(arguments, &values).and_then(|arguments| {
                    Ok(Step { makes: inside(filled_word(makes, &values)?)?, arguments })
                });
                steps.push(step.map_err(|what| Failure::Usage(format!("`prepare`: {what}")))?);
            }
        }
        Ok(steps)
    }

    fn filled_arguments(&self, key: &RunKey) -> Result<Vec<String>, String> {
        let (Some(instance), Some(configuration)) = (self.instance(key), self.configuration(key))
        else {
            return Ok(Vec::new());
        };
        let mut values: Values = instance.values.clone();
        let at = key.at.iter().map(|(name, value)| (name.clone(), Words::One(value.clone())));
        values.extend(at);
        let (program, words) = words(instance, configuration);
        let mut arguments = vec![program.to_owned()];
        arguments.extend(filled(&words, &values)?);
        let has_evidence = ["verify", "query", "reach"].contains(&&*instance.command);
        if self.certify && has_evidence && configuration.program.is_none() {
            arguments.push("--certify".to_owned());
        }
        Ok(arguments)
    }
}

/// A path that stays inside of the folder that it is relative to.
fn inside(path: String) -> Result<String, String> {
    let mut parts = Path::new(&path).components().peekable();
    let is_inside =
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
    match is_inside && !path.chars().any(char::is_control) {
        true => Ok(path),
        false => Err(format!("`makes`: {path:?} is no path in the folder {WORK}")),
    }
}

/// A command that makes a file or folder.
pub(crate) struct Step {
    /// Its path in the folder of generated files.
    pub makes: String,
    /// The command and its arguments.
    pub arguments: Vec<String>,
}

/// The command or program of a run, and its words with their names.
fn words<'a>(
    instance: &'a SuiteInstance,
    configuration: &'a SuiteConfiguration,
) -> (&'a str, Vec<String>) {
    if let Some(program) = &configuration.program {
        return (program, configuration.arguments.clone());
    }
    let mut words = instance.arguments.clone();
    if configuration.arguments.iter().all(|a| a != "--no-policy") {
        words.extend(instance.policy.iter().cloned());
    }
    words.extend(configuration.arguments.iter().cloned());
    (&instance.command, words)
}

/// The axes that the words of a run name, also by way of values.
fn axes<'a>(
    instance: &'a SuiteInstance,
    configuration: &'a SuiteConfiguration,
) -> Vec<(&'a str, &'a [Word])> {
    let (_, words) = words(instance, configuration);
    let several = |name: &str| match instance.values.get(name) {
        Some(Words::Several(words)) => words.clone(),
        Some(Words::One(_)) | None => Vec::new(),
    };
    let nested: Vec<String> = names(&words).into_iter().flat_map(several).collect();
    let mut named = names(&words);
    named.extend(names(&nested));
    let all = instance.axes.iter().chain(&configuration.axes);
    all.filter(|(name, _)| named.contains(&name.as_str()))
        .map(|(name, values)| (name.as_str(), values.as_slice()))
        .collect()
}

/// All combinations of values, the last axis fastest.
pub(crate) fn points(axes: &[(&str, &[Word])]) -> Vec<BTreeMap<String, String>> {
    let mut points = vec![BTreeMap::new()];
    for (name, values) in axes {
        let with = |point: &BTreeMap<String, String>, value: &Word| {
            let mut point = point.clone();
            point.insert((*name).to_owned(), value.0.clone());
            point
        };
        points = points
            .iter()
            .flat_map(|point| values.iter().map(move |value| with(point, value)))
            .collect();
    }
    points
}

/// A name as part of a file's name: letters, digits and hyphens.
pub(crate) fn plain(name: &str) -> String {
    let character = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_stays_in_its_folder() {
        assert!(
            ["a", "a/b.json", "a-2.jani"].iter().all(|path| inside((*path).to_owned()).is_ok())
        );
        for path in ["", "..", "../a", "a/../../b", "/a", "./a", "a\u{0}b", "a\nb"] {
            let refused = inside(path.to_owned()).expect_err("outside");
            assert!(refused.contains("{work}"), "{refused}");
        }
    }

    #[test]
    fn runs_are_products_over_the_axes_that_are_named() {
        let text = r#"
name = "s"
folder = "."
seconds = 1
memory = "1GB"
quick = { seconds = 0.5, axes = { share = [50] }, instances = ["i"] }
[[instance]]
name = "i"
arguments = ["m{size}.jani"]
values = { last = ["--last", "cost*"] }
axes = { share = [50, 100], size = [3] }
[[instance]]
name = "j"
arguments = ["n.jani"]
values = { last = [] }
axes = { share = [100] }
[[instance]]
name = "k"
command = "reach"
arguments = ["k.toml"]
[[configuration]]
name = "a"
arguments = ["--engine", "ppa", "--predicates", "splits:{share}", "{last}"]
[[configuration]]
name = "b"
arguments = ["--engine", "explicit"]
axes = { seed = [1, 2] }
[[configuration]]
name = "c"
program = "other"
arguments = ["{share}"]
"#;
        let suite: Suite = toml::from_str(text).expect("a suite");
        let runs = suite.runs();
        let lines: Vec<String> = runs.iter().map(|key| suite.arguments(key).join(" ")).collect();
        let expected = [
            "verify m3.jani --engine ppa --predicates splits:50 --last cost*",
            "verify m3.jani --engine ppa --predicates splits:100 --last cost*",
            "verify m3.jani --engine explicit",
            "other 50",
            "other 100",
            "verify n.jani --engine ppa --predicates splits:100",
            "verify n.jani --engine explicit",
            "other 100",
        ];
        assert_eq!(lines, expected);
        assert_eq!(runs[1].at["share"], "100");
        let quick = suite.quick().expect("it has one");
        assert_eq!(quick.runs().len(), 3);
        assert!(quick.runs().iter().all(|key| runs.contains(key)));
    }
}
