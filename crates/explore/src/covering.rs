//! A set of states as evidence: as few boxes, or where these are many, as a decision diagram.

mod packed_boxes;
mod sorted;

use std::cmp::Ordering;
use std::time::Duration;

use policert_engine_api::{Budget, Invariant, StopReason};
use policert_numeric::{DiagramBuilder, IntBox, IntervalDiagram, TooManyEdges};

use crate::packing::StatePacking;
use packed_boxes::{PackedBox, merge};

/// The greatest number of states that are written down as boxes where they have ranks, or take many words.
const MOST_LOOSE_STATES: usize = 1_000_000;
/// The greatest number of boxes of a diagram for which it is tried whether they merge into few.
const MOST_MERGED: u128 = 1_000_000;
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
    match count > Invariant::MOST_PIECES {
        true => Err(too_many(count)),
        false => Ok(()),
    }
}

fn too_many(boxes: usize) -> String {
    format!(
        "the states that were reached were merged into {boxes} boxes; evidence has {} at most",
        Invariant::MOST_PIECES
    )
}

/// The union of boxes: as few boxes, or a diagram of states in the space, where boxes are too many.
///
/// # Errors
/// Says why there is neither: a stop of the budget, or too large a diagram.
pub fn covering(
    boxes: Vec<IntBox>,
    space: &IntBox,
    budget: &mut Budget,
) -> Result<Invariant, String> {
    let cover = || {
        let boxes = merged(boxes.into_iter().filter(|sides| !sides.is_empty()).collect(), budget)?;
        if boxes.len() <= Invariant::MOST_PIECES {
            return Ok(Ok(Invariant::from(boxes)));
        }
        let Some(builder) = builder(space, (0..space.dimensions()).collect()) else {
            return Ok(Err(too_many(boxes.len())));
        };
        let diagram = builder.of_boxes(&boxes, &mut || budget.poll())?;
        Ok(as_evidence(diagram, boxes.len(), space))
    };
    cover().unwrap_or_else(|reason: StopReason| Err(not_merged(&reason.to_string())))
}

/// A builder of diagrams in a space, which has to be bounded.
fn builder(space: &IntBox, order: Vec<usize>) -> Option<DiagramBuilder> {
    let is_finite = space.is_bounded() && !space.is_empty();
    is_finite.then(|| DiagramBuilder::new(space.clone(), order, Invariant::MOST_EDGES))
}

/// A diagram of many boxes as evidence.
fn as_evidence(
    diagram: Result<Option<IntervalDiagram>, TooManyEdges>,
    boxes: usize,
    space: &IntBox,
) -> Result<Invariant, String> {
    match diagram {
        Ok(Some(diagram)) => Ok(diagram.into()),
        Ok(None) => Ok(Invariant::from(vec![space.clone()])),
        Err(TooManyEdges) => Err(too_large(boxes)),
    }
}

fn too_large(boxes: usize) -> String {
    format!(
        "the states that were reached make {boxes} boxes, and a decision diagram of more than {} edges, \
         which is the most of evidence",
        Invariant::MOST_EDGES
    )
}

/// States as few boxes, for evidence; or why not.
pub(crate) fn few_boxes(points: Vec<IntBox>, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
    let boxes = merged(points, budget).map_err(|reason| not_merged(&reason.to_string()))?;
    check_boxes(boxes.len()).map(|()| boxes)
}

