//! The chapter's kernels: the note's, and the rungs as far as global memory alone can go.

use chapter::ladder;
use common::launch::Block;

/// A row of the table of kernels.
pub type Variant = ladder::Variant<Own>;

/// What this chapter says of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Whether its matrices lie in linear memory, rows right after each other.
    pub linear: bool,
    /// Whether threads along x take rows, and not columns.
    pub swapped: bool,
    /// Columns and rows of C that a thread computes.
    pub part: (u32, u32),
    /// Threads of a block, where it has to be of a size; elsewhere the reader says.
    pub block: Option<Block>,
    /// A rung's module; the note's kernel is in one that `main.rs` loads.
    pub ptx: &'static str,
}

/// The note's kernel: an element a thread, in pitched memory.
const NOTE: Own = Own {
    linear: false,
    swapped: false,
    part: (1, 1),
    block: None,
    ptx: "",
};

/// A rung with the threads the other way round.
const UNCOALESCED: Own = Own {
    swapped: true,
    ptx: include_str!(env!("MATMUL_PITCHED_LADDER_1_UNCOALESCED_PTX")),
    ..NOTE
};

/// A rung that computes tiles in registers; it is compiled for blocks of so many threads.
const TILE: Own = Own {
    block: Some(Block {
        width: 16,
        height: 8,
    }),
    ..NOTE
};

/// All kernels, from the note's up.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "pitched",
        "mat_mul_pitched",
        "the note's kernel: an element a thread, rows padded",
        NOTE,
    ),
    Variant::rung(
        "linear",
        "mat_mul_pitched",
        "the same kernel, rows right after each other",
        Own {
            linear: true,
            ptx: include_str!(env!("MATMUL_PITCHED_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "uncoalesced",
        "mat_mul_uncoalesced",
        "a step down: neighbouring threads in neighbouring rows",
        UNCOALESCED,
    ),
    Variant::rung(
        "uncoalesced linear",
        "mat_mul_uncoalesced",
        "the same, rows right after each other",
        Own {
            linear: true,
            ..UNCOALESCED
        },
    ),
    Variant::rung(
        "read-only",
        "mat_mul_read_only",
        "the note's kernel through the read-only cache",
        Own {
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_2_READ_ONLY_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "float4",
        "mat_mul_float4",
        "four columns a thread, 16 bytes of a padded row at once",
        Own {
            part: (4, 1),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_3_FLOAT4_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "tile 4x4",
        "mat_mul_tile_4x4",
        "four rows as well: each load is used four times",
        Own {
            part: (4, 4),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_4_TILE_4X4_PTX")),
            ..TILE
        },
    ),
    Variant::rung(
        "tile 8x8",
        "mat_mul_tile_8x8",
        "eight rows and columns: each load is used eight times",
        Own {
            part: (8, 8),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_5_TILE_8X8_PTX")),
            ..TILE
        },
    ),
];

/// Whether one of these runs in linear memory.
pub fn any_linear(variants: &[&Variant]) -> bool {
    variants.iter().any(|variant| variant.linear)
}
