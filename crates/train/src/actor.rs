//! A trained network: what it reads, its weights in single precision, and its actions.

use policert_policy::{ElementType, Network, NetworkBuilder, onnx};

use crate::error::TrainError;
use crate::observation::Observation;
use crate::perceptron::{BatchTrace, Perceptron, single};

/// A network with what it reads. All weights are single-precision numbers, so what is evaluated
/// here is what a file contains.
#[derive(Clone, Debug)]
pub struct Actor {
    observation: Observation,
    perceptron: Perceptron,
    /// Middle and half the width of the range of each action.
    ranges: Vec<(f64, f64)>,
    inputs: Vec<f64>,
    trace: BatchTrace,
}

impl Actor {
    /// The actor of a perceptron that reads (x − mean) / deviation for each input x, and whose
    /// outputs −1 and 1 are the ends of the action ranges. The scaling of the inputs becomes part
    /// of the first layer.
    #[must_use]
    pub fn new(
        perceptron: Perceptron,
        observation: Observation,
        scaling: &[(f64, f64)],
        action_ranges: &[(f64, f64)],
    ) -> Self {
        let perceptron = perceptron.reading_raw(scaling);
        let ranges = action_ranges
            .iter()
            .map(|(lo, hi)| (single(lo.midpoint(*hi)), single((hi - lo) / 2.0)))
            .collect();
        Self { observation, perceptron, ranges, inputs: Vec::new(), trace: BatchTrace::default() }
    }

    /// Returns what it reads.
    #[must_use]
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Its actions in a state.
    pub fn act(&mut self, state: &[f64], actions: &mut Vec<f64>) {
        self.inputs.clear();
        self.observation.append(state, &mut self.inputs);
        let outputs = self.perceptron.forward(&self.inputs, &mut self.trace);
        actions.clear();
        actions
            .extend(outputs.iter().zip(&self.ranges).map(|(y, (middle, half))| y * half + middle));
    }

    /// The network, from what it reads to the actions.
    ///
    /// # Errors
    /// If a weight is no finite number.
    pub fn network(&self) -> Result<Network, TrainError> {
        let inputs = self.perceptron.layers.first().map_or(0, |layer| layer.inputs);
        let mut builder = NetworkBuilder::new(inputs)?;
        let input = builder.input();
        let mut node = self.perceptron.append_to(&mut builder, input)?;
        let (middles, halves): (Vec<f64>, Vec<f64>) = self.ranges.iter().copied().unzip();
        let ones = vec![1.0; halves.len()];
        node = builder.scale(node, halves, ones, middles)?;
        Ok(builder.finish(node, ElementType::F32))
    }

    /// The network as an ONNX file with weights in single precision.
    ///
    /// # Errors
    /// If a weight is no finite number.
    pub fn to_onnx(&self) -> Result<Vec<u8>, TrainError> {
        Ok(onnx::write_onnx(&self.network()?, ElementType::F32)?)
    }
}

#[cfg(test)]
mod tests {
    use policert_policy::Evaluator;

    use super::*;
    use crate::Random;
    use crate::observation::Cells;
    use crate::perceptron::LayerActivation;

    #[test]
    fn a_file_evaluates_to_the_same() {
        for (seed, hidden) in [LayerActivation::Relu, LayerActivation::Tanh].into_iter().enumerate()
        {
            let mut random = Random::new(seed as u64);
            let edges = (-10..=10).map(|k| f64::from(k) / 10.0).collect::<Vec<f64>>();
            let cells = Cells::new(vec![edges.clone(), edges]).expect("ordered");
            let widths = [4, 20, 20, 2];
            let perceptron =
                Perceptron::random(&widths, hidden, LayerActivation::Tanh, 0.5, &mut random);
            let scaling = [(0.1, 0.5), (-0.2, 0.25), (0.1, 0.5), (-0.2, 0.25)];
            let mut actor = Actor::new(
                perceptron.clone(),
                Observation::Cell(cells),
                &scaling,
                &[(-1.0, 1.0), (-3.0, 4.5)],
            );
            let bytes = actor.to_onnx().expect("finite weights");
            let network = onnx::parse_onnx("net.onnx", &bytes).expect("what was written");
            let mut evaluator = Evaluator::new(&network);
            let (mut actions, mut scores) = (Vec::new(), Vec::new());
            let mut trace = BatchTrace::default();
            for _ in 0..200 {
                let state = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
                actor.act(&state, &mut actions);
                let mut inputs = Vec::new();
                actor.observation().append(&state, &mut inputs);
                evaluator.evaluate(&inputs, &mut scores);
                for (action, score) in actions.iter().zip(&scores) {
                    assert!((action - score).abs() < 1e-12, "{action} against {score}");
                }
                // Without rounding to single precision, and with scaled inputs.
                for (x, (mean, deviation)) in inputs.iter_mut().zip(&scaling) {
                    *x = (*x - mean) / deviation;
                }
                let plain = perceptron.forward(&inputs, &mut trace);
                assert!((plain[0] - actions[0]).abs() < 1e-5);
                assert!((plain[1] * 3.75 + 0.75 - actions[1]).abs() < 1e-5);
            }
        }
    }
}
