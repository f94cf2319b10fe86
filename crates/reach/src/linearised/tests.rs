//! Exact trajectories stay in the boxes, and the boxes stay small.

use policert_control_loop::{
    ActionMap, BoxEdge, DynamicsKind, ExactRange, ExpressionGraph, StateCondition,
};
use policert_numeric::Rational;
use policert_policy::{ElementType, Matrix, NetworkBuilder};
use proptest::prelude::*;

use super::*;
use crate::post::Post;

/// u = w₀·x + w₁·y + b.
fn controller(weights: [f64; 2], bias: f64) -> StateController {
    let mut builder = NetworkBuilder::new(2).expect("some inputs");
    let input = builder.input();
    let matrix = Matrix::new(1, 2, weights.to_vec()).expect("the shape fits");
    let output = builder.affine(input, matrix, vec![bias]).expect("fits");
    StateController::new(builder.finish(output, ElementType::F64), ActionMap::default(), None)
}

fn dynamics(texts: [&str; 2], substeps: u32, clamp: Option<i64>) -> Dynamics {
    let mut graph = ExpressionGraph::new();
    let names = |name: &str, graph: &mut ExpressionGraph| {
        let position = ["x", "y", "u"].iter().position(|known| *known == name)?;
        Some(graph.variable(position))
    };
    let components = texts.map(|text| graph.parse(text, names).expect("an expression")).to_vec();
    let clamp = clamp.map(|bound| {
        let edge = |bound: i64| BoxEdge::new(Rational::integer(bound));
        vec![(edge(-bound), edge(bound)); 2]
    });
    let period = Rational::ONE;
    let (disturbances, remembered) = (Vec::new(), Vec::new());
    let kind = DynamicsKind::Difference;
    Dynamics { kind, graph, components, substeps, period, clamp, disturbances, remembered }
}

const UPDATES: [[&str; 2]; 5] = [
    ["x + 0.1*y", "y + 0.1*(u*y*y - x)"],
    ["x + 0.1*(y - x^3)", "y + 0.1*u"],
    ["0.8*x - 0.6*y + 0.01*u", "0.6*x + 0.8*y"],
    ["x + 0.1*y/(2 + x^2)", "y + 0.1*abs(x)*u"],
    ["max(x, y) - 0.1*u", "0.5*y if x < 0 else 0.25*y + 0.1*u"],
];

#[test]
fn turns_do_not_blow_up_boxes() {
    let mut sets = Linearised::new(&dynamics(UPDATES[2], 1, None), 1).expect("smooth");
    sets.begin(vec![Interval::ball(1.0, 0.25), Interval::ball(0.0, 0.25)]);
    for _ in 0..100 {
        sets.take_actions(&controller([0.0, 0.0], 0.0), &Taken::One(0)).expect("bounded");
        sets.advance(None).expect("bounded");
    }
    // A turned square is at most √2 times as wide.
    assert!(sets.hull().iter().all(|side| side.width() < 0.708), "{:?}", sets.hull());
}

/// Differential equations under an action that is held for a quarter.
fn equations(texts: [&str; 2], substeps: u32) -> Dynamics {
    let period = Rational::new(1, 4).expect("not 0");
    Dynamics { kind: DynamicsKind::Ode, period, ..dynamics(texts, substeps, None) }
}

#[test]
fn differential_equations_keep_what_state_and_action_have_in_common() {
    // A cart under u = -x - 2y, whose boxes alone grow without bounds.
    let mut sets = Linearised::new(&equations(["y", "u"], 1), 1).expect("smooth");
    sets.begin(vec![Interval::ball(1.0, 0.1), Interval::ball(0.0, 0.1)]);
    for _ in 0..40 {
        sets.take_actions(&controller([-1.0, -2.0], 0.0), &Taken::One(0)).expect("bounded");
        sets.advance(None).expect("bounded");
    }
    assert!(sets.hull().iter().all(|side| side.magnitude() < 0.01), "{:?}", sets.hull());
}

