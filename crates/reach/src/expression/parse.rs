//! Expressions as text: `+ − * / ^`, functions, and `a if condition else b`.
//!
//! Powers bind tighter than a sign before them: `-x^2` is −(x²). Comparisons may be joined by
//! `and`, `or` and `not`.

use policert_numeric::Rational;
use thiserror::Error;

use super::lexer::{Token, TokenKind, tokens};
use super::{Expressions, Function, NodeId};

/// What is wrong with an expression, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// Position in the text, in bytes from 0.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl ExpressionError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Brackets and signs may be nested as deep as this.
const MAX_DEPTH: usize = 200;

/// Names of functions of one number.
const FUNCTIONS: [(&str, Function); 9] = [
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("exp", Function::Exp),
    ("log", Function::Log),
    ("ln", Function::Log),
    ("sqrt", Function::Sqrt),
    ("tanh", Function::Tanh),
    ("abs", Function::Abs),
];

impl Expressions {
    /// Adds the expression that a text denotes. `name` gives the meaning of a name.
    ///
    /// # Errors
    /// If the text is no expression, with the position.
    pub fn parse(
        &mut self,
        text: &str,
        name: impl Fn(&str, &mut Expressions) -> Option<NodeId>,
    ) -> Result<NodeId, ExpressionError> {
        let tokens = tokens(text)?;
        let mut parser = Parser { graph: self, tokens, next: 0, depth: 0, name: &name };
        let root = parser.expression()?;
        parser.end()?;
        Ok(root)
    }
}

/// What a name means.
type Names<'a> = &'a dyn Fn(&str, &mut Expressions) -> Option<NodeId>;

struct Parser<'a> {
    graph: &'a mut Expressions,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    name: Names<'a>,
}

