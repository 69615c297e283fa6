//! Addresses as values: addresses of variables (`mov`), `cvta`, `isspacep`.

use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1_imm, same, test1, where_true};
use crate::exec::sm::{Handlers, Inst, Next, Sm};
use crate::lanes::LANES;
use crate::memory::SHARED_WINDOW;

/// `d = a + imm`, 64 bits. Operands: d, a.
pub fn add_imm(cpu: Cpu) -> Handlers {
    map1_imm(cpu, |a: u64, imm| a.wrapping_add(imm))
}

/// `d = ` start of dynamic shared memory, plus `imm`. Operand: d.
pub fn dynamic_shared(cpu: Cpu) -> Handlers {
    same(cpu, |sm: &Sm, inst: &Inst, _| {
        u64::from(sm.grid.shared_bytes - sm.grid.dynamic_shared) + inst.imm
    })
}

/// `p = ` generic address a is in device memory. Operands: p, a.
pub fn is_global(cpu: Cpu) -> Handlers {
    test1(cpu, |a: u64| a < SHARED_WINDOW)
}

/// Tests whether a generic address is in constant memory. Operands: p, a.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`].
pub unsafe fn is_constant(sm: &mut Sm, inst: &Inst) -> Next {
    let bank = sm.constants;
    // SAFETY: operand 0 is a predicate, operand 1 a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        let inside = |lane: usize| bank.contains(a[lane]);
        sm.set_predicate(inst, 0, where_true(0..LANES, inside));
    }
    inst.next()
}
