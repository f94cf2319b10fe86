//! Vectors of rationals with a common scale.

use std::borrow::Cow;
use std::cmp::Ordering;

use policert_numeric::{IBig, Rational, UBig};

use super::{Dyadic, Factor, common_exponent, integer_of, shift};
use crate::activation::Staircase;

/// The vector `values · 2^exponent / denominator`.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pub(super) values: Integers,
    pub(super) exponent: i32,
    /// Positive and odd.
    pub(super) denominator: IBig,
}

#[derive(Clone, Debug)]
pub(super) enum Integers {
    Small(Vec<i128>),
    Big(Vec<IBig>),
}

impl Integers {
    pub(super) fn to_big(&self) -> Cow<'_, [IBig]> {
        match self {
            Integers::Small(values) => values.iter().map(|&v| IBig::from(v)).collect(),
            Integers::Big(values) => Cow::Borrowed(values),
        }
    }
}

impl Scaled {
    pub(super) fn integers(values: &[i64]) -> Self {
        let values = Integers::Small(values.iter().map(|&v| i128::from(v)).collect());
        Self { values, exponent: 0, denominator: IBig::ONE }
    }

    pub(super) fn rationals(values: &[Rational]) -> Self {
        let parts: Vec<(IBig, UBig)> = values.iter().map(Rational::to_parts).collect();
        let twos = |den: &UBig| den.trailing_zeros().unwrap_or(0);
        let exponent = parts.iter().map(|(_, den)| twos(den)).max().unwrap_or(0);
        let odd = |den: &UBig| IBig::from(den >> twos(den));
        let denominator = parts.iter().fold(IBig::ONE, |common, (_, den)| {
            let (_, reduced) = reduce(&common, &odd(den));
            common * reduced
        });
        let values = parts.iter().map(|(num, den)| {
            let (factor, _) = reduce(&denominator, &odd(den));
            (num * factor) << (exponent - twos(den))
        });
        let values = values.collect();
        // A denominator with more bits than that does not fit the memory either.
        Self::big(values, i32::try_from(exponent).map_or(i32::MIN, |e| -e), denominator)
    }

    fn big(values: Vec<IBig>, exponent: i32, denominator: IBig) -> Self {
        Self { values: Integers::Big(values), exponent, denominator }.reduced()
    }

    /// Machine integers where they suffice.
    pub(super) fn reduced(mut self) -> Self {
        if let Integers::Big(values) = &self.values {
            let small: Result<Vec<i128>, _> = values.iter().map(i128::try_from).collect();
            if let Ok(small) = small {
                self.values = Integers::Small(small);
            }
        }
        self
    }

    /// A dyadic number in units of this vector at `exponent`.
    fn unit(&self, number: Dyadic, exponent: i32) -> IBig {
        integer_of(number, exponent) * &self.denominator
    }

    /// Element-wise `· mul / div + add`.
    pub(super) fn scaled(&self, factors: &[Factor]) -> Self {
        // The odd parts of the divisors go into the common denominator.
        let divisors = factors.iter().map(|factor| IBig::from(factor.div.0.abs()));
        let common = divisors.clone().fold(IBig::ONE, |common, divisor| {
            let (_, reduced) = reduce(&common, &divisor);
            common * reduced
        });
        let exponents = factors.iter().map(|f| self.exponent + f.mul.1 - f.div.1);
        let summands: Vec<Dyadic> = factors.iter().map(|factor| factor.add).collect();
        let lowest = exponents.clone().min().unwrap_or(0).min(common_exponent(&summands));
        let denominator = &self.denominator * &common;
        let values = self.values.to_big();
        let parts = values.iter().zip(factors).zip(divisors.zip(exponents));
        let values = parts.map(|((value, factor), (divisor, exponent))| {
            let (quotient, _) = reduce(&common, &divisor);
            let product = value * IBig::from(factor.mul.0) * quotient;
            let product = if factor.div.0 < 0 { -product } else { product };
            (product << shift(exponent, lowest)) + integer_of(factor.add, lowest) * &denominator
        });
        let values = values.collect();
        Self::big(values, lowest, denominator)
    }

    /// x, or x · alpha below 0.
    pub(super) fn leaky_relu(&self, alpha: Dyadic) -> Self {
        let values = self.values.to_big();
        self.leaky_piece(alpha, |element| values[element] < IBig::ZERO)
    }

    /// x · alpha for the elements that are `below`, x for the others.
    pub(super) fn leaky_piece(
        &self,
        (mantissa, exponent): Dyadic,
        below: impl Fn(usize) -> bool,
    ) -> Self {
        let lowest = exponent.min(0);
        let values = self.values.to_big();
        let values = values.iter().enumerate().map(|(element, value)| {
            if below(element) {
                (value * IBig::from(mantissa)) << shift(exponent, lowest)
            } else {
                value << shift(0, lowest)
            }
        });
        Self::big(values.collect(), self.exponent + lowest, self.denominator.clone())
    }

    /// The elements with a constant in place of some of them.
    pub(super) fn replaced(&self, constant: impl Fn(usize) -> Option<Dyadic>) -> Self {
        let values = self.values.to_big();
        let constants: Vec<Option<Dyadic>> = (0..values.len()).map(constant).collect();
        let given: Vec<Dyadic> = constants.iter().copied().flatten().collect();
        let lowest = common_exponent(&given).min(self.exponent);
        let values = values.iter().zip(constants).map(|(value, constant)| match constant {
            Some(constant) => self.unit(constant, lowest),
            None => value << shift(self.exponent, lowest),
        });
        Self::big(values.collect(), lowest, self.denominator.clone())
    }

