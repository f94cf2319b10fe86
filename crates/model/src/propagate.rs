//! Reasoning about conditions over boxes: truth, and tightening by bound propagation.

use policert_numeric::{IntBox, IntInterval};

use crate::linear::{sum_range, term_range};
use crate::{Condition, Expr, LinearConstraint, Truth, UnaryOp};

/// The number of sweeps over the constraints of a conjunction: enough for a fixpoint in practice,
/// and a cap where bounds creep by one.
pub(crate) const SWEEPS: usize = 32;

/// The effect of a sweep on a box that was not empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Swept {
    Nothing,
    /// Some side is smaller.
    Smaller,
    /// No point is left.
    Empty,
}

impl Swept {
    /// The effect on a side that was `before`.
    fn of_side(before: IntInterval, after: IntInterval) -> Self {
        if after == before {
            Self::Nothing
        } else if after.is_empty() {
            Self::Empty
        } else {
            Self::Smaller
        }
    }
}

/// The part of a condition that a box leaves open.
pub(crate) enum Reduced {
    True,
    False,
    /// Too little is decided for it to be written anew.
    Little,
    To(Condition),
}

/// A disjunction is written anew where one of this many of its disjuncts holds nowhere.
const WORTHWHILE: usize = 4;

/// A bound of one variable.
#[derive(Clone, Copy)]
enum UnitBound {
    AtMost(i64),
    AtLeast(i64),
}

impl UnitBound {
    fn truth(self, side: IntInterval) -> Truth {
        // An end that stands for no bound is beyond all numbers.
        let (holds, fails) = match self {
            Self::AtMost(bound) => {
                (side.hi <= bound && side.hi != IntInterval::UNBOUNDED_ABOVE, side.lo > bound)
            }
            Self::AtLeast(bound) => {
                (side.lo >= bound && side.lo != IntInterval::UNBOUNDED_BELOW, side.hi < bound)
            }
        };
        match (holds, fails) {
            (true, _) => Truth::True,
            (false, true) => Truth::False,
            (false, false) => Truth::Maybe,
        }
    }

    /// The part of a side in which it holds.
    fn within(self, side: IntInterval) -> IntInterval {
        match self {
            Self::AtMost(bound) => IntInterval::new(side.lo, side.hi.min(bound)),
            Self::AtLeast(bound) => IntInterval::new(side.lo.max(bound), side.hi),
        }
    }
}

impl LinearConstraint {
    /// Its variable and bound, where it is x ≤ c or −x ≤ c: most constraints are.
    #[inline]
    fn unit_bound(&self) -> Option<(usize, UnitBound)> {
        match self.terms[..] {
            [(v, 1)] => Some((v.index(), UnitBound::AtMost(self.upper))),
            [(v, -1)] => Some((v.index(), UnitBound::AtLeast(self.upper.checked_neg()?))),
            _ => None,
        }
    }

    /// Returns what is known of it over `sides`.
    #[must_use]
    #[inline]
    pub fn truth(&self, sides: &IntBox) -> Truth {
        match self.unit_bound() {
            Some((d, bound)) => bound.truth(sides[d]),
            None => self.truth_of_sum(sides),
        }
    }

    fn truth_of_sum(&self, sides: &IntBox) -> Truth {
        let (lo, hi) = sum_range(&self.terms, 0, sides);
        let upper = i128::from(self.upper);
        if hi.is_some_and(|hi| hi <= upper) {
            Truth::True
        } else if lo.is_some_and(|lo| lo > upper) {
            Truth::False
        } else {
            Truth::Maybe
        }
    }

