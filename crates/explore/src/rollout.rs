//! Random runs: one state, the labels that are applicable in it, and steps drawn at random.
//!
//! A run is drawn as follows. In a state, the operators that may fire are those of the label that
//! is chosen, the silent ones, and those of labels that the policy does not output: the last two
//! belong to the environment and never wait for the policy. One of them is drawn uniformly, then
//! one of its outcomes by its probability, and free values uniformly. An outcome that is no
//! transition ends the run.
//!
//! Nothing is allocated in the loop; operators are composed when they are first enabled.

mod episode;
mod number;
mod start;

use policert_engine_api::{EngineError, Question};
use policert_model::{LabelId, ModelSemantics, OpId, Operator};

use crate::compiled::{CompiledCondition, Drawn, Kleene, cumulative};
use crate::enabled_edges::Enabled;
use crate::label_set::LabelSets;
use crate::lazy_operators::LazyOperators;
use crate::random::Random;

pub use episode::{Begun, Episode, EpisodeEnd, Tally};
pub use number::StateNumber;
pub use start::StartSampler;

/// Says what a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunStep {
    /// An operator fired.
    Moved {
        /// The operator, see [`Rollout::operator`].
        operator: OpId,
        /// The position of the outcome among those of the operator.
        destination: usize,
    },
    /// The outcome that was drawn is no transition: the run ends.
    Dropped {
        operator: OpId,
        /// The position of the outcome among those of the operator.
        destination: usize,
    },
    /// No operator may fire: the label that was chosen is not applicable, or none was, and the
    /// environment does nothing.
    Stuck,
}

/// A random run through a model.
#[derive(Debug)]
pub struct Rollout<'m> {
    semantics: ModelSemantics<'m>,
    operators: LazyOperators<'m>,
    unsafe_condition: CompiledCondition,
    goal: CompiledCondition,
    terminal: CompiledCondition,
    /// By label: the output of the policy that it is.
    output_of: Vec<Option<u32>>,
    /// By output, then for none: the labels whose operators may fire.
    allowed: LabelSets,
    /// The labels of the outputs, one set.
    outputs: LabelSets,
    /// By operator, see [`cumulative`].
    cumulative: Vec<Box<[f64]>>,
    fired: Vec<OpId>,
    next: Vec<i64>,
    at: Position,
}

/// Where a run stands.
#[derive(Debug)]
pub struct Position {
    point: Vec<i64>,
    enabled: Enabled,
    applicable: Vec<bool>,
}

impl Position {
    fn nowhere(variables: usize, outputs: usize) -> Self {
        let (point, applicable) = (vec![0; variables], vec![false; outputs]);
        Self { point, enabled: Enabled::default(), applicable }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &[i64] {
        &self.point
    }

    /// By output of the policy: whether its label is applicable in the state.
    #[must_use]
    pub fn applicable(&self) -> &[bool] {
        &self.applicable
    }
}

impl<'m> Rollout<'m> {
    /// Prepares for runs of a question's model under a policy with these outputs. The run stands
    /// nowhere until [`enter`](Self::enter).
    #[must_use]
    pub fn new(question: &Question<'m>, outputs: &[LabelId]) -> Self {
        let model = question.model;
        let domains = model.domains();
        let semantics = ModelSemantics { model, rule: question.domain_rule };
        let labels = model.labels.len();
        let mut output_of = vec![None; labels];
        for (&label, k) in outputs.iter().zip(0u32..) {
            output_of[label.index()] = Some(k);
        }
        let environment = || (0..labels).filter(|&l| output_of[l].is_none()).map(LabelId::new);
        let (mut allowed, mut learned) = (LabelSets::new(labels), LabelSets::new(labels));
        for (row, label) in outputs.iter().map(Some).chain([None]).enumerate() {
            allowed.push_empty();
            environment().chain(label.copied()).for_each(|label| allowed.insert(row, label));
        }
        learned.push_empty();
        outputs.iter().for_each(|&label| learned.insert(0, label));
        let nowhere = CompiledCondition::Constant(false);
        let compiled = |condition| CompiledCondition::new(condition, &domains);
        Self {
            semantics,
            operators: LazyOperators::new(semantics),
            unsafe_condition: compiled(&question.property.unsafe_condition),
            goal: question.property.goal.as_ref().map_or_else(|| nowhere.clone(), compiled),
            terminal: question.terminal.as_ref().map_or_else(|| nowhere.clone(), compiled),
            output_of,
            allowed,
            outputs: learned,
            cumulative: Vec::new(),
            fired: Vec::new(),
            next: vec![0; model.variables.len()],
            at: Position::nowhere(model.variables.len(), outputs.len()),
        }
    }

