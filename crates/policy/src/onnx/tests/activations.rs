//! Activation functions, as operators and as exporters write them out.

use super::policies::{file, text};
use super::*;
use crate::activation::{Smooth, TanhGate};

#[test]
fn activations() {
    let relu = Graph::pair().node("Relu", "x -> y", vec![]);
    assert_eq!(relu.scores(&[-3, 4]), ["0", "4"]);
    let leaky = Graph::pair().node("LeakyRelu", "x -> y", vec![float("alpha", 0.5)]);
    assert_eq!(leaky.scores(&[-3, 4]), ["-3/2", "4"]);
    let network = Graph::pair().node("LeakyRelu", "x -> y", vec![]).parse().expect("supported");
    let Op::Pointwise { activation: Activation::Leaky { alpha }, .. } = network.nodes()[1].op
    else {
        unreachable!()
    };
    assert!((alpha - f64::from(0.01f32)).abs() <= 0.0);
    let elu = Graph::pair().node("Elu", "x -> y", vec![float("alpha", 0.5)]);
    let network = elu.parse().expect("supported");
    let Op::Pointwise { activation, .. } = network.nodes()[1].op else { unreachable!() };
    assert_eq!(activation.operator(), ("Elu", vec![0.5]));
    assert!(
        Graph::pair()
            .node("Elu", "x -> y", vec![float("beta", 0.5)])
            .unsupported()
            .contains("beta")
    );
    for operator in ["Tanh", "Sigmoid", "Elu"] {
        let network = Graph::pair().node(operator, "x -> y", vec![]).parse().expect("supported");
        assert!(!network.is_piecewise_linear());
    }
}

#[test]
fn clip_bounds() {
    let bounds = || {
        let graph = Graph::pair().with(floats("lo", &[], &[-1.5]));
        graph.with(floats("hi", &[1], &[2.0])).with(floats("inf", &[], &[f32::INFINITY]))
    };
    for (values, expected) in [
        ("x lo hi -> y", ["-3/2", "2"]),
        ("x lo -> y", ["-3/2", "4"]),
        ("x _ hi -> y", ["-3", "2"]),
        ("x -> y", ["-3", "4"]),
        ("x lo inf -> y", ["-3/2", "4"]),
        // The upper bound wins.
        ("x hi lo -> y", ["-3/2", "-3/2"]),
    ] {
        let scores = bounds().node("Clip", values, vec![]).scores(&[-3, 4]);
        assert_eq!(scores, expected, "{values}");
    }
    let attributes = vec![float("min", -1.0), float("max", 1.0)];
    let old = || Graph::pair().version(10);
    assert_eq!(old().node("Clip", "x -> y", attributes).scores(&[-3, 4]), ["-1", "1"]);
    let least = vec![float("min", f32::MIN)];
    assert_eq!(old().node("Clip", "x -> y", least).scores(&[-3, 4]), ["-3", "4"]);
    let vector = Graph::pair().with(floats("lo", &[2], &[0.0; 2]));
    assert!(vector.node("Clip", "x lo -> y", vec![]).unsupported().contains("bound"));
    let nan = old().node("Clip", "x -> y", vec![float("min", f32::NAN)]);
    assert!(nan.invalid().contains("nan"));
}

