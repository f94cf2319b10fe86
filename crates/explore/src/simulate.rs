//! Simulation: runs under a policy, or with labels drawn at random, and how they end.
//!
//! A simulation estimates; it proves nothing. Decisions of the policy are exact all the same; what a
//! policy draws has its probability but for rounding errors.

mod statistics;

use policert_engine_api::{Budget, EngineError, Question};
use policert_model::{LabelId, Operator};
use policert_policy::{Choice, ChoiceRule, Chooser, Policy};
use serde::Serialize;

use crate::random::Random;
use crate::rollout::{Rollout, RunStep};

pub use statistics::{EndingCount, SimulationStatistics};

/// Says how a run ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnding {
    /// In an unsafe state.
    Unsafe,
    /// In a state of the goal.
    Goal,
    /// In a state that is declared terminal.
    Terminal,
    /// In a state in which no operator may fire.
    Stuck,
    /// With an outcome that is no transition, as it leaves a domain.
    Dropped,
    /// In a state in which the choice of the policy is undecided.
    Undecided,
    /// After as many steps as were allowed.
    CutOff,
}

impl RunEnding {
    /// All of them, in their order.
    pub const ALL: [Self; 7] = [
        Self::Unsafe,
        Self::Goal,
        Self::Terminal,
        Self::Stuck,
        Self::Dropped,
        Self::Undecided,
        Self::CutOff,
    ];
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The way in which it ended.
    pub ending: RunEnding,
    /// Number of transitions, those of the environment included.
    pub steps: u32,
    /// True if it visits a state of the goal.
    pub reached_goal: bool,
    /// The label chosen in its last state; `None` if none was, or nobody was asked.
    pub chosen: Option<LabelId>,
}

/// Says how far runs go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimulationConfig {
    /// After how many steps a run is cut off.
    pub steps: u32,
    /// True if runs go on beyond states of the goal.
    pub past_goal: bool,
}

/// Says what is told of each transition of a run.
#[derive(Debug)]
pub struct RunTransition<'a> {
    /// The operator that fired.
    pub operator: &'a Operator,
    /// The state after it.
    pub state: &'a [i64],
}

/// Random runs of a model under a policy.
#[derive(Debug)]
pub struct Simulation<'a> {
    rollout: Rollout<'a>,
    config: SimulationConfig,
    /// Who chooses; `None` draws among the applicable labels.
    policy: Option<(&'a Policy, Chooser<'a>)>,
    outputs: Vec<LabelId>,
    inputs: Vec<i64>,
}

impl<'a> Simulation<'a> {
    /// Prepares for runs. Without policy all labels of the model may be chosen.
    #[must_use]
    pub fn new(
        question: &Question<'a>,
        policy: Option<&'a Policy>,
        config: SimulationConfig,
    ) -> Self {
        let outputs = match policy {
            Some(policy) => policy.outputs().to_vec(),
            None => (0..question.model.labels.len()).map(LabelId::new).collect(),
        };
        Self {
            rollout: Rollout::new(question, &outputs),
            config,
            policy: policy.map(|policy| (policy, policy.chooser())),
            outputs,
            inputs: Vec::new(),
        }
    }

    /// Runs from a start state to the end, and tells every transition.
    ///
    /// # Errors
    /// A modelling error on the way, or a stop of the budget.
    pub fn run(
        &mut self,
        start: &[i64],
        random: &mut Random,
        budget: &mut Budget,
        watch: &mut dyn FnMut(RunTransition<'_>),
    ) -> Result<Run, EngineError> {
        self.rollout.enter(start)?;
        let mut run =
            Run { ending: RunEnding::CutOff, steps: 0, reached_goal: false, chosen: None };
        loop {
            budget.poll()?;
            run.chosen = None;
            run.reached_goal |= self.rollout.is_goal();
            if let Some(ending) = self.ending(run.steps) {
                run.ending = ending;
                return Ok(run);
            }
            let Some(output) = self.choose(random) else {
                run.ending = RunEnding::Undecided;
                return Ok(run);
            };
            run.chosen = output.map(|output| self.outputs[output]);
            match self.rollout.step(output, random)? {
                RunStep::Moved { operator, .. } => {
                    run.steps += 1;
                    let operator = self.rollout.operator(operator);
                    watch(RunTransition { operator, state: self.rollout.state() });
                }
                RunStep::Dropped { .. } => {
                    run.ending = RunEnding::Dropped;
                    return Ok(run);
                }
                RunStep::Stuck => {
                    run.ending = RunEnding::Stuck;
                    return Ok(run);
                }
            }
        }
    }

    /// Returns whether a run ends in the current state, whatever is chosen there.
    fn ending(&self, steps: u32) -> Option<RunEnding> {
        let rollout = &self.rollout;
        if rollout.is_unsafe() {
            return Some(RunEnding::Unsafe);
        }
        let is_terminal = rollout.is_terminal();
        if (is_terminal || !self.config.past_goal) && rollout.is_goal() {
            return Some(RunEnding::Goal);
        }
        if is_terminal {
            return Some(RunEnding::Terminal);
        }
        (steps >= self.config.steps).then_some(RunEnding::CutOff)
    }

    /// The output that is chosen, or that none is; `None` if that cannot be told.
    #[expect(clippy::option_option, reason = "what is unknown, and what is nothing")]
    fn choose(&mut self, random: &mut Random) -> Option<Option<usize>> {
        let applicable = self.rollout.applicable();
        let Some((policy, chooser)) = &mut self.policy else {
            let count = applicable.iter().filter(|&&is| is).count();
            let k = random.below(count);
            return Some((0..applicable.len()).filter(|&output| applicable[output]).nth(k));
        };
        self.inputs.clear();
        policy.read_inputs(self.rollout.state(), &mut self.inputs);
        if policy.semantics().choice == ChoiceRule::Sample {
            return Some(chooser.draw(&self.inputs, applicable, random.unit()));
        }
        match chooser.choose(&self.inputs, applicable) {
            Choice::Nothing => Some(None),
            Choice::One(output) => Some(Some(output)),
            Choice::Several(outputs) => Some(Some(outputs[random.below(outputs.len())])),
            // In single precision runs follow the plain evaluation.
            Choice::Undecided { certain, .. } if policy.single().is_some() => match certain.len() {
                0 => None,
                count => Some(Some(certain[random.below(count)])),
            },
            Choice::Undecided { .. } => None,
        }
    }
}
