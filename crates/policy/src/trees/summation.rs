//! How a library adds up the leaves of an ensemble, and what it makes of the sums before it compares
//! them.

use super::rule::Precision;

/// The arithmetic of a library, for the scores of one ensemble.
#[derive(Clone, PartialEq, Debug)]
pub struct Summation {
    /// The precision of the sums.
    pub precision: Precision,
    /// The number of times that the library rounds a leaf's value before it adds it, beyond the rounding to
    /// the precision of the sums.
    pub roundings: u32,
    /// By output: a bound of what else the library's sum may be away from that of the file.
    pub offsets: Vec<f64>,
    /// The number that sums are divided by, 1 if they are not.
    pub divisor: usize,
    /// The function of the sums that is compared.
    pub link: Link,
}

/// What a library makes of the sums before it compares them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Link {
    /// The sums themselves are compared.
    Identity,
    /// Their softmax.
    Softmax,
    /// Of two classes, the logistic function of this multiple of the second one's sum is compared with ½.
    Logistic(f64),
}

impl Summation {
    /// Sums of so many outputs in this precision that are compared as they are.
    #[must_use]
    pub fn plain(precision: Precision, outputs: usize) -> Self {
        let offsets = vec![0.0; outputs];
        Self { precision, roundings: 0, offsets, divisor: 1, link: Link::Identity }
    }

    /// The same sums, as those of two classes of which the first has the score 0.
    pub(crate) fn of_two_classes(mut self) -> Self {
        self.offsets.insert(0, 0.0);
        self
    }
}
