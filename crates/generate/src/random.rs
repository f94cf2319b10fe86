//! Pseudo-random numbers from a seed, the same on every machine (SplitMix64).

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`; `low` if the range is empty.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let width = i128::from(high) - i128::from(low) + 1;
        if width <= 1 {
            return low;
        }
        let offset = (i128::from(self.next()) * width) >> 64;
        i64::try_from(i128::from(low) + offset).unwrap_or(low)
    }

    /// An index below `len`; 0 if `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        let high = i64::try_from(len).unwrap_or(i64::MAX).saturating_sub(1);
        usize::try_from(self.within(0, high)).unwrap_or(0)
    }

    /// Puts items in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within() {
        let mut random = Random::new(1);
        let drawn: Vec<i64> = (0..200).map(|_| random.within(-2, 2)).collect();
        assert!((-2..=2).all(|value| drawn.contains(&value)));
        assert!(drawn.iter().all(|value| (-2..=2).contains(value)));
        assert_eq!(random.within(3, 2), 3);
        assert_eq!(random.index(0), 0);
    }
}
