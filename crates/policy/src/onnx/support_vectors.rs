//! Support vector machines with a linear kernel.

use super::call::Call;
use super::classical::numbers;
use super::graph::Import;
use super::tensor::Element;
use super::value::Value;
use crate::error::PolicyError;
use crate::matrix::Matrix;

fn invalid(message: String) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// Reads `SVMRegressor`: products with the support vectors, summed up with their coefficients, and
/// `rho`. Without support vectors, the coefficients are those of the features.
pub(super) fn regressor(import: &mut Import<'_, '_>, call: &Call) -> Result<Value, PolicyError> {
    let attributes = call.attributes(&[
        "coefficients",
        "kernel_params",
        "kernel_type",
        "n_supports",
        "one_class",
        "post_transform",
        "rho",
        "support_vectors",
    ])?;
    let kernel = attributes.text("kernel_type")?.unwrap_or_else(|| "LINEAR".to_owned());
    if kernel != "LINEAR" {
        return Err(unsupported(format!(
            "kernel {kernel} is not supported; train with kernel=\"linear\", or a network or a tree \
             ensemble"
        )));
    }
    if attributes.integer("one_class")?.unwrap_or(0) != 0 {
        return Err(unsupported("machines of one class are not supported"));
    }
    if let Some(other) = attributes.text("post_transform")?.filter(|given| given != "NONE") {
        return Err(unsupported(format!("`post_transform` {other} is not supported")));
    }
    let flow = numbers(call.required(0)?)?;
    let columns = import.builder.width(flow.node);
    if flow.shape.last() != Some(&columns) {
        return Err(unsupported(format!("an input of shape {:?}", flow.shape)));
    }
    let supports = attributes.integer("n_supports")?.unwrap_or(0);
    let rows =
        usize::try_from(supports).map_err(|_| invalid(format!("`n_supports` is {supports}")))?;
    let vectors = attributes.floats("support_vectors")?.unwrap_or_default();
    let coefficients = attributes.floats("coefficients")?.unwrap_or_default();
    let rho = attributes.floats("rho")?.unwrap_or_default();
    let [rho] = rho[..] else {
        return Err(invalid(format!("`rho` has {} numbers, one is expected", rho.len())));
    };
    let (given, listed) = (vectors.len(), coefficients.len());
    let wrong = || {
        invalid(format!(
            "{given} numbers of {rows} support vectors and {listed} coefficients for {columns} features"
        ))
    };
    let mut node = flow.node;
    if rows > 0 {
        let vectors = Matrix::new(rows, columns, vectors).ok_or_else(wrong)?;
        node = import.builder.affine(node, vectors, vec![0.0; rows])?;
    } else if given > 0 {
        return Err(wrong());
    }
    let width = import.builder.width(node);
    let coefficients = Matrix::new(1, width, coefficients).ok_or_else(wrong)?;
    node = import.builder.affine(node, coefficients, vec![rho])?;
    Ok(Value::computed(node, vec![1, 1], Element::F32))
}
