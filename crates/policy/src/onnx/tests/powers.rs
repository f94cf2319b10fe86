//! Products, quotients, powers, roots, logarithms, and layers that normalise.

use super::policies::file;
use super::*;

/// The scores in double precision.
fn values(graph: Graph, inputs: &[i64]) -> Vec<f64> {
    let network = file(graph).unwrap_or_else(|error| panic!("{error}")).network;
    let scores = precise_scores(&network, inputs, 200).expect("enclosed");
    let width = |score: &policert_numeric::Enclosure| (score.upper() - score.lower()).to_f64();
    assert!(scores.scores().iter().all(|score| width(score) < 1e-30));
    scores.scores().iter().map(|score| score.upper().to_f64()).collect()
}

fn assert_near(found: &[f64], expected: &[f64], context: &str) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    let is_near = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(is_near, "{context}: {found:?}, not {expected:?}");
}

fn constants() -> Graph {
    let all = [
        ("half", 0.5),
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("minus", -1.0),
        ("third", 1.5),
    ];
    all.into_iter()
        .fold(Graph::pair(), |graph, (name, value)| graph.with(floats(name, &[], &[value])))
}

fn steps(text: &str) -> Graph {
    text.split(';').fold(constants(), |graph, step| {
        let (operator, values) = step.trim().split_once(' ').expect("an operator");
        graph.node(operator, values, vec![])
    })
}

#[test]
fn products_and_quotients() {
    let (a, b) = (3.0f64, -2.0f64);
    let squares = [a * a, b * b];
    for (text, expected) in [
        ("Mul x x -> y", squares),
        ("Pow x two -> y", squares),
        ("Pow x three -> y", [27.0, -8.0]),
        ("Add x one -> z; Mul x z -> y", [12.0, 2.0]),
        ("Mul x x -> s; Mul s s -> y", [81.0, 16.0]),
        ("Mul x x -> s; Add s one -> t; Div x t -> y", [0.3, -0.4]),
        ("Mul x x -> s; Add s one -> t; Div two t -> y", [0.2, 0.4]),
        ("Mul x x -> s; Add s one -> t; Neg t -> u; Div x u -> y", [-0.3, 0.4]),
        ("Sigmoid x -> s; Mul s s -> y", [0.907_397_467_047_206_4, 0.014_209_336_618_611_4]),
        ("Mul x x -> s; Sqrt s -> y", [3.0, 2.0]),
        ("Mul x x -> s; Pow s half -> y", [3.0, 2.0]),
        ("Mul x x -> s; Add s one -> t; Pow t minus -> y", [0.1, 0.2]),
        ("Mul x x -> s; Add s one -> t; Log t -> y", [10.0f64.ln(), 5.0f64.ln()]),
        (
            "Mul x x -> s; Add s one -> t; Sqrt t -> r; Reciprocal r -> y",
            [0.1f64.sqrt(), 0.2f64.sqrt()],
        ),
        ("Exp x -> e; Mul e x -> y", [a * a.exp(), b * b.exp()]),
        ("Exp x -> e; Sub e one -> f; Mul f x -> y", [a * (a.exp() - 1.0), b * (b.exp() - 1.0)]),
        // The sum of powers of e is not bounded away from 0; with 1 it is.
        ("Exp x -> e; Add x e -> s; Exp x -> f; Sub s f -> y", [a, b]),
        (
            "Softplus x -> e; Add e one -> f; Reciprocal f -> y",
            [1.0 / (1.0 + (1.0 + a.exp()).ln()), 1.0 / (1.0 + (1.0 + b.exp()).ln())],
        ),
    ] {
        assert_near(&values(steps(text), &[3, -2]), &expected, text);
    }
}

#[test]
fn what_may_have_no_value_is_refused() {
    for (text, reason) in [
        ("Reciprocal x -> y", "divisor could be 0"),
        ("Div one x -> y", "divisor could be 0"),
        ("Mul x x -> s; Div one s -> y", "divisor could be 0"),
        ("Exp x -> e; Add e x -> s; Div x s -> y", "divisor could be 0"),
        ("Sqrt x -> y", "argument could be negative"),
        ("Log x -> y", "argument could be 0 or negative"),
        ("Relu x -> r; Log r -> y", "argument could be 0 or negative"),
        ("Pow x third -> y", "the exponent is 1.5"),
        ("Pow x x -> y", "the exponent must be constant"),
        ("Pow two x -> y", "the exponent must be constant"),
    ] {
        let message = steps(text).unsupported();
        assert!(message.contains(reason), "{text}: {message}");
    }
    // With other bounds they have one.
    for text in [
        "Max x one -> m; Log m -> y",
        "Max x one -> m; Reciprocal m -> y",
        "Min x minus -> m; Reciprocal m -> y",
        "Relu x -> r; Sqrt r -> y",
    ] {
        values(steps(text), &[3, -2]);
    }
}

