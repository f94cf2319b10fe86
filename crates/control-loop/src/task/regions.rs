//! Goal and unsafe sets of a task: boxes over some variables, or conditions.

use policert_numeric::Rational;

use super::fields::MAX_STEPS;
use super::reader::{Entry, Section};
use crate::condition::StateCondition;
use crate::error::ReachError;
use crate::region::{Border, LoopRegion, UnsafeSet, UnsafeSide};

/// Keys of published benchmark files that say where a region comes from.
const INFORMATIVE: [&str; 3] =
    ["same_as_paper_table_2", "training_goal", "tested_by_published_code"];

/// The region that a condition in text denotes.
pub(super) fn condition(entry: &Entry<'_, '_>, state: &[String]) -> Result<LoopRegion, ReachError> {
    StateCondition::parse(entry.text()?, state)
        .map(LoopRegion::of_condition)
        .map_err(|error| entry.error_inside(error.at, error.message))
}

/// A region: a condition, or bounds of some variables, by default the first `plant` ones.
pub(super) fn region(
    section: &Section<'_, '_>,
    (state, plant): (&[String], usize),
) -> Result<LoopRegion, ReachError> {
    let region = match section.get("condition") {
        Some(entry) => condition(&entry, state)?,
        None => bounded(section, (state, plant))?,
    };
    section.finish(&INFORMATIVE)?;
    Ok(region)
}

/// The unsafe sets: those of `[unsafe]` or `[[unsafe]]`, and what lies outside of `[stay]` or `[[stay]]`. Steps
/// take a time of `period`.
pub(super) fn unsafe_sets(
    root: &Section<'_, '_>,
    state: (&[String], usize),
    period: Option<&Rational>,
) -> Result<Vec<UnsafeSet>, ReachError> {
    let mut sets = Vec::new();
    for (key, side) in [("unsafe", UnsafeSide::Inside), ("stay", UnsafeSide::Outside)] {
        let Some(entry) = root.get(key) else { continue };
        let items = if entry.is_list() { entry.items()? } else { vec![entry] };
        for item in items {
            let section = item.section()?;
            let from_step = from_step(&section, period)?;
            sets.push(UnsafeSet { region: region(&section, state)?, side, from_step });
        }
    }
    Ok(sets)
}

/// The first step at which an unsafe set counts: given itself, or as the time of a step.
fn from_step(section: &Section<'_, '_>, period: Option<&Rational>) -> Result<u32, ReachError> {
    let step = section.get("from_step");
    let Some(time) = section.get("from_time") else {
        return step.map_or(Ok(0), |entry| entry.count(0, MAX_STEPS));
    };
    if step.is_some() {
        return Err(time.error("there is `from_step` as well"));
    }
    let period = period.ok_or_else(|| time.error("steps take no time without `dt`"))?;
    let steps = time.number()?.checked_div(period).filter(Rational::is_integer);
    let steps = steps.and_then(|steps| u32::try_from(steps.to_i64()?).ok());
    steps.filter(|steps| *steps <= MAX_STEPS).ok_or_else(|| {
        time.error(format!("`from_time` is the time of a step, a whole multiple of {period}"))
    })
}

/// A box over some of the variables.
fn bounded(
    section: &Section<'_, '_>,
    (state, plant): (&[String], usize),
) -> Result<LoopRegion, ReachError> {
    let most = u32::try_from(state.len()).unwrap_or(u32::MAX);
    let variables = match section.get("variables") {
        None => (0..plant).collect(),
        Some(entry) => {
            let mut variables = Vec::new();
            let items = entry.items()?;
            if items.is_empty() {
                return Err(entry.error("no variables: all states would belong to the region"));
            }
            for item in items {
                // By position, counted from 1, or by name.
                let named = item.text().ok().map(|name| {
                    state
                        .iter()
                        .position(|known| known == name)
                        .ok_or_else(|| item.error(format!("there is no variable `{name}`")))
                });
                let variable = match named {
                    Some(position) => position?,
                    None => item.count(1, most)? as usize - 1,
                };
                if variables.contains(&variable) {
                    let name = &state[variable];
                    return Err(item.error(format!("`{name}` is bounded twice")));
                }
                variables.push(variable);
            }
            variables
        }
    };
    let lower = section.need("lower")?;
    let upper = section.need("upper")?.exactly(variables.len())?;
    let sides: Vec<_> = variables
        .into_iter()
        .zip(lower.exactly(upper.len())?.into_iter().zip(upper))
        .map(|(variable, (lower, upper))| (variable, lower, upper))
        .collect();
    if sides.iter().any(|(_, lower, upper)| lower > upper) {
        return Err(lower.error("a lower bound is above the upper one"));
    }
    let border = match section.get("boundary") {
        None => Border::Closed,
        Some(entry) => match entry.text()? {
            "closed" => Border::Closed,
            "open" if sides.iter().any(|(_, lower, upper)| lower == upper) => {
                let message = "an open region without width contains no state";
                return Err(lower.error(message));
            }
            "open" => Border::Open,
            _ => return Err(entry.error("`boundary` is \"closed\" or \"open\"")),
        },
    };
    Ok(LoopRegion::new(sides, border))
}
