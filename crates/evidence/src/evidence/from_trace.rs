//! From a trace to its evidence: names for values, and what the policy says in each state.

use policert_certify::TraceEnd;
use policert_engine_api::{Trace, TraceStep};
use policert_model::{Composer, InstanceId, LabelId, Model};
use policert_policy::{Chooser, ExactEvaluator, Policy, precise_scores};
use policert_problem::{Problem, changes, state_record};

use crate::{
    EndKind, EndRecord, Evidence, Mover, OperatorRecord, PolicyRecord, Proof, ScoreRecord,
    StepRecord,
};

/// Precision of scores that are no rational numbers, in fractional bits.
const BITS: usize = 128;

impl Evidence {
    /// The evidence that a trace is. It must have been replayed.
    #[must_use]
    pub fn of_trace(problem: &Problem, engine: &str, trace: &Trace, end: TraceEnd) -> Self {
        let model = &problem.model;
        let mut speaker = problem.policy.as_ref().map(|policy| Speaker::new(model, policy));
        let mut before = &trace.start;
        let mut steps = Vec::with_capacity(trace.steps.len());
        for (k, step) in trace.steps.iter().enumerate() {
            let policy = speaker.as_mut().map(|speaker| speaker.says(before));
            steps.push(StepRecord {
                step: k + 1,
                label: step.label.map(|label| model.label_name(Some(label)).to_owned()),
                by: mover(problem, step),
                policy,
                operator: OperatorRecord::new(model, &step.operator),
                outcome: step.destination,
                probability: probability(model, step, before),
                operators: Some(enabled_operators(model, step.label, before)),
                choices: step.choices.clone(),
                changed: changes(model, before, &step.state),
                state: state_record(model, &step.state),
            });
            before = &step.state;
        }
        let (kind, back_to) = match end {
            TraceEnd::Unsafe => (EndKind::Unsafe, None),
            TraceEnd::Stuck => (EndKind::Stuck, None),
            TraceEnd::Terminal => (EndKind::Terminal, None),
            TraceEnd::Loop { back_to } => (EndKind::Loop, Some(back_to)),
        };
        let last = speaker.as_mut().map(|speaker| speaker.says(before));
        let proof = Proof::Trace {
            steps: steps.len(),
            start: state_record(model, &trace.start),
            trace: steps,
            end: EndRecord { kind, back_to, policy: last.filter(|_| kind == EndKind::Stuck) },
        };
        Self::new(problem, "unsafe", engine, proof)
    }
}

/// The probability of the outcome of a step.
fn probability(model: &Model, step: &TraceStep, state: &[i64]) -> Option<String> {
    let mut composer = Composer::new(model);
    let id = composer.compose(&step.operator).ok()?;
    let outcome = composer.operator(id).destinations.get(step.destination)?;
    outcome.probability.in_state(state).ok().map(|p| p.to_string())
}

/// Returns how many operators with this label, or silent ones, are enabled in a state.
fn enabled_operators(model: &Model, label: Option<LabelId>, state: &[i64]) -> u64 {
    let alone = |instance: InstanceId| enabled_edges(model, instance, None, state);
    let instances = (0..model.instances.len()).map(InstanceId::new);
    let silent = if label.is_none() { instances.map(alone).sum() } else { 0 };
    let vectors = model.vectors.iter();
    let vectors = vectors.filter(|v| v.result == label && !v.participants.is_empty());
    let joint = vectors.map(|vector| {
        let participants = vector.participants.iter();
        participants
            .map(|&(instance, action)| enabled_edges(model, instance, Some(action), state))
            .fold(1, u64::saturating_mul)
    });
    joint.fold(silent, u64::saturating_add)
}

/// Returns how many edges of an instance with this action, or silent ones, are enabled in a state.
/// A guard without value does not hold.
fn enabled_edges(
    model: &Model,
    instance: InstanceId,
    action: Option<LabelId>,
    state: &[i64],
) -> u64 {
    let instance = model.instance(instance);
    let location = state[instance.location.index()];
    let fires = instance.edges.iter().filter(|edge| {
        edge.action == action && edge.source == location && edge.guard.holds(state) == Ok(true)
    });
    fires.count() as u64
}

fn mover(problem: &Problem, step: &TraceStep) -> Mover {
    match (&problem.policy, step.label) {
        (None, _) => Mover::Anyone,
        (Some(policy), Some(label)) if policy.output_of(label).is_some() => Mover::Policy,
        _ => Mover::Environment,
    }
}

/// Asks the policy what it says in a state.
struct Speaker<'a> {
    model: &'a Model,
    policy: &'a Policy,
    chooser: Chooser<'a>,
    exact: Option<ExactEvaluator>,
}

impl<'a> Speaker<'a> {
    fn new(model: &'a Model, policy: &'a Policy) -> Self {
        let exact = policy.network().and_then(ExactEvaluator::new);
        Self { model, policy, chooser: policy.chooser(), exact }
    }

    fn says(&mut self, state: &[i64]) -> PolicyRecord {
        let mut inputs = Vec::new();
        self.policy.read_inputs(state, &mut inputs);
        let outputs = self.policy.outputs();
        let applicable: Vec<bool> =
            outputs.iter().map(|&label| is_applicable(self.model, label, state)).collect();
        let choice = self.chooser.choose(&inputs, &applicable);
        let name = |output: usize| self.model.label_name(Some(outputs[output])).to_owned();
        let scores = self.scores(&inputs).into_iter().enumerate();
        let chosen = || choice.outputs().iter().map(|&output| name(output)).collect();
        PolicyRecord {
            chosen: (!choice.is_undecided()).then(chosen),
            scores: scores
                .map(|(output, (exact, decimal))| ScoreRecord {
                    label: name(output),
                    exact,
                    decimal,
                    applicable: applicable[output],
                })
                .collect(),
        }
    }

    /// The scores: exact where they are rational, and in decimals.
    fn scores(&self, inputs: &[i64]) -> Vec<(Option<String>, f64)> {
        let rationals = match (&self.exact, self.policy.trees(), self.policy.network()) {
            (Some(exact), ..) => exact.scores(inputs).to_rationals(),
            (None, Some(trees), _) => trees.exact_scores(inputs),
            (None, None, Some(network)) => {
                let scores = precise_scores(network, inputs, BITS);
                let scores = scores.iter().flat_map(|scores| scores.scores());
                return scores.map(|s| (None, s.lower().to_f64())).collect();
            }
            (None, None, None) => return Vec::new(),
        };
        rationals.iter().map(|s| (Some(s.to_string()), s.to_f64())).collect()
    }
}

/// Returns whether an operator of this label is enabled.
fn is_applicable(model: &Model, label: LabelId, state: &[i64]) -> bool {
    enabled_operators(model, Some(label), state) > 0
}
