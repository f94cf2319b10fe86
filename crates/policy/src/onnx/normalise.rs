//! Normalisation with fixed statistics.

use super::call::Call;
use super::graph::Import;
use super::tensor::count;
use super::value::Value;
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

/// BatchNormalization as it is after training: (x − mean) · scale / √(variance + ε) + bias. The root
/// is rounded to a double.
pub(super) fn batch(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let known = ["epsilon", "momentum", "spatial", "training_mode"];
    let attributes = call.attributes(&known)?;
    if attributes.integer("training_mode")?.unwrap_or(0) != 0 {
        let message =
            "in training it depends on other states; export the network in evaluation mode";
        return Err(PolicyError::unsupported("", message));
    }
    if attributes.integer("spatial")?.unwrap_or(1) != 1 {
        return Err(PolicyError::unsupported("", "`spatial` 0 is not supported"));
    }
    let epsilon = attributes.float("epsilon")?.unwrap_or(f64::from(1e-5f32));
    let flow = call.required(0)?.into_numbers()?;
    let channels = match flow.shape[..] {
        [_, channels, ..] => channels,
        _ => 1,
    };
    // How many elements stand together that belong to one channel.
    let group = count(flow.shape.get(2..).unwrap_or_default()).unwrap_or(1);
    let elements = import.builder.width(flow.node);
    let statistics = |index: usize, what: &str| -> Result<Vec<f64>> {
        let tensor = call.numbers(index, what)?;
        let values = tensor.floats().unwrap_or_default();
        if values.len() != channels {
            let message = format!("{what} has {} numbers for {channels} channels", values.len());
            return Err(PolicyError::invalid("", message));
        }
        Ok((0..elements).map(|element| values[element / group % channels]).collect())
    };
    let (scale, bias) = (statistics(1, "the scale")?, statistics(2, "the bias")?);
    let (mean, variance) = (statistics(3, "the mean")?, statistics(4, "the variance")?);
    let roots: Vec<f64> = variance.iter().map(|variance| (variance + epsilon).sqrt()).collect();
    if roots.iter().any(|&root| root.is_nan() || root <= 0.0) {
        return Err(PolicyError::invalid("", "a variance is negative"));
    }
    let all = |value: f64| vec![value; elements];
    let negated = mean.iter().map(|mean| -mean).collect();
    let centred = import.builder.scale(flow.node, all(1.0), all(1.0), negated)?;
    let node = import.builder.scale(centred, scale, roots, bias)?;
    Ok(Value::computed(node, flow.shape, flow.element))
}
