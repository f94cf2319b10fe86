//! What an ONNX file says about itself: versions that are known, names that have one value, values
//! that are stored in one place.
//!
//! Protocol buffers keep whatever comes first, last or both where a file says something twice, and
//! readers differ in which they take. Such a file has several meanings, so it is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::place_of;
use super::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, attribute_kind, data_type,
};
use crate::error::PolicyError;

/// Versions of the file format that are known.
const FILE_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;
/// Versions of the standard operator set in which all supported operators have the meaning that is
/// read. From the first one on, operators broadcast by shape alone.
const STANDARD_VERSIONS: std::ops::RangeInclusive<i64> = 7..=28;
/// Versions of the operator set of traditional machine learning.
const ML_VERSIONS: std::ops::RangeInclusive<i64> = 1..=5;

/// The domain of tree ensembles.
const ML_DOMAIN: &str = "ai.onnx.ml";

fn invalid(place: impl Into<String>, message: impl Into<String>) -> PolicyError {
    PolicyError::invalid(place, message)
}

/// One name for the two spellings of the standard operator set.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// The name of an operator set in messages.
fn set_name(domain: &str) -> String {
    if domain.is_empty() {
        "the standard operator set".to_owned()
    } else {
        format!("the operator set {domain}")
    }
}

/// Checks a model, and gives its graph and the version of the standard operator set; 0 if no node
/// needs that.
///
/// # Errors
/// The file contradicts itself, leaves out what a reader needs, or uses a version that is not
/// known.
pub(crate) fn check(model: &ModelProto) -> Result<(&GraphProto, i64), PolicyError> {
    let Some(graph) = &model.graph else {
        return Err(invalid("", "not an ONNX model: it has no graph"));
    };
    if model.ir_version <= 0 {
        return Err(invalid("", "the model names no version of the file format (IR)"));
    }
    known(model.ir_version, &FILE_VERSIONS, "the file format (IR)")?;
    let sets = operator_sets(model, graph)?;
    for (&name, &version) in &sets {
        match name {
            "" => known(version, &STANDARD_VERSIONS, &set_name(name))?,
            ML_DOMAIN => known(version, &ML_VERSIONS, &set_name(name))?,
            // Nodes of other sets are refused where they are read.
            _ => {}
        }
    }
    for function in &model.functions {
        let replaces = |node: &&NodeProto| {
            node.op_type == function.name && domain(&node.domain) == domain(&function.domain)
        };
        if let Some((index, node)) = graph.node.iter().enumerate().find(|(_, n)| replaces(n)) {
            let message = "the model defines this standard operator itself; such functions are \
                           not supported: inline them when exporting";
            return Err(PolicyError::unsupported(place_of(node, index), message));
        }
    }
    check_graph(graph)?;
    Ok((graph, sets.get("").copied().unwrap_or(0)))
}

fn known(
    version: i64,
    range: &std::ops::RangeInclusive<i64>,
    what: &str,
) -> Result<(), PolicyError> {
    if range.contains(&version) {
        return Ok(());
    }
    let (first, last) = (range.start(), range.end());
    let message =
        format!("version {version} of {what} is not supported; versions {first} to {last} are");
    if version < 1 { Err(invalid("", message)) } else { Err(PolicyError::unsupported("", message)) }
}

/// The version of each operator set; those of all nodes are there. Some exporters import a set once
/// for each part of a model, always in one version.
fn operator_sets<'a>(
    model: &'a ModelProto,
    graph: &GraphProto,
) -> Result<BTreeMap<&'a str, i64>, PolicyError> {
    let mut sets = BTreeMap::new();
    for set in &model.opset_import {
        let name = domain(&set.domain);
        if let Some(other) = sets.insert(name, set.version)
            && other != set.version
        {
            let set_name = set_name(name);
            let version = set.version;
            let message = format!("{set_name} is imported twice, as {other} and as {version}");
            return Err(invalid("", message));
        }
    }
    for (index, node) in graph.node.iter().enumerate() {
        let name = domain(&node.domain);
        if !sets.contains_key(name) {
            let message = format!("the model names no version of {}", set_name(name));
            return Err(invalid(place_of(node, index), message));
        }
    }
    Ok(sets)
}

