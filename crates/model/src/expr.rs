//! Expressions over the variables of a model: exact rational values, truth values as 0 and 1.

use policert_numeric::Rational;

use crate::{TransientId, VarId};

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Logical negation.
    Not,
    /// Greatest integer below or equal.
    Floor,
    /// Least integer above or equal.
    Ceil,
    /// Rounding towards zero.
    Truncate,
    /// Absolute value.
    Abs,
    /// −1, 0 or 1.
    Sign,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Real division, exact; by zero, see [`BY_ZERO`](crate::BY_ZERO).
    Div,
    /// Mathematical modulus: the result is in `[0, |divisor|)`; by zero, see
    /// [`BY_ZERO`](crate::BY_ZERO).
    Mod,
    /// Power with an integer exponent.
    Pow,
    /// The lesser operand.
    Min,
    /// The greater operand.
    Max,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Implication.
    Implies,
    /// Equality, of numbers or of truth values.
    Eq,
    /// Inequality.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
}

impl BinaryOp {
    /// Returns whether the result is a truth value.
    #[must_use]
    pub fn is_boolean(self) -> bool {
        use BinaryOp::{And, Eq, Implies, Le, Lt, Ne, Or};
        matches!(self, And | Or | Implies | Eq | Ne | Lt | Le)
    }
}

/// An expression. Its value in a state is an exact rational; truth values are 0 and 1.
///
/// Build with the constructors: they fold constants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A number or truth value.
    Constant(Rational),
    /// The value of a state variable, or of a choice of the destination.
    Var(VarId),
    /// The value of a transient variable while a transition is taken; only inside assignments
    /// of edges, never in a composed operator.
    Transient(TransientId),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// If, then, else.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    /// One of `cells`, chosen by `index` from 0; no value when there is no such cell.
    Cell {
        /// The cells' expressions.
        cells: Vec<Expr>,
        /// The index of the cell.
        index: Box<Expr>,
    },
}

