//! The model of a task against the definition, in every reachable state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use policert_jani::{LoadOptions, load_bytes};
use policert_model::{DomainRule, Model, ModelSemantics, Operator, Probability};
use policert_numeric::Rational;
use policert_pddl::{Task, parse_domain, parse_problem};
use policert_testkit::{PddlText, Random, case_numbers, pddl_text};

use crate::interpreter::{Interpreter, State};

/// States of a case that are looked at.
const MOST_STATES: usize = 300;

type Steps = BTreeMap<String, BTreeMap<Vec<i64>, Rational>>;

fn task(text: &PddlText) -> Task {
    let domain = parse_domain("domain.pddl", text.domain.as_bytes());
    let domain = domain.unwrap_or_else(|error| panic!("{error}\n{}", text.domain));
    let problem = parse_problem("problem.pddl", text.problem.as_bytes(), &domain);
    let problem = problem.unwrap_or_else(|error| panic!("{error}\n{}", text.problem));
    Task::ground(domain, problem, &mut || false).expect("grounded")
}

fn model(task: &Task) -> Model {
    let text = task.jani();
    let loaded =
        load_bytes(Path::new("m.jani"), text.clone().into_bytes(), &LoadOptions::default());
    assert!(loaded.diagnostics().is_empty(), "{:?}\n{text}", loaded.diagnostics());
    loaded.into_model().expect("a model")
}

/// The transitions of a model from a state, by label.
fn steps(model: &Model, operators: &[Operator], state: &[i64]) -> Steps {
    let semantics = ModelSemantics { model, rule: DomainRule::Error };
    let mut steps = Steps::new();
    for operator in operators {
        if !semantics.is_enabled(operator, state).expect("a guard") {
            continue;
        }
        let to = steps.entry(model.label_name(operator.label).to_owned()).or_default();
        for successor in semantics.successors(operator, state).expect("successors").list {
            let p = match &operator.destinations[successor.destination].probability {
                Probability::Constant(p) => p.clone(),
                Probability::Expr(_) => panic!("a constant"),
            };
            let sum = to.entry(successor.state).or_insert(Rational::ZERO);
            *sum = &*sum + &p;
        }
    }
    steps
}

#[test]
fn models_are_what_the_definition_says() {
    let (mut states, mut transitions, mut goals, mut conditional) = (0, 0, 0, 0);
    for number in case_numbers(5000) {
        let mut random = Random::new(number);
        let size = 1 + random.below(3);
        let text = pddl_text(&mut random, size);
        let task = task(&text);
        let model = model(&task);
        let operators = model.operators(10_000).expect("composed");
        let interpreter = Interpreter { domain: &task.domain, problem: &task.problem };
        let variables: Vec<_> = task
            .propositions
            .iter()
            .map(|atom| model.variable_by_name(&task.atom_name(atom)).expect("a variable"))
            .collect();
        let in_model = |state: &State| {
            let mut values = vec![0; model.variables.len()];
            for (atom, variable) in task.propositions.iter().zip(&variables) {
                values[variable.index()] = i64::from(state.contains(atom));
            }
            values
        };
        let constant: State = task
            .problem
            .initial
            .iter()
            .filter(|atom| !task.propositions.contains(atom))
            .cloned()
            .collect();
        let mut seen = BTreeSet::from([task.problem.initial.clone()]);
        let mut queue = vec![task.problem.initial.clone()];
        while let Some(state) = queue.pop() {
            states += 1;
            // What is no proposition keeps its truth.
            let others = state.iter().filter(|atom| !task.propositions.contains(atom)).cloned();
            assert_eq!(others.collect::<State>(), constant, "case {number}");
            let mut expected = Steps::new();
            for (schema, objects, next) in interpreter.transitions(&state) {
                let names = objects.iter().map(|&o| task.problem.objects[o].name.clone());
                let names: Vec<String> = names.collect();
                let schema = &task.domain.schemas[schema].name;
                let label = match names.is_empty() {
                    true => schema.clone(),
                    false => format!("{schema}({})", names.join(",")),
                };
                let to = next.iter().map(|(state, p)| (in_model(state), p.clone())).collect();
                transitions += next.len();
                expected.insert(label, to);
                for state in next.into_keys() {
                    if seen.len() < MOST_STATES && seen.insert(state.clone()) {
                        queue.push(state);
                    }
                }
            }
            let found = steps(&model, &operators, &in_model(&state));
            assert_eq!(found, expected, "case {number}\n{}\n{}", text.domain, text.problem);
            let truths: Vec<bool> =
                task.propositions.iter().map(|atom| state.contains(atom)).collect();
            let wanted = task.problem.goal.iter().all(|(a, truth)| state.contains(a) == *truth);
            let wanted = wanted && !task.problem.is_goal_contradictory;
            assert_eq!(task.is_goal(&truths), wanted, "case {number}");
            goals += usize::from(wanted);
        }
        let effects = task.actions.iter().flat_map(|action| &action.outcomes);
        conditional += effects.flat_map(|o| &o.effects).filter(|e| !e.condition.is_empty()).count();
    }
    assert!(states > 10_000 && transitions > 20_000, "{states} states, {transitions} transitions");
    assert!(goals > 1000 && conditional > 500, "{goals} goals, {conditional} conditional effects");
}

