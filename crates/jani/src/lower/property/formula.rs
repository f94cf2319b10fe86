//! Standard properties: filters over possibility and probability of paths.

use policert_model::{Condition, Expr as ModelExpr};

use super::PropertyLowerer;
use crate::{
    ast::{BinaryOp, Extremum, Formula, FormulaKind, PathOperator, StatesFilter},
    check::Type,
    property::{PathSet, Quantity, QuantityComparison, Relation, StandardProperty},
};

impl PropertyLowerer<'_> {
    /// Lowers a standard property; `None` after a diagnostic.
    pub(super) fn standard(&mut self, name: &str, formula: &Formula) -> Option<StandardProperty> {
        let FormulaKind::Filter(filter) = &formula.kind else {
            return self.refuse(formula, "properties without a filter at the top");
        };
        let states = match &filter.states {
            StatesFilter::Initial => Some(None),
            StatesFilter::Expr(expr) => self.condition(expr).map(Some),
            StatesFilter::Deadlock | StatesFilter::Timelock => {
                self.refuse(formula, "filters over deadlocks and timelocks")
            }
        };
        let values = self.values(&filter.values);
        let (states, (quantity, path, comparison)) = (states?, values?);
        Some(StandardProperty {
            name: name.to_owned(),
            function: filter.function,
            states,
            quantity,
            path,
            comparison,
        })
    }

    /// A quantity of paths, possibly compared with a bound.
    fn values(
        &mut self,
        formula: &Formula,
    ) -> Option<(Quantity, PathSet, Option<QuantityComparison>)> {
        let FormulaKind::Binary(op, sides) = &formula.kind else {
            let (quantity, path) = self.quantity(formula)?;
            return Some((quantity, path, None));
        };
        let relation = match op {
            BinaryOp::Lt => Relation::Less,
            BinaryOp::Le => Relation::AtMost,
            BinaryOp::Gt => Relation::Greater,
            BinaryOp::Ge => Relation::AtLeast,
            BinaryOp::Eq => Relation::Equal,
            BinaryOp::Ne => Relation::NotEqual,
            _ => return self.refuse(formula, "Boolean combinations of properties"),
        };
        let [left, right] = &**sides;
        let (value, bound, relation) = match (&left.kind, &right.kind) {
            (_, FormulaKind::State(bound)) => (left, bound, relation),
            (FormulaKind::State(bound), _) => (right, bound, relation.reversed()),
            _ => return self.refuse(formula, "comparisons of two properties"),
        };
        let (quantity, path) = self.quantity(value)?;
        let bound = self.scalar(bound, &Type::Real)?;
        let ModelExpr::Constant(bound) = bound.expr else {
            return self.refuse(formula, "comparisons with a bound that is not constant");
        };
        if matches!(quantity, Quantity::Possible | Quantity::Certain) {
            return self.refuse(formula, "comparisons of a truth value with a number");
        }
        Some((quantity, path, Some(QuantityComparison { relation, bound })))
    }

    fn quantity(&mut self, formula: &Formula) -> Option<(Quantity, PathSet)> {
        let (quantity, path) = match &formula.kind {
            FormulaKind::Probability(Extremum::Min, path) => (Quantity::MinProbability, &**path),
            FormulaKind::Probability(Extremum::Max, path) => (Quantity::MaxProbability, &**path),
            FormulaKind::Quantifier(true, path) => (Quantity::Possible, &**path),
            FormulaKind::Quantifier(false, path) => (Quantity::Certain, &**path),
            // Without a quantifier, it is asked whether there is such a path.
            FormulaKind::Path { .. } => (Quantity::Possible, formula),
            FormulaKind::Expectation => return self.refuse(formula, "expected rewards"),
            FormulaKind::SteadyState => {
                return self.refuse(formula, "steady-state probabilities");
            }
            FormulaKind::Filter(_) => return self.refuse(formula, "filters inside filters"),
            FormulaKind::Binary(..) | FormulaKind::Not => {
                return self.refuse(formula, "Boolean combinations of properties");
            }
            FormulaKind::State(_) => {
                return self.refuse(formula, "properties of single states");
            }
            FormulaKind::Other(op) => {
                return self.refuse(formula, &format!("properties with `{op}`"));
            }
            FormulaKind::Broken => return None,
        };
        Some((quantity, self.path(path)?))
    }

    fn path(&mut self, formula: &Formula) -> Option<PathSet> {
        let FormulaKind::Path { operator, operands, bounded } = &formula.kind else {
            return match formula.kind {
                FormulaKind::Broken => None,
                _ => self.refuse(formula, "properties of paths without F, G or U at the top"),
            };
        };
        if *bounded {
            return self.refuse(formula, "bounds on steps, time or rewards of paths");
        }
        let states: Vec<_> = operands.iter().map(|operand| self.path_operand(operand)).collect();
        let mut states = states.into_iter();
        match operator {
            PathOperator::Finally => {
                let target = states.next()??;
                Some(PathSet::Until { stay: Condition::True, target })
            }
            PathOperator::Globally => states.next()?.map(PathSet::Globally),
            PathOperator::Until => {
                let stay = states.next()?;
                Some(PathSet::Until { target: states.next()??, stay: stay? })
            }
            PathOperator::WeakUntil | PathOperator::Release => {
                self.refuse(formula, "the path operators W and R")
            }
        }
    }

    fn path_operand(&mut self, formula: &Formula) -> Option<Condition> {
        match &formula.kind {
            FormulaKind::State(expr) => self.condition(expr),
            FormulaKind::Broken => None,
            _ => self.refuse(formula, "properties of paths inside each other"),
        }
    }

    fn refuse<T>(&mut self, formula: &Formula, what: &str) -> Option<T> {
        self.diagnostics.unsupported(formula.at, what);
        None
    }
}
