//! Numbers of states and successors that are known from other tools.

use std::path::Path;

use policert_jani::{
    Loaded, PropertyKey, Selector,
    property::{PathSet, Property},
};
use policert_model::{Condition, DomainRule, Model, ModelSemantics, Start, State};

use super::{
    exploration::{Outcome, explore, initial_states, operators, solutions},
    inputs::load_with,
};
use policert_testkit::shared_folder;

fn load(shared: &Path, file: &str, constants: &[(&str, &str)]) -> Loaded {
    let loaded = load_with(&shared.join("benchmarks").join(file), constants);
    let errors: Vec<_> = loaded.diagnostics().iter().map(ToString::to_string).collect();
    assert!(loaded.model().is_some(), "{file}: {errors:?}");
    loaded
}

/// The initial state with some variables changed.
fn initial_with(model: &Model, changes: &[(&str, i64)]) -> State {
    let mut states = initial_states(model);
    assert_eq!(states.len(), 1);
    let mut state = states.swap_remove(0);
    for (name, value) in changes {
        let variable = model.variable_by_name(name).expect("a variable");
        state[variable.index()] = *value;
    }
    state
}

#[test]
fn enabled_operators_and_successors_of_the_toy_network() {
    let Some(shared) = shared_folder("") else { return };
    let loaded = load(&shared, "unit/plaja/for_succ_gen.jani", &[]);
    let model = loaded.model().expect("model");
    let operators = operators(model);
    let semantics = ModelSemantics { model, rule: DomainRule::Drop };
    for (changes, enabled, successors) in [
        (&[][..], 5, 11),
        (&[("x", 1), ("y", 1)], 7, 19),
        // The second automaton has moved, as the edge does that writes A[1].
        (&[("y", -2), ("A[1]", 1), ("A2#1", 1)], 2, 2),
        (&[("A4_enabled", 1)], 1, 1),
    ] {
        let state = initial_with(model, changes);
        let on: Vec<_> = operators
            .iter()
            .filter(|o| semantics.is_enabled(o, &state).expect("guards have values"))
            .collect();
        assert_eq!(on.len(), enabled, "{changes:?}");
        let count: usize = on
            .iter()
            .map(|o| semantics.successors(o, &state).expect("successors").list.len())
            .sum();
        assert_eq!(count, successors, "{changes:?}");
    }
}

/// The start states of a property, the model's own among them.
fn start_states(loaded: &Loaded, selector: &Selector) -> Vec<State> {
    let model = loaded.model().expect("model");
    let found = loaded.property(selector);
    let Some(Property::Safety(property)) = found.property else { panic!("{found:?}") };
    let mut states = match property.start.expect("a start") {
        Start::States(states) => states,
        Start::Condition(condition) => solutions(&condition, &model.domains()),
    };
    states.extend(initial_states(model));
    states.sort_unstable();
    states.dedup();
    states
}

#[test]
fn numbers_of_start_states() {
    let Some(shared) = shared_folder("") else { return };
    let safety = "blocksworld/icaps22/additional_properties/safety_verification/cost05";
    let bw6 = "blocksworld_6_5/compact_starts_cost_predicates_afterwards/\
               learned_cost05_non_terminal/\
               pa_compact_starts_cost_predicates_afterwards_blocksworld_6_5_32_32.jani";
    let bw8 = "blocksworld_8_7/compact_starts_cost_predicates_afterwards/learned_no_cost/\
               pa_compact_starts_cost_predicates_afterwards_blocksworld_8_7_16_16.jani";
    let legacy = "blocksworld/icaps24/blocksworld/cost_terminal/models/legacy_enc";
    let bound = [("failing_probability", "0.5"), ("item_cost_bound", "50")];
    let line = "transport/one_way_line_15_10/det";
    for (model, property, constants, count) in [
        (
            "blocksworld/icaps22/models/cost05/blocksworld_6_5.jani",
            format!("{safety}/{bw6}:0"),
            &[][..],
            202,
        ),
        (
            "blocksworld/icaps22/models/cost05/blocksworld_6_5.jani",
            format!("{safety}/{bw6}:1"),
            &[],
            202,
        ),
        (
            "blocksworld/icaps22/models/cost05/blocksworld_8_7.jani",
            format!("{safety}/{bw8}:0"),
            &[],
            4139,
        ),
        (&format!("{legacy}/blocksworld_4_3.jani"), "1".to_owned(), &bound, 14),
        (&format!("{legacy}/blocksworld_8_7.jani"), "0".to_owned(), &bound, 4139),
        (
            "beluga/beluga_4_2.jani",
            "beluga/pa_beluga_4_2_random_starts_1000.jani".to_owned(),
            &[],
            24,
        ),
        (
            &format!("{line}/one_way_line_15_10.jani"),
            format!("{line}/pa_one_way_line_15_10_random_starts_1000.jani"),
            &[],
            1000,
        ),
        (
            "npuzzle/compact_starts_non_terminal/models/offset_enc/npuzzle_3_3.jani",
            "npuzzle/additional_properties/safety_verification/preds_lab_id_1.jani".to_owned(),
            &[("item_cost_bound", "8")],
            4900,
        ),
    ] {
        let loaded = load(&shared, model, constants);
        let selector = match loaded.selector(&property) {
            Selector::File(file, key) => Selector::File(shared.join("benchmarks").join(file), key),
            own => own,
        };
        // Numbers of states that are named need not have the model's own among them.
        let states = start_states(&loaded, &selector).len();
        assert!(states == count || states == count + 1 && count <= 1000, "{property}: {states}");
    }
}

