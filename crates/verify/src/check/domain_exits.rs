//! Operators that can leave the domain of a variable, or touch an array cell that does not
//! exist, each with a state in which they do.
//!
//! A state is any state of the domains, reachable or not. The search is complete on bounded
//! domains, within a number of steps for each question.

use std::ops::ControlFlow;

use policert_engine_api::{Budget, StopReason};
use policert_model::{
    BinaryOp, Composer, Condition, Destination, Expr, Model, Operator, UpdateValue, VarId, Visit,
    for_each_solution,
};
use policert_numeric::{IntBox, IntInterval};
use serde::Serialize;

/// Steps of the search for one question.
const STEPS: u64 = 20_000;
/// Operators that are looked at.
const OPERATORS: usize = 50_000;
/// Stand-in for the missing bound of a variable: beyond it, "not found" proves nothing.
const FAR: i64 = 1 << 40;

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
    /// A state in which it does.
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
    for key in model.operator_keys() {
        budget.poll_clock()?;
        if exits.checked_operators >= OPERATORS {
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

/// The answer to one question.
enum Found {
    Point(Vec<i64>),
    Nothing,
    Undecided,
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
            let inside = between(&write.index, 0, last);
            let outside = Condition::and([
                self.operator.guard.clone(),
                choice_bounds(self.model, destination),
                inside.negate(),
            ]);
            let found = self.find(destination, &outside, &|_| true)?;
            let index = |point: &[i64]| match write.index.eval(point) {
                Ok(index) => format!("cell {index} is written; the cells are 0 to {last}"),
                Err(error) => format!("the index has no value: {error}"),
            };
            self.note(outcome, &write.array, found, index);
        }
        Ok(())
    }

    fn updates(&mut self, outcome: usize, destination: &Destination) -> Result<(), StopReason> {
        let possible = Condition::and([self.operator.guard.clone(), destination.defined.clone()]);
        for update in &destination.updates {
            let variable = &self.model.variables[update.variable.index()];
            let value = update.value.to_expr();
            let domain = variable.domain;
            let leaves =
                Condition::and([possible.clone(), between(&value, domain.lo, domain.hi).negate()]);
            let found = self.find(destination, &leaves, &|_| true)?;
            let becomes = |point: &[i64]| match value.eval(point) {
                Ok(value) => format!("becomes {value}, outside {domain}"),
                Err(error) => format!("its new value does not exist: {error}"),
            };
            let nothing = matches!(found, Found::Nothing);
            self.note(outcome, &variable.name, found, becomes);
            if nothing && matches!(update.value, UpdateValue::General(_)) && !value.is_total() {
                let no_value = |point: &[i64]| value.eval(point).is_err();
                let found = self.find(destination, &possible, &no_value)?;
                self.note(outcome, &variable.name, found, becomes);
            }
        }
        Ok(())
    }

    /// A point of the domains, choices included, that satisfies `condition` and is accepted.
    fn find(
        &mut self,
        destination: &Destination,
        condition: &Condition,
        accept: &dyn Fn(&[i64]) -> bool,
    ) -> Result<Found, StopReason> {
        let (sides, bounded) = sides(self.model, destination);
        let mut steps = 0;
        let flow = for_each_solution(condition, &sides, false, &mut |visit| {
            steps += 1;
            if let Err(stop) = self.budget.poll() {
                return ControlFlow::Break(Err(stop));
            }
            match visit {
                Visit::Solution(point) if accept(point) => {
                    ControlFlow::Break(Ok(Found::Point(point.to_vec())))
                }
                _ if steps > STEPS => ControlFlow::Break(Ok(Found::Undecided)),
                _ => ControlFlow::Continue(()),
            }
        });
        match flow {
            Ok(ControlFlow::Break(result)) => result,
            Ok(ControlFlow::Continue(())) if bounded => Ok(Found::Nothing),
            _ => Ok(Found::Undecided),
        }
    }

    fn note(
        &mut self,
        outcome: usize,
        variable: &str,
        found: Found,
        problem: impl Fn(&[i64]) -> String,
    ) {
        let operator = || self.model.display_operator(&self.operator.key);
        match found {
            Found::Nothing => {}
            Found::Undecided => self.exits.undecided.push(format!("{}: {variable}", operator())),
            Found::Point(point) => self.exits.found.push(DomainExit {
                operator: operator(),
                outcome,
                variable: variable.to_owned(),
                problem: problem(&point),
                state: self.model.display_state(&point[..self.model.variables.len()]),
            }),
        }
    }
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

/// The box of the states and choices, and whether it holds all of them.
fn sides(model: &Model, destination: &Destination) -> (IntBox, bool) {
    let mut sides: Vec<IntInterval> = model.domains().sides().to_vec();
    for choice in &destination.choices {
        let so_far = IntBox::new(sides.clone());
        let (lower, upper) = (choice.lower.range(&so_far), choice.upper.range(&so_far));
        sides.push(IntInterval::new(lower.integers().lo, upper.integers().hi));
    }
    let bounded = sides.iter().all(|side| side.is_bounded());
    for side in &mut sides {
        *side = side.intersect(IntInterval::new(-FAR, FAR));
    }
    (IntBox::new(sides), bounded)
}
