//! The executable form of a program: a flat array of decoded instructions.

use super::Sm;
use crate::exec::warp::gang_state::GangScope;

/// A function that executes one instruction for a warp or a gang and returns the next instruction.
///
/// # Safety
/// The instruction must have been lowered for the function whose frame the [`Sm`] is in: every operand is the
/// offset of a row or predicate of the width that the handler accesses.
pub type Handler = unsafe fn(&mut Sm, &Inst) -> Next;

/// The handlers of an instruction.
#[derive(Clone, Copy)]
pub struct Handlers {
    /// Handler for one warp.
    pub warp: Handler,
    /// Handler for all warps of a gang (see `exec/gang`); `None` if a gang runs the instruction warp by warp.
    pub gang: Option<Handler>,
    /// True if uniform operands give a uniform result: threads of a block with equal operands get equal
    /// results.
    pub preserves_uniformity: bool,
}

impl From<Handler> for Handlers {
    fn from(warp: Handler) -> Handlers {
        Handlers {
            warp,
            gang: None,
            preserves_uniformity: false,
        }
    }
}

/// The next instruction, or null to return the warp to the scheduler.
pub type Next = *const Inst;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub struct Inst {
    pub run: Handler,
    /// Byte offsets of the operands in the frame: destinations first, then sources.
    pub operands: [u32; 6],
    /// Handler-specific argument, for example a block number, the size of a memory slot or a branch target.
    pub arg0: u32,
    pub arg1: u32,
    /// Immediate, for example an address offset, a truth table or a function number.
    pub imm: u64,
    /// Bit mask of the operands that are uniform over the warps of a gang.
    pub uniform: u8,
    /// The frames that the instruction writes when a gang runs it.
    pub gang_scope: GangScope,
    /// Distance in instructions to an earlier access at the same addresses except for `imm` (see
    /// `lower/analysis/uniformity.rs`); 0 if there is none.
    pub reuse_distance: u16,
}

impl Inst {
    /// Returns the following instruction.
    #[inline(always)]
    pub fn next(&self) -> Next {
        // Code never ends in an instruction that falls through, so the pointer stays inside the array.
        (self as *const Inst).wrapping_add(1)
    }
}
