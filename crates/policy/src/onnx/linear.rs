//! Operators that are affine: Gemm, MatMul, and arithmetic with constants.

use super::call::Call;
use super::constants;
use super::graph::Import;
use super::powers;
use super::tensor::{Data, Tensor, broadcast, broadcast_indices, count};
use super::value::{Flow, Origin, Ranked, Value};
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::NodeId;
use crate::network::fold::product;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// The elements of a constant, repeated to a shape.
pub(super) fn repeated(tensor: &Tensor, shape: &[usize]) -> Result<Vec<f64>> {
    let values = tensor.floats().ok_or_else(|| unsupported("a constant of integers is used"))?;
    let indices = broadcast_indices(&tensor.shape, shape).ok_or_else(|| {
        invalid(format!("a constant of shape {:?} does not fit shape {shape:?}", tensor.shape))
    })?;
    Ok(indices.into_iter().map(|i| values[i]).collect())
}

/// A constant matrix.
fn matrix(tensor: Tensor) -> Result<Matrix> {
    let Data::Floats(values, _) = tensor.data else {
        return Err(unsupported("a matrix of integers is used"));
    };
    let shape = match tensor.shape[..] {
        [ref leading @ .., rows, columns] if leading.iter().all(|&size| size == 1) => {
            Some((rows, columns))
        }
        _ => None,
    };
    shape
        .and_then(|(rows, columns)| Matrix::new(rows, columns, values))
        .ok_or_else(|| unsupported(format!("a constant of shape {:?}", tensor.shape)))
}

impl Import<'_, '_> {
    /// `alpha · A' · B' + beta · C`.
    pub(super) fn gemm(&mut self, mut call: Call) -> Result<Value> {
        let attributes = call.attributes(&["alpha", "beta", "transA", "transB"])?;
        let alpha = attributes.float("alpha")?.unwrap_or(1.0);
        let beta = attributes.float("beta")?.unwrap_or(1.0);
        let transposed_a = attributes.integer("transA")?.unwrap_or(0) != 0;
        let transposed_b = attributes.integer("transB")?.unwrap_or(0) != 0;
        let summand = call.optional(2).map(|c| c.into_constant("argument C")).transpose()?;
        let factors = [call.taken(0)?, call.taken(1)?];
        self.general_product(factors, [transposed_a, transposed_b], (alpha, beta), summand)
    }

    /// `alpha · A' · B' + beta · C`, where A' and B' may be transposed.
    pub(super) fn general_product(
        &mut self,
        [a, b]: [Value; 2],
        [transposed_a, transposed_b]: [bool; 2],
        (alpha, beta): (f64, f64),
        summand: Option<Tensor>,
    ) -> Result<Value> {
        let dimensions = |flow: &Flow, yes| match flow.shape[..] {
            [rows, columns] if yes => Ok((columns, rows)),
            [rows, columns] => Ok((rows, columns)),
            _ => Err(invalid(format!("an argument of shape {:?} is no matrix", flow.shape))),
        };
        let (flow, weights, shape) = match (a, b) {
            (Value::Constant(_), Value::Constant(_)) => {
                return Err(unsupported("arithmetic of constants is not supported"));
            }
            (a, Value::Constant(b)) => {
                let flow = a.into_numbers()?;
                let (rows, columns) = dimensions(&flow, transposed_a)?;
                if rows != 1 {
                    return Err(unsupported(format!("an input of {rows} rows")));
                }
                // Rows of weights are the columns of B'.
                let weights = self.transposed(matrix(b)?, !transposed_b)?;
                if weights.columns() != columns {
                    let rows = weights.columns();
                    let message = format!("{columns} elements for a matrix of {rows} rows");
                    return Err(invalid(message));
                }
                let shape = vec![1, weights.rows()];
                (flow, weights, shape)
            }
            (Value::Constant(a), b) => {
                let flow = b.into_numbers()?;
                let (rows, columns) = dimensions(&flow, transposed_b)?;
                if columns != 1 {
                    return Err(unsupported(format!("an input of {columns} columns")));
                }
                let a = self.transposed(matrix(a)?, transposed_a)?;
                if a.columns() != rows {
                    let message =
                        format!("{rows} elements for a matrix of {} columns", a.columns());
                    return Err(invalid(message));
                }
                let shape = vec![a.rows(), 1];
                (flow, a, shape)
            }
            _ => return Err(unsupported("one factor must be constant, and only one")),
        };
        let summand = match summand {
            None => vec![0.0; weights.rows()],
            Some(c) => repeated(&c, &shape)?,
        };
        let node = self.scaled_affine(flow.node, weights, alpha, beta, summand)?;
        Ok(Value::computed(node, shape, flow.element))
    }

