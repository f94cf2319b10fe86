//! The same automata in the language of PRISM: a module for each automaton.
//!
//! Modules that share an action take it together, which is what the vectors of synchronisation say. A
//! module writes its own variables only.

use std::fmt::Write as _;

use policert_mdp::Direction;
use policert_model::{BinaryOp, Expr, UnaryOp};
use policert_numeric::Rational;

use crate::automata::{Edge, Variable, VariableKind, WrittenAutomata};
use crate::error::{ConvertError, unsupported};

/// The automata as a PRISM model, with labels `target` and `stay`.
///
/// # Errors
/// Names something in the automata that PRISM does not have.
pub fn prism_text(written: &WrittenAutomata) -> Result<String, ConvertError> {
    let writer = Writer { variables: &written.variables };
    let mut text = format!("// {}\nmdp\n", policert_files::name(&written.name));
    for (owner, automaton) in written.automata.iter().enumerate() {
        let _ = writeln!(text, "\nmodule {}", automaton.name);
        for variable in written.variables.iter().filter(|variable| variable.owner == owner) {
            let VariableKind::Integer { lo, hi } = variable.kind else {
                return unsupported(
                    "real-valued variables in PRISM: take --policy-as-automaton discrete:N",
                );
            };
            let _ = write!(text, "  {} : [{lo}..{hi}]", variable.name);
            if written.initial.is_none() {
                let _ = write!(text, " init {}", variable.initial.unwrap_or(lo));
            }
            text.push_str(";\n");
        }
        text.push('\n');
        for edge in &automaton.edges {
            writer.command(written, edge, &mut text)?;
        }
        text.push_str("endmodule\n");
    }
    if let Some(initial) = &written.initial {
        let mut parts = vec![writer.truth(initial)?];
        let fixed = written.variables.iter().filter_map(|v| Some((&v.name, v.initial?)));
        parts.extend(fixed.map(|(name, value)| format!("{name} = {value}")));
        let _ = writeln!(text, "\ninit {} endinit", parts.join(" & "));
    }
    let _ = writeln!(text, "\nlabel \"target\" = {};", writer.truth(&written.target)?);
    if !holds_always(&written.stay) {
        let _ = writeln!(text, "label \"stay\" = {};", writer.truth(&written.stay)?);
    }
    Ok(text)
}

/// The question as a PRISM property.
#[must_use]
pub fn prism_properties(written: &WrittenAutomata) -> String {
    let (operator, function) = match written.direction {
        Direction::Max => ("Pmax", "max"),
        Direction::Min => ("Pmin", "min"),
    };
    let path = if holds_always(&written.stay) { "F \"target\"" } else { "\"stay\" U \"target\"" };
    match written.initial {
        None => format!("{operator}=? [ {path} ]\n"),
        Some(_) => format!("filter({function}, {operator}=? [ {path} ], \"init\")\n"),
    }
}

fn holds_always(condition: &Expr) -> bool {
    condition.as_constant().is_some_and(|value| !value.is_zero())
}

struct Writer<'a> {
    variables: &'a [Variable],
}

