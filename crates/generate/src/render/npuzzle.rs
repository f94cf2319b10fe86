//! The grid of sliding tiles.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at, unit};

#[derive(Clone, Debug)]
pub(super) struct Tiles {
    columns: usize,
    rows: usize,
    empty: usize,
    /// By tile, from 1 on: where its position is.
    tiles: Vec<usize>,
}

impl Tiles {
    pub(super) fn new(model: &str, names: &Names<'_>) -> Option<Self> {
        let empty = names.index("empty")?;
        let tiles = names.numbered("tile_", 1);
        let places = tiles.len() + 1;
        let (rows, columns) = sides(model, places)?;
        (!tiles.is_empty()).then_some(Self { columns, rows, empty, tiles })
    }

    /// What is on a place: nothing for the empty place, a tile's number, or `?` where it makes no sense.
    fn on(&self, place: usize, state: &[i64]) -> Option<String> {
        let position = |index| usize::try_from(at(state, index)).ok();
        let mut here =
            (1_usize..).zip(&self.tiles).filter(|&(_, &tile)| position(tile) == Some(place));
        match (here.next(), here.next()) {
            (None, _) if position(self.empty) == Some(place) => None,
            (Some((k, _)), None) => Some(k.to_string()),
            // Nothing, or several tiles.
            _ => Some("?".to_owned()),
        }
    }
}

/// The side of a place.
const SIDE: i64 = 52;

impl Scene for Tiles {
    fn without_map(&self) -> Option<&'static str> {
        Some("npuzzle")
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let width = self.tiles.len().to_string().len();
        let rule = format!("+{}", format!("{}+", "-".repeat(width + 2)).repeat(self.columns));
        let cell = |place: usize| {
            let text = self.on(place, state).unwrap_or_default();
            format!(" {text:>width$} |")
        };
        let mut lines = vec![rule.clone()];
        for row in 0..self.rows {
            let cells: String = (0..self.columns).map(|c| cell(row * self.columns + c)).collect();
            lines.extend([format!("|{cells}"), rule.clone()]);
        }
        lines
    }

    fn size(&self) -> (i64, i64) {
        (unit(self.columns) * SIDE + 20, unit(self.rows) * SIDE + 20)
    }

    fn ground(&self) -> Vec<Shape> {
        let (width, height) = self.size();
        vec![Shape::Rect(Look::Grid, [8, 8, width - 16, height - 16])]
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let mut drawing = Drawing::default();
        let mut rows = Vec::new();
        for row in 0..self.rows {
            let mut words = Vec::new();
            for column in 0..self.columns {
                let (left, top) = (10 + unit(column) * SIDE, 10 + unit(row) * SIDE);
                let tile = self.on(row * self.columns + column, state);
                words.push(tile.clone().unwrap_or_else(|| "empty".to_owned()));
                let Some(tile) = tile else { continue };
                drawing
                    .shapes
                    .push(Shape::Rect(Look::Thing, [left + 2, top + 2, SIDE - 4, SIDE - 4]));
                let middle = [left + SIDE / 2, top + SIDE / 2 + 6];
                drawing.shapes.push(Shape::Text(Look::Word, middle, tile));
            }
            rows.push(words.join(", "));
        }
        drawing.text = format!("Rows from the top: {}.", rows.join("; "));
        drawing
    }
}

/// Rows and columns: from the name, such as `npuzzle_2_4`, else those of a square.
fn sides(model: &str, places: usize) -> Option<(usize, usize)> {
    let of_name = || {
        let mut parts = model.rsplit('_');
        let columns: usize = parts.next()?.parse().ok()?;
        let rows: usize = parts.next()?.parse().ok()?;
        (rows.checked_mul(columns) == Some(places)).then_some((rows, columns))
    };
    let square = || {
        let side = places.isqrt();
        (side * side == places).then_some((side, side))
    };
    of_name().or_else(square)
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    #[test]
    fn grids() {
        let names = ["empty", "tile_1", "tile_2", "tile_3", "tile_4", "tile_5"];
        let variables = names.map(|name| (name, 0, 5));
        let picture = StatePicture::new("npuzzle_2_3", &variables, None).expect("tiles");
        let text = "\
+---+---+---+
|   | 2 | 1 |
+---+---+---+
| 3 | 4 | 5 |
+---+---+---+
";
        assert_eq!(picture.draw(&[0, 2, 1, 3, 4, 5]), text);
        assert!(picture.draw(&[0, 2, 2, 3, 4, 5]).contains("| ? | ? |"));
        // Neither a square nor a name with sides.
        assert!(StatePicture::new("m", &variables, None).is_err());
        assert!(StatePicture::new("m", &variables[..4], None).is_ok());
    }
}
