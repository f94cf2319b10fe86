//! From JSON to the abstract syntax: shapes and keys are checked here, meaning is not.
//!
//! Reading goes on after an error, so that all of them are found at once. Unknown keys are
//! warnings; `comment` and keys that start with `x-` may stand anywhere.

mod automaton;
mod expr;
mod formula;
mod include;
mod model;
mod property;

use std::borrow::Cow;

use crate::{
    ast::Name,
    diagnostic::{DiagnosticCode, Diagnostics},
    json::{Json, JsonKind, Members},
    names::Names,
    stop::Watch,
};

pub(crate) use automaton::EdgeReader;

/// Reads JSON into the abstract syntax; holds what all parts share.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parser {
    /// The diagnostics so far, and the sources.
    pub diagnostics: Diagnostics,
    /// All names.
    pub names: Names,
    /// The watch that tells when to stop. All that was read by then is of no use.
    pub watch: Watch,
}

impl Parser {
    /// Reads something again: what is wrong with it was said, and is not said twice.
    pub fn again<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let muted = self.diagnostics.mute(true);
        let value = read(self);
        self.diagnostics.mute(muted);
        value
    }

    /// The members of what must be an object.
    fn members<'s>(&mut self, json: Json<'s>, what: &str) -> Option<Members<'s>> {
        if self.watch.step() {
            return None;
        }
        if json.kind() == JsonKind::Object {
            return Some(Members::new(json));
        }
        self.wrong_kind(json, &format!("{what} (an object)"));
        None
    }

    /// Warns of members that nobody took.
    fn finish(&mut self, members: &Members<'_>) {
        for key in members.left_over() {
            let name = key.as_str().unwrap_or_default();
            let (code, message) = match members.meant_by(&name) {
                Some(meant) => (
                    DiagnosticCode::MisspeltKey,
                    format!("unknown key `{name}` is ignored: is `{meant}` meant?"),
                ),
                None => (DiagnosticCode::UnknownKey, format!("unknown key `{name}` is ignored")),
            };
            self.diagnostics.warning(code, key.at(), message);
        }
    }

    /// The member that an object must have.
    fn required<'s>(&mut self, members: &mut Members<'s>, key: &'static str) -> Option<Json<'s>> {
        let value = members.take(key);
        if value.is_none() {
            let message = format!("key `{key}` is missing");
            self.diagnostics.invalid(DiagnosticCode::MissingKey, members.object().at(), message);
        }
        value
    }

    /// Returns what must be a string.
    fn string<'s>(&mut self, json: Json<'s>) -> Option<Cow<'s, str>> {
        let string = json.as_str();
        if string.is_none() {
            self.wrong_kind(json, "a string");
        }
        string
    }

    /// Returns what must be a truth value.
    fn flag(&mut self, json: Json<'_>) -> Option<bool> {
        if let JsonKind::Bool(value) = json.kind() {
            return Some(value);
        }
        self.wrong_kind(json, "`true` or `false`");
        None
    }

    /// Returns what must be an integer of 64 bits.
    fn integer(&mut self, json: Json<'_>) -> Option<i64> {
        let value = match json.kind() {
            JsonKind::Number => json.text().parse().ok(),
            _ => None,
        };
        if value.is_none() {
            self.wrong_kind(json, "an integer");
        }
        value
    }

    /// Returns what must be a string that names something.
    fn name(&mut self, json: Json<'_>) -> Option<Name> {
        let name = self.string(json)?;
        Some(Name { symbol: self.names.intern(&name), at: json.at() })
    }

    /// The name that an object must have.
    fn required_name<'s>(&mut self, members: &mut Members<'s>, key: &'static str) -> Option<Name> {
        let name = self.required(members, key)?;
        self.name(name)
    }

    /// Returns what must be an array, element by element; elements that cannot be read are left
    /// out.
    fn list<T>(
        &mut self,
        json: Json<'_>,
        mut element: impl FnMut(&mut Self, Json<'_>) -> Option<T>,
    ) -> Vec<T> {
        if json.kind() != JsonKind::Array {
            self.wrong_kind(json, "an array");
        }
        let mut elements = Vec::new();
        for json in json.elements() {
            if self.watch.is_stopped() {
                break;
            }
            elements.extend(element(self, json));
        }
        elements
    }

    /// The elements of a member that may be missing.
    fn optional_list<'s, T>(
        &mut self,
        members: &mut Members<'s>,
        key: &'static str,
        element: impl FnMut(&mut Self, Json<'_>) -> Option<T>,
    ) -> Vec<T> {
        members.take(key).map(|json| self.list(json, element)).unwrap_or_default()
    }

    /// The elements of a member that must be there.
    fn required_list<'s, T>(
        &mut self,
        members: &mut Members<'s>,
        key: &'static str,
        element: impl FnMut(&mut Self, Json<'_>) -> Option<T>,
    ) -> Vec<T> {
        self.required(members, key).map(|json| self.list(json, element)).unwrap_or_default()
    }

    fn wrong_kind(&mut self, json: Json<'_>, expected: &str) {
        let message = format!("{expected} expected, not {}", json.kind().describe());
        self.diagnostics.invalid(DiagnosticCode::Value, json.at(), message);
    }

    fn unknown_word(&mut self, json: Json<'_>, what: &str, word: &str) {
        let message = format!("unknown {what} `{word}`");
        self.diagnostics.invalid(DiagnosticCode::UnknownWord, json.at(), message);
    }
}
