//! Scores in single precision: a plain evaluation, and bounds for all others.
//!
//! Libraries add up a layer's products in orders of their own, with or without fused multiply-adds, and
//! machines may flush what is below the normal numbers to 0. [`SingleErrors`] bounds how far the score
//! of any such evaluation is from the exact one, so a label whose score is closer to the best than
//! these bounds may be chosen. The plain evaluation is one of them, in a stated order: what it chooses is
//! really chosen.
//!
//! Features that are computed count as exact numbers that are rounded to single precision; what the
//! network does from there is evaluated as it was written. So a network of which the reader merged
//! constants is refused.

mod bound;
mod choice;
mod evaluation;
mod graph;
mod lead;
mod trees;

#[cfg(test)]
mod tests;

use std::path::Path;

use policert_numeric::{IntBox, IntInterval, Interval, Rational};

use crate::activation::Activation;
use crate::error::PolicyError;
use crate::evaluate::ErrorBound;
use crate::exact::ExactEvaluator;
use crate::format::Format;
use crate::meter::Meter;
use crate::network::{Network, Op};
use crate::policy_file::PolicyFile;
use crate::trees::Precision;
use bound::{Feature, amplitude};
use graph::refuse_operators;

pub use bound::SingleErrors;
pub(crate) use choice::rounded_choice;
pub use lead::NarrowestLead;
pub use trees::SingleTrees;

/// How the scores of a policy are evaluated.
#[derive(Clone, Debug)]
pub enum RoundedScores {
    /// Those of a network.
    Network(SinglePrecision),
    /// Those of a tree ensemble.
    Trees(SingleTrees),
}

impl RoundedScores {
    /// Says what bounds of their errors mean.
    pub(crate) fn remark(&self, errors: &SingleErrors) -> String {
        let trees = match self {
            Self::Network(_) => return errors.remark("single precision"),
            Self::Trees(trees) => trees.summation(),
        };
        match trees.precision {
            Precision::Single => errors.remark("single precision"),
            Precision::Double => format!(
                "the library adds up the leaves in double precision, and the verdict is about that: {}",
                errors.remark("double precision")
            ),
        }
    }
}

/// A network that is evaluated in single precision.
#[derive(Clone, Debug)]
pub struct SinglePrecision {
    network: Network,
    features: Option<Features>,
    /// True if the softmax of the scores is compared, or its logarithm.
    compares_softmax: bool,
}

/// Functions of integers that are the features of a network.
#[derive(Clone, Debug)]
struct Features {
    network: Network,
    exact: ExactEvaluator,
    /// For each feature whether it is an integer.
    are_integral: Vec<bool>,
}

impl SinglePrecision {
    /// For a network whose features are its inputs.
    ///
    /// # Errors
    /// If its evaluations in single precision are not known.
    pub fn new(network: &Network) -> Result<Self, PolicyError> {
        refuse(network)?;
        Ok(Self { network: network.clone(), features: None, compares_softmax: false })
    }

    /// For the network of a file, of which `scores` names the output that is the policy if it has several.
    /// The features are the outputs of another network if there is one, with which of them are integers.
    ///
    /// # Errors
    /// If its evaluations in single precision, or its features, are not known; and
    /// [`PolicyError::Stopped`] at a limit.
    pub(crate) fn of_file(
        (path, network): (&Path, &Network),
        scores: Option<&str>,
        features: Option<(Network, Vec<bool>)>,
        meter: &mut Meter,
    ) -> Result<Self, PolicyError> {
        let file = PolicyFile::read(path, meter)?;
        let known = match file.format {
            Format::Onnx => refuse_operators(&file.bytes, scores),
            Format::Nnet | Format::Json | Format::Trees => Ok(false),
        };
        let single =
            known.and_then(|compares_softmax| Ok(Self { compares_softmax, ..Self::new(network)? }));
        let single = single.map_err(|error| error.in_file(&file.name))?;
        let Some((network, are_integral)) = features else { return Ok(single) };
        let exact = ExactEvaluator::new(&network)
            .ok_or_else(|| unsupported("the features are not rational numbers"))?;
        Ok(Self { features: Some(Features { network, exact, are_integral }), ..single })
    }

    /// Whether the library compares the softmax of the scores, or its logarithm.
    #[must_use]
    pub fn compares_softmax(&self) -> bool {
        self.compares_softmax
    }

    /// The network that reads the features.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The exact values of the features, before they are rounded.
    ///
    /// # Panics
    /// If there are fewer inputs than the policy has.
    #[must_use]
    pub fn features(&self, inputs: &[i64]) -> Vec<Rational> {
        match &self.features {
            None => inputs.iter().copied().map(Rational::integer).collect(),
            Some(features) => features.exact.scores(inputs).to_rationals(),
        }
    }

