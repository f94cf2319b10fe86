//! Tasks in a table `[task]`: formulas for policy and update, explicit edges of cells.

use std::path::Path;

use policert_numeric::Rational;

use super::fields::{
    MAX_STEPS, bounds, cell_formula, distances, expression, names, pairs, read_question,
};
use super::reader::{Entry, Section};
use super::regions::condition;
use super::{ActionMap, AfterGoal, Dynamics, DynamicsKind, GoalRule, LoopQuestion, Task};
use crate::error::ReachError;
use crate::expression::ExpressionGraph;
use crate::grid::{Axis, Grid};
use crate::region::{Border, LoopRegion, UnsafeSet, UnsafeSide};

/// Reads the table; the task is named after the folder of the file.
pub(super) fn read_formulas(section: &Section<'_, '_>, file: &Path) -> Result<Task, ReachError> {
    let state = names(&section.need("state")?)?;
    let n = state.len();
    let inputs = match section.get("input") {
        Some(entry) => names(&entry)?,
        None => vec!["u".to_owned()],
    };
    if let Some(both) = inputs.iter().find(|name| state.contains(name)) {
        return Err(section.error(format!("`{both}` is the name of a variable and of an action")));
    }
    let grid = grid(&section.need("grid")?, n)?;
    let controller = cell_formula(&section.need("policy")?, &state, inputs.len())?;

    let update = section.need("update")?;
    let items = if update.is_list() { update.items()? } else { vec![update] };
    if items.len() != n {
        return Err(update.error(format!("there are {n} variables and {} updates", items.len())));
    }
    let mut graph = ExpressionGraph::new();
    let variables: Vec<&str> = state.iter().chain(&inputs).map(String::as_str).collect();
    let components = items
        .iter()
        .map(|item| expression(item, &mut graph, &variables, &[]))
        .collect::<Result<Vec<_>, _>>()?;
    let clamp = match section.get("clamp") {
        None => None,
        Some(entry) if n == 1 && entry.numbers().is_ok() => {
            Some(vec![bounds(&entry, &entry.numbers()?)?])
        }
        Some(entry) => Some(pairs(&entry, n)?),
    };
    let dynamics = Dynamics {
        kind: DynamicsKind::Difference,
        graph,
        components,
        substeps: 1,
        period: Rational::ONE,
        clamp,
        disturbances: Vec::new(),
        remembered: Vec::new(),
    };

    let initial = flat_box(&section.need("initial")?, n)?;
    let partition =
        initial.iter().map(|(lower, upper)| vec![lower.clone(), upper.clone()]).collect();
    let region = |entry: Entry<'_, '_>| -> Result<LoopRegion, ReachError> {
        if !entry.is_list() {
            return condition(&entry, &state);
        }
        let sides = flat_box(&entry, n)?;
        let sides = sides.into_iter().enumerate().map(|(i, (lower, upper))| (i, lower, upper));
        Ok(LoopRegion::new(sides.collect(), Border::Closed))
    };
    let goal = section.get("goal").map(region).transpose()?;
    let from_step = match section.get("unsafe_from_step") {
        Some(entry) => entry.count(0, MAX_STEPS)?,
        None => 0,
    };
    let mut avoid = Vec::new();
    for (key, side) in [("unsafe", UnsafeSide::Inside), ("stay", UnsafeSide::Outside)] {
        if let Some(region) = section.get(key).map(region).transpose()? {
            avoid.push(UnsafeSet { region, side, from_step });
        }
    }
    if goal.is_none() && avoid.is_empty() {
        return Err(section.error("there is neither `goal` nor `unsafe` nor `stay`"));
    }
    let steps = section.need("steps")?.count(0, MAX_STEPS)?;
    let mut question = LoopQuestion { goal: GoalRule::AllAtOnce, after_goal: AfterGoal::Continue };
    read_question(section, &mut question)?;
    let aggregation = match section.get("aggregation_distance") {
        Some(entry) => Some(distances(&entry, n)?),
        None => None,
    };
    section.finish(&[])?;
    let folder = file.parent().and_then(Path::file_name).or_else(|| file.file_stem());
    Ok(Task {
        name: folder.map_or_else(|| "task".to_owned(), |name| name.to_string_lossy().into_owned()),
        state,
        inputs,
        dynamics,
        controller,
        observation: None,
        action: ActionMap::default(),
        grid: Some(grid),
        initial,
        partition,
        goal,
        avoid,
        steps,
        question,
        aggregation,
    })
}

/// Edges of one variable as a list, of several as a list of lists.
fn grid(entry: &Entry<'_, '_>, n: usize) -> Result<Grid, ReachError> {
    let items = entry.items()?;
    let lists = if items.first().is_some_and(Entry::is_list) { items } else { vec![*entry] };
    if lists.len() != n {
        return Err(entry.error(format!("{n} lists of edges are needed")));
    }
    let axis = |item: &Entry<'_, '_>| {
        Axis::new(item.numbers()?)
            .ok_or_else(|| item.error("at least two edges are needed, in increasing order"))
    };
    Ok(Grid::new(lists.iter().map(axis).collect::<Result<_, _>>()?))
}

/// Lower and upper bound of each variable in turn.
fn flat_box(entry: &Entry<'_, '_>, n: usize) -> Result<Vec<(Rational, Rational)>, ReachError> {
    let numbers = entry.exactly(2 * n)?;
    let pairs: Vec<_> = numbers.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    if pairs.iter().any(|(lower, upper)| lower > upper) {
        return Err(entry.error("a lower bound is above the upper one"));
    }
    Ok(pairs)
}
