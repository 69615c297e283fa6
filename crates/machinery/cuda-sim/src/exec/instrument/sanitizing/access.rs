//! Accesses, looked at before they happen.

use super::{check, put_back, run_base, take};
use crate::check::accessor::Accessor;
use crate::check::checker::{Checker, Lanes, Values, WarpAccess};
use crate::check::lane_runs::Addresses;
use crate::check::semantics::AccessSemantics;
use crate::check::shadow::Shadow;
use crate::exec::async_copy;
use crate::exec::atomic::Atomic;
use crate::exec::cpu::Cpu;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::isa::check_event::{Checked, Waiting};
use crate::isa::{Access, AccessKind};
use crate::lanes::active;
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// The access that an instruction is, and the lanes' addresses.
///
/// # Safety
/// As for [`Handler`]; it is an access.
#[inline(always)]
unsafe fn access<'a>(sm: &Sm, inst: &Inst) -> (WarpAccess, Addresses<'a>) {
    let site = sm.address_of(inst);
    let Checked::Access(access) = sm.grid.program.listing.checked.at(site) else {
        unreachable!("only accesses are checked as such");
    };
    // SAFETY: the operand is a 64-bit row.
    let row = unsafe { sm.row::<u64>(inst, access.address) };
    let (reads, writes) = match access.kind {
        AccessKind::Store | AccessKind::MatrixStore => (false, true),
        kind if kind.is_update() => (inst.arg0 != Atomic::Exchange as u32, true),
        _ => (true, false),
    };
    let current = WarpAccess {
        block: sm.block.number,
        warp: sm.block.running,
        site,
        access,
        reads,
        writes,
        semantics: AccessSemantics::of(access),
    };
    let offset = inst.imm;
    (current, Addresses { row, offset })
}

