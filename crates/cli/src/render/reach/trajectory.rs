//! Trajectories that show *unsafe*, step by step.

use std::io::{self, Write};
use std::ops::Range;

use policert_files::name;
use policert_verify::reach::{BoundRecord, CounterexampleRecord, PathRecord};

use crate::render::Detail;

/// Trajectories of at most this many steps are shown whole.
const WHOLE: usize = 20;
/// Of longer ones this many steps at either end.
const ENDS: usize = 8;

/// Prints the trajectories of a counterexample.
pub(super) fn counterexample(
    out: &mut dyn Write,
    found: &CounterexampleRecord,
    detail: Detail,
) -> io::Result<()> {
    for (i, path) in found.trajectories.iter().enumerate() {
        // What follows the unsafe state shows nothing.
        let last = found.step.filter(|_| i == 0).map_or(path.actions.len(), |step| step as usize);
        trajectory(out, found, path, last, detail)?;
    }
    Ok(())
}

fn trajectory(
    out: &mut dyn Write,
    found: &CounterexampleRecord,
    path: &PathRecord,
    last: usize,
    detail: Detail,
) -> io::Result<()> {
    let start = found.variables.iter().zip(&path.start);
    let start = start.map(|(variable, x)| format!("{}={x}", name(variable)));
    line(out, "start", &start.collect::<Vec<_>>().join(", "))?;
    let whole = detail == Detail::Full || last <= WHOLE;
    let steps = path.actions.iter().zip(path.states.iter().skip(1)).zip(1..=last);
    for ((action, state), step) in steps {
        if !whole && step == ENDS + 1 {
            line(out, "", &format!("… {} steps; --verbose shows them", last - 2 * ENDS))?;
        }
        if whole || step <= ENDS || step > last - ENDS {
            let action = values(&found.controls, action);
            let text = format!("{action} → {}", values(&found.variables, state));
            line(out, &format!("step {step}"), &text)?;
        }
    }
    Ok(())
}

/// Names with their values.
fn values(names: &[String], ranges: &[[BoundRecord; 2]]) -> String {
    let pairs = names.iter().zip(ranges);
    let pairs = pairs.map(|(variable, range)| format!("{}={}", name(variable), value(range)));
    pairs.collect::<Vec<_>>().join(", ")
}

/// A number that is known exactly, or about.
fn value([lo, hi]: &[BoundRecord; 2]) -> String {
    match (lo, hi) {
        (BoundRecord::Exact(lo), BoundRecord::Exact(hi)) if lo == hi => lo.clone(),
        (BoundRecord::Exact(lo), BoundRecord::Exact(hi)) => format!("[{lo}, {hi}]"),
        (BoundRecord::Double(Some(lo)), BoundRecord::Double(Some(hi))) => about(*lo, *hi),
        _ => "unbounded".to_owned(),
    }
}

/// A number between bounds, with as many digits as they share, at least six of them.
fn about(lo: f64, hi: f64) -> String {
    let middle = lo / 2.0 + hi / 2.0;
    let magnitude = lo.abs().max(hi.abs());
    if lo.to_bits() == hi.to_bits() {
        shortest(lo)
    } else if hi - lo > 1e-6 * magnitude {
        format!("[{}, {}]", shortest(lo), shortest(hi))
    } else if PLAIN.contains(&magnitude) {
        format!("≈{middle:.6}")
    } else {
        format!("≈{middle:.6e}")
    }
}

/// Magnitudes that are written without a power of ten.
const PLAIN: Range<f64> = 1e-4..1e9;

/// The fewest digits that tell a number from all others.
fn shortest(x: f64) -> String {
    if x == 0.0 || PLAIN.contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<10} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_bounds_are_short() {
        assert_eq!(about(-4e-300, 4e-300), "[-4e-300, 4e-300]");
        assert_eq!(about(0.0, 0.25), "[0, 0.25]");
        assert_eq!(about(1e-300, 1e-300), "1e-300");
        assert_eq!(about(0.5, 0.500_000_1), "≈0.500000");
    }
}
