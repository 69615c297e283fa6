//! Control flow: basic-block entries, branches, predication of single instructions, thread exit, block-wide barriers
//! (`bar.sync`, `bar.arrive`, `bar.red`), the barriers of clusters, and calls of device functions, by name and through
//! pointers.
//!
//! Source: PTX ISA sections 9.7.12 (control flow; 9.7.12.5: calls) and 9.7.13 (barriers).

use super::sm::block::{Arrival, BARRIERS, Reduction, ReductionOp};
use super::sm::{Inst, Next, Sm};
use super::special_registers::reads_grid_barrier;
use super::warp::window::MAX_CALL_BYTES;
use super::warp::{NO_INDEX, SplitState, Turn};
use crate::check::FaultKind;
use crate::lanes::{FULL, LANES, active};
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP};

/// Number of turns after which lanes that wait at a reconvergence point are released even though the lanes they
/// wait for diverge and reconverge, as in a long loop that does not depend on the waiting lanes.
const PATIENT_TURNS: u32 = 16;

/// Enters a basic block: counts the visit, and yields if the warp's turn is over. The first instruction of
/// every block. `arg0` is the block's number, `arg1` its length in instructions.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]. All handlers in this file share them.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        return yield_turn(sm, inst);
    }
    sm.clock += u64::from(inst.arg1);
    let visit = &mut sm.counts.visits[inst.arg0 as usize];
    visit.warps += 1;
    visit.threads += u64::from(sm.mask.count_ones());
    inst.next()
}

/// Enters a block that is a reconvergence point, where splits may join their parent.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn enter_reconvergence(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.reconverge == sm.address_of(inst) {
        return sm.arrive();
    }
    // SAFETY: `inst` is the instruction this handler was called with.
    unsafe { enter(sm, inst) }
}

#[cold]
fn yield_turn(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.suspend(here, SplitState::Ready);
    let ran = sm.current_turn();
    let warp = sm.block.warp_mut();
    if ran.remaining > 0 {
        // Only a slice of the turn is over: the split keeps its place.
        warp.turn = Some(ran);
        warp.ready.push_front(warp.current);
        warp.current = NO_INDEX;
        return std::ptr::null();
    }
    let (read, single_split) = (ran.read, ran.single_split);
    warp.turns += 1;
    if read && (single_split || warp.turns.is_multiple_of(PATIENT_TURNS)) {
        // The running lanes may be polling a location that the lanes waiting for them have yet to write.
        warp.release_arrived(warp.current);
    }
    warp.ready.push_back(warp.current);
    warp.current = NO_INDEX;
    std::ptr::null()
}

/// Jumps to `arg0`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn jump(sm: &mut Sm, inst: &Inst) -> Next {
    sm.at(inst.arg0)
}

/// Branches to `arg0` where predicate 0 is true. Diverging lanes reconverge at `arg1`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate.
    let taken = unsafe { sm.predicate(inst, 0) } & sm.mask;
    branch(sm, inst, taken)
}

/// Branches to `arg0` where predicate 0 is false. Diverging lanes reconverge at `arg1`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate.
    let taken = !unsafe { sm.predicate(inst, 0) } & sm.mask;
    branch(sm, inst, taken)
}

#[inline(always)]
fn branch(sm: &mut Sm, inst: &Inst, taken: u32) -> Next {
    if taken == 0 {
        inst.next()
    } else if taken == sm.mask {
        sm.at(inst.arg0)
    } else {
        let other = sm.address_of(inst) + 1;
        sm.diverge(taken, inst.arg0, other, inst.arg1)
    }
}

/// Adds `lane` to the lanes with the same target.
fn join<T: PartialEq>(paths: &mut Vec<(u32, T)>, lane: usize, to: T) {
    match paths.iter_mut().find(|(_, target)| *target == to) {
        Some((lanes, _)) => *lanes |= 1 << lane,
        None => paths.push((1 << lane, to)),
    }
}

/// Runs `brx.idx`: each lane branches to the entry of branch table `imm` selected by its index, row 0.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_table(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let index = unsafe { sm.row::<u32>(inst, 0) };
    let program = sm.grid.program.clone();
    let table = &program.tables[inst.imm as usize];
    let mut paths: Vec<(u32, u32)> = Vec::new();
    for lane in active(sm.mask) {
        let Some(&target) = table.get(index[lane] as usize) else {
            return sm.fail(
                inst,
                lane,
                FaultKind::InvalidCall {
                    address: index[lane].into(),
                },
            );
        };
        join(&mut paths, lane, target);
    }
    if let [(_, target)] = paths[..] {
        return sm.at(target);
    }
    sm.counts.divergent_branches += 1;
    sm.part(&paths, inst.arg1)
}

