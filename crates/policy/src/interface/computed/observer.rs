//! Expressions as layers: what each kind of expression becomes.

use std::collections::BTreeMap;

use policert_model::{BinaryOp, Expr, UnaryOp, VarId};
use policert_numeric::{IntBox, IntInterval, Rational};

use super::Computed;
use super::linear::{Linear, Row};
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::{NetworkBuilder, NodeId};

/// A function of one variable is tabulated if the variable has at most this many values.
pub(super) const TABLE_SIZE: i64 = 4096;

/// More weights of one layer are a mistake.
const MOST_WEIGHTS: usize = 1 << 26;

/// Layers that compute observations from state variables.
pub(super) struct ObservationBuilder<'a> {
    /// Values of the variables.
    domains: &'a IntBox,
    variables: &'a [VarId],
    builder: NetworkBuilder,
    /// The maxima with 0 that linear forms may read besides the elements of the input.
    bends: Vec<Bend>,
    /// The bend of each linear form that has one.
    known: BTreeMap<Linear, Linear>,
}

/// max(x, 0) of a linear form x.
struct Bend {
    of: Linear,
    /// One more than the greatest level of the bends that it reads.
    level: usize,
}

impl<'a> ObservationBuilder<'a> {
    /// Layers over these variables, of a model with these domains.
    pub fn new(variables: &'a [VarId], domains: &'a IntBox) -> Result<Self, PolicyError> {
        let builder = NetworkBuilder::new(variables.len())?;
        Ok(Self { domains, variables, builder, bends: Vec::new(), known: BTreeMap::new() })
    }

    /// The vector of the values of expressions.
    ///
    /// # Errors
    /// Position of the expression that is not computed, and why.
    pub fn vector(mut self, exprs: &[Expr]) -> Result<(NetworkBuilder, NodeId), (usize, String)> {
        let mut rows = Vec::with_capacity(exprs.len());
        for (i, expr) in exprs.iter().enumerate() {
            let row = self.linear(expr).and_then(|linear| Row::of(&linear));
            rows.push(row.map_err(|why| (i, why))?);
        }
        let node = self.layers(&rows).map_err(|why| (0, why))?;
        Ok((self.builder, node))
    }

    /// The node of linear forms, one for each element: all bends of one level are one layer.
    fn layers(&mut self, rows: &[Row]) -> Computed<NodeId> {
        let inputs = self.variables.len();
        let mut layers: Vec<NodeId> = vec![self.builder.input()];
        // The layer of a source, and its place there.
        let mut places: Vec<(usize, usize)> = (0..inputs).map(|place| (0, place)).collect();
        places.resize(inputs + self.bends.len(), (0, 0));
        let deepest = self.bends.iter().map(|bend| bend.level).max().unwrap_or(0);
        for level in 1..=deepest {
            let mut of_level = Vec::new();
            for (k, bend) in self.bends.iter().enumerate() {
                if bend.level == level {
                    places[inputs + k] = (level, of_level.len());
                    of_level.push(Row::of(&bend.of)?);
                }
            }
            let node = self.affine(&of_level, &layers, &places)?;
            layers.push(self.builder.relu(node));
        }
        self.affine(rows, &layers, &places)
    }

    /// A layer of linear forms over the layers before it.
    fn affine(
        &mut self,
        rows: &[Row],
        layers: &[NodeId],
        places: &[(usize, usize)],
    ) -> Computed<NodeId> {
        let mut used = vec![false; layers.len()];
        used[0] = true;
        for source in rows.iter().flat_map(|row| row.factors.keys()) {
            used[places[*source].0] = true;
        }
        let (mut sources, mut starts, mut columns) = (Vec::new(), Vec::new(), 0);
        for (&layer, used) in layers.iter().zip(used) {
            starts.push(columns);
            if used {
                columns += self.builder.width(layer);
                sources.push(layer);
            }
        }
        let built = |error: PolicyError| error.to_string();
        let vector = match sources[..] {
            [input] => input,
            _ => self.builder.concat(sources).map_err(built)?,
        };
        let width = rows.len();
        let entries = width.checked_mul(columns).filter(|&entries| entries <= MOST_WEIGHTS);
        let mut weights = vec![0.0; entries.ok_or("the layer is too large")?];
        for (row, entries) in rows.iter().zip(weights.chunks_mut(columns)) {
            for (source, factor) in &row.factors {
                let (layer, place) = places[*source];
                entries[starts[layer] + place] = *factor;
            }
        }
        let weights = Matrix::new(width, columns, weights).ok_or("the layer is too large")?;
        let bias = rows.iter().map(|row| row.constant).collect();
        let divisors = rows.iter().map(|row| row.divisor).collect();
        let sums = self.builder.affine(vector, weights, bias).map_err(built)?;
        self.builder.scale(sums, vec![1.0; width], divisors, vec![0.0; width]).map_err(built)
    }

