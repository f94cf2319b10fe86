//! Compiled operators: the successors of a packed state.

mod distribution;
mod sample;

use policert_engine_api::{Budget, EngineError, StopReason};
use policert_model::{
    Condition, Destination, DomainRule, FreeChoice, LinearExpr, Model, ModelSemantics, Operator,
    Probability, UpdateValue, VarId,
};
use policert_numeric::{IntBox, IntInterval};

use super::{CompiledCondition, Kleene, value::CompiledValue};
use crate::packing::StatePacking;

pub(crate) use distribution::DestinationEnds;
pub(crate) use sample::{Drawn, cumulative};

/// An operator whose guard holds where it is applied.
#[derive(Clone, Debug)]
pub(crate) struct CompiledOperator {
    /// `None` for operators that only the reference evaluates.
    destinations: Option<Box<[CompiledDestination]>>,
}

#[derive(Clone, Debug)]
struct CompiledDestination {
    defined: CompiledCondition,
    conflict: CompiledCondition,
    choices: Box<[CompiledChoice]>,
    updates: Box<[CompiledUpdate]>,
}

/// A value between two bounds, over the state and the choices before.
#[derive(Clone, Debug)]
struct CompiledChoice {
    lower: CompiledValue,
    upper: CompiledValue,
    /// The domain of the variable that keeps the value, if one does and nothing else can go
    /// wrong: values outside need not be tried.
    kept_in: Option<IntInterval>,
}

#[derive(Clone, Debug)]
struct CompiledUpdate {
    variable: usize,
    domain: IntInterval,
    value: CompiledValue,
}

/// Says where successors go.
#[derive(Debug)]
pub(crate) struct Outcomes<'a> {
    /// The layout of states.
    pub(crate) packing: &'a StatePacking,
    /// The semantics, to ask where the fast path does not settle a case.
    pub(crate) semantics: ModelSemantics<'a>,
    /// Polled where free choices are run through.
    pub(crate) budget: &'a mut Budget,
    /// Packed successors, one after the other, in the order of the outcomes and choices.
    pub(crate) packed: &'a mut Vec<u64>,
    /// Number of outcomes that were dropped.
    pub(crate) dropped: u64,
}

/// Says why the fast path gives up.
enum Unsettled {
    /// It cannot tell what happens: an error, or a case that is too rare to compile.
    Unknown,
    Stop(StopReason),
}

impl From<StopReason> for Unsettled {
    fn from(reason: StopReason) -> Self {
        Self::Stop(reason)
    }
}

impl CompiledOperator {
    /// Compiles an operator of `model`.
    pub(crate) fn new(operator: &Operator, model: &Model) -> Self {
        let domains = model.domains();
        let destinations =
            operator.destinations.iter().map(|d| CompiledDestination::new(d, model, &domains));
        Self { destinations: destinations.collect() }
    }

    /// Appends the successors of a state, given as its values and packed. `point` holds the
    /// values and is left as it was.
    ///
    /// # Errors
    /// A modelling error, or a stop of the budget.
    pub(crate) fn apply(
        &self,
        operator: &Operator,
        point: &mut Vec<i64>,
        packed: &[u64],
        outcomes: &mut Outcomes<'_>,
    ) -> Result<(), EngineError> {
        let (length, dropped) = (outcomes.packed.len(), outcomes.dropped);
        let variables = point.len();
        if let Some(destinations) = &self.destinations {
            match destinations.iter().try_for_each(|d| d.apply(point, packed, outcomes)) {
                Ok(()) => return Ok(()),
                Err(Unsettled::Stop(reason)) => return Err(reason.into()),
                Err(Unsettled::Unknown) => {}
            }
        }
        point.truncate(variables);
        outcomes.packed.truncate(length);
        outcomes.dropped = dropped;
        outcomes.apply_by_reference(operator, point)
    }
}

impl Outcomes<'_> {
    #[cold]
    fn apply_by_reference(
        &mut self,
        operator: &Operator,
        state: &[i64],
    ) -> Result<(), EngineError> {
        let successors = self.semantics.successors(operator, state)?;
        self.dropped += successors.dropped;
        for successor in successors.list {
            let start = self.packed.len();
            self.packed.resize(start + self.packing.words(), 0);
            self.packing.pack(&successor.state, &mut self.packed[start..]);
        }
        Ok(())
    }
}

