//! Functions: types of their bodies, and that none needs itself.

use super::{Checker, FunctionId, Type};
use crate::ast::{Expr, ExprKind};

impl Checker<'_> {
    /// Checks all functions.
    pub(super) fn functions(&mut self) {
        let ids: Vec<FunctionId> = std::iter::once(None)
            .chain((0..self.checked.ast.automata.len()).map(Some))
            .flat_map(|automaton| {
                let count = match automaton {
                    None => self.checked.ast.functions.len(),
                    Some(a) => self.checked.ast.automata[a].functions.len(),
                };
                (0..count).map(move |index| FunctionId { automaton, index })
            })
            .collect();
        let mut calls = Vec::with_capacity(ids.len());
        for &id in &ids {
            let ast = self.ast();
            let function = match id.automaton {
                None => &ast.functions[id.index],
                Some(automaton) => &ast.automata[automaton].functions[id.index],
            };
            self.types(id.automaton)
                .with_parameters(function)
                .expect(&function.body, &Type::of(&function.ty));
            let mut called = Vec::new();
            each_call(&function.body, &mut |name| {
                let callee = self.checked.scope.function(name.symbol, id.automaton);
                called.extend(callee.and_then(|c| ids.iter().position(|&other| other == c)));
            });
            calls.push(called);
        }
        for (i, &id) in ids.iter().enumerate() {
            if reaches(&calls, i, i) {
                let name = self.checked.function(id).name;
                let what = format!("recursive function `{}`", self.text(name.symbol));
                self.parser.diagnostics.unsupported(name.at, what);
            }
        }
    }
}

/// Returns whether a path of calls leads from one function to another.
fn reaches(calls: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; calls.len()];
    let mut open = vec![from];
    while let Some(function) = open.pop() {
        for &callee in &calls[function] {
            if callee == to {
                return true;
            }
            if !std::mem::replace(&mut seen[callee], true) {
                open.push(callee);
            }
        }
    }
    false
}

/// Calls `f` for the name of each function called in an expression.
fn each_call(expr: &Expr, f: &mut impl FnMut(crate::ast::Name)) {
    if let ExprKind::Call(name, _) = &expr.kind {
        f(*name);
    }
    expr.for_each_operand(&mut |operand| each_call(operand, f));
}
