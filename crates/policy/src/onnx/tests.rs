//! Graphs in all the forms that exporters write.

mod activations;
mod classical;
mod contradictions;
mod external;
mod functions;
mod policies;
mod powers;
mod quantised;
mod quantised_layers;
mod single_precision;
mod written;

use std::cmp::Ordering;

use super::proto::*;
use super::*;
use crate::activation::Activation;
use crate::exact::ExactEvaluator;
use crate::network::generate::reference_scores;
use crate::network::{ElementType, Op};
use crate::precise::precise_scores;

/// A graph under construction: names of values are single words.
struct Graph(GraphProto, i64);

fn floats(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: data_type::FLOAT,
        float_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn integers(name: &str, dims: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: data_type::INT64,
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn attribute(name: &str, kind: i32) -> AttributeProto {
    AttributeProto { name: name.to_owned(), kind, ..AttributeProto::default() }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, attribute_kind::INT) }
}

fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { f: Some(f), ..attribute(name, attribute_kind::FLOAT) }
}

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, attribute_kind::INTS) }
}

fn value_info(name: &str, elem_type: i32, dims: &[Option<i64>]) -> ValueInfoProto {
    let dim = dims.iter().map(|&dim_value| DimensionProto {
        dim_value,
        dim_param: dim_value.is_none().then(|| "N".to_owned()),
    });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor_type = Some(TensorTypeProto { elem_type, shape });
    let r#type = Some(TypeProto { tensor_type, ..TypeProto::default() });
    ValueInfoProto { name: name.to_owned(), r#type }
}

/// A value of which the shape is not declared.
fn shapeless(name: &str, elem_type: i32) -> ValueInfoProto {
    let tensor_type = Some(TensorTypeProto { elem_type, shape: None });
    let r#type = Some(TypeProto { tensor_type, ..TypeProto::default() });
    ValueInfoProto { name: name.to_owned(), r#type }
}

impl Graph {
    /// With input `x` of some shape and output `y`.
    fn new(dims: &[Option<i64>]) -> Self {
        let graph = GraphProto {
            input: vec![value_info("x", data_type::FLOAT, dims)],
            output: vec![shapeless("y", data_type::FLOAT)],
            ..GraphProto::default()
        };
        Self(graph, 13)
    }

    /// In another version of the operator set.
    fn version(self, version: i64) -> Self {
        Self(self.0, version)
    }

    /// One state a row, two inputs.
    fn pair() -> Self {
        Self::new(&[None, Some(2)])
    }

    fn with(mut self, tensor: TensorProto) -> Self {
        self.0.initializer.push(tensor);
        self
    }

    /// `"a b -> c"` by an operator.
    fn node(mut self, operator: &str, values: &str, attribute: Vec<AttributeProto>) -> Self {
        let (input, output) = values.split_once("->").expect("an arrow");
        let names = |text: &str| -> Vec<String> {
            text.split_whitespace().map(|name| name.trim_matches('_').to_owned()).collect()
        };
        self.0.node.push(NodeProto {
            input: names(input),
            output: names(output),
            op_type: operator.to_owned(),
            attribute,
            ..NodeProto::default()
        });
        self
    }

    fn model(self) -> ModelProto {
        let opset_import = vec![OperatorSetIdProto { domain: String::new(), version: self.1 }];
        ModelProto { ir_version: 8, graph: Some(self.0), opset_import, ..ModelProto::default() }
    }

    fn bytes(self) -> Vec<u8> {
        self.model().encode_to_vec()
    }

    fn parse(self) -> Result<Network, PolicyError> {
        parse_onnx("net.onnx", &self.bytes())
    }

    /// The scores of a state.
    fn scores(self, inputs: &[i64]) -> Vec<String> {
        let network = self.parse().expect("supported");
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        exact.scores(inputs).to_rationals().iter().map(ToString::to_string).collect()
    }

    fn unsupported(self) -> String {
        match self.parse() {
            Err(error @ PolicyError::Unsupported { .. }) => error.to_string(),
            other => unreachable!("{other:?}"),
        }
    }

    fn invalid(self) -> String {
        match self.parse() {
            Err(error @ PolicyError::Invalid { .. }) => error.to_string(),
            other => unreachable!("{other:?}"),
        }
    }
}

/// 2 inputs, 3 outputs: rows of inputs.
const W: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// The same function with a row for each output.
const W_TRANSPOSED: [f32; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

#[test]
fn gemm_forms() {
    let expected = ["6", "9", "12"];
    let w = || Graph::pair().with(floats("W", &[2, 3], &W));
    assert_eq!(w().node("Gemm", "x W -> y", vec![]).scores(&[2, 1]), expected);
    let t = Graph::pair().with(floats("W", &[3, 2], &W_TRANSPOSED));
    assert_eq!(t.node("Gemm", "x W -> y", vec![int("transB", 1)]).scores(&[2, 1]), expected);

    let c = [0.5, 1.5, 2.5];
    let shifted = ["13/2", "21/2", "29/2"];
    for dims in [&[3][..], &[1, 3]] {
        let graph = w().with(floats("C", dims, &c));
        assert_eq!(graph.node("Gemm", "x W C -> y", vec![]).scores(&[2, 1]), shifted);
    }
    for dims in [&[][..], &[1], &[1, 1]] {
        let graph = w().with(floats("C", dims, &[0.5]));
        let scores = graph.node("Gemm", "x W C -> y", vec![]).scores(&[2, 1]);
        assert_eq!(scores, ["13/2", "19/2", "25/2"]);
    }
    let scaled = || vec![float("alpha", 2.0), float("beta", 0.25)];
    let graph = w().with(floats("C", &[3], &[4.0, 8.0, 0.0]));
    let scores = graph.node("Gemm", "x W C -> y", scaled()).scores(&[2, 1]);
    assert_eq!(scores, ["13", "20", "24"]);
    // Neither product is a double.
    let alpha = vec![float("alpha", 0.1), float("beta", 0.3)];
    let tiny = f32::from_bits(1);
    let graph = w().with(floats("C", &[3], &[0.7, tiny, 0.0]));
    let network = graph.node("Gemm", "x W C -> y", alpha).parse().expect("supported");
    let exact = |value: f32| policert_numeric::Rational::from_f32(value).expect("finite");
    let scores = reference_scores(&network, &[2, 1]);
    for ((score, product), c) in scores.iter().zip([6.0, 9.0, 12.0]).zip([0.7, tiny, 0.0]) {
        assert_eq!(*score, exact(0.1) * exact(product) + exact(0.3) * exact(c));
    }
}

#[test]
fn gemm_with_the_constant_first() {
    let column = || Graph::new(&[Some(2), Some(1)]);
    let graph = column().with(floats("W", &[3, 2], &W_TRANSPOSED));
    assert_eq!(graph.node("Gemm", "W x -> y", vec![]).scores(&[2, 1]), ["6", "9", "12"]);
    let graph = column().with(floats("W", &[2, 3], &W)).with(floats("C", &[3, 1], &[1.0; 3]));
    let scores = graph.node("Gemm", "W x C -> y", vec![int("transA", 1)]).scores(&[2, 1]);
    assert_eq!(scores, ["7", "10", "13"]);
    let graph = column().with(floats("W", &[2, 3], &W));
    let scores = graph.node("Gemm", "x W -> y", vec![int("transA", 1)]).scores(&[2, 1]);
    assert_eq!(scores, ["6", "9", "12"]);
    let graph = Graph::pair().with(floats("W", &[3, 2], &W_TRANSPOSED));
    let scores = graph.node("Gemm", "W x -> y", vec![int("transB", 1)]).scores(&[2, 1]);
    assert_eq!(scores, ["6", "9", "12"]);
}

#[test]
fn matrix_products() {
    let expected = ["6", "9", "12"];
    for dims in [&[None, Some(2)][..], &[Some(1), Some(2)], &[Some(2)], &[None, Some(1), Some(2)]] {
        for shape in [&[2, 3][..], &[1, 2, 3]] {
            let graph = Graph::new(dims).with(floats("W", shape, &W));
            assert_eq!(graph.node("MatMul", "x W -> y", vec![]).scores(&[2, 1]), expected);
        }
    }
    for dims in [&[Some(2)][..], &[Some(2), Some(1)], &[None, Some(2), Some(1)]] {
        let graph = Graph::new(dims).with(floats("W", &[3, 2], &W_TRANSPOSED));
        assert_eq!(graph.node("MatMul", "W x -> y", vec![]).scores(&[2, 1]), expected);
    }
    let vector = Graph::pair().with(floats("w", &[2], &[3.0, 4.0]));
    assert_eq!(vector.node("MatMul", "x w -> y", vec![]).scores(&[2, 1]), ["10"]);
    let vector = Graph::new(&[Some(2)]).with(floats("w", &[2], &[3.0, 4.0]));
    assert_eq!(vector.node("MatMul", "w x -> y", vec![]).scores(&[2, 1]), ["10"]);
    // Shapes follow the rules of the operator: a Gemm accepts the result.
    let graph = Graph::new(&[Some(2)])
        .with(floats("W", &[1, 2, 3], &W))
        .with(floats("V", &[3, 1], &[1.0; 3]))
        .node("MatMul", "x W -> h", vec![])
        .node("Gemm", "h V -> y", vec![]);
    assert_eq!(graph.scores(&[2, 1]), ["27"]);
    let several = Graph::new(&[Some(2), Some(2)]).with(floats("W", &[2, 3], &W));
    let scores = several.node("MatMul", "x W -> y", vec![]).scores(&[2, 1, 1, 0]);
    assert_eq!(scores, ["6", "9", "12", "1", "2", "3"]);
    let wrong = Graph::pair().with(floats("W", &[3, 2], &W));
    assert!(wrong.node("MatMul", "x W -> y", vec![]).invalid().contains("3 rows"));
    let both = Graph::pair().node("MatMul", "x x -> y", vec![]);
    assert!(both.unsupported().contains("one factor must be constant"));
}

#[test]
fn arithmetic_with_constants() {
    let c = || Graph::pair().with(floats("c", &[2], &[2.0, 4.0]));
    for (operator, values, expected) in [
        ("Add", "x c -> y", ["9", "12"]),
        ("Add", "c x -> y", ["9", "12"]),
        ("Sub", "x c -> y", ["5", "4"]),
        ("Sub", "c x -> y", ["-5", "-4"]),
        ("Mul", "x c -> y", ["14", "32"]),
        ("Mul", "c x -> y", ["14", "32"]),
        ("Div", "x c -> y", ["7/2", "2"]),
        ("Add", "x x -> y", ["14", "16"]),
        ("Sub", "x x -> y", ["0", "0"]),
        ("Sum", "x c x -> y", ["16", "20"]),
        ("Max", "x c -> y", ["7", "8"]),
        ("Max", "x c x -> y", ["7", "8"]),
        ("Min", "x c -> y", ["2", "4"]),
        ("Neg", "x -> y", ["-7", "-8"]),
    ] {
        assert_eq!(c().node(operator, values, vec![]).scores(&[7, 8]), expected, "{operator}");
    }
    for dims in [&[][..], &[1], &[1, 1]] {
        let graph = Graph::pair().with(floats("c", dims, &[3.0]));
        assert_eq!(graph.node("Div", "x c -> y", vec![]).scores(&[7, 8]), ["7/3", "8/3"]);
        let graph = Graph::pair().with(floats("c", dims, &[7.5]));
        assert_eq!(graph.node("Max", "c x -> y", vec![]).scores(&[7, 8]), ["15/2", "8"]);
    }
    assert!(c().node("Add", "c c -> y", vec![]).unsupported().contains("not depend"));
    let sum = c().node("Add", "c c -> d", vec![]).node("Add", "x d -> y", vec![]);
    assert_eq!(sum.scores(&[7, 8]), ["11", "16"]);
    let third = c().node("Div", "c c -> one", vec![]).with(floats("three", &[], &[3.0]));
    let third = third.node("Div", "one three -> d", vec![]).node("Add", "x d -> y", vec![]);
    assert!(third.unsupported().contains("node 1 (Div): arithmetic of constants"));
    let zero = Graph::pair().with(floats("c", &[2], &[1.0, 0.0]));
    assert!(zero.node("Div", "x c -> y", vec![]).invalid().contains("divisor 1 is 0"));
    let long = Graph::pair().with(floats("c", &[3], &[1.0; 3]));
    assert!(long.node("Add", "x c -> y", vec![]).invalid().contains("do not fit"));
    let grown = Graph::pair().with(floats("c", &[3, 2], &[1.0; 6]));
    let scores = grown.node("Add", "x c -> y", vec![]).scores(&[7, 8]);
    assert_eq!(scores, ["8", "9", "8", "9", "8", "9"]);
    let nan = Graph::pair().with(floats("c", &[2], &[1.0, f32::NAN]));
    let message = nan.node("Add", "x c -> y", vec![]).invalid();
    assert_eq!(message, "net.onnx: node 0 (Add): summand 1 is nan: not a finite number");
}

#[test]
fn shapes() {
    let gemm = |graph: Graph| {
        let graph = graph.with(floats("W", &[2, 3], &W)).node("Gemm", "h W -> y", vec![]);
        assert_eq!(graph.scores(&[2, 1]), ["6", "9", "12"]);
    };
    let image = || Graph::new(&[None, Some(1), Some(2), Some(1)]);
    gemm(image().node("Flatten", "x -> h", vec![]));
    gemm(image().node("Flatten", "x -> h", vec![int("axis", 0)]));
    gemm(image().node("Flatten", "x -> h", vec![int("axis", -2)]));
    gemm(Graph::new(&[Some(2)]).node("Flatten", "x -> h", vec![int("axis", 0)]));
    for shape in [[1, 2], [-1, 2], [0, 2], [1, -1], [0, -1]] {
        let graph = image().with(integers("s", &[2], &shape));
        gemm(graph.node("Reshape", "x s -> h", vec![]));
    }
    let graph = Graph::new(&[Some(2)]).with(integers("s", &[2], &[1, 2]));
    gemm(graph.node("Reshape", "x s -> h", vec![int("allowzero", 1)]));
    gemm(image().version(12).node("Squeeze", "x -> v", vec![]).node(
        "Unsqueeze",
        "v -> h",
        vec![ints("axes", &[0])],
    ));
    let graph = image().with(integers("a", &[2], &[1, -1]));
    gemm(graph.node("Squeeze", "x a -> h", vec![]));
    gemm(image().node("Transpose", "x -> t", vec![]).node(
        "Flatten",
        "t -> h",
        vec![int("axis", 1)],
    ));
    let order = ints("perm", &[0, 3, 1, 2]);
    gemm(image().node("Transpose", "x -> t", vec![order]).node("Flatten", "t -> h", vec![]));
    gemm(Graph::pair().node("Identity", "x -> i", vec![]).node("Dropout", "i -> h mask", vec![]));
    // As exporters write x.view(x.size(0), -1).
    let view = image()
        .with(integers("zero", &[], &[0]))
        .with(integers("rest", &[1], &[-1]))
        .with(integers("axes", &[1], &[0]))
        .node("Shape", "x -> shape", vec![])
        .node("Gather", "shape zero -> batch", vec![int("axis", 0)])
        .node("Unsqueeze", "batch axes -> first", vec![])
        .node("Concat", "first rest -> target", vec![int("axis", 0)])
        .node("Reshape", "x target -> h", vec![]);
    gemm(view);
    // Weights that are transposed in the graph.
    let graph = Graph::pair()
        .with(floats("V", &[3, 2], &W_TRANSPOSED))
        .node("Transpose", "V -> W", vec![ints("perm", &[1, 0])])
        .node("MatMul", "x W -> y", vec![]);
    assert_eq!(graph.scores(&[2, 1]), ["6", "9", "12"]);

    let matrix = || Graph::new(&[Some(2), Some(2)]);
    let turned = matrix().node("Transpose", "x -> y", vec![]).scores(&[1, 2, 3, 4]);
    assert_eq!(turned, ["1", "3", "2", "4"]);
    let graph = Graph::pair().with(integers("s", &[1], &[3]));
    assert!(graph.node("Reshape", "x s -> y", vec![]).invalid().contains("cannot become [3]"));
    let graph = Graph::pair().with(integers("s", &[2], &[-1, -1]));
    assert!(graph.node("Reshape", "x s -> y", vec![]).invalid().contains("[-1, -1]"));
    let graph = Graph::pair().node("Reshape", "x x -> y", vec![]);
    assert!(graph.unsupported().contains("must be constant"));
    let graph = Graph::pair().with(integers("a", &[1], &[1]));
    assert!(graph.node("Squeeze", "x a -> y", vec![]).invalid().contains("axis 1"));
    let graph = Graph::pair().with(integers("s", &[2], &[0, 0]));
    let _ = graph.node("Reshape", "x s -> y", vec![int("allowzero", 1)]).invalid();
}

#[test]
fn joined_vectors() {
    let graph = Graph::pair().with(floats("c", &[1, 1], &[0.5])).node(
        "Concat",
        "x c x -> y",
        vec![int("axis", -1)],
    );
    assert_eq!(graph.scores(&[2, 1]), ["2", "1", "1/2", "2", "1"]);
    let rows = Graph::pair().node("Concat", "x x -> y", vec![int("axis", 0)]);
    assert_eq!(rows.scores(&[2, 1]), ["2", "1", "2", "1"]);
    let columns = Graph::new(&[Some(2), Some(1)]).node("Concat", "x x -> y", vec![int("axis", 1)]);
    assert_eq!(columns.scores(&[2, 1]), ["2", "2", "1", "1"]);
}

#[test]
fn casts_and_element_types() {
    let doubles = |input: i32| {
        let mut graph = Graph::pair();
        graph.0.input = vec![value_info("x", input, &[None, Some(1)])];
        graph.0.output = vec![shapeless("y", data_type::DOUBLE)];
        graph.0.initializer.push(TensorProto {
            name: "W".to_owned(),
            dims: vec![1, 1],
            data_type: data_type::DOUBLE,
            double_data: vec![1.0 + f64::EPSILON],
            ..TensorProto::default()
        });
        graph
    };
    let to = |code: i32| vec![int("to", i64::from(code))];
    let graph = doubles(data_type::DOUBLE).node("Gemm", "x W -> y", vec![]);
    assert_eq!(graph.parse().expect("supported").element_type(), ElementType::F64);
    for input in [data_type::FLOAT, data_type::INT64] {
        let graph = doubles(input).node("Cast", "x -> h", to(data_type::DOUBLE)).node(
            "Gemm",
            "h W -> y",
            vec![],
        );
        assert_eq!(graph.parse().expect("supported").element_type(), ElementType::F64);
    }
    let graph = doubles(data_type::INT64).node("Gemm", "x W -> y", vec![]);
    assert!(graph.unsupported().contains("integer arithmetic"));
    let graph = doubles(data_type::DOUBLE).node("Gemm", "x W -> h", vec![]).node(
        "Cast",
        "h -> y",
        to(data_type::FLOAT),
    );
    assert!(graph.unsupported().contains("cast to float that rounds"));
    let graph = doubles(data_type::FLOAT).node("Cast", "W -> V", to(data_type::FLOAT));
    assert!(graph.node("Gemm", "x V -> y", vec![]).unsupported().contains("rounds"));
    let graph = Graph::pair().node("Relu", "x -> h", vec![]);
    let graph = graph.node("Cast", "h -> y", to(data_type::INT64));
    assert!(graph.unsupported().contains("cast to int64"));
    let graph = Graph::pair().node("Relu", "x -> y", vec![]);
    assert_eq!(graph.parse().expect("supported").element_type(), ElementType::F32);
}

#[test]
fn constants_in_the_graph() {
    let value = AttributeProto {
        t: Some(floats("", &[2, 3], &W)),
        ..attribute("value", attribute_kind::TENSOR)
    };
    let list = AttributeProto {
        floats: vec![0.5; 3],
        ..attribute("value_floats", attribute_kind::FLOATS)
    };
    let graph = Graph::pair()
        .node("Constant", "-> W", vec![value])
        .node("Constant", "-> c", vec![list])
        .node("Constant", "-> two", vec![float("value_float", 2.0)])
        .node("Constant", "-> s", vec![ints("value_ints", &[1, 3])])
        .node("MatMul", "x W -> h", vec![])
        .node("Reshape", "h s -> r", vec![])
        .node("Mul", "r two -> m", vec![])
        .node("Add", "m c -> y", vec![]);
    assert_eq!(graph.scores(&[2, 1]), ["25/2", "37/2", "49/2"]);
    assert!(Graph::pair().node("Constant", "-> y", vec![]).invalid().contains("no value"));
}

#[test]
fn what_is_not_understood_is_refused() {
    let mut graph = Graph::pair().node("Det", "x -> y", vec![]);
    graph.0.node[0].name = "noise".to_owned();
    let message = graph.unsupported();
    assert!(message.starts_with(
        "net.onnx: node `noise` (Det): operator Det is not supported; \
         supported are Gemm, MatMul,"
    ));
    let mut graph = Graph::pair().node("Relu", "x -> y", vec![]);
    graph.0.node[0].domain = "com.example".to_owned();
    let mut model = graph.model();
    let domain = "com.example".to_owned();
    model.opset_import.push(OperatorSetIdProto { domain, version: 1 });
    let error = parse_onnx("n", &model.encode_to_vec()).expect_err("another domain");
    assert!(matches!(error, PolicyError::Unsupported { .. }));
    assert!(error.to_string().contains("com.example"));
    let graph = Graph::pair().node("Relu", "x -> y", vec![int("axis", 1)]);
    assert!(graph.unsupported().contains("attribute `axis`"));
    let graph = Graph::pair().node("Flatten", "x -> y", vec![float("axis", 1.0)]);
    assert!(graph.invalid().contains("wrong type"));
    let graph = Graph::pair().node("Relu", "x x -> y", vec![]);
    assert!(graph.invalid().contains("2 arguments"));
    let graph = Graph::pair().node("Relu", "z -> y", vec![]);
    assert!(graph.invalid().contains("`z` is not defined"));
    let graph = Graph::pair().node("Relu", "x -> x", vec![]);
    assert!(graph.invalid().contains("defined twice"));
    assert!(Graph::pair().invalid().contains("output `y`: `y` is not defined"));
    let graph = Graph::pair().with(floats("y", &[2], &[0.0; 2]));
    assert!(graph.unsupported().contains("does not depend on the input"));
    let training = TensorProto {
        data_type: data_type::BOOL,
        int32_data: vec![1],
        name: "t".to_owned(),
        ..TensorProto::default()
    };
    let graph = Graph::pair().with(training).node("Dropout", "x _ t -> y", vec![]);
    assert!(graph.unsupported().contains("training"));
    let mut graph = Graph::pair().node("Relu", "x -> y", vec![]);
    graph.0.output.push(shapeless("x", data_type::FLOAT));
    assert!(graph.unsupported().contains("which one of its outputs is the policy: `y`, `x`"));
    for dims in [&[None][..], &[Some(1), None]] {
        assert!(Graph::new(dims).node("Relu", "x -> y", vec![]).unsupported().contains("no size"));
    }
    assert!(matches!(parse_onnx("n", b"no onnx"), Err(PolicyError::Invalid { .. })));
    assert!(matches!(parse_onnx("n", b""), Err(PolicyError::Invalid { .. })));
}

#[test]
fn initialisers_among_the_inputs() {
    let mut graph = Graph::pair().with(floats("W", &[2, 3], &W)).node("Gemm", "x W -> y", vec![]);
    graph.0.input.insert(0, value_info("W", data_type::FLOAT, &[Some(2), Some(3)]));
    assert_eq!(graph.scores(&[2, 1]), ["6", "9", "12"]);
}
