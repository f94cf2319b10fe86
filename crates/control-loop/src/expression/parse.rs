//! Expressions as text, in the grammar of `policert-infix`: `+ − * / ^`, functions, and
//! `a if condition else b`.
//!
//! Powers bind tighter than a sign before them: `-x^2` is −(x²).

use policert_infix::{Binary, Meaning, SyntaxProblem, Unary, read, tokens};
use policert_numeric::Rational;
use thiserror::Error;

use super::{ExpressionFunction, ExpressionGraph, ExpressionId};

/// Says what is wrong with an expression, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// Position in the text, in bytes from 0.
    pub at: usize,
    /// The problem in words.
    pub message: String,
}

/// Names of functions of one number.
const FUNCTIONS: [(&str, ExpressionFunction); 9] = [
    ("sin", ExpressionFunction::Sin),
    ("cos", ExpressionFunction::Cos),
    ("tan", ExpressionFunction::Tan),
    ("exp", ExpressionFunction::Exp),
    ("log", ExpressionFunction::Log),
    ("ln", ExpressionFunction::Log),
    ("sqrt", ExpressionFunction::Sqrt),
    ("tanh", ExpressionFunction::Tanh),
    ("abs", ExpressionFunction::Abs),
];

/// Powers go up to this exponent, and down to its negative.
const MAX_EXPONENT: i32 = 1000;

impl ExpressionGraph {
    /// Adds the expression that a text denotes. `name` gives the meaning of a name.
    ///
    /// # Errors
    /// If the text is no expression, with the position.
    pub fn parse(
        &mut self,
        text: &str,
        name: impl Fn(&str, &mut ExpressionGraph) -> Option<ExpressionId>,
    ) -> Result<ExpressionId, ExpressionError> {
        self.parsed(text, &name, |value, _| value.number(0))
    }

    /// Adds the expressions of the condition that a text denotes. `name` gives the meaning of a name.
    ///
    /// # Errors
    /// If the text is no condition, with the position.
    pub fn parse_condition(
        &mut self,
        text: &str,
        name: impl Fn(&str, &mut ExpressionGraph) -> Option<ExpressionId>,
    ) -> Result<Comparisons, ExpressionError> {
        self.parsed(text, &name, |value, graph| Ok(value.condition(0)?.comparisons(graph, true)))
    }

    fn parsed<T>(
        &mut self,
        text: &str,
        name: Names<'_>,
        wanted: impl FnOnce(Value, &mut ExpressionGraph) -> Result<T, SyntaxProblem>,
    ) -> Result<T, ExpressionError> {
        let tokens = tokens(text, &[]);
        let mut formula = Formula { graph: self, name };
        let value = read(&tokens, &mut formula);
        value.and_then(|value| wanted(value, formula.graph)).map_err(|problem| {
            let at = tokens.get(problem.at).map_or(0, |token| token.span.start);
            ExpressionError { at, message: problem.message }
        })
    }
}

/// A condition in which every comparison is one with 0, and nothing is negated.
#[derive(Clone, Debug)]
pub enum Comparisons {
    /// It holds in all states, or in none.
    Always(bool),
    /// The expression is negative, or not positive unless it is `strict`.
    Below {
        /// True if 0 itself does not count.
        strict: bool,
        /// The expression.
        expression: ExpressionId,
    },
    /// All of these hold.
    All(Vec<Comparisons>),
    /// One of these holds.
    Any(Vec<Comparisons>),
}

/// Says what a name means.
type Names<'a> = &'a dyn Fn(&str, &mut ExpressionGraph) -> Option<ExpressionId>;

/// Makes nodes of a graph.
struct Formula<'a> {
    graph: &'a mut ExpressionGraph,
    name: Names<'a>,
}

/// A number or a condition.
enum Value {
    Number(ExpressionId),
    Condition(Condition),
}

