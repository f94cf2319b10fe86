//! Inputs that are functions of the state: transient variables, computed by layers before the
//! network.
//!
//! On integers every function of one variable is piecewise linear, and so are conjunctions,
//! comparisons and choices between bounded values. The layers compute such functions exactly in
//! every state; between integers they may be anything.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use policert_model::{BinaryOp, Expr, UnaryOp, VarId};
use policert_numeric::{IBig, IntBox, IntInterval, Rational};

use super::InputSource;
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::network::{Network, NetworkBuilder, NodeId};

/// A function of one variable is tabulated if the variable has at most this many values.
const TABLE_SIZE: i64 = 4096;

/// Why an expression is not computed.
type Computed<T> = Result<T, String>;

/// `constant + Σ factor · source`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Linear {
    factors: BTreeMap<usize, Rational>,
    constant: Rational,
}

impl Linear {
    fn constant(constant: Rational) -> Self {
        Self { factors: BTreeMap::new(), constant }
    }

    fn source(source: usize) -> Self {
        Self { factors: BTreeMap::from([(source, Rational::ONE)]), constant: Rational::ZERO }
    }

    /// `self + factor · other`.
    fn plus(mut self, factor: &Rational, other: &Self) -> Self {
        self.constant += factor * &other.constant;
        for (&source, coefficient) in &other.factors {
            *self.factors.entry(source).or_insert(Rational::ZERO) += factor * coefficient;
        }
        self.factors.retain(|_, factor| !factor.is_zero());
        self
    }

    fn minus(self, other: &Self) -> Self {
        self.plus(&-Rational::ONE, other)
    }

    fn shifted(mut self, by: &Rational) -> Self {
        self.constant += by;
        self
    }

    fn times(&self, factor: &Rational) -> Self {
        Self::constant(Rational::ZERO).plus(factor, self)
    }
}

/// The network that reads state variables, where `network` reads functions of them; with the
/// variables.
///
/// # Errors
/// Position of the input that is not computed, and why.
pub(crate) fn before(
    network: &Network,
    inputs: &[InputSource],
    domains: &IntBox,
) -> Result<(Network, Vec<VarId>), (usize, String)> {
    let mut variables: Vec<VarId> = Vec::new();
    let mut exprs = Vec::with_capacity(inputs.len());
    for input in inputs {
        let expr = match input {
            InputSource::Variable(variable) => Expr::Var(*variable),
            InputSource::Observed(expr) => expr.clone(),
        };
        expr.for_each_var(&mut |v| {
            if !variables.contains(&v) {
                variables.push(v);
            }
        });
        exprs.push(expr);
    }
    let built = |error: PolicyError| (0, error.to_string());
    let observer = Observer::new(&variables, domains).map_err(built)?;
    let (mut builder, vector) = observer.vector(&exprs)?;
    let output = builder.append(network, vector).map_err(built)?;
    Ok((builder.finish(output, network.element_type()), variables))
}

/// Layers that compute observations from state variables.
struct Observer<'a> {
    /// Values of the variables.
    domains: &'a IntBox,
    variables: &'a [VarId],
    builder: NetworkBuilder,
    /// What linear forms may read: the elements of the input, then one node each.
    bends: Vec<NodeId>,
    /// The bend of each linear form that has one.
    known: BTreeMap<Linear, Linear>,
}

impl<'a> Observer<'a> {
    /// Layers over these variables, of a model with these domains.
    fn new(variables: &'a [VarId], domains: &'a IntBox) -> Result<Self, PolicyError> {
        let builder = NetworkBuilder::new(variables.len())?;
        Ok(Self { domains, variables, builder, bends: Vec::new(), known: BTreeMap::new() })
    }

    /// The vector of the values of expressions.
    ///
    /// # Errors
    /// Position of the expression that is not computed, and why.
    fn vector(mut self, exprs: &[Expr]) -> Result<(NetworkBuilder, NodeId), (usize, String)> {
        let mut rows = Vec::with_capacity(exprs.len());
        for (i, expr) in exprs.iter().enumerate() {
            rows.push(self.linear(expr).map_err(|why| (i, why))?);
        }
        let node = self.affine(&rows).map_err(|why| (0, why))?;
        Ok((self.builder, node))
    }

    /// The node of linear forms, one for each element.
    fn affine(&mut self, rows: &[Linear]) -> Computed<NodeId> {
        let inputs = self.variables.len();
        let mut used: Vec<usize> = (0..inputs).collect();
        used.extend(rows.iter().flat_map(|row| row.factors.keys()).filter(|&&s| s >= inputs));
        used.sort_unstable();
        used.dedup();
        let mut weights = Vec::with_capacity(rows.len().saturating_mul(used.len()));
        let (mut bias, mut divisors) = (Vec::new(), Vec::new());
        for row in rows {
            // Fractions become integers with a common divisor.
            let values = row.factors.values().chain([&row.constant]);
            let divisor = values.fold(Rational::ONE, |common, value| {
                let (_, denominator) = (&common * value).to_parts();
                common * Rational::from(IBig::from(denominator))
            });
            for source in &used {
                let factor = row.factors.get(source).map(|factor| factor * &divisor);
                weights.push(double(&factor.unwrap_or(Rational::ZERO))?);
            }
            bias.push(double(&(&row.constant * &divisor))?);
            divisors.push(double(&divisor)?);
        }
        let built = |error: PolicyError| error.to_string();
        let mut sources = vec![self.builder.input()];
        sources.extend(used[inputs..].iter().map(|source| self.bends[source - inputs]));
        let vector = match sources[..] {
            [input] => input,
            _ => self.builder.concat(sources).map_err(built)?,
        };
        let width = rows.len();
        let weights = Matrix::new(width, used.len(), weights).ok_or("the layer is too large")?;
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
        let node = self.affine(std::slice::from_ref(linear))?;
        self.bends.push(self.builder.relu(node));
        let bend = Linear::source(self.variables.len() + self.bends.len() - 1);
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
                    Err("it rounds a function of several variables".to_owned())
                }
            },
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Ite(c, a, b) => {
                let (c, otherwise) = (self.truth(c)?, self.linear(b)?);
                let difference = Expr::binary(BinaryOp::Sub, (**a).clone(), (**b).clone());
                let chosen = self.where_true(&c, &difference)?;
                Ok(otherwise.plus(&one, &chosen))
            }
            Expr::Cell { .. } => Err("it reads a cell of an array by several variables".to_owned()),
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
            BinaryOp::Mod => {
                Err("it is the remainder of a function of several variables".to_owned())
            }
            BinaryOp::Pow => Err("it is a power of several variables".to_owned()),
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

    /// Whether an expression is 0 or 1 in every state, as far as its form and its range show.
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

/// The number as a double, which must be exact.
fn double(value: &Rational) -> Computed<f64> {
    let near = value.to_f64();
    let is_exact = Rational::from_f64(near).is_some_and(|exact| exact == *value);
    is_exact.then_some(near).ok_or_else(|| format!("the number {value} is too long"))
}
