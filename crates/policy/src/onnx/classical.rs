//! Operators of `ai.onnx.ml`, as scikit-learn's converter writes them, but tree ensembles.

use policert_numeric::{IntInterval, Rational};

use super::attributes::Attributes;
use super::call::Call;
use super::graph::Import;
use super::order::increasing_outputs;
use super::select::{join, looked_up};
use super::tensor::{Element, count};
use super::value::{Decision, Drawing, Flow, Origin, Ranked, UnreadValue, Value};
use crate::activation::Activation;
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::Written;
use crate::trees::{Classes, Kind, LABEL_ENCODER, Number, lookup};

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// The numbers that an operator of this set reads: integers are converted.
pub(super) fn numbers(value: Value) -> Result<Flow> {
    let flow = value.into_flow()?;
    let element = if flow.element.is_real() { flow.element } else { Element::F32 };
    Ok(Flow { element, ..flow })
}

/// Weights of one output a row, and the bias.
fn linear(
    import: &mut Import<'_, '_>,
    attributes: &Attributes<'_>,
    flow: &Flow,
) -> Result<crate::network::NodeId> {
    let columns = import.builder.width(flow.node);
    if flow.shape.last() != Some(&columns) {
        return Err(unsupported(format!("an input of shape {:?}", flow.shape)));
    }
    let weights = attributes.floats("coefficients")?.unwrap_or_default();
    let rows = weights.len() / columns.max(1);
    let bias = attributes.floats("intercepts")?.unwrap_or_else(|| vec![0.0; rows]);
    let given = weights.len();
    let matrix = Matrix::new(rows, columns, weights).filter(|_| bias.len() == rows && rows > 0);
    let matrix = matrix.ok_or_else(|| {
        let biases = bias.len();
        invalid(format!("{given} coefficients and {biases} intercepts for {columns} features"))
    })?;
    import.builder.affine(flow.node, matrix, bias)
}

/// The classes that an operator names.
pub(super) fn classes(attributes: &Attributes<'_>, integers: &str) -> Result<Option<Classes>> {
    let numbers = attributes.integers(integers)?.unwrap_or_default();
    let names = attributes.texts("classlabels_strings")?;
    match (numbers.is_empty(), names.is_empty()) {
        (true, true) => Ok(None),
        (false, true) => Ok(Some(Classes::Numbers(numbers.to_vec()))),
        (true, false) => Ok(Some(Classes::Names(names))),
        (false, false) => Err(invalid("the classes are given twice")),
    }
}

/// Label and scores. With one score for two classes the second one is chosen above 0.
pub(super) fn linear_classifier(import: &mut Import<'_, '_>, call: &Call) -> Result<Vec<Value>> {
    let known = [
        "classlabels_ints",
        "classlabels_strings",
        "coefficients",
        "intercepts",
        "multi_class",
        "post_transform",
    ];
    let attributes = call.attributes(&known)?;
    let flow = numbers(call.required(0)?)?;
    let mut node = linear(import, &attributes, &flow)?;
    let classes = classes(&attributes, "classlabels_ints")?;
    let listed = match &classes {
        Some(Classes::Numbers(numbers)) => numbers.len(),
        Some(Classes::Names(names)) => names.len(),
        None => import.builder.width(node),
    };
    if import.builder.width(node) == 1 && listed == 2 {
        node = import.sparse_affine(node, std::iter::once((1, 0, 1.0)), vec![0.0; 2])?;
    }
    let width = import.builder.width(node);
    if width != listed {
        return Err(invalid(format!("{width} scores for {listed} classes")));
    }
    let element = match &classes {
        Some(Classes::Names(_)) => Element::Text,
        Some(Classes::Numbers(_)) | None => Element::Integer,
    };
    let label = Value::Decision(Decision {
        node,
        shape: vec![1],
        element,
        classes,
        masked: None,
        drawing: Drawing::Unknown,
    });
    let scores = Ranked {
        node,
        shape: vec![1, width],
        element: Element::F32,
        values: Some(node),
        is_positive: false,
        drawing: Drawing::Unknown,
        masked: None,
    };
    let transform = attributes.text("post_transform")?.unwrap_or_else(|| "NONE".to_owned());
    Ok(vec![label, increasing_outputs(scores, &transform)])
}

/// A row of numbers that are linear in the features.
pub(super) fn linear_regressor(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes =
        call.attributes(&["coefficients", "intercepts", "post_transform", "targets"])?;
    let flow = numbers(call.required(0)?)?;
    let node = linear(import, &attributes, &flow)?;
    let width = import.builder.width(node);
    let targets = attributes.integer("targets")?.unwrap_or(1);
    if usize::try_from(targets) != Ok(width) {
        return Err(invalid(format!("coefficients of {width} targets, `targets` says {targets}")));
    }
    match attributes.text("post_transform")?.as_deref() {
        None | Some("NONE") => Ok(Value::computed(node, vec![1, width], Element::F32)),
        Some(other) => Err(unsupported(format!("`post_transform` {other} is not supported"))),
    }
}

