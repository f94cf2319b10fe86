//! Inner loops compiled for the processor at hand, in safe code (`pulp` dispatches).

use pulp::{Arch, Simd, WithSimd};

/// A loop that can run with fused multiply-adds or without.
pub(crate) trait Kernel {
    /// Runs it; must be `inline(always)`.
    fn run<const FUSED: bool>(self);
}

struct Compiled<K, const FUSED: bool>(K);

impl<K: Kernel, const FUSED: bool> WithSimd for Compiled<K, FUSED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.run::<FUSED>();
    }
}

/// Runs a loop with the widest instructions of the processor.
#[inline]
pub(crate) fn run<K: Kernel>(arch: Arch, kernel: K) {
    match arch {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Arch::V3(simd) => Simd::vectorize(simd, Compiled::<K, true>(kernel)),
        _ => arch.dispatch(Compiled::<K, false>(kernel)),
    }
}

/// `a · b + c`, fused where that is fast.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
