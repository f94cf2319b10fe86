//! Ranges of expressions over boxes: every value that an expression takes at a point of the box
//! lies in the range, and the range says whether some point may have no value.

use policert_numeric::{IntBox, IntInterval, Rational};

use crate::{BinaryOp, Expr, UnaryOp};

/// A superset of the values of an expression over a box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least value possible; `None` for unbounded.
    pub lo: Option<Rational>,
    /// Greatest value possible; `None` for unbounded.
    pub hi: Option<Rational>,
    /// True if the expression may have no value at some point.
    pub partial: bool,
}

/// Says what is known about a truth value over a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// True at every point.
    True,
    /// False at every point.
    False,
    /// Undecided, or without value somewhere.
    Maybe,
}

impl Truth {
    /// The truth of the negation.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Maybe => Self::Maybe,
        }
    }

    fn range(self) -> Range {
        let (lo, hi) = match self {
            Self::True => (1, 1),
            Self::False => (0, 0),
            Self::Maybe => (0, 1),
        };
        // An undecided truth value may also be one without value.
        Range { lo: Some(lo.into()), hi: Some(hi.into()), partial: self == Self::Maybe }
    }
}

impl Range {
    const UNKNOWN: Self = Self { lo: None, hi: None, partial: true };

    fn point(value: Rational) -> Self {
        Self { lo: Some(value.clone()), hi: Some(value), partial: false }
    }

    /// The truth value that it stands for.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let zero = |r: &Option<Rational>| r.as_ref().is_some_and(|r| r.signum() == 0);
        if self.partial {
            Truth::Maybe
        } else if zero(&self.lo) && zero(&self.hi) {
            Truth::False
        } else if self.lo.as_ref().is_some_and(|r| r.signum() > 0)
            || self.hi.as_ref().is_some_and(|r| r.signum() < 0)
        {
            Truth::True
        } else {
            Truth::Maybe
        }
    }

    /// The integers in it, as an interval; ends beyond `i64` count as unbounded.
    #[must_use]
    pub fn integers(&self) -> IntInterval {
        IntInterval::new(
            self.lo
                .as_ref()
                .and_then(|r| r.ceil().to_i64())
                .unwrap_or(IntInterval::UNBOUNDED_BELOW),
            self.hi
                .as_ref()
                .and_then(|r| r.floor().to_i64())
                .unwrap_or(IntInterval::UNBOUNDED_ABOVE),
        )
    }

    fn map(&self, f: impl Fn(&Rational) -> Rational) -> Self {
        Self { lo: self.lo.as_ref().map(&f), hi: self.hi.as_ref().map(&f), partial: self.partial }
    }

    fn negated(&self) -> Self {
        let negate = |r: &Rational| &Rational::ZERO - r;
        Self {
            lo: self.hi.as_ref().map(negate),
            hi: self.lo.as_ref().map(negate),
            partial: self.partial,
        }
    }

    fn hull(self, other: &Self) -> Self {
        let both = |a: Option<Rational>, b: &Option<Rational>, low: bool| {
            a.zip(b.clone()).map(|(a, b)| if (a < b) == low { a } else { b })
        };
        Self {
            lo: both(self.lo, &other.lo, true),
            hi: both(self.hi, &other.hi, false),
            partial: self.partial || other.partial,
        }
    }
}

impl Expr {
    /// A superset of its values over `sides`.
    #[must_use]
    pub fn range(&self, sides: &IntBox) -> Range {
        match self {
            Self::Constant(c) => Range::point(c.clone()),
            Self::Var(v) if v.index() < sides.dimensions() => {
                let side = sides[v.index()];
                let bounded = |v, none| (v != none).then(|| Rational::from(v));
                Range {
                    lo: bounded(side.lo, IntInterval::UNBOUNDED_BELOW),
                    hi: bounded(side.hi, IntInterval::UNBOUNDED_ABOVE),
                    partial: false,
                }
            }
            Self::Var(_) | Self::Transient(_) => Range::UNKNOWN,
            Self::Unary(op, a) => unary(*op, &a.range(sides)),
            Self::Binary(BinaryOp::Mod, a, b) => {
                let integral = a.is_integral() && b.is_integral();
                modulus(&a.range(sides), &b.range(sides), integral)
            }
            Self::Binary(op, a, b) => binary(*op, &a.range(sides), &b.range(sides)),
            Self::Ite(c, a, b) => match c.range(sides).truth() {
                Truth::True => a.range(sides),
                Truth::False => b.range(sides),
                Truth::Maybe => {
                    let mut range = a.range(sides).hull(&b.range(sides));
                    range.partial |= !c.is_total();
                    range
                }
            },
            Self::Cell { cells, index } => cell(cells, index, sides),
        }
    }
}

