//! Tiles: the parts of C that blocks compute.

use chapter::launch::Block;
use matmul_pitched::flags::ProductFlags;

/// The tile of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows of the tile of C.
    pub rows: u32,
    /// Columns of the tile of C.
    pub cols: u32,
    /// Columns of the tiles of A, rows of the tiles of B.
    pub depth: u32,
    /// The way elements are moved.
    pub moves: Moves,
}

impl Tile {
    /// Creates a square tile.
    pub const fn square(side: u32, depth: u32, moves: Moves) -> Self {
        Tile {
            rows: side,
            cols: side,
            depth,
            moves,
        }
    }

    /// Returns the dimensions of the tile of C.
    pub fn area(self) -> Block {
        Block {
            width: self.cols,
            height: self.rows,
        }
    }

    /// Returns the number of tiles in a column of C.
    pub fn down(self, product: &ProductFlags) -> u64 {
        product.m.div_ceil(self.rows).into()
    }

    /// Returns the number of tiles in a row of C.
    pub fn across(self, product: &ProductFlags) -> u64 {
        product.p.div_ceil(self.cols).into()
    }

    /// Returns the number of tiles of A, and of B, that a tile of C needs one after the other.
    pub fn steps(self, product: &ProductFlags) -> u64 {
        product.n.div_ceil(self.depth).into()
    }
}

/// The way elements move between global memory and a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One element at a time.
    Ones,
    /// Four elements at a time, and one at a time at the end of a row.
    Fours,
    /// Asynchronous copies of whole tiles, one element of A and four of B at a time; elements beyond the edge
    /// are copied as zeros or never used.
    Copies {
        /// Number of elements of C stored at a time; one at a time at the end of a row.
        stored: u32,
    },
    /// Asynchronous copies of four elements at a time, or fewer at the end of a row. C is stored four
    /// elements at a time, one at a time at the end of a row.
    CopiesOfFours,
    /// Asynchronous copies of four elements at a time in whole tiles, with two tiles more than needed, and
    /// one more if their number is odd. C is stored two elements at a time, one at a time at the end of a
    /// row.
    CopiesAhead,
}
