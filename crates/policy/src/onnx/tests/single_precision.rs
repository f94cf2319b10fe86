//! Graphs with operators of several numbers that vary, in single precision: all evaluations are within the bounds.

use policert_numeric::Rational;
use policert_testkit::{Random, case_numbers};

use super::quantised::typed;
use super::*;
use crate::single::SinglePrecision;
use crate::single::tests::scores_in_any_order;

/// A number between -2 and 2 in single precision.
fn number(random: &mut Random) -> f32 {
    let thousandths = i16::try_from(random.below(4001)).expect("small") - 2000;
    f32::from(thousandths) / 997.0
}

fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| number(random)).collect()
}

const WIDTH: usize = 6;

/// Steps between `h`, the image of two inputs under a matrix of six rows, and `v`, a vector of six numbers that makes
/// three scores.
fn graph(random: &mut Random, steps: &str, version: i64) -> Graph {
    let scalars = [("one", 1.0), ("two", 2.0), ("three", 3.0), ("eps", 1e-5), ("half", 0.5)];
    let mut graph = scalars
        .into_iter()
        .fold(Graph::pair().version(version), |graph, (name, value)| {
            graph.with(floats(name, &[], &[value]))
        })
        .with(floats("A", &[2, 6], &numbers(random, 2 * WIDTH)))
        .with(floats("a", &[6], &numbers(random, WIDTH)))
        .with(floats("gamma", &[6], &numbers(random, WIDTH)))
        .with(floats("beta", &[6], &numbers(random, WIDTH)))
        .with(floats("two_gammas", &[2], &numbers(random, 2)))
        .with(floats("two_betas", &[2], &numbers(random, 2)))
        .with(floats("B", &[6, 3], &numbers(random, 3 * WIDTH)))
        .with(integers("image", &[3], &[1, 2, 3]))
        .with(integers("row", &[2], &[1, 6]))
        .node("Gemm", "x A a -> h", vec![]);
    for step in steps.split(';') {
        let (operator, values) = step.trim().split_once(' ').expect("an operator");
        let attributes = match operator {
            "ReduceMean" => vec![ints("axes", &[-1])],
            "Split" => vec![int("axis", 1)],
            "Concat" => vec![int("axis", 1)],
            _ => vec![],
        };
        graph = graph.node(operator, values, attributes);
    }
    graph.node("MatMul", "v B -> y", vec![])
}

const FORMS: [(&str, i64); 14] = [
    ("LayerNormalization h gamma beta -> v", 17),
    (
        "ReduceMean h -> m; Sub h m -> d; Pow d two -> q; ReduceMean q -> s; Add s eps -> t; Sqrt t -> r; \
         Div d r -> n; Mul n gamma -> g; Add g beta -> v",
        13,
    ),
    ("RMSNormalization h gamma -> v", 23),
    (
        "Reshape h image -> i; InstanceNormalization i two_gammas two_betas -> j; Reshape j row -> v",
        13,
    ),
    ("Split h -> a1 b1; Sigmoid b1 -> s; Mul a1 s -> g; Concat g a1 -> v", 13),
    ("Mul h h -> q; Add q one -> t; Div h t -> v", 13),
    ("Mul h h -> q; Add q one -> t; Div two t -> v", 13),
    ("Mul h h -> q; Add q one -> t; Log t -> l; Mul l h -> v", 13),
    ("Pow h three -> c; Tanh c -> v", 13),
    ("Softplus h -> s; Add s one -> t; Reciprocal t -> r; Mul r h -> v", 13),
    ("Floor h -> f; Round h -> r; Add f r -> v", 13),
    ("Neg h -> n; Greater h n -> c; Where c h beta -> v", 13),
    ("Tanh h -> t; LessOrEqual t gamma -> c; Where c gamma beta -> v", 13),
    ("Mul h gamma -> g; Sub g beta -> s; Mul s h -> p; Mul p h -> v", 13),
];

