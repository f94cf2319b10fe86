//! Ranks that show that every run reaches the goal are confirmed; of others that are confirmed, it is so.

use policert_certify::{InvariantError, check_ranks};
use policert_engine_api::{Aim, Budget, Invariant, Question, Silent, StuckRule, Verdict};
use policert_explore::reach_goal;
use policert_model::{Condition, Region};
use policert_numeric::IntBox;
use policert_policy::Policy;
use policert_testkit::{Random, case_numbers, states};

use super::{CASES, PROFILES, Runs, Setting, runs};

/// States up to which a false claim lists all of them.
const MOST_STATES: u128 = 200;

#[derive(Debug, Default)]
struct Tally {
    confirmed: usize,
    /// Ranks of more than one step.
    long: usize,
    rejected: usize,
    still_right: usize,
    false_claims: usize,
}

#[test]
fn what_is_confirmed_of_ranks_is_right() {
    let mut tally = Tally::default();
    for profile in PROFILES {
        for number in case_numbers(CASES) {
            let setting = Setting::new(profile, number);
            let question = setting.question(Aim::ReachGoal, StuckRule::Allowed);
            let question = Question { evidence: true, ..question };
            let policy = setting.policy();
            let Ok(truth) = runs(&setting.oracle(question.clone())) else { continue };
            let mut random = Random::new(number ^ 0x4a2c);
            let budget = &mut Budget::unlimited();
            let Ok(found) = reach_goal(&question, policy.as_ref(), budget, &mut Silent) else {
                continue;
            };
            let place = format!("{profile:?} {number}");
            match found.verdict {
                Verdict::Safe { .. } => {
                    let ranked = found.ranked.expect("evidence is wanted").expect("few states");
                    let ranked: Vec<(Region<Condition>, u64)> = ranked
                        .into_iter()
                        .map(|(sides, rank)| (piece(sides), rank.into()))
                        .collect();
                    look_at(&question, policy.as_ref(), &ranked, &place, &mut random, &mut tally);
                }
                Verdict::Unsafe(_) | Verdict::Unknown(_) => {
                    assert_ne!(truth, Runs::AllReachGoal, "{place}");
                    lie(&question, policy.as_ref(), &place, &mut random, &mut tally);
                }
            }
        }
    }
    assert!(tally.confirmed > 20 && tally.long > 5, "{tally:?}");
    assert!(tally.rejected > 30 && tally.still_right > 5 && tally.false_claims > 200, "{tally:?}");
}

fn piece(sides: IntBox) -> Region<Condition> {
    Region { sides, conditions: Vec::new() }
}

fn check(
    question: &Question<'_>,
    policy: Option<&Policy>,
    ranked: &[(Region<Condition>, u64)],
) -> Result<(), InvariantError> {
    let (pieces, ranks): (Vec<_>, Vec<_>) = ranked.iter().cloned().unzip();
    check_ranks(question, policy, &Invariant::new(pieces), &ranks, &mut Budget::unlimited())
}

/// Ranks that are right, and others: whatever those say, it is so that every run reaches the goal.
fn look_at(
    question: &Question<'_>,
    policy: Option<&Policy>,
    ranked: &[(Region<Condition>, u64)],
    place: &str,
    random: &mut Random,
    tally: &mut Tally,
) {
    check(question, policy, ranked).unwrap_or_else(|error| panic!("{place}: {error} {ranked:?}"));
    tally.confirmed += 1;
    let greatest = ranked.iter().map(|(_, rank)| *rank).max().unwrap_or_default();
    tally.long += usize::from(greatest > 1);
    for _ in 0..4 {
        let mut changed = ranked.to_vec();
        if changed.is_empty() {
            return;
        }
        let at = random.below(changed.len());
        match random.below(4) {
            0 => drop(changed.remove(at)),
            1 => changed[at].1 = changed[at].1.saturating_sub(1),
            2 => changed[at].1 += 1,
            _ => changed.iter_mut().for_each(|(_, rank)| *rank *= 2),
        }
        match check(question, policy, &changed) {
            Ok(()) => tally.still_right += 1,
            Err(InvariantError::Engine(error)) => panic!("{place}: {error}"),
            Err(_) => tally.rejected += 1,
        }
    }
}

/// No ranks show what is not so.
fn lie(
    question: &Question<'_>,
    policy: Option<&Policy>,
    place: &str,
    random: &mut Random,
    tally: &mut Tally,
) {
    let domains = question.model.domains();
    if domains.count().is_none_or(|count| count > MOST_STATES) {
        return;
    }
    let all = states(question.model);
    let ranks = [
        |_: usize, _: &mut Random| 7,
        |at: usize, _: &mut Random| at as u64,
        |_: usize, random: &mut Random| random.below(9) as u64,
    ];
    for rank in ranks {
        let states = all.iter().enumerate();
        let mut ranked: Vec<(Region<Condition>, u64)> =
            states.map(|(at, state)| (piece(IntBox::point(state)), rank(at, random))).collect();
        for _ in 0..2 {
            let checked = check(question, policy, &ranked);
            assert!(checked.is_err(), "{place}: a false claim is confirmed");
            tally.false_claims += 1;
            let greatest = ranked.len() as u64;
            ranked.iter_mut().for_each(|(_, rank)| *rank = greatest.saturating_sub(*rank));
        }
    }
}
