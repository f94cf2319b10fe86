//! What may happen in a state, by the definition.

use policert_model::{Probability, State};
use policert_numeric::Rational;
use policert_policy::Filter;

use super::{Check, Place, ProbabilityError};
use crate::applicable::is_applicable;
use crate::scores::Contest;

/// An operator that the policy may allow in a state.
pub(super) struct Move {
    /// Its position.
    pub operator: usize,
    /// True if it is certainly allowed: not where the policy's choice cannot be decided.
    pub is_sure: bool,
    /// By outcome that exists.
    outcomes: Vec<MoveOutcome>,
}

/// Says what a scheduler takes: an operator and, where an outcome has values that are chosen
/// freely, one of those with the greatest lower bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    pub operator: usize,
    /// Among the outcomes that exist.
    pub outcome: usize,
    /// The state among those of that outcome; without it, the first of the best ones.
    pub option: Option<usize>,
}

/// An outcome of an operator: one state, or several by values that are chosen freely.
struct MoveOutcome {
    destination: usize,
    probability: Rational,
    options: Vec<Reached>,
}

/// A state after an outcome.
pub(super) struct Reached {
    pub state: State,
    pub choices: Vec<i64>,
    pub place: Place,
}

/// An outcome with the option that is taken.
pub(super) struct Pick<'m> {
    pub destination: usize,
    pub probability: &'m Rational,
    pub reached: &'m Reached,
    pub place: Place,
}

impl Move {
    /// The mean of lower (0) or upper (1) bounds, with the best of free choices.
    pub(super) fn mean(&self, check: &Check<'_>, side: usize) -> Rational {
        self.mean_of(check, side, Rational::ZERO, Rational::max)
    }

    /// The mean of lower (0) or upper (1) bounds, with the worst of free choices.
    pub(super) fn least_mean(&self, check: &Check<'_>, side: usize) -> Rational {
        self.mean_of(check, side, Rational::ONE, Rational::min)
    }

    /// The mean of bounds, of which `choose` takes one of two; without options it is `none`.
    fn mean_of(
        &self,
        check: &Check<'_>,
        side: usize,
        none: Rational,
        choose: fn(Rational, Rational) -> Rational,
    ) -> Rational {
        let mut mean = Rational::ZERO;
        for outcome in &self.outcomes {
            let values = outcome.options.iter().map(|o| value(check, o.place, side));
            let chosen = values.fold(none.clone(), choose);
            mean = &mean + &(&outcome.probability * &chosen);
        }
        mean
    }

    /// By outcome where it may lead to.
    pub(super) fn reached(&self) -> impl Iterator<Item = impl Iterator<Item = Place> + '_> + '_ {
        self.outcomes.iter().map(|outcome| outcome.options.iter().map(|option| option.place))
    }

    /// The scheduler that takes it.
    pub(super) fn taken(&self) -> Taken {
        Taken { operator: self.operator, outcome: 0, option: None }
    }

    /// Returns whether some of the probability is lost.
    pub(super) fn loses(&self) -> bool {
        let sum: Rational = self.outcomes.iter().map(|o| o.probability.clone()).sum();
        sum < Rational::ONE
    }

    /// Returns where it may lead to if its lower bound is kept: by outcome, the options with the
    /// greatest lower bound.
    pub(super) fn ways<'m>(
        &'m self,
        check: &'m Check<'_>,
    ) -> impl Iterator<Item = (Taken, Place)> + 'm {
        let operator = self.operator;
        self.outcomes.iter().enumerate().flat_map(move |(outcome, o)| {
            let best = best(check, o);
            let options = o.options.iter().enumerate();
            let good = options.filter(move |(_, option)| value(check, option.place, 0) == best);
            good.map(move |(option, reached)| {
                (Taken { operator, outcome, option: Some(option) }, reached.place)
            })
        })
    }

    /// The outcomes, each with the option that is taken.
    pub(super) fn picks<'m>(&'m self, check: &Check<'_>, taken: Taken) -> Vec<Pick<'m>> {
        let pick = |(at, outcome): (usize, &'m MoveOutcome)| {
            let chosen = taken.option.filter(|_| taken.outcome == at);
            let best = best(check, outcome);
            let first = || outcome.options.iter().position(|o| value(check, o.place, 0) == best);
            let reached = outcome.options.get(chosen.or_else(first)?)?;
            let (destination, probability) = (outcome.destination, &outcome.probability);
            Some(Pick { destination, probability, reached, place: reached.place })
        };
        self.outcomes.iter().enumerate().filter_map(pick).collect()
    }
}

/// The greatest lower bound of an outcome's options.
fn best(check: &Check<'_>, outcome: &MoveOutcome) -> Rational {
    let values = outcome.options.iter().map(|option| value(check, option.place, 0));
    values.fold(Rational::ZERO, Rational::max)
}

fn value(check: &Check<'_>, place: Place, side: usize) -> Rational {
    let [lower, upper] = check.bounds_of(&place);
    if side == 0 { lower } else { upper }
}

impl Check<'_> {
    /// Returns what may happen in a state.
    pub(super) fn moves(&self, state: &State) -> Result<Vec<Move>, ProbabilityError> {
        let allowed = self.allowed(state)?;
        let mut moves = Vec::new();
        for (at, operator) in self.operators.iter().enumerate() {
            if !self.semantics.is_enabled(operator, state)? {
                continue;
            }
            let policy = self.claim.policy;
            let output = policy.zip(operator.label).and_then(|(p, label)| p.output_of(label));
            let is_sure = match output {
                None => true,
                Some(output) => match allowed.iter().find(|(o, _)| *o == output) {
                    Some((_, Contest::Won)) => true,
                    Some((_, Contest::Open)) => false,
                    Some((_, Contest::LostTo(_) | Contest::Unlikely)) | None => continue,
                },
            };
            let mut outcomes: Vec<MoveOutcome> = Vec::new();
            for successor in self.semantics.successors(operator, state)?.list {
                let place = self.place(&successor.state);
                let reached = Reached { state: successor.state, choices: successor.choices, place };
                match outcomes.last_mut() {
                    Some(last) if last.destination == successor.destination => {
                        last.options.push(reached);
                    }
                    _ => {
                        let destination = &operator.destinations[successor.destination];
                        let probability = match &destination.probability {
                            Probability::Constant(p) => p.clone(),
                            Probability::Expr(expr) => match expr.eval(state) {
                                Ok(p) => p,
                                Err(_) => continue,
                            },
                        };
                        if probability.is_zero() {
                            continue;
                        }
                        let options = vec![reached];
                        let destination = successor.destination;
                        outcomes.push(MoveOutcome { destination, probability, options });
                    }
                }
            }
            moves.push(Move { operator: at, is_sure, outcomes });
        }
        Ok(moves)
    }

    /// Returns what the policy says about those of its outputs that compete.
    fn allowed(&self, state: &State) -> Result<Vec<(usize, Contest)>, ProbabilityError> {
        let (Some(policy), Some(scorer)) = (self.claim.policy, &self.scorer) else {
            return Ok(Vec::new());
        };
        let mut competing = Vec::new();
        for (output, &label) in policy.outputs().iter().enumerate() {
            if policy.semantics().filter == Filter::None
                || is_applicable(self.semantics, label, state)?
            {
                competing.push(output);
            }
        }
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        Ok(scorer.contests(&competing, &inputs))
    }
}
