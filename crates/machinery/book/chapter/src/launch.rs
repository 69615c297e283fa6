//! Grids that cover an input: one thread per element, rounded up to whole blocks, within the device's limits.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};
use cust::device::{Device, DeviceAttribute};
use cust::function::{BlockSize, GridSize};

/// Returns a one-dimensional grid of blocks of `block` threads that covers `elements` elements.
///
/// # Errors
///
/// Fails if the block or the grid is larger than the device allows.
pub fn grid_1d(
    device: &Device,
    elements: impl Into<u64>,
    block: u32,
) -> Result<(GridSize, BlockSize)> {
    let elements = elements.into();
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

/// Returns a two-dimensional grid of blocks that covers `width` by `height` elements.
///
/// # Errors
///
/// Fails if the block or the grid is larger than the device allows.
pub fn grid_2d(
    device: &Device,
    width: impl Into<u64>,
    height: impl Into<u64>,
    block: Block,
) -> Result<(GridSize, BlockSize)> {
    let limits = Limits::of(device)?;
    let threads = u64::from(block.width) * u64::from(block.height);
    let (max_width, max_height) = limits.block;
    if threads > limits.threads.into() || block.width > max_width || block.height > max_height {
        bail!(
            "--block {block} has {threads} threads; this device takes blocks of at most {}, \
             and at most {max_width}x{max_height}",
            limits.threads,
        );
    }
    let grid = limits.blocks_2d(width.into(), height.into(), block)?;
    Ok((grid, BlockSize::xy(block.width, block.height)))
}

/// Returns a two-dimensional grid of one-dimensional blocks of `threads` threads that compute `tile` elements
/// each and together cover `width` by `height` elements.
///
/// # Errors
///
/// Fails if the grid is larger than the device allows.
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

/// Threads of a two-dimensional block, at least 1 in each dimension: the value of a chapter's `--block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Threads along x.
    pub width: u32,
    /// Threads along y.
    pub height: u32,
}

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text
            .split_once('x')
            .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
        match sides {
            None => Err("write it as WIDTHxHEIGHT in whole numbers, like 16x16".to_owned()),
            Some((0, _) | (_, 0)) => Err("a block has at least one thread each way".to_owned()),
            Some((width, height)) => Ok(Block { width, height }),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The device's limits along x and y.
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

    /// Returns the grid of blocks of `block` elements that covers `width` by `height` elements.
    fn blocks_2d(&self, width: u64, height: u64, block: Block) -> Result<GridSize> {
        let blocks_x = width.div_ceil(block.width.into());
        let blocks_y = height.div_ceil(block.height.into());
        let (max_x, max_y) = self.grid;
        match (u32::try_from(blocks_x), u32::try_from(blocks_y)) {
            (Ok(x), Ok(y)) if x <= max_x && y <= max_y => Ok(GridSize::xy(x, y)),
            _ => bail!(
                "{width} by {height} elements need a grid of {blocks_x}x{blocks_y} blocks, and this \
                 device takes at most {max_x}x{max_y}; use larger blocks or a smaller input"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let block: Block = "7x5".parse().unwrap();
        assert_eq!((block.width, block.height), (7, 5));
        assert_eq!(block.to_string(), "7x5");
        for zero in ["0x16", "16x0", "0x0"] {
            let error = zero.parse::<Block>().unwrap_err();
            assert!(error.contains("at least one"), "{error}");
        }
        for malformed in "|16|x|16x|x16|16x16x1|-1x4|99999999999x1".split('|') {
            let error = malformed.parse::<Block>().unwrap_err();
            assert!(error.contains("WIDTHxHEIGHT"), "{malformed}: {error}");
        }
    }
}
