//! Z3 as a back end.

#[cfg(test)]
mod tests;
mod translate;
mod watchdog;

use std::str::FromStr as _;
use std::time::Instant;

use policert_numeric::Rational;
use z3::ast::{Int, Real};
use z3::{Params, SatResult};

use crate::{CheckResult, Formula, SmtError, Solver, SolverAssignment, SolverLimits, Sort, Symbol};
use translate::{Numeral, Translator};

/// A Z3 solver.
///
/// Terms live in a context that belongs to the thread, so a solver stays in the thread that made
/// it; several solvers may be open in one thread, and different threads are independent.
#[derive(Debug)]
pub struct Z3Solver {
    solver: z3::Solver,
    symbols: Vec<Numeral>,
    /// The assertions, to check models with.
    assertions: Vec<Formula>,
    scopes: Vec<Scope>,
}

/// Holds what was there when a scope was opened.
#[derive(Clone, Copy, Debug)]
struct Scope {
    symbols: usize,
    assertions: usize,
}

impl Z3Solver {
    /// A solver without assertions. The same questions in the same order get the same answers:
    /// the random seed is fixed.
    #[must_use]
    pub fn new() -> Self {
        let solver = z3::Solver::new();
        let mut params = Params::new();
        params.set_u32("random_seed", 0);
        // Otherwise Z3 takes interrupts from the program during a check.
        params.set_bool("ctrl_c", false);
        solver.set_params(&params);
        Self { solver, symbols: Vec::new(), assertions: Vec::new(), scopes: Vec::new() }
    }

    /// The version of the library, such as `5.4.1.0`.
    #[must_use]
    pub fn version() -> String {
        z3::full_version().to_owned()
    }

    /// The assertions as an SMT-LIB script, for another solver.
    #[must_use]
    pub fn to_smt_lib(&self) -> String {
        self.solver.to_smt2()
    }

    /// Returns why a check ended without an answer.
    fn reason(&self, limits: &SolverLimits, start: Instant, stopped: bool) -> SmtError {
        let reason = self.solver.get_reason_unknown().unwrap_or_default();
        match limits.time {
            _ if stopped => SmtError::Interrupted,
            Some(time) if start.elapsed() >= time => SmtError::TimeLimit(time),
            _ => SmtError::Unknown(reason),
        }
    }

    /// Z3's model, after checking that it satisfies what was asserted.
    fn assignment(&self) -> Result<SolverAssignment, SmtError> {
        let model = self.solver.get_model();
        let model = model.ok_or_else(|| SmtError::Unknown("no model".to_owned()))?;
        let values = self.symbols.iter().map(|symbol| value(&model, symbol));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        for formula in &self.assertions {
            if formula.eval(&values) != Some(true) {
                let mut text = format!("{formula:?}");
                text.truncate(text.char_indices().nth(200).map_or(text.len(), |(at, _)| at));
                return Err(SmtError::WrongModel(text));
            }
        }
        Ok(SolverAssignment(values))
    }
}

impl Default for Z3Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver for Z3Solver {
    fn declare(&mut self, sort: Sort) -> Symbol {
        let symbol = Symbol::new(self.symbols.len());
        // Of one name and sort there is one constant in the context. Solvers that share it do
        // not disturb each other: a constant means nothing without assertions.
        let name = format!("v{}", symbol.index());
        self.symbols.push(match sort {
            Sort::Int => Numeral::Int(Int::new_const(name)),
            Sort::Real => Numeral::Real(Real::new_const(name)),
        });
        symbol
    }

    fn assert(&mut self, formula: Formula) {
        let translated = Translator { symbols: &self.symbols }.formula(&formula);
        self.solver.assert(translated);
        self.assertions.push(formula);
    }

    fn push(&mut self) {
        self.scopes.push(Scope { symbols: self.symbols.len(), assertions: self.assertions.len() });
        self.solver.push();
    }

    fn pop(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.solver.pop(1);
            self.symbols.truncate(scope.symbols);
            self.assertions.truncate(scope.assertions);
        }
    }

    fn check(&mut self, limits: &SolverLimits) -> Result<CheckResult, SmtError> {
        let start = Instant::now();
        let (result, stopped) = watchdog::check(&self.solver, limits);
        match result {
            SatResult::Unsat => Ok(CheckResult::Unsat),
            SatResult::Sat => self.assignment().map(CheckResult::Sat),
            SatResult::Unknown => Err(self.reason(limits, start, stopped)),
        }
    }
}

/// The value of a symbol in a model.
fn value(model: &z3::Model, symbol: &Numeral) -> Result<Rational, SmtError> {
    let text = match symbol {
        Numeral::Int(symbol) => model.eval(symbol, true).map(|value| match value.as_i64() {
            Some(value) => Ok(Rational::from(value)),
            None => Err(value.to_string()),
        }),
        Numeral::Real(symbol) => model.eval(symbol, true).map(|value| match value.as_rational() {
            Some((num, den)) => Rational::new(num, den).ok_or_else(|| value.to_string()),
            None => Err(value.to_string()),
        }),
    };
    match text {
        None => Err(SmtError::Unknown("the model leaves a symbol open".to_owned())),
        Some(Ok(value)) => Ok(value),
        Some(Err(text)) => parse(&text)
            .ok_or_else(|| SmtError::Unknown(format!("the model's value {text} is not rational"))),
    }
}

/// Reads a number as Z3 prints it: `5`, `2.0`, `(- 5)`, `(/ 1.0 3.0)`, `(- (/ 1.0 3.0))`.
fn parse(text: &str) -> Option<Rational> {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return Rational::from_str(text).ok();
    };
    if let Some(rest) = inner.strip_prefix("- ") {
        return parse(rest).map(|value| -value);
    }
    let (num, den) = inner.strip_prefix("/ ")?.rsplit_once(' ')?;
    parse(num)?.checked_div(&parse(den)?)
}
