//! Sums, means and extrema along axes.

use super::call::Call;
use super::graph::Import;
use super::reshape::axis;
use super::tensor::{Data, Tensor, count, strided};
use super::unread::ranked;
use super::value::{Known, UnreadValue, Value};
use crate::activation::Activation;
use crate::error::PolicyError;
use crate::network::NodeId;

type Result<T> = std::result::Result<T, PolicyError>;

/// The axes along which values are put together.
pub(super) struct Axes {
    reduced: Vec<bool>,
    keeps: bool,
}

/// The axes of a node, which are an attribute in early versions and an argument in later ones; all
/// without any.
pub(super) fn axes(call: &Call, rank: usize) -> Result<Axes> {
    let known = ["axes", "keepdims", "noop_with_empty_axes"];
    let attributes = call.attributes(&known)?;
    let keeps = attributes.integer("keepdims")?.unwrap_or(1) != 0;
    let of_argument = call.integers(1, "the axes")?;
    let listed = match of_argument {
        Some(listed) => Some(listed),
        None => attributes.integers("axes")?.map(<[i64]>::to_vec),
    };
    let nothing = attributes.integer("noop_with_empty_axes")?.unwrap_or(0) != 0;
    let mut reduced = vec![false; rank];
    match listed.filter(|listed| !listed.is_empty()) {
        None => reduced.fill(!nothing),
        Some(listed) => {
            for index in listed {
                reduced[axis(index, rank)?] = true;
            }
        }
    }
    Ok(Axes { reduced, keeps })
}

impl Axes {
    /// The axes of an image: all but batch and channel.
    fn spatial(rank: usize) -> Self {
        Self { reduced: (0..rank).map(|axis| axis >= 2).collect(), keeps: true }
    }

    /// The shape of the result.
    pub(super) fn shape(&self, shape: &[usize]) -> Vec<usize> {
        let sizes = shape.iter().zip(&self.reduced);
        sizes
            .filter_map(|(&size, &reduced)| match (reduced, self.keeps) {
                (true, true) => Some(1),
                (true, false) => None,
                (false, _) => Some(size),
            })
            .collect()
    }

    /// The elements that go into the first element of the result, and the offset of each element of
    /// the result.
    fn parts(&self, shape: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut strides = vec![1; shape.len()];
        for index in (1..shape.len()).rev() {
            strides[index - 1] = strides[index] * shape[index];
        }
        let offsets = |wanted: bool| {
            let axes = (0..shape.len()).filter(|&axis| self.reduced[axis] == wanted);
            let (sizes, steps): (Vec<usize>, Vec<usize>) =
                axes.map(|axis| (shape[axis], strides[axis])).unzip();
            strided(&sizes, &steps)
        };
        (offsets(true), offsets(false))
    }
}

/// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceLogSumExp, ReduceL1, ReduceL2,
/// ReduceSumSquare.
pub(super) fn reduce(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let value = call.required(0)?;
    let axes = axes(call, value.shape().len())?;
    along(import, &value, &axes, &call.operator()["Reduce".len()..])
}

/// GlobalAveragePool, GlobalMaxPool.
pub(super) fn global(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let value = call.required(0)?;
    let axes = Axes::spatial(value.shape().len());
    let kind = if call.operator() == "GlobalMaxPool" { "Max" } else { "Mean" };
    along(import, &value, &axes, kind)
}

/// The mean of each channel of an image.
pub(super) fn mean_of_channels(import: &mut Import<'_, '_>, value: &Value) -> Result<Value> {
    along(import, value, &Axes::spatial(value.shape().len()), "Mean")
}

fn along(import: &mut Import<'_, '_>, value: &Value, axes: &Axes, kind: &str) -> Result<Value> {
    let shape = axes.shape(value.shape());
    let (parts, offsets) = axes.parts(value.shape());
    let is_ranked = matches!(value, Value::Ranked(ranked) if ranked.is_positive);
    if kind == "LogSumExp" || (kind == "Sum" && is_ranked) {
        let Some(ranked) = ranked(value) else {
            return Err(PolicyError::unsupported("", "of such values it is not supported"));
        };
        let known = if kind == "Sum" { Known::Positive } else { Known::Real };
        let message = "the number itself is not computed: it is supported where it is subtracted \
                       from scores, or divides them, at the end of a policy";
        return Ok(Value::Unread(UnreadValue {
            shape: Some(shape),
            element: Some(ranked.element),
            known,
            place: String::new(),
            message: message.to_owned(),
        }));
    }
    if let Value::Constant(Tensor { data: Data::Integers(values), .. }) = value {
        return constant(values, shape, (&parts, &offsets), kind);
    }
    let flow = value.clone().into_numbers()?;
    let node = match kind {
        "Sum" | "Mean" => {
            let sum = summed(import, flow.node, (&parts, &offsets))?;
            if kind == "Mean" { import.divided(sum, parts.len())? } else { sum }
        }
        "Max" | "Min" => {
            let mut nodes = Vec::with_capacity(parts.len());
            for &part in &parts {
                import.meter.before(0)?;
                let indices: Vec<usize> = offsets.iter().map(|offset| offset + part).collect();
                let node = import.selection(flow.node, &indices)?;
                nodes.push(if kind == "Min" { import.times(node, -1.0)? } else { node });
            }
            let greatest = import.builder.max(nodes)?;
            if kind == "Min" { import.times(greatest, -1.0)? } else { greatest }
        }
        "L1" | "L2" | "SumSquare" => {
            let terms = match kind {
                "L1" => {
                    let magnitude = Activation::Leaky { alpha: -1.0 };
                    import.builder.activation(flow.node, magnitude)?
                }
                _ => import.square(flow.node)?,
            };
            let sum = summed(import, terms, (&parts, &offsets))?;
            if kind == "L2" { import.root(sum)? } else { sum }
        }
        _ => return Err(PolicyError::unsupported("", "of the input it is not supported")),
    };
    Ok(Value::computed(node, shape, flow.element))
}

/// The sums of the parts of a vector.
fn summed(
    import: &mut Import<'_, '_>,
    node: NodeId,
    (parts, offsets): (&[usize], &[usize]),
) -> Result<NodeId> {
    let rows = offsets.iter().enumerate();
    let entries =
        rows.flat_map(|(row, &offset)| parts.iter().map(move |&part| (row, offset + part, 1.0)));
    import.sparse_affine(node, entries, vec![0.0; offsets.len()])
}

/// Of integers that are the same in every state.
fn constant(
    values: &[i64],
    shape: Vec<usize>,
    (parts, offsets): (&[usize], &[usize]),
    kind: &str,
) -> Result<Value> {
    let one = |offset: usize| -> Option<i64> {
        let mut values = parts.iter().map(|part| values[offset + part]);
        match kind {
            "Sum" => values.try_fold(0i64, i64::checked_add),
            "Prod" => values.try_fold(1i64, i64::checked_mul),
            "Max" => values.max(),
            "Min" => values.min(),
            _ => None,
        }
    };
    let results: Option<Vec<i64>> = offsets.iter().map(|&offset| one(offset)).collect();
    let data =
        results.ok_or_else(|| PolicyError::unsupported("", "of constants it has no value"))?;
    debug_assert_eq!(count(&shape), Some(data.len()));
    Ok(Value::Constant(Tensor { shape, data: Data::Integers(data) }))
}
