//! Random typed expressions: every kind of operator, with and without states in which there is no
//! value.

use policert_model::{BinaryOp, Expr, UnaryOp, VarId, Variable, VariableKind};
use policert_numeric::Rational;

use crate::Random;

/// Says what a generator of expressions may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forms {
    /// Sums of variables with small coefficients; conditions that compare them.
    Linear,
    /// Everything that has a value in every state.
    Total,
    /// Everything, also division by an expression, powers, and array cells by computed index.
    Any,
}

/// A generator of expressions over some variables, typed as in JANI: truth values are never used
/// as numbers.
#[derive(Clone, Debug)]
pub struct Expressions {
    integers: Vec<VarId>,
    booleans: Vec<VarId>,
    forms: Forms,
}

impl Expressions {
    /// A generator over all `variables` but locations.
    #[must_use]
    pub fn new(variables: &[Variable], forms: Forms) -> Self {
        let of_kind = |kind: &VariableKind| {
            let ids = variables.iter().enumerate().filter(|(_, v)| v.kind == *kind);
            ids.map(|(i, _)| VarId::new(i)).collect()
        };
        Self {
            integers: of_kind(&VariableKind::Integer),
            booleans: of_kind(&VariableKind::Boolean),
            forms,
        }
    }

    /// The same over other variables.
    #[must_use]
    pub fn over(integers: Vec<VarId>, booleans: Vec<VarId>, forms: Forms) -> Self {
        Self { integers, booleans, forms }
    }

    fn integer_leaf(&self, random: &mut Random) -> Expr {
        if self.integers.is_empty() || random.percent(30) {
            Expr::int(random.between(-3, 4))
        } else {
            Expr::Var(*random.pick(&self.integers))
        }
    }

    /// An expression whose value is an integer wherever it has one, nested at most `depth` deep.
    pub fn integer(&self, random: &mut Random, depth: usize) -> Expr {
        if depth == 0 {
            return self.integer_leaf(random);
        }
        if self.forms == Forms::Linear {
            return self.linear(random, depth);
        }
        let depth = depth - 1;
        let any = usize::from(self.forms == Forms::Any);
        match random.below(11 + 2 * any) {
            0 => self.integer_leaf(random),
            1 | 2 => self.linear(random, depth + 1),
            3 => self.pair(random, BinaryOp::Mul, depth),
            4 => self.pair(random, BinaryOp::Min, depth),
            5 => self.pair(random, BinaryOp::Max, depth),
            6 => boxed_unary(UnaryOp::Abs, self.integer(random, depth)),
            7 => boxed_unary(UnaryOp::Sign, self.real(random, depth)),
            8 => {
                let op = *random.pick(&[UnaryOp::Floor, UnaryOp::Ceil, UnaryOp::Truncate]);
                boxed_unary(op, self.real(random, depth))
            }
            9 => self.modulus(random, depth),
            10 => Expr::Ite(
                Box::new(self.boolean(random, depth)),
                Box::new(self.integer(random, depth)),
                Box::new(self.integer(random, depth)),
            ),
            11 => {
                let base = self.integer(random, depth);
                boxed_binary(BinaryOp::Pow, base, Expr::int(random.between(0, 3)))
            }
            _ => {
                let count = 1 + random.below(3);
                let cells = (0..count).map(|_| self.integer(random, depth)).collect();
                Expr::Cell { cells, index: Box::new(self.integer(random, depth)) }
            }
        }
    }

    fn pair(&self, random: &mut Random, op: BinaryOp, depth: usize) -> Expr {
        boxed_binary(op, self.integer(random, depth), self.integer(random, depth))
    }

    fn modulus(&self, random: &mut Random, depth: usize) -> Expr {
        let divisor = if self.forms == Forms::Any && random.percent(40) {
            self.integer(random, depth)
        } else {
            Expr::int(*random.pick(&[-3, -2, 1, 2, 3, 5]))
        };
        boxed_binary(BinaryOp::Mod, self.integer(random, depth), divisor)
    }

