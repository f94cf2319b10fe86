//! Inner loops compiled for the processor at hand, in safe code (`pulp` dispatches).

use pulp::{Arch, Simd, WithSimd};

use crate::program::{LANES, Lanes};

/// A loop over blocks of [`LANES`] numbers, each of them `N` vectors.
pub(crate) trait Kernel {
    /// Runs it; must be `inline(always)`.
    fn run<S: Simd, const N: usize>(self, simd: S);
}

struct Compiled<K>(K);

impl<K: Kernel> WithSimd for Compiled<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number of vectors is known when this is compiled for a kind of vector.
        match LANES / S::F64_LANES {
            1 => self.0.run::<S, 1>(simd),
            2 => self.0.run::<S, 2>(simd),
            4 => self.0.run::<S, 4>(simd),
            _ => self.0.run::<S, LANES>(simd),
        }
    }
}

/// Runs a loop with the widest instructions of the processor.
#[inline]
pub(crate) fn run<K: Kernel>(arch: Arch, kernel: K) {
    arch.dispatch(Compiled(kernel));
}

/// Blocks as vectors.
#[inline(always)]
pub(crate) fn vectors<S: Simd>(blocks: &[Lanes]) -> &[S::f64s] {
    S::as_simd_f64s(blocks.as_flattened()).0
}

/// Blocks as vectors, to change.
#[inline(always)]
pub(crate) fn vectors_mut<S: Simd>(blocks: &mut [Lanes]) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(blocks.as_flattened_mut()).0
}

/// One block as vectors.
#[inline(always)]
pub(crate) fn load<S: Simd, const N: usize>(simd: S, block: &Lanes) -> [S::f64s; N] {
    let mut vectors = [simd.splat_f64s(0.0); N];
    for (vector, part) in vectors.iter_mut().zip(S::as_simd_f64s(block).0) {
        *vector = *part;
    }
    vectors
}

/// Writes a block.
#[inline(always)]
pub(crate) fn store<S: Simd, const N: usize>(block: &mut Lanes, vectors: [S::f64s; N]) {
    for (part, vector) in S::as_mut_simd_f64s(block).0.iter_mut().zip(vectors) {
        *part = vector;
    }
}

/// |a|; a NaN stays a NaN.
#[inline(always)]
pub(crate) fn magnitude<S: Simd>(simd: S, a: S::f64s) -> S::f64s {
    simd.max_f64s(a, simd.sub_f64s(simd.splat_f64s(0.0), a))
}
