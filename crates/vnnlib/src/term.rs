//! Linear terms over inputs and outputs.

use std::collections::BTreeMap;

use policert_sexpr::{Fault, Sexpr, quoted};

use policert_numeric::Rational;

use crate::declarations::Declarations;
use crate::variable::Variable;

/// Numbers with more machine words than this are refused: sums and products of a file could need
/// any amount of memory.
const MAX_WORDS: usize = 1 << 13;

/// `Σ coefficient · variable + constant`; no coefficient is 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LinearTerm {
    pub coefficients: BTreeMap<Variable, Rational>,
    pub constant: Rational,
}

impl LinearTerm {
    fn constant(constant: Rational) -> Self {
        Self { coefficients: BTreeMap::new(), constant }
    }

    fn variable(variable: Variable) -> Self {
        let coefficients = BTreeMap::from([(variable, Rational::ONE)]);
        Self { coefficients, constant: Rational::ZERO }
    }

    fn is_constant(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Adds `factor · other`.
    pub fn add(&mut self, other: &Self, factor: &Rational) {
        self.constant += &(&other.constant * factor);
        for (variable, coefficient) in &other.coefficients {
            let sum = self.coefficients.entry(*variable).or_default();
            *sum += &(coefficient * factor);
            if sum.is_zero() {
                self.coefficients.remove(variable);
            }
        }
    }

    fn scaled(&self, factor: &Rational) -> Self {
        let mut product = Self::default();
        product.add(self, factor);
        product
    }

    /// The term of an expression.
    pub fn read(expression: &Sexpr<'_>, declared: &Declarations) -> Result<Self, Fault> {
        let Some(items) = expression.list() else { return Self::read_atom(expression, declared) };
        let Some((head, operands)) = items.split_first() else {
            return Err(Fault::invalid(expression.at, "an empty list is no term"));
        };
        let operator = match head.atom() {
            Some(operator @ ("+" | "-" | "*" | "/")) => operator,
            Some(name) => return Err(no_term(head.at, name)),
            None => {
                let message = format!("an operator is expected, not {}", head.described());
                return Err(Fault::invalid(head.at, message));
            }
        };
        let terms = operands.iter().map(|operand| Self::read(operand, declared));
        let mut terms = terms.collect::<Result<Vec<Self>, Fault>>()?.into_iter();
        let Some(mut value) = terms.next() else {
            return Err(Fault::invalid(expression.at, format!("`{operator}` without operands")));
        };
        if operator == "/" && operands.len() == 1 {
            return Err(Fault::invalid(expression.at, "`/` needs a dividend and a divisor"));
        }
        if operator == "-" && operands.len() == 1 {
            value = value.scaled(&Rational::integer(-1));
        }
        for (term, operand) in terms.zip(&operands[1..]) {
            match operator {
                "+" => value.add(&term, &Rational::ONE),
                "-" => value.add(&term, &Rational::integer(-1)),
                "*" => value = value.times(&term, operand.at)?,
                _ => value = value.over(&term, operand.at)?,
            }
            value.check_size(expression.at)?;
        }
        Ok(value)
    }

    fn read_atom(expression: &Sexpr<'_>, declared: &Declarations) -> Result<Self, Fault> {
        let Some(atom) = expression.atom() else {
            let message = format!("a term is expected, not {}", expression.described());
            return Err(Fault::invalid(expression.at, message));
        };
        if looks_like_number(atom) {
            let number = Rational::parse_decimal(atom).ok_or_else(|| {
                let message = format!(
                    "{} is no number: decimal digits, a point and an exponent up to 10000 are read",
                    quoted(atom)
                );
                Fault::invalid(expression.at, message)
            })?;
            return Ok(Self::constant(number));
        }
        match Variable::from_name(atom) {
            Some(variable) if declared.contains(variable) => Ok(Self::variable(variable)),
            Some(variable) => {
                let message = format!("{variable} is not declared before it is used");
                Err(Fault::invalid(expression.at, message))
            }
            None => {
                let message = format!(
                    "{} is neither a number nor a variable: inputs are X_0, X_1, …, outputs Y_0, \
                     Y_1, …",
                    quoted(atom)
                );
                Err(Fault::invalid(expression.at, message))
            }
        }
    }

    fn times(&self, other: &Self, at: usize) -> Result<Self, Fault> {
        if other.is_constant() {
            Ok(self.scaled(&other.constant))
        } else if self.is_constant() {
            Ok(other.scaled(&self.constant))
        } else {
            let message = "a product of variables is not linear; only products with at most one \
                           factor that is not constant are";
            Err(Fault::invalid(at, message))
        }
    }

    fn over(&self, divisor: &Self, at: usize) -> Result<Self, Fault> {
        if !divisor.is_constant() {
            return Err(Fault::invalid(at, "a quotient is linear only if its divisor is constant"));
        }
        match divisor.constant.recip() {
            Some(factor) => Ok(self.scaled(&factor)),
            None => Err(Fault::invalid(at, "division by zero")),
        }
    }

    fn check_size(&self, at: usize) -> Result<(), Fault> {
        if self.coefficients.values().chain([&self.constant]).any(too_long) {
            return Err(Fault::unsupported(at, "the numbers of this term become too long"));
        }
        Ok(())
    }
}

fn too_long(number: &Rational) -> bool {
    if number.to_small_parts().is_some() {
        return false;
    }
    let (numerator, denominator) = number.to_parts();
    numerator.as_sign_words().1.len() + denominator.as_words().len() > MAX_WORDS
}

/// Returns whether an atom is meant as a number.
fn looks_like_number(atom: &str) -> bool {
    let digits = atom.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c == '.' || c.is_ascii_digit())
}

/// Returns what is wrong with `(name …)` where a term is expected.
fn no_term(at: usize, name: &str) -> Fault {
    let supported = "+, -, * and / are";
    match name {
        "ite" | "let" | "abs" | "div" | "mod" | "to_real" | "to_int" | "max" | "min" | "^" => {
            Fault::unsupported(at, format!("`{name}` is not supported in terms; {supported}"))
        }
        _ => Fault::invalid(at, format!("{} is no operator of terms; {supported}", quoted(name))),
    }
}
