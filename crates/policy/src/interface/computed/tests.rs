//! Layers that compute functions of the state, against the values of their expressions.

use policert_model::{BinaryOp, Expr, UnaryOp, VarId};
use policert_numeric::{IntBox, IntInterval, Rational};

use super::super::sources::Normalised;
use super::*;
use crate::exact::ExactEvaluator;
use crate::network::ElementType;

/// Two small variables, one with negative values, and a truth value.
fn domains() -> IntBox {
    IntBox::new(vec![IntInterval::new(0, 3), IntInterval::new(-2, 2), IntInterval::new(0, 1)])
}

/// Numbers from a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn number(&mut self, depth: u64) -> Expr {
        match self.below(if depth == 0 { 3 } else { 12 }) {
            0 => Expr::int(i64::try_from(self.below(5)).unwrap_or(0) - 2),
            1 => Expr::Var(VarId::new(0)),
            2 => Expr::Var(VarId::new(1)),
            3 => Expr::unary(UnaryOp::Abs, self.number(depth - 1)),
            4 => Expr::ite(self.truth(depth - 1), self.number(depth - 1), self.number(depth - 1)),
            5 => {
                let third = Expr::Constant(Rational::new(1, 3).unwrap_or(Rational::ONE));
                Expr::binary(BinaryOp::Mul, third, self.number(depth - 1))
            }
            6 => Expr::binary(BinaryOp::Mul, self.truth(depth - 1), self.number(depth - 1)),
            7 => Expr::binary(BinaryOp::Mod, self.number(depth - 1), Expr::int(3)),
            8 => Expr::binary(BinaryOp::Max, self.number(depth - 1), self.number(depth - 1)),
            9 => Expr::binary(BinaryOp::Min, self.number(depth - 1), self.number(depth - 1)),
            10 => Expr::binary(BinaryOp::Add, self.number(depth - 1), self.number(depth - 1)),
            _ => Expr::binary(BinaryOp::Sub, self.number(depth - 1), self.number(depth - 1)),
        }
    }

    fn truth(&mut self, depth: u64) -> Expr {
        use BinaryOp::{And, Eq, Implies, Le, Lt, Ne, Or};
        if depth == 0 {
            return Expr::Var(VarId::new(2));
        }
        match self.below(8) {
            0 => Expr::negate(self.truth(depth - 1)),
            i @ 1..=3 => {
                let op = [And, Or, Implies][usize::try_from(i - 1).unwrap_or(0)];
                Expr::binary(op, self.truth(depth - 1), self.truth(depth - 1))
            }
            i => {
                let op = [Eq, Ne, Lt, Le][usize::try_from(i - 4).unwrap_or(0)];
                Expr::binary(op, self.number(depth - 1), self.number(depth - 1))
            }
        }
    }
}

/// The values that the layers compute in a state, or why there are none.
fn values(exprs: &[Expr], states: &[[i64; 3]]) -> Result<Vec<Vec<Rational>>, String> {
    let mut identity = NetworkBuilder::new(exprs.len()).map_err(|error| error.to_string())?;
    let input = identity.input();
    let twice = vec![2.0; exprs.len()];
    let (ones, zeros) = (vec![1.0; exprs.len()], vec![0.0; exprs.len()]);
    let doubled = identity.scale(input, twice, ones, zeros).map_err(|error| error.to_string())?;
    let network = identity.finish(doubled, ElementType::F64);
    let inputs: Vec<InputSource> = exprs.iter().cloned().map(InputSource::Computed).collect();
    let (network, variables) =
        before(&network, &inputs, &domains()).map_err(|(at, why)| format!("{at}: {why}"))?;
    let exact = ExactEvaluator::new(&network).ok_or("not piecewise linear")?;
    let scores = states.iter().map(|state| {
        let read: Vec<i64> = variables.iter().map(|v| state[v.index()]).collect();
        exact.scores(&read).to_rationals()
    });
    Ok(scores.collect())
}

fn states() -> Vec<[i64; 3]> {
    let pairs = (0..=3).flat_map(|x| (-2..=2).map(move |y| (x, y)));
    pairs.flat_map(|(x, y)| [[x, y, 0], [x, y, 1]]).collect()
}

