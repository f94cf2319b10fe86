//! Suites: what a study runs. A TOML file, see `docs/bench.md`.

use std::path::{Path, PathBuf};

use policert_outcome::{Failure, Finding};
use serde::Deserialize;

use crate::journal::{JournalEntry, RunKey};

/// Holds what a study runs: every instance with every configuration.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    /// The folder that the instances' paths are relative to, itself relative to the suite's file.
    /// `${NAME:-text}` stands for an environment variable, or the text if it is not set.
    pub folder: String,
    /// Limit of the time of each run.
    pub seconds: f64,
    /// Limit of the memory of each run, as for `--memory`.
    pub memory: String,
    /// Other suites whose instances are this one's as well, relative to the suite's file.
    #[serde(default)]
    pub include: Vec<PathBuf>,
    /// The instances.
    #[serde(rename = "instance", default)]
    pub instances: Vec<SuiteInstance>,
    /// The configurations.
    #[serde(rename = "configuration")]
    pub configurations: Vec<SuiteConfiguration>,
    /// Pairs of configurations whose times are compared, instance by instance.
    #[serde(rename = "comparison", default)]
    pub comparisons: Vec<SuiteComparison>,
}

/// A question.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteInstance {
    /// Its name, also in figures.
    pub name: String,
    /// Model and options of `policert verify`.
    pub arguments: Vec<String>,
    /// Further options, about the policy; left out where a configuration has `--no-policy`.
    #[serde(default)]
    pub policy: Vec<String>,
    /// Percent of the maximal predicate set, for configurations that take shares. Without any, the
    /// property's own predicates count.
    #[serde(default)]
    pub shares: Vec<u32>,
    /// The variables that are split last, for `--last`.
    pub last: Option<String>,
    /// The domain to which it belongs in the table of coverage.
    pub domain: Option<String>,
    /// The folder that its paths are relative to.
    #[serde(skip)]
    folder: PathBuf,
}

/// Two configurations whose times are compared (POLIC3, Figure 1).
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteComparison {
    /// The configuration along the horizontal axis.
    pub x: String,
    /// The one along the vertical axis.
    pub y: String,
}

/// Says how a question is answered.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteConfiguration {
    /// Its name, also in figures.
    pub name: String,
    /// Options of `policert verify`.
    pub arguments: Vec<String>,
    /// True if it is run for each share of predicates. [default: yes]
    #[serde(default = "yes")]
    pub shares: bool,
    /// The figures that it is a line of.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

fn yes() -> bool {
    true
}

/// Figures of a study (PPA 2022).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Time of the presets of Table 1 (Figure 1, a to f).
    Presets,
    /// Size of the abstract state space, start states, and those proved safe (Figure 1, g to i).
    Sizes,
    /// Time of the presets of Appendix E (Figure 2).
    Tests,
    /// Bounded model checking (Table 2).
    Unrolling,
}

