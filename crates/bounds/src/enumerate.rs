//! Stage *enumerate*: all points of a small box.

use policert_numeric::IntBox;

/// Number of points of a box, if there are at most `limit`. Values are 64-bit integers, so a side
/// that is unbounded has points too.
pub(crate) fn count_up_to(sides: &IntBox, limit: usize) -> Option<usize> {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let count = sides.sides().iter().try_fold(1u64, |count, side| {
        if side.is_empty() {
            return Some(0);
        }
        count.checked_mul(side.lo.abs_diff(side.hi).checked_add(1)?).filter(|&n| n <= limit)
    })?;
    usize::try_from(count).ok()
}

/// Appends all points of a box that is not empty, the last dimension fastest.
pub(crate) fn points(sides: &IntBox, points: &mut Vec<i64>) {
    let mut point = sides.lower_corner();
    loop {
        points.extend_from_slice(&point);
        let mut dimension = point.len();
        loop {
            if dimension == 0 {
                return;
            }
            dimension -= 1;
            if point[dimension] < sides[dimension].hi {
                point[dimension] += 1;
                break;
            }
            point[dimension] = sides[dimension].lo;
        }
    }
}

/// The point at an index of that order.
pub(crate) fn point(sides: &IntBox, index: usize) -> Box<[i64]> {
    let mut rest = u64::try_from(index).unwrap_or(u64::MAX);
    let mut point = sides.lower_corner();
    for (value, side) in point.iter_mut().zip(sides.sides()).rev() {
        // A side as wide as that has no end that the rest could reach.
        let Some(width) = side.lo.abs_diff(side.hi).checked_add(1) else { continue };
        *value = value.saturating_add_unsigned(rest % width);
        rest /= width;
    }
    point.into()
}

#[cfg(test)]
mod tests {
    use policert_numeric::IntInterval;

    use super::*;

    #[test]
    fn points_by_index_are_those_of_the_enumeration() {
        let sides = IntBox::new(vec![
            IntInterval::new(-1, 1),
            IntInterval::point(7),
            IntInterval::new(0, 3),
        ]);
        let mut all = Vec::new();
        points(&sides, &mut all);
        assert_eq!(count_up_to(&sides, 12), Some(12));
        assert_eq!(count_up_to(&sides, 11), None);
        assert_eq!(count_up_to(&IntBox::new(vec![IntInterval::ALL; 2]), usize::MAX), None);
        assert_eq!(count_up_to(&IntBox::point(&[i64::MIN, i64::MAX]), 1), Some(1));
        for (i, expected) in all.chunks_exact(3).enumerate() {
            assert_eq!(*point(&sides, i), *expected);
        }
    }
}
