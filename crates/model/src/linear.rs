//! Linear expressions and constraints with integer coefficients over the variables.

use policert_numeric::{IBig, IntBox, IntInterval, Rational, UBig};

use crate::{BinaryOp, Condition, Expr, VarId};

/// `Σ coefficient · variable + constant`, terms sorted by variable, no zero coefficient.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LinearExpr {
    /// Coefficients by variable.
    pub terms: Vec<(VarId, i64)>,
    /// The constant.
    pub constant: i64,
}

impl LinearExpr {
    /// A constant.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        Self { terms: Vec::new(), constant: value }
    }

    /// A variable.
    #[must_use]
    pub fn var(variable: VarId) -> Self {
        Self { terms: vec![(variable, 1)], constant: 0 }
    }

    /// Reads `expr` as linear with integer coefficients, if it has that form.
    #[must_use]
    pub fn from_expr(expr: &Expr) -> Option<Self> {
        let form = RationalForm::from_expr(expr)?;
        let terms =
            form.terms.iter().map(|(v, c)| Some((*v, c.to_i64()?))).collect::<Option<_>>()?;
        Some(Self { terms, constant: form.constant.to_i64()? })
    }

    /// The value in `state`; `None` beyond `i64`, or where the state lacks a variable.
    #[must_use]
    pub fn eval(&self, state: &[i64]) -> Option<i64> {
        let mut sum = self.constant;
        for &(v, c) in &self.terms {
            sum = sum.checked_add(c.checked_mul(*state.get(v.index())?)?)?;
        }
        Some(sum)
    }

    /// Adds a multiple of a variable; `None` if a number leaves `i64`.
    pub(crate) fn add_term(&mut self, variable: VarId, coefficient: i64) -> Option<()> {
        match self.terms.binary_search_by_key(&variable, |&(v, _)| v) {
            Ok(at) => {
                let sum = self.terms[at].1.checked_add(coefficient)?;
                self.terms[at].1 = sum;
                if sum == 0 {
                    self.terms.remove(at);
                }
            }
            Err(at) if coefficient != 0 => self.terms.insert(at, (variable, coefficient)),
            Err(_) => {}
        }
        Some(())
    }

    /// Adds a multiple of another expression; `None` if a number leaves `i64`.
    pub(crate) fn add_multiple(&mut self, other: &Self, factor: i64) -> Option<()> {
        for &(variable, coefficient) in &other.terms {
            self.add_term(variable, coefficient.checked_mul(factor)?)?;
        }
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(())
    }

    /// The condition that its value is at most `upper`, in lowest terms; `None` if a number leaves
    /// `i64`.
    pub(crate) fn at_most(mut self, upper: i64) -> Option<Condition> {
        let upper = upper.checked_sub(self.constant)?;
        if self.terms.is_empty() {
            return Some(Condition::constant(0 <= upper));
        }
        let divisor = self.terms.iter().try_fold(0, |divisor, &(_, c)| gcd(divisor, c))?;
        self.terms.iter_mut().for_each(|(_, c)| *c /= divisor);
        let upper = upper.div_euclid(divisor);
        Some(Condition::Linear(LinearConstraint { terms: self.terms, upper }))
    }

    /// Least and greatest value over a box; `None` stands for unbounded, or beyond `i128`.
    #[must_use]
    pub fn range(&self, sides: &IntBox) -> (Option<i128>, Option<i128>) {
        sum_range(&self.terms, self.constant, sides)
    }

    /// The same as an expression tree.
    #[must_use]
    pub fn to_expr(&self) -> Expr {
        let mut sum: Option<Expr> = None;
        for &(v, c) in &self.terms {
            let term = match c {
                1 => Expr::Var(v),
                _ => Expr::binary(BinaryOp::Mul, Expr::int(c), Expr::Var(v)),
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => Expr::binary(BinaryOp::Add, sum, term),
            });
        }
        match sum {
            None => Expr::int(self.constant),
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => Expr::binary(BinaryOp::Add, sum, Expr::int(self.constant)),
        }
    }
}

/// Least and greatest value of `constant + Σ terms` over a box; `None` stands for unbounded, or
/// beyond `i128`.
pub(crate) fn sum_range(
    terms: &[(VarId, i64)],
    constant: i64,
    sides: &IntBox,
) -> (Option<i128>, Option<i128>) {
    let (mut lo, mut hi) = (Some(i128::from(constant)), Some(i128::from(constant)));
    for &(v, c) in terms {
        let (l, h) = term_range(c, sides[v.index()]);
        lo = lo.zip(l).and_then(|(a, b)| a.checked_add(b));
        hi = hi.zip(h).and_then(|(a, b)| a.checked_add(b));
    }
    (lo, hi)
}

