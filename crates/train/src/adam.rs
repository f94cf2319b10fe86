//! Adam (Kingma and Ba 2015): gradient descent with a step length for each parameter.

/// Decay of the mean of gradients.
const MEAN_DECAY: f64 = 0.9;
/// Decay of the mean of their squares.
const SQUARE_DECAY: f64 = 0.999;
/// Keeps steps finite.
const EPSILON: f64 = 1e-8;

/// The state of one minimisation.
#[derive(Clone, Debug)]
pub struct Adam {
    rate: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
    mean_power: f64,
    square_power: f64,
}

impl Adam {
    /// Starts for a number of parameters.
    #[must_use]
    pub fn new(parameters: usize, rate: f64) -> Self {
        let zeros = vec![0.0; parameters];
        Self { rate, means: zeros.clone(), squares: zeros, mean_power: 1.0, square_power: 1.0 }
    }

    /// Sets the length of steps.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// Reads or writes its state: all but the length of steps.
    pub(crate) fn visit(&mut self, visit: &mut impl FnMut(&mut [f64])) {
        visit(&mut self.means);
        visit(&mut self.squares);
        visit(std::slice::from_mut(&mut self.mean_power));
        visit(std::slice::from_mut(&mut self.square_power));
    }

    /// One step against the gradient.
    pub fn descend(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        self.mean_power *= MEAN_DECAY;
        self.square_power *= SQUARE_DECAY;
        let rate = self.rate / (1.0 - self.mean_power);
        let square_factor = 1.0 / (1.0 - self.square_power);
        let moments = self.means.iter_mut().zip(&mut self.squares);
        for ((parameter, &slope), (mean, square)) in
            parameters.iter_mut().zip(gradient).zip(moments)
        {
            *mean += (1.0 - MEAN_DECAY) * (slope - *mean);
            *square += (1.0 - SQUARE_DECAY) * (slope * slope - *square);
            *parameter -= rate * *mean / ((*square * square_factor).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_parabola() {
        let mut adam = Adam::new(2, 0.05);
        let mut x = [3.0, -2.0];
        for _ in 0..2000 {
            let gradient = [2.0 * (x[0] - 1.0), 20.0 * (x[1] + 0.5)];
            adam.descend(&mut x, &gradient);
        }
        assert!((x[0] - 1.0).abs() < 1e-3 && (x[1] + 0.5).abs() < 1e-3, "{x:?}");
    }
}
