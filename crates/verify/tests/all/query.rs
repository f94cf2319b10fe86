//! Random networks and properties: where a grid has a witness the answer is sat, and every witness
//! satisfies the property.

use std::fmt::Write as _;

use policert_engine_api::{CancelFlag, Silent};
use policert_numeric::Rational;
use policert_outcome::Outcome;
use policert_policy::{ExactEvaluator, Network, read_network};
use policert_query::{AnswerWord, QueryReport, QueryRequest, query};
use policert_testkit::{Random, case_numbers};
use policert_vnnlib::{NetworkProperty, read_property};

/// Inputs lie between -SIDE and SIDE.
const SIDE: i64 = 2;

struct Case {
    inputs: usize,
    outputs: usize,
    network: String,
    property: String,
}

/// A network with one hidden layer, or two, and small weights, so that bounds are often attained.
pub fn network(random: &mut Random, inputs: usize, outputs: usize) -> String {
    let mut sizes = vec![inputs];
    sizes.extend((0..=random.below(2)).map(|_| 1 + random.below(4)));
    sizes.push(outputs);
    let mut text = String::new();
    let line = |numbers: &mut dyn Iterator<Item = i64>| {
        numbers.map(|number| format!("{number},")).collect::<String>() + "\n"
    };
    let largest = sizes.iter().max().expect("layers");
    let _ = writeln!(text, "{},{inputs},{outputs},{largest},", sizes.len() - 1);
    text += &sizes.iter().map(|size| format!("{size},")).collect::<String>();
    text += "\n0,\n";
    for (number, count) in [(-SIDE, inputs), (SIDE, inputs), (0, inputs + 1), (1, inputs + 1)] {
        text += &line(&mut std::iter::repeat_n(number, count));
    }
    for pair in sizes.windows(2) {
        for _ in 0..pair[1] {
            text += &line(&mut (0..pair[0]).map(|_| random.between(-2, 2)));
        }
        for _ in 0..pair[1] {
            text += &line(&mut std::iter::once(random.between(-2, 2)));
        }
    }
    text
}

/// Bounds of the inputs, and clauses of comparisons, some of which are negated.
fn property(random: &mut Random, inputs: usize, outputs: usize) -> String {
    let mut names: Vec<String> = (0..inputs).map(|i| format!("X_{i}")).collect();
    names.extend((0..outputs).map(|j| format!("Y_{j}")));
    let mut text: String =
        names.iter().map(|name| format!("(declare-const {name} Real)\n")).collect();
    for name in &names[..inputs] {
        let _ = writeln!(text, "(assert (<= -{SIDE} {name} {SIDE}))");
    }
    let comparison = |random: &mut Random| {
        let relation = *random.pick(&["<=", "<", ">=", ">", "="]);
        let (a, b) = (random.pick(&names).clone(), random.pick(&names).clone());
        let factor = random.between(-2, 2);
        let constant = random.between(-8, 8);
        let text = format!("({relation} (+ {a} (* {factor} {b})) (/ {constant} 2))");
        if random.percent(20) { format!("(not {text})") } else { text }
    };
    for _ in 0..1 + random.below(4) {
        let parts: Vec<String> = (0..1 + random.below(3)).map(|_| comparison(random)).collect();
        let _ = writeln!(text, "(assert (or {}))", parts.join(" "));
    }
    text
}

fn case(number: u64) -> Case {
    let mut random = Random::new(number);
    let (inputs, outputs) = (1 + random.below(2), 1 + random.below(2));
    let network = network(&mut random, inputs, outputs);
    let property = property(&mut random, inputs, outputs);
    Case { inputs, outputs, network, property }
}

/// Returns whether the property holds at a point of a grid.
pub fn on_a_grid(evaluator: &ExactEvaluator, property: &NetworkProperty) -> bool {
    let side = 4 * SIDE + 1;
    let inputs = u32::try_from(property.inputs).expect("few");
    (0..side.pow(inputs)).any(|mut number| {
        let mut point = Vec::new();
        for _ in 0..inputs {
            point.push(Rational::new(number % side - 2 * SIDE, 2).expect("a number"));
            number /= side;
        }
        point.extend(evaluator.scores_at(&point));
        property.holds(&point)
    })
}

fn asked(case: &Case) -> (Outcome<QueryReport>, Network, NetworkProperty) {
    let folder = tempfile::tempdir().expect("a folder");
    let (network, property) = (folder.path().join("n.nnet"), folder.path().join("p.vnnlib"));
    std::fs::write(&network, &case.network).expect("a file");
    std::fs::write(&property, &case.property).expect("a file");
    let read = (
        read_network(&network).expect("a network").network,
        read_property(&property).expect("a property"),
    );
    let request = QueryRequest::new(network, property);
    (query(&request, &CancelFlag::default(), &mut Silent), read.0, read.1)
}

#[test]
fn answers_agree_with_a_grid() {
    let (mut sat, mut beside_the_grid, mut unsat) = (0, 0, 0);
    for number in case_numbers(300) {
        let case = case(number);
        let (queried, network, property) = asked(&case);
        assert_eq!((property.inputs, property.outputs), (case.inputs, case.outputs));
        let evaluator = ExactEvaluator::new(&network).expect("piecewise linear");
        let found = on_a_grid(&evaluator, &property);
        let shown = format!("case {number}: {:#?}\n{}{}", queried, case.network, case.property);
        match queried.report.answer {
            Some(AnswerWord::Sat) => {
                let witness = queried.report.witness.as_ref().expect("a witness");
                let exact = |value: &policert_query::WitnessValue| -> Rational {
                    value.exact.as_deref().expect("exact").parse().expect("a number")
                };
                let mut point: Vec<Rational> = witness.inputs.iter().map(exact).collect();
                point.extend(evaluator.scores_at(&point));
                let printed: Vec<Rational> = witness.outputs.iter().map(exact).collect();
                assert_eq!(point[case.inputs..], printed, "{shown}");
                assert!(property.holds(&point), "{shown}");
                sat += 1;
                beside_the_grid += usize::from(!found);
            }
            Some(AnswerWord::Unsat) => {
                assert!(!found, "{shown}");
                unsat += 1;
            }
            other => panic!("{other:?}: {shown}"),
        }
    }
    assert!(
        sat > 50 && unsat > 50 && beside_the_grid > 0,
        "{sat} sat, {beside_the_grid} of them beside the grid, {unsat} unsat"
    );
}
