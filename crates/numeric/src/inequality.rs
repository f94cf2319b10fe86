//! Linear inequalities over the reals with exact coefficients.

use std::collections::BTreeMap;

use crate::Rational;

/// `Σ coefficient · variable ≤ upper`, or `<` if it is strict. Variables are indices; terms are
/// sorted by them and have no coefficient 0. Without terms it says `0 ≤ upper`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinearInequality {
    /// Coefficients by variable.
    pub terms: Vec<(usize, Rational)>,
    /// The upper bound of the sum, which it may reach unless the inequality is strict.
    pub upper: Rational,
    /// True for `<`, false for `≤`.
    pub strict: bool,
}

impl LinearInequality {
    /// From terms in any order; those of the same variable are added.
    #[must_use]
    pub fn new(
        terms: impl IntoIterator<Item = (usize, Rational)>,
        upper: Rational,
        strict: bool,
    ) -> Self {
        let mut sums: BTreeMap<usize, Rational> = BTreeMap::new();
        for (variable, coefficient) in terms {
            match sums.get_mut(&variable) {
                Some(sum) => *sum = &*sum + &coefficient,
                None => _ = sums.insert(variable, coefficient),
            }
        }
        let terms = sums.into_iter().filter(|(_, sum)| !sum.is_zero()).collect();
        Self { terms, upper, strict }
    }

    /// Returns whether a point satisfies it.
    ///
    /// # Panics
    /// If the point lacks one of the variables.
    #[must_use]
    pub fn holds(&self, point: &[Rational]) -> bool {
        let sum: Rational = self.terms.iter().map(|(v, c)| c * &point[*v]).sum();
        if self.strict { sum < self.upper } else { sum <= self.upper }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(num: i64, den: i64) -> Rational {
        Rational::new(num, den).expect("a number")
    }

    #[test]
    fn terms_of_one_variable_are_added() {
        let one = ratio(1, 1);
        let terms = [(2, one.clone()), (0, ratio(1, 2)), (2, one.clone()), (0, ratio(-1, 2))];
        let inequality = LinearInequality::new(terms, one, true);
        assert_eq!(inequality.terms, [(2, ratio(2, 1))]);
        let at = |x: Rational| inequality.holds(&[ratio(9, 1), ratio(9, 1), x]);
        assert!(at(ratio(49, 100)) && !at(ratio(1, 2)));
        assert!(LinearInequality { strict: false, ..inequality.clone() }.holds(&[
            ratio(0, 1),
            ratio(0, 1),
            ratio(1, 2)
        ]));
    }
}
