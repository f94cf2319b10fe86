//! The grid of sliding tiles.

use super::{Names, at};

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

    pub(super) fn draw(&self, state: &[i64]) -> Vec<String> {
        let width = self.tiles.len().to_string().len();
        let rule = format!("+{}", format!("{}+", "-".repeat(width + 2)).repeat(self.columns));
        let position = |index| usize::try_from(at(state, index)).ok();
        let cell = |place: usize| {
            let mut here =
                (1_usize..).zip(&self.tiles).filter(|&(_, &tile)| position(tile) == Some(place));
            let text = match (here.next(), here.next()) {
                (None, _) if position(self.empty) == Some(place) => String::new(),
                (Some((k, _)), None) => k.to_string(),
                // Nothing, or several tiles.
                _ => "?".to_owned(),
            };
            format!(" {text:>width$} |")
        };
        let mut lines = vec![rule.clone()];
        for row in 0..self.rows {
            let cells: String = (0..self.columns).map(|c| cell(row * self.columns + c)).collect();
            lines.extend([format!("|{cells}"), rule.clone()]);
        }
        lines
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
