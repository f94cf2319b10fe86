//! Algorithm 3 on random tiny models: its transitions are those that brute force finds by trying
//! every concrete state.

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::{Budget, Question};
use policert_model::OperatorKey;
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, states};

use super::abstract_mdp::AbstractMdp;
use super::distribution::{Target, Transition};
use super::expansion::MdpExpansion;
use super::refuse_probabilities;
use crate::abstraction::Abstraction;
use crate::cegar::state_tree::TreeNodeId;
use crate::config::PpaConfig;
use crate::expansion::Expansion;

/// The most states of a model that is tried.
const MOST_STATES: u128 = 500;

/// Abstract transitions: operator and targets.
type Transitions = BTreeSet<(usize, Vec<Target>)>;

#[derive(Debug, Default)]
struct Tally {
    abstract_states: usize,
    transitions: usize,
    branching: usize,
    lost: usize,
}

#[test]
fn expansion_finds_what_brute_force_finds() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(100) {
            let _ = check(profile, number, &mut tally);
        }
    }
    assert!(tally.abstract_states > 500 && tally.transitions > 500, "{tally:?}");
    assert!(tally.branching > 100 && tally.lost > 50, "{tally:?}");
}

/// `None` for a model that is not compared.
fn check(profile: Profile, number: u64, tally: &mut Tally) -> Option<()> {
    let mut random = Random::new(number ^ 0x51ab);
    let semantics = semantics(&mut random);
    let case = Case::numbered(profile, number);
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    let mut property = case.property.clone();
    let predicates = std::mem::take(&mut property.predicates);
    let question = Question::new(&case.model, &property);
    if case.model.domains().count()? > MOST_STATES {
        return None;
    }
    let all = states(&case.model);
    let abstraction = Abstraction::new(&question, Some(&policy)).ok()?;
    refuse_probabilities(&abstraction).ok()?;
    let mut mdp = AbstractMdp::new(&abstraction);
    for predicate in &predicates {
        let (predicate, _) = mdp.tree.predicate(&predicate.condition);
        mdp.tree.split_everywhere(predicate);
    }
    let oracle = Oracle::new(question.clone(), Some((&case.policy, semantics)));
    let operators: BTreeMap<&OperatorKey, usize> = abstraction
        .operators
        .all()
        .iter()
        .enumerate()
        .map(|(o, operator)| (&operator.key, o))
        .collect();
    let mut expected: BTreeMap<TreeNodeId, Transitions> = BTreeMap::new();
    for state in &all {
        let leaf = mdp.tree.leaf_of(state);
        let of_leaf = expected.entry(leaf).or_default();
        // An unsafe state is expanded too: the abstract MDP decides what is.
        let expansion = oracle.expand(state).ok()?;
        let mut by_operator: BTreeMap<usize, Vec<BTreeSet<Target>>> = BTreeMap::new();
        for transition in expansion.transitions {
            let o = operators[&transition.operator];
            let count = abstraction.operators.all()[o].destinations.len();
            let targets = by_operator.entry(o).or_insert_with(|| vec![BTreeSet::new(); count]);
            let target = Target::Node(mdp.tree.leaf_of(&transition.step.state));
            targets[transition.step.destination].insert(target);
        }
        for (o, targets) in by_operator {
            for tuple in product(&targets) {
                of_leaf.insert((o, tuple));
            }
        }
    }
    let config = PpaConfig::default();
    let mut queries = abstraction.queries(&config).expect("native tests");
    for (leaf, expected) in expected {
        let mut budget = Budget::unlimited();
        let mut expansion = MdpExpansion {
            expansion: Expansion {
                abstraction: &abstraction,
                queries: &mut queries,
                budget: &mut budget,
            },
            tree: &mut mdp.tree,
            operators: &mut mdp.operators,
            may_drop: &mut mdp.may_drop,
        };
        let found = expansion.expand(leaf, None).ok()?;
        let set: Transitions = found.iter().map(pair).collect();
        assert_eq!(set.len(), found.len(), "{profile:?} {number}: a transition twice");
        let place = format!("{profile:?} {number}, {leaf:?}");
        assert!(expected.is_subset(&set), "{place}: {expected:?}, {set:?}");
        for (o, targets) in set.difference(&expected) {
            // Brute force does not see an operator of which nothing is left. Where free choices
            // may be out of their range, or a condition may lack a truth value, an outcome that
            // is lost is possible and no more.
            let lost = targets.contains(&Target::Lost);
            let operator = &abstraction.operators.all()[*o];
            let joint = &mdp
                .operators
                .get(&abstraction, u32::try_from(*o).expect("few"))
                .expect("it was met")
                .outcomes;
            let is_loose = joint.iter().any(|outcome| outcome.invalidity.is_none());
            let all_lost = targets.iter().all(|target| *target == Target::Lost);
            assert!(lost && (is_loose || all_lost), "{place}: {o} {targets:?} {operator:?}");
        }
        tally.abstract_states += 1;
        tally.transitions += expected.len();
        tally.branching += expected.iter().filter(|(_, targets)| targets.len() > 1).count();
        tally.lost += expected.iter().filter(|(_, t)| t.contains(&Target::Lost)).count();
        // What is known of a whole holds for its parts, tested again or not.
        let mut expansion = MdpExpansion {
            expansion: Expansion {
                abstraction: &abstraction,
                queries: &mut queries,
                budget: &mut budget,
            },
            tree: &mut mdp.tree,
            operators: &mut mdp.operators,
            may_drop: &mut mdp.may_drop,
        };
        let again = expansion.expand(leaf, Some(&found)).ok()?;
        assert_eq!(again.iter().map(pair).collect::<Transitions>(), set, "{place}");
    }
    Some(())
}

fn pair(transition: &Transition) -> (usize, Vec<Target>) {
    (transition.operator as usize, transition.targets.to_vec())
}

/// One target for each outcome; one that has none is lost.
fn product(targets: &[BTreeSet<Target>]) -> Vec<Vec<Target>> {
    let mut all = vec![Vec::new()];
    for of_outcome in targets {
        let lost = BTreeSet::from([Target::Lost]);
        let of_outcome = if of_outcome.is_empty() { &lost } else { of_outcome };
        all = all
            .iter()
            .flat_map(|tuple: &Vec<Target>| {
                of_outcome.iter().map(|&target| {
                    let mut longer = tuple.clone();
                    longer.push(target);
                    longer
                })
            })
            .collect();
    }
    all
}
