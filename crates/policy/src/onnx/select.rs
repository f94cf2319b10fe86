//! Operators that pick, repeat and join elements.

use super::call::Call;
use super::graph::Import;
use super::reshape::axis;
use super::tensor::{Data, Tensor, broadcast, broadcast_indices, count, strided};
use super::value::{Decision, Ranked, Value};
use crate::error::PolicyError;
use crate::trees::Classes;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// Row-major strides of a shape.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for index in (1..shape.len()).rev() {
        strides[index - 1] = strides[index] * shape[index];
    }
    strides
}

impl Import<'_, '_> {
    /// Elements of a value by index, in a new shape.
    pub(super) fn picked(
        &mut self,
        value: Value,
        shape: Vec<usize>,
        indices: &[usize],
    ) -> Result<Value> {
        let width = count(value.shape()).unwrap_or(0);
        if indices.iter().copied().eq(0..width) {
            return Ok(value.reshaped(shape));
        }
        self.meter.before_doubles(indices.len())?;
        match value {
            Value::Constant(tensor) => Ok(Value::Constant(tensor.picked(shape, indices))),
            Value::Ranked(ranked) => {
                let node = self.selection(ranked.node, indices)?;
                let values = match ranked.values {
                    Some(values) => Some(self.selection(values, indices)?),
                    None => None,
                };
                // Some of the probabilities, or some of them twice, are none.
                let drawing = ranked.drawing.shifted();
                Ok(Value::Ranked(Ranked { node, shape, values, drawing, ..ranked }))
            }
            other => Ok(Value::Flow(self.picked_flow(other.into_flow()?, shape, indices)?)),
        }
    }

    /// The slices of one axis, by index.
    fn along_axis(&mut self, value: Value, axis: usize, picked: &[usize]) -> Result<Value> {
        let mut shape = value.shape().to_vec();
        let steps = strides(&shape);
        shape[axis] = picked.len();
        let mut offsets = vec![0];
        for (index, (&size, &step)) in shape.iter().zip(&steps).enumerate() {
            let places: Vec<usize> = match index == axis {
                true => picked.iter().map(|&place| place * step).collect(),
                false => (0..size).map(|place| place * step).collect(),
            };
            let sums = |&offset: &usize| places.iter().map(move |place| offset + place);
            offsets = offsets.iter().flat_map(sums).collect();
        }
        self.picked(value, shape, &offsets)
    }
}

pub(super) fn transpose(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["perm"])?;
    let value = call.required(0)?;
    let rank = value.shape().len();
    let order = match attributes.integers("perm")? {
        None => (0..rank).rev().collect(),
        Some(order) => {
            let order: std::result::Result<Vec<usize>, _> =
                order.iter().map(|&index| usize::try_from(index)).collect();
            order.map_err(|_| invalid("an axis is negative"))?
        }
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        return Err(invalid(format!("{order:?} is no order of {rank} axes")));
    }
    let steps = strides(value.shape());
    let shape: Vec<usize> = order.iter().map(|&index| value.shape()[index]).collect();
    let steps: Vec<usize> = order.iter().map(|&index| steps[index]).collect();
    let indices = strided(&shape, &steps);
    import.picked(value, shape, &indices)
}

/// Expand, and Tile.
pub(super) fn repeat(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let value = call.required(0)?;
    let sizes = call.integers(1, "the sizes")?.ok_or_else(|| invalid("argument 1 is missing"))?;
    let sizes: std::result::Result<Vec<usize>, _> =
        sizes.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes.map_err(|_| invalid("a size is negative"))?;
    let own = value.shape().to_vec();
    if call.operator() == "Expand" {
        let shape = broadcast(&own, &sizes)
            .ok_or_else(|| invalid(format!("shape {own:?} does not fit {sizes:?}")))?;
        bounded(import, &shape)?;
        let indices = broadcast_indices(&own, &shape).unwrap_or_default();
        return import.picked(value, shape, &indices);
    }
    if sizes.len() != own.len() {
        return Err(invalid(format!("{} repetitions for {} axes", sizes.len(), own.len())));
    }
    let shape: Vec<usize> =
        own.iter().zip(&sizes).map(|(&own, &times)| own.saturating_mul(times)).collect();
    bounded(import, &shape)?;
    let mut offsets = vec![0];
    for ((&own, &times), &step) in own.iter().zip(&sizes).zip(&strides(&own)) {
        let places: Vec<usize> = (0..own * times).map(|place| place % own * step).collect();
        let sums = |&offset: &usize| places.iter().map(move |place| offset + place);
        offsets = offsets.iter().flat_map(sums).collect();
    }
    import.picked(value, shape, &offsets)
}

