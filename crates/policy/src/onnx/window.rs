//! Convolution and pooling: linear functions and maxima of the elements in a window.

use super::attributes::Attributes;
use super::call::Call;
use super::graph::Import;
use super::tensor::{Tensor, count, strided};
use super::value::{Flow, Value};
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// The places of a window, one for each place of the result.
struct Windows {
    /// Sizes of the input along the axes of the image.
    input: Vec<usize>,
    kernel: Vec<usize>,
    strides: Vec<usize>,
    dilations: Vec<usize>,
    /// Before the first element.
    pads: Vec<usize>,
    output: Vec<usize>,
}

impl Windows {
    fn read(attributes: &Attributes<'_>, input: &[usize], kernel: Vec<usize>) -> Result<Self> {
        let axes = input.len();
        if kernel.len() != axes || kernel.contains(&0) {
            return Err(invalid(format!("a window of shape {kernel:?} over {axes} axes")));
        }
        let list = |name: &str, length: usize, default: usize| -> Result<Vec<usize>> {
            let Some(list) = attributes.integers(name)? else { return Ok(vec![default; length]) };
            let list: std::result::Result<Vec<usize>, _> =
                list.iter().map(|&value| usize::try_from(value)).collect();
            let list = list.map_err(|_| invalid(format!("`{name}` is negative")))?;
            if list.len() == length {
                Ok(list)
            } else {
                Err(invalid(format!("`{name}`: {list:?}")))
            }
        };
        let strides = list("strides", axes, 1)?;
        let dilations = list("dilations", axes, 1)?;
        let mut pads = list("pads", 2 * axes, 0)?;
        if strides.contains(&0) || dilations.contains(&0) {
            return Err(invalid("a stride or a dilation is 0"));
        }
        if attributes.integer("ceil_mode")?.unwrap_or(0) != 0 {
            return Err(unsupported("`ceil_mode` is not supported"));
        }
        let spans: Vec<usize> = (0..axes)
            .map(|axis| (kernel[axis] - 1).saturating_mul(dilations[axis]).saturating_add(1))
            .collect();
        match attributes.text("auto_pad")?.as_deref().unwrap_or("NOTSET") {
            "NOTSET" => {}
            "VALID" => pads.fill(0),
            mode @ ("SAME_UPPER" | "SAME_LOWER") => {
                for axis in 0..axes {
                    let steps = input[axis].div_ceil(strides[axis]) - 1;
                    let needed = (steps * strides[axis] + spans[axis]).saturating_sub(input[axis]);
                    let less = needed / 2;
                    let first = if mode == "SAME_UPPER" { less } else { needed - less };
                    (pads[axis], pads[axes + axis]) = (first, needed - first);
                }
            }
            other => return Err(unsupported(format!("`auto_pad` {other} is not supported"))),
        }
        let output: Option<Vec<usize>> = (0..axes)
            .map(|axis| {
                let padded = input[axis].checked_add(pads[axis])?.checked_add(pads[axes + axis])?;
                Some(padded.checked_sub(spans[axis])? / strides[axis] + 1)
            })
            .collect();
        let output = output.ok_or_else(|| invalid("the window is larger than the image"))?;
        pads.truncate(axes);
        Ok(Self { input: input.to_vec(), kernel, strides, dilations, pads, output })
    }

    /// For each place of the result in order: the places in the kernel and in the image that meet.
    fn meetings(&self) -> Vec<Vec<(usize, usize)>> {
        let numbered = |shape: &[usize]| -> Vec<Vec<usize>> {
            let mut all = vec![Vec::new()];
            for &size in shape {
                let longer = |place: &Vec<usize>| {
                    let place = place.clone();
                    (0..size).map(move |i| [&place[..], &[i]].concat())
                };
                all = all.iter().flat_map(longer).collect();
            }
            all
        };
        let places = numbered(&self.kernel);
        let of = |place: &Vec<usize>| {
            let meets = |(index, inside): (usize, &Vec<usize>)| {
                let mut source = 0;
                for (axis, &size) in self.input.iter().enumerate() {
                    let at = place[axis] * self.strides[axis] + inside[axis] * self.dilations[axis];
                    let at = at.checked_sub(self.pads[axis]).filter(|&at| at < size)?;
                    source = source * size + at;
                }
                Some((index, source))
            };
            places.iter().enumerate().filter_map(meets).collect()
        };
        numbered(&self.output).iter().map(of).collect()
    }
}

/// Attributes of a convolution.
pub(super) const CONVOLUTION: [&str; 6] =
    ["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];

/// Conv of one image with constant kernels.
pub(super) fn convolution(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&CONVOLUTION)?;
    let flow = call.required(0)?.into_numbers()?;
    let kernels = call.numbers(1, "the kernel")?;
    let bias = match call.optional(2) {
        None => None,
        Some(_) => Some(call.numbers(2, "the bias")?.floats().unwrap_or_default().to_vec()),
    };
    convolved(import, &attributes, flow, &kernels, bias)
}

