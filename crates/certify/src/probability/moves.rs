//! What may happen in a state, by the definition.
//!
//! A policy that draws its label makes one move of all its labels: a part for each, with a lower bound of the
//! probability that it is drawn. What these bounds lack to 1, the rest, belongs to the labels in shares that are
//! not known; bounds count the best or the worst of them. Where a label has several operators, there is a
//! move for each combination.

use policert_engine_api::EngineError;
use policert_model::{Operator, Probability, State};
use policert_numeric::Rational;
use policert_policy::{ChoiceRule, Filter};

use super::{Check, Place, ProbabilityError};
use crate::applicable::is_applicable;
use crate::scores::Contest;

/// The most combinations of operators under a policy that draws.
const MOST_COMBINATIONS: usize = 4096;

/// A choice of the scheduler in a state.
pub(super) struct Move {
    /// True if it is certainly allowed: not where the policy's choice cannot be decided.
    pub is_sure: bool,
    parts: Vec<Part>,
    /// What the shares of the parts and of labels that lead nowhere lack to 1.
    rest: Rational,
    /// The share of labels that lead nowhere, where there are any.
    lost: Option<Rational>,
}

/// An operator, with a lower bound of the probability that its label is drawn; it is 1 where none is drawn.
#[derive(Clone)]
struct Part {
    operator: usize,
    share: Rational,
    /// By outcome that exists.
    outcomes: Vec<MoveOutcome>,
}

/// Says what a scheduler takes: a move and, where an outcome has values that are chosen freely, one of those
/// with the greatest lower bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    /// The position of the move.
    pub step: usize,
    /// The operator, where no label is drawn.
    pub operator: Option<usize>,
    part: usize,
    /// Among the outcomes that exist.
    outcome: usize,
    /// The state among those of that outcome; without it, the first of the best ones.
    option: Option<usize>,
}

/// An outcome of an operator: one state, or several by values that are chosen freely.
#[derive(Clone)]
pub(super) struct MoveOutcome {
    destination: usize,
    probability: Rational,
    options: Vec<Reached>,
}

/// A state after an outcome.
#[derive(Clone)]
pub(super) struct Reached {
    pub state: State,
    pub choices: Vec<i64>,
    pub place: Place,
}

/// An outcome with the option that is taken.
pub(super) struct Pick<'m> {
    pub operator: usize,
    pub destination: usize,
    /// That of the outcome, times the share of its part.
    pub probability: Rational,
    pub reached: &'m Reached,
    pub place: Place,
}

/// How the best or the worst of some numbers is found.
struct Extreme {
    /// That of no numbers.
    none: Rational,
    of: fn(Rational, Rational) -> Rational,
}

impl Extreme {
    fn greatest() -> Self {
        Self { none: Rational::ZERO, of: Rational::max }
    }

    fn least() -> Self {
        Self { none: Rational::ONE, of: Rational::min }
    }

    fn find(&self, values: impl Iterator<Item = Rational>) -> Rational {
        values.fold(self.none.clone(), self.of)
    }
}

impl Move {
    pub(super) fn of_operator(operator: usize, outcomes: Vec<MoveOutcome>, is_sure: bool) -> Self {
        let parts = vec![Part { operator, share: Rational::ONE, outcomes }];
        Self { is_sure, parts, rest: Rational::ZERO, lost: None }
    }

    /// The mean of lower (0) or upper (1) bounds, with the best of free choices.
    pub(super) fn mean(&self, check: &Check<'_>, side: usize) -> Rational {
        self.mean_of(check, side, &Extreme::greatest())
    }

    /// The mean of lower (0) or upper (1) bounds, with the worst of free choices.
    pub(super) fn least_mean(&self, check: &Check<'_>, side: usize) -> Rational {
        self.mean_of(check, side, &Extreme::least())
    }

    fn mean_of(&self, check: &Check<'_>, side: usize, choice: &Extreme) -> Rational {
        let mean = |part: &Part| {
            let of_outcome = |outcome: &MoveOutcome| {
                let values = outcome.options.iter().map(|option| value(check, option.place, side));
                &outcome.probability * &choice.find(values)
            };
            part.outcomes.iter().map(of_outcome).sum::<Rational>()
        };
        let means: Vec<Rational> = self.parts.iter().map(mean).collect();
        let sum = self.parts.iter().zip(&means).map(|(part, mean)| &part.share * mean).sum();
        if self.rest.is_zero() {
            return sum;
        }
        // Whose the rest is nobody knows: upper bounds hold for the best, lower ones for the worst.
        let unknown = if side == 1 { Extreme::greatest() } else { Extreme::least() };
        let nothing = self.lost.as_ref().map(|_| Rational::ZERO);
        sum + &self.rest * &unknown.find(means.into_iter().chain(nothing))
    }

