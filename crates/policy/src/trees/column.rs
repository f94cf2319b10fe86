//! What a file computes from its inputs before the trees ask, as its library computes it.
//!
//! A column is a function of inputs, in the library's own arithmetic. Each step is monotone, or
//! looks values up in a list; so where a column begins with one input, the integers fall into pieces on
//! which it is monotone, and where a question changes its answer is found by bisection.

use std::fmt;
use std::sync::Arc;

use policert_numeric::IntInterval;

use super::normalised::Normalised;

/// A number, as a library stores it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// Single precision.
    Single(f32),
    /// Double precision.
    Double(f64),
    /// An integer.
    Integer(i64),
}

/// The type in which numbers of a column are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// In single precision.
    Single,
    /// In double precision.
    Double,
    /// As integers.
    Integer,
}

/// A column that trees read: what it begins with, after some steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// What it begins with.
    pub source: Source,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// What a column begins with.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// An input, and the kind in which the file reads it.
    Input(usize, Kind),
    /// An entry of a row of columns that are divided by their norm.
    Normalised(Arc<Normalised>, usize),
}

/// The value of an input.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Reading {
    Integer(i64),
    Real(f64),
}

impl Reading {
    /// The number that a file reads.
    fn read(self, kind: Kind) -> Result<Number, NoValue> {
        let number = match self {
            Self::Integer(value) => Number::Integer(value),
            Self::Real(value) if kind == Kind::Integer && value.fract().abs() > 0.0 => {
                return Err(NoValue::NoInteger);
            }
            Self::Real(value) => Number::Double(value),
        };
        let number = number.cast(kind)?;
        if number.is_finite() { Ok(number) } else { Err(NoValue::TooLarge) }
    }
}

/// A step of a column. Operands are of the kind of the number that they meet.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// The number in another kind; integers by cutting off what is behind the point.
    Cast(Kind),
    /// An operation whose second operand is constant.
    Arithmetic(Arithmetic, Number),
    /// The greater one of the number and a constant.
    AtLeast(Number),
    /// The smaller one of the number and a constant.
    AtMost(Number),
    /// One above a constant, else zero.
    Above(Number),
    /// The number itself, which must be one of these, ascending.
    Among(Arc<[Number]>),
    /// Another number for some numbers.
    Lookup(Arc<Lookup>),
}

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient.
    Div,
}

/// A list of numbers and what stands for them.
#[derive(Clone, PartialEq, Debug)]
pub struct Lookup {
    /// Numbers, ascending, and the ones that stand for them.
    pub entries: Vec<(Number, Number)>,
    /// The number that stands for all others; `None` leaves them as they are.
    pub otherwise: Option<Number>,
}

/// The reason why a column has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoValue {
    /// A number is not among those that are known.
    Unknown,
    /// A number gets too large for its kind.
    TooLarge,
    /// An input is to be an integer and is none.
    NoInteger,
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => {
                "it is none of the categories that the file knows, and the library stops there: \
                 bound the variable, or let the encoder ignore unknown ones \
                 (handle_unknown=\"ignore\")"
            }
            Self::TooLarge => "the file computes no finite number of it",
            Self::NoInteger => "the file reads integers",
        })
    }
}

