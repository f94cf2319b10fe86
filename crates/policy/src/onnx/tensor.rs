//! Constant tensors, and the shapes of values.

use super::proto::{TensorProto, data_type};
use crate::error::PolicyError;

/// The type of the elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Half precision.
    F16,
    /// Single precision with eight bits of mantissa.
    BF16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Integers or truth values.
    Integer,
    /// Texts.
    Text,
}

impl Element {
    /// The element type of a code; `None` if it is not supported.
    pub(crate) fn of(code: i32) -> Option<Self> {
        match code {
            data_type::FLOAT16 => Some(Element::F16),
            data_type::BFLOAT16 => Some(Element::BF16),
            data_type::FLOAT => Some(Element::F32),
            data_type::DOUBLE => Some(Element::F64),
            data_type::UINT8
            | data_type::INT8
            | data_type::UINT16
            | data_type::INT16
            | data_type::INT32
            | data_type::INT64
            | data_type::BOOL => Some(Element::Integer),
            data_type::STRING => Some(Element::Text),
            _ => None,
        }
    }
}

impl Element {
    /// The name of the type in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Element::F16 => "float16",
            Element::BF16 => "bfloat16",
            Element::F32 => "float",
            Element::F64 => "double",
            Element::Integer => "integers",
            Element::Text => "string",
        }
    }

    /// Returns whether it is a type of floating-point numbers.
    pub(crate) fn is_real(self) -> bool {
        match self {
            Element::F16 | Element::BF16 | Element::F32 | Element::F64 => true,
            Element::Integer | Element::Text => false,
        }
    }

    /// Returns whether each number of this type is also a number of the other type.
    pub(crate) fn widens_to(self, target: Element) -> bool {
        match (self, target) {
            (Element::F16 | Element::BF16, Element::F32)
            | (Element::F16 | Element::BF16 | Element::F32 | Element::Integer, Element::F64)
            | (Element::Integer, Element::F32 | Element::F16 | Element::BF16) => true,
            (own, target) => own == target,
        }
    }

    /// Returns whether a number is one of this type.
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    pub(crate) fn holds(self, value: f64) -> bool {
        let same = |other: f64| other.to_bits() == value.to_bits() || value.is_nan();
        let single = value as f32;
        match self {
            Element::F64 => true,
            Element::F32 => same(f64::from(single)),
            Element::BF16 => same(f64::from(single)) && single.to_bits() & 0xffff == 0,
            Element::F16 => {
                let scale = f64::from(2.0f32.powi(24));
                let magnitude = value.abs();
                let digits = single.to_bits() & 0x1fff == 0 || magnitude < 6.2e-5;
                let fits = magnitude <= 65_504.0 && (value * scale).fract().abs() <= 0.0;
                value.is_infinite() || (same(f64::from(single)) && digits && fits)
            }
            Element::Integer => value.fract().abs() <= 0.0,
            Element::Text => false,
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
    Texts(Vec<String>),
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
            Data::Texts(_) => Element::Text,
        }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        match &self.data {
            Data::Floats(values, _) => values.len(),
            Data::Integers(values) => values.len(),
            Data::Texts(values) => values.len(),
        }
    }

    /// The elements, if they are floating-point numbers.
    pub(crate) fn floats(&self) -> Option<&[f64]> {
        match &self.data {
            Data::Floats(values, _) => Some(values),
            Data::Integers(_) | Data::Texts(_) => None,
        }
    }

    /// The elements, if they are integers.
    pub(crate) fn as_integers(&self) -> Option<&[i64]> {
        match &self.data {
            Data::Floats(..) | Data::Texts(_) => None,
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
            Data::Texts(values) => {
                Data::Texts(indices.iter().map(|&i| values[i].clone()).collect())
            }
        };
        Self { shape, data }
    }

    /// Reads a stored tensor; `place` names it in messages. Elements may be no numbers: what uses
    /// them checks.
    pub(crate) fn read(proto: &TensorProto, place: &str) -> Result<Self, PolicyError> {
        let invalid = |message: String| PolicyError::invalid(place, message);
        if proto.data_location != 0 || !proto.external_data.is_empty() {
            let message = "its data in another file cannot be read here; store it in the model";
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
        let (data, bytes) = data(proto, place)?;
        let tensor = Self { shape, data };
        let found = tensor.len();
        if found != count || !proto.raw_data.len().is_multiple_of(bytes) {
            return Err(invalid(format!("{count} elements are declared, {found} are stored")));
        }
        if let (data_type::BOOL, Data::Integers(values)) = (proto.data_type, &tensor.data)
            && let Some(other) = values.iter().find(|value| !(0..=1).contains(*value))
        {
            return Err(invalid(format!("an element is {other}, which is no truth value")));
        }
        Ok(tensor)
    }
}

