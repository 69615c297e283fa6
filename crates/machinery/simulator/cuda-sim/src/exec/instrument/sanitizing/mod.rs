//! The sanitizing copies of a program's code, whose handlers check an instruction before they run the handler
//! of the plain or counting copy. This file checks synchronization: barriers, warp-wide instructions, fences, thread
//! exit and the end of a block. Others check accesses, bulk copies and the shared memory that `wgmma` reads.

mod access;
mod bulk;

use crate::check::FaultKind;
use crate::check::shadow::{FirstArrival, PartialWarp};
use crate::check::{Checker, FindingKind, Severity, Shadow};
use crate::exec::cpu::Cpu;
use crate::exec::fault::Fault;
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::exec::sync::invalid_sources;
use crate::exec::warp::SplitState;
use crate::isa::Memory;
use crate::isa::check_event::{
    Aligned, CheckEvent, CheckEvents, ExitBranch, FenceScope, ShuffleExchange, WarpSync,
};
use crate::lanes::active;

/// Returns the sanitizing copy of the program's code, on top of the counting copy if `counting` is true.
/// Creates the copy on first use.
pub fn code(program: &Program, counting: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, base) = if counting {
        (&code.sanitizing_counting, &code.counting)
    } else {
        (&code.sanitizing, &code.plain)
    };
    copy.get_or_init(|| redirect(base, &program.listing.check_events))
}

fn redirect(code: &[Inst], events: &CheckEvents) -> Vec<Inst> {
    let cpu = Cpu::detect();
    let mut copy = code.to_vec();
    for (inst, checked) in copy.iter_mut().zip(events.iter()) {
        if let Some(handler) = sanitizing_handler(checked, cpu) {
            inst.run = handler;
        }
    }
    copy
}

/// Returns the handler that checks an instruction and then runs it, or `None` if there is nothing to check.
fn sanitizing_handler(checked: CheckEvent, cpu: Cpu) -> Option<Handler> {
    let handler = match checked {
        CheckEvent::None | CheckEvent::Branch { .. } => return None,
        CheckEvent::Access(access) if access.kind.is_async_copy() => access::copy as Handler,
        CheckEvent::Access(access) if access.kind.is_bulk_copy() => bulk::copy,
        CheckEvent::Access(access) => match access.memory {
            Memory::Constant => return None,
            Memory::Local => access::local_access,
            Memory::Global => access::device_access(cpu),
            Memory::Shared => access::shared_access(cpu),
            Memory::Generic => access::generic_access,
        },
        CheckEvent::Barrier(_) => barrier,
        CheckEvent::WarpSync(_) => warp_sync,
        CheckEvent::Fence(_) => fence,
        CheckEvent::ExitBranch(_) => exit_branch,
        CheckEvent::Exit => exit,
        CheckEvent::CopyWait(_) => access::wait,
        CheckEvent::Wgmma => access::wgmma,
        CheckEvent::WgmmaWait => access::wgmma_wait,
    };
    Some(handler)
}

/// Runs the instruction itself, by its handler in the copy below.
///
/// # Safety
/// The requirements of [`Handler`].
#[inline(always)]
unsafe fn run_base(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: `sanitizing_base` is the copy below, which has the same instruction with the same operands here.
    unsafe {
        let base = sm.codes.sanitizing_base.add(sm.address_of(inst) as usize);
        ((*base).run)(sm, inst)
    }
}

/// Calls `f` with the SM's checker and the block's shadow state.
#[inline(always)]
fn check(sm: &mut Sm, f: impl FnOnce(&mut Sm, &mut Checker, &mut Shadow)) {
    if let Some((mut checker, mut shadow)) = take(sm) {
        f(sm, &mut checker, &mut shadow);
        put_back(sm, checker, shadow);
    }
}

/// Takes the SM's checker and the block's shadow state, which must be put back.
#[inline(always)]
fn take(sm: &mut Sm) -> Option<(Box<Checker>, Box<Shadow>)> {
    // A checked block has both.
    let checker = sm.checker.take()?;
    let Some(shadow) = sm.block.shadow.take() else {
        sm.checker = Some(checker);
        return None;
    };
    Some((checker, shadow))
}

#[inline(always)]
fn put_back(sm: &mut Sm, checker: Box<Checker>, shadow: Box<Shadow>) {
    // The replaced values are `None`, so there is nothing to drop.
    std::mem::forget(sm.checker.replace(checker));
    std::mem::forget(sm.block.shadow.replace(shadow));
}

