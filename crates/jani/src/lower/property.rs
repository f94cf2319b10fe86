//! Properties of policies and their state sets.

mod formula;
mod states;

use policert_model::{Condition, Predicate, SafetyProperty, Start, VarId, VariableKind};

use super::{
    Layout, Lowered, LoweredModel, Reading, Scalar, Trouble, condition, expression::ExprLowerer,
};
use crate::{
    ast::{self, Expr, Label, LocationRef, PolicyProperty, PropertyKind, StateSet},
    check::{Checked, Type, TypeChecker},
    diagnostic::{DiagnosticCode, Diagnostics},
    names::{NameId, Names},
    property::{Property, TrainingRewards},
};

/// Lowers properties over a model.
pub(crate) struct PropertyLowerer<'c> {
    pub checked: &'c Checked,
    pub names: &'c Names,
    pub lowered: &'c LoweredModel,
    /// Named state sets: of the property's file, then of the model.
    pub labels: &'c [Label],
    pub diagnostics: &'c mut Diagnostics,
}

impl<'c> PropertyLowerer<'c> {
    /// Lowers a property; `None` after a diagnostic.
    pub fn property(&mut self, property: &ast::Property) -> Option<Property> {
        match &property.kind {
            PropertyKind::Policy(policy) => self.safety(property, policy).map(Property::Safety),
            PropertyKind::Standard(formula) => {
                self.standard(&property.name, formula).map(Property::Standard)
            }
            PropertyKind::Broken => None,
        }
    }

    fn safety(
        &mut self,
        property: &ast::Property,
        policy: &PolicyProperty,
    ) -> Option<SafetyProperty> {
        // All parts are looked at, so that all that is wrong is found.
        let start = policy.start.as_ref().map(|set| self.start(set));
        let reach = policy.reach.as_ref().map(|set| self.state_condition(set));
        if reach.is_none() {
            let message = "the property names no unsafe states (`reach`): nothing is unsafe";
            self.diagnostics.warning(DiagnosticCode::Property, property.at, message);
        }
        let goal = policy.objective.as_ref().and_then(|o| o.goal.as_ref());
        let goal = goal.map(|set| self.state_condition(set));
        let predicates: Vec<_> = policy.predicates.iter().map(|p| self.predicate(p)).collect();
        Some(SafetyProperty {
            name: property.name.clone(),
            start: match start {
                Some(start) => Some(start?),
                None => None,
            },
            unsafe_condition: reach.unwrap_or(Some(Condition::False))?,
            goal: match goal {
                Some(goal) => Some(goal?),
                None => None,
            },
            predicates: predicates.into_iter().collect::<Option<_>>()?,
            interface: policy.interface.clone(),
        })
    }

    /// Returns what the objective says for training; what is wrong with it does not matter for
    /// safety.
    pub fn rewards(&mut self, property: &ast::Property) -> TrainingRewards {
        let PropertyKind::Policy(policy) = &property.kind else {
            return TrainingRewards::default();
        };
        let found = self.diagnostics.clone();
        let mut lower = |expr: Option<&Expr>| Some(self.scalar(expr?, &Type::Real)?.expr);
        let objective = policy.objective.as_ref();
        let rewards = TrainingRewards {
            potential: lower(objective.and_then(|o| o.potential.as_ref())),
            step_reward: lower(objective.and_then(|o| o.step_reward.as_ref())),
        };
        *self.diagnostics = found;
        rewards
    }

    fn predicate(&mut self, expr: &Expr) -> Option<Predicate> {
        let condition = self.condition(expr)?;
        Some(Predicate { text: self.lowered.model.display_condition(&condition), condition })
    }

    fn start(&mut self, set: &StateSet) -> Option<Start> {
        match self.labelled(set)? {
            StateSet::Values { states, .. } => self.states(states).map(Start::States),
            set => self.state_condition(set).map(Start::Condition),
        }
    }

    /// The condition of a set of states that is no list.
    fn state_condition(&mut self, set: &StateSet) -> Option<Condition> {
        match self.labelled(set)? {
            StateSet::Condition { exp, locations, .. } => {
                let exp = match exp {
                    Some(exp) => self.condition(exp),
                    None => Some(Condition::True),
                };
                let mut parts = vec![exp?];
                for location in locations {
                    let (variable, value) = self.location(location)?;
                    // The location of an automaton with a single one says nothing.
                    if !self.lowered.model.variables[variable.index()].domain.is_point() {
                        parts.push(Condition::var_equals(variable, value));
                    }
                }
                Some(Condition::and(parts))
            }
            StateSet::Values { at, .. } => {
                self.diagnostics.unsupported(*at, "a list of states that are not start states");
                None
            }
            StateSet::Label(_) => None,
        }
    }

