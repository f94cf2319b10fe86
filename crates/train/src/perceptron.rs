//! Multi-layer perceptrons in double precision: values and gradients of batches.

use policert_policy::{Matrix, NetworkBuilder, NodeId};

use crate::Random;
use crate::error::TrainError;
use crate::kernel::{Affine, ByWeights};

/// Says what a layer applies to its sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayerActivation {
    /// Nothing.
    Identity,
    /// max(x, 0).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

impl LayerActivation {
    fn apply(self, values: &mut [f64]) {
        match self {
            Self::Identity => {}
            Self::Relu => values.iter_mut().for_each(|x| *x = x.max(0.0)),
            Self::Tanh => values.iter_mut().for_each(|x| *x = x.tanh()),
        }
    }

    /// Multiplies by the derivative, which follows from the values.
    fn differentiate(self, values: &[f64], gradient: &mut [f64]) {
        let pairs = gradient.iter_mut().zip(values);
        match self {
            Self::Identity => {}
            Self::Relu => pairs.for_each(|(g, &y)| *g = if y > 0.0 { *g } else { 0.0 }),
            Self::Tanh => pairs.for_each(|(g, &y)| *g *= 1.0 - y * y),
        }
    }
}

/// One layer: its part of the parameters is `inputs` rows of `outputs` weights, then the biases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) activation: LayerActivation,
    pub(crate) start: usize,
}

impl Layer {
    pub(crate) fn biases(&self) -> usize {
        self.start + self.inputs * self.outputs
    }

    fn end(&self) -> usize {
        self.biases() + self.outputs
    }
}

/// A perceptron; all parameters lie in one vector.
#[derive(Clone, PartialEq, Debug)]
pub struct Perceptron {
    pub(crate) layers: Vec<Layer>,
    pub(crate) parameters: Vec<f64>,
}

/// Values of all layers for a batch, and room for gradients; reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub struct BatchTrace {
    /// The input and the values of each layer, batch × width.
    values: Vec<Vec<f64>>,
    gradient: Vec<f64>,
    next_gradient: Vec<f64>,
    /// Weights of a layer, outputs × inputs.
    transposed: Vec<f64>,
}

impl Perceptron {
    /// A perceptron of these widths, input and output included (at least those two), with random
    /// weights: uniform in ±1/√inputs, in the last layer in ± `last`.
    #[must_use]
    pub fn random(
        widths: &[usize],
        hidden: LayerActivation,
        output: LayerActivation,
        last: f64,
        random: &mut Random,
    ) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        for (i, pair) in widths.windows(2).enumerate() {
            let activation = if i + 2 == widths.len() { output } else { hidden };
            let start = layers.last().map_or(0, Layer::end);
            layers.push(Layer { inputs: pair[0], outputs: pair[1], activation, start });
        }
        let mut parameters = Vec::with_capacity(layers.last().map_or(0, Layer::end));
        for (i, layer) in layers.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "widths are small")]
            let usual = 1.0 / (layer.inputs as f64).sqrt();
            let bound = if i + 1 == layers.len() { last } else { usual };
            parameters.extend((layer.start..layer.end()).map(|_| random.between(-bound, bound)));
        }
        Self { layers, parameters }
    }

    /// Number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// Returns whether it has no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Returns whether all parameters are numbers of single precision.
    pub(crate) fn is_finite(&self) -> bool {
        self.parameters.iter().all(|&parameter| single(parameter).is_finite())
    }

    /// Evaluates a batch (batch × input width, row by row); the outputs, batch × output width.
    pub fn forward<'t>(&self, inputs: &[f64], trace: &'t mut BatchTrace) -> &'t [f64] {
        trace.values.resize(self.layers.len() + 1, Vec::new());
        trace.values[0].clear();
        trace.values[0].extend_from_slice(inputs);
        for (i, layer) in self.layers.iter().enumerate() {
            let (before, after) = trace.values.split_at_mut(i + 1);
            let (inputs, outputs) = (&before[i], &mut after[0]);
            let weights = &self.parameters[layer.start..layer.biases()];
            let biases = &self.parameters[layer.biases()..layer.end()];
            outputs.resize(inputs.len() / layer.inputs * layer.outputs, 0.0);
            let widths = (layer.inputs, layer.outputs);
            Affine { inputs, weights, biases: Some(biases), widths, sums: outputs }.run();
            layer.activation.apply(outputs);
        }
        &trace.values[self.layers.len()]
    }

    /// Follows the gradient by the outputs of the last batch back to the inputs, whose gradient it
    /// gives; adds the gradient by the parameters to `parameters`, if wanted.
    pub fn backward<'t>(
        &self,
        trace: &'t mut BatchTrace,
        by_outputs: &[f64],
        parameters: Option<&mut [f64]>,
    ) -> &'t [f64] {
        self.follow_back(trace, by_outputs, parameters, true)
    }

    /// Adds the gradient by the parameters to `parameters`, and leaves that by the inputs.
    pub(crate) fn learn_backward(
        &self,
        trace: &mut BatchTrace,
        by_outputs: &[f64],
        parameters: &mut [f64],
    ) {
        self.follow_back(trace, by_outputs, Some(parameters), false);
    }

    fn follow_back<'t>(
        &self,
        trace: &'t mut BatchTrace,
        by_outputs: &[f64],
        mut parameters: Option<&mut [f64]>,
        to_inputs: bool,
    ) -> &'t [f64] {
        let BatchTrace { values, gradient, next_gradient, transposed } = trace;
        gradient.clear();
        gradient.extend_from_slice(by_outputs);
        for (i, layer) in self.layers.iter().enumerate().rev() {
            layer.activation.differentiate(&values[i + 1], gradient);
            if let Some(parameters) = &mut parameters {
                let (weights, biases) =
                    parameters[layer.start..layer.end()].split_at_mut(layer.inputs * layer.outputs);
                let widths = (layer.inputs, layer.outputs);
                let inputs = &values[i];
                ByWeights { inputs, by_sums: gradient, widths, gradient: weights }.run();
                for by_sums in gradient.chunks_exact(layer.outputs) {
                    biases.iter_mut().zip(by_sums).for_each(|(sum, by_sum)| *sum += by_sum);
                }
            }
            if i == 0 && !to_inputs {
                break;
            }
            transposed.clear();
            let weights = &self.parameters[layer.start..layer.biases()];
            transposed.extend(
                (0..layer.outputs)
                    .flat_map(|j| weights.iter().skip(j).step_by(layer.outputs).copied()),
            );
            next_gradient.resize(values[i].len(), 0.0);
            let widths = (layer.outputs, layer.inputs);
            let (inputs, sums) = (&gradient[..], &mut next_gradient[..]);
            Affine { inputs, weights: transposed, biases: None, widths, sums }.run();
            std::mem::swap(gradient, next_gradient);
        }
        gradient
    }

    /// Makes the scaling of inputs part of the first layer: what read (x − mean) / deviation for each
    /// input x reads x. All parameters are rounded to single precision then.
    pub(crate) fn reading_raw(mut self, scaling: &[(f64, f64)]) -> Self {
        if let Some(&first) = self.layers.first() {
            for (i, (mean, deviation)) in scaling.iter().enumerate() {
                for j in 0..first.outputs {
                    let at = first.start + i * first.outputs + j;
                    self.parameters[at] /= deviation;
                    let shift = self.parameters[at] * mean;
                    self.parameters[first.biases() + j] -= shift;
                }
            }
        }
        self.parameters.iter_mut().for_each(|parameter| *parameter = single(*parameter));
        self
    }

    /// Appends its layers to a network.
    pub(crate) fn append_to(
        &self,
        builder: &mut NetworkBuilder,
        mut node: NodeId,
    ) -> Result<NodeId, TrainError> {
        for layer in &self.layers {
            let weights = &self.parameters[layer.start..layer.biases()];
            let transposed = (0..layer.outputs)
                .flat_map(|j| weights.iter().skip(j).step_by(layer.outputs).copied())
                .collect();
            let weights = Matrix::new(layer.outputs, layer.inputs, transposed)
                .ok_or_else(|| TrainError::Config("a layer has another size".to_owned()))?;
            let biases = &self.parameters[layer.biases()..layer.end()];
            node = builder.affine(node, weights, biases.to_vec())?;
            node = match layer.activation {
                LayerActivation::Identity => node,
                LayerActivation::Relu => builder.relu(node),
                LayerActivation::Tanh => builder.tanh(node),
            };
        }
        Ok(node)
    }

    /// Moves the parameters towards those of another perceptron of the same shape.
    pub fn approach(&mut self, other: &Self, share: f64) {
        for (own, other) in self.parameters.iter_mut().zip(&other.parameters) {
            *own += share * (other - *own);
        }
    }
}

