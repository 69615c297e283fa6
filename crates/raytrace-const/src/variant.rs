//! The book's kernels, and the rungs from there to what arithmetic allows.

use common::ladder::Rung;

use crate::scene::{ConstantBank, ConstantScene};

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `raytrace_global`
    Global,
    /// `raytrace_constant`
    Constant,
    /// `raytrace_unrolled`
    Unrolled,
    /// `raytrace_outlines`
    Outlines,
    /// `raytrace_rows`
    Rows,
    /// `raytrace_patches`
    Patches,
    /// `raytrace_patches_global`
    PatchesGlobal,
    /// `raytrace_patches_tiles`
    PatchesTiles,
    /// `raytrace_culled`
    Culled,
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[Variant::Global, Variant::Constant, Variant::Unrolled];

    const LADDER: &'static [Self] = &[
        Variant::Global,
        Variant::Constant,
        Variant::Unrolled,
        Variant::Outlines,
        Variant::Rows,
        Variant::Patches,
        Variant::PatchesGlobal,
        Variant::PatchesTiles,
        Variant::Culled,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Global => "global",
            Variant::Constant => "constant",
            Variant::Unrolled => "unrolled",
            Variant::Outlines => "outlines",
            Variant::Rows => "rows",
            Variant::Patches => "patches",
            Variant::PatchesGlobal => "patches global",
            Variant::PatchesTiles => "patches tiles",
            Variant::Culled => "culled",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Global => "28-byte spheres in global memory",
            Variant::Constant => "The same spheres and the same loop, in constant memory",
            Variant::Unrolled => "32-byte aligned spheres in constant memory, loop unrolled",
            Variant::Outlines => "The 16 bytes that a test needs, 20 tests, then what was met",
            Variant::Rows => "Four pixels a thread: one read for four tests, one store",
            Variant::Patches => {
                "Sixteen pixels a thread: sixteen tests share what leads up to them"
            }
            Variant::PatchesGlobal => "The same with spheres in global memory, to compare",
            Variant::PatchesTiles => "The same with tiles of spheres in shared memory, to compare",
            Variant::Culled => "Another algorithm: blocks drop the spheres that are not near them",
        }
    }
}

impl Variant {
    /// Its kernel in `kernels/raytrace-const.cu`, or of the ladder's in
    /// `kernels/raytrace-ladder.cu`.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Global => "raytrace_global",
            Variant::Constant => "raytrace_constant",
            Variant::Unrolled => "raytrace_unrolled",
            Variant::Outlines => "raytrace_outlines",
            Variant::Rows => "raytrace_rows",
            Variant::Patches => "raytrace_patches",
            Variant::PatchesGlobal => "raytrace_patches_global",
            Variant::PatchesTiles => "raytrace_patches_tiles",
            Variant::Culled => "raytrace_culled",
        }
    }

    /// Pixels that a thread draws, across and down.
    pub fn patch(self) -> (u32, u32) {
        match self {
            Variant::Rows => (4, 1),
            Variant::Culled => (4, 2),
            Variant::Patches | Variant::PatchesGlobal | Variant::PatchesTiles => (4, 4),
            _ => (1, 1),
        }
    }

    /// How many spheres its memory holds.
    pub fn capacity(self) -> usize {
        match self {
            Variant::Global | Variant::PatchesGlobal | Variant::PatchesTiles => usize::MAX,
            Variant::Constant => ConstantBank::PACKED,
            Variant::Unrolled => ConstantBank::ALIGNED,
            Variant::Outlines | Variant::Rows | Variant::Patches | Variant::Culled => {
                ConstantScene::SPHERES
            }
        }
    }
}
