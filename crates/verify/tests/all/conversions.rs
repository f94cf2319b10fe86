//! Random tiny models with random tiny policies, written as JANI with the policy as an automaton and
//! read again: the exact probabilities are those of the model under the policy.

use std::collections::BTreeMap;
use std::path::Path;

use policert_convert::{
    Conversion, ConvertError, PolicyEncoding, Reach, WrittenAutomata, drn_text, jani_text,
    prism_properties, prism_text,
};
use policert_engine_api::{Budget, EngineError, Question, Silent};
use policert_explore::{ExplicitConfig, Induced, ReachQuestion, induced_mdp};
use policert_jani::property::{PathSet, Property};
use policert_jani::{LoadOptions, load_bytes};
use policert_mdp::{Direction, SolveOptions, solve};
use policert_model::{BinaryOp, Condition, Expr, Model, SafetyProperty, VarId, VariableKind};
use policert_numeric::Rational;
use policert_policy::{Filter, Op, Policy};
use policert_testkit::{Case, Profile, Random, case_numbers, semantics};

/// States up to which a case is compared.
const MOST_STATES: u64 = 300;

#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    with_policy: usize,
    filtered: usize,
    between: usize,
    lost: usize,
    several_starts: usize,
    /// Cases that may read array cells which do not exist, behind a guard or not.
    beyond_arrays: usize,
    refused: BTreeMap<String, usize>,
}

#[test]
fn probabilities_are_the_same() {
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear, Profile::General] {
        for number in case_numbers(90) {
            check(profile, number, &mut tally);
        }
    }
    assert!(tally.compared > 60 && tally.with_policy > 25, "{tally:#?}");
    assert!(tally.filtered > 10 && tally.between > 10, "{tally:#?}");
    assert!(tally.beyond_arrays > 20, "{tally:#?}");
    assert!(tally.lost > 4 && tally.several_starts > 20, "{tally:#?}");
    let known = [
        "tree",
        "network",
        "tanh",
        "LeakyRelu",
        "Elu",
        "Pow",
        "Floor",
        "Ceil",
        "Round",
        "Sign",
        "Exp",
        "Log",
        "Sqrt",
        "Reciprocal",
        "division",
        "remainder",
        "powers",
        "values",
        "two",
        "new",
        "a probability that may read an array cell",
    ];
    let is_known = |reason: &String| known.iter().any(|start| reason.contains(start));
    assert!(tally.refused.keys().all(is_known), "{tally:#?}");
}

fn check(profile: Profile, number: u64, tally: &mut Tally) {
    let place = format!("{profile:?} {number}");
    let mut case = Case::numbered(profile, number);
    let mut random = Random::new(number ^ 0xc0de);
    if random.percent(30) {
        read_arrays_in_guards(&mut case.model, &mut random);
    }
    let semantics = semantics(&mut random);
    // With weights of one binary digit and at most three layers, six decimals are exact.
    let with_policy = random.percent(75) && is_exact(&case);
    let policy = case.policy.policy(&case.model, semantics).expect("it fits");
    let policy = with_policy.then_some(policy);
    let terminal = case.property.goal.clone().filter(|_| random.percent(30));
    let question = Question { terminal, ..Question::new(&case.model, &case.property) };
    let Some(original) = induce(&question, policy.as_ref()) else { return };
    for direction in [Direction::Max, Direction::Min] {
        let reach = Reach { question: question.clone(), stay: Condition::True, direction };
        let written = policy.as_ref().map(|policy| (policy, PolicyEncoding::Discrete(6)));
        let automata = match WrittenAutomata::new(&Conversion { reach, policy: written }) {
            Ok(automata) => automata,
            Err(ConvertError::Unsupported(reason)) => {
                *tally.refused.entry(reason).or_default() += 1;
                return;
            }
            Err(error) => panic!("{place}: {error}"),
        };
        let text = jani_text(&automata).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(prism_text(&automata).expect("no real numbers").contains("module environment"));
        assert!(prism_properties(&automata).contains("target"));
        let (again, question) = read(&place, &text);
        let question = Question::new(&again, &question);
        let converted = induce(&question, None).unwrap_or_else(|| panic!("{place}: {text}"));
        let expected = best(&original, direction, &place);
        assert_eq!(best(&converted, direction, &place), expected, "{place} {direction:?}\n{text}");
        assert_eq!(original.initial.len(), converted.initial.len(), "{place}");
        if policy.is_none() && !text.contains("\"lost\"") {
            assert_eq!(original.mdp.states(), converted.mdp.states(), "{place}");
        }
        tally.lost += usize::from(!original.dropped.is_empty());
        tally.between += usize::from(!expected.is_zero() && expected != Rational::ONE);
    }
    let explicit = drn_text(&original).expect("it was built");
    assert_eq!(explicit.matches("\nstate ").count(), count(&explicit, "@nr_states"), "{place}");
    assert_eq!(explicit.matches("\taction ").count(), count(&explicit, "@nr_choices"), "{place}");
    tally.compared += 1;
    tally.beyond_arrays += usize::from(may_read_beyond_arrays(&question));
    tally.with_policy += usize::from(policy.is_some());
    tally.filtered += usize::from(policy.is_some() && semantics.filter == Filter::Applicable);
    tally.several_starts += usize::from(original.initial.len() > 1);
}