/// Checks that a shape that a file names fits into memory.
fn bounded(import: &mut Import<'_, '_>, shape: &[usize]) -> Result<()> {
    let count = count(shape).filter(|&count| count <= MAX_ELEMENTS);
    let count = count.ok_or_else(|| unsupported(format!("shape {shape:?} is too large")))?;
    import.meter.before_doubles(count)
}

/// More elements than this are a mistake.
const MAX_ELEMENTS: usize = 1 << 26;

/// Elements of a value by constant indices, or an entry of a constant list by a decision.
pub(super) fn gather(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis"])?;
    let data = call.required(0)?;
    let place = axis(attributes.integer("axis")?.unwrap_or(0), data.shape().len())?;
    let size = data.shape()[place];
    let indices = match (&data, call.required(1)?) {
        (_, Value::Constant(tensor)) => tensor,
        (Value::Constant(list), Value::Decision(decision)) if list.shape.len() == 1 => {
            return looked_up(list, decision);
        }
        (Value::Constant(table), Value::Flow(flow)) if place == 0 => {
            return super::discrete::table(import, table, &flow);
        }
        (_, other) => other.into_constant("the indices")?,
    };
    let picked: Result<Vec<usize>> = indices
        .as_integers()
        .ok_or_else(|| invalid("the indices must be integers"))?
        .iter()
        .map(|&index| axis(index, size))
        .collect();
    let own = data.shape().to_vec();
    let value = import.along_axis(data, place, &picked?)?;
    let shape = [&own[..place], &indices.shape, &own[place + 1..]].concat();
    Ok(value.reshaped(shape))
}

/// The entry of a list at the index of a decision.
pub(super) fn looked_up(list: &Tensor, decision: Decision) -> Result<Value> {
    if decision.classes.is_some() {
        return Err(unsupported("a class is looked up by another one"));
    }
    let element = list.element();
    let classes = match &list.data {
        Data::Integers(numbers) => Classes::Numbers(numbers.clone()),
        Data::Texts(names) => Classes::Names(names.clone()),
        Data::Floats(..) => return Err(unsupported("real numbers stand for the indices")),
    };
    Ok(Value::Decision(Decision { element, classes: Some(classes), ..decision }))
}

/// Slice: bounds are attributes in early versions and arguments in later ones.
pub(super) fn slice(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let known: &[&str] = if call.version < 10 { &["starts", "ends", "axes"] } else { &[] };
    let attributes = call.attributes(known)?;
    let mut value = call.required(0)?;
    let rank = value.shape().len();
    let list = |index: usize, name: &str| -> Result<Option<Vec<i64>>> {
        match attributes.integers(name)? {
            Some(list) => Ok(Some(list.to_vec())),
            None => call.integers(index, name),
        }
    };
    let missing = || invalid("the bounds are missing");
    let starts = list(1, "starts")?.ok_or_else(missing)?;
    let ends = list(2, "ends")?.ok_or_else(missing)?;
    let axes = match list(3, "axes")? {
        Some(axes) => axes,
        None => (0..i64::try_from(starts.len()).unwrap_or(0)).collect(),
    };
    let steps = call.integers(4, "the steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|&length| length != starts.len()) {
        return Err(invalid("the lists of bounds differ in length"));
    }
    for (((&start, &end), &index), &step) in starts.iter().zip(&ends).zip(&axes).zip(&steps) {
        let place = axis(index, rank)?;
        let size = i64::try_from(value.shape()[place]).map_err(|_| invalid("it is too large"))?;
        let from_start = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
        let picked: Vec<i64> = match step {
            0 => return Err(invalid("a step is 0")),
            1.. => {
                let (start, end) =
                    (from_start(start).clamp(0, size), from_start(end).clamp(0, size));
                let step = usize::try_from(step).unwrap_or(usize::MAX);
                (start..end).step_by(step).collect()
            }
            _ => {
                let start = from_start(start).clamp(-1, size - 1);
                let end = from_start(end).clamp(-1, size - 1);
                let step = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
                (end + 1..=start).rev().step_by(step).collect()
            }
        };
        let picked: Vec<usize> =
            picked.into_iter().filter_map(|place| usize::try_from(place).ok()).collect();
        value = import.along_axis(value, place, &picked)?;
    }
    Ok(value)
}

