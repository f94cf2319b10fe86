//! Expressions: functions inlined, arrays element by element.

mod arrays;

use std::cell::Cell;

use policert_model::{BinaryOp as Op, Expr as ModelExpr, UnaryOp as Unary};
use policert_numeric::Rational;

use super::{Layout, Lowered, Scalar, Trouble};
use crate::{
    ast::{BinaryOp, Expr, ExprKind, IrrationalConstant, Name, UnaryOp},
    check::{Checked, Entity, Value, VariableId},
    diagnostic::DiagnosticCode,
    names::NameId,
    source::At,
};

/// Deepest expression after lowering, and deepest inlining.
const MAX_DEPTH: u32 = 2500;
/// Most nodes of all expressions that one lowering makes, beside some for each value of the file.
const MAX_NODES: u64 = 5_000_000;
/// Nodes for each value of the file.
const NODES_PER_VALUE: u64 = 8;

/// Says what variables an expression may read, and what they become.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading<'c> {
    /// None: it must be constant.
    Constant,
    /// Those of a state; transient ones are what the locations show.
    State(&'c Layout),
    /// Those of a transition under way: transient ones have values of their own.
    Transition(&'c Layout),
}

/// Says how much was lowered so far.
#[derive(Debug)]
pub(crate) struct Effort {
    spent: Cell<u64>,
    /// A large file may be so; but functions that call functions grow without bounds.
    most: u64,
}

impl Effort {
    fn new(values: u64) -> Self {
        let most = MAX_NODES.saturating_add(values.saturating_mul(NODES_PER_VALUE));
        Self { spent: Cell::new(0), most }
    }

    fn spend(&self, nodes: u64, at: At) -> Result<(), Trouble> {
        self.spent.set(self.spent.get().saturating_add(nodes));
        if self.spent.get() <= self.most {
            return Ok(());
        }
        let what = format!("more than {} operations after inlining functions", self.most);
        Err(Trouble::Unsupported(at, what))
    }
}

/// Lowers expressions of one scope.
pub(crate) struct ExprLowerer<'c> {
    checked: &'c Checked,
    reading: Reading<'c>,
    automaton: Option<usize>,
    instance: Option<usize>,
    /// Parameters and indices with what they stand for, innermost last.
    bound: Vec<(NameId, Lowered)>,
    depth: u32,
    effort: Effort,
    /// Finds names that the scope does not have.
    fallback: Option<&'c dyn Fn(NameId) -> Option<Lowered>>,
}

impl<'c> ExprLowerer<'c> {
    pub fn new(checked: &'c Checked, reading: Reading<'c>, automaton: Option<usize>) -> Self {
        Self {
            checked,
            reading,
            automaton,
            instance: None,
            bound: Vec::new(),
            depth: 0,
            effort: Effort::new(checked.values),
            fallback: None,
        }
    }

    /// For an instance, whose local variables are meant.
    pub fn of_instance(checked: &'c Checked, reading: Reading<'c>, instance: usize) -> Self {
        let mut lowerer = Self::new(checked, reading, Some(checked.instances[instance]));
        lowerer.instance = Some(instance);
        lowerer
    }

