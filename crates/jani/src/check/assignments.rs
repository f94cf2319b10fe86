//! Assignments: what they write, types, and that none contradicts another.

use std::collections::BTreeMap;

use policert_numeric::Rational;

use super::{Checker, Entity, Type};
use crate::{
    ast::{AssignedValue, Assignment, Edge, ExprKind},
    diagnostic::DiagnosticCode,
    lower::{Reading, expression::ExprLowerer, target},
    names::NameId,
};

impl Checker<'_> {
    /// Checks the assignments of an edge.
    pub(super) fn assignments(&mut self, automaton: usize, edge: &Edge) {
        for assignment in
            edge.assignments.iter().chain(edge.destinations.iter().flat_map(|d| &d.assignments))
        {
            self.assignment(automaton, assignment);
        }
        for destination in &edge.destinations {
            let all = || edge.assignments.iter().chain(&destination.assignments);
            if edge.assignments.len() + destination.assignments.len() > 1 {
                self.conflicts(automaton, all());
            }
        }
    }

    fn assignment(&mut self, automaton: usize, assignment: &Assignment) {
        let ty = self.types(Some(automaton)).ty(&assignment.target);
        match target(&assignment.target) {
            None => {
                if !matches!(assignment.target.kind, ExprKind::Broken) {
                    let message = "only a variable or a cell of an array can be assigned to";
                    self.invalid(DiagnosticCode::Value, assignment.target.at, message);
                }
            }
            Some((name, _)) => {
                if let Some(Entity::Constant(_)) = self.checked.scope.entity(name, Some(automaton))
                {
                    let message =
                        format!("`{}` is a constant: it cannot be assigned to", self.text(name));
                    self.invalid(DiagnosticCode::Value, assignment.target.at, message);
                }
            }
        }
        match &assignment.value {
            AssignedValue::Expr(value) => {
                self.types(Some(automaton)).expect(value, &ty);
            }
            AssignedValue::Between(lower, upper) => {
                if !ty.fits(&Type::Int) {
                    let message = format!(
                        "a value between bounds is an integer; what is written is {}",
                        ty.describe()
                    );
                    self.invalid(DiagnosticCode::Type, assignment.target.at, message);
                }
                self.types(Some(automaton)).expect(lower, &Type::Int);
                self.types(Some(automaton)).expect(upper, &Type::Int);
            }
        }
    }

    /// Reports two assignments of one index to one variable, unless they write the same constant.
    fn conflicts<'a>(
        &mut self,
        automaton: usize,
        assignments: impl Iterator<Item = &'a Assignment>,
    ) {
        let mut lowerer = ExprLowerer::new(&self.checked, Reading::Constant, Some(automaton));
        let mut seen: BTreeMap<(i64, NameId, Vec<Rational>), &Assignment> = BTreeMap::new();
        let mut found = Vec::new();
        for assignment in assignments {
            let Some((name, indices)) = target(&assignment.target) else { continue };
            // Cells by computed indices are compared when the transition is taken.
            let indices = indices.into_iter().map(|i| lowerer.constant(i));
            let Some(indices) = indices.collect::<Option<Vec<_>>>() else { continue };
            let earlier = seen.entry((assignment.index, name, indices)).or_insert(assignment);
            if !std::ptr::eq(*earlier, assignment) {
                let mut constant = |value: &AssignedValue| match value {
                    AssignedValue::Expr(value) => lowerer.constant(value),
                    AssignedValue::Between(..) => None,
                };
                let (a, b) = (constant(&earlier.value), constant(&assignment.value));
                if a.is_none() || a != b {
                    found.push((assignment, name));
                }
            }
        }
        for (assignment, name) in found {
            let message = format!(
                "two assignments to `{}` with the index {}: which one counts?",
                self.text(name),
                assignment.index
            );
            self.invalid(DiagnosticCode::ConflictingWrites, assignment.at, message);
        }
    }
}