/// Split: sizes are an attribute in early versions and an argument in later ones.
pub(super) fn split(import: &mut Import<'_, '_>, call: &Call) -> Result<Vec<Value>> {
    let attributes = call.attributes(&["axis", "split", "num_outputs"])?;
    let value = call.required(0)?;
    let place = axis(attributes.integer("axis")?.unwrap_or(0), value.shape().len())?;
    let size = value.shape()[place];
    let outputs = call.node.output.len();
    let listed = match call.integers(1, "the sizes")? {
        Some(listed) => Some(listed),
        None => attributes.integers("split")?.map(<[i64]>::to_vec),
    };
    let sizes: Vec<usize> = match listed {
        Some(listed) => {
            let sizes: std::result::Result<Vec<usize>, _> =
                listed.iter().map(|&size| usize::try_from(size)).collect();
            sizes.map_err(|_| invalid("a size is negative"))?
        }
        None => {
            // The last one may be smaller.
            let each = size.div_ceil(outputs.max(1));
            (0..outputs).map(|i| size.saturating_sub(i * each).min(each)).collect()
        }
    };
    if sizes.len() != outputs || sizes.iter().sum::<usize>() != size {
        return Err(invalid(format!("{size} elements are split into {sizes:?}")));
    }
    let mut first = 0;
    let mut parts = Vec::with_capacity(outputs);
    for size in sizes {
        let picked: Vec<usize> = (first..first + size).collect();
        parts.push(import.along_axis(value.clone(), place, &picked)?);
        first += size;
    }
    Ok(parts)
}

/// Joins values along an axis.
pub(super) fn concat(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis"])?;
    let values = call.all()?;
    let rank = values[0].shape().len();
    let place = attributes.integer("axis")?;
    let place = place.ok_or_else(|| invalid("attribute `axis` is missing"))?;
    join(import, values, axis(place, rank)?)
}

/// Values one after the other along an axis.
pub(super) fn join(import: &mut Import<'_, '_>, values: Vec<Value>, axis: usize) -> Result<Value> {
    let rank = values[0].shape().len();
    let mut shape = values[0].shape().to_vec();
    shape[axis] = 0;
    for value in &values {
        let fits = value.shape().len() == rank
            && (0..rank).all(|k| k == axis || value.shape()[k] == shape[k]);
        if !fits {
            let message = format!("shapes {:?} and {:?}", values[0].shape(), value.shape());
            return Err(invalid(format!("{message} cannot be joined")));
        }
        shape[axis] = shape[axis].saturating_add(value.shape()[axis]);
    }
    if let [value] = &values[..] {
        return Ok(value.clone());
    }
    // As they stand one after the other; then in the order of the result.
    let widths: Vec<usize> = values.iter().map(|value| count(value.shape()).unwrap_or(0)).collect();
    let mut indices = Vec::with_capacity(widths.iter().sum());
    let rows = count(&shape[..axis]).unwrap_or(0);
    for row in 0..rows {
        let mut first = 0;
        for &width in &widths {
            let part = width / rows;
            indices.extend(first + row * part..first + (row + 1) * part);
            first += width;
        }
    }
    let joined = joined(import, values, vec![indices.len()])?;
    import.picked(joined, shape, &indices)
}

