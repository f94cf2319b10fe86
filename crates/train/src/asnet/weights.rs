//! Weights as the inner loops read them, column by column, and their derivatives.

use policert_asnet::{Asnet, Module};

/// The weights of one module, inputs × outputs, and its bias.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub inputs: usize,
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
}

impl Columns {
    fn of(module: &Module) -> Self {
        let outputs = module.bias.len();
        let weights = (0..module.inputs)
            .flat_map(|input| (0..outputs).map(move |output| module.row(output)[input]));
        Self { inputs: module.inputs, weights: weights.collect(), bias: module.bias.clone() }
    }

    fn zeros(module: &Module) -> Self {
        let zeros = Module::zeros(module.inputs, module.bias.len());
        Self { inputs: zeros.inputs, weights: zeros.weights, bias: zeros.bias }
    }

    /// Row by row, then the bias, as in a network.
    fn flat(&self) -> impl Iterator<Item = f64> {
        let outputs = self.bias.len();
        let row = move |output| (0..self.inputs).map(move |i| self.weights[i * outputs + output]);
        (0..outputs).flat_map(row).chain(self.bias.iter().copied())
    }
}

/// The weights of all modules, or their derivatives.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// By action layer and schema.
    pub actions: Vec<Vec<Columns>>,
    /// By proposition layer and predicate.
    pub propositions: Vec<Vec<Columns>>,
}

impl Weights {
    /// Those of a network.
    pub fn of(asnet: &Asnet) -> Self {
        Self::each(asnet, Columns::of)
    }

    /// As many zeros.
    pub fn zeros(asnet: &Asnet) -> Self {
        Self::each(asnet, Columns::zeros)
    }

    fn each(asnet: &Asnet, columns: fn(&Module) -> Columns) -> Self {
        let layers = |layers: &[Vec<Module>]| {
            layers.iter().map(|layer| layer.iter().map(columns).collect()).collect()
        };
        Self { actions: layers(&asnet.actions), propositions: layers(&asnet.propositions) }
    }

    /// All numbers in one list, in the order of [`flat`].
    pub fn flat(&self) -> Vec<f64> {
        let modules = self.actions.iter().chain(&self.propositions).flatten();
        modules.flat_map(Columns::flat).collect()
    }
}

/// All weights and biases of a network in one list.
pub(crate) fn flat(asnet: &mut Asnet) -> Vec<f64> {
    let modules = asnet.modules_mut();
    modules.flat_map(|module| module.weights.iter().chain(&module.bias).copied()).collect()
}

/// Puts weights and biases back.
pub(crate) fn put(asnet: &mut Asnet, parameters: &[f64]) {
    let places = asnet.modules_mut().flat_map(|m| m.weights.iter_mut().chain(&mut m.bias));
    places.zip(parameters).for_each(|(place, parameter)| *place = *parameter);
}
