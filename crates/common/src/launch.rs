//! Grids that cover an input: one thread an element, blocks up to past its edge where sizes do not
//! divide, within what the device takes.

use anyhow::{Context as _, Result, bail, ensure};
use cust::device::{Device, DeviceAttribute};
use cust::function::{BlockSize, Function, GridSize};
use cust::sys;

use crate::error::check;
use crate::flags::Block;

/// Blocks of `block` threads in a row that cover `elements`.
///
/// # Errors
///
/// Where the block or the grid is larger than the device takes.
pub fn grid_1d(device: &Device, elements: u64, block: u32) -> Result<(GridSize, BlockSize)> {
    let limits = Limits::of(device)?;
    if block > limits.threads || block > limits.block.0 {
        bail!(
            "--block {block} is too large: this device takes blocks of at most {} threads",
            limits.threads.min(limits.block.0)
        );
    }
    let blocks = elements.div_ceil(block.into());
    match u32::try_from(blocks) {
        Ok(blocks) if blocks <= limits.grid.0 => Ok((GridSize::x(blocks), BlockSize::x(block))),
        _ => bail!(
            "{elements} elements need {blocks} blocks with --block {block}, and this device takes \
             at most {}; use a larger --block or fewer elements",
            limits.grid.0
        ),
    }
}

/// Blocks that cover `width` by `height` elements.
///
/// # Errors
///
/// Where the block or the grid is larger than the device takes.
pub fn grid_2d(
    device: &Device,
    width: u64,
    height: u64,
    block: Block,
) -> Result<(GridSize, BlockSize)> {
    let limits = Limits::of(device)?;
    let threads = u64::from(block.width) * u64::from(block.height);
    let (most_wide, most_high) = limits.block;
    if threads > limits.threads.into() || block.width > most_wide || block.height > most_high {
        bail!(
            "--block {block} has {threads} threads; this device takes blocks of at most {}, \
             and at most {most_wide}x{most_high}",
            limits.threads,
        );
    }
    let grid = limits.blocks_2d(width, height, block)?;
    Ok((grid, BlockSize::xy(block.width, block.height)))
}

/// Blocks of `threads` in a row that compute `tile` elements each and together cover `width` by
/// `height`.
///
/// # Errors
///
/// Where the grid is larger than the device takes.
pub fn tiles_2d(
    device: &Device,
    width: u64,
    height: u64,
    tile: Block,
    threads: u32,
) -> Result<(GridSize, BlockSize)> {
    let grid = Limits::of(device)?.blocks_2d(width, height, tile)?;
    Ok((grid, BlockSize::x(threads)))
}

/// Bytes of shared memory that a block can have on this device, where it asks for more than the
/// usual 48 KB as well.
///
/// # Errors
///
/// CUDA's own.
pub fn shared_limit(device: &Device) -> Result<u32> {
    let attribute =
        sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: `bytes` is a place to write to.
    check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes.try_into()?)
}

/// Lets launches of `kernel` ask for `bytes` of shared memory a block, beside what the kernel has
/// of its own. Beyond 48 KB a GPU wants to be told before. (cust 0.3.2 has no call for it.)
///
/// # Errors
///
/// Where the device has less.
pub fn allow_shared(kernel: &Function<'_>, bytes: u32) -> Result<()> {
    let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let value = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: the kernel's module is loaded; the call changes nothing but this attribute.
    let status = unsafe { sys::cuFuncSetAttribute(kernel.to_raw(), attribute, value) };
    check(status).with_context(|| {
        format!("cannot have {bytes} bytes of shared memory a block: the device has less")
    })
}

/// As many blocks of a kernel as the GPU runs at once, each with `shared` bytes of shared memory
/// beside the kernel's own, which it has been [allowed](allow_shared).
///
/// # Errors
///
/// Where not one block fits, and CUDA's own.
pub fn at_once(
    device: &Device,
    kernel: &Function<'_>,
    block: BlockSize,
    shared: u32,
) -> Result<u32> {
    let resident = kernel.max_active_blocks_per_multiprocessor(block, shared as usize)?;
    ensure!(resident > 0, "a multiprocessor has no room for a block");
    let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?;
    Ok(resident * u32::try_from(multiprocessors)?)
}

/// What a device takes, along x and y.
struct Limits {
    threads: u32,
    block: (u32, u32),
    grid: (u32, u32),
}

impl Limits {
    fn of(device: &Device) -> Result<Self> {
        let limit = |attribute| -> Result<u32> {
            let value = device.get_attribute(attribute)?;
            Ok(value.try_into().unwrap_or(0))
        };
        Ok(Limits {
            threads: limit(DeviceAttribute::MaxThreadsPerBlock)?,
            block: (
                limit(DeviceAttribute::MaxBlockDimX)?,
                limit(DeviceAttribute::MaxBlockDimY)?,
            ),
            grid: (
                limit(DeviceAttribute::MaxGridDimX)?,
                limit(DeviceAttribute::MaxGridDimY)?,
            ),
        })
    }

    /// How many blocks it takes, each of `block` elements.
    fn blocks_2d(&self, width: u64, height: u64, block: Block) -> Result<GridSize> {
        let across = width.div_ceil(block.width.into());
        let down = height.div_ceil(block.height.into());
        let (widest, highest) = self.grid;
        match (u32::try_from(across), u32::try_from(down)) {
            (Ok(x), Ok(y)) if x <= widest && y <= highest => Ok(GridSize::xy(x, y)),
            _ => bail!(
                "{width} by {height} elements need a grid of {across}x{down} blocks, and this \
                 device takes at most {widest}x{highest}; use larger blocks or a smaller input"
            ),
        }
    }
}
