//! Reasoning about conditions over boxes: truth, and tightening by bound propagation.

use policert_numeric::{IntBox, IntInterval};

use crate::linear::{sum_range, term_range};
use crate::{Condition, Expr, LinearConstraint, Truth, UnaryOp};

/// The number of sweeps over the constraints of a conjunction: enough for a fixpoint in practice,
/// and a cap where bounds creep by one.
pub(crate) const SWEEPS: usize = 32;

/// A bound of one variable.
#[derive(Clone, Copy)]
enum UnitBound {
    AtMost(i64),
    AtLeast(i64),
}

impl UnitBound {
    fn truth(self, side: IntInterval) -> Truth {
        let bounded =
            [side.lo != IntInterval::UNBOUNDED_BELOW, side.hi != IntInterval::UNBOUNDED_ABOVE];
        let (holds, fails) = match self {
            Self::AtMost(bound) => (bounded[1] && side.hi <= bound, bounded[0] && side.lo > bound),
            Self::AtLeast(bound) => (bounded[0] && side.lo >= bound, bounded[1] && side.hi < bound),
        };
        if holds {
            Truth::True
        } else if fails {
            Truth::False
        } else {
            Truth::Maybe
        }
    }

    /// Returns whether the side changed.
    fn tighten(self, side: &mut IntInterval) -> bool {
        let before = *side;
        match self {
            Self::AtMost(bound) => side.hi = side.hi.min(bound),
            Self::AtLeast(bound) => side.lo = side.lo.max(bound),
        }
        *side != before
    }
}

impl LinearConstraint {
    /// Its variable and bound, where it is x ≤ c or −x ≤ c: most constraints are.
    fn unit_bound(&self) -> Option<(usize, UnitBound)> {
        match self.terms[..] {
            [(v, 1)] => Some((v.index(), UnitBound::AtMost(self.upper))),
            [(v, -1)] => Some((v.index(), UnitBound::AtLeast(self.upper.checked_neg()?))),
            _ => None,
        }
    }

    /// Returns what is known of it over `sides`.
    #[must_use]
    pub fn truth(&self, sides: &IntBox) -> Truth {
        if let Some((d, bound)) = self.unit_bound() {
            return bound.truth(sides[d]);
        }
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

    /// Shrinks `sides` without losing a point that satisfies the constraint. Returns whether
    /// anything changed; the box may become empty.
    fn tighten(&self, sides: &mut IntBox) -> bool {
        if let Some((d, bound)) = self.unit_bound() {
            return bound.tighten(&mut sides[d]);
        }
        // For each term: c·x ≤ upper − Σ of the least values of the others.
        let mut finite = 0i128;
        let mut unbounded = 0usize;
        for &(v, c) in &self.terms {
            match term_range(c, sides[v.index()]).0 {
                Some(lo) => match finite.checked_add(lo) {
                    Some(sum) => finite = sum,
                    None => return false,
                },
                None => unbounded += 1,
            }
        }
        if unbounded > 1 {
            return false;
        }
        let mut changed = false;
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
            if new != side {
                sides[v.index()] = new;
                changed = true;
                if new.is_empty() {
                    return true;
                }
            }
        }
        changed
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
        let mut changed = false;
        for _ in 0..SWEEPS {
            if sides.is_empty() || !self.sweep(sides) {
                break;
            }
            changed = true;
        }
        changed
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
        kept.map(|kept| match self {
            Self::And(_) => Self::and(kept),
            _ => Self::or(kept),
        })
    }

    pub(crate) fn sweep(&self, sides: &mut IntBox) -> bool {
        match self {
            Self::True => false,
            Self::False => make_empty(sides),
            Self::Linear(c) => c.tighten(sides),
            Self::General { .. } => self.truth(sides) == Truth::False && make_empty(sides),
            Self::And(parts) => {
                let mut changed = false;
                for part in parts {
                    changed |= part.sweep(sides);
                    if changed && sides.is_empty() {
                        return true;
                    }
                }
                changed
            }
            Self::Or(parts) => tighten_to_hull(parts, sides),
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
        match part.truth(sides) {
            t if t == decides => return decides,
            Truth::Maybe => truth = Truth::Maybe,
            _ => {}
        }
    }
    truth
}

/// Shrinks to the hull of what the disjuncts leave.
fn tighten_to_hull(parts: &[Condition], sides: &mut IntBox) -> bool {
    let mut hull: Option<IntBox> = None;
    for part in parts {
        match part.truth(sides) {
            Truth::True => return false,
            Truth::False => continue,
            Truth::Maybe => {}
        }
        let mut copy = sides.clone();
        part.sweep(&mut copy);
        if copy.is_empty() {
            continue;
        }
        match &mut hull {
            None => hull = Some(copy),
            Some(hull) => hull.hull_with(&copy),
        }
        if hull.as_ref() == Some(sides) {
            return false;
        }
    }
    match hull {
        None => make_empty(sides),
        Some(hull) if hull != *sides => {
            *sides = hull;
            true
        }
        Some(_) => false,
    }
}

/// Empties a box that is not empty yet.
fn make_empty(sides: &mut IntBox) -> bool {
    if sides.dimensions() == 0 || sides.is_empty() {
        return false;
    }
    sides[0] = IntInterval::new(1, 0);
    true
}
