//! The map with the car on it.

use super::{Names, at};
use crate::{Cell, Track};

#[derive(Clone, Debug)]
pub(super) struct Race {
    /// Rows of the map, from the top on.
    map: Vec<Vec<char>>,
    x: usize,
    y: usize,
    dx: usize,
    dy: usize,
    crashed: Option<usize>,
    finished: Option<usize>,
}

/// Most rows and columns of a field without map.
const MAX_FIELD: i64 = 200;

impl Race {
    pub(super) fn new(model: &str, names: &Names<'_>, track: Option<Track>) -> Option<Self> {
        let [x, y, dx, dy] =
            ["car0_x", "car0_y", "car0_dx", "car0_dy"].map(|name| names.index(name));
        let (x, y, dx, dy) = (x?, y?, dx?, dy?);
        let of_name = || Track::built_in(model.strip_prefix("racetrack_")?);
        let map = match track.or_else(of_name) {
            Some(track) => drawn(&track),
            // The domains go beyond the map by the greatest velocity.
            None => {
                let side = |position, velocity| {
                    let beyond = names.domain(velocity).1.max(0);
                    names.domain(position).1.saturating_sub(beyond).saturating_add(1)
                };
                let [columns, rows] = [side(x, dx), side(y, dy)]
                    .map(|count| usize::try_from(count.clamp(0, MAX_FIELD)).unwrap_or(0));
                vec![vec!['.'; columns]; rows]
            }
        };
        let (crashed, finished) = (names.index("car0_crashed"), names.index("car0_finished"));
        Some(Self { map, x, y, dx, dy, crashed, finished })
    }

    pub(super) fn draw(&self, state: &[i64]) -> Vec<String> {
        let (x, y) = (at(state, self.x), at(state, self.y));
        let is = |flag: Option<usize>| flag.is_some_and(|index| at(state, index) > 0);
        let car = if is(self.crashed) { 'X' } else { '@' };
        let mut map = self.map.clone();
        let row = usize::try_from(y).ok().and_then(|y| map.get_mut(y));
        let place = usize::try_from(x).ok().and_then(|x| row?.get_mut(x));
        let is_outside = place.is_none();
        if let Some(place) = place {
            *place = car;
        }
        let mut lines: Vec<String> = map.into_iter().map(|row| row.into_iter().collect()).collect();
        let outside = if is_outside { ", outside of the map" } else { "" };
        let fate = match (is(self.crashed), is(self.finished)) {
            (true, _) => ", crashed",
            (_, true) => ", finished",
            _ => "",
        };
        let (dx, dy) = (at(state, self.dx), at(state, self.dy));
        lines.push(format!("at ({x}, {y}){outside}, velocity ({dx}, {dy}){fate}"));
        lines
    }
}

fn drawn(track: &Track) -> Vec<Vec<char>> {
    let side = |count| usize::try_from(count).unwrap_or(0);
    let mut map = vec![vec!['#'; side(track.columns())]; side(track.rows())];
    for (cell, sign) in [(Cell::Road, '.'), (Cell::Start, 'S'), (Cell::Goal, 'F')] {
        for (x, y) in track.cells(cell) {
            let row = usize::try_from(y).ok().and_then(|y| map.get_mut(y));
            if let Some(place) = usize::try_from(x).ok().and_then(|x| row?.get_mut(x)) {
                *place = sign;
            }
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use crate::{StatePicture, Track};

    const VARIABLES: [(&str, i64, i64); 5] = [
        ("car0_y", -2, 4),
        ("car0_x", -2, 5),
        ("car0_dy", -2, 2),
        ("car0_dx", -2, 2),
        ("car0_crashed", 0, 1),
    ];

    #[test]
    fn the_car_is_on_the_map() {
        let track = Track::read("t", "S.FF\n#...\n").expect("a map");
        let picture = StatePicture::new("m", &VARIABLES, Some(track)).expect("a race");
        assert_eq!(picture.draw(&[1, 2, 1, 2, 0]), "S.FF\n#.@.\nat (2, 1), velocity (2, 1)\n");
        assert_eq!(
            picture.draw(&[1, 0, 0, 0, 1]),
            "S.FF\nX...\nat (0, 1), velocity (0, 0), crashed\n"
        );
        assert_eq!(
            picture.draw(&[-1, 0, -1, 0, 1]),
            "S.FF\n#...\nat (0, -1), outside of the map, velocity (0, -1), crashed\n"
        );
    }

    #[test]
    fn maps_come_from_the_name_or_not_at_all() {
        let known = StatePicture::new("racetrack_barto-small", &VARIABLES, None).expect("a race");
        assert!(known.draw(&[5, 0, 0, 0, 0]).contains("@..."));
        assert_eq!(known.draw(&[5, 0, 0, 0, 0]).lines().count(), 13);
        let unknown = StatePicture::new("m", &VARIABLES, None).expect("a race");
        assert_eq!(
            unknown.draw(&[0, 1, 0, 1, 0]),
            ".@..\n....\n....\nat (1, 0), velocity (1, 0)\n"
        );
    }
}