fn as_written(bytes: Vec<u8>) -> SinglePrecision {
    let reading = Reading { as_written: true, ..Reading::default() };
    let file = parse_within("net.onnx", bytes, &reading, &mut Meter::default());
    SinglePrecision::new(&file.unwrap_or_else(|error| panic!("{error}")).network).expect("known")
}

fn off(computed: f32, exact: &policert_numeric::Enclosure) -> Rational {
    let computed = Rational::from_f32(computed).expect("finite");
    (&computed - exact.lower()).abs().max((computed - exact.upper()).abs())
}

#[test]
fn every_evaluation_of_products_and_quotients_is_within_the_bounds() {
    let (mut known, mut close) = ([0; FORMS.len()], [f64::INFINITY; FORMS.len()]);
    for case in case_numbers(12 * FORMS.len() as u64) {
        let form = usize::try_from(case).unwrap_or(0) % FORMS.len();
        let (steps, version) = FORMS[form];
        let mut random = Random::new(case);
        let graph = graph(&mut random, steps, version);
        let bytes = graph.bytes();
        let single = as_written(bytes.clone());
        let exact = parse_onnx("net.onnx", &bytes).expect("supported");
        for _ in 0..6 {
            let mut side = || i64::try_from(random.below(41)).expect("small") - 20;
            let inputs = [side(), side()];
            let scores = precise_scores(&exact, &inputs, 200).expect("enclosed");
            let errors = single.errors_at(&inputs);
            let mut computed = vec![single.plain_scores(&inputs)];
            computed.extend(
                (0..8).map(|_| scores_in_any_order(single.network(), &inputs, &mut random)),
            );
            for (output, score) in scores.scores().iter().enumerate() {
                let radius = errors.radii()[output];
                let Some(bound) = Rational::from_f64(radius) else { continue };
                known[form] += 1;
                for computed in &computed {
                    let off = off(computed[output], score);
                    assert!(off <= bound, "{steps}, case {case}: {off} > {radius} at {inputs:?}");
                    close[form] = close[form].min(radius / off.to_f64().max(1e-30));
                }
            }
        }
    }
    for ((steps, _), (known, close)) in FORMS.iter().zip(known.iter().zip(close)) {
        assert!(*known > 150, "{steps}: {known}");
        assert!(close < 2000.0, "{steps}: {close}");
    }
}

/// The normalised numbers as libraries compute them: by the squares of differences, by the mean of squares, or by
/// a factor and a summand for all.
fn normalised(x: &[f32], way: usize, gamma: &[f32], beta: &[f32]) -> Vec<f32> {
    let count = f32::from(u8::try_from(x.len()).expect("few"));
    let mean = x.iter().sum::<f32>() / count;
    let variance = match way {
        0 => x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count,
        _ => x.iter().map(|x| x * x).sum::<f32>() / count - mean * mean,
    };
    let inverse = 1.0 / (variance + 1e-5).sqrt();
    let each = x.iter().zip(gamma).zip(beta);
    match way {
        0 => each.map(|((x, gamma), beta)| (x - mean) * inverse * gamma + beta).collect(),
        1 => {
            let root = (variance + 1e-5).sqrt();
            each.map(|((x, gamma), beta)| (x - mean) / root * gamma + beta).collect()
        }
        _ => each
            .map(|((x, gamma), beta)| {
                let factor = inverse * gamma;
                x.mul_add(factor, beta - mean * factor)
            })
            .collect(),
    }
}

