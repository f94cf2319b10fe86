//! Every way to solve an MDP against brute force over all memoryless policies.

mod brute_force;
mod generator;
mod slow_walks;

use generator::{Instance, instance};
use policert_engine_api::Budget;
use policert_mdp::{
    Direction, ExplicitMdp, Method, ProbabilityBounds, Reachability, SolveOptions, max_probability,
    qualitative, solve,
};
use policert_numeric::Rational;
use proptest::prelude::*;

fn problem(instance: &Instance, direction: Direction) -> Reachability<'_> {
    let Instance { mdp, initial, target, avoid } = instance;
    Reachability { mdp, initial, target, avoid, direction }
}

const DIRECTIONS: [Direction; 2] = [Direction::Max, Direction::Min];

fn contains(bounds: &ProbabilityBounds, value: &Rational) -> bool {
    bounds.lo <= *value && *value <= bounds.hi
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn graphs_tell_0_and_1(instance in instance()) {
        for direction in DIRECTIONS {
            let problem = problem(&instance, direction);
            let values = brute_force::values(&problem);
            let found = qualitative(&problem, &mut Budget::unlimited()).expect("no limit");
            for (state, value) in (0u32..).zip(&values) {
                prop_assert_eq!(found.zero.contains(state), value.is_zero());
                prop_assert_eq!(found.one.contains(state), *value == Rational::ONE);
            }
        }
    }

    #[test]
    fn bounds_contain_the_value_and_are_narrow(instance in instance()) {
        let precision = Rational::from_f64(1e-6).expect("finite");
        for direction in DIRECTIONS {
            let problem = problem(&instance, direction);
            let values = brute_force::values(&problem);
            for method in [Method::IntervalIteration, Method::Optimistic] {
                let options = SolveOptions { method, ..SolveOptions::default() };
                let solution = solve(&problem, &options, &mut Budget::unlimited());
                let solution = solution.expect("solvable");
                for (&state, bounds) in instance.initial.iter().zip(&solution.initial) {
                    let value = &values[state as usize];
                    prop_assert!(contains(bounds, value), "{bounds:?} {value}");
                    prop_assert!(bounds.width() <= precision);
                }
                for state in problem.mdp.state_range() {
                    prop_assert!(contains(&solution.bounds(state), &values[state as usize]));
                }
            }
        }
    }

    #[test]
    fn search_on_the_fly_agrees(instance in instance()) {
        let problem = problem(&instance, Direction::Max);
        let values = brute_force::values(&problem);
        let value = instance.initial.iter().map(|&s| values[s as usize].clone());
        let value = value.max().expect("an initial state");
        let mut implicit = ExplicitMdp::new(problem).expect("a maximum");
        let found = max_probability(&mut implicit, 1e-6, &mut Budget::unlimited());
        let found = found.expect("solvable");
        prop_assert!(contains(&found.bounds, &value), "{found:?} {value}");
        prop_assert!(found.bounds.width() <= Rational::from_f64(1e-6).expect("finite"));
    }

    #[test]
    fn schedulers_reach_the_bounds(instance in instance(), exact: bool) {
        for direction in DIRECTIONS {
            let problem = problem(&instance, direction);
            let options = SolveOptions { exact, ..SolveOptions::default() };
            let mut budget = Budget::unlimited();
            let solution = solve(&problem, &options, &mut budget).expect("solvable");
            let scheduler = solution.scheduler(&problem, &mut budget).expect("no limit");
            let scheduler = scheduler.expect("solved");
            // What does not matter may be anything: the first choice is.
            let policy: Vec<_> = problem.mdp.state_range().map(|state| {
                scheduler.choice(state).or_else(|| problem.mdp.choices_of(state).next())
            }).collect();
            let values = brute_force::chain(&problem, &policy);
            for (&state, bounds) in instance.initial.iter().zip(&solution.initial) {
                let value = &values[state as usize];
                match direction {
                    Direction::Max => prop_assert!(*value >= bounds.lo, "{value} {bounds:?}"),
                    Direction::Min => prop_assert!(*value <= bounds.hi, "{value} {bounds:?}"),
                }
            }
        }
    }

    #[test]
    fn exact_values_are_exact(instance in instance()) {
        for direction in DIRECTIONS {
            let problem = problem(&instance, direction);
            let values = brute_force::values(&problem);
            let options = SolveOptions { exact: true, ..SolveOptions::default() };
            let solution = solve(&problem, &options, &mut Budget::unlimited()).expect("solvable");
            for (&state, bounds) in instance.initial.iter().zip(&solution.initial) {
                prop_assert_eq!(&bounds.lo, &values[state as usize]);
                prop_assert_eq!(&bounds.hi, &values[state as usize]);
            }
        }
    }
}
