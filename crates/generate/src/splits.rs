//! Sets of predicates `v ≥ c` that halve the variables' ranges again and again; costs come last.

use serde_json::Value;

use crate::instance::{Role, Variable};
use crate::jani::at_least;

/// A set of predicates.
pub(crate) struct PredicateSet {
    pub name: String,
    pub predicates: Vec<Value>,
}

/// The sets of an instance, the one for every value of all variables but costs first; then those
/// of 1, 2, … rounds of halving; then, if there are costs, all with costs.
pub(crate) fn predicate_sets(variables: &[Variable]) -> Vec<PredicateSet> {
    let of = |role| variables.iter().filter(move |variable| variable.role == role);
    let rounds = rounds(of(Role::Main));
    let mut sets = Vec::new();
    let first = |n: usize| rounds[..n].concat();
    sets.push(PredicateSet { name: "all".to_owned(), predicates: first(rounds.len()) });
    for n in 1..rounds.len() {
        sets.push(PredicateSet { name: format!("rounds_{n}"), predicates: first(n) });
    }
    let costs = self::rounds(of(Role::Cost));
    if !costs.is_empty() {
        let predicates = [first(rounds.len()), costs.concat()].concat();
        sets.push(PredicateSet { name: "all_and_costs".to_owned(), predicates });
    }
    sets
}

/// By round: the thresholds that halve what the rounds before left.
fn rounds<'a>(variables: impl Iterator<Item = &'a Variable>) -> Vec<Vec<Value>> {
    let mut parts: Vec<(&str, i64, i64)> = variables
        .map(|variable| (variable.name.as_str(), variable.lower, variable.upper))
        .collect();
    let mut rounds = Vec::new();
    loop {
        let (mut predicates, mut halves) = (Vec::new(), Vec::new());
        for &(name, lower, upper) in parts.iter().filter(|(_, lower, upper)| lower < upper) {
            let middle = lower + (upper - lower + 1) / 2;
            predicates.push(at_least(name, middle));
            halves.extend([(name, lower, middle - 1), (name, middle, upper)]);
        }
        if predicates.is_empty() {
            return rounds;
        }
        rounds.push(predicates);
        parts = halves;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_once_and_costs_last() {
        let variables = [Variable::cost("c", 2, false), Variable::new("v", -1, 4, 0)];
        let sets = predicate_sets(&variables);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["all", "rounds_1", "rounds_2", "all_and_costs"]);
        assert_eq!(sets[1].predicates, [at_least("v", 2)]);
        for c in 0..=4 {
            assert_eq!(sets[0].predicates.iter().filter(|p| **p == at_least("v", c)).count(), 1);
        }
        assert_eq!(sets[0].predicates.len(), 5);
        assert_eq!(sets[3].predicates[5..], [at_least("c", 1), at_least("c", 2)]);
    }
}
