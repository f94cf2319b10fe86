//! A node of a graph and its arguments.

use super::attributes::Attributes;
use super::proto::NodeProto;
use super::tensor::{Element, Tensor};
use super::value::Value;
use crate::error::PolicyError;

/// A node and its arguments; arguments that are left out are `None`.
pub(super) struct Call<'a> {
    pub(super) node: &'a NodeProto,
    /// The version of the operator set.
    pub(super) version: i64,
    pub(super) arguments: Vec<Option<Value>>,
}

impl<'a> Call<'a> {
    /// The operator.
    pub(super) fn operator(&self) -> &'a str {
        &self.node.op_type
    }

    /// The attributes, which must be among `known`.
    pub(super) fn attributes(&self, known: &[&str]) -> Result<Attributes<'a>, PolicyError> {
        Attributes::of(self.node, known)
    }

    /// All arguments; each must be there.
    pub(super) fn all(&self) -> Result<Vec<Value>, PolicyError> {
        (0..self.arguments.len().max(1)).map(|i| self.required(i)).collect()
    }

    /// An argument that must be there.
    pub(super) fn required(&self, index: usize) -> Result<Value, PolicyError> {
        self.optional(index)
            .ok_or_else(|| PolicyError::invalid("", format!("argument {index} is missing")))
    }

    /// An argument that may be missing.
    pub(super) fn optional(&self, index: usize) -> Option<Value> {
        self.arguments.get(index).cloned().flatten()
    }

    /// An argument that must be there, by value.
    pub(super) fn taken(&mut self, index: usize) -> Result<Value, PolicyError> {
        let value = self.arguments.get_mut(index).and_then(Option::take);
        value.ok_or_else(|| PolicyError::invalid("", format!("argument {index} is missing")))
    }

    /// The integers of a constant argument that may be missing.
    pub(super) fn integers(
        &self,
        index: usize,
        what: &str,
    ) -> Result<Option<Vec<i64>>, PolicyError> {
        let Some(value) = self.optional(index) else { return Ok(None) };
        match value.into_constant(what)?.as_integers() {
            Some(values) => Ok(Some(values.to_vec())),
            None => Err(PolicyError::invalid("", format!("{what} must be integers"))),
        }
    }

    /// A constant argument of floating-point numbers.
    pub(super) fn numbers(&self, index: usize, what: &str) -> Result<Tensor, PolicyError> {
        let tensor = self.required(index)?.into_constant(what)?;
        match tensor.floats() {
            Some(_) => Ok(tensor),
            None => Err(PolicyError::invalid("", format!("{what} must be real numbers"))),
        }
    }

    /// The type of the first argument.
    pub(super) fn element(&self) -> Option<Element> {
        self.optional(0).and_then(|value| value.element())
    }

    /// Checks the number of arguments.
    pub(super) fn at_most(&self, count: usize) -> Result<(), PolicyError> {
        if self.arguments.len() <= count {
            return Ok(());
        }
        let message = format!("{} arguments, at most {count} are known", self.arguments.len());
        Err(PolicyError::invalid("", message))
    }
}
