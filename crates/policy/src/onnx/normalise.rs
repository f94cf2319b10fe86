//! Normalisation: with fixed statistics, and with those of groups of the values themselves.
//!
//! The last is (x − m) / √(v + ε) for the mean m and the variance v of the group, so at most √n for n
//! values: a bound that is read with it, as no sum of squares gives it.

use super::attributes::Attributes;
use super::call::Call;
use super::graph::Import;
use super::tensor::{Tensor, broadcast_indices, count};
use super::value::{Flow, Known, UnreadValue, Value};
use crate::activation::Activation;
use crate::error::PolicyError;
use crate::network::NodeId;

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
    let epsilon = epsilon(&attributes)?;
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

/// ε, by default 10⁻⁵ in single precision.
fn epsilon(attributes: &Attributes<'_>) -> Result<f64> {
    Ok(attributes.float("epsilon")?.unwrap_or(f64::from(1e-5f32)))
}

/// LayerNormalization, RMSNormalization: the groups are the rows along the last axes. The further results,
/// which are for training, are not computed.
pub(super) fn rows(import: &mut Import<'_, '_>, call: &Call) -> Result<Vec<Value>> {
    let attributes = call.attributes(&["axis", "epsilon", "stash_type"])?;
    let flow = call.required(0)?.into_numbers()?;
    let first = super::reshape::axis(attributes.integer("axis")?.unwrap_or(-1), flow.shape.len())?;
    let size = count(&flow.shape[first..]).unwrap_or(1);
    let is_centred = call.operator() == "LayerNormalization";
    let node = normalised(import, flow.node, size, epsilon(&attributes)?, is_centred)?;
    let along = |index: usize, what: &str| -> Result<Option<Vec<f64>>> {
        if call.optional(index).is_none() {
            return Ok(None);
        }
        repeated_along(&call.numbers(index, what)?, &flow.shape).map(Some)
    };
    let (scale, bias) = (along(1, "the scale")?, along(2, "the bias")?);
    let statistic = Value::Unread(UnreadValue {
        shape: None,
        element: Some(flow.element),
        known: Known::Nothing,
        place: String::new(),
        message: "the mean and the deviation are not computed; what is normalised is".to_owned(),
    });
    Ok(vec![stretched(import, flow, node, scale, bias)?, statistic.clone(), statistic])
}

/// From this version of the operator set on, GroupNormalization has numbers for each channel; before, for each
/// group.
const ONE_A_CHANNEL: i64 = 21;

/// GroupNormalization, InstanceNormalization: the groups are some channels, or one, of an image.
pub(super) fn channels(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["epsilon", "num_groups", "stash_type"])?;
    let flow = call.required(0)?.into_numbers()?;
    let [1, channels, ..] = flow.shape[..] else {
        return Err(PolicyError::unsupported("", format!("of shape {:?}", flow.shape)));
    };
    let groups = match call.operator() {
        "GroupNormalization" => attributes.integer("num_groups")?.unwrap_or(0),
        _ => i64::try_from(channels).unwrap_or(0),
    };
    let groups = usize::try_from(groups).unwrap_or(0);
    if groups == 0 || !channels.is_multiple_of(groups) {
        let message = format!("{channels} channels are no multiple of {groups} groups");
        return Err(PolicyError::invalid("", message));
    }
    let total = import.builder.width(flow.node);
    let node = normalised(import, flow.node, total / groups, epsilon(&attributes)?, true)?;
    let (count, of) = match call.operator() {
        "GroupNormalization" if call.version < ONE_A_CHANNEL => (groups, "groups"),
        _ => (channels, "channels"),
    };
    let along = |index: usize, what: &str| -> Result<Option<Vec<f64>>> {
        let tensor = call.numbers(index, what)?;
        let values = tensor.floats().unwrap_or_default();
        if values.len() != count {
            let message = format!("{what} has {} numbers for {count} {of}", values.len());
            return Err(PolicyError::invalid("", message));
        }
        let each = total / count;
        Ok(Some((0..total).map(|element| values[element / each]).collect()))
    };
    let (scale, bias) = (along(1, "the scale")?, along(2, "the bias")?);
    stretched(import, flow, node, scale, bias)
}

