//! The shared weights of a network: what all problems of a domain have in common.

use policert_policy::activation::{Activation, Elu, Smooth};
use serde::{Deserialize, Serialize};

use crate::shape::DomainShape;

/// The sizes of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture {
    /// Number of proposition layers; there is one action layer more.
    pub layers: usize,
    /// Number of elements of a module's output, but for the last layer, where it is one.
    pub dimension: usize,
    /// The function after each module, but for the last layer.
    pub nonlinearity: Nonlinearity,
    /// True if modules read their own output of the layer before, too.
    pub skip: bool,
}

/// The function after a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nonlinearity {
    /// max(x, 0).
    Relu,
    /// x where it is positive, else eˣ − 1.
    Elu,
}

impl Nonlinearity {
    /// The function as networks have it.
    #[must_use]
    pub fn activation(self) -> Activation {
        match self {
            Self::Relu => Activation::RELU,
            Self::Elu => Activation::Smooth(Smooth::Elu(Elu { alpha: 1.0 })),
        }
    }
}

/// `weights · x + bias`: what the modules of a schema or a predicate compute in one layer.
#[derive(Clone, PartialEq, Debug)]
pub struct Module {
    /// Number of inputs.
    pub inputs: usize,
    /// One row for each output, row by row.
    pub weights: Vec<f64>,
    /// One number for each output.
    pub bias: Vec<f64>,
}

impl Module {
    /// A module of zeros.
    #[must_use]
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { inputs, weights: vec![0.0; inputs * outputs], bias: vec![0.0; outputs] }
    }

    /// The weights of one output.
    #[must_use]
    pub fn row(&self, output: usize) -> &[f64] {
        &self.weights[output * self.inputs..(output + 1) * self.inputs]
    }
}

/// A network for all problems of a domain.
#[derive(Clone, PartialEq, Debug)]
pub struct Asnet {
    /// Its sizes.
    pub architecture: Architecture,
    /// The domain.
    pub shape: DomainShape,
    /// By action layer and schema.
    pub actions: Vec<Vec<Module>>,
    /// By proposition layer and predicate.
    pub propositions: Vec<Vec<Module>>,
}

impl Asnet {
    /// A network of zeros.
    #[must_use]
    pub fn zeros(shape: DomainShape, architecture: Architecture) -> Self {
        let Architecture { layers, dimension, .. } = architecture;
        let action = |layer: usize, schema: usize| {
            let outputs = if layer == layers { 1 } else { dimension };
            Module::zeros(architecture.action_inputs(&shape, layer, schema), outputs)
        };
        let proposition = |layer: usize, predicate: usize| {
            Module::zeros(architecture.proposition_inputs(&shape, layer, predicate), dimension)
        };
        let actions = (0..=layers)
            .map(|layer| (0..shape.schemas.len()).map(|schema| action(layer, schema)).collect());
        let propositions = (0..layers)
            .map(|layer| (0..shape.predicates.len()).map(|p| proposition(layer, p)).collect());
        Self {
            actions: actions.collect(),
            propositions: propositions.collect(),
            architecture,
            shape,
        }
    }

    /// All modules, layer by layer.
    pub fn modules_mut(&mut self) -> impl Iterator<Item = &mut Module> {
        self.actions.iter_mut().flatten().chain(self.propositions.iter_mut().flatten())
    }
}

impl Architecture {
    /// Number of inputs of the modules of a schema. In the first layer these are truth and goal of
    /// each slot, and the applicability.
    #[must_use]
    pub fn action_inputs(&self, shape: &DomainShape, layer: usize, schema: usize) -> usize {
        let slots = shape.schemas[schema].slots.len();
        match layer {
            0 => 2 * slots + 1,
            _ => self.dimension * (slots + usize::from(self.skip)),
        }
    }

    /// Number of inputs of the modules of a predicate.
    #[must_use]
    pub fn proposition_inputs(&self, shape: &DomainShape, layer: usize, predicate: usize) -> usize {
        let own = usize::from(self.skip && layer > 0);
        self.dimension * (shape.predicates[predicate].pools.len() + own)
    }
}
