//! Networks as NNet text.

use std::fmt::Write as _;

use policert_policy::{Activation, Network, Op};

/// A chain of weight matrices with ReLU between them as NNet text; the bounds of the inputs only
/// inform the reader. `None` for any other network.
#[must_use]
pub fn nnet_text(network: &Network, comment: &str, bounds: &[(i64, i64)]) -> Option<String> {
    let mut layers = Vec::new();
    for (i, node) in network.nodes().iter().enumerate() {
        match (&node.op, i % 2) {
            (Op::Input, 0) if i == 0 => {}
            (Op::Affine { input, weights, bias }, 1) if input.index() + 1 == i => {
                layers.push((weights, bias));
            }
            (Op::Pointwise { input, activation: Activation::Leaky { alpha: 0.0 } }, 0)
                if input.index() + 1 == i => {}
            _ => return None,
        }
    }
    if network.nodes().len() != 2 * layers.len() || bounds.len() != network.input_width() {
        return None;
    }
    let mut text = String::new();
    for line in comment.lines() {
        let _ = writeln!(text, "// {line}");
    }
    let sizes: Vec<usize> = [network.input_width()]
        .into_iter()
        .chain(layers.iter().map(|(weights, _)| weights.rows()))
        .collect();
    let largest = sizes.iter().max()?;
    let line = |values: &mut dyn Iterator<Item = String>| {
        values.fold(String::new(), |line, value| line + &value + ",") + "\n"
    };
    let (first, last) = (sizes.first()?, sizes.last()?);
    let _ = writeln!(text, "{},{first},{last},{largest},", layers.len());
    text += &line(&mut sizes.iter().map(usize::to_string));
    text += "0,\n";
    text += &line(&mut bounds.iter().map(|(lo, _)| lo.to_string()));
    text += &line(&mut bounds.iter().map(|(_, hi)| hi.to_string()));
    text += &line(&mut bounds.iter().map(|_| "0".to_owned()).chain(["0".to_owned()]));
    text += &line(&mut bounds.iter().map(|_| "1".to_owned()).chain(["1".to_owned()]));
    for (weights, bias) in layers {
        for row in weights.row_iter() {
            text += &line(&mut row.iter().map(f64::to_string));
        }
        for value in bias {
            text += &line(&mut [value.to_string()].into_iter());
        }
    }
    Some(text)
}