/// Makes guards read arrays, behind a condition that the cell exists or not.
fn read_arrays_in_guards(model: &mut Model, random: &mut Random) {
    let integers: Vec<VarId> = (0..model.variables.len())
        .filter(|&i| model.variables[i].kind == VariableKind::Integer)
        .map(VarId::new)
        .collect();
    for edge in model.instances.iter_mut().flat_map(|instance| &mut instance.edges) {
        if random.percent(50) {
            continue;
        }
        let index = Expr::Var(*random.pick(&integers));
        let cells: Vec<Expr> = (0..3).map(|_| Expr::int(random.between(0, 3))).collect();
        let exists = Expr::cell_exists(&index, cells.len());
        let read = Expr::Cell { cells, index: Box::new(index) };
        let few = Expr::binary(BinaryOp::Le, read, Expr::int(random.between(0, 2)));
        let part = match random.between(0, 3) {
            0 => Expr::and(exists, few),
            1 => Expr::and(few, exists),
            2 => Expr::binary(BinaryOp::Implies, exists, few),
            _ => few,
        };
        edge.guard = Condition::and([edge.guard.clone(), Condition::from_expr(&part)]);
    }
}

/// Returns whether a condition that is written demands that array cells exist.
fn may_read_beyond_arrays(question: &Question<'_>) -> bool {
    let model = question.model;
    let sides = model.domains();
    let operators = model.operators(1000).expect("few operators");
    let outcomes = operators.iter().flat_map(|operator| &operator.destinations);
    let exist = outcomes.map(|outcome| outcome.exists(&model.variables));
    let guards = operators.iter().map(|operator| operator.guard.clone());
    let others = question.terminal.iter().chain([&question.property.unsafe_condition]).cloned();
    guards
        .chain(exist)
        .chain(others)
        .any(|condition| condition.holds_with_cells(&sides) != condition.to_expr())
}

/// The number in the line after a heading.
fn count(text: &str, heading: &str) -> usize {
    let mut lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.next().and_then(|line| line.parse().ok()).expect("a number")
}

fn is_exact(case: &Case) -> bool {
    let halves = |numbers: &[f64]| numbers.iter().all(|number| (2.0 * number).fract() == 0.0);
    case.policy.trees.is_none()
        && case.policy.network.nodes().iter().all(|node| match &node.op {
            Op::Affine { weights, bias, .. } => halves(weights.entries()) && halves(bias),
            _ => true,
        })
}

/// The MDP; nothing for models with mistakes and those that are too large.
fn induce(question: &Question<'_>, policy: Option<&Policy>) -> Option<Induced> {
    let question = ReachQuestion { question: question.clone(), stay: Condition::True };
    let config = ExplicitConfig::default();
    match induced_mdp(&question, policy, &config, &mut Budget::unlimited(), &mut Silent) {
        Ok(induced) if induced.counts.reachable_states > 20 * MOST_STATES => None,
        Ok(induced) if induced.undecided.is_some() => None,
        Ok(induced) => Some(induced),
        Err(EngineError::Modelling(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The model of a text, and its target as a property.
fn read(place: &str, text: &str) -> (Model, SafetyProperty) {
    let loaded = load_bytes(Path::new("model.jani"), text.into(), &LoadOptions::default());
    let property = loaded.property(&loaded.selector("reach"));
    let Some(Property::Standard(property)) = property.property else {
        panic!("{place}: {:?} {:?}\n{text}", loaded.diagnostics(), property.diagnostics);
    };
    let PathSet::Until { target, .. } = property.path else { panic!("{place}") };
    let property = SafetyProperty {
        name: property.name,
        start: None,
        unsafe_condition: target,
        goal: None,
        predicates: Vec::new(),
        interface: None,
    };
    (loaded.into_model().unwrap_or_else(|| panic!("{place}\n{text}")), property)
}

/// The best value of the start states.
fn best(induced: &Induced, direction: Direction, place: &str) -> Rational {
    let options = SolveOptions { exact: true, ..SolveOptions::default() };
    let problem = induced.problem(direction);
    let solution = solve(&problem, &options, &mut Budget::unlimited());
    let solution = solution.unwrap_or_else(|error| panic!("{place}: {error}"));
    let values = solution.initial.into_iter().map(|bounds| bounds.lo);
    match direction {
        Direction::Max => values.fold(Rational::ZERO, Rational::max),
        Direction::Min => values.fold(Rational::ONE, Rational::min),
    }
}
