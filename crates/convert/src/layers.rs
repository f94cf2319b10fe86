//! A network as layers, for the automaton of the policy.

use policert_policy::{Activation, Matrix, Network, NodeId, Op};

use crate::error::{ConvertError, unsupported};

/// A layer: an affine function, and what follows it element by element.
#[derive(Clone, Debug)]
pub(crate) struct Layer<'n> {
    pub weights: &'n Matrix,
    pub bias: &'n [f64],
    pub activations: Vec<Clip>,
}

/// min(max(x, `lo`), `hi`); infinite bounds are none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Clip {
    pub lo: f64,
    pub hi: f64,
}

/// The layers of a network, if it is a chain of them.
pub(crate) fn layers(network: &Network) -> Result<Vec<Layer<'_>>, ConvertError> {
    let mut layers: Vec<Layer<'_>> = Vec::new();
    let mut last = NodeId::INPUT;
    let mut order: Vec<NodeId> = Vec::new();
    let mut at = network.output();
    while at != NodeId::INPUT {
        order.push(at);
        let [before] = network.node(at).op.inputs() else {
            return unsupported("a network whose layers have several inputs, as an automaton");
        };
        at = *before;
    }
    for id in order.into_iter().rev() {
        let op = &network.node(id).op;
        debug_assert_eq!(op.inputs(), [last]);
        last = id;
        let activation = match op {
            Op::Affine { weights, bias, .. } => {
                layers.push(Layer { weights, bias, activations: Vec::new() });
                continue;
            }
            Op::Pointwise { activation, .. } => match *activation {
                Activation::Leaky { alpha: 0.0 } => Clip { lo: 0.0, hi: f64::INFINITY },
                Activation::Clip { lo, hi } => Clip { lo, hi },
                Activation::Leaky { .. } | Activation::Staircase(_) | Activation::Smooth(_) => {
                    let (operator, _) = activation.operator();
                    return unsupported(format!("{operator} in a policy as an automaton"));
                }
            },
            Op::Scale { .. } => return unsupported("a network that scales, as an automaton"),
            Op::Input | Op::Add { .. } | Op::Concat { .. } | Op::Max { .. } => {
                return unsupported("a network whose layers have several inputs, as an automaton");
            }
        };
        match layers.last_mut() {
            Some(layer) => layer.activations.push(activation),
            None => return unsupported("a network that begins without weights, as an automaton"),
        }
    }
    if layers.is_empty() {
        return unsupported("a network without weights, as an automaton");
    }
    Ok(layers)
}
