//! Variables: types, bounds and initial values.

use policert_model::ValueBounds;
use policert_numeric::Rational;

use super::{Checker, Type, Value};
use crate::{
    ast::{self, TypeKind},
    diagnostic::DiagnosticCode,
    names::NameId,
    source::At,
};

/// A variable whose declaration was checked.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: NameId,
    pub at: At,
    /// The automaton of a local variable.
    pub automaton: Option<usize>,
    pub ty: Type,
    pub sort: Sort,
    /// Bounds of the number, or of the numbers in the array.
    pub bounds: ValueBounds,
    pub transient: bool,
    pub initial: Option<Value>,
    /// Lengths of the array, by dimension; empty for what is no array.
    pub shape: Vec<usize>,
}

/// Says what kind of quantity a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    Discrete,
    Real,
    Clock,
    Continuous,
}

impl Checker<'_> {
    /// Checks all declarations of variables.
    pub(super) fn variables(&mut self) {
        let ast = self.ast();
        let globals = ast.variables.iter().map(|v| (v, None));
        let locals = ast.automata.iter().enumerate();
        let locals =
            locals.flat_map(|(a, automaton)| automaton.variables.iter().map(move |v| (v, Some(a))));
        let all = globals.chain(locals).map(|(v, automaton)| self.variable(v, automaton));
        // Entered only now, so that no declaration can read a variable.
        self.checked.variables = all.collect();
    }

    fn variable(&mut self, variable: &ast::Variable, automaton: Option<usize>) -> Variable {
        let name = self.text(variable.name.symbol).to_owned();
        let ty = Type::of(&variable.ty);
        let bounds = self.bounds(&variable.ty, automaton);
        let initial = match &variable.initial {
            Some(initial) => self.constant(initial, &ty, automaton),
            None => {
                if variable.transient {
                    let message = format!("transient variable `{name}` needs an initial value");
                    self.invalid(DiagnosticCode::MissingKey, variable.name.at, message);
                }
                None
            }
        };
        if let (Some(value), Some(expr)) = (&initial, &variable.initial)
            && let Some(outside) = first_outside(value, &bounds)
        {
            let message = format!(
                "initial value {outside} of variable `{name}` is outside its bounds {bounds}"
            );
            self.invalid(DiagnosticCode::OutOfBounds, expr.at, message);
        }
        let shape = match (&ty, &initial) {
            (Type::Array(_), Some(value)) => match shape(value) {
                Some(shape) => shape,
                None => {
                    let what = format!("array `{name}` of arrays of different lengths");
                    self.parser.diagnostics.unsupported(variable.name.at, what);
                    Vec::new()
                }
            },
            (Type::Array(_), None) => {
                // A value that could not be found was complained of.
                if variable.initial.is_none() && !variable.transient {
                    let message = format!(
                        "array `{name}` needs an initial value: its length comes from there"
                    );
                    self.invalid(DiagnosticCode::MissingKey, variable.name.at, message);
                }
                Vec::new()
            }
            _ => Vec::new(),
        };
        Variable {
            name: variable.name.symbol,
            at: variable.name.at,
            automaton,
            sort: sort(&variable.ty),
            ty,
            bounds,
            transient: variable.transient,
            initial,
            shape,
        }
    }

    /// The bounds of a type, or of the elements of an array type.
    pub(super) fn bounds(&mut self, ty: &ast::Type, automaton: Option<usize>) -> ValueBounds {
        match &ty.kind {
            TypeKind::Array(base) => self.bounds(base, automaton),
            TypeKind::Bounded { lower, upper, .. } => {
                let number = Type::of(ty);
                let mut bound = |expr: &Option<ast::Expr>| {
                    expr.as_ref().and_then(|e| self.constant_number(e, &number, automaton))
                };
                let bounds = ValueBounds { lower: bound(lower), upper: bound(upper) };
                if let (Some(l), Some(u)) = (&bounds.lower, &bounds.upper)
                    && l > u
                {
                    let message = format!("lower bound {l} is greater than upper bound {u}");
                    self.invalid(DiagnosticCode::OutOfBounds, ty.at, message);
                }
                bounds
            }
            _ => ValueBounds::default(),
        }
    }
}

fn sort(ty: &ast::Type) -> Sort {
    match &ty.kind {
        TypeKind::Clock => Sort::Clock,
        TypeKind::Continuous => Sort::Continuous,
        TypeKind::Real | TypeKind::Bounded { integers: false, .. } => Sort::Real,
        TypeKind::Array(base) => sort(base),
        _ => Sort::Discrete,
    }
}

/// The first number of a value that is outside of bounds.
fn first_outside<'v>(value: &'v Value, bounds: &ValueBounds) -> Option<&'v Rational> {
    match value {
        Value::Scalar(number) => (!bounds.contains(number)).then_some(number),
        Value::Array(elements) => elements.iter().find_map(|e| first_outside(e, bounds)),
    }
}

/// The lengths of an array by dimension, if they are the same throughout.
pub(crate) fn shape(value: &Value) -> Option<Vec<usize>> {
    let Value::Array(elements) = value else { return Some(Vec::new()) };
    let mut inner = None;
    for element in elements {
        let shape = shape(element)?;
        if inner.get_or_insert_with(|| shape.clone()) != &shape {
            return None;
        }
    }
    let mut shape = vec![elements.len()];
    shape.extend(inner.unwrap_or_default());
    Some(shape)
}