/// (x − offset) · scale.
pub(super) fn scaler(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["offset", "scale"])?;
    let flow = numbers(call.required(0)?)?;
    let width = import.builder.width(flow.node);
    let list = |name: &str| -> Result<Vec<f64>> {
        match attributes.floats(name)?.unwrap_or_default()[..] {
            [one] => Ok(vec![one; width]),
            ref list if list.len() == width => Ok(list.to_vec()),
            ref list => Err(invalid(format!("`{name}` has {} numbers for {width}", list.len()))),
        }
    };
    let (offset, scale) = (list("offset")?, list("scale")?);
    let (ones, zeros) = (vec![1.0; width], vec![0.0; width]);
    let negated = offset.iter().map(|offset| -offset).collect();
    let centred = import.builder.scale(flow.node, ones.clone(), ones.clone(), negated)?;
    let node = import.builder.scale(centred, scale, ones, zeros)?;
    Ok(Value::computed(node, flow.shape, Element::F32))
}

/// Division by a norm, which keeps the order of positive values. Where all are 0 they stay so.
pub(super) fn normalizer(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["norm"])?;
    let flow = match call.required(0)? {
        Value::Ranked(ranked) if ranked.is_positive => return Ok(Value::Ranked(ranked)),
        other => numbers(other)?,
    };
    let width = import.builder.width(flow.node);
    if flow.shape.last() != Some(&width) {
        return Err(unsupported(format!("an input of shape {:?}", flow.shape)));
    }
    let Origin::Inputs(inputs) = &flow.origin else {
        return Err(unsupported(
            "of numbers that are computed it is not supported, as their norm could be near to 0; of \
             integers it is: let it be the first step",
        ));
    };
    let sum = |import: &mut Import<'_, '_>, terms| {
        import.sparse_affine(terms, (0..width).map(|term| (0, term, 1.0)), vec![0.0])
    };
    let absolute = Activation::Leaky { alpha: -1.0 };
    let norm = attributes.text("norm")?;
    // The greatest number and the greatest magnitude differ below 0, and so do libraries there.
    let range = match norm.as_deref() {
        None | Some("MAX") => IntInterval::new(0, IntInterval::UNBOUNDED_ABOVE),
        Some(_) => IntInterval::ALL,
    };
    import.need(inputs, range);
    let norm = match norm.as_deref() {
        Some("L1") => {
            let absolute = import.builder.activation(flow.node, absolute)?;
            sum(import, absolute)?
        }
        Some("L2") => {
            let squares = import.square(flow.node)?;
            let sum = sum(import, squares)?;
            import.root(sum)?
        }
        None | Some("MAX") => {
            let elements: Result<Vec<_>> =
                (0..width).map(|element| import.selection(flow.node, &[element])).collect();
            import.builder.max(elements?)?
        }
        Some(other) => return Err(invalid(format!("`norm` is {other}"))),
    };
    // Of integers, norms that are not 0 are at least 1.
    let norms = import.selection(norm, &vec![0; width])?;
    let inverse = import.positive_reciprocal(norms, 1.0)?;
    let node = import.product(flow.node, inverse)?;
    let written = Written::Quotient { a: flow.node, b: norms, keeps_zeros: true };
    import.builder.stands_for(node, written);
    Ok(Value::computed(node, flow.shape, flow.element))
}

/// A number of a list, exactly.
fn real(number: Number) -> Result<f64> {
    match number {
        Number::Single(x) => Ok(f64::from(x)),
        Number::Double(x) => Ok(x),
        Number::Integer(x) => super::discrete::number(x),
    }
}

/// Other numbers for integers, by a list.
pub(super) fn label_encoder(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&LABEL_ENCODER)?;
    let flow = call.required(0)?.into_flow()?;
    let Origin::Inputs(inputs) = &flow.origin else {
        return Err(unsupported("of numbers that are computed it is not supported"));
    };
    import.need(inputs, IntInterval::ALL);
    let (kind, lookup, to) = lookup(&attributes)?;
    let fits = match kind {
        Kind::Single => flow.element == Element::F32,
        Kind::Double => flow.element == Element::F64,
        Kind::Integer => flow.element == Element::Integer,
    };
    if !fits {
        return Err(invalid("its keys are of another type than its argument"));
    }
    let otherwise = lookup.otherwise.map_or(Ok(0.0), real)?;
    let mut pairs = Vec::new();
    let mut values = Vec::new();
    for (key, value) in &lookup.entries {
        // A variable has no other values.
        let Some(key) = key.to_integer() else { continue };
        let value = real(*value)?;
        let difference = value - otherwise;
        let exactly = Rational::from_f64;
        if exactly(value).zip(exactly(otherwise)).map(|(a, b)| a - b) != exactly(difference) {
            return Err(unsupported("a difference of its values rounds"));
        }
        pairs.push(key);
        values.push(difference);
    }
    let width = import.builder.width(flow.node);
    let all: Vec<(usize, i64)> =
        (0..width).flat_map(|element| pairs.iter().map(move |&key| (element, key))).collect();
    let node = if all.is_empty() {
        import.sparse_affine(flow.node, std::iter::empty(), vec![otherwise; width])?
    } else {
        let chosen = import.indicators(flow.node, &all)?;
        let weights = all
            .iter()
            .enumerate()
            .map(|(place, &(element, _))| (element, place, values[place % values.len()]));
        import.sparse_affine(chosen, weights, vec![otherwise; width])?
    };
    let element = match to {
        Kind::Single => Element::F32,
        Kind::Double => Element::F64,
        Kind::Integer => Element::Integer,
    };
    Ok(Value::computed(node, flow.shape, element))
}

