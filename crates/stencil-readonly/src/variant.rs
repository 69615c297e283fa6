//! The note's three kernels, and the rungs from there to the memory's limit.

use common::ladder::Rung;

use crate::scheme::RADIUS;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Coefficients from constant memory: `stencil_constant`
    Constant,
    /// From global memory through `__ldg`: `stencil_ldg`
    Ldg,
    /// From global memory through a `const __restrict__` pointer: `stencil_restrict`
    Restrict,
    /// Neighbours from the first cache: `stencil_cached`
    Cached,
    /// Four points a thread: `stencil_vectors`
    Vectors,
    /// Four points a thread, from the beginning of a sector: `stencil_aligned`
    Aligned,
    /// The same with coefficients through `__ldg`: `stencil_read_only`
    ReadOnly,
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[Variant::Constant, Variant::Ldg, Variant::Restrict];

    const LADDER: &'static [Self] = &[
        Variant::Constant,
        Variant::Cached,
        Variant::Vectors,
        Variant::Aligned,
        Variant::ReadOnly,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Constant => "constant",
            Variant::Ldg => "__ldg",
            Variant::Restrict => "const __restrict__",
            Variant::Cached => "cached",
            Variant::Vectors => "vectors",
            Variant::Aligned => "aligned",
            Variant::ReadOnly => "read only",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Constant => {
                "The note's: points in shared memory, coefficients in constant memory"
            }
            Variant::Ldg => "Coefficients through the read-only cache, because the kernel says so",
            Variant::Restrict => "Coefficients through the read-only cache, as the compiler may",
            Variant::Cached => "No shared memory and no barrier: neighbours from the first cache",
            Variant::Vectors => "Four points a thread, sixteen bytes a load and a store",
            Variant::Aligned => "A warp begins where a sector does, so that no two write to one",
            Variant::ReadOnly => "Coefficients through the read-only cache: no difference any more",
        }
    }
}

impl Variant {
    /// Its kernel in `kernels/stencil-readonly.cu`.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Constant => "stencil_constant",
            Variant::Ldg => "stencil_ldg",
            Variant::Restrict => "stencil_restrict",
            Variant::Cached => "stencil_cached",
            Variant::Vectors => "stencil_vectors",
            Variant::Aligned => "stencil_aligned",
            Variant::ReadOnly => "stencil_read_only",
        }
    }

    /// Whether its last argument is a pointer to the coefficients; if not, they are in the symbol.
    pub fn takes_coefficients(self) -> bool {
        matches!(self, Variant::Ldg | Variant::Restrict | Variant::ReadOnly)
    }

    /// How many threads `size` points take: one a point or one for four, and one more where the
    /// first stands for the halo.
    pub fn threads(self, size: u32) -> u64 {
        let vectors = u64::from(size.div_ceil(4));
        match self {
            Variant::Vectors => vectors,
            Variant::Aligned | Variant::ReadOnly => vectors + 1,
            _ => size.into(),
        }
    }

    /// Bytes of shared memory that a block of so many threads takes: its points and its halo.
    pub fn shared_bytes(self, threads: u32) -> u32 {
        match self {
            Variant::Constant | Variant::Ldg | Variant::Restrict => {
                (threads + 2 * RADIUS as u32) * size_of::<f32>() as u32
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_cover_every_point() {
        for (size, threads) in [(1, [1, 1, 2]), (4, [4, 1, 2]), (5, [5, 2, 3])] {
            let kernels = [Variant::Cached, Variant::Vectors, Variant::Aligned];
            assert_eq!(kernels.map(|variant| variant.threads(size)), threads);
        }
        assert_eq!(Variant::ReadOnly.threads(1 << 30), (1 << 28) + 1);
    }

    #[test]
    fn shared_memory_holds_a_block_and_its_halo() {
        assert_eq!(Variant::Ldg.shared_bytes(32), 40 * 4);
        assert_eq!(Variant::Cached.shared_bytes(32), 0);
    }
}
