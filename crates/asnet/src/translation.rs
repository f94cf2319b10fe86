//! Translations: what the propositions of a problem are in a model, and what its actions are.
//!
//! ```json
//! {"asnet": "network.json", "domain": "domain.pddl", "problem": "four.pddl",
//!  "values": {"a": 0, "b": 1, "c": 2, "d": 3},
//!  "propositions": {"holding(?x)": "block_{x} = 0", "hand-empty": "hand-empty = 1"},
//!  "labels": {"choose_table": ["put-down(?x)"], "choose_block_{x}": ["pick-up(?x)", "unstack(?x,?y)"]},
//!  "never": []}
//! ```
//!
//! Patterns name parameters `?x`, which stand for any object; `{x}` in conditions and labels is the value
//! of that object, its own name by default. Every proposition is described by exactly one pattern, and so
//! is every action. Where a label stands for several actions, its score is the greatest one of those that
//! are applicable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policert_files::name;
use policert_pddl::Task;
use policert_policy::PolicyError;
use serde::Deserialize;
use serde_json::Value;

use crate::file::from_json;

/// A translation file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// The file of the network, relative to this one.
    pub asnet: Option<PathBuf>,
    /// The domain, relative to this file.
    pub domain: PathBuf,
    /// The problem, relative to this file.
    pub problem: PathBuf,
    /// The values of objects.
    #[serde(default)]
    values: BTreeMap<String, Value>,
    /// Patterns of propositions, and the conditions that they are.
    propositions: BTreeMap<String, String>,
    /// Labels, and the patterns of the actions that they are.
    labels: BTreeMap<String, Vec<String>>,
    /// Labels that are never chosen.
    #[serde(default)]
    pub never: Vec<String>,
    /// Whether only labels that are applicable compete. [default: true]
    pub filter: Option<bool>,
    /// The name of the file.
    #[serde(skip)]
    pub file: PathBuf,
}

/// What a translation says about a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Translated {
    /// The condition of each proposition of the task.
    pub conditions: Vec<String>,
    /// The labels in the order of their first actions, with the actions of the task that they are.
    pub labels: Vec<(String, Vec<usize>)>,
}

