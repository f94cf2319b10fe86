//! A small generator of pseudo-random numbers, so that a case is reproducible by its number alone.

use std::io::Write as _;
use std::sync::OnceLock;

/// SplitMix64 (Steele, Lea and Flood 2014): the same seed gives the same numbers on every machine
/// and in every version.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        let scaled = (u128::from(self.bits()) * n as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// An integer from `lo` to `hi`, both included; `lo` if there is none.
    pub fn between(&mut self, lo: i64, hi: i64) -> i64 {
        let count = u64::try_from(i128::from(hi) - i128::from(lo)).unwrap_or(0).saturating_add(1);
        let offset = (u128::from(self.bits()) * u128::from(count)) >> 64;
        lo.saturating_add_unsigned(u64::try_from(offset).unwrap_or(0))
    }

    /// True with this chance in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of `items`.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the values, each as often as its weight says.
    ///
    /// # Panics
    /// If there is none.
    pub fn weighted<T: Copy>(&mut self, items: &[(usize, T)]) -> T {
        let mut at = self.below(items.iter().map(|(weight, _)| weight).sum());
        for &(weight, item) in items {
            if at < weight {
                return item;
            }
            at -= weight;
        }
        items[0].1
    }

    /// A generator of its own, so that one part of a case may change without the others.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self { state: self.bits() }
    }
}

/// Returns whether tests that take long run, too: if the environment variable `SLOW_TESTS` is 1.
#[must_use]
pub fn slow_tests() -> bool {
    std::env::var_os("SLOW_TESTS").is_some_and(|value| value == "1")
}

/// Numbers of cases for a test loop: `0..count`. In the [slow tier](slow_tests) they
/// are twenty times as many, and others each time: the first one is drawn and printed, or given by
/// the variable `POLICERT_SEED`.
#[must_use]
pub fn case_numbers(count: u64) -> std::ops::Range<u64> {
    match first_slow_number() {
        None => 0..count,
        Some(first) => first..first.saturating_add(count.saturating_mul(20)),
    }
}

/// The first number of the slow tier, the same for all tests of a process; `None` without it.
fn first_slow_number() -> Option<u64> {
    static FIRST: OnceLock<Option<u64>> = OnceLock::new();
    *FIRST.get_or_init(|| {
        if !slow_tests() {
            return None;
        }
        let given = std::env::var("POLICERT_SEED").ok();
        let first = given.and_then(|text| text.parse().ok()).unwrap_or_else(drawn);
        let mut out = std::io::stderr();
        let _ = writeln!(out, "cases from number {first} on; POLICERT_SEED={first} repeats them");
        Some(first)
    })
}

/// A number that differs from run to run.
fn drawn() -> u64 {
    let time = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
    let seed = u64::try_from(time % u128::from(u64::MAX)).unwrap_or(0);
    // Short enough to be typed, and far from the numbers of the quick tier.
    1_000_000 + (Random::new(seed ^ u64::from(std::process::id())).bits() >> 32)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        // The first outputs for seed 1234567 that the reference implementation gives.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn ranges_are_met_and_kept() {
        let mut random = Random::new(0);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            let value = random.between(-2, 2);
            assert!((-2..=2).contains(&value));
            seen[usize::try_from(value + 2).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
        assert_eq!(random.between(i64::MAX, i64::MAX), i64::MAX);
        assert!(random.between(i64::MIN, i64::MAX) != random.between(i64::MIN, i64::MAX));
    }
}
