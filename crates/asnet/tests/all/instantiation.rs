//! The network of a problem against the definition.

use policert_asnet::{DomainShape, Instance, Nonlinearity, network};
use policert_policy::{ExactEvaluator, Op};
use policert_testkit::{Random, case_numbers, pddl_text};

use crate::definition::Definition;
use crate::random_network::{asnet, task};

/// States of each case.
const STATES: usize = 5;

#[test]
fn networks_compute_what_the_definition_says() {
    let (mut compared, mut different, mut deep) = (0, 0, 0);
    for number in case_numbers(7000) {
        let mut random = Random::new(number);
        let size = 1 + random.below(3);
        let text = pddl_text(&mut random, size);
        let task = task(&text);
        if task.propositions.is_empty() || task.actions.is_empty() {
            continue;
        }
        let shape = DomainShape::of(&task.domain);
        let asnet = asnet(&mut random, shape.clone(), Nonlinearity::Relu);
        let instance = Instance::of(&shape, &task);
        let network = network(&asnet, &instance).expect("a network");
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        deep += usize::from(asnet.architecture.layers > 1);
        for _ in 0..STATES {
            let state: Vec<bool> = task.propositions.iter().map(|_| random.percent(50)).collect();
            let inputs: Vec<i64> = state.iter().map(|&truth| i64::from(truth)).collect();
            let found = exact.scores(&inputs).to_rationals();
            let expected = Definition { asnet: &asnet, task: &task, state: &state }.scores();
            assert_eq!(found, expected, "case {number}\n{}\n{}", text.domain, text.problem);
            compared += 1;
            different += usize::from(expected.iter().any(|score| *score != expected[0]));
        }
    }
    assert!(compared >= 10_000, "{compared} comparisons");
    assert!(different > 3000 && deep > 500, "{different} with different scores, {deep} deep ones");
}

#[test]
fn modules_share_their_weights_and_no_matrix_is_dense() {
    let domain = std::fs::read_to_string(example("domain.pddl")).expect("a domain");
    let blocks: Vec<String> = (0..10).map(|i| format!("b{i}")).collect();
    let on_table: Vec<String> =
        blocks.iter().map(|b| format!("(on-table {b}) (clear {b})")).collect();
    let problem = format!(
        "(define (problem ten) (:domain blocks) (:objects {} - block)
         (:init {} (hand-empty)) (:goal (on b0 b1)))",
        blocks.join(" "),
        on_table.join(" ")
    );
    let task = task(&policert_testkit::PddlText { domain, problem });
    assert_eq!((task.propositions.len(), task.actions.len()), (121, 200));
    let shape = DomainShape::of(&task.domain);
    let mut random = Random::new(1);
    let mut asnet = asnet(&mut random, shape.clone(), Nonlinearity::Relu);
    asnet = policert_asnet::Asnet::zeros(
        shape.clone(),
        policert_asnet::Architecture { layers: 3, dimension: 32, ..asnet.architecture },
    );
    let network = network(&asnet, &Instance::of(&shape, &task)).expect("a network");
    let mut addresses = std::collections::BTreeSet::new();
    let (mut weights, mut neurons) = (0, 0);
    for node in network.nodes() {
        if let Op::Affine { weights: matrix, .. } = &node.op {
            neurons += node.width;
            if addresses.insert(matrix.entries().as_ptr()) {
                weights += matrix.entries().len();
            }
        }
    }
    assert!(neurons > 25_000, "{neurons} neurons");
    assert!(weights < 150_000, "{weights} weights");
}

fn example(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/blocks").join(name)
}