impl Number {
    /// Returns the number in another kind.
    pub(super) fn cast(self, kind: Kind) -> Result<Self, NoValue> {
        /// The integers of 64 bits lie below it.
        const END: f64 = 9_223_372_036_854_775_808.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "the library rounds"
        )]
        Ok(match (kind, self) {
            (Kind::Single, Self::Single(_))
            | (Kind::Double, Self::Double(_))
            | (Kind::Integer, Self::Integer(_)) => self,
            (Kind::Single, Self::Double(x)) => Self::Single(x as f32),
            (Kind::Single, Self::Integer(x)) => Self::Single(x as f32),
            (Kind::Double, Self::Single(x)) => Self::Double(f64::from(x)),
            (Kind::Double, Self::Integer(x)) => Self::Double(x as f64),
            (Kind::Integer, Self::Single(_) | Self::Double(_)) => {
                let x = self.to_f64();
                if !(-END..END).contains(&x) {
                    return Err(NoValue::TooLarge);
                }
                Self::Integer(x as i64)
            }
        })
    }

    /// Returns the integer that the number is, if it is one.
    pub(crate) fn to_integer(self) -> Option<i64> {
        match self {
            Self::Integer(x) => Some(x),
            Self::Single(_) | Self::Double(_) if self.to_f64().fract().abs() <= 0.0 => {
                self.cast(Kind::Integer).ok().and_then(Self::to_integer)
            }
            Self::Single(_) | Self::Double(_) => None,
        }
    }

    /// Returns the number as trees compare it: integers are read in single precision.
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Single(x) => f64::from(x),
            Self::Double(x) => x,
            #[expect(clippy::cast_precision_loss, reason = "the library rounds")]
            Self::Integer(x) => f64::from(x as f32),
        }
    }

    /// Returns how it is stored.
    pub fn kind(self) -> Kind {
        match self {
            Self::Single(_) => Kind::Single,
            Self::Double(_) => Kind::Double,
            Self::Integer(_) => Kind::Integer,
        }
    }

    /// Returns whether it is below another number of its kind.
    pub fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(x), Self::Integer(y)) => x < y,
            (x, y) => x.to_f64() < y.to_f64(),
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Self::Single(x) => x.is_finite(),
            Self::Double(x) => x.is_finite(),
            Self::Integer(_) => true,
        }
    }
}

impl Kind {
    /// Returns the number that stands for a truth value.
    pub fn truth(self, truth: bool) -> Number {
        match self {
            Self::Single => Number::Single(f32::from(u8::from(truth))),
            Self::Double => Number::Double(f64::from(u8::from(truth))),
            Self::Integer => Number::Integer(i64::from(truth)),
        }
    }
}

impl Arithmetic {
    fn of(self, x: Number, y: Number) -> Result<Number, NoValue> {
        Ok(match (x, y) {
            (Number::Single(x), Number::Single(y)) => Number::Single(match self {
                Self::Add => x + y,
                Self::Sub => x - y,
                Self::Mul => x * y,
                Self::Div => x / y,
            }),
            (Number::Double(x), Number::Double(y)) => Number::Double(match self {
                Self::Add => x + y,
                Self::Sub => x - y,
                Self::Mul => x * y,
                Self::Div => x / y,
            }),
            // Readers make the operands those of one kind, and not of integers.
            _ => return Err(NoValue::NoInteger),
        })
    }
}

impl Lookup {
    fn of(&self, number: Number) -> Number {
        let at = self.entries.partition_point(|(key, _)| key.is_below(number));
        match self.entries.get(at) {
            Some((key, value)) if !number.is_below(*key) => *value,
            Some(_) | None => self.otherwise.unwrap_or(number),
        }
    }
}

impl Step {
    fn of(&self, number: Number) -> Result<Number, NoValue> {
        let value = match self {
            Self::Cast(kind) => number.cast(*kind)?,
            Self::Arithmetic(arithmetic, constant) => arithmetic.of(number, *constant)?,
            Self::AtLeast(least) => {
                if number.is_below(*least) {
                    *least
                } else {
                    number
                }
            }
            Self::AtMost(most) => {
                if most.is_below(number) {
                    *most
                } else {
                    number
                }
            }
            Self::Above(threshold) => number.kind().truth(threshold.is_below(number)),
            Self::Among(known) => {
                let at = known.partition_point(|key| key.is_below(number));
                match known.get(at) {
                    Some(key) if !number.is_below(*key) => number,
                    Some(_) | None => return Err(NoValue::Unknown),
                }
            }
            Self::Lookup(lookup) => lookup.of(number),
        };
        if value.is_finite() { Ok(value) } else { Err(NoValue::TooLarge) }
    }

