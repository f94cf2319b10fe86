//! Regions: sets of concrete states given by a box and conditions.

use std::borrow::Borrow;

use policert_numeric::{IntBox, IntInterval};

use crate::{Condition, Truth};

/// The points of a box that satisfy all conditions. Dimensions are the state variables, then
/// the free choices of a destination where it has any. Conditions are references, or shared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region<C> {
    /// Contains the whole region, tightened; empty only if the region is.
    pub sides: IntBox,
    /// The conditions that the box does not imply.
    pub conditions: Vec<C>,
}

impl<C: Borrow<Condition> + Clone> Region<C> {
    /// The points of `sides` that satisfy all of `conditions`.
    #[must_use]
    pub fn new(sides: IntBox, conditions: impl IntoIterator<Item = C>) -> Self {
        let mut region = Self { sides, conditions: Vec::new() };
        region.add(conditions);
        region
    }

    /// The part of the region that satisfies `conditions` too.
    #[must_use]
    pub fn restrict(&self, conditions: impl IntoIterator<Item = C>) -> Self {
        let mut region = self.clone();
        region.add(conditions);
        region
    }

    /// The same region with further dimensions.
    #[must_use]
    pub fn extend(&self, dimensions: impl IntoIterator<Item = IntInterval>) -> Self {
        let mut region = self.clone();
        for side in dimensions {
            region.sides.push(side);
        }
        region
    }

    /// Returns whether it is seen to be empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }

    /// Returns whether every point of the box belongs to it.
    #[must_use]
    pub fn is_box(&self) -> bool {
        self.conditions.is_empty()
    }

    fn add(&mut self, conditions: impl IntoIterator<Item = C>) {
        let before = self.conditions.len();
        let mut changed = false;
        for shared in conditions {
            let condition: &Condition = shared.borrow();
            match condition.truth(&self.sides) {
                Truth::True => continue,
                Truth::False => return self.make_empty(),
                Truth::Maybe => {}
            }
            changed |= condition.tighten(&mut self.sides);
            if self.sides.is_empty() {
                return self.make_empty();
            }
            if condition.truth(&self.sides) != Truth::True {
                self.conditions.push(shared);
            }
        }
        if !changed && before == self.conditions.len() {
            return;
        }
        // Conditions tighten the box for each other, up to a fixpoint.
        while changed && !self.conditions.is_empty() {
            changed = false;
            let mut i = 0;
            while i < self.conditions.len() {
                let condition: &Condition = self.conditions[i].borrow();
                match condition.truth(&self.sides) {
                    Truth::True => {
                        self.conditions.remove(i);
                        continue;
                    }
                    Truth::False => return self.make_empty(),
                    Truth::Maybe => {}
                }
                changed |= condition.tighten(&mut self.sides);
                if self.sides.is_empty() {
                    return self.make_empty();
                }
                i += 1;
            }
        }
    }

    fn make_empty(&mut self) {
        self.conditions.clear();
        if self.sides.dimensions() > 0 && !self.sides.is_empty() {
            self.sides[0] = IntInterval::new(1, 0);
        }
    }
}
