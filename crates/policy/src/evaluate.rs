//! Fast evaluation of networks in double precision, many inputs at once.
//!
//! What it computes differs from the exact real-valued scores by rounding; how much at most says
//! [`ErrorBound`], for all inputs of a box.

mod error_bound;
mod kernel;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use pulp::Arch;

use crate::network::Network;
use kernel::Program;
pub(crate) use kernel::{LANES, Lanes};

pub use error_bound::ErrorBound;

/// Evaluates one network; cheap to clone, one for each thread.
#[derive(Clone, Debug)]
pub struct Evaluator {
    program: Arc<Program>,
    arch: Arch,
    /// Values of all nodes, for [`LANES`] inputs side by side.
    values: Vec<Lanes>,
}

impl Evaluator {
    /// Prepares the evaluation of a network.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let program = Program::new(network);
        let values = vec![[0.0; LANES]; program.slots()];
        Self { program: Arc::new(program), arch: Arch::new(), values }
    }

    /// Number of inputs.
    #[must_use]
    pub fn input_width(&self) -> usize {
        self.program.input_width()
    }

    /// Number of outputs.
    #[must_use]
    pub fn output_width(&self) -> usize {
        self.program.output_width()
    }

    /// Evaluates a batch: `inputs` is batch × input width, `scores` becomes batch × output width,
    /// both row by row.
    ///
    /// # Panics
    /// If `inputs` has an incomplete row.
    pub fn evaluate(&mut self, inputs: &[f64], scores: &mut Vec<f64>) {
        let width = self.input_width();
        assert_eq!(inputs.len() % width, 0, "an incomplete row of inputs");
        scores.clear();
        scores.reserve(inputs.len() / width * self.output_width());
        for block in inputs.chunks(width * LANES) {
            let lanes = block.len() / width;
            self.run(|k, lane| block.get(lane * width + k).copied().unwrap_or(0.0));
            let outputs = self.outputs();
            for lane in 0..lanes {
                scores.extend(outputs.iter().map(|output| output[lane]));
            }
        }
    }

    /// Evaluates up to [`LANES`] inputs side by side: `input(k, lane)` is input k of a lane.
    #[inline]
    pub(crate) fn run(&mut self, input: impl Fn(usize, usize) -> f64) {
        for (k, slot) in self.values.iter_mut().take(self.program.input_width()).enumerate() {
            *slot = std::array::from_fn(|lane| input(k, lane));
        }
        self.program.run(self.arch, &mut self.values);
    }

    /// The scores of the last [`run`](Self::run), one for each output.
    #[inline]
    pub(crate) fn outputs(&self) -> &[Lanes] {
        &self.values[self.program.output_slots()]
    }
}
