//! Values of constants: from the file or from the caller.

use policert_numeric::Rational;

use super::{Checker, Type, Value};
use crate::{
    ast::Constant,
    diagnostic::{DiagnosticCode, DiagnosticKind},
    lower::Trouble,
};

impl Checker<'_> {
    /// Finds the values of all constants, in the order of the file: a constant may use those
    /// before it.
    pub(super) fn constants(&mut self, given: &[(String, String)]) {
        let ast = self.ast();
        let constants = &ast.constants;
        for (name, value) in given {
            if !constants.iter().any(|c| self.text(c.name.symbol) == name) {
                let known: Vec<_> =
                    constants.iter().map(|c| format!("`{}`", self.text(c.name.symbol))).collect();
                let message = if known.is_empty() {
                    format!("the model has no constant `{name}` (given: {name}={value})")
                } else {
                    format!(
                        "the model has no constant `{name}` (given: {name}={value}); it has {}",
                        known.join(", ")
                    )
                };
                self.parser.diagnostics.general(
                    DiagnosticCode::ConstantGiven,
                    DiagnosticKind::Invalid,
                    message,
                );
            }
        }
        for constant in constants {
            let value = match self.constant_value(constant, given) {
                // Only a problem for what needs it.
                Err(Trouble::Unsupported(at, what)) => Err(Trouble::Unsupported(at, what)),
                Err(trouble) => {
                    self.trouble(trouble);
                    Err(Trouble::Known)
                }
                Ok(value) => Ok(value),
            };
            self.checked.constants.push(value);
        }
    }

    fn constant_value(
        &mut self,
        constant: &Constant,
        given: &[(String, String)],
    ) -> Result<Value, Trouble> {
        let name = self.text(constant.name.symbol).to_owned();
        let at = constant.name.at;
        let ty = Type::of(&constant.ty);
        if let Type::Array(_) = ty {
            let message = format!("constant `{name}` must be a truth value or a number");
            return Err(Trouble::Invalid(constant.ty.at, DiagnosticCode::Type, message));
        }
        let bounds = self.bounds(&constant.ty, None);
        let given = given.iter().rev().find(|(n, _)| *n == name);
        let value = match (given, &constant.value) {
            (Some((_, text)), _) => Value::Scalar(given_value(text, &ty).ok_or_else(|| {
                let message = format!(
                    "constant `{name}` is {}; the value given for it is `{text}`",
                    ty.describe()
                );
                Trouble::Invalid(at, DiagnosticCode::ConstantGiven, message)
            })?),
            (None, Some(value)) => self.try_constant(value, &ty, None)?,
            (None, None) => {
                let message = format!("constant `{name}` has no value");
                let help = format!("give it one: --const {name}=…");
                self.parser.diagnostics.invalid_with_help(
                    DiagnosticCode::ConstantMissing,
                    at,
                    message,
                    help,
                );
                return Err(Trouble::Known);
            }
        };
        if let Value::Scalar(number) = &value
            && !bounds.contains(number)
        {
            let message =
                format!("value {number} of constant `{name}` is outside its bounds {bounds}");
            return Err(Trouble::Invalid(at, DiagnosticCode::OutOfBounds, message));
        }
        Ok(value)
    }
}

/// Reads a value that the caller gives for a constant: a truth value, a decimal number, or a
/// fraction.
fn given_value(text: &str, ty: &Type) -> Option<Rational> {
    let text = text.trim();
    match ty {
        Type::Bool => match text {
            "true" => Some(Rational::ONE),
            "false" => Some(Rational::ZERO),
            _ => None,
        },
        _ => {
            let value = text.parse::<Rational>().ok()?;
            (*ty != Type::Int || value.is_integer()).then_some(value)
        }
    }
}
