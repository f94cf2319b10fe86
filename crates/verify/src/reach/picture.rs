//! What a picture of the reachable boxes shows besides: initial states, goal, unsafe sets, trajectories.

use policert_reach::{LoopAnalysis, LoopRegion, StateBox, Task, UnsafeSide};
use serde::Serialize;

/// Lower and upper bound of a variable; `None` where there is none.
type Bounds = [Option<f64>; 2];

/// What a picture of the reachable boxes shows besides. Its numbers are rounded: nothing is decided by them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LoopPicture {
    /// Names of the state variables.
    pub variables: Vec<String>,
    /// The initial box.
    pub initial: Vec<Bounds>,
    /// The goal; none where there is no goal.
    pub goal: Vec<RegionPicture>,
    /// The unsafe sets.
    #[serde(rename = "unsafe")]
    pub avoid: Vec<RegionPicture>,
    /// Random trajectories, if boxes are wanted: the values of all variables at each step.
    pub trajectories: Vec<Vec<Vec<f64>>>,
}

/// A set of states in a picture.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegionPicture {
    /// `inside`, or `outside` where the region must not be left.
    pub side: &'static str,
    /// The bounds of each variable; `None` where the region is no box.
    pub ranges: Option<Vec<Bounds>>,
    /// The first step at which it counts.
    pub from_step: u32,
}

impl LoopPicture {
    pub(super) fn new(task: &Task, analysis: &LoopAnalysis, with_trajectories: bool) -> Self {
        let region = |region: &LoopRegion, side, from_step| RegionPicture {
            side,
            ranges: ranges(region, task.dimension()),
            from_step,
        };
        let avoid = task.avoid.iter().map(|set| {
            let side = match set.side {
                UnsafeSide::Inside => "inside",
                UnsafeSide::Outside => "outside",
            };
            region(&set.region, side, set.from_step)
        });
        let samples = analysis.samples.iter().filter(|_| with_trajectories);
        Self {
            variables: task.state.clone(),
            initial: task
                .initial
                .iter()
                .map(|(lo, hi)| [lo, hi].map(|x| Some(x.to_f64())))
                .collect(),
            goal: task.goal.iter().map(|goal| region(goal, "inside", 0)).collect(),
            avoid: avoid.collect(),
            trajectories: samples.map(|path| middles(path.until_goal(task))).collect(),
        }
    }
}

/// The bounds of a box.
fn ranges(region: &LoopRegion, dimension: usize) -> Option<Vec<Bounds>> {
    let mut ranges = vec![[None, None]; dimension];
    for side in region.sides()? {
        let bounds = [side.lower.floor(), side.upper.ceil()];
        ranges[side.variable] = bounds.map(|bound| Some(bound).filter(|bound| bound.is_finite()));
    }
    Some(ranges)
}

/// The values along a trajectory, as far as they are known.
fn middles(states: &[StateBox]) -> Vec<Vec<f64>> {
    let middle = |state: &StateBox| -> Vec<f64> {
        state.iter().map(|range| range.outer.midpoint()).collect()
    };
    let states = states.iter().map(middle);
    states.take_while(|state| state.iter().all(|value| value.is_finite())).collect()
}
