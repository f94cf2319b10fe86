//! Coefficients of functions of polynomials, against power series in exact fractions.

use policert_control_loop::{ExpressionFunction, ExpressionGraph, ExpressionId};
use policert_numeric::Rational;
use policert_testkit::{Random, case_numbers};

use super::super::arithmetic::{Arithmetic, Bits, Doubles};
use super::super::sets::LoopSide;
use super::Program;

/// Coefficients from 0 to this one, without it.
const ORDER: usize = 9;

type Power = Vec<Rational>;

fn ratio(a: i64, b: i64) -> Rational {
    Rational::new(a, b).expect("a denominator")
}

fn integer(i: usize) -> Rational {
    Rational::from(i64::try_from(i).expect("small"))
}

fn times(a: &Power, b: &Power) -> Power {
    let sum = |k: usize| (0..=k).fold(Rational::ZERO, |sum, j| sum + &a[j] * &b[k - j]);
    (0..ORDER).map(sum).collect()
}

fn over(a: &Power, b: &Power) -> Power {
    let mut quotient: Power = Vec::new();
    for k in 0..ORDER {
        let known = (0..k).fold(Rational::ZERO, |sum, j| sum + &quotient[j] * &b[k - j]);
        quotient.push((&a[k] - &known).checked_div(&b[0]).expect("not 0"));
    }
    quotient
}

/// `Σ outer(n) · qⁿ`, where q begins with 0.
fn composed(outer: impl Fn(usize) -> Rational, q: &Power) -> Power {
    assert!(q[0].is_zero());
    let mut power = vec![Rational::ZERO; ORDER];
    power[0] = Rational::ONE;
    let mut sum = vec![Rational::ZERO; ORDER];
    for n in 0..ORDER {
        let factor = outer(n);
        for (sum, term) in sum.iter_mut().zip(&power) {
            *sum = &*sum + &(&factor * term);
        }
        power = times(&power, q);
    }
    sum
}

fn factorial(n: usize) -> Rational {
    (1..=n).fold(Rational::ONE, |product, i| product * integer(i))
}

/// The coefficients of (1 + q)^exponent.
fn binomial(exponent: &Rational, n: usize) -> Rational {
    let factor = |i: usize| (exponent - &integer(i)).checked_div(&integer(i + 1)).expect("not 0");
    (0..n).fold(Rational::ONE, |product, i| product * factor(i))
}

fn exp(q: &Power) -> Power {
    composed(|n| Rational::ONE.checked_div(&factorial(n)).expect("not 0"), q)
}

/// Sine where `odd` is 1, cosine where it is 0.
fn circle(q: &Power, odd: usize) -> Power {
    let term = |n: usize| {
        let sign = if (n / 2).is_multiple_of(2) { 1 } else { -1 };
        let value = ratio(sign, 1).checked_div(&factorial(n)).expect("not 0");
        if n % 2 == odd { value } else { Rational::ZERO }
    };
    composed(term, q)
}

/// A function of a polynomial: its expression over the variable, and its coefficients.
fn function(
    random: &mut Random,
    graph: &mut ExpressionGraph,
    kind: usize,
) -> (ExpressionId, Power) {
    let small = |random: &mut Random| ratio(random.between(-4, 4), 4);
    let (a, b) = (small(random), small(random));
    // The constant term is one of which the function has an exact value.
    let constant = match kind {
        1 => Rational::ONE,
        2 => random.pick(&[ratio(1, 4), Rational::ONE, ratio(9, 4), ratio(4, 1)]).clone(),
        7 => random.pick(&[ratio(-3, 2), ratio(1, 2), ratio(2, 1)]).clone(),
        _ => Rational::ZERO,
    };
    let mut polynomial = vec![Rational::ZERO; ORDER];
    (polynomial[1], polynomial[2]) = (a.clone(), b.clone());
    let x = graph.variable(0);
    let (linear, square) = (graph.constant(a), graph.constant(b));
    let (first, whole) = (graph.mul(linear, x), graph.power(x, 2));
    let second = graph.mul(square, whole);
    let inner = graph.add(first, second);
    let shift = graph.constant(constant.clone());
    let argument = graph.add(shift, inner);
    let relative: Power = match constant.is_zero() {
        true => polynomial.clone(),
        false => polynomial.iter().map(|c| c.checked_div(&constant).expect("not 0")).collect(),
    };
    let sum = |a: &Power, sign: i64| -> Power {
        let mut sum = a.clone();
        sum[0] = &sum[0] + &ratio(sign, 1);
        sum
    };
    match kind {
        0 => (graph.apply(ExpressionFunction::Exp, argument), exp(&polynomial)),
        1 => {
            let term = |n: usize| match n {
                0 => Rational::ZERO,
                n => ratio(if n.is_multiple_of(2) { -1 } else { 1 }, 1)
                    .checked_div(&integer(n))
                    .expect("not 0"),
            };
            (graph.apply(ExpressionFunction::Log, argument), composed(term, &polynomial))
        }
        2 => {
            let root = [(1, 2), (1, 1), (3, 2), (2, 1)].map(|(a, b)| ratio(a, b));
            let root = root.into_iter().find(|root| root * root == constant).expect("a square");
            let series = composed(|n| binomial(&ratio(1, 2), n), &relative);
            let series = series.iter().map(|c| c * &root).collect();
            (graph.apply(ExpressionFunction::Sqrt, argument), series)
        }
        3 => {
            let series = over(&circle(&polynomial, 1), &circle(&polynomial, 0));
            (graph.apply(ExpressionFunction::Tan, argument), series)
        }
        4 => {
            let double: Power = polynomial.iter().map(|c| c * &ratio(2, 1)).collect();
            let double = exp(&double);
            let series = over(&sum(&double, -1), &sum(&double, 1));
            (graph.apply(ExpressionFunction::Tanh, argument), series)
        }
        5 => (graph.apply(ExpressionFunction::Sin, argument), circle(&polynomial, 1)),
        6 => (graph.apply(ExpressionFunction::Cos, argument), circle(&polynomial, 0)),
        _ => {
            let exponent = i32::try_from(random.between(-6, 6)).expect("small");
            let exact = Rational::from(i64::from(exponent));
            let factor = (0..exponent.unsigned_abs()).fold(Rational::ONE, |x, _| &x * &constant);
            let factor = match exponent < 0 {
                true => Rational::ONE.checked_div(&factor).expect("not 0"),
                false => factor,
            };
            let series = composed(|n| binomial(&exact, n), &relative);
            let series = series.iter().map(|c| c * &factor).collect();
            (graph.power(argument, exponent), series)
        }
    }
}

