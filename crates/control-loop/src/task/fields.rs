//! Entries that both forms of task files have: names, expressions, bounds, distances, switches.

use policert_numeric::Rational;

use super::reader::{Entry, Section};
use super::{AfterGoal, Controller, GoalRule, LoopQuestion};
use crate::edge::BoxEdge;
use crate::error::ReachError;
use crate::expression::{ExpressionGraph, ExpressionId};

/// Limits that keep absurd files from exhausting memory.
const MAX_DIMENSION: usize = 64;
pub(super) const MAX_STEPS: u32 = 1_000_000;
pub(super) const MAX_PARTS: usize = 1 << 24;

/// Distances up to which boxes are merged, one for each variable.
pub(super) fn distances(entry: &Entry<'_, '_>, n: usize) -> Result<Vec<f64>, ReachError> {
    let numbers = entry.exactly(n)?;
    if numbers.iter().any(|number| number.signum() < 0) {
        return Err(entry.error("distances are not negative"));
    }
    Ok(numbers.iter().map(Rational::to_f64).collect())
}

/// The two switches of the question.
pub(super) fn read_question<'a>(
    section: &Section<'a, '_>,
    question: &mut LoopQuestion,
) -> Result<(), ReachError> {
    if let Some(entry) = section.get("goal_rule") {
        question.goal = match entry.text()? {
            "each" => GoalRule::Each,
            "all-at-once" => GoalRule::AllAtOnce,
            _ => return Err(entry.error("`goal_rule` is \"each\" or \"all-at-once\"")),
        };
    }
    if let Some(entry) = section.get("after_goal") {
        question.after_goal = match entry.text()? {
            "stop" => AfterGoal::Stop,
            "continue" => AfterGoal::Continue,
            _ => return Err(entry.error("`after_goal` is \"stop\" or \"continue\"")),
        };
    }
    Ok(())
}

/// Names of variables: different, and no words of expressions.
pub(super) fn names(entry: &Entry<'_, '_>) -> Result<Vec<String>, ReachError> {
    let names: Vec<String> = entry.texts()?.into_iter().map(str::to_owned).collect();
    if names.is_empty() || names.len() > MAX_DIMENSION {
        return Err(entry.error(format!("from 1 to {MAX_DIMENSION} variables are possible")));
    }
    for (i, name) in names.iter().enumerate() {
        check_name(entry, name, &names[..i])?;
    }
    Ok(names)
}

/// Refuses what is no name, or one of those known.
pub(super) fn check_name(
    entry: &Entry<'_, '_>,
    name: &str,
    known: &[String],
) -> Result<(), ReachError> {
    let mut characters = name.chars();
    let word = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_');
    if !word || policert_infix::WORDS.contains(&name) {
        return Err(entry.error(format!("`{name}` cannot be the name of a variable")));
    }
    if known.iter().any(|known| known == name) {
        return Err(entry.error(format!("`{name}` stands there twice")));
    }
    Ok(())
}

/// An expression over variables and constants.
pub(super) fn expression(
    entry: &Entry<'_, '_>,
    graph: &mut ExpressionGraph,
    variables: &[&str],
    constants: &[(&str, Option<Rational>)],
) -> Result<ExpressionId, ReachError> {
    let name = |name: &str, graph: &mut ExpressionGraph| {
        if let Some(position) = variables.iter().position(|variable| *variable == name) {
            return Some(graph.variable(position));
        }
        let (_, value) = constants.iter().find(|(constant, _)| *constant == name)?;
        Some(graph.constant(value.clone()?))
    };
    graph.parse(entry.text()?, name).map_err(|error| entry.error_inside(error.at, error.message))
}

/// Formulas for the inputs over the bounds of the cell, `lo_x` and `hi_x`, with one variable also
/// `lo` and `hi`. `u = ` may stand before a formula.
pub(super) fn cell_formula(
    entry: &Entry<'_, '_>,
    state: &[String],
    inputs: usize,
) -> Result<Controller, ReachError> {
    let items = if entry.is_list() { entry.items()? } else { vec![*entry] };
    if items.len() != inputs {
        return Err(entry.error(format!("there are {inputs} inputs and {} formulas", items.len())));
    }
    let mut graph = ExpressionGraph::new();
    let n = state.len();
    let name = |name: &str, graph: &mut ExpressionGraph| {
        let (half, variable) = match name.split_once('_') {
            Some(("lo", variable)) => (0, variable),
            Some(("hi", variable)) => (n, variable),
            None if n == 1 && name == "lo" => (0, state[0].as_str()),
            None if n == 1 && name == "hi" => (n, state[0].as_str()),
            _ => return None,
        };
        let position = state.iter().position(|known| known == variable)?;
        Some(graph.variable(half + position))
    };
    let mut outputs = Vec::with_capacity(items.len());
    for item in &items {
        let text = item.text()?;
        let start = text.find('=').filter(|&at| {
            let before = text[..at].trim();
            !before.is_empty() && before.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        let start = match start {
            Some(at) if !text[at + 1..].starts_with('=') => at + 1,
            _ => 0,
        };
        let output = graph
            .parse(&text[start..], name)
            .map_err(|error| item.error_inside(start + error.at, error.message))?;
        outputs.push(output);
    }
    Ok(Controller::CellFormula { graph, outputs })
}

pub(super) fn positive(entry: &Entry<'_, '_>) -> Result<Rational, ReachError> {
    let value = entry.number()?;
    if value.signum() > 0 { Ok(value) } else { Err(entry.error("must be positive")) }
}

/// Two numbers in order.
pub(super) fn bounds(
    entry: &Entry<'_, '_>,
    pair: &[Rational],
) -> Result<(BoxEdge, BoxEdge), ReachError> {
    match pair {
        [lower, upper] if lower <= upper => {
            Ok((BoxEdge::new(lower.clone()), BoxEdge::new(upper.clone())))
        }
        _ => Err(entry.error("a lower and an upper bound are needed, in this order")),
    }
}

/// Lower and upper bound for each variable.
pub(super) fn pairs(
    entry: &Entry<'_, '_>,
    n: usize,
) -> Result<Vec<(BoxEdge, BoxEdge)>, ReachError> {
    let items = entry.items()?;
    if items.len() != n {
        return Err(entry.error(format!("{n} pairs of bounds are needed")));
    }
    items.iter().map(|item| bounds(item, &item.exactly(2)?)).collect()
}

/// Returns whether the network reads the state, not its cell.
pub(super) fn reads_state_from(entry: &Entry<'_, '_>) -> Result<bool, ReachError> {
    match entry.text()? {
        "state" => Ok(true),
        "cell" => Ok(false),
        // As published benchmark files describe the order.
        text if text.starts_with("lower bounds of all variables, then upper bounds") => Ok(false),
        _ => Err(entry.error("the network reads the \"cell\" or the \"state\"")),
    }
}
