//! JSON as people like to read it: what fits a line stays on one line.

use serde_json::Value;

/// Columns of a line.
const WIDTH: usize = 96;

/// A document, with a line break at its end.
#[must_use]
pub fn readable(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// Appends `value`, whose first line is indented already and has `used` columns before it.
fn write(value: &Value, indent: usize, used: usize, text: &mut String) {
    let flat = flat(value);
    if indent + used + flat.chars().count() <= WIDTH {
        text.push_str(&flat);
        return;
    }
    let inner = indent + 2;
    let line = |text: &mut String, last: bool, indent: usize| {
        text.push_str(if last { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', indent));
    };
    match value {
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    line(text, false, inner);
                } else {
                    line(text, true, inner);
                }
                write(item, inner, 1, text);
            }
            line(text, true, indent);
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (i, (key, item)) in members.iter().enumerate() {
                line(text, i == 0, inner);
                let key = format!("{}: ", Value::from(key.as_str()));
                text.push_str(&key);
                write(item, inner, key.chars().count() + 1, text);
            }
            line(text, true, indent);
            text.push('}');
        }
        _ => text.push_str(&flat),
    }
}

/// On one line, with blanks after commas and colons.
fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, item)| format!("{}: {}", Value::from(key.as_str()), flat(item)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;
    use serde_json::{Value, json};

    #[test]
    fn long_things_are_broken_and_short_ones_are_not() {
        let long: Vec<String> = (0..9).map(|i| format!("element number {i}")).collect();
        let value = json!({"short": [1, 2, {"a": "b"}], "long": long});
        let text = readable(&value);
        assert!(
            text.starts_with(
                "{\n  \"short\": [1, 2, {\"a\": \"b\"}],\n  \"long\": [\n    \"element"
            )
        );
        assert!(text.lines().all(|line| line.chars().count() <= super::WIDTH + 1));
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
