//! Operators of the composed model: guard, label and probabilistic update.

use policert_numeric::{IntBox, IntInterval, Rational};

use crate::{
    BinaryOp, Condition, EvalError, Expr, InstanceId, LabelId, LinearConstraint, LinearExpr,
    Probability, ValueBounds, VarId, Variable,
};

/// Says how an operator is composed: by a silent edge alone, or by one edge per participant of a
/// synchronisation vector.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct OperatorKey {
    /// The synchronisation vector; `None` for a silent edge that runs alone.
    pub vector: Option<u32>,
    /// The edge that each participant takes, by position in [`AutomatonInstance::edges`](crate::AutomatonInstance::edges).
    pub edges: Vec<(InstanceId, u32)>,
}

/// An operator (g, l, u) of the composed model, with several probabilistic outcomes.
#[derive(Clone, PartialEq, Debug)]
pub struct Operator {
    /// The way in which it is composed.
    pub key: OperatorKey,
    /// Its label; `None` for a silent operator, which belongs to the environment.
    pub label: Option<LabelId>,
    /// Its guard, source locations included.
    pub guard: Condition,
    /// Its outcomes; at least one.
    pub destinations: Vec<Destination>,
}

/// One outcome of an operator.
#[derive(Clone, PartialEq, Debug)]
pub struct Destination {
    /// Its probability.
    pub probability: Probability,
    /// Holds where the outcome exists: array cells that are written exist, transient variables get
    /// values within their bounds, and the probability is positive. A state in which it is false or
    /// has no value has no such outcome.
    pub defined: Condition,
    /// The array cells that are written by a computed index, for messages.
    pub cell_writes: Vec<CellWrite>,
    /// The transient variables that may get a value outside their bounds, or none, for messages.
    pub transient_values: Vec<TransientValue>,
    /// Holds where two participants write different values to one variable: a modelling error.
    pub conflict: Conflict,
    /// Values that are chosen freely. Choice `k` is the variable with id
    /// `Model::variables.len() + k` in the updates and in `defined`.
    pub choices: Vec<FreeChoice>,
    /// New values, sorted by variable; variables that are not named keep theirs.
    pub updates: Vec<Update>,
}

/// A write to an array cell by a computed index.
#[derive(Clone, PartialEq, Debug)]
pub struct CellWrite {
    /// Name of the array.
    pub array: String,
    /// The index, over the state before the transition and the choices.
    pub index: Expr,
    /// Number of cells.
    pub cells: usize,
}

/// The value of a transient variable at the end of a transition.
#[derive(Clone, PartialEq, Debug)]
pub struct TransientValue {
    /// Name of the variable.
    pub name: String,
    /// The value, over the state before the transition and the choices.
    pub value: Expr,
    /// The bounds that it must satisfy.
    pub bounds: ValueBounds,
}

/// Says where an outcome writes two different values to one variable at one index.
#[derive(Clone, PartialEq, Debug)]
pub struct Conflict {
    /// The condition on states under which it happens.
    pub condition: Condition,
    /// Names of the variables concerned.
    pub variables: Vec<String>,
}

/// A value that is chosen freely between two bounds, evaluated before the transition.
#[derive(Clone, PartialEq, Debug)]
pub struct FreeChoice {
    /// The variable that gets the value.
    pub target: VarId,
    /// The least value.
    pub lower: Expr,
    /// The greatest value.
    pub upper: Expr,
}

impl FreeChoice {
    /// The least and the greatest integer that may be chosen, over the state and the choices
    /// before; there is none if the first is greater.
    ///
    /// # Errors
    /// A bound without value.
    pub fn bounds(&self, point: &[i64]) -> Result<(Rational, Rational), EvalError> {
        Ok((self.lower.eval(point)?.ceil(), self.upper.eval(point)?.floor()))
    }
}

/// The new value of a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// The variable.
    pub variable: VarId,
    /// Its new value, over the state before the transition and the choices.
    pub value: UpdateValue,
}

/// The value of an update.
#[derive(Clone, PartialEq, Debug)]
pub enum UpdateValue {
    /// Linear with integer coefficients.
    Linear(LinearExpr),
    /// Anything else.
    General(Expr),
}

impl UpdateValue {
    /// Reads an expression, as linear where possible.
    #[must_use]
    pub fn from_expr(expr: Expr) -> Self {
        LinearExpr::from_expr(&expr).map_or(Self::General(expr), Self::Linear)
    }

    /// The same as an expression tree.
    #[must_use]
    pub fn to_expr(&self) -> Expr {
        match self {
            Self::Linear(linear) => linear.to_expr(),
            Self::General(expr) => expr.clone(),
        }
    }
}

impl Destination {
    /// The update of `variable`, if there is one.
    #[must_use]
    pub fn update(&self, variable: VarId) -> Option<&UpdateValue> {
        self.updates
            .binary_search_by_key(&variable, |u| u.variable)
            .ok()
            .map(|i| &self.updates[i].value)
    }