impl Expr {
    /// An integer.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Constant(Rational::from(value))
    }

    /// A truth value.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self::int(i64::from(value))
    }

    /// The constant it is, if it is one.
    #[must_use]
    pub fn as_constant(&self) -> Option<&Rational> {
        match self {
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Applies `op`, folding a constant operand.
    #[must_use]
    pub fn unary(op: UnaryOp, operand: Self) -> Self {
        if let (UnaryOp::Not, Self::Unary(UnaryOp::Not, inner)) = (op, &operand) {
            return (**inner).clone();
        }
        Self::Unary(op, Box::new(operand)).folded()
    }

    /// Applies `op`, folding constant operands and neutral truth values.
    #[must_use]
    pub fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        use BinaryOp::{And, Or};
        let truth = |e: &Self| e.as_constant().map(|c| c.signum() != 0);
        match (op, truth(&left), truth(&right)) {
            (And, Some(true), _) | (Or, Some(false), _) => return right,
            (And, _, Some(true)) | (Or, _, Some(false)) => return left,
            (And, Some(false), _) | (And, _, Some(false)) => return Self::bool(false),
            (Or, Some(true), _) | (Or, _, Some(true)) => return Self::bool(true),
            _ => {}
        }
        Self::Binary(op, Box::new(left), Box::new(right)).folded()
    }

    /// If `condition` then `then` else `otherwise`; a constant condition decides at once.
    #[must_use]
    pub fn ite(condition: Self, then: Self, otherwise: Self) -> Self {
        match condition.as_constant() {
            Some(c) if c.signum() != 0 => then,
            Some(_) => otherwise,
            None if then == otherwise && condition.is_total() => then,
            None => Self::Ite(Box::new(condition), Box::new(then), Box::new(otherwise)),
        }
    }

    /// Cell `index` of `cells`; a constant index inside the range decides at once.
    #[must_use]
    pub fn cell(mut cells: Vec<Self>, index: Self) -> Self {
        let at = index.as_constant().and_then(Rational::to_i64);
        match at.and_then(|i| usize::try_from(i).ok()) {
            Some(i) if i < cells.len() => cells.swap_remove(i),
            _ => Self::Cell { cells, index: Box::new(index) },
        }
    }

    /// `left ∧ right`.
    #[must_use]
    pub fn and(left: Self, right: Self) -> Self {
        Self::binary(BinaryOp::And, left, right)
    }

    /// `left ∨ right`.
    #[must_use]
    pub fn or(left: Self, right: Self) -> Self {
        Self::binary(BinaryOp::Or, left, right)
    }

    /// `¬operand`.
    #[must_use]
    pub fn negate(operand: Self) -> Self {
        Self::unary(UnaryOp::Not, operand)
    }

    /// `variable = value`.
    #[must_use]
    pub fn var_equals(variable: VarId, value: i64) -> Self {
        Self::binary(BinaryOp::Eq, Self::Var(variable), Self::int(value))
    }

    /// Folds an operator whose operands are all constants, if it has a value.
    fn folded(self) -> Self {
        let constant = match &self {
            Self::Unary(_, a) => a.as_constant().is_some(),
            Self::Binary(_, a, b) => a.as_constant().is_some() && b.as_constant().is_some(),
            _ => false,
        };
        if constant && let Ok(value) = self.eval(&[]) {
            return Self::Constant(value);
        }
        self
    }

    /// Returns whether the operator at the top yields a truth value whatever the types of
    /// variables.
    #[must_use]
    pub fn is_boolean_operator(&self) -> bool {
        match self {
            Self::Unary(op, _) => *op == UnaryOp::Not,
            Self::Binary(op, ..) => op.is_boolean(),
            Self::Ite(_, a, b) => a.is_boolean_operator() || b.is_boolean_operator(),
            _ => false,
        }
    }

    /// Returns whether it has a value in every state, as far as its form shows: no cell access by a
    /// computed index, no division by anything but a non-zero constant, no power.
    #[must_use]
    pub fn is_total(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Var(_) | Self::Transient(_) => true,
            Self::Unary(_, a) => a.is_total(),
            Self::Binary(BinaryOp::Div | BinaryOp::Mod, a, b) => {
                a.is_total() && b.as_constant().is_some_and(|c| c.signum() != 0)
            }
            Self::Binary(BinaryOp::Pow, ..) | Self::Cell { .. } => false,
            Self::Binary(_, a, b) => a.is_total() && b.is_total(),
            Self::Ite(c, a, b) => c.is_total() && a.is_total() && b.is_total(),
        }
    }

    /// Returns whether its value is an integer wherever it has one, as far as its form shows.
    #[must_use]
    pub fn is_integral(&self) -> bool {
        match self {
            Self::Constant(c) => c.is_integer(),
            Self::Var(_) => true,
            Self::Transient(_) | Self::Binary(BinaryOp::Div | BinaryOp::Pow, ..) => false,
            Self::Unary(UnaryOp::Abs, a) => a.is_integral(),
            Self::Unary(..) => true,
            Self::Binary(op, a, b) => op.is_boolean() || a.is_integral() && b.is_integral(),
            Self::Ite(_, a, b) => a.is_integral() && b.is_integral(),
            Self::Cell { cells, .. } => cells.iter().all(Self::is_integral),
        }
    }

    /// The direct operands.
    #[must_use]
    pub fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Var(_) | Self::Transient(_) => Vec::new(),
            Self::Unary(_, a) => vec![a],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Ite(c, a, b) => vec![c, a, b],
            Self::Cell { cells, index } => cells.iter().chain([&**index]).collect(),
        }
    }

    /// Calls `f` for every variable that occurs, possibly several times.
    pub fn for_each_var(&self, f: &mut impl FnMut(VarId)) {
        if let Self::Var(v) = self {
            f(*v);
        }
        for operand in self.operands() {
            operand.for_each_var(f);
        }
    }

    /// Calls `f` for every number that occurs.
    pub fn for_each_constant(&self, f: &mut impl FnMut(&Rational)) {
        if let Self::Constant(number) = self {
            f(number);
        }
        for operand in self.operands() {
            operand.for_each_constant(f);
        }
    }

    /// Calls `f` for every transient variable that occurs, possibly several times.
    pub fn for_each_transient(&self, f: &mut impl FnMut(TransientId)) {
        if let Self::Transient(t) = self {
            f(*t);
        }
        for operand in self.operands() {
            operand.for_each_transient(f);
        }
    }

    /// Replaces variables and transients by what `var` and `transient` give for them; `None`
    /// keeps them.
    #[must_use]
    pub fn substitute(
        &self,
        var: &impl Fn(VarId) -> Option<Self>,
        transient: &impl Fn(TransientId) -> Option<Self>,
    ) -> Self {
        let sub = |e: &Self| e.substitute(var, transient);
        match self {
            Self::Constant(_) => self.clone(),
            Self::Var(v) => var(*v).unwrap_or_else(|| self.clone()),
            Self::Transient(t) => transient(*t).unwrap_or_else(|| self.clone()),
            Self::Unary(op, a) => Self::unary(*op, sub(a)),
            Self::Binary(op, a, b) => Self::binary(*op, sub(a), sub(b)),
            Self::Ite(c, a, b) => Self::ite(sub(c), sub(a), sub(b)),
            Self::Cell { cells, index } => Self::cell(cells.iter().map(sub).collect(), sub(index)),
        }
    }
}