/// Range of `c · x` for `x` in `side`; `None` stands for unbounded.
pub(crate) fn term_range(c: i64, side: IntInterval) -> (Option<i128>, Option<i128>) {
    let lo = (side.lo != IntInterval::UNBOUNDED_BELOW).then(|| i128::from(side.lo));
    let hi = (side.hi != IntInterval::UNBOUNDED_ABOVE).then(|| i128::from(side.hi));
    let c = i128::from(c);
    let (l, h) = (lo.map(|v| v * c), hi.map(|v| v * c));
    if c >= 0 { (l, h) } else { (h, l) }
}

/// `Σ coefficient · variable ≤ upper`, terms sorted by variable, at least one, coefficients
/// without common divisor.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LinearConstraint {
    /// Coefficients by variable.
    pub terms: Vec<(VarId, i64)>,
    /// The greatest value allowed.
    pub upper: i64,
}

impl LinearConstraint {
    /// Returns whether `state` satisfies it.
    #[must_use]
    pub fn holds(&self, state: &[i64]) -> bool {
        let mut sum = 0i128;
        for &(v, c) in &self.terms {
            match sum.checked_add(i128::from(c) * i128::from(state[v.index()])) {
                Some(larger) => sum = larger,
                None => return self.holds_beyond_i128(state),
            }
        }
        sum <= i128::from(self.upper)
    }

    #[cold]
    fn holds_beyond_i128(&self, state: &[i64]) -> bool {
        let term = |&(v, c): &(VarId, i64)| &Rational::from(c) * &Rational::from(state[v.index()]);
        self.terms.iter().map(term).sum::<Rational>() <= Rational::from(self.upper)
    }

    /// The constraint that holds exactly where this one does not (over the integers); `None`
    /// when a number leaves `i64`.
    #[must_use]
    pub fn negation(&self) -> Option<Self> {
        // ¬(Σ ≤ u)  ⇔  Σ ≥ u + 1  ⇔  −Σ ≤ −u − 1
        let terms =
            self.terms.iter().map(|&(v, c)| Some((v, c.checked_neg()?))).collect::<Option<_>>()?;
        Some(Self { terms, upper: self.upper.checked_neg()?.checked_sub(1)? })
    }

    /// The variable and its interval, if the constraint bounds a single variable.
    #[must_use]
    pub fn as_bound(&self) -> Option<(VarId, IntInterval)> {
        match self.terms[..] {
            [(v, 1)] => Some((v, IntInterval::new(IntInterval::UNBOUNDED_BELOW, self.upper))),
            [(v, -1)] => {
                Some((v, IntInterval::new(self.upper.checked_neg()?, IntInterval::UNBOUNDED_ABOVE)))
            }
            _ => None,
        }
    }
}

/// Says what a comparison with zero of a linear form becomes.
pub(crate) enum ZeroComparison {
    /// Decided, whatever the state.
    Constant(bool),
    /// One constraint.
    Constraint(LinearConstraint),
}

/// A linear form with rational coefficients, sorted by variable.
#[derive(Clone, Debug)]
pub(crate) struct RationalForm {
    terms: Vec<(VarId, Rational)>,
    constant: Rational,
}

