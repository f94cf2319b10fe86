//! Conditions as people write them on a command line, in the grammar of `policert-infix`.
//!
//! Functions are `min max abs floor ceil sgn trc pow log ite` and those of the model. A name is
//! the longest one of the model that fits (`hand-empty`, `A#0.v`); in quotes it is what it is.
//! `Car#0 = drive` compares the location of an instance. A text that starts with `{` is a JANI
//! expression in JSON.

use std::path::Path;

use policert_infix::{Binary, Meaning, SyntaxProblem, Unary, is_plain_name};
use policert_model::{Model, VariableKind};
use policert_numeric::Rational;

use crate::{
    ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp},
    diagnostic::DiagnosticCode,
    json::JsonNodeId,
    parse::Parser,
    source::{At, Source, SourceId},
};

/// Reads an expression over a model whose names are `known`; `None` after a diagnostic.
pub(crate) fn read(
    text: &str,
    parser: &mut Parser,
    model: &Model,
    known: &[String],
) -> Option<Expr> {
    let path = Path::new("<expression>");
    if text.trim_start().starts_with('{') {
        let source = parser.text(path, text.to_owned())?;
        return Some(parser.expression(source.root()));
    }
    let known: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| !is_plain_name(name)).collect();
    let tokens = policert_infix::tokens(text, &known);
    let spans = tokens.iter().map(|t| t.span.clone()).collect();
    let source = parser.diagnostics.sources.next_id();
    parser.diagnostics.sources.push(Source::of_spans(source, path, text.to_owned(), spans));
    let mut infix = Infix { source, parser, model };
    match policert_infix::read(&tokens, &mut infix) {
        Ok(expr) => Some(expr),
        Err(SyntaxProblem { at, message }) => {
            let at = infix.place(at);
            parser.diagnostics.invalid(DiagnosticCode::Syntax, at, message);
            None
        }
    }
}

/// Makes expressions of JANI.
struct Infix<'t> {
    source: SourceId,
    parser: &'t mut Parser,
    model: &'t Model,
}

impl Infix<'_> {
    /// The place of a piece of the text.
    fn place(&self, at: usize) -> At {
        At { source: self.source, node: JsonNodeId::new(at) }
    }

    fn expr(&self, at: usize, kind: ExprKind) -> Expr {
        Expr { at: self.place(at), kind }
    }

    fn two(&self, at: usize, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        self.expr(at, ExprKind::Binary(op, Box::new([left, right])))
    }

    /// The name of a location, where it is compared with the location of an instance, as its
    /// number.
    fn location(&self, expr: Expr, other: &Expr) -> Expr {
        let name = |expr: &Expr| match &expr.kind {
            ExprKind::Name(symbol) => Some(self.parser.names.text(*symbol)),
            _ => None,
        };
        let position = || {
            let (location, instance) = (name(&expr)?, name(other)?);
            if self.model.variable_by_name(location).is_some() {
                return None;
            }
            let variable = self.model.variable_by_name(instance)?;
            match &self.model.variables[variable.index()].kind {
                VariableKind::Location { names, .. } => names.iter().position(|n| n == location),
                _ => None,
            }
        };
        match position().and_then(|p| i64::try_from(p).ok()) {
            Some(position) => {
                Expr { at: expr.at, kind: ExprKind::Number(Rational::from(position)) }
            }
            None => expr,
        }
    }
}

