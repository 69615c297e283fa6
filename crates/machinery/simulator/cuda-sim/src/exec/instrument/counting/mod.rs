//! The counting copies of a program's code.
//!
//! A profiled block runs a copy of the code (see [`crate::exec::sm::Code`]) in which every access, branch and
//! barrier has a handler of this module: it counts the instruction and then runs the plain handler. Blocks that
//! are not profiled run the plain copy and pay nothing.

mod gang;

use crate::exec::cpu::Cpu;
use crate::exec::memory::atomic::Atomic;
use crate::exec::memory::{async_copy, bulk};
use crate::exec::profiler::{Profiler, SiteAccess, Transfer};
use crate::exec::sm::{Code, CountedSite, Handler, Inst, Next, Sm};
use crate::isa::listing::SiteKind;
use crate::isa::{AccessKind, AtomicMethod, Memory};
use crate::lanes::{FULL, LANES, active};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::profile::collect::SiteCounts;
use crate::profile::traffic;
use crate::profile::traffic::{CasLoop, first_lane_per_bank};

/// Creates the counting copies of a complete program.
pub fn make_copies(code: &mut Code, cpu: Cpu) {
    code.counting = code.plain.clone();
    code.counting_gang = code.gang.clone();
    for counted in code.sites.iter() {
        let (kind, address) = (counted.site.kind, counted.site.address as usize);
        code.counting[address].run = handler(kind, cpu);
        if counted.gang.is_some()
            && let Some(handler) = gang::handler(kind, cpu)
        {
            code.counting_gang[address].run = handler;
        }
    }
}

/// Returns the handler that counts a site and then runs it.
fn handler(kind: SiteKind, cpu: Cpu) -> Handler {
    match kind {
        SiteKind::Access(access) if access.kind.is_async_copy() => async_copy,
        SiteKind::Access(access) if access.kind.is_bulk_copy() => bulk_copy,
        SiteKind::Access(access) if access.starts_with_load() => match access.update.method {
            AtomicMethod::CasLoopIfChanged => if_better,
            _ => always,
        },
        SiteKind::Access(access) => match access.memory {
            Memory::Global => global(cpu),
            Memory::Shared => shared(cpu),
            Memory::Constant => constant(cpu),
            Memory::Local => local(cpu),
            Memory::Generic => generic(cpu),
        },
        SiteKind::Branch => branch,
        SiteKind::Barrier => barrier,
    }
}

/// Returns the site of an instruction and the active lanes' addresses.
///
/// # Safety
/// `inst` must be a counted memory access, whose address operand is a 64-bit row.
#[inline(always)]
unsafe fn access<'a>(sm: &Sm, inst: &Inst) -> (&'a CountedSite, Transfer, [u64; LANES]) {
    let (counted, transfer, operand) = site_of(sm, inst);
    // SAFETY: the caller guarantees that the address operand is a 64-bit row.
    let row = unsafe { sm.row::<u64>(inst, operand) };
    (counted, transfer, offset_by(row, counted.site.offset))
}

/// Returns the site of an instruction and the index of its address operand.
#[inline(always)]
fn site_of<'a>(sm: &Sm, inst: &Inst) -> (&'a CountedSite, Transfer, usize) {
    let counted: *const CountedSite = sm.grid.program.code.sites.at(sm.address_of(inst));
    // SAFETY: the site belongs to the program, which outlives the launch.
    let counted = unsafe { &*counted };
    let SiteKind::Access(access) = counted.site.kind else {
        unreachable!("only accesses are counted as such");
    };
    let transfer = Transfer {
        kind: access.kind,
        bytes: access.bytes.into(),
        update: access.update,
    };
    (counted, transfer, access.address)
}

/// Returns the addresses of a row plus `offset`.
#[inline(always)]
fn offset_by(row: &[u64; LANES], offset: u64) -> [u64; LANES] {
    let mut at = [0; LANES];
    for (at, address) in at.iter_mut().zip(row) {
        *at = address.wrapping_add(offset);
    }
    at
}

