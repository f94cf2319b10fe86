//! The runs of cases that are not answered as expected yet.

/// A verdict must hold for every order of summation, on every machine.
const SINGLE_PRECISION: &str = "verdicts about single-precision evaluations";

/// Case, position of the command in it, what it waits for.
#[rustfmt::skip]
pub const PENDING: &[(&str, usize, &str)] = &[
    ("policy/tie-only-in-f32", 1, SINGLE_PRECISION),
    ("ppa/margin-1e-12", 3, SINGLE_PRECISION),
];
