//! Launch configuration of a rung: the kernel, its grid, and the memory through which blocks communicate.

use anyhow::{Context as _, Result};
use chapter::{Chapter, launch, memory};
use common::module;
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};
use cust::memory::DeviceBuffer;
use cust::module::Module;
use matmul_pitched::flags::ProductFlags;

use crate::flags::Flags;
use crate::tile::{self, SHAPES, Split, Tile};
use crate::variant::{Variant, Work, named};

/// The launch configuration of a rung on this GPU for these sizes.
pub struct Plan<'a> {
    pub kernel: Function<'a>,
    pub grid: GridSize,
    pub block: BlockSize,
    /// Bytes of dynamic shared memory.
    pub bytes: u32,
    /// The tile that a block computes at a time.
    pub tile: Option<Tile>,
    /// Memory through which blocks pass on partial tiles, if they do.
    pub between: Option<Between>,
    /// The split of the sums, if they are split.
    pub split: Option<Split>,
}

/// Device memory through which blocks pass on partial tiles.
pub struct Between {
    /// Partial tiles of C that a block stores for another.
    pub parts: DeviceBuffer<f32>,
    /// One flag per partial tile, or a counter of partial tiles. All are zero before and after a launch.
    pub ready: DeviceBuffer<u32>,
    /// Number of tiles that are stored and loaded again.
    pub tiles: u64,
}

/// The kernel that a rung launches for these sizes.
pub struct Launched {
    /// The kernel's row of the table: usually the rung itself, but `split k` launches the kernel of `even
    /// shares` (Stream-K) where that is faster.
    pub row: &'static Variant,
    pub module: Module,
    /// The split of the sums, if they are split.
    pub split: Option<Split>,
}

impl Launched {
    /// Loads the module of the kernel that `rung` launches for these sizes.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn by(rung: &'static Variant, chapter: &Chapter, flags: &Flags) -> Result<Self> {
        let module = module::load(rung.ptx)?;
        let split = match rung.work {
            Work::SplitK => choose_split(chapter, flags, &module)?,
            _ => None,
        };
        if rung.work != Work::SplitK || split.is_some() {
            let row = rung;
            return Ok(Launched { row, module, split });
        }
        let row = named("even shares");
        let module = module::load(row.ptx)?;
        Ok(Launched { row, module, split })
    }
}

fn choose_split(chapter: &Chapter, flags: &Flags, module: &Module) -> Result<Option<Split>> {
    let mut resident = [0; SHAPES.len()];
    for (resident, shape) in resident.iter_mut().zip(&SHAPES) {
        let kernel = function(module, shape.kernel, shape.shared_bytes)?;
        let (block, bytes) = (BlockSize::x(shape.threads), shape.shared_bytes as usize);
        *resident = kernel.max_active_blocks_per_multiprocessor(block, bytes)?;
    }
    let multiprocessors = multiprocessors(chapter)?;
    Ok(tile::choose_split(
        &flags.product,
        multiprocessors,
        resident,
    ))
}

fn multiprocessors(chapter: &Chapter) -> Result<u32> {
    let count = DeviceAttribute::MultiprocessorCount;
    Ok(chapter.gpu.device.get_attribute(count)?.try_into()?)
}

impl<'a> Plan<'a> {
    /// Computes the launch configuration and allocates the memory between blocks.
    ///
    /// # Errors
    ///
    /// Fails if not even one block fits on a streaming multiprocessor, if there is no memory for the partial
    /// tiles, or if CUDA reports an error.
    pub fn new(chapter: &Chapter, flags: &Flags, launched: &'a Launched) -> Result<Self> {
        let (row, module) = (launched.row, &launched.module);
        match (row.work, launched.split) {
            (_, Some(split)) => Self::split(chapter, flags, split, module),
            (Work::EvenShares, None) => Self::even_shares(chapter, flags, row, module),
            (_, None) => Self::tiles(chapter, flags, row, module),
        }
    }

    /// Configures one block per tile.
    fn tiles(
        chapter: &Chapter,
        flags: &Flags,
        variant: &Variant,
        module: &'a Module,
    ) -> Result<Self> {
        let kernel = function(module, variant.kernel, variant.shared_bytes)?;
        let (grid, block) = grid(chapter, flags, variant)?;
        Ok(Plan {
            kernel,
            grid,
            block,
            bytes: variant.shared_bytes,
            tile: variant.tile,
            between: None,
            split: None,
        })
    }