/// Compares the solution of x′ = 1, y′ = g(x) from (0, 0), whose coefficients are those of g, over their orders.
fn compare<A: Arithmetic>(
    arithmetic: A,
    (graph, root): (&mut ExpressionGraph, ExpressionId),
    expected: &Power,
    width: f64,
) {
    let one = graph.constant(Rational::ONE);
    let zero = arithmetic.constant(&Rational::ZERO);
    let program = Program::new(arithmetic, graph, &[one, root], 2);
    let variables = [zero.clone(), zero];
    let order = u32::try_from(ORDER).expect("small");
    let solution = program.solution(&variables, order, &mut || false);
    let solution = solution.expect("no stop").expect("values");
    for (k, expected) in expected.iter().enumerate() {
        let exact = expected.checked_div(&integer(k + 1)).expect("not 0");
        let found = solution[1][k + 1].outer();
        let inside = Rational::from_f64(found.lo()).is_some_and(|lo| lo <= exact)
            && Rational::from_f64(found.hi()).is_some_and(|hi| exact <= hi);
        assert!(inside, "coefficient {k}: {exact} not in {found:?}");
        let scale = 1.0 + exact.to_f64().abs();
        assert!(found.width() <= width * scale, "coefficient {k}: {exact} in {found:?}");
    }
}

#[test]
fn coefficients_are_those_of_exact_power_series() {
    for number in case_numbers(160) {
        let mut random = Random::new(number);
        let mut graph = ExpressionGraph::new();
        let kind = random.below(8);
        let (root, expected) = function(&mut random, &mut graph, kind);
        compare(Doubles, (&mut graph, root), &expected, 1e-4);
        compare(Bits(200), (&mut graph, root), &expected, 1e-15);
    }
}

/// Functions of functions lead back to the polynomial.
#[test]
fn inverse_functions_give_the_polynomial_back() {
    for number in case_numbers(40) {
        let mut random = Random::new(number);
        let mut graph = ExpressionGraph::new();
        let kind = [0, 1, 2][random.below(3)];
        let (root, _) = function(&mut random, &mut graph, kind);
        // log(exp(p)), exp(log(p)), sqrt(p)² against p itself.
        let back = match kind {
            0 => graph.apply(ExpressionFunction::Log, root),
            1 => graph.apply(ExpressionFunction::Exp, root),
            _ => graph.power(root, 2),
        };
        let mut again = ExpressionGraph::new();
        let mut random = Random::new(number);
        let kind = [0, 1, 2][random.below(3)];
        let (_, series) = function(&mut random, &mut again, kind);
        let expected = match kind {
            0 => {
                // log(1 + q) of the series of e^p.
                let mut q = series;
                q[0] = Rational::ZERO;
                let term = |n: usize| match n {
                    0 => Rational::ZERO,
                    n => ratio(if n.is_multiple_of(2) { -1 } else { 1 }, 1)
                        .checked_div(&integer(n))
                        .expect("not 0"),
                };
                composed(term, &q)
            }
            1 => exp(&series),
            _ => times(&series, &series),
        };
        assert!(expected[3..].iter().all(Rational::is_zero), "a polynomial: {expected:?}");
        compare(Bits(200), (&mut graph, back), &expected, 1e-15);
    }
}
