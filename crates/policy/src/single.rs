//! Scores in single precision: a plain evaluation, and bounds for all others.
//!
//! Libraries add up a layer's products in orders of their own, with or without fused multiply-adds, and
//! machines may flush what is below the normal numbers to 0. [`SingleErrors`] bounds how far the score
//! of any such evaluation is from the exact one, so a label whose score is closer to the best than
//! these bounds may be chosen. The plain evaluation is one of them, in a stated order: what it chooses is
//! really chosen.
//!
//! Features that are computed count as exact numbers that are rounded to single precision; what the
//! network does from there is evaluated as it was written. So it is read without merging constants, and one
//! in which they were merged is refused.

mod bound;
mod choice;
mod element;
mod evaluation;
mod graph;
mod lead;
mod products;
mod trees;

#[cfg(test)]
mod merging_tests;
#[cfg(test)]
pub(crate) mod tests;

use policert_numeric::{IntBox, IntInterval, Interval, Rational};

use crate::error::PolicyError;
use crate::evaluate::ErrorBound;
use crate::exact::ExactEvaluator;
use crate::meter::Meter;
use crate::network::{Network, Op};
use crate::trees::Precision;
use bound::Feature;
use graph::Graph;

pub use bound::SingleErrors;
pub(crate) use choice::rounded_choice;
pub(crate) use graph::known_graph;
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
    graph: Graph,
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
        Ok(Self { network: network.clone(), features: None, graph: Graph::default() })
    }

    /// For a network in ONNX that is read as it is written.
    ///
    /// # Errors
    /// If its evaluations in single precision are not known.
    pub(crate) fn of_graph(network: &Network, graph: Graph) -> Result<Self, PolicyError> {
        Ok(Self { graph, ..Self::new(network)? })
    }

    /// For a network in a format that says of a normalisation only which function it is.
    ///
    /// # Errors
    /// If there is one, or the evaluations are not known.
    pub(crate) fn without_factors(network: &Network) -> Result<Self, PolicyError> {
        let is = |value: f64, constant: f64| value.total_cmp(&constant).is_eq();
        let has_factors = network.nodes().iter().any(|node| match &node.op {
            Op::Scale { mul, div, .. } => {
                !mul.iter().all(|&mul| is(mul.abs(), 1.0)) || !div.iter().all(|&div| is(div, 1.0))
            }
            Op::Input
            | Op::Affine { .. }
            | Op::Pointwise { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => false,
        });
        if has_factors {
            return Err(unsupported(
                "the file has a normalisation, and programs compute it in ways of their own; export the network without it, or in ONNX",
            ));
        }
        Self::new(network)
    }

    /// With features that are the outputs of another network, and which of them are integers.
    ///
    /// # Errors
    /// If the features are no rational numbers.
    pub(crate) fn with_features(
        self,
        (network, are_integral): (Network, Vec<bool>),
    ) -> Result<Self, PolicyError> {
        let exact = ExactEvaluator::new(&network)
            .ok_or_else(|| unsupported("the features are not rational numbers"))?;
        Ok(Self { features: Some(Features { network, exact, are_integral }), ..self })
    }

    /// The number of functions of all scores together that the library applies before it compares them: the
    /// softmax, its logarithm, the difference to the logarithm of the sum of their exponentials.
    #[must_use]
    pub fn normalisations(&self) -> u32 {
        self.graph.normalisations
    }

    /// Returns whether labels that are not applicable get a score of their own, before their softmax.
    pub(crate) fn is_masked(&self) -> bool {
        self.graph.is_masked
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
        let is_wide =
            |feature: &Feature| feature.is_integral && feature.value.magnitude() > GREATEST_INTEGER;
        if self.graph.reads_integers && features.iter().any(is_wide) {
            return Err(unsupported(
                "the graph reads integers, and some have more than 24 bits; narrow the bounds of the \
                 variables in the model",
            ));
        }
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

/// All integers of at most this magnitude are numbers in single precision.
const GREATEST_INTEGER: f64 = (1 << 24) as f64;

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
             rounds after each of them; read the network from its file, or leave them out",
        ));
    }
    if let Op::Pointwise { activation, .. } = &network.node(network.output()).op
        && network.ends_squashed()
    {
        let (name, _) = activation.operator();
        return Err(unsupported(&format!(
            "the outputs pass through {name} at the end, after which scores that differ can be equal; export what \
             is before it"
        )));
    }
    Ok(())
}
