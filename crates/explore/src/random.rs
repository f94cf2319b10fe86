//! Pseudo-random numbers: the same seed gives the same numbers in every run.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The seed of a generator that goes on from here.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A generator with numbers of its own.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        let scaled = (u128::from(self.bits()) * n as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let numerator = (self.bits() >> 11) as f64;
        numerator * (0.5f64).powi(53)
    }

    /// Uniform in [lo, hi).
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_as_they_should() {
        let mut random = Random::new(7);
        let count = 100_000;
        let (mut sum, mut squares, mut units) = (0.0, 0.0, 0.0);
        for _ in 0..count {
            let x = random.normal();
            sum += x;
            squares += x * x;
            let unit = random.unit();
            assert!((0.0..1.0).contains(&unit));
            units += unit;
        }
        let count = f64::from(count);
        assert!((sum / count).abs() < 0.02);
        assert!((squares / count - 1.0).abs() < 0.02);
        assert!((units / count - 0.5).abs() < 0.01);
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
