//! Sparse linear equations in exact arithmetic, solved by eliminating states.
//!
//! The equations are those of a Markov chain, x = P x + b, where no state stays for ever. The
//! state whose elimination adds the fewest transitions goes first (Daws; Hahn, Hermanns, Zhang).

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

/// The equation of one unknown: x = Σ coefficient · unknown + constant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equation {
    /// By unknown; none is 0.
    pub terms: BTreeMap<u32, Rational>,
    /// The constant.
    pub constant: Rational,
}

impl Equation {
    /// Adds `factor` times an unknown.
    pub(crate) fn add(&mut self, unknown: u32, factor: &Rational) {
        let term = self.terms.entry(unknown).or_insert(Rational::ZERO);
        *term = &*term + factor;
    }

    /// Solves for the unknown `own` where it occurs on the right. `None` if it is not determined.
    fn without_self(&mut self, own: u32) -> Option<()> {
        if let Some(stay) = self.terms.remove(&own) {
            let scale = (Rational::ONE - stay).recip()?;
            for term in self.terms.values_mut() {
                *term = &*term * &scale;
            }
            self.constant = &self.constant * &scale;
        }
        Some(())
    }
}

/// Solves the equations of unknowns 0, 1, …; `None` if they do not determine them.
pub(crate) fn solve(
    mut equations: Vec<Equation>,
    budget: &mut Budget,
) -> Result<Option<Vec<Rational>>, StopReason> {
    let mut users: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); equations.len()];
    for (own, equation) in (0u32..).zip(&mut equations) {
        if equation.without_self(own).is_none() {
            return Ok(None);
        }
        for &unknown in equation.terms.keys() {
            users[unknown as usize].insert(own);
        }
    }
    let cost = |users: &[BTreeSet<u32>], equations: &[Equation], at: u32| {
        users[at as usize].len() * equations[at as usize].terms.len()
    };
    let mut queue: BTreeSet<(usize, u32)> =
        (0u32..).zip(&equations).map(|(at, _)| (cost(&users, &equations, at), at)).collect();
    let mut order = Vec::with_capacity(equations.len());
    while let Some((_, at)) = queue.pop_first() {
        budget.poll_clock()?;
        order.push(at);
        let gone = equations[at as usize].clone();
        let touched: BTreeSet<u32> =
            users[at as usize].iter().chain(gone.terms.keys()).copied().collect();
        for &other in &touched {
            queue.remove(&(cost(&users, &equations, other), other));
        }
        for &unknown in gone.terms.keys() {
            users[unknown as usize].remove(&at);
        }
        for user in std::mem::take(&mut users[at as usize]) {
            let equation = &mut equations[user as usize];
            let Some(factor) = equation.terms.remove(&at) else { continue };
            for (&unknown, term) in &gone.terms {
                equation.add(unknown, &(&factor * term));
                users[unknown as usize].insert(user);
            }
            equation.constant = &equation.constant + &(&factor * &gone.constant);
            users[user as usize].remove(&user);
            if equation.without_self(user).is_none() {
                return Ok(None);
            }
        }
        for &other in &touched {
            queue.insert((cost(&users, &equations, other), other));
        }
    }
    let mut values = vec![Rational::ZERO; equations.len()];
    for &at in order.iter().rev() {
        let equation = &equations[at as usize];
        let mut value = equation.constant.clone();
        for (&unknown, term) in &equation.terms {
            value = &value + &(term * &values[unknown as usize]);
        }
        values[at as usize] = value;
    }
    Ok(Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(a: i64, b: i64) -> Rational {
        Rational::new(a, b).expect("not 0")
    }

    #[test]
    fn a_walk_between_two_ends() {
        // From i of 1..=5 up or down with 1/2: reaches 6 before 0 with i/6.
        let half = ratio(1, 2);
        let equations = (0u32..5)
            .map(|i| {
                let mut equation = Equation::default();
                if i > 0 {
                    equation.add(i - 1, &half);
                }
                if i < 4 {
                    equation.add(i + 1, &half);
                } else {
                    equation.constant = half.clone();
                }
                equation
            })
            .collect();
        let values = solve(equations, &mut Budget::unlimited()).expect("no limit");
        let expected: Vec<_> = (1..=5).map(|i| ratio(i, 6)).collect();
        assert_eq!(values, Some(expected));
    }

    #[test]
    fn what_stays_for_ever_has_no_value() {
        let mut equation = Equation::default();
        equation.add(0, &Rational::ONE);
        assert_eq!(solve(vec![equation], &mut Budget::unlimited()), Ok(None));
    }
}
