//! Array cells: where those that an expression reads exist.
//!
//! Other readers of conditions have no expressions without value: to them an array has some value
//! for every index. An expression that demands that the cells exist means the same to both.

use policert_numeric::IntBox;

use crate::{BinaryOp, Condition, Expr, Truth, UnaryOp};

impl Expr {
    /// Returns whether an array of `cells` cells has one at `index`.
    #[must_use]
    pub fn cell_exists(index: &Self, cells: usize) -> Self {
        let cells = Self::int(i64::try_from(cells).unwrap_or(i64::MAX));
        let exists = Self::and(
            Self::binary(BinaryOp::Le, Self::int(0), index.clone()),
            Self::binary(BinaryOp::Lt, index.clone(), cells),
        );
        if index.is_integral() {
            return exists;
        }
        let floor = Self::unary(UnaryOp::Floor, index.clone());
        Self::and(exists, Self::binary(BinaryOp::Eq, floor, index.clone()))
    }

    /// Returns whether it has a value, as far as that depends on the cells that it reads, in states
    /// within `sides`. What is known to hold there is left out.
    #[must_use]
    pub fn cells_exist(&self, sides: &IntBox) -> Self {
        if !self.reads_cells() {
            return Self::bool(true);
        }
        match self {
            Self::Constant(_) | Self::Var(_) | Self::Transient(_) => Self::bool(true),
            Self::Unary(_, operand) => operand.cells_exist(sides),
            // An operand that decides does so whether the other one has a value or not.
            Self::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, ..) => {
                either(self.is_known(true, sides), self.is_known(false, sides))
            }
            Self::Binary(_, left, right) => both(left.cells_exist(sides), right.cells_exist(sides)),
            Self::Ite(condition, then, otherwise) => {
                let (then, otherwise) = (then.cells_exist(sides), otherwise.cells_exist(sides));
                let chosen = match then == otherwise {
                    true => then,
                    false => Self::ite((**condition).clone(), then, otherwise),
                };
                both(condition.cells_exist(sides), chosen)
            }
            Self::Cell { cells, index } => {
                let exists = within(Self::cell_exists(index, cells.len()), sides);
                let found = both(index.cells_exist(sides), exists);
                cells.iter().zip(0..).fold(found, |all, (cell, at)| {
                    let elsewhere = Self::binary(BinaryOp::Ne, (**index).clone(), Self::int(at));
                    both(all, either(elsewhere, cell.cells_exist(sides)))
                })
            }
        }
    }

    /// Returns whether it has a value, which is `positive`, as far as that depends on cells.
    fn is_known(&self, positive: bool, sides: &IntBox) -> Self {
        match self {
            Self::Unary(UnaryOp::Not, operand) if self.reads_cells() => {
                operand.is_known(!positive, sides)
            }
            Self::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right)
                if self.reads_cells() =>
            {
                // a ⇒ b is ¬a ∨ b.
                let of_left = positive != (*op == BinaryOp::Implies);
                let left = left.is_known(of_left, sides);
                let right = right.is_known(positive, sides);
                match (*op == BinaryOp::And) == positive {
                    true => both(left, right),
                    false => either(left, right),
                }
            }
            _ if positive => both(self.cells_exist(sides), self.clone()),
            _ => both(self.cells_exist(sides), Self::negate(self.clone())),
        }
    }

    fn reads_cells(&self) -> bool {
        matches!(self, Self::Cell { .. }) || self.operands().into_iter().any(Self::reads_cells)
    }
}

impl Condition {
    /// An expression that is true where the condition holds within `sides`, and false where it does
    /// not hold or a cell that it needs does not exist, whatever value that cell is given.
    #[must_use]
    pub fn holds_with_cells(&self, sides: &IntBox) -> Expr {
        match self {
            Self::True | Self::False | Self::Linear(_) => self.to_expr(),
            Self::General { expr, positive } => expr.is_known(*positive, sides),
            Self::And(parts) => {
                let parts = parts.iter().map(|part| part.holds_with_cells(sides));
                parts.reduce(Expr::and).unwrap_or(Expr::bool(true))
            }
            Self::Or(parts) => {
                let parts = parts.iter().map(|part| part.holds_with_cells(sides));
                parts.reduce(Expr::or).unwrap_or(Expr::bool(false))
            }
        }
    }
}

/// A condition without those of its conjuncts that hold everywhere in `sides`.
fn within(condition: Expr, sides: &IntBox) -> Expr {
    if let Expr::Binary(BinaryOp::And, left, right) = condition {
        return both(within(*left, sides), within(*right, sides));
    }
    match Condition::from_expr(&condition).truth(sides) {
        Truth::True => Expr::bool(true),
        Truth::False | Truth::Maybe => condition,
    }
}

/// `left ∧ right`, where one may be known to be true.
fn both(left: Expr, right: Expr) -> Expr {
    match (left == Expr::bool(true), right == Expr::bool(true)) {
        (true, _) => right,
        (_, true) => left,
        (false, false) => Expr::and(left, right),
    }
}

