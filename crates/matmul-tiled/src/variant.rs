//! The kernels: the notes', and the rungs from there to the hardware's limit.

use common::flags::Block;
use common::gpu::Capability;
use common::ladder::Rung;
use common::report::note;
use matmul_pitched::flags::ProductFlags;

/// One of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A row of A and a column of B from global memory, a thread an element.
    Pitched,
    /// Tiles of 8×8 in shared memory, a thread an element.
    Tiled8,
    /// Tiles of 16×16, as in the note.
    Tiled16,
    /// Tiles of 32×32: 1024 threads a block, the most there are.
    Tiled32,
    /// Eight elements of a column a thread.
    Columns,
    /// 8×8 elements a thread.
    Squares,
    /// Four elements a load.
    Vectors,
    /// Threads of a warp close together.
    WarpTiles,
    /// The next tiles are loaded while these are used.
    DoubleBuffer,
    /// Tiles are copied to shared memory without a register in between.
    Async,
    /// As many blocks as run at once, each with as much work; 16×8 elements a thread.
    EvenShares,
    /// Products of small matrices of a warp, of factors in TF32.
    TensorCores,
}

/// What a block does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of its tile of C.
    pub rows: u32,
    /// Columns of its tile of C.
    pub cols: u32,
    /// Columns of its tiles of A, rows of its tiles of B.
    pub depth: u32,
    /// How its elements move.
    pub moves: Moves,
}

impl Tile {
    /// Tiles down a column of C.
    pub fn down(self, product: &ProductFlags) -> u64 {
        product.m.div_ceil(self.rows).into()
    }

    /// Tiles along a row of C.
    pub fn across(self, product: &ProductFlags) -> u64 {
        product.p.div_ceil(self.cols).into()
    }

    /// Tiles of A, and of B, that a tile of C takes one after the other.
    pub fn steps(self, product: &ProductFlags) -> u64 {
        product.n.div_ceil(self.depth).into()
    }
}

/// How elements move between global memory and a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One at a time.
    Ones,
    /// Four at a time, one at a time at the end of a row.
    Fours,
    /// Asynchronously, A's one and B's four at a time, in whole tiles: what is past the edge is
    /// copied as zeros, or as what nobody uses. C's one at a time.
    Copies,
    /// Asynchronously, four at a time or as many as there are at the end of a row. C's four at a
    /// time, one at a time at the end of a row.
    CopiesOfFours,
}

