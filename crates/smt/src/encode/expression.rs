//! Expressions of the model as terms, each with the condition under which it has a value.

use policert_model::{BinaryOp, Expr, UnaryOp, VarId};

use crate::{Formula, SmtError, Term};

/// Powers with a larger exponent are not encoded: each is a chain of products.
const MAX_EXPONENT: u32 = 16;

/// Says what an expression stands for as a number.
struct Number {
    /// Its value wherever it has one.
    term: Term,
    /// Holds where it has a value.
    defined: Formula,
}

/// Says what an expression stands for as a truth value. Neither holds where it has no value.
pub struct TruthFormulas {
    /// Holds where the expression is true.
    pub holds: Formula,
    /// Holds where the expression is false.
    pub fails: Formula,
}

impl TruthFormulas {
    fn negate(self) -> Self {
        Self { holds: self.fails, fails: self.holds }
    }

    fn and(self, other: Self) -> Self {
        Self {
            holds: Formula::and([self.holds, other.holds]),
            fails: Formula::or([self.fails, other.fails]),
        }
    }

    fn or(self, other: Self) -> Self {
        self.negate().and(other.negate()).negate()
    }
}

/// Encodes expressions over the variables whose terms `term_of` gives.
pub struct Encoder<'a> {
    /// The term of a variable; `None` if the frame lacks it.
    pub term_of: &'a dyn Fn(VarId) -> Option<Term>,
}