/// The states that a search of this budget found, packed, as few boxes or as a diagram; or why not.
///
/// Besides the states it takes 8 bytes for each of their words, 24 without a diagram, and about as long as the search.
pub(crate) fn covering_of_states<'s>(
    states: impl ExactSizeIterator<Item = &'s [u64]>,
    packing: &StatePacking,
    space: &IntBox,
    budget: &mut Budget,
) -> Result<Invariant, String> {
    let share = budget.elapsed().max(LEAST_TIME);
    let is_shared = budget.remaining().is_none_or(|left| share < left);
    let mut merging = if is_shared { budget.within(Some(share)) } else { budget.fork() };
    let covering = match packing.words() {
        1 => packed_states::<1>(states, packing, space, &mut merging),
        2 => packed_states::<2>(states, packing, space, &mut merging),
        3 => packed_states::<3>(states, packing, space, &mut merging),
        4 => packed_states::<4>(states, packing, space, &mut merging),
        _ => {
            check_states("engine explicit", states.len())?;
            let point = |packed: &[u64]| {
                let mut state = vec![0; packing.variables()];
                packing.unpack(packed, &mut state);
                IntBox::point(&state)
            };
            return covering(states.map(point).collect(), space, &mut merging);
        }
    };
    match covering {
        Ok(covering) => covering,
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

/// States that have this many words as boxes, or as a diagram.
///
/// A diagram takes one sort, a merge as many as there are variables: what is merged are the boxes of the diagram,
/// which are fewer than the states.
fn packed_states<'s, const WORDS: usize>(
    states: impl ExactSizeIterator<Item = &'s [u64]>,
    packing: &StatePacking,
    space: &IntBox,
    budget: &mut Budget,
) -> Result<Result<Invariant, String>, StopReason> {
    budget.check_memory((states.len() * size_of::<[u64; WORDS]>()) as u64)?;
    let reversed = |packed: &[u64]| {
        let mut words: [u64; WORDS] = packed_boxes::words(packed);
        words.reverse();
        words
    };
    let mut packed: Vec<[u64; WORDS]> = states.map(reversed).collect();
    sorted::sort(&mut packed, &Ord::cmp, budget)?;
    let diagram = match diagram_of(&packed, packing, space, budget)? {
        Some(diagram) if diagram.boxes() > MOST_MERGED => return Ok(Ok(diagram.into())),
        diagram => diagram,
    };
    let mut boxes: Vec<PackedBox<WORDS>> = match &diagram {
        None => {
            budget.check_memory((packed.len() * size_of::<PackedBox<WORDS>>()) as u64)?;
            packed.iter().map(|words| PackedBox::point(&reversed(words))).collect()
        }
        Some(diagram) => {
            let mut boxes = Vec::new();
            diagram.for_each_box(&mut |sides| {
                boxes.push(PackedBox::of_sides(sides, packing));
                budget.poll()
            })?;
            boxes
        }
    };
    drop(packed);
    merge(&mut boxes, packing, Invariant::MOST_PIECES, budget)?;
    let count = boxes.len();
    if count > Invariant::MOST_PIECES {
        let why = || if space.is_bounded() { too_large(count) } else { too_many(count) };
        return Ok(diagram.map(Invariant::from).ok_or_else(why));
    }
    let sides: Vec<IntBox> = boxes.iter().map(|packed| packed.sides(packing)).collect();
    Ok(Ok(sides.into()))
}

/// The diagram of packed states in order, the last word of each first; `None` if the space is not bounded, the diagram
/// is too large, or all states are in it.
fn diagram_of<const WORDS: usize>(
    states: &[[u64; WORDS]],
    packing: &StatePacking,
    space: &IntBox,
    budget: &mut Budget,
) -> Result<Option<IntervalDiagram>, StopReason> {
    let order = packing.narrowest_first();
    let Some(mut builder) = builder(space, order.clone()) else { return Ok(None) };
    let (mut state, mut point) = (vec![0; packing.variables()], vec![0; order.len()]);
    for words in states {
        budget.poll()?;
        let mut words = *words;
        words.reverse();
        packing.unpack(&words, &mut state);
        for (value, &d) in point.iter_mut().zip(&order) {
            *value = state[d];
        }
        if builder.push(&point).is_err() {
            return Ok(None);
        }
    }
    Ok(builder.finish().unwrap_or(None))
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
    use policert_numeric::IntInterval;

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

    #[test]
    fn many_scattered_states_are_a_diagram() {
        let side = |hi| IntInterval::new(0, hi);
        let space = IntBox::new(vec![side(1), side(99), IntInterval::new(-3, 1996), side(5)]);
        // No two of them are neighbours, and those of both values of the first variable are alike.
        let all =
            (0..2i64).flat_map(|a| (0..100).flat_map(move |b| (-3..1997).map(move |c| [a, b, c])));
        let is_in = |b: i64, c: i64| (b + c).rem_euclid(2) == 0 || (b * c) % 7 == 3;
        let states = all.flat_map(|[a, b, c]| [0, 2].map(|d| [a, b, c, d + c.rem_euclid(2)]));
        let states: Vec<[i64; 4]> = states.filter(|[_, b, c, _]| is_in(*b, *c)).collect();
        let packing = StatePacking::new(&space);
        let mut packed = vec![0; packing.words()];
        let mut words: Vec<Vec<u64>> = Vec::new();
        for state in &states {
            packing.pack(state, &mut packed);
            words.push(packed.clone());
        }
        let mut budget = Budget::new(Limits::default(), CancelFlag::default());
        let packed = words.iter().map(Vec::as_slice);
        let points = states.iter().map(|state| IntBox::point(state)).collect();
        for reached in [
            covering_of_states(packed, &packing, &space, &mut budget).expect("a diagram"),
            covering(points, &space, &mut budget).expect("a diagram"),
        ] {
            assert!(reached.pieces().is_empty());
            let diagram = reached.diagram().expect("more boxes than may be listed");
            assert!(diagram.edges() < Invariant::MOST_EDGES);
            let mut count = 0u128;
            let counted = diagram.for_each_box(&mut |sides| {
                count += sides.count().expect("finite");
                Ok::<_, ()>(())
            });
            counted.expect("no error");
            assert_eq!(count, states.len() as u128);
            assert!(states.iter().all(|state| reached.contains(state)));
        }
    }
}
