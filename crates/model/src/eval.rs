//! Exact evaluation of expressions in a state.
//!
//! Logical operators are strong Kleene: an operand that decides the result decides it even where
//! the other operand has no value, in whatever order they stand. So a division by zero behind
//! `x ≠ 0 ∧ …` does no harm, and reasoning over boxes may look at operands in any order.

use policert_numeric::Rational;
use thiserror::Error;

use crate::{BinaryOp, Expr, UnaryOp};

/// Says why an expression has no value in a state.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Division or modulus by zero, see [`BY_ZERO`].
    #[error("division of {0} by zero")]
    DivisionByZero(Rational),
    /// An array cell that does not exist.
    #[error("no cell {index}: the array has cells 0 to {last}")]
    NoSuchCell {
        /// The index asked for.
        index: Rational,
        /// The last cell that exists.
        last: i64,
    },
    /// A power that is not an exact rational, or beyond any reasonable size.
    #[error("{0} to the power {1} has no exact value")]
    Power(Rational, Rational),
    /// A transient variable outside a transition: our own mistake, never the model's.
    #[error("a transient variable outside a transition")]
    Transient,
    /// A variable that the state does not have: our own mistake, never the model's.
    #[error("variable {0} outside the state")]
    NoSuchVariable(u32),
}

/// The meaning of division and modulus by zero, in words.
pub const BY_ZERO: &str = "0/0 and 0 % 0 are 0; any other division or modulus by 0 has no value";

/// The value of an evaluation, or why there is none.
pub type EvalResult = Result<Rational, EvalError>;

fn truth(value: bool) -> Rational {
    Rational::from(i64::from(value))
}

impl Expr {
    /// The value in `state`.
    ///
    /// # Errors
    /// Fails if the expression has no value there, see [`EvalError`].
    pub fn eval(&self, state: &[i64]) -> EvalResult {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Var(v) => match state.get(v.index()) {
                Some(&value) => Ok(Rational::from(value)),
                None => Err(EvalError::NoSuchVariable(v.0)),
            },
            Self::Transient(_) => Err(EvalError::Transient),
            Self::Unary(op, a) => a.eval(state).map(|a| unary(*op, &a)),
            Self::Binary(op, a, b) => match op {
                BinaryOp::And => decided_by(a, b, state, false),
                BinaryOp::Or => decided_by(a, b, state, true),
                BinaryOp::Implies => {
                    let left = a.holds(state);
                    if left == Ok(false) {
                        return Ok(truth(true));
                    }
                    match b.holds(state) {
                        Ok(true) => Ok(truth(true)),
                        right => Ok(truth(!left? || right?)),
                    }
                }
                _ => binary(*op, &a.eval(state)?, &b.eval(state)?),
            },
            Self::Ite(c, a, b) => {
                if c.holds(state)? {
                    a.eval(state)
                } else {
                    b.eval(state)
                }
            }
            Self::Cell { cells, index } => {
                let index = index.eval(state)?;
                match index.to_i64().and_then(|i| cells.get(usize::try_from(i).ok()?)) {
                    Some(cell) => cell.eval(state),
                    None => Err(EvalError::NoSuchCell {
                        index,
                        last: i64::try_from(cells.len()).unwrap_or(i64::MAX) - 1,
                    }),
                }
            }
        }
    }

    /// The truth value in `state`.
    ///
    /// # Errors
    /// Fails if the expression has no value there.
    pub fn holds(&self, state: &[i64]) -> Result<bool, EvalError> {
        self.eval(state).map(|value| value.signum() != 0)
    }
}

/// Conjunction (`deciding` false) or disjunction (`deciding` true).
fn decided_by(a: &Expr, b: &Expr, state: &[i64], deciding: bool) -> EvalResult {
    let left = a.holds(state);
    if left == Ok(deciding) {
        return Ok(truth(deciding));
    }
    match b.holds(state) {
        Ok(right) if right == deciding => Ok(truth(deciding)),
        right => {
            left?;
            right.map(truth)
        }
    }
}

fn unary(op: UnaryOp, a: &Rational) -> Rational {
    match op {
        UnaryOp::Not => truth(a.signum() == 0),
        UnaryOp::Floor => a.floor(),
        UnaryOp::Ceil => a.ceil(),
        UnaryOp::Truncate => a.trunc(),
        UnaryOp::Abs => a.abs(),
        UnaryOp::Sign => Rational::from(i64::from(a.signum())),
    }
}

fn binary(op: BinaryOp, a: &Rational, b: &Rational) -> EvalResult {
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::Mod if a.is_zero() && b.is_zero() => Rational::ZERO,
        BinaryOp::Div => a.checked_div(b).ok_or_else(|| EvalError::DivisionByZero(a.clone()))?,
        BinaryOp::Mod => a.modulus(b).ok_or_else(|| EvalError::DivisionByZero(a.clone()))?,
        BinaryOp::Pow => b
            .to_i64()
            .and_then(|e| i32::try_from(e).ok())
            .filter(|e| e.unsigned_abs() <= 4096)
            .and_then(|e| a.pow(e))
            .ok_or_else(|| EvalError::Power(a.clone(), b.clone()))?,
        BinaryOp::Min => Ord::min(a, b).clone(),
        BinaryOp::Max => Ord::max(a, b).clone(),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::And => truth(a.signum() != 0 && b.signum() != 0),
        BinaryOp::Or => truth(a.signum() != 0 || b.signum() != 0),
        BinaryOp::Implies => truth(a.signum() == 0 || b.signum() != 0),
    })
}
