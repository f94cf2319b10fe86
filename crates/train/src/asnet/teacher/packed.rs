//! States in few words.

/// The truth of propositions in few words.
pub(crate) fn packed(state: &[bool]) -> Vec<u64> {
    let word = |bits: &[bool]| {
        bits.iter().enumerate().fold(0, |word, (i, &bit)| word | u64::from(bit) << i)
    };
    state.chunks(64).map(word).collect()
}

/// The truth of so many propositions again.
pub(crate) fn unpacked(words: &[u64], propositions: usize) -> Vec<bool> {
    (0..propositions).map(|bit| words[bit / 64] >> (bit % 64) & 1 == 1).collect()
}
