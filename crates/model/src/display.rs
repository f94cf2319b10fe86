//! States, conditions and expressions as a person would write them.

use std::fmt::Write as _;

use crate::{BinaryOp, Condition, Expr, LinearConstraint, Model, UnaryOp, VarId, VariableKind};

impl Model {
    /// A state in one line: `x=1, b=true, Car#0=drive`.
    #[must_use]
    pub fn display_state(&self, state: &[i64]) -> String {
        let mut text = String::new();
        for (variable, &value) in self.variables.iter().zip(state) {
            // The location of an automaton with a single one says nothing.
            if let VariableKind::Location { names, .. } = &variable.kind
                && names.len() == 1
            {
                continue;
            }
            if !text.is_empty() {
                text.push_str(", ");
            }
            let _ = write!(text, "{}={}", variable.name, variable.display_value(value));
        }
        text
    }

    /// A condition as a person would write it.
    #[must_use]
    pub fn display_condition(&self, condition: &Condition) -> String {
        self::condition(self, condition)
    }
}

/// A condition with the names of a model.
fn condition(model: &Model, condition: &Condition) -> String {
    match condition {
        Condition::True => "true".to_owned(),
        Condition::False => "false".to_owned(),
        Condition::Linear(c) => constraint(model, c),
        Condition::General { expr: e, positive: true } => expr(model, e),
        Condition::General { expr: e, positive: false } => format!("¬({})", expr(model, e)),
        Condition::And(parts) => {
            let mut texts = Vec::with_capacity(parts.len());
            let mut rest = parts.iter().peekable();
            while let Some(part) = rest.next() {
                match (part, rest.peek()) {
                    (Condition::Linear(low), Some(Condition::Linear(high)))
                        if low.negation().is_some_and(|n| is_opposite(&n, high)) =>
                    {
                        rest.next();
                        texts.push(constraint_as(model, low, Some("=")));
                    }
                    _ => texts.push(bracketed(model, part)),
                }
            }
            texts.join(" ∧ ")
        }
        Condition::Or(parts) => joined(model, parts, " ∨ "),
    }
}

fn joined(model: &Model, parts: &[Condition], operator: &str) -> String {
    let parts: Vec<String> = parts.iter().map(|part| bracketed(model, part)).collect();
    parts.join(operator)
}

fn bracketed(model: &Model, part: &Condition) -> String {
    match part {
        Condition::And(_) | Condition::Or(_) => format!("({})", condition(model, part)),
        _ => condition(model, part),
    }
}

/// Returns whether a constraint `Σ ≤ u` with the negation `−Σ ≤ −u − 1` and `other` say `Σ = u`
/// together.
fn is_opposite(negation: &LinearConstraint, other: &LinearConstraint) -> bool {
    negation.terms == other.terms && negation.upper.checked_add(1) == Some(other.upper)
}

fn name(model: &Model, v: VarId) -> String {
    match model.variables.get(v.index()) {
        Some(variable) => variable.name.clone(),
        None => format!("choice{}", v.index() - model.variables.len()),
    }
}

fn constraint(model: &Model, c: &LinearConstraint) -> String {
    constraint_as(model, c, None)
}

/// A constraint, or the equation of its two sides with the sign `equals`.
fn constraint_as(model: &Model, c: &LinearConstraint, equals: Option<&str>) -> String {
    // Turn −Σ ≤ −u into Σ ≥ u.
    let negative = c.terms.iter().all(|&(_, k)| k < 0) && c.upper != i64::MIN;
    let sign = if negative { -1 } else { 1 };
    let mut text = String::new();
    for (i, &(v, k)) in c.terms.iter().enumerate() {
        let k = i128::from(k) * i128::from(sign);
        let (plus, size) = if k < 0 { (" − ", -k) } else { (" + ", k) };
        if i > 0 {
            text.push_str(plus);
        } else if k < 0 {
            text.push('−');
        }
        if size != 1 {
            text.push_str(&format!("{size}·"));
        }
        text.push_str(&name(model, v));
    }
    let relation = equals.unwrap_or(if negative { "≥" } else { "≤" });
    format!("{text} {relation} {}", i128::from(c.upper) * i128::from(sign))
}

/// An expression with the names of a model.
pub(crate) fn expr(model: &Model, e: &Expr) -> String {
    let go = |e: &Expr| expr(model, e);
    match e {
        Expr::Constant(c) => c.to_string(),
        Expr::Var(v) => name(model, *v),
        Expr::Transient(t) => {
            model.transients.get(t.index()).map_or_else(|| format!("{t:?}"), |t| t.name.clone())
        }
        Expr::Unary(op, a) => {
            let function = match op {
                UnaryOp::Not => "¬",
                UnaryOp::Floor => "floor",
                UnaryOp::Ceil => "ceil",
                UnaryOp::Truncate => "trc",
                UnaryOp::Abs => "abs",
                UnaryOp::Sign => "sgn",
            };
            format!("{function}({})", go(a))
        }
        Expr::Binary(BinaryOp::Min, a, b) => format!("min({}, {})", go(a), go(b)),
        Expr::Binary(BinaryOp::Max, a, b) => format!("max({}, {})", go(a), go(b)),
        Expr::Binary(op, a, b) => format!("({} {} {})", go(a), sign(*op), go(b)),
        Expr::Ite(c, a, b) => format!("(if {} then {} else {})", go(c), go(a), go(b)),
        Expr::Cell { cells, index } => {
            let cells: Vec<String> = cells.iter().map(go).collect();
            format!("[{}][{}]", cells.join(", "), go(index))
        }
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "−",
        BinaryOp::Mul => "·",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "^",
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
