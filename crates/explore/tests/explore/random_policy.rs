//! Random small networks with integer weights: ties are frequent.

use policert_model::{LabelId, Model, VarId};
use policert_policy::{ElementType, Matrix, NetworkBuilder, Policy};
use policert_testkit::{Random, semantics};

/// A policy for some of the labels.
pub fn random_policy(random: &mut Random, model: &Model) -> Policy {
    let all = model.variables.len();
    let inputs: Vec<VarId> =
        (0..1 + random.below(4)).map(|_| VarId::new(random.below(all))).collect();
    let mut outputs: Vec<LabelId> =
        (0..model.labels.len()).map(LabelId::new).filter(|_| random.percent(80)).collect();
    if outputs.is_empty() {
        outputs.push(LabelId::new(0));
    }
    if random.percent(30) {
        outputs.reverse();
    }
    let mut builder = NetworkBuilder::new(inputs.len()).expect("inputs");
    let mut node = builder.input();
    if random.percent(60) {
        node = layer(random, &mut builder, node, 3);
        node = builder.relu(node);
    }
    let node = layer(random, &mut builder, node, outputs.len());
    let network = builder.finish(node, ElementType::F64);
    let semantics = semantics(random);
    Policy::new(network, inputs, outputs, semantics, &model.domains()).expect("it fits")
}

fn layer(
    random: &mut Random,
    builder: &mut NetworkBuilder,
    input: policert_policy::NodeId,
    rows: usize,
) -> policert_policy::NodeId {
    let columns = builder.width(input);
    let small = [-2.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.1];
    let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| *random.pick(&small)).collect() };
    let weights = Matrix::new(rows, columns, numbers(rows * columns)).expect("it fits");
    let bias = numbers(rows);
    builder.affine(input, weights, bias).expect("it fits")
}
