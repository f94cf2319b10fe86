//! Answers by Z3: the encodings of PPA 2022, Appendix C, one solver kept per kind of test.

use policert_engine_api::{Answer, Budget, EngineError, point_in_steps};
use policert_model::{Condition, Conjunction, Model, State, VarId, Variable, VariableKind};
use policert_numeric::{IntBox, IntInterval, Interval, Rational};
use policert_policy::Policy;
use policert_smt::encode::{StateFrame, chooses, policy_scores, policy_scores_within};
use policert_smt::{Formula, SmtError, Solver, Sort, Term, Z3Solver, decide_within};

use crate::native::NativeEnvironment;
use crate::queries::{EnvironmentTests, Selection};
use crate::region::Region;

/// Steps of bisection after which a query goes to Z3.
const NATIVE_STEPS: u64 = 4096;

/// Interval reasoning first, Z3 for what takes it long.
#[derive(Debug)]
pub struct NativeThenZ3<'m> {
    model: &'m Model,
    /// Built when the first query takes long.
    z3: Option<Z3Environment<'m>>,
}

impl<'m> NativeThenZ3<'m> {
    /// For queries about states of `model`.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Self { model, z3: None }
    }
}

impl EnvironmentTests for NativeThenZ3<'_> {
    fn is_satisfiable(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        match NativeEnvironment::search(region, NATIVE_STEPS, budget)? {
            Some(answer) => Ok(answer),
            None => {
                let z3 = self.z3.get_or_insert_with(|| Z3Environment::new(self.model));
                z3.is_satisfiable(region, budget)
            }
        }
    }

    fn inhabitant(
        &mut self,
        conjunction: &Conjunction,
        sides: &IntBox,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        match point_in_steps(conjunction.clone(), sides, NATIVE_STEPS, budget)? {
            Some(answer) => Ok(answer),
            None => {
                let z3 = self.z3.get_or_insert_with(|| Z3Environment::new(self.model));
                z3.inhabitant(conjunction, sides, budget)
            }
        }
    }
}

/// Z3 for every query about the environment. One solver is kept; queries come and go in scopes.
#[derive(Debug)]
pub struct Z3Environment<'m> {
    model: &'m Model,
    solver: Z3Solver,
    frame: StateFrame,
}

impl<'m> Z3Environment<'m> {
    /// For queries about states of `model`.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let mut solver = Z3Solver::new();
        let frame = StateFrame::declare(&mut solver, &model.variables, Sort::Int);
        Self { model, solver, frame }
    }
}

impl EnvironmentTests for Z3Environment<'_> {
    fn is_satisfiable(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        let Self { model, solver, frame } = self;
        in_scope(solver, |solver| {
            let frame = region_frame(solver, frame, Sort::Int, model, region)?;
            decide_within(solver, frame.symbols(), budget)
        })
    }
}

/// Runs `query` in a scope of its own.
fn in_scope<T>(solver: &mut Z3Solver, query: impl FnOnce(&mut Z3Solver) -> T) -> T {
    solver.push();
    let answer = query(solver);
    solver.pop();
    answer
}

/// Asserts a region over the variables of `frame` and new symbols for the dimensions beyond.
fn region_frame(
    solver: &mut Z3Solver,
    frame: &StateFrame,
    sort: Sort,
    model: &Model,
    region: &Region<'_>,
) -> Result<StateFrame, EngineError> {
    let variables = dimensions(model, &region.sides);
    let mut frame = frame.clone();
    while frame.symbols().len() < variables.len() {
        let choice = solver.declare(sort);
        frame = frame.extended(choice);
    }
    solver.assert(frame.bounds(&variables));
    for condition in &region.conditions {
        let formula = frame.condition(condition, true)?;
        solver.assert(formula);
    }
    Ok(frame)
}

/// Z3 with the whole network encoded.
#[derive(Debug)]
pub struct Z3Selection<'a> {
    model: &'a Model,
    policy: &'a Policy,
    applicable: Vec<Condition>,
    exact: Encoded<'a>,
    /// Built when a relaxed test is asked first.
    relaxed: Option<Encoded<'a>>,
}

/// A solver that holds the network; queries come and go in scopes.
#[derive(Debug)]
struct Encoded<'a> {
    solver: Z3Solver,
    frame: StateFrame,
    sort: Sort,
    policy: &'a Policy,
    outputs: Vec<Term>,
    applicable: Vec<Formula>,
}

impl<'a> Z3Selection<'a> {
    /// For queries about states of `model` and this policy. `applicable` says for each output
    /// where its label is applicable.
    ///
    /// # Errors
    /// A policy that has no encoding: unsupported.
    pub fn new(
        model: &'a Model,
        policy: &'a Policy,
        applicable: Vec<Condition>,
    ) -> Result<Self, EngineError> {
        let exact = Encoded::new(model, policy, &applicable, Sort::Int)?;
        Ok(Self { model, policy, applicable, exact, relaxed: None })
    }
}

