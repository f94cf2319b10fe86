//! The plain semantics of operators: guards and successors, evaluated exactly.
//!
//! This is the reference that compiled engines are compared with and that traces are replayed
//! with.

use policert_numeric::{IntInterval, Rational};
use thiserror::Error;

use crate::{
    Condition, Destination, EvalError, InstanceId, LabelId, LinearExpr, Model, Operator,
    OperatorKey, Probability, State, TransientValue, UpdateValue, ValueBounds, VarId,
};

/// Says what becomes of an update that leaves the domain of a variable, or touches an array cell
/// that does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DomainRule {
    /// That outcome is no transition.
    #[default]
    Drop,
    /// It is a modelling error.
    Error,
}

/// A state in which the model breaks its own rules.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{problem} (in state {state}, by {operator})")]
pub struct ModellingError {
    /// The problem in words.
    pub problem: ModellingProblem,
    /// The state, as a person would write it.
    pub state: String,
    /// The operator, as a person would name it.
    pub operator: String,
}

/// Says what is wrong with a model in a state.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ModellingProblem {
    /// An update leaves a domain.
    #[error("variable {variable} would become {value}, outside its domain {domain}")]
    LeavesDomain {
        /// The variable.
        variable: String,
        /// The value.
        value: Rational,
        /// Its domain.
        domain: IntInterval,
    },
    /// An assigned value is no integer.
    #[error("variable {variable} would become {value}, which is no integer")]
    NoInteger {
        /// The variable.
        variable: String,
        /// The value.
        value: Rational,
    },
    /// A value beyond 64 bits.
    #[error("variable {variable} would become {value}, beyond 64-bit integers")]
    Overflow {
        /// The variable.
        variable: String,
        /// The value.
        value: Rational,
    },
    /// A cell that is written does not exist.
    #[error("cell {index} of array {array} is written, which has cells 0 to {last}")]
    NoSuchCell {
        /// The array.
        array: String,
        /// The index.
        index: Rational,
        /// The last cell that exists.
        last: i64,
    },
    /// A transient variable gets a value outside its bounds.
    #[error("transient variable {variable} would become {value}, outside its bounds {bounds}")]
    LeavesBounds {
        /// The variable.
        variable: String,
        /// The value.
        value: Rational,
        /// Its bounds.
        bounds: Box<ValueBounds>,
    },
    /// A free choice between bounds that no integer lies between.
    #[error("variable {variable} would become an integer from {lower} to {upper}: there is none")]
    EmptyChoice {
        /// The variable.
        variable: String,
        /// The least integer allowed.
        lower: Rational,
        /// The greatest integer allowed.
        upper: Rational,
    },
    /// An outcome that cannot be, for a reason of its own.
    #[error("an outcome is not defined")]
    Impossible,
    /// An expression has no value.
    #[error("{what} has no value: {error}")]
    Undefined {
        /// The name of the expression.
        what: String,
        /// The reason.
        error: EvalError,
    },
    /// Two participants write different values.
    #[error("two different values are assigned at once to {0}")]
    Conflict(String),
    /// The probabilities of the outcomes are no distribution.
    #[error("the probabilities of the outcomes sum to {0}")]
    Distribution(Rational),
    /// A probability below zero.
    #[error("an outcome has the probability {0}")]
    NegativeProbability(Rational),
}

/// One successor of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Successor {
    /// The position of the outcome among those of the operator.
    pub destination: usize,
    /// The values of its free choices.
    pub choices: Vec<i64>,
    /// The state after it.
    pub state: State,
}

/// The successors of a state by one operator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Successors {
    /// The successors, in the order of the outcomes and choices.
    pub list: Vec<Successor>,
    /// Number of outcomes that were no transition because they leave a domain or touch a cell
    /// that does not exist.
    pub dropped: u64,
}

/// Evaluation of operators by the definition.
#[derive(Clone, Copy, Debug)]
pub struct ModelSemantics<'m> {
    /// The model.
    pub model: &'m Model,
    /// The rule for updates that leave a domain.
    pub rule: DomainRule,
}

