//! Reader and writer of the NNet text format.
//!
//! ```text
//! // comments
//! 2,1,2,2,        weight layers, inputs, outputs, largest layer
//! 1,2,2,          layer sizes
//! 0,              not used
//! 0,              minima of the inputs
//! 10,             maxima of the inputs
//! 0,0,            means of the inputs, mean of the outputs
//! 1,1,            ranges of the inputs, range of the outputs
//! 1,              weights of a layer, one line for each neuron
//! ...             biases of the layer, one line for each neuron, and so on
//! ```
//!
//! Commas at the ends of lines are optional; comment lines and blank lines may stand anywhere.
//! Hidden layers have ReLU, the last one is linear. Inputs are `(x - mean) / range`, outputs
//! `y · range + mean`; inputs are never clipped to the minima and maxima. A number is the double
//! nearest to its decimal text.

mod writer;

#[cfg(test)]
mod tests;

use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::meter::Meter;
use crate::network::{ElementType, NetworkBuilder, NodeId};
use crate::network_file::NetworkFile;

pub use writer::write_nnet;

/// Reads a network from the bytes of a file; `name` is used in messages.
///
/// # Errors
/// If the file breaks the format. The message says on which line.
pub fn parse_nnet(name: &str, bytes: &[u8]) -> Result<NetworkFile, PolicyError> {
    parse_nnet_within(name, bytes, &mut Meter::default())
}

/// As [`parse_nnet`], within limits.
pub(crate) fn parse_nnet_within(
    name: &str,
    bytes: &[u8],
    meter: &mut Meter,
) -> Result<NetworkFile, PolicyError> {
    parse(bytes, meter).map_err(|error| error.in_file(name))
}

fn parse(bytes: &[u8], meter: &mut Meter) -> Result<NetworkFile, PolicyError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        PolicyError::invalid(place(line), "not UTF-8 text")
    })?;
    let mut lines = Lines::new(text.trim_start_matches('\u{feff}'));

    let header = lines.next("the numbers of layers, inputs and outputs")?;
    let header_line = header.line;
    let [layers, inputs, outputs, largest] = header.sizes()?[..] else {
        let message = "four numbers are expected: layers, inputs, outputs and largest layer";
        return Err(header.invalid(message));
    };
    let sizes_line = lines.next("the layer sizes")?;
    let sizes = sizes_line.sizes()?;
    if layers == 0 || layers.checked_add(1) != Some(sizes.len()) {
        let message = format!("{} layer sizes for {layers} weight layers", sizes.len());
        return Err(sizes_line.invalid(message));
    }
    if (sizes.first(), sizes.last()) != (Some(&inputs), Some(&outputs)) {
        let message = format!(
            "the layer sizes do not start with {inputs} inputs and end with {outputs} outputs, \
             which line {header_line} says"
        );
        return Err(sizes_line.invalid(message));
    }
    if sizes.contains(&0) {
        return Err(sizes_line.invalid("a layer of size 0"));
    }
    if let Some(&size) = sizes.iter().max()
        && size != largest
    {
        let message =
            format!("the largest layer has {size} neurons, and line {header_line} says {largest}");
        return Err(sizes_line.invalid(message));
    }

    lines.next("the unused flag")?;
    let minima = lines.next("the minima of the inputs")?.ends(inputs, "minima")?;
    let maxima_line = lines.next("the maxima of the inputs")?;
    let maxima = maxima_line.ends(inputs, "maxima")?;
    if let Some(i) = (0..inputs).find(|&i| minima[i] > maxima[i]) {
        let message = format!(
            "the maximum of input {} is {}, below its minimum {}",
            i + 1,
            maxima[i],
            minima[i]
        );
        return Err(maxima_line.invalid(message));
    }
    // One more for the outputs.
    let with_outputs = inputs.saturating_add(1);
    let means = lines.next("the means")?.numbers(with_outputs, "means")?;
    let ranges_line = lines.next("the ranges")?;
    let ranges = ranges_line.numbers(with_outputs, "ranges")?;
    if ranges.iter().any(|range| range.abs() <= 0.0) {
        return Err(ranges_line.invalid("a range is 0"));
    }

    let mut builder = NetworkBuilder::new(inputs)?;
    let mut node = normalised_inputs(&mut builder, &means[..inputs], &ranges[..inputs])?;
    for (layer, pair) in sizes.windows(2).enumerate() {
        if layer > 0 {
            node = builder.relu(node);
        }
        node = weight_layer(&mut builder, &mut lines, node, (layer + 1, pair[1]), meter)?;
    }
    lines.finish()?;
    let (mean, range) = (means[inputs], ranges[inputs]);
    node = builder.scale(node, vec![range; outputs], vec![1.0; outputs], vec![mean; outputs])?;

    let is_identity = |numbers: &[f64], unit: f64| numbers.iter().all(|n| (n - unit).abs() <= 0.0);
    let mut notes = Vec::new();
    if !is_identity(&means, 0.0) || !is_identity(&ranges, 1.0) {
        notes.push(
            "the means and ranges of the file are not 0 and 1: inputs and outputs are normalised \
             as the format defines"
                .to_owned(),
        );
    }
    Ok(NetworkFile { network: builder.finish(node, ElementType::F64), notes })
}

