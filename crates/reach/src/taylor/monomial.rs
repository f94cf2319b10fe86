//! Monomials: products of powers of symbols and of time, in one number.
//!
//! A symbol is a number between −1 and 1, time one between 0 and 1. The exponents of the first symbols have
//! four bits each, those of the others one: their squares are no monomials. So has the exponent of time,
//! and the sum of those of all symbols, four bits. Products add the numbers up; no exponent of a product reaches 16,
//! since those of the monomials that are kept are at most 7.

/// The number of symbols that there are.
pub(super) const SYMBOLS: usize = POWERS + (TIME - 4 * POWERS);

/// The number of symbols that may have powers.
const POWERS: usize = 10;
const TIME: usize = 120;
const DEGREE: usize = TIME + 4;
/// The exponents of symbols without powers.
const SINGLE: u128 = (1 << TIME) - (1 << (4 * POWERS));
/// The lowest bit of every symbol's exponent.
const ODD: u128 = SINGLE | 0x0011_1111_1111;

/// A monomial. They are ordered by degree first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Monomial(u128);

impl std::hash::Hash for Monomial {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        #[expect(clippy::cast_possible_truncation, reason = "the other half follows")]
        let low = self.0 as u64;
        let high = (self.0 >> 64) as u64;
        // Exponents stand in high places of both halves; the table looks at all places.
        let mixed =
            low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        state.write_u64(mixed ^ (mixed >> 32));
    }
}

impl Monomial {
    /// The empty product.
    pub(super) const ONE: Self = Self(0);
    /// Time.
    pub(super) const TIME: Self = Self(1 << TIME);

    /// A symbol.
    pub(super) fn symbol(i: usize) -> Self {
        Self(1 << place(i) | 1 << DEGREE)
    }

    /// The product; `None` if a symbol without powers is a factor of both.
    #[inline]
    pub(super) fn times(self, other: Self) -> Option<Self> {
        (self.0 & other.0 & SINGLE == 0).then_some(Self(self.0.wrapping_add(other.0)))
    }

    /// A monomial of all symbols of two.
    pub(super) fn joined(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The product with time.
    pub(super) fn times_time(self) -> Self {
        Self(self.0 + Self::TIME.0)
    }

    /// The sum of the exponents of all symbols.
    #[inline]
    pub(super) fn degree(self) -> u32 {
        self.bits(DEGREE)
    }

    /// The exponent of time.
    #[inline]
    pub(super) fn time(self) -> u32 {
        self.bits(TIME)
    }

    #[inline]
    fn bits(self, at: usize) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "four bits")]
        let exponent = (self.0 >> at) as u32 & 15;
        exponent
    }

    /// The monomial with time 1.
    pub(super) fn without_time(self) -> Self {
        Self(self.0 & !(15 << TIME))
    }

    /// The monomial divided by time, which is one of its factors.
    pub(super) fn over_time(self) -> Self {
        Self(self.0 - Self::TIME.0)
    }

    /// Returns whether a symbol is one of its factors.
    #[inline]
    pub(super) fn has(self, symbol: usize) -> bool {
        self.exponent(symbol) > 0
    }

    /// The exponent of a symbol.
    #[inline]
    pub(super) fn exponent(self, symbol: usize) -> u32 {
        let bits = self.bits(place(symbol));
        if symbol < POWERS { bits } else { bits & 1 }
    }

    /// Returns whether it is a symbol itself.
    pub(super) fn is_symbol(self) -> bool {
        self.degree() == 1 && self.time() == 0
    }

    /// Returns whether the squares of a symbol are monomials.
    pub(super) fn has_powers(symbol: usize) -> bool {
        symbol < POWERS
    }

    /// Of a monomial of degree two at most, its symbols, the lower one first; `None` where there is none.
    pub(super) fn pair(self) -> Option<(usize, Option<usize>)> {
        let symbols = self.0 & ((1 << TIME) - 1);
        let last = symbols.checked_ilog2()?;
        let low = symbol_at(symbols.trailing_zeros() as usize);
        let high = (self.degree() > 1).then(|| symbol_at(last as usize));
        Some((low, high))
    }

    /// Returns whether it is never negative.
    #[inline]
    pub(super) fn is_even(self) -> bool {
        self.0 & ODD == 0
    }
}

/// The symbol to whose exponent a bit belongs.
fn symbol_at(bit: usize) -> usize {
    if bit < 4 * POWERS { bit / 4 } else { bit - 4 * POWERS + POWERS }
}

/// Where the exponent of a symbol begins.
#[inline]
fn place(symbol: usize) -> usize {
    if symbol < POWERS { 4 * symbol } else { 4 * POWERS + (symbol - POWERS) }
}
