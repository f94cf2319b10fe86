//! JSON in which no key stands twice: what a repeated key means is not defined (RFC 8259,
//! section 4), so files that have one contradict themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::PolicyError;

/// Reads one JSON value, after a byte order mark if there is one.
///
/// # Errors
/// If the bytes are no JSON, or a key stands twice in an object: line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, PolicyError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let invalid = |error: serde_json::Error| {
        if error.to_string().starts_with("recursion limit") {
            let message = "values that are nested deeper than 127 levels are not supported";
            return PolicyError::unsupported(format!("line {}", error.line()), message);
        }
        let place = format!("line {}, column {}", error.line(), error.column());
        let text = error.to_string();
        // The place that the message repeats.
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        PolicyError::invalid(place, message)
    };
    let value = serde_json::from_slice(bytes).map_err(invalid)?;
    serde_json::from_slice::<UniqueKeys>(bytes).map_err(invalid)?;
    Ok(value)
}

/// The lines on which the values of a JSON text begin, by JSON pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// The lines of a text that [`parse`] reads.
    pub fn of(bytes: &[u8]) -> Self {
        let mut lines = BTreeMap::new();
        let mut scan = Scan { bytes, at: 0, line: 1 };
        scan.value(&mut String::new(), &mut lines);
        Self(lines)
    }

    /// Problems that begin with a JSON pointer, after the line of the value.
    pub fn named(&self, problems: Vec<String>) -> Vec<String> {
        let named = |problem: String| {
            let pointer = problem.split_once(": ").map_or("", |(pointer, _)| pointer);
            let line = pointer.starts_with('/').then(|| self.line(pointer)).flatten();
            line.map_or(problem.clone(), |line| format!("line {line}: {problem}"))
        };
        problems.into_iter().map(named).collect()
    }

    /// The line of a value, or that of what should contain it.
    fn line(&self, pointer: &str) -> Option<usize> {
        let mut pointer = pointer;
        loop {
            match self.0.get(pointer) {
                Some(line) => return Some(*line),
                None => pointer = pointer.rsplit_once('/')?.0,
            }
        }
    }
}

/// A key as a part of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A text on the way, which is known to be JSON.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    line: usize,
}

impl Scan<'_> {
    /// The next byte that counts.
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | b',' | b':' => {}
                _ if self.at < 3 && !byte.is_ascii() => {}
                _ => return Some(byte),
            }
            self.at += 1;
        }
        None
    }

    /// Notes the lines of a value and of what is in it.
    fn value(&mut self, pointer: &mut String, lines: &mut BTreeMap<String, usize>) {
        let Some(first) = self.peek() else { return };
        lines.insert(pointer.clone(), self.line);
        let length = pointer.len();
        match first {
            b'{' | b'[' => {
                self.at += 1;
                let mut index = 0;
                while let Some(next) = self.peek() {
                    if matches!(next, b'}' | b']') {
                        self.at += 1;
                        break;
                    }
                    let key = if first == b'{' { self.text() } else { index.to_string() };
                    pointer.push('/');
                    pointer.push_str(&escaped(&key));
                    self.value(pointer, lines);
                    pointer.truncate(length);
                    index += 1;
                }
            }
            b'"' => {
                self.text();
            }
            _ => {
                let rest = &self.bytes[self.at..];
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
        }
    }

    /// The text in quotes that is next.
    fn text(&mut self) -> String {
        let begin = self.at;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        let text = &self.bytes[begin..self.at.min(self.bytes.len())];
        serde_json::from_slice(text).unwrap_or_default()
    }
}

/// A value whose objects have no key twice. The value itself is not kept.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<UniqueKeys, A::Error> {
        while list.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<UniqueKeys, A::Error> {
        // Numbers come as an object of one key, too.
        let mut keys: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(twice(&key)));
            }
            keys.insert(key);
            members.next_value::<UniqueKeys>()?;
        }
        Ok(UniqueKeys)
    }
}

/// The error message for a key that occurs twice in an object.
pub(crate) fn twice(key: &str) -> String {
    format!("the key `{key}` stands twice in one object")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a": 1, "a": 1}"#,
            "{\"b\": [1, {\"c\": {\"a\": 0.5,\n \"d\": null, \"a\": []}}]}",
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            let error = parse(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains("the key `a` stands twice"), "{error}");
            assert!(error.starts_with("line ") && !error.contains(" at line "), "{error}");
        }
        let text = r#"{"a": {"a": 1e400, "b": -1}, "b": [{"a": 1}, {"a": "x"}, 2.50]}"#;
        let value = parse(text.as_bytes()).expect("each key stands once in its object");
        assert_eq!(value["b"][2].to_string(), "2.50");
    }

    #[test]
    fn the_lines_of_values() {
        let text = "\u{feff}{\n \"a\": [1,\n {\"b/c\": \"}\\\"\"}],\n\n\"d\":null}";
        let lines = Lines::of(text.as_bytes());
        let expected = [("", 1), ("/a", 2), ("/a/0", 2), ("/a/1", 3), ("/a/1/b~1c", 3), ("/d", 5)];
        let expected = expected.map(|(pointer, line)| (pointer.to_owned(), line));
        assert_eq!(lines.0, BTreeMap::from(expected));
        let problems = ["/a/1/x: wrong", "/e: missing", "nothing"].map(str::to_owned);
        let named = lines.named(problems.to_vec());
        assert_eq!(named, ["line 3: /a/1/x: wrong", "line 1: /e: missing", "nothing"]);
    }

    #[test]
    fn what_is_no_json_is_named_with_its_place() {
        let error = parse(b"{\"a\": 1,\n x}").expect_err("no key").to_string();
        assert!(error.starts_with("line 2, column 2: "), "{error}");
    }
}
