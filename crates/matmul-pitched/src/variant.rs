//! The kernels, in which memory they run, and how they are launched.

use anyhow::Result;
use common::flags::Block;
use common::gpu::Gpu;
use common::ladder::Rung;
use common::launch;
use cust::function::{BlockSize, GridSize};

use crate::flags::Flags;

/// Threads of a block that computes tiles in registers; the kernels are compiled for as many.
const TILE_BLOCK: Block = Block {
    width: 16,
    height: 8,
};

/// A kernel, and the memory it runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The note's, in pitched memory.
    Pitched,
    /// The note's, in linear memory.
    Linear,
    /// Neighbouring threads in neighbouring rows, in pitched memory.
    Uncoalesced,
    /// The same in linear memory.
    UncoalescedLinear,
    /// The note's through the read-only cache.
    ReadOnly,
    /// Four columns a thread.
    Float4,
    /// Four rows and four columns a thread.
    Tile4x4,
    /// Eight rows and eight columns a thread.
    Tile8x8,
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[Variant::Pitched];

    const LADDER: &'static [Self] = &[
        Variant::Pitched,
        Variant::Linear,
        Variant::Uncoalesced,
        Variant::UncoalescedLinear,
        Variant::ReadOnly,
        Variant::Float4,
        Variant::Tile4x4,
        Variant::Tile8x8,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Pitched => "pitched",
            Variant::Linear => "linear",
            Variant::Uncoalesced => "uncoalesced",
            Variant::UncoalescedLinear => "uncoalesced linear",
            Variant::ReadOnly => "read-only",
            Variant::Float4 => "float4",
            Variant::Tile4x4 => "tile 4x4",
            Variant::Tile8x8 => "tile 8x8",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Pitched => "the note's kernel: an element a thread, rows padded",
            Variant::Linear => "the same kernel, rows right after each other",
            Variant::Uncoalesced => "a step down: neighbouring threads in neighbouring rows",
            Variant::UncoalescedLinear => "the same, rows right after each other",
            Variant::ReadOnly => "the note's kernel through the read-only cache",
            Variant::Float4 => "four columns a thread, 16 bytes of a padded row at once",
            Variant::Tile4x4 => "four rows as well: each load is used four times",
            Variant::Tile8x8 => "eight rows and columns: each load is used eight times",
        }
    }
}

impl Variant {
    /// The kernel's name in its `.cu` file.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Pitched | Variant::Linear => "mat_mul_pitched",
            Variant::Uncoalesced | Variant::UncoalescedLinear => "mat_mul_uncoalesced",
            Variant::ReadOnly => "mat_mul_read_only",
            Variant::Float4 => "mat_mul_float4",
            Variant::Tile4x4 => "mat_mul_tile_4x4",
            Variant::Tile8x8 => "mat_mul_tile_8x8",
        }
    }

    /// Whether the kernel is the note's, in `matmul-pitched.cu`; the others are in
    /// `matmul-pitched-ladder.cu`.
    pub fn is_the_notes(self) -> bool {
        matches!(self, Variant::Pitched | Variant::Linear)
    }

    /// Whether rows lie right after each other.
    pub fn is_linear(self) -> bool {
        matches!(self, Variant::Linear | Variant::UncoalescedLinear)
    }

    /// The grid and the block for all of C.
    ///
    /// # Errors
    ///
    /// Where the device does not take them.
    pub fn shape(self, gpu: &Gpu, flags: &Flags) -> Result<(GridSize, BlockSize)> {
        let (rows, cols) = (u64::from(flags.product.m), u64::from(flags.product.p));
        let (width, height, block) = match self {
            Variant::Pitched | Variant::Linear | Variant::ReadOnly => (cols, rows, flags.block),
            Variant::Uncoalesced | Variant::UncoalescedLinear => (rows, cols, flags.block),
            Variant::Float4 => (cols.div_ceil(4), rows, flags.block),
            Variant::Tile4x4 => (cols.div_ceil(4), rows.div_ceil(4), TILE_BLOCK),
            Variant::Tile8x8 => (cols.div_ceil(8), rows.div_ceil(8), TILE_BLOCK),
        };
        launch::grid_2d(&gpu.device, width, height, block)
    }
}
