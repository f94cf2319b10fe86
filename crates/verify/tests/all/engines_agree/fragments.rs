//! The reachable fragment of the abstraction: by each preset, and against the projection of all concrete
//! states.

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::Configuration as _;
use policert_engine_api::{Budget, EngineError, Id, Question, SideTable, Silent};
#[cfg(feature = "z3")]
use policert_policy::Filter;
use policert_policy::Policy;
#[cfg(feature = "z3")]
use policert_ppa::RelaxedSolver;
use policert_ppa::{AbstractFragment, AbstractStateId, Abstraction, PpaConfig, StateInfo, Test};
#[cfg(feature = "z3")]
use policert_testkit::Profile;
use policert_testkit::Random;
use policert_testkit::Setting;
use policert_testkit::oracle::AbstractState;

use super::Tally;

/// Presets that need no Z3 and decide transitions exactly, besides the default.
pub const EXACT: [&str; 6] = [
    "bnb-mar",
    "no-sel-no-app",
    "no-sel-rel-app",
    "rel-sel-no-app",
    "rel-sel-rel-app",
    "ex-sel-ex-app",
];

/// The presets that need no Z3 build the same fragment, but `mar`, which may build more of it.
pub fn compare_presets(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    native: &Graph,
) {
    let place = &setting.place;
    let preset = |name: &str| PpaConfig::preset(name).expect("it is built in");
    let name = Random::new(setting.case.number ^ 0x9e5e).pick(&EXACT).to_owned();
    let graph = fragment(setting, question, policy, &preset(name));
    assert_eq!(graph, *native, "{place}: preset {name}");
    let more = fragment(setting, question, policy, &preset("mar"));
    assert_eq!(more.start_states, native.start_states, "{place}: preset mar");
    assert!(more.unsafe_states.is_superset(&native.unsafe_states), "{place}: preset mar");
    for (state, targets) in &native.expanded {
        let covered = more.expanded.get(state).is_some_and(|all| all.is_superset(targets));
        assert!(covered, "{place}: preset mar, transitions of {state:?}");
    }
}

pub fn with_relaxed_tests(config: &PpaConfig) -> PpaConfig {
    PpaConfig {
        is_select_pi_relaxed: Test::On,
        is_app_pi_relaxed: Test::On,
        t_sat_pi_relaxed: Test::On,
        ..config.clone()
    }
}

/// The reachable fragment in terms of the oracle's abstract states.
#[derive(PartialEq, Eq, Debug)]
pub struct Graph {
    start_states: BTreeSet<AbstractState>,
    unsafe_states: BTreeSet<AbstractState>,
    /// Targets by expanded state.
    expanded: BTreeMap<AbstractState, BTreeSet<AbstractState>>,
}

pub fn fragment(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
) -> Graph {
    fragment_and_refuted(setting, question, policy, config).0
}

/// Builds the fragment for the predicates of the property alone.
pub fn build(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
) -> Result<(), EngineError> {
    let abstraction = Abstraction::new(question, policy)?;
    let mut queries = abstraction.queries(config)?;
    let mut fragment = AbstractFragment::default();
    abstraction.build(&mut queries, &mut fragment, &mut Budget::unlimited(), &mut Silent)
}

