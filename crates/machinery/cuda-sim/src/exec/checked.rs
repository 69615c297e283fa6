//! The same instructions, checked: what handlers of a checked launch do before the plain ones, or
//! before those that count.

use super::async_copy;
use super::atomic::Atomic;
use super::code::{Handler, Inst, Next};
use super::cpu::Cpu;
use super::fault::{Fault, FaultKind};
use super::sm::Sm;
use super::warp::State;
use crate::check::accessor::Who;
use crate::check::checker::{Checker, Doing, Lanes};
use crate::check::runs::Addresses;
use crate::check::shadow::{Come, PartialWarp, Shadow};
use crate::check::{FindingKind, Severity};
use crate::isa::checked::{Aligned, Checked, CheckedPlaces, Meeting, Waiting};
use crate::isa::{Access, AccessKind, Memory};
use crate::lanes::active;
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// `code` with every instruction that a check looks at led to it first.
pub fn code(code: &[Inst], places: &CheckedPlaces) -> Vec<Inst> {
    let cpu = Cpu::detect();
    let mut code = code.to_vec();
    for (inst, checked) in code.iter_mut().zip(places.iter()) {
        if let Some(handler) = of(checked, cpu) {
            inst.run = handler;
        }
    }
    code
}

/// The handler that checks an instruction and then runs it; none where there is nothing to check.
fn of(checked: Checked, cpu: Cpu) -> Option<Handler> {
    let handler = match checked {
        Checked::Nothing | Checked::End => return None,
        Checked::Access(access) if access.kind.is_copy() => copy as Handler,
        Checked::Access(access) => match access.memory {
            Memory::Constant | Memory::Local => return None,
            Memory::Global => device_access(cpu),
            Memory::Shared => shared_access(cpu),
            Memory::Generic => generic_access,
        },
        Checked::Barrier(_) => barrier,
        Checked::Warp(_) => meeting,
        Checked::Fence => fence,
        Checked::Wait(_) => wait,
    };
    Some(handler)
}

/// Runs the instruction itself.
///
/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn go_on(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the code underneath is the checked code's, instruction for instruction.
    unsafe {
        let plain = sm.unchecked.add(sm.address_of(inst) as usize);
        ((*plain).run)(sm, inst)
    }
}

/// Runs `look` with the multiprocessor's checker and the block's shadow.
#[inline(always)]
fn check(sm: &mut Sm, look: impl FnOnce(&mut Sm, &mut Checker, &mut Shadow)) {
    if let Some((mut checker, mut shadow)) = take(sm) {
        look(sm, &mut checker, &mut shadow);
        give_back(sm, checker, shadow);
    }
}

/// The multiprocessor's checker and the block's shadow, which are to be given back.
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
fn give_back(sm: &mut Sm, checker: Box<Checker>, shadow: Box<Shadow>) {
    // There is nothing to drop in their places.
    std::mem::forget(sm.checker.replace(checker));
    std::mem::forget(sm.block.shadow.replace(shadow));
}

/// The access that an instruction is, and the lanes' addresses.
///
/// # Safety
/// As for [`Handler`]; it is an access.
#[inline(always)]
unsafe fn access<'a>(sm: &Sm, inst: &Inst) -> (Doing, Addresses<'a>) {
    let site = sm.address_of(inst);
    let Checked::Access(access) = sm.grid.program.listing.checked.at(site) else {
        unreachable!("only accesses are checked as such");
    };
    // SAFETY: the operand is a 64-bit row.
    let row = unsafe { sm.row::<u64>(inst, access.address) };
    let (reads, writes) = match access.kind {
        AccessKind::Store => (false, true),
        AccessKind::Atomic => (inst.x != Atomic::Exchange as u32, true),
        _ => (true, false),
    };
    let doing = Doing {
        block: sm.block.number,
        warp: sm.block.running,
        site,
        access,
        reads,
        writes,
    };
    let offset = inst.imm;
    (doing, Addresses { row, offset })
}

