//! The search by the definition: all operators, exact scores, sets of states.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use policert_engine_api::{Budget, Question, Trace};
use policert_model::{LabelId, ModelSemantics, ModellingError, Operator, State};
use policert_numeric::Rational;
use policert_policy::{ExactEvaluator, Filter, Policy, Ties};

/// The result of a naive search.
#[derive(Debug, Default)]
pub struct Naive {
    /// Start states.
    pub starts: BTreeSet<State>,
    /// Length of a shortest counterexample.
    pub distance: Option<usize>,
    /// All states reached.
    pub states: BTreeSet<State>,
    /// States whose successors were computed.
    pub expanded: BTreeSet<State>,
    /// All transitions.
    pub transitions: BTreeSet<(State, State)>,
    /// Outcomes dropped.
    pub dropped: u64,
}

/// A policy with all operators of a model.
pub struct Definition<'a> {
    pub question: &'a Question<'a>,
    pub operators: Vec<Operator>,
    policy: Option<(&'a Policy, ExactEvaluator)>,
}

impl<'a> Definition<'a> {
    pub fn new(question: &'a Question<'a>, policy: Option<&'a Policy>) -> Self {
        let operators = question.model.operators(10_000).expect("few operators");
        let exact =
            |p: &Policy| p.network().and_then(ExactEvaluator::new).expect("piecewise linear");
        Self { question, operators, policy: policy.map(|p| (p, exact(p))) }
    }

    fn semantics(&self) -> ModelSemantics<'a> {
        ModelSemantics { model: self.question.model, rule: self.question.domain_rule }
    }

    /// The labels that may happen where `applicable` are applicable; `None` for all.
    fn allowed(&self, state: &[i64], applicable: &[LabelId]) -> Option<Vec<LabelId>> {
        let (policy, exact) = self.policy.as_ref()?;
        let mut inputs = Vec::new();
        policy.read_inputs(state, &mut inputs);
        let scores = exact.scores(&inputs).to_rationals();
        let competing: Vec<usize> = (0..scores.len())
            .filter(|&o| {
                policy.semantics().filter == Filter::None
                    || applicable.contains(&policy.outputs()[o])
            })
            .collect();
        let best: Option<&Rational> = competing.iter().map(|&o| &scores[o]).max();
        let mut chosen: Vec<usize> =
            competing.iter().copied().filter(|&o| Some(&scores[o]) == best).collect();
        match policy.semantics().ties {
            Ties::First => chosen.truncate(1),
            Ties::Any => {}
            Ties::Strict if chosen.len() > 1 => chosen.clear(),
            Ties::Strict => {}
        }
        let all = (0..self.question.model.labels.len()).map(LabelId::new);
        Some(
            all.filter(|&label| {
                policy.output_of(label).is_none_or(|output| chosen.contains(&output))
            })
            .collect(),
        )
    }

    /// The successors of a state, with the number of outcomes dropped.
    pub fn successors(&self, state: &[i64]) -> Result<(Vec<State>, u64), ModellingError> {
        let semantics = self.semantics();
        let mut enabled = Vec::new();
        for operator in &self.operators {
            if semantics.is_enabled(operator, state)? {
                enabled.push(operator);
            }
        }
        let applicable = semantics.applicable_labels(&self.operators, state)?;
        let allowed = self.allowed(state, &applicable);
        let (mut states, mut dropped) = (Vec::new(), 0);
        for operator in enabled {
            let possible = match (operator.label, &allowed) {
                (Some(label), Some(allowed)) => allowed.contains(&label),
                _ => true,
            };
            if possible {
                let successors = semantics.successors(operator, state)?;
                dropped += successors.dropped;
                states.extend(successors.list.into_iter().map(|s| s.state));
            }
        }
        Ok((states, dropped))
    }

    /// The whole search; `None` if it is too large.
    pub fn search(&self) -> Result<Option<Naive>, ModellingError> {
        let mut naive = Naive::default();
        let mut distances: BTreeMap<State, usize> = BTreeMap::new();
        let mut queue = VecDeque::new();
        self.question
            .for_each_start_state(&mut Budget::unlimited(), &mut |state| {
                naive.starts.insert(state.to_vec());
                if distances.insert(state.to_vec(), 0).is_none() {
                    queue.push_back(state.to_vec());
                }
                Ok(())
            })
            .expect("bounded start states");
        let mut behind = false;
        let mut terminal = Vec::new();
        loop {
            let Some(state) = queue.pop_front() else {
                if behind || !self.question.build_all {
                    break;
                }
                behind = true;
                queue.extend(std::mem::take(&mut terminal));
                continue;
            };
            let distance = distances[&state];
            if self.question.is_unsafe(&state) && !behind {
                naive.distance = Some(naive.distance.map_or(distance, |d| d.min(distance)));
            }
            if self.question.is_unsafe(&state) && !self.question.build_all {
                continue;
            }
            if self.question.is_terminal(&state) && !behind {
                terminal.push(state);
                continue;
            }
            naive.expanded.insert(state.clone());
            let (successors, dropped) = self.successors(&state)?;
            naive.dropped += dropped;
            for next in successors {
                naive.transitions.insert((state.clone(), next.clone()));
                if !distances.contains_key(&next) {
                    distances.insert(next.clone(), distance + 1);
                    queue.push_back(next);
                }
            }
            if distances.len() > 3000 {
                return Ok(None);
            }
        }
        naive.states = distances.into_keys().collect();
        Ok(Some(naive))
    }

    /// Returns whether a trace is a run to an unsafe state.
    pub fn accepts(&self, trace: &Trace) -> bool {
        let mut state = trace.start.clone();
        for step in &trace.steps {
            let operator = self.operators.iter().find(|o| o.key == step.operator);
            let Some(operator) = operator else { return false };
            let semantics = self.semantics();
            let applicable = semantics.applicable_labels(&self.operators, &state);
            let (Ok(true), Ok(applicable)) = (semantics.is_enabled(operator, &state), applicable)
            else {
                return false;
            };
            let chosen = match (step.label, self.allowed(&state, &applicable)) {
                (Some(label), Some(allowed)) => allowed.contains(&label),
                _ => true,
            };
            let Ok(successors) = semantics.successors(operator, &state) else { return false };
            let outcome = successors.list.iter().any(|s| {
                s.destination == step.destination
                    && s.choices == step.choices
                    && s.state == step.state
            });
            let terminal = self.question.is_terminal(&state);
            if !chosen || !outcome || terminal || operator.label != step.label {
                return false;
            }
            state = step.state.clone();
        }
        self.question.is_unsafe(&state)
    }
}
