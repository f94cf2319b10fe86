//! Assignments: to variables, to cells of arrays, and to whole arrays cell by cell.

use policert_model::{
    AssignedValue, Assignment, BinaryOp, Expr as ModelExpr, Target, TransientId, VarId,
};
use policert_numeric::Rational;

use super::{Layout, Scalar, Trouble, expression::ExprLowerer, layout::Storage, target};
use crate::{
    ast,
    check::{Checked, Entity, VariableId},
    source::At,
};

/// Cells of a variable: of the state, or of the model's transient variables.
#[derive(Clone, Copy)]
enum Cells {
    State(VarId),
    Transient(TransientId),
}

impl Cells {
    fn target(self, offset: usize) -> Target {
        match self {
            Self::State(first) => Target::Var(VarId::new(first.index() + offset)),
            Self::Transient(first) => Target::Transient(TransientId::new(first.index() + offset)),
        }
    }

    /// One of the cells at some offsets, by an index.
    fn indexed(self, offsets: impl Iterator<Item = usize>, index: ModelExpr) -> Target {
        match self {
            Self::State(first) => Target::Cell {
                cells: offsets.map(|o| VarId::new(first.index() + o)).collect(),
                index: Box::new(index),
            },
            Self::Transient(first) => Target::TransientCell {
                cells: offsets.map(|o| TransientId::new(first.index() + o)).collect(),
                index: Box::new(index),
            },
        }
    }
}

/// Lowers an assignment: to one of each cell that it writes.
pub(super) fn assignment(
    checked: &Checked,
    layout: &Layout,
    lowerer: &mut ExprLowerer<'_>,
    assignment: &ast::Assignment,
) -> Result<Vec<Assignment>, Trouble> {
    let at = assignment.target.at;
    let (name, indices) = target(&assignment.target).ok_or(Trouble::Known)?;
    let Some(Entity::Variable(v)) = checked.scope.entity(name, lowerer.automaton()) else {
        return Err(Trouble::Known);
    };
    let cells = match layout.storage(v, lowerer.instance()) {
        Storage::State(first) => Cells::State(*first),
        Storage::Transient { kept: Some(first), .. } => Cells::Transient(*first),
        Storage::Transient { kept: None, .. } | Storage::Missing => return Err(Trouble::Known),
    };
    let indices = indices.into_iter().map(|i| lowerer.scalar(i)).collect::<Result<Vec<_>, _>>()?;
    let values = values(lowerer, &assignment.value, cells, at)?;
    let targets = targets(layout, v, cells, indices, at)?;
    if targets.len() != values.len() {
        return Err(Trouble::Unsupported(at, "arrays that change their length".to_owned()));
    }
    let index = assignment.index;
    let assignments = targets.into_iter().zip(values);
    Ok(assignments.map(|(target, value)| Assignment { target, value, index }).collect())
}

fn values(
    lowerer: &mut ExprLowerer<'_>,
    value: &ast::AssignedValue,
    cells: Cells,
    at: At,
) -> Result<Vec<AssignedValue>, Trouble> {
    match value {
        ast::AssignedValue::Expr(value) => {
            let mut values = Vec::new();
            lowerer.lower(value)?.flatten(&mut values);
            Ok(values.into_iter().map(|v| AssignedValue::Expr(v.expr)).collect())
        }
        ast::AssignedValue::Between(lower, upper) => {
            if matches!(cells, Cells::Transient(_)) {
                let what = "a non-deterministic assignment to a transient variable";
                return Err(Trouble::Unsupported(at, what.to_owned()));
            }
            let (lower, upper) = (lowerer.scalar(lower)?, lowerer.scalar(upper)?);
            Ok(vec![AssignedValue::between(lower.expr, upper.expr)])
        }
    }
}

/// The cells that are written, by indices that may be fewer than the dimensions.
fn targets(
    layout: &Layout,
    v: VariableId,
    cells: Cells,
    indices: Vec<Scalar>,
    at: At,
) -> Result<Vec<Target>, Trouble> {
    let (outer, inner) =
        layout.shape(v).split_at_checked(indices.len()).ok_or_else(|| Trouble::ill_typed(at))?;
    let block: usize = inner.iter().product();
    let mut offset = Some(0usize);
    for (index, &length) in indices.iter().zip(outer) {
        let position = index.expr.as_constant().and_then(Rational::to_i64);
        let position = position.and_then(|i| usize::try_from(i).ok()).filter(|i| *i < length);
        offset = offset.zip(position).map(|(offset, i)| offset * length + i);
    }
    if let Some(offset) = offset {
        return Ok((0..block).map(|j| cells.target(offset * block + j)).collect());
    }
    let rows: usize = outer.iter().product();
    let index = row(indices, outer).ok_or_else(|| Trouble::ill_typed(at))?;
    let column = |j| cells.indexed((0..rows).map(|r| r * block + j), index.expr.clone());
    Ok((0..block).map(column).collect())
}

/// The number of a row by its indices; −1, which is no row, where one but the first is out of
/// range (then the number is, too, if the first is).
fn row(indices: Vec<Scalar>, lengths: &[usize]) -> Option<Scalar> {
    let int = |value: usize| Scalar::leaf(ModelExpr::int(i64::try_from(value).unwrap_or(i64::MAX)));
    let mut in_range = Vec::new();
    let mut number: Option<Scalar> = None;
    for (index, &length) in indices.into_iter().zip(lengths) {
        number = Some(match number {
            None => index,
            Some(number) => {
                in_range.push(Scalar::binary(BinaryOp::Le, int(0), index.clone()));
                in_range.push(Scalar::binary(BinaryOp::Lt, index.clone(), int(length)));
                let scaled = Scalar::binary(BinaryOp::Mul, number, int(length));
                Scalar::binary(BinaryOp::Add, scaled, index)
            }
        });
    }
    let number = number?;
    Some(match Scalar::balanced(BinaryOp::And, in_range) {
        None => number,
        Some(in_range) => Scalar::ite(in_range, number, Scalar::leaf(ModelExpr::int(-1))),
    })
}
