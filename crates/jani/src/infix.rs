//! Expressions as people write them on a command line: `x >= 3 && y = 1`.
//!
//! | level | operators, loosest first |
//! |---|---|
//! | 1 | `=>` `⇒` (to the right) |
//! | 2 | `\|\|` `\|` `∨` `or` |
//! | 3 | `&&` `&` `∧` `and` |
//! | 4 | `!` `¬` `not` |
//! | 5 | `=` `==` `!=` `≠` `<` `<=` `≤` `>` `>=` `≥` (one of them) |
//! | 6 | `+` `-` |
//! | 7 | `*` `/` `%` |
//! | 8 | `-` before an operand |
//! | 9 | `A[i]`, `(…)`, `min(a, b)` and other functions, numbers, names, `true`, `false` |
//!
//! Functions are `min max abs floor ceil sgn trc pow log ite` and those of the model. A name is
//! the longest one of the model that fits (`hand-empty`, `A#0.v`); in quotes it is what it is.
//! `Car#0 = drive` compares the location of an instance. A text that starts with `{` is a JANI
//! expression in JSON.

mod token;

use std::path::Path;

use policert_model::{Model, VariableKind};
use policert_numeric::Rational;

use crate::{
    ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp},
    diagnostic::Code,
    json::NodeId,
    parse::Parser,
    source::{At, Source, SourceId},
};
use token::{Kind, Token};

/// Deepest nesting of parentheses and operators before operands.
const MAX_DEPTH: usize = 500;

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
        known.iter().map(String::as_str).filter(|name| !token::is_plain_name(name)).collect();
    let tokens = token::tokens(text, &known);
    let spans = tokens.iter().map(|t| t.span.clone()).collect();
    let id = parser.diagnostics.sources.next_id();
    parser.diagnostics.sources.push(Source::of_spans(id, path, text.to_owned(), spans));
    let mut infix = Infix { tokens: &tokens, next: 0, depth: 0, source: id, parser, model };
    match infix.whole() {
        Ok(expr) => Some(expr),
        Err((at, message)) => {
            parser.diagnostics.invalid(Code::Syntax, at, message);
            None
        }
    }
}

/// A place and what is wrong there.
type Problem = (At, String);

struct Infix<'t> {
    tokens: &'t [Token],
    next: usize,
    depth: usize,
    source: SourceId,
    parser: &'t mut Parser,
    model: &'t Model,
}