    /// With further names, as properties have them.
    pub fn with_fallback(mut self, fallback: &'c dyn Fn(NameId) -> Option<Lowered>) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// The automaton in whose scope names are looked up.
    pub fn automaton(&self) -> Option<usize> {
        self.automaton
    }

    /// The instance whose local variables are meant.
    pub fn instance(&self) -> Option<usize> {
        self.instance
    }

    /// The same with another reading; the effort so far counts on.
    pub fn reading(&mut self, reading: Reading<'c>) -> &mut Self {
        self.reading = reading;
        self
    }

    /// The value of a constant expression.
    pub fn value(&mut self, expr: &Expr) -> Result<Value, Trouble> {
        let lowered = self.lower(expr)?;
        constant_value(lowered, expr.at)
    }

    /// The value of an expression, if it is constant.
    pub fn constant(&mut self, expr: &Expr) -> Option<Rational> {
        let reading = std::mem::replace(&mut self.reading, Reading::Constant);
        let value = self.scalar(expr).ok().and_then(|s| s.expr.as_constant().cloned());
        self.reading = reading;
        value
    }

    /// An expression that is no array.
    pub fn scalar(&mut self, expr: &Expr) -> Result<Scalar, Trouble> {
        match self.lower(expr)? {
            Lowered::Scalar(scalar) => Ok(scalar),
            Lowered::Array(_) => Err(Trouble::ill_typed(expr.at)),
        }
    }

    /// Any expression.
    pub fn lower(&mut self, expr: &Expr) -> Result<Lowered, Trouble> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(expr.at));
        }
        self.depth += 1;
        let lowered = self.lower_inner(expr);
        self.depth -= 1;
        if let Ok(Lowered::Scalar(scalar)) = &lowered
            && scalar.depth > MAX_DEPTH
        {
            return Err(too_deep(expr.at));
        }
        lowered
    }

    fn lower_inner(&mut self, expr: &Expr) -> Result<Lowered, Trouble> {
        self.effort.spend(1, expr.at)?;
        Ok(Lowered::Scalar(match &expr.kind {
            ExprKind::Bool(value) => Scalar::bool(*value),
            ExprKind::Number(value) => Scalar::constant(value.clone()),
            ExprKind::Name(name) => return self.name(*name, expr.at),
            ExprKind::Unary(op, operand) => unary(*op, self.scalar(operand)?),
            ExprKind::Binary(op, operands) => return self.binary(*op, operands, expr),
            ExprKind::Ite(operands) => {
                let [condition, then, otherwise] = &**operands;
                let condition = self.scalar(condition)?;
                let (then, otherwise) = (self.lower(then)?, self.lower(otherwise)?);
                return self.ite(&condition, then, otherwise, expr.at);
            }
            ExprKind::Access(operands) => {
                let [array, index] = &**operands;
                let (array, index) = (self.lower(array)?, self.scalar(index)?);
                return self.access(array, index, expr.at);
            }
            ExprKind::Array(elements) => {
                let elements = elements.iter().map(|e| self.lower(e)).collect::<Result<_, _>>()?;
                return Ok(Lowered::Array(elements));
            }
            ExprKind::Constructor(constructor) => return self.constructor(constructor),
            ExprKind::Call(name, arguments) => return self.call(*name, arguments),
            ExprKind::Irrational(constant) => {
                let name = match constant {
                    IrrationalConstant::E => "e",
                    IrrationalConstant::Pi => "π",
                };
                return unsupported(expr.at, format!("the irrational constant {name}"));
            }
            ExprKind::Real(function, _) => {
                return unsupported(expr.at, format!("the function `{}`", function.name()));
            }
            ExprKind::Nondet(..) => {
                return unsupported(expr.at, "nondeterministic selection (`nondet`)".to_owned());
            }
            ExprKind::Derivative(_) => {
                return unsupported(expr.at, "derivatives (`der`)".to_owned());
            }
            ExprKind::Distribution(name, _) => {
                return unsupported(expr.at, format!("values drawn from a distribution ({name})"));
            }
            ExprKind::Broken => return Err(Trouble::Known),
        }))
    }

    fn name(&mut self, name: NameId, at: At) -> Result<Lowered, Trouble> {
        if let Some((_, lowered)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            self.effort.spend(lowered.size(), at)?;
            return Ok(lowered.clone());
        }
        match self.checked.scope.entity(name, self.automaton) {
            Some(Entity::Constant(i)) => match self.checked.constants.get(i) {
                Some(Ok(value)) => Ok(from_value(value)),
                Some(Err(trouble)) => Err(trouble.clone()),
                None => Err(Trouble::Known),
            },
            Some(Entity::Variable(v)) => self.variable(v, name, at),
            None => self.fallback.and_then(|find| find(name)).ok_or(Trouble::Known),
        }
    }

    fn variable(&mut self, v: VariableId, name: NameId, at: At) -> Result<Lowered, Trouble> {
        let lowered = match self.reading {
            Reading::Constant => return Err(Trouble::NotConstant(at, name)),
            Reading::State(layout) => layout.in_state(v, self.instance)?,
            Reading::Transition(layout) => layout.in_transition(v, self.instance)?,
        };
        self.effort.spend(lowered.size(), at)?;
        Ok(lowered)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        operands: &[Expr; 2],
        expr: &Expr,
    ) -> Result<Lowered, Trouble> {
        let [left, right] = operands;
        let op = match op {
            BinaryOp::Or => Op::Or,
            BinaryOp::And => Op::And,
            BinaryOp::Add => Op::Add,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::Min => Op::Min,
            BinaryOp::Max => Op::Max,
            BinaryOp::Log => return unsupported(expr.at, "logarithms (`log`)".to_owned()),
            BinaryOp::Gt => return self.plain(Op::Lt, right, left),
            BinaryOp::Ge => return self.plain(Op::Le, right, left),
            BinaryOp::Implies => return self.plain(Op::Implies, left, right),
            BinaryOp::Lt => return self.plain(Op::Lt, left, right),
            BinaryOp::Le => return self.plain(Op::Le, left, right),
            BinaryOp::Sub => return self.plain(Op::Sub, left, right),
            BinaryOp::Mod => return self.plain(Op::Mod, left, right),
            BinaryOp::Div => return self.plain(Op::Div, left, right),
            BinaryOp::Pow => return self.plain(Op::Pow, left, right),
            BinaryOp::Eq => return self.equal(left, right).map(Lowered::Scalar),
            BinaryOp::Ne => {
                let equal = self.equal(left, right)?;
                return Ok(Lowered::Scalar(match equal.expr {
                    ModelExpr::Binary(Op::Eq, a, b) => Scalar {
                        expr: ModelExpr::binary(Op::Ne, *a, *b),
                        depth: equal.depth,
                        size: equal.size,
                    },
                    _ => Scalar::unary(Unary::Not, equal),
                }));
            }
        };
        // An associative operator: all operands of the chain, however it leans.
        let operands = chain(expr)
            .into_iter()
            .map(|operand| self.scalar(operand))
            .collect::<Result<Vec<_>, _>>()?;
        Scalar::balanced(op, operands)
            .map(Lowered::Scalar)
            .ok_or_else(|| Trouble::ill_typed(expr.at))
    }

    fn plain(&mut self, op: Op, left: &Expr, right: &Expr) -> Result<Lowered, Trouble> {
        let (left, right) = (self.scalar(left)?, self.scalar(right)?);
        Ok(Lowered::Scalar(Scalar::binary(op, left, right)))
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> Result<Scalar, Trouble> {
        let at = right.at;
        let (left, right) = (self.lower(left)?, self.lower(right)?);
        arrays::equal(left, right, at)
    }

    fn call(&mut self, name: Name, arguments: &[Expr]) -> Result<Lowered, Trouble> {
        let Some(id) = self.checked.scope.function(name.symbol, self.automaton) else {
            return Err(Trouble::Known);
        };
        let function = self.checked.function(id);
        let mut bound = Vec::with_capacity(arguments.len());
        for ((parameter, _), argument) in function.parameters.iter().zip(arguments) {
            bound.push((parameter.symbol, self.lower(argument)?));
        }
        // The body sees its parameters, and the variables of where the function stands.
        let outer_bound = std::mem::replace(&mut self.bound, bound);
        let outer_automaton = std::mem::replace(&mut self.automaton, id.automaton);
        let value = self.lower(&function.body);
        self.bound = outer_bound;
        self.automaton = outer_automaton;
        value
    }
}