/// Returns the profiler, which every block that runs counting code has.
#[inline(always)]
fn profiler(sm: &mut Sm) -> &mut Profiler {
    match &mut sm.profiler {
        Some(profiler) => profiler,
        None => unreachable!("counted code runs in counted blocks alone"),
    }
}

/// Defines `$name`, which returns a handler that counts an instruction and then runs it. The handler has a
/// version for CPUs with wide registers, on which 32 addresses are handled in a few steps.
macro_rules! counting_handler {
    // Counts the active lanes' access by `$count`.
    ($name:ident, |$sm:ident, $warp:ident, $access:ident| $count:expr) => {
        counting_handler!($name, |$sm, inst| {
            // SAFETY: sites of this kind are memory accesses.
            let (counted, transfer, at) = unsafe { access($sm, inst) };
            let ($warp, $access) = ($sm.block.running, of_lanes($sm, counted, &at, transfer));
            $count;
            // SAFETY: `run` is the uninstrumented handler of this instruction.
            unsafe { (counted.run)($sm, inst) }
        });
    };
    ($name:ident, |$sm:ident, $inst:ident| $run:expr) => {
        fn $name(cpu: Cpu) -> Handler {
            #[inline(always)]
            fn run($sm: &mut Sm, $inst: &Inst) -> Next {
                $run
            }
            unsafe fn plain(sm: &mut Sm, inst: &Inst) -> Next {
                run(sm, inst)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2(sm: &mut Sm, inst: &Inst) -> Next {
                // `Cpu::Avx2` is detected only on CPUs with these features.
                run(sm, inst)
            }
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => avx2,
                _ => plain,
            }
        }
    };
}
use counting_handler;

counting_handler!(global, |sm, warp, access| profiler(sm)
    .global(&[warp], access));
counting_handler!(shared, |sm, warp, access| profiler(sm)
    .shared(&[warp], access));
counting_handler!(constant, |sm, warp, access| profiler(sm)
    .constant(&[warp], access));
counting_handler!(local, |sm, warp, access| {
    let base = local_rows(sm);
    profiler(sm).local(warp, access, base);
});
counting_handler!(generic, |sm, warp, access| {
    let (at, mask) = (access.at, access.mask);
    // Each lane's address determines its state space: one access per space is counted.
    let within = |window| {
        let lanes = (0..LANES).filter(|&lane| in_window(at[lane], window));
        lanes.fold(0, |lanes, lane| lanes | 1 << lane) & mask
    };
    let (to_shared, to_local) = (within(SHARED_WINDOW), within(LOCAL_WINDOW));
    let to_constant = within(PARAM_WINDOW);
    let to_global = mask & !(to_shared | to_local | to_constant);
    let less = |window: u64| at.map(|address| address.wrapping_sub(window));
    let base = local_rows(sm);
    let profiler = profiler(sm);
    if to_global != 0 {
        profiler.global(&[warp], access.part(0, at, to_global));
    }
    if to_shared != 0 {
        profiler.shared(&[warp], access.part(1, &less(SHARED_WINDOW), to_shared));
    }
    if to_local != 0 {
        profiler.local(warp, access.part(2, &less(LOCAL_WINDOW), to_local), base);
    }
    if to_constant != 0 {
        profiler.constant(&[warp], access.part(3, at, to_constant));
    }
});

/// Returns the access of the active lanes at a site.
#[inline(always)]
fn of_lanes<'a>(
    sm: &Sm,
    site: &CountedSite,
    at: &'a [u64; LANES],
    transfer: Transfer,
) -> SiteAccess<'a> {
    SiteAccess::new(site.site.slot as usize, at, sm.mask, transfer)
}

/// Returns the address at which this warp's local memory is simulated, far from device memory.
fn local_rows(sm: &Sm) -> u64 {
    let warps = sm.grid.dims.threads().div_ceil(32);
    let warp = sm.block.number * u64::from(warps) + u64::from(sm.block.warp().index);
    LOCAL_WINDOW + warp * u64::from(sm.locals.bytes).next_multiple_of(4) * LANES as u64
}

