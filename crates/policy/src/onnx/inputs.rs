//! The inputs of a graph.

use super::proto::{ValueInfoProto, data_type};
use super::tensor::{Element, count};
use crate::error::PolicyError;
use crate::interface::{GroupFeed, InputGroup};

/// An input of a graph, for one state.
pub(super) struct Group<'g> {
    pub(super) input: &'g ValueInfoProto,
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
    /// True if it tells which labels are applicable and is not an input of the network.
    pub(super) is_mask: bool,
}

impl Group<'_> {
    /// The number of inputs of the network that it is.
    pub(super) fn width(&self) -> usize {
        if self.is_mask { 0 } else { count(&self.shape).unwrap_or(0) }
    }
}

/// The inputs in their order; those that the interface calls masks are such.
pub(super) fn groups<'g>(
    inputs: &[&'g ValueInfoProto],
    named: &[InputGroup],
) -> Result<Vec<Group<'g>>, PolicyError> {
    let masks: Vec<&str> = named
        .iter()
        .filter(|group| group.feed == GroupFeed::Applicable)
        .map(|group| group.name.as_str())
        .collect();
    if let Some(other) = masks.iter().find(|mask| inputs.iter().all(|input| input.name != **mask)) {
        let names: Vec<String> = inputs.iter().map(|input| format!("`{}`", input.name)).collect();
        let message = format!("the graph has no input `{other}`; it has {}", names.join(", "));
        return Err(PolicyError::invalid("", message));
    }
    let group = |input: &&'g ValueInfoProto| {
        let (shape, element) = declared(input)?;
        let is_mask = masks.contains(&input.name.as_str());
        Ok(Group { input, shape, element, is_mask })
    };
    inputs.iter().map(group).collect()
}

/// Shape and type of an input of the graph, for one state: a first dimension without size is 1.
fn declared(input: &ValueInfoProto) -> Result<(Vec<usize>, Element), PolicyError> {
    let place = format!("input `{}`", input.name);
    let tensor = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let Some(tensor) = tensor else {
        return Err(PolicyError::unsupported(place, "it is not declared as a tensor"));
    };
    let element = Element::of(tensor.elem_type).filter(|&element| element != Element::Text);
    let Some(element) = element else {
        let name = data_type::name(tensor.elem_type);
        let message = format!("elements of type {name} are not supported");
        return Err(PolicyError::unsupported(place, message));
    };
    let Some(dimensions) = tensor.shape.as_ref().map(|shape| &shape.dim) else {
        return Err(PolicyError::unsupported(place, "its shape is not declared"));
    };
    let mut shape = Vec::with_capacity(dimensions.len());
    for (axis, dimension) in dimensions.iter().enumerate() {
        let size = match dimension.dim_value {
            // Exporters write 0 or -1 for a size that is not fixed.
            Some(size) if size > 0 => usize::try_from(size).ok(),
            _ => None,
        };
        match size {
            Some(size) => shape.push(size),
            // A list of integers, each of them a state.
            None if axis == 0 && (dimensions.len() > 1 || !element.is_real()) => shape.push(1),
            None => {
                let message = format!("dimension {axis} has no size; only a first one may be open");
                return Err(PolicyError::unsupported(place, message));
            }
        }
    }
    if count(&shape).is_none_or(|count| count > MAX_INPUTS) {
        return Err(PolicyError::unsupported(place, "its shape is too large"));
    }
    Ok((shape, element))
}

/// More inputs than this are a mistake.
const MAX_INPUTS: usize = 1 << 24;