    /// The set itself, or the one that its label names.
    fn labelled<'s>(&mut self, set: &'s StateSet) -> Option<&'s StateSet>
    where
        'c: 's,
    {
        let mut set = set;
        // A label may name a label, but not for ever.
        for _ in 0..=self.labels.len() {
            let StateSet::Label(name) = set else { return Some(set) };
            let label = self.labels.iter().find(|label| label.name.symbol == name.symbol);
            let Some(label) = label else {
                let message = format!("unknown label `{}`", self.names.text(name.symbol));
                self.diagnostics.invalid(DiagnosticCode::UnknownName, name.at, message);
                return None;
            };
            set = &label.set;
        }
        if let StateSet::Label(name) = set {
            let message = "labels that name each other";
            self.diagnostics.invalid(DiagnosticCode::Recursion, name.at, message);
        }
        None
    }

    /// A Boolean expression over the states as a condition.
    pub fn condition(&mut self, expr: &Expr) -> Option<Condition> {
        self.with_scope(expr, &Type::Bool, condition)
    }

    /// A number or truth value over the states.
    pub fn scalar(&mut self, expr: &Expr, ty: &Type) -> Option<Scalar> {
        self.with_scope(expr, ty, |lowerer, expr| lowerer.scalar(expr))
    }

    fn with_scope<T>(
        &mut self,
        expr: &Expr,
        ty: &Type,
        lower: impl FnOnce(&mut ExprLowerer<'_>, &Expr) -> Result<T, Trouble>,
    ) -> Option<T> {
        let (checked, names, lowered) = (self.checked, self.names, self.lowered);
        let find = |name: NameId| find(checked, names, lowered, name);
        let find_type = |name: NameId| find(name).map(|(ty, _)| ty);
        let find_value = |name: NameId| find(name).map(|(_, value)| value);
        let fits = TypeChecker::new(checked, self.diagnostics, names, None)
            .with_fallback(&find_type)
            .expect(expr, ty);
        if !fits {
            return None;
        }
        let mut lowerer = ExprLowerer::new(checked, Reading::State(&lowered.layout), None)
            .with_fallback(&find_value);
        match lower(&mut lowerer, expr) {
            Ok(value) => Some(value),
            Err(trouble) => {
                trouble.report(names, self.diagnostics);
                None
            }
        }
    }

    /// The variable and value of a location of an instance.
    fn location(&mut self, location: &LocationRef) -> Option<(VarId, i64)> {
        let name = location.automaton;
        let text = |symbol| self.names.text(symbol);
        let Some(automaton) = self.checked.scope.automaton(name.symbol) else {
            let message = format!("unknown automaton `{}`", text(name.symbol));
            self.diagnostics.invalid(DiagnosticCode::UnknownName, name.at, message);
            return None;
        };
        let instance = match self.instance(automaton, location.index) {
            Ok(instance) => instance,
            Err(problem) => {
                let message = format!("{problem} of `{}`", text(name.symbol));
                self.diagnostics.invalid(DiagnosticCode::Property, location.at, message);
                return None;
            }
        };
        let Some(value) = self.checked.scope.location(automaton, location.location.symbol) else {
            let message = format!(
                "automaton `{}` has no location `{}`",
                text(name.symbol),
                text(location.location.symbol)
            );
            self.diagnostics.invalid(DiagnosticCode::UnknownName, location.location.at, message);
            return None;
        };
        Some((Layout::location(instance), i64::try_from(value).ok()?))
    }

    /// The instance of an automaton at a position among the elements of the system; without a
    /// position, the only one.
    fn instance(&self, automaton: usize, index: Option<i64>) -> Result<usize, String> {
        let instances = &self.checked.instances;
        match index {
            Some(index) => match usize::try_from(index) {
                Ok(i) if instances.get(i) == Some(&automaton) => Ok(i),
                _ => Err(format!("element {index} of the system is no instance")),
            },
            None => {
                let mut found = instances.iter().enumerate().filter(|(_, a)| **a == automaton);
                match (found.next(), found.next()) {
                    (Some((i, _)), None) => Ok(i),
                    (None, _) => Err("the system has no instance".to_owned()),
                    _ => Err("`index` must say which instance".to_owned()),
                }
            }
        }
    }
}

/// Returns what names mean in properties besides global variables and constants: local variables of
/// a single instance, and the model's own names of its variables (`A[2]`, `Car#0.v`, `Car#0`).
fn find(
    checked: &Checked,
    names: &Names,
    lowered: &LoweredModel,
    name: NameId,
) -> Option<(Type, Lowered)> {
    let mut locals = checked.scope.locals_named(name).flat_map(|(automaton, v)| {
        let instances = checked.instances.iter().enumerate();
        instances.filter(move |(_, a)| **a == automaton).map(move |(i, _)| (i, v))
    });
    if let (Some((instance, v)), None) = (locals.next(), locals.next()) {
        let value = lowered.layout.in_state(v, Some(instance)).ok()?;
        return Some((checked.variable(v).ty.clone(), value));
    }
    let variable = lowered.model.variable_by_name(names.text(name))?;
    let ty = match lowered.model.variables[variable.index()].kind {
        VariableKind::Boolean => Type::Bool,
        VariableKind::Integer | VariableKind::Location { .. } => Type::Int,
    };
    Some((ty, Lowered::Scalar(Scalar::leaf(policert_model::Expr::Var(variable)))))
}