impl Suite {
    /// Reads a suite.
    ///
    /// # Errors
    /// If the file cannot be read or is no suite.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::read_nested(path, 1)
    }

    /// Reads a suite that may include others, so deep.
    fn read_nested(path: &Path, depth: usize) -> Result<Self, Failure> {
        let invalid = |what: String| {
            let message = format!("{}: {what}", path.display());
            let file = Some(path.to_owned());
            Failure::Findings(vec![Finding { file, ..Finding::invalid(message) }])
        };
        let text = policert_files::read_text(path).map_err(|error| invalid(error.to_string()))?;
        let mut suite: Self = toml::from_str(&text).map_err(|error| {
            let offset = error.span().map(|span| span.start);
            invalid(policert_files::placed(&text, offset, error.message()))
        })?;
        let beside = |name: &Path| path.parent().unwrap_or(Path::new("")).join(name);
        let data = beside(Path::new(&with_variables(&suite.folder)));
        if !data.is_dir() {
            return Err(invalid(format!("`folder`: {} is no folder", data.display())));
        }
        for instance in &mut suite.instances {
            instance.folder.clone_from(&data);
        }
        for other in &suite.include {
            let other = beside(other);
            if depth == 0 {
                let what = format!("`include`: {} includes others itself", path.display());
                return Err(invalid(what));
            }
            suite.instances.extend(Self::read_nested(&other, depth - 1)?.instances);
        }
        let mut names: Vec<&str> = suite.instances.iter().map(|i| i.name.as_str()).collect();
        names.extend(suite.configurations.iter().map(|c| c.name.as_str()));
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(invalid(format!("the name `{}` is there twice", pair[0])));
        }
        if !(suite.seconds.is_finite() && suite.seconds > 0.0) {
            return Err(invalid("the limit of the time is no positive number".to_owned()));
        }
        for instance in &suite.instances {
            let mut shares = instance.shares.clone();
            shares.sort_unstable();
            let twice = shares.windows(2).any(|pair| pair[0] == pair[1]);
            if twice || shares.iter().any(|share| *share > 100) {
                let name = &instance.name;
                let what = "shares are different numbers from 0 to 100";
                return Err(invalid(format!("instance `{name}`: {what}")));
            }
        }
        // Names of instances become names of files.
        let mut files: Vec<String> = suite.instances.iter().map(|i| plain(&i.name)).collect();
        files.sort_unstable();
        if let Some(pair) = files.windows(2).find(|pair| pair[0] == pair[1]) {
            let what = "differ in letters and digits too little: figures are named after them";
            return Err(invalid(format!("names of two instances (`{}`) {what}", pair[0])));
        }
        for SuiteComparison { x, y } in &suite.comparisons {
            let known = |name: &str| suite.configurations.iter().any(|c| c.name == name);
            if let Some(name) = [x, y].into_iter().find(|name| !known(name)) {
                return Err(invalid(format!("`comparison`: there is no configuration `{name}`")));
            }
        }
        Ok(suite)
    }

    /// The folder that paths of a run are relative to.
    #[must_use]
    pub fn data(&self, key: &RunKey) -> &Path {
        let instance = self.instances.iter().find(|instance| instance.name == key.instance);
        instance.map_or(Path::new(""), |instance| &instance.folder)
    }

    /// All runs, in the order in which they are made.
    #[must_use]
    pub fn runs(&self) -> Vec<RunKey> {
        let mut runs = Vec::new();
        for instance in &self.instances {
            for configuration in &self.configurations {
                let shares = instance.shares.iter().copied().map(Some);
                let shares: Vec<Option<u32>> =
                    if configuration.shares && !instance.shares.is_empty() {
                        shares.collect()
                    } else {
                        vec![None]
                    };
                runs.extend(shares.into_iter().map(|share| RunKey {
                    instance: instance.name.clone(),
                    configuration: configuration.name.clone(),
                    share,
                }));
            }
        }
        runs
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

    /// The arguments of a run, without those about limits and output.
    #[must_use]
    pub fn arguments(&self, key: &RunKey) -> Vec<String> {
        let instance = self.instances.iter().find(|i| i.name == key.instance);
        let configuration = self.configurations.iter().find(|c| c.name == key.configuration);
        let mut arguments = vec!["verify".to_owned()];
        arguments.extend(instance.iter().flat_map(|i| i.arguments.clone()));
        if configuration.is_none_or(|c| c.arguments.iter().all(|a| a != "--no-policy")) {
            arguments.extend(instance.iter().flat_map(|i| i.policy.clone()));
        }
        arguments.extend(configuration.iter().flat_map(|c| c.arguments.clone()));
        if let Some(share) = key.share {
            arguments.extend(["--predicates".to_owned(), format!("splits:{share}")]);
            if let Some(last) = instance.and_then(|instance| instance.last.clone()) {
                arguments.extend(["--last".to_owned(), last]);
            }
        }
        arguments
    }
}

/// A name as part of a file's name: letters, digits and hyphens.
pub(crate) fn plain(name: &str) -> String {
    let character = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(character).collect()
}

/// A text with `${NAME:-text}` replaced.
fn with_variables(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, default) = inside.split_once(":-").unwrap_or((inside, ""));
        result += before;
        result += &std::env::var(name).unwrap_or_else(|_| default.to_owned());
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_defaults() {
        assert_eq!(with_variables("${POLICERT_NO_SUCH:-a/b}/c"), "a/b/c");
        assert_eq!(with_variables("a${open"), "a${open");
    }

    #[test]
    fn runs_are_products() {
        let text = r#"
name = "s"
folder = "."
seconds = 1
memory = "1GB"
[[instance]]
name = "i"
arguments = ["m.jani"]
shares = [50, 100]
last = "cost*"
[[instance]]
name = "j"
arguments = ["n.jani"]
[[configuration]]
name = "a"
arguments = ["--engine", "ppa"]
[[configuration]]
name = "b"
arguments = ["--engine", "explicit"]
shares = false
"#;
        let suite: Suite = toml::from_str(text).expect("a suite");
        let runs = suite.runs();
        assert_eq!(runs.len(), 5);
        let arguments = suite.arguments(&runs[1]).join(" ");
        assert_eq!(arguments, "verify m.jani --engine ppa --predicates splits:100 --last cost*");
        assert_eq!(suite.arguments(&runs[4]).join(" "), "verify n.jani --engine explicit");
    }
}
