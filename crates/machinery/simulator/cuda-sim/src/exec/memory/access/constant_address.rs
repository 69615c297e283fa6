//! Loads from addresses known at load time, and addresses of local memory.

use super::element::Element;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::same;
use crate::exec::sm::{Handlers, Inst, Sm};

/// Loads `arg0` elements from constant memory, `imm` bytes into the bank. On a GPU, such a load is an operand
/// of the instruction that uses the value.
pub fn load_constant_operand<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        let bank = sm.constants.host.cast_const();
        // SAFETY: the bank has the size that the module declares, and the lowering checked the offset against
        // it.
        unsafe { read_constant::<M>(bank, inst, part) }
    })
}

/// Loads `arg0` elements of a kernel parameter, `imm` bytes into the parameters.
pub fn load_param<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        // SAFETY: `params` has all bytes that the kernel declares, and the lowering checked the offset.
        unsafe { read_constant::<M>(sm.grid.params.as_ptr(), inst, part) }
    })
}

/// Reads element `part` of those that `inst` loads at a fixed offset from `base`.
///
/// # Safety
/// The element must lie inside the memory that starts at `base`.
#[inline(always)]
unsafe fn read_constant<M: Element>(base: *const u8, inst: &Inst, part: usize) -> M::Row {
    let host = base.wrapping_add(inst.imm as usize).cast::<M>();
    // SAFETY: the caller guarantees that the element lies inside the memory at `base`.
    unsafe { host.add(part).read_unaligned() }.widen()
}

/// Computes the address `imm` bytes into this function's local memory, into operand 0.
pub fn local_address(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.local_base) + inst.imm
    })
}