    /// The outcomes that certainly have a probability above 0, with the positions of part and outcome.
    fn outcomes(&self) -> impl Iterator<Item = ([usize; 2], &MoveOutcome)> {
        let parts = self.parts.iter().enumerate().filter(|(_, part)| !part.share.is_zero());
        parts.flat_map(|(at, part)| {
            part.outcomes.iter().enumerate().map(move |(outcome, o)| ([at, outcome], o))
        })
    }

    /// By outcome where it may lead to.
    pub(super) fn reached(&self) -> impl Iterator<Item = impl Iterator<Item = Place> + '_> + '_ {
        self.outcomes().map(|(_, outcome)| outcome.options.iter().map(|option| option.place))
    }

    /// The scheduler that takes this move, which stands at a position.
    pub(super) fn taken(&self, step: usize) -> Taken {
        let operator = self.parts.first().filter(|part| part.share == Rational::ONE);
        let operator = operator.map(|part| part.operator);
        Taken { step, operator, part: 0, outcome: 0, option: None }
    }

    /// Returns whether some of the probability is certainly lost.
    pub(super) fn loses(&self) -> bool {
        let sum =
            |part: &Part| part.outcomes.iter().map(|o| o.probability.clone()).sum::<Rational>();
        self.lost.as_ref().is_some_and(|share| !share.is_zero())
            || self.parts.iter().any(|part| !part.share.is_zero() && sum(part) < Rational::ONE)
    }

    /// Returns where this move, which stands at a position, may lead to if its lower bound is kept: by outcome,
    /// the options with the greatest lower bound.
    pub(super) fn ways<'m>(
        &'m self,
        step: usize,
        check: &'m Check<'_>,
    ) -> impl Iterator<Item = (Taken, Place)> + 'm {
        let taken = self.taken(step);
        self.outcomes().flat_map(move |([part, outcome], o)| {
            let best = best(check, o);
            let options = o.options.iter().enumerate();
            let good = options.filter(move |(_, option)| value(check, option.place, 0) == best);
            good.map(move |(option, reached)| {
                (Taken { part, outcome, option: Some(option), ..taken }, reached.place)
            })
        })
    }

    /// The outcomes, each with the option that is taken.
    pub(super) fn picks(&self, check: &Check<'_>, taken: Taken) -> Vec<Pick<'_>> {
        let pick = |(at, outcome): ([usize; 2], &'_ MoveOutcome)| {
            let chosen = taken.option.filter(|_| [taken.part, taken.outcome] == at);
            let best = best(check, outcome);
            let first = || outcome.options.iter().position(|o| value(check, o.place, 0) == best);
            Some((at[0], outcome.destination, chosen.or_else(first)?))
        };
        let picked = self.outcomes().filter_map(|(at, outcome)| {
            let (part, destination, option) = pick((at, outcome))?;
            let (part, reached) = (&self.parts[part], outcome.options.get(option)?);
            let probability = &part.share * &outcome.probability;
            let operator = part.operator;
            Some(Pick { operator, destination, probability, reached, place: reached.place })
        });
        picked.collect()
    }
}

/// The greatest lower bound of an outcome's options.
fn best(check: &Check<'_>, outcome: &MoveOutcome) -> Rational {
    let values = outcome.options.iter().map(|option| value(check, option.place, 0));
    Extreme::greatest().find(values)
}

fn value(check: &Check<'_>, place: Place, side: usize) -> Rational {
    let [lower, upper] = check.bounds_of(&place);
    if side == 0 { lower } else { upper }
}