    /// A matrix, transposed if `yes`.
    fn transposed(&mut self, matrix: Matrix, yes: bool) -> Result<Matrix> {
        if !yes {
            return Ok(matrix);
        }
        self.meter.before_doubles(matrix.entries().len())?;
        Ok(matrix.transposed())
    }

    /// `alpha · W · x + beta · c`, exactly.
    fn scaled_affine(
        &mut self,
        x: NodeId,
        weights: Matrix,
        alpha: f64,
        beta: f64,
        c: Vec<f64>,
    ) -> Result<NodeId> {
        let rows = weights.rows();
        let all = |value: f64| vec![value; rows];
        let is = |value: f64, constant: f64| (value - constant).abs() <= 0.0;
        if is(alpha, 1.0) && is(beta, 1.0) {
            return self.builder.affine(x, weights, c);
        }
        let product_with_beta = |value: f64| product(value, &rational(beta)?);
        let scaled: Option<Vec<f64>> = c.iter().map(|&value| product_with_beta(value)).collect();
        let node = self.builder.affine(x, weights, all(0.0))?;
        match scaled {
            Some(summand) => self.builder.scale(node, all(alpha), all(1.0), summand),
            // beta · c is no double: (alpha / beta · W · x + c) · beta.
            None => {
                let inner = self.builder.scale(node, all(alpha), all(beta), c)?;
                self.builder.scale(inner, all(beta), all(1.0), all(0.0))
            }
        }
    }

    /// A product with a constant matrix on either side.
    pub(super) fn mat_mul(&mut self, mut call: Call) -> Result<Value> {
        call.attributes(&[])?;
        let factors = [call.taken(0)?, call.taken(1)?];
        self.matrix_product(factors)
    }

    /// The product of two values, one of which is constant.
    pub(super) fn matrix_product(&mut self, [a, b]: [Value; 2]) -> Result<Value> {
        let (flow, weights, shape) = match (a, b) {
            (Value::Constant(_), Value::Constant(_)) => {
                return Err(unsupported("arithmetic of constants is not supported"));
            }
            (a, Value::Constant(mut b)) => {
                let flow = a.into_numbers()?;
                let is_vector = b.shape.len() == 1;
                if is_vector {
                    b.shape.push(1);
                }
                let [leading @ .., columns] = &flow.shape[..] else {
                    return Err(invalid("a number is multiplied by a matrix"));
                };
                let b_rank = b.shape.len();
                let matrix = matrix(b)?;
                if matrix.rows() != *columns {
                    let message =
                        format!("{columns} elements for a matrix of {} rows", matrix.rows());
                    return Err(invalid(message));
                }
                let rank = leading.len().max(b_rank - 2 + usize::from(!leading.is_empty()));
                let mut shape = vec![1; rank - leading.len()];
                shape.extend(leading);
                if !is_vector {
                    shape.push(matrix.columns());
                }
                let rows = count(leading).unwrap_or(usize::MAX);
                if rows != 1 {
                    let node = self.for_each_row(&flow, rows, &matrix)?;
                    return Ok(Value::computed(node, shape, flow.element));
                }
                (flow, self.transposed(matrix, true)?, shape)
            }
            (Value::Constant(mut a), b) => {
                let flow = b.into_numbers()?;
                let is_vector = a.shape.len() == 1;
                if is_vector {
                    a.shape.insert(0, 1);
                }
                let a_rank = a.shape.len();
                let weights = matrix(a)?;
                // A vector, or a matrix of one column.
                let (rows, column) = match flow.shape[..] {
                    [rows] => (rows, None),
                    [ref leading @ .., rows, 1] if leading.iter().all(|&size| size == 1) => {
                        (rows, Some(leading.len()))
                    }
                    _ => return Err(unsupported(format!("an input of shape {:?}", flow.shape))),
                };
                if weights.columns() != rows {
                    let message =
                        format!("{rows} elements for a matrix of {} columns", weights.columns());
                    return Err(invalid(message));
                }
                let rank = column.unwrap_or(0).max(a_rank - 2);
                let mut shape = vec![1; rank];
                if !is_vector {
                    shape.push(weights.rows());
                }
                if column.is_some() {
                    shape.push(1);
                }
                (flow, weights, shape)
            }
            _ => return Err(unsupported("one factor must be constant, and only one")),
        };
        let zeros = vec![0.0; weights.rows()];
        let node = self.builder.affine(flow.node, weights, zeros)?;
        Ok(Value::computed(node, shape, flow.element))
    }