    /// Shrinks `sides` without losing a point that satisfies the constraint.
    fn sweep(&self, sides: &mut IntBox) -> Swept {
        if let Some((d, bound)) = self.unit_bound() {
            return set_side(sides, d, bound.within(sides[d]));
        }
        // For each term: c·x ≤ upper − Σ of the least values of the others.
        let mut finite = 0i128;
        let mut unbounded = 0usize;
        for &(v, c) in &self.terms {
            match term_range(c, sides[v.index()]).0 {
                Some(lo) => match finite.checked_add(lo) {
                    Some(sum) => finite = sum,
                    None => return Swept::Nothing,
                },
                None => unbounded += 1,
            }
        }
        if unbounded > 1 {
            return Swept::Nothing;
        }
        let mut swept = Swept::Nothing;
        for &(v, c) in &self.terms {
            let side = sides[v.index()];
            let others = match term_range(c, side).0 {
                Some(lo) if unbounded == 0 => finite.checked_sub(lo),
                None => Some(finite),
                Some(_) => continue,
            };
            let room = others.and_then(|others| i128::from(self.upper).checked_sub(others));
            let Some(room) = room else { continue };
            let mut new = side;
            if c > 0 {
                if let Ok(hi) = i64::try_from(room.div_euclid(i128::from(c))) {
                    new.hi = new.hi.min(hi);
                } else if room < 0 {
                    new = IntInterval::new(1, 0);
                }
            } else {
                // c < 0: x ≥ room / c, rounded up
                let Some(lo) = room.div_euclid(-i128::from(c)).checked_neg() else { continue };
                if let Ok(lo) = i64::try_from(lo) {
                    new.lo = new.lo.max(lo);
                } else if lo > 0 {
                    new = IntInterval::new(1, 0);
                }
            }
            match set_side(sides, v.index(), new) {
                Swept::Nothing => {}
                Swept::Smaller => swept = Swept::Smaller,
                Swept::Empty => return Swept::Empty,
            }
        }
        swept
    }
}

impl Condition {
    /// Returns what is known of it over `sides`: `True` and `False` mean at every point.
    #[must_use]
    pub fn truth(&self, sides: &IntBox) -> Truth {
        match self {
            Self::True => Truth::True,
            Self::False => Truth::False,
            Self::Linear(c) => c.truth(sides),
            Self::General { expr, positive } => {
                let truth = expr.range(sides).truth();
                if *positive { truth } else { truth.negate() }
            }
            Self::And(parts) => combined(parts, sides, Truth::False, Truth::True),
            Self::Or(parts) => combined(parts, sides, Truth::True, Truth::False),
        }
    }

    /// Returns whether it is known to have a truth value at every point of `sides`.
    #[must_use]
    pub fn is_total(&self, sides: &IntBox) -> bool {
        match self {
            Self::True | Self::False | Self::Linear(_) => true,
            Self::General { expr, .. } => expr.is_total() || !is_partial(expr, sides),
            Self::And(parts) | Self::Or(parts) => parts.iter().all(|part| part.is_total(sides)),
        }
    }

    /// Shrinks `sides` without losing a point that satisfies the condition: bound propagation
    /// to a fixpoint (or a cap). Returns whether anything changed; the box is empty afterwards
    /// only if no point of it satisfies the condition.
    pub fn tighten(&self, sides: &mut IntBox) -> bool {
        if sides.is_empty() {
            return false;
        }
        for sweep in 0..SWEEPS {
            match self.sweep(sides) {
                Swept::Nothing => return sweep > 0,
                Swept::Smaller => {}
                Swept::Empty => return true,
            }
        }
        true
    }

    /// The condition as it reads inside `sides`, without the parts that are decided there: the
    /// same truth value at every point of `sides`. `None` if nothing is decided.
    #[must_use]
    pub fn reduced(&self, sides: &IntBox) -> Option<Self> {
        let (parts, decides) = match self {
            Self::True | Self::False => return None,
            Self::And(parts) => (parts, Self::False),
            Self::Or(parts) => (parts, Self::True),
            _ => {
                return match self.truth(sides) {
                    Truth::True => Some(Self::True),
                    Truth::False => Some(Self::False),
                    Truth::Maybe => None,
                };
            }
        };
        // Begins with the first part that is decided: mostly there is none.
        let mut kept: Option<Vec<Self>> = None;
        for (i, part) in parts.iter().enumerate() {
            match part.reduced(sides) {
                None => kept.iter_mut().for_each(|kept| kept.push(part.clone())),
                Some(reduced) if reduced == decides => return Some(decides),
                Some(reduced) => kept.get_or_insert_with(|| parts[..i].to_vec()).push(reduced),
            }
        }
        // Parts that were different stay different, or nearly so.
        kept.map(|kept| Self::flattened(kept, matches!(self, Self::And(_)), |_| {}))
    }

    /// Returns the part of the condition that `sides` leaves open.
    pub(crate) fn reduced_in(&self, sides: &IntBox) -> Reduced {
        if let Self::Or(parts) = self {
            let mut out = 0;
            for part in parts {
                match part.truth(sides) {
                    Truth::True => return Reduced::True,
                    Truth::False => out += 1,
                    Truth::Maybe => {}
                }
            }
            if out < parts.len() && out < parts.len().div_ceil(WORTHWHILE) {
                return Reduced::Little;
            }
        }
        match self.reduced(sides) {
            None if *self == Self::False => Reduced::False,
            None => Reduced::Little,
            Some(Self::True) => Reduced::True,
            Some(Self::False) => Reduced::False,
            Some(reduced) => Reduced::To(reduced),
        }
    }

