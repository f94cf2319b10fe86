//! Models: everything but automata and properties.

use super::Parser;
use crate::{
    ast::{
        Constant, Element, Function, Model, ModelType, Name, Sync, System, Type, TypeKind, Variable,
    },
    diagnostic::DiagnosticCode,
    json::{Json, JsonKind, Members},
};

/// The features of the format, and of tools that write it.
const FEATURES: [&str; 11] = [
    "arrays",
    "datatypes",
    "derived-operators",
    "functions",
    "hyperbolic-functions",
    "multi-objective-properties",
    "named-expressions",
    "nondet-selection",
    "state-exit-rewards",
    "tradeoff-properties",
    "trigonometric-functions",
];

impl Parser {
    /// A model file; `None` if it is not even an object with automata.
    pub fn model(&mut self, json: Json<'_>) -> Option<Model> {
        let mut m = self.members(json, "a model")?;
        if json.get("automata").is_none() {
            let help = if json.get("properties").is_some() {
                "this looks like a file of properties, which goes with a model"
            } else {
                "a JANI model has the keys `jani-version`, `name`, `type`, `automata`, `system`"
            };
            let message = "no JANI model: key `automata` is missing";
            self.diagnostics.invalid_with_help(
                DiagnosticCode::MissingKey,
                json.at(),
                message,
                help,
            );
            return None;
        }
        if let Some(version) = self.required(&mut m, "jani-version")
            && version.text() != "1"
        {
            let message = format!("version {} is read as version 1", version.text());
            self.diagnostics.warning(DiagnosticCode::Value, version.at(), message);
        }
        let name = self.required(&mut m, "name").and_then(|n| self.string(n));
        let ty = self.required(&mut m, "type").and_then(|t| self.model_type(t));
        m.take("metadata");
        let features = self.optional_list(&mut m, "features", Self::feature);
        let actions = self.optional_list(&mut m, "actions", Self::action);
        let constants = self.optional_list(&mut m, "constants", Self::constant);
        let variables = self.optional_list(&mut m, "variables", Self::variable);
        let functions = self.optional_list(&mut m, "functions", Self::function);
        let restrict_initial =
            m.take("restrict-initial").and_then(|r| self.wrapped_expr(r, "a restriction"));
        let automata = self.required_list(&mut m, "automata", Self::automaton);
        let system = self.required(&mut m, "system").and_then(|s| self.system(s));
        // Properties and labels are read when they are asked for.
        m.take("properties");
        m.take("labels");
        self.finish(&m);
        Some(Model {
            at: json.at(),
            name: name.unwrap_or_default().into_owned(),
            ty,
            features,
            actions,
            constants,
            variables,
            functions,
            restrict_initial,
            automata,
            system: system.unwrap_or_default(),
        })
    }

    fn feature(&mut self, json: Json<'_>) -> Option<String> {
        let name = self.string(json)?;
        if !FEATURES.contains(&&*name) && !name.starts_with("x-") {
            let message =
                format!("unknown feature `{name}`; what is used of it is judged by itself");
            self.diagnostics.warning(DiagnosticCode::UnknownWord, json.at(), message);
        }
        Some(name.into_owned())
    }

    fn model_type(&mut self, json: Json<'_>) -> Option<(ModelType, crate::source::At)> {
        let name = self.string(json)?;
        let found = ModelType::ALL.iter().find(|(n, _)| *n == name).map(|&(_, ty)| (ty, json.at()));
        if found.is_none() {
            self.unknown_word(json, "model type", &name);
        }
        found
    }

    fn action(&mut self, json: Json<'_>) -> Option<Name> {
        let mut m = self.members(json, "an action")?;
        let name = self.required_name(&mut m, "name");
        self.finish(&m);
        name
    }

    fn constant(&mut self, json: Json<'_>) -> Option<Constant> {
        let mut m = self.members(json, "a constant")?;
        let name = self.required_name(&mut m, "name");
        let ty = self.required_type(&mut m);
        let value = m.take("value").map(|v| self.expr(v));
        self.finish(&m);
        Some(Constant { name: name?, ty, value })
    }

