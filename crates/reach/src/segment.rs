//! `segment(I, φ)`: the parts of a box that lie in one cell each (BBReach, Section 4.2).
//!
//! | paper | here |
//! |---|---|
//! | box I | a slice of ranges |
//! | φ | [`Grid`] |
//! | B_I | the parts handed to `visit` |
//!
//! Deviations: D1: boxes are closed and cells half-open, so a box that touches the lower edge of a
//! cell visits it, with a part of width 0; the published code compares rounded sums of edges.

use policert_control_loop::{Cell, ClosedRange, Grid};

/// Calls `visit` with each cell that a box meets, and the box's part in it (outwards rounded); the
/// last variable changes fastest. Whether the box is inside the grid; otherwise no cell is visited.
///
/// # Errors
/// That of `visit`.
#[inline]
pub fn segment<R: ClosedRange, E>(
    state: &[R],
    grid: &Grid,
    part: &mut Vec<R>,
    mut visit: impl FnMut(&[u32], &[R]) -> Result<(), E>,
) -> Result<bool, E> {
    let mut first = Cell::new();
    let mut last = Cell::new();
    let mut single = true;
    for (range, axis) in state.iter().zip(grid.axes()) {
        let Some((from, to)) = axis.cells_of(range) else { return Ok(false) };
        // Axes have far fewer cells.
        first.push(u32::try_from(from).unwrap_or(u32::MAX));
        last.push(u32::try_from(to).unwrap_or(u32::MAX));
        single &= from == to;
    }
    if single {
        visit(&first, state)?;
        return Ok(true);
    }
    let mut cell = first.clone();
    loop {
        part.clear();
        for (i, (range, axis)) in state.iter().zip(grid.axes()).enumerate() {
            part.push(if first[i] == last[i] {
                range.clone()
            } else {
                let k = cell[i] as usize;
                range.clipped(axis.edge(k), axis.edge(k + 1))
            });
        }
        // Variables that the controller does not read have no cells.
        part.extend_from_slice(&state[cell.len()..]);
        visit(&cell, part)?;
        // The next cell, as an odometer counts.
        let mut i = cell.len();
        loop {
            if i == 0 {
                return Ok(true);
            }
            i -= 1;
            if cell[i] < last[i] {
                cell[i] += 1;
                break;
            }
            cell[i] = first[i];
        }
    }
}
