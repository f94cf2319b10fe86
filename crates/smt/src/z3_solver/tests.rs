//! Tests of the wrapper: scopes, limits, values.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use policert_numeric::Rational;

use super::{Z3Solver, parse};
use crate::{CheckResult, Formula, SmtError, Solver as _, SolverLimits, Sort, Symbol, Term};

const UNLIMITED: SolverLimits = SolverLimits { time: None, stop: None };

fn term(symbol: Symbol) -> Term {
    Term::from(symbol)
}

/// More pigeons than holes: hard for a solver over integers.
fn pigeons(solver: &mut Z3Solver, count: i64) {
    let holes: Vec<Symbol> = (0..count).map(|_| solver.declare(Sort::Int)).collect();
    for (i, &hole) in holes.iter().enumerate() {
        solver.assert(Term::int(0).le(term(hole)));
        solver.assert(term(hole).lt(Term::int(count - 1)));
        for &other in &holes[..i] {
            solver.assert(term(hole).equals(term(other)).negate());
        }
    }
}

#[test]
fn scopes_come_and_go() {
    let mut solver = Z3Solver::new();
    let x = solver.declare(Sort::Int);
    solver.assert(Term::int(3).le(term(x)));
    solver.push();
    let y = solver.declare(Sort::Real);
    solver.assert(term(x).lt(term(y)));
    solver.assert(term(y).lt(Term::int(3)));
    assert_eq!(solver.check(&UNLIMITED), Ok(CheckResult::Unsat));
    solver.pop();
    let found = solver.check(&UNLIMITED).expect("a definite answer").sat().expect("satisfiable");
    assert!(found.value(x).is_some_and(|value| *value >= Rational::from(3)));
    assert_eq!(found.value(y), None);
    // The index is free again, for a symbol of another sort.
    assert_eq!(solver.declare(Sort::Int), y);
    solver.assert(term(y).equals(term(x)));
    let found = solver.check(&UNLIMITED).expect("a definite answer").sat().expect("satisfiable");
    let values = found.integers([x, y]).expect("integers");
    assert_eq!(values[0], values[1]);
    solver.pop();
    assert_eq!(solver.check(&UNLIMITED).map(|found| found.sat().is_some()), Ok(true));
}

#[test]
fn real_values_are_exact() {
    let mut solver = Z3Solver::new();
    let (x, y) = (solver.declare(Sort::Real), solver.declare(Sort::Real));
    let third = Rational::new(1, 3).expect("not 0");
    let huge = Rational::from(i64::MAX).pow(3).expect("small enough");
    solver.assert(term(x).equals(Term::Constant(-third.clone())));
    solver.assert(term(y).equals(Term::Constant(&huge + &third)));
    let found = solver.check(&UNLIMITED).expect("a definite answer").sat().expect("satisfiable");
    assert_eq!(found.value(x), Some(&-third.clone()));
    assert_eq!(found.value(y), Some(&(&huge + &third)));
    assert_eq!(found.integers([x]), None);
}

#[test]
fn an_irrational_solution_is_no_answer() {
    let mut solver = Z3Solver::new();
    let x = solver.declare(Sort::Real);
    solver.assert(term(x).times(term(x)).equals(Term::int(2)));
    assert!(matches!(solver.check(&UNLIMITED), Err(SmtError::Unknown(_))));
}

#[test]
fn a_time_limit_is_no_answer() {
    let mut solver = Z3Solver::new();
    pigeons(&mut solver, 14);
    let time = Duration::from_millis(50);
    let start = Instant::now();
    let limits = SolverLimits { time: Some(time), stop: None };
    assert_eq!(solver.check(&limits), Err(SmtError::TimeLimit(time)));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_check_can_be_stopped_and_the_solver_used_again() {
    let mut solver = Z3Solver::new();
    let x = solver.declare(Sort::Int);
    solver.push();
    pigeons(&mut solver, 14);
    let asked = AtomicBool::new(false);
    let stop = || asked.swap(true, Ordering::Relaxed);
    let limits = SolverLimits { time: None, stop: Some(&stop) };
    assert_eq!(solver.check(&limits), Err(SmtError::Interrupted));
    solver.pop();
    solver.assert(term(x).lt(Term::int(0)));
    assert!(solver.check(&limits_of(&|| false)).expect("a definite answer").sat().is_some());
}

fn limits_of(stop: &(dyn Fn() -> bool + Sync)) -> SolverLimits<'_> {
    SolverLimits { time: Some(Duration::from_secs(60)), stop: Some(stop) }
}

#[test]
fn threads_are_independent() {
    let solve = |bound: i64| {
        let mut solver = Z3Solver::new();
        let x = solver.declare(Sort::Int);
        solver.assert(Formula::and([Term::int(bound).le(term(x)), term(x).le(Term::int(bound))]));
        solver.check(&UNLIMITED).expect("a definite answer").sat().and_then(|a| a.integers([x]))
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|bound| scope.spawn(move || solve(bound))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(found, (0..4).map(|bound| Some(vec![bound])).collect::<Vec<_>>());
}

#[test]
fn the_library_is_the_one_of_the_wheel() {
    assert!(Z3Solver::version().starts_with("5.4.1"), "{}", Z3Solver::version());
}

#[test]
fn printed_numbers_are_read() {
    let number = |num, den| Rational::new(num, den);
    assert_eq!(parse("5"), number(5, 1));
    assert_eq!(parse("2.0"), number(2, 1));
    assert_eq!(parse("(- 5)"), number(-5, 1));
    assert_eq!(parse("(/ 1.0 3.0)"), number(1, 3));
    assert_eq!(parse("(/ (- 1.0) 3.0)"), number(-1, 3));
    assert_eq!(parse("(- (/ 1.0 3.0))"), number(-1, 3));
    assert_eq!(parse("(root-obj (+ (^ x 2) (- 2)) 1)"), None);
    assert_eq!(parse(""), None);
}