#[test]
fn what_never_changes_is_left_out() {
    let domain = "(define (domain road) (:predicates (road ?a ?b) (at ?x) (free) (old ?x))
        (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b) (not (old ?b)))
         :effect (and (not (at ?a)) (at ?b) (not (free)))))";
    let problem = "(define (problem p) (:domain road) (:objects a b c d)
        (:init (at a) (road a b) (road b a) (road c d) (road b d) (old d)) (:goal (at b)))";
    let task = task(&PddlText { domain: domain.to_owned(), problem: problem.to_owned() });
    let names: Vec<String> = task.propositions.iter().map(|atom| task.atom_name(atom)).collect();
    assert_eq!(names, ["at(a)", "at(b)"]);
    let actions: Vec<String> = task.actions.iter().map(|action| task.action_name(action)).collect();
    assert_eq!(actions, ["go(a,b)", "go(b,a)"]);
    assert_eq!(task.goal, Some(vec![(1, true)]));
}

/// The number of actions, and how often the clock was looked at.
fn grounded(domain: &str, problem: &str) -> (usize, u32) {
    let domain = parse_domain("domain.pddl", domain.as_bytes()).expect("a domain");
    let problem = parse_problem("problem.pddl", problem.as_bytes(), &domain).expect("a problem");
    let mut looks = 0;
    let mut stop = || {
        looks += 1;
        looks > 1000
    };
    let task = Task::ground(domain, problem, &mut stop).expect("grounded in time");
    (task.actions.len(), looks)
}

#[test]
fn arguments_are_found_through_the_facts_of_the_precondition() {
    let objects: Vec<String> = (0..60).map(|i| format!("o{i}")).collect();
    let facts: String = objects.iter().map(|object| format!("(q {object}) ")).collect();
    let domain = "(define (domain d) (:predicates (q ?a) (p ?a ?b ?c) (r ?a) (done ?a ?b))
      (:action join :parameters (?a ?b ?c ?d ?e)
        :precondition (and (q ?a) (q ?b) (p ?c ?d ?e) (not (= ?a ?b))) :effect (done ?a ?b))
      (:action never :parameters (?a ?b ?c ?d ?e ?f ?g ?h ?i ?j)
        :precondition (r ?j) :effect (done ?a ?b)))";
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {}) (:init (p o1 o2 o3) {facts}) (:goal (done o1 o2)))",
        objects.join(" ")
    );
    let (actions, looks) = grounded(domain, &problem);
    assert_eq!(actions, 60 * 59);
    assert!(looks < 10, "{looks}");
}
