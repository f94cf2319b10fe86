//! The inner loops of a layer, for a batch: sums stay in registers, and the loops are compiled for the
//! processor at hand (`pulp` dispatches). Terms are added in the order of inputs or rows, products are
//! rounded on their own: every processor gives the same bits.

use pulp::{Arch, NullaryFnOnce};

/// Columns that are worked on at a time.
const WIDE: usize = 16;

/// `sums` (rows × outputs) becomes `biases` + `inputs` (rows × inputs) · `weights` (inputs × outputs).
/// Without biases they are 0.
pub(crate) struct Affine<'a> {
    pub inputs: &'a [f64],
    pub weights: &'a [f64],
    pub biases: Option<&'a [f64]>,
    /// Numbers of inputs and outputs.
    pub widths: (usize, usize),
    pub sums: &'a mut [f64],
}

impl Affine<'_> {
    pub(crate) fn run(self) {
        let (width, count) = self.widths;
        match self.biases {
            Some(biases) => {
                self.sums.chunks_exact_mut(count.max(1)).for_each(|s| s.copy_from_slice(biases))
            }
            None => self.sums.fill(0.0),
        }
        Product {
            factors: self.inputs,
            steps: Steps { row: width, term: 1 },
            terms: self.weights,
            count,
            sums: self.sums,
        }
        .run();
    }
}

/// Adds to `gradient` (inputs × outputs) the products of `inputs` (rows × inputs) and `by_sums` (rows ×
/// outputs), summed over rows.
pub(crate) struct ByWeights<'a> {
    pub inputs: &'a [f64],
    pub by_sums: &'a [f64],
    /// Numbers of inputs and outputs.
    pub widths: (usize, usize),
    pub gradient: &'a mut [f64],
}

impl ByWeights<'_> {
    pub(crate) fn run(self) {
        let (width, count) = self.widths;
        Product {
            factors: self.inputs,
            steps: Steps { row: 1, term: width },
            terms: self.by_sums,
            count,
            sums: self.gradient,
        }
        .run();
    }
}

/// Adds to `sums` (rows × columns) the products of `factors` (rows × terms) and `terms` (terms × columns).
struct Product<'a> {
    factors: &'a [f64],
    /// How the factors lie.
    steps: Steps,
    terms: &'a [f64],
    /// Number of columns.
    count: usize,
    sums: &'a mut [f64],
}

/// How far factors are from those of the next row, and from those of the next term.
struct Steps {
    row: usize,
    term: usize,
}

impl Product<'_> {
    fn run(self) {
        if self.count > 0 && self.steps.row > 0 && self.steps.term > 0 {
            Arch::new().dispatch(self);
        }
    }

    #[inline(always)]
    fn columns<const WIDTH: usize>(&mut self, from: usize) -> usize {
        let mut at = from;
        while at + WIDTH <= self.count {
            for (row, sums) in self.sums.chunks_exact_mut(self.count).enumerate() {
                let sums = &mut sums[at..at + WIDTH];
                let mut block = [0.0; WIDTH];
                block.copy_from_slice(sums);
                let factors = self.factors.get(row * self.steps.row..).unwrap_or_default();
                let factors = factors.iter().step_by(self.steps.term);
                for (&factor, terms) in factors.zip(self.terms.chunks_exact(self.count)) {
                    add_multiple(&mut block, factor, &terms[at..at + WIDTH]);
                }
                sums.copy_from_slice(&block);
            }
            at += WIDTH;
        }
        at
    }
}

impl NullaryFnOnce for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let at = self.columns::<WIDE>(0);
        let at = self.columns::<4>(at);
        self.columns::<1>(at);
    }
}

#[inline(always)]
fn add_multiple<const WIDTH: usize>(sums: &mut [f64; WIDTH], factor: f64, terms: &[f64]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += factor * term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, whose sums are exact.
    fn numbers(count: usize, step: usize) -> Vec<f64> {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let number = |k: usize| (k * step % 17) as f64 - 8.0;
        (0..count).map(number).collect()
    }

    #[test]
    fn blocks_give_the_plain_sums() {
        for (rows, width, count) in [(1, 1, 1), (3, 5, 16), (4, 7, 21), (2, 3, 39), (5, 16, 4)] {
            let (inputs, weights) = (numbers(rows * width, 5), numbers(width * count, 7));
            let biases = numbers(count, 3);
            let mut sums = vec![0.0; rows * count];
            let widths = (width, count);
            let (inputs, weights) = (&inputs[..], &weights[..]);
            Affine { inputs, weights, biases: Some(&biases), widths, sums: &mut sums }.run();
            let mut gradient = weights.to_vec();
            ByWeights { inputs, by_sums: &sums, widths, gradient: &mut gradient }.run();
            for r in 0..rows {
                for j in 0..count {
                    let products =
                        (0..width).map(|i| inputs[r * width + i] * weights[i * count + j]);
                    let sum: f64 = biases[j] + products.sum::<f64>();
                    assert!((sums[r * count + j] - sum).abs() < 1e-9);
                }
            }
            for i in 0..width {
                for j in 0..count {
                    let products = (0..rows).map(|r| inputs[r * width + i] * sums[r * count + j]);
                    let sum: f64 = weights[i * count + j] + products.sum::<f64>();
                    assert!((gradient[i * count + j] - sum).abs() < 1e-9);
                }
            }
        }
    }
}
