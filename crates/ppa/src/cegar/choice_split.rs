//! Refinement by splitting on the policy's choice: predicates that tell the concretisation, in
//! which the policy does not choose a label, from states of the same abstract state in which it
//! does.
//!
//! Around the concretisation a box is kept, at first the whole abstract state. As long as the
//! oracle finds a witness in it, a state where the policy chooses the label, the box is cut
//! between the two: first the witness is moved as close to the concretisation as its choice
//! allows, then a variable in which they still differ is selected, and on the way along it the
//! split point. In the end the policy chooses the label nowhere in the box, so the cuts that
//! bound it are all that the refuted transition needs.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State, VarId};
use policert_numeric::IntBox;

use super::config::{SplitConfig, SplitPoint, SplitUntil, SplitVariable};
use super::policy_choice::PolicyChoice;
use crate::abstraction::Abstraction;
use crate::queries::Queries;
use crate::region::Region;

/// The most cuts around one concretisation.
const CUT_LIMIT: usize = 512;

/// A bound of the box, by which it lost a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    pub variable: usize,
    /// The greatest value on the lower side.
    pub at: i64,
    /// True if the concretisation is on the lower side.
    pub below: bool,
    /// True if the path fixes the variable's value there.
    pub entailed: bool,
}

impl Cut {
    /// The predicate: that a state is on the lower side.
    pub fn predicate(&self) -> Condition {
        use policert_model::{BinaryOp, Expr};
        let variable = Expr::Var(VarId::new(self.variable));
        Condition::from_expr(&Expr::binary(BinaryOp::Le, variable, Expr::int(self.at)))
    }

    fn apply(&self, sides: &mut IntBox) {
        let side = &mut sides[self.variable];
        if self.below {
            side.hi = side.hi.min(self.at);
        } else {
            side.lo = side.lo.max(self.at + 1);
        }
    }
}

/// Holds what cuts are chosen with.
#[derive(Debug)]
pub(crate) struct ChoiceSplit<'r, 'p, 'f, 's, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub config: SplitConfig,
    pub policy: &'f mut PolicyChoice<'p>,
    /// The variables that the policy's choice depends on.
    pub choice_variables: &'f [usize],
    /// For each variable whether the path fixes its value at the step.
    pub entailed: &'f [bool],
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

