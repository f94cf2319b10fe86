//! Stage *enumerate*: all points of a small box.

use policert_numeric::IntBox;

/// Number of points of a box, if there are at most `limit`.
pub(crate) fn count_up_to(sides: &IntBox, limit: usize) -> Option<usize> {
    let count = sides.count()?;
    usize::try_from(count).ok().filter(|&count| count <= limit)
}

/// Appends all points of a bounded box that is not empty, the last dimension fastest.
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