/// Records a fence and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`].
pub unsafe fn fence(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    check(sm, |sm, checker, shadow| {
        shadow.fence(sm.block.running);
        let CheckEvent::Fence(scope) = sm.grid.program.listing.check_events.at(site) else {
            return;
        };
        if scope != FenceScope::Block {
            checker.fence(sm.block.number);
        }
        if scope == FenceScope::System {
            checker.note_system_access();
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Records a branch that sends some lanes to the end of their threads, and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is such a branch.
unsafe fn exit_branch(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    // SAFETY: operand 0 of a branch is a predicate.
    let predicate = unsafe { sm.predicate(inst, 0) };
    let leaving = match sm.grid.program.listing.check_events.at(site) {
        CheckEvent::ExitBranch(ExitBranch { when_true: false }) => !predicate & sm.mask,
        _ => predicate & sm.mask,
    };
    if leaving != 0 {
        check(sm, |sm, _, shadow| {
            shadow.exited.leave(sm.block.running, leaving, site);
        });
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Records the end of threads and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`].
pub unsafe fn exit(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    check(sm, |sm, _, shadow| {
        shadow.exited.exit(sm.block.running, sm.mask, site);
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks the arrival of a warp at a barrier and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a barrier.
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    let lane = sm.mask.trailing_zeros() as usize & 31;
    // SAFETY: operands 0 and 1 of a barrier are 32-bit rows.
    let (number, expected) =
        unsafe { (sm.row::<u32>(inst, 0)[lane], sm.row::<u32>(inst, 1)[lane]) };
    check(sm, |sm, checker, shadow| {
        let (number, warp) = (number as usize, sm.block.running);
        if number >= shadow.barriers.len() {
            // The instruction itself will report this fault.
            return;
        }
        if expected > 0 {
            shadow.arrive(number, warp);
        }
        if !checker.launch.checks.sync {
            return;
        }
        let (mask, alive) = (sm.mask, sm.block.warp().alive);
        let current = (sm.block.number, warp, site);
        let aligned =
            sm.grid.program.listing.check_events.at(site) == CheckEvent::Barrier(Aligned(true));
        if mask != alive {
            if aligned {
                // Defer the report: the missing lanes may be about to exit.
                shadow.partial_warps.push(PartialWarp {
                    barrier: number,
                    warp,
                    site,
                    frame: running_frame(sm),
                    mask,
                    alive,
                });
            }
        } else if expected == 0 {
            let thread = warp as u32 * 32 + lane as u32;
            match shadow.barriers[number] {
                None => shadow.barriers[number] = Some(FirstArrival { site, thread }),
                Some(first) if first.site != site => checker.report_mixed_barriers(current, first),
                Some(_) => {}
            }
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Returns the call frame of the running split.
fn running_frame(sm: &Sm) -> u32 {
    let warp = sm.block.warp();
    warp.splits[warp.current as usize].frame
}

/// Reports the findings that were deferred until the end of the running block or its fault.
pub fn close(sm: &mut Sm) {
    let deadlocked = |fault: &Fault| {
        use FaultKind::{BarrierNeverOpens, WarpSyncNeverOpens};
        matches!(
            fault.kind,
            BarrierNeverOpens { .. } | WarpSyncNeverOpens { .. }
        )
    };
    let deadlocked = sm.fault.as_ref().is_some_and(deadlocked);
    check(sm, |sm, checker, shadow| {
        // The location of some lanes of a warp that wait or will continue later.
        let elsewhere = |warp: usize, mask: u32| {
            let mut others = sm.block.warps[warp].splits.iter();
            let lives = |state| !matches!(state, SplitState::Free | SplitState::Running);
            let key = others.find(|split| split.mask & mask != 0 && lives(split.state));
            key.map(|split| split.pc)
        };
        checker.finish_block(shadow, sm.block.number, deadlocked, elsewhere);
    });
}

/// Checks the member mask of a warp-wide instruction and runs it.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction has a member mask.
pub unsafe fn warp_sync(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    let CheckEvent::WarpSync(WarpSync {
        members,
        any_instruction,
        shuffle,
    }) = sm.grid.program.listing.check_events.at(site)
    else {
        unreachable!("the instruction has a `WarpSync` event");
    };
    let lane = sm.mask.trailing_zeros() as usize & 31;
    // SAFETY: the member mask is a 32-bit row.
    let row = *unsafe { sm.row::<u32>(inst, members) };
    let members = row[lane];
    let others = active(sm.mask).any(|lane| row[lane] != members);
    check(sm, |sm, checker, shadow| {
        let (warp, block) = (sm.block.warp(), sm.block.number);
        if others {
            // Several groups of a warp, each with its own mask: each lane must be in its mask.
            let index = sm.block.running;
            let first = |lane: &usize| (row[*lane] & sm.mask).trailing_zeros() as usize == *lane;
            if any_instruction {
                for lane in active(sm.mask).filter(first) {
                    shadow.order.sync_lanes(index, row[lane] & sm.mask);
                }
            }
            let missing_lanes = active(sm.mask).filter(|&lane| row[lane] >> lane & 1 == 0);
            let missing_lanes = missing_lanes.fold(0u32, |lanes, lane| lanes | 1 << lane);
            if missing_lanes != 0 && checker.launch.checks.sync {
                let lane = missing_lanes.trailing_zeros();
                let kind = (FindingKind::MaskLacksCaller, Severity::Error);
                let current = (block, index, site);
                checker.mask(current, kind, lane, row[lane as usize], missing_lanes);
            }
            return;
        }
        let (state, key) = if any_instruction {
            (SplitState::WarpBarrier(members), members)
        } else {
            (SplitState::Sync(members), site)
        };
        let waiting = warp.splits.iter();
        let waiting =
            waiting.filter(|split| split.state == state && (any_instruction || split.pc == site));
        let arrived = waiting.fold(sm.mask, |arrived, split| arrived | split.mask);
        let index = sm.block.running;
        let current = (block, index, site);
        let sync = checker.launch.checks.sync;
        let missing_lanes = sm.mask & !members;
        if missing_lanes != 0 && sync {
            let lane = missing_lanes.trailing_zeros();
            let (kind, severity) = (FindingKind::MaskLacksCaller, Severity::Error);
            checker.mask(current, (kind, severity), lane, members, missing_lanes);
        }
        // A lane that arrived at a matching instruction elsewhere contributes no value here, and in most
        // programs no lane reads one from it.
        let sync_completed = warp.splits[warp.current as usize].sync_completed;
        if members & warp.alive & !arrived != 0 && !sync_completed {
            let checked = &sm.grid.program.listing.check_events;
            let ending = warp
                .splits
                .iter()
                .filter(|split| split.state == SplitState::Ready && checked.only_exits(split.pc));
            let ending = ending.fold(0, |lanes, split| lanes | split.mask);
            shadow.partial_syncs.wait(index, key, warp.alive & !ending);
            return;
        }
        let busy = shadow.partial_syncs.complete(index, key);
        let absent = members & sm.lanes_of(index) & !arrived;
        // The mask may name lanes that exited earlier, but they have no value to contribute. The lanes missing
        // from a partial warp are not an error.
        let severity = if absent & busy != 0 && !sync_completed {
            Severity::Error
        } else {
            Severity::Warning
        };
        if absent != 0 && sync && (severity == Severity::Error || !any_instruction) {
            let kind = (FindingKind::AbsentLanes, severity);
            checker.mask(current, kind, lane as u32, members, absent);
        }
        if let Some(ShuffleExchange {
            indexed,
            result_used: true,
        }) = shuffle
            && sync
            && (missing_lanes | absent == 0 || sync_completed)
        {
            // SAFETY: the instruction is a shuffle.
            let (invalid, reading) = unsafe { invalid_sources(sm, inst, arrived & members) };
            // Wrong masks are reported above. Where values are shifted, lanes at one end have no source lane,
            // and correct programs ignore what these lanes get.
            if invalid != 0 && (indexed || invalid == reading) {
                let severity = if invalid == reading {
                    Severity::Error
                } else {
                    Severity::Warning
                };
                let kind = (FindingKind::ShuffleFromAbsentLane, severity);
                checker.mask(current, kind, invalid.trailing_zeros(), members, invalid);
            }
        }
        // Instructions that exchange values (shuffles, votes) do not order memory.
        if !any_instruction {
            return;
        }
        if warp.alive & !(arrived & members) == 0 {
            shadow.order.sync_warp(index);
        } else {
            shadow.order.sync_lanes(index, arrived & members);
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}
