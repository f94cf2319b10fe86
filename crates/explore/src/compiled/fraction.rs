//! Compiled expressions whose value may be a fraction: two `i64`, without allocation.

use policert_model::{BinaryOp, Expr, UnaryOp};
use policert_numeric::{IntBox, Rational};

use super::expression::IntegerExpr;

/// `num / den`, not necessarily in lowest terms; `den` is positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fraction {
    pub(super) num: i64,
    pub(super) den: i64,
}

/// An expression whose value is a number.
#[derive(Clone, Debug)]
pub(crate) enum FractionExpr {
    Integer(IntegerExpr),
    Constant(Fraction),
    Abs(Box<FractionExpr>),
    Binary(BinaryOp, Box<(FractionExpr, FractionExpr)>),
    /// Condition, value where it holds, value elsewhere.
    Ite(Box<(IntegerExpr, FractionExpr, FractionExpr)>),
    /// Cells and index.
    Cell(Box<[FractionExpr]>, Box<FractionExpr>),
    /// Only the reference evaluates it.
    Reference,
}

impl FractionExpr {
    /// Compiles an expression on points of `domains`.
    pub(crate) fn new(expr: &Expr, domains: &IntBox) -> Self {
        let new = |e: &Expr| Self::new(e, domains);
        match expr {
            _ if expr.is_integral() => Self::Integer(IntegerExpr::new(expr, domains)),
            Expr::Constant(c) => Fraction::from_rational(c).map_or(Self::Reference, Self::Constant),
            Expr::Unary(UnaryOp::Abs, a) => Self::Abs(Box::new(new(a))),
            Expr::Binary(op, a, b) if *op != BinaryOp::Pow => {
                Self::Binary(*op, Box::new((new(a), new(b))))
            }
            Expr::Ite(c, a, b) => {
                Self::Ite(Box::new((IntegerExpr::truth_of(c, domains), new(a), new(b))))
            }
            Expr::Cell { cells, index } => {
                Self::Cell(cells.iter().map(new).collect(), Box::new(new(index)))
            }
            _ => Self::Reference,
        }
    }

    /// The value; `None` where it is not settled here.
    pub(crate) fn value(&self, point: &[i64]) -> Option<Fraction> {
        match self {
            Self::Integer(a) => a.value(point).map(Fraction::integer),
            Self::Constant(value) => Some(*value),
            Self::Abs(a) => {
                let a = a.value(point)?;
                if a.num < 0 { a.checked_neg() } else { Some(a) }
            }
            Self::Binary(op, operands) => {
                let (a, b) = (operands.0.value(point)?, operands.1.value(point)?);
                match op {
                    BinaryOp::Add => a.plus(b),
                    BinaryOp::Sub => a.plus(b.checked_neg()?),
                    BinaryOp::Mul => a.times(b),
                    BinaryOp::Div => a.over(b),
                    BinaryOp::Min => Some(if b.less(a) { b } else { a }),
                    BinaryOp::Max => Some(if a.less(b) { b } else { a }),
                    // A modulus of fractions is rare.
                    _ => None,
                }
            }
            Self::Ite(parts) => {
                let (condition, then, otherwise) = &**parts;
                if condition.value(point)? != 0 {
                    then.value(point)
                } else {
                    otherwise.value(point)
                }
            }
            Self::Cell(cells, index) => {
                let index = index.value(point)?.to_integer()?;
                cells.get(usize::try_from(index).ok()?)?.value(point)
            }
            Self::Reference => None,
        }
    }
}

impl Fraction {
    pub(super) fn integer(num: i64) -> Self {
        Self { num, den: 1 }
    }

    /// The nearest number in double precision, almost: numerator and denominator are rounded first.
    pub(crate) fn to_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "rounding is meant")]
        let quotient = self.num as f64 / self.den as f64;
        quotient
    }

    fn from_rational(value: &Rational) -> Option<Self> {
        let (num, den) = value.to_small_parts()?;
        Some(Self { num, den: i64::try_from(den).ok()? })
    }

    /// The integer that it is, if it is one.
    #[inline]
    pub(super) fn to_integer(self) -> Option<i64> {
        match self.den {
            1 => Some(self.num),
            den if self.num % den == 0 => Some(self.num / den),
            _ => None,
        }
    }

    /// Rounded, or its sign.
    #[inline]
    pub(super) fn rounded(self, op: UnaryOp) -> Option<i64> {
        match op {
            UnaryOp::Floor => Some(self.num.div_euclid(self.den)),
            UnaryOp::Ceil => self.num.checked_neg()?.div_euclid(self.den).checked_neg(),
            UnaryOp::Truncate => Some(self.num / self.den),
            UnaryOp::Sign => Some(self.num.signum()),
            UnaryOp::Not | UnaryOp::Abs => None,
        }
    }

    fn checked_neg(self) -> Option<Self> {
        Some(Self { num: self.num.checked_neg()?, den: self.den })
    }

    fn plus(self, other: Self) -> Option<Self> {
        if self.den == other.den {
            return Some(Self { num: self.num.checked_add(other.num)?, den: self.den });
        }
        let left = self.num.checked_mul(other.den)?;
        let right = other.num.checked_mul(self.den)?;
        Some(Self { num: left.checked_add(right)?, den: self.den.checked_mul(other.den)? })
    }

    fn times(self, other: Self) -> Option<Self> {
        let num = self.num.checked_mul(other.num)?;
        Some(Self { num, den: self.den.checked_mul(other.den)? })
    }

    /// The quotient; 0/0 is 0, as everywhere.
    fn over(self, other: Self) -> Option<Self> {
        match other.num {
            0 if self.num == 0 => Some(Self::integer(0)),
            0 => None,
            num if num > 0 => self.times(Self { num: other.den, den: num }),
            num => self.times(Self { num: -other.den, den: num.checked_neg()? }),
        }
    }

    fn less(self, other: Self) -> bool {
        if self.den == other.den {
            return self.num < other.num;
        }
        i128::from(self.num) * i128::from(other.den) < i128::from(other.num) * i128::from(self.den)
    }

    /// The truth of a comparison.
    pub(super) fn compare(self, op: BinaryOp, other: Self) -> Option<bool> {
        match op {
            BinaryOp::Eq => Some(!self.less(other) && !other.less(self)),
            BinaryOp::Ne => Some(self.less(other) || other.less(self)),
            BinaryOp::Lt => Some(self.less(other)),
            BinaryOp::Le => Some(!other.less(self)),
            _ => None,
        }
    }
}
