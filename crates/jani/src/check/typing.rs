//! Types of expressions.

use std::sync::Arc;

use super::{Checked, Entity, Scope};
use crate::{
    ast::{self, BinaryOp, Expr, ExprKind, TypeKind, UnaryOp},
    diagnostic::{DiagnosticCode, Diagnostics},
    lower::Trouble,
    names::{NameId, Names},
    source::At,
};

/// A type, without bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Bool,
    Int,
    Real,
    Array(Arc<Type>),
    /// Not known after an error; fits everything.
    Unknown,
}

impl Type {
    /// The type that is written.
    pub fn of(ty: &ast::Type) -> Self {
        match &ty.kind {
            TypeKind::Bool => Self::Bool,
            TypeKind::Int | TypeKind::Bounded { integers: true, .. } => Self::Int,
            TypeKind::Real
            | TypeKind::Clock
            | TypeKind::Continuous
            | TypeKind::Bounded { integers: false, .. } => Self::Real,
            TypeKind::Array(base) => Self::Array(Arc::new(Self::of(base))),
            TypeKind::Broken => Self::Unknown,
        }
    }

    /// Returns whether a value of this type may stand where `expected` is.
    pub fn fits(&self, expected: &Self) -> bool {
        match (self, expected) {
            (Self::Unknown, _) | (_, Self::Unknown) | (Self::Int, Self::Real) => true,
            (Self::Array(a), Self::Array(b)) => a.fits(b),
            _ => self == expected,
        }
    }

    /// The type of values that are of one of two types, if there is one.
    fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Unknown, ty) | (ty, Self::Unknown) => Some(ty.clone()),
            (Self::Int, Self::Real) | (Self::Real, Self::Int) => Some(Self::Real),
            (Self::Array(a), Self::Array(b)) => Some(Self::Array(Arc::new(a.join(b)?))),
            _ => (self == other).then(|| self.clone()),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Real | Self::Unknown)
    }

    /// The type with its article, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Bool => "a truth value",
            Self::Int => "an integer",
            Self::Real => "a real number",
            Self::Array(_) => "an array",
            Self::Unknown => "of unknown type",
        }
    }
}

/// Distributions over integers; the others are over real numbers.
const DISCRETE: [&str; 8] = [
    "DiscreteUniform",
    "Bernoulli",
    "Binomial",
    "NegativeBinomial",
    "Poisson",
    "Geometric",
    "Hypergeometric",
    "Zipf",
];

/// Finds the types of expressions and reports what does not fit.
pub(crate) struct TypeChecker<'c> {
    checked: &'c Checked,
    diagnostics: &'c mut Diagnostics,
    names: &'c Names,
    automaton: Option<usize>,
    /// Parameters and indices, innermost last.
    bound: Vec<(NameId, Type)>,
    /// Finds names that the scope does not have.
    fallback: Option<&'c dyn Fn(NameId) -> Option<Type>>,
}

impl<'c> TypeChecker<'c> {
    pub fn new(
        checked: &'c Checked,
        diagnostics: &'c mut Diagnostics,
        names: &'c Names,
        automaton: Option<usize>,
    ) -> Self {
        Self { checked, diagnostics, names, automaton, bound: Vec::new(), fallback: None }
    }

