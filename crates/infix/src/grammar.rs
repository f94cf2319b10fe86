//! The grammar: from pieces of text to what a [`Meaning`] makes of them.

use policert_numeric::Rational;

use crate::WORDS;
use crate::token::{Token, TokenKind};

/// Deepest nesting of brackets and of operators before operands.
pub const MAX_DEPTH: usize = 200;

/// An operator before an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// −a.
    Minus,
    /// +a.
    Plus,
    /// Not a.
    Not,
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// If a, then b.
    Implies,
    /// a or b.
    Or,
    /// a and b.
    And,
    /// a = b.
    Equal,
    /// a ≠ b.
    NotEqual,
    /// a < b.
    Less,
    /// a ≤ b.
    AtMost,
    /// a > b.
    Greater,
    /// a ≥ b.
    AtLeast,
    /// a + b.
    Add,
    /// a − b.
    Subtract,
    /// a · b.
    Multiply,
    /// a / b.
    Divide,
    /// The remainder of a / b.
    Modulo,
    /// a to the power of b.
    Power,
}

/// Says what is wrong, and at which piece of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxProblem {
    /// Number of the piece.
    pub at: usize,
    /// The problem in words.
    pub message: String,
}

impl SyntaxProblem {
    /// A problem at a piece.
    #[must_use]
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Says what expressions stand for. Places are numbers of pieces: that of the operator, of the
/// name, of the opening bracket.
pub trait Meaning {
    /// Says what an expression stands for: numbers and truth values alike.
    type Value;

    /// A number.
    ///
    /// # Errors
    /// If it has no place here; so for all others.
    fn number(&mut self, at: usize, value: &Rational) -> Result<Self::Value, SyntaxProblem>;
    /// `true` or `false`.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn truth(&mut self, at: usize, value: bool) -> Result<Self::Value, SyntaxProblem>;
    /// A name.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn name(&mut self, at: usize, name: &str) -> Result<Self::Value, SyntaxProblem>;
    /// An operator before an operand.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn unary(&mut self, at: usize, op: Unary, a: Self::Value)
    -> Result<Self::Value, SyntaxProblem>;
    /// An operator between operands.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn binary(
        &mut self,
        at: usize,
        op: Binary,
        operands: [Self::Value; 2],
    ) -> Result<Self::Value, SyntaxProblem>;
    /// `then if condition else otherwise`, from `[condition, then, otherwise]`.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn choice(&mut self, at: usize, parts: [Self::Value; 3]) -> Result<Self::Value, SyntaxProblem>;
    /// An element of an array.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn element(
        &mut self,
        at: usize,
        array: Self::Value,
        index: Self::Value,
    ) -> Result<Self::Value, SyntaxProblem>;
    /// A function with its arguments.
    ///
    /// # Errors
    /// See [`Meaning::number`].
    fn call(
        &mut self,
        at: usize,
        name: &str,
        arguments: Vec<Self::Value>,
    ) -> Result<Self::Value, SyntaxProblem>;
}

/// Reads an expression. The last one of the pieces is the end.
///
/// # Errors
/// If the text is no expression, or the meaning refuses a part of it.
pub fn read<M: Meaning>(tokens: &[Token], meaning: &mut M) -> Result<M::Value, SyntaxProblem> {
    let mut reader = Reader { tokens, next: 0, depth: 0, meaning };
    let value = reader.expression()?;
    match reader.peek() {
        TokenKind::End => Ok(value),
        _ => Err(reader.problem("an operator or the end expected")),
    }
}

struct Reader<'t, M> {
    tokens: &'t [Token],
    next: usize,
    depth: usize,
    meaning: &'t mut M,
}

type Read<M> = Result<<M as Meaning>::Value, SyntaxProblem>;

/// Spellings of an operator.
type Operator = (&'static [&'static str], Binary);

const OR: [Operator; 1] = [(&["||", "|", "∨", "or"], Binary::Or)];
const AND: [Operator; 1] = [(&["&&", "&", "∧", "and"], Binary::And)];
const COMPARISONS: [Operator; 6] = [
    (&["=", "=="], Binary::Equal),
    (&["!=", "≠"], Binary::NotEqual),
    (&["<"], Binary::Less),
    (&["<=", "≤"], Binary::AtMost),
    (&[">"], Binary::Greater),
    (&[">=", "≥"], Binary::AtLeast),
];
const SUMS: [Operator; 2] = [(&["+"], Binary::Add), (&["-", "−"], Binary::Subtract)];
const PRODUCTS: [Operator; 3] =
    [(&["*", "·"], Binary::Multiply), (&["/"], Binary::Divide), (&["%"], Binary::Modulo)];

