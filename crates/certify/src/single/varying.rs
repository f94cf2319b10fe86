//! What is computed of numbers that vary together: products, quotients, squares, roots, logarithms, steps, choices.
//!
//! A library may multiply out sums: (x − m)·s is x·s − m·s, and a variance the mean of squares less the square of a
//! mean, or what updates of both give (Chan, Golub and LeVeque, 1983). So a rounding is relative to the sum of the
//! magnitudes of the terms, with n of them to 8·n + 16 roundings.

use policert_numeric::Interval;
use policert_numeric::round::{add_up, div_up, mul_up, sub_down, sub_up};
use policert_policy::activation::Staircase;

use super::terms::{Computed, FLUSHED, LIMIT, ROUNDING};

/// Bounds the error of so many roundings of a number, and what operations before it flush.
fn rounding(roundings: f64, size: f64, operands: f64) -> f64 {
    let share = roundings * ROUNDING;
    if share >= 0.5 {
        return f64::INFINITY;
    }
    let flushed = mul_up(mul_up(16.0 * (roundings + 2.0), FLUSHED), add_up(1.0, operands));
    add_up(mul_up(div_up(share, 1.0 - share), size), flushed)
}

/// The unit of a product that no way of multiplying rounds.
fn product_unit(a: &Computed, b: &Computed) -> Option<i32> {
    let unit = a.whole()?.checked_add(b.whole()?)?;
    let most = policert_numeric::power_of_two(unit.min(900).checked_add(24)?)?;
    (unit >= super::terms::LEAST_UNIT && mul_up(a.spread(), b.spread()) <= most).then_some(unit)
}

pub(super) fn product(a: &Computed, b: &Computed) -> Option<Computed> {
    let exact = a.exact * b.exact;
    if let Some(unit) = product_unit(a, b) {
        return Some(Computed::number(exact, 0.0, Some(unit)));
    }
    if mul_up(a.passed(), b.passed()) >= LIMIT {
        return None;
    }
    // a'·b' − a·b is (a' − a)·(b' − b) + (a' − a)·b + a·(b' − b).
    let (of_a, of_b) = (a.read(), b.read());
    let off = add_up(mul_up(of_a, b.exact.magnitude()), mul_up(of_b, a.exact.magnitude()));
    let off = add_up(off, mul_up(of_a, of_b));
    let size = mul_up(a.spread(), b.spread());
    let own = rounding(16.0, size, add_up(a.spread(), b.spread()));
    Some(Computed::number(exact, add_up(off, own), None))
}

pub(super) fn square(x: &Computed) -> Option<Computed> {
    let exact = x.exact.square();
    if let Some(unit) = product_unit(x, x) {
        return Some(Computed::number(exact, 0.0, Some(unit)));
    }
    let (off, size) = (x.read(), mul_up(x.spread(), x.spread()));
    if mul_up(x.passed(), x.passed()) >= LIMIT {
        return None;
    }
    let inherited = add_up(mul_up(2.0 * off, x.exact.magnitude()), mul_up(off, off));
    let own = rounding(8.0 * f64::from(x.longest()) + 16.0, size, 2.0 * x.spread());
    Some(Computed::number(exact, add_up(inherited, own), None))
}

/// The least magnitude that a number has, exactly or as it is computed.
fn least(x: &Computed) -> Option<f64> {
    let nearest = if x.exact.lo() > 0.0 { x.exact.lo() } else { -x.exact.hi() };
    let least = sub_down(nearest, x.read());
    (least > 0.0).then_some(least)
}

pub(super) fn quotient(a: &Computed, b: &Computed, keeps_zeros: bool) -> Option<Computed> {
    let is_zero = |x: &Computed| x.whole().is_some() && x.exact.magnitude() <= 0.0;
    if keeps_zeros && is_zero(a) && is_zero(b) {
        return Some(Computed::number(Interval::ZERO, 0.0, a.unit));
    }
    let least = least(b)?;
    let inverse = div_up(1.0, least);
    if mul_up(a.passed().max(1.0), inverse) >= LIMIT {
        return None;
    }
    // a'/b' − a/b is (a' − a)/b' + (a/b)·(b − b')/b'.
    let exact = a.exact.checked_div(b.exact)?;
    let off = add_up(a.read(), mul_up(div_up(a.exact.magnitude(), least), b.read()));
    let own = rounding(16.0, div_up(a.spread(), least), add_up(a.spread(), inverse));
    let flushed = mul_up(rounding(16.0, 0.0, a.spread()), inverse);
    Some(Computed::number(exact, add_up(div_up(off, least), add_up(own, flushed)), None))
}

/// The value of the root, which is exactly in `exact`.
pub(super) fn root(x: &Computed, exact: Interval) -> Option<Computed> {
    let off = x.read();
    if x.whole().is_some() {
        let nonnegative = x.exact.lo() >= 0.0;
        return nonnegative
            .then(|| Computed::number(exact, rounding(4.0, exact.magnitude(), 0.0), None));
    }
    let computed = Interval::new(sub_down(x.exact.lo(), off), add_up(x.exact.hi(), off))?;
    let image = if computed.lo() >= 0.0 { computed.sqrt()? } else { return None };
    // Of slopes above the least argument, and within the values at both ends.
    let whole = Interval::new(0.0, off)?.sqrt()?.hi();
    let slope = if image.lo() > 0.0 { div_up(off, 2.0 * image.lo()) } else { whole };
    let off = slope.min(whole);
    Some(Computed::number(exact, add_up(off, rounding(4.0, image.hi(), 0.0)), None))
}

pub(super) fn logarithm(x: &Computed, exact: Interval) -> Option<Computed> {
    let least = sub_down(x.exact.lo(), x.read());
    if least.is_nan() || least <= 0.0 {
        return None;
    }
    let off = div_up(x.read(), least);
    let own = mul_up(add_up(exact.magnitude(), off).max(1.0), 1.0 / f64::from(1 << 20));
    Some(Computed::number(exact, add_up(off, own), None))
}

/// A function that only jumps, whose value is exactly in `exact`.
pub(super) fn step(staircase: Staircase, x: &Computed, exact: Interval) -> Option<Computed> {
    if x.whole().is_some() {
        return Some(Computed::number(exact, 0.0, Some(0)));
    }
    let (lo, hi) = (sub_down(x.exact.lo(), x.read()), add_up(x.exact.hi(), x.read()));
    let at = |x: f64| crate::interval_scores::step_at(staircase, x);
    let (lo, hi) = (at(lo), at(hi));
    if lo >= hi {
        return Some(Computed::number(exact, 0.0, Some(0)));
    }
    let apart = sub_up(hi, exact.lo()).max(sub_up(exact.hi(), lo));
    let most = match staircase {
        Staircase::Sign => 2.0,
        // So many jumps are between numbers that are so far apart.
        Staircase::Floor | Staircase::Round => x.read().floor() + 1.0,
    };
    let off = apart.min(most);
    off.is_finite().then(|| Computed::number(exact, off, None))
}

pub(super) fn choice(condition: &Computed, a: &Computed, b: &Computed) -> Option<Computed> {
    if condition.whole().is_some() {
        if condition.exact.lo() >= 1.0 {
            return Some(*a);
        }
        if condition.exact.hi() <= 0.0 {
            return Some(*b);
        }
    }
    let both = a.exact.hull(b.exact);
    let mut off = a.read().max(b.read());
    if condition.whole().is_none() {
        off = add_up(off, both.width());
    }
    let unit = a.whole().zip(b.whole()).map(|(a, b)| a.min(b)).filter(|_| off <= 0.0);
    Some(Computed::number(both, off, unit))
}