/// Predicates the next instruction: runs it only in lanes whose predicate 0 is true, or false if `arg0` is 1.
///
/// # Safety
/// The requirements of [`enter`]; the next instruction must fall through.
pub unsafe fn guard(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate, and a guarded instruction is never the last of the code.
    unsafe {
        let holds = sm.predicate(inst, 0) ^ if inst.arg0 == 1 { FULL } else { 0 };
        let guarded = &*inst.next();
        let mask = sm.mask;
        if holds & mask == 0 {
            return guarded.next();
        }
        sm.set_active_lanes(holds & mask);
        let next = (guarded.run)(sm, guarded);
        sm.set_active_lanes(mask);
        next
    }
}

/// Runs `exit`, and `ret` in a kernel.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    sm.exit_lanes()
}

/// Runs `trap`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn trap(sm: &mut Sm, inst: &Inst) -> Next {
    // A grid barrier traps if the driver has passed no address for it.
    let kind = if sm.grid.cooperative == 0 && is_in_grid_barrier(sm, inst) {
        FaultKind::GridBarrier
    } else {
        FaultKind::Trap
    };
    sm.fail(inst, sm.mask.trailing_zeros() as usize, kind)
}

/// Returns true if the function of an instruction reads the address of the grid barrier.
#[cold]
fn is_in_grid_barrier(sm: &Sm, inst: &Inst) -> bool {
    let program = &sm.grid.program;
    let address = sm.address_of(inst);
    let entries = || program.functions.iter().map(|function| function.entry);
    let start = entries().filter(|&entry| entry <= address).max();
    let end = entries().filter(|&entry| entry > address).min();
    let code = &program.code.plain[..end.map_or(program.code.plain.len(), |end| end as usize)];
    code[start.unwrap_or(0) as usize..]
        .iter()
        .any(reads_grid_barrier)
}

/// Runs `brkpt`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn breakpoint(sm: &mut Sm, inst: &Inst) -> Next {
    sm.fail(
        inst,
        sm.mask.trailing_zeros() as usize,
        FaultKind::Breakpoint,
    )
}

/// Runs `nanosleep`: yields to other warps, and counts the time, a 32-bit row of nanoseconds. Lanes of its own warp that
/// wait for these lanes keep waiting. A warp that polls memory meanwhile waits for other warps, however long it sleeps.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn sleep(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let nanoseconds = unsafe { sm.row::<u32>(inst, 0) };
    let longest = active(sm.mask).map(|lane| nanoseconds[lane]).max();
    if !sm.waiting.spinning {
        sm.block.warp_mut().slept_ns += u64::from(longest.unwrap_or(0));
    }
    sm.yield_after_others();
    inst.next()
}

/// Does nothing, for instructions such as `prefetch`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn no_op(_: &mut Sm, inst: &Inst) -> Next {
    inst.next()
}

/// The variants of the barrier instruction, stored in `arg0`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    Sync,
    Arrive,
    Popc,
    And,
    Or,
}

impl Sm {
    /// Returns true if all live threads of the block arrive at once and need not stop, because the barrier
    /// would open immediately and the same warps would run next. Profiled and checked blocks must process
    /// every barrier.
    pub fn passes_barrier(&self, inst: &Inst, barrier: u32, expected: u32) -> bool {
        inst.arg0 == BarrierKind::Sync as u32
            && (barrier as usize) < BARRIERS
            && expected == 0
            && self.profiler.is_none()
            && self.checker.is_none()
            && self.block.has_no_waiters()
            && self.clock < self.block_deadline
    }
}