/// A trainer's policy, cut off at its scores, decides in every state as the trainer's own library.
#[test]
fn a_network_with_elu_decides_as_its_trainer() {
    let Some(policies) = policert_testkit::shared_folder("benchmarks/policies") else { return };
    let folder = policies.join("dqn-elu");
    let bytes = std::fs::read(folder.join("policy.onnx")).expect("a file");
    let mut model = decode(&bytes).expect("a model");
    let graph = model.graph.as_mut().expect("a graph");
    let end = graph.node.iter().position(|node| node.op_type == "ArgMax").expect("a choice");
    graph.output = vec![ValueInfoProto { name: graph.node[end].input[0].clone(), r#type: None }];
    graph.node.truncate(end);
    let network = parse_onnx("elu.onnx", &model.encode_to_vec()).expect("supported");
    let table = std::fs::read_to_string(folder.join("decisions.csv")).expect("a table");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 68);
    for row in rows {
        let numbers: Vec<i64> =
            row.split(',').take(3).map(|number| number.parse().expect("a number")).collect();
        let best = usize::try_from(numbers[2]).expect("an output");
        let scores = precise_scores(&network, &numbers[..2], 128).expect("enclosed");
        for other in (0..3).filter(|&other| other != best) {
            assert_eq!(scores.compare(best, other), Some(Ordering::Greater), "{row}");
        }
    }
}

/// The curves of a network, in the order of its nodes.
fn curves(network: &Network) -> Vec<Smooth> {
    let curve = |node: &crate::network::NetworkNode| match node.op {
        Op::Pointwise { activation: Activation::Smooth(smooth), .. } => Some(smooth),
        _ => None,
    };
    network.nodes().iter().filter_map(curve).collect()
}

#[test]
fn activations_that_exporters_write_out() {
    let start = || {
        let constants = [("half", 0.5), ("one", 1.0), ("a", 0.797_884_6), ("b", 0.044_715)];
        let others = [("three", 3.0), ("root", std::f32::consts::SQRT_2), ("c", 1.5), ("t", 20.0)];
        constants
            .into_iter()
            .chain(others)
            .fold(Graph::pair(), |graph, (name, value)| graph.with(floats(name, &[], &[value])))
    };
    let steps = |text: &str| {
        text.split(';').fold(start(), |graph, step| {
            let (operator, values) = step.trim().split_once(' ').expect("an operator");
            graph.node(operator, values, vec![])
        })
    };
    let gelu = TanhGate::new(f64::from(0.797_884_6f32), f64::from(0.044_715f32)).expect("usual");
    // With the value at (2, −1), computed in double precision.
    for (text, curve, expected) in [
        (
            "Sigmoid x -> s; Mul x s -> y",
            Smooth::Silu,
            [1.761_594_155_955_765, -0.268_941_421_369_995],
        ),
        (
            "Mul x c -> z; Sigmoid z -> s; Mul s x -> y",
            Smooth::Silu,
            [1.905_148_253_644_866, -0.182_425_523_806_356],
        ),
        (
            "Div x root -> z; Erf z -> e; Add e one -> g; Mul x g -> p; Mul p half -> y",
            Smooth::ErfGate,
            [1.954_499_736_103_642, -0.158_655_253_931_457],
        ),
        (
            "Div x root -> z; Erf z -> e; Add one e -> g; Mul half x -> h; Mul h g -> y",
            Smooth::ErfGate,
            [1.954_499_736_103_642, -0.158_655_253_931_457],
        ),
        (
            "Pow x three -> u; Mul b u -> v; Add x v -> w; Mul w a -> q; Tanh q -> r; \
             Add one r -> g; Mul half g -> h; Mul x h -> y",
            Smooth::TanhGate(gelu),
            [1.954_597_694_087_775, -0.158_808_009_391_973],
        ),
        (
            "Mul x x -> m; Mul m x -> u; Mul u b -> v; Add v x -> w; Mul a w -> q; Tanh q -> r; \
             Add r one -> g; Mul g x -> p; Mul half p -> y",
            Smooth::TanhGate(gelu),
            [1.954_597_694_087_775, -0.158_808_009_391_973],
        ),
        (
            "Softplus x -> s; Tanh s -> r; Mul x r -> p; Mul c p -> y",
            Smooth::Mish,
            [2.915_938_439_405_04, -0.455_102_192_062_065],
        ),
        (
            "Greater x t -> k; Softplus x -> s; Where k x s -> y",
            Smooth::Softplus,
            [2.126_928_011_042_972, 0.313_261_687_518_223],
        ),
    ] {
        let network = file(steps(text)).expect("supported").network;
        assert_eq!(curves(&network), [curve], "{text}");
        let scores = precise_scores(&network, &[2, -1], 128).expect("enclosed");
        for (score, expected) in scores.scores().iter().zip(expected) {
            let value: f64 = score.lower().to_f64();
            assert!((value - expected).abs() < 1e-6, "{text}: {value}, not {expected}");
        }
    }
    for (operator, attributes, expected) in [
        ("Abs", vec![], ["2", "1"]),
        ("HardSigmoid", vec![float("alpha", 0.25), float("beta", 0.5)], ["1", "1/4"]),
    ] {
        let graph = Graph::pair().node(operator, "x -> y", attributes);
        assert_eq!(graph.scores(&[2, -1]), expected);
    }
    for (operator, attributes, expected) in [
        ("Selu", vec![], -1.111_330_737_812_563),
        ("Celu", vec![float("alpha", 2.0)], -0.786_938_680_574_733),
        ("Gelu", vec![text("approximate", "none")], -0.158_655_253_931_457),
        ("Gelu", vec![text("approximate", "tanh")], -0.158_808_009_391_973),
        ("Swish", vec![float("alpha", 1.5)], -0.182_425_523_806_356),
        // −1 · (1/2 − 1/6)
        ("HardSwish", vec![], -0.333_333_328_366_280),
        ("Mish", vec![], -0.303_401_461_374_710),
    ] {
        let network = file(Graph::pair().node(operator, "x -> y", attributes)).expect("supported");
        let value = precise_scores(&network.network, &[2, -1], 128).expect("enclosed").scores()[1]
            .lower()
            .to_f64();
        assert!((value - expected).abs() < 1e-6, "{operator}: {value}, not {expected}");
    }
}