#[test]
fn random_functions_of_the_state_are_computed_exactly_in_every_state() {
    let states = states();
    let (mut computed, mut refused) = (0, 0);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..1500 {
        let exprs = [numbers.number(3), numbers.truth(3), Expr::Var(VarId::new(0))];
        match values(&exprs, &states) {
            Ok(values) => {
                computed += 1;
                for (state, values) in states.iter().zip(values) {
                    for (expr, value) in exprs.iter().zip(values) {
                        let expected = expr.eval(state).expect("total");
                        assert_eq!(value, expected * Rational::from(2), "{expr:?} in {state:?}");
                    }
                }
            }
            Err(_) => refused += 1,
        }
    }
    assert!(computed > 700 && refused > 20, "{computed} computed, {refused} refused");
}

#[test]
fn a_cell_of_a_grid_is_one_hot() {
    let at = |x: i64, y: i64| {
        Expr::and(Expr::var_equals(VarId::new(0), x), Expr::var_equals(VarId::new(1), y))
    };
    let cells: Vec<(i64, i64)> = (0..=3).flat_map(|x| (-2..=2).map(move |y| (x, y))).collect();
    let exprs: Vec<Expr> = cells.iter().map(|&(x, y)| at(x, y)).collect();
    let states = states();
    for (state, values) in states.iter().zip(values(&exprs, &states).expect("computed")) {
        for (&(x, y), value) in cells.iter().zip(values) {
            let expected = i64::from((state[0], state[1]) == (x, y)) * 2;
            assert_eq!(value, Rational::from(expected));
        }
    }
}

#[test]
fn what_cannot_be_computed_is_named() {
    let (x, y) = (|| Expr::Var(VarId::new(0)), || Expr::Var(VarId::new(1)));
    for (expr, expected) in [
        (Expr::binary(BinaryOp::Mul, x(), y()), "1: it multiplies variables"),
        (Expr::binary(BinaryOp::Div, x(), y()), "1: it divides by a variable"),
        (Expr::binary(BinaryOp::Mod, x(), y()), "1: it takes a remainder"),
        (Expr::binary(BinaryOp::Div, Expr::int(4), x()), "1: it has no value at 0"),
    ] {
        let why = values(&[x(), expr], &[]).expect_err("refused");
        assert!(why.starts_with(expected), "{why}");
    }
    // Of a single variable everything is computed.
    let square = Expr::binary(BinaryOp::Mul, y(), y());
    let computed = values(&[square], &[[0, -2, 0], [0, 1, 0]]).expect("computed");
    assert_eq!(computed, [[Rational::from(8)], [Rational::from(2)]]);
}

#[test]
fn normalised_inputs_are_those_of_their_formula() {
    let (x, y) = (Expr::Var(VarId::new(0)), Expr::Var(VarId::new(1)));
    let third = Expr::binary(BinaryOp::Div, y.clone(), Expr::int(3));
    let normalised = |value: Expr, mean, divisor, clip| {
        InputSource::Normalised(Box::new(Normalised { value, mean, divisor, clip }))
    };
    let all = [
        normalised(x.clone(), 1.1, 0.3, Some(2.0)),
        InputSource::Computed(third.clone()),
        normalised(third, -0.1, 1.7, None),
        normalised(y, 0.7, 0.1, Some(5.0)),
        InputSource::Variable(VarId::new(0)),
    ];
    for sources in [&all[..], &all[..1], &all[2..3], &all[1..2]] {
        let mut identity = NetworkBuilder::new(sources.len()).expect("it has inputs");
        let input = identity.input();
        let twice = identity.add(vec![input, input]).expect("of one width");
        let network = identity.finish(twice, ElementType::F64);
        let (network, variables) = before(&network, sources, &domains()).expect("computed");
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        for state in states() {
            let read: Vec<i64> = variables.iter().map(|v| state[v.index()]).collect();
            let expected = sources.iter().map(|source| source.value(&state).expect("total"));
            let expected: Vec<Rational> = expected.map(|value| value * Rational::from(2)).collect();
            assert_eq!(exact.scores(&read).to_rationals(), expected, "in {state:?}");
        }
    }
}
