//! Calls of device functions, by name and through pointers. Source: PTX ISA section 9.7.12.5.

use super::join;
use crate::exec::fault::FaultKind;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::SplitState;
use crate::lanes::active;
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP};

/// Calls function `arg0` at call site `imm`.
///
/// # Safety
/// The requirements of [`super::enter`].
pub unsafe fn call(sm: &mut Sm, inst: &Inst) -> Next {
    enter_calls(sm, inst, &[(sm.mask, inst.arg0 as usize)])
}

/// Calls through the pointers in row 0 at call site `imm`.
///
/// # Safety
/// The requirements of [`super::enter`].
pub unsafe fn call_pointer(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 64-bit row.
    let pointer = unsafe { sm.row::<u64>(inst, 0) };
    let program = sm.grid.program.clone();
    let mut paths: Vec<(u32, usize)> = Vec::new();
    for lane in active(sm.mask) {
        let address = pointer[lane];
        let number = address.wrapping_sub(FUNCTION_BASE) / FUNCTION_STEP;
        let valid = address >= FUNCTION_BASE
            && address % FUNCTION_STEP == 0
            && program
                .functions
                .get(number as usize)
                .is_some_and(|function| !function.is_kernel);
        if !valid {
            return sm.fail(inst, lane, FaultKind::InvalidCall { address });
        }
        join(&mut paths, lane, number as usize);
    }
    enter_calls(sm, inst, &paths)
}

/// Suspends the running split at the next instruction while its lanes execute the called functions.
fn enter_calls(sm: &mut Sm, inst: &Inst, paths: &[(u32, usize)]) -> Next {
    let program = sm.grid.program.clone();
    let site = &program.call_sites[inst.imm as usize];
    let base = sm.local_base + site.caller_bytes;
    let passed = site.arguments.iter().map(|&(_, to, bytes)| to + bytes);
    let passed = passed
        .chain(site.results.iter().map(|&(from, _, bytes)| from + bytes))
        .max();
    for &(lanes, function) in paths {
        // A call through a pointer may pass more arguments than the callee declares.
        let declared = program.functions[function].local_bytes;
        let needed = base.saturating_add(declared.max(passed.unwrap_or(0)));
        if needed > sm.locals.bytes {
            let kind = FaultKind::StackOverflow {
                needed,
                limit: sm.locals.bytes,
            };
            return sm.fail(inst, lanes.trailing_zeros() as usize, kind);
        }
        if !sm.windows.has_room(function) {
            let lane = lanes.trailing_zeros() as usize;
            return sm.fail(inst, lane, FaultKind::CallsTooDeep);
        }
    }
    copy_local(sm, &site.arguments, sm.local_base, base);
    let after = sm.address_of(inst) + 1;
    sm.suspend(after, SplitState::Waiting);
    let caller = sm.block.warp().current;
    for &(lanes, number) in paths {
        let function = &program.functions[number];
        let registers = sm.windows.take_for_call(&program.functions, number);
        let warp = sm.block.warp_mut();
        let frame = warp.push_frame(registers, base);
        let id = warp.add(lanes, function.entry, function.end, caller, frame);
        warp.splits[caller as usize].waiting += 1;
        warp.ready.push_front(id);
    }
    sm.switch()
}

/// Copies the results of call site `imm` out of the callee's local memory, after a call.
///
/// # Safety
/// The requirements of [`super::enter`].
pub unsafe fn take_results(sm: &mut Sm, inst: &Inst) -> Next {
    let program = sm.grid.program.clone();
    let site = &program.call_sites[inst.imm as usize];
    copy_local(
        sm,
        &site.results,
        sm.local_base + site.caller_bytes,
        sm.local_base,
    );
    inst.next()
}

/// Copies within the active lanes' local memory. Each part is `(from, to, bytes)`, relative to the two bases.
fn copy_local(sm: &mut Sm, segments: &[(u32, u32, u32)], from_base: u32, to_base: u32) {
    let stride = sm.locals.bytes as usize;
    let mask = sm.mask;
    let Some(local) = sm.block.warp_mut().local.as_mut() else {
        return;
    };
    for lane in active(mask) {
        let stack = &mut local[lane * stride..(lane + 1) * stride];
        for &(from, to, bytes) in segments {
            let from = (from_base + from) as usize;
            stack.copy_within(from..from + bytes as usize, (to_base + to) as usize);
        }
    }
}
