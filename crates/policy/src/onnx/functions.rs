//! Functions that a model defines itself, put in the place of the nodes that call them.
//!
//! A call becomes the function's nodes: its arguments and results under the names of the caller, all
//! other values under names of their own, and attributes that refer to the caller's with its values.

use std::collections::BTreeMap;

use super::graph::place_of;
use super::proto::{AttributeProto, FunctionProto, ModelProto, NodeProto, OperatorSetIdProto};
use crate::error::PolicyError;
use crate::meter::Meter;

/// Functions that call each other deeper than this are refused; a function that calls itself is, too.
const DEEPEST: usize = 64;
/// More nodes than this are refused.
const MOST_NODES: usize = 1 << 20;

/// Domain, name and overload.
type Key = (String, String, String);

/// Replaces the calls of functions. Functions that have the domain of a standard operator stay, and
/// are refused where they are called.
///
/// # Errors
/// If a function is defined twice, needs another version of an operator set than the model, or does
/// not fit its call; if there are too many nodes; and [`PolicyError::Stopped`] at a limit.
pub(super) fn inline(model: &mut ModelProto, meter: &mut Meter) -> Result<(), PolicyError> {
    let standard = |f: &FunctionProto| ["", "ai.onnx", "ai.onnx.ml"].contains(&f.domain.as_str());
    let (kept, own): (Vec<_>, Vec<_>) = model.functions.drain(..).partition(standard);
    model.functions = kept;
    let Some(graph) = model.graph.as_mut().filter(|_| !own.is_empty()) else { return Ok(()) };
    let mut functions: BTreeMap<Key, FunctionProto> = BTreeMap::new();
    for function in own {
        let key = (function.domain.clone(), function.name.clone(), function.overload.clone());
        let name = function.name.clone();
        if functions.insert(key, function).is_some() {
            let message = format!("the function `{name}` is defined twice");
            return Err(PolicyError::invalid("", message));
        }
    }
    let nodes = std::mem::take(&mut graph.node);
    let mut inliner = Inliner { functions: &functions, nodes: Vec::new(), calls: 0, meter };
    let mut imports = Vec::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let place = place_of(&node, index);
        inliner.node(node, 0, &mut imports).map_err(|error| error.at(&place))?;
    }
    graph.node = inliner.nodes;
    for import in imports {
        let same = |other: &&OperatorSetIdProto| other.domain == import.domain;
        match model.opset_import.iter().find(same) {
            Some(other) if other.version == import.version => {}
            Some(other) => {
                let message = format!(
                    "a function of the model needs version {} of the operator set `{}`, the model \
                     has version {}; export it with one version",
                    import.version, import.domain, other.version
                );
                return Err(PolicyError::unsupported("", message));
            }
            None => model.opset_import.push(import),
        }
    }
    Ok(())
}

struct Inliner<'a, 'm, 'l> {
    functions: &'a BTreeMap<Key, FunctionProto>,
    /// The nodes of the graph so far.
    nodes: Vec<NodeProto>,
    /// The number of calls so far, which makes names.
    calls: usize,
    meter: &'m mut Meter<'l>,
}

impl Inliner<'_, '_, '_> {
    /// Appends a node, or the nodes of the function that it calls. Operator sets that these functions
    /// need are added to `imports`.
    fn node(
        &mut self,
        node: NodeProto,
        depth: usize,
        imports: &mut Vec<OperatorSetIdProto>,
    ) -> Result<(), PolicyError> {
        self.meter.before(0)?;
        let key = (node.domain.clone(), node.op_type.clone(), node.overload.clone());
        let Some(function) = self.functions.get(&key) else {
            if self.nodes.len() >= MOST_NODES {
                let message = format!("more than {MOST_NODES} nodes are not supported");
                return Err(PolicyError::unsupported("", message));
            }
            self.nodes.push(node);
            return Ok(());
        };
        if depth >= DEEPEST {
            let message =
                format!("functions that call each other {DEEPEST} deep are not supported");
            return Err(PolicyError::unsupported("", message));
        }
        for import in &function.opset_import {
            if !imports.contains(import) {
                imports.push(import.clone());
            }
        }
        let mut scope = Scope::of(function, &node, self.calls)?;
        self.calls += 1;
        // A result that is an argument, or the result of nothing else, gets a name by a node.
        let passed: Vec<(String, String)> = scope.passed(function, &node);
        for inner in &function.node {
            let inner = scope.node(inner)?;
            self.node(inner, depth + 1, imports)?;
        }
        for (from, to) in passed {
            let identity = NodeProto {
                input: vec![from],
                output: vec![to],
                op_type: "Identity".to_owned(),
                ..NodeProto::default()
            };
            self.node(identity, depth + 1, imports)?;
        }
        Ok(())
    }
}

