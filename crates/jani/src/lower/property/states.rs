//! Lists of states: what a state does not name keeps its initial value.

use std::collections::BTreeMap;

use policert_model::{Expr as ModelExpr, InitialValue, State, VarId, VariableKind};
use policert_numeric::Rational;

use super::PropertyLowerer;
use crate::{
    ast::{Expr, ExprKind, StateValues},
    check::Type,
    diagnostic::DiagnosticCode,
    names::NameId,
};

impl PropertyLowerer<'_> {
    /// The states of a list.
    pub(super) fn states(&mut self, list: &[StateValues]) -> Option<Vec<State>> {
        let mut variables = BTreeMap::new();
        let initial: Vec<Option<i64>> = self
            .lowered
            .model
            .initial_values
            .iter()
            .map(|value| match value {
                InitialValue::Fixed(value) => Some(*value),
                InitialValue::Any | InitialValue::OneOf(_) => None,
            })
            .collect();
        let mut states = Vec::with_capacity(list.len());
        let mut complete = true;
        for values in list {
            match self.state(values, initial.clone(), &mut variables) {
                Some(state) => states.push(state),
                None => complete = false,
            }
        }
        complete.then_some(states)
    }

    fn state(
        &mut self,
        values: &StateValues,
        mut state: Vec<Option<i64>>,
        variables: &mut BTreeMap<NameId, Option<VarId>>,
    ) -> Option<State> {
        for location in &values.locations {
            let (variable, value) = self.location(location)?;
            state[variable.index()] = Some(value);
        }
        for (target, value) in &values.variables {
            let variable = match target.kind {
                // The same few names in every state.
                ExprKind::Name(name) => match variables.get(&name) {
                    Some(known) => *known,
                    None => {
                        let found = self.variable(target);
                        variables.insert(name, found);
                        found
                    }
                },
                _ => self.variable(target),
            }?;
            state[variable.index()] = Some(self.value(variable, value)?);
        }
        let missing = state.iter().position(Option::is_none);
        if let Some(missing) = missing {
            let message = format!(
                "the state gives no value for `{}`, which has no single initial value",
                self.lowered.model.variables[missing].name
            );
            self.diagnostics.invalid(DiagnosticCode::Property, values.at, message);
        }
        state.into_iter().collect()
    }

    /// The variable, or cell of an array, that is given a value.
    fn variable(&mut self, target: &Expr) -> Option<VarId> {
        let scalar = self.scalar(target, &Type::Unknown)?;
        if let ModelExpr::Var(variable) = scalar.expr {
            return Some(variable);
        }
        let message = "a variable of the state, or a cell of an array, expected";
        self.diagnostics.invalid(DiagnosticCode::Value, target.at, message);
        None
    }

    fn value(&mut self, variable: VarId, value: &Expr) -> Option<i64> {
        let declared = &self.lowered.model.variables[variable.index()];
        let ty = match declared.kind {
            VariableKind::Boolean => Type::Bool,
            VariableKind::Integer | VariableKind::Location { .. } => Type::Int,
        };
        let number = match &value.kind {
            ExprKind::Number(number) if ty == Type::Int => number.to_i64(),
            ExprKind::Bool(value) if ty == Type::Bool => Some(i64::from(*value)),
            _ => {
                let scalar = self.scalar(value, &ty)?;
                let number = scalar.expr.as_constant().and_then(Rational::to_i64);
                if number.is_none() {
                    let message = "a constant value expected";
                    self.diagnostics.invalid(DiagnosticCode::NotConstant, value.at, message);
                    return None;
                }
                number
            }
        };
        match number {
            Some(number) if declared.domain.contains(number) => Some(number),
            _ => {
                let message = format!(
                    "the value of `{}` is outside its domain {}",
                    declared.name, declared.domain
                );
                self.diagnostics.invalid(DiagnosticCode::OutOfBounds, value.at, message);
                None
            }
        }
    }
}