    /// The product of each of several rows with a matrix.
    fn for_each_row(&mut self, flow: &Flow, rows: usize, matrix: &Matrix) -> Result<NodeId> {
        let (height, width) = (matrix.rows(), matrix.columns());
        let total = rows.checked_mul(width);
        let total = total.ok_or_else(|| unsupported("the product is too large"))?;
        let entries = (0..rows).flat_map(|row| {
            (0..width).flat_map(move |column| {
                (0..height)
                    .map(move |k| (row * width + column, row * height + k, matrix.row(k)[column]))
            })
        });
        self.sparse_affine(flow.node, entries, vec![0.0; total])
    }

    /// Add, Sub, Mul, Div.
    pub(super) fn arithmetic(&mut self, call: &Call) -> Result<Value> {
        call.attributes(&[])?;
        self.of_two(call.operator(), call.required(0)?, call.required(1)?)
    }

    /// The result of Add, Sub, Mul or Div.
    pub(super) fn of_two(&mut self, operator: &str, a: Value, b: Value) -> Result<Value> {
        let shape = common_shape(&[a.clone(), b.clone()])?;
        let (element, node) = match (a, b) {
            (Value::Constant(a), Value::Constant(b)) => {
                return constants::arithmetic(operator, &a, &b, shape).map(Value::Constant);
            }
            (a, Value::Constant(b)) => {
                if let Value::Ranked(ranked) = &a
                    && let Some(ranked) = super::order::shifted(operator, ranked, &b)
                    && ranked.shape == shape
                {
                    let values = match a.clone().into_numbers() {
                        Ok(flow) => {
                            let constants = repeated(&b, &shape)?;
                            Some(self.with_constants(operator, flow.node, constants)?)
                        }
                        Err(_) => None,
                    };
                    return Ok(Value::Ranked(Ranked { values, ..ranked }));
                }
                let flow = self.broadcast(a.into_numbers()?, &shape)?;
                let constants = repeated(&b, &shape)?;
                (flow.element, self.with_constants(operator, flow.node, constants)?)
            }
            (Value::Constant(a), b) => {
                let mut flow = b.into_numbers()?;
                if operator == "Div" && self.as_written {
                    let (a, b) =
                        (self.node_of(Value::Constant(a), &shape)?, self.broadcast(flow, &shape)?);
                    let node = self.quotient(a, b.node)?;
                    return Ok(Value::computed(node, shape, b.element));
                }
                if operator == "Div" {
                    flow.node = self.reciprocal(flow.node)?;
                    flow.origin = Origin::Computed;
                }
                let flow = self.broadcast(flow, &shape)?;
                let constants = repeated(&a, &shape)?;
                let node = match operator {
                    "Sub" => {
                        let negated = self.times(flow.node, -1.0)?;
                        self.with_constants("Add", negated, constants)?
                    }
                    "Div" => self.with_constants("Mul", flow.node, constants)?,
                    _ => self.with_constants(operator, flow.node, constants)?,
                };
                (flow.element, node)
            }
            (a, b) if matches!(operator, "Mul" | "Div") => {
                let (a, b) = (a.into_numbers()?, b.into_numbers()?);
                (a.element, powers::arithmetic(self, operator, (a, b), &shape)?)
            }
            (a, b) => {
                let a = self.broadcast(a.into_numbers()?, &shape)?;
                let b = self.broadcast(b.into_numbers()?, &shape)?;
                let second = if operator == "Add" { b.node } else { self.times(b.node, -1.0)? };
                (a.element, self.builder.add(vec![a.node, second])?)
            }
        };
        Ok(Value::computed(node, shape, element))
    }

