//! Forms enclose the network at points of the box.

use policert_numeric::Rational;
use policert_policy::activation::Elu;
use policert_policy::{Activation, ElementType, Evaluator, Matrix, NetworkBuilder, Smooth};
use proptest::prelude::*;

use super::*;

/// A small network with one kind of activation.
fn network(weights: &[f64], activation: Activation) -> Network {
    let matrix = |from: usize, rows: usize, columns: usize| {
        Matrix::new(rows, columns, weights[from..from + rows * columns].to_vec())
            .expect("the shape fits")
    };
    let mut builder = NetworkBuilder::new(2).expect("some inputs");
    let input = builder.input();
    let hidden = builder.affine(input, matrix(0, 3, 2), vec![0.25, 0.125, -0.5]).expect("fits");
    let active = builder.activation(hidden, activation).expect("finite");
    let output = builder.affine(active, matrix(6, 1, 3), vec![0.375]).expect("fits");
    builder.finish(output, ElementType::F64)
}

proptest! {
    #[test]
    fn points_lie_in_forms(
        weights in prop::collection::vec(-3.0f64..3.0, 9),
        kind in 0usize..8,
        corner in (-2.0f64..2.0, -2.0f64..2.0),
        widths in (0.0f64..1.0, 0.0f64..1.0),
        part in (0.0f64..=1.0, 0.0f64..=1.0),
    ) {
        let elu = |alpha| Activation::Smooth(Smooth::Elu(Elu { alpha }));
        let activation = [
            Activation::RELU,
            Activation::Leaky { alpha: -0.5 },
            Activation::Clip { lo: -0.5, hi: 1.0 },
            Activation::Smooth(Smooth::Tanh),
            Activation::Smooth(Smooth::Sigmoid),
            elu(1.0),
            elu(2.0),
            elu(-1.0),
        ][kind];
        let network = network(&weights, activation);
        let state = [
            Interval::new(corner.0, corner.0 + widths.0).expect("ordered"),
            Interval::new(corner.1, corner.1 + widths.1).expect("ordered"),
        ];
        let map = ActionMap { scale: Rational::from(2), ..ActionMap::default() };
        let controller = StateController::new(network.clone(), map, None);
        let (middle, offsets) = centred(&state);
        let form = controller.actions(&state, &middle, &offsets).remove(0);
        let point = [
            (corner.0 + widths.0 * part.0).min(state[0].hi()),
            (corner.1 + widths.1 * part.1).min(state[1].hi()),
        ];
        let mut scores = Vec::new();
        Evaluator::new(&network).evaluate(&point, &mut scores);
        let mut action = form.rest();
        for j in 0..2 {
            let offset = Interval::point(point[j]) - Interval::point(middle[j]);
            action = action + Interval::point(form.slopes()[j]) * offset;
        }
        let value = 2.0 * scores[0];
        prop_assert!(action.lo() - 1e-12 <= value && value <= action.hi() + 1e-12);
        let range = form.range(&offsets);
        prop_assert!(range.lo() - 1e-12 <= value && value <= range.hi() + 1e-12);
    }
}

#[test]
fn the_first_of_the_greatest_outputs_counts() {
    // Ranges of three outputs that are known to be equal, ordered, or not bounded.
    let found = |ranges: [(f64, f64); 3]| {
        let range = |i: usize| Interval::point(ranges[i].0).hull(Interval::point(ranges[i].1));
        greatest(3, |a, b| range(a) - range(b))
    };
    assert_eq!(found([(1.0, 1.0), (1.0, 1.0), (0.0, 0.5)]), [0]);
    assert_eq!(found([(0.0, 0.5), (1.0, 1.0), (1.0, 1.0)]), [1]);
    assert_eq!(found([(0.0, 1.0), (1.0, 1.0), (0.0, 2.0)]), [0, 1, 2]);
    assert_eq!(found([(0.0, 0.5), (1.0, 1.0), (0.0, 2.0)]), [1, 2]);
    assert_eq!(greatest(2, |_, _| Interval::EVERYTHING), [0, 1]);
}
