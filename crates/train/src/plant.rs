//! What is controlled: dynamics, where a run starts, where it is to lead and what it is to avoid.

/// Bounds of one variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlantSide {
    pub variable: usize,
    /// Its lower bound.
    pub lower: f64,
    /// Its upper bound.
    pub upper: f64,
}

impl PlantSide {
    /// The distance of its bounds.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The distance of a value of the variable from between the bounds.
    #[must_use]
    pub fn distance(&self, x: f64) -> f64 {
        (self.lower - x).max(x - self.upper).max(0.0)
    }
}

/// A closed box over some variables; the others are free.
#[derive(Clone, PartialEq, Debug)]
pub struct PlantRegion {
    sides: Vec<PlantSide>,
}

impl PlantRegion {
    /// The region with these bounds.
    #[must_use]
    pub fn new(sides: Vec<PlantSide>) -> Self {
        Self { sides }
    }

    /// Its bounds.
    #[must_use]
    pub fn sides(&self) -> &[PlantSide] {
        &self.sides
    }

    /// Returns whether a state lies in it.
    #[must_use]
    pub fn contains(&self, state: &[f64]) -> bool {
        self.sides.iter().all(|side| (side.lower..=side.upper).contains(&state[side.variable]))
    }

    /// Returns whether it has a state in common with another region.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.sides.iter().all(|side| {
            let mut same = other.sides.iter().filter(|other| other.variable == side.variable);
            same.all(|other| side.lower <= other.upper && other.lower <= side.upper)
        })
    }

    /// The region with this share of its widths added at either side, or taken off if negative.
    #[must_use]
    pub fn widened(&self, share: f64) -> Self {
        let widen = |side: &PlantSide| {
            let room = side.width() * share;
            PlantSide { lower: side.lower - room, upper: side.upper + room, ..*side }
        };
        Self { sides: self.sides.iter().map(widen).collect() }
    }
}

/// A plant under discrete control.
///
/// # Requires
/// All answers except the states of [`Plant::step`] stay the same; variables of regions are below
/// [`Plant::dimension`].
pub trait Plant {
    /// Number of state variables.
    fn dimension(&self) -> usize;

    /// Returns where a run starts: lower and upper bound of each variable.
    fn initial(&self) -> &[(f64, f64)];

    /// The range of each output of the network.
    fn action_ranges(&self) -> &[(f64, f64)];

    /// The last step of a run.
    fn horizon(&self) -> u32;

    /// Returns what a run is to reach at some step; without it, a run has to avoid only.
    fn goal(&self) -> Option<&PlantRegion>;

    /// Returns what it is to avoid up to that step.
    fn avoid(&self) -> Option<&PlantRegion>;

    /// The first step at which [`Plant::avoid`] counts.
    fn avoid_from_step(&self) -> u32 {
        0
    }

    /// Replaces a state by the next one under an action.
    ///
    /// # Ensures
    /// If there is no next state, one of its numbers is not finite.
    fn step(&mut self, state: &mut [f64], action: &[f64]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions() {
        let side = |variable, lower, upper| PlantSide { variable, lower, upper };
        let region = PlantRegion::new(vec![side(0, 0.0, 1.0), side(2, -1.0, 1.0)]);
        assert!(region.contains(&[1.0, 99.0, 0.0]));
        assert!(!region.contains(&[1.1, 0.0, 0.0]));
        let distance = |x: f64| region.sides()[0].distance(x);
        let distances: Vec<f64> = [4.0, 0.5, -2.0].into_iter().map(distance).collect();
        assert_eq!(distances, [3.0, 0.0, 2.0]);
        assert!(region.widened(0.1).contains(&[1.1, 0.0, 1.2]));
        assert!(!region.widened(-0.1).contains(&[0.95, 0.0, 0.0]));
        assert!(!region.contains(&[f64::NAN, 0.0, 0.0]));
    }
}
