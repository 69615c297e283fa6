//! Tiles: what a block computes at a time.

use common::launch::Block;
use matmul_pitched::flags::ProductFlags;

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
    /// One as wide as it is high.
    pub const fn square(side: u32, depth: u32, moves: Moves) -> Self {
        Tile {
            rows: side,
            cols: side,
            depth,
            moves,
        }
    }

    /// Its elements of C.
    pub fn area(self) -> Block {
        Block {
            width: self.cols,
            height: self.rows,
        }
    }

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
    /// copied as zeros, or as what nobody uses.
    Copies {
        /// C's so many at a time, one at a time at the end of a row.
        stored: u32,
    },
    /// Asynchronously, four at a time or as many as there are at the end of a row. C's four at a
    /// time, one at a time at the end of a row.
    CopiesOfFours,
    /// Asynchronously, four at a time, in whole tiles and two more than there are, and one more
    /// where their number is odd. C's two at a time, one at a time at the end of a row.
    CopiesAhead,
}
