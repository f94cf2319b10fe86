//! Interval arithmetic refutes no label that the policy chooses somewhere in the box.

use policert_certify::{ChoicesInBoxes, IntervalChoices};
use policert_engine_api::Budget;
use policert_model::State;
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{Filter, PolicySemantics, Ties};
use policert_testkit::{Case, Profile, Random, case_numbers};

#[test]
fn refuted_labels_are_chosen_nowhere() {
    let (mut refuted, mut chosen) = (0, 0);
    for number in case_numbers(300) {
        let mut random = Random::new(number);
        let case = Case::numbered(Profile::Linear, number);
        let ties = *random.pick(&[Ties::First, Ties::Any, Ties::Strict]);
        let semantics =
            PolicySemantics { ties, filter: Filter::None, ..PolicySemantics::default() };
        let policy = case.policy.policy(&case.model, semantics).expect("it fits");
        for _ in 0..5 {
            let sides = part(&case.model.domains(), &mut random);
            let mut choices = IntervalChoices::new(&policy);
            let mut chooser = policy.chooser();
            for output in 0..policy.outputs().len() {
                let budget = &mut Budget::unlimited();
                let all = |_: usize| true;
                if !choices.is_refuted(output, &sides, &all, budget).expect("no limits") {
                    chosen += 1;
                    continue;
                }
                refuted += 1;
                for state in states(&sides) {
                    let mut inputs = Vec::new();
                    policy.read_inputs(&state, &mut inputs);
                    let choice = chooser.choose(&inputs, &[]);
                    assert_ne!(choice.contains(output), Some(true), "{number}: {state:?}");
                }
            }
        }
    }
    assert!(refuted > 300 && chosen > 300, "{refuted} refuted, {chosen} not");
}

/// A random box in another one.
fn part(domains: &IntBox, random: &mut Random) -> IntBox {
    let side = |side: &IntInterval| {
        let all: Vec<i64> = (side.lo..=side.hi).collect();
        let (a, b) = (*random.pick(&all), *random.pick(&all));
        IntInterval::new(a.min(b), a.max(b))
    };
    IntBox::new(domains.sides().iter().map(side).collect())
}

fn states(sides: &IntBox) -> Vec<State> {
    let mut all = vec![State::new()];
    for side in sides.sides() {
        let longer = |state: State| {
            (side.lo..=side.hi).map(move |value| [state.clone(), vec![value]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}
