//! What is cut off a box of the variables by planes: parts of it in which they cannot hold.

use std::iter::zip;

use policert_numeric::round::{add_down, div_down, div_up, mul_down, mul_up, sub_down, sub_up};

use super::queue::RealPart;
use crate::planes::PlaneRow;

/// The number of passes over all planes.
const ROUNDS: usize = 2;

/// Makes the box of a part smaller, such that all its points that satisfy the rows stay. Returns
/// the share of its volume that is left; `None` if nothing is.
pub(super) fn trim(part: &mut RealPart, rows: &[PlaneRow]) -> Option<f64> {
    let (old_lo, old_hi) = (part.lo.clone(), part.hi.clone());
    for _ in 0..ROUNDS {
        for row in rows {
            trim_by(part, row)?;
        }
    }
    let mut share = 1.0;
    for ((lo, hi), (old_lo, old_hi)) in zip(zip(&part.lo, &part.hi), zip(old_lo, old_hi)) {
        if old_lo < old_hi {
            share *= (hi - lo) / (old_hi - old_lo);
        }
    }
    Some(share)
}

/// `None` if the row holds nowhere.
fn trim_by(part: &mut RealPart, row: &PlaneRow) -> Option<()> {
    let RealPart { lo, hi, .. } = part;
    let sides = zip(&row.slopes, zip(lo, hi)).filter(|(slope, _)| **slope != 0.0);
    let mut sides: Vec<(f64, &mut f64, &mut f64)> =
        sides.map(|(&slope, (lo, hi))| (slope, lo, hi)).collect();
    let least = sides.iter().fold(0.0, |sum, (slope, lo, hi)| {
        add_down(sum, mul_down(*slope, if *slope < 0.0 { **hi } else { **lo }))
    });
    if least > row.upper {
        return None;
    }
    for (slope, lo, hi) in &mut sides {
        let own = mul_up(*slope, if *slope < 0.0 { **hi } else { **lo });
        // slope · x ≤ upper − what the others are at least
        let room = sub_up(row.upper, sub_down(least, own));
        if !room.is_finite() {
            continue;
        }
        if *slope > 0.0 {
            **hi = hi.min(div_up(room, *slope));
        } else {
            **lo = lo.max(div_down(room, *slope));
        }
        if **lo > **hi {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(sides: &[(f64, f64)]) -> RealPart {
        let (lo, hi) = sides.iter().copied().unzip();
        RealPart::of(lo, hi)
    }

    fn row(slopes: &[f64], upper: f64) -> PlaneRow {
        PlaneRow { slopes: slopes.to_vec(), upper }
    }

    #[test]
    fn what_a_plane_excludes_is_cut_off() {
        // x − 2y ≤ −3 in the unit square scaled by 2: y ≥ 3/2 and x ≤ 1.
        let mut square = part(&[(0.0, 2.0), (0.0, 2.0)]);
        let share = trim(&mut square, &[row(&[1.0, -2.0], -3.0)]).expect("something is left");
        assert!((share - 0.125).abs() < 1e-9, "{share}");
        for (value, near) in zip([square.hi[0], square.lo[1]], [1.0, 1.5]) {
            assert!((value - near).abs() < 1e-9, "{value}");
        }
        assert!(square.hi[0] >= 1.0 && square.lo[1] <= 1.5, "rounded outwards");
        assert_eq!(trim(&mut square, &[row(&[1.0, -2.0], -4.5)]), None);
    }

    #[test]
    fn the_only_point_of_a_plane_stays() {
        let mut square = part(&[(-1.0, 1.0), (-1.0, 1.0)]);
        let rows = [row(&[0.1, 0.3], -0.4)];
        trim(&mut square, &rows).expect("the corner is left");
        assert!(square.lo == [-1.0, -1.0] && square.hi.iter().all(|&hi| hi >= -1.0));
        assert!(square.hi.iter().all(|&hi| hi < -0.999));
    }

    #[test]
    fn rows_that_are_no_numbers_cut_nothing() {
        let mut square = part(&[(-1.0, 1.0), (-1.0, 1.0)]);
        for upper in [f64::NAN, f64::INFINITY] {
            assert_eq!(trim(&mut square, &[row(&[1.0, 1.0], upper)]), Some(1.0));
        }
        assert_eq!(trim(&mut square, &[row(&[f64::NAN, 1.0], 0.0)]), Some(1.0));
    }
}
