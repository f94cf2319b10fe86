//! Sizes of a model and the features it uses, counted without composing or lowering anything.

use std::{collections::BTreeSet, fmt::Write as _};

use crate::{
    ast::{BinaryOp, Model, RealFunction, TypeKind, UnaryOp, Variable},
    json::Json,
    names::{NameId, Names},
};

/// Sizes and features of a model.
///
/// Locations, edges, destinations and local variables are those of the automata as they are
/// written; operators and vectors those of the composed system, where an automaton may stand
/// several times, or not at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JaniSummary {
    /// Its name.
    pub name: String,
    /// Its type, as the format names it; empty if it is not known.
    pub model_type: String,
    /// Number of global variables.
    pub globals: usize,
    /// Kinds of the global variables in the order of their first: `bint` is a bounded integer,
    /// `arr(bool)` an array of truth values, `real/transient` a transient real.
    pub kinds: Vec<(String, usize)>,
    /// Number of local variables.
    pub locals: usize,
    /// Constants without a value in the file.
    pub open_constants: Vec<String>,
    /// Number of automata.
    pub automata: usize,
    /// Number of automaton instances.
    pub instances: usize,
    /// Number of locations of each automaton.
    pub locations: Vec<usize>,
    /// Number of edges.
    pub edges: usize,
    /// Number of edges without action.
    pub silent_edges: usize,
    /// Number of destinations.
    pub destinations: usize,
    /// Most destinations of one edge.
    pub max_destinations: usize,
    /// Number of labels that synchronisation vectors result in.
    pub labels: usize,
    /// Number of synchronisation vectors.
    pub vectors: usize,
    /// Number of entries of vectors by which an instance takes no part.
    pub nulls: usize,
    /// Number of operators of the composed model.
    pub operators: u128,
    /// Features that the model says it uses.
    pub features_declared: Vec<String>,
    /// Features that it does use, in alphabetical order.
    pub features_used: Vec<String>,
}

impl JaniSummary {
    /// Counts; `json` is the model's file.
    pub(crate) fn of(model: &Model, names: &Names, json: Json<'_>) -> Self {
        let text = |symbol: NameId| names.text(symbol).to_owned();
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for variable in &model.variables {
            let kind = kind(variable);
            match kinds.iter_mut().find(|(k, _)| *k == kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind, 1)),
            }
        }
        let automaton = |name: NameId| model.automata.iter().find(|a| a.name.symbol == name);
        let elements: Vec<_> =
            model.system.elements.iter().map(|e| automaton(e.automaton.symbol)).collect();
        let edges = || model.automata.iter().map(|a| &a.edges);
        let syncs = &model.system.syncs;
        let labels: BTreeSet<NameId> =
            syncs.iter().filter_map(|s| s.result.map(|r| r.symbol)).collect();
        let entries = || syncs.iter().flat_map(|s| &s.synchronise);
        Self {
            name: model.name.clone(),
            model_type: model.ty.map_or("", |(ty, _)| ty.name()).to_owned(),
            globals: model.variables.len(),
            kinds,
            locals: model.automata.iter().map(|a| a.variables.len()).sum(),
            open_constants: model
                .constants
                .iter()
                .filter(|c| c.value.is_none())
                .map(|c| text(c.name.symbol))
                .collect(),
            instances: elements.len(),
            automata: model.automata.len(),
            locations: model.automata.iter().map(|a| a.locations.len()).collect(),
            edges: edges().map(|e| e.count).sum(),
            silent_edges: edges().filter_map(|e| e.of_action(None)).map(|e| e.count).sum(),
            destinations: edges().map(|e| e.destinations).sum(),
            max_destinations: edges().map(|e| e.max_destinations).max().unwrap_or(0),
            labels: labels.len(),
            vectors: syncs.len(),
            nulls: entries().filter(|e| e.is_none()).count(),
            operators: operators(model, &elements),
            features_declared: model.features.clone(),
            features_used: features_used(json),
        }
    }

    /// Variables in a few words: `6 + 2 local (bint: 4, arr(bint): 1, bool: 1)`.
    #[must_use]
    pub fn variables_text(&self) -> String {
        let mut text = self.globals.to_string();
        if self.locals > 0 {
            let _ = write!(text, " + {} local", self.locals);
        }
        let kinds: Vec<_> = self.kinds.iter().map(|(kind, n)| format!("{kind}: {n}")).collect();
        let _ = write!(text, " ({})", kinds.join(", "));
        text
    }

    /// Automata, instances and locations in a few words: `6/5 [8, 3, 6, 2, 3, 2]`.
    #[must_use]
    pub fn automata_text(&self) -> String {
        format!("{}/{} {:?}", self.automata, self.instances, self.locations)
    }

    /// Features that the model uses and does not declare.
    pub fn undeclared_features(&self) -> impl Iterator<Item = &str> {
        self.features_used
            .iter()
            .filter(|used| !self.features_declared.contains(used))
            .map(String::as_str)
    }
}