/// `left ∨ right`, where one may be known to be true.
fn either(left: Expr, right: Expr) -> Expr {
    match left == Expr::bool(true) || right == Expr::bool(true) {
        true => Expr::bool(true),
        false => Expr::or(left, right),
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::{IntBox, IntInterval};

    use crate::{BinaryOp, Condition, Expr, VarId};

    /// The array 5, 7, 9 at an index.
    fn read(index: Expr) -> Expr {
        let cells = [5, 7, 9].map(Expr::int).to_vec();
        Expr::Cell { cells, index: Box::new(index) }
    }

    /// As another reader takes it: beyond the array there is the last cell.
    fn with_last_cell(expr: &Expr) -> Expr {
        match expr {
            Expr::Constant(_) | Expr::Var(_) | Expr::Transient(_) => expr.clone(),
            Expr::Unary(op, a) => Expr::unary(*op, with_last_cell(a)),
            Expr::Binary(op, a, b) => Expr::binary(*op, with_last_cell(a), with_last_cell(b)),
            Expr::Ite(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|e| Box::new(with_last_cell(e)));
                Expr::Ite(c, a, b)
            }
            Expr::Cell { cells, index } => {
                let index = with_last_cell(index);
                let mut cells = cells.iter().map(with_last_cell).rev();
                let last = cells.next().expect("a cell");
                let at = |k: usize| Expr::binary(BinaryOp::Eq, index.clone(), Expr::int(k as i64));
                let count = cells.len();
                cells.zip(1..).fold(last, |rest, (cell, k)| {
                    Expr::Ite(Box::new(at(count - k)), Box::new(cell), Box::new(rest))
                })
            }
        }
    }

    #[test]
    fn a_condition_holds_for_every_reader_where_it_holds_here() {
        let (x, y) = (Expr::Var(VarId(0)), Expr::Var(VarId(1)));
        let op = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone());
        let at_x = read(x.clone());
        let is_nine = op(BinaryOp::Eq, &at_x, &Expr::int(9));
        let y_is_one = op(BinaryOp::Eq, &y, &Expr::int(1));
        let half = op(BinaryOp::Div, &x, &Expr::int(2));
        let nested =
            Expr::Cell { cells: vec![at_x.clone(), y.clone()], index: Box::new(y.clone()) };
        let conditions = [
            is_nine.clone(),
            Expr::negate(is_nine.clone()),
            op(BinaryOp::And, &y_is_one, &is_nine),
            op(BinaryOp::Or, &y_is_one, &is_nine),
            op(BinaryOp::Implies, &is_nine, &y_is_one),
            Expr::negate(op(BinaryOp::Implies, &y_is_one, &is_nine)),
            op(BinaryOp::Lt, &read(half), &Expr::int(8)),
            op(BinaryOp::Le, &nested, &Expr::int(7)),
            op(BinaryOp::Lt, &Expr::ite(y_is_one.clone(), at_x.clone(), x.clone()), &Expr::int(6)),
            op(
                BinaryOp::Eq,
                &Expr::ite(op(BinaryOp::And, &y_is_one, &is_nine), x.clone(), y.clone()),
                &x,
            ),
            op(BinaryOp::Eq, &read(op(BinaryOp::Sub, &at_x, &Expr::int(7))), &Expr::int(9)),
        ];
        let sides = IntBox::new(vec![IntInterval::new(-2, 5), IntInterval::new(0, 2)]);
        let mut beyond = 0;
        for expr in &conditions {
            for condition in [Condition::from_expr(expr), Condition::from_literal(expr, false)] {
                let written = condition.holds_with_cells(&sides);
                for (x, y) in (-2..=5).flat_map(|x| (0..=2).map(move |y| (x, y))) {
                    let here = condition.holds(&[x, y]);
                    let there = with_last_cell(&written).holds(&[x, y]);
                    assert_eq!(there, Ok(here == Ok(true)), "{condition:?} at {x}, {y}");
                    assert_eq!(written.holds(&[x, y]), there, "{condition:?} at {x}, {y}");
                    beyond += usize::from(here.is_err());
                }
            }
        }
        assert!(beyond > 50, "{beyond}");
    }

    #[test]
    fn what_holds_in_a_box_is_left_out() {
        let sides = |lo, hi| IntBox::new(vec![IntInterval::new(lo, hi)]);
        let x = Expr::Var(VarId(0));
        let condition =
            Condition::from_expr(&Expr::binary(BinaryOp::Lt, read(x.clone()), x.clone()));
        assert_eq!(condition.holds_with_cells(&sides(0, 2)), condition.to_expr());
        let below = Expr::binary(BinaryOp::Lt, x, Expr::int(3));
        let expected = Expr::and(below, condition.to_expr());
        assert_eq!(condition.holds_with_cells(&sides(1, 4)), expected);
    }
}