    /// Configures as many blocks as are resident at once, each with the same number of steps (Stream-K).
    fn even_shares(
        chapter: &Chapter,
        flags: &Flags,
        variant: &Variant,
        module: &'a Module,
    ) -> Result<Self> {
        let tiles = Self::tiles(chapter, flags, variant, module)?;
        let Some(tile) = variant.tile else {
            return Ok(tiles);
        };
        let device = &chapter.gpu.device;
        let together = memory::resident_blocks(device, &tiles.kernel, tiles.block, tiles.bytes);
        let together = together.with_context(|| format!("cannot run {}", variant.kernel))?;
        let cut = Cut::new(&flags.product, tile, together);
        let shares = u64::from(cut.shares);
        Ok(Plan {
            grid: GridSize::x(cut.shares),
            between: Some(Between::new(tile, shares, shares, cut.cut_tiles())?),
            ..tiles
        })
    }

    /// Configures one block per part of a tile's sum (split K).
    fn split(chapter: &Chapter, flags: &Flags, split: Split, module: &'a Module) -> Result<Self> {
        let product = &flags.product;
        let Split { shape, parts } = split;
        let tile = shape.tile;
        let (width, height) = (product.p.into(), product.m.into());
        let device = &chapter.gpu.device;
        let (grid, block) = launch::tiles_2d(device, width, height, tile.area(), shape.threads)
            .context(shape.kernel)?;
        let tiles = u64::from(grid.x) * u64::from(grid.y);
        let handed_on = split.handed_on(product);
        Ok(Plan {
            kernel: function(module, shape.kernel, shape.shared_bytes)?,
            grid: GridSize::xyz(grid.x, grid.y, parts),
            block,
            bytes: shape.shared_bytes,
            tile: Some(tile),
            between: Some(Between::new(tile, handed_on, tiles, handed_on)?),
            split: Some(split),
        })
    }
}

impl Between {
    /// Allocates `room` partial tiles and `flags` flags; `tiles` tiles are passed on.
    fn new(tile: Tile, room: u64, flags: u64, tiles: u64) -> Result<Self> {
        let elements = room.max(1) * u64::from(tile.rows) * u64::from(tile.cols);
        let parts = DeviceBuffer::zeroed(elements.try_into()?);
        Ok(Between {
            parts: parts.context("no memory for the partial tiles that blocks pass on")?,
            ready: DeviceBuffer::zeroed(flags.try_into()?)?,
            tiles,
        })
    }
}

/// Returns a kernel that is allowed to use `bytes` bytes of dynamic shared memory.
fn function<'a>(module: &'a Module, name: &str, bytes: u32) -> Result<Function<'a>> {
    let kernel = module
        .get_function(name)
        .with_context(|| format!("cannot find the kernel {name}"))?;
    memory::allow_shared(&kernel, bytes).with_context(|| name.to_owned())?;
    Ok(kernel)
}

/// Returns the grid that covers C with one block per tile.
///
/// # Errors
///
/// Fails if the device does not allow it.
pub fn grid(chapter: &Chapter, flags: &Flags, variant: &Variant) -> Result<(GridSize, BlockSize)> {
    let device = &chapter.gpu.device;
    let ProductFlags { p, m, .. } = flags.product;
    let area = variant.area(flags.block);
    let grid = match variant.threads {
        None => launch::grid_2d(device, p, m, area),
        Some(threads) => launch::tiles_2d(device, p.into(), m.into(), area, threads),
    };
    grid.context(variant.name)
}

/// The work of a matrix multiplication, divided into equal shares (Stream-K) for the rung `even shares`.
///
/// Each tile of C needs a number of steps along A's columns and B's rows. The steps of all tiles,
/// concatenated tile by tile, are divided into one share per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Number of shares, one per block.
    shares: u32,
    tiles: u64,
    steps: u64,
}

impl Cut {
    /// Divides the work among at most `blocks` blocks. No share is smaller than a tile, so that no tile is
    /// cut twice and no block waits long for another.
    fn new(product: &ProductFlags, tile: Tile, blocks: u32) -> Self {
        let tiles = tile.down(product) * tile.across(product);
        Cut {
            shares: tiles.min(blocks.into()) as u32,
            tiles,
            steps: tile.steps(product),
        }
    }

    /// Returns the number of tiles that one block begins and the next one finishes.
    fn cut_tiles(&self) -> u64 {
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
    use matmul_pitched::flags::Fill;

    use super::*;
    use crate::variant::named;

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
