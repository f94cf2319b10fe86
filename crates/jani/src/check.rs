//! From the abstract syntax to the checked one: names, types, constants, bounds, initial values,
//! synchronisation vectors, probabilities.
//!
//! A [`Checked`] model is the abstract syntax with tables beside it: what each name means, the
//! values of constants, the types and bounds of variables. All problems are collected.

mod assignments;
mod automaton;
mod constants;
mod functions;
mod probabilities;

mod scope;
mod system;
mod typing;
mod variables;

use std::sync::Arc;

use policert_numeric::Rational;

use crate::{
    ast,
    diagnostic::DiagnosticCode,
    load_options::LoadOptions,
    lower::{Reading, Trouble, Uses, expression::ExprLowerer},
    names::NameId,
    parse::Parser,
    source::At,
};

pub(crate) use scope::{Entity, FunctionId, Scope, VariableId};
pub(crate) use system::Vector;
pub(crate) use typing::{Type, TypeChecker};
pub(crate) use variables::{Sort, Variable};

/// A constant value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A number, or a truth value as 0 or 1.
    Scalar(Rational),
    /// An array.
    Array(Vec<Value>),
}

/// A model whose parts fit together.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// The abstract syntax.
    pub ast: Arc<ast::Model>,
    /// The meaning of names.
    pub scope: Scope,
    /// Values of the constants, by position, or why there is none.
    pub constants: Vec<Result<Value, Trouble>>,
    /// Global variables, then local ones by automaton.
    pub variables: Vec<Variable>,
    /// The automaton of each element of the system.
    pub instances: Vec<usize>,
    /// The synchronisation vectors.
    pub vectors: Vec<Vector>,
    /// The ways in which edges use variables.
    pub uses: Uses,
    /// True if probabilities must sum to 1 exactly.
    pub exact_probabilities: bool,
    /// Number of values of the files: what a large model may cost.
    pub values: u64,
}

pub(crate) use probabilities::{DestinationProbability, SCALED, probabilities, rounding};

impl Checked {
    /// The function of an id.
    pub fn function(&self, id: FunctionId) -> &ast::Function {
        match id.automaton {
            None => &self.ast.functions[id.index],
            Some(automaton) => &self.ast.automata[automaton].functions[id.index],
        }
    }

    /// The variable of an id.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0]
    }
}

/// Checks a model as the options ask. What is wrong goes to the diagnostics of `parser`; the result is
/// fit for use only if there are no errors.
pub(crate) fn check(ast: ast::Model, options: &LoadOptions, parser: &mut Parser) -> Checked {
    let checked = Checked {
        scope: Scope::default(),
        constants: Vec::new(),
        variables: Vec::new(),
        instances: Vec::new(),
        vectors: Vec::new(),
        uses: Uses::default(),
        exact_probabilities: options.exact_probabilities,
        values: parser.diagnostics.sources.values(),
        ast: Arc::new(ast),
    };
    let mut checker = Checker { checked, parser };
    checker.declare();
    checker.constants(&options.constants);
    checker.variables();
    checker.functions();
    checker.system();
    checker.automata();
    let ast = checker.ast();
    if let Some(restriction) = &ast.restrict_initial {
        checker.condition(restriction, None);
    }
    checker.checked
}

/// A check under way.
struct Checker<'p> {
    checked: Checked,
    parser: &'p mut Parser,
}

impl Checker<'_> {
    /// The abstract syntax, to run through while the tables beside it are filled.
    fn ast(&self) -> Arc<ast::Model> {
        Arc::clone(&self.checked.ast)
    }

    fn types(&mut self, automaton: Option<usize>) -> TypeChecker<'_> {
        let Parser { diagnostics, names, .. } = &mut *self.parser;
        TypeChecker::new(&self.checked, diagnostics, names, automaton)
    }

    /// Checks an expression that must be a truth value.
    fn condition(&mut self, expr: &ast::Expr, automaton: Option<usize>) {
        self.types(automaton).expect(expr, &Type::Bool);
    }

    /// The value of an expression that must be constant and of a type; `None` after an error, or
    /// if a constant that it needs has no value.
    fn constant(&mut self, expr: &ast::Expr, ty: &Type, automaton: Option<usize>) -> Option<Value> {
        match self.try_constant(expr, ty, automaton) {
            Ok(value) => Some(value),
            Err(trouble) => {
                self.trouble(trouble);
                None
            }
        }
    }

    /// The same, but leaves it to the caller to say why there is no value.
    fn try_constant(
        &mut self,
        expr: &ast::Expr,
        ty: &Type,
        automaton: Option<usize>,
    ) -> Result<Value, Trouble> {
        if !self.types(automaton).expect(expr, ty) {
            return Err(Trouble::Known);
        }
        ExprLowerer::new(&self.checked, Reading::Constant, automaton).value(expr)
    }

    /// The number that an expression must have as its value.
    fn constant_number(
        &mut self,
        expr: &ast::Expr,
        ty: &Type,
        automaton: Option<usize>,
    ) -> Option<Rational> {
        match self.constant(expr, ty, automaton)? {
            Value::Scalar(value) => Some(value),
            Value::Array(_) => None,
        }
    }

    fn trouble(&mut self, trouble: Trouble) {
        trouble.report(&self.parser.names, &mut self.parser.diagnostics);
    }

    fn text(&self, symbol: NameId) -> &str {
        self.parser.names.text(symbol)
    }

    fn invalid(&mut self, code: DiagnosticCode, at: At, message: impl Into<String>) {
        self.parser.diagnostics.invalid(code, at, message);
    }
}