/// A condition before it is spread over the two values that it chooses between.
#[derive(Clone)]
enum Condition {
    Always(bool),
    Compare { strict: bool, a: ExpressionId, b: ExpressionId },
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Value {
    fn number(self, at: usize) -> Result<ExpressionId, SyntaxProblem> {
        match self {
            Self::Number(id) => Ok(id),
            Self::Condition(_) => Err(SyntaxProblem::new(at, "a number expected, not a condition")),
        }
    }

    fn condition(self, at: usize) -> Result<Condition, SyntaxProblem> {
        match self {
            Self::Condition(condition) => Ok(condition),
            Self::Number(_) => Err(SyntaxProblem::new(at, "a condition expected, not a number")),
        }
    }
}

impl Condition {
    fn not(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut parts) => {
                parts.push(other);
                Self::All(parts)
            }
            first => Self::All(vec![first, other]),
        }
    }

    fn or(self, other: Self) -> Self {
        match self {
            Self::Any(mut parts) => {
                parts.push(other);
                Self::Any(parts)
            }
            first => Self::Any(vec![first, other]),
        }
    }

    /// The condition if it is to hold, else its negation.
    fn comparisons(&self, graph: &mut ExpressionGraph, holds: bool) -> Comparisons {
        let mut all = |parts: &[Self]| -> Vec<Comparisons> {
            parts.iter().map(|part| part.comparisons(graph, holds)).collect()
        };
        match self {
            Self::Always(value) => Comparisons::Always(*value == holds),
            Self::Not(inner) => inner.comparisons(graph, !holds),
            Self::All(parts) if holds => Comparisons::All(all(parts)),
            Self::Any(parts) if holds => Comparisons::Any(all(parts)),
            Self::All(parts) => Comparisons::Any(all(parts)),
            Self::Any(parts) => Comparisons::All(all(parts)),
            Self::Compare { strict, a, b } if holds => {
                Comparisons::Below { strict: *strict, expression: graph.sub(*a, *b) }
            }
            Self::Compare { strict, a, b } => {
                Comparisons::Below { strict: !strict, expression: graph.sub(*b, *a) }
            }
        }
    }
}

impl Formula<'_> {
    fn spread(
        &mut self,
        condition: &Condition,
        then: ExpressionId,
        otherwise: ExpressionId,
    ) -> ExpressionId {
        match condition {
            Condition::Always(true) => then,
            Condition::Always(false) => otherwise,
            Condition::Compare { strict, a, b } => {
                self.graph.choose(*strict, [*a, *b], then, otherwise)
            }
            Condition::Not(inner) => self.spread(inner, otherwise, then),
            Condition::All(parts) => {
                parts.iter().rev().fold(then, |inner, part| self.spread(part, inner, otherwise))
            }
            Condition::Any(parts) => {
                parts.iter().rev().fold(otherwise, |inner, part| self.spread(part, then, inner))
            }
        }
    }

    fn compare(&self, op: Binary, a: ExpressionId, b: ExpressionId) -> Option<Condition> {
        let at_most = |a, b| Condition::Compare { strict: false, a, b };
        let less = |a, b| Condition::Compare { strict: true, a, b };
        Some(match op {
            Binary::Less => less(a, b),
            Binary::AtMost => at_most(a, b),
            Binary::Greater => less(b, a),
            Binary::AtLeast => at_most(b, a),
            Binary::Equal => at_most(a, b).and(at_most(b, a)),
            Binary::NotEqual => less(a, b).or(less(b, a)),
            Binary::Implies
            | Binary::Or
            | Binary::And
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Modulo
            | Binary::Power => return None,
        })
    }

    /// Two truth values that are the same, or that are not.
    fn same(op: Binary, a: Condition, b: Condition) -> Option<Condition> {
        let both = a.clone().and(b.clone());
        let neither = a.or(b).not();
        match op {
            Binary::Equal => Some(both.or(neither)),
            Binary::NotEqual => Some(both.or(neither).not()),
            Binary::Implies
            | Binary::Or
            | Binary::And
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Modulo
            | Binary::Power => None,
        }
    }

    fn arithmetic(
        &mut self,
        at: usize,
        op: Binary,
        a: ExpressionId,
        b: ExpressionId,
    ) -> Result<ExpressionId, SyntaxProblem> {
        let graph = &mut *self.graph;
        Ok(match op {
            Binary::Add => graph.add(a, b),
            Binary::Subtract => graph.sub(a, b),
            Binary::Multiply => graph.mul(a, b),
            Binary::Divide if graph.constant_value(b).is_some_and(Rational::is_zero) => {
                return Err(SyntaxProblem::new(at, "division by 0"));
            }
            Binary::Divide => graph.div(a, b),
            Binary::Power => return self.power(at, a, b),
            Binary::Modulo
            | Binary::Implies
            | Binary::Or
            | Binary::And
            | Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast => {
                return Err(SyntaxProblem::new(at, "this is no operation of real numbers here"));
            }
        })
    }

    fn power(
        &mut self,
        at: usize,
        base: ExpressionId,
        exponent: ExpressionId,
    ) -> Result<ExpressionId, SyntaxProblem> {
        let integer = self.graph.constant_value(exponent).and_then(Rational::to_i64);
        if let Some(exponent) = integer {
            let exponent = i32::try_from(exponent)
                .ok()
                .filter(|exponent| (-MAX_EXPONENT..=MAX_EXPONENT).contains(exponent))
                .ok_or_else(|| {
                    let message = format!("powers go from -{MAX_EXPONENT} to {MAX_EXPONENT}");
                    SyntaxProblem::new(at, message)
                })?;
            if exponent < 0 && self.graph.constant_value(base).is_some_and(Rational::is_zero) {
                return Err(SyntaxProblem::new(at, "this power of 0 has no value"));
            }
            return Ok(self.graph.power(base, exponent));
        }
        // x^y = e^(y·log x), for x > 0.
        let log = self.graph.apply(ExpressionFunction::Log, base);
        let product = self.graph.mul(exponent, log);
        Ok(self.graph.apply(ExpressionFunction::Exp, product))
    }
}

