//! Functions of integers: one-hot vectors, comparisons, tables. On integers they are sums of bends,
//! max(x − k, 0), and so exact. What compares numbers that are computed is made of their signs.

use std::collections::BTreeMap;

use policert_numeric::IntInterval;

use super::call::Call;
use super::constants;
use super::graph::Import;
use super::linear::common_shape;
use super::reshape::axis;
use super::tensor::{Data, Element, Tensor, broadcast_indices, count};
use super::value::{Flow, Origin, Value};
use crate::activation::{Activation, Staircase};
use crate::error::PolicyError;
use crate::network::{NodeId, Written};

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// The inputs of the network that are the elements of a flow of integers.
fn inputs(import: &mut Import<'_, '_>, flow: &Flow, range: IntInterval) -> Result<()> {
    match &flow.origin {
        Origin::Inputs(inputs) => {
            import.need(inputs, range);
            Ok(())
        }
        Origin::Computed | Origin::Truth => {
            let message = "of integers that are computed it is not supported; of inputs it is";
            Err(unsupported(message))
        }
    }
}

/// An integer as a double; those beyond 2⁵² are refused.
pub(super) fn number(value: i64) -> Result<f64> {
    const GREATEST: i64 = 1 << 52;
    if value.abs() > GREATEST {
        return Err(unsupported(format!("{value} has more than 52 bits")));
    }
    #[expect(clippy::cast_precision_loss, reason = "few enough bits")]
    Ok(value as f64)
}

impl Import<'_, '_> {
    /// 1 − x of truth values.
    fn complement(&mut self, x: NodeId) -> Result<NodeId> {
        let all = |value: f64| vec![value; self.builder.width(x)];
        let (mul, div, add) = (all(-1.0), all(1.0), all(1.0));
        self.builder.scale(x, mul, div, add)
    }

    /// For each pair of an element of a vector of integers and a value, whether they are equal:
    /// max(x − v + 1, 0) − 2 · max(x − v, 0) + max(x − v − 1, 0).
    pub(super) fn indicators(&mut self, x: NodeId, pairs: &[(usize, i64)]) -> Result<NodeId> {
        let mut bends: BTreeMap<(usize, i64), usize> = BTreeMap::new();
        for &(element, value) in pairs {
            number(value)?;
            for at in value - 1..=value + 1 {
                let next = bends.len();
                bends.entry((element, at)).or_insert(next);
            }
        }
        let mut offsets = vec![0.0; bends.len()];
        for (&(_, at), &place) in &bends {
            offsets[place] = -number(at)?;
        }
        let entries = bends.iter().map(|(&(element, _), &place)| (place, element, 1.0));
        let shifted = self.sparse_affine(x, entries, offsets)?;
        let bent = self.builder.relu(shifted);
        let entries = pairs.iter().enumerate().flat_map(|(row, &(element, value))| {
            let place = |at: i64| bends.get(&(element, at)).copied().unwrap_or(0);
            [(row, place(value - 1), 1.0), (row, place(value), -2.0), (row, place(value + 1), 1.0)]
        });
        self.sparse_affine(bent, entries.collect::<Vec<_>>().into_iter(), vec![0.0; pairs.len()])
    }
}

