//! Conditions: linear constraints over the variables and Boolean combinations of them, in
//! negation normal form, with anything else kept as an expression.

use std::sync::Arc;

use crate::linear::{RationalForm, ZeroComparison};
use crate::{BinaryOp, EvalError, Expr, LinearConstraint, LinearExpr, UnaryOp, VarId};

/// A condition on states, in negation normal form.
///
/// Truth is strong Kleene, as in [`Expr::eval`]: a part without value leaves the whole without
/// value unless another part decides it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Condition {
    /// Holds everywhere.
    True,
    /// Holds nowhere.
    False,
    /// A linear constraint over integers.
    Linear(LinearConstraint),
    /// The expression has the truth value `positive`.
    General {
        /// The expression.
        expr: Arc<Expr>,
        /// The value that it must have.
        positive: bool,
    },
    /// All hold; at least two, none of them `True`, `False` or `And`.
    And(Vec<Condition>),
    /// One holds; at least two, none of them `True`, `False` or `Or`.
    Or(Vec<Condition>),
}

/// The greatest number of terms with `ite`, `min`, `max`, `abs` or truth values that one comparison
/// may be split on: each doubles the number of cases.
const CASE_SPLITS: usize = 4;

/// The most work, see [`case_work`], that case distinctions inside each other may make; beyond,
/// the expression stays whole.
const CASE_WORK: u32 = 1 << 14;

impl Condition {
    /// The condition that `expr` is true. A variable that stands for a truth value must be 0 or
    /// 1.
    #[must_use]
    pub fn from_expr(expr: &Expr) -> Self {
        Self::from_literal(expr, true)
    }

    /// The condition that `expr` has the truth value `positive`.
    #[must_use]
    pub fn from_literal(expr: &Expr, positive: bool) -> Self {
        match expr {
            Expr::Constant(c) => Self::constant((c.signum() != 0) == positive),
            Expr::Var(v) => {
                // a truth value: 1 ≤ v, or v ≤ 0
                let (c, upper) = if positive { (-1, -1) } else { (1, 0) };
                Self::Linear(LinearConstraint { terms: vec![(*v, c)], upper })
            }
            Expr::Unary(UnaryOp::Not, a) => Self::from_literal(a, !positive),
            Expr::Binary(BinaryOp::And, a, b) => {
                Self::joined(positive, [(&**a, positive), (&**b, positive)])
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                Self::joined(!positive, [(&**a, positive), (&**b, positive)])
            }
            Expr::Binary(BinaryOp::Implies, a, b) => {
                Self::joined(!positive, [(&**a, !positive), (&**b, positive)])
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if a.is_boolean_operator() || b.is_boolean_operator() =>
            {
                if case_work(expr) > CASE_WORK {
                    return Self::general(expr, positive);
                }
                let same = (*op == BinaryOp::Eq) == positive;
                Self::or([
                    Self::joined(true, [(&**a, true), (&**b, same)]),
                    Self::joined(true, [(&**a, false), (&**b, !same)]),
                ])
            }
            Expr::Binary(
                op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le),
                a,
                b,
            ) => comparison(*op, a, b, positive, 0)
                .or_else(|| {
                    let few = case_work(expr) <= CASE_WORK;
                    few.then(|| comparison(*op, a, b, positive, CASE_SPLITS)).flatten()
                })
                .unwrap_or_else(|| Self::general(expr, positive)),
            Expr::Ite(c, a, b) if c.is_total() && case_work(expr) <= CASE_WORK => Self::or([
                Self::joined(true, [(&**c, true), (&**a, positive)]),
                Self::joined(true, [(&**c, false), (&**b, positive)]),
            ]),
            _ => Self::general(expr, positive),
        }
    }

    fn general(expr: &Expr, positive: bool) -> Self {
        Self::General { expr: Arc::new(expr.clone()), positive }
    }

    fn joined<const N: usize>(conjunction: bool, parts: [(&Expr, bool); N]) -> Self {
        let parts = parts.map(|(e, positive)| Self::from_literal(e, positive));
        if conjunction { Self::and(parts) } else { Self::or(parts) }
    }

    /// `True` or `False`.
    #[must_use]
    pub fn constant(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    /// `variable = value`.
    #[must_use]
    pub fn var_equals(variable: VarId, value: i64) -> Self {
        Self::from_expr(&Expr::var_equals(variable, value))
    }

    /// The conjunction, flattened; repeated parts are dropped.
    #[must_use]
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::flattened(parts, true, dedup)
    }

