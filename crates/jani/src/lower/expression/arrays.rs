//! Arrays, element by element.

use policert_model::{BinaryOp as Op, Expr as ModelExpr};
use policert_numeric::Rational;

use super::{ExprLowerer, unsupported};
use crate::{
    ast::Constructor,
    diagnostic::DiagnosticCode,
    lower::{Lowered, Scalar, Trouble},
    source::At,
};

/// Longest array.
const MAX_LENGTH: usize = 1 << 20;

impl ExprLowerer<'_> {
    /// If, then, else; arrays element by element.
    pub(super) fn ite(
        &mut self,
        condition: &Scalar,
        then: Lowered,
        otherwise: Lowered,
        at: At,
    ) -> Result<Lowered, Trouble> {
        match (then, otherwise) {
            (Lowered::Scalar(then), Lowered::Scalar(otherwise)) => {
                self.effort.spend(condition.size, at)?;
                Ok(Lowered::Scalar(Scalar::ite(condition.clone(), then, otherwise)))
            }
            (Lowered::Array(a), Lowered::Array(b)) if a.len() == b.len() => {
                let pairs = a.into_iter().zip(b);
                let elements = pairs.map(|(a, b)| self.ite(condition, a, b, at));
                Ok(Lowered::Array(elements.collect::<Result<_, _>>()?))
            }
            _ => unsupported(at, "arrays whose length is not fixed".to_owned()),
        }
    }

    /// Element `index` of an array; of an array of arrays, the array of all its elements.
    pub(super) fn access(
        &mut self,
        array: Lowered,
        index: Scalar,
        at: At,
    ) -> Result<Lowered, Trouble> {
        let Lowered::Array(mut elements) = array else { return Err(Trouble::ill_typed(at)) };
        let position = index.expr.as_constant().and_then(Rational::to_i64);
        if let Some(i) = position.and_then(|i| usize::try_from(i).ok())
            && i < elements.len()
        {
            return Ok(elements.swap_remove(i));
        }
        if let Some(Lowered::Array(first)) = elements.first() {
            let width = first.len();
            let mut columns: Vec<Vec<Lowered>> =
                (0..width).map(|_| Vec::with_capacity(elements.len())).collect();
            for element in elements {
                match element {
                    Lowered::Array(row) if row.len() == width => {
                        for (column, cell) in columns.iter_mut().zip(row) {
                            column.push(cell);
                        }
                    }
                    _ => {
                        return unsupported(at, "arrays of arrays of different lengths".to_owned());
                    }
                }
            }
            self.effort.spend(index.size.saturating_mul(width as u64), at)?;
            let columns = columns
                .into_iter()
                .map(|column| self.access(Lowered::Array(column), index.clone(), at));
            return Ok(Lowered::Array(columns.collect::<Result<_, _>>()?));
        }
        let cells = elements.into_iter().map(|element| match element {
            Lowered::Scalar(scalar) => Ok(scalar),
            Lowered::Array(_) => Err(Trouble::ill_typed(at)),
        });
        Ok(Lowered::Scalar(Scalar::cell(cells.collect::<Result<_, _>>()?, index)))
    }

    pub(super) fn constructor(&mut self, constructor: &Constructor) -> Result<Lowered, Trouble> {
        let at = constructor.length.at;
        let length = self.scalar(&constructor.length)?;
        let Some(length) = length.expr.as_constant() else {
            return unsupported(at, "arrays whose length is not constant".to_owned());
        };
        let length = match length.to_i64().map(usize::try_from) {
            Some(Ok(length)) if length <= MAX_LENGTH => length,
            Some(Err(_)) => {
                let message = format!("an array cannot have the length {length}");
                return Err(Trouble::Invalid(at, DiagnosticCode::Evaluation, message));
            }
            _ => return unsupported(at, format!("arrays of the length {length}")),
        };
        let mut elements = Vec::with_capacity(length);
        for i in 0..length {
            let index = Scalar::leaf(ModelExpr::int(i64::try_from(i).unwrap_or(i64::MAX)));
            self.bound.push((constructor.variable.symbol, Lowered::Scalar(index)));
            let element = self.lower(&constructor.element);
            self.bound.pop();
            elements.push(element?);
        }
        Ok(Lowered::Array(elements))
    }
}

/// Returns whether two numbers or arrays are equal.
pub(super) fn equal(left: Lowered, right: Lowered, at: At) -> Result<Scalar, Trouble> {
    match (left, right) {
        (Lowered::Scalar(a), Lowered::Scalar(b)) => Ok(Scalar::binary(Op::Eq, a, b)),
        (Lowered::Array(a), Lowered::Array(b)) if a.len() != b.len() => Ok(Scalar::bool(false)),
        (Lowered::Array(a), Lowered::Array(b)) => {
            let parts = a.into_iter().zip(b).map(|(a, b)| equal(a, b, at));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            Ok(Scalar::balanced(Op::And, parts).unwrap_or_else(|| Scalar::bool(true)))
        }
        _ => Err(Trouble::ill_typed(at)),
    }
}
