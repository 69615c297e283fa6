//! How a rung is launched: what runs, with how many blocks, and what goes between them.

use anyhow::{Context as _, Result};
use chapter::Chapter;
use chapter::shared;
use common::{launch, module};
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};
use cust::memory::DeviceBuffer;
use cust::module::Module;
use matmul_pitched::flags::ProductFlags;

use crate::flags::Flags;
use crate::shares::Cut;
use crate::split::{self, SHAPES, Split};
use crate::tile::Tile;
use crate::variant::{Variant, Work, named};

/// A rung's launch on this GPU, for these sizes.
pub struct Plan<'a> {
    pub kernel: Function<'a>,
    pub grid: GridSize,
    pub block: BlockSize,
    /// Shared memory that it asks for.
    pub bytes: u32,
    /// What a block computes at a time.
    pub tile: Option<Tile>,
    /// What goes from block to block, where something does.
    pub between: Option<Between>,
    /// How sums are split, where they are.
    pub split: Option<Split>,
}

/// What goes from block to block, in the GPU's memory.
pub struct Between {
    /// Tiles of C that a block stores for another.
    pub parts: DeviceBuffer<f32>,
    /// Whether a part is there, or how many are. All are zero before a launch, and after it.
    pub ready: DeviceBuffer<u32>,
    /// Tiles that are stored and loaded again.
    pub tiles: u64,
}

/// What a rung launches here.
pub struct Launched {
    /// The kernel's row of the table: the rung's own, but where equal shares are faster `split k`
    /// launches the kernel of `even shares`.
    pub row: &'static Variant,
    pub module: Module,
    /// How sums are split, where they are.
    pub split: Option<Split>,
}

impl Launched {
    /// # Errors
    ///
    /// CUDA's own.
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
    Ok(split::choose(&flags.product, multiprocessors, resident))
}

fn multiprocessors(chapter: &Chapter) -> Result<u32> {
    let count = DeviceAttribute::MultiprocessorCount;
    Ok(chapter.gpu.device.get_attribute(count)?.try_into()?)
}

impl<'a> Plan<'a> {
    /// # Errors
    ///
    /// Where the GPU has no room for a block, or no memory for what goes from block to block, and
    /// CUDA's own.
    pub fn new(chapter: &Chapter, flags: &Flags, launched: &'a Launched) -> Result<Self> {
        let (row, module) = (launched.row, &launched.module);
        match (row.work, launched.split) {
            (_, Some(split)) => Self::split(chapter, flags, split, module),
            (Work::EvenShares, None) => Self::even_shares(chapter, flags, row, module),
            (_, None) => Self::tiles(chapter, flags, row, module),
        }
    }

    /// A tile a block.
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

    /// As many blocks as run at once, each with as many steps.
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
        let together = shared::at_once(device, &tiles.kernel, tiles.block, tiles.bytes);
        let together = together.with_context(|| format!("cannot run {}", variant.kernel))?;
        let cut = Cut::new(&flags.product, tile, together);
        let shares = u64::from(cut.shares);
        Ok(Plan {
            grid: GridSize::x(cut.shares),
            between: Some(Between::new(tile, shares, shares, cut.cut_tiles())?),
            ..tiles
        })
    }

    /// A part of a tile's sum a block.
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
    /// Room for so many tiles and flags, of which `tiles` are handed on.
    fn new(tile: Tile, room: u64, flags: u64, tiles: u64) -> Result<Self> {
        let elements = room.max(1) * u64::from(tile.rows) * u64::from(tile.cols);
        let parts = DeviceBuffer::zeroed(elements.try_into()?);
        Ok(Between {
            parts: parts.context("no memory for what blocks hand on")?,
            ready: DeviceBuffer::zeroed(flags.try_into()?)?,
            tiles,
        })
    }
}

/// A kernel that may ask for so much shared memory.
fn function<'a>(module: &'a Module, name: &str, bytes: u32) -> Result<Function<'a>> {
    let kernel = module
        .get_function(name)
        .with_context(|| format!("cannot find the kernel {name}"))?;
    shared::allow_shared(&kernel, bytes).with_context(|| name.to_owned())?;
    Ok(kernel)
}

/// Blocks that cover C, each with the part of it that it computes.
///
/// # Errors
///
/// Where the device does not take them.
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
