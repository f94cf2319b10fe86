//! Witnesses: checked exactly, and written as decimals that are as short as they can be.

use std::iter::zip;

use policert_numeric::{LinearInequality, Rational};
use policert_outcome::decimal::{decimal, exact_decimal, half, places_for, rounded};
use policert_policy::{ExactEvaluator, Network, precise_scores_at};
use policert_vnnlib::NetworkProperty;

use super::report::{Witness, WitnessValue};

/// Decimals are written exactly up to this many digits.
const MAX_DIGITS: usize = 60;
/// Inputs with up to this many digits are left as they are.
const SHORT: usize = 20;
/// Decimal places that are tried for inputs.
const PLACES: [usize; 7] = [3, 6, 9, 12, 17, 25, 40];
/// Significant digits that are tried for outputs.
const DIGITS: [i32; 3] = [17, 34, 60];
/// Precisions in bits that are tried where outputs have no exact value.
const PRECISIONS: [usize; 3] = [128, 512, 2048];

/// Outputs for inputs.
pub(super) enum Scores<'n> {
    Exact(ExactEvaluator),
    /// Of a network that is not made of linear pieces.
    Enclosed(&'n Network),
}

/// Bounds of the outputs; equal ones where the value is known exactly.
type Outputs = Vec<(Rational, Rational)>;

impl<'n> Scores<'n> {
    pub fn new(network: &'n Network) -> Self {
        ExactEvaluator::new(network).map_or(Self::Enclosed(network), Self::Exact)
    }

    /// The outputs; for a network that is not made of linear pieces at one precision after the
    /// other.
    fn outputs(&self, inputs: &[Rational]) -> impl Iterator<Item = Outputs> {
        let bits: &[usize] = match self {
            Self::Exact(_) => &[0],
            Self::Enclosed(_) => &PRECISIONS,
        };
        bits.iter().filter_map(|&bits| match self {
            Self::Exact(evaluator) => {
                let scores = evaluator.scores_at(inputs);
                Some(scores.into_iter().map(|score| (score.clone(), score)).collect())
            }
            Self::Enclosed(network) => {
                let scores = precise_scores_at(network, inputs, bits)?;
                Some(scores.scores().iter().map(|s| (s.lower(), s.upper())).collect())
            }
        })
    }

    /// The first disjunct that inputs and their outputs satisfy for certain.
    pub fn satisfied_disjunct(
        &self,
        property: &NetworkProperty,
        inputs: &[Rational],
    ) -> Option<usize> {
        self.outputs(inputs).find_map(|outputs| {
            property.disjuncts.iter().position(|one| satisfied(inputs, &outputs, one))
        })
    }

    /// The outputs, if they and the inputs satisfy the inequalities for certain.
    fn satisfying(&self, inputs: &[Rational], disjunct: &[LinearInequality]) -> Option<Outputs> {
        self.outputs(inputs).find(|outputs| satisfied(inputs, outputs, disjunct))
    }
}

/// Returns whether all inequalities hold, whatever the outputs are within their bounds.
fn satisfied(
    inputs: &[Rational],
    outputs: &[(Rational, Rational)],
    disjunct: &[LinearInequality],
) -> bool {
    disjunct.iter().all(|inequality| {
        let greatest = |(variable, coefficient): &(usize, Rational)| {
            let value = match variable.checked_sub(inputs.len()) {
                None => &inputs[*variable],
                Some(output) if coefficient.signum() > 0 => &outputs[output].1,
                Some(output) => &outputs[output].0,
            };
            coefficient * value
        };
        let sum: Rational = inequality.terms.iter().map(greatest).sum();
        if inequality.strict { sum < inequality.upper } else { sum <= inequality.upper }
    })
}

/// The witness with these inputs, or others close by that are written shorter; `None` if these do
/// not satisfy the disjunct.
pub(super) fn witness(
    scores: &Scores<'_>,
    property: &NetworkProperty,
    index: usize,
    inputs: &[Rational],
) -> Option<Witness> {
    let disjunct = property.disjuncts.get(index)?;
    let outputs = scores.satisfying(inputs, disjunct)?;
    let (inputs, outputs) =
        shorter(scores, disjunct, inputs).unwrap_or_else(|| (inputs.to_vec(), outputs));
    let shown_outputs = shown(&inputs, &outputs, disjunct);
    Some(Witness {
        disjunct: index,
        inputs: inputs
            .iter()
            .enumerate()
            .map(|(i, input)| {
                let value = printed_input(input);
                WitnessValue { name: format!("X_{i}"), value, exact: Some(input.to_string()) }
            })
            .collect(),
        outputs: zip(&outputs, shown_outputs)
            .enumerate()
            .map(|(j, ((lower, upper), value))| {
                let exact = (lower == upper).then(|| lower.to_string());
                WitnessValue { name: format!("Y_{j}"), value, exact }
            })
            .collect(),
    })
}

/// Inputs near those given with fewer digits, and their outputs; `None` if those given are short,
/// or none were found.
fn shorter(
    scores: &Scores<'_>,
    disjunct: &[LinearInequality],
    inputs: &[Rational],
) -> Option<(Vec<Rational>, Outputs)> {
    if inputs.iter().all(|input| exact_decimal(input, SHORT).is_some()) {
        return None;
    }
    PLACES.iter().find_map(|&places| {
        let near: Vec<Rational> = inputs.iter().map(|input| rounded(input, places)).collect();
        let outputs = scores.satisfying(&near, disjunct)?;
        Some((near, outputs))
    })
}

/// An input as it is printed: exact, as a decimal if it is one.
pub(super) fn printed_input(input: &Rational) -> String {
    exact_decimal(input, MAX_DIGITS).unwrap_or_else(|| fraction(input))
}

/// `(/ 1 3)`, `(- (/ 1 3))`.
fn fraction(number: &Rational) -> String {
    let (numerator, denominator) = number.abs().to_parts();
    let quotient = format!("(/ {numerator} {denominator})");
    if number.signum() < 0 { format!("(- {quotient})") } else { quotient }
}

/// The outputs as decimals: exact where they are short, else rounded to so many digits that the
/// inequalities still hold, if that can be.
fn shown(
    inputs: &[Rational],
    outputs: &[(Rational, Rational)],
    disjunct: &[LinearInequality],
) -> Vec<String> {
    let with_digits = |digits: i32| -> (Vec<String>, Vec<(Rational, Rational)>) {
        let one = |(lower, upper): &(Rational, Rational)| {
            if lower == upper
                && let Some(text) = exact_decimal(lower, MAX_DIGITS)
            {
                return (text, (lower.clone(), upper.clone()));
            }
            let middle = &(lower + upper) * &half();
            let places = places_for(&middle, digits);
            let value = rounded(&middle, places);
            (decimal(&value, places), (value.clone(), value))
        };
        outputs.iter().map(one).unzip()
    };
    let holding = DIGITS.iter().find_map(|&digits| {
        let (texts, values) = with_digits(digits);
        satisfied(inputs, &values, disjunct).then_some(texts)
    });
    holding.unwrap_or_else(|| with_digits(DIGITS[0]).0)
}
