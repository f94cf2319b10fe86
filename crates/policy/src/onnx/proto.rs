//! The messages of the ONNX file format, as far as networks need them.
//!
//! Field numbers are those of the ONNX specification (`onnx.proto`). Fields that are left out here
//! are skipped when reading.

use prost::Message;
use prost::bytes::Bytes;

/// A model: the whole file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// A model of which only the operators are looked at.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorsProto {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<OperatorsGraphProto>,
}

/// The nodes of such a model.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorsGraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<OperatorProto>,
}

/// A node of such a model.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorProto {
    #[prost(string, tag = "4")]
    pub op_type: String,
}

/// A function that the model defines.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FunctionProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Attributes with their defaults.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    #[prost(string, tag = "13")]
    pub overload: String,
}

/// The version of an operator set.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes in topological order, and named constants.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<Unread>,
}

/// One application of an operator.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub domain: String,
    #[prost(string, tag = "8")]
    pub overload: String,
}

/// A named attribute of a node; `kind` says which field holds the value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributeProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    #[prost(message, optional, tag = "6")]
    pub g: Option<Unread>,
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<Unread>,
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<Unread>,
    #[prost(message, optional, tag = "14")]
    pub tp: Option<Unread>,
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<Unread>,
    #[prost(int32, tag = "20")]
    pub kind: i32,
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    #[prost(message, optional, tag = "22")]
    pub sparse_tensor: Option<Unread>,
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<Unread>,
}

/// A message of which only the presence is looked at.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Unread {}

/// Kinds of attributes.
pub(crate) mod attribute_kind {
    pub const FLOAT: i32 = 1;
    pub const INT: i32 = 2;
    pub const STRING: i32 = 3;
    pub const TENSOR: i32 = 4;
    pub const GRAPH: i32 = 5;
    pub const FLOATS: i32 = 6;
    pub const INTS: i32 = 7;
    pub const STRINGS: i32 = 8;
    pub const TENSORS: i32 = 9;
    pub const GRAPHS: i32 = 10;
    pub const SPARSE_TENSOR: i32 = 11;
    pub const SPARSE_TENSORS: i32 = 12;
    pub const TYPE: i32 = 13;
    pub const TYPES: i32 = 14;

    /// Name of a kind as the specification writes it.
    pub fn name(kind: i32) -> Option<&'static str> {
        Some(match kind {
            FLOAT => "FLOAT",
            INT => "INT",
            STRING => "STRING",
            TENSOR => "TENSOR",
            GRAPH => "GRAPH",
            FLOATS => "FLOATS",
            INTS => "INTS",
            STRINGS => "STRINGS",
            TENSORS => "TENSORS",
            GRAPHS => "GRAPHS",
            SPARSE_TENSOR => "SPARSE_TENSOR",
            SPARSE_TENSORS => "SPARSE_TENSORS",
            TYPE => "TYPE_PROTO",
            TYPES => "TYPE_PROTOS",
            _ => return None,
        })
    }
}

/// A constant tensor.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Unread>,
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub string_data: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    /// A part of the file's bytes, not a copy of it.
    #[prost(bytes = "bytes", tag = "9")]
    pub raw_data: Bytes,
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

impl TensorProto {
    /// The number of elements that are stored, at most.
    pub(crate) fn stored(&self) -> usize {
        let bytes = match self.data_type {
            data_type::BOOL | data_type::UINT8 | data_type::INT8 => 1,
            data_type::FLOAT16 | data_type::BFLOAT16 | data_type::INT16 | data_type::UINT16 => 2,
            // Raw elements of other supported types have at least four bytes.
            _ => 4,
        };
        let raw = self.raw_data.len() / bytes;
        let floats = self.float_data.len() + self.double_data.len();
        raw + floats + self.int32_data.len() + self.int64_data.len()
    }
}

/// Element types of tensors.
pub(crate) mod data_type {
    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub const UINT16: i32 = 4;
    pub const INT16: i32 = 5;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const STRING: i32 = 8;
    pub const BOOL: i32 = 9;
    pub const FLOAT16: i32 = 10;
    pub const DOUBLE: i32 = 11;
    pub const BFLOAT16: i32 = 16;

    /// The field of a tensor that stores elements of a supported type, unless they are raw.
    pub fn field(code: i32) -> Option<&'static str> {
        match code {
            FLOAT => Some("float_data"),
            UINT8 | INT8 | UINT16 | INT16 | INT32 | BOOL | FLOAT16 | BFLOAT16 => Some("int32_data"),
            INT64 => Some("int64_data"),
            STRING => Some("string_data"),
            DOUBLE => Some("double_data"),
            _ => None,
        }
    }

    /// Name of an element type as the specification writes it.
    pub fn name(code: i32) -> String {
        let known = match code {
            1 => "float",
            2 => "uint8",
            3 => "int8",
            4 => "uint16",
            5 => "int16",
            6 => "int32",
            7 => "int64",
            8 => "string",
            9 => "bool",
            10 => "float16",
            11 => "double",
            12 => "uint32",
            13 => "uint64",
            14 => "complex64",
            15 => "complex128",
            16 => "bfloat16",
            _ => return format!("element type {code}"),
        };
        known.to_owned()
    }
}

/// One entry of the location of external data: a key and its value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Name, type and shape of an input or output.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type; of other kinds than tensors only the presence is looked at.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
    #[prost(message, optional, tag = "4")]
    pub sequence_type: Option<Unread>,
    #[prost(message, optional, tag = "5")]
    pub map_type: Option<Unread>,
    #[prost(message, optional, tag = "8")]
    pub sparse_tensor_type: Option<Unread>,
    #[prost(message, optional, tag = "9")]
    pub optional_type: Option<Unread>,
}

/// Element type and shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorTypeProto {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// One dimension: a size, a name, or neither.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DimensionProto {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
