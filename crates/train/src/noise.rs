//! Exploration noise added to actions, in units of half their range.

use crate::Random;

/// The kind of noise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NoiseKind {
    /// Ornstein and Uhlenbeck's process: successive values belong together.
    #[default]
    OrnsteinUhlenbeck,
    /// Independent normal values.
    Gaussian,
}

/// The rate at which the process returns to 0, per step.
const REVERSION: f64 = 0.15;

/// The noise of one run of a plant.
#[derive(Clone, Debug)]
pub struct Noise {
    kind: NoiseKind,
    values: Vec<f64>,
}

impl Noise {
    /// Starts at 0.
    #[must_use]
    pub fn new(kind: NoiseKind, width: usize) -> Self {
        Self { kind, values: vec![0.0; width] }
    }

    /// The next values; `deviation` is that of one step.
    pub fn next(&mut self, deviation: f64, random: &mut Random) -> &[f64] {
        for value in &mut self.values {
            let kept = match self.kind {
                NoiseKind::OrnsteinUhlenbeck => (1.0 - REVERSION) * *value,
                NoiseKind::Gaussian => 0.0,
            };
            *value = kept + deviation * random.normal();
        }
        &self.values
    }
}
