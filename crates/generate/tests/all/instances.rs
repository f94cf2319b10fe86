//! Generated instances load without diagnostics, and have the start states that they say.

use std::ops::ControlFlow;
use std::path::Path;

use policert_generate::{
    Beluga, Blocksworld, DecimalProbability, DomainInstance, Failing, NPuzzle, PolicyShape,
    Racetrack, RandomModel, Track, Transport, WallCheck,
};
use policert_jani::property::Property;
use policert_jani::{LoadOptions, load_model};
use policert_model::{Condition, SafetyProperty, Start, Truth, Visit, for_each_solution};
use policert_numeric::IntBox;

fn write(instance: &DomainInstance, folder: &Path) {
    for file in instance.files(&PolicyShape::default()) {
        let path = folder.join(&file.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, file.text).expect("a file");
    }
}

/// Number of start states, the property read back; nothing may be wrong with any property.
fn start_states(instance: &DomainInstance) -> u128 {
    let folder = tempfile::tempdir().expect("a folder");
    write(instance, folder.path());
    let loaded = load_model(&folder.path().join(instance.model_path()), &LoadOptions::default());
    assert!(loaded.diagnostics().is_empty(), "{:?}", loaded.diagnostics());
    let model = loaded.model().expect("a model");
    assert_eq!(model.operator_count(), instance.sizes().operators as u128);
    let file = folder.path().join(instance.property_path());
    let read = loaded.property_of_file(&file, 0);
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let Some(Property::Safety(property)) = read.property else { panic!("no safety property") };
    assert!(!property.predicates.is_empty() && property.goal.is_some());
    match property.start.expect("start states") {
        Start::States(states) => states.len() as u128,
        Start::Condition(condition) => {
            let mut count = 0;
            let flow = for_each_solution(&condition, &model.domains(), true, &mut |visit| {
                count += u128::from(matches!(visit, Visit::Solution(_)));
                ControlFlow::<()>::Continue(())
            });
            assert!(flow.is_ok());
            count
        }
    }
}

/// The atoms of a condition.
fn atoms<'c>(condition: &'c Condition, found: &mut Vec<&'c Condition>) {
    match condition {
        Condition::True | Condition::False => {}
        Condition::Linear(_) | Condition::General { .. } => found.push(condition),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| atoms(part, found));
        }
    }
}

/// Returns whether the predicates of a property tell its unsafe states from the others.
fn tells_unsafe_states(property: &SafetyProperty, domains: &IntBox) -> bool {
    let mut found = Vec::new();
    atoms(&property.unsafe_condition, &mut found);
    assert!(!found.is_empty());
    let known = |atom: &Condition| {
        let of = |predicate: &Condition| *predicate == *atom || predicate.negate() == *atom;
        atom.truth(domains) != Truth::Maybe || property.predicates.iter().any(|p| of(&p.condition))
    };
    found.into_iter().all(known)
}

#[test]
fn the_atoms_of_the_unsafe_condition_are_among_the_predicates() {
    for instance in instances() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&instance, folder.path());
        let path = folder.path().join(instance.model_path());
        let loaded = load_model(&path, &LoadOptions::default());
        let domains = loaded.model().expect("a model").domains();
        let mut sets = 0;
        loop {
            let file = folder.path().join(instance.property_path());
            let Some(Property::Safety(property)) = loaded.property_of_file(&file, sets).property
            else {
                break;
            };
            assert!(tells_unsafe_states(&property, &domains), "{}: {sets}", instance.name);
            sets += 1;
        }
        assert!(sets > 0, "{}", instance.name);
    }
}

fn probability(text: &str) -> DecimalProbability {
    DecimalProbability::read("p", text).expect("a probability")
}

fn instances() -> Vec<DomainInstance> {
    let never = || Failing::Probability(probability("0"));
    let small = || Track::built_in("barto-small").expect("built in");
    let half = || Failing::Probability(probability("0.5"));
    [
        Beluga::new(2, 3).instance(),
        Beluga { lines: 1, ..Beluga::new(3, 2) }.instance(),
        Beluga::new(4, 2).instance(),
        Blocksworld::new(2).instance(),
        Blocksworld::new(4).instance(),
        Blocksworld { failing: never(), ..Blocksworld::new(5) }.instance(),
        Blocksworld { cost_aware: true, failing: half(), ..Blocksworld::new(6) }.instance(),
        Blocksworld { table_limit: Some(2), ..Blocksworld::new(4) }.instance(),
        NPuzzle::new(2, 2).instance(),
        NPuzzle { failing: half(), cost_aware: true, ..NPuzzle::new(2, 3) }.instance(),
        NPuzzle { unsafe_pairs: vec![(3, 7)], ..NPuzzle::new(3, 3) }.instance(),
        Racetrack::new(small()).instance(),
        Racetrack { random_starts: 99, noise: Some(probability("0.1")), ..Racetrack::new(small()) }
            .instance(),
        Racetrack {
            wall_check: WallCheck::Path,
            max_velocity: 4,
            random_starts: 9,
            ..Racetrack::new(small())
        }
        .instance(),
        RandomModel::default().instance(),
        RandomModel { variables: 5, probabilistic: false, seed: 2, ..RandomModel::default() }
            .instance(),
        Transport { random_starts: 20, ..Transport::new(4, 3) }.instance(),
        Transport { random_starts: 7, velocity: true, ..Transport::new(10, 15) }.instance(),
        Transport {
            velocity: true,
            ice: Some(probability("0.1")),
            dropping: Some(probability("0.1")),
            ..Transport::new(5, 2)
        }
        .instance(),
        Transport::new(4, 3).instance(),
        Transport { velocity: true, ..Transport::new(5, 2) }.instance(),
        Transport { velocity: true, ice: Some(probability("0.1")), ..Transport::new(3, 2) }
            .instance(),
    ]
    .into_iter()
    .collect::<Result<_, _>>()
    .expect("in range")
}

#[test]
fn instances_load_and_have_their_start_states() {
    for instance in instances() {
        let said = instance.sizes().start_states;
        assert_eq!(Some(start_states(&instance)), said, "{}", instance.name);
    }
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let shape = PolicyShape { hidden: vec![32], filter: true };
    let texts = |instances: Vec<DomainInstance>| -> Vec<_> {
        instances.iter().flat_map(|instance| instance.files(&shape)).collect()
    };
    assert_eq!(texts(instances()), texts(instances()));
}
