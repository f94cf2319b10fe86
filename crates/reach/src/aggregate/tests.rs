//! The relations, and merging with and without index.

use policert_engine_api::{CancelFlag, Limits};
use proptest::prelude::*;

use super::*;

fn bounds(numbers: &[f64]) -> Vec<Interval> {
    numbers.chunks(2).map(|pair| Interval::new(pair[0], pair[1]).expect("ordered")).collect()
}

/// Merges without limits.
fn merge(boxes: &mut Vec<Interval>, keep: usize, kinds: &mut Vec<bool>, distances: &[f64]) {
    let adjacency = Adjacency { distances, relations: Relations::Meant };
    let (mut work, mut budget) = (Aggregation::default(), Budget::unlimited());
    aggregate(boxes, keep, kinds, adjacency, &mut work, &mut budget).expect("no limits");
}

#[test]
fn merging_looks_at_its_budget() {
    // All pairs are compared: each box is as far from the next one as the first variable is wide.
    let mut boxes: Vec<Interval> =
        (0..4000).flat_map(|k| [Interval::ball(0.0, 1.0), Interval::point(f64::from(k))]).collect();
    let cancel = CancelFlag::default();
    let mut budget = Budget::new(Limits::default(), cancel.clone());
    cancel.raise();
    let adjacency = Adjacency { distances: &[0.5, 0.5], relations: Relations::Meant };
    let mut work = Aggregation::default();
    let merged = aggregate(&mut boxes, 0, &mut Vec::new(), adjacency, &mut work, &mut budget);
    assert_eq!(merged, Err(StopReason::Interrupted));
}

#[test]
fn the_example_of_the_paper() {
    let mut boxes = bounds(&[
        0.08, 0.16, 0.3, 0.4, 0.17, 0.25, 0.32, 0.42, 0.19, 0.27, 0.07, 0.2, 0.2, 0.28, 0.1, 0.21,
    ]);
    // Example 3 has differences of exactly 0.02, which doubles do not keep.
    let h = [0.020_000_1, 0.030_000_1];
    merge(&mut boxes, 0, &mut Vec::new(), &h);
    assert_eq!(boxes, bounds(&[0.08, 0.25, 0.3, 0.42, 0.19, 0.28, 0.07, 0.21]));
}

#[test]
fn relations_as_meant_and_as_written() {
    let far = (bounds(&[0.0, 1.0, 0.0, 1.0]), bounds(&[5.0, 6.0, 0.0, 1.0]));
    let h = [0.1, 0.1];
    assert!(!Relations::Meant.adjacent(&far.0, &far.1, &h));
    assert!(Relations::AsWritten.adjacent(&far.0, &far.1, &h));
    let crossing = (bounds(&[0.0, 3.0, 1.0, 2.0]), bounds(&[1.0, 2.0, 0.0, 3.0]));
    assert!(!Relations::Meant.adjacent(&crossing.0, &crossing.1, &h));
    assert!(Relations::AsWritten.adjacent(&crossing.0, &crossing.1, &h));
    let inside = (bounds(&[0.0, 3.0, 0.0, 3.0]), bounds(&[1.0, 2.0, 1.0, 2.0]));
    assert!(Relations::Meant.adjacent(&inside.0, &inside.1, &h));
    let gap = (bounds(&[0.0, 1.0, 0.0, 1.0]), bounds(&[1.05, 2.0, 0.05, 1.0]));
    assert!(Relations::Meant.adjacent(&gap.0, &gap.1, &h));
    assert!(!Relations::Meant.adjacent(&gap.0, &gap.1, &[0.01, 0.1]));
}

fn some_boxes() -> impl Strategy<Value = Vec<Interval>> {
    let side = (0i32..60, 0i32..8).prop_map(|(lo, width)| {
        let lo = f64::from(lo) / 8.0;
        Interval::new(lo, lo + f64::from(width) / 8.0).expect("ordered")
    });
    prop::collection::vec(side, 0..400).prop_map(|mut sides| {
        sides.truncate(sides.len() / 2 * 2);
        sides
    })
}

/// Groups by the relations alone, with all pairs.
fn reference(boxes: &[Interval], h: &[f64]) -> Vec<Interval> {
    let count = boxes.len() / 2;
    let mut group: Vec<usize> = (0..count).collect();
    loop {
        let mut changed = false;
        for a in 0..count {
            for b in 0..count {
                let of = |i: usize| &boxes[2 * i..2 * i + 2];
                if group[b] < group[a] && Relations::Meant.adjacent(of(a), of(b), h) {
                    group[a] = group[b];
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut result = Vec::new();
    for a in (0..count).filter(|&a| group[a] == a) {
        for i in 0..2 {
            let members = (0..count).filter(|&b| group[b] == a).map(|b| boxes[2 * b + i]);
            result.extend(members.reduce(Interval::hull));
        }
    }
    result
}

proptest! {
    #[test]
    fn groups_are_those_of_all_pairs(boxes in some_boxes(), h in 0u32..3) {
        let h = [f64::from(h) / 8.0, 0.125];
        let mut merged = boxes.clone();
        let mut kinds = Vec::new();
        merge(&mut merged, 0, &mut kinds, &h);
        prop_assert_eq!(&merged, &reference(&boxes, &h));
        for one in boxes.chunks(2) {
            let covered = merged
                .chunks(2)
                .any(|big| big.iter().zip(one).all(|(big, one)| big.includes(one)));
            prop_assert!(covered);
        }
    }
}
