//! For tests: a walk along a line, and policies that rest at some places.

use std::path::Path;

use policert_jani::{LoadOptions, load_bytes};
use policert_model::{BinaryOp, Condition, Expr, LabelId, Model, SafetyProperty, VarId};
use policert_policy::{ElementType, Matrix, NetworkBuilder, Policy, PolicySemantics};

/// The place, a variable from 0 to 9 that starts at 0; variable 0 is the location.
pub(crate) const PLACE: VarId = VarId(1);
/// The policy's output for `go`.
pub(crate) const GO: usize = 1;

/// A walk: `go` adds 1 to any place but `fence`, in one of two cases; `rest` stays there.
pub(crate) fn walk(fence: i64) -> Model {
    let text = format!(
        r#"{{"jani-version": 1, "name": "walk", "type": "mdp",
            "actions": [{{"name": "rest"}}, {{"name": "go"}}],
            "variables": [{{"name": "place", "initial-value": 0, "type":
                {{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}}}}],
            "automata": [{{"name": "walker", "locations": [{{"name": "here"}}],
                "initial-locations": ["here"], "edges": [
                {{"location": "here", "action": "rest", "destinations": [{{"location": "here"}}]}},
                {{"location": "here", "action": "go",
                    "guard": {{"exp": {{"op": "≠", "left": "place", "right": {fence}}}}},
                    "destinations": [
                        {{"location": "here", "probability": {{"exp": 0.5}}}},
                        {{"location": "here", "probability": {{"exp": 0.5}}, "assignments": [
                            {{"ref": "place", "value":
                                {{"op": "+", "left": "place", "right": 1}}}}]}}]}}]}}],
            "system": {{"elements": [{{"automaton": "walker"}}], "syncs": [
                {{"synchronise": ["rest"], "result": "rest"}},
                {{"synchronise": ["go"], "result": "go"}}]}}}}"#
    );
    let loaded = load_bytes(Path::new("walk.jani"), text.into_bytes(), &LoadOptions::default());
    let diagnostics = loaded.diagnostics().to_vec();
    loaded.into_model().unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// The policy that goes on at places below `last`, and rests from there on.
pub(crate) fn goes_below(last: i64, model: &Model) -> Policy {
    policy(&[(&[0.0], 0.0), (&[-1.0], float(last))], None, model)
}

/// The policy that rests at `place` alone: the score of `go` is the distance, less one half.
pub(crate) fn rests_at(place: i64, model: &Model) -> Policy {
    let sides: [Row<'_>; 2] = [(&[1.0], -float(place)), (&[-1.0], float(place))];
    policy(&[(&[0.0, 0.0], 0.0), (&[1.0, 1.0], -0.5)], Some(&sides), model)
}

/// The weights and the bias of a neuron.
type Row<'a> = (&'a [f64], f64);

fn policy(scores: &[Row<'_>], hidden: Option<&[Row<'_>]>, model: &Model) -> Policy {
    let mut builder = NetworkBuilder::new(1).expect("there is an input");
    let mut node = builder.input();
    for layer in hidden.into_iter().chain([scores]) {
        let entries = layer.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        let weights = Matrix::new(layer.len(), builder.width(node), entries).expect("full rows");
        let bias = layer.iter().map(|&(_, bias)| bias).collect();
        node = builder.affine(node, weights, bias).expect("sizes fit");
        if layer != scores {
            node = builder.relu(node);
        }
    }
    let network = builder.finish(node, ElementType::F64);
    let label = |name: &str| {
        let position = model.labels.iter().position(|label| *label == name);
        LabelId::new(position.expect("the model has it"))
    };
    let (inputs, outputs) = (vec![PLACE], vec![label("rest"), label("go")]);
    let semantics = PolicySemantics::default();
    Policy::new(network, inputs, outputs, semantics, &model.domains()).expect("it fits")
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn float(place: i64) -> f64 {
    place as f64
}

/// That the place is at most `value`.
pub(crate) fn at_most(value: i64) -> Condition {
    Condition::from_expr(&Expr::binary(BinaryOp::Le, Expr::Var(PLACE), Expr::int(value)))
}

/// Places from `first` on are unsafe.
pub(crate) fn unsafe_from(first: i64) -> SafetyProperty {
    SafetyProperty {
        name: String::new(),
        start: None,
        unsafe_condition: at_most(first - 1).negate(),
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}
