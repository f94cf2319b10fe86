//! Random small problems in PDDL under random action schema networks: engines agree with an enumeration by
//! the grounded task and the exact scores.

use std::collections::BTreeSet;
use std::path::Path;

use policert_asnet::{
    Architecture, Asnet, AsnetFile, DomainShape, Instance, Nonlinearity, network,
};
use policert_outcome::VerdictWord;
use policert_pddl::{Task, parse_domain, parse_problem};
use policert_policy::ExactEvaluator;
use policert_problem::{PolicySource, ProblemOptions};
use policert_testkit::{PddlText, Random, case_numbers, pddl_text};
use policert_verify::{CancelFlag, Request, Silent, verify};

const ENGINES: [&str; 5] = ["explicit", "auto", "cegar", "ic3", "ppa"];

fn task(text: &PddlText) -> Task {
    let domain = parse_domain("domain.pddl", text.domain.as_bytes()).expect("a domain");
    let problem = parse_problem("problem.pddl", text.problem.as_bytes(), &domain);
    Task::ground(domain, problem.expect("a problem"), &mut || false).expect("grounded")
}

fn asnet(random: &mut Random, shape: DomainShape) -> Asnet {
    let architecture = Architecture {
        layers: random.below(3),
        dimension: 1 + random.below(2),
        nonlinearity: Nonlinearity::Relu,
        skip: random.percent(60),
    };
    let mut asnet = Asnet::zeros(shape, architecture);
    for module in asnet.modules_mut() {
        for weight in module.weights.iter_mut().chain(&mut module.bias) {
            let eighths = i32::try_from(random.between(-9, 9)).expect("small");
            *weight = f64::from(eighths) / 8.0;
        }
    }
    asnet
}

/// Returns whether an unsafe state is reached: the first applicable action of greatest score is taken, and
/// chance does what it can.
fn is_unsafe(task: &Task, asnet: &Asnet, literals: &[(usize, bool)]) -> bool {
    let network = network(asnet, &Instance::of(&asnet.shape, task)).expect("a network");
    let exact = ExactEvaluator::new(&network).expect("piecewise linear");
    let mut reached = BTreeSet::from([task.initial.clone()]);
    let mut open = vec![task.initial.clone()];
    while let Some(state) = open.pop() {
        if literals.iter().all(|&(proposition, truth)| state[proposition] == truth) {
            return true;
        }
        let inputs: Vec<i64> = state.iter().map(|&truth| i64::from(truth)).collect();
        let scores = exact.scores(&inputs).to_rationals();
        let applicable =
            (0..scores.len()).filter(|&action| task.actions[action].is_applicable(&state));
        let best = applicable.reduce(|a, b| if scores[b] > scores[a] { b } else { a });
        let outcomes = best.iter().flat_map(|&best| &task.actions[best].outcomes);
        for next in outcomes.map(|outcome| outcome.after(&state)) {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    false
}

fn options(folder: &Path, unsafe_states: String) -> ProblemOptions {
    let path = |name: &str| folder.join(name);
    ProblemOptions {
        pddl_problem: Some(path("problem.pddl")),
        unsafe_states: Some(unsafe_states),
        policy: PolicySource::Given { interface: None, network: Some(path("asnet.json")) },
        ..ProblemOptions::new(&path("domain.pddl"))
    }
}

#[test]
fn engines_agree_with_an_enumeration() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (mut definite, mut bad, mut good) = ([0; ENGINES.len()], 0, 0);
    for number in case_numbers(1600) {
        let mut random = Random::new(number ^ 0x5eed);
        let size = 1 + random.below(3);
        let text = pddl_text(&mut random, size);
        let task = task(&text);
        if task.propositions.is_empty() || task.actions.is_empty() {
            continue;
        }
        let asnet = asnet(&mut random, DomainShape::of(&task.domain));
        for (name, text) in [
            ("domain.pddl", text.domain.as_str()),
            ("problem.pddl", text.problem.as_str()),
            ("asnet.json", &AsnetFile::new(&asnet).text()),
        ] {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let literals: Vec<(usize, bool)> = (0..1 + random.below(2))
            .map(|_| (random.below(task.propositions.len()), random.percent(70)))
            .collect();
        let literal = |&(proposition, truth): &(usize, bool)| {
            let name = task.atom_name(&task.propositions[proposition]);
            format!("{}`{name}`", if truth { "" } else { "not " })
        };
        let condition = literals.iter().map(literal).collect::<Vec<_>>().join(" and ");
        let expected = match is_unsafe(&task, &asnet, &literals) {
            true => VerdictWord::Unsafe,
            false => VerdictWord::Safe,
        };
        *(if expected == VerdictWord::Safe { &mut good } else { &mut bad }) += 1;
        for (engine, definite) in ENGINES.iter().zip(&mut definite) {
            let mut request = Request::new(options(folder, condition.clone()));
            request.engine = (*engine).to_owned();
            let outcome = verify(&request, &CancelFlag::default(), &mut Silent);
            let place = || {
                format!("case {number} {engine}: {condition}\n{}\n{}", text.domain, text.problem)
            };
            assert!(outcome.failure.is_none(), "{:?} {}", outcome.failure, place());
            if outcome.report.verdict != VerdictWord::Unknown {
                assert_eq!(outcome.report.verdict, expected, "{}", place());
                *definite += 1;
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} safe, {bad} unsafe");
    let sum: usize = definite.iter().sum();
    assert!(sum >= 2000 && definite[..4].iter().all(|&count| count == good + bad), "{definite:?}");
}