impl Writer<'_> {
    fn command(
        &self,
        written: &WrittenAutomata,
        edge: &Edge,
        text: &mut String,
    ) -> Result<(), ConvertError> {
        let action = edge.action.map_or("", |action| written.actions[action].name.as_str());
        let _ = write!(text, "  [{action}] {} -> ", self.truth(&edge.guard)?);
        for (k, destination) in edge.destinations.iter().enumerate() {
            if k > 0 {
                text.push_str(" + ");
            }
            if edge.destinations.len() > 1
                || destination.probability.as_constant() != Some(&Rational::ONE)
            {
                let _ = write!(text, "{} : ", self.number(&destination.probability)?);
            }
            let mut updates = Vec::with_capacity(destination.updates.len());
            for (variable, value) in &destination.updates {
                let name = &self.variables[*variable].name;
                updates.push(format!("({name}' = {})", self.number(value)?));
            }
            if updates.is_empty() {
                updates.push("true".to_owned());
            }
            text.push_str(&updates.join(" & "));
        }
        text.push_str(";\n");
        Ok(())
    }

    /// An expression as a truth value, in brackets where it needs some.
    fn truth(&self, expr: &Expr) -> Result<String, ConvertError> {
        Ok(match expr {
            Expr::Constant(value) => (!value.is_zero()).to_string(),
            Expr::Unary(UnaryOp::Not, operand) => format!("!{}", self.truth(operand)?),
            Expr::Binary(op, left, right) if op.is_boolean() => {
                let joined =
                    |sign: &str, left: String, right: String| format!("({left} {sign} {right})");
                match op {
                    BinaryOp::And => joined("&", self.truth(left)?, self.truth(right)?),
                    BinaryOp::Or => joined("|", self.truth(left)?, self.truth(right)?),
                    BinaryOp::Implies => joined("=>", self.truth(left)?, self.truth(right)?),
                    _ => {
                        let sign = match op {
                            BinaryOp::Eq => "=",
                            BinaryOp::Ne => "!=",
                            BinaryOp::Lt => "<",
                            _ => "<=",
                        };
                        joined(sign, self.number(left)?, self.number(right)?)
                    }
                }
            }
            Expr::Ite(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                self.truth(condition)?,
                self.truth(then)?,
                self.truth(otherwise)?
            ),
            _ => format!("({} != 0)", self.number(expr)?),
        })
    }

    /// An expression as a number.
    fn number(&self, expr: &Expr) -> Result<String, ConvertError> {
        Ok(match expr {
            Expr::Constant(value) => constant(value)?,
            Expr::Var(variable) => self.variables[variable.index()].name.clone(),
            Expr::Transient(_) => return unsupported("a transient variable"),
            Expr::Unary(UnaryOp::Not, _) => format!("({} ? 1 : 0)", self.truth(expr)?),
            Expr::Unary(op, operand) => {
                let x = self.number(operand)?;
                match op {
                    UnaryOp::Ceil => format!("ceil({x})"),
                    UnaryOp::Truncate => format!("({x} >= 0 ? floor({x}) : ceil({x}))"),
                    UnaryOp::Abs => format!("max({x}, -({x}))"),
                    UnaryOp::Sign => format!("({x} > 0 ? 1 : ({x} < 0 ? -1 : 0))"),
                    UnaryOp::Floor | UnaryOp::Not => format!("floor({x})"),
                }
            }
            Expr::Binary(op, ..) if op.is_boolean() => format!("({} ? 1 : 0)", self.truth(expr)?),
            Expr::Binary(op, left, right) => {
                let (a, b) = (self.number(left)?, self.number(right)?);
                match op {
                    BinaryOp::Add => format!("({a} + {b})"),
                    BinaryOp::Sub => format!("({a} - {b})"),
                    BinaryOp::Mul => format!("({a} * {b})"),
                    BinaryOp::Div => format!("({a} / {b})"),
                    // The remainder of a negative number is negative elsewhere.
                    BinaryOp::Mod => format!("mod(mod({a}, {b}) + {b}, {b})"),
                    BinaryOp::Min => format!("min({a}, {b})"),
                    BinaryOp::Max => format!("max({a}, {b})"),
                    _ => return unsupported("an operator that has no number"),
                }
            }
            Expr::Ite(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                self.truth(condition)?,
                self.number(then)?,
                self.number(otherwise)?
            ),
            Expr::Cell { cells, index } => {
                let index = self.number(index)?;
                let mut value = "0".to_owned();
                for (i, cell) in cells.iter().enumerate().rev() {
                    let cell = self.number(cell)?;
                    let is_last = i + 1 == cells.len();
                    value =
                        if is_last { cell } else { format!("({index} = {i} ? {cell} : {value})") };
                }
                value
            }
        })
    }
}

/// A number: an integer, an exact decimal, or a fraction.
fn constant(value: &Rational) -> Result<String, ConvertError> {
    if let Some(integer) = value.to_i64() {
        return Ok(if integer < 0 { format!("({integer})") } else { integer.to_string() });
    }
    let decimal = value.to_f64().to_string();
    if Rational::parse_decimal(&decimal).as_ref() == Some(value) && !decimal.contains('e') {
        return Ok(if value.signum() < 0 { format!("({decimal})") } else { decimal });
    }
    match value.to_small_parts() {
        Some((top, bottom)) => Ok(format!("({top}/{bottom})")),
        None => unsupported(format!("the number {value}, which needs more than 64 bits")),
    }
}
