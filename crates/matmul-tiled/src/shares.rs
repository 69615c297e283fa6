//! Even shares of the work: what the rung of that name is launched with.

use anyhow::{Context as _, Result};
use chapter::shared;
use common::gpu::Gpu;
use cust::function::{BlockSize, Function, GridSize};
use cust::memory::DeviceBuffer;
use matmul_pitched::flags::ProductFlags;

use crate::tile::Tile;
use crate::variant::Variant;

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

/// A cut, and what goes from block to block, in the GPU's memory.
pub struct Shares {
    /// How the work is cut.
    pub cut: Cut,
    /// What is cut.
    pub tile: Tile,
    /// A tile of C a block, for the one that it begins and does not finish.
    pub parts: DeviceBuffer<f32>,
    /// A flag a block: whether its part is there. All are down before a launch, and after it.
    pub ready: DeviceBuffer<u32>,
}

impl Shares {
    /// As many as blocks run at once on this GPU; `None` for kernels whose blocks compute a tile
    /// each.
    ///
    /// # Errors
    ///
    /// Where the GPU has no room for a block, or no memory for what goes from block to block.
    pub fn new(
        gpu: &Gpu,
        kernel: &Function<'_>,
        variant: &Variant,
        product: &ProductFlags,
    ) -> Result<Option<Self>> {
        let (true, Some(tile)) = (variant.even_shares, variant.tile) else {
            return Ok(None);
        };
        let threads = BlockSize::x(variant.threads.unwrap_or(1));
        let together = shared::at_once(&gpu.device, kernel, threads, variant.shared_bytes);
        let together = together.with_context(|| format!("cannot run {}", variant.kernel))?;
        let cut = Cut::new(product, tile, together);

        let elements = cut.shares as usize * tile.rows as usize * tile.cols as usize;
        let parts = DeviceBuffer::zeroed(elements);
        Ok(Some(Shares {
            cut,
            tile,
            parts: parts.context("no memory for what blocks hand on")?,
            ready: DeviceBuffer::zeroed(cut.shares as usize)?,
        }))
    }

    /// A block a share.
    pub fn grid(&self) -> GridSize {
        GridSize::x(self.cut.shares)
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
