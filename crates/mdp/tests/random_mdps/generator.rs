//! Random tiny MDPs: end components, loops, lost probability, dead ends.

use policert_mdp::{Mdp, MdpBuilder, StateSet};
use policert_numeric::Rational;
use proptest::prelude::*;

/// An MDP with a question.
#[derive(Clone, Debug)]
pub struct Instance {
    pub mdp: Mdp,
    pub initial: Vec<u32>,
    pub target: StateSet,
    pub avoid: StateSet,
}

/// Outcomes with weights, and how much of the weight is lost.
type Choice = (Vec<(u32, i64)>, i64);

/// Instances of up to 6 states with up to 3 choices each.
pub fn instance() -> impl Strategy<Value = Instance> {
    (2u32..7).prop_flat_map(|n| {
        let outcome = (0..n, prop_oneof![3 => 1i64..5, 1 => Just(0), 1 => Just(1000)]);
        let lost = prop_oneof![6 => Just(0i64), 1 => 1i64..4];
        let choice = (prop::collection::vec(outcome, 1..4), lost);
        let state = prop::collection::vec(choice, 0..4);
        let states = prop::collection::vec(state, n as usize);
        let some = |most: usize| prop::collection::vec(0..n, 0..=most);
        let initial = prop::collection::vec(0..n, 1..4);
        (states, initial, some(2), some(1)).prop_map(move |(states, initial, target, avoid)| {
            let count = n as usize;
            Instance {
                mdp: mdp(&states),
                initial,
                target: StateSet::of(count, target),
                avoid: StateSet::of(count, avoid),
            }
        })
    })
}

fn mdp(states: &[Vec<Choice>]) -> Mdp {
    let mut builder = MdpBuilder::new();
    for choices in states {
        for (outcomes, lost) in choices {
            let sum: i64 = outcomes.iter().map(|o| o.1).sum::<i64>() + lost;
            let entries: Vec<_> = outcomes
                .iter()
                .map(|&(to, weight)| {
                    let p = Rational::new(weight, sum.max(1)).expect("not 0");
                    (to, builder.probability(&p))
                })
                .collect();
            builder.choice(&entries).expect("small");
        }
        builder.end_state().expect("small");
    }
    builder.finish().expect("all states exist")
}
