//! Attributes of nodes.

use super::proto::{AttributeProto, NodeProto, attribute_kind};
use super::tensor::Tensor;
use crate::error::PolicyError;

/// The attributes of one node, after a check that the reader knows all of them.
pub(super) struct Attributes<'a> {
    node: &'a NodeProto,
}

impl<'a> Attributes<'a> {
    /// The attributes, which must be among `known`: an attribute that is not understood could
    /// change what the node means.
    pub(super) fn of(node: &'a NodeProto, known: &[&str]) -> Result<Self, PolicyError> {
        match node.attribute.iter().find(|attribute| !known.contains(&attribute.name.as_str())) {
            None => Ok(Self { node }),
            Some(attribute) => {
                let message = format!("attribute `{}` is not supported", attribute.name);
                Err(PolicyError::unsupported("", message))
            }
        }
    }

    /// The attribute of a name, if it is there; it must have this kind.
    fn find(&self, name: &str, kind: i32) -> Result<Option<&'a AttributeProto>, PolicyError> {
        match self.node.attribute.iter().find(|attribute| attribute.name == name) {
            // Early files do not say the kind.
            Some(attribute) if attribute.kind != kind && attribute.kind != 0 => {
                let message = format!("attribute `{name}` has the wrong type");
                Err(PolicyError::invalid("", message))
            }
            found => Ok(found),
        }
    }

    pub(super) fn float(&self, name: &str) -> Result<Option<f64>, PolicyError> {
        let attribute = self.find(name, attribute_kind::FLOAT)?;
        Ok(attribute.map(|attribute| f64::from(attribute.f)))
    }

    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, PolicyError> {
        Ok(self.find(name, attribute_kind::INT)?.map(|attribute| attribute.i))
    }

    pub(super) fn integers(&self, name: &str) -> Result<Option<&'a [i64]>, PolicyError> {
        let attribute = self.find(name, attribute_kind::INTS)?;
        Ok(attribute.map(|attribute| attribute.ints.as_slice()))
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, PolicyError> {
        let attribute = self.find(name, attribute_kind::FLOATS)?;
        Ok(attribute.map(|attribute| attribute.floats.iter().map(|&f| f64::from(f)).collect()))
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<Tensor>, PolicyError> {
        let attribute = self.find(name, attribute_kind::TENSOR)?;
        let proto = attribute.and_then(|attribute| attribute.t.as_ref());
        proto.map(|proto| Tensor::read(proto, "")).transpose()
    }
}
