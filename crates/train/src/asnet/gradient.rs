//! Scores of a network in a state, and the gradient of a loss of them.

use policert_asnet::{Asnet, Instance, Module, Nonlinearity, Truth};

/// The outputs of all modules in one state.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    asnet: &'a Asnet,
    instance: &'a Instance,
    state: &'a [bool],
    applicable: &'a [bool],
    /// By action layer, action by action.
    actions: Vec<Vec<f64>>,
    /// By proposition layer, atom by atom.
    atoms: Vec<Vec<f64>>,
}

impl<'a> Pass<'a> {
    /// Computes the outputs; `applicable` says of each action whether it is.
    pub fn new(
        asnet: &'a Asnet,
        instance: &'a Instance,
        state: &'a [bool],
        applicable: &'a [bool],
    ) -> Self {
        let mut pass =
            Self { asnet, instance, state, applicable, actions: Vec::new(), atoms: Vec::new() };
        let layers = asnet.architecture.layers;
        let mut input = Vec::new();
        for layer in 0..=layers {
            let mut outputs = Vec::new();
            for (action, node) in instance.actions.iter().enumerate() {
                pass.action_input(layer, action, &mut input);
                let module = &asnet.actions[layer][node.schema];
                pass.push_output(module, &input, layer < layers, &mut outputs);
            }
            pass.actions.push(outputs);
            if layer == layers {
                break;
            }
            let mut outputs = Vec::new();
            for (atom, node) in instance.atoms.iter().enumerate() {
                pass.atom_input(layer, atom, &mut input);
                let module = &asnet.propositions[layer][node.predicate];
                pass.push_output(module, &input, true, &mut outputs);
            }
            pass.atoms.push(outputs);
        }
        pass
    }

    /// The score of each action.
    pub fn scores(&self) -> &[f64] {
        self.actions.last().map_or(&[], Vec::as_slice)
    }

    fn push_output(&self, module: &Module, input: &[f64], nonlinear: bool, outputs: &mut Vec<f64>) {
        for (output, &bias) in module.bias.iter().enumerate() {
            let products = module.row(output).iter().zip(input).map(|(weight, x)| weight * x);
            let sum = bias + products.sum::<f64>();
            outputs.push(if nonlinear { self.apply(sum) } else { sum });
        }
    }

    fn apply(&self, x: f64) -> f64 {
        match self.asnet.architecture.nonlinearity {
            _ if x > 0.0 => x,
            Nonlinearity::Relu => 0.0,
            Nonlinearity::Elu => x.exp_m1(),
        }
    }

    /// The slope of the nonlinearity, from its value.
    fn slope(&self, value: f64) -> f64 {
        match self.asnet.architecture.nonlinearity {
            _ if value > 0.0 => 1.0,
            Nonlinearity::Relu => 0.0,
            Nonlinearity::Elu => value + 1.0,
        }
    }

    fn action_input(&self, layer: usize, action: usize, input: &mut Vec<f64>) {
        input.clear();
        let d = self.asnet.architecture.dimension;
        let node = &self.instance.actions[action];
        for &slot in &node.slots {
            if layer > 0 {
                input.extend(&self.atoms[layer - 1][slot * d..(slot + 1) * d]);
                continue;
            }
            let atom = &self.instance.atoms[slot];
            let holds = match atom.truth {
                Truth::Proposition(proposition) => self.state[proposition],
                Truth::Constant(truth) => truth,
            };
            input.extend([f64::from(u8::from(holds)), f64::from(atom.goal)]);
        }
        if layer == 0 {
            input.push(f64::from(u8::from(self.applicable[action])));
        } else if self.asnet.architecture.skip {
            input.extend(&self.actions[layer - 1][action * d..(action + 1) * d]);
        }
    }

    fn atom_input(&self, layer: usize, atom: usize, input: &mut Vec<f64>) {
        input.clear();
        let d = self.asnet.architecture.dimension;
        for pool in &self.instance.atoms[atom].pools {
            for element in 0..d {
                let best = self.greatest(layer, pool, element);
                input.push(best.map_or(0.0, |action| self.actions[layer][action * d + element]));
            }
        }
        if self.asnet.architecture.skip && layer > 0 {
            input.extend(&self.atoms[layer - 1][atom * d..(atom + 1) * d]);
        }
    }

    /// The first action of a pool with the greatest output.
    fn greatest(&self, layer: usize, pool: &[usize], element: usize) -> Option<usize> {
        let d = self.asnet.architecture.dimension;
        let value = |action: usize| self.actions[layer][action * d + element];
        pool.iter().copied().reduce(|a, b| if value(b) > value(a) { b } else { a })
    }

