//! Lies that evidence may tell.

use std::path::Path;

use serde_json::{Value, json};

/// Makes a lie of evidence and of other evidence; `None` where it does not apply.
type Tell = fn(&Value, &Value) -> Option<Value>;

/// A way to lie.
pub struct Lie {
    /// The claim that is not so.
    pub what: &'static str,
    /// True if it is false of every evidence that it is told of; a smaller invariant may be one, too.
    pub is_always_false: bool,
    pub tell: Tell,
}

const fn lie(what: &'static str, is_always_false: bool, tell: Tell) -> Lie {
    Lie { what, is_always_false, tell }
}

pub const LIES: [Lie; 21] = [
    lie("a score is another", true, |e, _| {
        let place = "/trace/0/policy/scores/0/exact";
        let score = e.pointer(place)?.as_str()?;
        set(e, place, json!(format!("{score}1")))
    }),
    lie("the label of a step is another", true, |e, _| {
        let label = e.pointer("/trace/0/label")?;
        let scores = e.pointer("/trace/0/policy/scores")?.as_array()?;
        let other = scores.iter().map(|score| &score["label"]).find(|other| *other != label)?;
        set(e, "/trace/0/label", other.clone())
    }),
    lie("the start state is another", false, |e, _| {
        let (name, value) = e["start"].as_object()?.iter().find(|(_, value)| value.is_i64())?;
        let value = json!(value.as_i64()? + 1);
        set(e, &format!("/start/{}", name.replace('~', "~0").replace('/', "~1")), value)
    }),
    lie("a step is left out", true, |e, _| {
        let mut lie = e.clone();
        lie["trace"].as_array_mut()?.pop()?;
        Some(lie)
    }),
    lie("a variable changes that does not", true, |e, _| {
        let changed = e.pointer("/trace/0/changed")?.as_object()?;
        let mut state = e.pointer("/trace/0/state")?.as_object()?.iter();
        let (name, value) = state.find(|(name, _)| !changed.contains_key(*name))?;
        let mut lie = e.clone();
        lie["trace"][0]["changed"][name] = json!([value, value]);
        Some(lie)
    }),
    lie("the probability of an outcome is another", true, |e, _| {
        e.pointer("/trace/0/probability")?;
        set(e, "/trace/0/probability", json!("1/7919"))
    }),
    lie("the outcome of a step is another", true, |e, _| {
        let outcome = e.pointer("/trace/0/outcome")?.as_i64()?;
        set(e, "/trace/0/outcome", json!(outcome + 100))
    }),
    lie("a box is dropped", false, |e, _| {
        let mut lie = e.clone();
        lie["invariant"].as_array_mut()?.pop()?;
        Some(lie)
    }),
    lie("a box is wider", false, |e, _| {
        let (name, ends) = e.pointer("/invariant/0")?.as_object()?.iter().next()?;
        let mut lie = e.clone();
        lie["invariant"][0].as_object_mut()?.remove(name);
        ends.is_array().then_some(lie)
    }),
    lie("the bounds of the probability are other ones", true, |e, _| {
        e.pointer("/probability/1")?;
        let [low, high] = [0, 1].map(|k| e["probability"][k].as_str().map(str::to_owned));
        let claimed = if low?.starts_with('1') { "0" } else { "1" };
        (high? != "1" || claimed == "0").then_some(())?;
        set(e, "/probability", json!([claimed, claimed]))
    }),
    lie("the lower bound of a state is higher", true, |e, _| {
        let is_below_one = |state: &Value| state[2].as_f64().is_some_and(|upper| upper < 1.0);
        let at = e["values"].as_array()?.iter().position(is_below_one)?;
        let lie = set(e, &format!("/values/{at}/1"), json!(1.0))?;
        set(&lie, &format!("/values/{at}/2"), json!(1.0))
    }),
    lie("all ranks are the same", false, |e, _| {
        let mut lie = e.clone();
        lie["ranks"].as_array_mut()?.iter_mut().for_each(|rank| *rank = json!(1));
        (lie != *e).then_some(lie)
    }),
    lie("a rank is lower", false, |e, _| {
        let mut lie = e.clone();
        let rank = lie["ranks"].as_array_mut()?.last_mut()?;
        *rank = json!(rank.as_u64()?.checked_sub(1)?);
        Some(lie)
    }),
    lie("there are no ranks", true, |e, _| {
        let mut lie = e.clone();
        lie.as_object_mut()?.remove("ranks").is_some().then_some(lie)
    }),
    lie("a piece is dropped", false, |e, _| {
        let mut lie = e.clone();
        lie["pieces"].as_array_mut()?.pop()?;
        Some(lie)
    }),
    lie("a piece is everything", false, |e, _| {
        let lie = set(e, "/pieces/0/0", json!({}))?;
        set(&lie, "/pieces/0/1", json!([])).filter(|lie| lie != e)
    }),
    lie("the bounds of pieces are lower", false, |e, _| {
        let mut lie = e.clone();
        for piece in lie["pieces"].as_array_mut()? {
            piece[2] = json!(piece[2].as_f64()? / 2.0);
        }
        Some(lie)
    }),
    lie("the pieces show that nothing is reached", false, |e, _| {
        let pieces = e["pieces"].as_array()?;
        let is_positive = |piece: &Value| piece[2].as_f64().is_some_and(|upper| upper > 0.0);
        pieces.iter().any(is_positive).then_some(())?;
        let lie = set(e, "/pieces", json!([[{}, [], 0.0]]))?;
        set(&set(&lie, "/probability", json!(["0", "0"]))?, "/values", json!([]))
    }),
    lie("a file is another", true, |e, _| set(e, "/inputs/0/sha256", json!("0".repeat(64)))),
    lie("the unsafe condition is another", true, |e, _| {
        let condition = e["unsafe_condition"].as_str()?;
        set(e, "/unsafe_condition", json!(format!("¬({condition})")))
    }),
    lie("the evidence is of another question", false, |e, other| {
        let mut lie = other.clone();
        for member in ["task", "inputs", "semantics", "unsafe_condition"] {
            lie[member] = e[member].clone();
        }
        (e["task"]["model"] != other["task"]["model"]).then_some(lie)
    }),
];

/// The evidence with another value at a JSON pointer.
fn set(evidence: &Value, pointer: &str, value: Value) -> Option<Value> {
    let mut lie = evidence.clone();
    *lie.pointer_mut(pointer)? = value;
    Some(lie)
}

/// Evidence from its file.
pub fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("evidence");
    serde_json::from_str(&text).expect("JSON")
}