    /// With further names, as properties have them.
    pub fn with_fallback(mut self, fallback: &'c dyn Fn(NameId) -> Option<Type>) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// With the parameters of a function.
    pub fn with_parameters(mut self, function: &ast::Function) -> Self {
        self.bound.extend(function.parameters.iter().map(|(name, ty)| (name.symbol, Type::of(ty))));
        self
    }

    /// Checks an expression that must be of a type; whether no error was found in it.
    pub fn expect(&mut self, expr: &Expr, expected: &Type) -> bool {
        let errors = self.diagnostics.errors();
        let ty = self.ty(expr);
        if !ty.fits(expected) {
            let message = format!("{} expected, not {}", expected.describe(), ty.describe());
            self.diagnostics.invalid(DiagnosticCode::Type, expr.at, message);
        }
        ty != Type::Unknown && self.diagnostics.errors() == errors
    }

    /// The type of an expression.
    pub fn ty(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Number(value) if value.is_integer() => Type::Int,
            ExprKind::Number(_) | ExprKind::Irrational(_) => Type::Real,
            ExprKind::Name(name) => self.name(*name, expr.at),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(..) => self.chain(expr),
            ExprKind::Ite(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.expect(condition, &Type::Bool);
                let (a, b) = (self.ty(then), self.ty(otherwise));
                self.joined(&a, &b, otherwise.at)
            }
            ExprKind::Real(_, operand) => {
                self.expect(operand, &Type::Real);
                Type::Real
            }
            ExprKind::Access(parts) => {
                let [array, index] = &**parts;
                let ty = self.ty(array);
                self.expect(index, &Type::Int);
                match ty {
                    Type::Array(element) => (*element).clone(),
                    Type::Unknown => Type::Unknown,
                    other => self.wrong("an array", &other, array.at),
                }
            }
            ExprKind::Array(elements) => {
                let mut ty = Type::Unknown;
                for element in elements {
                    let element_ty = self.ty(element);
                    ty = self.joined(&ty, &element_ty, element.at);
                }
                Type::Array(Arc::new(ty))
            }
            ExprKind::Constructor(constructor) => {
                self.expect(&constructor.length, &Type::Int);
                self.bound.push((constructor.variable.symbol, Type::Int));
                let element = self.ty(&constructor.element);
                self.bound.pop();
                Type::Array(Arc::new(element))
            }
            ExprKind::Call(name, arguments) => self.call(*name, arguments),
            ExprKind::Nondet(name, condition) => {
                self.bound.push((name.symbol, Type::Real));
                self.expect(condition, &Type::Bool);
                self.bound.pop();
                Type::Real
            }
            ExprKind::Derivative(name) => {
                self.name(name.symbol, name.at);
                Type::Real
            }
            ExprKind::Distribution(name, arguments) => {
                for argument in arguments {
                    self.expect(argument, &Type::Real);
                }
                if DISCRETE.contains(&&**name) { Type::Int } else { Type::Real }
            }
            ExprKind::Broken => Type::Unknown,
        }
    }

    fn name(&mut self, name: NameId, at: At) -> Type {
        if let Some((_, ty)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            return ty.clone();
        }
        let Checked { scope, ast, constants, variables, .. } = self.checked;
        match scope.entity(name, self.automaton) {
            // Constants after this one, and all variables, are not there yet while declarations
            // are checked.
            Some(Entity::Constant(i)) => match constants.get(i) {
                Some(_) => Type::of(&ast.constants[i].ty),
                None => {
                    let text = self.names.text(name);
                    let message = format!("constant `{text}` is declared only further down");
                    self.diagnostics.invalid(DiagnosticCode::UnknownName, at, message);
                    Type::Unknown
                }
            },
            Some(Entity::Variable(v)) => match variables.get(v.0) {
                Some(variable) => variable.ty.clone(),
                None => {
                    Trouble::NotConstant(at, name).report(self.names, self.diagnostics);
                    Type::Unknown
                }
            },
            None => match self.fallback.and_then(|find| find(name)) {
                Some(ty) => ty,
                None => self.unknown_name(scope, name, at),
            },
        }
    }