/// Runs `bar.sync`, `bar.arrive` or `bar.red`. Row 0 is the barrier, row 1 the thread count (0 for the whole
/// block), operand 2 the destination, operand 3 the source predicate; `arg0` is the [`BarrierKind`], `arg1`
/// is 1 if the predicate is negated.
///
/// # Safety
/// The requirements of [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    const KINDS: [BarrierKind; 5] = [
        BarrierKind::Sync,
        BarrierKind::Arrive,
        BarrierKind::Popc,
        BarrierKind::And,
        BarrierKind::Or,
    ];
    let kind = KINDS[inst.arg0 as usize];
    let lane = sm.mask.trailing_zeros() as usize;
    // SAFETY: operands 0 and 1 are 32-bit rows, operand 3 a predicate.
    let (barrier, expected, predicate) = unsafe {
        let negate = if inst.arg1 == 1 { FULL } else { 0 };
        (
            sm.row::<u32>(inst, 0)[lane],
            sm.row::<u32>(inst, 1)[lane],
            sm.predicate(inst, 3) ^ negate,
        )
    };
    if barrier >= 16 || expected % LANES as u32 != 0 {
        return sm.fail(
            inst,
            lane,
            FaultKind::InvalidBarrier {
                barrier,
                count: expected,
            },
        );
    }
    let operation = match kind {
        BarrierKind::Popc => Some(ReductionOp::Popc),
        BarrierKind::And => Some(ReductionOp::And),
        BarrierKind::Or => Some(ReductionOp::Or),
        BarrierKind::Sync | BarrierKind::Arrive => None,
    };
    let reduction = operation.map(|operation| {
        (
            Reduction {
                operation,
                destination: inst.operands[2],
            },
            predicate,
        )
    });
    let waits = kind != BarrierKind::Arrive;
    let mask = sm.mask;
    if mask.count_ones() == sm.block.alive && sm.passes_barrier(inst, barrier, expected) {
        sm.counts.barriers += 1;
        sm.start_slice(Turn::NEW);
        return inst.next();
    }
    let after = sm.address_of(inst) + 1;
    if waits {
        sm.suspend(after, SplitState::Barrier(barrier));
    }
    let arrival = Arrival {
        barrier: barrier as usize,
        expected,
        waits,
        reduction,
    };
    sm.block.arrive(mask, arrival);
    sm.counts.barriers += 1;
    if waits { sm.switch() } else { inst.next() }
}

/// Runs `barrier.cluster.arrive`.
///
/// # Safety
/// The requirements of [`enter`].
pub unsafe fn cluster_arrive(sm: &mut Sm, inst: &Inst) -> Next {
    // Lanes that arrived in an earlier phase, which another block has completed, may arrive again.
    sm.block.update_cluster_barrier();
    let mask = sm.mask;
    sm.block.warp_mut().cluster_arrived |= mask;
    sm.counts.barriers += 1;
    sm.block.update_cluster_barrier();
    inst.next()
}

/// Tests whether the phase of the cluster's barrier has completed in which the lanes have arrived. Operand 0 is a
/// predicate. If it has not, the warp yields.
///
/// # Safety
/// The requirements of [`enter`].
pub unsafe fn cluster_has_completed(sm: &mut Sm, inst: &Inst) -> Next {
    sm.block.update_cluster_barrier();
    let waiting = sm.mask & sm.block.warp().cluster_arrived;
    if waiting != 0 {
        let phase = sm.block.cluster_phase;
        sm.record_probe(inst, 0, phase, 1);
        sm.yield_to_cluster();
    }
    // SAFETY: operand 0 is a predicate.
    unsafe { sm.set_predicate(inst, 0, !waiting) };
    inst.next()
}

/// Calls function `arg0` at call site `imm`.
///
/// # Safety
/// The requirements of [`enter`].
pub unsafe fn call(sm: &mut Sm, inst: &Inst) -> Next {
    enter_calls(sm, inst, &[(sm.mask, inst.arg0 as usize)])
}

/// Calls through the pointers in row 0 at call site `imm`.
///
/// # Safety
/// The requirements of [`enter`].
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
    let base = sm.local.start + site.caller_bytes;
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
            let limit = MAX_CALL_BYTES;
            return sm.fail(inst, lane, FaultKind::CallsTooDeep { limit });
        }
    }
    copy_local(sm, &site.arguments, sm.local.start, base);
    let after = sm.address_of(inst) + 1;
    sm.suspend(after, SplitState::Waiting);
    let caller = sm.block.warp().current;
    for &(lanes, number) in paths {
        let function = &program.functions[number];
        let registers = sm.windows.take_for_call(&program.functions, number);
        let warp = sm.block.warp_mut();
        let frame = warp.push_frame(registers, base..base + function.variables_end);
        let id = warp.add(lanes, function.entry, function.end, caller, frame);
        warp.splits[caller as usize].waiting += 1;
        warp.ready.push_front(id);
    }
    sm.switch()
}

/// Copies the results of call site `imm` out of the callee's local memory, after a call.
///
/// # Safety
/// The requirements of [`enter`].
pub unsafe fn take_results(sm: &mut Sm, inst: &Inst) -> Next {
    let program = sm.grid.program.clone();
    let site = &program.call_sites[inst.imm as usize];
    copy_local(
        sm,
        &site.results,
        sm.local.start + site.caller_bytes,
        sm.local.start,
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
