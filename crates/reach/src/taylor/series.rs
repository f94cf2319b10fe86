//! Coefficients of Taylor's series of functions, at all points of an interval.

use policert_control_loop::ExpressionFunction;
use policert_numeric::Interval;

/// Series are computed up to this power.
pub(super) const MOST_TERMS: usize = 9;

/// f(x), f′(x), f″(x)/2!, … up to the derivative `count`, for all x of an interval; `None` where one of
/// them has no value.
pub(super) fn coefficients(
    function: ExpressionFunction,
    x: Interval,
    count: usize,
) -> Option<Vec<Interval>> {
    let one = Interval::point(1.0);
    Some(match function {
        ExpressionFunction::Sin => waves([x.sin(), x.cos(), -x.sin(), -x.cos()], count),
        ExpressionFunction::Cos => waves([x.cos(), -x.sin(), -x.cos(), x.sin()], count),
        ExpressionFunction::Tan => slopes_from_square(x.tan()?, one, count),
        ExpressionFunction::Tanh => slopes_from_square(x.tanh(), -one, count),
        ExpressionFunction::Exp => {
            let mut terms = vec![x.exp()];
            for k in 1..=count {
                terms.push(over(terms[k - 1], k));
            }
            terms
        }
        ExpressionFunction::Log => {
            let inverse = one.checked_div(x)?;
            let mut terms = vec![x.log()?];
            let mut power = inverse;
            for k in 1..=count {
                terms.push(over(power, k));
                power = -(power * inverse);
            }
            terms
        }
        ExpressionFunction::Sqrt => {
            let inverse = one.checked_div(x)?;
            let mut terms = vec![x.sqrt()?];
            for k in 1..=count {
                // (3/2 − k)/k times the one before, by x.
                let factor = over(Interval::point(1.5 - number(k)), k);
                terms.push(terms[k - 1] * inverse * factor);
            }
            terms
        }
        ExpressionFunction::Abs => return None,
    })
}

/// Derivatives that come again after four.
fn waves(derivatives: [Interval; 4], count: usize) -> Vec<Interval> {
    let mut factorial = 1.0;
    let term = |k: usize| {
        factorial *= if k > 0 { number(k) } else { 1.0 };
        // Exact: 9! has few digits.
        let inverse = Interval::point(1.0).checked_div(Interval::point(factorial));
        derivatives[k % 4] * inverse.unwrap_or(Interval::EVERYTHING)
    };
    (0..=count).map(term).collect()
}

/// The series of y with y′ = 1 + sign·y².
fn slopes_from_square(value: Interval, sign: Interval, count: usize) -> Vec<Interval> {
    let mut terms = vec![value];
    for k in 0..count {
        let mut square = Interval::ZERO;
        for i in 0..=k {
            square = square + terms[i] * terms[k - i];
        }
        if k == 0 {
            square = value.square();
        }
        let first = if k == 0 { Interval::point(1.0) } else { Interval::ZERO };
        terms.push(over(first + sign * square, k + 1));
    }
    terms
}

fn over(x: Interval, k: usize) -> Interval {
    x.checked_div(Interval::point(number(k))).unwrap_or(Interval::EVERYTHING)
}

fn number(k: usize) -> f64 {
    u32::try_from(k).map_or(f64::INFINITY, f64::from)
}