    fn unknown_name(&mut self, scope: &Scope, name: NameId, at: At) -> Type {
        let text = self.names.text(name);
        let message = format!("unknown name `{text}`");
        match scope.locals_named(name).next() {
            Some((automaton, _)) => {
                let owner = self.names.text(self.checked.ast.automata[automaton].name.symbol);
                let instance = self.checked.instances.iter().position(|a| *a == automaton);
                let help = match instance.filter(|_| self.fallback.is_some()) {
                    Some(i) => format!(
                        "several instances of `{owner}` have a variable `{text}`; that of one of \
                         them is named `{owner}#{i}.{text}`"
                    ),
                    None => format!("`{text}` is a variable of the automaton `{owner}` alone"),
                };
                self.diagnostics.invalid_with_help(DiagnosticCode::UnknownName, at, message, help);
            }
            None => self.diagnostics.invalid(DiagnosticCode::UnknownName, at, message),
        }
        Type::Unknown
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Type {
        match op {
            UnaryOp::Not => {
                self.expect(operand, &Type::Bool);
                Type::Bool
            }
            UnaryOp::Minus | UnaryOp::Abs => self.number(operand),
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trc | UnaryOp::Sgn => {
                self.number(operand);
                Type::Int
            }
        }
    }

    /// Operators with two operands; a chain of them, leaning to the left, in a loop.
    fn chain(&mut self, expr: &Expr) -> Type {
        let mut chain = Vec::new();
        let mut here = expr;
        while let ExprKind::Binary(op, operands) = &here.kind {
            chain.push((*op, &operands[0], &operands[1]));
            here = &operands[0];
        }
        let mut left = self.ty(here);
        for (op, l, r) in chain.into_iter().rev() {
            let right = self.ty(r);
            left = self.binary(op, (&left, l.at), (&right, r));
        }
        left
    }

    fn binary(&mut self, op: BinaryOp, left: (&Type, At), right: (&Type, &Expr)) -> Type {
        let (l, l_at) = left;
        let (r, r_expr) = right;
        let r_at = r_expr.at;
        if op.is_logical() {
            self.operand(op, l, &Type::Bool, l_at);
            self.operand(op, r, &Type::Bool, r_at);
            return Type::Bool;
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            if l.join(r).is_none() {
                let message =
                    format!("`{}` compares {} with {}", op.sign(), l.describe(), r.describe());
                self.diagnostics.invalid(DiagnosticCode::Type, r_at, message);
            }
            return Type::Bool;
        }
        if op == BinaryOp::Mod {
            self.operand(op, l, &Type::Int, l_at);
            self.operand(op, r, &Type::Int, r_at);
            return Type::Int;
        }
        self.operand(op, l, &Type::Real, l_at);
        self.operand(op, r, &Type::Real, r_at);
        let both_int = *l == Type::Int && *r == Type::Int;
        match op {
            _ if op.is_comparison() => Type::Bool,
            BinaryOp::Div | BinaryOp::Log => Type::Real,
            BinaryOp::Pow => {
                let natural = matches!(&r_expr.kind, ExprKind::Number(n) if n.signum() >= 0);
                if both_int && natural { Type::Int } else { Type::Real }
            }
            _ if both_int => Type::Int,
            _ if *l == Type::Unknown || *r == Type::Unknown => Type::Unknown,
            _ => Type::Real,
        }
    }

    fn operand(&mut self, op: BinaryOp, ty: &Type, expected: &Type, at: At) {
        if !ty.fits(expected) {
            let expected = match expected {
                Type::Real => "a number",
                other => other.describe(),
            };
            let message =
                format!("an operand of `{}` is {expected}, not {}", op.sign(), ty.describe());
            self.diagnostics.invalid(DiagnosticCode::Type, at, message);
        }
    }

    /// A variable whose name looks like a call of a function, as those of problems in PDDL do.
    fn variable_like_a_call(&self, function: &str) -> Option<&str> {
        let begins = |name: &&str| {
            let (head, rest) = name.split_once('(').unwrap_or_default();
            !rest.is_empty() && head.eq_ignore_ascii_case(function)
        };
        self.checked.scope.globals().map(|name| self.names.text(name)).filter(begins).min()
    }

    fn call(&mut self, name: ast::Name, arguments: &[Expr]) -> Type {
        let text = self.names.text(name.symbol);
        let Some(id) = self.checked.scope.function(name.symbol, self.automaton) else {
            let message = format!("unknown function `{text}`");
            let code = DiagnosticCode::UnknownName;
            match self.variable_like_a_call(text) {
                Some(variable) => {
                    let help = format!(
                        "`{variable}` is a variable, and written just so, without blanks; a fact \
                         that never changes is none"
                    );
                    self.diagnostics.invalid_with_help(code, name.at, message, help);
                }
                None => self.diagnostics.invalid(code, name.at, message),
            }
            return Type::Unknown;
        };
        let function = self.checked.function(id);
        if function.parameters.len() != arguments.len() {
            let message = format!(
                "number of arguments of function `{text}`: {} expected, not {}",
                function.parameters.len(),
                arguments.len()
            );
            self.diagnostics.invalid(DiagnosticCode::Type, name.at, message);
        }
        for ((_, ty), argument) in function.parameters.iter().zip(arguments) {
            self.expect(argument, &Type::of(ty));
        }
        Type::of(&function.ty)
    }

    fn number(&mut self, operand: &Expr) -> Type {
        let ty = self.ty(operand);
        if ty.is_number() { ty } else { self.wrong("a number", &ty, operand.at) }
    }

    fn joined(&mut self, a: &Type, b: &Type, at: At) -> Type {
        a.join(b).unwrap_or_else(|| self.wrong(a.describe(), b, at))
    }

    fn wrong(&mut self, expected: &str, found: &Type, at: At) -> Type {
        let message = format!("{expected} expected, not {}", found.describe());
        self.diagnostics.invalid(DiagnosticCode::Type, at, message);
        Type::Unknown
    }
}
