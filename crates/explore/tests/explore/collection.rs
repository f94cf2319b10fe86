//! Published instances, with numbers from an independent explorer.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use policert_engine_api::{Budget, Question, Silent, Verdict};
use policert_explore::{ExplicitConfig, Explored, PolicySuccessors, explicit};
use policert_jani::property::Property;
use policert_jani::{LoadOptions, Loaded, load_model};
use policert_model::{Condition, LabelId, Model, SafetyProperty, State, Target, VarId};
use policert_policy::{Filter, Policy, PolicyOptions, load_policy};
use policert_testkit::shared_folder;

pub fn load(path: &Path, constants: &[(&str, &str)]) -> Loaded {
    let constants = constants.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
    let loaded = load_model(path, &LoadOptions { constants, ..LoadOptions::default() });
    assert!(loaded.model().is_some(), "{}: {:?}", path.display(), loaded.diagnostics());
    loaded
}

fn property(loaded: &Loaded, path: &Path, index: usize) -> SafetyProperty {
    match loaded.property_of_file(path, index).property {
        Some(Property::Safety(property)) => property,
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn policy(model: &Model, network: &Path, interface: &Path) -> Policy {
    let options = PolicyOptions { filter: Some(Filter::Applicable), ..PolicyOptions::default() };
    load_policy(model, Some(network), Some(interface), &options).expect("it fits").policy
}

pub fn run(question: &Question<'_>, policy: Option<&Policy>) -> Explored {
    let config = ExplicitConfig::default();
    explicit(question, policy, &config, &mut Budget::unlimited(), &mut Silent).expect("no error")
}

fn distance(found: &Explored) -> Option<usize> {
    match &found.verdict {
        Verdict::Unsafe(trace) => Some(trace.steps.len()),
        _ => None,
    }
}

/// The reachable states where goal and unsafe states are terminal, and how many are unsafe.
fn count(question: &Question<'_>, policy: Option<&Policy>) -> (usize, usize) {
    let property = question.property;
    let ends = property.goal.iter().chain([&property.unsafe_condition]).cloned();
    let question = Question { terminal: Some(Condition::or(ends)), ..question.clone() };
    let mut successors = PolicySuccessors::new(&question, policy);
    let mut seen: BTreeMap<State, ()> = BTreeMap::new();
    let mut queue = VecDeque::new();
    let mut add = |queue: &mut VecDeque<State>, state: &[i64]| {
        if seen.insert(state.to_vec(), ()).is_none() {
            queue.push_back(state.to_vec());
        }
    };
    question
        .for_each_start_state(&mut Budget::unlimited(), &mut |state| {
            add(&mut queue, state);
            Ok(())
        })
        .expect("bounded start states");
    while let Some(state) = queue.pop_front() {
        for successor in successors.of(&state).expect("no error").list {
            add(&mut queue, &successor.state);
        }
    }
    (seen.len(), seen.keys().filter(|state| question.is_unsafe(state)).count())
}

/// The same by the search itself.
fn count_by_search(question: &Question<'_>, policy: Option<&Policy>) -> (usize, usize) {
    let terminal = question.property.goal.clone();
    let counts = run(&Question { terminal, keep_going: true, ..question.clone() }, policy).counts;
    let small = |n: u64| usize::try_from(n).expect("few states");
    (small(counts.reachable_states), small(counts.unsafe_states))
}

#[test]
fn transport() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("transport/one_way_line_15_10");
    let starts = folder.join("det/pa_one_way_line_15_10_random_starts_1000.jani");
    // network, states, unsafe states, distance
    let cases = [
        ("det", "tanh.onnx", 15268, 0, None),
        ("det", "relu_reading.nnet", 15268, 0, None),
        ("icy", "tanh.onnx", 27083, 121, Some(18)),
        ("icy", "relu_reading.nnet", 27075, 117, Some(18)),
    ];
    for (kind, network, states, bad, steps) in cases {
        let loaded = load(&folder.join(kind).join("one_way_line_15_10.jani"), &[]);
        let model = loaded.model().expect("loaded");
        let property = property(&loaded, &starts, 0);
        let derived = |ending: &str| {
            folder.join(format!("derived/{kind}/one_way_line_15_10_{kind}_64_64_{ending}"))
        };
        let policy = policy(model, &derived(network), &derived("relu_reading.jani2nnet"));
        let question = Question { initial_states: false, ..Question::new(model, &property) };
        assert_eq!(count(&question, Some(&policy)), (states, bad), "{kind} {network}");
        assert_eq!(count_by_search(&question, Some(&policy)), (states, bad), "{kind} {network}");
        let terminal = property.goal.clone();
        let found = run(&Question { terminal, ..question }, Some(&policy));
        assert_eq!(found.counts.start_states, 1000, "{kind} {network}");
        assert_eq!(distance(&found), steps, "{kind} {network}");
    }
}

#[test]
fn beluga_without_policy() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("beluga");
    let loaded = load(&folder.join("beluga_4_2.jani"), &[]);
    let property = property(&loaded, &folder.join("pa_beluga_4_2_random_starts_1000.jani"), 0);
    let model = loaded.model().expect("loaded");
    let question = Question { initial_states: false, ..Question::new(model, &property) };
    assert_eq!(count(&question, None), (10214, 1500));
    assert_eq!(count_by_search(&question, None), (10214, 1500));
    let terminal = property.goal.clone();
    let found = run(&Question { terminal, ..question }, None);
    assert_eq!((found.counts.start_states, distance(&found)), (24, Some(14)));
}

