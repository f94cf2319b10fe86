//! All points of small boxes.

use policert_model::{Model, Variable, VariableKind};
use policert_numeric::{IntBox, IntInterval};

use crate::Random;

/// All points of a bounded box in lexicographic order.
///
/// # Panics
/// If a side is not bounded.
#[must_use]
pub fn points(sides: &IntBox) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for side in sides.sides() {
        assert!(side.is_bounded(), "a box of finitely many points");
        all = all
            .into_iter()
            .flat_map(|prefix| {
                (side.lo..=side.hi).map(move |value| {
                    let mut point = prefix.clone();
                    point.push(value);
                    point
                })
            })
            .collect();
    }
    all
}

/// All states of a model, reachable or not.
///
/// # Panics
/// If a variable is not bounded.
#[must_use]
pub fn states(model: &Model) -> Vec<Vec<i64>> {
    points(&model.domains())
}

/// An integer variable.
#[must_use]
pub fn integer(name: &str, lo: i64, hi: i64) -> Variable {
    Variable {
        name: name.to_owned(),
        kind: VariableKind::Integer,
        domain: IntInterval::new(lo, hi),
    }
}

/// A boolean variable.
#[must_use]
pub fn boolean(name: &str) -> Variable {
    Variable { name: name.to_owned(), kind: VariableKind::Boolean, domain: IntInterval::new(0, 1) }
}

/// A box inside `sides`, possibly empty now and then.
pub fn sub_box(random: &mut Random, sides: &IntBox) -> IntBox {
    let part = |side: &IntInterval| match random.below(4) {
        0 => *side,
        1 => IntInterval::point(random.between(side.lo, side.hi)),
        _ => {
            let a = random.between(side.lo, side.hi);
            IntInterval::new(a, random.between(a, side.hi))
        }
    };
    IntBox::new(sides.sides().iter().map(part).collect())
}