/// OneHot of inputs.
pub(super) fn one_hot(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis"])?;
    let flow = call.required(0)?.into_flow()?;
    let depth = match call.required(1)?.into_constant("the depth")?.data {
        Data::Integers(values) => values,
        Data::Floats(values, _) if values.iter().all(|&value| Element::Integer.holds(value)) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "compared with a bound below")]
            values.iter().map(|&value| value as i64).collect()
        }
        Data::Floats(..) | Data::Texts(_) => Vec::new(),
    };
    let depth = match depth[..] {
        [depth] if (1..=MAX_DEPTH).contains(&depth) => depth,
        _ => return Err(invalid(format!("the depth is {depth:?}"))),
    };
    let values = call.required(2)?.into_constant("the values")?;
    let element = values.element();
    let (off, on) = match values.data {
        Data::Integers(ref values) if values.len() == 2 => (number(values[0])?, number(values[1])?),
        Data::Floats(ref values, _) if values.len() == 2 => (values[0], values[1]),
        _ => return Err(invalid("two values are expected: off and on")),
    };
    if ![off, on].into_iter().all(|value| Element::Integer.holds(value)) {
        return Err(unsupported("values that are no integers"));
    }
    // Indices below 0 count from the end, and beyond the depth nothing is on.
    inputs(import, &flow, IntInterval::new(0, IntInterval::UNBOUNDED_ABOVE))?;
    let rank = flow.shape.len() + 1;
    let place = axis(attributes.integer("axis")?.unwrap_or(-1), rank)?;
    let mut shape = flow.shape.clone();
    shape.insert(place, usize::try_from(depth).unwrap_or(0));
    let inner = count(&flow.shape[place..]).unwrap_or(0);
    let elements = count(&flow.shape).unwrap_or(0);
    let mut pairs = Vec::new();
    for outer in 0..elements / inner.max(1) {
        for value in 0..depth {
            pairs.extend((0..inner).map(|i| (outer * inner + i, value)));
        }
    }
    let node = import.indicators(flow.node, &pairs)?;
    let all = |value: f64| vec![value; pairs.len()];
    let node = import.builder.scale(node, all(on - off), all(1.0), all(off))?;
    let is_truth = off.abs() <= 0.0 && (on - 1.0).abs() <= 0.0;
    let origin = if is_truth { Origin::Truth } else { Origin::Computed };
    Ok(Value::Flow(Flow { node, shape, element, origin }))
}

/// A one-hot vector with more elements is a mistake.
const MAX_DEPTH: i64 = 1 << 16;

/// Rows of a table, by inputs.
pub(super) fn table(import: &mut Import<'_, '_>, table: &Tensor, flow: &Flow) -> Result<Value> {
    let Some(entries) = table.floats() else {
        return Err(unsupported("a table of integers is not supported; of real numbers it is"));
    };
    let [rows, rest @ ..] = &table.shape[..] else { return Err(invalid("a table of no rows")) };
    let last = i64::try_from(*rows).unwrap_or(i64::MAX) - 1;
    if last >= MAX_DEPTH {
        return Err(unsupported(format!("a table of {rows} rows is too large")));
    }
    inputs(import, flow, IntInterval::new(0, last))?;
    let elements = count(&flow.shape).unwrap_or(0);
    let pairs: Vec<(usize, i64)> =
        (0..elements).flat_map(|element| (0..=last).map(move |row| (element, row))).collect();
    let chosen = import.indicators(flow.node, &pairs)?;
    let width = count(rest).unwrap_or(0);
    let weights = (0..elements).flat_map(|element| {
        (0..*rows).flat_map(move |row| {
            (0..width).map(move |column| {
                (element * width + column, element * rows + row, entries[row * width + column])
            })
        })
    });
    let node = import.sparse_affine(chosen, weights, vec![0.0; elements * width])?;
    let shape = [&flow.shape[..], rest].concat();
    Ok(Value::computed(node, shape, table.element()))
}

/// Equal, Greater, GreaterOrEqual, Less, LessOrEqual of numbers that are computed, by the sign of their
/// difference.
fn compare_signs(
    import: &mut Import<'_, '_>,
    operator: &str,
    [a, b]: [&Value; 2],
    shape: &[usize],
) -> Result<NodeId> {
    let mut side = |value: &Value| match value {
        Value::Constant(tensor) if tensor.element() == Element::Integer => {
            let values = tensor.as_integers().unwrap_or_default();
            let places = broadcast_indices(&tensor.shape, shape);
            let places = places.ok_or_else(|| invalid("the shapes do not fit"))?;
            let numbers: Result<Vec<f64>> = places.iter().map(|&at| number(values[at])).collect();
            import.sparse_affine(NodeId::INPUT, std::iter::empty(), numbers?)
        }
        Value::Constant(_) => import.node_of(value.clone(), shape),
        other => Ok(import.broadcast(other.clone().into_flow()?, shape)?.node),
    };
    let (a, b) = (side(a)?, side(b)?);
    let (low, high) = if matches!(operator, "Less" | "GreaterOrEqual") { (a, b) } else { (b, a) };
    let opposite = import.times(low, -1.0)?;
    let difference = import.builder.add(vec![high, opposite])?;
    let sign = import.builder.activation(difference, Activation::Staircase(Staircase::Sign))?;
    let holds = match operator {
        "Equal" => import.builder.activation(sign, Activation::Leaky { alpha: -1.0 })?,
        _ => import.builder.relu(sign),
    };
    if matches!(operator, "Greater" | "Less") { Ok(holds) } else { import.complement(holds) }
}

/// Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
pub(super) fn compare(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let (a, b) = (call.required(0)?, call.required(1)?);
    let shape = common_shape(&[a.clone(), b.clone()])?;
    let operator = call.operator();
    let is_plain = |value: &Value| match value {
        Value::Constant(tensor) => tensor.element() == Element::Integer,
        Value::Flow(flow) => matches!(flow.origin, Origin::Inputs(_)),
        Value::Ranked(_) | Value::Decision(_) | Value::Unread(_) => false,
    };
    let is_constant = |value: &Value| matches!(value, Value::Constant(_));
    let constants = [&a, &b].into_iter().filter(|side| is_constant(side)).count();
    let are_plain = is_plain(&a) && is_plain(&b);
    if constants == 0 || (constants == 1 && !are_plain) {
        let node = compare_signs(import, operator, [&a, &b], &shape)?;
        let (element, origin) = (Element::Integer, Origin::Truth);
        return Ok(Value::Flow(Flow { node, shape, element, origin }));
    }
    let (flow, constant, is_turned) = match (a, b) {
        (Value::Constant(a), Value::Constant(b)) => {
            let holds = |order: std::cmp::Ordering| match operator {
                "Equal" => order.is_eq(),
                "Greater" => order.is_gt(),
                "GreaterOrEqual" => order.is_ge(),
                "Less" => order.is_lt(),
                _ => order.is_le(),
            };
            return constants::compared(&a, &b, shape, holds).map(Value::Constant);
        }
        (Value::Constant(a), b) => (b.into_flow()?, a, true),
        (a, b) => (a.into_flow()?, b.into_constant("one side")?, false),
    };
    let Some(values) = constant.as_integers() else {
        return Err(unsupported("a comparison with real numbers"));
    };
    inputs(import, &flow, IntInterval::ALL)?;
    let fits = || invalid("the shapes do not fit");
    let elements = broadcast_indices(&flow.shape, &shape).ok_or_else(fits)?;
    let places = broadcast_indices(&constant.shape, &shape).ok_or_else(fits)?;
    let bounds: Vec<i64> = places.iter().map(|&place| values[place]).collect();
    let node = if operator == "Equal" {
        let pairs: Vec<(usize, i64)> = elements.into_iter().zip(bounds).collect();
        import.indicators(flow.node, &pairs)?
    } else {
        let x = import.selection(flow.node, &elements)?;
        // x > k, or its opposite.
        let (is_above, is_strict) = match (operator, is_turned) {
            ("Greater", false) | ("Less", true) => (true, true),
            ("GreaterOrEqual", false) | ("LessOrEqual", true) => (true, false),
            ("Less", false) | ("Greater", true) => (false, false),
            _ => (false, true),
        };
        let offsets: Result<Vec<f64>> = bounds
            .iter()
            .map(|&k| number(k).map(|k| if is_strict { -k } else { 1.0 - k }))
            .collect();
        let all = |value: f64| vec![value; bounds.len()];
        let shifted = import.builder.scale(x, all(1.0), all(1.0), offsets?)?;
        let above = import.builder.activation(shifted, Activation::Clip { lo: 0.0, hi: 1.0 })?;
        if is_above { above } else { import.complement(above)? }
    };
    Ok(Value::Flow(Flow { node, shape, element: Element::Integer, origin: Origin::Truth }))
}

/// Not.
pub(super) fn not(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let flow = call.required(0)?.into_flow()?;
    if !matches!(flow.origin, Origin::Truth) {
        return Err(unsupported("of values that are no comparison"));
    }
    let node = import.complement(flow.node)?;
    Ok(Value::Flow(Flow { node, ..flow }))
}