/// The fragment, and the number of labels that IsSelect^π_ℝ refuted.
pub fn fragment_and_refuted(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
) -> (Graph, u64) {
    let fail = |error: EngineError| -> ! { panic!("{}: {error}", setting.place) };
    let abstraction = Abstraction::new(question, policy).unwrap_or_else(|e| fail(e));
    let mut queries = abstraction.queries(config).unwrap_or_else(|e| fail(e));
    let mut fragment = AbstractFragment::default();
    abstraction
        .build(&mut queries, &mut fragment, &mut Budget::unlimited(), &mut Silent)
        .unwrap_or_else(|e| fail(e));
    let name = |id: AbstractStateId| {
        let state = fragment.states.state(id);
        let layout = abstraction.predicates.layout();
        let mut tracked = layout.locations().iter().enumerate();
        let mut next = tracked.next();
        // Locations that never change are not tracked.
        let locations = setting.case.model.instances.iter().map(|instance| match next {
            Some((k, location)) if *location == instance.location => {
                next = tracked.next();
                layout.location(&state, k)
            }
            _ => setting.case.model.variables[instance.location.index()].domain.lo,
        });
        AbstractState {
            locations: locations.collect(),
            predicates: abstraction.predicates.ids().map(|p| state.get(p)).collect(),
        }
    };
    let info: &SideTable<AbstractStateId, StateInfo> = &fragment.info;
    let is_expanded = |id: AbstractStateId| info[id].is_start || !info[id].is_unsafe;
    let mut graph = Graph {
        start_states: info.iter().filter(|(_, i)| i.is_start).map(|(id, _)| name(id)).collect(),
        unsafe_states: info.iter().filter(|(_, i)| i.is_unsafe).map(|(id, _)| name(id)).collect(),
        expanded: BTreeMap::new(),
    };
    for index in 0..info.len() {
        let id = AbstractStateId::from_index(index);
        if is_expanded(id) {
            graph.expanded.insert(name(id), BTreeSet::new());
        }
    }
    let pairs: BTreeSet<_> = fragment.transitions.iter().collect();
    assert_eq!(pairs.len(), fragment.transitions.len(), "{}: a pair twice", setting.place);
    for &(source, target) in &fragment.transitions {
        graph.expanded.entry(name(source)).or_default().insert(name(target));
    }
    (graph, queries.stats().is_select_pi_relaxed.refuted)
}

/// The transitions of each expanded abstract state are those of its concrete states.
pub fn compare_with_projection(
    setting: &Setting,
    question: &Question<'_>,
    graph: &Graph,
    tally: &mut Tally,
) {
    let place = &setting.place;
    let oracle = setting.oracle(question);
    let starts: BTreeSet<AbstractState> =
        oracle.start_states().iter().map(|s| oracle.abstraction(s)).collect();
    assert_eq!(graph.start_states, starts, "{place}");
    for (state, targets) in &graph.expanded {
        let mut expected = BTreeSet::new();
        let mut decided = true;
        let mut is_unsafe = false;
        for concrete in oracle.concretizations(state) {
            is_unsafe |= question.is_unsafe(&concrete);
            if question.is_terminal(&concrete) {
                continue;
            }
            match oracle.expand(&concrete) {
                Ok(expansion) => expected.extend(
                    expansion.transitions.iter().map(|t| oracle.abstraction(&t.step.state)),
                ),
                Err(_) => decided = false,
            }
        }
        assert_eq!(graph.unsafe_states.contains(state), is_unsafe, "{place}: {state:?}");
        if decided {
            assert_eq!(*targets, expected, "{place}: transitions of {state:?}");
            tally.projected += 1;
        } else {
            assert!(targets.is_superset(&expected), "{place}: transitions of {state:?}");
        }
    }
}

/// Z3 with the whole network, and Z3 for the environment, build the same fragment.
#[cfg(feature = "z3")]
pub fn compare_with_z3(
    setting: &Setting,
    question: &Question<'_>,
    policy: Option<&Policy>,
    native: &Graph,
    refuted_over_reals: u64,
) {
    if policy.is_some_and(|policy| {
        policy.ranking().is_some_and(|network| !network.is_piecewise_linear())
    }) {
        return;
    }
    let mut config = PpaConfig::preset("base").expect("it is built in");
    // Over the reals every third case, and none with conditions that Z3 may not decide there.
    let has_trees = policy.is_some_and(|policy| policy.trees().is_some());
    let over_reals = setting.case.number.is_multiple_of(3)
        && setting.case.profile != Profile::General
        && !has_trees;
    if over_reals {
        config = PpaConfig { relaxed: RelaxedSolver::Z3, ..with_relaxed_tests(&config) };
    } else {
        let name = *Random::new(setting.case.number).pick(&["base", "mar-z3", "mar-z3-mar"]);
        config = PpaConfig::preset(name).expect("it is built in");
    }
    let (by_z3, refuted) = fragment_and_refuted(setting, question, policy, &config);
    assert_eq!(by_z3, *native, "{}: preset {}", setting.place, config.name);
    // Both are complete where conditions are linear. Where an output is not applicable Z3 relaxes
    // what the oracle rounds to integers.
    if over_reals {
        assert!(refuted_over_reals >= refuted, "{}", setting.place);
        if setting.semantics.filter == Filter::None {
            assert_eq!(refuted_over_reals, refuted, "{}: over the reals", setting.place);
        }
    }
}
