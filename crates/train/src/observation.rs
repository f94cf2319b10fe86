//! What the network sees of a state.

use crate::error::TrainError;

/// Says what the network reads.
#[derive(Clone, PartialEq, Debug)]
pub enum Observation {
    /// The state itself.
    State,
    /// The cell that contains the state: all lower bounds, then all upper bounds.
    Cell(Cells),
}

impl Observation {
    /// Number of inputs of the network.
    #[must_use]
    pub fn width(&self, dimension: usize) -> usize {
        match self {
            Self::State => dimension,
            Self::Cell(_) => 2 * dimension,
        }
    }

    /// Appends what the network reads in a state.
    pub fn append(&self, state: &[f64], inputs: &mut Vec<f64>) {
        match self {
            Self::State => inputs.extend_from_slice(state),
            Self::Cell(cells) => {
                let begin = inputs.len();
                inputs.resize(begin + 2 * state.len(), 0.0);
                for (i, (&x, edges)) in state.iter().zip(&cells.edges).enumerate() {
                    let k = edges.partition_point(|&edge| edge <= x).clamp(1, edges.len() - 1);
                    inputs[begin + i] = nearest_single(edges[k - 1]);
                    inputs[begin + state.len() + i] = nearest_single(edges[k]);
                }
            }
        }
    }
}

/// Networks with weights in single precision get bounds of cells in it, too.
fn nearest_single(x: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    let single = x as f32;
    f64::from(single)
}

/// The state space divided into cells along each variable. A state beyond the outermost cells is
/// seen as in the nearest one.
#[derive(Clone, PartialEq, Debug)]
pub struct Cells {
    edges: Vec<Vec<f64>>,
}

impl Cells {
    /// The cells between edges, for each variable in increasing order.
    ///
    /// # Errors
    /// If a variable has no cell, or its edges are not in order.
    pub fn new(edges: Vec<Vec<f64>>) -> Result<Self, TrainError> {
        for (variable, edges) in edges.iter().enumerate() {
            if edges.len() < 2 || !edges.windows(2).all(|pair| pair[0] < pair[1]) {
                let what = format!("variable {variable} needs edges of cells in increasing order");
                return Err(TrainError::Config(what));
            }
        }
        Ok(Self { edges })
    }

    /// Number of variables.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.edges.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_bounds_come_first() {
        let cells = Cells::new(vec![vec![0.0, 0.5, 1.0], vec![-2.0, 0.0, 2.0]]).expect("ordered");
        let observation = Observation::Cell(cells);
        let mut inputs = Vec::new();
        observation.append(&[0.5, -1.0], &mut inputs);
        assert_eq!(inputs, [0.5, -2.0, 1.0, 0.0]);
        inputs.clear();
        observation.append(&[7.0, 0.0], &mut inputs);
        assert_eq!(inputs, [0.5, 0.0, 1.0, 2.0]);
        inputs.clear();
        observation.append(&[-7.0, 2.0], &mut inputs);
        assert_eq!(inputs, [0.0, 0.0, 0.5, 2.0]);
        assert!(Cells::new(vec![vec![1.0, 1.0]]).is_err());
        assert!(Cells::new(vec![vec![f64::NAN, 1.0]]).is_err());
    }
}