fn cell(cells: &[Expr], index: &Expr, sides: &IntBox) -> Range {
    let all = IntInterval::new(0, i64::try_from(cells.len()).unwrap_or(i64::MAX) - 1);
    let at = index.range(sides);
    let wanted = at.integers();
    let inside = wanted.intersect(all);
    let mut range: Option<Range> = None;
    for i in inside.lo..=inside.hi {
        let Some(cell) = usize::try_from(i).ok().and_then(|i| cells.get(i)) else { continue };
        let value = cell.range(sides);
        range = Some(match range {
            None => value,
            Some(range) => range.hull(&value),
        });
    }
    match range {
        None => Range::UNKNOWN,
        Some(mut range) => {
            range.partial |= at.partial || !all.includes(wanted) || !index.is_integral();
            range
        }
    }
}

fn unary(op: UnaryOp, a: &Range) -> Range {
    match op {
        UnaryOp::Not => a.truth().negate().range(),
        UnaryOp::Floor => a.map(Rational::floor),
        UnaryOp::Ceil => a.map(Rational::ceil),
        UnaryOp::Truncate => a.map(Rational::trunc),
        UnaryOp::Sign => Range {
            lo: Some(a.lo.as_ref().map_or(-1, |r| i64::from(r.signum())).into()),
            hi: Some(a.hi.as_ref().map_or(1, |r| i64::from(r.signum())).into()),
            partial: a.partial,
        },
        UnaryOp::Abs => {
            if a.lo.as_ref().is_some_and(|r| r.signum() >= 0) {
                a.clone()
            } else if a.hi.as_ref().is_some_and(|r| r.signum() <= 0) {
                a.negated()
            } else {
                let hi = a.hi.clone().zip(a.lo.as_ref().map(Rational::abs));
                Range {
                    lo: Some(Rational::ZERO),
                    hi: hi.map(|(a, b)| Ord::max(a, b)),
                    partial: a.partial,
                }
            }
        }
    }
}

fn binary(op: BinaryOp, a: &Range, b: &Range) -> Range {
    let partial = a.partial || b.partial;
    let sum =
        |a: &Option<Rational>, b: &Option<Rational>| a.as_ref().zip(b.as_ref()).map(|(a, b)| a + b);
    match op {
        BinaryOp::Add => Range { lo: sum(&a.lo, &b.lo), hi: sum(&a.hi, &b.hi), partial },
        BinaryOp::Sub => binary(BinaryOp::Add, a, &b.negated()),
        BinaryOp::Mul => product(a, b, partial),
        BinaryOp::Div => match reciprocal(b) {
            Some(reciprocal) => product(a, &reciprocal, partial),
            None => Range::UNKNOWN,
        },
        BinaryOp::Mod => modulus(a, b, false),
        BinaryOp::Pow => Range::UNKNOWN,
        BinaryOp::Min | BinaryOp::Max => extremum(op == BinaryOp::Min, a, b, partial),
        BinaryOp::And => match (a.truth(), b.truth()) {
            (Truth::False, _) | (_, Truth::False) => Truth::False.range(),
            (Truth::True, Truth::True) => Truth::True.range(),
            _ => Truth::Maybe.range(),
        },
        BinaryOp::Or => match (a.truth(), b.truth()) {
            (Truth::True, _) | (_, Truth::True) => Truth::True.range(),
            (Truth::False, Truth::False) => Truth::False.range(),
            _ => Truth::Maybe.range(),
        },
        BinaryOp::Implies => binary(BinaryOp::Or, &a.truth().negate().range(), b),
        BinaryOp::Le => compare(a, b, partial, false).range(),
        BinaryOp::Lt => compare(a, b, partial, true).range(),
        BinaryOp::Eq => equal(a, b, partial).range(),
        BinaryOp::Ne => equal(a, b, partial).negate().range(),
    }
}

