//! Settings of training.

use policert_asnet::Architecture;

use crate::error::TrainError;

/// After so many rounds the squares of the steps are halved.
const ROUNDS_TO_SLOW: f64 = 10.0;

/// Settings of training. The defaults are those of POLIC3's Table 2, but for fewer and shorter rounds, and
/// for dropout and L1, which are off.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetConfig {
    /// The sizes of the network.
    pub architecture: Architecture,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// Most rounds.
    pub rounds: usize,
    /// Batches in each round.
    pub batches: usize,
    /// States in a batch.
    pub batch: usize,
    /// The length of steps of Adam at first; it falls with the root of the rounds.
    pub rate: f64,
    /// The factor of the squares of the weights in the loss, halved.
    pub weight_decay: f64,
    /// The factor of the magnitudes of the weights in the loss.
    pub l1: f64,
    /// The probability that an output of a module is left out in a step.
    pub dropout: f64,
    /// True if actions do as well as those of shortest ways where the network itself reaches the goal by them.
    pub any_way: bool,
    /// Most actions of a run.
    pub horizon: usize,
    /// Most states of a problem whose distances to the goal are all computed; in larger ones shortest ways
    /// are searched for.
    pub exact_states: usize,
}

impl AsnetConfig {
    /// The default settings for a network of these sizes.
    #[must_use]
    pub fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            seed: 1,
            rounds: 60,
            batches: 100,
            batch: 64,
            rate: 0.003,
            weight_decay: 2e-4,
            l1: 0.0,
            dropout: 0.0,
            any_way: false,
            horizon: 1000,
            exact_states: 400_000,
        }
    }

    /// The length of steps after so many rounds.
    pub(crate) fn rate_in(&self, round: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let rounds = round as f64;
        self.rate / (1.0 + rounds / ROUNDS_TO_SLOW).sqrt()
    }

    /// # Errors
    /// A setting that makes no sense.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let Self { rate, weight_decay, l1, dropout, .. } = *self;
        for (name, value, fits, range) in [
            ("the length of steps", rate, rate > 0.0, "above 0"),
            ("weight decay", weight_decay, weight_decay >= 0.0, "0 or more"),
            ("the factor of L1", l1, l1 >= 0.0, "0 or more"),
            (
                "the probability of dropout",
                dropout,
                (0.0..1.0).contains(&dropout),
                "from 0 to below 1",
            ),
        ] {
            if !fits || !value.is_finite() {
                return Err(TrainError::Setting(format!("{name} is {value}; it is {range}")));
            }
        }
        if self.batch == 0 || self.batches == 0 {
            return Err(TrainError::Setting("batches and their states are 1 at least".to_owned()));
        }
        Ok(())
    }
}