/// Reads a comparison that chooses between two values, as b + (a − b) · c.
pub(super) fn choose(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let values = call.all()?;
    let [condition, a, b] = &values[..] else {
        return Err(invalid("three arguments are expected"));
    };
    let shape = common_shape(&values)?;
    if let Value::Constant(condition) = condition {
        return always(import, condition, (a.clone(), b.clone()), &shape);
    }
    let condition = condition.clone().into_flow()?;
    if !matches!(condition.origin, Origin::Truth) {
        return Err(unsupported("its condition is no comparison"));
    }
    let constants = match (a, b) {
        (Value::Constant(a), Value::Constant(b)) if !import.as_written => Some((a, b)),
        _ => None,
    };
    let Some((a, b)) = constants else {
        let element = [a, b].into_iter().find_map(|value| match value {
            Value::Flow(flow) => Some(flow.element),
            Value::Constant(_) | Value::Ranked(_) | Value::Decision(_) | Value::Unread(_) => None,
        });
        let condition = import.broadcast(condition, &shape)?;
        let (a, b) = (import.node_of(a.clone(), &shape)?, import.node_of(b.clone(), &shape)?);
        let opposite = import.times(b, -1.0)?;
        let difference = import.builder.add(vec![a, opposite])?;
        let product = import.product(condition.node, difference)?;
        let node = import.builder.add(vec![b, product])?;
        let condition = condition.node;
        import.builder.stands_for(node, Written::Choice { condition, a, b });
        return Ok(Value::computed(node, shape, element.unwrap_or(Element::F32)));
    };
    let element = a.element();
    let (a, b) = (super::linear::repeated(a, &shape)?, super::linear::repeated(b, &shape)?);
    let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let exact = |((&a, &b), &d): ((&f64, &f64), &f64)| {
        use policert_numeric::Rational;
        let number = Rational::from_f64;
        matches!((number(a), number(b), number(d)), (Some(a), Some(b), Some(d)) if &a - &b == d)
    };
    if !a.iter().zip(&b).zip(&difference).all(exact) {
        return Err(unsupported("the difference of the alternatives rounds"));
    }
    let condition = import.broadcast(condition, &shape)?;
    let ones = vec![1.0; b.len()];
    let node = import.builder.scale(condition.node, difference, ones, b)?;
    Ok(Value::computed(node, shape, element))
}

/// Reads a choice whose condition is the same in every state.
fn always(
    import: &mut Import<'_, '_>,
    condition: &Tensor,
    (a, b): (Value, Value),
    shape: &[usize],
) -> Result<Value> {
    let truths =
        condition.as_integers().ok_or_else(|| invalid("the condition is no truth value"))?;
    let places = broadcast_indices(&condition.shape, shape)
        .ok_or_else(|| invalid("the shapes do not fit"))?;
    let total = places.len();
    if let (Value::Constant(a), Value::Constant(b)) = (&a, &b)
        && let (Some(x), Some(y)) = (a.as_integers(), b.as_integers())
    {
        let fits = || invalid("the shapes do not fit");
        let first = broadcast_indices(&a.shape, shape).ok_or_else(fits)?;
        let second = broadcast_indices(&b.shape, shape).ok_or_else(fits)?;
        let pick = |i: usize| if truths[places[i]] != 0 { x[first[i]] } else { y[second[i]] };
        let data = Data::Integers((0..total).map(pick).collect());
        return Ok(Value::Constant(Tensor { shape: shape.to_vec(), data }));
    }
    let element = [&a, &b].iter().find_map(|value| match value {
        Value::Flow(flow) => Some(flow.element),
        _ => None,
    });
    let (a, b) = (import.node_of(a, shape)?, import.node_of(b, shape)?);
    let both = import.builder.concat(vec![a, b])?;
    let indices: Vec<usize> =
        (0..total).map(|i| if truths[places[i]] != 0 { i } else { total + i }).collect();
    let node = import.selection(both, &indices)?;
    Ok(Value::computed(node, shape.to_vec(), element.unwrap_or(Element::F32)))
}
