//! The cargo of Beluga: what is still in the planes, on trailer, truck and racks, and at the factory.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at, unit};

#[derive(Clone, Debug)]
pub(super) struct Hangar {
    /// By piece of cargo: where its place is, and its neighbour towards the back.
    cargo: Vec<(usize, usize)>,
    /// By rack: where the cargo at its front is.
    fronts: Vec<usize>,
    request: usize,
}

impl Hangar {
    pub(super) fn new(names: &Names<'_>) -> Option<Self> {
        let request = names.index("request")?;
        let backs = names.numbered("back_cargo_", 0);
        let cargo: Vec<_> = names.numbered("cargo_", 0).into_iter().zip(backs).collect();
        let fronts = names.numbered("front_rack_", 0);
        let is_whole = !cargo.is_empty()
            && !fronts.is_empty()
            && ["arriving", "empty_trailer", "empty_truck"]
                .iter()
                .all(|n| names.index(n).is_some());
        is_whole.then_some(Self { cargo, fronts, request })
    }

    /// The rows of the picture with their pieces of cargo: planes, trailer, racks, truck, factory.
    fn rows(&self, state: &[i64]) -> Vec<(String, Vec<usize>)> {
        let place = |i: usize| usize::try_from(at(state, self.cargo[i].0)).ok();
        let pieces = 0..self.cargo.len();
        let (count, racks) = (self.cargo.len(), self.fronts.len());
        let on = |wanted: usize| pieces.clone().filter(|&i| place(i) == Some(wanted)).collect();
        // The greatest rank comes first.
        let mut planes: Vec<usize> =
            pieces.clone().filter(|&i| place(i).is_some_and(|place| place < count)).collect();
        planes.sort_by_key(|&i| std::cmp::Reverse(place(i)));
        let mut rows =
            vec![("planes".to_owned(), planes), ("trailer".to_owned(), on(count + racks))];
        for (rack, &front) in self.fronts.iter().enumerate() {
            let mut row = Vec::new();
            let mut next = usize::try_from(at(state, front)).ok();
            while let Some(i) = next.filter(|&i| i < count && row.len() < count) {
                row.push(i);
                next = usize::try_from(at(state, self.cargo[i].1)).ok();
            }
            rows.push((format!("rack {rack}"), row));
        }
        rows.push(("truck".to_owned(), on(count + racks + 1)));
        rows.push(("factory".to_owned(), on(count + racks + 2)));
        rows
    }

    /// The piece of cargo that is wanted.
    fn wanted(&self, state: &[i64]) -> Option<usize> {
        usize::try_from(at(state, self.request)).ok()
    }
}

fn list(pieces: &[usize]) -> String {
    pieces.iter().map(|i| format!("[{i}]")).collect::<Vec<_>>().join(" ")
}

/// The height of a row, and where its pieces begin.
const ROW: i64 = 40;
const LEFT: i64 = 90;
const PIECE: (i64, i64) = (40, 28);

impl Scene for Hangar {
    fn without_map(&self) -> Option<&'static str> {
        Some("beluga")
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let row = |(name, pieces): (String, Vec<usize>)| {
            let pieces = if pieces.is_empty() { "-".to_owned() } else { list(&pieces) };
            format!("{name:<8} {pieces}")
        };
        let mut lines: Vec<String> = self.rows(state).into_iter().map(row).collect();
        if let Some(factory) = lines.last_mut() {
            *factory += &match self.wanted(state) {
                None => ", nothing is wanted".to_owned(),
                Some(i) => format!(", [{i}] is wanted"),
            };
        }
        lines
    }

    fn size(&self) -> (i64, i64) {
        let pieces = unit(self.cargo.len());
        (LEFT + pieces * (PIECE.0 + 4) + 20, (unit(self.fronts.len()) + 4) * ROW + 30)
    }

    fn ground(&self) -> Vec<Shape> {
        let (width, _) = self.size();
        let names = self.rows(&[]).into_iter().map(|(name, _)| name);
        let row = |(at, name): (i64, String)| {
            let bottom = (at + 1) * ROW;
            let line = if name.starts_with("rack") { Look::Ground } else { Look::Grid };
            [
                Shape::Text(Look::Note, [LEFT / 2 - 4, bottom - 12], name),
                Shape::Line(line, [LEFT - 4, bottom, width - 8, bottom]),
            ]
        };
        (0..).zip(names).flat_map(row).collect()
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let rows = self.rows(state);
        let wanted = self.wanted(state);
        let mut shapes = Vec::new();
        for (at, (_, pieces)) in (0..).zip(&rows) {
            for (place, &piece) in (0..).zip(pieces) {
                let (left, top) = (LEFT + place * (PIECE.0 + 4), (at + 1) * ROW - PIECE.1 - 2);
                let look = if wanted == Some(piece) { Look::Actor } else { Look::Thing };
                shapes.push(Shape::Rect(look, [left, top, PIECE.0, PIECE.1]));
                let middle = [left + PIECE.0 / 2, top + PIECE.1 / 2 + 5];
                shapes.push(Shape::Text(Look::Word, middle, piece.to_string()));
            }
        }
        let (width, height) = self.size();
        let words = match wanted {
            None => "nothing is wanted".to_owned(),
            Some(piece) => format!("{piece} is wanted"),
        };
        shapes.push(Shape::Text(Look::Note, [width / 2, height - 8], words.clone()));
        let filled = rows.iter().filter(|(_, pieces)| !pieces.is_empty());
        let filled: Vec<String> = filled
            .map(|(name, pieces)| {
                let pieces: Vec<String> = pieces.iter().map(ToString::to_string).collect();
                format!("{name}: {}", pieces.join(" "))
            })
            .collect();
        Drawing {
            shapes,
            text: format!("Cargo by place: {}. At the factory {words}.", filled.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    #[test]
    fn racks() {
        let names = [
            "cargo_0",
            "cargo_1",
            "cargo_2",
            "cargo_3",
            "back_cargo_0",
            "back_cargo_1",
            "back_cargo_2",
            "back_cargo_3",
            "front_rack_0",
            "front_rack_1",
            "arriving",
            "empty_trailer",
            "empty_truck",
            "request",
        ];
        let variables = names.map(|name| (name, -1, 8));
        let picture = StatePicture::new("beluga", &variables, None).expect("recognised");
        // 2 is in its plane, 3 and 1 on rack 1, 0 at the factory.
        let state = [8, 5, 0, 5, -1, -1, -1, 1, -1, 3, 1, 1, 1, 1];
        let text = "planes   [2]\ntrailer  -\nrack 0   -\nrack 1   [3] [1]\ntruck    -\n\
                    factory  [0], [1] is wanted\n";
        assert_eq!(picture.draw(&state), text);
    }
}
