//! Operators that can leave the domain of a variable, touch an array cell that does not exist, or
//! choose where there is nothing to choose from, each with a state in which they do.
//!
//! A state is any state of the domains, reachable or not. The search is complete on bounded
//! domains, within a number of steps for each question and a time for all.

mod witness;

use std::time::{Duration, Instant};

use policert_engine_api::{Budget, StopReason};
use policert_model::{
    BinaryOp, Composer, Condition, Destination, Expr, FreeChoice, Model, Operator, UnaryOp,
    ValueBounds, VarId,
};
use policert_numeric::{IntBox, IntInterval, Rational};
use serde::Serialize;

use witness::{Found, Wanted, search};

/// Time for all questions.
const TIME: Duration = Duration::from_secs(10);
/// Operators that are looked at.
const OPERATORS: usize = 50_000;

/// An operator that can leave a domain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DomainExit {
    /// The operator: its label and the edges that it takes.
    pub operator: String,
    /// The position of the outcome among those of the operator.
    pub outcome: usize,
    /// The variable, or the array.
    pub variable: String,
    /// The problem, in words.
    pub problem: String,
    /// A state in which it does: the variables that the operator reads for it.
    pub state: String,
}

/// Holds what was found, and how far the search went.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DomainExits {
    /// The operators that can leave a domain.
    pub found: Vec<DomainExit>,
    /// Questions that were not decided within the steps allowed: operator and variable.
    pub undecided: Vec<String>,
    /// Operators that were looked at.
    pub checked_operators: usize,
    /// True if these are all operators of the model.
    pub complete: bool,
}

/// Searches all operators of the model, up to a number of them.
///
/// # Errors
/// A stop of the budget.
pub fn domain_exits(model: &Model, budget: &mut Budget) -> Result<DomainExits, StopReason> {
    let mut exits = DomainExits { complete: true, ..DomainExits::default() };
    let begin = Instant::now();
    for key in model.operator_keys() {
        budget.poll_clock()?;
        if exits.checked_operators >= OPERATORS || begin.elapsed() > TIME {
            exits.complete = false;
            break;
        }
        exits.checked_operators += 1;
        let mut composer = Composer::new(model);
        match composer.compose(&key) {
            Ok(id) => {
                let operator = composer.operator(id);
                ExitSearch { model, operator, budget, exits: &mut exits }.operator()?;
            }
            Err(error) => {
                exits.undecided.push(format!("{}: {error}", model.display_operator(&key)));
            }
        }
    }
    Ok(exits)
}

/// The search on one operator.
struct ExitSearch<'a> {
    model: &'a Model,
    operator: &'a Operator,
    budget: &'a mut Budget,
    exits: &'a mut DomainExits,
}

