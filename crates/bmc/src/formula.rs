//! Unrolling into one formula for Z3, a step at a time (PPA 2022, Section 8.2 and Appendix C).
//!
//! Of each length only paths are asked for that can be shortest unsafe ones: no state but the
//! first is a start state, none before the last is unsafe, and, with the loop-free bound, no state
//! occurs twice. If there is no such path of some length, there is none beyond.

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, StartStates, Trace, UnknownReason,
    Verdict,
};
use policert_model::{Condition, Operator, State, Truth, UpdateValue};
use policert_numeric::{IntInterval, Interval, Rational};
use policert_policy::Policy;
use policert_smt::encode::{StateFrame, chooses, policy_scores_within, successor};
use policert_smt::{
    CheckResult, Formula, SmtError, Solver, SolverAssignment, Sort, Symbol, Term, Z3Solver,
    check_within,
};
use policert_symbolic::{Operators, PolicyRegion};

use crate::{BmcConfig, BmcReport, BmcStats, report};

/// The most start states of a list that later states are kept apart from.
const LISTED_STARTS: usize = 64;

struct Unrolling<'a> {
    question: &'a Question<'a>,
    policy: Option<&'a Policy>,
    operators: Operators,
    /// For each output where its label is applicable.
    applicable: Vec<Condition>,
    solver: Z3Solver,
    /// The states of the path.
    frames: Vec<StateFrame>,
    /// A shortest unsafe path.
    first_unsafe: Option<Trace>,
    stats: BmcStats,
}

