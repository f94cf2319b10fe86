//! Inputs that are functions of the state: expressions and transient variables, computed by layers
//! before the network.
//!
//! On integers every function of one variable is piecewise linear, and so are conjunctions,
//! comparisons and choices between bounded values. The layers compute such functions exactly in
//! every state; between integers they may be anything.

mod linear;
mod observer;

#[cfg(test)]
mod tests;

use policert_model::{Expr, VarId};
use policert_numeric::IntBox;

use super::InputSource;
use crate::activation::Activation;
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::{Network, NetworkBuilder, NodeId};

use observer::{ObservationBuilder, TABLE_SIZE};

/// A result, or the reason for which an expression is not computed.
type Computed<T> = Result<T, String>;

/// The network that reads state variables, where `network` reads functions of them; with the
/// variables.
///
/// # Errors
/// Position of the input that is not computed, and why.
pub(crate) fn before(
    network: &Network,
    inputs: &[InputSource],
    domains: &IntBox,
) -> Result<(Network, Vec<VarId>), (usize, String)> {
    let exprs: Vec<Expr> = inputs.iter().map(InputSource::expr).collect();
    let variables = variables_of(inputs);
    let built = |error: PolicyError| (0, error.to_string());
    let observer = ObservationBuilder::new(&variables, domains).map_err(built)?;
    let (mut builder, values) = observer.vector(&exprs)?;
    let normalised = normalised(&mut builder, values, inputs).map_err(built)?;
    let output = builder.append(network, normalised).map_err(built)?;
    Ok((builder.finish(output, network.element_type()), variables))
}

/// The variables that inputs read, in their order. The first one of the model, if there are none: a
/// policy has an input.
pub(crate) fn variables_of(inputs: &[InputSource]) -> Vec<VarId> {
    let mut variables: Vec<VarId> = Vec::new();
    for input in inputs {
        input.expr().for_each_var(&mut |v| {
            if !variables.contains(&v) {
                variables.push(v);
            }
        });
    }
    if variables.is_empty() {
        variables.push(VarId::new(0));
    }
    variables
}

/// The error for an interface with an input that cannot be computed.
pub(crate) fn refusal(input: usize, why: &str, interface: &str) -> PolicyError {
    let message = format!(
        "this input cannot be computed: {why}; supported are functions of one variable that has at most \
         {TABLE_SIZE} values, and sums, comparisons, conjunctions and choices of such"
    );
    PolicyError::unsupported(format!("/input/{input}"), message).in_file(interface)
}

/// The node of the inputs, those normalised for which that is asked.
fn normalised(
    builder: &mut NetworkBuilder,
    values: NodeId,
    inputs: &[InputSource],
) -> Result<NodeId, PolicyError> {
    let width = inputs.len();
    let (mut means, mut divisors, mut clips) = (vec![0.0; width], vec![1.0; width], Vec::new());
    for (i, input) in inputs.iter().enumerate() {
        if let InputSource::Normalised(normalised) = input {
            (means[i], divisors[i]) = (-normalised.mean, normalised.divisor);
            clips.extend(normalised.clip.map(|clip| (i, clip)));
        }
    }
    let (ones, zeros) = (vec![1.0; width], vec![0.0; width]);
    let centred = builder.scale(values, ones.clone(), ones.clone(), means)?;
    let scaled = builder.scale(centred, ones, divisors, zeros.clone())?;
    // Each row takes its element from the vector that is cut off where it is to be.
    let mut bounds: Vec<f64> = clips.iter().map(|&(_, clip)| clip).collect();
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    let mut vectors = vec![scaled];
    for &clip in &bounds {
        vectors.push(builder.activation(scaled, Activation::Clip { lo: -clip, hi: clip })?);
    }
    match vectors[..] {
        [_] => return Ok(scaled),
        [_, cut] if clips.len() == width => return Ok(cut),
        _ => {}
    }
    let mut weights = vec![0.0; width * width * vectors.len()];
    for i in 0..width {
        let clip = clips.iter().find(|&&(at, _)| at == i).map(|&(_, clip)| clip);
        let cut =
            clip.and_then(|clip| bounds.iter().position(|bound| bound.total_cmp(&clip).is_eq()));
        let column = cut.map_or(0, |cut| cut + 1) * width + i;
        weights[i * width * vectors.len() + column] = 1.0;
    }
    let columns = width * vectors.len();
    let all = builder.concat(vectors)?;
    let weights = Matrix::new(width, columns, weights)
        .ok_or_else(|| PolicyError::unsupported("", "there are too many inputs"))?;
    builder.affine(all, weights, zeros)
}
