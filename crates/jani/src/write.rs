//! Writing JANI: expressions as JSON values, and the text of a file.

use serde_json::{Value, json};

/// A variable or constant.
#[must_use]
pub fn name(name: &str) -> Value {
    Value::String(name.to_owned())
}

/// An operator with two operands, by its name in JANI.
#[must_use]
pub fn binary(op: &str, left: Value, right: Value) -> Value {
    json!({"op": op, "left": left, "right": right})
}

/// `left = right`.
#[must_use]
pub fn equal(left: &str, right: i64) -> Value {
    binary("=", name(left), right.into())
}

/// `left ≠ right`.
#[must_use]
pub fn differs(left: &str, right: i64) -> Value {
    binary("≠", name(left), right.into())
}

/// `left ≥ right`.
#[must_use]
pub fn at_least(left: &str, right: i64) -> Value {
    binary("≥", name(left), right.into())
}

/// `left ≤ right`.
#[must_use]
pub fn at_most(left: &str, right: i64) -> Value {
    binary("≤", name(left), right.into())
}

/// A comparison of two expressions.
#[must_use]
pub fn compare(left: Value, op: &str, right: Value) -> Value {
    binary(op, left, right)
}

/// `left + right`.
#[must_use]
pub fn plus(left: &str, right: i64) -> Value {
    binary("+", name(left), right.into())
}

/// `factor · exp`.
#[must_use]
pub fn times(factor: Value, exp: Value) -> Value {
    binary("*", factor, exp)
}

/// `left - right`.
#[must_use]
pub fn minus(left: Value, right: Value) -> Value {
    binary("-", left, right)
}

/// The sum of terms; 0 if there are none.
#[must_use]
pub fn sum(terms: Vec<Value>) -> Value {
    balanced("+", terms).unwrap_or_else(|| 0.into())
}

/// The conjunction of conditions; true if there are none.
#[must_use]
pub fn all(conditions: Vec<Value>) -> Value {
    balanced("∧", conditions).unwrap_or(Value::Bool(true))
}

/// The disjunction of conditions; false if there are none.
#[must_use]
pub fn any(conditions: Vec<Value>) -> Value {
    balanced("∨", conditions).unwrap_or(Value::Bool(false))
}

/// The negation of a condition.
#[must_use]
pub fn not(condition: Value) -> Value {
    json!({"op": "¬", "exp": condition})
}

/// 1 where the condition holds, else 0.
#[must_use]
pub fn indicator(condition: Value) -> Value {
    choose(condition, 1.into(), 0.into())
}

/// `then` where the condition holds, else `otherwise`.
#[must_use]
pub fn choose(condition: Value, then: Value, otherwise: Value) -> Value {
    json!({"op": "ite", "if": condition, "then": then, "else": otherwise})
}

/// `amount` where the condition holds, else 0: a term of a potential.
#[must_use]
pub fn worth(amount: i64, condition: Value) -> Value {
    times(amount.into(), indicator(condition))
}

/// A tree of logarithmic depth, for readers of limited depth.
fn balanced(op: &str, mut terms: Vec<Value>) -> Option<Value> {
    match terms.len() {
        0 | 1 => terms.pop(),
        n => {
            let right = terms.split_off(n.div_ceil(2));
            Some(binary(op, balanced(op, terms)?, balanced(op, right)?))
        }
    }
}

const WIDTH: usize = 100;

/// The text of a JSON value: what fits on a line stands on one line.
#[must_use]
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, 0, &mut out);
    out.push('\n');
    out
}

/// Writes `value` after `used` characters of a line that is indented by `indent`.
fn write(value: &Value, indent: usize, used: usize, out: &mut String) {
    let flat = value.to_string();
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            let key = |key: &String| format!("{}: ", Value::String(key.clone()));
            map.iter().map(|(k, value)| (key(k), value)).collect()
        }
        Value::Array(items) => items.iter().map(|value| (String::new(), value)).collect(),
        _ => Vec::new(),
    };
    if entries.is_empty() || used + flat.chars().count() <= WIDTH {
        out.push_str(&flat);
        return;
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    out.push(open);
    for (k, (key, value)) in entries.iter().enumerate() {
        out.push_str(if k == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(indent + 1));
        out.push_str(key);
        write(value, indent + 1, indent + 1 + key.chars().count(), out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_value() {
        let long = all((0..40).map(|k| at_least(&format!("variable_{k}"), k)).collect());
        let again: Value = serde_json::from_str(&text(&long)).expect("JSON");
        assert_eq!(again, long);
        assert!(text(&long).lines().all(|line| line.chars().count() <= WIDTH + 2));
    }

    #[test]
    fn empty_connectives() {
        assert_eq!(all(Vec::new()), Value::Bool(true));
        assert_eq!(any(Vec::new()), Value::Bool(false));
        assert_eq!(sum(Vec::new()), json!(0));
    }
}