impl ModelSemantics<'_> {
    /// Returns whether the guard of `operator` holds in `state`. A guard without value does not
    /// hold under [`DomainRule::Drop`].
    ///
    /// # Errors
    /// A guard without value under [`DomainRule::Error`].
    pub fn is_enabled(&self, operator: &Operator, state: &[i64]) -> Result<bool, ModellingError> {
        match operator.guard.holds(state) {
            Ok(holds) => Ok(holds),
            Err(_) if self.rule == DomainRule::Drop => Ok(false),
            Err(error) => Err(self.error(operator, state, undefined("the guard", error))),
        }
    }

    /// The labels of the operators enabled in `state`, sorted.
    ///
    /// # Errors
    /// As [`ModelSemantics::is_enabled`].
    pub fn applicable_labels(
        &self,
        operators: &[Operator],
        state: &[i64],
    ) -> Result<Vec<LabelId>, ModellingError> {
        let mut labels = Vec::new();
        for operator in operators {
            if let Some(label) = operator.label
                && self.is_enabled(operator, state)?
            {
                labels.push(label);
            }
        }
        labels.sort_unstable();
        labels.dedup();
        Ok(labels)
    }

    /// The successors of `state` by `operator`, whose guard must hold. Only the values after the
    /// last assignment index count: those in between may lie outside of a domain, and one without
    /// value does no harm if nothing reads it before a later index overwrites it.
    ///
    /// # Errors
    /// See [`ModellingProblem`].
    pub fn successors(
        &self,
        operator: &Operator,
        state: &[i64],
    ) -> Result<Successors, ModellingError> {
        let mut successors = Successors::default();
        self.check_distribution(operator, state)?;
        for (d, destination) in operator.destinations.iter().enumerate() {
            if let Probability::Expr(p) = &destination.probability
                && p.eval(state).is_ok_and(|p| p.is_zero())
            {
                continue;
            }
            let mut point = state.to_vec();
            let mut outside = 0u64;
            self.choose(destination, state, &mut point, &mut outside, &mut |point| {
                match self.outcome(destination, point)? {
                    Ok(next) => successors.list.push(Successor {
                        destination: d,
                        choices: point[state.len()..].to_vec(),
                        state: next,
                    }),
                    Err(()) => successors.dropped += 1,
                }
                Ok(())
            })
            .map_err(|problem| self.error(operator, state, problem))?;
            successors.dropped = successors.dropped.saturating_add(outside);
        }
        Ok(successors)
    }

    /// Runs through the values of the choices that `point` lacks; counts in `outside` what cannot
    /// be a transition whatever the rest.
    fn choose(
        &self,
        destination: &Destination,
        state: &[i64],
        point: &mut Vec<i64>,
        outside: &mut u64,
        visit: &mut impl FnMut(&[i64]) -> Result<(), ModellingProblem>,
    ) -> Result<(), ModellingProblem> {
        let k = point.len() - state.len();
        let Some(choice) = destination.choices.get(k) else {
            return visit(point);
        };
        let (mut lower, mut upper) = match choice.bounds(point) {
            Ok(bounds) => bounds,
            Err(_) if self.rule == DomainRule::Drop => {
                *outside = outside.saturating_add(1);
                return Ok(());
            }
            Err(error) => return Err(undefined("a bound of a choice", error)),
        };
        let target = &self.model.variables[choice.target.index()];
        if lower > upper {
            if self.rule == DomainRule::Drop {
                *outside = outside.saturating_add(1);
                return Ok(());
            }
            let variable = target.name.clone();
            return Err(ModellingProblem::EmptyChoice { variable, lower, upper });
        }
        let kept = UpdateValue::Linear(LinearExpr::var(VarId::new(point.len())));
        if self.rule == DomainRule::Drop
            && k + 1 == destination.choices.len()
            && destination.conflict.condition == Condition::False
            && destination.update(choice.target) == Some(&kept)
        {
            // The variable keeps the value of the last choice: only its domain matters.
            let all = span(&lower, &upper);
            let domain = target.domain;
            if domain.lo != IntInterval::UNBOUNDED_BELOW {
                lower = Ord::max(lower, domain.lo.into());
            }
            if domain.hi != IntInterval::UNBOUNDED_ABOVE {
                upper = Ord::min(upper, domain.hi.into());
            }
            *outside = outside.saturating_add(all.saturating_sub(span(&lower, &upper)));
            if lower > upper {
                return Ok(());
            }
        }
        let machine = |value: Rational| {
            value
                .to_i64()
                .ok_or_else(|| ModellingProblem::Overflow { variable: target.name.clone(), value })
        };
        for value in machine(lower)?..=machine(upper)? {
            point.push(value);
            self.choose(destination, state, point, outside, visit)?;
            point.pop();
        }
        Ok(())
    }

    /// The state after an outcome, or `Err(())` if it is no transition.
    fn outcome(
        &self,
        destination: &Destination,
        point: &[i64],
    ) -> Result<Result<State, ()>, ModellingProblem> {
        let drop = self.rule == DomainRule::Drop;
        if destination.conflict.condition != Condition::False
            && destination.conflict.condition.holds(point) == Ok(true)
        {
            return Err(ModellingProblem::Conflict(destination.conflict.variables.join(", ")));
        }
        match destination.defined.holds(point) {
            Ok(true) => {}
            _ if drop => return Ok(Err(())),
            _ => return Err(Self::why_undefined(destination, point)),
        }
        let mut next = point[..self.model.variables.len()].to_vec();
        for update in &destination.updates {
            let variable = &self.model.variables[update.variable.index()];
            let value = match &update.value {
                UpdateValue::Linear(linear) => match linear.eval(point) {
                    Some(value) => Ok(Rational::from(value)),
                    None => update.value.to_expr().eval(point),
                },
                UpdateValue::General(expr) => expr.eval(point),
            };
            let value = match value {
                Ok(value) => value,
                Err(_) if drop => return Ok(Err(())),
                Err(error) => {
                    return Err(undefined(&format!("the new value of {}", variable.name), error));
                }
            };
            let name = || variable.name.clone();
            if !value.is_integer() {
                return Err(ModellingProblem::NoInteger { variable: name(), value });
            }
            match value.to_i64() {
                Some(v) if variable.domain.contains(v) => next[update.variable.index()] = v,
                _ if drop && (variable.domain.is_bounded() || value.to_i64().is_some()) => {
                    return Ok(Err(()));
                }
                Some(_) => {
                    let domain = variable.domain;
                    return Err(ModellingProblem::LeavesDomain { variable: name(), value, domain });
                }
                None => return Err(ModellingProblem::Overflow { variable: name(), value }),
            }
        }
        Ok(Ok(next))
    }

    /// Returns which cell does not exist, or which transient variable leaves its bounds, for a
    /// message.
    fn why_undefined(destination: &Destination, point: &[i64]) -> ModellingProblem {
        for write in &destination.cell_writes {
            let last = i64::try_from(write.cells).unwrap_or(i64::MAX) - 1;
            match write.index.eval(point) {
                Ok(index) if index.to_i64().is_some_and(|i| (0..=last).contains(&i)) => {}
                Ok(index) => {
                    let array = write.array.clone();
                    return ModellingProblem::NoSuchCell { array, index, last };
                }
                Err(error) => {
                    return undefined(&format!("the index into {}", write.array), error);
                }
            }
        }
        for transient in &destination.transient_values {
            let TransientValue { name, value, bounds } = transient;
            match value.eval(point) {
                Ok(value) if bounds.contains(&value) => {}
                Ok(value) => {
                    let (variable, bounds) = (name.clone(), Box::new(bounds.clone()));
                    return ModellingProblem::LeavesBounds { variable, value, bounds };
                }
                Err(error) => return undefined(&format!("the new value of {name}"), error),
            }
        }
        ModellingProblem::Impossible
    }

    /// Checks whether state-dependent probabilities form a distribution (constants were checked
    /// when the model was read, and rounded ones scaled).
    fn check_distribution(&self, operator: &Operator, state: &[i64]) -> Result<(), ModellingError> {
        if operator.destinations.iter().all(|d| matches!(d.probability, Probability::Constant(_))) {
            return Ok(());
        }
        let mut sum = Rational::ZERO;
        for destination in &operator.destinations {
            let p = match &destination.probability {
                Probability::Constant(p) => p.clone(),
                Probability::Expr(p) => p.eval(state).map_err(|error| {
                    self.error(operator, state, undefined("a probability", error))
                })?,
            };
            if p.signum() < 0 {
                let problem = ModellingProblem::NegativeProbability(p);
                return Err(self.error(operator, state, problem));
            }
            sum = &sum + &p;
        }
        if sum != Rational::ONE {
            return Err(self.error(operator, state, ModellingProblem::Distribution(sum)));
        }
        Ok(())
    }

    fn error(
        &self,
        operator: &Operator,
        state: &[i64],
        problem: ModellingProblem,
    ) -> ModellingError {
        ModellingError {
            problem,
            state: self.model.display_state(state),
            operator: self.model.display_operator(&operator.key),
        }
    }
}

/// Number of integers between two of them, both included; the greatest number if it is beyond
/// machine integers.
fn span(lower: &Rational, upper: &Rational) -> u64 {
    let count = &(upper - lower) + &Rational::ONE;
    if count.signum() <= 0 { 0 } else { count.to_i64().map_or(u64::MAX, i64::unsigned_abs) }
}

fn undefined(what: &str, error: EvalError) -> ModellingProblem {
    ModellingProblem::Undefined { what: what.to_owned(), error }
}

impl Model {
    /// An operator as a person would name it: its label and the edges that it takes.
    #[must_use]
    pub fn display_operator(&self, key: &OperatorKey) -> String {
        let label = key.vector.and_then(|v| self.vectors[v as usize].result);
        let place =
            |&(i, e): &(InstanceId, u32)| self.instance(i).edges[e as usize].place.to_string();
        let edges: Vec<String> = key.edges.iter().map(place).collect();
        format!("{} at {}", self.label_name(label), edges.join(" and "))
    }
}
