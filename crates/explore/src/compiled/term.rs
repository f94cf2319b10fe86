//! Linear sums of variables.

use policert_model::VarId;
use policert_numeric::IntBox;

/// `coefficient · variable`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    variable: usize,
    coefficient: i64,
}

impl Term {
    /// The sum of the terms, which does not leave `i64`.
    #[inline]
    pub(crate) fn sum(terms: &[Self], point: &[i64]) -> i64 {
        terms.iter().map(|t| t.coefficient * point[t.variable]).sum()
    }
}

pub(crate) fn terms_of(terms: &[(VarId, i64)]) -> Box<[Term]> {
    terms
        .iter()
        .map(|&(variable, coefficient)| Term { variable: variable.index(), coefficient })
        .collect()
}

/// Returns whether no partial sum of the terms and the constant leaves `i64`, in whatever order.
pub(crate) fn fits_i64(terms: &[(VarId, i64)], constant: i64, domains: &IntBox) -> bool {
    let mut size = i128::from(constant).abs();
    for &(variable, coefficient) in terms {
        let side = domains[variable.index()];
        if !side.is_bounded() {
            return false;
        }
        let greatest = i128::from(side.lo).abs().max(i128::from(side.hi).abs());
        // Below 2^126, so the addition does not overflow within any number of terms that is
        // checked right after each.
        size += greatest * i128::from(coefficient).abs();
        if size > i128::from(i64::MAX) {
            return false;
        }
    }
    true
}
