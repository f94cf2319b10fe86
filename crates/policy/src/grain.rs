//! Grains: powers of two of which a number is a multiple.
//!
//! A sum of multiples of a grain is exact in floating point as long as it stays below as many grains as
//! the type has bits, in any order.

use policert_numeric::{dyadic_parts, power_of_two};

/// The exponent of the lowest set bit. A zero is a multiple of everything.
pub(crate) fn grain_of(value: f64) -> Option<i32> {
    let (mantissa, exponent) = dyadic_parts(value)?;
    Some(if mantissa == 0 { COARSEST_GRAIN } else { exponent })
}

/// The grain of 0: coarser than that of any other number.
const COARSEST_GRAIN: i32 = 2048;

/// The grain of which both are multiples.
pub(crate) fn finer(a: Option<i32>, b: Option<i32>) -> Option<i32> {
    Some(a?.min(b?))
}

/// The grain of a product.
pub(crate) fn product_grain(a: Option<i32>, b: Option<i32>) -> Option<i32> {
    let (a, b) = (a?, b?);
    Some(if a == COARSEST_GRAIN || b == COARSEST_GRAIN { COARSEST_GRAIN } else { a + b })
}

/// Returns whether sums of multiples of the grain, of at most this magnitude, are exact in a type with so
/// many bits, of which the smallest grain is given.
pub(crate) fn is_countable(magnitude: f64, grain: Option<i32>, bits: i32, smallest: i32) -> bool {
    let Some(grain) = grain else { return false };
    let limit = power_of_two((grain + bits).min(1000)).unwrap_or(0.0);
    grain >= smallest && magnitude <= limit
}

/// Exact comparison with 0.
pub(crate) fn is_zero(value: f64) -> bool {
    value.partial_cmp(&0.0) == Some(std::cmp::Ordering::Equal)
}
