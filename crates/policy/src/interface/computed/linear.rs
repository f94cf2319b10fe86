//! Linear forms of the values that layers compute, exact.

use std::collections::BTreeMap;

use policert_numeric::{IBig, Rational};

use super::Computed;

/// `constant + Σ factor · source`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Linear {
    pub factors: BTreeMap<usize, Rational>,
    pub constant: Rational,
}

impl Linear {
    pub fn constant(constant: Rational) -> Self {
        Self { factors: BTreeMap::new(), constant }
    }

    pub fn source(source: usize) -> Self {
        Self { factors: BTreeMap::from([(source, Rational::ONE)]), constant: Rational::ZERO }
    }

    /// `self + factor · other`.
    pub fn plus(mut self, factor: &Rational, other: &Self) -> Self {
        self.constant += factor * &other.constant;
        for (&source, coefficient) in &other.factors {
            *self.factors.entry(source).or_insert(Rational::ZERO) += factor * coefficient;
        }
        self.factors.retain(|_, factor| !factor.is_zero());
        self
    }

    pub fn minus(self, other: &Self) -> Self {
        self.plus(&-Rational::ONE, other)
    }

    pub fn shifted(mut self, by: &Rational) -> Self {
        self.constant += by;
        self
    }

    pub fn times(&self, factor: &Rational) -> Self {
        Self::constant(Rational::ZERO).plus(factor, self)
    }
}

/// A linear form with integers for weights, and their common divisor, all as doubles.
pub(super) struct Row {
    pub factors: BTreeMap<usize, f64>,
    pub constant: f64,
    pub divisor: f64,
}

impl Row {
    pub fn of(linear: &Linear) -> Computed<Self> {
        let values = linear.factors.values().chain([&linear.constant]);
        let common = values.fold(Rational::ONE, |common, value| {
            let (_, denominator) = (&common * value).to_parts();
            common * Rational::from(IBig::from(denominator))
        });
        let factor = |(&source, factor): (&usize, &Rational)| {
            double(&(factor * &common)).map(|factor| (source, factor))
        };
        Ok(Self {
            factors: linear.factors.iter().map(factor).collect::<Computed<_>>()?,
            constant: double(&(&linear.constant * &common))?,
            divisor: double(&common)?,
        })
    }
}

/// The number as a double, which must be exact.
fn double(value: &Rational) -> Computed<f64> {
    let near = value.to_f64();
    let is_exact = Rational::from_f64(near).is_some_and(|exact| exact == *value);
    is_exact.then_some(near).ok_or_else(|| format!("the number {value} is too long"))
}
