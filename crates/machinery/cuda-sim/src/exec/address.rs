//! Addresses as values: `mov` of a variable's address, `cvta`, `isspacep`.

use super::lanes::{LANES, where_true};
use super::sm::Sm;
use crate::memory::SHARED_WINDOW;
use crate::program::code::{Inst, Next};

/// `d = a + imm`, 64 bits: operands d, a.
///
/// # Safety
/// As for [`crate::program::code::Handler`]; so for every handler here.
pub unsafe fn plus(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operands 0 and 1 are 64-bit rows.
    unsafe {
        let sum = sm.row::<u64>(inst, 1).map(|a| a.wrapping_add(inst.imm));
        sm.write(inst, 0, sum);
    }
    inst.next()
}

/// Where the shared memory sized at launch begins, plus `imm`: operand d.
///
/// # Safety
/// As for [`plus`].
pub unsafe fn dynamic_shared(sm: &mut Sm, inst: &Inst) -> Next {
    let start = u64::from(sm.grid.shared_bytes - sm.grid.dynamic_shared);
    // SAFETY: operand 0 is a 64-bit row.
    unsafe { sm.write(inst, 0, [start + inst.imm; LANES]) };
    inst.next()
}

/// Whether a generic address is in device memory: operands p, a.
///
/// # Safety
/// As for [`plus`].
pub unsafe fn is_global(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate, operand 1 a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        sm.set_predicate(inst, 0, where_true(|lane| a[lane] < SHARED_WINDOW));
    }
    inst.next()
}

/// Whether a generic address is in the constant bank: operands p, a.
///
/// # Safety
/// As for [`plus`].
pub unsafe fn is_constant(sm: &mut Sm, inst: &Inst) -> Next {
    let bank = sm.constants;
    // SAFETY: operand 0 is a predicate, operand 1 a 64-bit row.
    unsafe {
        let a = sm.row::<u64>(inst, 1);
        let inside = |lane: usize| a[lane].wrapping_sub(bank.base) < bank.bytes;
        sm.set_predicate(inst, 0, where_true(inside));
    }
    inst.next()
}