proptest! {
    #[test]
    fn solutions_of_differential_equations_stay_inside(
        equation in 0..3usize,
        weights in [-8i8..8, -8i8..8, -8i8..8],
        corner in [-16i64..16, -16i64..16],
        widths in [0i64..8, 0i64..8],
        part in [0i64..=4, 0i64..=4],
        substeps in 1u32..4,
    ) {
        let texts = [["y", "u"], ["y - 0.1*x^3", "u + 0.1*sin(x)"], ["abs(y)", "0.5*u - x"]];
        let dynamics = equations(texts[equation], substeps);
        let [w0, w1, bias] = weights.map(|w| f64::from(w) / 8.0);
        let controller = controller([w0, w1], bias);
        let at = |i: usize, n: i64| {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let x = (corner[i] * 4 + widths[i] * n) as f64 / 64.0;
            x
        };
        let sides = [0, 1].map(|i| Interval::point(at(i, 0)).hull(Interval::point(at(i, 4))));
        let mut state = [0, 1].map(|i| Interval::point(at(i, part[i]))).to_vec();
        let mut sets = Linearised::new(&dynamics, 1).expect("smooth");
        sets.begin(sides.to_vec());
        let mut post: Post<Interval> = Post::new(&dynamics, 1).expect("smooth");
        for _ in 0..4 {
            let weight = Interval::point;
            let u = weight(w0) * state[0] + weight(w1) * state[1] + weight(bias);
            let (mut image, mut between) = (Vec::new(), Vec::new());
            prop_assert!(post.post(&state, &[u], &mut image, None).is_some());
            prop_assert!(sets.take_actions(&controller, &Taken::One(0)).is_some());
            prop_assert!(sets.advance(Some(&mut between)).is_some());
            prop_assert_eq!(between.len(), 2 * substeps as usize);
            state = image;
            for (side, point) in sets.hull().iter().zip(&state) {
                prop_assert!(side.intersection(*point).is_some(), "{:?} {:?}", side, point);
            }
            let names = ["x".to_owned(), "y".to_owned()];
            let asked = ["x + y <= 1", "x*y - y^2 < 0.5 and sin(x) > y"][usize::from(substeps == 1)];
            let condition = StateCondition::parse(asked, &names).expect("a condition");
            let (all, one) = (sets.values(condition.asked()), condition.asked().ranges(&state));
            for (all, one) in all.expect("smooth").iter().zip(one.expect("a value")) {
                prop_assert!(all.intersection(one).is_some(), "{:?} {:?}", all, one);
            }
            for (side, last) in sets.hull().iter().zip(&between[between.len() - 2..]) {
                prop_assert!(side.intersection(*last).is_some());
            }
        }
    }

    #[test]
    fn exact_trajectories_stay_inside(
        update in 0..UPDATES.len(),
        weights in [-8i8..8, -8i8..8, -8i8..8],
        corner in [-16i64..16, -16i64..16],
        widths in [0i64..8, 0i64..8],
        part in [0i64..=4, 0i64..=4],
        substeps in 1u32..4,
        clamp in prop::option::of(1i64..3),
    ) {
        let dynamics = dynamics(UPDATES[update], substeps, clamp);
        let [w0, w1, bias] = weights.map(|w| f64::from(w) / 8.0);
        let controller = controller([w0, w1], bias);
        let number = |n: i64, d: i64| Rational::new(n, d).expect("not 0");
        let sides = [0, 1].map(|i| {
            let (lo, hi) = (number(corner[i], 16), number(corner[i] + widths[i], 16));
            Interval::enclosing(&lo).hull(Interval::enclosing(&hi))
        });
        let mut state =
            [0, 1].map(|i| number(corner[i] * 4 + widths[i] * part[i], 64));
        let mut sets = Linearised::new(&dynamics, 1).expect("smooth");
        sets.begin(sides.to_vec());
        let tape: Tape<ExactRange> = Tape::new(&dynamics.graph, &dynamics.components, 3);
        // The numbers grow threefold with each cube.
        for _ in 0..(4 / substeps) {
            let weight = |w: f64| Rational::from_f64(w).expect("finite");
            let u = weight(w0) * &state[0] + weight(w1) * &state[1] + weight(bias);
            let mut between = Vec::new();
            prop_assert!(sets.take_actions(&controller, &Taken::One(0)).is_some());
            prop_assert!(sets.advance(Some(&mut between)).is_some());
            between.extend_from_slice(sets.hull());
            prop_assert_eq!(between.len(), 2 * substeps as usize);
            for (substep, sides) in between.chunks_exact(2).enumerate() {
                let point = |x: &Rational| ExactRange::new(x.clone(), x.clone());
                let image = tape
                    .evaluate(&[point(&state[0]), point(&state[1]), point(&u)])
                    .expect("a value");
                state = [0, 1].map(|i| image[i].lower().expect("finite"));
                if let Some(bound) = clamp.filter(|_| substep + 1 == substeps as usize) {
                    let bound = Rational::integer(bound);
                    state = state.map(|x| x.max(-&bound).min(bound.clone()));
                }
                for i in 0..2 {
                    prop_assert!(sides[i].contains_exact(&state[i]), "{:?} {:?}", sides, state);
                }
            }
        }
    }
}
