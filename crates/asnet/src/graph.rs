//! A network for one problem: a sparse graph in which the modules of a schema share their weights.
//!
//! Each module is a node of its own that reads the nodes that it is related to, so no matrix is larger
//! than a module.

use policert_policy::{ElementType, Matrix, Network, NetworkBuilder, NodeId, PolicyError};

use crate::asnet::{Asnet, Module};
use crate::instance::{Instance, Truth};

/// The nodes of the actions of a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionNodes {
    /// The score of each action.
    pub scores: Vec<NodeId>,
    /// 1 where the action is applicable, else 0.
    pub applicable: Vec<NodeId>,
}

/// The network that reads the propositions of a task, in its order, and gives the score of each action.
///
/// # Errors
/// A task without propositions or actions.
pub fn network(asnet: &Asnet, instance: &Instance) -> Result<Network, PolicyError> {
    let mut builder = NetworkBuilder::new(instance.propositions)?;
    let input = builder.input();
    let nodes = instantiate(&mut builder, input, asnet, instance)?;
    let output = builder.concat(nodes.scores)?;
    Ok(builder.finish(output, ElementType::F64))
}

/// Adds the modules of a problem to a network, which read the truth of the propositions.
///
/// # Errors
/// A node of another width.
pub fn instantiate(
    builder: &mut NetworkBuilder,
    truth: NodeId,
    asnet: &Asnet,
    instance: &Instance,
) -> Result<ActionNodes, PolicyError> {
    let mut graph = Graph { builder, truth, constants: Vec::new() };
    let propositions = graph.elements()?;
    let applicable = graph.applicability(instance, &propositions)?;
    let layers = asnet.architecture.layers;
    let mut actions = graph.first_layer(asnet, instance, &propositions, &applicable)?;
    let mut atoms: Vec<NodeId> = Vec::new();
    for layer in 0..layers {
        let modules = shared(&asnet.propositions[layer])?;
        let mut next = Vec::with_capacity(instance.atoms.len());
        for (i, atom) in instance.atoms.iter().enumerate() {
            let mut inputs = Vec::new();
            for pool in &atom.pools {
                inputs.push(match pool[..] {
                    [] => graph.constant(&vec![0.0; asnet.architecture.dimension])?,
                    [one] => actions[one],
                    _ => graph.builder.max(pool.iter().map(|&action| actions[action]).collect())?,
                });
            }
            if asnet.architecture.skip && layer > 0 {
                inputs.push(atoms[i]);
            }
            next.push(graph.module(&modules[atom.predicate], inputs, Some(asnet))?);
        }
        atoms = next;
        let modules = shared(&asnet.actions[layer + 1])?;
        let mut next = Vec::with_capacity(instance.actions.len());
        for (i, action) in instance.actions.iter().enumerate() {
            let mut inputs: Vec<NodeId> = action.slots.iter().map(|&atom| atoms[atom]).collect();
            if asnet.architecture.skip {
                inputs.push(actions[i]);
            }
            let nonlinear = (layer + 1 < layers).then_some(asnet);
            next.push(graph.module(&modules[action.schema], inputs, nonlinear)?);
        }
        actions = next;
    }
    Ok(ActionNodes { scores: actions, applicable })
}

/// Weights that all modules of a schema or predicate share.
struct Shared {
    weights: Option<Matrix>,
    bias: Vec<f64>,
}

fn shared(modules: &[Module]) -> Result<Vec<Shared>, PolicyError> {
    let shared = |module: &Module| {
        let weights = (module.inputs > 0)
            .then(|| Matrix::new(module.bias.len(), module.inputs, module.weights.clone()));
        match weights {
            Some(None) => {
                Err(PolicyError::invalid("", "the weights of a module do not fit its size"))
            }
            weights => Ok(Shared { weights: weights.flatten(), bias: module.bias.clone() }),
        }
    };
    modules.iter().map(shared).collect()
}

struct Graph<'b> {
    builder: &'b mut NetworkBuilder,
    /// The truth of all propositions.
    truth: NodeId,
    /// Constant vectors that are there already.
    constants: Vec<(Vec<f64>, NodeId)>,
}