impl Meaning for Formula<'_> {
    type Value = Value;

    fn number(&mut self, _: usize, value: &Rational) -> Result<Value, SyntaxProblem> {
        Ok(Value::Number(self.graph.constant(value.clone())))
    }

    fn truth(&mut self, _: usize, value: bool) -> Result<Value, SyntaxProblem> {
        Ok(Value::Condition(Condition::Always(value)))
    }

    fn name(&mut self, at: usize, name: &str) -> Result<Value, SyntaxProblem> {
        (self.name)(name, self.graph)
            .map(Value::Number)
            .ok_or_else(|| SyntaxProblem::new(at, format!("`{name}` is not known")))
    }

    fn unary(&mut self, at: usize, op: Unary, a: Value) -> Result<Value, SyntaxProblem> {
        Ok(match op {
            Unary::Plus => Value::Number(a.number(at)?),
            Unary::Minus => Value::Number(self.graph.neg(a.number(at)?)),
            Unary::Not => Value::Condition(a.condition(at)?.not()),
        })
    }

    fn binary(
        &mut self,
        at: usize,
        op: Binary,
        operands: [Value; 2],
    ) -> Result<Value, SyntaxProblem> {
        let condition = match (op, operands) {
            (Binary::Implies, [a, b]) => a.condition(at)?.not().or(b.condition(at)?),
            (Binary::Or, [a, b]) => a.condition(at)?.or(b.condition(at)?),
            (Binary::And, [a, b]) => a.condition(at)?.and(b.condition(at)?),
            (op, [Value::Condition(a), Value::Condition(b)]) => Self::same(op, a, b)
                .ok_or_else(|| SyntaxProblem::new(at, "numbers expected here"))?,
            (op, [a, b]) => {
                let (a, b) = (a.number(at)?, b.number(at)?);
                match self.compare(op, a, b) {
                    Some(condition) => condition,
                    None => return Ok(Value::Number(self.arithmetic(at, op, a, b)?)),
                }
            }
        };
        Ok(Value::Condition(condition))
    }

    fn choice(&mut self, at: usize, parts: [Value; 3]) -> Result<Value, SyntaxProblem> {
        let [condition, then, otherwise] = parts;
        let condition = condition.condition(at)?;
        let (then, otherwise) = (then.number(at)?, otherwise.number(at)?);
        Ok(Value::Number(self.spread(&condition, then, otherwise)))
    }

    fn element(&mut self, at: usize, _: Value, _: Value) -> Result<Value, SyntaxProblem> {
        Err(SyntaxProblem::new(at, "there are no arrays here"))
    }

    fn call(
        &mut self,
        at: usize,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, SyntaxProblem> {
        let count = arguments.len();
        let wrong = |expected: &str| {
            Err(SyntaxProblem::new(at, format!("`{name}` takes {expected}, not {count}")))
        };
        if name == "ite" {
            return match <[Value; 3]>::try_from(arguments) {
                Ok(parts) => self.choice(at, parts),
                Err(_) => wrong("3 arguments"),
            };
        }
        let numbers: Vec<ExpressionId> =
            arguments.into_iter().map(|value| value.number(at)).collect::<Result<_, _>>()?;
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let value = match (name, known, numbers.as_slice()) {
            (_, Some((_, function)), [a]) => self.graph.apply(*function, *a),
            (_, Some(_), _) => return wrong("one argument"),
            ("min", _, [first, rest @ ..]) => {
                rest.iter().fold(*first, |a, &b| self.graph.min(a, b))
            }
            ("max", _, [first, rest @ ..]) => {
                rest.iter().fold(*first, |a, &b| self.graph.max(a, b))
            }
            ("min" | "max", _, []) => return wrong("at least one argument"),
            ("pow", _, [base, exponent]) => self.power(at, *base, *exponent)?,
            ("pow", ..) => return wrong("2 arguments"),
            _ => return Err(SyntaxProblem::new(at, format!("there is no function `{name}`"))),
        };
        Ok(Value::Number(value))
    }
}
