//! Outcomes of operators, made ready for questions about regions: which states lead where.

use std::sync::Arc;

use policert_engine_api::Question;
use policert_model::{
    BinaryOp, Condition, Destination, Expr, LinearExpr, UnaryOp, UpdateValue, VarId,
};
use policert_numeric::{IntBox, IntInterval};

use crate::region::{SharedRegion, shared};

/// An outcome of an operator.
#[derive(Debug)]
pub struct OperatorOutcome {
    /// The outcome as the model has it.
    pub destination: Destination,
    /// That it leads to a state, but for what is `broken`.
    pub exists: Vec<Arc<Condition>>,
    /// That it breaks the model's rules: two values at once, a value that is no integer.
    pub broken: Option<Arc<Condition>>,
    /// That it leads to an unsafe state.
    pub into_unsafe: Vec<Arc<Condition>>,
    domains: IntBox,
}

impl OperatorOutcome {
    /// Prepares an outcome of an operator of the question's model.
    #[must_use]
    pub fn new(question: &Question<'_>, destination: &Destination) -> Self {
        let model = question.model;
        let mut broken = vec![destination.conflict.condition.clone()];
        for update in &destination.updates {
            if let UpdateValue::General(value) = &update.value
                && !value.is_integral()
            {
                let floor = Expr::unary(UnaryOp::Floor, value.clone());
                broken.push(Condition::from_expr(&Expr::binary(
                    BinaryOp::Ne,
                    value.clone(),
                    floor,
                )));
            }
        }
        let broken = Condition::or(broken);
        let into_unsafe = destination.weakest_precondition(&question.property.unsafe_condition);
        Self {
            exists: shared(&destination.exists(&model.variables)),
            broken: (broken != Condition::False).then(|| Arc::new(broken)),
            into_unsafe: shared(&into_unsafe),
            domains: model.domains(),
            destination: destination.clone(),
        }
    }

    /// The states of a region, with free choices, in which the operator is taken and the outcome exists.
    #[must_use]
    pub fn region(&self, applicable: &SharedRegion) -> SharedRegion {
        let choices = self.destination.choice_sides(&applicable.sides);
        applicable.extend(choices).restrict(self.exists.iter().cloned())
    }

    /// A box around all states that a region leads to.
    #[must_use]
    pub fn hull(&self, sides: &IntBox) -> IntBox {
        let mut hull = IntBox::new(sides.sides()[..self.domains.dimensions()].to_vec());
        for update in &self.destination.updates {
            let d = update.variable.index();
            let range = match &update.value {
                UpdateValue::Linear(linear) => integers(linear.range(sides)),
                UpdateValue::General(expr) => expr.range(sides).integers(),
            };
            hull[d] = range.intersect(self.domains[d]);
        }
        hull
    }

    /// The state that a point of a region leads to; `None` if that cannot be told.
    #[must_use]
    pub fn target(&self, point: &[i64]) -> Option<Vec<i64>> {
        let mut next = point[..self.domains.dimensions()].to_vec();
        for update in &self.destination.updates {
            next[update.variable.index()] = match &update.value {
                UpdateValue::Linear(linear) => linear.eval(point)?,
                UpdateValue::General(expr) => expr.eval(point).ok()?.to_i64()?,
            };
        }
        Some(next)
    }

    /// Adds the parts of a region from which the outcome leads out of a box; they are disjoint.
    pub fn cut(&self, mut region: SharedRegion, reason: &IntBox, parts: &mut Vec<SharedRegion>) {
        let hull = self.hull(&region.sides);
        for (d, (&inner, outer)) in reason.sides().iter().zip(hull.sides()).enumerate() {
            if inner.includes(*outer) {
                continue;
            }
            let value = self.destination.update(VarId::new(d));
            if outer.lo < inner.lo {
                parts.push(self.bounded(&region, d, value, Side::AtMost(inner.lo - 1)));
                region = self.bounded(&region, d, value, Side::AtLeast(inner.lo));
            }
            if outer.hi > inner.hi {
                parts.push(self.bounded(&region, d, value, Side::AtLeast(inner.hi + 1)));
                region = self.bounded(&region, d, value, Side::AtMost(inner.hi));
            }
            if region.is_empty() {
                return;
            }
        }
    }

    /// The part of a region after which a variable is on one side of a bound.
    fn bounded(
        &self,
        region: &SharedRegion,
        variable: usize,
        value: Option<&UpdateValue>,
        side: Side,
    ) -> SharedRegion {
        // v' = ±w + c bounds w alone.
        let direct = match value {
            None => Some((variable, 1, 0)),
            Some(UpdateValue::Linear(LinearExpr { terms, constant })) => match terms[..] {
                [(w, factor @ (1 | -1))] => Some((w.index(), factor, *constant)),
                _ => None,
            },
            Some(UpdateValue::General(_)) => None,
        };
        if let Some((w, factor, constant)) = direct
            && let Some(side) = side.before(factor, constant)
        {
            let mut sides = region.sides.clone();
            match side {
                Side::AtMost(bound) => sides[w].hi = sides[w].hi.min(bound),
                Side::AtLeast(bound) => sides[w].lo = sides[w].lo.max(bound),
            }
            return SharedRegion::new(sides, region.conditions.iter().cloned());
        }
        let value = value.map_or(Expr::Var(VarId::new(variable)), UpdateValue::to_expr);
        let condition = match side {
            Side::AtMost(bound) => Expr::binary(BinaryOp::Le, value, Expr::int(bound)),
            Side::AtLeast(bound) => Expr::binary(BinaryOp::Le, Expr::int(bound), value),
        };
        region.restrict(shared(&Condition::from_expr(&condition)))
    }
}

/// A bound of a variable.
#[derive(Clone, Copy, Debug)]
enum Side {
    AtMost(i64),
    AtLeast(i64),
}

impl Side {
    /// The bound of w that makes ±w + c satisfy this one.
    fn before(self, factor: i64, constant: i64) -> Option<Self> {
        Some(match (self, factor) {
            (Self::AtMost(bound), 1) => Self::AtMost(bound.checked_sub(constant)?),
            (Self::AtLeast(bound), 1) => Self::AtLeast(bound.checked_sub(constant)?),
            (Self::AtMost(bound), _) => Self::AtLeast(constant.checked_sub(bound)?),
            (Self::AtLeast(bound), _) => Self::AtMost(constant.checked_sub(bound)?),
        })
    }
}

fn integers((lo, hi): (Option<i128>, Option<i128>)) -> IntInterval {
    let clamp = |bound: Option<i128>, otherwise: i64| {
        bound.and_then(|bound| i64::try_from(bound).ok()).unwrap_or(otherwise)
    };
    IntInterval::new(
        clamp(lo, IntInterval::UNBOUNDED_BELOW),
        clamp(hi, IntInterval::UNBOUNDED_ABOVE),
    )
}
