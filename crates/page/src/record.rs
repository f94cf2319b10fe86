//! Any data of a result, as a list of names and values.

use serde_json::Value;

use crate::html::Html;

/// Lists of numbers and words are shown up to this length.
const LONGEST: usize = 200;

/// Adds the members of an object with their values, without those that have none.
pub fn fields(html: &mut Html, value: &Value) {
    fields_but(html, value, &[]);
}

/// The same without some members.
pub fn fields_but(html: &mut Html, value: &Value, left_out: &[&str]) {
    let Some(members) = value.as_object() else {
        html.text(&plain(value));
        return;
    };
    html.element("dl", &[], |html| {
        let is_shown =
            |name: &String, value: &Value| !left_out.contains(&name.as_str()) && !is_nothing(value);
        for (name, value) in members.iter().filter(|(name, value)| is_shown(name, value)) {
            html.leaf("dt", &title_of(name));
            html.element("dd", &[], |html| member(html, value));
        }
    });
}

fn member(html: &mut Html, value: &Value) {
    match value {
        Value::Object(_) => fields(html, value),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            html.element("ol", &[], |list| {
                for item in items.iter().take(LONGEST) {
                    list.element("li", &[], |li| fields(li, item));
                }
            });
            more(html, items.len());
        }
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().take(LONGEST).map(plain).collect();
            html.text(&texts.join(", "));
            more(html, items.len());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            html.text(&plain(value));
        }
    }
}

fn more(html: &mut Html, length: usize) {
    if length > LONGEST {
        html.text(&format!(" and {} more", length - LONGEST));
    }
}

/// The name of a member as people write it.
#[must_use]
pub fn title_of(name: &str) -> String {
    match name.strip_suffix("_s") {
        Some(name) => format!("{} (s)", name.replace('_', " ")),
        None => match name.strip_suffix("_mb") {
            Some(name) => format!("{} (MB)", name.replace('_', " ")),
            None => name.replace('_', " "),
        },
    }
}

/// A value in a line.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", "))
        }
        Value::Object(_) => value.to_string(),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
