//! FrameTransition[r, n, a] by Z3 (POLIC3, Appendix A.3): one copy of the variables before the
//! transition, new ones for what it changes, and a clause for each reason of the frame.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Model, State, Variable, VariableKind};
use policert_numeric::IntBox;
use policert_smt::encode::{StateFrame, successor};
use policert_smt::{Formula, SmtError, Solver, Sort, Term, Z3Solver, decide_within};
use policert_symbolic::{OperatorOutcome, SharedRegion as Region};

use crate::frame_transition::{EnvironmentTransition, Into};

/// One solver is kept; questions come and go in scopes.
#[derive(Debug)]
pub(crate) struct Z3Environment<'m> {
    model: &'m Model,
    domains: IntBox,
    solver: Z3Solver,
    source: StateFrame,
}

impl<'m> Z3Environment<'m> {
    /// For questions about states of `model`.
    pub fn new(model: &'m Model) -> Self {
        let mut solver = Z3Solver::new();
        let source = StateFrame::declare(&mut solver, &model.variables, Sort::Int);
        Self { model, domains: model.domains(), solver, source }
    }

    /// Asserts the question. Returns the symbols of the state and the choices before.
    fn assert(
        &mut self,
        outcome: &OperatorOutcome,
        region: &Region,
        into: Into<'_>,
    ) -> Result<StateFrame, SmtError> {
        let Self { model, domains, solver, source } = self;
        let after = successor(solver, &model.variables, source, &outcome.destination)?;
        let mut before = source.clone();
        for &choice in &after.choices {
            before = before.extended(choice);
        }
        solver.assert(before.bounds(&dimensions(&region.sides)));
        solver.assert(after.constraint);
        for condition in &region.conditions {
            solver.assert(before.condition(condition, true)?);
        }
        if into.frame == 0 {
            for condition in &outcome.into_unsafe {
                solver.assert(before.condition(condition, true)?);
            }
            return Ok(before);
        }
        for reason in into.frames.of_frame(into.frame).chain(into.but) {
            let mut outside = Vec::new();
            for (d, (side, all)) in reason.sides().iter().zip(domains.sides()).enumerate() {
                let Some(&symbol) = after.frame.symbols().get(d) else { continue };
                if side.lo > all.lo {
                    outside.push(Term::from(symbol).le(Term::int(side.lo - 1)));
                }
                if side.hi < all.hi {
                    outside.push(Term::int(side.hi + 1).le(Term::from(symbol)));
                }
            }
            solver.assert(Formula::or(outside));
        }
        Ok(before)
    }
}

impl EnvironmentTransition for Z3Environment<'_> {
    fn is_possible(
        &mut self,
        outcome: &OperatorOutcome,
        region: &Region,
        into: Into<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.solver.push();
        let answer = match self.assert(outcome, region, into) {
            Ok(before) => decide_within(&mut self.solver, before.symbols(), budget),
            Err(error) => Err(error.into()),
        };
        self.solver.pop();
        answer
    }
}

/// The dimensions of a region as variables whose domains are its sides.
fn dimensions(sides: &IntBox) -> Vec<Variable> {
    let variable =
        |&domain: &_| Variable { name: String::new(), kind: VariableKind::Integer, domain };
    sides.sides().iter().map(variable).collect()
}