/// All elements, one value after the other.
fn joined(import: &mut Import<'_, '_>, values: Vec<Value>, shape: Vec<usize>) -> Result<Value> {
    if let Some(integers) = all_integers(&values) {
        return Ok(Value::Constant(Tensor { shape, data: Data::Integers(integers) }));
    }
    if values.iter().all(|value| matches!(value, Value::Decision(_))) {
        return super::order::joint(import, values);
    }
    let varying = values.iter().find(|value| !matches!(value, Value::Constant(_)));
    let Some(varying) = varying else { return Err(unsupported("constants are joined")) };
    let first = varying.clone().into_flow()?;
    let mut origin = Some(Vec::new());
    let mut truth = true;
    let mut nodes = Vec::with_capacity(values.len());
    for value in values {
        use super::value::{Flow, Origin};
        match value {
            Value::Flow(Flow { node, element, origin: own, .. }) if element == first.element => {
                origin = origin.and_then(|mut all: Vec<usize>| match &own {
                    Origin::Inputs(inputs) => {
                        all.extend(inputs.iter());
                        Some(all)
                    }
                    Origin::Computed | Origin::Truth => None,
                });
                truth &= matches!(own, Origin::Truth);
                nodes.push(node);
            }
            other => {
                (origin, truth) = (None, false);
                let shape = other.shape().to_vec();
                nodes.push(import.node_of(other, &shape)?);
            }
        }
    }
    let node = import.builder.concat(nodes)?;
    let origin = match origin {
        Some(inputs) => super::value::Origin::Inputs(inputs.into()),
        None if truth => super::value::Origin::Truth,
        None => super::value::Origin::Computed,
    };
    Ok(Value::Flow(super::value::Flow { node, shape, element: first.element, origin }))
}

/// The elements of constants of integers, one after the other; `None` if there are others.
fn all_integers(values: &[Value]) -> Option<Vec<i64>> {
    let mut integers = Vec::new();
    for value in values {
        let Value::Constant(tensor) = value else { return None };
        integers.extend(tensor.as_integers()?);
    }
    Some(integers)
}

/// Pad with a constant, 0 if none is given.
pub(super) fn pad(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["mode", "pads", "value"])?;
    if let Some(mode) = attributes.text("mode")?.filter(|mode| mode != "constant") {
        return Err(unsupported(format!("mode {mode} is not supported; constant is")));
    }
    if call.optional(3).is_some() {
        return Err(unsupported("padding along some axes alone is not supported"));
    }
    let flow = call.required(0)?.into_flow()?;
    let rank = flow.shape.len();
    let pads = match attributes.integers("pads")? {
        Some(pads) => pads.to_vec(),
        None => call.integers(1, "the pads")?.ok_or_else(|| invalid("the pads are missing"))?,
    };
    let constant = match call.optional(2) {
        Some(value) => match value.into_constant("the value")?.data {
            Data::Floats(values, _) if values.len() == 1 && flow.element.is_real() => values[0],
            Data::Integers(values) if values.len() == 1 && !flow.element.is_real() => {
                super::discrete::number(values[0])?
            }
            _ => return Err(invalid("the value must be one number, of the type of the others")),
        },
        None => attributes.float("value")?.unwrap_or(0.0),
    };
    let sizes: std::result::Result<Vec<usize>, _> =
        pads.iter().map(|&pad| usize::try_from(pad)).collect();
    let sizes = sizes.map_err(|_| unsupported("negative pads are not supported"))?;
    if sizes.len() != 2 * rank {
        return Err(invalid(format!("{} pads for {rank} axes", sizes.len())));
    }
    let shape: Vec<usize> = (0..rank)
        .map(|axis| flow.shape[axis].saturating_add(sizes[axis]).saturating_add(sizes[rank + axis]))
        .collect();
    bounded(import, &shape)?;
    let steps = strides(&shape);
    let first: usize = (0..rank).map(|axis| sizes[axis] * steps[axis]).sum();
    let targets = strided(&flow.shape, &steps);
    let mut bias = vec![constant; count(&shape).unwrap_or(0)];
    targets.iter().for_each(|target| bias[first + target] = 0.0);
    let entries = targets.iter().enumerate().map(|(source, target)| (first + target, source, 1.0));
    let node = import.sparse_affine(flow.node, entries, bias)?;
    Ok(Value::computed(node, shape, flow.element))
}