/// The elements of a stored tensor, and how many bytes each one has where they are raw.
fn data(proto: &TensorProto, place: &str) -> Result<(Data, usize), PolicyError> {
    let raw = &proto.raw_data;
    let small = |bytes: usize, of_raw: fn(&[u8]) -> i64, of_field: fn(i32) -> i64| {
        let values = if raw.is_empty() {
            proto.int32_data.iter().map(|&value| of_field(value)).collect()
        } else {
            raw.chunks_exact(bytes).map(of_raw).collect()
        };
        (Data::Integers(values), bytes)
    };
    // Short numbers are the low bits of 32.
    let halves = |of_bits: fn(u16) -> f64, element| {
        let (bits, bytes) = small(
            2,
            |bytes| i64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            |value| i64::from(value & 0xffff),
        );
        let Data::Integers(bits) = bits else { return (bits, bytes) };
        let values = bits.iter().map(|&bits| of_bits(u16::try_from(bits).unwrap_or(0))).collect();
        (Data::Floats(values, element), bytes)
    };
    Ok(match proto.data_type {
        data_type::FLOAT => {
            let values = stored(raw, &proto.float_data, f32::from_le_bytes);
            (Data::Floats(values.into_iter().map(f64::from).collect(), Element::F32), 4)
        }
        data_type::DOUBLE => {
            (Data::Floats(stored(raw, &proto.double_data, f64::from_le_bytes), Element::F64), 8)
        }
        data_type::FLOAT16 => halves(of_half, Element::F16),
        data_type::BFLOAT16 => {
            halves(|bits| f64::from(f32::from_bits(u32::from(bits) << 16)), Element::BF16)
        }
        data_type::INT64 => (Data::Integers(stored(raw, &proto.int64_data, i64::from_le_bytes)), 8),
        data_type::INT32 => small(
            4,
            |bytes| i64::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            i64::from,
        ),
        data_type::INT16 => {
            small(2, |bytes| i64::from(i16::from_le_bytes([bytes[0], bytes[1]])), i64::from)
        }
        data_type::UINT16 => {
            small(2, |bytes| i64::from(u16::from_le_bytes([bytes[0], bytes[1]])), i64::from)
        }
        data_type::INT8 => small(1, |bytes| i64::from(i8::from_le_bytes([bytes[0]])), i64::from),
        data_type::UINT8 | data_type::BOOL => small(1, |bytes| i64::from(bytes[0]), i64::from),
        data_type::STRING => {
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            (Data::Texts(proto.string_data.iter().map(text).collect()), 1)
        }
        other => {
            let message = format!(
                "elements of type {} are not supported; float, double, float16, bfloat16, integers \
                 of up to 32 bits, int64, bool and string are",
                data_type::name(other)
            );
            return Err(PolicyError::unsupported(place, message));
        }
    })
}

/// The number with the bits of half precision.
fn of_half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let mantissa = f64::from(bits & 0x3ff);
    match i32::from(bits >> 10 & 0x1f) {
        0 => sign * mantissa * f64::from(2.0f32.powi(-24)),
        31 if mantissa > 0.0 => f64::NAN,
        31 => sign * f64::INFINITY,
        exponent => sign * (1024.0 + mantissa) * f64::from(2.0f32.powi(exponent - 25)),
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
    fn halves() {
        let proto = |data_type, words: &[u16]| TensorProto {
            dims: vec![i64::try_from(words.len()).expect("short")],
            data_type,
            raw_data: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            ..TensorProto::default()
        };
        let read = |data_type, words: &[u16]| {
            let tensor = Tensor::read(&proto(data_type, words), "h").expect("valid");
            tensor.floats().expect("numbers").to_vec()
        };
        let halves = read(data_type::FLOAT16, &[0x3c00, 0xc000, 0x3555, 1, 0x7bff, 0xfc00]);
        let tiny = f64::from(2.0f32.powi(-24));
        assert_eq!(halves, [1.0, -2.0, 0.333_251_953_125, tiny, 65_504.0, f64::NEG_INFINITY]);
        assert_eq!(read(data_type::BFLOAT16, &[0x3f80, 0xc049]), [1.0, -3.140_625]);
        for value in halves {
            assert!(Element::F16.holds(value), "{value}");
        }
        for value in [1.0 / 3.0, 65_505.0, 1e-9, tiny * 1.5] {
            assert!(!Element::F16.holds(value), "{value}");
        }
        let typed = TensorProto {
            raw_data: Vec::new().into(),
            int32_data: vec![0x3c00],
            ..proto(data_type::FLOAT16, &[0])
        };
        assert_eq!(Tensor::read(&typed, "h").expect("valid").floats(), Some(&[1.0][..]));
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
            TensorProto { data_type: 14, ..floats.clone() },
        ] {
            assert!(matches!(Tensor::read(&tensor, "W"), Err(PolicyError::Unsupported { .. })));
        }
    }
}
