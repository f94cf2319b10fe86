//! Constant tensors, and the shapes of values.

use super::proto::{StringStringEntryProto, TensorProto, data_type};
use crate::error::PolicyError;

/// What the elements of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Integers or truth values.
    Integer,
}

impl Element {
    /// The element type of a code; `None` if it is not supported.
    pub(crate) fn of(code: i32) -> Option<Self> {
        match code {
            data_type::FLOAT => Some(Element::F32),
            data_type::DOUBLE => Some(Element::F64),
            data_type::INT32 | data_type::INT64 | data_type::BOOL => Some(Element::Integer),
            _ => None,
        }
    }
}

impl Element {
    /// How messages name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::F32 => "float",
            Element::F64 => "double",
            Element::Integer => "integers",
        }
    }
}

/// A constant: its shape and its elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    /// Widened exactly from what is stored.
    Floats(Vec<f64>, Element),
    Integers(Vec<i64>),
}

impl Tensor {
    /// One-dimensional integers.
    pub(crate) fn integers(values: Vec<i64>) -> Self {
        Self { shape: vec![values.len()], data: Data::Integers(values) }
    }

    pub(crate) fn element(&self) -> Element {
        match &self.data {
            Data::Floats(_, element) => *element,
            Data::Integers(_) => Element::Integer,
        }
    }

    /// The elements, if they are floating-point numbers.
    pub(crate) fn floats(&self) -> Option<&[f64]> {
        match &self.data {
            Data::Floats(values, _) => Some(values),
            Data::Integers(_) => None,
        }
    }

    /// The elements, if they are integers.
    pub(crate) fn as_integers(&self) -> Option<&[i64]> {
        match &self.data {
            Data::Floats(..) => None,
            Data::Integers(values) => Some(values),
        }
    }

    /// Elements picked by index, in a new shape.
    pub(crate) fn picked(&self, shape: Vec<usize>, indices: &[usize]) -> Self {
        let data = match &self.data {
            Data::Floats(values, element) => {
                Data::Floats(indices.iter().map(|&i| values[i]).collect(), *element)
            }
            Data::Integers(values) => Data::Integers(indices.iter().map(|&i| values[i]).collect()),
        };
        Self { shape, data }
    }

    /// Reads a stored tensor; `place` names it in messages. Elements may be no numbers: what uses
    /// them checks.
    pub(crate) fn read(proto: &TensorProto, place: &str) -> Result<Self, PolicyError> {
        let invalid = |message: String| PolicyError::invalid(place, message);
        if proto.data_location != 0 || !proto.external_data.is_empty() {
            let entry = |entry: &StringStringEntryProto| {
                (entry.key == "location").then(|| format!(" ({})", entry.value))
            };
            let location = proto.external_data.iter().find_map(entry).unwrap_or_default();
            let message =
                format!("data in another file{location} is not supported; store it in the model");
            return Err(PolicyError::unsupported(place, message));
        }
        let mut shape = Vec::with_capacity(proto.dims.len());
        for &dimension in &proto.dims {
            match usize::try_from(dimension) {
                Ok(size) => shape.push(size),
                Err(_) => return Err(invalid(format!("a dimension is {dimension}"))),
            }
        }
        let count = count(&shape).ok_or_else(|| invalid("the dimensions overflow".to_owned()))?;
        let raw = &proto.raw_data;
        let data = match proto.data_type {
            data_type::FLOAT => {
                let values = stored(raw, &proto.float_data, f32::from_le_bytes);
                Data::Floats(values.into_iter().map(f64::from).collect(), Element::F32)
            }
            data_type::DOUBLE => {
                Data::Floats(stored(raw, &proto.double_data, f64::from_le_bytes), Element::F64)
            }
            data_type::INT64 => Data::Integers(stored(raw, &proto.int64_data, i64::from_le_bytes)),
            data_type::INT32 => {
                let values = stored(raw, &proto.int32_data, i32::from_le_bytes);
                Data::Integers(values.into_iter().map(i64::from).collect())
            }
            data_type::BOOL if raw.is_empty() => {
                Data::Integers(proto.int32_data.iter().map(|&value| i64::from(value)).collect())
            }
            data_type::BOOL => Data::Integers(raw.iter().map(|&byte| i64::from(byte)).collect()),
            other => {
                let message = format!(
                    "elements of type {} are not supported; float, double, int32, int64 and bool \
                     are",
                    data_type::name(other)
                );
                return Err(PolicyError::unsupported(place, message));
            }
        };
        let (found, bytes) = match &data {
            Data::Floats(values, Element::F64) => (values.len(), 8),
            Data::Floats(values, _) => (values.len(), 4),
            Data::Integers(values) => {
                let bytes = match proto.data_type {
                    data_type::INT64 => 8,
                    data_type::INT32 => 4,
                    _ => 1,
                };
                (values.len(), bytes)
            }
        };
        if found != count || !raw.len().is_multiple_of(bytes) {
            return Err(invalid(format!("{count} elements are declared, {found} are stored")));
        }
        if let (data_type::BOOL, Data::Integers(values)) = (proto.data_type, &data)
            && let Some(other) = values.iter().find(|value| !(0..=1).contains(*value))
        {
            return Err(invalid(format!("an element is {other}, which is no truth value")));
        }
        Ok(Self { shape, data })
    }
}