fn product(a: &Range, b: &Range, partial: bool) -> Range {
    let corner =
        |a: &Option<Rational>, b: &Option<Rational>| a.as_ref().zip(b.as_ref()).map(|(a, b)| a * b);
    let corners =
        [corner(&a.lo, &b.lo), corner(&a.lo, &b.hi), corner(&a.hi, &b.lo), corner(&a.hi, &b.hi)];
    let zero =
        |r: &Range| [&r.lo, &r.hi].iter().all(|e| e.as_ref().is_some_and(|e| e.signum() == 0));
    if zero(a) || zero(b) {
        return Range { partial, ..Range::point(Rational::ZERO) };
    }
    match corners.into_iter().collect::<Option<Vec<_>>>() {
        Some(corners) => {
            Range { lo: corners.iter().min().cloned(), hi: corners.iter().max().cloned(), partial }
        }
        None => Range { lo: None, hi: None, partial },
    }
}

/// The range of the mathematical modulus; of integers, it stays below the divisor by 1.
fn modulus(a: &Range, b: &Range, integral: bool) -> Range {
    if let Some(range) = modulus_between_multiples(a, b) {
        return range;
    }
    let sizes = unary(UnaryOp::Abs, b);
    let zero_possible = sizes.lo.as_ref().is_none_or(|r| r.signum() <= 0);
    let hi = sizes.hi.map(|size| if integral { &size - &Rational::ONE } else { size });
    Range {
        lo: Some(Rational::ZERO),
        hi: hi.map(|hi| Ord::max(hi, Rational::ZERO)),
        partial: a.partial || b.partial || zero_possible,
    }
}

/// The range of the modulus if the divisor is one number, and no multiple of it lies within `a` but at its lower end:
/// there the modulus only moves its argument.
fn modulus_between_multiples(a: &Range, b: &Range) -> Option<Range> {
    let (lo, hi, divisor) = (a.lo.as_ref()?, a.hi.as_ref()?, b.lo.as_ref()?);
    if b.hi.as_ref() != Some(divisor) {
        return None;
    }
    let (low, high) = (lo.modulus(divisor)?, hi.modulus(divisor)?);
    let moved = &high - &low == hi - lo;
    moved.then(|| Range { lo: Some(low), hi: Some(high), partial: a.partial || b.partial })
}

/// The range of 1/b, if 0 does not lie in b.
fn reciprocal(b: &Range) -> Option<Range> {
    let one_over = |r: &Option<Rational>| match r {
        None => Some(Rational::ZERO),
        Some(r) => Rational::ONE.checked_div(r),
    };
    let positive = b.lo.as_ref().is_some_and(|r| r.signum() > 0);
    let negative = b.hi.as_ref().is_some_and(|r| r.signum() < 0);
    if !positive && !negative {
        return None;
    }
    Some(Range { lo: Some(one_over(&b.hi)?), hi: Some(one_over(&b.lo)?), partial: b.partial })
}

fn extremum(least: bool, a: &Range, b: &Range, partial: bool) -> Range {
    // The least: unbounded below if one is, bounded above if one is.
    let all = |x: &Option<Rational>, y: &Option<Rational>| {
        x.clone().zip(y.clone()).map(|(x, y)| if (x < y) == least { x } else { y })
    };
    let any = |x: &Option<Rational>, y: &Option<Rational>| match (x, y) {
        (Some(x), Some(y)) => Some(if (x < y) == least { x.clone() } else { y.clone() }),
        (Some(x), None) | (None, Some(x)) => Some(x.clone()),
        (None, None) => None,
    };
    if least {
        Range { lo: all(&a.lo, &b.lo), hi: any(&a.hi, &b.hi), partial }
    } else {
        Range { lo: any(&a.lo, &b.lo), hi: all(&a.hi, &b.hi), partial }
    }
}

