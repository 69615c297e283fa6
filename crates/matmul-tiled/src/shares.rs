//! Even shares of the work: what the rung of that name is launched with.

use matmul_pitched::flags::ProductFlags;

use crate::tile::Tile;

/// The work of a product, cut into equal pieces.
///
/// A tile of C takes so many steps along A's columns and B's rows. The steps of all tiles, one
/// tile after the other, are cut into shares, a block each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Blocks that share the work.
    pub shares: u32,
    tiles: u64,
    steps: u64,
}

impl Cut {
    /// For at most `blocks` blocks. No share is less than a tile, so that none is cut twice and
    /// nobody waits for long.
    pub fn new(product: &ProductFlags, tile: Tile, blocks: u32) -> Self {
        let tiles = tile.down(product) * tile.across(product);
        Cut {
            shares: tiles.min(blocks.into()) as u32,
            tiles,
            steps: tile.steps(product),
        }
    }

    /// Tiles that one block begins and the next one finishes.
    pub fn cut_tiles(&self) -> u64 {
        let Cut { tiles, steps, .. } = *self;
        let shares = u64::from(self.shares);
        // No overflow, here and in the kernel: a step is more than 2^18 multiply-adds, and all of
        // them are less than 2^60 (matrices that fit into a memory); blocks are less than 2^20.
        let ends = (1..shares).map(|share| tiles * steps * share / shares);
        ends.filter(|end| end % steps != 0).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::named;
    use matmul_pitched::flags::Fill;

    fn cut([m, n, p]: [u32; 3], blocks: u32) -> Cut {
        let product = ProductFlags {
            m,
            n,
            p,
            fill: Fill::Random,
            seed: 1,
        };
        Cut::new(&product, named("even shares").tile.unwrap(), blocks)
    }

    #[test]
    fn a_share_is_a_tile_or_more() {
        assert_eq!(cut([1, 1, 1], 264).shares, 1);
        // 4x3 tiles.
        assert_eq!(cut([480, 640, 320], 264).shares, 12);
        // 38x25.
        assert_eq!(cut([4800, 6400, 3200], 264).shares, 264);
        assert_eq!(cut([4800, 6400, 3200], 1).shares, 1);
    }

    #[test]
    fn tiles_are_cut_where_shares_end_within_them() {
        // A tile a block, or all tiles one block's.
        assert_eq!(cut([480, 640, 320], 264).cut_tiles(), 0);
        assert_eq!(cut([480, 640, 320], 1).cut_tiles(), 0);
        // Twelve tiles of 40 steps for four blocks, three each; for five, 96 steps each.
        assert_eq!(cut([480, 640, 320], 4).cut_tiles(), 0);
        assert_eq!(cut([480, 640, 320], 5).cut_tiles(), 4);
        // For eight, a tile and a half each.
        assert_eq!(cut([480, 640, 320], 8).cut_tiles(), 4);
        // A tile of one step has nowhere to be cut.
        assert_eq!(cut([480, 16, 320], 5).cut_tiles(), 0);
    }
}