impl Meaning for Infix<'_> {
    type Value = Expr;

    fn number(&mut self, at: usize, value: &Rational) -> Result<Expr, SyntaxProblem> {
        Ok(self.expr(at, ExprKind::Number(value.clone())))
    }

    fn truth(&mut self, at: usize, value: bool) -> Result<Expr, SyntaxProblem> {
        Ok(self.expr(at, ExprKind::Bool(value)))
    }

    fn name(&mut self, at: usize, name: &str) -> Result<Expr, SyntaxProblem> {
        let symbol = self.parser.names.intern(name);
        Ok(self.expr(at, ExprKind::Name(symbol)))
    }

    fn unary(&mut self, at: usize, op: Unary, a: Expr) -> Result<Expr, SyntaxProblem> {
        let op = match op {
            Unary::Plus => return Ok(a),
            Unary::Minus => UnaryOp::Minus,
            Unary::Not => UnaryOp::Not,
        };
        Ok(self.expr(at, ExprKind::Unary(op, Box::new(a))))
    }

    fn binary(
        &mut self,
        at: usize,
        op: Binary,
        [left, right]: [Expr; 2],
    ) -> Result<Expr, SyntaxProblem> {
        let (op, compares) = match op {
            Binary::Implies => (BinaryOp::Implies, false),
            Binary::Or => (BinaryOp::Or, false),
            Binary::And => (BinaryOp::And, false),
            Binary::Equal => (BinaryOp::Eq, true),
            Binary::NotEqual => (BinaryOp::Ne, true),
            Binary::Less => (BinaryOp::Lt, true),
            Binary::AtMost => (BinaryOp::Le, true),
            Binary::Greater => (BinaryOp::Gt, true),
            Binary::AtLeast => (BinaryOp::Ge, true),
            Binary::Add => (BinaryOp::Add, false),
            Binary::Subtract => (BinaryOp::Sub, false),
            Binary::Multiply => (BinaryOp::Mul, false),
            Binary::Divide => (BinaryOp::Div, false),
            Binary::Modulo => (BinaryOp::Mod, false),
            Binary::Power => (BinaryOp::Pow, false),
        };
        if !compares {
            return Ok(self.two(at, op, left, right));
        }
        let left = self.location(left, &right);
        let right = self.location(right, &left);
        Ok(self.two(at, op, left, right))
    }

    fn choice(&mut self, at: usize, parts: [Expr; 3]) -> Result<Expr, SyntaxProblem> {
        Ok(self.expr(at, ExprKind::Ite(Box::new(parts))))
    }

    fn element(&mut self, at: usize, array: Expr, index: Expr) -> Result<Expr, SyntaxProblem> {
        Ok(self.expr(at, ExprKind::Access(Box::new([array, index]))))
    }

    fn call(&mut self, at: usize, name: &str, arguments: Vec<Expr>) -> Result<Expr, SyntaxProblem> {
        let count = arguments.len();
        let wrong = |expected: &str| {
            Err(SyntaxProblem::new(at, format!("`{name}` has {expected} arguments, not {count}")))
        };
        let mut arguments = arguments.into_iter();
        let two =
            BinaryOp::from_sign(name).filter(|_| matches!(name, "min" | "max" | "pow" | "log"));
        let one = UnaryOp::from_sign(name)
            .filter(|_| matches!(name, "abs" | "floor" | "ceil" | "sgn" | "trc"));
        let kind = match (two, one, arguments.next(), arguments.next()) {
            (Some(op), _, Some(a), Some(b)) => {
                // min and max of more than two are fine.
                if count > 2 && !matches!(op, BinaryOp::Min | BinaryOp::Max) {
                    return wrong("2");
                }
                let first = self.two(at, op, a, b);
                return Ok(arguments.fold(first, |all, next| self.two(at, op, all, next)));
            }
            (Some(_), ..) => return wrong("2"),
            (_, Some(op), Some(a), None) => ExprKind::Unary(op, Box::new(a)),
            (_, Some(_), ..) => return wrong("1"),
            (None, None, Some(a), Some(b)) if name == "ite" => match arguments.next() {
                Some(c) if count == 3 => ExprKind::Ite(Box::new([a, b, c])),
                _ => return wrong("3"),
            },
            _ if name == "ite" => return wrong("3"),
            (None, None, a, b) => {
                let symbol = self.parser.names.intern(name);
                let all = a.into_iter().chain(b).chain(arguments).collect();
                ExprKind::Call(Name { symbol, at: self.place(at) }, all)
            }
        };
        Ok(self.expr(at, kind))
    }
}

#[cfg(test)]
mod tests;
