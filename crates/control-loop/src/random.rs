//! Random bits for start states and disturbances that are tried.

/// The next bits of a generator (xorshift: Marsaglia, 2003), whose state is not 0.
pub fn next_bits(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