impl Graph<'_> {
    /// A node for each proposition.
    fn elements(&mut self) -> Result<Vec<NodeId>, PolicyError> {
        let width = self.builder.width(self.truth);
        let mut nodes = Vec::with_capacity(width);
        for i in 0..width {
            let mut row = vec![0.0; width];
            row[i] = 1.0;
            nodes.push(self.row(self.truth, row, 0.0)?);
        }
        Ok(nodes)
    }

    /// A sum of products and a number.
    fn row(&mut self, input: NodeId, row: Vec<f64>, bias: f64) -> Result<NodeId, PolicyError> {
        let columns = row.len();
        let weights = Matrix::new(1, columns, row)
            .ok_or_else(|| PolicyError::invalid("", "a row of no width"))?;
        self.builder.affine(input, weights, vec![bias])
    }

    fn constant(&mut self, values: &[f64]) -> Result<NodeId, PolicyError> {
        let is_it = |known: &[f64]| {
            known.len() == values.len()
                && known.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        if let Some((_, node)) = self.constants.iter().find(|(known, _)| is_it(known)) {
            return Ok(*node);
        }
        let columns = self.builder.width(self.truth);
        let weights = Matrix::new(values.len(), columns, vec![0.0; values.len() * columns]);
        let weights = weights.ok_or_else(|| PolicyError::invalid("", "a constant of no width"))?;
        let node = self.builder.affine(self.truth, weights, values.to_vec())?;
        self.constants.push((values.to_vec(), node));
        Ok(node)
    }

    /// For each action 1 where its preconditions hold, else 0.
    fn applicability(
        &mut self,
        instance: &Instance,
        propositions: &[NodeId],
    ) -> Result<Vec<NodeId>, PolicyError> {
        let mut nodes = Vec::with_capacity(instance.actions.len());
        for action in &instance.actions {
            let precondition = &action.precondition;
            if precondition.is_empty() {
                nodes.push(self.constant(&[1.0])?);
                continue;
            }
            let inputs = precondition.iter().map(|&(p, _)| propositions[p]).collect();
            let all = self.builder.concat(inputs)?;
            let row = precondition.iter().map(|&(_, truth)| if truth { 1.0 } else { -1.0 });
            // 1 if all literals hold, at most 0 otherwise.
            let mut bias = 1.0;
            precondition.iter().filter(|(_, truth)| *truth).for_each(|_| bias -= 1.0);
            let sum = self.row(all, row.collect(), bias)?;
            nodes.push(self.builder.relu(sum));
        }
        Ok(nodes)
    }

    fn first_layer(
        &mut self,
        asnet: &Asnet,
        instance: &Instance,
        propositions: &[NodeId],
        applicable: &[NodeId],
    ) -> Result<Vec<NodeId>, PolicyError> {
        let modules = shared(&asnet.actions[0])?;
        let nonlinear = (asnet.architecture.layers > 0).then_some(asnet);
        let mut nodes = Vec::with_capacity(instance.actions.len());
        for (action, &applicable) in instance.actions.iter().zip(applicable) {
            let mut inputs = Vec::with_capacity(2 * action.slots.len() + 1);
            for &slot in &action.slots {
                let atom = &instance.atoms[slot];
                inputs.push(match atom.truth {
                    Truth::Proposition(proposition) => propositions[proposition],
                    Truth::Constant(truth) => self.constant(&[if truth { 1.0 } else { 0.0 }])?,
                });
                inputs.push(self.constant(&[f64::from(atom.goal)])?);
            }
            inputs.push(applicable);
            nodes.push(self.module(&modules[action.schema], inputs, nonlinear)?);
        }
        Ok(nodes)
    }

    /// One module; with the nonlinearity of a network after it.
    fn module(
        &mut self,
        module: &Shared,
        inputs: Vec<NodeId>,
        nonlinear: Option<&Asnet>,
    ) -> Result<NodeId, PolicyError> {
        let sum = match &module.weights {
            None => self.constant(&module.bias)?,
            Some(weights) => {
                let input = match inputs[..] {
                    [one] => one,
                    _ => self.builder.concat(inputs)?,
                };
                self.builder.affine(input, weights.clone(), module.bias.clone())?
            }
        };
        match nonlinear {
            None => Ok(sum),
            Some(asnet) => {
                self.builder.activation(sum, asnet.architecture.nonlinearity.activation())
            }
        }
    }
}
