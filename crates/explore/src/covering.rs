//! A set of states as few boxes.

mod packed_boxes;

use std::cmp::Ordering;
use std::time::Duration;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::IntBox;

use crate::packing::StatePacking;
use packed_boxes::{PackedBox, merge};

/// The greatest number of boxes.
const MOST_BOXES: usize = 100_000;
/// The greatest number of states that are written down as boxes where they have ranks, or take many words.
const MOST_LOOSE_STATES: usize = 1_000_000;
/// States may always be merged for this long, else for as long as it took to find them.
const LEAST_TIME: Duration = Duration::from_secs(5);

/// Says why states are too many to be evidence, if they are.
pub(crate) fn check_states(engine: &str, count: usize) -> Result<(), String> {
    match count > MOST_LOOSE_STATES {
        true => Err(format!(
            "{engine} reached {count} states, of which it keeps {MOST_LOOSE_STATES} at most as evidence"
        )),
        false => Ok(()),
    }
}

/// Says why boxes are too many to be evidence, if they are.
pub(crate) fn check_boxes(count: usize) -> Result<(), String> {
    match count > MOST_BOXES {
        true => Err(format!(
            "the states that were reached were merged into {count} boxes; evidence has {MOST_BOXES} at most"
        )),
        false => Ok(()),
    }
}

/// Makes boxes fewer without a change of their union: two whose union is a box become one.
///
/// # Errors
/// A stop of the budget.
pub fn merge_boxes(boxes: Vec<IntBox>, budget: &mut Budget) -> Result<Vec<IntBox>, StopReason> {
    merged(boxes.into_iter().filter(|sides| !sides.is_empty()).collect(), budget)
}

/// States as few boxes, for evidence; or why not.
pub(crate) fn few_boxes(points: Vec<IntBox>, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
    let boxes = merged(points, budget).map_err(|reason| not_merged(&reason.to_string()))?;
    check_boxes(boxes.len()).map(|()| boxes)
}

/// The states that a search of this budget found, packed, as few boxes; or why not.
///
/// Besides the states it takes 16 bytes for each of their words, and about as long as the search.
pub(crate) fn few_boxes_of<'s>(
    states: impl ExactSizeIterator<Item = &'s [u64]>,
    packing: &StatePacking,
    budget: &mut Budget,
) -> Result<Vec<IntBox>, String> {
    let share = budget.elapsed().max(LEAST_TIME);
    let is_shared = budget.remaining().is_none_or(|left| share < left);
    let mut merging = if is_shared { budget.within(Some(share)) } else { budget.fork() };
    let boxes = match packing.words() {
        1 => merged_states::<1>(states, packing, &mut merging),
        2 => merged_states::<2>(states, packing, &mut merging),
        3 => merged_states::<3>(states, packing, &mut merging),
        4 => merged_states::<4>(states, packing, &mut merging),
        _ => {
            check_states("engine explicit", states.len())?;
            let point = |packed: &[u64]| {
                let mut state = vec![0; packing.variables()];
                packing.unpack(packed, &mut state);
                IntBox::point(&state)
            };
            merged(states.map(point).collect(), &mut merging)
                .map(|boxes| check_boxes(boxes.len()).map(|()| boxes))
        }
    };
    match boxes {
        Ok(boxes) => boxes,
        Err(StopReason::Time) if is_shared => Err(not_merged(&format!(
            "{:.0} s were not enough, which is the time of the search, or 5 s",
            share.as_secs_f64()
        ))),
        Err(reason) => Err(not_merged(&reason.to_string())),
    }
}

fn not_merged(why: &str) -> String {
    format!("the states that were reached could not be written as boxes: {why}")
}

/// Merges states that have this many words.
fn merged_states<'s, const WORDS: usize>(
    states: impl ExactSizeIterator<Item = &'s [u64]>,
    packing: &StatePacking,
    budget: &mut Budget,
) -> Result<Result<Vec<IntBox>, String>, StopReason> {
    budget.check_memory((states.len() * size_of::<PackedBox<WORDS>>()) as u64)?;
    let mut boxes: Vec<PackedBox<WORDS>> = states.map(PackedBox::point).collect();
    merge(&mut boxes, packing, MOST_BOXES, budget)?;
    let sides = || boxes.iter().map(|packed| packed.sides(packing)).collect();
    Ok(check_boxes(boxes.len()).map(|()| sides()))
}

/// Merges boxes that are adjacent and whose union is a box, along one dimension after the other, until
/// no two of them can be merged.
///
/// # Errors
/// A stop of the budget.
fn merged(mut boxes: Vec<IntBox>, budget: &mut Budget) -> Result<Vec<IntBox>, StopReason> {
    let dimensions = boxes.first().map_or(0, IntBox::dimensions);
    loop {
        let before = boxes.len();
        for d in 0..dimensions {
            budget.poll_clock()?;
            boxes.sort_unstable_by(|a, b| others(a, b, d).then(a[d].lo.cmp(&b[d].lo)));
            boxes.dedup_by(|next, last| {
                let joins =
                    others(next, last, d).is_eq() && last[d].hi.checked_add(1) == Some(next[d].lo);
                if joins {
                    last[d].hi = next[d].hi;
                }
                joins
            });
        }
        if boxes.len() == before {
            return Ok(boxes);
        }
    }
}

/// Compares all sides but one.
fn others(a: &IntBox, b: &IntBox, but: usize) -> Ordering {
    let key = |sides: &IntBox, d: usize| (sides[d].lo, sides[d].hi);
    let different = (0..a.dimensions()).filter(|&d| d != but);
    different
        .map(|d| key(a, d).cmp(&key(b, d)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use policert_engine_api::{CancelFlag, Limits};

    use super::*;

    #[test]
    fn the_union_stays_and_a_whole_box_becomes_one() {
        let mut budget = Budget::new(Limits::default(), CancelFlag::default());
        let points = |keep: fn(i64, i64, i64) -> bool| -> Vec<IntBox> {
            let all = (0..4).flat_map(|x| (0..3).flat_map(move |y| (0..3).map(move |z| (x, y, z))));
            all.filter(|&(x, y, z)| keep(x, y, z))
                .map(|(x, y, z)| IntBox::point(&[x, y, z]))
                .collect()
        };
        assert_eq!(merged(points(|_, _, _| true), &mut budget).unwrap().len(), 1);
        let keep = |x, y, z| (x + 2 * y + z) % 4 != 1;
        let boxes = merged(points(keep), &mut budget).unwrap();
        for x in 0..4 {
            for y in 0..3 {
                for z in 0..3 {
                    let holds = boxes.iter().filter(|b| b.contains(&[x, y, z])).count();
                    assert_eq!(holds, usize::from(keep(x, y, z)));
                }
            }
        }
        assert!(merged(Vec::new(), &mut budget).unwrap().is_empty());
    }
}