impl Variant {
    /// Its kernel's name.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Pitched => "mat_mul_pitched",
            Variant::Tiled8 => "mat_mul_tiled_8",
            Variant::Tiled16 => "mat_mul_tiled_16",
            Variant::Tiled32 => "mat_mul_tiled_32",
            Variant::Columns => "mat_mul_columns",
            Variant::Squares => "mat_mul_squares",
            Variant::Vectors => "mat_mul_vectors",
            Variant::WarpTiles => "mat_mul_warp_tiles",
            Variant::DoubleBuffer => "mat_mul_double_buffer",
            Variant::Async => "mat_mul_async",
            Variant::EvenShares => "mat_mul_even_shares",
            Variant::TensorCores => "mat_mul_tensor_cores",
        }
    }

    /// The PTX that has its kernel.
    pub fn ptx(self) -> &'static str {
        match self {
            Variant::Pitched => include_str!(env!("MATMUL_PITCHED_PTX")),
            Variant::Tiled8 | Variant::Tiled16 | Variant::Tiled32 => {
                include_str!(env!("MATMUL_TILED_PTX"))
            }
            Variant::Columns => include_str!(env!("MATMUL_LADDER_1_COLUMNS_PTX")),
            Variant::Squares => include_str!(env!("MATMUL_LADDER_2_SQUARES_PTX")),
            Variant::Vectors => include_str!(env!("MATMUL_LADDER_3_VECTORS_PTX")),
            Variant::WarpTiles => include_str!(env!("MATMUL_LADDER_4_WARP_TILES_PTX")),
            Variant::DoubleBuffer => include_str!(env!("MATMUL_LADDER_5_DOUBLE_BUFFER_PTX")),
            Variant::Async => include_str!(env!("MATMUL_LADDER_6_ASYNC_SM_80_PTX")),
            Variant::EvenShares => include_str!(env!("MATMUL_LADDER_7_EVEN_SHARES_SM_80_PTX")),
            Variant::TensorCores => include_str!(env!("MATMUL_LADDER_8_TENSOR_CORES_SM_80_PTX")),
        }
    }

    /// What a block computes at a time, the note's `BLOCK_SIZE`; the pitched kernel has no tiles.
    pub fn tile(self) -> Option<Tile> {
        let (side, depth, moves) = match self {
            Variant::Pitched => return None,
            Variant::TensorCores => {
                return Some(Tile {
                    rows: 320,
                    cols: 128,
                    depth: 32,
                    moves: Moves::CopiesOfFours,
                });
            }
            Variant::Tiled8 => (8, 8, Moves::Ones),
            Variant::Tiled16 => (16, 16, Moves::Ones),
            Variant::Tiled32 => (32, 32, Moves::Ones),
            Variant::Columns => (64, 8, Moves::Ones),
            Variant::Squares => (128, 8, Moves::Ones),
            Variant::Vectors | Variant::WarpTiles | Variant::DoubleBuffer => (128, 8, Moves::Fours),
            Variant::Async | Variant::EvenShares => (128, 16, Moves::Copies),
        };
        Some(Tile {
            rows: side,
            cols: side,
            depth,
            moves,
        })
    }

    /// Elements of C that a block computes; the pitched kernel's block is the reader's.
    pub fn area(self, pitched: Block) -> Block {
        self.tile().map_or(pitched, |tile| Block {
            width: tile.cols,
            height: tile.rows,
        })
    }

    /// Threads of a block, where a thread computes several elements; `None` where it is one, and a
    /// block's threads are its elements.
    pub fn threads(self) -> Option<u32> {
        match self {
            Variant::Pitched | Variant::Tiled8 | Variant::Tiled16 | Variant::Tiled32 => None,
            Variant::Columns => Some(512),
            Variant::Squares
            | Variant::Vectors
            | Variant::WarpTiles
            | Variant::DoubleBuffer
            | Variant::Async
            | Variant::TensorCores => Some(256),
            Variant::EvenShares => Some(128),
        }
    }

    /// Bytes of shared memory that a launch asks for, beside what the kernel has of its own: as
    /// its `.cu` file works them out.
    pub fn shared_bytes(self) -> u32 {
        match self {
            Variant::Async | Variant::EvenShares => 49_920,
            Variant::TensorCores => 190_464,
            _ => 0,
        }
    }

    /// Whether a GPU that gives a block so much shared memory runs it; where not, says so on
    /// standard error.
    pub fn fits(self, shared_limit: u32) -> bool {
        let fits = self.shared_bytes() <= shared_limit;
        if !fits {
            note(format_args!(
                "left out: {} needs {} bytes of shared memory a block, and this GPU gives {}",
                self.name(),
                self.shared_bytes(),
                shared_limit
            ));
        }
        fits
    }

    /// Whether its factors are rounded to TF32 (see [`crate::tf32`]), so that its result is
    /// another than that of the others.
    pub fn is_tf32(self) -> bool {
        self == Variant::TensorCores
    }
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[
        Variant::Pitched,
        Variant::Tiled8,
        Variant::Tiled16,
        Variant::Tiled32,
    ];

    const LADDER: &'static [Self] = &[
        Variant::Pitched,
        Variant::Tiled16,
        Variant::Columns,
        Variant::Squares,
        Variant::Vectors,
        Variant::WarpTiles,
        Variant::DoubleBuffer,
        Variant::Async,
        Variant::EvenShares,
        Variant::TensorCores,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Pitched => "pitched",
            Variant::Tiled8 => "tiled 8",
            Variant::Tiled16 => "tiled 16",
            Variant::Tiled32 => "tiled 32",
            Variant::Columns => "columns",
            Variant::Squares => "squares",
            Variant::Vectors => "vectors",
            Variant::WarpTiles => "warp tiles",
            Variant::DoubleBuffer => "double buffer",
            Variant::Async => "async",
            Variant::EvenShares => "even shares",
            Variant::TensorCores => "tensor cores",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Pitched => "A thread an element, everything from global memory.",
            Variant::Tiled8 => "Tiles of 8x8 in shared memory, fetched once for all threads.",
            Variant::Tiled16 => "Tiles of 16x16 in shared memory, fetched once for all threads.",
            Variant::Tiled32 => "Tiles of 32x32 in shared memory, fetched once for all threads.",
            Variant::Columns => {
                "A thread computes 8 elements of a column: a number of B serves them all."
            }
            Variant::Squares => {
                "A thread computes 8x8 elements: 16 shared loads for 64 multiply-adds."
            }
            Variant::Vectors => "Four elements a load and a store, the tile of A transposed.",
            Variant::WarpTiles => {
                "A warp's threads sit close together: fewer wavefronts a shared load."
            }
            Variant::DoubleBuffer => "The next tiles are fetched while these are used.",
            Variant::Async => {
                "Tiles are copied to shared memory past the registers, two of them ahead."
            }
            Variant::EvenShares => {
                "As many blocks as run at once share the work equally, 16x8 elements a thread."
            }
            Variant::TensorCores => {
                "A warp multiplies 16x8 by 8x8 elements at once, their factors rounded to TF32."
            }
        }
    }

    fn needs(self) -> Capability {
        match self {
            // Asynchronous copies, and tensor cores that take TF32.
            Variant::Async | Variant::EvenShares | Variant::TensorCores => Capability(8, 0),
            _ => Capability::KERNELS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_in_its_ptx_and_named_after_its_variant() {
        for &variant in Variant::BOOK.iter().chain(Variant::LADDER) {
            let entry = format!(".entry {}(", variant.kernel());
            assert!(variant.ptx().contains(&entry), "{entry}");
            let name = variant.name().replace(' ', "_");
            assert_eq!(variant.kernel(), format!("mat_mul_{name}"));
        }
    }

    #[test]
    fn a_block_covers_its_tile_or_is_the_readers() {
        let block = Block {
            width: 7,
            height: 5,
        };
        for &variant in Variant::BOOK.iter().chain(Variant::LADDER) {
            let area = variant.area(block);
            match variant.tile() {
                None => assert_eq!(area.to_string(), "7x5"),
                Some(tile) => assert_eq!((area.width, area.height), (tile.cols, tile.rows)),
            }
        }
    }

    #[test]
    fn a_gpu_with_too_little_shared_memory_leaves_a_rung_out() {
        assert!(Variant::TensorCores.fits(190_464));
        assert!(!Variant::TensorCores.fits(190_463));
        assert!(Variant::Squares.fits(0));
    }
}
