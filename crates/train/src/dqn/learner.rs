//! The network of values and its target, and the step of learning (Mnih et al. 2015).
//!
//! Deviations from the publication: Adam instead of RMSProp; the Huber loss, which is what clipping
//! the error term amounts to; without mask, every label that is not applicable in a sampled state is
//! pushed below the best one that is, by a margin (as Hester et al. 2018, section 4, do with labels
//! that a demonstrator does not choose).

use policert_explore::Random;

use super::config::DqnConfig;
use super::experience::Experience;
use crate::adam::Adam;
use crate::perceptron::{BatchTrace, LayerActivation, Perceptron};

/// Errors beyond this count linearly.
const HUBER: f64 = 1.0;
/// The distance by which labels that are not applicable are to be below the best one that is.
const MARGIN: f64 = 0.2;

/// Holds what is learnt.
#[derive(Clone, Debug)]
pub(crate) struct Learner {
    pub online: Perceptron,
    pub target: Perceptron,
    pub adam: Adam,
    /// Mean and deviation of each input.
    pub scaling: Vec<(f64, f64)>,
    pub updates: u64,
    batch: Batch,
}

/// Buffers of a step.
#[derive(Clone, Debug, Default)]
struct Batch {
    rows: Vec<usize>,
    before: Vec<f64>,
    after: Vec<f64>,
    next_choices: Vec<Option<usize>>,
    targets: Vec<f64>,
    by_outputs: Vec<f64>,
    gradient: Vec<f64>,
    trace: BatchTrace,
}

impl Learner {
    pub(crate) fn new(
        inputs: usize,
        outputs: usize,
        config: &DqnConfig,
        random: &mut Random,
    ) -> Self {
        let mut widths = vec![inputs];
        widths.extend(&config.hidden);
        widths.push(outputs);
        let identity = LayerActivation::Identity;
        let online = Perceptron::random(&widths, LayerActivation::Relu, identity, 0.01, random);
        let adam = Adam::new(online.len(), config.rate);
        let target = online.clone();
        let scaling = vec![(0.0, 1.0); inputs];
        Self { online, target, adam, scaling, updates: 0, batch: Batch::default() }
    }

    /// Sets the scaling of inputs by what was seen; `widths` are those of the domains, which bound
    /// the deviations from below.
    pub(crate) fn set_scaling(&mut self, experience: &Experience, widths: &[f64]) {
        #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
        let count = experience.len().max(1) as f64;
        for (i, (scaling, width)) in self.scaling.iter_mut().zip(widths).enumerate() {
            let values = || (0..experience.len()).map(|at| f64::from(experience.states(at).0[i]));
            let mean = values().sum::<f64>() / count;
            let variance = values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            let least = if width.is_finite() { width / 16.0 } else { 0.0 };
            let deviation = variance.sqrt().max(least);
            *scaling = (mean, if deviation > 1e-6 { deviation } else { 1.0 });
        }
    }

    /// The values of the outputs for one state, as the environment gives it.
    pub(crate) fn values(&mut self, state: &[f64]) -> &[f64] {
        let scaled = &mut self.batch.before;
        scaled.clear();
        let pairs = state.iter().zip(&self.scaling);
        scaled.extend(pairs.map(|(x, (mean, deviation))| (x - mean) / deviation));
        self.online.forward(scaled, &mut self.batch.trace)
    }

    /// One step of learning on a random batch.
    pub(crate) fn learn(
        &mut self,
        experience: &Experience,
        config: &DqnConfig,
        random: &mut Random,
    ) {
        self.draw(experience, config.batch, random);
        self.find_targets(experience, config);
        let Self { online, adam, batch, .. } = self;
        let values = online.forward(&batch.before, &mut batch.trace);
        let outputs = values.len() / batch.rows.len().max(1);
        batch.by_outputs.clear();
        batch.by_outputs.resize(values.len(), 0.0);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let share = 1.0 / batch.rows.len() as f64;
        let slope = |value: f64, target: f64| (value - target).clamp(-HUBER, HUBER) * share;
        let rows = values.chunks_exact(outputs).zip(batch.by_outputs.chunks_exact_mut(outputs));
        for ((&at, &target), (values, slopes)) in batch.rows.iter().zip(&batch.targets).zip(rows) {
            let chosen = experience.outcome(at).output as usize;
            let top = best(values, |k| experience.applicable(at, k)).map_or(0.0, |k| values[k]);
            for (k, (value, to)) in values.iter().zip(slopes).enumerate() {
                if k == chosen {
                    *to = slope(*value, target);
                } else if !config.mask && !experience.applicable(at, k) {
                    *to = slope(*value, top - MARGIN).max(0.0);
                }
            }
        }
        batch.gradient.clear();
        batch.gradient.resize(online.len(), 0.0);
        online.learn_backward(&mut batch.trace, &batch.by_outputs, &mut batch.gradient);
        adam.descend(&mut online.parameters, &batch.gradient);
        self.updates += 1;
        if self.updates.is_multiple_of(config.target_every) {
            self.target.parameters.copy_from_slice(&self.online.parameters);
        }
    }

    fn draw(&mut self, experience: &Experience, size: usize, random: &mut Random) {
        let Batch { rows, before, after, .. } = &mut self.batch;
        rows.clear();
        before.clear();
        after.clear();
        for _ in 0..size {
            let at = random.below(experience.len());
            rows.push(at);
            let (first, second) = experience.states(at);
            for (row, to) in [(first, &mut *before), (second, &mut *after)] {
                let pairs = row.iter().zip(&self.scaling);
                to.extend(pairs.map(|(&x, (mean, deviation))| (f64::from(x) - mean) / deviation));
            }
        }
    }

    /// The value of a step is its reward and the weighted value of the state after it, by the
    /// target network.
    fn find_targets(&mut self, experience: &Experience, config: &DqnConfig) {
        let Self { online, target, batch, .. } = self;
        let Batch { rows, after, next_choices, targets, trace, .. } = batch;
        let chooser = if config.double { &*online } else { &*target };
        let values = chooser.forward(after, trace);
        let outputs = values.len() / rows.len().max(1);
        next_choices.clear();
        next_choices.extend(
            rows.iter()
                .zip(values.chunks_exact(outputs))
                .map(|(&at, values)| best(values, |k| experience.applicable_next(at, k))),
        );
        let values = if config.double { target.forward(after, trace) } else { values };
        targets.clear();
        let rows = rows.iter().zip(values.chunks_exact(outputs)).zip(next_choices);
        targets.extend(rows.map(|((&at, values), choice)| {
            let outcome = experience.outcome(at);
            outcome.reward + outcome.weight * choice.map_or(0.0, |k| values[k])
        }));
    }
}

/// The first greatest value among those of outputs that may be chosen.
pub(crate) fn best(values: &[f64], may: impl Fn(usize) -> bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (k, &value) in values.iter().enumerate() {
        if may(k) && best.is_none_or(|b| value > values[b]) {
            best = Some(k);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn the_first_of_the_best_is_chosen() {
        assert_eq!(best(&[0.0, 2.0, 2.0], |_| true), Some(1));
        assert_eq!(best(&[0.0, 2.0, 1.0], |k| k != 1), Some(2));
        assert_eq!(best(&[0.0], |_| false), None);
    }
}
