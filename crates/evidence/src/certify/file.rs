//! An evidence file, read as JSON: its members, each looked at before it is used.

use std::path::Path;

use policert_certify::ValuedState;
use policert_outcome::Failure;
use policert_problem::Problem;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::EVIDENCE_VERSION;

/// Says what a file is evidence of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The answer of a query about a network.
    Answer,
    /// What a control loop does.
    ControlLoop,
    /// A verdict about a model.
    Verdict(VerdictKind),
}

/// Says what a file about a model shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VerdictKind {
    Probability,
    Unsafe,
    Safe,
}

/// An evidence file.
pub(crate) struct File<'a> {
    path: &'a Path,
    value: Value,
}

impl<'a> File<'a> {
    pub fn read(path: &'a Path) -> Result<Self, Failure> {
        let named = |error: &dyn std::fmt::Display| {
            Failure::invalid(format!("{}: {error}", path.display()))
        };
        let bytes = policert_files::read(path).map_err(|error| named(&error))?;
        Self::parse(path, &bytes)
    }

    /// The evidence in a text. Messages call it by the path.
    pub fn parse(path: &'a Path, text: &[u8]) -> Result<Self, Failure> {
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| Failure::invalid(format!("{}: {error}", path.display())))?;
        let file = Self { path, value };
        let version = file.value["schema_version"].as_u64();
        match version {
            Some(version) if version == u64::from(EVIDENCE_VERSION) => Ok(file),
            Some(version) => Err(Failure::unsupported(format!(
                "unsupported: {}: version {version} of the format; version {EVIDENCE_VERSION} is \
                 supported",
                path.display()
            ))),
            None => Err(file.wrong("schema_version")),
        }
    }

    /// Returns what the file is evidence of: what it says, which has to be what it shows.
    pub fn kind(&self) -> Result<Kind, Failure> {
        let shown = [
            ("values", Kind::Verdict(VerdictKind::Probability), "probability"),
            ("trace", Kind::Verdict(VerdictKind::Unsafe), "unsafe"),
            ("invariant", Kind::Verdict(VerdictKind::Safe), "safe"),
            ("parts", Kind::ControlLoop, "safe"),
            ("violation", Kind::ControlLoop, "unsafe"),
            ("witness", Kind::Answer, "sat"),
            ("refutation", Kind::Answer, "unsat"),
        ];
        let mut shown = shown.into_iter().filter(|(member, ..)| self.value.get(member).is_some());
        let verdict: String = self.part("verdict")?;
        match (shown.next(), shown.next()) {
            (Some((member, _, other)), None) if other != verdict => Err(self.rejected(&format!(
                "it claims the verdict `{verdict}`, but lists `{member}`, which shows `{other}`"
            ))),
            (Some((_, kind, _)), None) => Ok(kind),
            (None, _) => Err(Failure::invalid(format!(
                "{}: no evidence: one of `values`, `trace`, `invariant`, `parts`, `violation`, \
                 `witness` and `refutation` is needed",
                self.path.display()
            ))),
            (Some(_), Some(_)) => Err(self.rejected("it shows several things at once")),
        }
    }

    /// Something that is missing or has the wrong form.
    pub fn wrong(&self, member: &str) -> Failure {
        let path = self.path.display();
        Failure::invalid(format!("{path}: `{member}` is missing, or not what it should be"))
    }

    /// Something that is not so.
    pub fn rejected(&self, what: &str) -> Failure {
        Failure::Rejected(format!("evidence rejected: {}: {what}", self.path.display()))
    }

    pub fn path(&self) -> &'a Path {
        self.path
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    pub fn part<T: DeserializeOwned>(&self, member: &str) -> Result<T, Failure> {
        let value = self.value.get(member).cloned().ok_or_else(|| self.wrong(member))?;
        serde_json::from_value(value).map_err(|_| self.wrong(member))
    }

    /// Compares what the file says with what is so; members that the file lacks, and such as are not
    /// known, make no difference.
    pub fn compare(&self, member: &str, right: &Value) -> Result<(), Failure> {
        let Some(said) = self.value.get(member) else { return Err(self.wrong(member)) };
        match difference(said, right, member) {
            None => Ok(()),
            Some(difference) => Err(self.rejected(&difference)),
        }
    }

    /// The states with their bounds.
    pub fn values(&self, problem: &Problem) -> Result<Vec<ValuedState>, Failure> {
        let names = problem.model.variables.iter().map(|variable| variable.name.as_str());
        let recorded = self.value["variables"].as_array();
        let recorded = recorded.map(|names| names.iter().filter_map(Value::as_str));
        if !recorded.is_some_and(|recorded| recorded.eq(names)) {
            return Err(self.wrong("variables"));
        }
        let entry = |value: &Value| {
            let state = value.get(0)?.as_array()?;
            let state = state.iter().map(Value::as_i64).collect::<Option<_>>()?;
            let bounds = [value.get(1)?.as_f64()?, value.get(2)?.as_f64()?];
            Some(ValuedState { state, bounds })
        };
        let entries = self.value["values"]
            .as_array()
            .and_then(|list| list.iter().map(entry).collect::<Option<Vec<_>>>());
        entries.ok_or_else(|| self.wrong("values"))
    }
}

/// Returns where two values differ, in words.
fn difference(said: &Value, right: &Value, place: &str) -> Option<String> {
    match (said, right) {
        (Value::Object(said), Value::Object(right)) => of_objects(said, right, place),
        (Value::Array(said), Value::Array(right)) if said.len() == right.len() => {
            let pairs = said.iter().zip(right).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| difference(a, b, &format!("{place}[{i}]")))
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if said == right => None,
        _ => Some(format!("`{place}` is {}, not {}", short(right), short(said))),
    }
}

fn of_objects(
    said: &Map<String, Value>,
    right: &Map<String, Value>,
    place: &str,
) -> Option<String> {
    let both = said.iter().filter_map(|(key, value)| Some((key, value, right.get(key)?)));
    both.into_iter().find_map(|(key, a, b)| difference(a, b, &format!("{place}.{key}")))
}

/// A value in few characters.
fn short(value: &Value) -> String {
    policert_problem::shortened(&value.to_string(), 80)
}