/// Unrolls into a formula.
pub(crate) fn unroll(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &BmcConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<BmcReport, EngineError> {
    let mut unrolling = Unrolling::new(question, policy)?;
    let ended = unrolling.search(config, budget, observer);
    report(ended, unrolling.first_unsafe, Counts::default(), unrolling.stats)
}

impl<'a> Unrolling<'a> {
    fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Result<Self, EngineError> {
        let operators = Operators::new(question.model, policy.map_or(&[], Policy::outputs))?;
        for operator in operators.all() {
            refuse_errors(question, operator)?;
        }
        Ok(Self {
            question,
            policy,
            applicable: operators.applicability(),
            operators,
            solver: Z3Solver::new(),
            frames: Vec::new(),
            first_unsafe: None,
            stats: BmcStats::default(),
        })
    }

    fn search(
        &mut self,
        config: &BmcConfig,
        budget: &mut Budget,
        observer: &mut dyn Observer,
    ) -> Result<Verdict, EngineError> {
        let first = self.add_frame();
        let starts = self.starts(&first, usize::MAX)?;
        self.solver.assert(Formula::or(starts));
        if self.check(budget)?.is_none() {
            self.stats.checked = Some(0);
            return Ok(Verdict::Safe { vacuous: true });
        }
        for length in 0.. {
            observer.event(Event::Phase("unrolling"));
            budget.poll_clock()?;
            if length > 0 {
                self.add_step(config)?;
            }
            let last = self.frames[self.frames.len() - 1].clone();
            let bad = &self.question.property.unsafe_condition;
            let bad = last.condition(bad, true)?;
            self.solver.push();
            self.solver.assert(bad.clone());
            let path = self.check(budget);
            self.solver.pop();
            if let Some(assignment) = path? {
                self.stats.checked = Some(length);
                if !self.question.keep_going {
                    return Ok(Verdict::Unsafe(self.trace(&assignment)?));
                }
                if self.first_unsafe.is_none() {
                    self.first_unsafe = Some(self.trace(&assignment)?);
                }
            }
            self.stats.checked = Some(length);
            self.solver.assert(bad.negate());
            if config.loop_free && length > 0 && self.is_complete(budget)? {
                return Ok(Verdict::Safe { vacuous: false });
            }
            if config.steps == Some(length) {
                return Ok(Verdict::Unknown(UnknownReason::StepLimit { steps: length.into() }));
            }
        }
        Err(EngineError::Internal("the lengths ran out".to_owned()))
    }

    /// Returns whether there is no path of the current length that matters. If Z3 gives up, there
    /// may be.
    fn is_complete(&mut self, budget: &mut Budget) -> Result<bool, EngineError> {
        match self.check(budget) {
            Ok(path) => Ok(path.is_none()),
            Err(EngineError::Undecided(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A new state behind the others.
    fn add_frame(&mut self) -> StateFrame {
        let variables = &self.question.model.variables;
        let frame = StateFrame::declare(&mut self.solver, variables, Sort::Int);
        self.solver.assert(frame.bounds(variables));
        self.frames.push(frame.clone());
        frame
    }

    /// A state is a start state, by source. Lists with more than `listed` states are left out.
    fn starts(&self, frame: &StateFrame, listed: usize) -> Result<Vec<Formula>, EngineError> {
        let mut sources = Vec::new();
        for source in self.question.start_states() {
            match source {
                StartStates::List(states) if states.len() <= listed => {
                    for state in states {
                        let values = state.iter().map(|&value| IntInterval::point(value));
                        sources.push(inside(frame.symbols(), values));
                    }
                }
                StartStates::List(_) => {}
                StartStates::Region(condition, sides) => {
                    let condition = frame.condition(&condition, true)?;
                    let sides = inside(frame.symbols(), sides.sides().iter().copied());
                    sources.push(Formula::and([condition, sides]));
                }
            }
        }
        Ok(sources)
    }

    /// One step more.
    fn add_step(&mut self, config: &BmcConfig) -> Result<(), EngineError> {
        let source = self.frames[self.frames.len() - 1].clone();
        if let Some(terminal) = &self.question.terminal {
            let terminal = source.condition(terminal, true)?;
            self.solver.assert(terminal.negate());
        }
        let chosen = self.choices(&source)?;
        let next = self.add_frame();
        let mut steps = Vec::new();
        for (group, chosen) in self.operators.groups().iter().zip(chosen) {
            let mut of_label = Vec::new();
            for operator in group.operators.iter().map(|&o| &self.operators.all()[o]) {
                let guard = source.condition(&operator.guard, true)?;
                let mut outcomes = Vec::new();
                for destination in &operator.destinations {
                    let variables = &self.question.model.variables;
                    let outcome = successor(&mut self.solver, variables, &source, destination)?;
                    let pairs = outcome.frame.symbols().iter().zip(next.symbols());
                    let same = pairs.map(|(&a, &b)| Term::from(a).equals(Term::from(b)));
                    outcomes.push(Formula::and([outcome.constraint, Formula::and(same)]));
                }
                of_label.push(Formula::and([guard, Formula::or(outcomes)]));
            }
            steps.push(Formula::and([chosen, Formula::or(of_label)]));
        }
        self.solver.assert(Formula::or(steps));
        for start in self.starts(&next, LISTED_STARTS)? {
            self.solver.assert(start.negate());
        }
        if config.loop_free {
            for before in &self.frames[..self.frames.len() - 1] {
                let pairs = before.symbols().iter().zip(next.symbols());
                let differ = pairs.map(|(&a, &b)| Term::from(a).equals(Term::from(b)).negate());
                self.solver.assert(Formula::or(differ));
            }
        }
        Ok(())
    }

    /// By group: the policy chooses the label.
    fn choices(&mut self, frame: &StateFrame) -> Result<Vec<Formula>, EngineError> {
        let groups = self.operators.groups();
        let Some(policy) = self.policy else {
            return Ok(vec![Formula::Constant(true); groups.len()]);
        };
        let variables = &self.question.model.variables;
        let inputs: Vec<Term> =
            policy.inputs().iter().filter_map(|&v| frame.symbol(v)).map(Term::from).collect();
        let bounds: Vec<Interval> =
            policy.inputs().iter().map(|v| enclosure(variables[v.index()].domain)).collect();
        let scores = policy_scores_within(&mut self.solver, policy.scoring(), &inputs, &bounds)?;
        self.solver.assert(scores.constraint);
        let applicable = self.applicable.iter().map(|c| frame.condition(c, true));
        let applicable = applicable.collect::<Result<Vec<Formula>, SmtError>>()?;
        let formula = |output| match output {
            Some(output) => chooses(&scores.outputs, output, &policy.semantics(), &applicable),
            None => Ok(Formula::Constant(true)),
        };
        let chosen = groups.iter().map(|group| formula(group.output));
        Ok(chosen.collect::<Result<_, SmtError>>()?)
    }

    /// An assignment of what was asserted, if there is one.
    fn check(&mut self, budget: &mut Budget) -> Result<Option<SolverAssignment>, EngineError> {
        self.stats.queries += 1;
        match check_within(&mut self.solver, budget)? {
            CheckResult::Unsat => Ok(None),
            CheckResult::Sat(assignment) => Ok(Some(assignment)),
        }
    }

    /// The run through the states of an assignment, by the plain semantics.
    fn trace(&self, assignment: &SolverAssignment) -> Result<Trace, EngineError> {
        let states: Option<Vec<State>> = self
            .frames
            .iter()
            .map(|frame| assignment.integers(frame.symbols().iter().copied()))
            .collect();
        let states = states
            .ok_or_else(|| EngineError::Undecided("a path through huge values".to_owned()))?;
        let mut policy = self.policy.map(|policy| PolicyRegion::new(policy, &self.operators));
        let mut steps = Vec::new();
        for pair in states.windows(2) {
            let choice = policy.as_mut().map(|policy| policy.choice(&pair[0]));
            let groups = self.operators.environment_first();
            let found = self.operators.steps(groups, self.question, &pair[0], choice.as_ref())?;
            let step =
                found.into_iter().find(|found| found.is_certain && found.step.state == pair[1]);
            steps.push(step.map(|found| found.step).ok_or_else(|| {
                EngineError::Internal("a step of Z3's path is none by the semantics".to_owned())
            })?);
        }
        Ok(Trace { start: states[0].clone(), steps })
    }
}

/// Refuses what an encoding would pass over in silence: values that are no integers, and two different
/// ones for one variable.
fn refuse_errors(question: &Question<'_>, operator: &Operator) -> Result<(), EngineError> {
    let model = question.model;
    let refused = |what: &str| {
        let operator = model.display_operator(&operator.key);
        Err(EngineError::Unsupported(format!("bounded model checking by Z3: {operator} {what}")))
    };
    for destination in &operator.destinations {
        let conflict = &destination.conflict.condition;
        let plain = destination.choices.is_empty();
        if *conflict != Condition::False
            && !(plain && conflict.truth(&model.domains()) == Truth::False)
        {
            return refused("may assign two different values to one variable");
        }
        for update in &destination.updates {
            if let UpdateValue::General(value) = &update.value
                && !value.is_integral()
            {
                return refused("may assign a value that is no integer");
            }
        }
    }
    Ok(())
}

/// The symbols lie in these sides.
fn inside(symbols: &[Symbol], sides: impl Iterator<Item = IntInterval>) -> Formula {
    let mut parts = Vec::new();
    for (&symbol, side) in symbols.iter().zip(sides) {
        if side.is_point() {
            parts.push(Term::from(symbol).equals(Term::int(side.lo)));
            continue;
        }
        if side.lo != IntInterval::UNBOUNDED_BELOW {
            parts.push(Term::int(side.lo).le(Term::from(symbol)));
        }
        if side.hi != IntInterval::UNBOUNDED_ABOVE {
            parts.push(Term::from(symbol).le(Term::int(side.hi)));
        }
    }
    Formula::and(parts)
}

/// A domain with its bounds as doubles, outwards rounded.
fn enclosure(side: IntInterval) -> Interval {
    if !side.is_bounded() {
        return Interval::EVERYTHING;
    }
    let [lo, hi] = [side.lo, side.hi].map(|bound| Interval::enclosing(&Rational::from(bound)));
    lo.hull(hi)
}