/// The operands of a chain of one associative operator, from left to right.
pub(super) fn chain(expr: &Expr) -> Vec<&Expr> {
    let ExprKind::Binary(op, _) = &expr.kind else { return vec![expr] };
    let mut operands = Vec::new();
    let mut open = vec![expr];
    while let Some(part) = open.pop() {
        match &part.kind {
            ExprKind::Binary(inner, parts) if inner == op => open.extend(parts.iter().rev()),
            _ => operands.push(part),
        }
    }
    operands
}

fn unary(op: UnaryOp, operand: Scalar) -> Scalar {
    let op = match op {
        UnaryOp::Minus => {
            return Scalar::binary(Op::Sub, Scalar::leaf(ModelExpr::int(0)), operand);
        }
        UnaryOp::Not => Unary::Not,
        UnaryOp::Floor => Unary::Floor,
        UnaryOp::Ceil => Unary::Ceil,
        UnaryOp::Abs => Unary::Abs,
        UnaryOp::Sgn => Unary::Sign,
        UnaryOp::Trc => Unary::Truncate,
    };
    Scalar::unary(op, operand)
}

/// A constant value as an expression.
pub(crate) fn from_value(value: &Value) -> Lowered {
    match value {
        Value::Scalar(number) => Lowered::Scalar(Scalar::constant(number.clone())),
        Value::Array(elements) => Lowered::Array(elements.iter().map(from_value).collect()),
    }
}

fn constant_value(lowered: Lowered, at: At) -> Result<Value, Trouble> {
    match lowered {
        Lowered::Scalar(scalar) => match scalar.expr.eval(&[]) {
            Ok(value) => Ok(Value::Scalar(value)),
            Err(error) => Err(Trouble::Invalid(at, DiagnosticCode::Evaluation, error.to_string())),
        },
        Lowered::Array(elements) => {
            let elements = elements.into_iter().map(|e| constant_value(e, at));
            Ok(Value::Array(elements.collect::<Result<_, _>>()?))
        }
    }
}

fn unsupported<T>(at: At, what: String) -> Result<T, Trouble> {
    Err(Trouble::Unsupported(at, what))
}

fn too_deep(at: At) -> Trouble {
    Trouble::Unsupported(at, format!("expressions nested more than {MAX_DEPTH} levels deep"))
}
