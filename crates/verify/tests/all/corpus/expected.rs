//! What a folder of the collection expects.

use std::collections::BTreeMap;
use std::path::Path;

use policert_numeric::Rational;

/// The verdicts that the card of a policy expects.
pub struct Card {
    pub is_safe: bool,
    pub p_unsafe: Option<Rational>,
    pub p_goal: Option<Rational>,
    /// As `p_unsafe`, where the action is drawn; computed in floating point.
    pub p_unsafe_if_sampled: Option<f64>,
}

impl Card {
    pub fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("card.toml")).expect("a card");
        let card: toml::Table = text.parse().expect("TOML");
        let expected = &card["expected"];
        let text = |key: &str| expected.get(key).and_then(toml::Value::as_str);
        let value = |key: &str| text(key).map(|text| fraction(text).expect("a fraction"));
        let is_safe = match text("verdict") {
            Some("safe") => true,
            Some("unsafe") => false,
            other => panic!("{}: verdict {other:?}", folder.display()),
        };
        Self {
            is_safe,
            p_unsafe: value("p_unsafe"),
            p_goal: value("p_goal"),
            p_unsafe_if_sampled: expected
                .get("p_unsafe_if_sampled")
                .map(|p| p.as_float().expect("a number")),
        }
    }
}

/// A state and what is chosen in it.
pub struct Row {
    pub values: BTreeMap<String, i64>,
    pub action: String,
    /// The probability of each action, of a policy that can be sampled.
    pub probabilities: BTreeMap<String, f64>,
    /// True if another action has the same score.
    pub is_tie: bool,
}

/// The decisions of a policy in all states.
pub fn rows(folder: &Path) -> Vec<Row> {
    let text = table(folder);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = |name: &str| header.iter().position(|&column| column == name).expect("a column");
    let (variables, action, lead) = (at("action_index"), at("action"), at("lead"));
    let row = |fields: Vec<&str>| {
        let values = header.iter().zip(&fields).take(variables);
        let values =
            values.map(|(&name, value)| (name.to_owned(), value.parse().expect("a value")));
        let lead: f64 = fields[lead].parse().expect("a lead");
        let probability = |(name, value): (&&str, &&str)| {
            Some((name.strip_prefix("p_")?.to_owned(), value.parse().expect("a probability")))
        };
        let probabilities = header.iter().zip(&fields).skip(variables).filter_map(probability);
        Row {
            values: values.collect(),
            action: fields[action].to_owned(),
            probabilities: probabilities.collect(),
            is_tie: lead <= 0.0,
        }
    };
    lines.map(row).collect()
}

/// The actions of a policy of a control loop at the points of a grid.
pub fn grid(folder: &Path) -> Vec<(Vec<Rational>, f64)> {
    let row = |line: &str| {
        let (point, action) = line.rsplit_once(',').expect("columns");
        let point = point.split(',').map(|x| fraction(x).expect("a number")).collect();
        (point, action.parse().expect("an action"))
    };
    table(folder).lines().skip(1).map(row).collect()
}

fn table(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("decisions.csv")).expect("a table")
}

/// A decimal number or a fraction.
pub fn fraction(text: &str) -> Option<Rational> {
    let (number, divisor) = text.split_once('/').unwrap_or((text, "1"));
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => (-Rational::ONE, number),
        None => (Rational::ONE, number),
    };
    let divisor = Rational::parse_decimal(divisor)?;
    (sign * Rational::parse_decimal(number)?).checked_div(&divisor)
}
