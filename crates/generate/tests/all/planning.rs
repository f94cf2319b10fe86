//! Models and the same tasks in PDDL: what a network does in one, it does in the other.

use std::collections::BTreeMap;
use std::path::Path;

use policert_asnet::{
    Architecture, Asnet, AsnetFile, DomainShape, Instance, Nonlinearity, Translation,
    load_translated, network,
};
use policert_generate::{
    Blocksworld, DecimalProbability, DomainInstance, Failing, NPuzzle, PolicyShape,
};
use policert_jani::{LoadOptions, Loaded, load_model};
use policert_model::{DomainRule, Expr, ModelSemantics, Observable};
use policert_pddl::{Task, read_task};
use policert_policy::interface::NamedExpressions;
use policert_policy::{ExactEvaluator, PolicyOptions};
use policert_testkit::Random;

/// What a translation may say about a model.
struct Expressions<'a>(&'a Loaded);

impl NamedExpressions for Expressions<'_> {
    fn observables(&self) -> &[Observable] {
        &[]
    }

    fn expression(&self, text: &str) -> Result<Expr, String> {
        self.0.expression(text).map_err(|diagnostics| format!("{text}: {diagnostics:?}"))
    }
}

fn never() -> Failing {
    Failing::Probability(DecimalProbability::read("p", "0").expect("a probability"))
}

fn write(instance: &DomainInstance, folder: &Path) {
    for file in instance.files(&PolicyShape::default()) {
        let path = folder.join(&file.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, file.text).expect("a file");
    }
}

fn task(folder: &Path) -> Task {
    read_task(&folder.join("domain.pddl"), &folder.join("problem.pddl"), &mut || false)
        .expect("a task")
}

fn asnet(task: &Task, random: &mut Random) -> Asnet {
    let architecture =
        Architecture { layers: 1, dimension: 2, nonlinearity: Nonlinearity::Relu, skip: true };
    let mut asnet = Asnet::zeros(DomainShape::of(&task.domain), architecture);
    for module in asnet.modules_mut() {
        for weight in module.weights.iter_mut().chain(&mut module.bias) {
            let part = i32::try_from(random.between(-999, 999)).expect("small");
            *weight = f64::from(part) / 1024.0;
        }
    }
    asnet
}

/// Walks through all states of the model and of the task side by side, without policy; in every state
/// the labels that the composed policy may choose are those of the best applicable actions.
fn compare(instance: &DomainInstance, most_states: usize) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(instance, folder);
    let loaded = load_model(&folder.join(instance.model_path()), &LoadOptions::default());
    let model = loaded.model().expect("a model");
    let operators = model.operators(10_000).expect("composed");
    let semantics = ModelSemantics { model, rule: DomainRule::Error };
    let task = task(folder);
    let mut random = Random::new(11);
    let asnet = asnet(&task, &mut random);
    let weights = folder.join("asnet.json");
    std::fs::write(&weights, AsnetFile::new(&asnet).text()).expect("written");
    let translation =
        Translation::read(&folder.join(instance.translation_path())).expect("a translation");
    let options = PolicyOptions::default();
    let policy = load_translated(
        model,
        &Expressions(&loaded),
        &translation,
        &task,
        Some(&weights),
        &options,
    )
    .expect("a policy")
    .policy;
    let labels = translation.of(&task).expect("translated").labels;
    let label_of = |action: usize| {
        let (label, _) =
            labels.iter().find(|(_, actions)| actions.contains(&action)).expect("a label");
        model.label_by_name(label).expect("a label")
    };
    let plain = network(&asnet, &Instance::of(&asnet.shape, &task)).expect("a network");
    let exact = ExactEvaluator::new(&plain).expect("piecewise linear");
    let mut chooser = policy.chooser();
    let start: Vec<i64> = model.initial_states().1.sides().iter().map(|side| side.lo).collect();
    let mut twins = BTreeMap::from([(start.clone(), task.initial.clone())]);
    let mut queue = vec![start];
    let mut compared = 0;
    while let Some(state) = queue.pop() {
        let twin = twins[&state].clone();
        let applicable: Vec<usize> =
            (0..task.actions.len()).filter(|&a| task.actions[a].is_applicable(&twin)).collect();
        let mut expected: Vec<_> = applicable.iter().map(|&action| label_of(action)).collect();
        expected.sort_unstable();
        expected.dedup();
        let mut found = semantics.applicable_labels(&operators, &state).expect("labels");
        found.sort_unstable();
        assert_eq!(found, expected, "applicability");
        let inputs: Vec<i64> = twin.iter().map(|&truth| i64::from(truth)).collect();
        let scores = exact.scores(&inputs).to_rationals();
        let best = applicable.iter().map(|&action| &scores[action]).max();
        let is_best = |&&action: &&usize| Some(&scores[action]) == best;
        let best: Vec<_> = applicable.iter().filter(is_best).map(|&a| label_of(a)).collect();
        let mut inputs = Vec::new();
        policy.read_inputs(&state, &mut inputs);
        let competing: Vec<bool> =
            policy.outputs().iter().map(|label| found.contains(label)).collect();
        let choice = chooser.choose(&inputs, &competing);
        let chosen: Vec<_> = choice.outputs().iter().map(|&o| policy.outputs()[o]).collect();
        assert!(!chosen.is_empty() && chosen.iter().all(|label| best.contains(label)));
        compared += 1;
        for operator in &operators {
            if !semantics.is_enabled(operator, &state).expect("a guard") {
                continue;
            }
            let next = semantics.successors(operator, &state).expect("successors").list;
            let [next] = &next[..] else { panic!("one successor") };
            let label = operator.label.expect("a label");
            let mut of_label = applicable.iter().filter(|&&action| label_of(action) == label);
            let (Some(&action), None) = (of_label.next(), of_label.next()) else {
                panic!("one action of a label is applicable")
            };
            let next_twin = task.actions[action].outcomes[0].after(&twin);
            match twins.get(&next.state) {
                Some(known) => assert_eq!(*known, next_twin, "the same state in two ways"),
                None if twins.len() < most_states => {
                    twins.insert(next.state.clone(), next_twin);
                    queue.push(next.state.clone());
                }
                None => {}
            }
        }
    }
    compared
}