    /// Returns the numbers at which it is not monotone, ascending.
    fn keys(&self) -> Box<dyn Iterator<Item = Number> + '_> {
        match self {
            Self::Cast(_)
            | Self::Arithmetic(..)
            | Self::AtLeast(_)
            | Self::AtMost(_)
            | Self::Above(_) => Box::new(std::iter::empty()),
            Self::Among(known) => Box::new(known.iter().copied()),
            Self::Lookup(lookup) => Box::new(lookup.entries.iter().map(|&(key, _)| key)),
        }
    }
}

impl Column {
    /// Returns the same column after further steps.
    #[must_use]
    pub(super) fn then(&self, steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = self.steps.iter().cloned().chain(steps).collect();
        Self { source: self.source.clone(), steps }
    }

    /// Returns the inputs that it reads.
    #[must_use]
    pub fn inputs(&self) -> Vec<usize> {
        match &self.source {
            Source::Input(input, _) => vec![*input],
            Source::Normalised(row, _) => row.row.iter().flat_map(Self::inputs).collect(),
        }
    }

    /// Returns the value for inputs that need not be integers, as trees compare it.
    pub(super) fn value(&self, inputs: &dyn Fn(usize) -> Reading) -> Result<f64, NoValue> {
        self.number(inputs).map(Number::to_f64)
    }

    /// Returns the value for these inputs.
    pub(super) fn number(&self, inputs: &dyn Fn(usize) -> Reading) -> Result<Number, NoValue> {
        self.at(self.steps.len(), inputs)
    }

    /// Returns the value if the only input that it reads is an integer.
    pub(super) fn value_at(&self, input: i64) -> Result<f64, NoValue> {
        self.value(&|_| Reading::Integer(input))
    }

    fn at(&self, steps: usize, inputs: &dyn Fn(usize) -> Reading) -> Result<Number, NoValue> {
        let first = match &self.source {
            Source::Input(input, kind) => inputs(*input).read(*kind)?,
            Source::Normalised(row, at) => row.entry(*at, inputs)?,
        };
        self.after(steps, first)
    }

    fn after(&self, steps: usize, read: Number) -> Result<Number, NoValue> {
        self.steps[..steps].iter().try_fold(read, |number, step| step.of(number))
    }

    /// Returns the ascending ends of pieces of a domain in each of which the column is monotone.
    ///
    /// # Errors
    /// An integer for which there is no value, and why.
    pub(super) fn pieces(&self, domain: IntInterval) -> Result<Vec<i64>, (i64, NoValue)> {
        let mut ends = vec![domain.hi];
        for (done, step) in self.steps.iter().enumerate() {
            let holds = |at: i64, condition: &dyn Fn(Number) -> bool| {
                self.at(done, &|_| Reading::Integer(at)).is_ok_and(condition)
            };
            let mut finer = Vec::with_capacity(ends.len());
            let mut first = domain.lo;
            for &last in &ends {
                for key in step.keys() {
                    let (is_below, is_above) =
                        (|number: Number| number.is_below(key), |number| key.is_below(number));
                    finer.extend(change(first, last, |at| holds(at, &is_below)));
                    finer.extend(change(first, last, |at| holds(at, &is_above)));
                }
                finer.push(last);
                first = last.saturating_add(1);
            }
            finer.sort_unstable();
            finer.dedup();
            ends = finer;
            // On a piece the values lie between those at its ends.
            let mut first = domain.lo;
            for &last in &ends {
                for at in [first, last] {
                    self.at(done + 1, &|_| Reading::Integer(at)).map_err(|why| (at, why))?;
                }
                first = last.saturating_add(1);
            }
        }
        Ok(ends)
    }
}

/// Returns the last integer between two that has the answer of the first one; the condition changes its answer at
/// most once between them. `None` if it does not.
pub(super) fn change(first: i64, last: i64, holds: impl Fn(i64) -> bool) -> Option<i64> {
    let answer = holds(first);
    if holds(last) == answer {
        return None;
    }
    let (mut low, mut high) = (first, last);
    // The first answer holds at `low`, the other one at `high`.
    while high.abs_diff(low) > 1 {
        let middle = low.midpoint(high);
        if holds(middle) == answer { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests;
