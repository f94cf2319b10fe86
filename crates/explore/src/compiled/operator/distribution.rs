//! The successors of a packed state, by outcome of the operator.

use policert_engine_api::EngineError;
use policert_model::Operator;

use super::{CompiledOperator, Outcomes, Unsettled};

/// By outcome of an operator: the end of its successors, counted in successors from the first.
/// An outcome without successors was dropped, or has probability 0.
pub(crate) type DestinationEnds = Vec<usize>;

impl CompiledOperator {
    /// As [`CompiledOperator::apply`], and says which outcome each successor belongs to.
    ///
    /// # Errors
    /// A modelling error, or a stop of the budget.
    #[inline]
    pub(crate) fn apply_by_outcome(
        &self,
        operator: &Operator,
        point: &mut Vec<i64>,
        packed: &[u64],
        outcomes: &mut Outcomes<'_>,
        ends: &mut DestinationEnds,
    ) -> Result<(), EngineError> {
        let (length, dropped) = (outcomes.packed.len(), outcomes.dropped);
        let (variables, words) = (point.len(), outcomes.packing.words());
        ends.clear();
        if let Some(destinations) = &self.destinations {
            let applied = destinations.iter().try_for_each(|destination| {
                destination.apply(point, packed, outcomes)?;
                ends.push((outcomes.packed.len() - length) / words);
                Ok(())
            });
            match applied {
                Ok(()) => return Ok(()),
                Err(Unsettled::Stop(reason)) => return Err(reason.into()),
                Err(Unsettled::Unknown) => {}
            }
        }
        point.truncate(variables);
        outcomes.packed.truncate(length);
        outcomes.dropped = dropped;
        ends.clear();
        outcomes.apply_by_reference_by_outcome(operator, point, ends)
    }
}

impl Outcomes<'_> {
    #[cold]
    fn apply_by_reference_by_outcome(
        &mut self,
        operator: &Operator,
        state: &[i64],
        ends: &mut DestinationEnds,
    ) -> Result<(), EngineError> {
        let successors = self.semantics.successors(operator, state)?;
        self.dropped += successors.dropped;
        let mut list = successors.list.iter().peekable();
        let mut count = 0;
        for destination in 0..operator.destinations.len() {
            while let Some(successor) = list.next_if(|s| s.destination == destination) {
                let start = self.packed.len();
                self.packed.resize(start + self.packing.words(), 0);
                self.packing.pack(&successor.state, &mut self.packed[start..]);
                count += 1;
            }
            ends.push(count);
        }
        Ok(())
    }
}
