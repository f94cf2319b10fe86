//! Properties of policies, labels and state sets.

use super::Parser;
use crate::{
    ast::{
        Expr, Label, LocationRef, Name, Objective, PolicyProperty, Property, PropertyKind,
        StateSet, StateValues,
    },
    diagnostic::DiagnosticCode,
    json::{Json, JsonKind},
};

impl Parser {
    /// The properties of a file of properties, or of a model, not yet read; `None` after a
    /// diagnostic.
    pub fn property_list<'s>(&mut self, root: Json<'s>) -> Option<Vec<Json<'s>>> {
        let mut m = self.members(root, "a file of properties")?;
        let is_model = root.get("automata").is_some();
        let Some(list) = m.take("properties") else {
            if is_model {
                return Some(Vec::new());
            }
            let message = "no file of properties: key `properties` is missing";
            self.diagnostics.invalid(DiagnosticCode::MissingKey, root.at(), message);
            return None;
        };
        if !is_model {
            m.take("labels");
            self.finish(&m);
        }
        if list.kind() != JsonKind::Array {
            self.wrong_kind(list, "an array");
            return None;
        }
        Some(list.elements().collect())
    }

    /// The named state sets of a file of properties or of a model.
    pub fn labels(&mut self, root: Json<'_>) -> Vec<Label> {
        let Some(labels) = root.get("labels") else { return Vec::new() };
        self.list(labels, |p, json| {
            let mut m = p.members(json, "a label")?;
            let name = p.required_name(&mut m, "name");
            let set = p.required(&mut m, "element").and_then(|e| p.state_set(e));
            p.finish(&m);
            Some(Label { name: name?, set: set? })
        })
    }

    /// A property; what could not be read of it stands as `Broken`.
    pub fn property(&mut self, json: Json<'_>) -> Property {
        let mut property =
            Property { at: json.at(), name: String::new(), kind: PropertyKind::Broken };
        let Some(mut m) = self.members(json, "a property") else { return property };
        if let Some(name) = self.required(&mut m, "name").and_then(|n| self.string(n)) {
            property.name = name.into_owned();
        }
        if let Some(expression) = self.required(&mut m, "expression") {
            property.kind = if expression.get("op").is_some_and(|op| op.is_key("PA")) {
                match self.policy_property(expression) {
                    Some(policy) => PropertyKind::Policy(Box::new(policy)),
                    None => PropertyKind::Broken,
                }
            } else {
                PropertyKind::Standard(self.formula(expression))
            };
        }
        self.finish(&m);
        property
    }

    fn policy_property(&mut self, json: Json<'_>) -> Option<PolicyProperty> {
        let mut m = self.members(json, "a property")?;
        m.take("op");
        let interface = m.take("file").and_then(|f| self.path(f));
        let start = m.take("start").and_then(|s| self.state_set(s));
        let reach = m.take("reach").and_then(|r| self.state_set(r));
        let objective = m.take("objective").and_then(|o| self.included(o, &mut Self::objective));
        let predicates = m.take("predicates").and_then(|p| {
            self.included(p, &mut |p: &mut Self, json| {
                Some(p.list(json, |p, json| Some(p.expr(json))))
            })
        });
        self.finish(&m);
        Some(PolicyProperty {
            interface,
            start,
            reach,
            objective,
            predicates: predicates.unwrap_or_default(),
        })
    }

    fn objective(&mut self, json: Json<'_>) -> Option<Objective> {
        let mut m = self.members(json, "an objective")?;
        if let Some(op) = m.take("op")
            && !op.is_key("objective")
        {
            self.unknown_word(op, "kind of objectives", &op.as_str().unwrap_or_default());
        }
        let goal = m.take("goal").and_then(|g| self.state_set(g));
        // Older files call the potential a reward.
        let potential = [m.take("goal-potential"), m.take("goal-reward")];
        let potential = potential.into_iter().flatten().next().and_then(|p| self.reward(p));
        let step_reward = m.take("step-reward").and_then(|r| self.reward(r));
        m.take("accumulate");
        self.finish(&m);
        Some(Objective { goal, potential, step_reward })
    }

    /// An expression for training. What is wrong with it does not matter for safety.
    fn reward(&mut self, json: Json<'_>) -> Option<Expr> {
        let found = self.diagnostics.clone();
        let expr = self.expr(json);
        let is_wrong = self.diagnostics.errors() > found.errors();
        self.diagnostics = found;
        (!is_wrong).then_some(expr)
    }

    /// A set of states: in place, in a file, or by a label. A bare expression is a condition.
    pub(super) fn state_set(&mut self, json: Json<'_>) -> Option<StateSet> {
        self.included(json, &mut Self::state_set_in_place)
    }

    fn state_set_in_place(&mut self, json: Json<'_>) -> Option<StateSet> {
        let Some(op) = json.get("op") else {
            if let Some(label) = json.get("label") {
                return self.name(label).map(StateSet::Label);
            }
            let exp = Some(self.expr(json));
            return Some(StateSet::Condition { exp, locations: Vec::new() });
        };
        if op.is_key("states-values") {
            return self.state_list(json);
        }
        if !op.is_key("state-condition") {
            let exp = Some(self.expr(json));
            return Some(StateSet::Condition { exp, locations: Vec::new() });
        }
        let mut m = self.members(json, "a state condition")?;
        m.take("op");
        let exp = m.take("exp").map(|e| self.expr(e));
        let locations = self.optional_list(&mut m, "locations", Self::location_ref);
        self.finish(&m);
        Some(StateSet::Condition { exp, locations })
    }

    fn state_list(&mut self, json: Json<'_>) -> Option<StateSet> {
        let mut m = self.members(json, "a list of states")?;
        m.take("op");
        let states = self.required_list(&mut m, "values", |p, json| {
            let mut m = p.members(json, "a state")?;
            let locations = p.optional_list(&mut m, "locations", Self::location_ref);
            let variables = p.optional_list(&mut m, "variables", Self::variable_value);
            p.finish(&m);
            Some(StateValues { at: json.at(), locations, variables })
        });
        self.finish(&m);
        Some(StateSet::Values { at: json.at(), states })
    }

    fn variable_value(&mut self, json: Json<'_>) -> Option<(Expr, Expr)> {
        let mut m = self.members(json, "a value of a variable")?;
        let variable = self.required(&mut m, "var").map(|v| self.expr(v));
        let value = self.required(&mut m, "value").map(|v| self.expr(v));
        self.finish(&m);
        Some((variable?, value?))
    }

    fn location_ref(&mut self, json: Json<'_>) -> Option<LocationRef> {
        let mut m = self.members(json, "a location of an instance")?;
        let automaton = self.required_name(&mut m, "automaton");
        let index = m.take("index").filter(|i| i.kind() != JsonKind::Null);
        let index = match index {
            Some(index) => Some(self.integer(index)?),
            None => None,
        };
        let location: Option<Name> = self.required_name(&mut m, "location");
        self.finish(&m);
        Some(LocationRef { at: json.at(), automaton: automaton?, index, location: location? })
    }
}
