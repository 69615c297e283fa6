//! Launch configuration of the rungs: a quarter of the note's threads, four additions each.

use anyhow::{Context as _, Result};
use chapter::launch;
use chapter::memory::{allow_shared, resident_blocks};
use common::gpu::Gpu;
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};

use crate::pattern::NUM_VALUES;
use crate::variant::{Values, Variant};

/// Additions per thread at a time on the ladder.
pub const FOUR: u32 = 4;

/// Bytes of all values, which `add_constant_shared` copies to shared memory.
const TABLE_BYTES: u32 = (NUM_VALUES * size_of::<i32>()) as u32;

/// The launch configuration of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The blocks of the grid.
    pub grid: GridSize,
    /// The threads of a block.
    pub block: BlockSize,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

/// Returns the launch configuration of `rung` for `sums` additions if the note's blocks have `block` threads,
/// a multiple of [`FOUR`].
///
/// # Errors
///
/// Fails if the device does not allow it.
pub fn of(gpu: &Gpu, kernel: &Function, rung: &Variant, sums: u32, block: u32) -> Result<Shape> {
    let vectors = sums.div_ceil(FOUR);
    let width = block / FOUR;
    if rung.values == Values::Shared {
        return shared(gpu, kernel, vectors, width);
    }
    // Each of the note's blocks corresponds to `width` vectors of four.
    let threads = vectors.div_ceil(width).div_ceil(rung.blocks) * width;
    let (grid, block) = launch::grid_1d(&gpu.device, threads, width)?;
    Ok(Shape {
        grid,
        block,
        shared: 0,
    })
}

/// Returns as many blocks as are resident on the GPU, or fewer if there are not enough vectors. Each block
/// has as many threads as allowed, in rows of `width`.
fn shared(gpu: &Gpu, kernel: &Function, vectors: u32, width: u32) -> Result<Shape> {
    let cannot = "cannot give a block 64 KB of shared memory";
    allow_shared(kernel, TABLE_BYTES).context(cannot)?;
    let threads = gpu
        .device
        .get_attribute(DeviceAttribute::MaxThreadsPerBlock)?;
    let rows = (u32::try_from(threads)? / width).max(1);
    let block = BlockSize::xy(width, rows);
    let resident = resident_blocks(&gpu.device, kernel, block, TABLE_BYTES).context(cannot)?;
    let blocks = vectors.div_ceil(width).div_ceil(rows);
    Ok(Shape {
        grid: GridSize::x(blocks.min(resident)),
        block,
        shared: TABLE_BYTES,
    })
}