    /// Each element of the vector that `source` names.
    pub(super) fn chosen(vectors: &[&Scaled], source: impl Fn(usize) -> usize) -> Self {
        let (rows, exponent, denominator) = aligned(vectors);
        let width = rows.first().map_or(0, Vec::len);
        let values = (0..width).map(|element| rows[source(element)][element].clone());
        Self::big(values.collect(), exponent, denominator)
    }

    /// The bound, where values compare with it like `beyond`.
    pub(super) fn bounded(&self, bound: Dyadic, beyond: Ordering) -> Self {
        if bound.0 == 0
            && let Integers::Small(values) = &self.values
        {
            let values = values.iter().map(|&v| if v.cmp(&0) == beyond { 0 } else { v }).collect();
            return Self { values: Integers::Small(values), ..self.clone_scale() };
        }
        let lowest = if bound.0 == 0 { self.exponent } else { self.exponent.min(bound.1) };
        let limit = self.unit(bound, lowest);
        let values = self.values.to_big();
        let values = values.iter().map(|value| {
            let value = value << shift(self.exponent, lowest);
            if value.cmp(&limit) == beyond { limit.clone() } else { value }
        });
        Self::big(values.collect(), lowest, self.denominator.clone())
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        match &self.values {
            Integers::Small(values) => values.len(),
            Integers::Big(values) => values.len(),
        }
    }

    /// The values of a staircase.
    pub(super) fn stepped(&self, staircase: Staircase) -> Self {
        if let Some(values) = self.small_steps(staircase) {
            return Self { values: Integers::Small(values), exponent: 0, denominator: IBig::ONE };
        }
        let values = self.to_rationals();
        Self::rationals(&values.iter().map(|value| staircase.of(value)).collect::<Vec<_>>())
    }

    /// The values of a staircase, where machine integers suffice.
    fn small_steps(&self, staircase: Staircase) -> Option<Vec<i128>> {
        let Integers::Small(values) = &self.values else { return None };
        let twos = u32::try_from(self.exponent.checked_neg()?).ok().filter(|&twos| twos < 126)?;
        let unit = i128::try_from(&self.denominator).ok()?.checked_mul(1 << twos)?;
        values.iter().map(|&value| staircase.of_quotient(value, unit)).collect()
    }

    /// The products with the elements of another vector.
    pub(super) fn product(&self, other: &Self) -> Self {
        let (a, b) = (self.values.to_big(), other.values.to_big());
        let values = a.iter().zip(b.iter()).map(|(a, b)| a * b).collect();
        let denominator = &self.denominator * &other.denominator;
        Self::big(values, self.exponent + other.exponent, denominator)
    }

    /// One over each element, all of which are positive.
    pub(super) fn reciprocals(&self) -> Self {
        let values = self.to_rationals();
        Self::rationals(&values.iter().filter_map(Rational::recip).collect::<Vec<_>>())
    }

    /// The scale without values.
    fn clone_scale(&self) -> Self {
        Self {
            values: Integers::Small(Vec::new()),
            exponent: self.exponent,
            denominator: self.denominator.clone(),
        }
    }

    pub(super) fn sum(vectors: &[&Scaled]) -> Self {
        Self::element_wise(vectors, |a, b| a + b)
    }

    pub(super) fn maximum(vectors: &[&Scaled]) -> Self {
        Self::element_wise(vectors, |a, b| a.max(b))
    }

    pub(super) fn joined(vectors: &[&Scaled]) -> Self {
        let (rows, exponent, denominator) = aligned(vectors);
        Self::big(rows.concat(), exponent, denominator)
    }

    fn element_wise(vectors: &[&Scaled], combine: impl Fn(IBig, IBig) -> IBig) -> Self {
        let (rows, exponent, denominator) = aligned(vectors);
        let combined = rows
            .into_iter()
            .reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| combine(a, b)).collect());
        Self::big(combined.unwrap_or_default(), exponent, denominator)
    }

    pub(super) fn to_rationals(&self) -> Vec<Rational> {
        let (_, denominator) = self.denominator.clone().into_parts();
        let denominator = denominator << shift(0, self.exponent);
        let lift = shift(self.exponent, 0);
        let values = self.values.to_big();
        // The denominator is positive, so each fraction is a number.
        values
            .iter()
            .filter_map(|value| Rational::from_parts(value << lift, denominator.clone()))
            .collect()
    }
}

/// The values of all vectors at one scale.
fn aligned(vectors: &[&Scaled]) -> (Vec<Vec<IBig>>, i32, IBig) {
    let exponent = vectors.iter().map(|vector| vector.exponent).min().unwrap_or(0);
    let denominator = vectors.iter().fold(IBig::ONE, |common, vector| {
        let (_, reduced) = reduce(&common, &vector.denominator);
        common * reduced
    });
    let rows = vectors.iter().map(|vector| {
        let (factor, _) = reduce(&denominator, &vector.denominator);
        let lift = shift(vector.exponent, exponent);
        vector.values.to_big().iter().map(|value| (value << lift) * &factor).collect()
    });
    (rows.collect(), exponent, denominator)
}

/// Two positive numbers without their common divisors.
fn reduce(a: &IBig, b: &IBig) -> (IBig, IBig) {
    let (_, b) = b.clone().into_parts();
    match Rational::from_parts(a.clone(), b) {
        Some(fraction) => {
            let (num, den): (IBig, UBig) = fraction.to_parts();
            (num, IBig::from(den))
        }
        None => (IBig::ONE, IBig::ONE),
    }
}
