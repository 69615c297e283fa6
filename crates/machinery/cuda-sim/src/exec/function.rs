//! What the executor knows of a function besides its code.

use std::ops::Range;

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
    pub common: UniformRows,
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
    /// It has volatile or ordered loads or stores of device memory.
    pub volatile: bool,
}

/// A constant operand's row.
#[derive(Debug, Clone, Copy)]
pub struct Literal {
    pub offset: u32,
    pub bits: u64,
    pub wide: bool,
    pub predicate: bool,
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

/// The parts of a frame that hold what warps have in common: byte offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UniformRows {
    /// Rows of 64 bits a lane.
    pub wide: Range<u32>,
    /// Rows of 32 bits a lane.
    pub narrow: Range<u32>,
    pub predicates: Range<u32>,
}

impl UniformRows {
    pub fn bytes(&self) -> u32 {
        (self.wide.len() + self.narrow.len() + self.predicates.len()) as u32
    }
}
