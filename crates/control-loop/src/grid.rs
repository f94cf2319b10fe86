//! Cells: the state space divided along each variable.
//!
//! A cell contains its lower edge and not its upper one; the last cell of a variable contains
//! both. Edges are exact numbers.

use std::cmp::Ordering;

use policert_numeric::Rational;
use smallvec::SmallVec;

use crate::edge::BoxEdge;
use crate::range::ClosedRange;

/// A cell, by its position along each variable.
pub type Cell = SmallVec<[u32; 6]>;

/// More edges than this along one variable are refused.
pub const MAX_EDGES: usize = 1 << 22;

/// The cells along one variable.
#[derive(Clone, Debug)]
pub struct Axis {
    edges: Vec<BoxEdge>,
    /// Cells per unit if all but the last have one width, else 0: a first guess.
    density: f64,
}

impl Axis {
    /// The cells between edges; `None` unless there are at least two, in increasing order.
    #[must_use]
    pub fn new(edges: Vec<Rational>) -> Option<Self> {
        let ordered = edges.windows(2).all(|pair| pair[0] < pair[1]);
        if edges.len() < 2 || edges.len() > MAX_EDGES || !ordered {
            return None;
        }
        let density = (&edges[1] - &edges[0]).recip().map_or(0.0, |inverse| inverse.to_f64());
        Some(Self { edges: edges.into_iter().map(BoxEdge::new).collect(), density })
    }

    /// Cells of one width from `lower` to `upper`; the last one is narrower if that does not come
    /// out even. `None` if there is nothing between them, or too much.
    #[must_use]
    pub fn uniform(lower: &Rational, upper: &Rational, width: &Rational) -> Option<Self> {
        let count = (upper - lower).checked_div(width)?.ceil().to_i64()?;
        if count < 1 || usize::try_from(count).ok()? >= MAX_EDGES {
            return None;
        }
        let at = |k: i64| (lower + Rational::from(k) * width.clone()).min(upper.clone());
        Self::new((0..=count).map(at).collect())
    }

    /// The width that all cells have, except that the last one may be narrower; `None` if there is
    /// no such width.
    #[must_use]
    pub fn width(&self) -> Option<Rational> {
        let widths = self.edges.windows(2).map(|pair| pair[1].exact() - pair[0].exact());
        let first = self.edges[1].exact() - self.edges[0].exact();
        let mut others = widths.skip(1).rev();
        let narrower = others.next().is_none_or(|last| last <= first);
        (narrower && others.all(|width| width == first)).then_some(first)
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns whether there are no cells, which never happens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lower edge of cell `k`, the upper edge of the last one for `k` = [`Axis::len`].
    #[must_use]
    #[inline]
    pub fn edge(&self, k: usize) -> &BoxEdge {
        &self.edges[k]
    }

    /// The cells that a range meets, first and last; `None` if part of it is outside.
    #[inline]
    pub fn cells_of<R: ClosedRange>(&self, range: &R) -> Option<(usize, usize)> {
        let outer = range.to_interval();
        let first = self.find(outer.lo(), |edge| range.lower_cmp(edge))?;
        let inside_first = range.upper_cmp(&self.edges[first + 1]) == Ordering::Less;
        let last =
            if inside_first { first } else { self.find(outer.hi(), |edge| range.upper_cmp(edge))? };
        Some((first, last))
    }

    /// The cell of a number, given about and by its comparison with edges.
    #[inline]
    fn find(&self, about: f64, compare: impl Fn(&BoxEdge) -> Ordering) -> Option<usize> {
        let last = self.len() - 1;
        let mut k = self.guess(about);
        // A few steps from the guess; by bisection if it was far off.
        for _ in 0..3 {
            if compare(&self.edges[k]) == Ordering::Less {
                if k == 0 {
                    return None;
                }
                k -= 1;
            } else {
                match compare(&self.edges[k + 1]) {
                    Ordering::Less => return Some(k),
                    order if k == last => return (order == Ordering::Equal).then_some(last),
                    _ => k += 1,
                }
            }
        }
        let above = self.edges.partition_point(|edge| compare(edge) != Ordering::Less);
        match above {
            0 => None,
            above if above <= last + 1 => Some(above - 1),
            _ => (compare(&self.edges[last + 1]) == Ordering::Equal).then_some(last),
        }
    }

    #[inline]
    fn guess(&self, about: f64) -> usize {
        let position = (about - self.edges[0].floor()) * self.density;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a guess: the conversion saturates"
        )]
        let k = position as usize;
        k.min(self.len() - 1)
    }
}

/// All cells of a state space.
#[derive(Clone, Debug)]
pub struct Grid {
    axes: Vec<Axis>,
}

impl Grid {
    /// The grid with these axes, one for each variable.
    #[must_use]
    pub fn new(axes: Vec<Axis>) -> Self {
        Self { axes }
    }

