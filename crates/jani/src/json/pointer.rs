//! JSON pointers (RFC 6901) of many places of one document, in one pass: to find the way to a place,
//! all values before it are stepped over.

use std::fmt::Write as _;

use super::{Json, JsonKind, JsonNodeId};
use crate::source::Source;

/// A container with the places inside it, as a range of all of them.
struct Open {
    node: JsonNodeId,
    pointer: String,
    places: std::ops::Range<usize>,
}

/// The paths from the root to some places, which are sorted; empty for the root. A key has the path
/// of its value.
pub(crate) fn pointers(source: &Source, places: &[JsonNodeId]) -> Vec<String> {
    let mut found = vec![String::new(); places.len()];
    let whole =
        Open { node: source.document().root(), pointer: String::new(), places: 0..places.len() };
    let mut open = vec![whole];
    while let Some(Open { node, pointer, places: inside }) = open.pop() {
        let json = Json::new(source, node);
        // The container itself, or its key.
        let own = places[inside.clone()].iter().take_while(|place| place.0 <= node.0).count();
        let mut at = inside.start + own;
        // Places before a value's end lie in it, or are its key.
        let mut enter = |value: Json<'_>, step: &dyn std::fmt::Display| {
            let end = value.span().end;
            let first = at;
            while at < inside.end && places[at].start() < end {
                at += 1;
            }
            if first < at {
                let mut pointer = pointer.clone();
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{step}");
                found[first..at].fill(pointer.clone());
                open.push(Open { node: value.node, pointer, places: first..at });
            }
            at < inside.end
        };
        match json.kind() {
            JsonKind::Object => {
                for (key, value) in json.members() {
                    let name = || {
                        let name = key.as_str().unwrap_or_default();
                        name.replace('~', "~0").replace('/', "~1")
                    };
                    if !enter(value, &Lazy(&name)) {
                        break;
                    }
                }
            }
            JsonKind::Array => {
                for (i, value) in json.elements().enumerate() {
                    if !enter(value, &i) {
                        break;
                    }
                }
            }
            JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number | JsonKind::String => {}
        }
    }
    found
}

/// A text that is made only where it is shown.
struct Lazy<'a>(&'a dyn Fn() -> String);

impl std::fmt::Display for Lazy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&(self.0)())
    }
}
