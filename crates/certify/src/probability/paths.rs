//! The most probable paths of a scheduler to the target, best first.

use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap};

use policert_engine_api::{Budget, EngineError};
use policert_model::{OperatorKey, State};
use policert_numeric::Rational;

use super::moves::{Move, Taken};
use super::{Check, Place, ProbabilityError};

/// States after which the search ends.
const MOST_EXPANSIONS: usize = 100_000;

/// A path from a start state to the target.
#[derive(Clone, PartialEq, Debug)]
pub struct WitnessPath {
    /// The product of the probabilities of its steps.
    pub probability: Rational,
    pub start: State,
    pub steps: Vec<WitnessStep>,
}

/// A step of a path.
#[derive(Clone, PartialEq, Debug)]
pub struct WitnessStep {
    pub operator: OperatorKey,
    /// The position of the outcome among those of the operator.
    pub destination: usize,
    /// The values of free choices.
    pub choices: Vec<i64>,
    /// The probability of the outcome.
    pub probability: Rational,
    /// The state after it.
    pub state: State,
}

/// A path that waits.
struct PathNode {
    state: State,
    place: Place,
    before: Option<(usize, WitnessStep)>,
}

#[derive(PartialEq)]
struct Open {
    probability: f64,
    node: usize,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_probability = self.probability.total_cmp(&other.probability);
        by_probability.then_with(|| other.node.cmp(&self.node))
    }
}

impl Check<'_> {
    /// Up to `most` paths, in the order of their probabilities; fewer where the search takes too
    /// long.
    pub(super) fn paths(
        &self,
        start: &State,
        taken: &[Option<Taken>],
        most: usize,
        budget: &mut Budget,
    ) -> Result<Vec<WitnessPath>, ProbabilityError> {
        let place = self.place(start);
        let mut nodes = vec![PathNode { state: start.clone(), place, before: None }];
        let mut open = BinaryHeap::from([Open { probability: 1.0, node: 0 }]);
        let mut paths = Vec::new();
        // By listed state, what is taken there.
        let mut steps: BTreeMap<usize, Move> = BTreeMap::new();
        let mut expansions = 0;
        while let Some(Open { probability, node }) = open.pop() {
            budget.poll().map_err(EngineError::from)?;
            let at = match nodes[node].place {
                Place::Target => {
                    paths.push(path(&nodes, node));
                    if paths.len() == most {
                        break;
                    }
                    continue;
                }
                Place::Listed(at) => at,
                Place::Failed | Place::Within(_) | Place::Elsewhere => continue,
            };
            expansions += 1;
            let Some(chosen) = taken[at] else { continue };
            if expansions > MOST_EXPANSIONS {
                break;
            }
            if let Entry::Vacant(unknown) = steps.entry(at) {
                let moves = self.moves(&self.values[at].state)?;
                let Some(step) = moves.into_iter().nth(chosen.step) else { continue };
                unknown.insert(step);
            }
            let step = &steps[&at];
            for pick in step.picks(self, chosen) {
                let step = WitnessStep {
                    operator: self.operators[pick.operator].key.clone(),
                    destination: pick.destination,
                    choices: pick.reached.choices.clone(),
                    probability: pick.probability.clone(),
                    state: pick.reached.state.clone(),
                };
                let probability = probability * pick.probability.to_f64();
                open.push(Open { probability, node: nodes.len() });
                let state = step.state.clone();
                nodes.push(PathNode { state, place: pick.place, before: Some((node, step)) });
            }
        }
        Ok(paths)
    }
}

fn path(nodes: &[PathNode], end: usize) -> WitnessPath {
    let (mut steps, mut at) = (Vec::new(), end);
    while let Some((before, step)) = &nodes[at].before {
        steps.push(step.clone());
        at = *before;
    }
    steps.reverse();
    let probability = steps.iter().fold(Rational::ONE, |p, step| &p * &step.probability);
    WitnessPath { probability, start: nodes[at].state.clone(), steps }
}
