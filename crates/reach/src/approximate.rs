//! The loop in plain double precision: only good to find trajectories that are worth following rigorously.

use policert_control_loop::{Dynamics, DynamicsKind, Tape};
use policert_numeric::Interval;

/// A step of differential equations has at least so many steps of Runge and Kutta's method.
const LEAST_PARTS: u32 = 4;

/// The dynamics of a loop, all errors left out.
#[derive(Clone, Debug)]
pub struct ApproximateLoop {
    tape: Tape<Interval>,
    kind: DynamicsKind,
    parts: u32,
    /// The length of a part of a step.
    length: f64,
    clamp: Vec<(f64, f64)>,
    remembered: Vec<(usize, usize)>,
    dimension: usize,
    arguments: Vec<f64>,
    registers: Vec<f64>,
}

impl ApproximateLoop {
    /// Compiles the dynamics of a control loop with `inputs` inputs.
    #[must_use]
    pub fn new(dynamics: &Dynamics, inputs: usize) -> Self {
        let dimension = dynamics.components.len();
        let parts = match dynamics.kind {
            DynamicsKind::Difference => dynamics.substeps,
            DynamicsKind::Ode => dynamics.substeps.max(LEAST_PARTS),
        };
        let clamp = dynamics.clamp.iter().flatten();
        Self {
            tape: Tape::new(&dynamics.graph, &dynamics.components, dimension + inputs),
            kind: dynamics.kind,
            parts,
            length: dynamics.period.to_f64() / f64::from(parts),
            clamp: clamp.map(|(lower, upper)| (lower.ceil(), upper.floor())).collect(),
            remembered: dynamics.remembered.clone(),
            dimension,
            arguments: Vec::new(),
            registers: Vec::new(),
        }
    }

    /// About the state one step after `state` under some inputs; not finite where there is none.
    pub(crate) fn step(&mut self, state: &mut Vec<f64>, inputs: &[f64]) {
        for _ in 0..self.parts {
            *state = match self.kind {
                DynamicsKind::Difference => self.values(state, inputs),
                DynamicsKind::Ode => self.runge_kutta(state, inputs),
            };
        }
        for &(variable, input) in &self.remembered {
            state[variable] = inputs[input];
        }
        for (x, (lower, upper)) in state.iter_mut().zip(&self.clamp) {
            *x = x.max(*lower).min(*upper);
        }
    }

    fn values(&mut self, state: &[f64], inputs: &[f64]) -> Vec<f64> {
        self.arguments.clear();
        self.arguments.extend_from_slice(state);
        self.arguments.extend_from_slice(inputs);
        let mut values = Vec::with_capacity(self.dimension);
        self.tape.approximate(&self.arguments, &mut self.registers, &mut values);
        values
    }

    /// The classical method of order 4.
    fn runge_kutta(&mut self, state: &[f64], inputs: &[f64]) -> Vec<f64> {
        let h = self.length;
        let moved = |slopes: &[f64], h: f64| -> Vec<f64> {
            state.iter().zip(slopes).map(|(x, slope)| x + h * slope).collect()
        };
        let first = self.values(state, inputs);
        let second = self.values(&moved(&first, h / 2.0), inputs);
        let third = self.values(&moved(&second, h / 2.0), inputs);
        let fourth = self.values(&moved(&third, h), inputs);
        let sums = first.iter().zip(&second).zip(third.iter().zip(&fourth));
        let mean: Vec<f64> = sums.map(|((a, b), (c, d))| (a + 2.0 * (b + c) + d) / 6.0).collect();
        moved(&mean, h)
    }
}