    /// The sides of the free choices over a box of states: every value that a choice can take
    /// lies in its side.
    #[must_use]
    pub fn choice_sides(&self, sides: &IntBox) -> Vec<IntInterval> {
        let mut extended = sides.clone();
        let mut result = Vec::with_capacity(self.choices.len());
        for choice in &self.choices {
            let (lower, upper) = (choice.lower.range(&extended), choice.upper.range(&extended));
            let side = IntInterval::new(lower.integers().lo, upper.integers().hi);
            extended.push(side);
            result.push(side);
        }
        result
    }

    /// Holds exactly where this outcome leads to a state, whatever the guard: it is `defined`,
    /// and every new value exists and lies in its domain. Over the state and the choices.
    #[must_use]
    pub fn exists(&self, variables: &[Variable]) -> Condition {
        let inside = self.updates.iter().map(|update| {
            let value = update.value.to_expr();
            let domain = variables[update.variable.index()].domain;
            let compare = |op, a: &Expr, b: &Expr| {
                Condition::from_expr(&Expr::binary(op, a.clone(), b.clone()))
            };
            let mut parts = Vec::new();
            if domain.lo != IntInterval::UNBOUNDED_BELOW {
                parts.push(compare(BinaryOp::Le, &Expr::int(domain.lo), &value));
            }
            if domain.hi != IntInterval::UNBOUNDED_ABOVE {
                parts.push(compare(BinaryOp::Le, &value, &Expr::int(domain.hi)));
            }
            if parts.is_empty() && !value.is_total() {
                parts.push(compare(BinaryOp::Eq, &value, &value));
            }
            Condition::and(parts)
        });
        Condition::and([self.defined.clone()].into_iter().chain(inside))
    }

    /// The condition before this outcome that `condition` holds after it, where the outcome
    /// [exists](Self::exists).
    #[must_use]
    pub fn weakest_precondition(&self, condition: &Condition) -> Condition {
        match condition {
            Condition::True | Condition::False => condition.clone(),
            Condition::Linear(constraint) => {
                self.linear_precondition(constraint).unwrap_or_else(|| self.substituted(condition))
            }
            Condition::General { .. } => self.substituted(condition),
            Condition::And(parts) => {
                Condition::and(parts.iter().map(|part| self.weakest_precondition(part)))
            }
            Condition::Or(parts) => {
                Condition::or(parts.iter().map(|part| self.weakest_precondition(part)))
            }
        }
    }

    fn substituted(&self, condition: &Condition) -> Condition {
        condition.substitute(&|v| self.update(v).map(UpdateValue::to_expr))
    }

    /// The same where the values that are assigned are linear, and no number leaves `i64`.
    fn linear_precondition(&self, constraint: &LinearConstraint) -> Option<Condition> {
        let mut sum = LinearExpr::constant(0);
        for &(variable, coefficient) in &constraint.terms {
            match self.update(variable) {
                None => sum.add_term(variable, coefficient)?,
                Some(UpdateValue::Linear(value)) => sum.add_multiple(value, coefficient)?,
                Some(UpdateValue::General(_)) => return None,
            }
        }
        sum.at_most(constraint.upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_preconditions_are_what_substitution_gives() {
        let linear = |terms: &[(usize, i64)], constant| LinearExpr {
            terms: terms.iter().map(|&(v, c)| (VarId::new(v), c)).collect(),
            constant,
        };
        let updates = [
            (0, linear(&[], 4)),
            (1, linear(&[(1, 1)], -1)),
            (2, linear(&[(0, 2), (1, -4)], 3)),
            (3, linear(&[(3, i64::MAX)], 1)),
        ];
        let update = |(variable, value): (usize, LinearExpr)| Update {
            variable: VarId::new(variable),
            value: UpdateValue::Linear(value),
        };
        let outcome = Destination {
            probability: Probability::Constant(Rational::ONE),
            defined: Condition::True,
            cell_writes: Vec::new(),
            transient_values: Vec::new(),
            conflict: Conflict { condition: Condition::False, variables: Vec::new() },
            choices: Vec::new(),
            updates: updates.map(update).into(),
        };
        let constraint = |terms, upper| {
            let linear = linear(terms, 0);
            Condition::Linear(LinearConstraint { terms: linear.terms, upper })
        };
        for condition in [
            constraint(&[(0, 1)], 4),
            constraint(&[(0, 1)], 3),
            constraint(&[(1, 1)], 7),
            constraint(&[(2, 1)], 8),
            constraint(&[(2, -1)], 8),
            // Variables that cancel, and one that is kept.
            constraint(&[(1, 4), (2, 1), (4, 5)], -2),
            // A number beyond 64 bits.
            constraint(&[(3, 3)], 5),
        ] {
            let expected = outcome.substituted(&condition);
            assert_eq!(outcome.weakest_precondition(&condition), expected, "{condition:?}");
            let both = Condition::and([condition.clone(), constraint(&[(5, 1)], 0)]);
            let expected = outcome.substituted(&both);
            assert_eq!(outcome.weakest_precondition(&both), expected, "{both:?}");
        }
    }
}
