//! The chapter's kernels: the note's, and the rungs towards the memory's limit, which are launched with a quarter of the
//! note's threads, four additions each.

use anyhow::{Context as _, Result};
use chapter::memory::{allow_shared, resident_blocks};
use chapter::{ladder, launch};
use common::gpu::{Capability, Gpu};
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};

use crate::pattern::NUM_VALUES;

/// A row of the table of kernels.
pub type Variant = ladder::Variant<KernelConfig>;

/// The chapter's properties of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelConfig {
    /// The memory that holds the values.
    pub values: Values,
    /// Number of the note's blocks that one of its blocks computes.
    pub blocks: u32,
    /// The rung's module; empty for the note's kernels, whose module is loaded in `main.rs`.
    pub ptx: &'static str,
}

/// The memory that a kernel reads the values from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Global memory.
    Global,
    /// Constant memory: the symbol of its module.
    Constant,
    /// Shared memory: each block copies the values there, and only as many blocks as are resident on the GPU
    /// share all additions.
    Shared,
}

/// One of the note's kernels, with values in global memory.
const NOTE: KernelConfig = KernelConfig {
    values: Values::Global,
    blocks: 1,
    ptx: "",
};

/// All kernels, from the note's upwards.
pub const VARIANTS: &[Variant] = &[
    Variant::note(
        "global",
        "add_constant_global_memory",
        [
            "the note's kernel, values in global memory",
            "笔记中的核函数，数值在全局内存中",
        ],
        NOTE,
    ),
    Variant::note(
        "constant",
        "add_constant_constant_memory",
        [
            "the note's kernel, values in constant memory",
            "笔记中的核函数，数值在常量内存中",
        ],
        KernelConfig {
            values: Values::Constant,
            ..NOTE
        },
    ),
    Variant::rung(
        "constant int4",
        "add_constant_int4_constant",
        [
            "four additions per thread: 16 bytes per access, one index for four",
            "每个线程四次加法：每次访问 16 字节，四次共用一个下标",
        ],
        KernelConfig {
            values: Values::Constant,
            blocks: 1,
            ptx: include_str!(env!("ADD_CONSTANT_LADDER_1_INT4_PTX")),
        },
    ),
    Variant::rung(
        "constant kept",
        "add_constant_kept_constant",
        [
            "eight vectors per thread, whose values are read once",
            "每个线程八个向量，其数值只读取一次",
        ],
        KernelConfig {
            values: Values::Constant,
            blocks: 8,
            ptx: include_str!(env!("ADD_CONSTANT_LADDER_2_KEPT_PTX")),
        },
    ),
    Variant::rung(
        "global int4",
        "add_constant_int4_global",
        [
            "values in global memory: 32 scattered values per request",
            "数值在全局内存中：一次请求 32 个分散的数值",
        ],
        KernelConfig {
            ptx: include_str!(env!("ADD_CONSTANT_LADDER_3_GLOBAL_INT4_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "read-only int4",
        "add_constant_int4_read_only",
        ["values through the read-only cache", "数值经只读缓存读取"],
        KernelConfig {
            ptx: include_str!(env!("ADD_CONSTANT_LADDER_4_READ_ONLY_INT4_PTX")),
            ..NOTE
        },
    ),
    Variant::rung(
        "shared",
        "add_constant_shared",
        [
            "values in shared memory, with only as many blocks as are resident",
            "数值在共享内存中，只启动能同时驻留的线程块",
        ],
        KernelConfig {
            values: Values::Shared,
            ptx: include_str!(env!("ADD_CONSTANT_LADDER_5_SHARED_PTX")),
            ..NOTE
        },
    )
    // The first capability with 64 KB of shared memory per block.
    .needs(Capability(7, 0)),
];

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
pub fn shape_of(
    gpu: &Gpu,
    kernel: &Function,
    rung: &Variant,
    sums: u32,
    block: u32,
) -> Result<Shape> {
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
