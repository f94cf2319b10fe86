//! JSON in which no key stands twice: what a repeated key means is not defined (RFC 8259,
//! section 4), so files that have one contradict themselves.

use std::collections::BTreeSet;
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

/// What is wrong with a key that stands twice.
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
    fn what_is_no_json_is_named_with_its_place() {
        let error = parse(b"{\"a\": 1,\n x}").expect_err("no key").to_string();
        assert!(error.starts_with("line 2, column 2: "), "{error}");
    }
}
