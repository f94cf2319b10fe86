//! The transitions by one outcome: from candidates to the abstract states that they lead to.

use super::*;

impl Search<'_, '_, '_> {
    /// Follows the candidates of one outcome to the abstract states that they lead to.
    pub(super) fn follow(
        &mut self,
        group: &[Candidate],
        states: &Region<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        let mut region: Option<Region<'_>> = None;
        for candidate in group {
            self.budget.poll()?;
            let target = candidate.target;
            if self.first_unsafe.is_some() {
                outgoing.kept.push(candidate.clone());
                continue;
            }
            if self.reachability.tree.open(target).is_none() {
                if self.is_reached(target) {
                    outgoing.kept.push(candidate.clone());
                    continue;
                }
                if candidate.found != Found::Nothing {
                    outgoing.kept.push(candidate.clone());
                    self.reach(target, Some(outgoing.arrival()))?;
                    continue;
                }
            }
            let valid = match &region {
                Some(region) => region,
                None => {
                    let (o, d) = (outgoing.operator as usize, outgoing.destination as usize);
                    let prepared = &abstraction.operators.all()[o];
                    let applicable = states.restrict([&prepared.operator.guard]);
                    region.insert(valid_region(abstraction, &applicable, o, d))
                }
            };
            if valid.is_empty() {
                return Ok(());
            }
            let literals = self.reachability.tree.path_literals(target);
            let effects: Vec<Literals> = literals
                .iter()
                .map(|literal| self.precondition(outgoing, literal.predicate))
                .collect();
            let conditions = effects
                .iter()
                .zip(&literals)
                .map(|(effect, literal)| &effect[usize::from(literal.value)]);
            let part = valid.restrict(conditions);
            let witness = match &candidate.found {
                Found::Witness(state) if valid.sides.dimensions() == state.len() => Some(&**state),
                _ => None,
            };
            self.descend(target, &part, witness, outgoing)?;
            if outgoing.is_refuted {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The literals of a predicate before the outcome.
    fn precondition(&mut self, outgoing: &Outgoing, predicate: PredicateId) -> Literals {
        let Reachability { tree, preconditions, .. } = &mut *self.reachability;
        let key = (outgoing.operator, outgoing.destination, predicate);
        let known = preconditions.entry(key).or_insert_with(|| {
            let operator = &self.abstraction.operators.all()[outgoing.operator as usize].operator;
            let destination = &operator.destinations[outgoing.destination as usize];
            let literals = tree.literals(predicate);
            let updated = literals[1].variables().iter().any(|&v| destination.update(v).is_some());
            updated.then(|| {
                Arc::new([0, 1].map(|value| destination.weakest_precondition(&literals[value])))
            })
        });
        match known {
            Some(literals) => Arc::clone(literals),
            None => tree.literals(predicate),
        }
    }

    /// The abstract states under a node that the source states of `region` lead to; `witness` is
    /// one of them in which the policy chooses the label.
    fn descend(
        &mut self,
        id: NodeId,
        region: &Region<'_>,
        witness: Option<&[i64]>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        if region.is_empty() || outgoing.is_refuted {
            return Ok(());
        }
        if self.first_unsafe.is_some() {
            outgoing.keep(id, Found::Nothing);
            return Ok(());
        }
        let Some((predicate, parts)) = self.reachability.tree.open(id) else {
            return self.test(id, region, witness, outgoing);
        };
        let literals = self.precondition(outgoing, predicate);
        for value in [1, 0] {
            let part = region.restrict([&literals[value]]);
            let witness = witness.filter(|state| literals[value].holds(state) == Ok(true));
            self.descend(parts[value], &part, witness, outgoing)?;
        }
        Ok(())
    }

    /// The transition tests, for an abstract state that was not reached yet.
    fn test(
        &mut self,
        leaf: NodeId,
        region: &Region<'_>,
        witness: Option<&[i64]>,
        outgoing: &mut Outgoing,
    ) -> Result<(), EngineError> {
        if let Some(witness) = witness {
            outgoing.keep(leaf, Found::Witness(witness.into()));
            if !self.is_reached(leaf) {
                self.reach(leaf, Some(outgoing.arrival()))?;
            }
            return Ok(());
        }
        if self.is_reached(leaf) {
            outgoing.keep(leaf, Found::Nothing);
            return Ok(());
        }
        let output = outgoing.output.filter(|_| self.abstraction.policy.is_some());
        let mut answer = self.queries.t_sat(region, output.is_none(), self.budget)?;
        if let Some(output) = output
            && !answer.refuted()
        {
            if !outgoing.is_selected {
                let cell = self.reachability.tree.node(outgoing.source).cell.clone();
                let states = cell.region().restrict([self.abstraction.not_terminal()]);
                match self.queries.is_select_pi(&states, output, self.budget)? {
                    Answer::Refuted => {
                        outgoing.is_refuted = true;
                        return Ok(());
                    }
                    Answer::Possible(state) => outgoing.selected_in = state,
                }
                outgoing.is_selected = true;
            }
            answer = match &outgoing.selected_in {
                Some(state) if is_in(region, state) => Answer::Possible(Some(state.clone())),
                _ => self.queries.t_sat_pi(region, output, self.budget)?,
            };
        }
        let found = match answer {
            Answer::Refuted => return Ok(()),
            Answer::Possible(Some(witness)) => {
                let variables = self.abstraction.predicates.domains().dimensions();
                let state: State = witness[..variables].to_vec();
                Found::Witness(state.into())
            }
            Answer::Possible(None) => Found::Possible,
        };
        outgoing.keep(leaf, found);
        self.reach(leaf, Some(outgoing.arrival()))
    }
}
