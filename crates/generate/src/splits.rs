//! Sets of predicates `v ≥ c` that halve the variables' ranges again and again; costs come last.
//! Every set tells unsafe states from others, whatever the variables are that they differ in.

use serde_json::Value;

use crate::jani::at_least;
use crate::variable::{Role, Variable};

/// A set of predicates.
pub(crate) struct PredicateSet {
    pub name: String,
    pub predicates: Vec<Value>,
}

/// The sets of an instance, the one for every value of all variables but costs first; then those
/// of 1, 2, … rounds of halving; then, if there are costs, all with costs. What is missing of the
/// atoms of the unsafe condition stands at the end of each.
pub(crate) fn predicate_sets(
    variables: &[Variable],
    unsafe_condition: &Value,
) -> Vec<PredicateSet> {
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
    let mut atoms = Vec::new();
    add_atoms(unsafe_condition, &mut atoms);
    for set in &mut sets {
        for atom in &atoms {
            if !set.predicates.contains(atom) {
                set.predicates.push(atom.clone());
            }
        }
    }
    sets
}

/// The comparisons of a condition; those of a variable with a number as thresholds.
fn add_atoms(condition: &Value, atoms: &mut Vec<Value>) {
    let part = |key: &str| condition.get(key);
    match part("op").and_then(Value::as_str) {
        Some("∧" | "∨" | "¬") => {
            let parts = ["left", "right", "exp"].into_iter().filter_map(part);
            parts.for_each(|part| add_atoms(part, atoms));
        }
        Some(op) => {
            let variable = part("left").and_then(Value::as_str);
            let number = part("right").and_then(Value::as_i64);
            match (op, variable.zip(number)) {
                ("≥" | "<", Some((v, c))) => atoms.push(at_least(v, c)),
                ("≤" | ">", Some((v, c))) => atoms.push(at_least(v, c + 1)),
                ("=" | "≠", Some((v, c))) => {
                    atoms.extend([at_least(v, c), at_least(v, c + 1)]);
                }
                _ => atoms.push(condition.clone()),
            }
        }
        None => {}
    }
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
    use crate::jani::{all, any, at_most, compare, equal, name, not, plus};

    #[test]
    fn every_threshold_once_and_costs_last() {
        let variables = [Variable::cost("c", 2, false), Variable::new("v", -1, 4, 0)];
        let sets = predicate_sets(&variables, &at_most("v", 0));
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["all", "rounds_1", "rounds_2", "all_and_costs"]);
        assert_eq!(sets[1].predicates, [at_least("v", 2), at_least("v", 1)]);
        for c in 0..=4 {
            assert_eq!(sets[0].predicates.iter().filter(|p| **p == at_least("v", c)).count(), 1);
        }
        assert_eq!(sets[0].predicates.len(), 5);
        assert_eq!(sets[3].predicates[5..], [at_least("c", 1), at_least("c", 2)]);
    }

    #[test]
    fn unsafe_conditions_about_variables_without_thresholds_are_told() {
        let variables = [Variable::new("v", 0, 3, 0), Variable::hidden("crashed", 0, 1, 0)];
        let sum = compare(plus("v", 2), "≤", name("crashed"));
        let condition = any(vec![equal("crashed", 1), all(vec![not(sum.clone())])]);
        for set in predicate_sets(&variables, &condition) {
            for atom in [at_least("crashed", 1), sum.clone()] {
                assert!(set.predicates.contains(&atom), "{}: {atom}", set.name);
            }
        }
    }
}
