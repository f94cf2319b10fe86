//! Expressions.

use policert_numeric::Rational;

use super::Parser;
use crate::{
    ast::{BinaryOp, Constructor, Expr, ExprKind, IrrationalConstant, RealFunction, UnaryOp},
    diagnostic::DiagnosticCode,
    json::{Json, JsonKind, Members},
};

/// Operators of the extension `datatypes`, which is not supported.
const DATATYPE_OPERATORS: [&str; 6] = ["da", "dv", "oa", "ov", "empty", "et"];

impl Parser {
    /// An expression; `Broken` where it could not be read.
    pub(super) fn expr(&mut self, json: Json<'_>) -> Expr {
        if self.watch.step() {
            return Expr { at: json.at(), kind: ExprKind::Broken };
        }
        let kind = match json.kind() {
            JsonKind::Bool(value) => ExprKind::Bool(value),
            JsonKind::Number => self.number(json),
            JsonKind::String => match self.name(json) {
                Some(name) => ExprKind::Name(name.symbol),
                None => ExprKind::Broken,
            },
            JsonKind::Object => self.operator(json).unwrap_or(ExprKind::Broken),
            JsonKind::Null | JsonKind::Array => {
                self.wrong_kind(json, "an expression");
                ExprKind::Broken
            }
        };
        Expr { at: json.at(), kind }
    }

    /// An expression that is a whole text.
    pub fn expression(&mut self, json: Json<'_>) -> Expr {
        self.expr(json)
    }

    /// The expression of a member `{"exp": …}`, as guards and probabilities have it.
    pub(super) fn wrapped_expr(&mut self, json: Json<'_>, what: &str) -> Option<Expr> {
        let mut members = self.members(json, what)?;
        let exp = self.required(&mut members, "exp");
        let exp = exp.map(|exp| self.expr(exp));
        self.finish(&members);
        exp
    }

    fn number(&mut self, json: Json<'_>) -> ExprKind {
        let text = json.text();
        let value = match text.parse::<i64>() {
            Ok(value) => Some(Rational::from(value)),
            Err(_) => Rational::parse_decimal(text),
        };
        match value {
            Some(value) => ExprKind::Number(value),
            None => {
                self.diagnostics
                    .unsupported(json.at(), format_args!("a number of the size {text}"));
                ExprKind::Broken
            }
        }
    }

    fn operator(&mut self, json: Json<'_>) -> Option<ExprKind> {
        let mut members = Members::new(json);
        let kind = match members.take("op") {
            Some(op) => {
                let sign = self.string(op)?;
                self.operation(&mut members, op, &sign)
            }
            None => self.special(&mut members),
        };
        self.finish(&members);
        kind
    }

    fn operation(
        &mut self,
        members: &mut Members<'_>,
        op: Json<'_>,
        sign: &str,
    ) -> Option<ExprKind> {
        if let Some(binary) = BinaryOp::from_sign(sign)
            && !(binary == BinaryOp::Sub && members.object().get("exp").is_some())
        {
            let (left, right) = (self.required(members, "left"), self.required(members, "right"));
            return Some(ExprKind::Binary(binary, Box::new([self.expr(left?), self.expr(right?)])));
        }
        if let Some(unary) = UnaryOp::from_sign(sign) {
            return Some(ExprKind::Unary(unary, Box::new(self.operand(members, "exp")?)));
        }
        if let Some(function) = RealFunction::from_name(sign) {
            return Some(ExprKind::Real(function, Box::new(self.operand(members, "exp")?)));
        }
        match sign {
            "ite" => {
                let condition = self.operand(members, "if");
                let (then, otherwise) =
                    (self.operand(members, "then"), self.operand(members, "else"));
                Some(ExprKind::Ite(Box::new([condition?, then?, otherwise?])))
            }
            "aa" => {
                let (array, index) = (self.operand(members, "exp"), self.operand(members, "index"));
                Some(ExprKind::Access(Box::new([array?, index?])))
            }
            "av" => {
                let element = |p: &mut Self, e: Json<'_>| Some(p.expr(e));
                Some(ExprKind::Array(self.required_list(members, "elements", element)))
            }
            "ac" => {
                let variable = self.required_name(members, "var");
                let length = self.operand(members, "length");
                let element = self.operand(members, "exp");
                Some(ExprKind::Constructor(Box::new(Constructor {
                    variable: variable?,
                    length: length?,
                    element: element?,
                })))
            }
            "call" => {
                let function = self.required_name(members, "function");
                let argument = |p: &mut Self, e: Json<'_>| Some(p.expr(e));
                let arguments = self.required_list(members, "args", argument);
                Some(ExprKind::Call(function?, arguments))
            }
            "nondet" => {
                let variable = self.required_name(members, "var");
                let condition = self.operand(members, "exp");
                Some(ExprKind::Nondet(variable?, Box::new(condition?)))
            }
            "der" => Some(ExprKind::Derivative(self.required_name(members, "var")?)),
            "let" => self.bound(members),
            _ if DATATYPE_OPERATORS.contains(&sign) => {
                self.diagnostics
                    .unsupported(op.at(), format_args!("datatypes (operator `{sign}`)"));
                members.take_all();
                None
            }
            _ => {
                self.unknown_word(op, "operator", sign);
                members.take_all();
                None
            }
        }
    }

    /// An object without `op`.
    fn special(&mut self, members: &mut Members<'_>) -> Option<ExprKind> {
        if let Some(constant) = members.take("constant") {
            let name = self.string(constant)?;
            return match &*name {
                "e" => Some(ExprKind::Irrational(IrrationalConstant::E)),
                "π" => Some(ExprKind::Irrational(IrrationalConstant::Pi)),
                _ => {
                    self.unknown_word(constant, "constant", &name);
                    None
                }
            };
        }
        if let Some(distribution) = members.take("distribution") {
            let name = self.string(distribution)?;
            let argument = |p: &mut Self, e: Json<'_>| Some(p.expr(e));
            let arguments = self.required_list(members, "args", argument);
            return Some(ExprKind::Distribution(name.into_owned(), arguments));
        }
        members.take_all();
        let message = "an expression expected: a literal, a name, or an object with `op`";
        self.diagnostics.invalid(DiagnosticCode::MissingKey, members.object().at(), message);
        None
    }

    /// `let` with an empty list of free variables is its expression.
    fn bound(&mut self, members: &mut Members<'_>) -> Option<ExprKind> {
        let variables = members.take("variables");
        let expression = self.operand(members, "expression")?;
        if let Some(first) = variables.and_then(|v| v.elements().next()) {
            self.diagnostics.unsupported(first.at(), "free variables of `let`");
            return None;
        }
        Some(expression.kind)
    }

    fn operand(&mut self, members: &mut Members<'_>, key: &'static str) -> Option<Expr> {
        let json = self.required(members, key)?;
        Some(self.expr(json))
    }
}