    /// The scores by the plain evaluation.
    ///
    /// # Panics
    /// If there are fewer inputs than the policy has.
    #[must_use]
    pub fn plain_scores(&self, inputs: &[i64]) -> Vec<f32> {
        let features: Vec<f32> = self.features(inputs).iter().map(Rational::to_f32).collect();
        evaluation::plain_scores(&self.network, &features)
    }

    /// Bounds of the errors in one state.
    ///
    /// # Panics
    /// If there are fewer inputs than the policy has.
    #[must_use]
    pub fn errors_at(&self, inputs: &[i64]) -> SingleErrors {
        let values = self.features(inputs);
        let feature = |(value, is_integral): (&Rational, bool)| Feature {
            value: Interval::enclosing(value),
            is_integral,
        };
        let features: Vec<Feature> = values.iter().zip(self.are_integral()).map(feature).collect();
        let never = &mut || Ok::<(), std::convert::Infallible>(());
        match SingleErrors::over(self, &features, never) {
            Ok(errors) => errors,
            Err(never) => match never {},
        }
    }

    /// Bounds of the errors for all inputs of a box, within limits.
    pub(crate) fn errors_over(
        &self,
        inputs: &IntBox,
        meter: &mut Meter,
    ) -> Result<SingleErrors, PolicyError> {
        let values: Vec<Interval> = match &self.features {
            None => inputs.sides().iter().copied().map(interval).collect(),
            Some(features) => {
                let bound =
                    ErrorBound::over_while(&features.network, inputs, &mut || meter.before(0))?;
                bound.scores().to_vec()
            }
        };
        let feature = |(value, is_integral): (Interval, bool)| Feature { value, is_integral };
        let features: Vec<Feature> =
            values.into_iter().zip(self.are_integral()).map(feature).collect();
        SingleErrors::over(self, &features, &mut || meter.before(0))
    }

    /// The network whose exact outputs are the features, unless these are the inputs.
    #[must_use]
    pub fn feature_network(&self) -> Option<&Network> {
        self.features.as_ref().map(|features| &features.network)
    }

    /// For each feature whether it is an integer.
    pub fn are_integral(&self) -> impl Iterator<Item = bool> + '_ {
        let computed = self.features.as_ref().map(|features| features.are_integral.as_slice());
        (0..self.network.input_width()).map(move |i| computed.is_none_or(|are| are[i]))
    }
}

/// Contains the integers of a side.
fn interval(side: IntInterval) -> Interval {
    let end = |value: i64| Interval::enclosing(&Rational::integer(value));
    if side.is_bounded() { end(side.lo).hull(end(side.hi)) } else { Interval::EVERYTHING }
}

/// The refusal of numbers in single precision.
pub(crate) fn unsupported(message: &str) -> PolicyError {
    PolicyError::unsupported("", format!("numbers f32 is not supported here: {message}"))
}

/// Refuses a network whose evaluations in single precision are not known.
fn refuse(network: &Network) -> Result<(), PolicyError> {
    if network.merges_constants() {
        return Err(unsupported(
            "constant factors or summands (a normalisation) were merged into weights, and a library \
             rounds after each of them; export the network without them",
        ));
    }
    if network.ends_squashed() {
        return Err(unsupported(
            "the outputs pass through a function such as tanh or the sigmoid, after which scores that \
             differ can be equal; export what is before it",
        ));
    }
    for node in network.nodes() {
        match &node.op {
            Op::Scale { mul, div, .. } => {
                let is_unit = |factor: &f64| factor.abs().total_cmp(&1.0).is_eq();
                if !mul.iter().all(is_unit) || !div.iter().all(|div| div.total_cmp(&1.0).is_eq()) {
                    return Err(unsupported(
                        "it has constant factors, which libraries merge into weights or not; export \
                         the network without them",
                    ));
                }
            }
            Op::Pointwise { activation: activation @ Activation::Staircase(_), .. } => {
                let (name, _) = activation.operator();
                return Err(unsupported(&format!(
                    "{name} makes a whole step of a rounding error before it; Relu, LeakyRelu, Clip, \
                     Tanh, Sigmoid and Elu are supported"
                )));
            }
            Op::Pointwise { activation: activation @ Activation::Smooth(smooth), .. }
                if amplitude(*smooth).is_none() =>
            {
                let (name, _) = activation.operator();
                return Err(unsupported(&format!(
                    "the rounding errors of {name} are not known; Relu, LeakyRelu, Clip, Tanh, \
                     Sigmoid and Elu are supported"
                )));
            }
            Op::Input
            | Op::Affine { .. }
            | Op::Pointwise { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => {}
        }
    }
    Ok(())
}
