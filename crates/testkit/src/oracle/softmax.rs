//! The softmax of scores, by series in rational arithmetic that is rounded to 400 bits: wrong by less
//! than 2⁻³⁰⁰.

use policert_numeric::{IBig, Rational, UBig};

/// e^s / Σ e^t for each score s of those listed.
///
/// # Panics
/// Never, for numbers of sizes that tests have.
#[must_use]
pub fn softmax(scores: &[Rational]) -> Vec<Rational> {
    let Some(best) = scores.iter().max() else { return Vec::new() };
    let powers: Vec<Rational> = scores.iter().map(|score| power(&(best - score))).collect();
    let sum: Rational = powers.iter().cloned().sum();
    powers.iter().map(|power| power.checked_div(&sum).expect("a sum of powers")).collect()
}

/// e^−x for x ≥ 0.
fn power(x: &Rational) -> Rational {
    let two = Rational::integer(2);
    let (mut small, mut halvings) = (x.clone(), 0);
    while small > Rational::ONE {
        small = small.checked_div(&two).expect("not 0");
        halvings += 1;
    }
    let (mut term, mut sum) = (Rational::ONE, Rational::ONE);
    for n in 1..90 {
        term = rounded(&(&term * &small).checked_div(&Rational::integer(n)).expect("not 0"));
        sum = &sum + &term;
    }
    let mut inverse = sum.recip().expect("at least 1");
    for _ in 0..halvings {
        inverse = rounded(&(&inverse * &inverse));
    }
    inverse
}

fn rounded(value: &Rational) -> Rational {
    let (num, den) = value.to_parts();
    Rational::from_parts((num << 400) / IBig::from(den), UBig::ONE << 400).expect("not 0")
}