/// The nearest number in single precision.
pub(crate) fn single(x: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    let single = x as f32;
    f64::from(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the sum of squares of all outputs.
    fn loss(net: &Perceptron, inputs: &[f64]) -> f64 {
        let mut trace = BatchTrace::default();
        net.forward(inputs, &mut trace).iter().map(|y| y * y / 2.0).sum()
    }

    fn assert_close(analytic: f64, numeric: f64) {
        let scale = analytic.abs().max(numeric.abs()).max(1e-3);
        assert!((analytic - numeric).abs() < 1e-5 * scale, "{analytic} against {numeric}");
    }

    #[test]
    fn gradients_agree_with_differences() {
        let step = 1e-6;
        let outputs = [LayerActivation::Identity, LayerActivation::Tanh];
        for (seed, hidden) in [LayerActivation::Relu, LayerActivation::Tanh].into_iter().enumerate()
        {
            for output in outputs {
                let mut random = Random::new(seed as u64 + 5);
                let mut net = Perceptron::random(&[3, 11, 9, 2], hidden, output, 0.5, &mut random);
                let mut inputs: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                let mut trace = BatchTrace::default();
                let by_outputs = net.forward(&inputs, &mut trace).to_vec();
                let mut by_parameters = vec![0.0; net.len()];
                let by_inputs =
                    net.backward(&mut trace, &by_outputs, Some(&mut by_parameters)).to_vec();
                assert!(by_parameters.iter().filter(|g| g.abs() > 1e-6).count() > net.len() / 4);
                for (i, &gradient) in by_parameters.iter().enumerate() {
                    let value = net.parameters[i];
                    net.parameters[i] = value + step;
                    let above = loss(&net, &inputs);
                    net.parameters[i] = value - step;
                    let below = loss(&net, &inputs);
                    net.parameters[i] = value;
                    assert_close(gradient, (above - below) / (2.0 * step));
                }
                for (i, &gradient) in by_inputs.iter().enumerate() {
                    let value = inputs[i];
                    inputs[i] = value + step;
                    let above = loss(&net, &inputs);
                    inputs[i] = value - step;
                    let below = loss(&net, &inputs);
                    inputs[i] = value;
                    assert_close(gradient, (above - below) / (2.0 * step));
                }
            }
        }
    }
}