/// Numbers of reachable states that other explorers found.
#[test]
fn numbers_of_reachable_states() {
    let Some(shared) = shared_folder("") else { return };
    let mut wrong = Vec::new();
    let (other, planning) = ("qcomp_mdp/other", "qcomp_mdp/planning");
    for (file, constants, count) in [
        (format!("{other}/ij/ij.3.jani"), &[][..], 7),
        (format!("{other}/ij/ij.10.jani"), &[], 1023),
        (format!("{other}/csma/csma.2-2.jani"), &[], 1038),
        (format!("{other}/consensus/consensus.2.jani"), &[("K", "2")], 272),
        (format!("{other}/consensus/consensus.2.jani"), &[("K", "4")], 528),
        (format!("{other}/firewire_abst/firewire_abst.jani"), &[("delay", "3")], 611),
        (format!("{other}/wlan/wlan.0.jani"), &[("COL", "0")], 2954),
        (
            format!("{other}/zeroconf/zeroconf.jani"),
            &[("N", "20"), ("K", "2"), ("reset", "true")],
            670,
        ),
        (format!("{planning}/rectangle-tireworld/rectangle-tireworld.5.jani"), &[], 50),
        (format!("{planning}/tireworld/tireworld.17.jani"), &[], 8670),
        (format!("{planning}/triangle-tireworld/triangle-tireworld.9.jani"), &[], 80),
        ("unit/momba/die.jani".to_owned(), &[], 13),
        (
            "blocksworld/icaps24/blocksworld/cost_terminal/models/legacy_enc/blocksworld_4_3.jani"
                .to_owned(),
            &[("failing_probability", "0"), ("item_cost_bound", "1")],
            125,
        ),
    ] {
        let loaded = load(&shared, &file, constants);
        let model = loaded.model().expect("model");
        let never = Condition::False;
        let found = explore(model, initial_states(model), &never, &never, DomainRule::Drop);
        if found != Outcome::Safe(count) {
            wrong.push(format!("{file} {constants:?}: {found:?}, not {count}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same where the other explorer did not go on from the states that the property asks for.
#[test]
fn numbers_of_states_up_to_the_goal() {
    let Some(shared) = shared_folder("") else { return };
    let mut wrong = Vec::new();
    for (file, count) in [
        ("other/philosophers-mdp/philosophers-mdp.3.jani", 440),
        ("other/pnueli-zuck/pnueli-zuck.3.jani", 1949),
        ("planning/blocksworld/blocksworld.5.jani", 1125),
        ("planning/elevators/elevators.b-3-3.jani", 909),
    ] {
        let loaded = load(&shared, &format!("qcomp_mdp/{file}"), &[]);
        let model = loaded.model().expect("model");
        let found = loaded.property(&Selector::Own(PropertyKey::Index(0)));
        let Some(Property::Standard(property)) = found.property else { panic!("{found:?}") };
        let PathSet::Until { target, .. } = property.path else { panic!("{property:?}") };
        let never = Condition::False;
        let found = explore(model, initial_states(model), &never, &target, DomainRule::Drop);
        if found != Outcome::Safe(count) {
            wrong.push(format!("{file}: {found:?}, not {count}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_small_racetrack() {
    let Some(shared) = shared_folder("") else { return };
    let loaded = load(&shared, "racetrack/tiny/for_ppa_racetrack.jani", &[]);
    let model = loaded.model().expect("model");
    let start = initial_states(model);
    let all = explore(model, start.clone(), &Condition::False, &Condition::False, DomainRule::Drop);
    assert_eq!(all, Outcome::Safe(5168));
    let crashed = loaded.condition("car0_crashed").expect("a condition");
    assert_eq!(
        explore(model, start, &crashed, &Condition::False, DomainRule::Drop),
        Outcome::Unsafe(7)
    );
}

#[test]
fn predicates_are_counted() {
    let Some(shared) = shared_folder("") else { return };
    let find = |part: &str| {
        let files = super::inputs::jani_files(&shared.join("benchmarks"));
        files.into_iter().find(|f| f.display().to_string().ends_with(part)).expect("a file")
    };
    for (model, properties, index, count) in [
        ("icaps22/models/cost05/blocksworld_6_5.jani", "blocksworld_6_5_32_32.jani", 0, 43),
        ("icaps22/models/cost05/blocksworld_6_5.jani", "blocksworld_6_5_32_32.jani", 1, 49),
        ("icaps22/models/cost05/blocksworld_6_5.jani", "extra_28_predicates.jani", 0, 28),
        ("icaps22/models/cost05/blocksworld_8_7.jani", "blocksworld_8_7_16_16.jani", 0, 81),
        ("legacy_enc/blocksworld_4_3.jani", "afterwards_blocksworld_4_3.jani", 0, 85),
        ("offset_enc/npuzzle_3_3.jani", "preds_lab_id_1.jani", 0, 53),
        ("unit/plaja/for_pa.jani", "unit/plaja/for_pa.jani", 0, 12),
        ("tiny/for_ppa_racetrack.jani", "tiny_c_car_v_car_relaxed.jani", 0, 4),
    ] {
        let loaded = load_with(&find(model), &[]);
        let found = loaded.property(&Selector::File(find(properties), PropertyKey::Index(index)));
        let Some(Property::Safety(property)) = found.property else { panic!("{found:?}") };
        assert_eq!(property.predicates.len(), count, "{properties}");
    }
}
