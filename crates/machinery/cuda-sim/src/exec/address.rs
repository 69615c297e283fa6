//! Addresses as values: `mov` of a variable's address, `cvta`, `isspacep`.

use super::cpu::Cpu;
use super::lanewise::{map1_imm, same, test1, where_true};
use super::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::LANES;
use crate::memory::SHARED_WINDOW;

/// `d = a + imm`, 64 bits: operands d, a.
pub fn plus(cpu: Cpu) -> Handlers {
    map1_imm(cpu, |a: u64, imm| a.wrapping_add(imm))
}

/// Where the shared memory sized at launch begins, plus `imm`: operand d.
pub fn dynamic_shared(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.grid.shared_bytes - sm.grid.dynamic_shared) + inst.imm
    })
}

/// Whether a generic address is in device memory: operands p, a.
pub fn is_global(cpu: Cpu) -> Handlers {
    test1(cpu, |a: u64| a < SHARED_WINDOW)
}

/// Whether a generic address is in the constant bank: operands p, a.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`].
pub unsafe fn is_constant(sm: &mut Sm, inst: &Inst) -> Next {
    let bank = sm.constants;
    // SAFETY: operand 0 is a predicate, operand 1 a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        let inside = |lane: usize| bank.holds(a[lane]);
        sm.set_predicate(inst, 0, where_true(0..LANES, inside));
    }
    inst.next()
}
