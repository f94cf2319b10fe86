//! A trained network that chooses labels, as files contain it.

use policert_policy::{ElementType, Network, NetworkBuilder, onnx};

use super::learner::best;
use crate::error::TrainError;
use crate::perceptron::{BatchTrace, Perceptron};

/// A network whose inputs are values of variables and whose outputs rank labels. All weights are
/// single-precision numbers, so what is evaluated here is what a file contains.
#[derive(Clone, Debug)]
pub struct LabelNetwork {
    pub(crate) perceptron: Perceptron,
    trace: BatchTrace,
}

impl LabelNetwork {
    pub(crate) fn new(perceptron: Perceptron) -> Self {
        Self { perceptron, trace: BatchTrace::default() }
    }

    /// The output that is chosen in a state, as the network reads it: among those that are
    /// applicable, where a mask is given.
    pub fn choose(&mut self, inputs: &[f64], applicable: Option<&[bool]>) -> Option<usize> {
        let values = self.perceptron.forward(inputs, &mut self.trace);
        best(values, |k| applicable.is_none_or(|mask| mask[k]))
    }

    /// The network.
    ///
    /// # Errors
    /// If a weight is no finite number.
    pub fn network(&self) -> Result<Network, TrainError> {
        let inputs = self.perceptron.layers.first().map_or(0, |layer| layer.inputs);
        let mut builder = NetworkBuilder::new(inputs)?;
        let input = builder.input();
        let output = self.perceptron.append_to(&mut builder, input)?;
        Ok(builder.finish(output, ElementType::F32))
    }

    /// The network as an ONNX file with weights in single precision.
    ///
    /// # Errors
    /// If a weight is no finite number.
    pub fn to_onnx(&self) -> Result<Vec<u8>, TrainError> {
        Ok(onnx::write_onnx(&self.network()?, ElementType::F32)?)
    }
}
