//! Checks of memory accesses before they are performed.

use super::{check, put_back, run_base, take};
use crate::check::checker::{Checker, Lanes, Values, WarpAccess};
use crate::check::lane_runs::{Accessor, Addresses, LaneRun, StoredValues, word_of};
use crate::check::semantics::AccessSemantics;
use crate::check::shadow::Shadow;
use crate::exec::cpu::Cpu;
use crate::exec::memory::async_copy;
use crate::exec::memory::atomic::Atomic;
use crate::exec::sm::cluster::rank_and_offset;
use crate::exec::sm::{Handler, Inst, Next, Sm};
use crate::exec::tensor::warpgroup::Matrices;
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::{Access, AccessKind, Element, LoadedValue, Memory, Update};
use crate::lanes::{FULL, LANES, active};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};

/// Returns the access that an instruction performs and the lanes' addresses.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
#[inline(always)]
unsafe fn access<'a>(sm: &Sm, inst: &Inst) -> (WarpAccess, Addresses<'a>) {
    let site = sm.address_of(inst);
    let CheckEvent::Access(access) = sm.grid.program.listing.check_events.at(site) else {
        unreachable!("only accesses are checked as such");
    };
    // SAFETY: the address operand is a 64-bit row.
    let row = unsafe { sm.row::<u64>(inst, access.address) };
    let (reads, writes) = match access.kind {
        AccessKind::Store | AccessKind::MatrixStore => (false, true),
        kind if kind.is_atomic() => (inst.arg0 != Atomic::Exchange as u32, true),
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

/// The registers that a store or an exchange writes to memory. Created only for accesses; read only for these.
struct StoredRows<'a> {
    sm: &'a Sm,
    inst: &'a Inst,
    access: Access,
}

impl StoredValues for StoredRows<'_> {
    fn bytes(&self, lane: usize) -> [u8; 16] {
        let StoredRows { sm, inst, access } = *self;
        let mut value = [0; 16];
        if access.kind.is_atomic() {
            // SAFETY: operand 2 is a row as wide as the exchanged value.
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
            // SAFETY: the value rows are as wide as an element, and at least 32 bits.
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

    #[inline(always)]
    fn words(&self) -> Option<&[u32; LANES]> {
        let is_word = self.access.kind == AccessKind::Store && self.access.bytes == 4;
        // SAFETY: operand 1 is a row as wide as the element.
        (is_word && self.inst.arg0 <= 1).then(|| unsafe { self.sm.row::<u32>(self.inst, 1) })
    }

    #[inline(always)]
    fn word(&self, lane: usize, at: usize) -> u32 {
        match self.words() {
            Some(words) => words[lane],
            None => word_of(&self.bytes(lane), at),
        }
    }

    #[inline(always)]
    fn is_uniform(&self, mask: u32) -> bool {
        let first = mask.trailing_zeros() as usize % LANES;
        match self.words() {
            Some(words) if mask == FULL => words.iter().all(|word| *word == words[0]),
            Some(words) => active(mask).all(|lane| words[lane] == words[first]),
            None => {
                let value = self.bytes(first);
                active(mask).all(|lane| self.bytes(lane) == value)
            }
        }
    }
}

/// Checks an access to device memory and performs it.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
#[inline(always)]
unsafe fn check_device(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access, as this function requires.
    let (current, at) = unsafe { access(sm, inst) };
    // No closure here: it would not be compiled for AVX2, as this function is.
    if let Some((mut checker, mut shadow)) = take(sm) {
        // SAFETY: the instruction is an access, as this function requires.
        unsafe { check_lanes_device(sm, inst, &mut checker, &mut shadow, current, at, sm.mask) };
        put_back(sm, checker, shadow);
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks an access to shared memory and performs it.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
#[inline(always)]
unsafe fn check_shared(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access, as this function requires.
    let (current, at) = unsafe { access(sm, inst) };
    if let Some((mut checker, mut shadow)) = take(sm) {
        // SAFETY: the instruction is an access, as this function requires.
        unsafe { check_lanes_shared(sm, inst, &mut checker, &mut shadow, current, at, sm.mask) };
        put_back(sm, checker, shadow);
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks the part of an access that goes to shared memory.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
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
    // Matrix accesses have one address per row of 16 bytes.
    let (mask, bytes) = match current.access.kind {
        AccessKind::MatrixLoad | AccessKind::MatrixStore => {
            (mask & (u32::MAX >> (32 - current.access.bytes * 2)), 16)
        }
        _ => (mask, current.access.bytes.into()),
    };
    // Accesses of a block to the shared memory of another block of its cluster are not tracked.
    let mask = match sm.block.cluster {
        Some(_) => own_lanes(at, mask),
        None => mask,
    };
    let stored = StoredRows {
        sm,
        inst,
        access: current.access,
    };
    let before = |at, width| bytes_of(&sm.block.shared, at, width);
    let checked = &sm.grid.program.listing.check_events;
    let lanes = Lanes { at, mask, bytes };
    checker.check_shared(shadow, checked, current, lanes, Values { stored, before });
}

/// Returns the lanes of `mask` that access the shared memory of their own block.
fn own_lanes(at: Addresses, mask: u32) -> u32 {
    let is_own = |&lane: &usize| rank_and_offset(at.of(lane)).0.is_none();
    let own = active(mask).filter(is_own);
    own.fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Checks the part of an access that goes to device memory.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
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
    let stored = StoredRows {
        sm,
        inst,
        access: current.access,
    };
    let before = |at, width| device_bytes(sm, at, width);
    let checked = &sm.grid.program.listing.check_events;
    let bytes = current.access.bytes.into();
    let lanes = Lanes { at, mask, bytes };
    checker.check_device(shadow, checked, current, lanes, Values { stored, before });
}

/// Returns `count` bytes of shared memory at `at`, padded with zeros. The bytes must be inside `memory`.
fn bytes_of(memory: &[u64], at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (nth, byte) in bytes[..count].iter_mut().enumerate() {
        let at = at as usize + nth;
        *byte = memory[at / 8].to_ne_bytes()[at % 8];
    }
    bytes
}

/// Returns `count` bytes of device memory at `at`, padded with zeros. Returns zeros if the address is invalid.
pub fn device_bytes(sm: &Sm, at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let host = sm.memory.regions.find(at).host(at, count as u64);
    if !host.is_null() {
        // SAFETY: `host` is not null, so all `count` bytes are inside an allocation that outlives the launch.
        unsafe { host.copy_to_nonoverlapping(bytes.as_mut_ptr(), count) };
    }
    bytes
}

/// Defines a function that returns the handler for a CPU: a portable one, or one with wide registers.
macro_rules! for_cpus {
    ($name:ident, $check:ident) => {
        pub fn $name(cpu: Cpu) -> Handler {
            unsafe fn plain(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: the requirements of `Handler` are those of `$check`; only accesses get this handler.
                unsafe { $check(sm, inst) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: the requirements of `Handler` are those of `$check`; chosen only on CPUs with AVX2.
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

/// Checks an access to local memory and performs it.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
pub unsafe fn local_access(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access, as this function requires.
    let (current, at) = unsafe { access(sm, inst) };
    let mask = sm.mask;
    check(sm, |sm, checker, shadow| {
        check_lanes_local(sm, checker, shadow, current, at, mask)
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
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
    let valid = active(mask).filter(|&lane| sm.is_local_variable(at.of(lane), bytes));
    let mask = valid.fold(0, |lanes, lane| lanes | 1 << lane);
    let lanes = Lanes { at, mask, bytes };
    let events = &sm.grid.program.listing.check_events;
    checker.check_local(shadow, events, current, lanes);
}

/// Checks an access through generic addresses and performs it. Each lane's address determines its state space.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an access.
pub unsafe fn generic_access(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is an access, as this function requires.
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
            // SAFETY: the instruction is an access, as this function requires.
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
            // SAFETY: the instruction is an access, as this function requires.
            unsafe { check_lanes_device(sm, inst, checker, shadow, current, at, to_device) };
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks an asynchronous copy and starts it: a load from device memory, and a store that completes later.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an asynchronous copy.
pub unsafe fn copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: a copy's operands are both address rows and the number of bytes to read.
    let ((current, _), (to, from), sizes) = unsafe {
        (
            access(sm, inst),
            async_copy::addresses(sm, inst),
            async_copy::sizes(sm, inst),
        )
    };
    check(sm, |sm, checker, shadow| {
        let (mask, bytes) = (sm.mask, current.access.bytes);
        let checked = &sm.grid.program.listing.check_events;
        let is_full = |&lane: &usize| sizes[lane] >= bytes;
        let full_lanes = (active(mask).filter(is_full)).fold(0, |lanes, lane| lanes | 1 << lane);
        let from = Addresses {
            row: &from,
            offset: 0,
        };
        // A copy stores nothing in device memory.
        let values = Values {
            stored: |_| [0; 16],
            before: |at, width| device_bytes(sm, at, width),
        };
        let read = WarpAccess {
            semantics: AccessSemantics::Load(LoadedValue::default()),
            ..current
        };
        let lanes_of = |mask, bytes| Lanes {
            at: from,
            mask,
            bytes,
        };
        checker.check_device(
            shadow,
            checked,
            read,
            lanes_of(full_lanes, bytes.into()),
            values,
        );
        for lane in active(mask & !full_lanes).filter(|&lane| sizes[lane] > 0) {
            let lanes = lanes_of(1 << lane, sizes[lane].into());
            checker.check_device(shadow, checked, read, lanes, values);
        }
        for lane in active(mask) {
            let run = LaneRun::single(lane, to[lane]);
            checker.start_copy(shadow, checked, current, run, bytes.into());
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Completes the asynchronous copies that lanes wait for: their destinations are written now.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a wait.
pub unsafe fn wait(sm: &mut Sm, inst: &Inst) -> Next {
    let site = sm.address_of(inst);
    check(sm, |sm, checker, shadow| {
        let (pending, all) = match sm.grid.program.listing.check_events.at(site) {
            CheckEvent::CopyWait(CopyGroupOp::WaitGroups(pending)) => (pending, false),
            _ => (0, true),
        };
        if checker.launch.checks.race {
            let warp = sm.block.running;
            let stamp = shadow.order.stamp(warp);
            let completed = sm.block.warp().copies.completed_by(sm.mask, pending, all);
            for (lane, to, bytes) in completed {
                let accessor = Accessor::new(warp, lane, site);
                shadow
                    .shared
                    .record_copy(stamp, accessor, to.into(), bytes as u64);
            }
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Bytes that `wgmma` reads at each address in shared memory.
const MATRIX_ROW_BYTES: u32 = 16;

/// Checks the operands of a `wgmma.mma_async` in shared memory and runs it. They are checked when the instruction is
/// issued and again when it is waited for, because a GPU may read them at any time in between.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a `wgmma.mma_async`.
pub unsafe fn wgmma(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the instruction is a `wgmma.mma_async`, as this function requires.
    let matrices = unsafe { Matrices::of(sm, inst) };
    // If the descriptors are invalid, the instruction itself reports the fault.
    if let Ok(matrices) = matrices {
        let site = sm.address_of(inst);
        let chunks: Vec<u64> = matrices.chunks().collect();
        check(sm, |sm, checker, shadow| {
            read_matrices(sm, checker, shadow, (site, &chunks), true);
            sm.block.warp_mut().products.start_read(site, chunks);
        });
    }
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks again the operands of the instructions that a `wgmma.wait_group` waits for, and runs it.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a `wgmma.wait_group`.
pub unsafe fn wgmma_wait(sm: &mut Sm, inst: &Inst) -> Next {
    check(sm, |sm, checker, shadow| {
        for (site, chunks) in sm.block.warp_mut().products.finish_reads(inst.arg0) {
            read_matrices(sm, checker, shadow, (site, &chunks), false);
        }
    });
    // SAFETY: `inst` meets the requirements of `Handler`, as this function requires.
    unsafe { run_base(sm, inst) }
}

/// Checks a warp's read of these addresses in shared memory. The reads are not attributed to single lanes.
/// Uninitialized memory is reported only the `first` time.
fn read_matrices(
    sm: &Sm,
    checker: &mut Checker,
    shadow: &mut Shadow,
    (site, chunks): (u32, &[u64]),
    first: bool,
) {
    let access = Access {
        memory: Memory::Shared,
        kind: AccessKind::MatrixLoad,
        bytes: MATRIX_ROW_BYTES,
        element: Element::WORD,
        address: 0,
        ordered: None,
        loaded: LoadedValue::default(),
        update: Update::default(),
    };
    let current = WarpAccess {
        block: sm.block.number,
        warp: sm.block.running,
        site,
        access,
        reads: first,
        writes: false,
        semantics: AccessSemantics::Load(LoadedValue::default()),
    };
    let values = Values {
        stored: |_| [0; 16],
        before: |_, _| [0; 16],
    };
    let checked = &sm.grid.program.listing.check_events;
    for some in chunks.chunks(LANES) {
        let mut row = [0; LANES];
        row[..some.len()].copy_from_slice(some);
        let lanes = Lanes {
            at: Addresses {
                row: &row,
                offset: 0,
            },
            mask: FULL >> (LANES - some.len()),
            bytes: MATRIX_ROW_BYTES.into(),
        };
        checker.check_shared(shadow, checked, current, lanes, values);
    }
}