/// `(x - mean) / range`.
fn normalised_inputs(
    builder: &mut NetworkBuilder,
    means: &[f64],
    ranges: &[f64],
) -> Result<NodeId, PolicyError> {
    let ones = || vec![1.0; means.len()];
    let negated = means.iter().map(|mean| -mean).collect();
    let centred = builder.scale(builder.input(), ones(), ones(), negated)?;
    builder.scale(centred, ones(), ranges.to_vec(), vec![0.0; means.len()])
}

/// Reads the weights and biases of one layer.
fn weight_layer(
    builder: &mut NetworkBuilder,
    lines: &mut Lines,
    input: NodeId,
    (layer, neurons): (usize, usize),
    meter: &mut Meter,
) -> Result<NodeId, PolicyError> {
    let columns = builder.width(input);
    let mut weights = Vec::new();
    for neuron in 1..=neurons {
        let what = format!("weights of neuron {neuron} of layer {layer}");
        meter.before_doubles(columns)?;
        weights.extend(lines.next(&what)?.numbers(columns, &what)?);
    }
    let mut bias = Vec::new();
    for neuron in 1..=neurons {
        let what = format!("bias of neuron {neuron} of layer {layer}");
        bias.extend(lines.next(&what)?.numbers(1, &what)?);
    }
    let matrix = Matrix::new(neurons, columns, weights)
        .ok_or_else(|| PolicyError::invalid("", "the weights do not fill the layer"))?;
    builder.affine(input, matrix, bias)
}

fn place(line: usize) -> String {
    format!("line {line}")
}

/// The lines that are neither blank nor comments.
struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    last: usize,
}

/// One line and its number.
struct Line<'a> {
    line: usize,
    text: &'a str,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines().enumerate(), last: 0 }
    }

    fn next_line(&mut self) -> Option<Line<'a>> {
        for (index, text) in self.lines.by_ref() {
            self.last = index + 1;
            let text = text.trim();
            if !text.is_empty() && !text.starts_with("//") {
                return Some(Line { line: index + 1, text });
            }
        }
        None
    }

    fn next(&mut self, expected: &str) -> Result<Line<'a>, PolicyError> {
        let end = self.last;
        self.next_line().ok_or_else(|| {
            let message = format!("the file ends where {expected} should follow");
            PolicyError::invalid(place(end + 1), message)
        })
    }

    fn finish(mut self) -> Result<(), PolicyError> {
        match self.next_line() {
            None => Ok(()),
            Some(line) => Err(line.invalid("nothing should follow the last bias")),
        }
    }
}

impl<'a> Line<'a> {
    fn invalid(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::invalid(place(self.line), message)
    }

    /// The parts between the commas; a comma at the end is not one.
    fn parts(&self) -> Vec<&'a str> {
        let text = self.text.strip_suffix(',').unwrap_or(self.text);
        text.split(',').map(str::trim).collect()
    }

    fn counted(&self, count: usize, what: &str) -> Result<Vec<&'a str>, PolicyError> {
        let parts = self.parts();
        if parts.len() == count {
            Ok(parts)
        } else {
            let numbers = if count == 1 { "number is" } else { "numbers are" };
            let message = format!("{what}: {count} {numbers} expected, found {}", parts.len());
            Err(self.invalid(message))
        }
    }

    fn sizes(&self) -> Result<Vec<usize>, PolicyError> {
        let size = |part: &&str| {
            part.parse().map_err(|_| self.invalid(format!("`{part}` is not a number of neurons")))
        };
        self.parts().iter().map(size).collect()
    }

    /// Ends of ranges, which may be infinite.
    fn ends(&self, count: usize, what: &str) -> Result<Vec<f64>, PolicyError> {
        let number = |part: &&str| match part.parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(number),
            Ok(_) | Err(_) => Err(self.invalid(format!("{what}: `{part}` is not a number"))),
        };
        self.counted(count, what)?.iter().map(number).collect()
    }

    fn numbers(&self, count: usize, what: &str) -> Result<Vec<f64>, PolicyError> {
        let number = |part: &&str| match part.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.invalid(format!("{what}: `{part}` is not a finite number"))),
            Err(_) => Err(self.invalid(format!("{what}: `{part}` is not a number"))),
        };
        self.counted(count, what)?.iter().map(number).collect()
    }
}
