//! Layers and functions of quantised values, against the same ones between QuantizeLinear and
//! DequantizeLinear.

use proptest::prelude::*;

use super::quantised::typed;
use super::*;

/// Operators of the standard set.
const STANDARD: [&str; 6] = [
    "QLinearMatMul",
    "QLinearConv",
    "MatMulInteger",
    "ConvInteger",
    "QuantizeLinear",
    "DequantizeLinear",
];

/// The two ways to write a node whose arguments and result are quantised.
#[derive(Clone, Copy)]
enum Form {
    /// One node.
    Integers,
    /// DequantizeLinear, the node, QuantizeLinear.
    Reals,
}

/// A scale for each value `v` is `vs`, its zero point `vz`.
struct Quantised(Graph, Form);

impl Quantised {
    /// The quantised input is `xq`.
    fn new(dims: &[Option<i64>], form: Form, scale: f32, zero: i32) -> Self {
        let mut this = Self(Graph::new(dims), form);
        this.scaled("xq", &[scale], data_type::UINT8, &[zero]);
        this.0 = this.0.node("QuantizeLinear", "x xqs xqz -> xq", vec![]);
        this
    }

    fn scaled(&mut self, name: &str, scales: &[f32], kind: i32, zeros: &[i32]) {
        let length = i64::try_from(scales.len()).expect("short");
        let dims = if length == 1 { vec![] } else { vec![length] };
        let graph = std::mem::replace(&mut self.0, Graph::pair());
        self.0 = graph.with(floats(&format!("{name}s"), &dims, scales)).with(typed(
            &format!("{name}z"),
            &dims,
            kind,
            zeros,
        ));
    }

    fn weights(&mut self, name: &str, dims: &[i64], values: &[i32], scales: &[f32], zeros: &[i32]) {
        self.scaled(name, scales, data_type::INT8, zeros);
        let graph = std::mem::replace(&mut self.0, Graph::pair());
        self.0 = graph.with(typed(name, dims, data_type::INT8, values));
    }

    fn node(&mut self, operator: &str, values: &str, attributes: Vec<AttributeProto>) {
        let graph = std::mem::replace(&mut self.0, Graph::pair());
        self.0 = graph.node(operator, values, attributes);
    }

    /// The real numbers of a quantised value; `axis` is that of its scales.
    fn real(&mut self, name: &str, axis: i64, real: &str) {
        let values = format!("{name} {name}s {name}z -> {real}");
        self.node("DequantizeLinear", &values, vec![int("axis", axis)]);
    }

    /// `plain` of values with a result that is quantised, or its form with integers. Axes are those of scales.
    fn layer(
        &mut self,
        [plain, operator]: [&str; 2],
        values: &[(&str, i64)],
        bias: Option<&str>,
        output: &str,
        attributes: Vec<AttributeProto>,
    ) {
        let triple = |(name, _): &(&str, i64)| format!("{name} {name}s {name}z");
        let bias_last = operator == "QLinearConv";
        match self.1 {
            Form::Integers => {
                let mut arguments: Vec<String> = values.iter().map(triple).collect();
                let result = format!("{output}s {output}z");
                let bias = bias.map(str::to_owned);
                if operator == "QLinearConcat" {
                    arguments.insert(0, result);
                } else if bias_last {
                    arguments.push(result);
                    arguments.extend(bias);
                } else {
                    arguments.extend(bias);
                    arguments.push(result);
                }
                let values = format!("{} -> {output}", arguments.join(" "));
                self.node(operator, &values, attributes);
            }
            Form::Reals => {
                let mut arguments = String::new();
                for &(name, axis) in values.iter().chain(&bias.map(|bias| (bias, 0))) {
                    let real = format!("{name}For{output}");
                    self.real(name, axis, &real);
                    arguments += &format!("{real} ");
                }
                self.node(plain, &format!("{arguments} -> {output}r"), attributes);
                let values = format!("{output}r {output}s {output}z -> {output}");
                self.node("QuantizeLinear", &values, vec![]);
            }
        }
    }