/// The kind of a variable in short.
fn kind(variable: &Variable) -> String {
    fn of(ty: &TypeKind) -> String {
        match ty {
            TypeKind::Bool => "bool".to_owned(),
            TypeKind::Int => "int".to_owned(),
            TypeKind::Real => "real".to_owned(),
            TypeKind::Clock => "clock".to_owned(),
            TypeKind::Continuous => "continuous".to_owned(),
            TypeKind::Bounded { integers: true, .. } => "bint".to_owned(),
            TypeKind::Bounded { integers: false, .. } => "breal".to_owned(),
            TypeKind::Array(base) => format!("arr({})", of(&base.kind)),
            TypeKind::Broken => "?".to_owned(),
        }
    }
    let transient = if variable.transient { "/transient" } else { "" };
    format!("{}{transient}", of(&variable.ty.kind))
}

/// Number of operators: silent edges of each instance, and for each vector the product of the
/// numbers of edges that its entries may take.
fn operators(model: &Model, elements: &[Option<&crate::ast::Automaton>]) -> u128 {
    let count = |element: usize, action: Option<NameId>| {
        let automaton = elements.get(element).copied().flatten();
        automaton.and_then(|a| a.edges.of_action(action)).map_or(0, |edges| edges.leading as u128)
    };
    let mut sum: u128 = (0..elements.len()).map(|e| count(e, None)).sum();
    for sync in &model.system.syncs {
        let entries = sync.synchronise.iter().enumerate();
        let mut taken = entries.filter_map(|(e, name)| Some((e, (*name)?.symbol))).peekable();
        if taken.peek().is_some() {
            let product =
                taken.fold(1u128, |product, (e, a)| product.saturating_mul(count(e, Some(a))));
            sum = sum.saturating_add(product);
        }
    }
    sum
}

/// The features that what stands in a file belongs to.
fn features_used(json: Json<'_>) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut open = vec![json];
    while let Some(json) = open.pop() {
        for (key, value) in json.members() {
            let feature = if key.is_key("op") {
                value.as_str().and_then(|op| operator_feature(&op))
            } else if key.is_key("kind") && value.is_key("array") {
                Some("arrays")
            } else if key.is_key("kind") && (value.is_key("datatype") || value.is_key("option")) {
                Some("datatypes")
            } else if key.is_key("functions") && value.elements().next().is_some() {
                Some("functions")
            } else if key.is_key("accumulate") && value.elements().any(|e| e.is_key("exit")) {
                Some("state-exit-rewards")
            } else {
                None
            };
            used.extend(feature);
            open.push(value);
        }
        open.extend(json.elements());
    }
    used.into_iter().map(str::to_owned).collect()
}

fn operator_feature(op: &str) -> Option<&'static str> {
    match op {
        "aa" | "av" | "ac" => return Some("arrays"),
        "da" | "dv" | "oa" | "ov" => return Some("datatypes"),
        "call" => return Some("functions"),
        "nondet" => return Some("nondet-selection"),
        "Multi" => return Some("multi-objective-properties"),
        _ => {}
    }
    if let Some(function) = RealFunction::from_name(op) {
        let hyperbolic = function.name().contains('h');
        return Some(if hyperbolic { "hyperbolic-functions" } else { "trigonometric-functions" });
    }
    let derived = match (BinaryOp::from_sign(op), UnaryOp::from_sign(op)) {
        (Some(op), _) => {
            use BinaryOp::{Ge, Gt, Implies, Max, Min};
            matches!(op, Implies | Gt | Ge | Min | Max)
        }
        (None, Some(op)) => matches!(op, UnaryOp::Abs | UnaryOp::Sgn | UnaryOp::Trc),
        (None, None) => false,
    };
    derived.then_some("derived-operators")
}
