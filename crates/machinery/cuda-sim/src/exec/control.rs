//! Control flow: basic blocks, branches, calls, barriers, the end of a thread.
//!
//! Source: PTX ISA sections 9.7.12 (control flow) and 9.7.13 (barriers).

use super::block::{Arrival, BARRIERS, Reduction, ReductionOp};
use super::fault::FaultKind;
use super::sm::{Inst, Next, Sm};
use super::warp::{NOWHERE, SplitState, Turn};
use crate::lanes::{FULL, LANES, active};
use crate::memory::{FUNCTION_BASE, FUNCTION_STEP};

/// Turns after which lanes that wait at a meeting place may go on even though the lanes they wait
/// for branch and meet, as they do in a long loop that needs nobody's help.
const PATIENT_TURNS: u32 = 16;

/// The first instruction of every basic block: counts the visit, joins splits that meet here,
/// and lets another warp run when this one has had its turn. `x`: the block's number; `y`: its
/// length in instructions.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; so for every handler here.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        return give_way(sm, inst);
    }
    sm.clock += u64::from(inst.y);
    let visit = &mut sm.counts.visits[inst.x as usize];
    visit.warps += 1;
    visit.threads += u64::from(sm.mask.count_ones());
    inst.next()
}

/// [`enter`], for a block where splits may meet.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn enter_meeting(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.reconverge == sm.address_of(inst) {
        return sm.arrive();
    }
    // SAFETY: the same instruction.
    unsafe { enter(sm, inst) }
}

#[cold]
fn give_way(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.suspend(here, SplitState::Ready);
    let ran = sm.turn_so_far();
    let warp = sm.block.warp_mut();
    if ran.left > 0 {
        // Only a slice of its turn is over: it goes on where it was.
        warp.turn = Some(ran);
        warp.ready.push_front(warp.current);
        warp.current = NOWHERE;
        return std::ptr::null();
    }
    let (read, alone) = (ran.read, ran.alone);
    warp.turns += 1;
    if read && (alone || warp.turns.is_multiple_of(PATIENT_TURNS)) {
        // These lanes may be reading what lanes that wait for them are still to write.
        warp.release_arrived(warp.current);
    }
    warp.ready.push_back(warp.current);
    warp.current = NOWHERE;
    std::ptr::null()
}

/// Goes to `x`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn jump(sm: &mut Sm, inst: &Inst) -> Next {
    sm.at(inst.x)
}

/// Goes to `x` where predicate 0 holds; lanes that part meet again at `y`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate.
    let taken = unsafe { sm.predicate(inst, 0) } & sm.mask;
    branch(sm, inst, taken)
}

/// Goes to `x` where predicate 0 does not hold.
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
        sm.at(inst.x)
    } else {
        let other = sm.address_of(inst) + 1;
        sm.diverge(taken, inst.x, other, inst.y)
    }
}

/// Adds `lane` to those that go the same way.
fn join<T: PartialEq>(ways: &mut Vec<(u32, T)>, lane: usize, to: T) {
    match ways.iter_mut().find(|(_, way)| *way == to) {
        Some((lanes, _)) => *lanes |= 1 << lane,
        None => ways.push((1 << lane, to)),
    }
}

/// `brx.idx`: each lane goes to the entry of branch table `imm` that its index (row 0) names.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_table(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 32-bit row.
    let index = unsafe { sm.row::<u32>(inst, 0) };
    let program = sm.grid.program.clone();
    let table = &program.tables[inst.imm as usize];
    let mut ways: Vec<(u32, u32)> = Vec::new();
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
        join(&mut ways, lane, target);
    }
    if let [(_, target)] = ways[..] {
        return sm.at(target);
    }
    sm.counts.divergent_branches += 1;
    sm.part(&ways, inst.y)
}

/// Runs the next instruction only in the lanes where predicate 0 holds (`x` = 1: does not hold).
///
/// # Safety
/// As for [`enter`]; the next instruction goes on to the one after it.
pub unsafe fn guard(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a predicate; a guarded instruction never ends the code.
    unsafe {
        let holds = sm.predicate(inst, 0) ^ if inst.x == 1 { FULL } else { 0 };
        let guarded = &*inst.next();
        let mask = sm.mask;
        if holds & mask == 0 {
            return guarded.next();
        }
        sm.run_lanes(holds & mask);
        let next = (guarded.run)(sm, guarded);
        sm.run_lanes(mask);
        next
    }
}

/// `exit`, and `ret` from a kernel.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    sm.exit_lanes()
}

/// `trap`
///
/// # Safety
/// As for [`enter`].
pub unsafe fn trap(sm: &mut Sm, inst: &Inst) -> Next {
    sm.fail(inst, sm.mask.trailing_zeros() as usize, FaultKind::Trap)
}

