//! Steps before a tree ensemble, as pipelines of scikit-learn have them.

use policert_numeric::IntInterval;

use super::super::super::IntegerTrees;
use super::super::super::question::Questions;
use super::*;
use crate::onnx::proto::TensorProto;

fn int(name: &str, i: i64) -> AttributeProto {
    let (name, i) = (name.to_owned(), Some(i));
    AttributeProto { name, i, kind: attribute_kind::INT, ..AttributeProto::default() }
}

fn float(name: &str, f: f32) -> AttributeProto {
    let (name, f) = (name.to_owned(), Some(f));
    AttributeProto { name, f, kind: attribute_kind::FLOAT, ..AttributeProto::default() }
}

fn step(op_type: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let ml = [
        "Scaler",
        "Imputer",
        "OneHotEncoder",
        "LabelEncoder",
        "Binarizer",
        "ArrayFeatureExtractor",
        "Normalizer",
    ];
    let domain = if ml.contains(&op_type) { DOMAIN } else { "" };
    let input = inputs.iter().map(|&input| input.to_owned()).collect();
    NodeProto { input, attribute, ..node(op_type, domain, "", &[output]) }
}

fn real_constant(name: &str, values: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![i64::try_from(values.len()).expect("short")],
        data_type: data_type::FLOAT,
        float_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn integer_constant(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![i64::try_from(values.len()).expect("short")],
        data_type: data_type::INT64,
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

/// The classifier that reads `y`, which these steps compute from `x`, with thresholds t₀ of y₀ and t₁
/// of y₁: class 0 where y₀ ≤ t₀, else class 1 where y₁ ≤ t₁.
fn pipeline(
    [first, second]: [f32; 2],
    element: i32,
    steps: Vec<NodeProto>,
    constants: Vec<TensorProto>,
) -> ModelProto {
    let mut model = classifier();
    set(&mut model, floats("nodes_values", &[first, 0.0, second, 0.0, 0.0]));
    let graph = graph(&mut model);
    graph.node[0].input = vec!["y".to_owned()];
    graph.node.splice(0..0, steps);
    graph.input = vec![value("x", element, Some(2))];
    graph.initializer = constants;
    model
}

/// The class by the exact trees over variables with a domain of −8 to 8.
fn chosen(read: &TreesFile, state: [i64; 2]) -> Result<usize, PolicyError> {
    let domain = IntInterval::new(-8, 8);
    let trees = IntegerTrees::asking(&read.ensemble, Questions::of_bounded(&[domain; 2]))?;
    let mut scores = Vec::new();
    trees.scores(&state, &mut scores);
    Ok((0..3).max_by_key(|&k| scores[k]).expect("three classes"))
}

/// Compares the choice in all states with that of a function that computes both columns.
fn compare(model: &ModelProto, [first, second]: [f32; 2], columns: impl Fn([i64; 2]) -> [f32; 2]) {
    let read = read_model(model).expect("it is read");
    assert_eq!(read.features.count, Some(2));
    for x in -8..=8 {
        for y in -8..=8 {
            let [a, b] = columns([x, y]);
            let expected = if a <= first { 0 } else { 1 + usize::from(b > second) };
            assert_eq!(chosen(&read, [x, y]).expect("values"), expected, "at {x}, {y}");
            #[expect(clippy::cast_precision_loss, reason = "small integers")]
            let scores = read.ensemble.approximate_scores(&[x as f64, y as f64]);
            assert!(scores[expected] > 0.5, "at {x}, {y}: {scores:?}");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "small integers")]
fn single(x: i64) -> f32 {
    x as f32
}

#[test]
fn scalers_round_as_single_precision_does() {
    let (offset, scale) = ([2.5, 1.952_380_9], [0.585_540_06, -0.699_223_5]);
    let scaled =
        |[x, y]: [i64; 2]| [(single(x) - offset[0]) * scale[0], (single(y) - offset[1]) * scale[1]];
    // Thresholds that are values, and their neighbours: rounding decides.
    for k in [-3, 2, 5] {
        let [a, b] = scaled([k, k]);
        for thresholds in [[a, b], [a.next_down(), b.next_down()], [a.next_up(), b.next_up()]] {
            for element in [data_type::FLOAT, data_type::INT64] {
                let attributes = vec![floats("offset", &offset), floats("scale", &scale)];
                let steps = vec![step("Scaler", &["x"], "y", attributes)];
                let model = pipeline(thresholds, element, steps, Vec::new());
                compare(&model, thresholds, scaled);
            }
        }
    }
}

#[test]
fn arithmetic_with_constants_rounds_step_by_step() {
    let steps = vec![
        step("Mul", &["x", "factor"], "a", Vec::new()),
        step("Add", &["term", "a"], "b", Vec::new()),
        step("Clip", &["b", "low", "high"], "y", Vec::new()),
    ];
    let scalar = |name, x| TensorProto { dims: Vec::new(), ..real_constant(name, &[x]) };
    let constants = vec![
        real_constant("factor", &[0.2, -0.1]),
        real_constant("term", &[0.7]),
        scalar("low", 0.0),
        scalar("high", 1.0),
    ];
    let columns = |[x, y]: [i64; 2]| {
        [(single(x) * 0.2 + 0.7).clamp(0.0, 1.0), (single(y) * -0.1 + 0.7).clamp(0.0, 1.0)]
    };
    for k in [-4, 1, 3] {
        let thresholds = columns([k, k]);
        compare(
            &pipeline(thresholds, data_type::FLOAT, steps.clone(), constants.clone()),
            thresholds,
            columns,
        );
    }
}

/// The second input as categories 0, 1 and 2, of which the last one is read, beside the first input.
fn encoded(zeros: i64) -> ModelProto {
    let steps = vec![
        step("ArrayFeatureExtractor", &["x", "second"], "category", Vec::new()),
        step("Cast", &["category"], "code", vec![int("to", 7)]),
        step(
            "OneHotEncoder",
            &["code"],
            "hot",
            vec![ints("cats_int64s", &[0, 1, 2]), int("zeros", zeros)],
        ),
        step("Reshape", &["hot", "shape"], "row", Vec::new()),
        step("Gather", &["row", "last"], "kept", vec![int("axis", 1)]),
        step("Gather", &["x", "first"], "own", vec![int("axis", 1)]),
        step("Concat", &["kept", "own"], "y", vec![int("axis", 1)]),
    ];
    let constants = vec![
        integer_constant("second", &[1]),
        integer_constant("shape", &[-1, 3]),
        integer_constant("last", &[2]),
        integer_constant("first", &[0]),
    ];
    pipeline([0.5, 1.5], data_type::FLOAT, steps, constants)
}

/// A row that is divided by a norm, in single precision.
fn normalised(norm: &str, row: [f32; 2]) -> [f32; 2] {
    let [x, y] = row;
    match norm {
        "L1" if x.abs() + y.abs() > 0.0 => row.map(|own| own / (x.abs() + y.abs())),
        "L2" if x * x + y * y > 0.0 => {
            row.map(|own| (own * own / (x * x + y * y)).sqrt().copysign(own))
        }
        "MAX" if x.max(y).abs() > 0.0 => row.map(|own| own / x.max(y)),
        _ => row,
    }
}

#[test]
fn rows_are_divided_by_their_norms_as_single_precision_does() {
    let (offset, scale) = ([0.3, -0.7], [1.7, 0.9]);
    for norm in ["L1", "L2", "MAX"] {
        let normaliser =
            |from: &str, to: &str| step("Normalizer", &[from], to, vec![text("norm", norm)]);
        let scaler = |from: &str, to: &str| {
            step("Scaler", &[from], to, vec![floats("offset", &offset), floats("scale", &scale)])
        };
        let scaled =
            |row: [f32; 2]| [(row[0] - offset[0]) * scale[0], (row[1] - offset[1]) * scale[1]];
        let of_integers = |[x, y]: [i64; 2]| normalised(norm, [single(x), single(y)]);
        // Thresholds that are values: rounding decides.
        for state in [[3, -4], [1, 7], [0, 0], [-5, -8]] {
            for element in [data_type::FLOAT, data_type::INT64] {
                let [a, b] = of_integers(state);
                let model = pipeline([a, b], element, vec![normaliser("x", "y")], Vec::new());
                compare(&model, [a, b], of_integers);
                let [a, b] = scaled(of_integers(state));
                let steps = vec![normaliser("x", "n"), scaler("n", "y")];
                let model = pipeline([a, b], element, steps, Vec::new());
                compare(&model, [a, b], |state| scaled(of_integers(state)));
            }
            let before = |[x, y]: [i64; 2]| normalised(norm, scaled([single(x), single(y)]));
            let [a, b] = before(state);
            let steps = vec![scaler("x", "n"), normaliser("n", "y")];
            let model = pipeline([a, b], data_type::FLOAT, steps, Vec::new());
            compare(&model, [a, b], before);
        }
    }
}

#[test]
fn rows_of_variables_with_too_many_values_are_refused() {
    let steps = vec![step("Normalizer", &["x"], "y", vec![text("norm", "L2")])];
    let model = pipeline([0.5, 0.5], data_type::FLOAT, steps, Vec::new());
    let read = read_model(&model).expect("it is read");
    for domain in [IntInterval::new(0, 999), IntInterval::ALL] {
        let asked = IntegerTrees::asking(&read.ensemble, Questions::of_bounded(&[domain; 2]));
        assert!(asked.expect_err("too many").to_string().contains("65536 values together"));
    }
    // Trees have at most one leaf for each state.
    let domain = IntInterval::new(0, 99);
    let asked = IntegerTrees::asking(&read.ensemble, Questions::of_bounded(&[domain; 2]));
    assert!(asked.expect("it fits").trees()[0].nodes.len() < 2 * 100 * 100);
}

#[test]
fn categories_become_columns() {
    let columns = |[x, y]: [i64; 2]| [f32::from(u8::from(y == 2)), single(x)];
    compare(&encoded(1), [0.5, 1.5], columns);
}

#[test]
fn a_category_for_which_the_library_stops_is_refused() {
    let read = read_model(&encoded(0)).expect("it is read");
    let error = chosen(&read, [0, 0]).expect_err("the second variable may be −8");
    assert!(matches!(error, PolicyError::Unsupported { .. }), "{error}");
    assert!(
        error.to_string().contains("input 1 may be -8: it is none of the categories"),
        "{error}"
    );
    let domains = [IntInterval::new(-8, 8), IntInterval::new(0, 2)];
    assert!(IntegerTrees::asking(&read.ensemble, Questions::of_bounded(&domains)).is_ok());
}

#[test]
fn imputers_encoders_and_thresholds() {
    let imputed =
        vec![floats("imputed_value_floats", &[4.5, -1.5]), float("replaced_value_float", 3.0)];
    let steps = vec![step("Imputer", &["x"], "y", imputed)];
    let columns = |[x, y]: [i64; 2]| {
        [if x == 3 { 4.5 } else { single(x) }, if y == 3 { -1.5 } else { single(y) }]
    };
    compare(&pipeline([4.0, -1.0], data_type::FLOAT, steps, Vec::new()), [4.0, -1.0], columns);
    let keys = vec![
        floats("keys_floats", &[2.0, -1.0, 0.0]),
        floats("values_floats", &[0.0, 5.0, 1.0]),
        float("default_float", 2.0),
    ];
    let steps = vec![step("LabelEncoder", &["x"], "y", keys)];
    let code = |x: i64| match x {
        2 => 0.0,
        -1 => 5.0,
        0 => 1.0,
        _ => 2.0,
    };
    let columns = |[x, y]: [i64; 2]| [code(x), code(y)];
    compare(&pipeline([0.5, 1.5], data_type::FLOAT, steps, Vec::new()), [0.5, 1.5], columns);
    let steps = vec![step("Binarizer", &["x"], "y", vec![float("threshold", 2.0)])];
    let columns = |state: [i64; 2]| state.map(|x| f32::from(u8::from(x > 2)));
    compare(&pipeline([0.5, 0.5], data_type::FLOAT, steps, Vec::new()), [0.5, 0.5], columns);
}

#[test]
fn several_inputs_are_the_columns_of_a_data_frame() {
    let steps = vec![step("Concat", &["b", "a"], "y", vec![int("axis", -1)])];
    let mut model = pipeline([0.0, 1.0], data_type::FLOAT, steps, Vec::new());
    graph(&mut model).input =
        vec![value("a", data_type::FLOAT, Some(1)), value("b", data_type::FLOAT, Some(1))];
    let read = read_model(&model).expect("it is read");
    assert_eq!(read.features.groups, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    // y is (b, a).
    assert_eq!(chosen(&read, [5, 0]).expect("values"), 0);
    assert_eq!(chosen(&read, [1, 5]).expect("values"), 1);
    assert_eq!(chosen(&read, [2, 5]).expect("values"), 2);
}

#[test]
fn steps_that_do_not_fit_are_named() {
    let scaler = |attributes| vec![step("Scaler", &["x"], "y", attributes)];
    let hot = |attributes| vec![step("OneHotEncoder", &["x"], "y", attributes)];
    let encoder = |attributes| vec![step("LabelEncoder", &["x"], "y", attributes)];
    for (steps, words, is_invalid) in [
        (
            vec![step("Normalizer", &["x"], "y", vec![text("norm", "L3")])],
            "there is no norm L3",
            true,
        ),
        (
            vec![
                step("Normalizer", &["x"], "z", Vec::new()),
                step("Normalizer", &["z"], "y", Vec::new()),
            ],
            "what is normalised before",
            false,
        ),
        (vec![step("MatMul", &["x", "c"], "y", Vec::new())], "before a tree ensemble", false),
        (vec![step("Mul", &["x", "x"], "y", Vec::new())], "must be a constant", false),
        (vec![step("Div", &["c", "x"], "y", Vec::new())], "must be a constant", false),
        (vec![step("Add", &["x", "k"], "y", Vec::new())], "another type", true),
        (vec![step("Add", &["x", "three"], "y", Vec::new())], "of shape [3]", false),
        (vec![step("Cast", &["x"], "y", vec![int("to", 8)])], "categories that are texts", false),
        (vec![step("Concat", &["x", "x"], "y", vec![int("axis", 0)])], "axis 0", false),
        (vec![step("Gather", &["x", "k"], "y", vec![int("axis", 1)])], "place 2 of 2", true),
        (vec![step("Reshape", &["x", "k"], "y", Vec::new())], "another shape", false),
        (
            scaler(vec![floats("offset", &[0.0; 3]), floats("scale", &[1.0; 2])]),
            "`offset` has 3 entries for 2 columns",
            true,
        ),
        (scaler(vec![floats("scale", &[1.0])]), "`offset` has 0 entries", true),
        (hot(vec![ints("cats_int64s", &[1, 1])]), "listed twice", true),
        (hot(vec![texts("cats_strings", &["a"])]), "categories that are texts", false),
        (hot(Vec::new()), "no categories", true),
        (
            encoder(vec![ints("keys_int64s", &[1]), ints("values_int64s", &[1])]),
            "another type",
            true,
        ),
        (
            encoder(vec![floats("keys_floats", &[1.0, 2.0]), ints("values_int64s", &[1])]),
            "1 values for 2 keys",
            true,
        ),
        (
            encoder(vec![floats("keys_floats", &[1.0, 1.0]), ints("values_int64s", &[1, 2])]),
            "a key is listed twice",
            true,
        ),
    ] {
        let what = steps[0].op_type.clone();
        let constants = vec![
            real_constant("c", &[1.0, 2.0]),
            real_constant("three", &[1.0, 2.0, 3.0]),
            integer_constant("k", &[2]),
        ];
        let model = pipeline([0.0, 1.0], data_type::FLOAT, steps, constants);
        let error = read_model(&model).expect_err(&what);
        assert!(error.to_string().contains(words), "{what}: {error}");
        assert_eq!(matches!(error, PolicyError::Invalid { .. }), is_invalid, "{what}: {error}");
    }
    // Trees that read a column which is not there.
    let picked = vec![step("Gather", &["x", "k"], "y", vec![int("axis", 1)])];
    let model = pipeline([0.0, 1.0], data_type::FLOAT, picked, vec![integer_constant("k", &[0])]);
    let error = read_model(&model).expect_err("one column");
    assert!(error.to_string().contains("splits on feature 1"), "{error}");
}