/// Counts an asynchronous copy: a load from global memory by the lanes that read anything, and a store to
/// shared memory.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is an asynchronous copy.
unsafe fn async_copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a copy, whose operands are both address rows and the number of bytes to read.
    let ((counted, transfer, _), (to, from), sizes) = unsafe {
        (
            access(sm, inst),
            async_copy::addresses(sm, inst),
            async_copy::sizes(sm, inst),
        )
    };
    let (slot, mask, warp) = (counted.site.slot as usize, sm.mask, sm.block.running);
    let reading =
        (0..LANES).fold(0, |lanes, lane| lanes | u32::from(sizes[lane] != 0) << lane) & mask;
    let profiler = profiler(sm);
    let traffic = match transfer.kind {
        AccessKind::AsyncCopyBypassL1 => {
            let traffic = traffic::copy_past_l1(&from, &to, reading);
            if reading != 0 {
                let counts = &mut profiler.sites[slot];
                counts.add_request(reading);
                counts.units += u64::from(traffic.sectors);
                let access = SiteAccess::new(slot, &from, reading, transfer);
                profiler.trace_past_l1(warp, access, traffic.sectors);
            }
            traffic
        }
        _ => {
            if reading != 0 {
                let access = SiteAccess::new(slot, &from, reading, transfer);
                profiler.global(&[warp], access);
            }
            traffic::copy(&from, &to, mask, transfer.bytes)
        }
    };
    let counts = &mut profiler.sites[slot + 1];
    counts.add_request(mask);
    counts.wavefronts += u64::from(traffic.shared.wavefronts);
    counts.conflicts += u64::from(traffic.shared.conflicts);
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts a branch and its divergence.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a counted branch.
unsafe fn branch(sm: &mut Sm, inst: &Inst) -> Next {
    let counted = *sm.grid.program.code.sites.at(sm.address_of(inst));
    let before = sm.counts.divergent_branches;
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    let next = unsafe { (counted.run)(sm, inst) };
    let divergent = sm.counts.divergent_branches - before;
    let counts = &mut profiler(sm).sites[counted.site.slot as usize];
    counts.requests += 1;
    counts.conflicts += divergent;
    next
}

