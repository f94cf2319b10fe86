//! Writer of the NNet text format.

use std::fmt::Write as _;

use crate::activation::Activation;
use crate::error::PolicyError;
use crate::network::{Network, Op};

/// A network of affine layers with ReLU between them as NNet text, without normalisation. `ranges`
/// are the least and greatest value of each input, which the format asks for and nobody uses.
/// Numbers are the shortest decimals that read back to the same double.
///
/// # Errors
/// If the network is anything else.
pub fn write_nnet(network: &Network, ranges: &[(f64, f64)]) -> Result<String, PolicyError> {
    let other = || {
        let message = "NNet files hold affine layers with ReLU between them, nothing else";
        PolicyError::unsupported("", message)
    };
    let mut layers = Vec::new();
    // The node that the next one must take, and whether that is the sum of a layer.
    let (mut last, mut is_sum) = (0, false);
    for (index, node) in network.nodes().iter().enumerate() {
        match &node.op {
            Op::Input if index == 0 => continue,
            Op::Affine { input, weights, bias } if input.index() == last && !is_sum => {
                layers.push((weights, bias));
                is_sum = true;
            }
            Op::Pointwise { input, activation: Activation::Leaky { alpha: 0.0 } }
                if input.index() == last && is_sum =>
            {
                is_sum = false;
            }
            _ => return Err(other()),
        }
        last = index;
    }
    let fits = is_sum && network.output().index() == last && ranges.len() == network.input_width();
    if !fits {
        return Err(other());
    }
    let inputs = network.input_width();
    let sizes: Vec<usize> = [inputs].into_iter().chain(layers.iter().map(|l| l.1.len())).collect();
    let largest = sizes.iter().max().copied().unwrap_or(0);
    let mut text = String::from("// Written by policert\n");
    line(&mut text, &[layers.len(), inputs, network.output_width(), largest]);
    line(&mut text, &sizes);
    text.push_str("0,\n");
    line(&mut text, &ranges.iter().map(|range| range.0).collect::<Vec<f64>>());
    line(&mut text, &ranges.iter().map(|range| range.1).collect::<Vec<f64>>());
    line(&mut text, &vec![0; inputs + 1]);
    line(&mut text, &vec![1; inputs + 1]);
    for (weights, bias) in layers {
        weights.entries().chunks_exact(weights.columns()).for_each(|row| line(&mut text, row));
        bias.iter().for_each(|bias| line(&mut text, &[bias]));
    }
    Ok(text)
}

/// Numbers with a comma after each.
fn line(text: &mut String, numbers: &[impl std::fmt::Display]) {
    for number in numbers {
        // Writing to a string cannot fail.
        let _ = write!(text, "{number},");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElementType, Matrix, NetworkBuilder, nnet::parse_nnet};

    fn network() -> Network {
        let mut builder = NetworkBuilder::new(2).expect("inputs");
        let weights = vec![0.1, f64::from(0.1f32), -1e-30, 3.0, f64::MIN_POSITIVE, 1e300];
        let weights = Matrix::new(3, 2, weights).expect("size");
        let first = builder.affine(builder.input(), weights, vec![1.0, -0.3, 0.0]).expect("fits");
        let hidden = builder.relu(first);
        let weights = Matrix::new(1, 3, vec![1.0 / 3.0, -2.0, 0.25]).expect("size");
        let last = builder.affine(hidden, weights, vec![-0.7]).expect("fits");
        builder.finish(last, ElementType::F64)
    }

    #[test]
    fn a_file_reads_back_to_the_same_network() {
        let network = network();
        let text = write_nnet(&network, &[(0.0, 1.0), (-2.0, 5.0)]).expect("layers");
        assert_eq!(text.lines().nth(2), Some("2,3,1,"));
        let read = parse_nnet("net.nnet", text.as_bytes()).expect("what was written");
        assert_eq!((read.network, read.notes), (network, Vec::new()));
    }

    #[test]
    fn other_networks_are_refused() {
        let mut builder = NetworkBuilder::new(1).expect("inputs");
        let hidden = builder.tanh(builder.input());
        let with_tanh = builder.finish(hidden, ElementType::F64);
        assert!(write_nnet(&with_tanh, &[(0.0, 1.0)]).is_err());
        assert!(write_nnet(&network(), &[]).is_err());
    }
}