fn check_graph(graph: &GraphProto) -> Result<(), PolicyError> {
    let mut stored = BTreeSet::new();
    for (index, tensor) in graph.initializer.iter().enumerate() {
        let place = match tensor.name.as_str() {
            "" => format!("initialiser {index}"),
            name => format!("initialiser `{name}`"),
        };
        if tensor.name.is_empty() {
            return Err(invalid(place, "it has no name"));
        }
        if !stored.insert(tensor.name.as_str()) {
            return Err(invalid(place, "two initialisers have this name"));
        }
        check_tensor(tensor).map_err(|error| error.at(&place))?;
    }
    let mut defined = BTreeSet::new();
    for (list, what) in [(&graph.input, "input"), (&graph.output, "output")] {
        let mut names = BTreeSet::new();
        for value in list {
            if !names.insert(value.name.as_str()) {
                let message = format!("two {what}s have this name");
                return Err(invalid(format!("{what} `{}`", value.name), message));
            }
        }
        if what == "input" {
            defined = names;
        }
    }
    let mut described = BTreeSet::new();
    for value in &graph.value_info {
        if !described.insert(value.name.as_str()) {
            let message = "its type is declared twice";
            return Err(invalid(format!("value `{}`", value.name), message));
        }
    }
    for (index, node) in graph.node.iter().enumerate() {
        let place = place_of(node, index);
        check_attributes(node).map_err(|error| error.at(&place))?;
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            if stored.contains(output.as_str()) {
                let message = format!("`{output}` is an initialiser, too: it is defined twice");
                return Err(invalid(place, message));
            }
            if !defined.insert(output) {
                return Err(invalid(place, format!("`{output}` is defined twice")));
            }
        }
    }
    Ok(())
}

/// Checks that each attribute is given once, and holds one value, of its type.
fn check_attributes(node: &NodeProto) -> Result<(), PolicyError> {
    let mut names = BTreeSet::new();
    for attribute in &node.attribute {
        let name = &attribute.name;
        if !names.insert(name.as_str()) {
            return Err(invalid("", format!("attribute `{name}` is given twice")));
        }
        if !attribute.ref_attr_name.is_empty() {
            let message = format!("attribute `{name}` refers to one of a function, here is none");
            return Err(invalid("", message));
        }
        let held: Vec<i32> = held(attribute);
        match held[..] {
            [] => {}
            [one] if one == attribute.kind || attribute.kind == 0 => {}
            [one] => {
                let (kind, held) = (kind_name(attribute.kind), kind_name(one));
                let message = format!(
                    "attribute `{name}` has the wrong type: it says {kind}, and holds {held}"
                );
                return Err(invalid("", message));
            }
            _ => return Err(invalid("", format!("attribute `{name}` has several values"))),
        }
        if let Some(tensor) = &attribute.t {
            check_tensor(tensor).map_err(|error| error.at(&format!("attribute `{name}`")))?;
        }
    }
    Ok(())
}

/// The kinds of the values that an attribute holds.
fn held(attribute: &AttributeProto) -> Vec<i32> {
    use attribute_kind::*;
    let AttributeProto {
        name: _,
        f,
        i,
        s,
        t,
        g,
        floats,
        ints,
        strings,
        tensors,
        graphs,
        tp,
        type_protos,
        kind: _,
        ref_attr_name: _,
        sparse_tensor,
        sparse_tensors,
    } = attribute;
    [
        (f.is_some(), FLOAT),
        (i.is_some(), INT),
        (s.is_some(), STRING),
        (t.is_some(), TENSOR),
        (g.is_some(), GRAPH),
        (!floats.is_empty(), FLOATS),
        (!ints.is_empty(), INTS),
        (!strings.is_empty(), STRINGS),
        (!tensors.is_empty(), TENSORS),
        (!graphs.is_empty(), GRAPHS),
        (tp.is_some(), TYPE),
        (!type_protos.is_empty(), TYPES),
        (sparse_tensor.is_some(), SPARSE_TENSOR),
        (!sparse_tensors.is_empty(), SPARSE_TENSORS),
    ]
    .into_iter()
    .filter_map(|(is_there, kind)| is_there.then_some(kind))
    .collect()
}

fn kind_name(kind: i32) -> String {
    attribute_kind::name(kind).map_or_else(|| format!("type {kind}"), str::to_owned)
}

/// Checks that the elements of a tensor are stored once, in the field of their type.
fn check_tensor(tensor: &TensorProto) -> Result<(), PolicyError> {
    if tensor.segment.is_some() {
        return Err(PolicyError::unsupported("", "a tensor in segments is not supported"));
    }
    let is_elsewhere = tensor.data_location != 0 || !tensor.external_data.is_empty();
    let fields = [
        (tensor.float_data.is_empty(), "float_data"),
        (tensor.int32_data.is_empty(), "int32_data"),
        (tensor.string_data.is_empty(), "string_data"),
        (tensor.int64_data.is_empty(), "int64_data"),
        (tensor.double_data.is_empty(), "double_data"),
        (tensor.uint64_data.is_empty(), "uint64_data"),
        (tensor.raw_data.is_empty(), "raw_data"),
        (!is_elsewhere, "external_data"),
    ];
    let given: Vec<&str> =
        fields.iter().filter_map(|&(empty, name)| (!empty).then_some(name)).collect();
    if given.len() > 1 {
        let message = format!("its elements are stored twice: in {}", given.join(" and in "));
        return Err(invalid("", message));
    }
    let Some(own) = data_type::field(tensor.data_type) else {
        // Other types are refused where they are read.
        return Ok(());
    };
    match given[..] {
        [field] if field != own && !["raw_data", "external_data"].contains(&field) => {
            let kind = data_type::name(tensor.data_type);
            let message = format!("elements of type {kind} are stored in {own}, not in {field}");
            Err(invalid("", message))
        }
        _ => Ok(()),
    }
}
