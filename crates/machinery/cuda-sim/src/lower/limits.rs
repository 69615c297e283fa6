//! How large a module may be, where more than its text sets what it costs: a few lines may name
//! memory, paths or pairs without number. Every limit is far above what compilers write, and
//! beyond it a module is refused.

/// Basic blocks of a function. Finding out where branches meet can take the square of it.
pub const BLOCKS: usize = 1 << 15;

/// Targets of a function's `brx.idx` instructions, all together: each instruction has its own copy
/// of its list.
pub const BRANCH_TARGETS: usize = 1 << 18;

/// Bytes of the registers of one warp in one function, a row for each literal included.
pub const FRAME_BYTES: u64 = 1 << 22;

/// Bytes of local memory of a thread (CUDA C++ Programming Guide, table of technical specifications).
pub const LOCAL_BYTES: u64 = 512 * 1024;

/// Names that a module's kernels reach, counted for each kernel anew: what they mention, and what
/// that mentions.
pub const REACHED: usize = 1 << 22;

/// Shared variables of one kernel.
pub const SHARED_VARIABLES: usize = 2048;

/// 64-bit words of the sets of registers that are wanted where a function's blocks begin. A set has
/// a bit for each register.
pub const LIVE_WORDS: usize = 1 << 22;

/// Steps of an analysis that goes over a function until nothing changes any more.
pub const STEPS: usize = 1 << 28;
