//! Tests of the constructors and of the meaning of terms.

use policert_numeric::Rational;

use super::{Formula, Symbol, Term};

fn x() -> Term {
    Term::from(Symbol::new(0))
}

fn y() -> Term {
    Term::from(Symbol::new(1))
}

fn number(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("a denominator other than 0")
}

/// The value at x = 7/2, y = -2.
fn at(term: Term) -> Option<Rational> {
    term.eval(&[number(7, 2), number(-2, 1)])
}

#[test]
fn arithmetic_is_exact() {
    assert_eq!(at(Term::sum([x(), y(), Term::int(1)])), Some(number(5, 2)));
    assert_eq!(at(x().times(y())), Some(number(-7, 1)));
    assert_eq!(at(x().over(y())), Some(number(-7, 4)));
    assert_eq!(at(x().modulo(y())), Some(number(3, 2)));
    assert_eq!(at(y().modulo(x())), Some(number(3, 2)));
    assert_eq!(at(x().floor()), Some(number(3, 1)));
    assert_eq!(at(x().ceil()), Some(number(4, 1)));
    assert_eq!(at(y().abs()), Some(number(2, 1)));
    assert_eq!(at(x().min(y())), Some(number(-2, 1)));
    assert_eq!(at(x().max(y())), Some(number(7, 2)));
    assert_eq!(at(Term::ite(x().lt(y()), x(), y())), Some(number(-2, 1)));
}

#[test]
fn a_division_by_zero_has_no_value_unless_something_else_decides() {
    let zero = || Term::sum([y(), Term::int(2)]);
    assert_eq!(at(x().over(zero())), None);
    assert_eq!(at(x().modulo(zero())), None);
    let point = [number(7, 2), number(-2, 1)];
    let undefined = || x().over(zero()).lt(Term::int(0));
    let guarded = Formula::and([undefined(), zero().equals(Term::int(0)).negate()]);
    assert_eq!(guarded.eval(&point), Some(false));
    let open = Formula::and([undefined(), zero().equals(Term::int(0))]);
    assert_eq!(open.eval(&point), None);
    assert_eq!(Formula::or([undefined(), x().lt(y()).negate()]).eval(&point), Some(true));
}

#[test]
fn unknown_symbols_have_no_value() {
    assert_eq!(x().eval(&[]), None);
}

#[test]
fn constants_are_folded() {
    let seven = || Term::int(7);
    assert_eq!(Term::sum([seven(), x(), Term::int(-7)]), x());
    assert_eq!(Term::sum([seven(), Term::int(-7)]), Term::int(0));
    assert_eq!(seven().times(x()), x().scaled(&number(7, 1)));
    assert_eq!(
        x().scaled(&number(1, 7)).scaled(&number(7, 1)),
        Term::Scaled(Rational::ONE, Box::new(x()))
    );
    assert_eq!(x().scaled(&Rational::ZERO), Term::int(0));
    assert_eq!(seven().modulo(Term::int(4)), Term::int(3));
    assert_eq!(Term::Constant(number(-1, 2)).floor(), Term::int(-1));
    assert_eq!(seven().le(Term::int(7)), Formula::Constant(true));
    assert_eq!(seven().lt(Term::int(7)), Formula::Constant(false));
    assert_eq!(Term::ite(seven().equals(Term::int(7)), x(), y()), x());
}

#[test]
fn connectives_are_simplified() {
    let (t, f) = (|| Formula::Constant(true), || Formula::Constant(false));
    let p = || x().lt(y());
    assert_eq!(Formula::and([]), t());
    assert_eq!(Formula::or([]), f());
    assert_eq!(Formula::and([t(), p()]), p());
    assert_eq!(Formula::and([p(), f()]), f());
    assert_eq!(Formula::or([f(), p()]), p());
    assert_eq!(Formula::or([p(), t()]), t());
    assert_eq!(p().negate(), y().le(x()));
    assert_eq!(x().equals(y()).negate().negate(), x().equals(y()));
    assert_eq!(p().iff(f()), y().le(x()));
    assert_eq!(t().iff(p()), p());
}