impl ChoiceSplit<'_, '_, '_, '_, '_> {
    /// Cuts between `concretisation`, in which `output` is not chosen, and the states of `region`
    /// in which it is. Empty if there are none of these.
    ///
    /// # Errors
    /// A stop of the budget, or a query that is not decided.
    pub fn cuts(
        &mut self,
        region: &Region<'_>,
        concretisation: &State,
        output: usize,
    ) -> Result<Vec<Cut>, EngineError> {
        let mut cuts: Vec<Cut> = Vec::new();
        let mut rest = region.clone();
        loop {
            let cut = match self.witness(&rest, output)? {
                Answer::Refuted => break,
                Answer::Possible(Some(witness)) => {
                    let witness = self.pull(&rest, concretisation, witness, output)?;
                    self.cut(concretisation, &witness, output)?
                }
                Answer::Possible(None) => self.halve(&rest, concretisation, output)?,
            };
            cuts.push(cut);
            if self.config.until == SplitUntil::Witness || cuts.len() >= CUT_LIMIT {
                return Ok(cuts);
            }
            cut.apply(&mut rest.sides);
        }
        self.drop_needless(region, &mut cuts, output)?;
        Ok(cuts)
    }

    /// A state of the region in which the output is chosen.
    fn witness(
        &mut self,
        region: &Region<'_>,
        output: usize,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        self.queries.t_sat_pi(region, output, self.budget)
    }

    /// A cut that halves the box, where no witness is known: of the variable along which the lead
    /// of the output's score changes most.
    fn halve(
        &mut self,
        region: &Region<'_>,
        concretisation: &State,
        output: usize,
    ) -> Result<Cut, EngineError> {
        let open: Vec<usize> = self
            .choice_variables
            .iter()
            .copied()
            .filter(|&v| !region.sides[v].is_point())
            .collect();
        let entailed: Vec<usize> = open.iter().copied().filter(|&v| self.entailed[v]).collect();
        let candidates = if entailed.is_empty() { open } else { entailed };
        let lead = self.policy.lead(concretisation, output);
        let mut moved = concretisation.clone();
        let mut best: Option<(f64, Cut)> = None;
        for variable in candidates {
            let (side, from) = (region.sides[variable], concretisation[variable]);
            let below = side.hi.abs_diff(from) >= from.abs_diff(side.lo);
            let to = if below { side.hi } else { side.lo };
            moved[variable] = to;
            let influence = (lead - self.policy.lead(&moved, output)).abs();
            moved[variable] = from;
            if best.is_none_or(|(greatest, _)| influence > greatest) {
                let (low, high) = (from.min(to), from.max(to));
                let at = low + (high - low - 1) / 2;
                let entailed = self.entailed[variable];
                best = Some((influence, Cut { variable, at, below, entailed }));
            }
        }
        best.map(|(_, cut)| cut).ok_or_else(|| {
            EngineError::Undecided("whether the policy chooses a label in some state".to_owned())
        })
    }

    /// Moves a witness towards the concretisation, one variable after the other, as long as it
    /// stays one: those that the path does not fix first.
    fn pull(
        &mut self,
        region: &Region<'_>,
        concretisation: &State,
        mut witness: State,
        output: usize,
    ) -> Result<State, EngineError> {
        let differing: Vec<usize> = self
            .choice_variables
            .iter()
            .copied()
            .filter(|&v| witness[v] != concretisation[v])
            .collect();
        let (last, first): (Vec<usize>, Vec<usize>) =
            differing.into_iter().partition(|&v| self.entailed[v]);
        for v in first.into_iter().chain(last) {
            let before = std::mem::replace(&mut witness[v], concretisation[v]);
            let meets = |c: &&Condition| c.holds(&witness) == Ok(true);
            let inside = region.sides.contains(&witness) && region.conditions.iter().all(meets);
            if !inside || !self.is_chosen(&witness, output)? {
                witness[v] = before;
            }
        }
        Ok(witness)
    }

    /// A cut between the concretisation and a witness.
    fn cut(
        &mut self,
        concretisation: &State,
        witness: &State,
        output: usize,
    ) -> Result<Cut, EngineError> {
        let differing: Vec<usize> = self
            .choice_variables
            .iter()
            .copied()
            .filter(|&v| witness[v] != concretisation[v])
            .collect();
        let entailed: Vec<usize> =
            differing.iter().copied().filter(|&v| self.entailed[v]).collect();
        let candidates = if entailed.is_empty() { differing } else { entailed };
        let Some(variable) = self.select(&candidates, concretisation, witness, output) else {
            return Err(EngineError::Internal(
                "a policy that chooses differently in states that it cannot tell apart".to_owned(),
            ));
        };
        let (from, to) = (concretisation[variable], witness[variable]);
        let at = self.split_point(witness, variable, from, output)?;
        Ok(Cut { variable, at, below: from < to, entailed: self.entailed[variable] })
    }

    fn select(
        &mut self,
        candidates: &[usize],
        concretisation: &State,
        witness: &State,
        output: usize,
    ) -> Option<usize> {
        let distance = |v: usize| witness[v].abs_diff(concretisation[v]);
        match self.config.variable {
            SplitVariable::First => candidates.first().copied(),
            SplitVariable::Distance => {
                candidates.iter().copied().max_by_key(|&v| (distance(v), std::cmp::Reverse(v)))
            }
            SplitVariable::Influence => {
                let lead = self.policy.lead(witness, output);
                let mut moved = witness.clone();
                let mut best: Option<(f64, usize)> = None;
                for &v in candidates {
                    moved[v] = concretisation[v];
                    let influence = (lead - self.policy.lead(&moved, output)).abs();
                    moved[v] = witness[v];
                    if best.is_none_or(|(greatest, _)| influence > greatest) {
                        best = Some((influence, v));
                    }
                }
                best.map(|(_, v)| v)
            }
        }
    }

    /// The greatest value on the lower side of the cut, between the witness and the value `from`
    /// of the concretisation.
    fn split_point(
        &mut self,
        witness: &State,
        variable: usize,
        from: i64,
        output: usize,
    ) -> Result<i64, EngineError> {
        let to = witness[variable];
        // Of the states with the values in between, the witness alone stays on its side, or all
        // but that of the concretisation, or half of them.
        let (low, high) = (from.min(to), from.max(to));
        Ok(match self.config.point {
            SplitPoint::Middle => low + (high - low - 1) / 2,
            SplitPoint::Concretisation => {
                if from < to {
                    from
                } else {
                    from - 1
                }
            }
            SplitPoint::Witness => {
                if from < to {
                    to - 1
                } else {
                    to
                }
            }
            SplitPoint::Choice => {
                // Bisection: `near` is not chosen or the concretisation's value, `far` is chosen.
                let (mut near, mut far) = (from, to);
                let mut moved = witness.clone();
                while near.abs_diff(far) > 1 {
                    let middle = near.midpoint(far);
                    moved[variable] = middle;
                    if self.is_chosen(&moved, output)? {
                        far = middle;
                    } else {
                        near = middle;
                    }
                }
                near.min(far)
            }
        })
    }

    /// Returns whether the output is chosen for certain.
    fn is_chosen(&mut self, state: &State, output: usize) -> Result<bool, EngineError> {
        Ok(self.policy.chooses(self.abstraction, state, output)? == Some(true))
    }

    /// Drops cuts without which the policy still chooses the label nowhere in the box, those of
    /// variables that the path does not fix first.
    fn drop_needless(
        &mut self,
        region: &Region<'_>,
        cuts: &mut Vec<Cut>,
        output: usize,
    ) -> Result<(), EngineError> {
        let boxed = |cuts: &[Cut]| {
            let mut part = region.clone();
            cuts.iter().for_each(|cut| cut.apply(&mut part.sides));
            part
        };
        for entailed in [false, true] {
            let mut i = 0;
            while i < cuts.len() && cuts.len() > 1 {
                if cuts[i].entailed == entailed {
                    let mut without = cuts.clone();
                    without.remove(i);
                    if self.witness(&boxed(&without), output)?.refuted() {
                        *cuts = without;
                        continue;
                    }
                }
                i += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