    fn linear(&self, random: &mut Random, depth: usize) -> Expr {
        let mut sum = self.integer_leaf(random);
        for _ in 0..random.below(depth + 1) {
            let mut term = self.integer_leaf(random);
            if random.percent(40) {
                term = boxed_binary(BinaryOp::Mul, Expr::int(random.between(-3, 3)), term);
            }
            let op = *random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
            sum = boxed_binary(op, sum, term);
        }
        sum
    }

    /// An expression whose value is a number, nested at most `depth` deep.
    pub fn real(&self, random: &mut Random, depth: usize) -> Expr {
        if depth == 0 || random.percent(40) {
            return self.integer(random, depth);
        }
        let depth = depth - 1;
        match random.below(if self.forms == Forms::Any { 5 } else { 4 }) {
            0 => Expr::Constant(fraction(random)),
            1 => boxed_binary(
                BinaryOp::Div,
                self.real(random, depth),
                Expr::int(*random.pick(&[-2, 2, 3, 4])),
            ),
            2 => boxed_binary(
                BinaryOp::Mul,
                Expr::Constant(fraction(random)),
                self.real(random, depth),
            ),
            3 => {
                let op = *random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                boxed_binary(op, self.real(random, depth), self.real(random, depth))
            }
            _ => boxed_binary(BinaryOp::Div, self.real(random, depth), self.integer(random, depth)),
        }
    }

    fn boolean_leaf(&self, random: &mut Random) -> Expr {
        if self.booleans.is_empty() || random.percent(15) {
            Expr::bool(random.percent(50))
        } else {
            Expr::Var(*random.pick(&self.booleans))
        }
    }

    /// An expression whose value is a truth value, nested at most `depth` deep.
    pub fn boolean(&self, random: &mut Random, depth: usize) -> Expr {
        if depth == 0 {
            return self.boolean_leaf(random);
        }
        let depth = depth - 1;
        match random.below(if self.forms == Forms::Any { 14 } else { 13 }) {
            0 => self.boolean_leaf(random),
            1..=5 => {
                let op = *random.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le]);
                if self.forms == Forms::Linear {
                    self.pair(random, op, depth)
                } else {
                    boxed_binary(op, self.real(random, depth), self.real(random, depth))
                }
            }
            6 => boxed_unary(UnaryOp::Not, self.boolean(random, depth)),
            7..=11 => {
                let op = *random.pick(&[
                    BinaryOp::And,
                    BinaryOp::And,
                    BinaryOp::Or,
                    BinaryOp::Or,
                    BinaryOp::Implies,
                    BinaryOp::Eq,
                    BinaryOp::Ne,
                ]);
                boxed_binary(op, self.boolean(random, depth), self.boolean(random, depth))
            }
            12 => Expr::Ite(
                Box::new(self.boolean(random, depth)),
                Box::new(self.boolean(random, depth)),
                Box::new(self.boolean(random, depth)),
            ),
            _ => {
                let count = 1 + random.below(3);
                let cells = (0..count).map(|_| self.boolean(random, depth)).collect();
                Expr::Cell { cells, index: Box::new(self.integer(random, depth)) }
            }
        }
    }
}

fn fraction(random: &mut Random) -> Rational {
    let numerator = random.between(-5, 5);
    Rational::new(numerator, random.between(1, 4)).unwrap_or(Rational::ZERO)
}

/// The tree as it stands, without the folding of [`Expr::unary`].
fn boxed_unary(op: UnaryOp, a: Expr) -> Expr {
    Expr::Unary(op, Box::new(a))
}

/// The tree as it stands, without the folding of [`Expr::binary`].
fn boxed_binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// The same expression rebuilt by the constructors of [`Expr`], which fold constants.
#[must_use]
pub fn rebuilt(expr: &Expr) -> Expr {
    expr.substitute(&|_| None, &|_| None)
}