impl Encoder<'_> {
    /// A numeric expression: its term, and where that is its value.
    pub fn value(&self, expr: &Expr) -> Result<(Term, Formula), SmtError> {
        self.number(expr).map(|number| (number.term, number.defined))
    }

    /// A truth value.
    pub fn truth(&self, expr: &Expr) -> Result<TruthFormulas, SmtError> {
        match expr {
            Expr::Unary(UnaryOp::Not, a) => Ok(self.truth(a)?.negate()),
            Expr::Binary(BinaryOp::And, a, b) => Ok(self.truth(a)?.and(self.truth(b)?)),
            Expr::Binary(BinaryOp::Or, a, b) => Ok(self.truth(a)?.or(self.truth(b)?)),
            Expr::Binary(BinaryOp::Implies, a, b) => Ok(self.truth(a)?.negate().or(self.truth(b)?)),
            Expr::Binary(BinaryOp::Ne, a, b) => Ok(self.equality(a, b)?.negate()),
            Expr::Binary(BinaryOp::Eq, a, b) => self.equality(a, b),
            Expr::Binary(BinaryOp::Lt, a, b) => self.comparison(a, b, Term::lt),
            Expr::Binary(BinaryOp::Le, a, b) => self.comparison(a, b, Term::le),
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (self.truth(c)?, self.truth(a)?, self.truth(b)?);
                let either = |a, b| {
                    Formula::or([
                        Formula::and([c.holds.clone(), a]),
                        Formula::and([c.fails.clone(), b]),
                    ])
                };
                Ok(TruthFormulas {
                    holds: either(a.holds, b.holds),
                    fails: either(a.fails, b.fails),
                })
            }
            _ => {
                let Number { term, defined } = self.number(expr)?;
                let zero = term.equals(Term::int(0));
                Ok(TruthFormulas {
                    holds: Formula::and([defined.clone(), zero.clone().negate()]),
                    fails: Formula::and([defined, zero]),
                })
            }
        }
    }

    fn equality(&self, a: &Expr, b: &Expr) -> Result<TruthFormulas, SmtError> {
        if a.is_boolean_operator() && b.is_boolean_operator() && a.is_total() && b.is_total() {
            let same = self.truth(a)?.holds.iff(self.truth(b)?.holds);
            return Ok(TruthFormulas { holds: same.clone(), fails: same.negate() });
        }
        self.comparison(a, b, Term::equals)
    }

    fn comparison(
        &self,
        a: &Expr,
        b: &Expr,
        compare: fn(Term, Term) -> Formula,
    ) -> Result<TruthFormulas, SmtError> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        let defined = Formula::and([a.defined, b.defined]);
        let holds = compare(a.term, b.term);
        Ok(TruthFormulas {
            holds: Formula::and([defined.clone(), holds.clone()]),
            fails: Formula::and([defined, holds.negate()]),
        })
    }

    fn number(&self, expr: &Expr) -> Result<Number, SmtError> {
        let total = |term| Number { term, defined: Formula::Constant(true) };
        match expr {
            Expr::Constant(value) => Ok(total(Term::Constant(value.clone()))),
            Expr::Var(v) => (self.term_of)(*v)
                .map(total)
                .ok_or_else(|| SmtError::Unsupported(format!("variable {} has no term", v.0))),
            Expr::Transient(_) => {
                Err(SmtError::Unsupported("a transient variable outside a transition".to_owned()))
            }
            Expr::Unary(UnaryOp::Not, _) => self.truth_as_number(expr),
            Expr::Unary(op, a) => {
                let Number { term, defined } = self.number(a)?;
                Ok(Number { term: unary(*op, term), defined })
            }
            Expr::Binary(op, ..) if op.is_boolean() => self.truth_as_number(expr),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (self.truth(c)?, self.number(a)?, self.number(b)?);
                let defined = Formula::or([
                    Formula::and([c.holds.clone(), a.defined]),
                    Formula::and([c.fails, b.defined]),
                ]);
                let defined = if expr.is_total() { Formula::Constant(true) } else { defined };
                Ok(Number { term: Term::ite(c.holds, a.term, b.term), defined })
            }
            Expr::Cell { cells, index } => self.cell(cells, index),
        }
    }

    fn truth_as_number(&self, expr: &Expr) -> Result<Number, SmtError> {
        let truth = self.truth(expr)?;
        let defined = if expr.is_total() {
            Formula::Constant(true)
        } else {
            Formula::or([truth.holds.clone(), truth.fails])
        };
        Ok(Number { term: Term::ite(truth.holds, Term::int(1), Term::int(0)), defined })
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Number, SmtError> {
        if op == BinaryOp::Pow {
            return self.power(a, b);
        }
        let (a, b) = (self.number(a)?, self.number(b)?);
        let mut defined = Formula::and([a.defined, b.defined]);
        let (a, b) = (a.term, b.term);
        let term = match op {
            BinaryOp::Add => Term::sum([a, b]),
            BinaryOp::Sub => Term::sum([a, b.negated()]),
            BinaryOp::Mul => a.times(b),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::Div => {
                // 0/0 is 0.
                let b_zero = b.clone().equals(Term::int(0));
                let a_zero = a.clone().equals(Term::int(0));
                let some_value = Formula::or([b_zero.clone().negate(), a_zero]);
                defined = Formula::and([defined, some_value]);
                Term::ite(b_zero, Term::int(0), a.over(b))
            }
            BinaryOp::Mod => {
                // So is 0 % 0.
                let b_zero = b.clone().equals(Term::int(0));
                let a_zero = a.clone().equals(Term::int(0));
                let some_value = Formula::or([b_zero.clone().negate(), a_zero]);
                defined = Formula::and([defined, some_value]);
                Term::ite(b_zero, Term::int(0), a.modulo(b))
            }
            BinaryOp::Pow
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le => {
                return Err(SmtError::Unsupported(format!("{op:?} as an arithmetic operator")));
            }
        };
        Ok(Number { term, defined })
    }

    fn power(&self, base: &Expr, exponent: &Expr) -> Result<Number, SmtError> {
        let fixed = exponent
            .as_constant()
            .and_then(policert_numeric::Rational::to_i64)
            .filter(|e| e.unsigned_abs() <= u64::from(MAX_EXPONENT));
        let Some(exponent) = fixed else {
            let message = format!("a power whose exponent is no constant up to {MAX_EXPONENT}");
            return Err(SmtError::Unsupported(message));
        };
        let Number { term: base, mut defined } = self.number(base)?;
        let mut power = Term::int(1);
        for _ in 0..exponent.unsigned_abs() {
            power = power.times(base.clone());
        }
        if exponent < 0 {
            let zero = base.equals(Term::int(0));
            defined = Formula::and([defined, zero.clone().negate()]);
            power = Term::ite(zero, Term::int(0), Term::int(1).over(power));
        }
        Ok(Number { term: power, defined })
    }

    fn cell(&self, cells: &[Expr], index: &Expr) -> Result<Number, SmtError> {
        let index = self.number(index)?;
        let mut exists = Vec::new();
        let mut chain = Term::int(0);
        for (i, cell) in cells.iter().enumerate().rev() {
            let cell = self.number(cell)?;
            let i = i64::try_from(i).map_err(|_| SmtError::Unsupported("array size".to_owned()))?;
            let here = index.term.clone().equals(Term::int(i));
            exists.push(Formula::and([here.clone(), cell.defined]));
            chain = Term::ite(here, cell.term, chain);
        }
        Ok(Number { term: chain, defined: Formula::and([index.defined, Formula::or(exists)]) })
    }
}

fn unary(op: UnaryOp, a: Term) -> Term {
    let positive = |a: &Term| Term::int(0).lt(a.clone());
    let negative = |a: &Term| a.clone().lt(Term::int(0));
    match op {
        UnaryOp::Not => Term::ite(a.equals(Term::int(0)), Term::int(1), Term::int(0)),
        UnaryOp::Floor => a.floor(),
        UnaryOp::Ceil => a.ceil(),
        UnaryOp::Truncate => Term::ite(negative(&a), a.clone().ceil(), a.floor()),
        UnaryOp::Abs => a.abs(),
        UnaryOp::Sign => Term::ite(
            positive(&a),
            Term::int(1),
            Term::ite(negative(&a), Term::int(-1), Term::int(0)),
        ),
    }
}