    /// A place for another run, which stands nowhere yet.
    #[must_use]
    pub fn nowhere(&self) -> Position {
        Position::nowhere(self.at.point.len(), self.at.applicable.len())
    }

    /// Goes on with another run, and leaves this one in its place.
    pub fn exchange(&mut self, other: &mut Position) {
        std::mem::swap(&mut self.at, other);
    }

    /// Goes to a state, whose values lie in their domains.
    ///
    /// # Errors
    /// A modelling error in it.
    pub fn enter(&mut self, state: &[i64]) -> Result<(), EngineError> {
        self.at.point.copy_from_slice(state);
        self.look()
    }

    /// Finds what may happen in the current state.
    #[inline]
    fn look(&mut self) -> Result<(), EngineError> {
        let Position { point, enabled, applicable } = &mut self.at;
        self.operators.enabled_edges(point, enabled)?;
        applicable.fill(false);
        let output_of = &self.output_of;
        self.operators.applicable(&enabled.edges, self.outputs.set(0), |label| {
            if let Some(k) = output_of[label.index()] {
                applicable[k as usize] = true;
            }
        });
        Ok(())
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> &[i64] {
        &self.at.point
    }

    /// By output of the policy: whether its label is applicable in the current state.
    #[must_use]
    pub fn applicable(&self) -> &[bool] {
        &self.at.applicable
    }

    /// Returns whether the current state is unsafe. A condition without truth value does not hold.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        self.unsafe_condition.truth(&self.at.point) == Kleene::True
    }

    /// Returns whether the current state is one of the property's goal.
    #[must_use]
    pub fn is_goal(&self) -> bool {
        self.goal.truth(&self.at.point) == Kleene::True
    }

    /// Returns whether the current state is declared terminal: no run leaves it, but
    /// [`step`](Self::step) leaves that to the caller.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.terminal.truth(&self.at.point) == Kleene::True
    }

    /// Draws a step after the policy has chosen an output, or none. The run stays where it is
    /// unless it moved.
    ///
    /// # Errors
    /// A modelling error in the current state or in the one after it.
    pub fn step(
        &mut self,
        output: Option<usize>,
        random: &mut Random,
    ) -> Result<RunStep, EngineError> {
        let row = output.unwrap_or(self.at.applicable.len());
        let allowed = Some(self.allowed.set(row));
        self.operators.operators(&self.at.enabled.edges, allowed, &mut self.fired)?;
        if self.fired.is_empty() {
            return Ok(RunStep::Stuck);
        }
        let id = self.fired[random.below(self.fired.len())];
        while self.cumulative.len() <= id.index() {
            let next = OpId(u32::try_from(self.cumulative.len()).unwrap_or(u32::MAX));
            self.cumulative.push(cumulative(self.operators.operator(next)));
        }
        let (operator, compiled) = self.operators.compiled(id);
        let sums = &self.cumulative[id.index()];
        let (point, next) = (&mut self.at.point, &mut self.next);
        match compiled.draw(operator, sums, self.semantics, point, next, random)? {
            Drawn::Dropped(destination) => Ok(RunStep::Dropped { operator: id, destination }),
            Drawn::Outcome(destination) => {
                std::mem::swap(&mut self.at.point, &mut self.next);
                self.look()?;
                Ok(RunStep::Moved { operator: id, destination })
            }
        }
    }

    /// An operator that a step names.
    #[must_use]
    pub fn operator(&self, id: OpId) -> &Operator {
        self.operators.operator(id)
    }
}
