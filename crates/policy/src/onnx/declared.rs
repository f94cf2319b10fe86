//! Types and shapes that a graph declares for its values, against those that are computed.

use super::proto::{TensorTypeProto, TypeProto, ValueInfoProto, data_type};
use super::tensor::Element;
use super::value::Value;
use crate::error::PolicyError;

/// Checks that a value has the type and the shape that the graph declares for it. Sizes that are
/// names, 0 or negative are open; what is not declared is not checked.
///
/// # Errors
/// The declaration that differs.
pub(super) fn check(declared: &ValueInfoProto, value: &Value) -> Result<(), PolicyError> {
    let Some(declared_type) = &declared.r#type else { return Ok(()) };
    // Of what is not computed nothing is known that could differ.
    let Some(computed) = value.known_shape() else { return Ok(()) };
    let invalid = |message: String| Err(PolicyError::invalid("", message));
    let TypeProto { tensor_type, sequence_type, map_type, sparse_tensor_type, optional_type } =
        declared_type;
    let others = [sequence_type, map_type, sparse_tensor_type, optional_type];
    if others.iter().any(|other| other.is_some()) {
        return invalid("it is declared as something else than a tensor".to_owned());
    }
    let Some(TensorTypeProto { elem_type, shape }) = tensor_type else { return Ok(()) };
    if let Some(element) = value.element()
        && *elem_type != 0
        && Element::of(*elem_type) != Some(element)
    {
        let declared = data_type::name(*elem_type);
        let message =
            format!("its elements are declared as {declared}, and are {}", element.name());
        return invalid(message);
    }
    let Some(shape) = shape else { return Ok(()) };
    let fits = shape.dim.len() == computed.len()
        && shape.dim.iter().zip(computed).all(|(dimension, &size)| match dimension.dim_value {
            Some(declared) if declared > 0 => usize::try_from(declared) == Ok(size),
            Some(_) | None => true,
        });
    if fits {
        return Ok(());
    }
    let declared: Vec<String> = shape
        .dim
        .iter()
        .map(|dimension| match (dimension.dim_value, &dimension.dim_param) {
            (Some(size), _) => size.to_string(),
            (None, Some(name)) => name.clone(),
            (None, None) => "?".to_owned(),
        })
        .collect();
    let declared = declared.join(", ");
    invalid(format!("its shape is declared as [{declared}], and is {computed:?}"))
}
