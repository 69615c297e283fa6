//! The chapter's kernels: the notes', and the rungs towards the hardware's limit.

use chapter::ladder;
use chapter::launch::Block;
use common::gpu::Capability;

use crate::tf32::Tf32Rounding;
use crate::tile::{Moves, SHAPES, Tile};

/// A row of the table of kernels.
pub type Variant = ladder::Variant<KernelConfig>;

/// The chapter's properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelConfig {
    /// The kernel's module.
    pub ptx: &'static str,
    /// The tile that a block computes at a time, the note's `BLOCK_SIZE`; `None` for the pitched kernel.
    pub tile: Option<Tile>,
    /// Threads per block if a thread computes several elements; `None` if a block has one thread per element.
    pub threads: Option<u32>,
    /// Bytes of dynamic shared memory, in addition to the kernel's static shared memory, as computed in its
    /// `.cu` file.
    pub shared_bytes: u32,
    /// The distribution of the work among blocks.
    pub work: Work,
    /// The conversion of its factors to TF32 (see [`crate::tf32`]), if it uses tensor cores: then its result
    /// differs from that of the other kernels.
    pub tf32: Option<Tf32Rounding>,
}

/// The distribution of the work among blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One tile of C per block.
    Tiles,
    /// Stream-K: resident blocks only, with equal shares of the work (see [`crate::plan`]).
    EvenShares,
    /// One part of a tile's sum per block (see [`crate::tile`]).
    SplitK,
}

impl KernelConfig {
    /// Returns the elements of C per block; `pitched` is the block size of the pitched kernel.
    pub fn area(&self, pitched: Block) -> Block {
        self.tile.map_or(pitched, Tile::area)
    }

    /// Creates the properties of a rung with this number of threads per block.
    const fn rung(ptx: &'static str, tile: Tile, threads: u32) -> Self {
        KernelConfig {
            ptx,
            tile: Some(tile),
            threads: Some(threads),
            ..PITCHED
        }
    }
}

/// The kernel of `matmul-pitched`, which reads everything from global memory.
const PITCHED: KernelConfig = KernelConfig {
    ptx: include_str!(env!("MATMUL_PITCHED_PTX")),
    tile: None,
    threads: None,
    shared_bytes: 0,
    work: Work::Tiles,
    tf32: None,
};

/// The note's kernel with tiles of this size.
const fn tiled(block_size: u32) -> KernelConfig {
    KernelConfig {
        ptx: include_str!(env!("MATMUL_TILED_PTX")),
        tile: Some(Tile::square(block_size, block_size, Moves::Ones)),
        ..PITCHED
    }
}

