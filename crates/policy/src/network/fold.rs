//! Dropping what is not needed and merging element-wise scaling into weights, where exact.

use std::collections::BTreeMap;

use policert_numeric::Rational;

use super::{ElementType, Network, NetworkNode, NodeId, Op, Written};
use crate::matrix::Matrix;

/// Which constants are merged, where that is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Merges {
    /// All.
    All,
    /// A bias with the product without one before it.
    Biases,
}

/// The network with all exact merges of this kind done.
pub(super) fn folded(
    mut nodes: Vec<NetworkNode>,
    output: NodeId,
    element_type: ElementType,
    merges: Merges,
    written: &BTreeMap<NodeId, Written>,
) -> Network {
    let mut uses = vec![0usize; nodes.len()];
    uses[output.0] += 1;
    for input in nodes.iter().flat_map(|node| node.op.inputs()) {
        uses[input.0] += 1;
    }
    // Nodes whose constants are merged no longer compute what the file has.
    let mut merges_constants = merges == Merges::All && !written.is_empty();
    // Each merge moves the work of `inner` into `outer` and leaves `inner` unused.
    for outer in 0..nodes.len() {
        while let &[inner] = nodes[outer].op.inputs() {
            let is_bias = is_bias(&nodes[inner.0].op, &nodes[outer].op);
            let counts = is_bias || merges == Merges::All;
            let Some(merged) = counts.then(|| merged(&nodes, outer, &uses)).flatten() else {
                break;
            };
            merges_constants |= !is_bias;
            uses[inner.0] -= 1;
            nodes[outer].op = merged;
        }
    }
    let kept = |_: &(&NodeId, &Written)| merges == Merges::Biases;
    let written: Vec<(NodeId, Written)> =
        written.iter().filter(kept).map(|(&node, &of)| (node, of)).collect();
    pruned(nodes, output, element_type, merges_constants, &written)
}

/// The network of the nodes that the output needs, and of the input.
pub(super) fn pruned(
    nodes: Vec<NetworkNode>,
    output: NodeId,
    element_type: ElementType,
    merges_constants: bool,
    written: &[(NodeId, Written)],
) -> Network {
    let mut needed = vec![false; nodes.len()];
    needed[0] = true;
    needed[output.0] = true;
    for (i, node) in nodes.iter().enumerate().rev() {
        if needed[i] {
            node.op.inputs().iter().for_each(|input| needed[input.0] = true);
            let of = written.binary_search_by_key(&NodeId(i), |(node, _)| *node);
            let inputs = of.map_or(Vec::new(), |place| written[place].1.inputs());
            inputs.iter().for_each(|input| needed[input.0] = true);
        }
    }
    let mut renumbered = Vec::with_capacity(nodes.len());
    let mut kept: Vec<NetworkNode> = Vec::with_capacity(nodes.len());
    for (mut node, &needed) in nodes.into_iter().zip(&needed) {
        renumbered.push(NodeId(kept.len()));
        if needed {
            node.op.inputs_mut().iter_mut().for_each(|input| *input = renumbered[input.0]);
            kept.push(node);
        }
    }
    let is_needed = |node: NodeId| needed.get(node.0) == Some(&true);
    let output = renumbered[output.0];
    let written = written.iter().filter(|(node, _)| is_needed(*node));
    let written =
        written.map(|(node, of)| (renumbered[node.0], of.renumbered(|id| renumbered[id.0])));
    Network {
        written: written.collect(),
        nodes: kept.into(),
        output,
        element_type,
        merges_constants,
    }
}

/// The operation of `outer` with the one before it merged in, if that one has no other use and
/// all merged constants are exact.
fn merged(nodes: &[NetworkNode], outer: usize, uses: &[usize]) -> Option<Op> {
    let [inner] = nodes[outer].op.inputs() else { return None };
    if uses[inner.0] != 1 {
        return None;
    }
    match (&nodes[inner.0].op, &nodes[outer].op) {
        (Op::Affine { input, weights, bias }, Op::Scale { mul, div, add, .. }) => {
            scaled_after(*input, weights, bias, &Scaling { mul, div, add })
        }
        (Op::Scale { input, mul, div, add }, Op::Affine { weights, bias, .. }) => {
            scaled_before(*input, weights, bias, &Scaling { mul, div, add })
        }
        (
            Op::Scale { input, mul, div, add },
            Op::Scale { mul: mul_2, div: div_2, add: add_2, .. },
        ) => {
            let second = Scaling { mul: mul_2, div: div_2, add: add_2 };
            scaled_twice(*input, &Scaling { mul, div, add }, &second)
        }
        _ => None,
    }
}

