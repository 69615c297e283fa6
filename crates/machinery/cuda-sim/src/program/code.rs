//! A program as the executor runs it: one flat array of decoded instructions.

use crate::exec::sm::Sm;

/// Runs one instruction for a warp and says where to go on.
///
/// # Safety
/// The instruction was lowered for the frame the [`Sm`] is in: every operand is an offset to a
/// row or predicate of the width the handler reads.
pub type Handler = unsafe fn(&mut Sm, &Inst) -> Next;

/// The next instruction, or null to give the warp back to the scheduler.
pub type Next = *const Inst;

/// A decoded instruction.
#[derive(Clone, Copy)]
pub struct Inst {
    pub run: Handler,
    /// Byte offsets into the frame: destinations first, then sources.
    pub o: [u32; 6],
    /// What the handler says: a block's number, a memory slot's size, a branch target.
    pub x: u32,
    pub y: u32,
    /// An immediate: an address offset, a truth table, a function's number.
    pub imm: u64,
}

impl Inst {
    /// The instruction after this one.
    #[inline(always)]
    pub fn next(&self) -> Next {
        // Code never ends in an instruction that falls through, so this stays in the array.
        (self as *const Inst).wrapping_add(1)
    }
}
