//! The machine code of atomics: whether the old value is used, whether the lanes of a warp first combine
//! their values, and which atomics on shared memory become compare-and-swap loops.
//!
//! The rules were derived from the code that NVIDIA's assembler (CUDA 13.0) generates for compute capability
//! 9.0.

use super::uniformity;
use crate::exec::memory::atomic::Atomic;
use crate::isa::{AccessKind, AtomicMethod, Memory, Update};
use crate::lower::cfg::Cfg;
use crate::lower::ir::IrInst;
use crate::lower::register::{Register, RegisterInfo};
use std::collections::HashSet;

/// Records the result in each atomic.
pub fn annotate(insts: &mut [IrInst], cfg: &Cfg, registers: &[RegisterInfo]) {
    let is_atomic = |inst: &IrInst| inst.access.is_some_and(|access| access.kind.is_atomic());
    if !insts.iter().any(is_atomic) {
        return;
    }
    let uses = insts.iter().flat_map(|inst| &inst.uses);
    let used: HashSet<Register> = uses.copied().collect();
    let uniform = uniformity::uniform_registers(insts, cfg, registers);
    for inst in insts.iter_mut() {
        let operation = Atomic::from_code(inst.arg0);
        let Some(access) = &mut inst.access else {
            continue;
        };
        if !access.kind.is_atomic() {
            continue;
        }
        let [address, value] = [1, 2].map(|operand: usize| inst.operands[operand]);
        let is_uniform = |register: Register| uniform[register.0 as usize];
        let result_used = inst.defs.iter().any(|def| used.contains(def));
        if !result_used && operation.has_reduction() {
            access.kind = AccessKind::Reduction;
        }
        let adds_one = operation == Atomic::Add && registers[value.0 as usize].literal == Some(1);
        access.update = Update {
            method: match access.memory {
                Memory::Shared => shared_method(operation, access.bytes, result_used, adds_one),
                _ if operation == Atomic::CompareAndSwap => AtomicMethod::CompareAndSwap,
                _ => AtomicMethod::SingleInstruction,
            },
            combined: is_uniform(address)
                && combines_lanes(operation, access.bytes, result_used, is_uniform(value)),
        };
    }
}

fn shared_method(operation: Atomic, bytes: u32, result_used: bool, adds_one: bool) -> AtomicMethod {
    use Atomic::*;
    match (operation, bytes) {
        (CompareAndSwap, _) => AtomicMethod::CompareAndSwap,
        (Exchange, _) => AtomicMethod::SingleInstruction,
        (AddFloat | AddHalf | AddBrain, _) => AtomicMethod::CasLoop,
        (MinUnsigned | MaxUnsigned | MinSigned | MaxSigned, 8) => AtomicMethod::CasLoopIfChanged,
        (_, 8) => AtomicMethod::CasLoop,
        (Add, _) if adds_one && !result_used => AtomicMethod::Popcount,
        _ => AtomicMethod::SingleInstruction,
    }
}

/// Returns true if lanes with a uniform address combine their values before one lane accesses memory.
fn combines_lanes(operation: Atomic, bytes: u32, result_used: bool, uniform_value: bool) -> bool {
    use Atomic::*;
    match operation {
        Add => bytes == 4 || uniform_value,
        And | Or | Xor | MinUnsigned | MaxUnsigned | MinSigned | MaxSigned => {
            bytes == 4 && !result_used
        }
        Exchange | CompareAndSwap | Increment | Decrement | AddFloat | AddHalf | AddBrain => false,
    }
}