fn compare(a: &Range, b: &Range, partial: bool, strict: bool) -> Truth {
    let below = |x: &Option<Rational>, y: &Option<Rational>, strict: bool| {
        x.as_ref().zip(y.as_ref()).is_some_and(|(x, y)| if strict { x < y } else { x <= y })
    };
    if partial {
        Truth::Maybe
    } else if below(&a.hi, &b.lo, strict) {
        Truth::True
    } else if below(&b.hi, &a.lo, !strict) {
        Truth::False
    } else {
        Truth::Maybe
    }
}

fn equal(a: &Range, b: &Range, partial: bool) -> Truth {
    if partial {
        return Truth::Maybe;
    }
    let point = |r: &Range| r.lo.is_some() && r.lo == r.hi;
    if point(a) && point(b) && a.lo == b.lo {
        Truth::True
    } else if compare(a, b, false, true) == Truth::True || compare(b, a, false, true) == Truth::True
    {
        Truth::False
    } else {
        Truth::Maybe
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::{IntBox, IntInterval, Rational};

    use crate::{BinaryOp, Expr, UnaryOp, VarId};

    fn x() -> Expr {
        Expr::Var(VarId(0))
    }

    fn x_from(lo: i64, hi: i64) -> IntBox {
        IntBox::new(vec![IntInterval::new(lo, hi)])
    }

    fn cell(index: Expr) -> Expr {
        Expr::cell(vec![Expr::int(7), Expr::int(8), Expr::int(9)], index)
    }

    #[test]
    fn an_index_between_the_integers_is_no_cell() {
        // 0..2 for x in 0..4, but 1/2 for x = 1
        let half = Expr::binary(BinaryOp::Div, x(), Expr::int(2));
        assert!(cell(half.clone()).eval(&[1]).is_err());
        assert!(cell(half.clone()).range(&x_from(0, 4)).partial);
        let rounded = Expr::unary(UnaryOp::Floor, half);
        assert!(!cell(rounded).range(&x_from(0, 4)).partial);
    }

    #[test]
    fn an_index_modulo_the_number_of_cells_always_exists() {
        let wrapped = Expr::binary(BinaryOp::Mod, x(), Expr::int(3));
        let range = cell(wrapped).range(&x_from(-9, 9));
        assert!(!range.partial);
        assert_eq!((range.lo, range.hi), (Some(Rational::from(7)), Some(Rational::from(9))));
    }

    #[test]
    fn a_modulus_of_fractions_comes_close_to_the_divisor() {
        let half = Expr::binary(BinaryOp::Div, x(), Expr::int(2));
        let range = Expr::binary(BinaryOp::Mod, half, Expr::int(3)).range(&x_from(0, 9));
        assert_eq!(range.hi, Some(Rational::from(3)));
    }
    #[test]
    fn a_modulus_between_two_multiples_is_exact() {
        let wrapped = Expr::binary(BinaryOp::Mod, x(), Expr::int(3));
        let ends = |lo, hi| {
            let range = wrapped.range(&x_from(lo, hi));
            assert!(!range.partial);
            (range.lo, range.hi)
        };
        let integers = |lo: i64, hi: i64| (Some(Rational::from(lo)), Some(Rational::from(hi)));
        assert_eq!(ends(4, 4), integers(1, 1));
        assert_eq!(ends(3, 5), integers(0, 2));
        assert_eq!(ends(-2, -1), integers(1, 2));
        assert_eq!(ends(5, 6), integers(0, 2));
        let negative = Expr::binary(BinaryOp::Mod, x(), Expr::int(-3));
        let range = negative.range(&x_from(4, 5));
        assert_eq!((range.lo, range.hi), integers(1, 2));
    }
}
