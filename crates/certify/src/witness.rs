//! The outputs of a network at rational inputs.

use policert_numeric::Rational;
use policert_policy::{ExactEvaluator, Network, precise_scores_at};

/// Precisions in bits that are tried where outputs have no exact value.
const BITS: [usize; 3] = [128, 512, 2048];

/// Bounds of the outputs at inputs, equal ones where they are known exactly, at one precision after the
/// other.
///
/// # Panics
/// If there are fewer inputs than the network has.
pub fn outputs_at<'a>(
    network: &'a Network,
    inputs: &'a [Rational],
) -> impl Iterator<Item = Vec<(Rational, Rational)>> + 'a {
    let exact = ExactEvaluator::new(network).map(|evaluator| {
        evaluator.scores_at(inputs).into_iter().map(|score| (score.clone(), score)).collect()
    });
    let enclosed = BITS.iter().filter(|_| !network.is_piecewise_linear()).filter_map(|&bits| {
        let scores = precise_scores_at(network, inputs, bits)?;
        Some(scores.scores().iter().map(|s| (s.lower(), s.upper())).collect())
    });
    exact.into_iter().chain(enclosed)
}
