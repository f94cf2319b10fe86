//! Counterexample analysis on random tiny models: what it calls real is no more than the greatest
//! probability that brute force finds, and what it calls spurious is refined.

use policert_engine_api::{Question, Silent};
use policert_mdp::SolveOptions;
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics};

use super::*;
use crate::cegar::start_list::StartList;
use crate::config::PpaConfig;
use crate::hand_made::{PLACE, rests_at, unsafe_from, walk};
use crate::prob::abstract_mdp::Expanding;
use crate::prob::max_prob::{MaxProbMethod, max_prob};
use crate::prob::refuse_probabilities;

/// The most states of a model that is tried.
const MOST_STATES: usize = 60;
/// The most refinements of one case.
const MOST_REFINEMENTS: usize = 40;

#[derive(Debug, Default)]
struct Tally {
    real: usize,
    path: usize,
    path_under_policy: usize,
    set: usize,
    settled: usize,
}

#[test]
fn real_counterexamples_are_real_and_spurious_ones_are_refined() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(150) {
            let _ = check(profile, number, &mut tally);
        }
    }
    let spurious = tally.path + tally.path_under_policy + tally.set;
    assert!(tally.real > 20 && spurious > 20 && tally.settled > 5, "{tally:?}");
}

/// `None` for a case that is not compared.
fn check(profile: Profile, number: u64, tally: &mut Tally) -> Option<()> {
    let mut random = Random::new(number ^ 0xcea);
    let semantics = semantics(&mut random);
    let case = Case::numbered(profile, number);
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    let mut property = case.property.clone();
    property.predicates.clear();
    let question = Question::new(&case.model, &property);
    let oracle = Oracle::new(question.clone(), Some((&case.policy, semantics)));
    let process = oracle.decision_process(MOST_STATES).ok()??;
    let values = process.greatest();
    let greatest = process.start.iter().map(|&s| values[s].clone()).max()?;
    let abstraction = Abstraction::new(&question, Some(&policy)).ok()?;
    refuse_probabilities(&abstraction).ok()?;
    let tests = PpaConfig::default();
    let mut queries = abstraction.queries(&tests).ok()?;
    let mut mdp = AbstractMdp::new(&abstraction);
    for atom in abstraction.predicates.candidates(&property.unsafe_condition) {
        let (predicate, _) = mdp.tree.predicate(&atom);
        mdp.tree.split_everywhere(predicate);
    }
    let budget = &mut Budget::unlimited();
    // Half of what is real, so that both answers occur.
    let bound = &greatest * &Rational::new(1, 2).expect("not 0");
    let place = format!("{profile:?} {number}");
    for _ in 0..MOST_REFINEMENTS {
        let mut expanding = Expanding {
            mdp: &mut mdp,
            abstraction: &abstraction,
            queries: &mut queries,
            observer: &mut Silent,
            expanded: 0,
            transitions: 0,
        };
        let options = SolveOptions::default();
        max_prob(&mut expanding, MaxProbMethod::Complete, &options, budget).ok()?;
        let adversary = Adversary::new(&mdp, &options, budget).ok()??;
        if adversary.bounds.lo <= bound {
            assert!(greatest.is_zero() || adversary.bounds.hi >= greatest, "{place}");
            tally.settled += 1;
            return Some(());
        }
        let Some(StartList::All(all)) = &mdp.start_list else { return None };
        let cell = mdp.tree.cell(mdp.node(adversary.start));
        let starts = all.iter().filter(|state| cell.contains(state)).cloned().collect();
        let limits = (CegarConfig::default(), 2000);
        let analysis = CeAna::new(&abstraction, &mdp, &adversary, limits, Some(starts), budget);
        let found = analysis.ok()?.analyse(&bound, &mut queries, budget).ok()?;
        let (kind, refined) = match found {
            Finding::Real(start, probability) => {
                let at = process.states.iter().position(|state| *state == start);
                let at = at.unwrap_or_else(|| panic!("{place}: {start:?} is a start state"));
                assert!(process.start.contains(&at), "{place}");
                assert!(bound < probability && probability <= values[at], "{place}");
                tally.real += 1;
                return Some(());
            }
            Finding::Spurious(kind, refined) => (kind, refined),
            Finding::Undecided | Finding::TooManyPaths => return None,
        };
        match kind {
            Spuriousness::Path => tally.path += 1,
            Spuriousness::PathUnderPolicy => tally.path_under_policy += 1,
            Spuriousness::Set | Spuriousness::SetUnderPolicy => tally.set += 1,
        }
        let (path, refinement) = *refined;
        let mut progress = false;
        for AtomAtStep { step, atom } in &refinement.predicates {
            let (predicate, _) = mdp.tree.predicate(atom);
            progress |= mdp.tree.split_under(path.states[*step].node, predicate);
        }
        assert!(progress, "{place}: {kind:?} is refined by {:?}", refinement.predicates);
    }
    None
}

/// Analyses the first counterexample of a walk with this fence; `rest` is where the policy rests. More
/// than one in two runs must be real.
fn first_finding(fence: i64, rest: i64, first_unsafe: i64) -> Finding {
    let model = walk(fence);
    let (policy, property) = (rests_at(rest, &model), unsafe_from(first_unsafe));
    let question = Question::new(&model, &property);
    let abstraction = Abstraction::new(&question, Some(&policy)).expect("it is supported");
    let tests = PpaConfig::default();
    let mut queries = abstraction.queries(&tests).expect("native tests");
    let mut mdp = AbstractMdp::new(&abstraction);
    let (predicate, _) = mdp.tree.predicate(&property.unsafe_condition);
    mdp.tree.split_everywhere(predicate);
    let budget = &mut Budget::unlimited();
    let mut expanding = Expanding {
        mdp: &mut mdp,
        abstraction: &abstraction,
        queries: &mut queries,
        observer: &mut Silent,
        expanded: 0,
        transitions: 0,
    };
    let options = SolveOptions::default();
    max_prob(&mut expanding, MaxProbMethod::Complete, &options, budget).expect("no limits");
    let adversary = Adversary::new(&mdp, &options, budget).expect("no limits").expect("a start");
    let start = vec![model.initial_states().1.lower_corner()];
    let limits = (CegarConfig::default(), 2000);
    let analysis = CeAna::new(&abstraction, &mdp, &adversary, limits, Some(start), budget);
    let half = Rational::new(1, 2).expect("not 0");
    let found = analysis.expect("no limits").analyse(&half, &mut queries, budget);
    found.expect("no limits")
}

#[test]
fn paths_that_the_policy_takes_are_real_from_the_start_state() {
    let Finding::Real(start, probability) = first_finding(9, 9, 1) else { panic!("it is real") };
    assert_eq!(start[PLACE.index()], 0);
    assert!(probability > Rational::new(1, 2).expect("not 0"), "{probability}");
}

#[test]
fn a_path_beyond_the_fence_is_spurious_in_the_environment() {
    let Finding::Spurious(kind, refined) = first_finding(6, 9, 8) else { panic!("no run") };
    assert_eq!((kind, refined.1.origin), (Spuriousness::Path, Origin::Target));
}
