//! Division of the work into equal shares (Stream-K), used by the rung `even shares`.

use matmul_pitched::flags::ProductFlags;

use crate::tile::Tile;

/// The work of a matrix multiplication, divided into equal shares.
///
/// Each tile of C needs a number of steps along A's columns and B's rows. The steps of all tiles,
/// concatenated tile by tile, are divided into one share per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of shares, one per block.
    pub shares: u32,
    tiles: u64,
    steps: u64,
}

impl Cut {
    /// Divides the work among at most `blocks` blocks. No share is smaller than a tile, so that no tile is
    /// cut twice and no block waits long for another.
    pub fn new(product: &ProductFlags, tile: Tile, blocks: u32) -> Self {
        let tiles = tile.down(product) * tile.across(product);
        Cut {
            shares: tiles.min(blocks.into()) as u32,
            tiles,
            steps: tile.steps(product),
        }
    }

    /// Returns the number of tiles that one block begins and the next one finishes.
    pub fn cut_tiles(&self) -> u64 {
        let Cut { tiles, steps, .. } = *self;
        let shares = u64::from(self.shares);
        // Cannot overflow, neither here nor in the kernel: a step has more than 2^18 multiply-adds, all
        // together are fewer than 2^60 (for matrices that fit into memory), and there are fewer than 2^20
        // blocks.
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
        // There are 4x3 tiles.
        assert_eq!(cut([480, 640, 320], 264).shares, 12);
        // There are 38x25 tiles.
        assert_eq!(cut([4800, 6400, 3200], 264).shares, 264);
        assert_eq!(cut([4800, 6400, 3200], 1).shares, 1);
    }

    #[test]
    fn tiles_are_cut_where_shares_end_within_them() {
        // One tile per block, or all tiles in one block.
        assert_eq!(cut([480, 640, 320], 264).cut_tiles(), 0);
        assert_eq!(cut([480, 640, 320], 1).cut_tiles(), 0);
        // Twelve tiles of 40 steps: four blocks get three tiles each, five get 96 steps each.
        assert_eq!(cut([480, 640, 320], 4).cut_tiles(), 0);
        assert_eq!(cut([480, 640, 320], 5).cut_tiles(), 4);
        // Eight blocks get a tile and a half each.
        assert_eq!(cut([480, 640, 320], 8).cut_tiles(), 4);
        // A tile with a single step cannot be cut.
        assert_eq!(cut([480, 16, 320], 5).cut_tiles(), 0);
    }
}
