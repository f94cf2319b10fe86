//! States as symbols: bounds of the variables, and conditions on them.

use policert_model::{Condition, Expr, LinearConstraint, VarId, Variable};
use policert_numeric::{IntInterval, Rational};

use super::expression::Encoder;
use crate::{Formula, SmtError, Solver, Sort, Symbol, Term};

/// A symbolic state: a symbol for every state variable.
#[derive(Clone, Debug)]
pub struct StateFrame {
    /// By variable; behind them the choices of a destination.
    symbols: Vec<Symbol>,
    sort: Sort,
}

impl StateFrame {
    /// Declares a symbol for every variable: of integer sort for the exact tests, of real sort
    /// for the continuously relaxed ones (subscript ℝ). Nothing is asserted: see
    /// [`StateFrame::bounds`].
    pub fn declare(solver: &mut dyn Solver, variables: &[Variable], sort: Sort) -> Self {
        let symbols = variables.iter().map(|_| solver.declare(sort)).collect();
        Self { symbols, sort }
    }

    /// The symbol of a variable; `None` if the frame lacks it.
    #[must_use]
    pub fn symbol(&self, variable: VarId) -> Option<Symbol> {
        self.symbols.get(variable.index()).copied()
    }

    /// The symbols, by variable.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// (i): every variable lies in its domain.
    #[must_use]
    pub fn bounds(&self, variables: &[Variable]) -> Formula {
        let sides = self.symbols.iter().zip(variables);
        Formula::and(sides.map(|(&symbol, variable)| within(symbol, variable.domain)))
    }

    /// (iii) to (v): the condition has the truth value `positive`.
    ///
    /// # Errors
    /// [`SmtError::Unsupported`] for powers with a large or computed exponent.
    pub fn condition(&self, condition: &Condition, positive: bool) -> Result<Formula, SmtError> {
        Ok(match condition {
            Condition::True => Formula::Constant(positive),
            Condition::False => Formula::Constant(!positive),
            Condition::Linear(constraint) => self.linear(constraint, positive)?,
            Condition::General { expr, positive: wanted } => {
                let truth = self.encoder(&|v| self.term(v)).truth(expr)?;
                if *wanted == positive { truth.holds } else { truth.fails }
            }
            Condition::And(parts) | Condition::Or(parts) => {
                let parts: Vec<_> =
                    parts.iter().map(|p| self.condition(p, positive)).collect::<Result<_, _>>()?;
                if matches!(condition, Condition::And(_)) == positive {
                    Formula::and(parts)
                } else {
                    Formula::or(parts)
                }
            }
        })
    }

    /// The value of an expression, and where it has one.
    pub(super) fn value(&self, expr: &Expr) -> Result<(Term, Formula), SmtError> {
        self.encoder(&|v| self.term(v)).value(expr)
    }

    /// The frame with one more symbol behind the others.
    #[must_use]
    pub fn extended(&self, symbol: Symbol) -> Self {
        let mut symbols = self.symbols.clone();
        symbols.push(symbol);
        Self { symbols, sort: self.sort }
    }

    /// The state after `updated` variables got new symbols; the frame has `variables` of them.
    pub(super) fn replaced(&self, variables: usize, updated: &[(VarId, Symbol)]) -> Self {
        let mut symbols = self.symbols[..variables.min(self.symbols.len())].to_vec();
        for &(variable, symbol) in updated {
            symbols[variable.index()] = symbol;
        }
        Self { symbols, sort: self.sort }
    }

    /// A new symbol of the same sort.
    pub(super) fn fresh(&self, solver: &mut dyn Solver) -> Symbol {
        solver.declare(self.sort)
    }

    pub(super) fn term(&self, variable: VarId) -> Option<Term> {
        self.symbol(variable).map(Term::from)
    }

    fn encoder<'a>(&self, term_of: &'a dyn Fn(VarId) -> Option<Term>) -> Encoder<'a> {
        Encoder { term_of }
    }

    fn linear(&self, constraint: &LinearConstraint, positive: bool) -> Result<Formula, SmtError> {
        let mut sum = Vec::with_capacity(constraint.terms.len());
        for &(variable, coefficient) in &constraint.terms {
            let missing = || SmtError::Unsupported(format!("variable {} has no term", variable.0));
            let term = self.term(variable).ok_or_else(missing)?;
            sum.push(term.scaled(&Rational::from(coefficient)));
        }
        let (sum, upper) = (Term::sum(sum), Rational::from(constraint.upper));
        Ok(if positive {
            sum.le(Term::Constant(upper))
        } else {
            Term::Constant(&upper + &Rational::ONE).le(sum)
        })
    }
}

/// `symbol` lies in `domain`; an unbounded side is no constraint.
pub(super) fn within(symbol: Symbol, domain: IntInterval) -> Formula {
    let term = || Term::from(symbol);
    let mut parts = Vec::new();
    if domain.lo != IntInterval::UNBOUNDED_BELOW {
        parts.push(Term::int(domain.lo).le(term()));
    }
    if domain.hi != IntInterval::UNBOUNDED_ABOVE {
        parts.push(term().le(Term::int(domain.hi)));
    }
    Formula::and(parts)
}