    /// max(x, 0), as a new source.
    fn bend(&mut self, linear: &Linear) -> Computed<Linear> {
        if linear.factors.is_empty() {
            return Ok(Linear::constant(linear.constant.clone().max(Rational::ZERO)));
        }
        if let Some(bend) = self.known.get(linear) {
            return Ok(bend.clone());
        }
        Row::of(linear)?;
        let inputs = self.variables.len();
        let bends = linear.factors.keys().filter_map(|source| source.checked_sub(inputs));
        let level = 1 + bends.map(|bend| self.bends[bend].level).max().unwrap_or(0);
        self.bends.push(Bend { of: linear.clone(), level });
        let bend = Linear::source(inputs + self.bends.len() - 1);
        self.known.insert(linear.clone(), bend.clone());
        Ok(bend)
    }

    fn linear(&mut self, expr: &Expr) -> Computed<Linear> {
        let mut read = Vec::new();
        expr.for_each_var(&mut |v| {
            if !read.contains(&v) {
                read.push(v);
            }
        });
        if let Expr::Var(v) = expr {
            return self.source_of(*v).map(Linear::source);
        }
        match read[..] {
            [] => expr.eval(&[]).map(Linear::constant).map_err(|error| error.to_string()),
            [v] if self.is_tabulated(v) => self.table(expr, v),
            _ => self.composed(expr),
        }
    }

    fn source_of(&self, v: VarId) -> Computed<usize> {
        let position = self.variables.iter().position(|&variable| variable == v);
        position.ok_or_else(|| "a variable is missing".to_owned())
    }

    fn side(&self, v: VarId) -> IntInterval {
        self.domains[v.index()]
    }

    fn is_tabulated(&self, v: VarId) -> bool {
        let side = self.side(v);
        side.is_bounded() && side.hi.checked_sub(side.lo).is_some_and(|span| span < TABLE_SIZE)
    }

    /// A function of one variable: linear between its values, with a bend wherever the slope
    /// changes.
    fn table(&mut self, expr: &Expr, v: VarId) -> Computed<Linear> {
        let side = self.side(v);
        let mut state = vec![0; v.index() + 1];
        let mut values = Vec::new();
        for value in side.lo..=side.hi {
            state[v.index()] = value;
            let result = expr.eval(&state);
            values.push(result.map_err(|error| format!("it has no value at {value}: {error}"))?);
        }
        let x = Linear::source(self.source_of(v)?);
        let mut sum = Linear::constant(values[0].clone());
        let mut slope = Rational::ZERO;
        for (at, pair) in (side.lo..).zip(values.windows(2)) {
            let next = &pair[1] - &pair[0];
            if next != slope {
                let from_here = x.clone().shifted(&-Rational::from(at));
                // The first piece needs no bend: no value lies before it.
                let piece = if at == side.lo { from_here } else { self.bend(&from_here)? };
                sum = sum.plus(&(&next - &slope), &piece);
                slope = next;
            }
        }
        Ok(sum)
    }