/// Counts a barrier.
///
/// # Safety
/// The requirements of [`Handler`]; the instruction is a counted barrier.
unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    let counted = *sm.grid.program.code.sites.at(sm.address_of(inst));
    profiler(sm).sites[counted.site.slot as usize].requests += 1;
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts a loop in which each swap changes the value, so that the number of iterations follows from the
/// addresses alone.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is such an atomic.
pub unsafe fn always(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a memory access.
    let (counted, transfer, at) = unsafe { access(sm, inst) };
    let access = of_lanes(sm, counted, &at, transfer);
    let warp = sm.block.running;
    profiler(sm).cas_loop(warp, access);
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts a 64-bit minimum or maximum, in which lanes swap only while their value is better.
///
/// # Safety
/// The requirements of [`always`].
unsafe fn if_better(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a memory access, and operand 2 of such an atomic is a 64-bit row.
    let ((counted, transfer, at), values) = unsafe { (access(sm, inst), *sm.row::<u64>(inst, 2)) };
    let better: fn(u64, u64) -> bool = match Atomic::of(inst) {
        Atomic::MinUnsigned => |new, old| new < old,
        Atomic::MaxUnsigned => |new, old| new > old,
        Atomic::MinSigned => |new, old| new.cast_signed() < old.cast_signed(),
        _ => |new, old| new.cast_signed() > old.cast_signed(),
    };
    let shared = &sm.block.shared;
    let inside = |lane: usize| at[lane] % 8 == 0 && at[lane] / 8 < shared.len() as u64;
    if active(sm.mask).all(inside) {
        let before = |lane: usize| shared[at[lane] as usize / 8];
        let cas_loop = rounds(sm.mask, &at, &values, better, before);
        let access = of_lanes(sm, counted, &at, transfer);
        let warp = sm.block.running;
        profiler(sm).count_cas_loop(warp, access, &cas_loop);
    }
    // SAFETY: `run` is the uninstrumented handler of this instruction; it reports invalid addresses.
    unsafe { (counted.run)(sm, inst) }
}

/// Simulates the iterations of the loop. In each, all waiting lanes load; lanes with a better value swap; of
/// the lanes at one address or bank, the first succeeds.
fn rounds(
    mask: u32,
    at: &[u64; LANES],
    values: &[u64; LANES],
    better: fn(u64, u64) -> bool,
    before: impl Fn(usize) -> u64,
) -> CasLoop {
    let mut memory: Vec<(u64, u64)> = Vec::new();
    for lane in active(mask) {
        if memory.iter().all(|&(address, _)| address != at[lane]) {
            memory.push((at[lane], before(lane)));
        }
    }
    let mut waiting = mask;
    let mut cas_loop = CasLoop::default();
    while waiting != 0 {
        let loaded = memory.clone();
        let index_of = |lane: usize| loaded.iter().position(|&(address, _)| address == at[lane]);
        let swap = active(waiting)
            .filter(|&lane| {
                index_of(lane).is_some_and(|index| better(values[lane], loaded[index].1))
            })
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let mut again = swap;
        for lane in active(first_lane_per_bank(at, swap, 8)) {
            if let Some(index) = index_of(lane)
                && memory[index] == loaded[index]
            {
                memory[index].1 = values[lane];
                again &= !(1 << lane);
            }
        }
        cas_loop.round(at, 8, (waiting, swap, again));
        waiting = again;
    }
    cas_loop
}

/// Bytes that a thread copies at once.
const BULK_WIDTH: u64 = 16;
/// Bytes of a sector of global memory.
const SECTOR: u64 = 32;
/// Bytes that shared memory transfers in a wavefront.
const WAVEFRONT: u64 = 128;

/// Counts a bulk asynchronous copy and starts it, as if each thread of full warps copied 16 bytes past the L1 cache: global
/// memory in the site's first slot, shared memory in the second.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the instruction is a bulk copy.
unsafe fn bulk_copy(sm: &mut Sm, inst: &Inst) -> Next {
    let (counted, _, _) = site_of(sm, inst);
    for lane in active(sm.mask) {
        // SAFETY: the instruction is a bulk copy, as this function requires.
        let transfer = unsafe { bulk::transfer(sm, inst, lane) };
        // If the copy is invalid, the instruction itself reports the fault.
        let Ok(transfer) = transfer else { break };
        let slot = counted.site.slot as usize;
        let (mut bytes, mut sectors) = (0, 0);
        for run in &transfer.runs {
            bytes += run.bytes;
            sectors += (run.address + run.bytes).div_ceil(SECTOR) - run.address / SECTOR;
        }
        let sites = &mut profiler(sm).sites;
        add_requests(&mut sites[slot], bytes);
        sites[slot].units += sectors;
        sites[slot].wavefronts += bytes.div_ceil(WAVEFRONT);
        add_requests(&mut sites[slot + 1], transfer.bytes);
        sites[slot + 1].wavefronts += transfer.bytes.div_ceil(WAVEFRONT);
    }
    // SAFETY: `run` is the uninstrumented handler of this instruction.
    unsafe { (counted.run)(sm, inst) }
}

/// Counts the requests of the warps that copy `bytes` bytes.
fn add_requests(counts: &mut SiteCounts, bytes: u64) {
    let mut threads = bytes.div_ceil(BULK_WIDTH);
    while threads > 0 {
        let lanes = threads.min(LANES as u64);
        counts.add_request(FULL >> (LANES as u64 - lanes));
        threads -= lanes;
    }
}