impl Infix<'_> {
    fn whole(&mut self) -> Result<Expr, Problem> {
        let expr = self.implication()?;
        match self.peek() {
            Kind::End => Ok(expr),
            _ => Err(self.problem("an operator or the end expected")),
        }
    }

    fn implication(&mut self) -> Result<Expr, Problem> {
        let mut operands = vec![self.binary(0)?];
        let mut places = Vec::new();
        while let Some(at) = self.sign(&["=>", "⇒", "->"]) {
            places.push(at);
            operands.push(self.binary(0)?);
        }
        let mut right = operands.pop().ok_or_else(|| self.problem("an operand expected"))?;
        while let (Some(left), Some(at)) = (operands.pop(), places.pop()) {
            right = binary(at, BinaryOp::Implies, left, right);
        }
        Ok(right)
    }

    /// Operators of one level that lean to the left, and all below.
    fn binary(&mut self, level: usize) -> Result<Expr, Problem> {
        const LEVELS: [&[(&[&str], BinaryOp)]; 2] = [
            &[(&["||", "|", "∨", "or"], BinaryOp::Or)],
            &[(&["&&", "&", "∧", "and"], BinaryOp::And)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.negation() };
        self.leaning(operators, |infix| infix.binary(level + 1))
    }

    fn leaning(
        &mut self,
        operators: &[(&[&str], BinaryOp)],
        mut operand: impl FnMut(&mut Self) -> Result<Expr, Problem>,
    ) -> Result<Expr, Problem> {
        let mut left = operand(self)?;
        'operators: loop {
            for (signs, op) in operators {
                if let Some(at) = self.sign(signs) {
                    left = binary(at, *op, left, operand(self)?);
                    continue 'operators;
                }
            }
            return Ok(left);
        }
    }

    fn negation(&mut self) -> Result<Expr, Problem> {
        match self.sign(&["!", "¬", "not"]) {
            Some(at) => {
                let operand = self.deeper(Self::negation)?;
                Ok(Expr { at, kind: ExprKind::Unary(UnaryOp::Not, Box::new(operand)) })
            }
            None => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Result<Expr, Problem> {
        const COMPARISONS: [(&[&str], BinaryOp); 6] = [
            (&["=", "=="], BinaryOp::Eq),
            (&["!=", "≠"], BinaryOp::Ne),
            (&["<"], BinaryOp::Lt),
            (&["<=", "≤"], BinaryOp::Le),
            (&[">"], BinaryOp::Gt),
            (&[">=", "≥"], BinaryOp::Ge),
        ];
        let left = self.sum()?;
        let find = |infix: &mut Self| {
            COMPARISONS.iter().find_map(|(signs, op)| infix.sign(signs).map(|at| (at, *op)))
        };
        let Some((at, op)) = find(self) else { return Ok(left) };
        let right = self.sum()?;
        if let Some((at, _)) = find(self) {
            let message = "comparisons in a row: join two of them by `&&`".to_owned();
            return Err((at, message));
        }
        let (left, right) = (self.location(left, &right), right);
        let right = self.location(right, &left);
        Ok(binary(at, op, left, right))
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

    fn sum(&mut self) -> Result<Expr, Problem> {
        let operators: [(&[&str], BinaryOp); 2] =
            [(&["+"], BinaryOp::Add), (&["-", "−"], BinaryOp::Sub)];
        self.leaning(&operators, Self::product)
    }

    fn product(&mut self) -> Result<Expr, Problem> {
        let operators: [(&[&str], BinaryOp); 3] =
            [(&["*", "·"], BinaryOp::Mul), (&["/"], BinaryOp::Div), (&["%"], BinaryOp::Mod)];
        self.leaning(&operators, Self::signed)
    }

    fn signed(&mut self) -> Result<Expr, Problem> {
        match self.sign(&["-", "−"]) {
            Some(at) => {
                let operand = self.deeper(Self::signed)?;
                Ok(Expr { at, kind: ExprKind::Unary(UnaryOp::Minus, Box::new(operand)) })
            }
            None => self.indexed(),
        }
    }

    fn indexed(&mut self) -> Result<Expr, Problem> {
        let mut expr = self.primary()?;
        while let Some(at) = self.sign(&["["]) {
            let index = self.deeper(Self::implication)?;
            self.expect("]")?;
            expr = Expr { at, kind: ExprKind::Access(Box::new([expr, index])) };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let at = self.at();
        if self.sign(&["("]).is_some() {
            let expr = self.deeper(Self::implication)?;
            self.expect(")")?;
            return Ok(expr);
        }
        let kind = match self.peek().clone() {
            Kind::Number(value) => ExprKind::Number(value),
            Kind::Name(name) if name == "true" => ExprKind::Bool(true),
            Kind::Name(name) if name == "false" => ExprKind::Bool(false),
            Kind::Name(name) => {
                self.next += 1;
                if self.sign(&["("]).is_some() {
                    return self.call(at, &name);
                }
                return Ok(self.named(at, &name));
            }
            Kind::Quoted(name) => {
                self.next += 1;
                return Ok(self.named(at, &name));
            }
            _ => return Err(self.problem("an operand expected")),
        };
        self.next += 1;
        Ok(Expr { at, kind })
    }

    fn named(&mut self, at: At, name: &str) -> Expr {
        Expr { at, kind: ExprKind::Name(self.parser.names.intern(name)) }
    }

    /// A function with its arguments, after the opening parenthesis.
    fn call(&mut self, at: At, name: &str) -> Result<Expr, Problem> {
        let mut arguments = Vec::new();
        if self.sign(&[")"]).is_none() {
            loop {
                arguments.push(self.deeper(Self::implication)?);
                if self.sign(&[","]).is_none() {
                    break;
                }
            }
            self.expect(")")?;
        }
        let count = arguments.len();
        let wrong =
            |expected: &str| Err((at, format!("`{name}` has {expected} arguments, not {count}")));
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
                let first = binary(at, op, a, b);
                return Ok(arguments.fold(first, |all, next| binary(at, op, all, next)));
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
                ExprKind::Call(Name { symbol, at }, all)
            }
        };
        Ok(Expr { at, kind })
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.depth >= MAX_DEPTH {
            return Err(self.problem(&format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Takes one of some signs, if it is next.
    fn sign(&mut self, signs: &[&str]) -> Option<At> {
        let found = match self.peek() {
            Kind::Sign(sign) => signs.contains(sign),
            Kind::Name(word) => signs.contains(&&**word),
            _ => false,
        };
        let at = self.at();
        found.then(|| {
            self.next += 1;
            at
        })
    }

    fn expect(&mut self, sign: &str) -> Result<(), Problem> {
        match self.sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(self.problem(&format!("`{sign}` expected"))),
        }
    }

    fn peek(&self) -> &Kind {
        self.tokens.get(self.next).map_or(&Kind::End, |token| &token.kind)
    }

    /// The place of the next token.
    fn at(&self) -> At {
        let last = self.tokens.len().saturating_sub(1);
        At { source: self.source, node: NodeId::new(self.next.min(last)) }
    }

    fn problem(&self, message: &str) -> Problem {
        (self.at(), message.to_owned())
    }
}

fn binary(at: At, op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr { at, kind: ExprKind::Binary(op, Box::new([left, right])) }
}

#[cfg(test)]
mod tests;
