//! How a rung is launched: a quarter of the note's threads, four sums each.

use anyhow::{Context as _, Result};
use chapter::shared::{allow_shared, at_once};
use common::gpu::Gpu;
use common::launch;
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};

use crate::pattern::NUM_VALUES;
use crate::variant::{Values, Variant};

/// Sums that a thread of the ladder adds at a time.
pub const FOUR: u32 = 4;

/// Bytes of all values, as `add_constant_shared` copies them.
const TABLE_BYTES: u32 = (NUM_VALUES * size_of::<i32>()) as u32;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: GridSize,
    /// Threads of a block.
    pub block: BlockSize,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

/// How `rung` is launched for `sums` where the note's blocks have `block` threads, a multiple of
/// [`FOUR`].
///
/// # Errors
///
/// Where the device does not take it.
pub fn of(gpu: &Gpu, kernel: &Function, rung: &Variant, sums: u32, block: u32) -> Result<Shape> {
    let vectors = sums.div_ceil(FOUR);
    let width = block / FOUR;
    if rung.values == Values::Shared {
        return shared(gpu, kernel, vectors, width);
    }
    // Each of the note's blocks is `width` vectors.
    let threads = vectors.div_ceil(width).div_ceil(rung.blocks) * width;
    let (grid, block) = launch::grid_1d(&gpu.device, threads, width)?;
    Ok(Shape {
        grid,
        block,
        shared: 0,
    })
}

/// As many blocks as the GPU holds at once, or fewer where there are not vectors enough; each has
/// as many threads as it may, in rows of `width`.
fn shared(gpu: &Gpu, kernel: &Function, vectors: u32, width: u32) -> Result<Shape> {
    let cannot = "cannot give a block 64 KB of shared memory";
    allow_shared(kernel, TABLE_BYTES).context(cannot)?;
    let threads = gpu
        .device
        .get_attribute(DeviceAttribute::MaxThreadsPerBlock)?;
    let rows = (u32::try_from(threads)? / width).max(1);
    let block = BlockSize::xy(width, rows);
    let most = at_once(&gpu.device, kernel, block, TABLE_BYTES).context(cannot)?;
    let blocks = vectors.div_ceil(width).div_ceil(rows);
    Ok(Shape {
        grid: GridSize::x(blocks.min(most)),
        block,
        shared: TABLE_BYTES,
    })
}