#[test]
fn a_normalisation_is_within_the_bounds_however_it_is_computed() {
    let mut differs = 0;
    for case in case_numbers(200) {
        let mut random = Random::new(case);
        let count = 2 + random.below(5);
        let weights = numbers(&mut random, count);
        // Close to each other, and far from 0.
        let far = [0.0, 3.0, 300.0][random.below(3)];
        let offsets: Vec<f32> = numbers(&mut random, count).iter().map(|x| x + far).collect();
        let (gamma, beta) = (numbers(&mut random, count), numbers(&mut random, count));
        let size = i64::try_from(count).expect("small");
        let written = "ReduceMean h -> m; Sub h m -> d; Mul d d -> q; ReduceMean q -> s; Add s eps -> t; \
                       Sqrt t -> r; Div d r -> n; Mul n gamma -> g; Add g beta -> y";
        for steps in ["LayerNormalization h gamma beta -> y", written] {
            let graph = Graph::new(&[None, Some(1)])
                .version(17)
                .with(floats("A", &[1, size], &weights))
                .with(floats("a", &[size], &offsets))
                .with(floats("gamma", &[size], &gamma))
                .with(floats("beta", &[size], &beta))
                .with(floats("eps", &[], &[1e-5]))
                .node("Gemm", "x A a -> h", vec![]);
            let graph = steps.split(';').fold(graph, |graph, step| {
                let (operator, values) = step.trim().split_once(' ').expect("an operator");
                let axes =
                    if operator == "ReduceMean" { vec![ints("axes", &[-1])] } else { vec![] };
                graph.node(operator, values, axes)
            });
            let bytes = graph.bytes();
            let single = as_written(bytes.clone());
            let exact = parse_onnx("net.onnx", &bytes).expect("supported");
            for x in [-7i8, -1, 0, 3, 20] {
                let hidden: Vec<f32> =
                    weights.iter().zip(&offsets).map(|(w, a)| w * f32::from(x) + a).collect();
                let inputs = [i64::from(x)];
                let scores = precise_scores(&exact, &inputs, 200).expect("enclosed");
                let errors = single.errors_at(&inputs);
                let ways: Vec<Vec<f32>> =
                    (0..3).map(|way| normalised(&hidden, way, &gamma, &beta)).collect();
                differs += usize::from(ways[0] != ways[1]);
                for (output, score) in scores.scores().iter().enumerate() {
                    let Some(bound) = Rational::from_f64(errors.radii()[output]) else { continue };
                    for (way, computed) in ways.iter().enumerate() {
                        let off = off(computed[output], score);
                        assert!(off <= bound, "{steps} {way}, case {case}: {off} > {bound} at {x}");
                    }
                }
            }
        }
    }
    assert!(differs > 500, "{differs}");
}

#[test]
fn what_a_comparison_may_choose_is_not_certain_where_its_sides_are_close() {
    // 1.1·x and 1.1·x + 10⁻⁷, whose order rounding may change.
    let graph = Graph::new(&[None, Some(1)])
        .with(floats("A", &[1, 1], &[1.1]))
        .with(floats("near", &[1], &[1e-7]))
        .with(floats("five", &[1], &[5.0]))
        .node("MatMul", "x A -> a", vec![])
        .node("Add", "a near -> b", vec![])
        .node("Less", "a b -> c", vec![])
        .node("Where", "c five a -> y", vec![]);
    let single = as_written(graph.bytes());
    let at = |x: i64| single.errors_at(&[x]).radii()[0];
    // 1.1·100 is 105 from 5, and at 0 both sides are known.
    assert!(at(100) > 104.0, "{}", at(100));
    assert!(at(0) < 1e-6, "{}", at(0));
    // The plain evaluation compares what it computes.
    assert_eq!(single.plain_scores(&[100]), [1.1f32 * 100.0]);
    assert_eq!(single.plain_scores(&[0]), [5.0]);
}

/// The integer of a type with 256 numbers that stands for a sum times a factor.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "as a runtime does"
)]
fn quantised(sum: i32, factor: f32, zero: i32) -> i32 {
    ((sum as f32 * factor).round_ties_even() as i32 + zero).clamp(0, 255)
}

