//! Holds JSON against a JSON schema: the part of the standard that our schemas use. A keyword
//! outside that part is an error, so that nothing goes unchecked.

use serde_json::{Map, Value};

/// A schema of `docs/formats`.
pub fn schema(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/");
    let text = std::fs::read_to_string(format!("{folder}{name}.schema.json")).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

/// The violations of the schema; none if all is well.
pub fn breaches(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Schema { root: schema }.check(schema, value, "", &mut found);
    found
}

struct Schema<'a> {
    root: &'a Value,
}

impl Schema<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else { return };
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => {}
                "$ref" => {
                    let pointer = rule.as_str().and_then(|r| r.strip_prefix('#'));
                    let target = pointer.and_then(|pointer| self.root.pointer(pointer));
                    self.check(target.expect("a definition"), value, at, found);
                }
                "anyOf" => {
                    let mut tries = rule.as_array().expect("a list").iter().map(|schema| {
                        let mut found = Vec::new();
                        self.check(schema, value, at, &mut found);
                        found
                    });
                    let first = tries.next().expect("a schema");
                    if !first.is_empty() && !tries.any(|found| found.is_empty()) {
                        found.extend(first);
                    }
                }
                "type" => {
                    let names = match rule {
                        Value::Array(names) => names.clone(),
                        name => vec![name.clone()],
                    };
                    if !names.iter().any(|name| has_type(value, name.as_str().expect("a name"))) {
                        found.push(format!("{at}: {value} is not {rule}"));
                    }
                }
                "enum" => {
                    if !rule.as_array().expect("a list").contains(value) {
                        found.push(format!("{at}: {value} is none of {rule}"));
                    }
                }
                "const" => {
                    if rule != value {
                        found.push(format!("{at}: {value} is not {rule}"));
                    }
                }
                "minimum" => {
                    if value.as_f64().is_some_and(|v| v < rule.as_f64().expect("a number")) {
                        found.push(format!("{at}: {value} is below {rule}"));
                    }
                }
                "maximum" => {
                    if value.as_f64().is_some_and(|v| v > rule.as_f64().expect("a number")) {
                        found.push(format!("{at}: {value} is above {rule}"));
                    }
                }
                "minItems" | "maxItems" => {
                    let count = value.as_array().map(|items| items.len() as u64);
                    let limit = rule.as_u64().expect("a count");
                    let few = keyword.as_str() == "minItems";
                    if count.is_some_and(|n| if few { n < limit } else { n > limit }) {
                        found.push(format!("{at}: {keyword} is {limit}"));
                    }
                }
                "prefixItems" => {
                    let rules = rule.as_array().expect("a list").iter();
                    let items = value.as_array().into_iter().flatten();
                    for (i, (rule, item)) in rules.zip(items).enumerate() {
                        self.check(rule, item, &format!("{at}/{i}"), found);
                    }
                }
                "pattern" => {
                    assert_eq!(rule, "^[0-9a-f]{64}$", "the only pattern in use");
                    let digest = value.as_str().is_some_and(|text| {
                        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                        text.len() == 64 && text.bytes().all(digit)
                    });
                    if !digest {
                        found.push(format!("{at}: {value} is no SHA-256"));
                    }
                }
                "items" => {
                    let first =
                        schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                    let items = value.as_array().into_iter().flatten().enumerate();
                    for (i, item) in items.skip(first) {
                        self.check(rule, item, &format!("{at}/{i}"), found);
                    }
                }
                "required" => {
                    let names = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
                    for name in names.filter(|name| value.get(name).is_none()) {
                        found.push(format!("{at}: {name} is missing"));
                    }
                }
                "properties" | "additionalProperties" => {}
                other => panic!("keyword {other} is not known"),
            }
        }
        if let Value::Object(members) = value {
            self.check_members(schema, members, at, found);
        }
    }

    fn check_members(
        &self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        at: &str,
        found: &mut Vec<String>,
    ) {
        for (name, member) in members {
            let at = format!("{at}/{name}");
            match (
                schema.get("properties").and_then(|p| p.get(name)),
                schema.get("additionalProperties"),
            ) {
                (Some(rule), _) => self.check(rule, member, &at, found),
                (None, Some(Value::Bool(false))) => {
                    found.push(format!("{at} is not in the schema"))
                }
                (None, Some(rule)) => self.check(rule, member, &at, found),
                (None, None) => {}
            }
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("type {other} is not known"),
    }
}
