//! Values by trying every memoryless policy, each solved by Gaussian elimination.

use policert_mdp::{Direction, Reachability};
use policert_numeric::Rational;

/// The exact value of every state.
pub fn values(problem: &Reachability<'_>) -> Vec<Rational> {
    let states: Vec<u32> = problem.mdp.state_range().collect();
    let choices: Vec<Vec<u32>> =
        states.iter().map(|&state| problem.mdp.choices_of(state).collect()).collect();
    let mut picked = vec![0usize; states.len()];
    let mut best: Option<Vec<Rational>> = None;
    loop {
        let policy: Vec<Option<u32>> =
            choices.iter().zip(&picked).map(|(list, &i)| list.get(i).copied()).collect();
        let values = chain(problem, &policy);
        best = Some(match best {
            None => values,
            Some(best) => best
                .into_iter()
                .zip(values)
                .map(|(a, b)| match problem.direction {
                    Direction::Max => a.max(b),
                    Direction::Min => a.min(b),
                })
                .collect(),
        });
        let Some(next) = (0..states.len()).find(|&s| picked[s] + 1 < choices[s].len()) else {
            return best.unwrap_or_default();
        };
        picked[next] += 1;
        picked[..next].fill(0);
    }
}

/// The values of a Markov chain.
pub fn chain(problem: &Reachability<'_>, policy: &[Option<u32>]) -> Vec<Rational> {
    let n = policy.len();
    let is_open = |s: usize| {
        let state = u32::try_from(s).expect("small");
        !problem.target.contains(state) && !problem.avoid.contains(state)
    };
    let is_target = |s: usize| problem.target.contains(u32::try_from(s).expect("small"));
    let mut p = vec![vec![Rational::ZERO; n]; n];
    for s in (0..n).filter(|&s| is_open(s)) {
        for (to, probability) in policy[s].iter().flat_map(|&c| problem.mdp.outcomes(c)) {
            let entry = &mut p[s][to as usize];
            *entry = &*entry + probability;
        }
    }
    let mut reaches: Vec<bool> = (0..n).map(is_target).collect();
    for _ in 0..n {
        for s in 0..n {
            reaches[s] = reaches[s] || (0..n).any(|t| reaches[t] && !p[s][t].is_zero());
        }
    }
    // (I - P) x = b over the states that reach the target.
    let mut rows: Vec<Vec<Rational>> = Vec::new();
    for s in 0..n {
        let mut row = vec![Rational::ZERO; n + 1];
        row[s] = Rational::ONE;
        if is_target(s) {
            row[n] = Rational::ONE;
        } else if reaches[s] {
            for t in (0..n).filter(|&t| reaches[t]) {
                row[t] = &row[t] - &p[s][t];
            }
        }
        rows.push(row);
    }
    for s in 0..n {
        let pivot = (s..n).find(|&r| !rows[r][s].is_zero()).expect("regular");
        rows.swap(s, pivot);
        let scale = rows[s][s].recip().expect("not 0");
        for entry in &mut rows[s] {
            *entry = &*entry * &scale;
        }
        let scaled = rows[s].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != s) {
            let factor = row[s].clone();
            for (entry, own) in row.iter_mut().zip(&scaled) {
                *entry = &*entry - &(&factor * own);
            }
        }
    }
    rows.into_iter().map(|mut row| row.pop().expect("a constant")).collect()
}
