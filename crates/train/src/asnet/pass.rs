//! Scores of a network in a state, and the gradient of a loss of them.
//!
//! All modules of a schema in a layer are computed at once: one product of matrices, with a row for each
//! action. Modules that no applicable action depends on are left out.

use policert_asnet::{Asnet, Instance, Module, Nonlinearity, Truth};
use policert_explore::Random;

use super::needed::Needed;
use super::weights::{Columns, Weights};
use crate::kernel::{Affine, ByWeights};

/// A network and its weights as they are read.
#[derive(Debug)]
pub(crate) struct Weighted<'a> {
    asnet: &'a Asnet,
    weights: Weights,
}

impl<'a> Weighted<'a> {
    pub fn new(asnet: &'a Asnet) -> Self {
        Self { asnet, weights: Weights::of(asnet) }
    }
}

/// Outputs that are left out at random (Srivastava and others 2014); those that stay are raised.
#[derive(Debug)]
pub(crate) struct Dropout<'r> {
    /// The probability of an output to be left out.
    pub probability: f64,
    pub random: &'r mut Random,
}

/// The outputs of the modules of a layer.
#[derive(Debug, Default)]
struct Outputs {
    /// Module by module, 0 where it is not needed.
    values: Vec<f64>,
    /// What dropout multiplied them by; empty without dropout.
    factors: Vec<f64>,
}

/// The outputs of all modules in one state.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    asnet: &'a Asnet,
    instance: &'a Instance,
    state: &'a [bool],
    applicable: &'a [bool],
    needed: Needed,
    /// By action layer.
    actions: Vec<Outputs>,
    /// By proposition layer.
    atoms: Vec<Outputs>,
}

impl<'a> Pass<'a> {
    /// Computes the scores of the applicable actions; `applicable` says of each action whether it is.
    pub fn new(
        network: &Weighted<'a>,
        instance: &'a Instance,
        state: &'a [bool],
        applicable: &'a [bool],
        mut dropout: Option<Dropout<'_>>,
    ) -> Self {
        let asnet = network.asnet;
        let needed = Needed::of(instance, &asnet.architecture, applicable);
        let (actions, atoms) = (Vec::new(), Vec::new());
        let mut pass = Self { asnet, instance, state, applicable, needed, actions, atoms };
        let layers = asnet.architecture.layers;
        for layer in 0..=layers {
            let modules = &network.weights.actions[layer];
            let width = if layer == layers { 1 } else { asnet.architecture.dimension };
            let mut outputs = vec![0.0; instance.actions.len() * width];
            for group in groups(&pass.needed.actions[layer], |a| instance.actions[a].schema) {
                let module = &modules[instance.actions[group[0]].schema];
                let mut inputs = Vec::with_capacity(group.len() * module.inputs);
                group.iter().for_each(|&action| pass.action_input(layer, action, &mut inputs));
                compute(module, group, &inputs, &mut outputs);
            }
            if layer == layers {
                pass.actions.push(Outputs { values: outputs, factors: Vec::new() });
                break;
            }
            let outputs = pass.bent(outputs, &pass.needed.actions[layer], &mut dropout);
            pass.actions.push(outputs);
            let modules = &network.weights.propositions[layer];
            let mut outputs = vec![0.0; instance.atoms.len() * width];
            for group in groups(&pass.needed.atoms[layer], |a| instance.atoms[a].predicate) {
                let module = &modules[instance.atoms[group[0]].predicate];
                let mut inputs = Vec::with_capacity(group.len() * module.inputs);
                group.iter().for_each(|&atom| pass.atom_input(layer, atom, &mut inputs));
                compute(module, group, &inputs, &mut outputs);
            }
            let outputs = pass.bent(outputs, &pass.needed.atoms[layer], &mut dropout);
            pass.atoms.push(outputs);
        }
        pass
    }

    /// The score of each action; it means nothing where the action is not applicable.
    pub fn scores(&self) -> &[f64] {
        self.actions.last().map_or(&[], |outputs| outputs.values.as_slice())
    }

