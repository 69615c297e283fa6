//! Properties of functions that the executor needs in addition to their code.

use std::ops::Range;

/// A `.entry` or `.func` with a body.
#[derive(Debug, Clone, Default)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    /// Index of its first instruction.
    pub entry: u32,
    /// Index of the block in which all returns reconverge; kernels have none.
    pub end: u32,
    /// Bytes of its registers per warp.
    pub frame_bytes: u32,
    /// Bytes of local memory per thread: results, parameters, variables and outgoing parameters.
    pub local_bytes: u32,
    /// True if its warps may run in lockstep, because the result does not depend on their order.
    pub can_form_gangs: bool,
    /// The frame's rows of values that are uniform over the warps of a block.
    pub uniform: UniformRows,
    /// Rows that hold the same value throughout.
    pub literals: Vec<Literal>,
    /// Maximum number of 32-bit registers per thread that are live at once.
    pub registers: u32,
    /// Indices of the functions it calls.
    pub calls: Vec<usize>,
    /// True if it calls through a pointer.
    pub calls_pointers: bool,
    /// True if it has atomics on device memory whose order affects the result.
    pub ordered: bool,
    /// True if it has volatile or ordered loads or stores of device memory.
    pub volatile: bool,
}

/// The row of a constant operand.
#[derive(Debug, Clone, Copy)]
pub struct Literal {
    pub offset: u32,
    pub bits: u64,
    pub wide: bool,
    pub predicate: bool,
}

/// A call: the transfers between the caller's and the callee's local memory. Each transfer is a tuple
/// `(from, to, bytes)` of offsets into the frames' local memory.
#[derive(Debug, Clone, Default)]
pub struct CallSite {
    pub arguments: Vec<(u32, u32, u32)>,
    pub results: Vec<(u32, u32, u32)>,
    /// Bytes of the caller's local memory; the callee's follows it.
    pub caller_bytes: u32,
}

/// Byte ranges of a frame that hold uniform values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UniformRows {
    /// Rows of 64 bits per lane.
    pub wide: Range<u32>,
    /// Rows of 32 bits per lane.
    pub narrow: Range<u32>,
    pub predicates: Range<u32>,
}

impl UniformRows {
    pub fn bytes(&self) -> u32 {
        (self.wide.len() + self.narrow.len() + self.predicates.len()) as u32
    }
}
