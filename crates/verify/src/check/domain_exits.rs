//! Operators that can leave the domain of a variable, or touch an array cell that does not
//! exist, each with a state in which they do.
//!
//! A state is any state of the domains, reachable or not. The search is complete on bounded
//! domains, within a number of steps for each question and a time for all.

mod witness;

use std::time::{Duration, Instant};

use policert_engine_api::{Budget, StopReason};
use policert_model::{BinaryOp, Composer, Condition, Destination, Expr, Model, Operator, VarId};
use policert_numeric::{IntBox, IntInterval};
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
    /// Which of its outcomes.
    pub outcome: usize,
    /// The variable, or the array.
    pub variable: String,
    /// What happens to it.
    pub problem: String,
    /// A state in which it does: the variables that the operator reads for it.
    pub state: String,
}

/// What was found, and how far the search went.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DomainExits {
    /// The operators that can leave a domain.
    pub found: Vec<DomainExit>,
    /// Questions that were not decided within the steps allowed: operator and variable.
    pub undecided: Vec<String>,
    /// Operators that were looked at.
    pub checked_operators: usize,
    /// Whether these are all operators of the model.
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
                Search { model, operator, budget, exits: &mut exits }.operator()?;
            }
            Err(error) => {
                exits.undecided.push(format!("{}: {error}", model.display_operator(&key)));
            }
        }
    }
    Ok(exits)
}

/// The search on one operator.
struct Search<'a> {
    model: &'a Model,
    operator: &'a Operator,
    budget: &'a mut Budget,
    exits: &'a mut DomainExits,
}

impl Search<'_> {
    fn operator(&mut self) -> Result<(), StopReason> {
        for (outcome, destination) in self.operator.destinations.iter().enumerate() {
            self.cell_writes(outcome, destination)?;
            self.updates(outcome, destination)?;
        }
        Ok(())
    }

    fn cell_writes(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        for write in &destination.cell_writes {
            let last = i64::try_from(write.cells).unwrap_or(i64::MAX) - 1;
            let cells = IntInterval::new(0, last);
            let possible = Condition::and([
                self.operator.guard.clone(),
                choice_bounds(self.model, destination),
            ]);
            let index = |point: &[i64]| match write.index.eval(point) {
                Ok(index) => format!("cell {index} is written; the cells are {cells}"),
                Err(error) => format!("the index has no value: {error}"),
            };
            let exit = Exit { outcome, variable: &write.array, value: &write.index, inside: cells };
            self.look_for(destination, &possible, &exit, index)?;
        }
        Ok(())
    }

    fn updates(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        let possible = Condition::and([self.operator.guard.clone(), destination.defined.clone()]);
        for update in &destination.updates {
            let variable = &self.model.variables[update.variable.index()];
            let value = update.value.to_expr();
            let inside = variable.domain;
            let becomes = |point: &[i64]| match value.eval(point) {
                Ok(value) => format!("becomes {value}, outside {inside}"),
                Err(error) => format!("its new value does not exist: {error}"),
            };
            let exit = Exit { outcome, variable: &variable.name, value: &value, inside };
            self.look_for(destination, &possible, &exit, becomes)?;
        }
        Ok(())
    }

    /// Looks for a state in which `possible` holds and a value is not where it should be.
    fn look_for(
        &mut self,
        destination: &Destination,
        possible: &Condition,
        exit: &Exit<'_>,
        problem: impl Fn(&[i64]) -> String,
    ) -> Result<(), StopReason> {
        let Exit { value, inside, .. } = exit;
        let within = between(value, inside.lo, inside.hi);
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
                total || range.partial || !inside.includes(range.integers())
            },
            happens: &|point| match value.eval(point) {
                Ok(value) => !value.to_i64().is_some_and(|value| inside.contains(value)),
                Err(_) => true,
            },
        };
        let operator = || self.model.display_operator(&self.operator.key);
        match search(&wanted, sides(self.model, destination), self.budget)? {
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
    inside: IntInterval,
}

/// `lower ≤ expr ≤ upper`, without the bounds that stand for unbounded.
fn between(expr: &Expr, lower: i64, upper: i64) -> Condition {
    let le = |a: Expr, b: Expr| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
    let mut parts = Vec::new();
    if lower != IntInterval::UNBOUNDED_BELOW {
        parts.push(le(Expr::int(lower), expr.clone()));
    }
    if upper != IntInterval::UNBOUNDED_ABOVE {
        parts.push(le(expr.clone(), Expr::int(upper)));
    }
    Condition::and(parts)
}

/// What the free choices of an outcome must satisfy. Choice `k` is the `k`-th variable after those
/// of the state.
fn choice_bounds(model: &Model, destination: &Destination) -> Condition {
    let le = |a: Expr, b: Expr| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
    Condition::and(destination.choices.iter().enumerate().flat_map(|(k, choice)| {
        let value = Expr::Var(VarId::new(model.variables.len() + k));
        [le(choice.lower.clone(), value.clone()), le(value, choice.upper.clone())]
    }))
}

/// The box of the states and choices.
fn sides(model: &Model, destination: &Destination) -> IntBox {
    let mut sides = model.domains();
    for choice in &destination.choices {
        let (lower, upper) = (choice.lower.range(&sides), choice.upper.range(&sides));
        sides.push(IntInterval::new(lower.integers().lo, upper.integers().hi));
    }
    sides
}