/// Elements from raw little-endian bytes if there are any, else from the typed field. Incomplete
/// elements at the end are left out.
fn stored<T: Copy, const BYTES: usize>(
    raw: &[u8],
    typed: &[T],
    from_bytes: impl Fn([u8; BYTES]) -> T,
) -> Vec<T> {
    if raw.is_empty() {
        return typed.to_vec();
    }
    raw.as_chunks::<BYTES>().0.iter().map(|&bytes| from_bytes(bytes)).collect()
}

/// Number of elements of a shape.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size))
}

/// The shape that two shapes broadcast to.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(axis) => shape[axis],
        None => 1,
    };
    (0..rank)
        .map(|axis| match (size(a, axis), size(b, axis)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect()
}

/// For each element of `target`, the element of `shape` that broadcasting puts there; `None` if
/// `shape` does not broadcast to `target`.
pub(crate) fn broadcast_indices(shape: &[usize], target: &[usize]) -> Option<Vec<usize>> {
    if broadcast(shape, target)? != target {
        return None;
    }
    // Row-major strides of `shape`, 0 where it is repeated.
    let mut strides = vec![0; target.len()];
    let mut stride = 1;
    for (axis, &size) in shape.iter().enumerate().rev() {
        if size != 1 {
            strides[axis + target.len() - shape.len()] = stride;
        }
        stride *= size;
    }
    Some(strided(target, &strides))
}

/// The offsets of all elements of a shape, in row-major order, for given strides.
pub(crate) fn strided(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for (&size, &stride) in shape.iter().zip(strides) {
        offsets = offsets
            .iter()
            .flat_map(|&offset| (0..size).map(move |i| offset + i * stride))
            .collect();
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast(&[1, 3], &[3]), Some(vec![1, 3]));
        assert_eq!(broadcast(&[2, 1], &[1, 3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[], &[3]), Some(vec![3]));
        assert_eq!(broadcast(&[2], &[3]), None);
        assert_eq!(broadcast_indices(&[2, 1], &[2, 3]), Some(vec![0, 0, 0, 1, 1, 1]));
        assert_eq!(broadcast_indices(&[3], &[2, 3]), Some(vec![0, 1, 2, 0, 1, 2]));
        assert_eq!(broadcast_indices(&[], &[1, 2]), Some(vec![0, 0]));
        assert_eq!(broadcast_indices(&[2, 3], &[3]), None);
    }

    #[test]
    fn transposition_by_strides() {
        // The transpose of a 2 × 3 matrix.
        assert_eq!(strided(&[3, 2], &[1, 3]), [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn stored_tensors() {
        let floats = TensorProto {
            dims: vec![2],
            data_type: data_type::FLOAT,
            float_data: vec![0.1, 2.0],
            ..TensorProto::default()
        };
        let tensor = Tensor::read(&floats, "W").expect("valid");
        assert_eq!(tensor.floats(), Some(&[f64::from(0.1f32), 2.0][..]));
        let raw = TensorProto {
            float_data: Vec::new(),
            raw_data: [0.1f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect(),
            ..floats.clone()
        };
        assert_eq!(Tensor::read(&raw, "W").expect("valid"), tensor);
        let broken = [
            TensorProto { dims: vec![3], ..floats.clone() },
            TensorProto { dims: vec![-1], ..floats.clone() },
            TensorProto { dims: vec![i64::MAX, i64::MAX], ..floats.clone() },
            TensorProto { raw_data: vec![0; 9].into(), ..floats.clone() },
        ];
        for tensor in broken {
            assert!(matches!(Tensor::read(&tensor, "W"), Err(PolicyError::Invalid { .. })));
        }
        for tensor in [
            TensorProto { data_location: 1, ..floats.clone() },
            TensorProto { data_type: 10, ..floats.clone() },
        ] {
            assert!(matches!(Tensor::read(&tensor, "W"), Err(PolicyError::Unsupported { .. })));
        }
    }
}