#[test]
fn quantised_layers_are_within_the_bounds_where_a_runtime_computes_with_integers() {
    let (mut certain, mut jumps) = (0, 0);
    for case in case_numbers(150) {
        let mut random = Random::new(case);
        let mut integer = |span: usize| i32::try_from(random.below(span)).expect("small");
        let weights: Vec<i32> = (0..6).map(|_| integer(255) - 127).collect();
        let second: Vec<i32> = (0..6).map(|_| integer(255) - 127).collect();
        let bias: Vec<i32> = (0..3).map(|_| integer(2001) - 1000).collect();
        let (zero_h, zero_x) = (integer(256), integer(256));
        let mut scale = || number(&mut random).abs() / 50.0 + 0.003;
        let (sx, sw, sh, sv) = (scale(), scale(), scale(), scale());
        let zero = |name: &str, kind: i32, value: i32| typed(name, &[], kind, &[value]);
        let (unsigned, signed) = (data_type::UINT8, data_type::INT8);
        let graph = Graph::pair()
            .with(floats("sx", &[], &[sx]))
            .with(floats("sw", &[], &[sw]))
            .with(floats("sb", &[], &[sx * sw]))
            .with(floats("sh", &[], &[sh]))
            .with(floats("sv", &[], &[sv]))
            .with(zero("zx", unsigned, zero_x))
            .with(zero("zh", unsigned, zero_h))
            .with(zero("z8", signed, 0))
            .with(zero("z32", data_type::INT32, 0))
            .with(typed("W", &[2, 3], signed, &weights))
            .with(typed("V", &[3, 2], signed, &second))
            .with(typed("b", &[3], data_type::INT32, &bias))
            .node("QuantizeLinear", "x sx zx -> xq", vec![])
            .node("DequantizeLinear", "xq sx zx -> xd", vec![])
            .node("DequantizeLinear", "W sw z8 -> wd", vec![])
            .node("DequantizeLinear", "b sb z32 -> bd", vec![])
            .node("MatMul", "xd wd -> m", vec![])
            .node("Add", "m bd -> h", vec![])
            .node("QuantizeLinear", "h sh zh -> hq", vec![])
            .node("DequantizeLinear", "hq sh zh -> hd", vec![])
            .node("DequantizeLinear", "V sv z8 -> vd", vec![])
            .node("MatMul", "hd vd -> y", vec![]);
        let bytes = graph.bytes();
        let single = as_written(bytes.clone());
        let exact = parse_onnx("net.onnx", &bytes).expect("supported");
        let exact = ExactEvaluator::new(&exact).expect("rational");
        for _ in 0..6 {
            let mut side = || i8::try_from(random.below(61)).expect("small") - 30;
            let x = [side(), side()];
            let inputs = x.map(i64::from);
            let xq: Vec<i32> =
                x.iter().map(|&x| quantised(i32::from(x), 1.0 / sx, zero_x).max(0)).collect();
            let hq: Vec<i32> = (0..3)
                .map(|column| {
                    let sum: i32 =
                        (0..2).map(|row| (xq[row] - zero_x) * weights[row * 3 + column]).sum();
                    quantised(sum + bias[column], sx * sw / sh, zero_h)
                })
                .collect();
            let errors = single.errors_at(&inputs);
            let scores = exact.scores(&inputs).to_rationals();
            for column in 0..2 {
                let sum: i32 =
                    (0..3).map(|row| (hq[row] - zero_h) * second[row * 2 + column]).sum();
                #[expect(clippy::cast_precision_loss, reason = "few bits")]
                let computed = sum as f32 * (sh * sv);
                let radius = errors.radii()[column];
                let bound = Rational::from_f64(radius).expect("known");
                let off = (Rational::from_f32(computed).expect("finite") - &scores[column]).abs();
                assert!(off <= bound, "case {case}: {off} > {radius} at {x:?}");
                let size = scores[column].to_f64().abs().max(1.0);
                certain += usize::from(radius < 1e-3 * size);
                jumps += usize::from(radius >= 1e-3 * size);
            }
        }
    }
    assert!(certain > 1000, "{certain} {jumps}");
}
