//! Dense matrices of doubles.

use std::sync::Arc;

/// A matrix in row-major order. Copies share the entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    entries: Arc<Vec<f64>>,
}

impl Matrix {
    /// A matrix of `rows` rows, from its entries row by row; `None` if their number does not fit.
    #[must_use]
    pub fn new(rows: usize, columns: usize, entries: Vec<f64>) -> Option<Self> {
        let fits = rows.checked_mul(columns)? == entries.len();
        fits.then(|| Self { rows, columns, entries: Arc::new(entries) })
    }

    /// The difference of the two halves of a vector: the identity beside its negative.
    pub(crate) fn difference(width: usize) -> Self {
        let mut entries = vec![0.0; 2 * width * width];
        for element in 0..width {
            entries[2 * width * element + element] = 1.0;
            entries[2 * width * element + width + element] = -1.0;
        }
        Self { rows: width, columns: 2 * width, entries: Arc::new(entries) }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All entries, row by row.
    #[must_use]
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// Where the entries are, and the numbers of rows and columns: equal for copies of a matrix.
    #[must_use]
    pub fn place(&self) -> (usize, usize, usize) {
        (self.entries.as_ptr().addr(), self.rows, self.columns)
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.columns..(row + 1) * self.columns]
    }

    /// The rows in order.
    pub fn row_iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// The matrix with rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let entries = (0..self.columns)
            .flat_map(|column| (0..self.rows).map(move |row| self.row(row)[column]))
            .collect();
        Self { rows: self.columns, columns: self.rows, entries: Arc::new(entries) }
    }
}
