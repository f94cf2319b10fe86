//! The map with the car on it.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at, unit};
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
        let map = match track.or_else(|| Track::of_model(model)) {
            Some(track) => drawn(&track),
            // The domains go beyond the map by the greatest velocity.
            None => {
                let side = |position, velocity| {
                    let domain = names.domain(velocity);
                    let beyond = if names.are_of_run { 0 } else { domain.1.max(0) };
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

    fn fate(&self, state: &[i64]) -> &'static str {
        match (is(self.crashed, state), is(self.finished, state)) {
            (true, _) => ", crashed",
            (_, true) => ", finished",
            _ => "",
        }
    }

    /// The middle of a place of the picture. Beyond its margin the car stands at its edge.
    fn middle(&self, x: i64, y: i64) -> (i64, i64) {
        let columns = self.map.first().map_or(0, |row| unit(row.len()));
        let side =
            |value: i64, count: i64| (value.clamp(-MARGIN, count + MARGIN - 1) + MARGIN) * SIDE;
        (side(x, columns) + SIDE / 2, side(y, unit(self.map.len())) + SIDE / 2)
    }
}

/// The side of a place, and how many places there are around the map.
const SIDE: i64 = 18;
const MARGIN: i64 = 2;

fn is(flag: Option<usize>, state: &[i64]) -> bool {
    flag.is_some_and(|index| at(state, index) > 0)
}

impl Scene for Race {
    fn without_map(&self) -> Option<&'static str> {
        None
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let (x, y) = (at(state, self.x), at(state, self.y));
        let car = if is(self.crashed, state) { 'X' } else { '@' };
        let mut map = self.map.clone();
        let row = usize::try_from(y).ok().and_then(|y| map.get_mut(y));
        let place = usize::try_from(x).ok().and_then(|x| row?.get_mut(x));
        let is_outside = place.is_none();
        if let Some(place) = place {
            *place = car;
        }
        let mut lines: Vec<String> = map.into_iter().map(|row| row.into_iter().collect()).collect();
        let outside = if is_outside { ", outside of the map" } else { "" };
        let fate = self.fate(state);
        let (dx, dy) = (at(state, self.dx), at(state, self.dy));
        lines.push(format!("at ({x}, {y}){outside}, velocity ({dx}, {dy}){fate}"));
        lines
    }

    fn size(&self) -> (i64, i64) {
        let columns = self.map.first().map_or(0, |row| unit(row.len()));
        ((columns + 2 * MARGIN) * SIDE, (unit(self.map.len()) + 2 * MARGIN) * SIDE)
    }

    fn ground(&self) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for (y, row) in (0..).zip(&self.map) {
            // Places of one kind in a row are one rectangle.
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                let width = unit(run.len());
                let look = match run.first() {
                    Some('#') => Look::Wall,
                    Some('F' | 'S') => Look::Aim,
                    _ => Look::Grid,
                };
                let corner = [(x + MARGIN) * SIDE, (y + MARGIN) * SIDE, width * SIDE, SIDE];
                shapes.push(Shape::Rect(look, corner));
                for at in (0..width).filter(|_| look == Look::Aim) {
                    let (x, y) = self.middle(x + at, y);
                    let letter = run.first().map(ToString::to_string).unwrap_or_default();
                    shapes.push(Shape::Text(Look::Note, [x, y + 4], letter));
                }
                x += width;
            }
        }
        shapes
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let (x, y) = (at(state, self.x), at(state, self.y));
        let (dx, dy) = (at(state, self.dx), at(state, self.dy));
        let (left, top) = self.middle(x, y);
        let (next_left, next_top) = self.middle(x.saturating_add(dx), y.saturating_add(dy));
        let mut shapes = vec![Shape::Circle(Look::Actor, [left, top, 7])];
        if is(self.crashed, state) {
            shapes.push(Shape::Line(Look::Harm, [left - 9, top - 9, left + 9, top + 9]));
            shapes.push(Shape::Line(Look::Harm, [left - 9, top + 9, left + 9, top - 9]));
        } else if (dx, dy) != (0, 0) {
            // Where it is after the next step at this velocity.
            shapes.push(Shape::Line(Look::Actor, [left, top, next_left, next_top]));
            shapes.push(Shape::Circle(Look::Grid, [next_left, next_top, 4]));
        }
        let text = format!("The car is at ({x}, {y}), velocity ({dx}, {dy}){}.", self.fate(state));
        Drawing { shapes, text }
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
