//! Conditions in negation normal form.

use policert_numeric::{LinearInequality, Rational};
use policert_sexpr::{Fault, Sexpr, quoted};

use crate::declarations::Declarations;
use crate::term::LinearTerm;
use crate::variable::Variable;

/// A condition without negations. `All` of nothing is true, `Any` of nothing is false.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Formula {
    /// `term ≤ 0`, or `<` if it is strict. The term is not constant.
    Comparison {
        term: LinearTerm,
        strict: bool,
    },
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

const TRUE: Formula = Formula::All(Vec::new());
const FALSE: Formula = Formula::Any(Vec::new());

/// Says how two terms are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    LessOrEqual,
    Less,
    GreaterOrEqual,
    Greater,
    Equal,
}

impl Formula {
    /// The condition of an expression, or its negation.
    pub fn read(
        expression: &Sexpr<'_>,
        negated: bool,
        declared: &Declarations,
    ) -> Result<Self, Fault> {
        let Some(items) = expression.list() else {
            return match expression.atom() {
                Some("true") => Ok(if negated { FALSE } else { TRUE }),
                Some("false") => Ok(if negated { TRUE } else { FALSE }),
                _ => Err(no_condition(expression)),
            };
        };
        let Some((head, operands)) = items.split_first() else {
            return Err(Fault::invalid(expression.at, "an empty list is no condition"));
        };
        let relation = match head.atom() {
            Some("<=") => Relation::LessOrEqual,
            Some("<") => Relation::Less,
            Some(">=") => Relation::GreaterOrEqual,
            Some(">") => Relation::Greater,
            Some("=") => Relation::Equal,
            Some("not") => {
                let [operand] = operands else {
                    let message = format!("`not` has 1 operand, not {}", operands.len());
                    return Err(Fault::invalid(expression.at, message));
                };
                return Self::read(operand, !negated, declared);
            }
            Some(name @ ("and" | "or")) => {
                let parts = operands.iter().map(|part| Self::read(part, negated, declared));
                let parts = parts.collect::<Result<Vec<Self>, Fault>>()?;
                return Ok(Self::joined((name == "and") != negated, parts));
            }
            _ => return Err(no_condition(expression)),
        };
        if operands.len() < 2 {
            let message = format!("a comparison has at least 2 operands, not {}", operands.len());
            return Err(Fault::invalid(expression.at, message));
        }
        let terms = operands.iter().map(|operand| LinearTerm::read(operand, declared));
        let terms = terms.collect::<Result<Vec<LinearTerm>, Fault>>()?;
        let steps = terms.windows(2).map(|pair| compared(&pair[0], relation, &pair[1], negated));
        Ok(Self::joined(!negated, steps.collect()))
    }

    /// All of the parts, or any of them, with constants and one-part lists taken out.
    pub fn joined(all: bool, parts: Vec<Self>) -> Self {
        let (neutral, decisive) = if all { (TRUE, FALSE) } else { (FALSE, TRUE) };
        if parts.contains(&decisive) {
            return decisive;
        }
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Self::All(inner) if all => kept.extend(inner),
                Self::Any(inner) if !all => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => neutral,
            1 => kept.swap_remove(0),
            _ if all => Self::All(kept),
            _ => Self::Any(kept),
        }
    }
}

/// `left relation right`, or its negation.
fn compared(left: &LinearTerm, relation: Relation, right: &LinearTerm, negated: bool) -> Formula {
    match (relation, negated) {
        (Relation::LessOrEqual, false) | (Relation::Greater, true) => at_most(left, right, false),
        (Relation::Less, false) | (Relation::GreaterOrEqual, true) => at_most(left, right, true),
        (Relation::GreaterOrEqual, false) | (Relation::Less, true) => at_most(right, left, false),
        (Relation::Greater, false) | (Relation::LessOrEqual, true) => at_most(right, left, true),
        (Relation::Equal, _) => Formula::joined(
            !negated,
            vec![at_most(left, right, negated), at_most(right, left, negated)],
        ),
    }
}

/// `left ≤ right`, or `<`.
fn at_most(left: &LinearTerm, right: &LinearTerm, strict: bool) -> Formula {
    let mut term = left.clone();
    term.add(right, &Rational::integer(-1));
    if term.coefficients.is_empty() {
        let sign = term.constant.signum();
        return if sign < 0 || (sign == 0 && !strict) { TRUE } else { FALSE };
    }
    Formula::Comparison { term, strict }
}

/// `term ≤ 0` as an inequality over the inputs, then the outputs.
pub(crate) fn inequality(term: &LinearTerm, strict: bool, inputs: usize) -> LinearInequality {
    let terms = term.coefficients.iter().map(|(variable, coefficient)| {
        let index = match *variable {
            Variable::Input(i) => i,
            Variable::Output(j) => inputs + j,
        };
        (index, coefficient.clone())
    });
    // Ordered by variable and without zeros already.
    LinearInequality { terms: terms.collect(), upper: -&term.constant, strict }
}

/// Returns what is wrong with an expression where a condition is expected.
fn no_condition(expression: &Sexpr<'_>) -> Fault {
    let supported = "and, or, not, <=, <, >=, > and = are";
    let head = expression.list().and_then(|items| items.first());
    let at = head.map_or(expression.at, |head| head.at);
    match head.and_then(Sexpr::atom) {
        Some(name @ ("=>" | "xor" | "distinct" | "ite" | "let" | "forall" | "exists" | "!")) => {
            Fault::unsupported(at, format!("`{name}` is not supported in conditions; {supported}"))
        }
        Some(name @ ("!=" | "==")) => Fault::unsupported(
            at,
            format!("`{name}` belongs to VNN-LIB 2.0, which is not supported; {supported}"),
        ),
        Some(name) => Fault::invalid(at, format!("{} is no condition; {supported}", quoted(name))),
        None => {
            let message = format!(
                "a condition such as (<= X_0 1) is expected, not {}",
                expression.described()
            );
            Fault::invalid(at, message)
        }
    }
}
