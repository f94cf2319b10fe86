//! Operators made ready for questions about boxes of states.

use std::sync::Arc;

use policert_engine_api::{EngineError, Question};
use policert_model::{
    BinaryOp, Condition, Destination, Expr, LabelId, LinearExpr, Model, Operator, UnaryOp,
    UpdateValue, VarId,
};
use policert_numeric::{IntBox, IntInterval};

/// The most operators that are composed.
const OPERATOR_LIMIT: usize = 200_000;

/// States, and free choices, with shared conditions.
pub(crate) type Region = policert_model::Region<Arc<Condition>>;

/// All operators by label.
#[derive(Debug)]
pub(crate) struct Operators {
    /// In the order of composition.
    pub all: Vec<PreparedOperator>,
    /// The environment's first, then the policy's by output.
    pub groups: Vec<Group>,
}

/// The operators of one label.
#[derive(Debug)]
pub(crate) struct Group {
    label: Option<LabelId>,
    /// The policy's output; `None` where the environment chooses.
    pub output: Option<usize>,
    /// Positions in [`Operators::all`].
    pub operators: Vec<usize>,
}

/// An operator.
#[derive(Debug)]
pub(crate) struct PreparedOperator {
    pub operator: Operator,
    /// The conjuncts of its guard.
    pub guard: Vec<Arc<Condition>>,
    /// By destination.
    pub outcomes: Vec<Outcome>,
}

/// An outcome of an operator.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub destination: Destination,
    /// That it leads to a state, but for what is `broken`.
    pub exists: Vec<Arc<Condition>>,
    /// That it breaks the model's rules: two values at once, a value that is no integer.
    pub broken: Option<Arc<Condition>>,
    /// That it leads to an unsafe state.
    pub into_unsafe: Vec<Arc<Condition>>,
    domains: IntBox,
}

impl Operators {
    /// Composes the operators of a model. `outputs` are the labels of the policy, in its order.
    pub fn new(question: &Question<'_>, outputs: &[LabelId]) -> Result<Self, EngineError> {
        let model = question.model;
        let mut groups: Vec<Group> = Vec::new();
        let mut all = Vec::new();
        for (i, operator) in model.operators(OPERATOR_LIMIT)?.into_iter().enumerate() {
            let label = operator.label;
            let output = label.and_then(|l| outputs.iter().position(|&output| output == l));
            match groups.iter_mut().find(|group| group.label == label) {
                Some(group) => group.operators.push(i),
                None => groups.push(Group { label, output, operators: vec![i] }),
            }
            all.push(PreparedOperator::new(question, operator));
        }
        groups.sort_by_key(|group| group.output.map_or(0, |output| output + 1));
        Ok(Self { all, groups })
    }

    /// For each of so many outputs: where its label is applicable.
    pub fn applicability(&self, outputs: usize) -> Vec<Condition> {
        let mut applicable = vec![Condition::False; outputs];
        for group in &self.groups {
            if let Some(output) = group.output {
                let guards = group.operators.iter().map(|&o| self.all[o].operator.guard.clone());
                applicable[output] = Condition::or(guards);
            }
        }
        applicable
    }
}

impl PreparedOperator {
    fn new(question: &Question<'_>, operator: Operator) -> Self {
        let outcomes = operator.destinations.iter().map(|d| Outcome::new(question, d)).collect();
        Self { guard: shared(&operator.guard), outcomes, operator }
    }
}

/// The conjuncts of a condition, shared.
pub(crate) fn shared(condition: &Condition) -> Vec<Arc<Condition>> {
    match condition {
        Condition::And(parts) => parts.iter().cloned().map(Arc::new).collect(),
        Condition::True => Vec::new(),
        other => vec![Arc::new(other.clone())],
    }
}

impl Outcome {
    fn new(question: &Question<'_>, destination: &Destination) -> Self {
        let model: &Model = question.model;
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

    /// The states, with free choices, in which the operator is taken and the outcome exists.
    pub fn region(&self, applicable: &Region) -> Region {
        let choices = self.destination.choice_sides(&applicable.sides);
        applicable.extend(choices).restrict(self.exists.iter().cloned())
    }

    /// A box around all states that a region leads to.
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
    pub fn cut(&self, mut region: Region, reason: &IntBox, parts: &mut Vec<Region>) {
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
        region: &Region,
        variable: usize,
        value: Option<&UpdateValue>,
        side: Side,
    ) -> Region {
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
            return Region::new(sides, region.conditions.iter().cloned());
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
