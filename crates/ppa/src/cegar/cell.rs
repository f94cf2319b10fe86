//! Abstract states as sets of states: a box and the literals that it does not say.

use std::sync::Arc;

use policert_model::{Condition, Truth};
use policert_numeric::{IntBox, IntInterval};

use crate::region::Region;

/// The two literals of a predicate: that it is false, that it is true.
pub(crate) type Literals = Arc<[Condition; 2]>;

/// A predicate with a truth value.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    pub literals: Literals,
    pub value: bool,
}

impl Literal {
    /// Returns what it says.
    pub fn condition(&self) -> &Condition {
        &self.literals[usize::from(self.value)]
    }
}

/// The states of a node.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Contains all of them.
    pub sides: IntBox,
    /// The literals that the box does not say yet.
    pub others: Vec<Literal>,
}

impl Cell {
    /// As a region.
    pub fn region(&self) -> Region<'_> {
        let conditions = self.others.iter().map(Literal::condition).collect();
        Region { sides: self.sides.clone(), conditions }
    }

    /// Returns whether a state belongs to it.
    pub fn contains(&self, state: &[i64]) -> bool {
        self.sides.contains(state)
            && self.others.iter().all(|literal| literal.condition().holds(state) == Ok(true))
    }

    /// The states that satisfy a literal too; `None` if there are none, as far as bounds tell.
    pub fn with(&self, literal: Literal) -> Option<Self> {
        let mut region = self.region();
        region = region.restrict([literal.condition()]);
        if region.is_empty() {
            return None;
        }
        let sides = region.sides;
        let mut others = self.others.clone();
        others.push(literal);
        others.retain(|literal| literal.condition().truth(&sides) != Truth::True);
        Some(Self { sides, others })
    }
}

/// Holds what a cell has beyond the cell that it is a part of.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The sides that are smaller, by dimension.
    sides: Box<[(u32, IntInterval)]>,
    /// All literals that the box does not say.
    others: Box<[Literal]>,
}

impl Difference {
    /// Between a cell and a part of it.
    pub fn between(whole: &Cell, part: Cell) -> Self {
        let pairs = whole.sides.sides().iter().zip(part.sides.sides());
        let sides = (0u32..)
            .zip(pairs)
            .filter(|(_, (before, after))| before != after)
            .map(|(d, (_, &after))| (d, after))
            .collect();
        Self { sides, others: part.others.into() }
    }

    /// Makes a cell the part of it.
    pub fn apply(&self, cell: &mut Cell) {
        for &(d, side) in &self.sides {
            cell.sides[d as usize] = side;
        }
    }

    /// All literals that the box does not say.
    pub fn others(&self) -> &[Literal] {
        &self.others
    }
}