impl RationalForm {
    pub(crate) fn from_expr(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Constant(c) => Some(Self { terms: Vec::new(), constant: c.clone() }),
            Expr::Var(v) => {
                Some(Self { terms: vec![(*v, Rational::ONE)], constant: Rational::ZERO })
            }
            Expr::Binary(BinaryOp::Add, a, b) => {
                Some(Self::from_expr(a)?.plus(&Self::from_expr(b)?, &Rational::ONE))
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                Some(Self::from_expr(a)?.plus(&Self::from_expr(b)?, &Rational::from(-1)))
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = (Self::from_expr(a)?, Self::from_expr(b)?);
                if a.terms.is_empty() {
                    Some(b.times(&a.constant))
                } else if b.terms.is_empty() {
                    Some(a.times(&b.constant))
                } else {
                    None
                }
            }
            Expr::Binary(BinaryOp::Div, a, b) => {
                let b = Self::from_expr(b)?;
                if !b.terms.is_empty() {
                    return None;
                }
                Some(Self::from_expr(a)?.times(&Rational::ONE.checked_div(&b.constant)?))
            }
            _ => None,
        }
    }

    pub(crate) fn difference(a: &Expr, b: &Expr) -> Option<Self> {
        Some(Self::from_expr(a)?.plus(&Self::from_expr(b)?, &Rational::from(-1)))
    }

    fn plus(self, other: &Self, factor: &Rational) -> Self {
        let mut terms: Vec<(VarId, Rational)> =
            Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.into_iter().peekable(), other.terms.iter().peekable());
        loop {
            let (va, vb) = (a.peek().map(|t| t.0), b.peek().map(|t| t.0));
            let term = match (va, vb) {
                (None, None) => break,
                (Some(x), Some(y)) if x == y => {
                    let (Some((v, c)), Some((_, d))) = (a.next(), b.next()) else { break };
                    (v, &c + &(d * factor))
                }
                (Some(x), y) if y.is_none_or(|y| x < y) => match a.next() {
                    Some(term) => term,
                    None => break,
                },
                _ => match b.next() {
                    Some((v, d)) => (*v, d * factor),
                    None => break,
                },
            };
            if term.1.signum() != 0 {
                terms.push(term);
            }
        }
        Self { terms, constant: &self.constant + &(&other.constant * factor) }
    }

    fn times(self, factor: &Rational) -> Self {
        if factor.signum() == 0 {
            return Self { terms: Vec::new(), constant: Rational::ZERO };
        }
        Self {
            terms: self.terms.into_iter().map(|(v, c)| (v, &c * factor)).collect(),
            constant: &self.constant * factor,
        }
    }

    pub(crate) fn negated(self) -> Self {
        self.times(&Rational::from(-1))
    }

    /// `self ≤ 0`, or `self < 0` when `strict`, over integer variables; `None` where a number
    /// leaves `i64`.
    pub(crate) fn at_most_zero(&self, strict: bool) -> Option<ZeroComparison> {
        if self.terms.is_empty() {
            let sign = self.constant.signum();
            return Some(ZeroComparison::Constant(if strict { sign < 0 } else { sign <= 0 }));
        }
        // Scale to integers: a multiple of every denominator, then divide by the common divisor.
        let mut scale = Rational::ONE;
        for (_, c) in &self.terms {
            // scale := scale · den(c · scale), so that c · scale is an integer
            let scaled = c * &scale;
            scale = &scale * &denominator(&scaled)?;
        }
        let mut divisor = 0i64;
        let mut terms = Vec::with_capacity(self.terms.len());
        for (v, c) in &self.terms {
            let c = (c * &scale).to_i64()?;
            divisor = gcd(divisor, c)?;
            terms.push((*v, c));
        }
        for (_, c) in &mut terms {
            *c /= divisor;
        }
        let bound =
            (&Rational::ZERO - &(&self.constant * &scale)).checked_div(&Rational::from(divisor))?;
        let upper =
            if strict { bound.ceil().to_i64()?.checked_sub(1)? } else { bound.floor().to_i64()? };
        Some(ZeroComparison::Constraint(LinearConstraint { terms, upper }))
    }
}

/// The denominator of `value` in lowest terms, as a rational.
fn denominator(value: &Rational) -> Option<Rational> {
    match value.to_small_parts() {
        Some((_, den)) => i64::try_from(den).ok().map(Rational::from),
        None => Rational::from_parts(IBig::from(value.to_parts().1), UBig::ONE),
    }
}

fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}

#[cfg(test)]
mod tests {
    use policert_numeric::{IntBox, IntInterval};

    use super::{LinearConstraint, LinearExpr};
    use crate::{BinaryOp, Condition, Expr, Truth, VarId};

    const X: VarId = VarId(0);
    const Y: VarId = VarId(1);

    fn times(c: i64, v: VarId) -> Expr {
        Expr::binary(BinaryOp::Mul, Expr::int(c), Expr::Var(v))
    }

    fn constraint(terms: &[(VarId, i64)], upper: i64) -> LinearConstraint {
        LinearConstraint { terms: terms.to_vec(), upper }
    }

    fn read(op: BinaryOp, a: Expr, b: Expr) -> Condition {
        Condition::from_expr(&Expr::binary(op, a, b))
    }

