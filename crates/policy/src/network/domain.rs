//! What a network computes, in any kind of numbers.
//!
//! [`Network::fold`] walks the graph once; a [`Domain`] says what each operation gives. Most domains
//! compute element by element: [`Elements`].

use super::{Network, Op};
use crate::activation::Activation;
use crate::matrix::Matrix;

/// Constants of `x · mul / div + add`, element by element.
#[derive(Clone, Copy, Debug)]
pub struct Scaling<'a> {
    /// Factors.
    pub mul: &'a [f64],
    /// Divisors, not 0.
    pub div: &'a [f64],
    /// Summands.
    pub add: &'a [f64],
}

/// The operations of a network on vectors of some kind.
pub trait Domain {
    /// A vector.
    type Vector;
    /// The reason for which an operation has no value.
    type Error;

    /// `weights · x + bias`.
    ///
    /// # Errors
    /// If there is no value; so for all methods.
    fn affine(
        &mut self,
        x: &Self::Vector,
        weights: &Matrix,
        bias: &[f64],
    ) -> Result<Self::Vector, Self::Error>;

    /// `x · mul / div + add`, element by element.
    fn scale(
        &mut self,
        x: &Self::Vector,
        scaling: Scaling<'_>,
    ) -> Result<Self::Vector, Self::Error>;

    /// A function, element by element.
    fn apply(
        &mut self,
        activation: Activation,
        x: &Self::Vector,
    ) -> Result<Self::Vector, Self::Error>;

    /// The sum of at least one vector.
    fn sum(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, Self::Error>;

    /// The greatest of each element.
    fn max(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, Self::Error>;

    /// One vector after the other.
    fn concat(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, Self::Error>;
}

/// A [`Domain`] of vectors of numbers.
pub trait Elements {
    /// A number.
    type Element: Clone;
    /// The reason for which an operation has no value.
    type Error;

    /// The sum of products with a row of weights, and the bias.
    ///
    /// # Errors
    /// If there is no value; so for all methods.
    fn row(
        &mut self,
        weights: &[f64],
        bias: f64,
        x: &[Self::Element],
    ) -> Result<Self::Element, Self::Error>;

    /// `x · mul / div + add`.
    fn scale(
        &mut self,
        x: &Self::Element,
        mul: f64,
        div: f64,
        add: f64,
    ) -> Result<Self::Element, Self::Error>;

    /// The value of a function.
    fn apply(
        &mut self,
        activation: Activation,
        x: &Self::Element,
    ) -> Result<Self::Element, Self::Error>;

    /// The sum of at least one number.
    fn sum(&mut self, terms: &[Self::Element]) -> Result<Self::Element, Self::Error>;

    /// The greatest of at least one number.
    fn max(&mut self, terms: &[Self::Element]) -> Result<Self::Element, Self::Error>;
}

impl<D: Elements> Domain for D {
    type Vector = Vec<D::Element>;
    type Error = D::Error;

    fn affine(
        &mut self,
        x: &Self::Vector,
        weights: &Matrix,
        bias: &[f64],
    ) -> Result<Self::Vector, D::Error> {
        let rows = weights.row_iter().zip(bias);
        rows.map(|(row, &bias)| self.row(row, bias, x)).collect()
    }

    fn scale(&mut self, x: &Self::Vector, scaling: Scaling<'_>) -> Result<Self::Vector, D::Error> {
        let Scaling { mul, div, add } = scaling;
        let constants = mul.iter().zip(div).zip(add);
        let elements = x.iter().zip(constants);
        elements.map(|(x, ((&mul, &div), &add))| Elements::scale(self, x, mul, div, add)).collect()
    }

    fn apply(
        &mut self,
        activation: Activation,
        x: &Self::Vector,
    ) -> Result<Self::Vector, D::Error> {
        x.iter().map(|x| Elements::apply(self, activation, x)).collect()
    }

    fn sum(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, D::Error> {
        columns(vectors).map(|terms| Elements::sum(self, &terms)).collect()
    }

    fn max(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, D::Error> {
        columns(vectors).map(|terms| Elements::max(self, &terms)).collect()
    }

    fn concat(&mut self, vectors: &[&Self::Vector]) -> Result<Self::Vector, D::Error> {
        Ok(vectors.iter().flat_map(|vector| vector.iter().cloned()).collect())
    }
}

/// The elements of all vectors at each place.
fn columns<T: Clone>(vectors: &[&Vec<T>]) -> impl Iterator<Item = Vec<T>> {
    let width = vectors.first().map_or(0, |vector| vector.len());
    (0..width).map(|i| vectors.iter().map(|vector| vector[i].clone()).collect())
}

impl Network {
    /// The values of all nodes, for a vector as input.
    ///
    /// # Errors
    /// The first one of an operation.
    pub fn fold<D: Domain>(
        &self,
        domain: &mut D,
        input: D::Vector,
    ) -> Result<Vec<D::Vector>, D::Error> {
        let mut values: Vec<D::Vector> = Vec::with_capacity(self.nodes().len());
        // The first node, and no other, is the input.
        values.push(input);
        for node in self.nodes().iter().skip(1) {
            values.push(value_of(&node.op, &values, domain)?);
        }
        Ok(values)
    }
}

/// The value of an operation, other than the input, from those of the nodes before it.
pub(super) fn value_of<D: Domain>(
    op: &Op,
    values: &[D::Vector],
    domain: &mut D,
) -> Result<D::Vector, D::Error> {
    let sources: Vec<&D::Vector> = op.inputs().iter().map(|input| &values[input.index()]).collect();
    match op {
        Op::Input => domain.concat(&[]),
        Op::Affine { input, weights, bias } => domain.affine(&values[input.index()], weights, bias),
        Op::Scale { input, mul, div, add } => {
            domain.scale(&values[input.index()], Scaling { mul, div, add })
        }
        Op::Pointwise { input, activation } => domain.apply(*activation, &values[input.index()]),
        Op::Add { .. } => domain.sum(&sources),
        Op::Max { .. } => domain.max(&sources),
        Op::Concat { .. } => domain.concat(&sources),
    }
}