/// What a lane stores.
///
/// # Safety
/// As for [`Handler`]; it is a store.
#[inline(always)]
unsafe fn stored(sm: &Sm, inst: &Inst, access: Access, lane: usize) -> [u8; 16] {
    let mut value = [0; 16];
    let parts = inst.x.clamp(1, 4) as usize;
    let bytes = access.bytes as usize / parts;
    for (part, value) in value.chunks_exact_mut(bytes).take(parts).enumerate() {
        // SAFETY: the values are rows as wide as an element, at least 32 bits.
        unsafe {
            let row = match bytes {
                8 => sm.row::<u64>(inst, 1 + part)[lane],
                _ => sm.row::<u32>(inst, 1 + part)[lane].into(),
            };
            value.copy_from_slice(&row.to_le_bytes()[..bytes]);
        }
    }
    value
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn check_device(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (doing, at) = unsafe { access(sm, inst) };
    // Without a closure, which would not be made for the CPU that this is made for.
    if let Some((mut checker, mut shadow)) = take(sm) {
        if doing.access.ordered && doing.reads {
            shadow.order.acquire(doing.warp);
        }
        let (mask, bytes) = (sm.mask, doing.access.bytes.into());
        checker.device(&sm.grid.program.listing.checked, doing, at, mask, bytes);
        give_back(sm, checker, shadow);
    }
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn check_shared(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (doing, at) = unsafe { access(sm, inst) };
    if let Some((mut checker, mut shadow)) = take(sm) {
        // SAFETY: as above.
        unsafe { look_at_shared(sm, inst, &mut checker, &mut shadow, doing, at, sm.mask) };
        give_back(sm, checker, shadow);
    }
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// # Safety
/// As for [`Handler`]; it is an access.
#[inline(always)]
unsafe fn look_at_shared(
    sm: &Sm,
    inst: &Inst,
    checker: &mut Checker,
    shadow: &mut Shadow,
    doing: Doing,
    at: Addresses,
    mask: u32,
) {
    // Of a load of matrices each address is that of a row of 16 bytes.
    let (mask, bytes) = match doing.access.kind {
        AccessKind::MatrixLoad => (mask & (u32::MAX >> (32 - doing.access.bytes * 2)), 16),
        _ => (mask, doing.access.bytes.into()),
    };
    // SAFETY: it is only asked of stores.
    let stored = |lane| unsafe { stored(sm, inst, doing.access, lane) };
    let lanes = Lanes {
        at,
        mask,
        bytes,
        memory: &sm.block.shared,
    };
    checker.shared(
        shadow,
        &sm.grid.program.listing.checked,
        doing,
        lanes,
        stored,
    );
}

/// Makes a handler for any CPU, and for one with wide registers.
macro_rules! for_cpus {
    ($name:ident, $check:ident) => {
        fn $name(cpu: Cpu) -> Handler {
            unsafe fn plain(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as for any handler.
                unsafe { $check(sm, inst) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as for any handler; chosen only where the CPU has AVX2.
                unsafe { $check(sm, inst) }
            }
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => avx2,
                _ => plain,
            }
        }
    };
}

for_cpus!(device_access, check_device);
for_cpus!(shared_access, check_shared);

/// Each lane's address says which memory it is.
///
/// # Safety
/// As for [`Handler`].
unsafe fn generic_access(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (doing, at) = unsafe { access(sm, inst) };
    let mask = sm.mask;
    let within = |window| {
        let lanes = active(mask).filter(|&lane| in_window(at.of(lane), window));
        lanes.fold(0, |lanes, lane| lanes | 1 << lane)
    };
    let to_shared = within(SHARED_WINDOW);
    let to_device = mask & !(to_shared | within(LOCAL_WINDOW) | within(PARAM_WINDOW));
    check(sm, |sm, checker, shadow| {
        if to_shared != 0 {
            let offset = at.offset.wrapping_sub(SHARED_WINDOW);
            let at = Addresses { offset, ..at };
            // SAFETY: as above.
            unsafe { look_at_shared(sm, inst, checker, shadow, doing, at, to_shared) };
        }
        if to_device != 0 {
            if doing.access.ordered && doing.reads {
                shadow.order.acquire(doing.warp);
            }
            let bytes = doing.access.bytes.into();
            checker.device(
                &sm.grid.program.listing.checked,
                doing,
                at,
                to_device,
                bytes,
            );
        }
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// An asynchronous copy: a load from device memory, and a store that takes its time.
///
/// # Safety
/// As for [`Handler`].
unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is a copy, with both addresses and what says how much it reads.
    let ((doing, _), (to, from), sizes) = unsafe {
        (
            access(sm, inst),
            async_copy::addresses(sm, inst),
            async_copy::sizes(sm, inst),
        )
    };
    check(sm, |sm, checker, shadow| {
        let (mask, bytes) = (sm.mask, doing.access.bytes);
        let places = &sm.grid.program.listing.checked;
        let whole = active(mask).filter(|&lane| sizes[lane] >= bytes);
        let whole = whole.fold(0, |lanes, lane| lanes | 1 << lane);
        let from = Addresses {
            row: &from,
            offset: 0,
        };
        checker.device(places, doing, from, whole, bytes.into());
        for lane in active(mask & !whole).filter(|&lane| sizes[lane] > 0) {
            checker.device(places, doing, from, 1 << lane, sizes[lane].into());
        }
        for lane in active(mask) {
            checker.copy_begins(shadow, places, doing, lane, to[lane], bytes.into());
        }
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// What lanes wait for is written then.
///
/// # Safety
/// As for [`Handler`].
unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    check(sm, |sm, checker, shadow| {
        let (pending, all) = match sm.grid.program.listing.checked.at(site) {
            Checked::Wait(Waiting::Groups(pending)) => (pending, false),
            _ => (0, true),
        };
        if checker.launched.checks.race {
            let warp = sm.block.running;
            let stamp = shadow.order.own(warp);
            let waited = sm.block.warp().copies.waited(sm.mask, pending, all);
            for (lane, to, bytes) in waited {
                let who = Who::new(warp, lane, site);
                shadow.shared.copied(stamp, who, to.into(), bytes as u64);
            }
        }
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// # Safety
/// As for [`Handler`].
unsafe fn fence(sm: &mut Sm, inst: &Inst) -> Next {
    check(sm, |sm, checker, shadow| {
        shadow.fence(sm.block.running);
        checker.fence(sm.block.number);
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// # Safety
/// As for [`Handler`].
unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    let lane = sm.mask.trailing_zeros() as usize & 31;
    // SAFETY: operands 0 and 1 of a barrier are 32-bit rows.
    let (number, expected) =
        unsafe { (sm.row::<u32>(inst, 0)[lane], sm.row::<u32>(inst, 1)[lane]) };
    check(sm, |sm, checker, shadow| {
        let (number, warp) = (number as usize, sm.block.running);
        if number >= shadow.barriers.len() {
            // It is about to fail.
            return;
        }
        if expected > 0 {
            shadow.arrive(number, warp);
        }
        if !checker.launched.checks.sync {
            return;
        }
        let (mask, alive) = (sm.mask, sm.block.warp().alive);
        let doing = (sm.block.number, warp, site);
        let aligned = sm.grid.program.listing.checked.at(site) == Checked::Barrier(Aligned(true));
        if mask != alive {
            if aligned {
                // The others may be about to end.
                shadow.parts.push(PartialWarp {
                    barrier: number,
                    warp,
                    site,
                    mask,
                    alive,
                });
            }
        } else if expected == 0 {
            let thread = warp as u32 * 32 + lane as u32;
            match shadow.barriers[number] {
                None => shadow.barriers[number] = Some(Come { site, thread }),
                Some(first) if first.site != site => checker.mixed(doing, first),
                Some(_) => {}
            }
        }
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}

/// The running block has ended, or has failed: notes what was held back until then.
pub fn close(sm: &mut Sm) {
    let stuck = |fault: &Fault| {
        use FaultKind::{BarrierNeverOpens, WarpSyncNeverOpens};
        matches!(
            fault.kind,
            BarrierNeverOpens { .. } | WarpSyncNeverOpens { .. }
        )
    };
    let stuck = sm.fault.as_ref().is_some_and(stuck);
    check(sm, |sm, checker, shadow| {
        // Where some lanes of a warp are that wait or are to go on later.
        let elsewhere = |warp: usize, mask: u32| {
            let mut others = sm.block.warps[warp].splits.iter();
            let lives = |state| !matches!(state, State::Free | State::Running);
            let place = others.find(|split| split.mask & mask != 0 && lives(split.state));
            place.map(|split| split.pc)
        };
        checker.close(shadow, sm.block.number, stuck, elsewhere);
    });
}

/// # Safety
/// As for [`Handler`].
unsafe fn meeting(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    let Checked::Warp(Meeting { members, anywhere }) = sm.grid.program.listing.checked.at(site)
    else {
        unreachable!("only what brings lanes together is checked as such");
    };
    let lane = sm.mask.trailing_zeros() as usize & 31;
    // SAFETY: the operand is a 32-bit row.
    let members = unsafe { sm.row::<u32>(inst, members)[lane] };
    check(sm, |sm, checker, shadow| {
        let (warp, block) = (sm.block.warp(), sm.block.number);
        let (state, place) = match anywhere {
            true => (State::Meet(members), members),
            false => (State::Sync(members), site),
        };
        let waiting = warp.splits.iter();
        let waiting =
            waiting.filter(|split| split.state == state && (anywhere || split.pc == site));
        let come = waiting.fold(sm.mask, |come, split| come | split.mask);
        let index = sm.block.running;
        let doing = (block, index, site);
        let sync = checker.launched.checks.sync;
        let lacking = sm.mask & !members;
        if lacking != 0 && sync {
            let lane = lacking.trailing_zeros();
            let (kind, severity) = (FindingKind::MaskLacksCaller, Severity::Error);
            checker.mask(doing, (kind, severity), lane, members, lacking);
        }
        if members & warp.alive & !come != 0 {
            let checked = &sm.grid.program.listing.checked;
            let ending = warp
                .splits
                .iter()
                .filter(|split| split.state == State::Ready && checked.only_ends(split.pc));
            let ending = ending.fold(0, |lanes, split| lanes | split.mask);
            shadow.meetings.wait(index, place, warp.alive & !ending);
            return;
        }
        let busy = shadow.meetings.end(index, place);
        let absent = members & sm.lanes_of(index) & !come;
        // Who has ended before may be named. But a value that is asked of him is none. Those that a
        // block without whole warps lacks are nobody's mistake.
        let severity = match absent & busy != 0 {
            true => Severity::Error,
            false => Severity::Warning,
        };
        if absent != 0 && sync && (severity == Severity::Error || !anywhere) {
            let kind = (FindingKind::AbsentLanes, severity);
            checker.mask(doing, kind, lane as u32, members, absent);
        }
        if warp.alive & !(come & members) == 0 {
            shadow.order.meet(index);
        } else {
            shadow.order.meet_in_part(index, come & members);
        }
    });
    // SAFETY: the caller's promise.
    unsafe { go_on(sm, inst) }
}