/// Returns whether an operation adds the bias to a product that has none.
fn is_bias(inner: &Op, outer: &Op) -> bool {
    let all = |values: &[f64], value: f64| values.iter().all(|v| (v - value).abs() <= 0.0);
    match (inner, outer) {
        (Op::Affine { bias, .. }, Op::Scale { mul, div, .. }) => {
            all(bias, 0.0) && all(mul, 1.0) && all(div, 1.0)
        }
        _ => false,
    }
}

struct Scaling<'a> {
    mul: &'a [f64],
    div: &'a [f64],
    add: &'a [f64],
}

impl Scaling<'_> {
    /// Exact factor and summand of an element.
    fn exact(&self, i: usize) -> Option<(Rational, Rational)> {
        let mul = Rational::from_f64(self.mul[i])?;
        let factor = mul.checked_div(&Rational::from_f64(self.div[i])?)?;
        Some((factor, Rational::from_f64(self.add[i])?))
    }
}

/// `(weights · x + bias) · mul / div + add`.
fn scaled_after(input: NodeId, weights: &Matrix, bias: &[f64], scaling: &Scaling) -> Option<Op> {
    let mut entries = Vec::with_capacity(weights.entries().len());
    let mut sums = Vec::with_capacity(bias.len());
    for (row, weights) in weights.row_iter().enumerate() {
        let (factor, summand) = scaling.exact(row)?;
        for &weight in weights {
            entries.push(product(weight, &factor)?);
        }
        sums.push(double(&(Rational::from_f64(bias[row])? * factor + summand))?);
    }
    let weights = Matrix::new(weights.rows(), weights.columns(), entries)?;
    Some(Op::Affine { input, weights, bias: sums })
}

/// `weights · (x · mul / div + add) + bias`.
fn scaled_before(input: NodeId, weights: &Matrix, bias: &[f64], scaling: &Scaling) -> Option<Op> {
    let columns: Option<Vec<_>> = (0..weights.columns()).map(|i| scaling.exact(i)).collect();
    let columns = columns?;
    let mut entries = Vec::with_capacity(weights.entries().len());
    let mut sums = Vec::with_capacity(bias.len());
    for (weights, &bias) in weights.row_iter().zip(bias) {
        let mut sum = Rational::from_f64(bias)?;
        for (&weight, (factor, summand)) in weights.iter().zip(&columns) {
            entries.push(product(weight, factor)?);
            if !summand.is_zero() {
                sum += Rational::from_f64(weight)? * summand;
            }
        }
        sums.push(double(&sum)?);
    }
    let weights = Matrix::new(weights.rows(), weights.columns(), entries)?;
    Some(Op::Affine { input, weights, bias: sums })
}

/// Both scalings, the first one first.
fn scaled_twice(input: NodeId, first: &Scaling, second: &Scaling) -> Option<Op> {
    let width = first.mul.len();
    let (mut mul, mut div, mut add) = (vec![1.0; width], vec![1.0; width], vec![0.0; width]);
    for i in 0..width {
        let (first_factor, first_summand) = first.exact(i)?;
        let (second_factor, second_summand) = second.exact(i)?;
        let (num, den) = (&first_factor * &second_factor).to_parts();
        mul[i] = double(&Rational::from(num))?;
        div[i] = double(&Rational::from_parts(den.into(), policert_numeric::UBig::ONE)?)?;
        add[i] = double(&(first_summand * second_factor + second_summand))?;
    }
    Some(Op::Scale { input, mul, div, add })
}

/// The product, if it is a double.
pub(crate) fn product(weight: f64, factor: &Rational) -> Option<f64> {
    if *factor == Rational::ONE {
        return Some(weight);
    }
    double(&(Rational::from_f64(weight)? * factor))
}

/// The number, if it is a double.
fn double(value: &Rational) -> Option<f64> {
    let near = value.to_f64();
    (Rational::from_f64(near).as_ref() == Some(value)).then_some(near)
}
