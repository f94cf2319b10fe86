//! Walks between two ends, with choices that differ slightly: iteration is slow on them, and bounds
//! are guessed and proved. Compared with exact values.

use policert_engine_api::Budget;
use policert_mdp::{Direction, Mdp, MdpBuilder, Reachability, SolveOptions, StateSet, solve};
use policert_numeric::Rational;

/// A walk over `states` states. Choice k of state s goes up with probability (50 + a)/100 and down
/// otherwise, where a is small and depends on both; some choices lose a little.
fn walk(states: u32, choices: u32, seed: u32) -> Mdp {
    let mut builder = MdpBuilder::new();
    for state in 0..states {
        for choice in 0..choices {
            let noise = (state * 7 + choice * 13 + seed * 31) % 5;
            let up = Rational::new(48 + i64::from(noise), 100).expect("not 0");
            let lost = i64::from((state + choice + seed).is_multiple_of(11));
            let down = Rational::new(52 - i64::from(noise) - lost, 100).expect("not 0");
            let up = (state.saturating_add(1).min(states - 1), builder.probability(&up));
            let down = (state.saturating_sub(1), builder.probability(&down));
            builder.choice(&[up, down]).expect("small");
        }
        builder.end_state().expect("small");
    }
    builder.finish().expect("all states exist")
}

#[test]
fn guesses_are_proved_and_right() {
    let precision = Rational::from_f64(1e-6).expect("finite");
    let (mut guessed, mut compared) = (0, 0);
    for (states, choices, seed) in
        [(20, 2, 0), (60, 1, 1), (60, 3, 2), (90, 2, 3), (120, 2, 4), (40, 3, 5), (70, 2, 6)]
    {
        let mdp = walk(states, choices, seed);
        let ends = |state: u32| StateSet::of(mdp.states(), vec![state]);
        let initial = [states / 3, states / 2, states - 2];
        for direction in [Direction::Max, Direction::Min] {
            let (target, avoid) = (ends(states - 1), ends(0));
            let (target, avoid) = (&target, &avoid);
            let problem = Reachability { mdp: &mdp, initial: &initial, target, avoid, direction };
            let bounds = solve(&problem, &SolveOptions::default(), &mut Budget::unlimited());
            let bounds = bounds.expect("solvable");
            let options = SolveOptions { exact: true, ..SolveOptions::default() };
            let exact = solve(&problem, &options, &mut Budget::unlimited()).expect("solvable");
            guessed += bounds.statistics.guessed_components;
            for (bounds, exact) in bounds.initial.iter().zip(&exact.initial) {
                assert!(bounds.lo <= exact.lo && exact.hi <= bounds.hi, "{bounds:?} {exact:?}");
                assert!(bounds.width() <= precision, "{bounds:?}");
                compared += 1;
            }
        }
    }
    assert!(guessed >= 6 && compared == 42, "{guessed} {compared}");
}
