//! Limits on modules, where a short text could otherwise demand unbounded memory or time. Every limit is far
//! above what compilers emit; a module beyond it is refused.

/// Maximum basic blocks of a function. Computing reconvergence points can take quadratic time.
pub const BLOCKS: usize = 1 << 15;

/// Maximum targets of all `brx.idx` instructions of a function. Each instruction has its own copy of its list.
pub const BRANCH_TARGETS: usize = 1 << 18;

/// Maximum bytes of the registers of one warp in one function, including a row per literal.
pub const FRAME_BYTES: u64 = 1 << 22;

/// Maximum bytes of local memory per thread (CUDA C++ Programming Guide, table of technical specifications).
pub const LOCAL_BYTES: u64 = 512 * 1024;

/// Maximum references followed from a module's kernels, summed over the kernels.
pub const REFERENCES: usize = 1 << 22;

/// Maximum shared variables of a kernel.
pub const SHARED_VARIABLES: usize = 2048;

/// Maximum 64-bit words of all live-in sets of a function. A set has a bit per register.
pub const LIVE_WORDS: usize = 1 << 22;

/// Maximum steps of an iterative data-flow analysis of a function.
pub const STEPS: usize = 1 << 28;
