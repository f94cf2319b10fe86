//! From which state each state was found, in little more than a byte for each.

use crate::state_table::StateId;

/// By state, in the order of finding: the state from which it was found.
///
/// States are expanded in the order of their ids, but for some that are expanded once more later. So a
/// parent is written as its distance from the parent before; those that do not fit stand apart.
#[derive(Debug, Default)]
pub(super) struct Parents {
    /// Distances, or [`START`], or [`APART`].
    steps: Vec<u8>,
    /// The parent that the distance of every [`BLOCK`]th state counts from.
    bases: Vec<u32>,
    /// States with their parents, by the states' ids.
    apart: Vec<(u32, u32)>,
    /// The last parent.
    last: u32,
}

const BLOCK: usize = 64;
/// The state is a start state.
const START: u8 = u8::MAX;
/// The parent stands apart.
const APART: u8 = u8::MAX - 1;

impl Parents {
    /// Adds the next state; `None` for a start state.
    #[inline]
    pub(super) fn push(&mut self, parent: Option<StateId>) {
        if self.steps.len().is_multiple_of(BLOCK) {
            self.bases.push(self.last);
        }
        let step = parent.map_or(START, |StateId(parent)| {
            let step = parent.checked_sub(self.last).and_then(|step| u8::try_from(step).ok());
            self.last = parent;
            step.filter(|&step| step < APART).unwrap_or(APART)
        });
        if step == APART
            && let Ok(id) = u32::try_from(self.steps.len())
        {
            self.apart.push((id, self.last));
        }
        self.steps.push(step);
    }

    /// The state from which a state was found; `None` for a start state.
    pub(super) fn of(&self, StateId(id): StateId) -> Option<StateId> {
        let at = id as usize;
        let first = at - at % BLOCK;
        if self.steps[at] == START {
            return None;
        }
        let mut parent = self.bases[at / BLOCK];
        let block = &self.steps[first..=at];
        let mut apart = self.apart.partition_point(|&(state, _)| (state as usize) < first);
        for &step in block {
            match step {
                START => {}
                APART => {
                    parent = self.apart[apart].1;
                    apart += 1;
                }
                step => parent += u32::from(step),
            }
        }
        Some(StateId(parent))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parents_come_back(
            parents in prop::collection::vec(
                prop_oneof![
                    3 => (0u32..3).prop_map(|step| (1, step)),
                    1 => (250u32..260).prop_map(|step| (1, step)),
                    1 => (0u32..5000).prop_map(|parent| (2, parent)),
                    1 => Just((0, 0)),
                ],
                0..400,
            ),
        ) {
            let (mut written, mut expected, mut last) = (Parents::default(), Vec::new(), 0);
            for (kind, number) in parents {
                let parent = match kind {
                    0 => None,
                    1 => Some(last + number),
                    _ => Some(number),
                };
                last = parent.unwrap_or(last);
                written.push(parent.map(StateId));
                expected.push(parent.map(StateId));
            }
            for (id, expected) in (0u32..).zip(expected) {
                prop_assert_eq!(written.of(StateId(id)), expected);
            }
        }
    }
}
