//! The generated cases are hard enough: both verdicts, ties, dropped outcomes, choices that are
//! not applicable, long counterexamples, proofs by the given predicates.

use policert_engine_api::Question;
use policert_policy::{Filter, PolicySemantics, Ties};
use policert_testkit::oracle::{NoAnswer, Oracle};
use policert_testkit::{Case, LARGEST, Profile, cases, states};
use proptest::prelude::*;

const CASES: u64 = 200;

#[derive(Default, Debug)]
struct Met {
    safe: usize,
    unsafe_at_start: usize,
    unsafe_later: usize,
    /// Unsafe after at least four steps.
    deep: usize,
    no_start_state: usize,
    /// Cases in which something is dropped, the policy is stuck, or labels tie, in a reachable
    /// state.
    dropped: usize,
    stuck: usize,
    tied: usize,
    /// Safe and at least ten states reachable.
    large_and_safe: usize,
    /// Safe, not in the first state, and proved by the predicates that come with the property.
    proved_by_predicates: usize,
    /// Safe, and the predicates do not prove it.
    too_coarse: usize,
    /// Safe under the policy, unsafe without.
    safe_by_policy: usize,
    broken: usize,
    undecided: usize,
}

fn met(profile: Profile, semantics: PolicySemantics) -> Met {
    let mut met = Met::default();
    for number in 0..CASES {
        let case = Case::numbered(profile, number);
        let question = Question::new(&case.model, &case.property);
        let oracle = Oracle::new(question.clone(), Some((&case.policy, semantics)));
        let truth = oracle.reachable();
        let expansions: Vec<_> = truth
            .distances
            .keys()
            .filter(|state| oracle.is_expanded(state))
            .filter_map(|state| oracle.expand(state).ok())
            .collect();
        met.no_start_state += usize::from(truth.start_states.is_empty());
        met.dropped += usize::from(truth.dropped);
        met.stuck += usize::from(expansions.iter().any(|e| e.stuck));
        met.tied += usize::from(expansions.iter().any(|e| e.tied));
        met.broken += usize::from(truth.no_answer.values().any(|&n| n == NoAnswer::Broken));
        met.undecided += usize::from(truth.no_answer.values().any(|&n| n == NoAnswer::Undecided));
        match truth.shortest {
            Some(0) => met.unsafe_at_start += 1,
            Some(steps) => {
                met.unsafe_later += 1;
                met.deep += usize::from(steps >= 4);
            }
            None => {
                met.safe += 1;
                met.large_and_safe += usize::from(truth.distances.len() >= 10);
                let proved = oracle.abstract_graph().reachable().shortest.is_none();
                met.proved_by_predicates += usize::from(proved && truth.distances.len() > 1);
                met.too_coarse += usize::from(!proved);
                let free = Oracle::new(question, None).reachable();
                met.safe_by_policy += usize::from(free.shortest.is_some());
            }
        }
    }
    met
}

fn check(profile: Profile) {
    let plain = met(profile, PolicySemantics::default());
    let filtered = PolicySemantics { filter: Filter::Applicable, ..PolicySemantics::default() };
    let filtered = met(profile, filtered);
    let strict = met(profile, PolicySemantics { ties: Ties::Strict, ..PolicySemantics::default() });
    for met in [&plain, &filtered] {
        let often = [met.safe, met.unsafe_later];
        assert!(often.iter().all(|&n| n >= 50), "{met:?}");
        let sometimes = [
            met.dropped,
            met.large_and_safe,
            met.safe_by_policy,
            met.deep,
            met.proved_by_predicates,
            met.too_coarse,
            met.tied,
        ];
        assert!(sometimes.iter().all(|&n| n >= 10), "{met:?}");
        assert!(met.unsafe_at_start >= 5 && met.no_start_state >= 1, "{met:?}");
        assert!(met.undecided <= 3 && met.broken <= 10, "{met:?}");
    }
    assert!(plain.tied >= 30 && plain.stuck >= 50 && filtered.stuck == 0, "{plain:?}");
    assert!(strict.safe >= plain.safe, "strict ties restrict the policy");
}

#[test]
fn unary_cases() {
    check(Profile::Unary);
}

#[test]
fn linear_cases() {
    check(Profile::Linear);
}

#[test]
fn general_cases() {
    check(Profile::General);
}

#[test]
fn the_same_number_gives_the_same_case() {
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        let (a, b) = (Case::numbered(profile, 7), Case::numbered(profile, 7));
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
        assert_ne!(a.model, Case::numbered(profile, 11).model);
    }
}

#[test]
fn models_are_small_and_well_formed() {
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in 0..CASES {
            let model = Case::numbered(profile, number).model;
            assert!(states(&model).len() <= 1000);
            assert!(model.operator_count() <= 1000, "{profile:?} {number}");
            assert_eq!(model.initial_values.len(), model.variables.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn strategies_give_numbered_cases(case in cases(Profile::General)) {
        let again = Case::of_size(case.profile, case.number, case.size);
        prop_assert!((1..=LARGEST).contains(&case.size));
        prop_assert_eq!(again.model, case.model);
        prop_assert_eq!(again.property, case.property);
    }
}
