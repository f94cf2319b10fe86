//! A set of states as few boxes.

use std::cmp::Ordering;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::IntBox;

/// The greatest number of states that are written down as boxes.
const MOST_STATES: usize = 1_000_000;
/// The greatest number of boxes.
const MOST_BOXES: usize = 100_000;

/// Says why states are too many to be evidence, if they are.
pub(crate) fn check_states(engine: &str, count: usize) -> Result<(), String> {
    match count > MOST_STATES {
        true => Err(format!(
            "{engine} reached {count} states, of which it keeps {MOST_STATES} at most as evidence"
        )),
        false => Ok(()),
    }
}

/// Says why boxes are too many to be evidence, if they are.
pub(crate) fn check_boxes(count: usize) -> Result<(), String> {
    match count > MOST_BOXES {
        true => Err(format!(
            "the states that were reached make {count} boxes; evidence has {MOST_BOXES} at most"
        )),
        false => Ok(()),
    }
}

/// States as few boxes, for evidence; or why not.
pub(crate) fn few_boxes(points: Vec<IntBox>, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
    let boxes = merged(points, budget).map_err(|reason| {
        format!("the states that were reached could not be written as boxes: {reason}")
    })?;
    check_boxes(boxes.len()).map(|()| boxes)
}

/// Merges disjoint boxes whose union is a box, along one dimension after the other, until no two of
/// them can be merged.
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
