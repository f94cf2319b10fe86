//! Packed states: each variable takes as many bits as its domain needs.

use policert_numeric::IntBox;

/// Says where a variable stands in a packed state.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    /// The bits of the value, not shifted.
    mask: u64,
    /// The value that is stored as 0.
    base: i64,
}

/// The bits of a packed state that hold a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) word: usize,
    /// Its bits in that word.
    pub(crate) mask: u64,
}

/// The layout of packed states: no variable straddles two words; one without bound on some side
/// takes a word of its own.
#[derive(Clone, Debug)]
pub(crate) struct StatePacking {
    fields: Vec<Field>,
    words: usize,
}

impl StatePacking {
    /// The layout for states in `domains`.
    pub(crate) fn new(domains: &IntBox) -> Self {
        let mut fields: Vec<Field> = domains
            .sides()
            .iter()
            .map(|side| {
                let (mask, base) = if side.is_bounded() {
                    let span = if side.is_empty() { 0 } else { side.lo.abs_diff(side.hi) };
                    (u64::MAX.checked_shr(span.leading_zeros()).unwrap_or(0), side.lo)
                } else {
                    (u64::MAX, 0)
                };
                Field { word: 0, shift: 0, mask, base }
            })
            .collect();
        // First fit, the widest first.
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|&i| fields[i].mask.leading_zeros());
        let mut used: Vec<u32> = vec![0];
        for i in order {
            let width = fields[i].mask.count_ones();
            let word = used.iter().position(|&bits| bits + width <= u64::BITS);
            let word = word.unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            // A shift by 64 is none: such a field has no bits.
            fields[i].shift = used[word] % u64::BITS;
            fields[i].word = word;
            used[word] += width;
        }
        Self { fields, words: used.len() }
    }

    /// Number of words of a packed state; at least one.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Number of variables of a state.
    pub(crate) fn variables(&self) -> usize {
        self.fields.len()
    }

    /// Where those variables stand that have bounds, and more values than one.
    pub(crate) fn bounded_places(&self) -> impl Iterator<Item = Place> {
        let fields = self.fields.iter().filter(|field| field.mask != 0 && field.mask != u64::MAX);
        fields.map(|field| Place { word: field.word, mask: field.mask << field.shift })
    }

    /// The variables that have more values than one, mostly those with few values before those with many: packed states
    /// compare, from the last word to the first, as the values of these variables do.
    pub(crate) fn narrowest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        order.retain(|&variable| self.fields[variable].mask != 0);
        order.sort_by_key(|&variable| {
            let field = &self.fields[variable];
            std::cmp::Reverse((field.word, field.shift))
        });
        order
    }

    /// Writes a state, whose values lie in their domains.
    pub(crate) fn pack(&self, state: &[i64], packed: &mut [u64]) {
        packed.fill(0);
        for (field, &value) in self.fields.iter().zip(state) {
            packed[field.word] |= field.bits(value) << field.shift;
        }
    }

    /// Writes one value, which lies in its domain.
    #[inline]
    pub(crate) fn set(&self, packed: &mut [u64], variable: usize, value: i64) {
        let field = &self.fields[variable];
        let word = &mut packed[field.word];
        *word = *word & !(field.mask << field.shift) | field.bits(value) << field.shift;
    }

    /// Reads all values.
    #[inline]
    pub(crate) fn unpack(&self, packed: &[u64], state: &mut [i64]) {
        for (field, value) in self.fields.iter().zip(state) {
            let bits = packed[field.word] >> field.shift & field.mask;
            *value = field.base.wrapping_add(bits.cast_signed());
        }
    }
}

impl Field {
    #[inline]
    fn bits(&self, value: i64) -> u64 {
        debug_assert!(value.wrapping_sub(self.base).cast_unsigned() <= self.mask);
        value.wrapping_sub(self.base).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::IntInterval;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_shared() {
        let sides = |count, hi| IntBox::new(vec![IntInterval::new(0, hi); count]);
        assert_eq!(StatePacking::new(&sides(16, 15)).words(), 1);
        assert_eq!(StatePacking::new(&sides(17, 15)).words(), 2);
        assert_eq!(StatePacking::new(&sides(9, 127)).words(), 1);
        assert_eq!(StatePacking::new(&sides(0, 0)).words(), 1);
        // fields without bits still fit behind a full word
        let mut full = vec![IntInterval::ALL];
        full.extend(vec![IntInterval::point(7); 3]);
        assert_eq!(StatePacking::new(&IntBox::new(full)).words(), 1);
    }

    #[test]
    fn packed_states_compare_from_the_last_word_on() {
        let sides =
            [300, 1, 70_000, 0, 9, 70_000, 300, 70_000].map(|hi| IntInterval::new(-1, hi - 1));
        let packing = StatePacking::new(&IntBox::new(sides.to_vec()));
        assert_eq!(packing.words(), 2);
        let order = packing.narrowest_first();
        assert_eq!(order, [1, 6, 4, 0, 7, 5, 2]);
        let state = |seed: i64| -> Vec<i64> {
            (3..).zip(&sides).map(|(d, side)| -1 + (seed * d * 7919) % (side.hi + 2)).collect()
        };
        let packed = |state: &[i64]| {
            let mut words = vec![0; 2];
            packing.pack(state, &mut words);
            words.reverse();
            words
        };
        let values = |state: &[i64]| order.iter().map(|&d| state[d]).collect::<Vec<_>>();
        for (a, b) in (0..200).map(|seed| (state(seed), state(3 * seed + 1))) {
            assert_eq!(packed(&a).cmp(&packed(&b)), values(&a).cmp(&values(&b)), "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn values_come_back(
            variables in prop::collection::vec(
                (any::<i64>(), 0u32..64, any::<u64>(), any::<u64>(), 0u8..8), 0..12),
        ) {
            let mut sides = Vec::new();
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for (lo, bits, a, b, unbounded) in variables {
                let span = (1u64 << bits) - 1;
                let hi = lo.saturating_add_unsigned(span);
                let side = if unbounded == 0 { IntInterval::ALL } else { IntInterval::new(lo, hi) };
                let span = lo.abs_diff(hi);
                let within = |v: u64| lo.saturating_add_unsigned(if span == u64::MAX { v } else { v % (span + 1) });
                sides.push(side);
                first.push(within(a));
                second.push(within(b));
            }
            let packing = StatePacking::new(&IntBox::new(sides));
            let mut packed = vec![0; packing.words()];
            let mut state = vec![0; first.len()];
            packing.pack(&first, &mut packed);
            packing.unpack(&packed, &mut state);
            prop_assert_eq!(&state, &first);
            for (v, &value) in second.iter().enumerate() {
                packing.set(&mut packed, v, value);
            }
            packing.unpack(&packed, &mut state);
            prop_assert_eq!(&state, &second);
        }
    }
}
