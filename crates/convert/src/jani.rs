//! JANI text of automata.

use policert_jani::write::{binary, choose, name, not, text};
use policert_mdp::Direction;
use policert_model::{BinaryOp, Expr, UnaryOp};
use policert_numeric::Rational;
use serde_json::{Number, Value, json};

use crate::automata::{Automaton, Destination, Edge, Variable, VariableKind, WrittenAutomata};
use crate::error::{ConvertError, unsupported};

/// The automata as a JANI model with one property, `reach`.
///
/// # Errors
/// A number that has no decimal and no fraction of 64 bits.
pub fn jani_text(written: &WrittenAutomata) -> Result<String, ConvertError> {
    let writer = Writer { variables: &written.variables };
    let mut model = json!({
        "jani-version": 1,
        "name": written.name,
        "type": "mdp",
        "features": ["derived-operators"],
        "actions": written.actions.iter().map(|a| json!({"name": a.name})).collect::<Vec<_>>(),
        "variables": written.variables.iter().map(variable).collect::<Result<Vec<_>, _>>()?,
    });
    if let Some(initial) = &written.initial {
        model["restrict-initial"] = json!({"exp": writer.truth(initial)?});
    }
    let mut automata = Vec::new();
    for automaton in &written.automata {
        automata.push(writer.automaton(written, automaton)?);
    }
    model["properties"] = json!([writer.property(written)?]);
    model["automata"] = Value::Array(automata);
    model["system"] = system(written);
    Ok(text(&model))
}

fn variable(variable: &Variable) -> Result<Value, ConvertError> {
    let (base, lo, hi) = match variable.kind {
        VariableKind::Integer { lo, hi } => ("int", lo.into(), hi.into()),
        VariableKind::Real { lo, hi } => {
            let end = |end: f64| Number::from_f64(end).map(Value::Number);
            match (end(lo), end(hi)) {
                (Some(lo), Some(hi)) => ("real", lo, hi),
                _ => return unsupported("scores that may be infinite"),
            }
        }
    };
    let mut value = json!({
        "name": variable.name,
        "type": {"kind": "bounded", "base": base, "lower-bound": lo, "upper-bound": hi},
    });
    if let Some(initial) = variable.initial {
        value["initial-value"] = initial.into();
    }
    Ok(value)
}

fn system(written: &WrittenAutomata) -> Value {
    let elements: Vec<Value> =
        written.automata.iter().map(|automaton| json!({"automaton": automaton.name})).collect();
    let vector = |action: &crate::automata::Action| {
        let mut vector = json!({"synchronise": vec![&action.name; written.automata.len()]});
        if !action.silent {
            vector["result"] = name(&action.name);
        }
        vector
    };
    json!({"elements": elements, "syncs": written.actions.iter().map(vector).collect::<Vec<_>>()})
}

struct Writer<'a> {
    variables: &'a [Variable],
}

