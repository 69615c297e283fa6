//! The properties of kernels that launches need (parameters, memory sizes, registers, launch bounds), and the
//! dimensions of a launch.

use super::check_event::SharedArray;
use crate::memory::LOCAL_GRANULE;
use crate::ptx::ast::SourceLocation;

/// Several `extern __shared__` arrays of a kernel, all of which start at the same address.
#[derive(Debug, Clone)]
pub struct ExternArrays {
    /// The names in the source.
    pub names: Vec<String>,
    /// The PTX line and the source location of an instruction that uses the last of them.
    pub used_at: (u32, Option<SourceLocation>),
}

/// A kernel's properties, as the driver reports and uses them.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    pub name: String,
    /// The index of the kernel's code among the program's functions.
    pub function: usize,
    pub params: Vec<Param>,
    /// The total size of all parameters in bytes.
    pub param_bytes: u32,
    /// Bytes of static shared memory per block.
    pub shared_bytes: u32,
    /// Bytes of local memory per thread, including callees as far as they are known.
    pub local_bytes: u32,
    /// Bytes of the module's constants.
    pub const_bytes: u32,
    /// 32-bit registers per thread: the maximum number live at once, a lower bound of what an assembler needs.
    pub registers: u32,
    /// The maximum registers per thread under the kernel's launch bounds (`.maxntid`, `.reqntid`,
    /// `.minnctapersm`, `.maxnreg`); an assembler spills the excess to local memory. `None` if the kernel has
    /// no launch bounds.
    pub register_bound: Option<u32>,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// True with `.explicitcluster`: a launch must specify the size of its clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
    /// The static variables in shared memory that the kernel uses, directly or through functions.
    pub shared_variables: Vec<SharedArray>,
    /// The `extern __shared__` arrays of the kernel, if there are several.
    pub extern_arrays: Option<ExternArrays>,
    /// True if blocks must run in order for a reproducible result.
    pub ordered: bool,
    /// True if the kernel has volatile or ordered loads or stores of device memory, through which its blocks
    /// may wait for each other.
    pub volatile: bool,
    /// True if the kernel has recursion or calls through pointers, so that its stack has no static bound.
    pub(crate) unbounded: bool,
}

impl Kernel {
    /// Returns `registers`, limited by the kernel's launch bounds.
    pub fn limit_by_launch_bounds(&self, registers: u32) -> u32 {
        self.register_bound
            .map_or(registers, |bound| registers.min(bound))
    }

    /// Estimates the registers per thread that an assembler allocates. It reorders instructions, so that far
    /// fewer values are live at once than in PTX order: about half, in the chapters' kernels.
    pub fn estimated_registers(&self) -> u32 {
        /// The estimate's minimum: reordering saves nothing below it.
        const MIN_ESTIMATE: u32 = 32;
        /// The hardware's limit per thread; an assembler spills the excess to local memory.
        const MAX_REGISTERS: u32 = 255;
        self.limit_by_launch_bounds((self.registers / 2).clamp(MIN_ESTIMATE, MAX_REGISTERS))
    }

    /// Returns the bytes of shared memory per block, given `dynamic` bytes of dynamic shared memory.
    pub fn shared_bytes_with(&self, dynamic: u32) -> u32 {
        match dynamic {
            // Without dynamic shared memory the size is not rounded up.
            0 => self.shared_bytes,
            // Dynamic shared memory is aligned to 16 bytes.
            dynamic => self.shared_bytes.next_multiple_of(16) + dynamic,
        }
    }

    /// Returns the bytes of local memory per thread; `limit` is the stack limit that applies to unbounded
    /// stacks.
    pub fn stack_bytes(&self, limit: u32) -> u32 {
        let bytes = if self.unbounded {
            self.local_bytes.max(limit)
        } else {
            self.local_bytes
        };
        bytes.next_multiple_of(LOCAL_GRANULE)
    }
}

/// The location of a kernel parameter in the parameter space, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub offset: u32,
    pub size: u32,
}

/// The dimensions of the grid in blocks and of a block in threads, each as x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Dims {
    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns `blockIdx` of the block with linear number `number` (x varies fastest).
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        coordinates(number, self.grid)
    }

    /// Returns `threadIdx` of the thread with linear number `number` in its block (x varies fastest).
    pub fn thread_index(&self, number: u32) -> [u32; 3] {
        coordinates(number.into(), self.block)
    }
}

/// Returns the coordinates of linear number `number` in a box of the given size (x varies fastest).
pub fn coordinates(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
}
