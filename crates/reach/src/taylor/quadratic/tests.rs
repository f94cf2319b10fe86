//! Products in tables against those by a hash map.

use policert_numeric::Interval;
use policert_testkit::{Random, case_numbers};

use super::super::algebra::{Algebra, Order};
use super::super::model::Model;
use super::*;

/// Few decimals, so that products are exact.
fn coefficient(random: &mut Random) -> f64 {
    f64::from(i32::try_from(random.between(-64, 64)).expect("small")) / 16.0
}

fn model(random: &mut Random, symbols: &[usize], times: usize) -> Model {
    let mut sum = Model::constant(Interval::point(coefficient(random)));
    for _ in 0..random.below(40) {
        let mut monomial = Monomial::ONE;
        for _ in 0..random.below(3) {
            let more = Monomial::symbol(*random.pick(symbols));
            monomial = monomial.times(more).unwrap_or(monomial);
        }
        for _ in 0..random.below(times) {
            monomial = monomial.times_time();
        }
        let term = Model { terms: vec![(monomial, coefficient(random))], rest: Interval::ZERO };
        sum = sum.plus(&term);
    }
    sum
}

#[test]
fn tables_give_the_terms_of_the_plain_product() {
    let (mut compared, mut left_out) = (0, 0);
    for number in case_numbers(400) {
        let mut random = Random::new(number);
        let count = 1 + random.below(6);
        let symbols: Vec<usize> = (0..count).map(|_| random.below(SYMBOLS)).collect();
        let times = 1 + random.below(4);
        let (a, b) = (model(&mut random, &symbols, times), model(&mut random, &symbols, times));
        let time = u32::try_from(random.below(5)).expect("small");
        let order = Order { degree: 2, time, cutoff: 0.0 };
        let mut tables = Tables::default();
        // Numbers that an earlier product has left behind count for nothing.
        tables.product(&b.terms, &b.terms, order);
        let Some(sums) = tables.product(&a.terms, &b.terms, order) else { continue };
        let (mut terms, dropped) = Algebra::new(order).hashed(&a.terms, &b.terms);
        terms.retain(|&(_, c)| c != 0.0);
        assert_eq!(sums.terms, terms, "case {number}");
        // Squares without a monomial add up before they are dropped.
        assert!(sums.dropped <= dropped, "case {number}: {} {dropped}", sums.dropped);
        let squares = a.terms.iter().any(|(m, _)| m.degree() == 1);
        if !squares {
            assert!((sums.dropped - dropped).abs() <= 0.0, "case {number}");
        }
        compared += 1;
        left_out += usize::from(dropped > 0.0);
    }
    assert!(compared > 200 && left_out > 50, "{compared} {left_out}");
}

#[test]
fn small_terms_are_dropped_with_their_magnitudes() {
    let term = |symbol, c| (Monomial::symbol(symbol), c);
    let a = [(Monomial::ONE, 1.0), term(0, 1.0), term(50, 1e-3)];
    let order = Order { degree: 2, time: 0, cutoff: 1e-2 };
    let sums = Tables::default().product(&a, &a, order).expect("worth while");
    let square = Monomial::symbol(0).times(Monomial::symbol(0)).expect("a power");
    assert_eq!(sums.terms, [(Monomial::ONE, 1.0), term(0, 2.0), (square, 1.0)]);
    // 2·10⁻³·s₅₀ + 2·10⁻³·s₀·s₅₀ + 10⁻⁶·s₅₀².
    assert!((sums.dropped - 0.004_001).abs() < 1e-12, "{}", sums.dropped);
}