/// All kernels, from the notes' upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "pitched",
        "mat_mul_pitched",
        [
            "One element per thread, everything from global memory.",
            "每个线程一个元素，全部从全局内存读取。",
        ],
        PITCHED,
    ),
    Variant::note(
        "tiled 8",
        "mat_mul_tiled_8",
        [
            "Tiles of 8x8 in shared memory, loaded once for all threads.",
            "共享内存中 8x8 的分块，为所有线程只读取一次。",
        ],
        tiled(8),
    )
    .off_ladder(),
    Variant::note(
        "tiled 16",
        "mat_mul_tiled_16",
        [
            "Tiles of 16x16 in shared memory, loaded once for all threads.",
            "共享内存中 16x16 的分块，为所有线程只读取一次。",
        ],
        tiled(16),
    ),
    Variant::note(
        "tiled 32",
        "mat_mul_tiled_32",
        [
            "Tiles of 32x32 in shared memory, loaded once for all threads.",
            "共享内存中 32x32 的分块，为所有线程只读取一次。",
        ],
        tiled(32),
    )
    .off_ladder(),
    Variant::rung(
        "columns",
        "mat_mul_columns",
        [
            "Each thread computes 8 elements of a column, which share an element of B.",
            "每个线程计算一列中的 8 个元素，它们共用 B 的一个元素。",
        ],
        KernelConfig::rung(
            include_str!(env!("MATMUL_LADDER_1_COLUMNS_PTX")),
            Tile::square(64, 8, Moves::Ones),
            512,
        ),
    ),
    Variant::rung(
        "squares",
        "mat_mul_squares",
        [
            "Each thread computes 8x8 elements: 16 shared loads for 64 multiply-adds.",
            "每个线程计算 8x8 个元素：16 次共享内存读取对应 64 次乘加。",
        ],
        KernelConfig::rung(
            include_str!(env!("MATMUL_LADDER_2_SQUARES_PTX")),
            Tile::square(128, 8, Moves::Ones),
            256,
        ),
    ),
    Variant::rung(
        "vectors",
        "mat_mul_vectors",
        [
            "Four elements per load and store, the tile of A transposed.",
            "每次读写四个元素，A 的分块转置存放。",
        ],
        KernelConfig::rung(
            include_str!(env!("MATMUL_LADDER_3_VECTORS_PTX")),
            Tile::square(128, 8, Moves::Fours),
            256,
        ),
    ),
    Variant::rung(
        "warp tiles",
        "mat_mul_warp_tiles",
        [
            "A warp computes a compact tile: fewer wavefronts per shared load.",
            "一个线程束计算一个紧凑的分块：每次共享内存读取的波前更少。",
        ],
        KernelConfig::rung(
            include_str!(env!("MATMUL_LADDER_4_WARP_TILES_PTX")),
            Tile::square(128, 8, Moves::Fours),
            256,
        ),
    ),
    Variant::rung(
        "double buffer",
        "mat_mul_double_buffer",
        [
            "The next tiles are loaded while the current ones are used.",
            "使用当前分块的同时读取下一组分块（双缓冲）。",
        ],
        KernelConfig::rung(
            include_str!(env!("MATMUL_LADDER_5_DOUBLE_BUFFER_PTX")),
            Tile::square(128, 8, Moves::Fours),
            256,
        ),
    ),
    Variant::rung(
        "async",
        "mat_mul_async",
        [
            "Tiles are copied asynchronously to shared memory, two tiles ahead.",
            "分块异步复制到共享内存，提前两个分块。",
        ],
        KernelConfig {
            shared_bytes: 49_920,
            ..KernelConfig::rung(
                include_str!(env!("MATMUL_LADDER_6_ASYNC_SM_80_PTX")),
                Tile::square(128, 16, Moves::Copies { stored: 1 }),
                256,
            )
        },
    )
    .needs(Capability(8, 0)), // asynchronous copies
    Variant::rung(
        "even shares",
        "mat_mul_even_shares",
        [
            "Only resident blocks, with equal shares (Stream-K), 16x8 elements per thread.",
            "只启动能同时驻留的线程块，工作量均分（Stream-K），每个线程 16x8 个元素。",
        ],
        KernelConfig {
            shared_bytes: 49_920,
            work: Work::EvenShares,
            ..KernelConfig::rung(
                include_str!(env!("MATMUL_LADDER_7_EVEN_SHARES_SM_80_PTX")),
                Tile::square(128, 16, Moves::Copies { stored: 1 }),
                128,
            )
        },
    )
    .needs(Capability(8, 0)),
    Variant::rung(
        "split k",
        "mat_mul_split_k",
        [
            "Tile size chosen by the shape, and sums split over several blocks.",
            "按矩阵形状选择分块大小，并把求和拆分到几个线程块（split-K）。",
        ],
        KernelConfig {
            shared_bytes: 37_632, // of the largest tile
            work: Work::SplitK,
            ..KernelConfig::rung(
                include_str!(env!("MATMUL_LADDER_8_SPLIT_K_SM_80_PTX")),
                SHAPES[2].tile,
                SHAPES[2].threads,
            )
        },
    )
    .needs(Capability(8, 0)),
    Variant::rung(
        "tensor cores",
        "mat_mul_tensor_cores",
        [
            "A warp multiplies 16x8 by 8x8 elements at once, with factors rounded to TF32.",
            "一个线程束一次完成 16x8 与 8x8 的乘法，因子舍入为 TF32。",
        ],
        KernelConfig {
            shared_bytes: 190_464,
            tf32: Some(Tf32Rounding::Nearest),
            ..KernelConfig::rung(
                include_str!(env!("MATMUL_LADDER_9_TENSOR_CORES_SM_80_PTX")),
                Tile {
                    rows: 320,
                    cols: 128,
                    depth: 32,
                    moves: Moves::CopiesOfFours,
                },
                256,
            )
        },
    )
    .needs(Capability(8, 0)), // and tensor cores that take TF32
    Variant::rung(
        "warpgroups",
        "mat_mul_warpgroups",
        [
            "Four warps multiply 64x8 by 8x256 elements at once, one factor from shared memory.",
            "四个线程束一次完成 64x8 与 8x256 的乘法，一个因子取自共享内存。",
        ],
        KernelConfig {
            shared_bytes: 200_704,
            tf32: Some(Tf32Rounding::Truncated),
            ..KernelConfig::rung(
                include_str!(env!("MATMUL_LADDER_10_WARPGROUPS_SM_90A_PTX")),
                Tile {
                    rows: 256,
                    cols: 128,
                    depth: 32,
                    moves: Moves::CopiesAhead,
                },
                256,
            )
        },
    )
    .only(Capability(9, 0)), // no newer GPU has `wgmma`
];

/// Returns the kernel with this name.
///
/// # Panics
///
/// Panics if there is none.
pub fn named(name: &str) -> &'static Variant {
    let mut rows = VARIANTS.iter();
    rows.find(|row| row.name == name)
        .expect("a kernel of this name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_in_its_ptx_and_named_after_its_variant() {
        for variant in VARIANTS {
            let name = variant.name.replace(' ', "_");
            assert_eq!(variant.kernel, format!("mat_mul_{name}"));
            let kernels = match variant.work {
                Work::SplitK => SHAPES.map(|shape| shape.kernel).to_vec(),
                _ => vec![variant.kernel],
            };
            for kernel in kernels {
                let entry = format!(".entry {kernel}(");
                assert!(variant.ptx.contains(&entry), "{entry}");
            }
        }
    }

    #[test]
    fn a_block_covers_its_tile_or_is_the_readers() {
        let block = Block {
            width: 7,
            height: 5,
        };
        for variant in VARIANTS {
            let area = variant.area(block);
            match variant.tile {
                None => assert_eq!(area.to_string(), "7x5"),
                Some(tile) => assert_eq!((area.width, area.height), (tile.cols, tile.rows)),
            }
        }
    }
}
