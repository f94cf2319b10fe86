//! Which outputs are applicable, as bits: one row for each state.

/// Rows of bits.
#[derive(Clone, Debug)]
pub(crate) struct Masks {
    outputs: usize,
    bits: Vec<u64>,
}

impl Masks {
    pub(crate) fn new(outputs: usize) -> Self {
        Self { outputs, bits: Vec::new() }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of words of a row.
    pub(crate) fn row_words(&self) -> usize {
        self.outputs.div_ceil(64)
    }

    /// All words.
    pub(crate) fn words(&mut self) -> &mut Vec<u64> {
        &mut self.bits
    }

    /// Sets a row; rows up to it come into being.
    pub(crate) fn set(&mut self, row: usize, mask: &[bool]) {
        let words = self.row_words();
        if self.bits.len() < (row + 1) * words {
            self.bits.resize((row + 1) * words, 0);
        }
        let bits = &mut self.bits[row * words..][..words];
        for (word, outputs) in bits.iter_mut().zip(mask.chunks(64)) {
            *word = outputs.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
        }
    }

    #[inline]
    pub(crate) fn get(&self, row: usize, output: usize) -> bool {
        self.bits[row * self.row_words() + output / 64] >> (output % 64) & 1 != 0
    }
}