/// `brkpt`
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

/// Nothing: `prefetch`, `nanosleep`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn nothing(_: &mut Sm, inst: &Inst) -> Next {
    inst.next()
}

/// A call of function `x` at call site `imm`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn call(sm: &mut Sm, inst: &Inst) -> Next {
    enter_calls(sm, inst, &[(sm.mask, inst.x as usize)])
}

/// A call through pointers, row 0, at call site `imm`.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn call_pointer(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 is a 64-bit row.
    let pointer = unsafe { sm.row::<u64>(inst, 0) };
    let program = sm.grid.program.clone();
    let mut ways: Vec<(u32, usize)> = Vec::new();
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
        join(&mut ways, lane, number as usize);
    }
    enter_calls(sm, inst, &ways)
}

/// The running split waits at the next instruction while its lanes run the functions.
fn enter_calls(sm: &mut Sm, inst: &Inst, ways: &[(u32, usize)]) -> Next {
    let program = sm.grid.program.clone();
    let site = &program.call_sites[inst.imm as usize];
    let base = sm.local_base + site.caller_bytes;
    let passed = site.arguments.iter().map(|&(_, to, bytes)| to + bytes);
    let passed = passed
        .chain(site.results.iter().map(|&(from, _, bytes)| from + bytes))
        .max();
    for &(lanes, function) in ways {
        // A call through a pointer may pass more than the function it reaches knows of.
        let own = program.functions[function].local_bytes;
        let needed = base.saturating_add(own.max(passed.unwrap_or(0)));
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
    for &(lanes, number) in ways {
        let function = &program.functions[number];
        let registers = sm.windows.take_called(&program.functions, number);
        let warp = sm.block.warp_mut();
        let frame = warp.push_frame(registers, base);
        let id = warp.add(lanes, function.entry, function.end, caller, frame);
        warp.splits[caller as usize].waiting += 1;
        warp.ready.push_front(id);
    }
    sm.switch()
}

/// After a call: takes the results of call site `imm` out of the callee's memory.
///
/// # Safety
/// As for [`enter`].
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

/// Copies the active lanes' local memory, `(from, to, bytes)` relative to the two bases.
fn copy_local(sm: &mut Sm, parts: &[(u32, u32, u32)], from_base: u32, to_base: u32) {
    let stride = sm.locals.bytes as usize;
    let mask = sm.mask;
    let Some(local) = sm.block.warp_mut().local.as_mut() else {
        return;
    };
    for lane in active(mask) {
        let stack = &mut local[lane * stride..(lane + 1) * stride];
        for &(from, to, bytes) in parts {
            let from = (from_base + from) as usize;
            stack.copy_within(from..from + bytes as usize, (to_base + to) as usize);
        }
    }
}

/// How a barrier instruction is written: packed into `x`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    Sync,
    Arrive,
    Popc,
    And,
    Or,
}

impl Sm {
    /// Whether those who come to a barrier, all that live of their block, need not stop there: it
    /// would open at once, and it would be their turn again. Caches that are asked, and checks, take
    /// note of every barrier.
    pub fn passes_barrier(&self, inst: &Inst, barrier: u32, expected: u32) -> bool {
        inst.x == BarrierKind::Sync as u32
            && (barrier as usize) < BARRIERS
            && expected == 0
            && self.observer.is_none()
            && self.checker.is_none()
            && self.block.nobody_waits()
            && self.clock < self.block_deadline
    }
}

/// `bar.sync`, `bar.arrive`, `bar.red`: row 0 the barrier, row 1 the thread count (0 for the
/// whole block), operand 2 the destination, operand 3 the source predicate; `x` the kind, `y`
/// whether the predicate is negated.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    const KINDS: [BarrierKind; 5] = [
        BarrierKind::Sync,
        BarrierKind::Arrive,
        BarrierKind::Popc,
        BarrierKind::And,
        BarrierKind::Or,
    ];
    let kind = KINDS[inst.x as usize];
    let lane = sm.mask.trailing_zeros() as usize;
    // SAFETY: operands 0 and 1 are 32-bit rows, operand 3 a predicate.
    let (barrier, expected, predicate) = unsafe {
        let negate = if inst.y == 1 { FULL } else { 0 };
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
                destination: inst.o[2],
            },
            predicate,
        )
    });
    let waits = kind != BarrierKind::Arrive;
    let mask = sm.mask;
    if mask.count_ones() == sm.block.alive && sm.passes_barrier(inst, barrier, expected) {
        sm.counts.barriers += 1;
        sm.begin_turn(Turn::NEW);
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