impl Writer<'_> {
    fn automaton(
        &self,
        written: &WrittenAutomata,
        automaton: &Automaton,
    ) -> Result<Value, ConvertError> {
        let edges = automaton.edges.iter().map(|edge| self.edge(written, edge));
        Ok(json!({
            "name": automaton.name,
            "locations": [{"name": "base"}],
            "initial-locations": ["base"],
            "edges": edges.collect::<Result<Vec<_>, _>>()?,
        }))
    }

    fn edge(&self, written: &WrittenAutomata, edge: &Edge) -> Result<Value, ConvertError> {
        let mut value = json!({"location": "base"});
        if let Some(action) = edge.action {
            value["action"] = name(&written.actions[action].name);
        }
        value["guard"] = json!({"exp": self.truth(&edge.guard)?});
        let destinations =
            edge.destinations.iter().map(|destination| self.destination(destination));
        value["destinations"] = Value::Array(destinations.collect::<Result<Vec<_>, _>>()?);
        Ok(value)
    }

    fn destination(&self, destination: &Destination) -> Result<Value, ConvertError> {
        let mut value = json!({"location": "base"});
        if destination.probability.as_constant() != Some(&Rational::ONE) {
            value["probability"] = json!({"exp": self.number(&destination.probability)?});
        }
        let mut assignments = Vec::new();
        for (variable, new) in &destination.updates {
            let new = self.number(new)?;
            assignments.push(json!({"ref": self.variables[*variable].name, "value": new}));
        }
        value["assignments"] = Value::Array(assignments);
        Ok(value)
    }

    fn property(&self, written: &WrittenAutomata) -> Result<Value, ConvertError> {
        let (operator, function) = match written.direction {
            Direction::Max => ("Pmax", "max"),
            Direction::Min => ("Pmin", "min"),
        };
        let target = self.truth(&written.target)?;
        let path = if written.stay.as_constant().is_some_and(|c| !c.is_zero()) {
            json!({"op": "F", "exp": target})
        } else {
            json!({"op": "U", "left": self.truth(&written.stay)?, "right": target})
        };
        Ok(json!({
            "name": "reach",
            "expression": {
                "op": "filter",
                "fun": function,
                "values": {"op": operator, "exp": path},
                "states": {"op": "initial"},
            },
        }))
    }

    /// An expression as a truth value.
    fn truth(&self, expr: &Expr) -> Result<Value, ConvertError> {
        Ok(match expr {
            Expr::Constant(value) => Value::Bool(!value.is_zero()),
            Expr::Unary(UnaryOp::Not, operand) => not(self.truth(operand)?),
            Expr::Binary(op, left, right) => match op {
                BinaryOp::And => binary("∧", self.truth(left)?, self.truth(right)?),
                BinaryOp::Or => binary("∨", self.truth(left)?, self.truth(right)?),
                BinaryOp::Implies => binary("⇒", self.truth(left)?, self.truth(right)?),
                BinaryOp::Eq => binary("=", self.number(left)?, self.number(right)?),
                BinaryOp::Ne => binary("≠", self.number(left)?, self.number(right)?),
                BinaryOp::Lt => binary("<", self.number(left)?, self.number(right)?),
                BinaryOp::Le => binary("≤", self.number(left)?, self.number(right)?),
                _ => self.not_zero(expr)?,
            },
            Expr::Ite(condition, then, otherwise) => {
                choose(self.truth(condition)?, self.truth(then)?, self.truth(otherwise)?)
            }
            _ => self.not_zero(expr)?,
        })
    }

    fn not_zero(&self, expr: &Expr) -> Result<Value, ConvertError> {
        Ok(binary("≠", self.number(expr)?, 0.into()))
    }

    /// An expression as a number.
    fn number(&self, expr: &Expr) -> Result<Value, ConvertError> {
        Ok(match expr {
            Expr::Constant(value) => constant(value)?,
            Expr::Var(variable) => name(&self.variables[variable.index()].name),
            Expr::Transient(_) => return unsupported("a transient variable"),
            Expr::Unary(UnaryOp::Not, _) => choose(self.truth(expr)?, 1.into(), 0.into()),
            Expr::Unary(op, operand) => {
                let op = match op {
                    UnaryOp::Floor | UnaryOp::Not => "floor",
                    UnaryOp::Ceil => "ceil",
                    UnaryOp::Truncate => "trc",
                    UnaryOp::Abs => "abs",
                    UnaryOp::Sign => "sgn",
                };
                json!({"op": op, "exp": self.number(operand)?})
            }
            Expr::Binary(op, ..) if op.is_boolean() => {
                choose(self.truth(expr)?, 1.into(), 0.into())
            }
            Expr::Binary(op, left, right) => {
                binary(arithmetic(*op)?, self.number(left)?, self.number(right)?)
            }
            Expr::Ite(condition, then, otherwise) => {
                choose(self.truth(condition)?, self.number(then)?, self.number(otherwise)?)
            }
            Expr::Cell { cells, index } => {
                let index = self.number(index)?;
                let mut value = Value::from(0);
                for (i, cell) in cells.iter().enumerate().rev() {
                    let cell = self.number(cell)?;
                    value = if i + 1 == cells.len() {
                        cell
                    } else {
                        choose(binary("=", index.clone(), i.into()), cell, value)
                    };
                }
                value
            }
        })
    }
}

fn arithmetic(op: BinaryOp) -> Result<&'static str, ConvertError> {
    Ok(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        _ => return unsupported("an operator that has no number"),
    })
}

/// A number: an integer, the decimal that its nearest double is written as, or a fraction. Only
/// weights of real-valued scores are no such decimals: those are doubles.
fn constant(value: &Rational) -> Result<Value, ConvertError> {
    if let Some(integer) = value.to_i64() {
        return Ok(integer.into());
    }
    let double = value.to_f64();
    let decimal = Number::from_f64(double);
    let exact = decimal.as_ref().and_then(|decimal| Rational::parse_decimal(&decimal.to_string()));
    if exact.as_ref() == Some(value) || Rational::from_f64(double).as_ref() == Some(value) {
        return Ok(decimal.map_or(Value::Null, Value::Number));
    }
    let parts = value.to_small_parts();
    let fraction = parts.and_then(|(top, bottom)| Some((top, i64::try_from(bottom).ok()?)));
    match fraction {
        Some((top, bottom)) => Ok(binary("/", top.into(), bottom.into())),
        None => unsupported(format!("the number {value}, which needs more than 64 bits")),
    }
}