    /// The network whose output is the real number of a value.
    fn network(self, output: &str) -> Result<Network, PolicyError> {
        let values = format!("{output} {output}s {output}z -> y");
        let mut model = self.0.node("DequantizeLinear", &values, vec![]).model();
        let domain = "com.microsoft".to_owned();
        model.opset_import.push(OperatorSetIdProto { domain: domain.clone(), version: 1 });
        let nodes = model.graph.as_mut().expect("a graph").node.iter_mut();
        let is_own = |node: &&mut NodeProto| {
            node.op_type.starts_with('Q') && !STANDARD.contains(&node.op_type.as_str())
        };
        nodes.filter(is_own).for_each(|node| node.domain.clone_from(&domain));
        parse_onnx("net.onnx", &model.encode_to_vec())
    }
}

/// Scores as texts; they are exact, since they are quantised.
fn scores(network: &Network, inputs: &[i64]) -> Vec<String> {
    if let Some(exact) = ExactEvaluator::new(network) {
        return exact.scores(inputs).to_rationals().iter().map(ToString::to_string).collect();
    }
    let scores = precise_scores(network, inputs, 200).expect("enclosed");
    let single = |score: &policert_numeric::Enclosure| {
        assert_eq!(score.lower(), score.upper());
        score.lower().to_string()
    };
    scores.scores().iter().map(single).collect()
}

/// Both forms of what `build` makes have the same scores.
fn same(
    dims: &[Option<i64>],
    (scale, zero): (f32, i32),
    inputs: &[i64],
    build: impl Fn(&mut Quantised) -> &'static str,
) -> Result<(), TestCaseError> {
    let both = [Form::Integers, Form::Reals].map(|form| {
        let mut graph = Quantised::new(dims, form, scale, zero);
        let output = build(&mut graph);
        scores(&graph.network(output).expect("supported"), inputs)
    });
    prop_assert_eq!(&both[0], &both[1]);
    Ok(())
}

/// Scales with few digits, so that many quotients are half integers.
fn scale() -> impl Strategy<Value = f32> {
    prop_oneof![
        3 => (1u8..64).prop_map(|n| f32::from(n) / 64.0),
        1 => Just(0.25f32),
        1 => Just(0.5f32),
    ]
}

fn scales(count: usize) -> impl Strategy<Value = Vec<f32>> {
    prop_oneof![proptest::collection::vec(scale(), 1), proptest::collection::vec(scale(), count)]
}

