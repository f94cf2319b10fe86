//! Exact values by policy iteration, component by component.
//!
//! In a quotient every scheduler ends with probability 1, so each policy has unique exact values,
//! and a policy that no exact comparison can improve is best.

use policert_engine_api::{Budget, EngineError, StopReason};
use policert_numeric::Rational;

use crate::elimination::{Equation, solve};
use crate::quotient::{GOAL, Quotient};
use crate::{Direction, Mdp};

/// Exact values, and choices that reach them.
pub(crate) struct ExactValues {
    pub values: Vec<Rational>,
    /// By block; `u32::MAX` for none.
    pub choices: Vec<u32>,
}

/// The exact values of all blocks. `floats` are bounds of them, which only make a good start.
pub(crate) fn exact_values(
    quotient: &Quotient,
    direction: Direction,
    floats: &[[f64; 2]],
    budget: &mut Budget,
) -> Result<ExactValues, EngineError> {
    let mut choices = vec![u32::MAX; quotient.mdp.states()];
    let mut values = vec![Rational::ZERO; quotient.mdp.states()];
    values[GOAL as usize] = Rational::ONE;
    let mut position = vec![OUTSIDE; quotient.mdp.states()];
    for members in quotient.order.iter() {
        budget.poll_clock()?;
        let solved = component(
            &quotient.mdp,
            direction,
            members,
            &mut position,
            &|block| values[block as usize].clone(),
            floats,
            budget,
        )?;
        let solved = solved.ok_or_else(undetermined)?;
        for ((&block, value), choice) in members.iter().zip(solved.values).zip(solved.choices) {
            values[block as usize] = value;
            choices[block as usize] = choice;
        }
    }
    Ok(ExactValues { values, choices })
}

fn undetermined() -> EngineError {
    EngineError::Internal("a scheduler that stays for ever was left in the quotient".to_owned())
}

/// Bounds of a block, and a choice that reaches one of them.
type BoundsAndChoice = ([f64; 2], u32);

/// Bounds of the blocks of one component, by exact solution for the lower and for the upper
/// bounds of what it leads to; with choices that reach the lower bound for [`Direction::Max`], the
/// upper one for [`Direction::Min`].
pub(crate) fn exact_component_bounds(
    mdp: &Mdp,
    direction: Direction,
    members: &[u32],
    values: &[[f64; 2]],
    budget: &mut Budget,
) -> Result<Option<Vec<BoundsAndChoice>>, StopReason> {
    let mut position = vec![OUTSIDE; mdp.states()];
    let mut side = |side: usize, budget: &mut Budget| {
        let border =
            |b: u32| Rational::from_f64(values[b as usize][side]).unwrap_or(Rational::ZERO);
        component(mdp, direction, members, &mut position, &border, values, budget)
    };
    let lower = side(0, budget)?;
    let upper = side(1, budget)?;
    let Some((lower, upper)) = lower.zip(upper) else {
        return Ok(None);
    };
    let choices = match direction {
        Direction::Max => lower.choices,
        Direction::Min => upper.choices,
    };
    let bounds = lower.values.iter().zip(&upper.values).map(|(lo, hi)| {
        let (lo, hi) = (lo.to_f64_interval().0, hi.to_f64_interval().1);
        [lo.max(0.0), hi.min(1.0)]
    });
    Ok(Some(bounds.zip(choices).collect()))
}

const OUTSIDE: u32 = u32::MAX;

/// The exact values of a component's blocks; `None` if some policy does not determine them.
/// `position` is [`OUTSIDE`] everywhere, and is left so.
fn component(
    mdp: &Mdp,
    direction: Direction,
    members: &[u32],
    position: &mut [u32],
    border: &dyn Fn(u32) -> Rational,
    floats: &[[f64; 2]],
    budget: &mut Budget,
) -> Result<Option<ExactValues>, StopReason> {
    for (i, &block) in (0u32..).zip(members) {
        position[block as usize] = i;
    }
    let solved = Component { mdp, direction, members, position, border }.solve(floats, budget);
    for &block in members {
        position[block as usize] = OUTSIDE;
    }
    solved
}

struct Component<'a> {
    mdp: &'a Mdp,
    direction: Direction,
    members: &'a [u32],
    /// By block: its position among the members.
    position: &'a [u32],
    border: &'a dyn Fn(u32) -> Rational,
}

impl Component<'_> {
    fn solve(
        &self,
        floats: &[[f64; 2]],
        budget: &mut Budget,
    ) -> Result<Option<ExactValues>, StopReason> {
        let mut policy: Vec<Option<u32>> =
            self.members.iter().map(|&block| self.first_choice(block, floats)).collect();
        loop {
            let Some(values) = self.evaluate(&policy, budget)? else { return Ok(None) };
            let mut improved = false;
            for (i, &block) in self.members.iter().enumerate() {
                budget.poll()?;
                let mut best = values[i].clone();
                for choice in self.mdp.choices_of(block) {
                    let value = self.value(choice, &values);
                    if self.direction.is_better(&value, &best) {
                        best = value;
                        policy[i] = Some(choice);
                        improved = true;
                    }
                }
            }
            if !improved {
                let choices = policy.iter().map(|choice| choice.unwrap_or(u32::MAX)).collect();
                return Ok(Some(ExactValues { values, choices }));
            }
        }
    }

    /// The choice that looks best.
    fn first_choice(&self, block: u32, floats: &[[f64; 2]]) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for choice in self.mdp.choices_of(block) {
            let [lo, hi] = self.mdp.mean(choice, floats);
            let middle = lo / 2.0 + hi / 2.0;
            if best.is_none_or(|(value, _)| self.direction.is_better(&middle, &value)) {
                best = Some((middle, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    fn value(&self, choice: u32, values: &[Rational]) -> Rational {
        let mut sum = Rational::ZERO;
        for (block, p) in self.mdp.outcomes(choice) {
            sum = match self.position[block as usize] {
                OUTSIDE => &sum + &(p * &(self.border)(block)),
                at => &sum + &(p * &values[at as usize]),
            };
        }
        sum
    }

    fn evaluate(
        &self,
        policy: &[Option<u32>],
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        let equations = policy.iter().map(|choice| {
            let mut equation = Equation::default();
            for (block, p) in choice.iter().flat_map(|&choice| self.mdp.outcomes(choice)) {
                match self.position[block as usize] {
                    OUTSIDE => {
                        equation.constant = &equation.constant + &(p * &(self.border)(block));
                    }
                    at => equation.add(at, p),
                }
            }
            equation
        });
        solve(equations.collect(), budget)
    }
}