#[test]
fn an_exponential_beyond_double_precision_has_no_enclosure() {
    let narrow = int("to", data_type::FLOAT16.into());
    let cast = steps("Exp x -> e").node("Cast", "e -> y", vec![narrow]);
    assert!(cast.unsupported().contains("rounds"));
    let network = file(steps("Exp x -> e; Mul e x -> y")).expect("supported").network;
    assert!(precise_scores(&network, &[2000, 0], 128).is_none());
    assert!(precise_scores(&network, &[800, 0], 128).is_some());
}

/// (x − mean) / √(variance + ε) by the definition.
fn normalised(x: &[f64], epsilon: f64) -> Vec<f64> {
    let n = f64::from(u32::try_from(x.len()).expect("few"));
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    x.iter().map(|x| (x - mean) / (variance + epsilon).sqrt()).collect()
}

#[test]
fn layers_that_normalise() {
    let inputs = [3i64, -2, 7, 5, 0, 1];
    let x: Vec<f64> = [3.0, -2.0, 7.0, 5.0, 0.0, 1.0].to_vec();
    let epsilon = f64::from(1e-5f32);
    let shaped = |dims: &[i64]| {
        let dims: Vec<Option<i64>> = dims.iter().map(|&size| Some(size)).collect();
        Graph::new(&dims)
            .with(floats("s6", &[6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
            .with(floats("s3", &[3], &[1.0, 2.0, -3.0]))
            .with(floats("b3", &[3], &[0.5, 0.0, 1.0]))
            .with(floats("s2", &[2], &[1.0, 2.0]))
            .with(floats("b2", &[2], &[0.5, 0.0]))
    };
    let whole = normalised(&x, epsilon);
    let stretched: Vec<f64> = whole.iter().zip(1..).map(|(x, k)| x * f64::from(k)).collect();
    let graph = shaped(&[1, 6]).node("LayerNormalization", "x s6 -> y", vec![]);
    assert_near(&values(graph, &inputs), &stretched, "one row");
    // Two rows of three.
    let halves = [normalised(&x[..3], 0.25), normalised(&x[3..], 0.25)].concat();
    let (scale, bias) = ([1.0, 2.0, -3.0], [0.5, 0.0, 1.0]);
    let expected: Vec<f64> =
        halves.iter().enumerate().map(|(i, x)| x * scale[i % 3] + bias[i % 3]).collect();
    let attributes = || vec![float("epsilon", 0.25)];
    let graph = shaped(&[1, 2, 3]).node("LayerNormalization", "x s3 b3 -> y", attributes());
    assert_near(&values(graph, &inputs), &expected, "two rows");
    // Two channels of three.
    let expected: Vec<f64> =
        halves.iter().enumerate().map(|(i, x)| x * scale[i / 3] + bias[i / 3] * 1.0).collect();
    let graph = shaped(&[1, 2, 3]).node("InstanceNormalization", "x s2 b2 -> y", attributes());
    assert_near(&values(graph, &inputs), &expected, "two channels");
    let grouped = |groups: i64| {
        let attributes = vec![float("epsilon", 0.25), int("num_groups", groups)];
        shaped(&[1, 2, 3]).version(21).node("GroupNormalization", "x s2 b2 -> y", attributes)
    };
    assert_near(&values(grouped(2), &inputs), &expected, "two groups");
    let all = normalised(&x, 0.25);
    let expected: Vec<f64> =
        all.iter().enumerate().map(|(i, x)| x * scale[i / 3] + bias[i / 3]).collect();
    assert_near(&values(grouped(1), &inputs), &expected, "one group");
    assert!(grouped(3).invalid().contains("no multiple of 3 groups"));
    // The first version has numbers for each group.
    let first = |groups: i64| {
        let attributes = vec![float("epsilon", 0.25), int("num_groups", groups)];
        shaped(&[1, 2, 3]).version(18).node("GroupNormalization", "x s2 b2 -> y", attributes)
    };
    assert!(first(1).invalid().contains("2 numbers for 1 groups"));
    assert!(file(first(2)).is_ok());
    let mean = x.iter().map(|x| x * x).sum::<f64>() / 6.0;
    let expected: Vec<f64> =
        x.iter().zip(1..).map(|(x, k)| x * f64::from(k) / (mean + epsilon).sqrt()).collect();
    let graph = shaped(&[1, 6]).version(23).node("RMSNormalization", "x s6 -> y", vec![]);
    assert_near(&values(graph, &inputs), &expected, "root mean square");
    let graph = shaped(&[1, 6]).node("LayerNormalization", "x s6 -> y mean deviation", vec![]);
    assert_near(&values(graph, &inputs), &stretched, "with its statistics");
    let graph = shaped(&[1, 6])
        .node("LayerNormalization", "x s6 -> z mean deviation", vec![])
        .node("Add", "z mean -> y", vec![]);
    assert!(graph.unsupported().contains("not computed"));
    let none = shaped(&[1, 6]).node("LayerNormalization", "x s6 -> y", vec![float("epsilon", 0.0)]);
    assert!(none.unsupported().contains("divisor could be 0"));
}

/// As the exporters of torch write it out for early versions of the operator set.
#[test]
fn a_layer_that_is_written_out() {
    let graph = Graph::new(&[Some(1), Some(3)])
        .with(floats("two", &[], &[2.0]))
        .with(floats("epsilon", &[], &[1e-5]))
        .with(floats("scale", &[3], &[1.0, 2.0, -3.0]))
        .node("ReduceMean", "x -> m", vec![ints("axes", &[-1])])
        .node("Sub", "x m -> d", vec![])
        .node("Pow", "d two -> s", vec![])
        .node("ReduceMean", "s -> v", vec![ints("axes", &[-1])])
        .node("Add", "v epsilon -> w", vec![])
        .node("Sqrt", "w -> r", vec![])
        .node("Div", "d r -> n", vec![])
        .node("Mul", "n scale -> y", vec![]);
    let expected = normalised(&[3.0, -2.0, 7.0], f64::from(1e-5f32));
    let expected: Vec<f64> = expected.iter().zip([1.0, 2.0, -3.0]).map(|(x, k)| x * k).collect();
    assert_near(&values(graph, &[3, -2, 7]), &expected, "written out");
}

#[test]
fn norms() {
    for (operator, expected) in [("ReduceL1", 7.0), ("ReduceL2", 5.0), ("ReduceSumSquare", 25.0)] {
        let graph = Graph::pair().node(operator, "x -> s", vec![ints("axes", &[1])]);
        assert_near(
            &values(graph.node("Add", "x s -> y", vec![]), &[3, -4]),
            &[expected + 3.0, expected - 4.0],
            operator,
        );
    }
}

#[test]
fn quantised_weights() {
    let weights = |dims: &[i64], name: &str, values: &[i64]| integers(name, dims, values);
    let graph = || {
        Graph::pair()
            .with(weights(&[2, 2], "q", &[3, -2, 127, 0]))
            .with(weights(&[2], "zeros", &[1, -1]))
            .with(floats("scales", &[2], &[0.5, 0.1]))
            .with(floats("scale", &[], &[0.25]))
            .with(floats("short", &[3], &[1.0; 3]))
    };
    let whole =
        graph().node("DequantizeLinear", "q scale -> w", vec![]).node("MatMul", "x w -> y", vec![]);
    // 2 · 3/4 + 1 · 127/4, −2 · 2/4.
    assert_eq!(whole.scores(&[2, 1]), ["133/4", "-1"]);
    let columns = graph()
        .node("DequantizeLinear", "q scales zeros -> w", vec![int("axis", 1)])
        .node("MatMul", "x w -> y", vec![]);
    assert_eq!(columns.scores(&[2, 1])[0], "65");
    let wrong =
        graph().node("DequantizeLinear", "q short -> w", vec![]).node("MatMul", "x w -> y", vec![]);
    assert!(wrong.invalid().contains("3 scales"));
}

#[test]
fn what_is_refused_says_what_can_be_done() {
    for (operator, way) in [
        ("Mod", "let the interface compute it"),
        ("LSTM", "without memory"),
        ("Multinomial", "--choice sample"),
    ] {
        let message = Graph::pair().node(operator, "x -> y", vec![]).unsupported();
        assert!(message.contains(operator) && message.contains(way), "{message}");
    }
}

/// What is written is read again.
#[test]
fn written_and_read_again() {
    let graph =
        steps("Mul x x -> s; Add s one -> t; Sqrt t -> r; Div x r -> q; Exp q -> e; Mul e q -> y");
    let network = file(graph).expect("supported").network;
    let bytes = write_onnx(&network, ElementType::F64).expect("written");
    let again = parse_onnx("again.onnx", &bytes).expect("read");
    for inputs in [[3, -2], [0, 1], [-40, 40]] {
        let [one, two] = [&network, &again].map(|network| {
            let scores = precise_scores(network, &inputs, 200).expect("enclosed");
            scores.scores().iter().map(|s| s.upper().to_f64()).collect::<Vec<f64>>()
        });
        assert_near(&one, &two, "again");
    }
}
