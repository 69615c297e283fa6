//! The chapter's kernels: the note's, and the rungs up to the limit of global memory alone.

use chapter::ladder;
use chapter::launch::Block;

/// A row of the table of kernels.
pub type Variant = ladder::Variant<KernelConfig>;

/// The chapter's properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelConfig {
    /// True if its matrices are in linear memory with contiguous rows.
    pub linear: bool,
    /// True if threads along x compute consecutive rows instead of columns.
    pub swapped: bool,
    /// Columns and rows of C per thread.
    pub part: (u32, u32),
    /// The required block size; `None` if `--block` determines it.
    pub block: Option<Block>,
    /// The rung's module; empty for the note's kernel, whose module is loaded in `main.rs`.
    pub ptx: &'static str,
}

/// The note's kernel: one element per thread, in pitched memory.
const NOTE: KernelConfig = KernelConfig {
    linear: false,
    swapped: false,
    part: (1, 1),
    block: None,
    ptx: "",
};

/// A rung with rows and columns of threads swapped.
const UNCOALESCED: KernelConfig = KernelConfig {
    swapped: true,
    ptx: include_str!(env!("MATMUL_PITCHED_LADDER_1_UNCOALESCED_PTX")),
    ..NOTE
};

/// A rung with register tiles; it is compiled for this block size.
const TILE: KernelConfig = KernelConfig {
    block: Some(Block {
        width: 16,
        height: 8,
    }),
    ..NOTE
};

/// All kernels, from the note's upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "pitched",
        "mat_mul_pitched",
        [
            "the note's kernel: one element per thread, padded rows",
            "笔记中的核函数：每个线程一个元素，行末有补齐",
        ],
        NOTE,
    ),
    Variant::rung(
        "linear",
        "mat_mul_pitched",
        [
            "the same kernel, contiguous rows",
            "同一核函数，各行连续存放",
        ],
        KernelConfig {
            linear: true,
            ptx: include_str!(env!("MATMUL_PITCHED_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "uncoalesced",
        "mat_mul_uncoalesced",
        [
            "slower on purpose: neighbouring threads in neighbouring rows",
            "故意放慢：相邻的线程处理相邻的行",
        ],
        UNCOALESCED,
    ),
    Variant::rung(
        "uncoalesced linear",
        "mat_mul_uncoalesced",
        ["the same, contiguous rows", "同上，各行连续存放"],
        KernelConfig {
            linear: true,
            ..UNCOALESCED
        },
    ),
    Variant::rung(
        "read-only",
        "mat_mul_read_only",
        [
            "the note's kernel through the read-only cache",
            "笔记中的核函数，经只读缓存读取",
        ],
        KernelConfig {
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_2_READ_ONLY_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "float4",
        "mat_mul_float4",
        [
            "four columns per thread, 16 bytes of a padded row per load",
            "每个线程四列，每次从补齐的行读取 16 字节",
        ],
        KernelConfig {
            part: (4, 1),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_3_FLOAT4_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "tile 4x4",
        "mat_mul_tile_4x4",
        [
            "four rows as well: each load is reused four times",
            "再加四行：每次读取的数据重复使用四次",
        ],
        KernelConfig {
            part: (4, 4),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_4_TILE_4X4_PTX")),
            ..TILE
        },
    ),
    Variant::rung(
        "tile 8x8",
        "mat_mul_tile_8x8",
        [
            "eight rows and columns: each load is reused eight times",
            "八行八列：每次读取的数据重复使用八次",
        ],
        KernelConfig {
            part: (8, 8),
            ptx: include_str!(env!("MATMUL_PITCHED_LADDER_5_TILE_8X8_PTX")),
            ..TILE
        },
    ),
];

/// Returns true if one of the kernels uses linear memory.
pub fn any_linear(variants: &[&Variant]) -> bool {
    variants.iter().any(|variant| variant.linear)
}