/// The names and attributes of one call.
struct Scope<'a> {
    /// The names of the caller by those of the function.
    names: BTreeMap<&'a str, String>,
    attributes: BTreeMap<&'a str, &'a AttributeProto>,
    /// The beginning of the names of values of its own.
    prefix: String,
    /// The name of the node that calls, in messages.
    caller: &'a str,
}

impl<'a> Scope<'a> {
    fn of(
        function: &'a FunctionProto,
        caller: &'a NodeProto,
        number: usize,
    ) -> Result<Self, PolicyError> {
        let invalid = |message: String| Err(PolicyError::invalid("", message));
        let (inputs, outputs) = (caller.input.len(), caller.output.len());
        if inputs > function.input.len() || outputs > function.output.len() {
            return invalid(format!(
                "{inputs} arguments and {outputs} outputs, the function has {} and {}",
                function.input.len(),
                function.output.len()
            ));
        }
        let mut names = BTreeMap::new();
        for (at, name) in function.input.iter().enumerate() {
            let given = caller.input.get(at).cloned().unwrap_or_default();
            if names.insert(name.as_str(), given).is_some() {
                return invalid(format!("the function has two inputs `{name}`"));
            }
        }
        for (name, given) in function.output.iter().zip(&caller.output) {
            if !given.is_empty() && !names.contains_key(name.as_str()) {
                names.insert(name, given.clone());
            }
        }
        let mut attributes: BTreeMap<&str, &AttributeProto> = BTreeMap::new();
        for attribute in &function.attribute_proto {
            attributes.insert(&attribute.name, attribute);
        }
        for attribute in &caller.attribute {
            let name = attribute.name.as_str();
            if !function.attribute.contains(&attribute.name) && !attributes.contains_key(name) {
                return invalid(format!("the function has no attribute `{name}`"));
            }
            attributes.insert(name, attribute);
        }
        let prefix = format!("{}#{number}/", function.name);
        Ok(Self { names, attributes, prefix, caller: &caller.name })
    }

    /// Results that have no name of their own: an argument, or a result that is listed before.
    fn passed(&self, function: &FunctionProto, caller: &NodeProto) -> Vec<(String, String)> {
        let given = function.output.iter().zip(&caller.output);
        let named = given.filter_map(|(name, given)| {
            let own = self.names.get(name.as_str())?;
            (!given.is_empty() && own != given).then(|| (own.clone(), given.clone()))
        });
        named.collect()
    }

    /// A node of the function, as one of the caller.
    fn node(&mut self, node: &'a NodeProto) -> Result<NodeProto, PolicyError> {
        let mut attribute = Vec::with_capacity(node.attribute.len());
        for own in &node.attribute {
            if own.ref_attr_name.is_empty() {
                attribute.push(own.clone());
                continue;
            }
            // Without a value, the attribute is left out.
            if let Some(&given) = self.attributes.get(own.ref_attr_name.as_str()) {
                if own.kind != 0 && given.kind != 0 && own.kind != given.kind {
                    let message = format!("attribute `{}` has the wrong type", given.name);
                    return Err(PolicyError::invalid("", message));
                }
                attribute.push(AttributeProto { name: own.name.clone(), ..given.clone() });
            }
        }
        let input = node.input.iter().map(|name| self.name(name)).collect();
        let output = node.output.iter().map(|name| self.name(name)).collect();
        let name = match (self.caller, node.name.as_str()) {
            ("", name) => name.to_owned(),
            (caller, "") => caller.to_owned(),
            (caller, name) => format!("{caller}/{name}"),
        };
        Ok(NodeProto { input, output, name, attribute, ..node.clone() })
    }

    fn name(&self, name: &str) -> String {
        match self.names.get(name) {
            Some(given) => given.clone(),
            None if name.is_empty() => String::new(),
            None => format!("{}{name}", self.prefix),
        }
    }
}