    #[test]
    fn constraints_are_in_lowest_terms_and_rounded_to_integers() {
        // 4x + 6y ≤ 9  ⇔  2x + 3y ≤ 4
        let sum = Expr::binary(BinaryOp::Add, times(4, X), times(6, Y));
        let expected = Condition::Linear(constraint(&[(X, 2), (Y, 3)], 4));
        assert_eq!(read(BinaryOp::Le, sum.clone(), Expr::int(9)), expected);
        // 4x + 6y < 10  ⇔  2x + 3y ≤ 4, and so for ≥ −10
        assert_eq!(read(BinaryOp::Lt, sum.clone(), Expr::int(10)), expected);
        let expected = Condition::Linear(constraint(&[(X, -2), (Y, -3)], 5));
        assert_eq!(read(BinaryOp::Le, Expr::int(-10), sum), expected);
        // x/3 < y/2  ⇔  2x − 3y ≤ −1
        let third = Expr::binary(BinaryOp::Div, Expr::Var(X), Expr::int(3));
        let half = Expr::binary(BinaryOp::Div, Expr::Var(Y), Expr::int(2));
        let expected = Condition::Linear(constraint(&[(X, 2), (Y, -3)], -1));
        assert_eq!(read(BinaryOp::Lt, third, half), expected);
        // 2x = 3 has no solution, 2x ≠ 3 every one
        let (equal, unequal) = (BinaryOp::Eq, BinaryOp::Ne);
        for x in -3..4 {
            assert_eq!(read(equal, times(2, X), Expr::int(3)).holds(&[x]), Ok(false));
            assert_eq!(read(unequal, times(2, X), Expr::int(3)).holds(&[x]), Ok(true));
        }
        // variables that cancel
        let zero = Expr::binary(BinaryOp::Sub, Expr::Var(X), Expr::Var(X));
        assert_eq!(read(BinaryOp::Le, zero, Expr::int(0)), Condition::True);
    }

    #[test]
    fn numbers_beyond_64_bits_stay_exact() {
        // i64::MAX · x + 2 ≤ y, and the complement
        let sum = Expr::binary(BinaryOp::Add, times(i64::MAX, X), Expr::int(2));
        let huge = Expr::binary(BinaryOp::Mul, sum, Expr::int(i64::MAX));
        let condition = read(BinaryOp::Le, huge, Expr::Var(Y));
        assert!(matches!(condition, Condition::General { .. }));
        for (state, truth) in [([0, 5], false), ([-1, 5], true), ([0, i64::MAX], false)] {
            assert_eq!(condition.holds(&state), Ok(truth), "{state:?}");
            assert_eq!(condition.negate().holds(&state), Ok(!truth), "{state:?}");
        }
        let least = Condition::Linear(constraint(&[(X, 1)], i64::MAX));
        assert_eq!(least.negate().holds(&[i64::MAX]), Ok(false));
    }

    #[test]
    fn sums_beyond_128_bits_do_not_wrap() {
        let terms: Vec<(VarId, i64)> = (0..4).map(|i| (VarId(i), i64::MIN)).collect();
        let c = constraint(&terms, 0);
        // four times 2^126, which would wrap to 0
        assert!(!c.holds(&[i64::MIN; 4]));
        assert!(c.holds(&[i64::MAX; 4]));
        let bounded = IntInterval::new(i64::MIN + 1, i64::MAX - 1);
        let mut sides = IntBox::new(vec![bounded; 4]);
        assert_eq!(c.truth(&sides), Truth::Maybe);
        Condition::Linear(c.clone()).tighten(&mut sides);
        assert!(sides.contains(&[1; 4]) && sides.contains(&[0; 4]));
        let linear = LinearExpr { terms, constant: 0 };
        assert_eq!(linear.range(&sides), (None, None));
        assert_eq!(linear.eval(&[3; 4]), None);
    }

    #[test]
    fn bounds_of_one_variable() {
        let all = IntInterval::ALL;
        assert_eq!(constraint(&[(X, 1)], 3).as_bound(), Some((X, IntInterval::new(all.lo, 3))));
        assert_eq!(constraint(&[(X, -1)], 3).as_bound(), Some((X, IntInterval::new(-3, all.hi))));
        assert_eq!(constraint(&[(X, -1)], i64::MIN).as_bound(), None);
        assert_eq!(constraint(&[(X, 1), (Y, 1)], 3).as_bound(), None);
    }
}