    /// The nonlinearity and dropout after the sums of these modules.
    fn bent(
        &self,
        mut values: Vec<f64>,
        modules: &[usize],
        dropout: &mut Option<Dropout<'_>>,
    ) -> Outputs {
        let d = self.asnet.architecture.dimension;
        let mut factors = Vec::new();
        if dropout.is_some() {
            factors.resize(values.len(), 0.0);
        }
        for place in modules.iter().flat_map(|&module| module * d..(module + 1) * d) {
            let value = &mut values[place];
            *value = match self.asnet.architecture.nonlinearity {
                _ if *value > 0.0 => *value,
                Nonlinearity::Relu => 0.0,
                Nonlinearity::Elu => value.exp_m1(),
            };
            if let Some(Dropout { probability, random }) = dropout {
                let stays = random.unit() >= *probability;
                factors[place] = if stays { 1.0 / (1.0 - *probability) } else { 0.0 };
                *value *= factors[place];
            }
        }
        Outputs { values, factors }
    }

    fn action_input(&self, layer: usize, action: usize, input: &mut Vec<f64>) {
        let d = self.asnet.architecture.dimension;
        let node = &self.instance.actions[action];
        for &slot in &node.slots {
            if layer > 0 {
                input.extend(&self.atoms[layer - 1].values[slot * d..(slot + 1) * d]);
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
            input.extend(&self.actions[layer - 1].values[action * d..(action + 1) * d]);
        }
    }

    fn atom_input(&self, layer: usize, atom: usize, input: &mut Vec<f64>) {
        let d = self.asnet.architecture.dimension;
        for pool in &self.instance.atoms[atom].pools {
            for element in 0..d {
                let best = self.greatest(layer, pool, element);
                let value = |action: usize| self.actions[layer].values[action * d + element];
                input.push(best.map_or(0.0, value));
            }
        }
        if self.asnet.architecture.skip && layer > 0 {
            input.extend(&self.atoms[layer - 1].values[atom * d..(atom + 1) * d]);
        }
    }

    /// The first action of a pool with the greatest output.
    fn greatest(&self, layer: usize, pool: &[usize], element: usize) -> Option<usize> {
        let d = self.asnet.architecture.dimension;
        let values = &self.actions[layer].values;
        let value = |action: usize| values[action * d + element];
        pool.iter().copied().reduce(|a, b| if value(b) > value(a) { b } else { a })
    }

    /// Adds the gradient of a loss with these derivatives by the scores to `gradient`, which has the
    /// form of the network.
    pub fn add_gradient(&self, by_scores: &[f64], gradient: &mut Weights) {
        let d = self.asnet.architecture.dimension;
        let (layers, skip) = (self.asnet.architecture.layers, self.asnet.architecture.skip);
        let mut by_actions = by_scores.to_vec();
        let mut by_skipped_atoms = vec![0.0; self.instance.atoms.len() * d];
        for layer in (0..=layers).rev() {
            let outputs = if layer == layers { 1 } else { d };
            if layer < layers {
                self.through(&self.actions[layer], &mut by_actions);
            }
            let mut by_atoms =
                std::mem::replace(&mut by_skipped_atoms, vec![0.0; self.instance.atoms.len() * d]);
            let mut by_earlier = vec![0.0; self.instance.actions.len() * d];
            let moved = moved(&self.needed.actions[layer], &by_actions, outputs);
            for group in groups(&moved, |action| self.instance.actions[action].schema) {
                let schema = self.instance.actions[group[0]].schema;
                let module = &self.asnet.actions[layer][schema];
                let mut inputs = Vec::with_capacity(group.len() * module.inputs);
                group.iter().for_each(|&action| self.action_input(layer, action, &mut inputs));
                let of = &mut gradient.actions[layer][schema];
                let by_inputs = backward(module, group, &inputs, &by_actions, of, layer > 0);
                if layer == 0 {
                    continue;
                }
                for (&action, by) in group.iter().zip(by_inputs.chunks(module.inputs.max(1))) {
                    let slots = &self.instance.actions[action].slots;
                    for (&slot, by) in slots.iter().zip(by.chunks(d)) {
                        add(&mut by_atoms[slot * d..(slot + 1) * d], by);
                    }
                    if skip {
                        let own = &by[slots.len() * d..];
                        add(&mut by_earlier[action * d..(action + 1) * d], own);
                    }
                }
            }
            if layer == 0 {
                break;
            }
            self.through(&self.atoms[layer - 1], &mut by_atoms);
            let by = (&mut by_earlier[..], &mut by_skipped_atoms[..]);
            self.through_atoms(layer - 1, &by_atoms, by, gradient);
            by_actions = by_earlier;
        }
    }

    /// The part of a proposition layer: adds to the derivatives by the actions of its layer, and to
    /// those by the atoms of the layer before.
    fn through_atoms(
        &self,
        layer: usize,
        by_atoms: &[f64],
        (by_actions, by_earlier): (&mut [f64], &mut [f64]),
        gradient: &mut Weights,
    ) {
        let d = self.asnet.architecture.dimension;
        let moved = moved(&self.needed.atoms[layer], by_atoms, d);
        for group in groups(&moved, |atom| self.instance.atoms[atom].predicate) {
            let predicate = self.instance.atoms[group[0]].predicate;
            let module = &self.asnet.propositions[layer][predicate];
            let mut inputs = Vec::with_capacity(group.len() * module.inputs);
            group.iter().for_each(|&atom| self.atom_input(layer, atom, &mut inputs));
            let of = &mut gradient.propositions[layer][predicate];
            let by_inputs = backward(module, group, &inputs, by_atoms, of, true);
            for (&atom, by) in group.iter().zip(by_inputs.chunks(module.inputs.max(1))) {
                let pools = &self.instance.atoms[atom].pools;
                for (pool, by) in pools.iter().zip(by.chunks(d)) {
                    for (element, by) in by.iter().enumerate() {
                        if let Some(action) = self.greatest(layer, pool, element) {
                            by_actions[action * d + element] += by;
                        }
                    }
                }
                if self.asnet.architecture.skip && layer > 0 {
                    let own = &by[pools.len() * d..];
                    add(&mut by_earlier[atom * d..(atom + 1) * d], own);
                }
            }
        }
    }

    /// Derivatives by the values before nonlinearity and dropout, from those by the values after them.
    fn through(&self, outputs: &Outputs, by: &mut [f64]) {
        for (place, (by, &value)) in by.iter_mut().zip(&outputs.values).enumerate() {
            let factor = outputs.factors.get(place).copied().unwrap_or(1.0);
            *by *= match self.asnet.architecture.nonlinearity {
                _ if value > 0.0 => factor,
                Nonlinearity::Relu => 0.0,
                Nonlinearity::Elu => value + factor,
            };
        }
    }
}

/// The runs of neighbours of one kind.
fn groups(positions: &[usize], kind: impl Fn(usize) -> usize) -> impl Iterator<Item = &[usize]> {
    positions.chunk_by(move |&a, &b| kind(a) == kind(b))
}

/// Those of some modules by whose outputs a derivative is other than 0.
fn moved(modules: &[usize], by: &[f64], width: usize) -> Vec<usize> {
    let is_moved =
        |&module: &usize| by[module * width..(module + 1) * width].iter().any(|by| by.abs() > 0.0);
    modules.iter().copied().filter(is_moved).collect()
}

/// The sums of some modules of a kind, put in their places.
fn compute(module: &Columns, group: &[usize], inputs: &[f64], outputs: &mut [f64]) {
    let width = module.bias.len();
    let mut sums = module.bias.repeat(group.len());
    if module.inputs > 0 {
        Affine {
            inputs,
            weights: &module.weights,
            biases: Some(&module.bias),
            widths: (module.inputs, width),
            sums: &mut sums,
        }
        .run();
    }
    for (&place, sums) in group.iter().zip(sums.chunks(width)) {
        outputs[place * width..(place + 1) * width].copy_from_slice(sums);
    }
}

/// Adds the gradient of some modules of a kind to `gradient`, and returns the derivatives by their inputs
/// where they are wanted.
fn backward(
    module: &Module,
    group: &[usize],
    inputs: &[f64],
    by_outputs: &[f64],
    gradient: &mut Columns,
    wants_inputs: bool,
) -> Vec<f64> {
    let width = module.bias.len();
    let by_sums: Vec<f64> = group
        .iter()
        .flat_map(|&place| &by_outputs[place * width..(place + 1) * width])
        .copied()
        .collect();
    by_sums.chunks(width).for_each(|by| add(&mut gradient.bias, by));
    if module.inputs == 0 {
        return Vec::new();
    }
    let widths = (module.inputs, width);
    ByWeights { inputs, by_sums: &by_sums, widths, gradient: &mut gradient.weights }.run();
    if !wants_inputs {
        return Vec::new();
    }
    let mut by_inputs = vec![0.0; group.len() * module.inputs];
    Affine {
        inputs: &by_sums,
        weights: &module.weights,
        biases: None,
        widths: (width, module.inputs),
        sums: &mut by_inputs,
    }
    .run();
    by_inputs
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
