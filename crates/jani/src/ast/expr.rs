//! Expressions.

use policert_numeric::Rational;

use super::Name;
use crate::{names::NameId, source::At};

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its place in the text.
    pub at: At,
    /// Its kind.
    pub kind: ExprKind,
}

impl Expr {
    /// Calls `f` for each direct operand.
    pub fn for_each_operand<'e>(&'e self, f: &mut dyn FnMut(&'e Self)) {
        match &self.kind {
            ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Name(_)
            | ExprKind::Irrational(_)
            | ExprKind::Derivative(_)
            | ExprKind::Broken => {}
            ExprKind::Unary(_, operand)
            | ExprKind::Real(_, operand)
            | ExprKind::Nondet(_, operand) => f(operand),
            ExprKind::Binary(_, operands) | ExprKind::Access(operands) => {
                operands.iter().for_each(f);
            }
            ExprKind::Ite(operands) => operands.iter().for_each(f),
            ExprKind::Array(operands)
            | ExprKind::Call(_, operands)
            | ExprKind::Distribution(_, operands) => operands.iter().for_each(f),
            ExprKind::Constructor(constructor) => {
                f(&constructor.length);
                f(&constructor.element);
            }
        }
    }
}

/// Says what an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A truth value.
    Bool(bool),
    /// A number, exact as written.
    Number(Rational),
    /// A variable, constant, parameter or index.
    Name(NameId),
    /// e or π.
    Irrational(IrrationalConstant),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// If, then, else.
    Ite(Box<[Expr; 3]>),
    /// A trigonometric or hyperbolic function.
    Real(RealFunction, Box<Expr>),
    /// Array and index.
    Access(Box<[Expr; 2]>),
    /// An array by its elements.
    Array(Vec<Expr>),
    /// An array whose element `i` is the value of an expression.
    Constructor(Box<Constructor>),
    /// A function with arguments.
    Call(Name, Vec<Expr>),
    /// Any value that satisfies a condition.
    Nondet(Name, Box<Expr>),
    /// The derivative of a continuous variable.
    Derivative(Name),
    /// A value drawn from a distribution.
    Distribution(String, Vec<Expr>),
    /// Could not be read.
    Broken,
}

/// `ac`: array constructor.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// The name that stands for the index.
    pub variable: Name,
    /// Number of elements.
    pub length: Expr,
    /// The element of that index.
    pub element: Expr,
}

/// Constants that are no rational numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IrrationalConstant {
    /// Euler's number.
    E,
    /// The circle's circumference by its diameter.
    Pi,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOp {
    Not,
    Minus,
    Floor,
    Ceil,
    Abs,
    Sgn,
    Trc,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinaryOp {
    Or,
    And,
    Implies,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Mod,
    Div,
    Pow,
    Log,
    Min,
    Max,
}

impl UnaryOp {
    /// All operators, with their signs in the format.
    pub const ALL: [(&'static str, Self); 7] = [
        ("¬", Self::Not),
        ("-", Self::Minus),
        ("floor", Self::Floor),
        ("ceil", Self::Ceil),
        ("abs", Self::Abs),
        ("sgn", Self::Sgn),
        ("trc", Self::Trc),
    ];

    /// The operator of a sign.
    #[must_use]
    pub fn from_sign(sign: &str) -> Option<Self> {
        Self::ALL.iter().find(|(s, _)| *s == sign).map(|&(_, op)| op)
    }

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, op)| *op == self).map_or("", |(sign, _)| sign)
    }
}

impl BinaryOp {
    /// All operators, with their signs in the format.
    pub const ALL: [(&'static str, Self); 18] = [
        ("∧", Self::And),
        ("=", Self::Eq),
        ("≤", Self::Le),
        ("+", Self::Add),
        ("∨", Self::Or),
        ("≠", Self::Ne),
        ("<", Self::Lt),
        (">", Self::Gt),
        ("≥", Self::Ge),
        ("-", Self::Sub),
        ("*", Self::Mul),
        ("/", Self::Div),
        ("%", Self::Mod),
        ("⇒", Self::Implies),
        ("min", Self::Min),
        ("max", Self::Max),
        ("pow", Self::Pow),
        ("log", Self::Log),
    ];

    /// The operator of a sign.
    #[must_use]
    pub fn from_sign(sign: &str) -> Option<Self> {
        Self::ALL.iter().find(|(s, _)| *s == sign).map(|&(_, op)| op)
    }

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, op)| *op == self).map_or("", |(sign, _)| sign)
    }

    /// Returns whether operands are truth values: ∨, ∧ and ⇒.
    #[must_use]
    pub fn is_logical(self) -> bool {
        matches!(self, Self::Or | Self::And | Self::Implies)
    }

    /// Returns whether numbers are compared by size: <, ≤, > and ≥.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }

    /// Returns whether things are compared: =, ≠, <, ≤, > and ≥.
    #[must_use]
    pub fn is_comparison(self) -> bool {
        self.is_order() || matches!(self, Self::Eq | Self::Ne)
    }
}

/// A trigonometric or hyperbolic function, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RealFunction(&'static str);

impl RealFunction {
    const NAMES: [&'static str; 24] = [
        "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc",
        "sinh", "cosh", "tanh", "coth", "sech", "csch", "asinh", "acosh", "atanh", "acoth",
        "asech", "acsch",
    ];

    /// The function of a name; `arcsin` and the like are read as `asin`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let known = |name: &str| Self::NAMES.iter().find(|n| **n == name).map(|n| Self(n));
        known(name).or_else(|| {
            let rest = name.strip_prefix("arc").or_else(|| name.strip_prefix("ar"))?;
            Self::NAMES.iter().find(|n| n.strip_prefix('a') == Some(rest)).map(|n| Self(n))
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }
}
