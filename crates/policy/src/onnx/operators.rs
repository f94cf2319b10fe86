//! The operators that can be read: one list.

use super::graph::{Call, Import, Value};
use super::reshape;
use crate::activation::OPERATORS as ACTIVATIONS;
use crate::error::PolicyError;

/// Since this version of the operator set the bounds of Clip are arguments; before, attributes.
pub(super) const BOUNDS_ARE_ARGUMENTS: i64 = 11;
/// Since this version the ratio of Dropout is an argument; before, an attribute.
pub(super) const RATIO_IS_ARGUMENT: i64 = 12;
/// Since this version the axes of Squeeze and Unsqueeze are an argument; before, an attribute.
pub(super) const AXES_ARE_ARGUMENT: i64 = 13;

/// An operator.
struct Operator {
    name: &'static str,
    /// The greatest number of arguments, and from which version of the operator set on; before it is 1.
    most: (usize, i64),
    read: fn(&mut Import<'_, '_>, Call<'_>) -> Result<Value, PolicyError>,
}

const fn operator(
    name: &'static str,
    most: usize,
    read: fn(&mut Import<'_, '_>, Call<'_>) -> Result<Value, PolicyError>,
) -> Operator {
    Operator { name, most: (most, 0), read }
}

/// All but the functions of one number, which are in the table of the activations.
const OPERATORS: [Operator; 23] = [
    operator("Gemm", 3, |import, call| import.gemm(call)),
    operator("MatMul", 2, |import, call| import.mat_mul(call)),
    operator("Add", 2, |import, call| import.arithmetic(&call)),
    operator("Sub", 2, |import, call| import.arithmetic(&call)),
    operator("Mul", 2, |import, call| import.arithmetic(&call)),
    operator("Div", 2, |import, call| import.arithmetic(&call)),
    operator("Neg", 1, |import, call| import.negated(&call)),
    operator("Sum", usize::MAX, |import, call| import.sum(&call)),
    Operator {
        most: (3, BOUNDS_ARE_ARGUMENTS),
        ..operator("Clip", 3, |import, call| import.clip(&call))
    },
    operator("Max", usize::MAX, |import, call| import.extremum(&call)),
    operator("Min", usize::MAX, |import, call| import.extremum(&call)),
    operator("Concat", usize::MAX, |import, call| import.concat(&call)),
    operator("Identity", 1, |_, call| {
        call.attributes(&[])?;
        call.required(0)
    }),
    Operator {
        most: (3, RATIO_IS_ARGUMENT),
        ..operator("Dropout", 3, |_, call| reshape::dropout(&call))
    },
    operator("Cast", 1, |_, call| reshape::cast(&call)),
    operator("Constant", 0, |_, call| reshape::constant(&call)),
    operator("Flatten", 1, |_, call| reshape::flatten(&call)),
    operator("Reshape", 2, |_, call| reshape::reshape(&call)),
    Operator {
        most: (2, AXES_ARE_ARGUMENT),
        ..operator("Squeeze", 2, |_, call| reshape::squeeze(&call))
    },
    Operator {
        most: (2, AXES_ARE_ARGUMENT),
        ..operator("Unsqueeze", 2, |_, call| reshape::unsqueeze(&call))
    },
    operator("Transpose", 1, |_, call| reshape::transpose(&call)),
    operator("Shape", 1, |_, call| reshape::shape(&call)),
    operator("Gather", 2, |_, call| reshape::gather(&call)),
];

/// The names of all operators that can be read, where they are affine or activation functions.
pub fn supported_operators() -> impl Iterator<Item = &'static str> {
    let others = OPERATORS.iter().map(|operator| operator.name);
    others.chain(ACTIVATIONS.iter().map(|operator| operator.name))
}

/// The result of a node.
pub(super) fn apply(import: &mut Import<'_, '_>, call: Call<'_>) -> Result<Value, PolicyError> {
    let name = call.node.op_type.as_str();
    if let Some(activation) = ACTIVATIONS.iter().find(|operator| operator.name == name) {
        call.at_most(1)?;
        return import.activation(&call, activation);
    }
    match OPERATORS.iter().find(|operator| operator.name == name) {
        Some(operator) => {
            let (most, since) = operator.most;
            call.at_most(if call.version < since { 1 } else { most })?;
            (operator.read)(import, call)
        }
        None => Err(unsupported(name)),
    }
}

/// An operator that cannot be read.
pub(super) fn unsupported(name: &str) -> PolicyError {
    let supported = supported_operators().collect::<Vec<_>>().join(", ");
    let message = format!("operator {name} is not supported; supported are {supported}");
    PolicyError::unsupported("", message)
}