    /// The disjunction, flattened; repeated parts are dropped.
    #[must_use]
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::flattened(parts, false, dedup)
    }

    /// The conjunction or disjunction, flattened; `tidy` drops parts that are not needed.
    pub(crate) fn flattened(
        parts: impl IntoIterator<Item = Self>,
        conjunction: bool,
        tidy: impl Fn(&mut Vec<Self>),
    ) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match (part, conjunction) {
                (Self::True, true) | (Self::False, false) => {}
                (Self::False, true) => return Self::False,
                (Self::True, false) => return Self::True,
                (Self::And(inner), true) | (Self::Or(inner), false) => all.extend(inner),
                (other, _) => all.push(other),
            }
        }
        tidy(&mut all);
        match (all.len(), conjunction) {
            (0, _) => Self::constant(conjunction),
            (1, _) => all.swap_remove(0),
            (_, true) => Self::And(all),
            (_, false) => Self::Or(all),
        }
    }

    /// The condition that holds exactly where this one is false.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Linear(c) => match c.negation() {
                Some(negation) => Self::Linear(negation),
                None => Self::general(&constraint_expr(c), false),
            },
            Self::General { expr, positive } => {
                Self::General { expr: Arc::clone(expr), positive: !positive }
            }
            Self::And(parts) => Self::or(parts.iter().map(Self::negate)),
            Self::Or(parts) => Self::and(parts.iter().map(Self::negate)),
        }
    }

    /// Returns whether it holds in `state`.
    ///
    /// # Errors
    /// Fails if it has no truth value there.
    pub fn holds(&self, state: &[i64]) -> Result<bool, EvalError> {
        match self {
            Self::True => Ok(true),
            Self::False => Ok(false),
            Self::Linear(c) => Ok(c.holds(state)),
            Self::General { expr, positive } => Ok(expr.holds(state)? == *positive),
            Self::And(parts) => deciding(parts, state, false),
            Self::Or(parts) => deciding(parts, state, true),
        }
    }

    /// The conjuncts: the parts of an `And`, nothing for `True`, else the condition itself.
    #[must_use]
    pub fn conjuncts(&self) -> &[Self] {
        match self {
            Self::True => &[],
            Self::And(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The disjuncts: the parts of an `Or`, nothing for `False`, else the condition itself.
    #[must_use]
    pub fn disjuncts(&self) -> &[Self] {
        match self {
            Self::False => &[],
            Self::Or(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `f` for every variable that occurs, possibly several times.
    pub fn for_each_var(&self, f: &mut impl FnMut(VarId)) {
        match self {
            Self::True | Self::False => {}
            Self::Linear(c) => c.terms.iter().for_each(|&(v, _)| f(v)),
            Self::General { expr, .. } => expr.for_each_var(f),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|p| p.for_each_var(f)),
        }
    }

    /// The variables that occur, sorted.
    #[must_use]
    pub fn variables(&self) -> Vec<VarId> {
        let mut all = Vec::new();
        self.for_each_var(&mut |v| all.push(v));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The condition on the variables before an assignment of `value(v)` to each variable `v`
    /// (`None` keeps it) that this one holds after it: the weakest precondition. Where a value
    /// that it reads does not exist, there is no state after the assignment, and what the result
    /// says of such a state means nothing.
    #[must_use]
    pub fn substitute(&self, value: &impl Fn(VarId) -> Option<Expr>) -> Self {
        match self {
            Self::True | Self::False => self.clone(),
            Self::Linear(c) => {
                if c.terms.iter().all(|&(v, _)| value(v).is_none()) {
                    return self.clone();
                }
                Self::from_expr(&constraint_expr(c).substitute(value, &|_| None))
            }
            Self::General { expr, positive } => {
                Self::from_literal(&expr.substitute(value, &|_| None), *positive)
            }
            Self::And(parts) => Self::and(parts.iter().map(|p| p.substitute(value))),
            Self::Or(parts) => Self::or(parts.iter().map(|p| p.substitute(value))),
        }
    }

    /// The same as an expression tree.
    #[must_use]
    pub fn to_expr(&self) -> Expr {
        match self {
            Self::True => Expr::bool(true),
            Self::False => Expr::bool(false),
            Self::Linear(c) => constraint_expr(c),
            Self::General { expr, positive: true } => (**expr).clone(),
            Self::General { expr, positive: false } => Expr::negate((**expr).clone()),
            Self::And(parts) => {
                parts.iter().map(Self::to_expr).reduce(Expr::and).unwrap_or(Expr::bool(true))
            }
            Self::Or(parts) => {
                parts.iter().map(Self::to_expr).reduce(Expr::or).unwrap_or(Expr::bool(false))
            }
        }
    }
}

/// An estimate of the work of resolving the case distinctions in an expression: what they
/// distinguish is read twice, once for each answer, and so is what is inside.
fn case_work(expr: &Expr) -> u32 {
    let sum = |parts: &[&Expr]| parts.iter().fold(0u32, |n, e| n.saturating_add(case_work(e)));
    match expr {
        Expr::Constant(_) | Expr::Var(_) | Expr::Transient(_) => 1,
        Expr::Unary(UnaryOp::Abs, a) => case_work(a).saturating_mul(2),
        Expr::Unary(_, a) => case_work(a),
        Expr::Binary(op, a, b) => {
            use BinaryOp::{Eq, Le, Lt, Max, Min, Ne};
            let twice = matches!(op, Eq | Ne | Lt | Le | Min | Max);
            sum(&[a, b]).saturating_mul(if twice { 2 } else { 1 })
        }
        Expr::Ite(c, a, b) => case_work(c).saturating_mul(2).saturating_add(sum(&[a, b])),
        Expr::Cell { cells, index } => {
            cells.iter().fold(case_work(index), |n, cell| n.saturating_add(case_work(cell)))
        }
    }
}

/// Drops repeated parts, keeping the order.
fn dedup(parts: &mut Vec<Condition>) {
    if parts.len() <= 32 {
        let mut i = 1;
        while i < parts.len() {
            if parts[..i].contains(&parts[i]) {
                parts.remove(i);
            } else {
                i += 1;
            }
        }
    }
}

fn deciding(parts: &[Condition], state: &[i64], decides: bool) -> Result<bool, EvalError> {
    let mut undefined = None;
    for part in parts {
        match part.holds(state) {
            Ok(value) if value == decides => return Ok(decides),
            Ok(_) => {}
            Err(error) => undefined = undefined.or(Some(error)),
        }
    }
    undefined.map_or(Ok(!decides), Err)
}

fn constraint_expr(c: &LinearConstraint) -> Expr {
    let sum = LinearExpr { terms: c.terms.clone(), constant: 0 };
    Expr::binary(BinaryOp::Le, sum.to_expr(), Expr::int(c.upper))
}

/// `a op b` having the truth value `positive`, if that is linear after at most `splits` case
/// distinctions.
fn comparison(
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    positive: bool,
    splits: usize,
) -> Option<Condition> {
    if let Some(form) = RationalForm::difference(a, b) {
        let at_most = |form: &RationalForm, strict| {
            Some(match form.at_most_zero(strict)? {
                ZeroComparison::Constant(value) => Condition::constant(value),
                ZeroComparison::Constraint(c) => Condition::Linear(c),
            })
        };
        return match (op, positive) {
            (BinaryOp::Le, true) => at_most(&form, false),
            (BinaryOp::Lt, true) => at_most(&form, true),
            (BinaryOp::Le, false) => at_most(&form.negated(), true),
            (BinaryOp::Lt, false) => at_most(&form.negated(), false),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                Some(Condition::and([at_most(&form, false)?, at_most(&form.negated(), false)?]))
            }
            _ => Some(Condition::or([at_most(&form, true)?, at_most(&form.negated(), true)?])),
        };
    }
    if splits == 0 {
        return None;
    }
    // Split on the first ite, min, max, abs or truth value whose condition always has a value.
    let (condition, then, otherwise) = split(a)
        .map(|(c, x, y)| (c, (x, b.clone()), (y, b.clone())))
        .or_else(|| split(b).map(|(c, x, y)| (c, (a.clone(), x), (a.clone(), y))))?;
    let then = comparison(op, &then.0, &then.1, positive, splits - 1)?;
    let otherwise = comparison(op, &otherwise.0, &otherwise.1, positive, splits - 1)?;
    Some(Condition::or([
        Condition::and([Condition::from_literal(&condition, true), then]),
        Condition::and([Condition::from_literal(&condition, false), otherwise]),
    ]))
}

/// The condition of the first case distinction in `expr`, and `expr` in either case.
fn split(expr: &Expr) -> Option<(Expr, Expr, Expr)> {
    let le = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::Le, a.clone(), b.clone());
    match expr {
        Expr::Ite(c, a, b) if c.is_total() => Some(((**c).clone(), (**a).clone(), (**b).clone())),
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) if expr.is_total() => {
            let (low, high) = if *op == BinaryOp::Min { (a, b) } else { (b, a) };
            Some((le(a, b), (**low).clone(), (**high).clone()))
        }
        Expr::Unary(UnaryOp::Abs, a) if a.is_total() => {
            let negated = Expr::binary(BinaryOp::Sub, Expr::int(0), (**a).clone());
            Some((le(&Expr::int(0), a), (**a).clone(), negated))
        }
        Expr::Unary(UnaryOp::Not, _) if expr.is_total() => {
            Some((expr.clone(), Expr::bool(true), Expr::bool(false)))
        }
        Expr::Binary(op, ..) if op.is_boolean() && expr.is_total() => {
            Some((expr.clone(), Expr::bool(true), Expr::bool(false)))
        }
        Expr::Binary(
            op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div),
            a,
            b,
        ) => {
            if let Some((c, x, y)) = split(a) {
                let rebuild = |x| Expr::binary(*op, x, (**b).clone());
                return Some((c, rebuild(x), rebuild(y)));
            }
            let (c, x, y) = split(b)?;
            let rebuild = |x| Expr::binary(*op, (**a).clone(), x);
            Some((c, rebuild(x), rebuild(y)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Condition;
    use crate::{BinaryOp, Expr, LinearConstraint, UnaryOp, VarId};

    const B: VarId = VarId(0);
    const X: VarId = VarId(1);

    fn x_below(upper: i64) -> Expr {
        Expr::binary(BinaryOp::Lt, Expr::Var(X), Expr::int(upper))
    }

    #[test]
    fn a_truth_value_that_is_assigned_gives_a_linear_precondition() {
        // b after b := x < 3, and after b := ¬b
        let holds = Condition::from_expr(&Expr::Var(B));
        let before = holds.substitute(&|v| (v == B).then(|| x_below(3)));
        let constraint = LinearConstraint { terms: vec![(X, 1)], upper: 2 };
        assert_eq!(before, Condition::Linear(constraint));
        let before = holds.substitute(&|v| (v == B).then(|| Expr::negate(Expr::Var(B))));
        assert_eq!(before, holds.negate());
    }

    #[test]
    fn case_distinctions_inside_each_other_stay_whole() {
        // ((b = (x < 3)) = (x < 4)) = …: each level would double what is below.
        let mut truth = Expr::Var(B);
        let mut number = Expr::Var(X);
        for i in 0..200 {
            truth = Expr::binary(BinaryOp::Eq, truth, x_below(i));
            let below = Expr::binary(BinaryOp::Lt, number, Expr::int(i));
            number = Expr::ite(below, Expr::int(1), Expr::Var(X));
        }
        let number = Expr::binary(BinaryOp::Le, number, Expr::int(0));
        for expr in [truth, number] {
            let condition = Condition::from_expr(&expr);
            assert!(matches!(condition, Condition::General { .. }));
            for state in [[0, 0], [1, 3], [0, 150]] {
                assert_eq!(condition.holds(&state), expr.holds(&state));
            }
        }
    }

    #[test]
    fn case_distinctions_are_resolved_up_to_a_limit() {
        let abs = |v| Expr::unary(UnaryOp::Abs, Expr::Var(v));
        let linear = |condition: &Condition| {
            let mut parts = vec![condition];
            while let Some(part) = parts.pop() {
                match part {
                    Condition::General { .. } => return false,
                    Condition::And(more) | Condition::Or(more) => parts.extend(more),
                    _ => {}
                }
            }
            true
        };
        let sum = |n: u32| {
            let terms = (0..n).map(|i| abs(VarId(i)));
            terms.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b)).unwrap_or(Expr::int(0))
        };
        for (n, expected) in [(2, true), (4, true), (5, false)] {
            let e = Expr::binary(BinaryOp::Le, sum(n), Expr::int(3));
            assert_eq!(linear(&Condition::from_expr(&e)), expected, "{n} absolute values");
        }
    }

    #[test]
    fn a_case_distinction_without_value_decides_nothing() {
        // 6/x ≤ 2 has no value at 0; both cases are false there
        let quotient = Expr::binary(BinaryOp::Div, Expr::int(6), Expr::Var(X));
        let small = Expr::binary(BinaryOp::Le, quotient, Expr::int(2));
        let either = |a, b| Expr::ite(small.clone(), a, b);
        let number = either(Expr::Var(B), Expr::int(7));
        let number = Expr::binary(BinaryOp::Le, number, Expr::int(-5));
        for expr in [number, either(Expr::Var(B), x_below(-5))] {
            let condition = Condition::from_expr(&expr);
            for condition in
                [&condition, &condition.negate(), &Condition::from_literal(&expr, false)]
            {
                assert!(condition.holds(&[0, 0]).is_err(), "{expr:?}");
                assert!(condition.holds(&[0, 3]).is_ok(), "{expr:?}");
            }
        }
    }

    #[test]
    fn a_part_without_value_does_not_matter_where_another_decides() {
        // x ≠ 0 ∧ 6/x ≤ 2, in either order
        let nonzero = Expr::binary(BinaryOp::Ne, Expr::Var(X), Expr::int(0));
        let quotient = Expr::binary(BinaryOp::Div, Expr::int(6), Expr::Var(X));
        let small = Expr::binary(BinaryOp::Le, quotient, Expr::int(2));
        for e in [Expr::and(nonzero.clone(), small.clone()), Expr::and(small.clone(), nonzero)] {
            let condition = Condition::from_expr(&e);
            assert_eq!(condition.holds(&[0, 0]), Ok(false));
            assert_eq!(condition.holds(&[0, 2]), Ok(false));
            assert_eq!(condition.holds(&[0, 3]), Ok(true));
        }
        assert!(Condition::from_expr(&small).holds(&[0, 0]).is_err());
    }
}
