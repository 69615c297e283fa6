//! What the executor knows of a function besides its code.

use super::common::CommonRows;

/// A `.entry` or `.func` with a body.
#[derive(Debug, Clone, Default)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    /// Index of its first instruction.
    pub entry: u32,
    /// Index of the block where all returns meet; for a kernel there is none.
    pub end: u32,
    /// Bytes of its registers for a warp.
    pub frame_bytes: u32,
    /// Bytes of local memory a thread: results, parameters, variables, outgoing parameters.
    pub local_bytes: u32,
    /// Its warps may run in step: the result does not depend on their order.
    pub in_step: bool,
    /// Where in the frame lies what a block's warps have in common.
    pub common: CommonRows,
    /// Rows that hold the same value from beginning to end.
    pub literals: Vec<Literal>,
    /// Registers of 32 bits a thread that are live at once at most.
    pub registers: u32,
    /// Functions it calls, by number.
    pub calls: Vec<usize>,
    /// Calls through a pointer.
    pub calls_pointers: bool,
    /// Has atomics on device memory whose order shows in the result.
    pub ordered: bool,
}

/// A constant operand's row.
#[derive(Debug, Clone, Copy)]
pub struct Literal {
    pub offset: u32,
    pub bits: u64,
    pub wide: bool,
    pub predicate: bool,
}

/// A kernel as the driver sees it.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub name: String,
    /// Its code: an index into [`super::Program::functions`].
    pub function: usize,
    pub params: Vec<Param>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// Bytes of shared memory it declares.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread, calls included where they can be counted.
    pub local_bytes: u32,
    /// Bytes of the module's constants.
    pub const_bytes: u32,
    /// 32-bit registers a thread: the most live at once, as an assembler would at least need.
    pub registers: u32,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// Blocks must run in order for the result to be the same each time.
    pub ordered: bool,
    /// Calls itself in a circle or through pointers, so that its stack has no bound.
    pub(super) unbounded: bool,
}

impl Kernel {
    /// Bytes of local memory to give each thread, with `limit` set for unbounded stacks.
    pub fn stack_bytes(&self, limit: u32) -> u32 {
        let bytes = if self.unbounded {
            self.local_bytes.max(limit)
        } else {
            self.local_bytes
        };
        bytes.next_multiple_of(16)
    }
}

/// A kernel parameter's place in the parameter space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    pub offset: u32,
    pub size: u32,
}

/// A call: what moves between the caller's and the callee's local memory. Parts are
/// `(from, to, bytes)`, offsets into the frames' local memory.
#[derive(Debug, Clone, Default)]
pub struct CallSite {
    pub arguments: Vec<(u32, u32, u32)>,
    pub results: Vec<(u32, u32, u32)>,
    /// The caller's local memory: the callee's begins after it.
    pub caller_bytes: u32,
}