/// Probabilities by name.
pub(super) fn zip_map(call: &Call) -> Result<Value> {
    call.attributes(&["classlabels_int64s", "classlabels_strings"])?;
    let message = "it gives a list of dictionaries; the label, or an export without it \
                   (`options={'zipmap': False}`), is supported";
    let _ = call.required(0)?;
    Ok(Value::Unread(UnreadValue {
        shape: None,
        element: None,
        known: super::value::Known::Nothing,
        place: String::new(),
        message: message.to_owned(),
    }))
}

/// Columns by index, or the class at the index of a decision.
pub(super) fn array_feature_extractor(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let (data, indices) = (call.required(0)?, call.required(1)?);
    if let (Value::Constant(list), Value::Decision(decision)) = (&data, &indices) {
        let shape = vec![1, count(&decision.shape).unwrap_or(1)];
        return Ok(looked_up(list, decision.clone())?.reshaped(shape));
    }
    let indices = indices.into_constant("the indices")?;
    let Some(wanted) = indices.as_integers() else {
        return Err(invalid("the indices must be integers"));
    };
    let width = data.shape().last().copied().unwrap_or(0);
    if count(data.shape()) != Some(width) {
        return Err(unsupported(format!("of shape {:?}", data.shape())));
    }
    let picked: Result<Vec<usize>> =
        wanted.iter().map(|&index| super::reshape::axis(index, width)).collect();
    let picked = picked?;
    import.picked(data, vec![1, picked.len()], &picked)
}

/// One-hot vectors of inputs; integers that are no category have none.
pub(super) fn one_hot_encoder(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["cats_int64s", "cats_strings", "zeros"])?;
    let flow = call.required(0)?.into_flow()?;
    let Some(categories) = attributes.integers("cats_int64s")? else {
        return Err(unsupported("categories by name are not supported"));
    };
    let Origin::Inputs(inputs) = &flow.origin else {
        return Err(unsupported("of numbers that are computed it is not supported"));
    };
    let range = match attributes.integer("zeros")?.unwrap_or(1) {
        0 => {
            let (Some(&lo), Some(&hi)) = (categories.iter().min(), categories.iter().max()) else {
                return Err(invalid("there are no categories"));
            };
            if !(lo..=hi).all(|value| categories.contains(&value)) {
                return Err(unsupported(
                    "other integers than its categories are an error (`zeros` 0)",
                ));
            }
            IntInterval::new(lo, hi)
        }
        _ => IntInterval::ALL,
    };
    import.need(inputs, range);
    let elements = import.builder.width(flow.node);
    let pairs: Vec<(usize, i64)> =
        (0..elements).flat_map(|i| categories.iter().map(move |&category| (i, category))).collect();
    let node = import.indicators(flow.node, &pairs)?;
    let shape = [&flow.shape[..], &[categories.len()]].concat();
    Ok(Value::Flow(Flow { node, shape, element: Element::F32, origin: Origin::Truth }))
}

/// Reads an imputer as the identity, because no input is missing.
pub(super) fn imputer(call: &Call) -> Result<Value> {
    let known = [
        "imputed_value_floats",
        "imputed_value_int64s",
        "replaced_value_float",
        "replaced_value_int64",
    ];
    let attributes = call.attributes(&known)?;
    let replaced = attributes.float("replaced_value_float")?.unwrap_or(0.0);
    if !replaced.is_nan() || attributes.integer("replaced_value_int64")?.is_some() {
        return Err(unsupported("other replaced values than NaN are not supported"));
    }
    call.required(0)
}

/// Columns of several values, one after the other.
pub(super) fn feature_vectorizer(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&["inputdimensions"])?;
    let mut rows = Vec::new();
    for value in call.all()? {
        let flow = numbers(value)?;
        let width = import.builder.width(flow.node);
        rows.push(Value::Flow(Flow { shape: vec![1, width], ..flow }));
    }
    join(import, rows, 1)
}

/// 1 above a threshold, else 0, of inputs.
pub(super) fn binarizer(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["threshold"])?;
    let threshold = attributes.float("threshold")?.unwrap_or(0.0);
    let flow = numbers(call.required(0)?)?;
    let Origin::Inputs(inputs) = &flow.origin else {
        return Err(unsupported("of numbers that are computed it is not supported"));
    };
    import.need(inputs, IntInterval::ALL);
    let width = import.builder.width(flow.node);
    let all = |value: f64| vec![value; width];
    let shifted = import.builder.scale(flow.node, all(1.0), all(1.0), all(-threshold.floor()))?;
    let step = Activation::Clip { lo: 0.0, hi: 1.0 };
    let node = import.builder.activation(shifted, step)?;
    Ok(Value::Flow(Flow { node, origin: Origin::Truth, ..flow }))
}
