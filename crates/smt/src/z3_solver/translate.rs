//! Terms and formulas as Z3's.

use policert_numeric::Rational;
use z3::ast::{Bool, Int, Real};

use crate::{Formula, Symbol, Term};

/// A numeric term of Z3; integers turn into reals where both meet.
#[derive(Clone, Debug)]
pub enum Numeral {
    /// Of integer sort.
    Int(Int),
    /// Of real sort.
    Real(Real),
}

/// Two terms of one sort.
enum Pair {
    Int(Int, Int),
    Real(Real, Real),
}

impl Numeral {
    fn into_real(self) -> Real {
        match self {
            Self::Int(term) => term.to_real(),
            Self::Real(term) => term,
        }
    }

    fn with(self, other: Self) -> Pair {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Pair::Int(a, b),
            (a, b) => Pair::Real(a.into_real(), b.into_real()),
        }
    }

    fn constant(value: &Rational) -> Self {
        match value.to_small_parts() {
            Some((num, 1)) => Self::Int(Int::from_i64(num)),
            Some((num, den)) if i64::try_from(den).is_ok() => {
                Self::Real(Real::from_rational(num, den.cast_signed()))
            }
            _ => {
                let (num, den) = value.to_parts();
                let (num, den) = (num.to_string(), den.to_string());
                let real = Real::from_rational_str(&num, &den);
                Self::Real(real.expect("digits are a number"))
            }
        }
    }
}

/// Translates terms over declared symbols.
pub struct Translator<'a> {
    /// By symbol index.
    pub symbols: &'a [Numeral],
}

impl Translator<'_> {
    pub fn formula(&self, formula: &Formula) -> Bool {
        match formula {
            Formula::Constant(value) => Bool::from_bool(*value),
            Formula::Le(a, b) => match self.pair(a, b) {
                Pair::Int(a, b) => a.le(b),
                Pair::Real(a, b) => a.le(b),
            },
            Formula::Lt(a, b) => match self.pair(a, b) {
                Pair::Int(a, b) => a.lt(b),
                Pair::Real(a, b) => a.lt(b),
            },
            Formula::Eq(a, b) => match self.pair(a, b) {
                Pair::Int(a, b) => a.eq(b),
                Pair::Real(a, b) => a.eq(b),
            },
            Formula::Not(a) => self.formula(a).not(),
            Formula::And(parts) => Bool::and(&self.formulas(parts)),
            Formula::Or(parts) => Bool::or(&self.formulas(parts)),
            Formula::Iff(a, b) => self.formula(a).iff(self.formula(b)),
        }
    }

    fn formulas(&self, parts: &[Formula]) -> Vec<Bool> {
        parts.iter().map(|part| self.formula(part)).collect()
    }

    fn pair(&self, a: &Term, b: &Term) -> Pair {
        self.term(a).with(self.term(b))
    }

    fn symbol(&self, symbol: Symbol) -> Numeral {
        self.symbols[symbol.index()].clone()
    }

    fn term(&self, term: &Term) -> Numeral {
        match term {
            Term::Constant(value) => Numeral::constant(value),
            Term::Symbol(symbol) => self.symbol(*symbol),
            Term::Sum(parts) => sum(parts.iter().map(|part| self.term(part)).collect()),
            Term::Scaled(factor, term) => product(Numeral::constant(factor), self.term(term)),
            Term::Product(a, b) => product(self.term(a), self.term(b)),
            Term::Quotient(a, b) => {
                Numeral::Real(self.term(a).into_real().div(self.term(b).into_real()))
            }
            Term::Modulus(a, b) => modulus(self.pair(a, b)),
            Term::Floor(a) => match self.term(a) {
                Numeral::Real(a) => Numeral::Int(a.to_int()),
                int @ Numeral::Int(_) => int,
            },
            Term::Abs(a) => match self.term(a) {
                Numeral::Int(a) => Numeral::Int(a.lt(0).ite(&a.unary_minus(), &a)),
                Numeral::Real(a) => Numeral::Real(negative(&a).ite(&a.unary_minus(), &a)),
            },
            Term::Min(a, b) => match self.pair(a, b) {
                Pair::Int(a, b) => Numeral::Int(a.le(&b).ite(&a, &b)),
                Pair::Real(a, b) => Numeral::Real(a.le(&b).ite(&a, &b)),
            },
            Term::Max(a, b) => match self.pair(a, b) {
                Pair::Int(a, b) => Numeral::Int(a.le(&b).ite(&b, &a)),
                Pair::Real(a, b) => Numeral::Real(a.le(&b).ite(&b, &a)),
            },
            Term::Ite(condition, then, otherwise) => {
                let condition = self.formula(condition);
                match self.pair(then, otherwise) {
                    Pair::Int(a, b) => Numeral::Int(condition.ite(&a, &b)),
                    Pair::Real(a, b) => Numeral::Real(condition.ite(&a, &b)),
                }
            }
        }
    }
}

fn sum(parts: Vec<Numeral>) -> Numeral {
    let ints: Option<Vec<Int>> = parts
        .iter()
        .map(|part| match part {
            Numeral::Int(part) => Some(part.clone()),
            Numeral::Real(_) => None,
        })
        .collect();
    match ints {
        Some(ints) => Numeral::Int(Int::add(&ints)),
        None => {
            let reals: Vec<Real> = parts.into_iter().map(Numeral::into_real).collect();
            Numeral::Real(Real::add(&reals))
        }
    }
}

fn product(a: Numeral, b: Numeral) -> Numeral {
    match a.with(b) {
        Pair::Int(a, b) => Numeral::Int(Int::mul(&[a, b])),
        Pair::Real(a, b) => Numeral::Real(Real::mul(&[a, b])),
    }
}

/// SMT-LIB's `mod` of integers is the mathematical one; for reals it is spelled out.
fn modulus(pair: Pair) -> Numeral {
    match pair {
        Pair::Int(a, b) => Numeral::Int(a.modulo(b)),
        Pair::Real(a, b) => {
            let size = negative(&b).ite(&b.unary_minus(), &b);
            let quotient = a.div(&size).to_int().to_real();
            Numeral::Real(Real::sub(&[a, Real::mul(&[size, quotient])]))
        }
    }
}

fn negative(a: &Real) -> Bool {
    a.lt(Real::from_rational(0, 1))
}
