//! Loads from a place that is known when the module is loaded, and addresses of local memory.

use super::element::Element;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::same;
use crate::exec::sm::{Handlers, Inst, Sm};

/// A load from a place in constant memory known when the module was loaded: `x` elements at
/// `imm` bytes into the bank. On a GPU this is an operand of the instruction that uses it.
pub fn load_constant_operand<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        let bank = sm.constants.host.cast_const();
        // SAFETY: the bank is at least as large as the module says; the lowering checked the place.
        unsafe { read_constant::<M>(bank, inst, part) }
    })
}

/// A load of a kernel parameter: `x` elements at `imm` bytes into the parameters.
pub fn load_param<M: Element>(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, part| {
        // SAFETY: there are as many bytes as the kernel's parameters take; the lowering checked
        // the place.
        unsafe { read_constant::<M>(sm.grid.params.as_ptr(), inst, part) }
    })
}

/// Element `part` of those that `inst` loads from a known place after `base`.
///
/// # Safety
/// The place is inside what `base` begins.
#[inline(always)]
unsafe fn read_constant<M: Element>(base: *const u8, inst: &Inst, part: usize) -> M::Row {
    let host = base.wrapping_add(inst.imm as usize).cast::<M>();
    // SAFETY: the caller's promise.
    unsafe { host.add(part).read_unaligned() }.widen()
}

/// The address of a place in this function's local memory, `imm` bytes from its base: operand 0.
pub fn local_address(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.local_base) + inst.imm
    })
}