#[test]
fn tiny_racetrack_without_policy() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let loaded = load(&folder.join("racetrack/tiny/for_ppa_racetrack.jani"), &[]);
    let model = loaded.model().expect("loaded");
    let crashed = model.variable_by_name("car0_crashed").expect("a variable of the model");
    let property = plain(Condition::var_equals(crashed, 1));
    let question = Question { build_all: true, ..Question::new(model, &property) };
    let found = run(&question, None);
    assert_eq!(found.counts.reachable_states, 5168);
    assert_eq!((found.counts.unsafe_states, distance(&found)), (207, Some(7)));
    assert_eq!(found.counts.dropped_outcomes, 152);
}

pub fn plain(unsafe_condition: Condition) -> SafetyProperty {
    SafetyProperty {
        name: "p".to_owned(),
        start: None,
        unsafe_condition,
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}

#[test]
fn npuzzle_start_states() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("npuzzle");
    let constants =
        [("failing_probability", "0.5"), ("item_cost_bound", "8"), ("cost_terminal", "true")];
    let model = folder.join("compact_starts_non_terminal/models/offset_enc/npuzzle_3_3.jani");
    let loaded = load(&model, &constants);
    let file = folder.join("additional_properties/safety_verification/preds_lab_id_1.jani");
    let mut property = property(&loaded, &file, 0);
    property.unsafe_condition = Condition::False;
    // Only the start states are of interest.
    let question = Question {
        terminal: Some(Condition::True),
        ..Question::new(loaded.model().expect("loaded"), &property)
    };
    assert_eq!(run(&question, None).counts.reachable_states, 4900);
}

#[test]
fn blocksworld_4_3() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("blocksworld/icaps24");
    let constants = [("failing_probability", "0"), ("item_cost_bound", "1")];
    let file = folder.join("blocksworld/cost_terminal/models/legacy_enc/blocksworld_4_3.jani");
    let loaded = load(&file, &constants);
    let model = loaded.model().expect("loaded");
    let all = plain(Condition::False);
    assert_eq!(run(&Question::new(model, &all), None).counts.reachable_states, 125);
    let mut safety = property(&loaded, &file, 1);
    safety.unsafe_condition = Condition::False;
    let networks = folder.join("rddps22/blocksworld/networks/learned_cost05_non_terminal");
    let options = PolicyOptions::default();
    let interface = networks.join("blocksworld_4_3_16_16.jani2nnet");
    let loaded = load_policy(model, None, Some(&interface), &options).expect("it fits");
    let found = run(&Question::new(model, &safety), Some(&loaded.policy));
    assert_eq!((found.counts.start_states, found.counts.reachable_states), (14, 29));
}

/// The model without its cost variables: without the conditions and assignments that mention
/// them. They stay as variables that never change.
fn without_costs(mut model: Model) -> Model {
    let is_cost = |v: VarId| model.variables[v.index()].name.contains("cost");
    let costs: Vec<VarId> =
        (0..model.variables.len()).map(VarId::new).filter(|&v| is_cost(v)).collect();
    assert!(costs.len() > 5);
    for edge in model.instances.iter_mut().flat_map(|i| &mut i.edges) {
        let keeps = |c: &&Condition| c.variables().iter().all(|v| !costs.contains(v));
        edge.guard = Condition::and(edge.guard.conjuncts().iter().filter(keeps).cloned());
        for destination in &mut edge.destinations {
            destination
                .assignments
                .retain(|a| !matches!(a.target, Target::Var(v) if costs.contains(&v)));
        }
    }
    model
}

#[test]
fn blocksworld_without_costs() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("blocksworld/icaps22");
    let all = plain(Condition::False);
    for (name, states) in [("6_5", 7057), ("8_7", 695_417)] {
        let loaded = load(&folder.join(format!("models/cost05/blocksworld_{name}.jani")), &[]);
        let model = without_costs(loaded.model().expect("loaded").clone());
        let found = run(&Question::new(&model, &all), None);
        assert_eq!(found.counts.reachable_states, states, "{name}");
    }
}

#[test]
fn blocksworld_8_7_with_its_policy() {
    let Some(folder) = shared_folder("benchmarks") else { return };
    let folder = folder.join("blocksworld/icaps22");
    let loaded = load(&folder.join("models/cost05/blocksworld_8_7.jani"), &[]);
    let file = "additional_properties/safety_verification/cost05/blocksworld_8_7/\
                compact_starts_cost_predicates_afterwards/learned_no_cost/\
                pa_compact_starts_cost_predicates_afterwards_blocksworld_8_7_16_16.jani";
    let property = property(&loaded, &folder.join(file), 0);
    let model = without_costs(loaded.model().expect("loaded").clone());
    let interface = property.interface.clone().expect("the property names one");
    let policy = load_policy(&model, None, Some(&interface), &PolicyOptions::default());
    let policy = policy.expect("it fits").policy;
    assert_eq!(policy.outputs().len(), (0..9).map(LabelId::new).count());
    let found = run(&Question::new(&model, &property), Some(&policy));
    assert_eq!(found.verdict, Verdict::Safe { vacuous: false });
    assert_eq!(found.counts.start_states, 4139);
    assert_eq!((found.counts.reachable_states, found.counts.transitions), (6569, 13138));
}
