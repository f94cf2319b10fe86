//! Conditions and expressions as JANI text: what is a number and what a truth value.

use policert_model::{BinaryOp, Condition, Expr, UnaryOp, VarId, VariableKind};
use policert_numeric::Rational;
use serde_json::{Value, json};

use super::Writer;

/// Says what an expression stands for: JANI does not mix the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Number,
    Truth,
}

fn operator(op: &str, left: Value, right: Value) -> Value {
    json!({"op": op, "left": left, "right": right})
}

impl Writer<'_> {
    pub(super) fn condition(&self, condition: &Condition) -> Value {
        let joined = |op: &str, parts: &[Condition]| {
            let parts = parts.iter().map(|part| self.condition(part));
            parts.reduce(|a, b| operator(op, a, b)).unwrap_or(Value::Null)
        };
        match condition {
            Condition::And(parts) => joined("∧", parts),
            Condition::Or(parts) => joined("∨", parts),
            other => self.expr(&other.to_expr(), Type::Truth),
        }
    }

    fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Constant(_) => None,
            Expr::Var(v) => Some(match self.model.variables[v.index()].kind {
                VariableKind::Boolean => Type::Truth,
                _ => Type::Number,
            }),
            Expr::Transient(_) => Some(Type::Number),
            Expr::Unary(UnaryOp::Not, _) => Some(Type::Truth),
            Expr::Unary(..) => Some(Type::Number),
            Expr::Binary(op, ..) if op.is_boolean() => Some(Type::Truth),
            Expr::Binary(..) => Some(Type::Number),
            Expr::Ite(_, a, b) => self.type_of(a).or(self.type_of(b)),
            Expr::Cell { cells, .. } => cells.iter().find_map(|cell| self.type_of(cell)),
        }
    }

    pub(super) fn expr(&self, expr: &Expr, wanted: Type) -> Value {
        let number = |e: &Expr| self.expr(e, Type::Number);
        let truth = |e: &Expr| self.expr(e, Type::Truth);
        let found = self.type_of(expr).unwrap_or(wanted);
        let value = match expr {
            Expr::Constant(c) if wanted == Type::Truth => json!(c.signum() != 0),
            Expr::Constant(c) => self::number(c),
            Expr::Var(v) => self.reference(*v),
            Expr::Transient(t) => json!(self.model.transients[t.index()].name),
            Expr::Unary(op, a) => {
                let (name, operand) = match op {
                    UnaryOp::Not => ("¬", truth(a)),
                    UnaryOp::Floor => ("floor", number(a)),
                    UnaryOp::Ceil => ("ceil", number(a)),
                    UnaryOp::Truncate => ("trc", number(a)),
                    UnaryOp::Abs => ("abs", number(a)),
                    UnaryOp::Sign => ("sgn", number(a)),
                };
                json!({"op": name, "exp": operand})
            }
            Expr::Binary(op, a, b) => {
                let kind = match op {
                    BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => Type::Truth,
                    BinaryOp::Eq | BinaryOp::Ne => {
                        self.type_of(a).or(self.type_of(b)).unwrap_or(Type::Number)
                    }
                    _ => Type::Number,
                };
                operator(symbol(*op), self.expr(a, kind), self.expr(b, kind))
            }
            Expr::Ite(c, a, b) => {
                let branch = |e| self.expr(e, found);
                json!({"op": "ite", "if": truth(c), "then": branch(a), "else": branch(b)})
            }
            Expr::Cell { cells, index } => {
                let var = |e: &Expr| match e {
                    Expr::Var(v) => Some(*v),
                    _ => None,
                };
                let vars: Option<Vec<VarId>> = cells.iter().map(var).collect();
                let array = match vars.as_deref().and_then(|cells| self.array(cells)) {
                    Some(array) => json!(array),
                    None => {
                        let cells = cells.iter().map(|cell| self.expr(cell, found));
                        json!({"op": "av", "elements": cells.collect::<Vec<_>>()})
                    }
                };
                json!({"op": "aa", "exp": array, "index": number(index)})
            }
        };
        match (found, wanted) {
            (Type::Truth, Type::Number) => {
                json!({"op": "ite", "if": value, "then": 1, "else": 0})
            }
            (Type::Number, Type::Truth) => operator("≠", value, json!(0)),
            _ => value,
        }
    }
}

/// A number as JANI writes it exactly.
pub(super) fn number(value: &Rational) -> Value {
    match (value.to_i64(), value.to_small_parts()) {
        (Some(integer), _) => json!(integer),
        (None, Some((numerator, denominator))) => {
            operator("/", json!(numerator), json!(denominator))
        }
        (None, None) => {
            let (numerator, denominator) = value.to_parts();
            let big = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
            operator("/", big(numerator.to_string()), big(denominator.to_string()))
        }
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "pow",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::And => "∧",
        BinaryOp::Or => "∨",
        BinaryOp::Implies => "⇒",
        BinaryOp::Eq => "=",
        BinaryOp::Ne => "≠",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "≤",
    }
}
