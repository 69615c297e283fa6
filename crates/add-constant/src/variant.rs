//! The kernels, and how each is launched.

use anyhow::{Context as _, Result, ensure};
use common::gpu::{Capability, Gpu};
use common::ladder::Rung;
use common::launch;
use cust::device::DeviceAttribute;
use cust::function::{BlockSize, Function, GridSize};

use crate::pattern::NUM_VALUES;

/// Sums that a thread of the ladder adds at a time.
const FOUR: u32 = 4;

/// Bytes of all values, as `add_constant_shared` copies them.
const TABLE_BYTES: u32 = (NUM_VALUES * size_of::<i32>()) as u32;

/// A kernel that adds values in an access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The note's: values in global memory.
    Global,
    /// The note's: values in constant memory.
    Constant,
    /// Four sums a thread, values in constant memory.
    ConstantInt4,
    /// The same, each value kept for eight vectors.
    ConstantKept,
    /// Four sums a thread, values in global memory.
    GlobalInt4,
    /// The same through the read-only cache.
    ReadOnly,
    /// Values copied to shared memory.
    Shared,
}

impl Rung for Variant {
    const BOOK: &'static [Self] = &[Variant::Global, Variant::Constant];

    const LADDER: &'static [Self] = &[
        Variant::Global,
        Variant::Constant,
        Variant::ConstantInt4,
        Variant::ConstantKept,
        Variant::GlobalInt4,
        Variant::ReadOnly,
        Variant::Shared,
    ];

    fn name(self) -> &'static str {
        match self {
            Variant::Global => "global",
            Variant::Constant => "constant",
            Variant::ConstantInt4 => "constant int4",
            Variant::ConstantKept => "constant kept",
            Variant::GlobalInt4 => "global int4",
            Variant::ReadOnly => "read-only int4",
            Variant::Shared => "shared",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Variant::Global => "the note's kernel, values in global memory",
            Variant::Constant => "the note's kernel, values in constant memory",
            Variant::ConstantInt4 => "four sums a thread: 16 bytes an access, an index for four",
            Variant::ConstantKept => "eight vectors a thread, whose values are looked up once",
            Variant::GlobalInt4 => "values in global memory: scattered ones come 32 at once",
            Variant::ReadOnly => "values through the read-only cache",
            Variant::Shared => "values in shared memory, in as many blocks as the GPU holds",
        }
    }

    fn needs(self) -> Capability {
        match self {
            // The first with 64 KB of shared memory for a block.
            Variant::Shared => Capability(7, 0),
            _ => Capability::KERNELS,
        }
    }
}

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

impl Variant {
    /// The kernel's name in the `.cu` file.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Global => "add_constant_global_memory",
            Variant::Constant => "add_constant_constant_memory",
            Variant::ConstantInt4 => "add_constant_int4_constant",
            Variant::ConstantKept => "add_constant_kept_constant",
            Variant::GlobalInt4 => "add_constant_int4_global",
            Variant::ReadOnly => "add_constant_int4_read_only",
            Variant::Shared => "add_constant_shared",
        }
    }

    /// Whether it takes blocks of this many threads.
    ///
    /// # Errors
    ///
    /// Where four sums would not be in one block.
    pub fn takes(self, block: u32) -> Result<()> {
        ensure!(
            Self::BOOK.contains(&self) || block.is_multiple_of(FOUR),
            "{} adds four sums of a block at a time: --block {block} is no multiple of four; \
             choose another --block, or --variant book",
            self.name()
        );
        Ok(())
    }

    /// How `kernel` is launched for `sums` where the notes' blocks have `block` threads, as many as
    /// it [takes](Self::takes).
    ///
    /// # Errors
    ///
    /// Where the device does not take it.
    pub fn shape(self, gpu: &Gpu, kernel: &Function, sums: u32, block: u32) -> Result<Shape> {
        let vectors = sums.div_ceil(FOUR);
        let width = block / FOUR;
        // Each of the notes' blocks is `width` vectors.
        let rows = |each| u64::from(vectors.div_ceil(width).div_ceil(each) * width);
        let (grid, block) = match self {
            Variant::Shared => return shared(gpu, kernel, vectors, width),
            Variant::Global | Variant::Constant => launch::grid_1d(&gpu.device, sums.into(), block),
            Variant::ConstantKept => launch::grid_1d(&gpu.device, rows(8), width),
            _ => launch::grid_1d(&gpu.device, rows(1), width),
        }?;
        Ok(Shape {
            grid,
            block,
            shared: 0,
        })
    }
}

/// As many blocks as the GPU holds at once, or fewer where there are not vectors enough; each has
/// as many threads as it may, in rows of `width`.
fn shared(gpu: &Gpu, kernel: &Function, vectors: u32, width: u32) -> Result<Shape> {
    let cannot = "cannot give a block 64 KB of shared memory";
    launch::allow_shared(kernel, TABLE_BYTES).context(cannot)?;
    let threads = gpu
        .device
        .get_attribute(DeviceAttribute::MaxThreadsPerBlock)?;
    let rows = (u32::try_from(threads)? / width).max(1);
    let block = BlockSize::xy(width, rows);
    let most = launch::at_once(&gpu.device, kernel, block, TABLE_BYTES).context(cannot)?;
    let blocks = vectors.div_ceil(width).div_ceil(rows);
    Ok(Shape {
        grid: GridSize::x(blocks.min(most)),
        block,
        shared: TABLE_BYTES,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_kernels_take_any_block_and_vectors_multiples_of_four() {
        for variant in Variant::LADDER {
            assert!(variant.takes(1024).is_ok() && variant.takes(4).is_ok());
            let book = Variant::BOOK.contains(variant);
            assert_eq!(variant.takes(7).is_ok(), book, "{variant:?}");
        }
        let said = Variant::Shared.takes(6).unwrap_err().to_string();
        assert!(said.starts_with("shared adds four sums"), "{said}");
        assert!(said.contains("--block 6"), "{said}");
    }
}