impl<M: Meaning> Reader<'_, M> {
    fn expression(&mut self) -> Read<M> {
        let value = self.implication()?;
        let Some(at) = self.sign(&["if"]) else { return Ok(value) };
        let condition = self.implication()?;
        if self.sign(&["else"]).is_none() {
            return Err(self.problem("`else` expected"));
        }
        let otherwise = self.deeper(Self::expression)?;
        self.meaning.choice(at, [condition, value, otherwise])
    }

    fn implication(&mut self) -> Read<M> {
        let mut operands = vec![self.disjunction()?];
        let mut places = Vec::new();
        while let Some(at) = self.sign(&["=>", "⇒", "->"]) {
            places.push(at);
            if places.len() > MAX_DEPTH {
                return Err(self.problem(&too_deep()));
            }
            operands.push(self.disjunction()?);
        }
        let mut right = operands.pop().ok_or_else(|| self.problem("an operand expected"))?;
        while let (Some(left), Some(at)) = (operands.pop(), places.pop()) {
            right = self.meaning.binary(at, Binary::Implies, [left, right])?;
        }
        Ok(right)
    }

    fn disjunction(&mut self) -> Read<M> {
        self.leaning(&OR, Self::conjunction)
    }

    fn conjunction(&mut self) -> Read<M> {
        self.leaning(&AND, Self::negation)
    }

    /// Operators of one level that lean to the left, and all below.
    fn leaning(
        &mut self,
        operators: &[Operator],
        mut operand: impl FnMut(&mut Self) -> Read<M>,
    ) -> Read<M> {
        let mut left = operand(self)?;
        while let Some((at, op)) = self.operator(operators) {
            let right = operand(self)?;
            left = self.meaning.binary(at, op, [left, right])?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Read<M> {
        let Some(at) = self.sign(&["!", "¬", "not"]) else { return self.comparison() };
        let operand = self.deeper(Self::negation)?;
        self.meaning.unary(at, Unary::Not, operand)
    }

    fn comparison(&mut self) -> Read<M> {
        let left = self.sum()?;
        let Some((at, op)) = self.operator(&COMPARISONS) else { return Ok(left) };
        let right = self.sum()?;
        if let Some((at, _)) = self.operator(&COMPARISONS) {
            return Err(SyntaxProblem::new(at, "comparisons in a row: join two of them by `&&`"));
        }
        self.meaning.binary(at, op, [left, right])
    }

    fn sum(&mut self) -> Read<M> {
        self.leaning(&SUMS, Self::product)
    }

    fn product(&mut self) -> Read<M> {
        self.leaning(&PRODUCTS, Self::signed)
    }

    fn signed(&mut self) -> Read<M> {
        let (at, op) = if let Some(at) = self.sign(&["-", "−"]) {
            (at, Unary::Minus)
        } else if let Some(at) = self.sign(&["+"]) {
            (at, Unary::Plus)
        } else {
            return self.power();
        };
        let operand = self.deeper(Self::signed)?;
        self.meaning.unary(at, op, operand)
    }

    fn power(&mut self) -> Read<M> {
        let base = self.element()?;
        let Some(at) = self.sign(&["^", "**"]) else { return Ok(base) };
        let exponent = self.deeper(Self::signed)?;
        self.meaning.binary(at, Binary::Power, [base, exponent])
    }

    fn element(&mut self) -> Read<M> {
        let mut value = self.primary()?;
        while let Some(at) = self.sign(&["["]) {
            let index = self.deeper(Self::expression)?;
            self.expect("]")?;
            value = self.meaning.element(at, value, index)?;
        }
        Ok(value)
    }

    fn primary(&mut self) -> Read<M> {
        let at = self.at();
        if self.sign(&["("]).is_some() {
            let value = self.deeper(Self::expression)?;
            self.expect(")")?;
            return Ok(value);
        }
        let kind = self.peek().clone();
        let value = match &kind {
            TokenKind::Number(value) => self.meaning.number(at, value),
            TokenKind::Name(name) if name == "true" => self.meaning.truth(at, true),
            TokenKind::Name(name) if name == "false" => self.meaning.truth(at, false),
            TokenKind::Name(name) if WORDS.contains(&name.as_str()) => {
                return Err(self.problem("an operand expected"));
            }
            TokenKind::Name(name) => {
                self.next += 1;
                if self.sign(&["("]).is_some() {
                    let arguments = self.arguments()?;
                    return self.meaning.call(at, name, arguments);
                }
                return self.meaning.name(at, name);
            }
            TokenKind::Quoted(name) => self.meaning.name(at, name),
            TokenKind::Sign(_) | TokenKind::Unknown | TokenKind::End => {
                return Err(self.problem("an operand expected"));
            }
        };
        self.next += 1;
        value
    }

    /// The arguments of a function, after the opening bracket.
    fn arguments(&mut self) -> Result<Vec<M::Value>, SyntaxProblem> {
        let mut arguments = Vec::new();
        if self.sign(&[")"]).is_some() {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.deeper(Self::expression)?);
            if self.sign(&[","]).is_none() {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxProblem>,
    ) -> Result<T, SyntaxProblem> {
        if self.depth >= MAX_DEPTH {
            return Err(self.problem(&too_deep()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn operator(&mut self, operators: &[Operator]) -> Option<(usize, Binary)> {
        operators.iter().find_map(|(signs, op)| self.sign(signs).map(|at| (at, *op)))
    }

    /// Takes one of some signs, if it is next.
    fn sign(&mut self, signs: &[&str]) -> Option<usize> {
        let found = match self.peek() {
            TokenKind::Sign(sign) => signs.contains(sign),
            TokenKind::Name(word) => signs.contains(&&**word),
            TokenKind::Number(_) | TokenKind::Quoted(_) | TokenKind::Unknown | TokenKind::End => {
                false
            }
        };
        let at = self.at();
        found.then(|| {
            self.next += 1;
            at
        })
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxProblem> {
        match self.sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(self.problem(&format!("`{sign}` expected"))),
        }
    }

    fn peek(&self) -> &TokenKind {
        self.tokens.get(self.next).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// The number of the next piece.
    fn at(&self) -> usize {
        self.next.min(self.tokens.len().saturating_sub(1))
    }

    fn problem(&self, message: &str) -> SyntaxProblem {
        SyntaxProblem::new(self.at(), message)
    }
}

fn too_deep() -> String {
    format!("nested more than {MAX_DEPTH} levels deep")
}

#[cfg(test)]
mod tests;