    /// Shrinks a box that is not empty, without losing a point that satisfies the condition: one
    /// step of bound propagation.
    pub(crate) fn sweep(&self, sides: &mut IntBox) -> Swept {
        match self {
            Self::True => Swept::Nothing,
            Self::False => make_empty(sides),
            Self::Linear(c) => c.sweep(sides),
            Self::General { .. } => match self.truth(sides) {
                Truth::False => make_empty(sides),
                Truth::True | Truth::Maybe => Swept::Nothing,
            },
            Self::And(parts) => {
                let mut swept = Swept::Nothing;
                for part in parts {
                    match part.sweep(sides) {
                        Swept::Nothing => {}
                        Swept::Smaller => swept = Swept::Smaller,
                        Swept::Empty => return Swept::Empty,
                    }
                }
                swept
            }
            Self::Or(parts) => match hull_on_one_side(parts, sides) {
                Some((d, hull)) => set_side(sides, d, hull),
                None => sweep_to_hull(parts, sides),
            },
        }
    }
}

/// Returns whether some operand has no value somewhere, as far as ranges tell.
fn is_partial(expr: &Expr, sides: &IntBox) -> bool {
    // A truth value that is undecided counts as partial in ranges, so look at the operands of
    // comparisons and logical operators one by one.
    match expr {
        Expr::Unary(UnaryOp::Not, a) => is_partial(a, sides),
        Expr::Binary(op, a, b) if op.is_boolean() => is_partial(a, sides) || is_partial(b, sides),
        Expr::Ite(c, a, b) => is_partial(c, sides) || is_partial(a, sides) || is_partial(b, sides),
        _ => expr.range(sides).partial,
    }
}

fn combined(parts: &[Condition], sides: &IntBox, decides: Truth, neutral: Truth) -> Truth {
    let mut truth = neutral;
    for part in parts {
        // Most parts are: this saves a call.
        let of_part = match part {
            Condition::Linear(constraint) => constraint.truth(sides),
            part => part.truth(sides),
        };
        match of_part {
            t if t == decides => return decides,
            Truth::Maybe => truth = Truth::Maybe,
            _ => {}
        }
    }
    truth
}

/// Returns, if all disjuncts bound one variable, that variable and the hull of what they leave of its
/// side.
fn hull_on_one_side(parts: &[Condition], sides: &IntBox) -> Option<(usize, IntInterval)> {
    let mut hull: Option<(usize, IntInterval)> = None;
    for part in parts {
        let Condition::Linear(constraint) = part else { return None };
        let (d, bound) = constraint.unit_bound()?;
        let left = bound.within(sides[d]);
        match &mut hull {
            None => hull = Some((d, left)),
            Some((of, hull)) if *of == d => *hull = hull.hull(left),
            Some(_) => return None,
        }
    }
    hull
}

/// Shrinks to the hull of what the disjuncts leave.
fn sweep_to_hull(parts: &[Condition], sides: &mut IntBox) -> Swept {
    let mut left = sides.clone();
    let mut hull: Option<IntBox> = None;
    for part in parts {
        match part.sweep(&mut left) {
            // Everything is left.
            Swept::Nothing => return Swept::Nothing,
            Swept::Smaller => match &mut hull {
                None => hull = Some(left.clone()),
                Some(hull) => {
                    // Neither is empty.
                    for (side, more) in hull.sides_mut().iter_mut().zip(left.sides()) {
                        *side = IntInterval::new(side.lo.min(more.lo), side.hi.max(more.hi));
                    }
                    if hull == sides {
                        return Swept::Nothing;
                    }
                }
            },
            Swept::Empty => {}
        }
        left.sides_mut().copy_from_slice(sides.sides());
    }
    match hull {
        None => make_empty(sides),
        Some(hull) => {
            *sides = hull;
            Swept::Smaller
        }
    }
}

/// Makes a side of a box that is not empty smaller.
fn set_side(sides: &mut IntBox, d: usize, side: IntInterval) -> Swept {
    Swept::of_side(std::mem::replace(&mut sides[d], side), side)
}

/// Empties a box that is not empty.
fn make_empty(sides: &mut IntBox) -> Swept {
    if sides.dimensions() == 0 {
        return Swept::Nothing;
    }
    sides[0] = IntInterval::new(1, 0);
    Swept::Empty
}
