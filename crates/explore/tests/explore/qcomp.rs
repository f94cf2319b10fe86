//! The models of the QComp collection have as many states as the collection says.

use policert_engine_api::Question;
use policert_jani::property::{PathSet, Property};
use policert_jani::{Loaded, Selector};
use policert_model::Condition;
use policert_testkit::shared_folder;

use crate::collection::{load, plain, run};

/// Names and values.
type Constants = &'static [(&'static str, &'static str)];

/// File, constants, states that are reachable. Some counts are those of a search for the goal of
/// the property that is named, which ends there.
const MODELS: [(&str, Constants, Option<&str>, u64); 27] = [
    ("other/consensus/consensus.2.jani", &[("K", "2")], None, 272),
    ("other/consensus/consensus.4.jani", &[("K", "4")], None, 43136),
    ("other/csma/csma.2-2.jani", &[], None, 1038),
    ("other/csma/csma.3-2.jani", &[], None, 36850),
    // More than 38 million operators, of which 788 are ever enabled.
    ("other/echoring/echoring.jani", &[("ITERATIONS", "2")], None, 109_515),
    ("other/firewire/firewire.false.jani", &[("delay", "3"), ("deadline", "200")], None, 4093),
    (
        "other/firewire/firewire.true.jani",
        &[("delay", "3"), ("deadline", "200")],
        Some("elected"),
        82979,
    ),
    ("other/firewire_abst/firewire_abst.jani", &[("delay", "3")], None, 611),
    ("other/firewire_abst/firewire_abst.jani", &[("delay", "36")], None, 776),
    ("other/ij/ij.3.jani", &[], None, 7),
    ("other/ij/ij.10.jani", &[], None, 1023),
    ("other/philosophers-mdp/philosophers-mdp.3.jani", &[], Some("eat"), 440),
    ("other/pnueli-zuck/pnueli-zuck.3.jani", &[], Some("live"), 1949),
    (
        "other/resource-gathering/resource-gathering.jani",
        &[("B", "200"), ("GOLD_TO_COLLECT", "15"), ("GEM_TO_COLLECT", "15")],
        None,
        24064,
    ),
    ("other/wlan/wlan.0.jani", &[("COL", "0")], None, 2954),
    ("other/wlan/wlan.1.jani", &[("COL", "0")], None, 8625),
    ("other/zeroconf/zeroconf.jani", &[("N", "20"), ("K", "2"), ("reset", "true")], None, 670),
    ("other/zeroconf/zeroconf.jani", &[("N", "20"), ("K", "4"), ("reset", "true")], None, 1088),
    ("planning/blocksworld/blocksworld.5.jani", &[], Some("goal"), 1125),
    ("planning/elevators/elevators.b-3-3.jani", &[], Some("goal"), 909),
    ("planning/elevators/elevators.a-11-9.jani", &[], Some("goal"), 14796),
    ("planning/exploding-blocksworld/exploding-blocksworld.5.jani", &[], Some("goal"), 81693),
    ("planning/rectangle-tireworld/rectangle-tireworld.5.jani", &[], None, 50),
    ("planning/tireworld/tireworld.17.jani", &[], None, 8670),
    ("planning/triangle-tireworld/triangle-tireworld.9.jani", &[], None, 80),
    ("planning/tireworld/tireworld.25.jani", &[], Some("goal"), 196_560),
    ("planning/elevators/elevators.b-11-9.jani", &[], Some("goal"), 539_136),
];

/// Models of more states only if the environment variable `SLOW_TESTS` is 1.
const SLOW: u64 = 120_000;

/// The condition at which the search for the goal of a property ends.
fn target(loaded: &Loaded, name: &str) -> Condition {
    let selector = Selector::parse(name, &[name.to_owned()]);
    match loaded.property(&selector).property {
        Some(Property::Standard(property)) => match property.path {
            PathSet::Until { target, .. } => target,
            PathSet::Globally(_) => panic!("{name} is no search"),
        },
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn models_have_the_known_numbers_of_states() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let slow = policert_testkit::slow_tests();
    for (file, constants, goal, states) in MODELS {
        if states > SLOW && !slow {
            continue;
        }
        let loaded = load(&folder.join("qcomp_mdp").join(file), constants);
        let property = plain(Condition::False);
        let question = Question {
            terminal: goal.map(|name| target(&loaded, name)),
            ..Question::new(loaded.model().expect("loaded"), &property)
        };
        let found = run(&question, None);
        assert_eq!(found.counts.reachable_states, states, "{file} {constants:?}");
        if file.contains("echoring") {
            assert_eq!(found.stats.operators, 788);
        }
    }
}