impl Translation {
    /// Reads a translation file.
    ///
    /// # Errors
    /// If it cannot be read, or breaks the format.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let file = path.display().to_string();
        let bytes = policert_files::read(path)
            .map_err(|source| PolicyError::Io { file: file.clone(), source })?;
        Ok(Self { file: path.to_owned(), ..from_json(&file, &bytes)? })
    }

    /// A path that the file names.
    #[must_use]
    pub fn resolved(&self, path: &Path) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// What it says about the propositions and actions of a task.
    ///
    /// # Errors
    /// All that is not described, that is described twice, and all patterns of nothing.
    pub fn of(&self, task: &Task) -> Result<Translated, PolicyError> {
        let mut problems = Vec::new();
        for object in self.values.keys() {
            if task.problem.objects.iter().all(|known| known.name != *object) {
                problems.push(format!("/values: `{}` is no object of the problem", name(object)));
            }
        }
        let patterns: Vec<(&str, Option<Pattern>, &str)> = self
            .propositions
            .iter()
            .map(|(text, condition)| (text.as_str(), Pattern::of(text), condition.as_str()))
            .collect();
        let propositions: Vec<Subject<'_>> = task
            .propositions
            .iter()
            .map(|atom| Subject {
                name: &task.domain.predicates[atom.predicate].name,
                objects: &atom.objects,
                shown: task.atom_name(atom),
            })
            .collect();
        let conditions =
            self.described(task, "propositions", &propositions, &patterns, &mut problems);
        let patterns: Vec<(&str, Option<Pattern>, &str)> = self
            .labels
            .iter()
            .flat_map(|(label, patterns)| {
                patterns.iter().map(|text| (text.as_str(), Pattern::of(text), label.as_str()))
            })
            .collect();
        let actions: Vec<Subject<'_>> = task
            .actions
            .iter()
            .map(|action| Subject {
                name: &task.domain.schemas[action.schema].name,
                objects: &action.objects,
                shown: task.action_name(action),
            })
            .collect();
        let of_action = self.described(task, "labels", &actions, &patterns, &mut problems);
        let mut labels: Vec<(String, Vec<usize>)> = Vec::new();
        for (action, label) in of_action.into_iter().enumerate() {
            match labels.iter_mut().find(|(known, _)| *known == label) {
                Some((_, actions)) => actions.push(action),
                None => labels.push((label, vec![action])),
            }
        }
        match problems.is_empty() {
            true => Ok(Translated { conditions, labels }),
            false => Err(PolicyError::Mismatch { file: self.file.display().to_string(), problems }),
        }
    }

    /// The text that describes each subject: the only one of all patterns that fit.
    fn described(
        &self,
        task: &Task,
        key: &str,
        subjects: &[Subject<'_>],
        patterns: &[(&str, Option<Pattern>, &str)],
        problems: &mut Vec<String>,
    ) -> Vec<String> {
        let mut is_used = vec![false; patterns.len()];
        let mut texts = Vec::with_capacity(subjects.len());
        for subject in subjects {
            let mut found: Option<(usize, String)> = None;
            for (i, (text, pattern, template)) in patterns.iter().enumerate() {
                let Some(bound) = pattern.as_ref().and_then(|pattern| pattern.bind(subject, task))
                else {
                    continue;
                };
                is_used[i] = true;
                if let Some((other, _)) = &found {
                    let other = patterns[*other].0;
                    let shown = &subject.shown;
                    problems
                        .push(format!("/{key}: `{other}` and `{text}` both describe `{shown}`"));
                    continue;
                }
                match self.filled(template, &bound) {
                    Ok(filled) => found = Some((i, filled)),
                    Err(parameter) => problems.push(format!(
                        "/{key}: `{}` names {{{}}}, which is no parameter of `{text}`",
                        name(template),
                        name(&parameter)
                    )),
                }
            }
            match found {
                Some((_, text)) => texts.push(text),
                None => problems.push(format!("/{key}: nothing describes `{}`", subject.shown)),
            }
        }
        for ((text, pattern, _), is_used) in patterns.iter().zip(is_used) {
            match pattern {
                None => problems.push(format!(
                    "/{key}: `{}` is no pattern; patterns are such as on(?x,?y) or on(a,?y)",
                    name(text)
                )),
                Some(_) if !is_used => problems
                    .push(format!("/{key}: `{}` describes nothing in this problem", name(text))),
                Some(_) => {}
            }
        }
        texts
    }

    /// A text with the values of objects; else a parameter that is not bound.
    fn filled(&self, template: &str, bound: &[(&str, &str)]) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            filled += before;
            let Some((parameter, after)) = after.split_once('}') else {
                return Err(after.to_owned());
            };
            let Some((_, object)) = bound.iter().find(|(known, _)| *known == parameter) else {
                return Err(parameter.to_owned());
            };
            match self.values.get(*object) {
                None => filled += object,
                Some(Value::String(text)) => filled += text,
                Some(value) => filled += &value.to_string(),
            }
            rest = after;
        }
        Ok(filled + rest)
    }
}

/// A proposition or an action.
struct Subject<'t> {
    name: &'t str,
    objects: &'t [usize],
    shown: String,
}

/// `name(?x,b)`.
struct Pattern {
    name: String,
    arguments: Vec<Argument>,
}

enum Argument {
    Parameter(String),
    Object(String),
}

impl Pattern {
    fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, arguments) = match text.split_once('(') {
            None => (text, Vec::new()),
            Some((name, rest)) => {
                let list = rest.strip_suffix(')')?;
                let argument = |text: &str| {
                    let text = text.trim();
                    match text.strip_prefix('?') {
                        Some(name) => Argument::Parameter(name.to_owned()),
                        None => Argument::Object(text.to_ascii_lowercase()),
                    }
                };
                (name, list.split(',').map(argument).collect())
            }
        };
        (!name.is_empty()).then(|| Self { name: name.trim().to_ascii_lowercase(), arguments })
    }

    /// The objects of the parameters, by name, if the pattern fits.
    fn bind<'a>(
        &'a self,
        subject: &Subject<'_>,
        task: &'a Task,
    ) -> Option<Vec<(&'a str, &'a str)>> {
        if self.name != subject.name || self.arguments.len() != subject.objects.len() {
            return None;
        }
        let mut bound: Vec<(&str, &str)> = Vec::new();
        for (argument, &object) in self.arguments.iter().zip(subject.objects) {
            let object = task.problem.objects[object].name.as_str();
            match argument {
                Argument::Object(name) if name == object => {}
                Argument::Object(_) => return None,
                Argument::Parameter(name) => match bound.iter().find(|(known, _)| known == name) {
                    Some((_, known)) if *known != object => return None,
                    Some(_) => {}
                    None => bound.push((name, object)),
                },
            }
        }
        Some(bound)
    }
}