/// The convolution of one image with constant kernels, with a bias for each of them.
pub(super) fn convolved(
    import: &mut Import<'_, '_>,
    attributes: &Attributes<'_>,
    flow: Flow,
    kernels: &Tensor,
    bias: Option<Vec<f64>>,
) -> Result<Value> {
    let (&[1, channels, ref image @ ..], &[maps, depth, ref kernel @ ..]) =
        (&flow.shape[..], &kernels.shape[..])
    else {
        let message = format!("an image of shape {:?}, kernels {:?}", flow.shape, kernels.shape);
        return Err(unsupported(message));
    };
    let groups = usize::try_from(attributes.integer("group")?.unwrap_or(1)).unwrap_or(0);
    let fits = groups > 0
        && channels == depth.saturating_mul(groups)
        && maps.is_multiple_of(groups)
        && attributes.integers("kernel_shape")?.is_none_or(|shape| {
            shape.iter().map(|&size| usize::try_from(size).ok()).eq(kernel.iter().map(|&k| Some(k)))
        });
    if !fits {
        let message = format!("{channels} channels, {groups} groups, kernels {:?}", kernels.shape);
        return Err(invalid(message));
    }
    let windows = Windows::read(attributes, image, kernel.to_vec())?;
    let bias = bias.unwrap_or_else(|| vec![0.0; maps]);
    if bias.len() != maps {
        return Err(invalid(format!("{} biases for {maps} maps", bias.len())));
    }
    let meetings = windows.meetings();
    let (area, window) = (count(image).unwrap_or(0), count(kernel).unwrap_or(0));
    let values = kernels.floats().unwrap_or_default();
    let mut entries = Vec::new();
    for map in 0..maps {
        let first = map / (maps / groups) * depth;
        for (place, meeting) in meetings.iter().enumerate() {
            import.meter.before(0)?;
            for channel in 0..depth {
                for &(inside, source) in meeting {
                    let weight = values[(map * depth + channel) * window + inside];
                    let column = (first + channel) * area + source;
                    entries.push((map * meetings.len() + place, column, weight));
                }
            }
        }
    }
    let bias: Vec<f64> =
        bias.iter().flat_map(|&bias| std::iter::repeat_n(bias, meetings.len())).collect();
    let shape = [&[1, maps][..], &windows.output].concat();
    let node = import.sparse_affine(flow.node, entries.into_iter(), bias)?;
    Ok(Value::computed(node, shape, flow.element))
}

/// Attributes of a pool.
const POOL: [&str; 8] = [
    "auto_pad",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "kernel_shape",
    "pads",
    "storage_order",
    "strides",
];

/// MaxPool and AveragePool of one image.
pub(super) fn pool(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&POOL)?;
    if call.operator() == "MaxPool" {
        let flow = call.required(0)?.into_flow()?;
        return pooled(import, &attributes, flow, Pool::Greatest);
    }
    let flow = call.required(0)?.into_numbers()?;
    pooled(import, &attributes, flow, Pool::Mean)
}

/// The number that stands for the elements of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pool {
    Greatest,
    Mean,
}

/// One number for each window of an image.
pub(super) fn pooled(
    import: &mut Import<'_, '_>,
    attributes: &Attributes<'_>,
    flow: Flow,
    pool: Pool,
) -> Result<Value> {
    let &[1, channels, ref image @ ..] = &flow.shape[..] else {
        return Err(unsupported(format!("an image of shape {:?}", flow.shape)));
    };
    let kernel = attributes.integers("kernel_shape")?.unwrap_or_default();
    let kernel: std::result::Result<Vec<usize>, _> =
        kernel.iter().map(|&size| usize::try_from(size)).collect();
    let kernel = kernel.map_err(|_| invalid("a size of the window is negative"))?;
    let window = count(&kernel).unwrap_or(0);
    let windows = Windows::read(attributes, image, kernel)?;
    let meetings = windows.meetings();
    let area = count(image).unwrap_or(0);
    let shape = [&[1, channels][..], &windows.output].concat();
    let places: Vec<Vec<usize>> = strided(&[channels], &[area])
        .iter()
        .flat_map(|first| {
            let place = |meeting: &Vec<(usize, usize)>| -> Vec<usize> {
                meeting.iter().map(|(_, source)| first + source).collect()
            };
            meetings.iter().map(place).collect::<Vec<_>>()
        })
        .collect();
    if places.iter().any(Vec::is_empty) {
        return Err(unsupported("a window lies outside the image"));
    }
    let node = if pool == Pool::Greatest {
        // Windows at the border have fewer elements: the last one stands for those that are missing.
        let longest = places.iter().map(Vec::len).max().unwrap_or(1);
        let mut nodes = Vec::with_capacity(longest);
        for index in 0..longest {
            import.meter.before(0)?;
            let indices: Vec<usize> =
                places.iter().map(|place| place[index.min(place.len() - 1)]).collect();
            nodes.push(import.selection(flow.node, &indices)?);
        }
        import.builder.max(nodes)?
    } else {
        let all_count = attributes.integer("count_include_pad")?.unwrap_or(0) != 0;
        let rows = places.iter().enumerate();
        let entries = rows.flat_map(|(row, place)| place.iter().map(move |&s| (row, s, 1.0)));
        let sum = import.sparse_affine(flow.node, entries, vec![0.0; places.len()])?;
        #[expect(clippy::cast_precision_loss, reason = "a window has few elements")]
        let number = |place: &Vec<usize>| if all_count { window } else { place.len() } as f64;
        let divisors: Vec<f64> = places.iter().map(number).collect();
        let all = |value: f64| vec![value; places.len()];
        import.builder.scale(sum, all(1.0), divisors, all(0.0))?
    };
    Ok(Value::computed(node, shape, flow.element))
}
