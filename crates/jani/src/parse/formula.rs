//! Formulas of standard properties.

use super::Parser;
use crate::{
    ast::{
        BinaryOp, Expr, ExprKind, Extremum, Filter, FilterFunction, Formula, FormulaKind,
        PathOperator, StatesFilter, UnaryOp,
    },
    json::{Json, Members},
};

/// Keys of bounds on path formulas.
const BOUNDS: [&str; 3] = ["step-bounds", "time-bounds", "reward-bounds"];
/// Keys that make an expected reward one of an instant.
const INSTANTS: [&str; 3] = ["step-instant", "time-instant", "reward-instants"];

impl Parser {
    pub(super) fn formula(&mut self, json: Json<'_>) -> Formula {
        let Some(op) = json.get("op").and_then(Json::as_str) else {
            let kind = FormulaKind::State(self.expr(json));
            return Formula { at: json.at(), kind };
        };
        let mut m = Members::new(json);
        let kind = match &*op {
            "filter" => self.filter(&mut m),
            "Pmin" => self.operand_formula(&mut m).map(|f| probability(Extremum::Min, f)),
            "Pmax" => self.operand_formula(&mut m).map(|f| probability(Extremum::Max, f)),
            "Smin" | "Smax" => self.operand_formula(&mut m).map(|_| FormulaKind::SteadyState),
            "∀" | "∃" => self
                .operand_formula(&mut m)
                .map(|f| FormulaKind::Quantifier(op == "∃", Box::new(f))),
            "Emin" | "Emax" => self.expectation(&mut m),
            "F" => self.path_formula(&mut m, PathOperator::Finally),
            "G" => self.path_formula(&mut m, PathOperator::Globally),
            "U" => self.path_formula(&mut m, PathOperator::Until),
            "W" => self.path_formula(&mut m, PathOperator::WeakUntil),
            "R" => self.path_formula(&mut m, PathOperator::Release),
            "initial" | "deadlock" | "timelock" | "Multi" => {
                m.take_all();
                Some(FormulaKind::Other(op.clone().into_owned()))
            }
            _ => return self.state_formula(json, &op),
        };
        m.take("op");
        self.finish(&m);
        Formula { at: json.at(), kind: kind.unwrap_or(FormulaKind::Broken) }
    }

    /// An expression over states, or a Boolean operator over formulas that are none.
    fn state_formula(&mut self, json: Json<'_>, op: &str) -> Formula {
        let at = json.at();
        let binary = BinaryOp::from_sign(op).filter(|op| op.is_logical() || op.is_comparison());
        let not = op == UnaryOp::Not.sign();
        if binary.is_none() && !not {
            return Formula { at, kind: FormulaKind::State(self.expr(json)) };
        }
        let mut m = Members::new(json);
        m.take("op");
        let kind = if let Some(op) = binary {
            let left = self.required(&mut m, "left").map(|l| self.formula(l));
            let right = self.required(&mut m, "right").map(|r| self.formula(r));
            match (left, right) {
                (Some(left), Some(right)) => binary_formula(at, op, left, right),
                _ => FormulaKind::Broken,
            }
        } else {
            match self.required(&mut m, "exp").map(|e| self.formula(e)) {
                Some(Formula { kind: FormulaKind::State(exp), .. }) => {
                    let kind = ExprKind::Unary(UnaryOp::Not, Box::new(exp));
                    FormulaKind::State(Expr { at, kind })
                }
                Some(_) => FormulaKind::Not,
                None => FormulaKind::Broken,
            }
        };
        self.finish(&m);
        Formula { at, kind }
    }

    fn filter(&mut self, m: &mut Members<'_>) -> Option<FormulaKind> {
        let fun = self.required(m, "fun");
        let values = self.required(m, "values").map(|v| self.formula(v));
        let states = self.required(m, "states");
        let fun = fun?;
        let name = self.string(fun)?;
        let function = FilterFunction::ALL.iter().find(|(n, _)| *n == name).map(|&(_, f)| f);
        if function.is_none() {
            self.unknown_word(fun, "filter function", &name);
        }
        let states = states?;
        let states = match states.get("op").and_then(Json::as_str).as_deref() {
            Some("initial") => StatesFilter::Initial,
            Some("deadlock") => StatesFilter::Deadlock,
            Some("timelock") => StatesFilter::Timelock,
            _ => StatesFilter::Expr(self.expr(states)),
        };
        Some(FormulaKind::Filter(Box::new(Filter { function: function?, values: values?, states })))
    }

    fn operand_formula(&mut self, m: &mut Members<'_>) -> Option<Formula> {
        let exp = self.required(m, "exp")?;
        Some(self.formula(exp))
    }

    fn path_formula(&mut self, m: &mut Members<'_>, operator: PathOperator) -> Option<FormulaKind> {
        let operands = match operator {
            PathOperator::Finally | PathOperator::Globally => {
                vec![self.operand_formula(m)?]
            }
            PathOperator::Until | PathOperator::WeakUntil | PathOperator::Release => {
                let left = self.required(m, "left").map(|l| self.formula(l));
                let right = self.required(m, "right").map(|r| self.formula(r));
                vec![left?, right?]
            }
        };
        let bounded = BOUNDS.map(|key| m.take(key).is_some()).contains(&true);
        Some(FormulaKind::Path { operator, operands, bounded })
    }

    /// An expected reward: read for what is wrong with it, but no engine asks for it.
    fn expectation(&mut self, m: &mut Members<'_>) -> Option<FormulaKind> {
        let reward = self.required(m, "exp").map(|e| self.expr(e));
        for json in m.take("accumulate").into_iter().flat_map(Json::elements) {
            let name = self.string(json).unwrap_or_default();
            if !matches!(&*name, "steps" | "time" | "exit") {
                self.unknown_word(json, "accumulation", &name);
            }
        }
        if let Some(reach) = m.take("reach") {
            self.expr(reach);
        }
        for key in INSTANTS {
            m.take(key);
        }
        reward.map(|_| FormulaKind::Expectation)
    }
}

fn probability(extremum: Extremum, formula: Formula) -> FormulaKind {
    FormulaKind::Probability(extremum, Box::new(formula))
}

/// An operator over two formulas: an expression, if both are.
fn binary_formula(
    at: crate::source::At,
    op: BinaryOp,
    left: Formula,
    right: Formula,
) -> FormulaKind {
    match (left.kind, right.kind) {
        (FormulaKind::State(left), FormulaKind::State(right)) => {
            let kind = ExprKind::Binary(op, Box::new([left, right]));
            FormulaKind::State(Expr { at, kind })
        }
        (l, r) => {
            let left = Formula { at: left.at, kind: l };
            let right = Formula { at: right.at, kind: r };
            FormulaKind::Binary(op, Box::new([left, right]))
        }
    }
}