    fn composed(&mut self, expr: &Expr) -> Computed<Linear> {
        let one = Rational::ONE;
        match expr {
            Expr::Constant(value) => Ok(Linear::constant(value.clone())),
            Expr::Var(v) => self.source_of(*v).map(Linear::source),
            Expr::Transient(_) => Err("it reads a transient variable of a transition".to_owned()),
            Expr::Unary(op, a) => match op {
                UnaryOp::Not => Ok(Linear::constant(one).minus(&self.truth(a)?)),
                UnaryOp::Abs => {
                    let a = self.linear(a)?;
                    let positive = self.bend(&a)?;
                    Ok(positive.times(&Rational::from(2)).minus(&a))
                }
                UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Truncate if a.is_integral() => {
                    self.linear(a)
                }
                UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Truncate | UnaryOp::Sign => {
                    Err("it rounds".to_owned())
                }
            },
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Ite(c, a, b) => {
                let (c, otherwise) = (self.truth(c)?, self.linear(b)?);
                let difference = Expr::binary(BinaryOp::Sub, (**a).clone(), (**b).clone());
                let chosen = self.where_true(&c, &difference)?;
                Ok(otherwise.plus(&one, &chosen))
            }
            Expr::Cell { .. } => Err("it reads a cell of an array".to_owned()),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Computed<Linear> {
        let one = Rational::ONE;
        match op {
            BinaryOp::Add => Ok(self.linear(a)?.plus(&one, &self.linear(b)?)),
            BinaryOp::Sub => Ok(self.linear(a)?.minus(&self.linear(b)?)),
            BinaryOp::Mul => match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => Ok(self.linear(b)?.times(factor)),
                (_, Some(factor)) => Ok(self.linear(a)?.times(factor)),
                (None, None) if self.is_truth(a) => {
                    let a = self.truth(a)?;
                    self.where_true(&a, b)
                }
                (None, None) if self.is_truth(b) => {
                    let b = self.truth(b)?;
                    self.where_true(&b, a)
                }
                (None, None) => Err("it multiplies variables".to_owned()),
            },
            BinaryOp::Div => {
                let inverse = b.as_constant().and_then(|divisor| one.checked_div(divisor));
                let inverse = inverse.ok_or("it divides by a variable")?;
                Ok(self.linear(a)?.times(&inverse))
            }
            BinaryOp::Mod => Err("it takes a remainder".to_owned()),
            BinaryOp::Pow => Err("it takes a power".to_owned()),
            BinaryOp::Max | BinaryOp::Min => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                let excess = self.bend(&a.clone().minus(&b))?;
                // max(a, b) = b + max(a − b, 0), and min(a, b) = a − max(a − b, 0).
                if op == BinaryOp::Max { Ok(b.plus(&one, &excess)) } else { Ok(a.minus(&excess)) }
            }
            BinaryOp::And => self.both(a, b),
            BinaryOp::Or => {
                let (left, right) = (self.truth(a)?, self.truth(b)?);
                let both = self.conjunction(&left, &right)?;
                Ok(left.plus(&one, &right).minus(&both))
            }
            BinaryOp::Implies => {
                let (left, right) = (self.truth(a)?, self.truth(b)?);
                let both = self.conjunction(&left, &right)?;
                Ok(Linear::constant(one).minus(&left).plus(&Rational::ONE, &both))
            }
            BinaryOp::Le => self.at_least(b, a, 0),
            BinaryOp::Lt => self.at_least(b, a, 1),
            BinaryOp::Eq => {
                let (up, down) = (self.at_least(a, b, 0)?, self.at_least(b, a, 0)?);
                Ok(up.plus(&one, &down).shifted(&-Rational::ONE))
            }
            BinaryOp::Ne => {
                let (up, down) = (self.at_least(a, b, 1)?, self.at_least(b, a, 1)?);
                Ok(up.plus(&one, &down))
            }
        }
    }

    /// Returns whether an expression is 0 or 1 in every state, as far as its form and its range
    /// show.
    fn is_truth(&self, expr: &Expr) -> bool {
        let range = expr.range(self.domains);
        let within = |end: &Option<Rational>| {
            end.as_ref().is_some_and(|end| *end == Rational::ZERO || *end == Rational::ONE)
        };
        expr.is_integral() && within(&range.lo) && within(&range.hi)
    }

    /// A truth value, as 0 or 1.
    fn truth(&mut self, expr: &Expr) -> Computed<Linear> {
        if self.is_truth(expr) {
            self.linear(expr)
        } else {
            Err("a number stands where a truth value should".to_owned())
        }
    }

    fn both(&mut self, a: &Expr, b: &Expr) -> Computed<Linear> {
        let (a, b) = (self.truth(a)?, self.truth(b)?);
        self.conjunction(&a, &b)
    }

    /// Of truth values: max(a + b − 1, 0).
    fn conjunction(&mut self, a: &Linear, b: &Linear) -> Computed<Linear> {
        let sum = a.clone().plus(&Rational::ONE, b).shifted(&-Rational::ONE);
        self.bend(&sum)
    }

    /// `a − b ≥ least`, of integers: 1 or 0.
    fn at_least(&mut self, a: &Expr, b: &Expr, least: i64) -> Computed<Linear> {
        if !a.is_integral() || !b.is_integral() {
            return Err("it compares numbers that may be no integers".to_owned());
        }
        let lead = self.linear(a)?.minus(&self.linear(b)?).shifted(&-Rational::from(least));
        // From 0 at −1 to 1 at 0, and no further.
        let rise = self.bend(&lead.clone().shifted(&Rational::ONE))?;
        let beyond = self.bend(&lead)?;
        Ok(rise.minus(&beyond))
    }

    /// `expr` where a truth value is 1, else 0.
    fn where_true(&mut self, condition: &Linear, expr: &Expr) -> Computed<Linear> {
        let range = expr.range(self.domains);
        let (Some(lo), Some(hi)) = (range.lo, range.hi) else {
            return Err("it chooses between values without bounds".to_owned());
        };
        let value = self.linear(expr)?;
        if value.factors.is_empty() {
            return Ok(condition.times(&value.constant));
        }
        // max(x − lo − (hi − lo)·(1 − c), 0) + c·lo.
        let span = &hi - &lo;
        let excess = value.shifted(&-hi.clone()).plus(&span, condition);
        let excess = self.bend(&excess)?;
        Ok(excess.plus(&lo, condition))
    }
}