impl ExitSearch<'_> {
    fn operator(&mut self) -> Result<(), StopReason> {
        for (outcome, destination) in self.operator.destinations.iter().enumerate() {
            self.choices(outcome, destination)?;
            self.cell_writes(outcome, destination)?;
            self.transient_values(outcome, destination)?;
            self.updates(outcome, destination)?;
        }
        Ok(())
    }

    /// Free choices between bounds that no integer lies between.
    fn choices(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        for (k, choice) in destination.choices.iter().enumerate() {
            let before = &destination.choices[..k];
            let possible =
                Condition::and([self.operator.guard.clone(), choice_bounds(self.model, before)]);
            let round = |op, bound: &Expr| Expr::unary(op, bound.clone());
            let values = Expr::binary(
                BinaryOp::Sub,
                round(UnaryOp::Floor, &choice.upper),
                round(UnaryOp::Ceil, &choice.lower),
            );
            let problem = |point: &[i64]| match choice.bounds(point) {
                Ok((lower, upper)) => format!("is to be chosen from {lower} to {upper}"),
                Err(error) => format!("a bound of its choice has no value: {error}"),
            };
            let variable = &self.model.variables[choice.target.index()].name;
            let some = ValueBounds { lower: Some(Rational::ZERO), upper: None };
            let exit = Exit { outcome, variable, value: &values, inside: some, integer: true };
            self.look_for(before, &possible, &exit, problem)?;
        }
        Ok(())
    }

    fn transient_values(
        &mut self,
        outcome: usize,
        destination: &Destination,
    ) -> Result<(), StopReason> {
        let bounds = choice_bounds(self.model, &destination.choices);
        let possible = Condition::and([self.operator.guard.clone(), bounds]);
        for transient in &destination.transient_values {
            let (value, inside) = (&transient.value, transient.bounds.clone());
            let becomes = |point: &[i64]| match value.eval(point) {
                Ok(value) => format!("becomes {value}, outside {inside}"),
                Err(error) => format!("its new value does not exist: {error}"),
            };
            let (variable, inside) = (&transient.name, transient.bounds.clone());
            let exit = Exit { outcome, variable, value, inside, integer: false };
            self.look_for(&destination.choices, &possible, &exit, becomes)?;
        }
        Ok(())
    }

    fn cell_writes(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        for write in &destination.cell_writes {
            let last = i64::try_from(write.cells).unwrap_or(i64::MAX) - 1;
            let cells = IntInterval::new(0, last);
            let possible = Condition::and([
                self.operator.guard.clone(),
                choice_bounds(self.model, &destination.choices),
            ]);
            let index = |point: &[i64]| match write.index.eval(point) {
                Ok(index) => format!("cell {index} is written; the cells are {cells}"),
                Err(error) => format!("the index has no value: {error}"),
            };
            let (variable, inside) = (&write.array, bounds_of(cells));
            let exit = Exit { outcome, variable, value: &write.index, inside, integer: true };
            self.look_for(&destination.choices, &possible, &exit, index)?;
        }
        Ok(())
    }

    fn updates(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        let possible = Condition::and([self.operator.guard.clone(), destination.defined.clone()]);
        for update in &destination.updates {
            let variable = &self.model.variables[update.variable.index()];
            let value = update.value.to_expr();
            let domain = variable.domain;
            let becomes = |point: &[i64]| match value.eval(point) {
                Ok(value) => format!("becomes {value}, outside {domain}"),
                Err(error) => format!("its new value does not exist: {error}"),
            };
            let (variable, inside) = (&variable.name, bounds_of(domain));
            let exit = Exit { outcome, variable, value: &value, inside, integer: true };
            self.look_for(&destination.choices, &possible, &exit, becomes)?;
        }
        Ok(())
    }

    /// Looks for a state in which `possible` holds and a value is not where it should be.
    fn look_for(
        &mut self,
        choices: &[FreeChoice],
        possible: &Condition,
        exit: &Exit<'_>,
        problem: impl Fn(&[i64]) -> String,
    ) -> Result<(), StopReason> {
        let Exit { value, inside, .. } = exit;
        let within = inside.condition(value);
        // As a condition it helps to propagate bounds; but only if there always is a value.
        let outside = Condition::and([possible.clone(), within.negate()]);
        let total = value.is_total();
        let mut reads = possible.variables();
        value.for_each_var(&mut |v| reads.push(v));
        reads.sort_unstable();
        reads.dedup();
        let wanted = Wanted {
            condition: if total { &outside } else { possible },
            reads: &reads,
            may_happen: &|sides| {
                let range = value.range(sides);
                let fractions = exit.integer && !value.is_integral();
                total || fractions || !inside.contain_all(&range)
            },
            happens: &|point| match value.eval(point) {
                Ok(value) => !inside.contains(&value) || exit.integer && !value.is_integer(),
                Err(_) => true,
            },
        };
        let operator = || self.model.display_operator(&self.operator.key);
        match search(&wanted, sides(self.model, choices), self.budget)? {
            Found::Nothing => {}
            Found::Undecided => {
                self.exits.undecided.push(format!("{}: {}", operator(), exit.variable));
            }
            Found::Point(point) => self.exits.found.push(DomainExit {
                operator: operator(),
                outcome: exit.outcome,
                variable: exit.variable.to_owned(),
                problem: problem(&point),
                state: self.values(&reads, &point),
            }),
        }
        Ok(())
    }

    /// The values of some variables; choices are left out.
    fn values(&self, variables: &[VarId], point: &[i64]) -> String {
        let values = variables.iter().filter_map(|v| {
            let variable = self.model.variables.get(v.index())?;
            Some(format!("{}={}", variable.name, variable.display_value(point[v.index()])))
        });
        values.collect::<Vec<_>>().join(", ")
    }
}

/// A value that may be where it should not.
struct Exit<'a> {
    outcome: usize,
    variable: &'a str,
    value: &'a Expr,
    inside: ValueBounds,
    /// True if it must be an integer.
    integer: bool,
}

/// The bounds of an interval, without those that stand for unbounded.
fn bounds_of(interval: IntInterval) -> ValueBounds {
    let bound = |end: i64, unbounded: i64| (end != unbounded).then(|| Rational::from(end));
    ValueBounds {
        lower: bound(interval.lo, IntInterval::UNBOUNDED_BELOW),
        upper: bound(interval.hi, IntInterval::UNBOUNDED_ABOVE),
    }
}

/// Returns what free choices must satisfy. Choice `k` is the `k`-th variable after those
/// of the state.
fn choice_bounds(model: &Model, choices: &[FreeChoice]) -> Condition {
    let le = |a: Expr, b: Expr| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
    Condition::and(choices.iter().enumerate().flat_map(|(k, choice)| {
        let value = Expr::Var(VarId::new(model.variables.len() + k));
        [le(choice.lower.clone(), value.clone()), le(value, choice.upper.clone())]
    }))
}

/// The box of the states and choices.
fn sides(model: &Model, choices: &[FreeChoice]) -> IntBox {
    let mut sides = model.domains();
    for choice in choices {
        let (lower, upper) = (choice.lower.range(&sides), choice.upper.range(&sides));
        sides.push(IntInterval::new(lower.integers().lo, upper.integers().hi));
    }
    sides
}