    pub(super) fn variable(&mut self, json: Json<'_>) -> Option<Variable> {
        let mut m = self.members(json, "a variable")?;
        let name = self.required_name(&mut m, "name");
        let ty = self.required_type(&mut m);
        let transient = m.take("transient").and_then(|t| self.flag(t)).unwrap_or(false);
        let initial = m.take("initial-value").map(|v| self.expr(v));
        self.finish(&m);
        Some(Variable { name: name?, ty, transient, initial })
    }

    pub(super) fn function(&mut self, json: Json<'_>) -> Option<Function> {
        let mut m = self.members(json, "a function")?;
        let name = self.required_name(&mut m, "name");
        let ty = self.required_type(&mut m);
        let parameters = self.optional_list(&mut m, "parameters", |p, json| {
            let mut m = p.members(json, "a parameter")?;
            let name = p.required_name(&mut m, "name");
            let ty = p.required_type(&mut m);
            p.finish(&m);
            Some((name?, ty))
        });
        let body = self.required(&mut m, "body").map(|b| self.expr(b));
        self.finish(&m);
        Some(Function { name: name?, ty, parameters, body: body? })
    }

    fn required_type<'s>(&mut self, m: &mut Members<'s>) -> Type {
        match self.required(m, "type") {
            Some(ty) => self.ty(ty),
            None => Type { at: m.object().at(), kind: TypeKind::Broken },
        }
    }

    fn ty(&mut self, json: Json<'_>) -> Type {
        let kind = match json.as_str() {
            Some(name) => self.basic_type(json, &name),
            None => self.composed_type(json),
        };
        Type { at: json.at(), kind: kind.unwrap_or(TypeKind::Broken) }
    }

    fn basic_type(&mut self, json: Json<'_>, name: &str) -> Option<TypeKind> {
        Some(match name {
            "bool" => TypeKind::Bool,
            "int" => TypeKind::Int,
            "real" => TypeKind::Real,
            "clock" => TypeKind::Clock,
            "continuous" => TypeKind::Continuous,
            _ => {
                self.unknown_word(json, "type", name);
                return None;
            }
        })
    }

    fn composed_type(&mut self, json: Json<'_>) -> Option<TypeKind> {
        let mut m = self.members(json, "a type")?;
        let kind = self.required(&mut m, "kind")?;
        let name = self.string(kind)?;
        let ty = match &*name {
            "bounded" => {
                let base = self.required(&mut m, "base");
                let lower = m.take("lower-bound").map(|b| self.expr(b));
                let upper = m.take("upper-bound").map(|b| self.expr(b));
                let base = self.ty(base?);
                let integers = match base.kind {
                    TypeKind::Int => true,
                    TypeKind::Real => false,
                    TypeKind::Broken => return None,
                    _ => {
                        let message = "a bounded type has the base `int` or `real`";
                        self.diagnostics.invalid(DiagnosticCode::Value, base.at, message);
                        return None;
                    }
                };
                Some(TypeKind::Bounded { integers, lower, upper })
            }
            "array" => {
                let base = self.required(&mut m, "base")?;
                Some(TypeKind::Array(Box::new(self.ty(base))))
            }
            "option" | "datatype" => {
                self.diagnostics.unsupported(kind.at(), format_args!("types of the kind `{name}`"));
                m.take_all();
                None
            }
            _ => {
                self.unknown_word(kind, "kind of types", &name);
                None
            }
        };
        self.finish(&m);
        ty
    }

    fn system(&mut self, json: Json<'_>) -> Option<System> {
        let mut m = self.members(json, "a composition")?;
        let elements = self.required_list(&mut m, "elements", |p, json| {
            let mut m = p.members(json, "an automaton instance")?;
            let automaton = p.required_name(&mut m, "automaton");
            let input_enable = p.optional_list(&mut m, "input-enable", Self::name);
            p.finish(&m);
            Some(Element { automaton: automaton?, input_enable })
        });
        let syncs = self.optional_list(&mut m, "syncs", |p, json| {
            let mut m = p.members(json, "a synchronisation vector")?;
            let synchronise = p.required_list(&mut m, "synchronise", |p, json| {
                if json.kind() == JsonKind::Null { Some(None) } else { p.name(json).map(Some) }
            });
            let result = m.take("result").filter(|r| r.kind() != JsonKind::Null);
            let result = result.and_then(|r| p.name(r));
            p.finish(&m);
            Some(Sync { at: json.at(), synchronise, result })
        });
        self.finish(&m);
        Some(System { elements, syncs })
    }
}
