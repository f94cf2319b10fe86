//! An index of boxes: which of them may contain a point or a box.

use policert_numeric::{IntBox, IntInterval};
use smallvec::SmallVec;

/// The most cells that a variable's domain is divided into.
const CELLS: u64 = 64;

/// For each variable and each cell of its domain the boxes that reach into the cell, as bits.
#[derive(Clone, Debug)]
pub(super) struct BoxIndex {
    axes: Vec<Axis>,
    /// Number of words that have been in use.
    words: usize,
}

/// The cells of a variable.
#[derive(Clone, Debug)]
struct Axis {
    domain: IntInterval,
    /// Values of a cell.
    width: u64,
    /// By cell: the boxes, 64 in a word.
    cells: Vec<Vec<u64>>,
}

impl Axis {
    fn new(domain: IntInterval) -> Self {
        let values = domain.lo.abs_diff(domain.hi).saturating_add(1);
        let width = values.div_ceil(CELLS).max(1);
        let cells = usize::try_from(values.div_ceil(width)).unwrap_or(0);
        Self { domain, width, cells: vec![Vec::new(); cells] }
    }

    /// The cell of a value; those outside of the domain count as its ends.
    fn cell(&self, value: i64) -> usize {
        let inside = value.min(self.domain.hi).max(self.domain.lo);
        let cell = inside.abs_diff(self.domain.lo) / self.width;
        usize::try_from(cell).unwrap_or(0).min(self.cells.len().saturating_sub(1))
    }
}

impl BoxIndex {
    pub fn new(domains: &IntBox) -> Self {
        Self { axes: domains.sides().iter().map(|&side| Axis::new(side)).collect(), words: 0 }
    }

    /// Adds a box under a number.
    pub fn insert(&mut self, number: usize, sides: &IntBox) {
        let (word, bit) = (number / 64, 1 << (number % 64));
        self.words = self.words.max(word + 1);
        for (axis, side) in self.axes.iter_mut().zip(sides.sides()) {
            let (first, last) = (axis.cell(side.lo), axis.cell(side.hi));
            for cell in &mut axis.cells[first..=last] {
                if cell.len() <= word {
                    cell.resize(word + 1, 0);
                }
                cell[word] |= bit;
            }
        }
    }

    /// Removes the box of a number.
    pub fn remove(&mut self, number: usize) {
        let (word, bit) = (number / 64, 1 << (number % 64));
        for cell in self.axes.iter_mut().flat_map(|axis| &mut axis.cells) {
            if let Some(bits) = cell.get_mut(word) {
                *bits &= !bit;
            }
        }
    }

    /// The greatest number, with `accepts`, of a box that may contain all points between two
    /// corners: every box that does is asked about, and some that do not.
    pub fn find(
        &self,
        corners: impl Fn(usize) -> (i64, i64),
        mut accepts: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let rows = self.axes.iter().enumerate().flat_map(|(d, axis)| {
            let (low, high) = corners(d);
            let (first, last) = (axis.cell(low), axis.cell(high));
            let other = (last != first).then(|| axis.cells[last].as_slice());
            std::iter::once(axis.cells[first].as_slice()).chain(other)
        });
        let rows: SmallVec<[&[u64]; 64]> = rows.collect();
        for word in (0..self.words).rev() {
            let mut bits = u64::MAX;
            for row in &rows {
                bits &= row.get(word).copied().unwrap_or(0);
                if bits == 0 {
                    break;
                }
            }
            while bits != 0 {
                let bit = 63 - bits.leading_zeros() as usize;
                bits &= !(1 << bit);
                let number = word * 64 + bit;
                if accepts(number) {
                    return Some(number);
                }
            }
        }
        None
    }
}