    /// The axes.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The same state space with cells of other widths; one for each variable, or one for all.
    ///
    /// # Errors
    /// If their number is neither, or cells of that width are impossible: what is wrong.
    pub fn resized(&self, widths: &[Rational]) -> Result<Self, String> {
        let count = self.axes.len();
        if widths.len() != 1 && widths.len() != count {
            return Err(format!("{} widths of cells for {count} variables", widths.len()));
        }
        let resize = |(axis, width): (&Axis, &Rational)| {
            let (lower, upper) = (axis.edge(0).exact(), axis.edge(axis.len()).exact());
            let axis = if width.signum() > 0 { Axis::uniform(lower, upper, width) } else { None };
            axis.ok_or_else(|| {
                format!("cells of width {width} from {lower} to {upper} are impossible")
            })
        };
        let axes = self.axes.iter().zip(widths.iter().cycle()).map(resize);
        Ok(Self { axes: axes.collect::<Result<_, _>>()? })
    }

    /// Number of all cells, if it is a 64-bit number.
    #[must_use]
    pub fn cell_count(&self) -> Option<u64> {
        self.axes
            .iter()
            .try_fold(1u64, |count, axis| count.checked_mul(u64::try_from(axis.len()).ok()?))
    }

    /// Returns whether [`Grid::number_of`] tells all cells apart.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        let product = |count: u128, axis: &Axis| count.checked_mul(axis.len() as u128);
        self.axes.iter().try_fold(1u128, product).is_some()
    }

    /// The number of a cell.
    #[must_use]
    #[inline]
    pub fn number_of(&self, cell: &[u32]) -> u128 {
        self.axes.iter().zip(cell).fold(0u128, |number, (axis, &k)| {
            number.wrapping_mul(axis.len() as u128).wrapping_add(u128::from(k))
        })
    }

    /// Lower and upper edges of a cell, variable by variable.
    pub fn edges_of<'a>(
        &'a self,
        cell: &'a [u32],
    ) -> impl Iterator<Item = (&'a BoxEdge, &'a BoxEdge)> {
        self.axes
            .iter()
            .zip(cell)
            .map(|(axis, &k)| (axis.edge(k as usize), axis.edge(k as usize + 1)))
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::Interval;

    use super::*;
    use crate::range::ExactRange;

    fn decimal(text: &str) -> Rational {
        Rational::parse_decimal(text).expect("a decimal")
    }

    #[test]
    fn borders_belong_to_the_upper_cell() {
        let axis = Axis::uniform(&decimal("0"), &decimal("0.4"), &decimal("0.1")).expect("cells");
        assert_eq!(axis.len(), 4);
        let cells = |lo: &str, hi: &str| axis.cells_of(&ExactRange::new(decimal(lo), decimal(hi)));
        assert_eq!(cells("0.3", "0.3"), Some((3, 3)));
        assert_eq!(cells("0.2", "0.3"), Some((2, 3)));
        assert_eq!(cells("0.25", "0.29"), Some((2, 2)));
        assert_eq!(cells("0.4", "0.4"), Some((3, 3)));
        assert_eq!(cells("0", "0.4"), Some((0, 3)));
        assert_eq!(cells("0.3", "0.41"), None);
        assert_eq!(cells("-0.1", "0"), None);
        // The double 0.3 is below three tenths.
        assert_eq!(axis.cells_of(&Interval::point(0.3)), Some((2, 2)));
        assert_eq!(axis.cells_of(&Interval::point(0.3f64.next_up())), Some((3, 3)));
        assert_eq!(axis.cells_of(&Interval::EVERYTHING), None);
    }

    #[test]
    fn uneven_cells() {
        let edges = ["-5", "0.1", "0.11", "7", "100"].map(decimal).to_vec();
        let axis = Axis::new(edges).expect("ordered");
        for (value, cell) in [(-5.0, 0), (0.0, 0), (0.105, 1), (0.2, 2), (7.0, 3), (100.0, 3)] {
            assert_eq!(axis.cells_of(&Interval::point(value)), Some((cell, cell)), "{value}");
        }
        let narrow = Axis::uniform(&decimal("0"), &decimal("1"), &decimal("0.3")).expect("cells");
        assert_eq!((narrow.len(), narrow.edge(4).exact()), (4, &Rational::ONE));
        assert_eq!((axis.width(), narrow.width()), (None, Some(decimal("0.3"))));
        let grid = Grid::new(vec![axis, narrow]);
        let halves = grid.resized(&[decimal("0.5")]).expect("cells");
        assert_eq!(halves.cell_count(), Some(210 * 2));
        assert_eq!(halves.axes()[0].width(), Some(decimal("0.5")));
        assert!(grid.resized(&[decimal("0")]).is_err());
        assert!(grid.resized(&[]).is_err());
    }
}
