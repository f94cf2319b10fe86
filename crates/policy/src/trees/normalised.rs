//! Rows of columns that are divided by their norm, as ONNX Runtime's Normalizer does it: in single
//! precision, the squares of double precision and of integers apart.

use super::column::{Column, Kind, NoValue, Number, Reading};

/// A norm of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Norm {
    /// The sum of the magnitudes.
    L1,
    /// The root of the sum of the squares.
    L2,
    /// The greatest number.
    Max,
}

/// A row of columns that is divided by its norm; where that is 0, it stays as it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Normalised {
    /// The norm.
    pub norm: Norm,
    /// The columns before, none of which is part of such a row itself.
    pub row: Vec<Column>,
}

/// Squares of greater integers do not fit into 32 bits, in which the file may have them.
const GREATEST_ROOT: u64 = 46_340;

impl Normalised {
    /// An entry of the row, for these inputs.
    pub(super) fn entry(
        &self,
        at: usize,
        inputs: &dyn Fn(usize) -> Reading,
    ) -> Result<Number, NoValue> {
        let numbers = self.row.iter().map(|column| column.number(inputs));
        let numbers: Vec<Number> = numbers.collect::<Result<_, _>>()?;
        let singles = numbers.iter().map(|&number| single(number));
        let singles: Vec<f32> = singles.collect::<Result<_, _>>()?;
        let own = singles[at];
        let value = match self.norm {
            Norm::L1 => quotient(own, singles.iter().fold(0.0, |sum, x| sum + x.abs()))?,
            Norm::Max => quotient(own, singles.iter().copied().fold(f32::MIN, f32::max))?,
            Norm::L2 => {
                let squares: Vec<f32> =
                    numbers.iter().map(|&number| square(number)).collect::<Result<_, _>>()?;
                let sum = squares.iter().fold(0.0f32, |sum, square| sum + square);
                match sum {
                    // Squares of small numbers may be 0.
                    0.0 => own,
                    sum => quotient(squares[at], sum)?.sqrt() * if own < 0.0 { -1.0 } else { 1.0 },
                }
            }
        };
        Ok(Number::Single(value))
    }
}

fn single(number: Number) -> Result<f32, NoValue> {
    match number.cast(Kind::Single)? {
        Number::Single(x) if x.is_finite() => Ok(x),
        Number::Single(_) | Number::Double(_) | Number::Integer(_) => Err(NoValue::TooLarge),
    }
}

/// The square, computed in the kind of the number.
fn square(number: Number) -> Result<f32, NoValue> {
    single(match number {
        Number::Single(x) => Number::Single(x * x),
        Number::Double(x) => Number::Double(x * x),
        Number::Integer(x) if x.unsigned_abs() <= GREATEST_ROOT => Number::Integer(x * x),
        Number::Integer(_) => return Err(NoValue::TooLarge),
    })
}

/// The quotient by a norm; the number itself where that is 0.
fn quotient(own: f32, norm: f32) -> Result<f32, NoValue> {
    if !norm.is_finite() {
        return Err(NoValue::TooLarge);
    }
    Ok(if norm.abs() > 0.0 { own / norm } else { own })
}