/// The numbers of a constant, repeated to a shape.
fn repeated_along(tensor: &Tensor, shape: &[usize]) -> Result<Vec<f64>> {
    let indices = broadcast_indices(&tensor.shape, shape).ok_or_else(|| {
        let message = format!("numbers of shape {:?} for values of {shape:?}", tensor.shape);
        PolicyError::invalid("", message)
    })?;
    let values = tensor.floats().unwrap_or_default();
    Ok(indices.into_iter().map(|index| values[index]).collect())
}

/// node · scale + bias, with the shape of a flow.
fn stretched(
    import: &mut Import<'_, '_>,
    flow: Flow,
    node: NodeId,
    scale: Option<Vec<f64>>,
    bias: Option<Vec<f64>>,
) -> Result<Value> {
    let all = |value: f64| vec![value; import.builder.width(node)];
    let (mul, div, add) = (scale.unwrap_or(all(1.0)), all(1.0), bias.unwrap_or(all(0.0)));
    let node = import.builder.scale(node, mul, div, add)?;
    Ok(Value::computed(node, flow.shape, flow.element))
}

/// x / √(q + ε) for each group of `size` elements that stand together, with the mean q of their squares; the
/// mean of the elements is subtracted first if they are to be centred.
fn normalised(
    import: &mut Import<'_, '_>,
    x: NodeId,
    size: usize,
    epsilon: f64,
    is_centred: bool,
) -> Result<NodeId> {
    let width = import.builder.width(x);
    let groups = width / size.max(1);
    let members =
        || (0..groups).flat_map(|group| (0..size).map(move |i| (group, group * size + i)));
    let places: Vec<usize> = members().map(|(group, _)| group).collect();
    let centred = if is_centred && import.as_written {
        // In the order of operations of the specification.
        let entries = members().map(|(group, element)| (group, element, 1.0));
        let sums = import.sparse_affine(x, entries, vec![0.0; groups])?;
        let means = import.divided(sums, size)?;
        let means = import.selection(means, &places)?;
        let opposite = import.times(means, -1.0)?;
        import.builder.add(vec![x, opposite])?
    } else if is_centred {
        // n · x less the sum of the group, and that divided by n.
        let count = u32::try_from(size).map_err(|_| PolicyError::unsupported("", "too large"))?;
        let entries = members().flat_map(|(group, row)| {
            (group * size..(group + 1) * size).map(move |column| {
                let own = if row == column { f64::from(count) } else { 0.0 };
                (row, column, own - 1.0)
            })
        });
        let node = import.sparse_affine(x, entries, vec![0.0; width])?;
        import.divided(node, size)?
    } else {
        x
    };
    let squares = import.square(centred)?;
    let entries = members().map(|(group, element)| (group, element, 1.0));
    let sums = import.sparse_affine(squares, entries, vec![0.0; groups])?;
    let means = import.divided(sums, size)?;
    let all = |value: f64| vec![value; groups];
    let shifted = import.builder.scale(means, all(1.0), all(1.0), all(epsilon))?;
    let root = import.root(shifted)?;
    let product = if import.as_written {
        let roots = import.selection(root, &places)?;
        import.quotient(centred, roots)?
    } else {
        let inverse = import.reciprocal(root)?;
        let inverse = import.selection(inverse, &places)?;
        import.product(centred, inverse)?
    };
    #[expect(clippy::cast_precision_loss, reason = "rounded up afterwards")]
    let most = (size as f64).sqrt().next_up().next_up();
    let node = import.builder.activation(product, Activation::clip(Some(-most), Some(most)))?;
    import.builder.same_in_file(node, product);
    Ok(node)
}
