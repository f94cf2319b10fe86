//! What a problem says, names resolved.

use std::collections::{BTreeMap, BTreeSet};

use policert_numeric::Rational;

use crate::domain::Object;
use crate::task::GroundAtom;

/// Objects, initial state and goal.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// All objects: the constants of the domain, then its own.
    pub objects: Vec<Object>,
    /// The atoms that hold at first; no others do.
    pub initial: BTreeSet<GroundAtom>,
    /// Values of functions.
    pub values: BTreeMap<GroundAtom, Rational>,
    /// The atoms of the goal, with the truth that they are to have; all of them.
    pub goal: Vec<(GroundAtom, bool)>,
    /// True if some test of equality in the goal fails.
    pub is_goal_contradictory: bool,
}
