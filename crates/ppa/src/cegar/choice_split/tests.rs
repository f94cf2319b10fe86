//! Cuts on the policy's choice, against brute force: the box that they leave around the
//! concretisation has no state in which the policy chooses the label.

use policert_engine_api::Question;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, states};

use super::*;
use crate::config::PpaConfig;
use crate::hand_made::{GO, PLACE, goes_below, unsafe_from, walk};

/// The most states of a model that is tried.
const MOST_STATES: u128 = 500;

#[derive(Debug, Default)]
struct Tally {
    cuts: usize,
    none: usize,
    several: usize,
}

#[test]
fn cuts_leave_no_state_in_which_the_policy_chooses_the_label() {
    let mut tally = Tally::default();
    for number in case_numbers(400) {
        let _ = check(number, &mut tally);
    }
    assert!(tally.cuts > 60 && tally.none > 60 && tally.several > 4, "{tally:?}");
}

/// `None` for a case that is not compared.
fn check(number: u64, tally: &mut Tally) -> Option<()> {
    let mut random = Random::new(number ^ 0xc075);
    let semantics = semantics(&mut random);
    let config = SplitConfig {
        variable: *random.pick(&[
            SplitVariable::First,
            SplitVariable::Distance,
            SplitVariable::Influence,
        ]),
        point: *random.pick(&[
            SplitPoint::Middle,
            SplitPoint::Concretisation,
            SplitPoint::Witness,
            SplitPoint::Choice,
        ]),
        until: *random.pick(&[SplitUntil::Witness, SplitUntil::Refuted]),
    };
    let case = Case::numbered(Profile::Linear, number);
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    let question = Question::new(&case.model, &case.property);
    let abstraction = Abstraction::new(&question, Some(&policy)).ok()?;
    let domains = case.model.domains();
    if domains.count()? > MOST_STATES {
        return None;
    }
    let mut choice = PolicyChoice::new(&policy);
    let choice_variables = choice.variables(&abstraction);
    let all = states(&case.model);
    let concretisation = random.pick(&all).clone();
    let output = random.below(policy.outputs().len());
    // States in which the choice is undecided count on neither side.
    let mut chosen = Vec::new();
    for state in &all {
        if choice.chooses(&abstraction, state, output).ok()?? {
            chosen.push(state);
        }
    }
    if chosen.contains(&&concretisation) {
        return None;
    }
    let tests = PpaConfig::default();
    let mut queries = abstraction.queries(&tests).ok()?;
    let region = Region::new(domains, []);
    queries.enter(&region);
    let entailed: Vec<bool> = concretisation.iter().map(|_| random.percent(30)).collect();
    let mut split = ChoiceSplit {
        abstraction: &abstraction,
        config,
        policy: &mut choice,
        choice_variables: &choice_variables,
        entailed: &entailed,
        queries: &mut queries,
        budget: &mut Budget::unlimited(),
    };
    let place = format!("{number}: {config:?}");
    let cuts = split.cuts(&region, &concretisation, output).expect("no limits");
    let boxed = |without: Option<usize>| {
        let mut sides = region.sides.clone();
        let kept = cuts.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        kept.for_each(|(_, cut)| cut.apply(&mut sides));
        sides
    };
    assert_eq!(cuts.is_empty(), chosen.is_empty(), "{place}");
    assert!(boxed(None).contains(&concretisation), "{place}: the concretisation is kept");
    for cut in &cuts {
        let is_below = cut.predicate().holds(&concretisation) == Ok(true);
        assert_eq!(is_below, cut.below, "{place}: the side of the concretisation");
        assert_eq!(cut.entailed, entailed[cut.variable], "{place}");
        let lost = chosen.iter().any(|s| (cut.predicate().holds(s) == Ok(true)) != cut.below);
        assert!(lost, "{place}: a cut that tells nothing apart");
    }
    let left = |sides: &IntBox| chosen.iter().any(|state| sides.contains(state));
    match config.until {
        SplitUntil::Witness => assert!(cuts.len() <= 1, "{place}"),
        SplitUntil::Refuted => {
            assert!(!left(&boxed(None)), "{place}: a state is left");
            let needless = (0..cuts.len()).filter(|&i| !left(&boxed(Some(i)))).count();
            assert!(needless == 0 || cuts.len() == 1, "{place}: {needless} of {cuts:?}");
            tally.several += usize::from(cuts.len() > 1);
        }
    }
    tally.cuts += cuts.len();
    tally.none += usize::from(cuts.is_empty());
    Some(())
}

/// Cuts between place 7 and the places from `first` on where a policy goes that rests at place 5.
fn cuts_of_walk(first: i64) -> Vec<Cut> {
    let model = walk(9);
    let (policy, property) = (goes_below(5, &model), unsafe_from(8));
    let question = Question::new(&model, &property);
    let abstraction = Abstraction::new(&question, Some(&policy)).expect("it is supported");
    let tests = PpaConfig::default();
    let mut queries = abstraction.queries(&tests).expect("native tests");
    let mut sides = model.domains();
    sides[PLACE.index()].lo = first;
    let mut concretisation = sides.lower_corner();
    concretisation[PLACE.index()] = 7;
    let region = Region::new(sides, []);
    queries.enter(&region);
    let mut split = ChoiceSplit {
        abstraction: &abstraction,
        config: SplitConfig {
            variable: SplitVariable::First,
            point: SplitPoint::Choice,
            until: SplitUntil::Refuted,
        },
        policy: &mut PolicyChoice::new(&policy),
        choice_variables: &[PLACE.index()],
        entailed: &vec![false; concretisation.len()],
        queries: &mut queries,
        budget: &mut Budget::unlimited(),
    };
    split.cuts(&region, &concretisation, GO).expect("no limits")
}

#[test]
fn the_cut_is_where_the_choice_changes() {
    let cut = Cut { variable: PLACE.index(), at: 4, below: false, entailed: false };
    assert_eq!(cuts_of_walk(0), [cut]);
}

#[test]
fn nothing_is_cut_where_the_label_is_chosen_nowhere() {
    assert_eq!(cuts_of_walk(5), []);
}
