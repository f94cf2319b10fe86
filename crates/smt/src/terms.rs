//! Solver-neutral terms over integers and reals, and formulas over them, with exact meaning.

mod eval;
#[cfg(test)]
mod tests;

use policert_numeric::Rational;

/// The numbers that a symbol ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// All integers.
    Int,
    /// All reals.
    Real,
}

/// A free variable of formulas: an index into the symbols that a solver declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(u32);

impl Symbol {
    /// The symbol of index `index`.
    ///
    /// # Panics
    /// If `index` does not fit 32 bits: nobody declares that many.
    #[must_use]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("more than 2^32 symbols"))
    }

    /// Its index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number. Build with the constructors: they fold constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A rational constant.
    Constant(Rational),
    /// A symbol's value.
    Symbol(Symbol),
    /// The sum; 0 when empty.
    Sum(Vec<Term>),
    /// A constant times a term.
    Scaled(Rational, Box<Term>),
    /// A product of two terms.
    Product(Box<Term>, Box<Term>),
    /// Real division. No value where the divisor is 0.
    Quotient(Box<Term>, Box<Term>),
    /// Mathematical modulus, in `[0, |divisor|)`. No value where the divisor is 0.
    Modulus(Box<Term>, Box<Term>),
    /// The greatest integer below or equal.
    Floor(Box<Term>),
    /// The absolute value.
    Abs(Box<Term>),
    /// The lesser of two.
    Min(Box<Term>, Box<Term>),
    /// The greater of two.
    Max(Box<Term>, Box<Term>),
    /// If, then, else.
    Ite(Box<Formula>, Box<Term>, Box<Term>),
}

/// A truth value. Build with the constructors: they fold constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// Less than or equal.
    Le(Term, Term),
    /// Less than.
    Lt(Term, Term),
    /// Equal.
    Eq(Term, Term),
    /// Negation.
    Not(Box<Formula>),
    /// All hold; true when empty.
    And(Vec<Formula>),
    /// One holds; false when empty.
    Or(Vec<Formula>),
    /// Both or none hold.
    Iff(Box<Formula>, Box<Formula>),
}

impl From<Symbol> for Term {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol)
    }
}

impl Term {
    /// An integer constant.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Constant(Rational::from(value))
    }

    /// The constant it is, if it is one.
    #[must_use]
    pub fn as_constant(&self) -> Option<&Rational> {
        match self {
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// `a + b + …`: constants are added up, and sums inside are flattened.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut constant = Rational::ZERO;
        let mut rest = Vec::new();
        for part in parts {
            match part {
                Self::Constant(value) => constant += &value,
                Self::Sum(inner) => rest.extend(inner),
                other => rest.push(other),
            }
        }
        if !constant.is_zero() {
            rest.push(Self::Constant(constant));
        }
        match rest.len() {
            0 => Self::int(0),
            1 => rest.swap_remove(0),
            _ => Self::Sum(rest),
        }
    }

    /// `factor · self`.
    #[must_use]
    pub fn scaled(self, factor: &Rational) -> Self {
        match self {
            _ if factor.is_zero() => Self::int(0),
            Self::Constant(value) => Self::Constant(&value * factor),
            Self::Scaled(inner, term) => Self::Scaled(&inner * factor, term),
            term if *factor == Rational::ONE => term,
            term => Self::Scaled(factor.clone(), Box::new(term)),
        }
    }

    /// `−self`.
    #[must_use]
    pub fn negated(self) -> Self {
        self.scaled(&Rational::from(-1))
    }

    /// `self · other`.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(factor), term) | (term, Self::Constant(factor)) => term.scaled(&factor),
            (a, b) => Self::Product(Box::new(a), Box::new(b)),
        }
    }

    /// `self / divisor`; the divisor must differ from 0 where the result matters.
    #[must_use]
    pub fn over(self, divisor: Self) -> Self {
        match divisor.as_constant().and_then(Rational::recip) {
            Some(factor) => self.scaled(&factor),
            None => Self::Quotient(Box::new(self), Box::new(divisor)),
        }
    }

    /// `self mod divisor`; the divisor must differ from 0 where the result matters.
    #[must_use]
    pub fn modulo(self, divisor: Self) -> Self {
        Self::Modulus(Box::new(self), Box::new(divisor)).folded()
    }

    /// `⌊self⌋`.
    #[must_use]
    pub fn floor(self) -> Self {
        Self::Floor(Box::new(self)).folded()
    }

    /// `⌈self⌉`.
    #[must_use]
    pub fn ceil(self) -> Self {
        self.negated().floor().negated()
    }

    /// `|self|`.
    #[must_use]
    pub fn abs(self) -> Self {
        Self::Abs(Box::new(self)).folded()
    }

    /// The lesser one.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self::Min(Box::new(self), Box::new(other)).folded()
    }

    /// The greater one.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self::Max(Box::new(self), Box::new(other)).folded()
    }

    /// If `condition` then `then` else `otherwise`.
    #[must_use]
    pub fn ite(condition: Formula, then: Self, otherwise: Self) -> Self {
        match condition {
            Formula::Constant(true) => then,
            Formula::Constant(false) => otherwise,
            _ if then == otherwise => then,
            condition => Self::Ite(Box::new(condition), Box::new(then), Box::new(otherwise)),
        }
    }

    /// `self ≤ other`.
    #[must_use]
    pub fn le(self, other: Self) -> Formula {
        Formula::Le(self, other).folded()
    }

    /// `self < other`.
    #[must_use]
    pub fn lt(self, other: Self) -> Formula {
        Formula::Lt(self, other).folded()
    }

    /// `self = other`.
    #[must_use]
    pub fn equals(self, other: Self) -> Formula {
        Formula::Eq(self, other).folded()
    }

    /// The constant that an operator over constants stands for.
    fn folded(self) -> Self {
        let constant = |term: &Self| term.as_constant().is_some();
        let closed = match &self {
            Self::Floor(a) | Self::Abs(a) => constant(a),
            Self::Modulus(a, b) | Self::Min(a, b) | Self::Max(a, b) => constant(a) && constant(b),
            _ => false,
        };
        let value = if closed { self.eval(&[]) } else { None };
        value.map_or(self, Self::Constant)
    }
}

impl Formula {
    /// All of `parts`.
    #[must_use]
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Constant(true) => {}
                Self::Constant(false) => return Self::Constant(false),
                Self::And(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => Self::Constant(true),
            1 => all.swap_remove(0),
            _ => Self::And(all),
        }
    }

    /// One of `parts`.
    #[must_use]
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Constant(false) => {}
                Self::Constant(true) => return Self::Constant(true),
                Self::Or(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => Self::Constant(false),
            1 => all.swap_remove(0),
            _ => Self::Or(all),
        }
    }

    /// `¬self`.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            Self::Le(a, b) => Self::Lt(b, a),
            Self::Lt(a, b) => Self::Le(b, a),
            other => Self::Not(Box::new(other)),
        }
    }

    /// `self ⇔ other`.
    #[must_use]
    pub fn iff(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(true), f) | (f, Self::Constant(true)) => f,
            (Self::Constant(false), f) | (f, Self::Constant(false)) => f.negate(),
            (a, b) => Self::Iff(Box::new(a), Box::new(b)),
        }
    }

    /// The truth value of a comparison of constants.
    fn folded(self) -> Self {
        let (Self::Le(a, b) | Self::Lt(a, b) | Self::Eq(a, b)) = &self else { return self };
        if a.as_constant().is_none() || b.as_constant().is_none() {
            return self;
        }
        self.eval(&[]).map_or(self, Self::Constant)
    }
}
