//! What becomes of numbers of the states that a property is about, and what they are compared with.

use policert_numeric::Rational;

/// Says what a filter makes of the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the format")]
pub enum FilterFunction {
    Min,
    Max,
    Sum,
    Avg,
    Count,
    Forall,
    Exists,
    ArgMin,
    ArgMax,
    Values,
}

impl FilterFunction {
    /// All functions, with their names in the format.
    pub const ALL: [(&'static str, Self); 10] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("sum", Self::Sum),
        ("avg", Self::Avg),
        ("count", Self::Count),
        ("∀", Self::Forall),
        ("∃", Self::Exists),
        ("argmin", Self::ArgMin),
        ("argmax", Self::ArgMax),
        ("values", Self::Values),
    ];
}

/// A comparison of a quantity with a bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityComparison {
    /// The relation, with the quantity on the left.
    pub relation: Relation,
    /// The bound.
    pub bound: Rational,
}

/// A relation between numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    NotEqual,
}

impl Relation {
    /// The relation that holds between exchanged sides.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }

    /// Returns whether it holds.
    #[must_use]
    pub fn holds(self, left: &Rational, right: &Rational) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}