impl CompiledDestination {
    /// `None` where a probability depends on the state, or a choice is not linear.
    fn new(destination: &Destination, model: &Model, domains: &IntBox) -> Option<Self> {
        if !matches!(destination.probability, Probability::Constant(_)) {
            return None;
        }
        let mut domains = domains.clone();
        let mut choices = Vec::new();
        for choice in &destination.choices {
            let (lower, upper) = linear_bounds(choice)?;
            let value = UpdateValue::Linear(LinearExpr::var(VarId::new(domains.dimensions())));
            let kept = destination.conflict.condition == Condition::False
                && destination.update(choice.target) == Some(&value);
            let range =
                CompiledValue::range(&lower, &domains).hull(CompiledValue::range(&upper, &domains));
            choices.push(CompiledChoice {
                lower: CompiledValue::linear(&lower, &domains),
                upper: CompiledValue::linear(&upper, &domains),
                kept_in: kept.then(|| model.variables[choice.target.index()].domain),
            });
            domains.push(range);
        }
        let updates = destination.updates.iter().map(|update| CompiledUpdate {
            variable: update.variable.index(),
            domain: model.variables[update.variable.index()].domain,
            value: CompiledValue::new(&update.value, &domains),
        });
        Some(Self {
            defined: CompiledCondition::new(&destination.defined, &domains),
            conflict: CompiledCondition::new(&destination.conflict.condition, &domains),
            choices: choices.into_boxed_slice(),
            updates: updates.collect(),
        })
    }

    #[inline]
    fn apply(
        &self,
        point: &mut Vec<i64>,
        packed: &[u64],
        outcomes: &mut Outcomes<'_>,
    ) -> Result<(), Unsettled> {
        if self.choices.is_empty() {
            self.outcome(point, packed, outcomes)
        } else {
            self.choose(&self.choices, point, packed, outcomes)
        }
    }

    /// Runs through the values of the choices that are left.
    fn choose(
        &self,
        choices: &[CompiledChoice],
        point: &mut Vec<i64>,
        packed: &[u64],
        outcomes: &mut Outcomes<'_>,
    ) -> Result<(), Unsettled> {
        let [choice, rest @ ..] = choices else {
            return self.outcome(point, packed, outcomes);
        };
        let mut lower = choice.lower.value(point).ok_or(Unsettled::Unknown)?;
        let mut upper = choice.upper.value(point).ok_or(Unsettled::Unknown)?;
        if lower > upper {
            return outcomes.drop_or_ask(outcomes.semantics.rule == DomainRule::Drop);
        }
        if let Some(domain) = choice.kept_in
            && outcomes.semantics.rule == DomainRule::Drop
        {
            let inside = domain.intersect(IntInterval::new(lower, upper));
            let all = lower.abs_diff(upper).saturating_add(1);
            let kept = inside.count().and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX);
            outcomes.dropped = outcomes.dropped.saturating_add(all.saturating_sub(kept));
            (lower, upper) = (inside.lo, inside.hi);
        }
        for value in lower..=upper {
            outcomes.budget.poll()?;
            point.push(value);
            self.choose(rest, point, packed, outcomes)?;
            point.pop();
        }
        Ok(())
    }

    #[inline]
    fn outcome(
        &self,
        point: &[i64],
        packed: &[u64],
        outcomes: &mut Outcomes<'_>,
    ) -> Result<(), Unsettled> {
        let drop = outcomes.semantics.rule == DomainRule::Drop;
        if self.conflict.truth(point) == Kleene::True {
            return Err(Unsettled::Unknown);
        }
        if self.defined.truth(point) != Kleene::True {
            return outcomes.drop_or_ask(drop);
        }
        let start = outcomes.packed.len();
        outcomes.packed.extend_from_slice(packed);
        for update in &self.updates {
            let value = update.value.value(point).ok_or(Unsettled::Unknown)?;
            if !update.domain.contains(value) {
                outcomes.packed.truncate(start);
                return outcomes.drop_or_ask(drop);
            }
            outcomes.packing.set(&mut outcomes.packed[start..], update.variable, value);
        }
        Ok(())
    }
}

impl Outcomes<'_> {
    fn drop_or_ask(&mut self, drop: bool) -> Result<(), Unsettled> {
        if !drop {
            return Err(Unsettled::Unknown);
        }
        self.dropped += 1;
        Ok(())
    }
}

fn linear_bounds(choice: &FreeChoice) -> Option<(LinearExpr, LinearExpr)> {
    Some((LinearExpr::from_expr(&choice.lower)?, LinearExpr::from_expr(&choice.upper)?))
}