fn integers_of(count: usize) -> impl Strategy<Value = Vec<i32>> {
    proptest::collection::vec(-128i32..128, count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn products_with_matrices(
        input in (scale(), 0i32..256),
        x in proptest::collection::vec(-9i64..10, 2),
        w in integers_of(6),
        b in integers_of(3),
        ws in scales(3),
        z in integers_of(3),
        output in (scale(), 0i32..256),
        alpha in prop_oneof![Just(1.0f32), Just(0.5f32)],
    ) {
        let pair = [None, Some(2)];
        let zeros = &z[..ws.len()];
        same(&pair, input, &x, |graph| {
            graph.weights("w", &[2, 3], &w, &ws, zeros);
            graph.scaled("p", &[output.0], data_type::UINT8, &[output.1]);
            graph.layer(["MatMul", "QLinearMatMul"], &[("xq", 0), ("w", 1)], None, "p", vec![]);
            "p"
        })?;
        same(&pair, input, &x, |graph| {
            graph.weights("w", &[3, 2], &w, &ws, zeros);
            let own: Vec<f32> = ws.iter().map(|scale| scale * input.0).collect();
            graph.scaled("b", &own, data_type::INT32, &vec![0; own.len()]);
            graph.0 = std::mem::replace(&mut graph.0, Graph::pair()).with(typed(
                "b", &[3], data_type::INT32, &b.iter().map(|b| b * 50).collect::<Vec<i32>>(),
            ));
            graph.scaled("p", &[output.0], data_type::INT8, &[output.1 - 128]);
            let mut attributes = vec![int("transB", 1), float("alpha", alpha)];
            if matches!(graph.1, Form::Reals) {
                attributes.push(float("beta", alpha));
            }
            let values = [("xq", 0), ("w", 0)];
            graph.layer(["Gemm", "QGemm"], &values, Some("b"), "p", attributes);
            "p"
        })?;
    }

    #[test]
    fn convolutions_and_pools(
        input in (scale(), 0i32..256),
        x in proptest::collection::vec(-9i64..10, 8),
        w in integers_of(24),
        b in integers_of(3),
        ws in scales(3),
        z in integers_of(3),
        output in (scale(), 0i32..256),
        pooled in (scale(), 0i32..256),
        counts in 0i64..2,
    ) {
        let image = [Some(1), Some(2), Some(2), Some(2)];
        same(&image, input, &x, |graph| {
            graph.weights("w", &[3, 2, 2, 2], &w, &ws, &z[..ws.len()]);
            let own: Vec<f32> = ws.iter().map(|scale| scale * input.0).collect();
            graph.scaled("b", &own, data_type::INT32, &vec![0; own.len()]);
            graph.0 = std::mem::replace(&mut graph.0, Graph::pair()).with(typed(
                "b", &[3], data_type::INT32, &b,
            ));
            for (name, (scale, zero)) in [("c", output), ("m", output), ("a", pooled), ("g", input)] {
                graph.scaled(name, &[scale], data_type::UINT8, &[zero]);
            }
            let attributes = vec![ints("pads", &[1, 0, 1, 1])];
            let values = [("xq", 0), ("w", 0)];
            graph.layer(["Conv", "QLinearConv"], &values, Some("b"), "c", attributes);
            graph.node("MaxPool", "c -> m", vec![ints("kernel_shape", &[2, 2])]);
            let attributes = vec![
                ints("kernel_shape", &[2, 1]),
                ints("pads", &[0, 0, 1, 0]),
                int("count_include_pad", counts),
            ];
            let average = ["AveragePool", "QLinearAveragePool"];
            graph.layer(average, &[("m", 0)], None, "a", attributes);
            let global = ["GlobalAveragePool", "QLinearGlobalAveragePool"];
            graph.layer(global, &[("a", 0)], None, "g", vec![]);
            graph.node("Flatten", "g -> f", vec![]);
            graph.scaled("f", &[input.0], data_type::UINT8, &[input.1]);
            "f"
        })?;
    }

    #[test]
    fn functions_of_quantised_values(
        input in (scale(), 0i32..256),
        x in proptest::collection::vec(-9i64..10, 2),
        w in integers_of(2),
        ws in (scale(), -128i32..128),
        outputs in proptest::collection::vec((scale(), 0i32..256), 5),
        alpha in prop_oneof![Just(0.5f32), Just(0.01f32), Just(-1.0f32)],
    ) {
        same(&[None, Some(2)], input, &x, |graph| {
            graph.weights("w", &[2], &w, &[ws.0], &[ws.1]);
            for (name, (scale, zero)) in ["s", "p", "l", "k", "j"].into_iter().zip(&outputs) {
                graph.scaled(name, &[*scale], data_type::UINT8, &[*zero]);
            }
            graph.layer(["Add", "QLinearAdd"], &[("xq", 0), ("w", 0)], None, "s", vec![]);
            graph.layer(["Mul", "QLinearMul"], &[("w", 0), ("s", 0)], None, "p", vec![]);
            let slope = vec![float("alpha", alpha)];
            graph.layer(["LeakyRelu", "QLinearLeakyRelu"], &[("p", 0)], None, "l", slope);
            graph.layer(["Add", "QLinearAdd"], &[("l", 0), ("xq", 0)], None, "k", vec![]);
            let joined = [("k", 0), ("w", 0), ("xq", 0)];
            graph.layer(["Concat", "QLinearConcat"], &joined[..1], None, "j", vec![int("axis", 1)]);
            "j"
        })?;
    }

    #[test]
    fn products_and_sigmoids_of_quantised_values(
        input in (scale(), 0i32..256),
        x in proptest::collection::vec(-9i64..10, 2),
        outputs in proptest::collection::vec((scale(), 0i32..256), 3),
    ) {
        same(&[None, Some(2)], input, &x, |graph| {
            for (name, (scale, zero)) in ["s", "p", "j"].into_iter().zip(&outputs) {
                graph.scaled(name, &[*scale], data_type::UINT8, &[*zero]);
            }
            graph.layer(["Sigmoid", "QLinearSigmoid"], &[("xq", 0)], None, "s", vec![]);
            graph.layer(["Mul", "QLinearMul"], &[("xq", 0), ("s", 0)], None, "p", vec![]);
            let joined = [("p", 0), ("s", 0), ("xq", 0)];
            graph.layer(["Concat", "QLinearConcat"], &joined, None, "j", vec![int("axis", 1)]);
            "j"
        })?;
    }
}

/// Without scales: ¾ · 2 − ½ · 1 and so on, in multiples of one eighth.
#[test]
fn layers_of_integers_without_scales() {
    let graph = |operator: &str| {
        let operands = "q w qz wz -> p";
        Graph::pair()
            .with(floats("s", &[], &[0.5]))
            .with(typed("qz", &[], data_type::UINT8, &[7]))
            .with(typed("w", &[2, 2], data_type::INT8, &[3, -2, 127, 1]))
            .with(typed("wz", &[2], data_type::INT8, &[1, -1]))
            .node("QuantizeLinear", "x s qz -> q", vec![])
            .node(operator, operands, vec![])
            .node("Cast", "p -> y", vec![int("to", data_type::FLOAT.into())])
    };
    // The integers are 4 and −3; the columns count from 1 and −1.
    assert_eq!(graph("MatMulInteger").scores(&[2, -1]), ["-244", "-8"]);
}

/// A last layer whose result is not quantised.
#[test]
fn real_results_of_quantised_layers() {
    let mut graph = Quantised::new(&[None, Some(2)], Form::Integers, 0.5, 3);
    graph.weights("w", &[2, 2], &[3, -2, 127, 1], &[0.25, 0.125], &[0, 0]);
    graph.node("QGemm", "xq xqs xqz w ws wz -> y", vec![int("transB", 0)]);
    let mut model = graph.0.model();
    model.opset_import.push(OperatorSetIdProto { domain: "com.microsoft".to_owned(), version: 1 });
    let last = model.graph.as_mut().and_then(|graph| graph.node.last_mut()).expect("a node");
    "com.microsoft".clone_into(&mut last.domain);
    let network = parse_onnx("net.onnx", &model.encode_to_vec()).expect("supported");
    // 2 and −1 are 4 and −2 halves; −3 is the least.
    assert_eq!(scores(&network, &[2, -1]), ["-121/4", "-5/8"]);
}

#[test]
fn quantised_layers_that_are_refused() {
    let refused = |change: fn(&mut Quantised)| {
        let mut graph = Quantised::new(&[None, Some(2)], Form::Integers, 0.5, 3);
        graph.weights("w", &[2, 2], &[3, -2, 127, 1], &[0.25, 0.125], &[0, 0]);
        graph.scaled("p", &[1.0], data_type::UINT8, &[0]);
        change(&mut graph);
        match graph.network("p") {
            Err(error) => error.to_string(),
            Ok(network) => unreachable!("{network:?}"),
        }
    };
    let message = refused(|graph| {
        graph.node("QLinearMatMul", "xq xqs xqz w ws xqz ps pz -> p", vec![]);
    });
    assert!(message.contains("1 zero points for 2 scales"), "{message}");
    let message = refused(|graph| {
        graph.node("QLinearMatMul", "x xqs xqz w ws wz ps pz -> p", vec![]);
    });
    assert!(message.contains("must be integers"), "{message}");
    let message = refused(|graph| {
        graph.node("QLinearMatMul", "xq xqs xqz w ws wz ps _ -> p", vec![]);
    });
    assert!(message.contains("has no zero point"), "{message}");
    let message = refused(|graph| {
        graph.node("QLinearMatMul", "xq xqs xqz w ws wz ws wz -> p", vec![]);
    });
    assert!(message.contains("several scales of the result"), "{message}");
    let message = refused(|graph| {
        graph.node("QLinearSoftmax", "xq xqs xqz ps pz -> p", vec![]);
    });
    assert!(message.contains("nodes_to_exclude"), "{message}");
    let message = refused(|graph| {
        let large = vec![127; 2 * 34_000];
        graph.weights("v", &[34_000, 2], &large, &[0.25], &[-128]);
        graph.node("QLinearMatMul", "v vs vz xq xqs xqz ps pz -> p", vec![]);
    });
    assert!(message.contains("xq") || message.contains("shape"), "{message}");
}
