//! The outline of a union of rectangles, on a raster.

use std::collections::BTreeMap;

use super::view::Sides;

/// Columns and rows of the raster of a whole view.
const COLUMNS: f64 = 1400.0;
const ROWS: f64 = 1000.0;

/// A corner of the raster.
type Corner = (usize, usize);

/// The closed lines around the union of rectangles that lie in a view, up to one width of the
/// raster; they contain the rectangles.
pub(super) fn outlines(rectangles: &[Sides], view: &Sides) -> Vec<Vec<(f64, f64)>> {
    let width = [(view[1] - view[0]) / COLUMNS, (view[3] - view[2]) / ROWS];
    let index = |value: f64, at: usize, up: bool| {
        let position = (value - view[at * 2]) / width[at];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates; the limit follows"
        )]
        let index = if up { position.ceil() } else { position.floor() } as usize;
        index.min(if at == 0 { 1400 } else { 1000 })
    };
    let cells: Vec<[usize; 4]> = rectangles
        .iter()
        .map(|r| {
            let (left, bottom) = (index(r[0], 0, false), index(r[2], 1, false));
            [left, index(r[1], 0, true).max(left + 1), bottom, index(r[3], 1, true).max(bottom + 1)]
        })
        .collect();
    let loops = Raster::new(&cells).map(|raster| raster.loops()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "at most 1400")]
    let place = |(i, j): Corner| (view[0] + i as f64 * width[0], view[2] + j as f64 * width[1]);
    loops.into_iter().map(|corners| corners.into_iter().map(place).collect()).collect()
}

/// The cells of a raster that rectangles cover; with an empty border around.
struct Raster {
    left: usize,
    bottom: usize,
    columns: usize,
    covered: Vec<bool>,
}

impl Raster {
    fn new(cells: &[[usize; 4]]) -> Option<Self> {
        let left = cells.iter().map(|c| c[0]).min()?;
        let bottom = cells.iter().map(|c| c[2]).min()?;
        let columns = cells.iter().map(|c| c[1]).max()? - left + 2;
        let rows = cells.iter().map(|c| c[3]).max()? - bottom + 2;
        // How many more rectangles begin at a cell than end before it; summed up along both axes.
        let mut count = vec![0i64; columns * rows];
        for c in cells {
            let at = |x: usize, y: usize| (y - bottom + 1) * columns + x - left + 1;
            for (x, y, change) in
                [(c[0], c[2], 1), (c[1], c[3], 1), (c[1], c[2], -1), (c[0], c[3], -1)]
            {
                if x - left + 1 < columns && y - bottom + 1 < rows {
                    count[at(x, y)] += change;
                }
            }
        }
        for at in 1..count.len() {
            if at % columns != 0 {
                count[at] += count[at - 1];
            }
        }
        for at in columns..count.len() {
            count[at] += count[at - columns];
        }
        let covered = count.into_iter().map(|count| count > 0).collect();
        Some(Self { left, bottom, columns, covered })
    }

    fn is_covered(&self, at: usize) -> bool {
        self.covered.get(at).copied().unwrap_or(false)
    }

    /// The lines around what is covered, with it on their left side; the last corner is the first.
    fn loops(&self) -> Vec<Vec<Corner>> {
        let mut edges: BTreeMap<Corner, Vec<Corner>> = BTreeMap::new();
        let columns = self.columns;
        for at in (0..self.covered.len()).filter(|at| self.covered[*at]) {
            let (x, y) = (at % columns, at / columns);
            for (neighbour, from, to) in [
                (at.wrapping_sub(columns), (x, y), (x + 1, y)),
                (at + 1, (x + 1, y), (x + 1, y + 1)),
                (at + columns, (x + 1, y + 1), (x, y + 1)),
                (at.wrapping_sub(1), (x, y + 1), (x, y)),
            ] {
                if !self.is_covered(neighbour) {
                    edges.entry(from).or_default().push(to);
                }
            }
        }
        let mut loops = Vec::new();
        while let Some((&start, _)) = edges.first_key_value() {
            let mut corners = vec![start];
            let mut at = start;
            while let Some(next) = edges.get_mut(&at).and_then(Vec::pop) {
                if edges.get(&at).is_some_and(Vec::is_empty) {
                    edges.remove(&at);
                }
                if let [.., before, last] = corners[..]
                    && (before.0 == next.0 || before.1 == next.1)
                    && (before.0 == last.0) == (before.0 == next.0)
                {
                    corners.pop();
                }
                corners.push(next);
                at = next;
                if at == start {
                    break;
                }
            }
            // The border is one cell wide.
            let place = |(x, y): Corner| {
                ((x + self.left).saturating_sub(1), (y + self.bottom).saturating_sub(1))
            };
            loops.push(corners.into_iter().map(place).collect());
        }
        loops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Sides = [0.0, 1400.0, 0.0, 1000.0];

    fn bounds(line: &[(f64, f64)]) -> ((f64, f64), (f64, f64)) {
        let fold = |value: fn(&(f64, f64)) -> f64| {
            line.iter().map(value).fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)))
        };
        (fold(|p| p.0), fold(|p| p.1))
    }

    #[test]
    fn one_rectangle_is_its_own_outline() {
        let lines = outlines(&[[3.0, 5.0, 7.0, 8.0]], &VIEW);
        assert_eq!(lines, [[(3.0, 7.0), (5.0, 7.0), (5.0, 8.0), (3.0, 8.0), (3.0, 7.0)].to_vec()]);
    }

    #[test]
    fn what_overlaps_has_one_outline() {
        let both = outlines(&[[0.0, 4.0, 0.0, 4.0], [2.0, 6.0, 2.0, 6.0]], &VIEW);
        assert_eq!(both.len(), 1);
        assert_eq!(both[0].len(), 9);
        assert_eq!(bounds(&both[0]), ((0.0, 6.0), (0.0, 6.0)));
        let apart = outlines(&[[0.0, 4.0, 0.0, 4.0], [5.0, 6.0, 0.0, 4.0]], &VIEW);
        assert_eq!(apart.len(), 2);
        let frame = [
            [0.0, 9.0, 0.0, 1.0],
            [0.0, 9.0, 8.0, 9.0],
            [0.0, 1.0, 0.0, 9.0],
            [8.0, 9.0, 0.0, 9.0],
        ];
        assert_eq!(outlines(&frame, &VIEW).len(), 2, "the hole has an outline, too");
    }

    #[test]
    fn a_point_and_the_rim_of_the_view_are_drawn() {
        let lines = outlines(&[[1400.0, 1400.0, 0.0, 0.0]], &VIEW);
        assert_eq!(bounds(&lines[0]), ((1400.0, 1401.0), (0.0, 1.0)));
        assert!(outlines(&[], &VIEW).is_empty());
    }
}