impl Check<'_> {
    /// Returns what may happen in a state.
    pub(super) fn moves(&self, state: &State) -> Result<Vec<Move>, ProbabilityError> {
        let draws = self.claim.policy.is_some_and(|p| p.semantics().choice == ChoiceRule::Sample);
        let allowed = if draws { Vec::new() } else { self.allowed(state)? };
        let mut moves = Vec::new();
        // Operators of the policy's labels, by output, before one is drawn.
        let mut undrawn: Vec<(usize, usize, Vec<MoveOutcome>)> = Vec::new();
        for (at, operator) in self.operators.iter().enumerate() {
            if !self.semantics.is_enabled(operator, state)? {
                continue;
            }
            let policy = self.claim.policy;
            let output = policy.zip(operator.label).and_then(|(p, label)| p.output_of(label));
            if let Some(output) = output.filter(|_| draws) {
                undrawn.push((output, at, self.outcomes(operator, state)?));
                continue;
            }
            let is_sure = match output {
                None => true,
                Some(output) => match allowed.iter().find(|(o, _)| *o == output) {
                    Some((_, Contest::Won)) => true,
                    Some((_, Contest::Open)) => false,
                    Some((_, Contest::LostTo(_) | Contest::Unlikely)) | None => continue,
                },
            };
            moves.push(Move::of_operator(at, self.outcomes(operator, state)?, is_sure));
        }
        if draws {
            self.draw(state, &undrawn, &mut moves)?;
        }
        Ok(moves)
    }

    /// The outcomes of an operator that exist.
    pub(super) fn outcomes(
        &self,
        operator: &Operator,
        state: &State,
    ) -> Result<Vec<MoveOutcome>, ProbabilityError> {
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
        Ok(outcomes)
    }

    /// Adds the moves of a policy that draws its label.
    fn draw(
        &self,
        state: &State,
        undrawn: &[(usize, usize, Vec<MoveOutcome>)],
        moves: &mut Vec<Move>,
    ) -> Result<(), ProbabilityError> {
        let (Some(policy), Some(scorer)) = (self.claim.policy, &self.scorer) else {
            return Ok(());
        };
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        let competing = self.competing(state)?;
        let shares = scorer.shares(&competing, &inputs);
        if shares.is_empty() {
            return Ok(());
        }
        let sum: Rational = shares.iter().map(|(_, share)| share.clone()).sum();
        let rest = Rational::ONE - sum;
        let (mut combinations, mut lost) = (vec![Vec::new()], None);
        for (output, share) in shares {
            let of_label = undrawn.iter().filter(|(other, ..)| *other == output);
            let parts: Vec<Part> = of_label
                .map(|(_, operator, outcomes)| {
                    let (operator, outcomes) = (*operator, outcomes.clone());
                    Part { operator, share: share.clone(), outcomes }
                })
                .collect();
            if parts.is_empty() {
                lost = Some(lost.unwrap_or(Rational::ZERO) + share);
                continue;
            }
            if combinations.len() * parts.len() > MOST_COMBINATIONS {
                let message = "a policy that draws among labels with several operators each, in too \
                               many combinations";
                return Err(EngineError::Unsupported(message.to_owned()).into());
            }
            let with = |begun: &Vec<Part>| {
                let longer = |part: &Part| begun.iter().chain([part]).cloned().collect();
                parts.iter().map(longer).collect::<Vec<Vec<Part>>>()
            };
            combinations = combinations.iter().flat_map(with).collect();
        }
        let combined = combinations.into_iter().map(|parts| {
            let (rest, lost) = (rest.clone(), lost.clone());
            Move { is_sure: true, parts, rest, lost }
        });
        moves.extend(combined);
        Ok(())
    }

    /// Returns what the policy says about those of its outputs that compete.
    fn allowed(&self, state: &State) -> Result<Vec<(usize, Contest)>, ProbabilityError> {
        let (Some(policy), Some(scorer)) = (self.claim.policy, &self.scorer) else {
            return Ok(Vec::new());
        };
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        Ok(scorer.contests(&self.competing(state)?, &inputs))
    }

    /// The outputs of the policy that compete in a state.
    fn competing(&self, state: &State) -> Result<Vec<usize>, ProbabilityError> {
        let Some(policy) = self.claim.policy else { return Ok(Vec::new()) };
        let mut competing = Vec::new();
        for (output, &label) in policy.outputs().iter().enumerate() {
            if policy.semantics().filter == Filter::None
                || is_applicable(self.semantics, label, state)?
            {
                competing.push(output);
            }
        }
        Ok(competing)
    }
}
