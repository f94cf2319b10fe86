//! Attributes of nodes.

use super::proto::{AttributeProto, NodeProto, attribute_kind};
use super::tensor::Tensor;
use crate::error::PolicyError;

/// The attributes of one node, after a check that the reader knows all of them.
pub(crate) struct Attributes<'a> {
    node: &'a NodeProto,
}

impl<'a> Attributes<'a> {
    /// The attributes, which must be among `known`: an attribute that is not understood could
    /// change what the node means.
    pub(crate) fn of(node: &'a NodeProto, known: &[&str]) -> Result<Self, PolicyError> {
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

    pub(crate) fn float(&self, name: &str) -> Result<Option<f64>, PolicyError> {
        let attribute = self.find(name, attribute_kind::FLOAT)?;
        Ok(attribute.map(|attribute| f64::from(attribute.f.unwrap_or_default())))
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, PolicyError> {
        Ok(self.find(name, attribute_kind::INT)?.map(|attribute| attribute.i.unwrap_or_default()))
    }

    pub(crate) fn integers(&self, name: &str) -> Result<Option<&'a [i64]>, PolicyError> {
        let attribute = self.find(name, attribute_kind::INTS)?;
        Ok(attribute.map(|attribute| attribute.ints.as_slice()))
    }

    pub(crate) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, PolicyError> {
        let attribute = self.find(name, attribute_kind::FLOATS)?;
        Ok(attribute.map(|attribute| attribute.floats.iter().map(|&f| f64::from(f)).collect()))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, PolicyError> {
        let attribute = self.find(name, attribute_kind::STRING)?;
        Ok(attribute.map(|attribute| {
            String::from_utf8_lossy(attribute.s.as_deref().unwrap_or_default()).into_owned()
        }))
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, PolicyError> {
        let attribute = self.find(name, attribute_kind::STRINGS)?;
        let texts = attribute.map(|attribute| attribute.strings.as_slice()).unwrap_or_default();
        Ok(texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<Tensor>, PolicyError> {
        let attribute = self.find(name, attribute_kind::TENSOR)?;
        let proto = attribute.and_then(|attribute| attribute.t.as_ref());
        proto.map(|proto| Tensor::read(proto, "")).transpose()
    }
}
