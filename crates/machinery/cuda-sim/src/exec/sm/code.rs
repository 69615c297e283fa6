//! A program as the executor runs it: one flat array of decoded instructions.

use super::Sm;
use crate::exec::gang::GangScope;

/// Runs one instruction for a warp and says where to go on.
///
/// # Safety
/// The instruction was lowered for the frame the [`Sm`] is in: every operand is an offset to a
/// row or predicate of the width the handler reads.
pub type Handler = unsafe fn(&mut Sm, &Inst) -> Next;

/// The ways to run an instruction.
#[derive(Clone, Copy)]
pub struct Handlers {
    /// For one warp.
    pub warp: Handler,
    /// For all warps of a gang (see `exec/gang.rs`), where there is such a form.
    pub gang: Option<Handler>,
    /// Whether it writes the same in all threads of a block that give it the same operands.
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

/// The next instruction, or null to give the warp back to the scheduler.
pub type Next = *const Inst;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub struct Inst {
    pub run: Handler,
    /// Byte offsets into the frame: destinations first, then sources.
    pub operands: [u32; 6],
    /// What the handler says: a block's number, a memory slot's size, a branch target.
    pub arg0: u32,
    pub arg1: u32,
    /// An immediate: an address offset, a truth table, a function's number.
    pub imm: u64,
    /// A bit for each operand that all warps of a gang have in common.
    pub uniform: u8,
    /// For which warps of a gang it runs.
    pub gang_scope: GangScope,
    /// How many instructions before it is an access at the same addresses, but for `imm` (see
    /// [`super::repeated`]); 0 where there is none.
    pub reuse_distance: u16,
}

impl Inst {
    /// The instruction after this one.
    #[inline(always)]
    pub fn next(&self) -> Next {
        // Code never ends in an instruction that falls through, so this stays in the array.
        (self as *const Inst).wrapping_add(1)
    }
}
