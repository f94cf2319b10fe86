//! Boxes of packed states: two corners each, so that many states can be merged in little memory.

use std::cmp::Ordering;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::{IntBox, IntInterval};

use super::sorted::sort;
use crate::packing::{Place, StatePacking};

/// A box by the packed states in its corners of least and of greatest values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PackedBox<const WORDS: usize> {
    lo: [u64; WORDS],
    hi: [u64; WORDS],
}

impl<const WORDS: usize> PackedBox<WORDS> {
    /// The box of one state, which has this many words.
    pub(super) fn point(packed: &[u64]) -> Self {
        let corner = words(packed);
        Self { lo: corner, hi: corner }
    }

    /// The box with these sides, which lie in their domains.
    pub(super) fn of_sides(sides: &IntBox, packing: &StatePacking) -> Self {
        let corner = |value: fn(&IntInterval) -> i64| {
            let values: Vec<i64> = sides.sides().iter().map(value).collect();
            let mut words = [0; WORDS];
            packing.pack(&values, &mut words);
            words
        };
        Self { lo: corner(|side| side.lo), hi: corner(|side| side.hi) }
    }

    /// The box with its sides.
    pub(super) fn sides(&self, packing: &StatePacking) -> IntBox {
        let values = |corner: &[u64]| {
            let mut state = vec![0; packing.variables()];
            packing.unpack(corner, &mut state);
            state
        };
        let ends = values(&self.lo).into_iter().zip(values(&self.hi));
        IntBox::new(ends.map(|(lo, hi)| IntInterval::new(lo, hi)).collect())
    }

    /// Compares all sides but one.
    #[inline]
    fn others(&self, other: &Self, but: Place) -> Ordering {
        let rest = |word: usize, bits: u64| if word == but.word { bits & !but.mask } else { bits };
        let corner = |a: &[u64; WORDS], b: &[u64; WORDS]| {
            let pairs = a.iter().zip(b).enumerate();
            pairs
                .map(|(word, (&a, &b))| rest(word, a).cmp(&rest(word, b)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        corner(&self.lo, &other.lo).then_with(|| corner(&self.hi, &other.hi))
    }

    /// Compares all sides but one, then where that one begins.
    #[inline]
    fn order(&self, other: &Self, but: Place) -> Ordering {
        let begin = |of: &Self| of.lo[but.word] & but.mask;
        self.others(other, but).then_with(|| begin(self).cmp(&begin(other)))
    }

    /// Returns whether a box goes on where this one ends, with the same other sides.
    #[inline]
    fn is_continued_by(&self, next: &Self, along: Place) -> bool {
        let unit = along.mask & along.mask.wrapping_neg();
        let end = (self.hi[along.word] & along.mask).checked_add(unit);
        end == Some(next.lo[along.word] & along.mask) && self.others(next, along).is_eq()
    }
}

/// The words of a packed state, which has this many.
pub(super) fn words<const WORDS: usize>(packed: &[u64]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    words.copy_from_slice(packed);
    words
}

/// Merges disjoint boxes whose union is a box, along one variable after the other, until no two of
/// them can be merged. More than `enough` are given up after a round that did not halve them.
///
/// # Errors
/// A stop of the budget.
pub(super) fn merge<const WORDS: usize>(
    boxes: &mut Vec<PackedBox<WORDS>>,
    packing: &StatePacking,
    enough: usize,
    budget: &mut Budget,
) -> Result<(), StopReason> {
    let places: Vec<Place> = packing.bounded_places().collect();
    loop {
        let before = boxes.len();
        for &along in &places {
            sort(boxes, &|a, b| a.order(b, along), budget)?;
            boxes.dedup_by(|next, last| {
                let joins = last.is_continued_by(next, along);
                if joins {
                    let end = next.hi[along.word] & along.mask;
                    let word = &mut last.hi[along.word];
                    *word = *word & !along.mask | end;
                }
                joins
            });
        }
        let is_hopeless = boxes.len() > enough.max(before / 2);
        if boxes.len() == before || is_hopeless {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use policert_engine_api::{CancelFlag, Limits};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_union_stays(
            kept in prop::collection::vec(any::<bool>(), 4 * 3 * 5),
            is_spread in any::<bool>(),
        ) {
            // The wide variable takes a word of its own.
            let wide = if is_spread { IntInterval::new(0, i64::MAX - 1) } else { IntInterval::new(-1, 2) };
            let sides = vec![wide, IntInterval::new(7, 9), IntInterval::ALL, IntInterval::new(-2, 2)];
            let packing = StatePacking::new(&IntBox::new(sides));
            let first = if is_spread { i64::MAX - 4 } else { -1 };
            let all = (0..4).flat_map(|x| (7..10).flat_map(move |y| (-2..3).map(move |z| [first + x, y, -1, z])));
            let all: Vec<[i64; 4]> = all.collect();
            let states = all.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(state, _)| state);
            let mut budget = Budget::new(Limits::default(), CancelFlag::default());
            let boxes = match packing.words() {
                2 => boxes::<2>(states, &packing, &mut budget),
                3 => boxes::<3>(states, &packing, &mut budget),
                words => panic!("{words} words"),
            };
            for (state, kept) in all.iter().zip(&kept) {
                prop_assert_eq!(boxes.iter().filter(|sides| sides.contains(state)).count(), usize::from(*kept));
            }
            let count: u128 = boxes.iter().filter_map(IntBox::count).sum();
            prop_assert_eq!(count, kept.iter().filter(|kept| **kept).count() as u128);
            if kept.iter().all(|kept| *kept) {
                prop_assert_eq!(boxes.len(), 1);
            }
        }
    }

    fn boxes<'s, const WORDS: usize>(
        states: impl Iterator<Item = &'s [i64; 4]>,
        packing: &StatePacking,
        budget: &mut Budget,
    ) -> Vec<IntBox> {
        let point = |state: &[i64; 4]| {
            let mut packed = [0; WORDS];
            packing.pack(state, &mut packed);
            PackedBox::<WORDS>::point(&packed)
        };
        let mut boxes: Vec<_> = states.map(point).collect();
        merge(&mut boxes, packing, usize::MAX, budget).unwrap();
        boxes.iter().map(|packed| packed.sides(packing)).collect()
    }

    #[test]
    fn long_lists_are_sorted() {
        let mut budget = Budget::new(Limits::default(), CancelFlag::default());
        let mut items: Vec<u64> = (0..300_000).map(|i| i * 7919 % 300_007).collect();
        sort(&mut items, &Ord::cmp, &mut budget).unwrap();
        assert!(items.is_sorted());
        let mut stopped = Budget::new(Limits::default(), CancelFlag::default());
        stopped.cancel_flag().raise();
        assert_eq!(sort(&mut items, &Ord::cmp, &mut stopped), Err(StopReason::Interrupted));
    }
}