/// What a lane stores.
///
/// # Safety
/// As for [`Handler`]; it is a store, or an exchange.
#[inline(always)]
unsafe fn stored(sm: &Sm, inst: &Inst, access: Access, lane: usize) -> [u8; 16] {
    let mut value = [0; 16];
    if access.kind.is_update() {
        // SAFETY: operand 2 is a row as wide as what is exchanged.
        let new = unsafe {
            match access.bytes {
                8 => sm.row::<u64>(inst, 2)[lane],
                _ => sm.row::<u32>(inst, 2)[lane].into(),
            }
        };
        value[..8].copy_from_slice(&new.to_le_bytes());
        return value;
    }
    let parts = inst.arg0.clamp(1, 4) as usize;
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
    let (current, at) = unsafe { access(sm, inst) };
    // No closure here: it would not be compiled for AVX2, as this function is.
    if let Some((mut checker, mut shadow)) = take(sm) {
        // SAFETY: as above.
        unsafe { check_lanes_device(sm, inst, &mut checker, &mut shadow, current, at, sm.mask) };
        put_back(sm, checker, shadow);
    }
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn check_shared(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (current, at) = unsafe { access(sm, inst) };
    if let Some((mut checker, mut shadow)) = take(sm) {
        // SAFETY: as above.
        unsafe { check_lanes_shared(sm, inst, &mut checker, &mut shadow, current, at, sm.mask) };
        put_back(sm, checker, shadow);
    }
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// # Safety
/// As for [`Handler`]; it is an access.
#[inline(always)]
unsafe fn check_lanes_shared(
    sm: &Sm,
    inst: &Inst,
    checker: &mut Checker,
    shadow: &mut Shadow,
    current: WarpAccess,
    at: Addresses,
    mask: u32,
) {
    // Of matrices each address is that of a row of 16 bytes.
    let (mask, bytes) = match current.access.kind {
        AccessKind::MatrixLoad | AccessKind::MatrixStore => {
            (mask & (u32::MAX >> (32 - current.access.bytes * 2)), 16)
        }
        _ => (mask, current.access.bytes.into()),
    };
    // SAFETY: it is only asked of stores.
    let stored = |lane| unsafe { stored(sm, inst, current.access, lane) };
    let before = |at, width| bytes_of(&sm.block.shared, at, width);
    let checked = &sm.grid.program.listing.checked;
    let lanes = Lanes { at, mask, bytes };
    checker.check_shared(shadow, checked, current, lanes, Values { stored, before });
}

/// # Safety
/// As for [`Handler`]; it is an access.
#[inline(always)]
unsafe fn check_lanes_device(
    sm: &Sm,
    inst: &Inst,
    checker: &mut Checker,
    shadow: &mut Shadow,
    current: WarpAccess,
    at: Addresses,
    mask: u32,
) {
    // SAFETY: it is only asked of stores.
    let stored = |lane| unsafe { stored(sm, inst, current.access, lane) };
    let before = |at, width| device_bytes(sm, at, width);
    let checked = &sm.grid.program.listing.checked;
    let bytes = current.access.bytes.into();
    let lanes = Lanes { at, mask, bytes };
    checker.check_device(shadow, checked, current, lanes, Values { stored, before });
}

/// `count` bytes of shared memory from `at` on, which are inside. The rest of the 16 is zero.
fn bytes_of(memory: &[u64], at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (nth, byte) in bytes[..count].iter_mut().enumerate() {
        let at = at as usize + nth;
        *byte = memory[at / 8].to_ne_bytes()[at % 8];
    }
    bytes
}

/// `count` bytes of device memory from `at` on. The rest of the 16 is zero.
fn device_bytes(sm: &Sm, at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let host = sm.regions.find(at).host(at, count as u64);
    if !host.is_null() {
        // SAFETY: so many bytes are inside of an allocation that the launch keeps.
        unsafe { host.copy_to_nonoverlapping(bytes.as_mut_ptr(), count) };
    }
    bytes
}

/// Makes a handler for any CPU, and for one with wide registers.
macro_rules! for_cpus {
    ($name:ident, $check:ident) => {
        pub fn $name(cpu: Cpu) -> Handler {
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

/// # Safety
/// As for [`Handler`].
pub unsafe fn local_access(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (current, at) = unsafe { access(sm, inst) };
    let mask = sm.mask;
    check(sm, |sm, checker, shadow| {
        check_lanes_local(sm, checker, shadow, current, at, mask)
    });
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

fn check_lanes_local(
    sm: &Sm,
    checker: &mut Checker,
    shadow: &mut Shadow,
    current: WarpAccess,
    at: Addresses,
    mask: u32,
) {
    let bytes = current.access.bytes.into();
    let lanes = Lanes { at, mask, bytes };
    checker.check_local(shadow, current, lanes, sm.locals.bytes.into());
}

/// Each lane's address says which memory it is.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn generic_access(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access.
    let (current, at) = unsafe { access(sm, inst) };
    let mask = sm.mask;
    let within = |window| {
        let lanes = active(mask).filter(|&lane| in_window(at.of(lane), window));
        lanes.fold(0, |lanes, lane| lanes | 1 << lane)
    };
    let to_shared = within(SHARED_WINDOW);
    let to_local = within(LOCAL_WINDOW);
    let to_device = mask & !(to_shared | to_local | within(PARAM_WINDOW));
    check(sm, |sm, checker, shadow| {
        if to_shared != 0 {
            let offset = at.offset.wrapping_sub(SHARED_WINDOW);
            let at = Addresses { offset, ..at };
            // SAFETY: as above.
            unsafe { check_lanes_shared(sm, inst, checker, shadow, current, at, to_shared) };
        }
        if to_local != 0 {
            let offset = at.offset.wrapping_sub(LOCAL_WINDOW);
            check_lanes_local(
                sm,
                checker,
                shadow,
                current,
                Addresses { offset, ..at },
                to_local,
            );
        }
        if to_device != 0 {
            // SAFETY: as above.
            unsafe { check_lanes_device(sm, inst, checker, shadow, current, at, to_device) };
        }
    });
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// An asynchronous copy: a load from device memory, and a store that takes its time.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is a copy, with both addresses and what says how much it reads.
    let ((current, _), (to, from), sizes) = unsafe {
        (
            access(sm, inst),
            async_copy::addresses(sm, inst),
            async_copy::sizes(sm, inst),
        )
    };
    check(sm, |sm, checker, shadow| {
        let (mask, bytes) = (sm.mask, current.access.bytes);
        let checked = &sm.grid.program.listing.checked;
        let whole = active(mask).filter(|&lane| sizes[lane] >= bytes);
        let whole = whole.fold(0, |lanes, lane| lanes | 1 << lane);
        let from = Addresses {
            row: &from,
            offset: 0,
        };
        // It stores nothing in device memory.
        let values = Values {
            stored: |_| [0; 16],
            before: |at, width| device_bytes(sm, at, width),
        };
        let read = WarpAccess {
            semantics: AccessSemantics::Load,
            ..current
        };
        let lanes_of = |mask, bytes| Lanes {
            at: from,
            mask,
            bytes,
        };
        checker.check_device(shadow, checked, read, lanes_of(whole, bytes.into()), values);
        for lane in active(mask & !whole).filter(|&lane| sizes[lane] > 0) {
            let lanes = lanes_of(1 << lane, sizes[lane].into());
            checker.check_device(shadow, checked, read, lanes, values);
        }
        for lane in active(mask) {
            checker.start_copy(shadow, checked, current, lane, to[lane], bytes.into());
        }
    });
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}

/// What lanes wait for is written then.
///
/// # Safety
/// As for [`Handler`].
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    check(sm, |sm, checker, shadow| {
        let (pending, all) = match sm.grid.program.listing.checked.at(site) {
            Checked::Wait(Waiting::Groups(pending)) => (pending, false),
            _ => (0, true),
        };
        if checker.launch.checks.race {
            let warp = sm.block.running;
            let stamp = shadow.order.stamp(warp);
            let completed = sm.block.warp().copies.waited(sm.mask, pending, all);
            for (lane, to, bytes) in completed {
                let accessor = Accessor::new(warp, lane, site);
                shadow
                    .shared
                    .copied(stamp, accessor, to.into(), bytes as u64);
            }
        }
    });
    // SAFETY: the caller's promise.
    unsafe { run_base(sm, inst) }
}
