//! Sobol sequences with the direction numbers of Joe and Kuo, "Constructing Sobol sequences with better two-dimensional
//! projections" (2008).

use std::ffi::c_int;
use std::ops::{BitXor, BitXorAssign, Shl, Shr};
use std::sync::LazyLock;

use ::sobol::params::JoeKuoD6;

use super::distributions::{Distribution, Fraction};
use super::*;
use crate::functions::{CallResult, write_output};

/// The direction vectors of a dimension.
pub type Vectors32 = [u32; 32];
pub type Vectors64 = [u64; 64];

/// The number of dimensions.
pub const DIMENSIONS: usize = 20_000;

static VECTORS_32: LazyLock<Vec<Vectors32>> = LazyLock::new(vectors);
static VECTORS_64: LazyLock<Vec<Vectors64>> = LazyLock::new(vectors);

/// A number of the sequence.
pub trait Word:
    Copy
    + From<u32>
    + BitXor<Output = Self>
    + BitXorAssign
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
{
    fn fraction(self) -> Fraction;
}

impl Word for u32 {
    fn fraction(self) -> Fraction {
        Fraction::Bits32(self)
    }
}

impl Word for u64 {
    fn fraction(self) -> Fraction {
        Fraction::Bits64(self)
    }
}

/// Computes the direction vectors of all dimensions.
fn vectors<T: Word, const BITS: usize>() -> Vec<[T; BITS]> {
    let first: [T; BITS] = std::array::from_fn(|bit| T::from(1) << (BITS - 1 - bit));
    let parameters = JoeKuoD6::extended().dim_params;
    let others = parameters.iter().map(|parameters| {
        let degree = parameters.m.len();
        let mut vectors = [T::from(0); BITS];
        for bit in 0..BITS {
            vectors[bit] = if bit < degree {
                T::from(parameters.m[bit]) << (BITS - 1 - bit)
            } else {
                let oldest = vectors[bit - degree];
                let has_term = |term: &usize| parameters.a >> (degree - 1 - term) & 1 != 0;
                let terms = (1..degree).filter(has_term);
                terms.fold(oldest ^ oldest >> degree, |sum, term| {
                    sum ^ vectors[bit - term]
                })
            };
        }
        vectors
    });
    std::iter::once(first)
        .chain(others)
        .take(DIMENSIONS)
        .collect()
}

/// A sequence of points: all coordinates of one dimension before those of the next.
pub struct Sobol<T: 'static, const BITS: usize> {
    vectors: &'static [[T; BITS]],
    /// The number of the next point.
    next: u64,
}

impl Sobol<u32, 32> {
    /// Creates the sequence, and skips `offset` points.
    pub fn new(dimensions: usize, offset: u64) -> Self {
        Self {
            vectors: &VECTORS_32[..dimensions],
            next: offset,
        }
    }
}

impl Sobol<u64, 64> {
    /// Creates the sequence, and skips `offset` points.
    pub fn new(dimensions: usize, offset: u64) -> Self {
        Self {
            vectors: &VECTORS_64[..dimensions],
            next: offset,
        }
    }
}

impl<T: Word, const BITS: usize> Sobol<T, BITS> {
    /// Calls `f` with each place in the output and its number.
    fn fill<N>(&mut self, to: &mut [N], f: impl Fn(T) -> N) {
        let count = to.len() / self.vectors.len();
        for (vectors, to) in self.vectors.iter().zip(to.chunks_mut(count.max(1))) {
            let gray_code = self.next ^ self.next >> 1;
            let bits = (0..BITS).filter(|bit| gray_code >> bit & 1 != 0);
            let mut number = bits.fold(T::from(0), |sum, bit| sum ^ vectors[bit]);
            for (index, to) in (self.next..).zip(to) {
                *to = f(number);
                // Two consecutive numbers' Gray codes differ in this bit.
                let changed = (!index).trailing_zeros() as usize;
                number ^= vectors[changed.min(BITS - 1)];
            }
        }
        self.next += count as u64;
    }

    /// Writes the next points.
    pub fn fill_distribution<D: Distribution>(&mut self, distribution: &D, to: &mut [D::Number]) {
        self.fill(to, |number| distribution.at(number.fraction()));
    }
}

impl Sobol<u64, 64> {
    /// Writes the next points in 64 bits.
    pub fn fill_bits(&mut self, to: &mut [u64]) {
        self.fill(to, |number| number);
    }
}

/// `curandGetDirectionVectors32`.
///
/// # Safety
/// `vectors` must be null or writable.
pub unsafe fn vectors_32(vectors: *mut *const Vectors32, set: c_int) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { set_vectors(vectors, set, 101, &VECTORS_32) }
}

/// `curandGetDirectionVectors64`.
///
/// # Safety
/// `vectors` must be null or writable.
pub unsafe fn vectors_64(vectors: *mut *const Vectors64, set: c_int) -> CallResult {
    // SAFETY: this function has the same contract.
    unsafe { set_vectors(vectors, set, 103, &VECTORS_64) }
}

/// Writes the address of the direction vectors if this is their set.
///
/// # Safety
/// `to` must be null or writable.
unsafe fn set_vectors<T>(
    to: *mut *const T,
    set: c_int,
    available: c_int,
    vectors: &'static LazyLock<Vec<T>>,
) -> CallResult {
    if set != available {
        return Err(OUT_OF_RANGE);
    }
    // SAFETY: this function has the same contract.
    unsafe { write_output(to, vectors.as_ptr(), OUT_OF_RANGE) }
}