    /// Adds the gradient of a loss with these derivatives by the scores to `gradient`, which has the
    /// form of the network.
    pub fn add_gradient(&self, by_scores: &[f64], gradient: &mut Asnet) {
        let d = self.asnet.architecture.dimension;
        let layers = self.asnet.architecture.layers;
        let mut by_actions = by_scores.to_vec();
        let mut input = Vec::new();
        let mut by_atoms_of_skip: Option<Vec<f64>> = None;
        for layer in (0..=layers).rev() {
            let outputs = if layer == layers { 1 } else { d };
            let mut by_atoms = vec![0.0; if layer > 0 { self.instance.atoms.len() * d } else { 0 }];
            let mut by_earlier =
                vec![0.0; if layer > 0 { self.instance.actions.len() * d } else { 0 }];
            for (action, node) in self.instance.actions.iter().enumerate() {
                let mut by_output = by_actions[action * outputs..(action + 1) * outputs].to_vec();
                if layer < layers {
                    self.through(&self.actions[layer][action * d..], &mut by_output);
                }
                if is_zero(&by_output) {
                    continue;
                }
                self.action_input(layer, action, &mut input);
                let module = &self.asnet.actions[layer][node.schema];
                let of = &mut gradient.actions[layer][node.schema];
                let by_input = backward(module, &input, &by_output, of);
                if layer > 0 {
                    for (&slot, by) in node.slots.iter().zip(by_input.chunks(d)) {
                        add(&mut by_atoms[slot * d..(slot + 1) * d], by);
                    }
                    if self.asnet.architecture.skip {
                        let own = &by_input[node.slots.len() * d..];
                        add(&mut by_earlier[action * d..(action + 1) * d], own);
                    }
                }
            }
            if layer == 0 {
                break;
            }
            if let Some(skipped) = by_atoms_of_skip.take() {
                add(&mut by_atoms, &skipped);
            }
            by_atoms_of_skip =
                Some(self.through_atoms(layer - 1, &by_atoms, &mut by_earlier, gradient));
            by_actions = by_earlier;
        }
    }

    /// The part of a proposition layer: adds to the derivatives by the actions of its layer, and returns
    /// those by the atoms of the layer before.
    fn through_atoms(
        &self,
        layer: usize,
        by_atoms: &[f64],
        by_actions: &mut [f64],
        gradient: &mut Asnet,
    ) -> Vec<f64> {
        let d = self.asnet.architecture.dimension;
        let mut by_earlier = vec![0.0; self.instance.atoms.len() * d];
        let mut input = Vec::new();
        for (atom, node) in self.instance.atoms.iter().enumerate() {
            let mut by_output = by_atoms[atom * d..(atom + 1) * d].to_vec();
            self.through(&self.atoms[layer][atom * d..], &mut by_output);
            if is_zero(&by_output) {
                continue;
            }
            self.atom_input(layer, atom, &mut input);
            let module = &self.asnet.propositions[layer][node.predicate];
            let of = &mut gradient.propositions[layer][node.predicate];
            let by_input = backward(module, &input, &by_output, of);
            for (pool, by) in node.pools.iter().zip(by_input.chunks(d)) {
                for (element, by) in by.iter().enumerate() {
                    if let Some(action) = self.greatest(layer, pool, element) {
                        by_actions[action * d + element] += by;
                    }
                }
            }
            if self.asnet.architecture.skip && layer > 0 {
                let own = &by_input[node.pools.len() * d..];
                add(&mut by_earlier[atom * d..(atom + 1) * d], own);
            }
        }
        by_earlier
    }

    /// Derivatives by the values before the nonlinearity, from those by the values after it.
    fn through(&self, values: &[f64], by: &mut [f64]) {
        by.iter_mut().zip(values).for_each(|(by, &value)| *by *= self.slope(value));
    }
}

/// Adds the gradient of a module to `gradient`, and returns the derivatives by its inputs.
fn backward(module: &Module, input: &[f64], by_output: &[f64], gradient: &mut Module) -> Vec<f64> {
    let mut by_input = vec![0.0; module.inputs];
    for (output, &by) in by_output.iter().enumerate() {
        gradient.bias[output] += by;
        let of = &mut gradient.weights[output * module.inputs..(output + 1) * module.inputs];
        let parts = of.iter_mut().zip(input).zip(module.row(output)).zip(&mut by_input);
        for (((of, x), weight), by_input) in parts {
            *of += by * x;
            *by_input += by * weight;
        }
    }
    by_input
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn is_zero(values: &[f64]) -> bool {
    values.iter().all(|value| value.abs() <= 0.0)
}