    /// A flow repeated to a shape.
    pub(super) fn broadcast(&mut self, flow: Flow, shape: &[usize]) -> Result<Flow> {
        let indices = broadcast_indices(&flow.shape, shape).ok_or_else(|| {
            invalid(format!("an input of shape {:?} does not fit shape {shape:?}", flow.shape))
        })?;
        self.picked_flow(flow, shape.to_vec(), &indices)
    }

    /// Elements of a flow by index, in a new shape.
    pub(super) fn picked_flow(
        &mut self,
        flow: Flow,
        shape: Vec<usize>,
        indices: &[usize],
    ) -> Result<Flow> {
        let origin = match &flow.origin {
            Origin::Inputs(inputs) => {
                Origin::Inputs(indices.iter().map(|&index| inputs[index]).collect())
            }
            other => other.clone(),
        };
        let node = self.selection(flow.node, indices)?;
        Ok(Flow { node, shape, origin, ..flow })
    }

    /// The operator with a constant as second operand.
    fn with_constants(&mut self, operator: &str, x: NodeId, constants: Vec<f64>) -> Result<NodeId> {
        let all = |value: f64| vec![value; constants.len()];
        let negated = || constants.iter().map(|constant| -constant).collect();
        match operator {
            "Add" => self.builder.scale(x, all(1.0), all(1.0), constants),
            "Sub" => self.builder.scale(x, all(1.0), all(1.0), negated()),
            "Mul" => self.builder.scale(x, constants.clone(), all(1.0), all(0.0)),
            _ => self.builder.scale(x, all(1.0), constants.clone(), all(0.0)),
        }
    }

    /// A multiple of a vector.
    pub(super) fn times(&mut self, x: NodeId, factor: f64) -> Result<NodeId> {
        let all = |value: f64| vec![value; self.builder.width(x)];
        let (mul, div, add) = (all(factor), all(1.0), all(0.0));
        self.builder.scale(x, mul, div, add)
    }

    /// A vector divided by a number of elements.
    pub(super) fn divided(&mut self, x: NodeId, count: usize) -> Result<NodeId> {
        let all = |value: f64| vec![value; self.builder.width(x)];
        let divisor = u32::try_from(count).map_err(|_| unsupported("too many elements"))?;
        let (mul, div, add) = (all(1.0), all(f64::from(divisor)), all(0.0));
        self.builder.scale(x, mul, div, add)
    }

    pub(super) fn negated(&mut self, call: &Call) -> Result<Value> {
        call.attributes(&[])?;
        let flow = call.required(0)?.into_numbers()?;
        let node = self.times(flow.node, -1.0)?;
        Ok(Value::computed(node, flow.shape, flow.element))
    }

    /// The sum of any number of values.
    pub(super) fn sum(&mut self, call: &Call) -> Result<Value> {
        call.attributes(&[])?;
        let (nodes, shape, element) = self.operands(call)?;
        let node = self.builder.add(nodes)?;
        Ok(Value::computed(node, shape, element))
    }

    /// All arguments as nodes of one shape; constants are repeated to it.
    pub(super) fn operands(
        &mut self,
        call: &Call,
    ) -> Result<(Vec<NodeId>, Vec<usize>, super::tensor::Element)> {
        let values = call.all()?;
        let shape = common_shape(&values)?;
        let varying = values.iter().find(|value| !matches!(value, Value::Constant(_)));
        let element = match varying {
            Some(value) => value.clone().into_numbers()?.element,
            None => return Err(unsupported("arithmetic of constants is not supported")),
        };
        let nodes: Result<Vec<NodeId>> =
            values.into_iter().map(|value| self.node_of(value, &shape)).collect();
        Ok((nodes?, shape, element))
    }
}

/// The shape that all values broadcast to.
pub(super) fn common_shape(values: &[Value]) -> Result<Vec<usize>> {
    values.iter().try_fold(Vec::new(), |shape, value| {
        broadcast(&shape, value.shape())
            .ok_or_else(|| invalid(format!("shapes {shape:?} and {:?} do not fit", value.shape())))
    })
}

fn rational(value: f64) -> Option<policert_numeric::Rational> {
    policert_numeric::Rational::from_f64(value)
}
