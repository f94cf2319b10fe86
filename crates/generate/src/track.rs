//! Maps of racetracks as text: one line a row, from the top on.
//!
//! `#` or `x` wall, `.` road, `S` start, `F` or `G` finish, in either case; spaces at the ends of lines,
//! empty lines and lines that begin with `;` do not count. A row may be written `4: …` to stand for
//! four equal rows. A first line `dim: ROWS COLUMNS`, as published maps have it, is checked.

use crate::GenerateError;

/// Says what is on a place of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// A wall.
    Wall,
    /// Road.
    Road,
    /// A place of the start line.
    Start,
    /// A place of the finish.
    Goal,
}

/// A map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    name: String,
    rows: Vec<Vec<Cell>>,
}

const MAX_SIDE: usize = 500;

const BARTO_SMALL: &str = include_str!("track/barto-small.track");
const BARTO_BIG: &str = include_str!("track/barto-big.track");

impl Track {
    /// A map that comes with the program: `barto-small` or `barto-big`.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let text = match name {
            "barto-small" => BARTO_SMALL,
            "barto-big" => BARTO_BIG,
            _ => return None,
        };
        Self::read(name, text).ok()
    }

    /// The map of a model that is named after one that comes with the program: `racetrack_barto-small`.
    pub(crate) fn of_model(model: &str) -> Option<Self> {
        Self::built_in(model.strip_prefix("racetrack_")?)
    }

    /// Reads a map.
    ///
    /// # Errors
    /// Fails if a line has a fault.
    pub fn read(name: &str, text: &str) -> Result<Self, GenerateError> {
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut size = None;
        let mut lines = 0;
        for (line, written) in (1..).zip(text.lines()) {
            lines = line;
            let error = |what: &str| GenerateError::Track { line, what: what.to_owned() };
            let written = written.trim();
            if written.is_empty() || written.starts_with(';') {
                continue;
            }
            if let Some(numbers) = written.strip_prefix("dim:") {
                if size.is_some() || !rows.is_empty() {
                    return Err(error("`dim:` stands once, before all rows"));
                }
                let numbers: Option<Vec<usize>> =
                    numbers.split_whitespace().map(|number| number.parse().ok()).collect();
                match numbers.as_deref() {
                    Some(&[rows, columns]) => size = Some((line, rows, columns)),
                    _ => return Err(error("`dim:` needs the numbers of rows and of columns")),
                }
                continue;
            }
            let (times, row) = match written.split_once(':') {
                Some((times, row)) => {
                    (times.trim().parse().map_err(|_| error("no number of rows"))?, row.trim())
                }
                None => (1, written),
            };
            let cell = |c| match c {
                '#' | 'x' | 'X' => Ok(Cell::Wall),
                '.' => Ok(Cell::Road),
                's' | 'S' => Ok(Cell::Start),
                'f' | 'F' | 'g' | 'G' => Ok(Cell::Goal),
                _ => Err(error(
                    "a place is `#` or `x` (wall), `.` (road), `S` (start), or `F` or `G` (finish)",
                )),
            };
            let row: Vec<Cell> = row.chars().map(cell).collect::<Result<_, _>>()?;
            if rows.first().is_some_and(|first| first.len() != row.len()) {
                return Err(error("not as long as the rows above"));
            }
            if row.len() > MAX_SIDE || times > MAX_SIDE - rows.len() {
                return Err(error("at most 500 rows and columns"));
            }
            rows.extend(std::iter::repeat_n(row, times));
        }
        let track = Self { name: name.to_owned(), rows };
        if let Some((line, rows, columns)) = size
            && (track.rows.len() != rows || track.rows.first().map_or(0, Vec::len) != columns)
        {
            let (own, wide) = (track.rows(), track.columns());
            let what =
                format!("{rows} rows and {columns} columns, but the map has {own} and {wide}");
            return Err(GenerateError::Track { line, what });
        }
        for (cell, what) in [(Cell::Start, "no start `S`"), (Cell::Goal, "no finish `F`")] {
            if track.cells(cell).next().is_none() {
                return Err(GenerateError::Track { line: lines, what: what.to_owned() });
            }
        }
        Ok(track)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> i64 {
        i64::try_from(self.rows.len()).unwrap_or(i64::MAX)
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> i64 {
        self.rows.first().map_or(0, |row| i64::try_from(row.len()).unwrap_or(i64::MAX))
    }

    /// Returns what is at a place; absent outside of the map.
    #[must_use]
    pub fn at(&self, x: i64, y: i64) -> Option<Cell> {
        self.rows.get(usize::try_from(y).ok()?)?.get(usize::try_from(x).ok()?).copied()
    }

    /// The places (x, y) of a kind, x from the left and y from the top.
    pub fn cells(&self, cell: Cell) -> impl Iterator<Item = (i64, i64)> + '_ {
        (0..).zip(&self.rows).flat_map(move |(y, row)| {
            let here = (0..).zip(row).filter(move |(_, found)| **found == cell);
            here.map(move |(x, _)| (x, y))
        })
    }

    /// The longest runs of a row's places of a kind: y, first and last x.
    pub(crate) fn runs(&self, is_kind: impl Fn(Cell) -> bool) -> Vec<(i64, i64, i64)> {
        self.runs_where(|x, y| self.at(x, y).is_some_and(&is_kind))
    }

    /// The longest runs of a row's places that are as asked for, by x and y: y, first and last x.
    pub(crate) fn runs_where(&self, holds: impl Fn(i64, i64) -> bool) -> Vec<(i64, i64, i64)> {
        let mut runs: Vec<(i64, i64, i64)> = Vec::new();
        for y in 0..self.rows() {
            for x in (0..self.columns()).filter(|&x| holds(x, y)) {
                match runs.last_mut() {
                    Some((last_y, _, to)) if *last_y == y && *to + 1 == x => *to = x,
                    _ => runs.push((y, x, x)),
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read() {
        let track = Track::read("t", "; a map\n2: S.F\n#..\n").expect("a map");
        assert_eq!((track.rows(), track.columns()), (3, 3));
        assert_eq!(track.cells(Cell::Start).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
        assert_eq!(track.runs(|cell| cell == Cell::Road), [(0, 1, 1), (1, 1, 1), (2, 1, 2)]);
    }

    #[test]
    fn wrong_maps_are_refused() {
        for text in [
            "",
            "S.",
            "S.F\n..",
            "S.Y",
            "x: S.F",
            "999: S.F",
            "..F",
            "dim: 1 4\nS.F",
            "dim: 2 3\nS.F",
            "dim: 1\nS.F",
            "dim: 1 3\ndim: 1 3\nS.F",
            "S.F\ndim: 1 3",
        ] {
            assert!(Track::read("t", text).is_err(), "{text}");
        }
    }

    #[test]
    fn published_maps_are_read_in_their_own_letters() {
        let Some(folder) = policert_testkit::shared_folder("benchmarks/racetrack/tracks") else {
            return;
        };
        let folder = std::fs::read_dir(folder).expect("a folder");
        let mut read = 0;
        for entry in folder {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let track = Track::read("t", &text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            if path.ends_with("barto-small.track") {
                let built_in = Track::built_in("barto-small").expect("built in");
                assert_eq!(track.rows, built_in.rows);
            }
            read += 1;
        }
        assert!(read >= 9, "only {read} maps");
    }

    #[test]
    fn built_in_maps_have_their_sizes() {
        let small = Track::built_in("barto-small").expect("built in");
        assert_eq!((small.rows(), small.columns()), (12, 35));
        assert_eq!(small.cells(Cell::Start).count(), 4);
        assert_eq!(small.cells(Cell::Goal).count(), 3);
        let big = Track::built_in("barto-big").expect("built in");
        assert_eq!((big.rows(), big.columns()), (33, 30));
        assert_eq!(Track::built_in("nowhere"), None);
    }
}