#[test]
fn blocks_are_translated_in_every_reachable_state() {
    let blocks = Blocksworld { failing: never(), ..Blocksworld::new(4) };
    assert_eq!(compare(&blocks.instance().expect("in range"), usize::MAX), 125);
}

#[test]
fn tiles_are_translated_in_reachable_states() {
    let tiles = |rows, columns| NPuzzle { failing: never(), ..NPuzzle::new(rows, columns) };
    let small = tiles(2, 3).instance().expect("in range");
    assert_eq!(compare(&small, usize::MAX), 360);
    let most = if policert_testkit::slow_tests() { usize::MAX } else { 3000 };
    let compared = compare(&tiles(3, 3).instance().expect("in range"), most);
    assert!(compared == 181_440 || compared == most, "{compared}");
}

/// The text of a translation's conditions as expressions.
fn conditions(loaded: &Loaded, texts: &[String]) -> Vec<Expr> {
    texts.iter().map(|text| Expressions(loaded).expression(text).expect("a condition")).collect()
}

#[test]
fn blocks_with_costs_are_translated_in_every_reachable_state() {
    let blocks = Blocksworld { cost_aware: true, cost_bound: 2, ..Blocksworld::new(3) };
    let instance = blocks.instance().expect("in range");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(&instance, folder);
    let loaded = load_model(&folder.join(instance.model_path()), &LoadOptions::default());
    let model = loaded.model().expect("a model");
    let operators = model.operators(10_000).expect("composed");
    let semantics = ModelSemantics { model, rule: DomainRule::Error };
    let task = task(folder);
    let translation =
        Translation::read(&folder.join(instance.translation_path())).expect("a translation");
    let translated = translation.of(&task).expect("translated");
    let conditions = conditions(&loaded, &translated.conditions);
    let twin = |state: &[i64]| -> Vec<bool> {
        conditions.iter().map(|condition| condition.holds(state).expect("a truth")).collect()
    };
    let start: Vec<i64> = model.initial_states().1.sides().iter().map(|side| side.lo).collect();
    assert_eq!(twin(&start), task.initial);
    let mut reached = std::collections::BTreeSet::from([start.clone()]);
    let mut queue = vec![start];
    let (mut costly, mut crowded) = (0, 0);
    while let Some(state) = queue.pop() {
        let before = twin(&state);
        for operator in &operators {
            if !semantics.is_enabled(operator, &state).expect("a guard") {
                continue;
            }
            let label = model.label_name(operator.label).to_owned();
            let (_, actions) =
                translated.labels.iter().find(|(name, _)| *name == label).expect("a label");
            let mut applicable =
                actions.iter().filter(|&&action| task.actions[action].is_applicable(&before));
            let (Some(&action), None) = (applicable.next(), applicable.next()) else {
                panic!("one action of `{label}` is applicable")
            };
            let action = &task.actions[action];
            let schema = task.domain.schemas[action.schema].name.as_str();
            costly += usize::from(schema.ends_with("costly"));
            crowded += usize::from(schema == "crowd");
            for next in semantics.successors(operator, &state).expect("successors").list {
                let after = twin(&next.state);
                // What fails leaves all as it is, but for what it costs from then on.
                let is_cost =
                    |p: usize| task.atom_name(&task.propositions[p]).starts_with("costly");
                let same =
                    |wanted: &[bool]| (0..after.len()).all(|p| is_cost(p) || after[p] == wanted[p]);
                let moved = action.outcomes.iter().any(|outcome| same(&outcome.after(&before)));
                assert!(moved || same(&before), "{schema} {state:?} {:?}", next.state);
                if reached.insert(next.state.clone()) {
                    queue.push(next.state);
                }
            }
        }
    }
    assert!(reached.len() > 300 && costly > 50 && crowded > 10, "{costly} {crowded}");
}

#[test]
fn random_problems_are_read_and_have_a_way_to_the_goal() {
    let blocks = Blocksworld { problems: 5, seed: 3, ..Blocksworld::new(5) };
    let costs = Blocksworld { cost_aware: true, ..blocks.clone() };
    let tiles = NPuzzle { problems: 2, ..NPuzzle::new(2, 2) };
    for instance in [blocks.instance(), costs.instance(), tiles.instance()] {
        let instance = instance.expect("in range");
        let folder = tempfile::tempdir().expect("a folder");
        write(&instance, folder.path());
        let problems = std::fs::read_dir(folder.path().join("problems")).expect("problems");
        let mut read = 0;
        for problem in problems {
            let problem = problem.expect("a file").path();
            let task = read_task(&folder.path().join("domain.pddl"), &problem, &mut || false);
            let task = task.expect("a task");
            assert!(task.goal.is_some(), "{}", problem.display());
            read += 1;
        }
        assert!(read >= 2);
        let again = instance.files(&PolicyShape::default());
        assert!(again.iter().any(|file| file.path == "problems/1.pddl"));
    }
}