/// A condition before it is spread over the two values that it chooses between.
enum Condition {
    Compare { strict: bool, a: NodeId, b: NodeId },
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(&self.peek().kind, TokenKind::Symbol(s) if *s == symbol);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(&self.peek().kind, TokenKind::Name(name) if name == word);
        self.next += usize::from(found);
        found
    }

    fn unexpected(&self, wanted: &str) -> ExpressionError {
        let found = match &self.peek().kind {
            TokenKind::Number(value) => format!("`{value}`"),
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::End => "the end".to_owned(),
        };
        ExpressionError::new(self.peek().at, format!("expected {wanted}, found {found}"))
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn end(&self) -> Result<(), ExpressionError> {
        if self.peek().kind == TokenKind::End {
            Ok(())
        } else {
            Err(self.unexpected("an operator"))
        }
    }

    fn deeper(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::new(self.peek().at, "nested too deeply"));
        }
        Ok(())
    }

    fn expression(&mut self) -> Result<NodeId, ExpressionError> {
        self.deeper()?;
        let value = self.sum()?;
        let value = if self.take_word("if") {
            let condition = self.disjunction()?;
            if !self.take_word("else") {
                return Err(self.unexpected("`else`"));
            }
            let otherwise = self.expression()?;
            self.spread(&condition, value, otherwise)
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn spread(&mut self, condition: &Condition, then: NodeId, otherwise: NodeId) -> NodeId {
        match condition {
            Condition::Compare { strict, a, b } => {
                self.graph.choose(*strict, [*a, *b], then, otherwise)
            }
            Condition::Not(inner) => self.spread(inner, otherwise, then),
            Condition::And(left, right) => {
                let inner = self.spread(right, then, otherwise);
                self.spread(left, inner, otherwise)
            }
            Condition::Or(left, right) => {
                let inner = self.spread(right, then, otherwise);
                self.spread(left, then, inner)
            }
        }
    }

    fn disjunction(&mut self) -> Result<Condition, ExpressionError> {
        self.deeper()?;
        let mut condition = self.conjunction()?;
        while self.take_word("or") {
            condition = Condition::Or(Box::new(condition), Box::new(self.conjunction()?));
        }
        self.depth -= 1;
        Ok(condition)
    }

    fn conjunction(&mut self) -> Result<Condition, ExpressionError> {
        let mut condition = self.comparison()?;
        while self.take_word("and") {
            condition = Condition::And(Box::new(condition), Box::new(self.comparison()?));
        }
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, ExpressionError> {
        if self.take_word("not") {
            self.deeper()?;
            let inner = self.comparison()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
        }
        let (a, symbol) = (self.sum()?, self.peek().kind.clone());
        let TokenKind::Symbol(symbol) = symbol else { return Err(self.unexpected("a comparison")) };
        if !["<", "<=", ">", ">=", "=="].contains(&symbol) {
            return Err(self.unexpected("a comparison"));
        }
        self.next += 1;
        let b = self.sum()?;
        let at_most = |a, b| Condition::Compare { strict: false, a, b };
        Ok(match symbol {
            "<" => Condition::Compare { strict: true, a, b },
            "<=" => at_most(a, b),
            ">" => Condition::Compare { strict: true, a: b, b: a },
            ">=" => at_most(b, a),
            _ => Condition::And(Box::new(at_most(a, b)), Box::new(at_most(b, a))),
        })
    }

    fn sum(&mut self) -> Result<NodeId, ExpressionError> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                let next = self.product()?;
                value = self.graph.add(value, next);
            } else if self.take("-") {
                let next = self.product()?;
                value = self.graph.sub(value, next);
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<NodeId, ExpressionError> {
        let mut value = self.signed()?;
        loop {
            if self.take("*") {
                let next = self.signed()?;
                value = self.graph.mul(value, next);
            } else if self.take("/") {
                let at = self.peek().at;
                let next = self.signed()?;
                if self.graph.constant_value(next).is_some_and(Rational::is_zero) {
                    return Err(ExpressionError::new(at, "division by 0"));
                }
                value = self.graph.div(value, next);
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<NodeId, ExpressionError> {
        if self.take("-") {
            self.deeper()?;
            let value = self.signed()?;
            self.depth -= 1;
            return Ok(self.graph.neg(value));
        }
        if self.take("+") {
            self.deeper()?;
            let value = self.signed()?;
            self.depth -= 1;
            return Ok(value);
        }
        self.power()
    }

    fn power(&mut self) -> Result<NodeId, ExpressionError> {
        let at = self.peek().at;
        let base = self.operand()?;
        if !self.take("^") && !self.take("**") {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.signed()?;
        self.depth -= 1;
        let integer = self.graph.constant_value(exponent).and_then(Rational::to_i64);
        if let Some(exponent) = integer {
            let exponent = i32::try_from(exponent)
                .ok()
                .filter(|exponent| (-1000..=1000).contains(exponent))
                .ok_or_else(|| ExpressionError::new(at, "powers go from -1000 to 1000"))?;
            if exponent < 0 && self.graph.constant_value(base).is_some_and(Rational::is_zero) {
                return Err(ExpressionError::new(at, "this power of 0 has no value"));
            }
            return Ok(self.graph.power(base, exponent));
        }
        // x^y = e^(y·log x), for x > 0.
        let log = self.graph.apply(Function::Log, base);
        let product = self.graph.mul(exponent, log);
        Ok(self.graph.apply(Function::Exp, product))
    }

    fn operand(&mut self) -> Result<NodeId, ExpressionError> {
        let Token { kind, at } = self.peek().clone();
        match kind {
            TokenKind::Number(value) => {
                self.next += 1;
                Ok(self.graph.constant(value))
            }
            TokenKind::Symbol("(") => {
                self.next += 1;
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            TokenKind::Name(name) => {
                self.next += 1;
                if self.take("(") {
                    return self.call(&name, at);
                }
                (self.name)(&name, self.graph)
                    .ok_or_else(|| ExpressionError::new(at, format!("`{name}` is not known")))
            }
            _ => Err(self.unexpected("a number, name or bracket")),
        }
    }

    fn call(&mut self, name: &str, at: usize) -> Result<NodeId, ExpressionError> {
        let mut arguments = vec![self.expression()?];
        while self.take(",") {
            arguments.push(self.expression()?);
        }
        self.expect(")")?;
        if let (Some((_, function)), [a]) =
            (FUNCTIONS.iter().find(|(known, _)| *known == name), arguments.as_slice())
        {
            return Ok(self.graph.apply(*function, *a));
        }
        match (name, arguments.as_slice()) {
            ("min", [first, rest @ ..]) => {
                Ok(rest.iter().fold(*first, |a, &b| self.graph.min(a, b)))
            }
            ("max", [first, rest @ ..]) => {
                Ok(rest.iter().fold(*first, |a, &b| self.graph.max(a, b)))
            }
            _ if FUNCTIONS.iter().any(|(known, _)| *known == name) => {
                Err(ExpressionError::new(at, format!("`{name}` takes one argument")))
            }
            _ => Err(ExpressionError::new(at, format!("there is no function `{name}`"))),
        }
    }
}