impl<'a> Encoded<'a> {
    fn new(
        model: &Model,
        policy: &'a Policy,
        applicable: &[Condition],
        sort: Sort,
    ) -> Result<Self, SmtError> {
        let mut solver = Z3Solver::new();
        let frame = StateFrame::declare(&mut solver, &model.variables, sort);
        let inputs: Vec<Term> =
            policy.inputs().iter().filter_map(|&v| frame.symbol(v)).map(Term::from).collect();
        let scores = policy_scores(&mut solver, policy.scoring(), &inputs)?;
        solver.assert(scores.constraint);
        let applicable =
            applicable.iter().map(|c| frame.condition(c, true)).collect::<Result<_, _>>()?;
        Ok(Self { solver, frame, sort, policy, outputs: scores.outputs, applicable })
    }
}

impl Selection for Z3Selection<'_> {
    fn enter(&mut self, _: &Region<'_>) {}

    fn limit_boxes(&mut self, _: Option<u64>) {}

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        self.exact.query(self.model, region, output, budget)
    }

    fn is_selected_relaxed(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let relaxed = match &mut self.relaxed {
            Some(relaxed) => relaxed,
            none => {
                none.insert(Encoded::new(self.model, self.policy, &self.applicable, Sort::Real)?)
            }
        };
        match relaxed.query(self.model, region, output, budget)? {
            Answer::Refuted => Ok(Answer::Refuted),
            Answer::Possible(_) => Ok(Answer::Possible(None)),
        }
    }
}

impl Encoded<'_> {
    fn query(
        &mut self,
        model: &Model,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        let Self { solver, frame, sort, policy, outputs, applicable } = self;
        in_scope(solver, |solver| {
            let frame = region_frame(solver, frame, *sort, model, region)?;
            let semantics = policy.semantics();
            let chosen = chooses(outputs, output, &semantics, applicable)?;
            solver.assert(chosen);
            decide_within(solver, frame.symbols(), budget)
        })
    }
}

/// Z3 with the network encoded for each test anew, within the bounds of the region: where these
/// decide the phase of an activation, it is no case distinction (PPA 2022, Section 6.3, with bounds
/// of our own in place of Marabou's).
#[derive(Debug)]
pub struct Z3FixedPhases<'a> {
    model: &'a Model,
    policy: &'a Policy,
    solver: Z3Solver,
    frame: StateFrame,
    applicable: Vec<Formula>,
}

impl<'a> Z3FixedPhases<'a> {
    /// For queries about states of `model` and this policy. `applicable` says for each output
    /// where its label is applicable.
    ///
    /// # Errors
    /// Conditions that have no encoding: unsupported.
    pub fn new(
        model: &'a Model,
        policy: &'a Policy,
        applicable: &[Condition],
    ) -> Result<Self, EngineError> {
        let mut solver = Z3Solver::new();
        let frame = StateFrame::declare(&mut solver, &model.variables, Sort::Int);
        let applicable = applicable
            .iter()
            .map(|condition| frame.condition(condition, true))
            .collect::<Result<_, _>>()?;
        Ok(Self { model, policy, solver, frame, applicable })
    }
}

impl Selection for Z3FixedPhases<'_> {
    fn enter(&mut self, _: &Region<'_>) {}

    fn limit_boxes(&mut self, _: Option<u64>) {}

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        let Self { model, policy, solver, frame, applicable } = self;
        in_scope(solver, |solver| {
            let frame = region_frame(solver, frame, Sort::Int, model, region)?;
            let variables = policy.inputs().iter();
            let inputs: Vec<Term> =
                variables.clone().filter_map(|&v| frame.symbol(v)).map(Term::from).collect();
            let side = |v: &VarId| region.sides.sides().get(v.index());
            let bounds: Vec<Interval> =
                variables.map(|v| side(v).map_or(Interval::EVERYTHING, bounds_of)).collect();
            let scores = policy_scores_within(solver, policy.scoring(), &inputs, &bounds)?;
            solver.assert(scores.constraint);
            let chosen = chooses(&scores.outputs, output, &policy.semantics(), applicable)?;
            solver.assert(chosen);
            decide_within(solver, frame.symbols(), budget)
        })
    }
}

/// A side with its bounds as doubles, outwards rounded.
fn bounds_of(side: &IntInterval) -> Interval {
    if !side.is_bounded() {
        return Interval::EVERYTHING;
    }
    Interval::enclosing(&Rational::from(side.lo))
        .hull(Interval::enclosing(&Rational::from(side.hi)))
}

/// The dimensions of a region as variables whose domains are its sides.
fn dimensions(model: &Model, sides: &IntBox) -> Vec<Variable> {
    let names = model.variables.iter().map(|v| v.name.as_str()).chain(std::iter::repeat("choice"));
    sides
        .sides()
        .iter()
        .zip(names)
        .map(|(&domain, name)| Variable {
            name: name.to_owned(),
            kind: VariableKind::Integer,
            domain,
        })
        .collect()
}
