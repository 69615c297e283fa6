//! The same instructions, counted: what handlers of a profiled launch do before the plain ones.
//!
//! A program has its code twice, instruction for instruction (see [`crate::program::sites`]). A
//! block that is observed runs the copy in which each access, branch and barrier comes here first:
//! it is counted, and goes on to the handler that does it. A block that is not observed pays
//! nothing.

use super::async_copy;
use super::cpu::Cpu;
use super::lanes::LANES;
use super::sm::Sm;
use crate::device::DeviceSpec;
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::profile::cache::Cache;
use crate::profile::shape::Shapes;
use crate::profile::site::SiteCounts;
use crate::profile::traffic::{self, GlobalTraffic};
use crate::program::code::{Handler, Inst, Next};
use crate::program::flow::{AccessKind, Memory};
use crate::program::sites::{Site, SiteKind};

/// Bytes of a line of the first cache and of the constant cache.
const LINE: u64 = 128;
const CONSTANT_LINE: u64 = 64;

/// Bytes of a warp's local memory that lie side by side: a word of each lane.
const LOCAL_ROW: u64 = 128;

/// What a multiprocessor keeps from one of its blocks to the next.
pub struct Caches {
    l1: Cache,
    /// Whether ordinary loads go through the first cache, and whether those of read-only data do.
    caches_global: bool,
    caches_read_only: bool,
    /// The small constant cache, and the larger one behind it.
    constant: Cache,
    constant_behind: Cache,
}

impl Caches {
    /// Empty caches, of a multiprocessor whose blocks take `shared_bytes` of the first one.
    pub fn new(device: &DeviceSpec, shared_bytes: u64) -> Caches {
        let rates = &device.rates;
        let taken = if rates.l1_shares_with_shared {
            shared_bytes
        } else {
            0
        };
        let l1 = u64::from(rates.l1_bytes).saturating_sub(taken);
        Caches {
            l1: Cache::new(l1, LINE),
            caches_global: rates.l1_caches_global,
            caches_read_only: rates.read_only_cache,
            constant: Cache::new(rates.constant_cache_bytes.into(), CONSTANT_LINE),
            constant_behind: Cache::new(rates.constant_behind_bytes.into(), CONSTANT_LINE),
        }
    }
}

#[cfg(test)]
impl Caches {
    /// Whether the first cache has a line; it does from then on.
    pub fn ask_for_test(&mut self, line: u64) -> bool {
        self.l1.ask(line, 1) == 1
    }
}

/// Counts what the running block does.
pub struct Observer {
    /// One entry a slot of [`Site`].
    pub sites: Vec<SiteCounts>,
    /// Of the same slots.
    pub shapes: Vec<Shapes<Lines>>,
    pub caches: Box<Caches>,
}

/// What an access of some shape comes to.
#[derive(Default)]
pub struct Lines {
    traffic: GlobalTraffic,
    /// Of shared memory.
    conflicts: u32,
    /// Of global memory: lines, and the sectors of each.
    list: [(u64, u8); LANES],
    count: usize,
}

impl Observer {
    #[inline(always)]
    fn global(&mut self, slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let (lines, base) = self.shapes[slot].of(at, mask, |at| {
            let mut lines = Lines::default();
            lines.count = traffic::lines(at, mask, site.bytes, &mut lines.list);
            lines.traffic = match site.kind {
                AccessKind::Atomic => traffic::global_atomic(at, mask, site.bytes),
                AccessKind::Store => traffic::global(at, mask, site.bytes, true),
                _ => traffic::global(at, mask, site.bytes, false),
            };
            lines
        });
        let cached = match site.kind {
            AccessKind::Load | AccessKind::AsyncCopy => self.caches.caches_global,
            AccessKind::ReadOnlyLoad => self.caches.caches_read_only,
            AccessKind::Store
            | AccessKind::Atomic
            | AccessKind::MatrixLoad
            | AccessKind::AsyncCopyPastL1 => false,
        };
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.wavefronts += u64::from(lines.traffic.wavefronts);
        counts.units += u64::from(lines.traffic.sectors);
        if cached {
            for &(line, sectors) in &lines.list[..lines.count] {
                // Lines before the first lane's have numbers that wrapped around.
                let line = (base / LINE).wrapping_add(line) & (u64::MAX / LINE);
                let there = self.caches.l1.ask(line, sectors);
                counts.hits += u64::from(there.count_ones());
            }
        }
    }

    #[inline(always)]
    fn shared(&mut self, slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let (lines, _) = self.shapes[slot].of(at, mask, |at| {
            let found = match site.kind {
                AccessKind::Atomic => traffic::shared_atomic(at, mask, site.bytes),
                AccessKind::MatrixLoad => traffic::matrices(at, site.bytes as usize / 4),
                kind => traffic::shared(at, mask, site.bytes, !kind.is_load()),
            };
            Lines {
                traffic: GlobalTraffic {
                    wavefronts: found.wavefronts,
                    ..GlobalTraffic::default()
                },
                conflicts: found.conflicts,
                ..Lines::default()
            }
        });
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.wavefronts += u64::from(lines.traffic.wavefronts);
        counts.conflicts += u64::from(lines.conflicts);
    }

    fn constant(&mut self, slot: usize, at: &[u64; LANES], mask: u32, bytes: u64) {
        let mut addresses = [0; LANES];
        let found = traffic::constant(at, mask, bytes, &mut addresses);
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.units += found as u64;
        for &address in &addresses[..found] {
            let line = address / CONSTANT_LINE;
            if self.caches.constant.ask(line, 1) == 1 {
                counts.hits += 1;
            } else if self.caches.constant_behind.ask(line, 1) == 0 {
                counts.far += 1;
            }
        }
    }

    /// Local memory is interleaved: the same word of all lanes lies in one line, so that lanes
    /// that use the same place use it together.
    fn local(&mut self, slot: usize, at: &[u64; LANES], mask: u32, site: Seen, warp: u64) {
        let mut lines = [(0, 0); LANES];
        let words = site.bytes.div_ceil(4);
        for word in 0..words {
            let mut placed = [0; LANES];
            for (lane, (placed, at)) in (0..).zip(placed.iter_mut().zip(at)) {
                *placed = warp + (u64::from(*at as u32) / 4 + word) * LOCAL_ROW + lane * 4;
            }
            let found = traffic::lines(&placed, mask, 4, &mut lines);
            let counts = &mut self.sites[slot];
            counts.wavefronts += found as u64;
            for &(line, sectors) in &lines[..found] {
                counts.units += u64::from(sectors.count_ones());
                if site.kind.is_load() {
                    let there = self.caches.l1.ask(line, sectors);
                    counts.hits += u64::from(there.count_ones());
                }
            }
        }
        self.sites[slot].request(mask);
    }
}

/// What of a site its counting needs.
#[derive(Clone, Copy)]
struct Seen {
    kind: AccessKind,
    bytes: u64,
}

/// The handler that counts a site and then runs it.
pub fn handler(kind: SiteKind, cpu: Cpu) -> Handler {
    match kind {
        SiteKind::Access(access) if access.kind.is_copy() => async_copy,
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

/// The site an instruction is, and the running lanes' addresses.
///
/// # Safety
/// `inst` is a site that accesses memory: the operand it names is a 64-bit row.
#[inline(always)]
unsafe fn access(sm: &Sm, inst: &Inst) -> (Site, Seen, [u64; LANES]) {
    let site = *sm.grid.program.sites.at(sm.address_of(inst));
    let SiteKind::Access(access) = site.kind else {
        unreachable!("only accesses are counted as such");
    };
    // SAFETY: the caller's promise.
    let row = unsafe { sm.row::<u64>(inst, access.address) };
    let mut at = [0; LANES];
    for (at, address) in at.iter_mut().zip(row) {
        *at = address.wrapping_add(site.offset);
    }
    let seen = Seen {
        kind: access.kind,
        bytes: access.bytes.into(),
    };
    (site, seen, at)
}

/// An observed block has an observer.
#[inline(always)]
fn observer(sm: &mut Sm) -> &mut Observer {
    match &mut sm.observer {
        Some(observer) => observer,
        None => unreachable!("observed code runs in observed blocks alone"),
    }
}

/// Makes the handler `$name`, which counts by `$count` and goes on: for any CPU, and for one with
/// wide registers, on which 32 addresses are looked at in a few steps.
macro_rules! observe {
    ($name:ident, |$sm:ident, $slot:ident, $at:ident, $mask:ident, $seen:ident| $count:expr) => {
        fn $name(cpu: Cpu) -> Handler {
            #[inline(always)]
            unsafe fn run($sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: the site is one that accesses memory.
                let (site, $seen, $at) = unsafe { access($sm, inst) };
                let ($slot, $mask) = (site.slot as usize, $sm.mask);
                $count;
                // SAFETY: the instruction was made for this handler.
                unsafe { (site.run)($sm, inst) }
            }
            unsafe fn plain(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as for any handler.
                unsafe { run(sm, inst) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2(sm: &mut Sm, inst: &Inst) -> Next {
                // SAFETY: as for any handler; chosen only where the CPU has AVX2.
                unsafe { run(sm, inst) }
            }
            match cpu {
                #[cfg(target_arch = "x86_64")]
                Cpu::Avx2 => avx2,
                _ => plain,
            }
        }
    };
}

observe!(global, |sm, slot, at, mask, seen| observer(sm)
    .global(slot, &at, mask, seen));
observe!(shared, |sm, slot, at, mask, seen| observer(sm)
    .shared(slot, &at, mask, seen));
observe!(constant, |sm, slot, at, mask, seen| observer(sm)
    .constant(slot, &at, mask, seen.bytes));
observe!(local, |sm, slot, at, mask, seen| {
    let warp = local_rows(sm);
    observer(sm).local(slot, &at, mask, seen, warp);
});
observe!(generic, |sm, slot, at, mask, seen| {
    // Each lane's address says where it goes: as many accesses as there are memories.
    let within = |window| {
        let lanes = (0..LANES).filter(|&lane| in_window(at[lane], window));
        lanes.fold(0, |lanes, lane| lanes | 1 << lane) & mask
    };
    let (to_shared, to_local) = (within(SHARED_WINDOW), within(LOCAL_WINDOW));
    let to_constant = within(PARAM_WINDOW);
    let to_global = mask & !(to_shared | to_local | to_constant);
    let less = |window: u64| at.map(|address| address.wrapping_sub(window));
    let warp = local_rows(sm);
    let observer = observer(sm);
    if to_global != 0 {
        observer.global(slot, &at, to_global, seen);
    }
    if to_shared != 0 {
        observer.shared(slot + 1, &less(SHARED_WINDOW), to_shared, seen);
    }
    if to_local != 0 {
        observer.local(slot + 2, &less(LOCAL_WINDOW), to_local, seen, warp);
    }
    if to_constant != 0 {
        observer.constant(slot + 3, &at, to_constant, seen.bytes);
    }
});

/// Where this warp's local memory begins, far from any device memory.
fn local_rows(sm: &Sm) -> u64 {
    let warps = sm.grid.block.iter().product::<u32>().div_ceil(32);
    let warp = sm.block.number * u64::from(warps) + u64::from(sm.block.warp().index);
    LOCAL_WINDOW + warp * u64::from(sm.locals.bytes).next_multiple_of(4) * LANES as u64
}

/// An asynchronous copy: a load from global memory, and a store to shared memory.
///
/// # Safety
/// As for [`Handler`], for an asynchronous copy.
unsafe fn async_copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a copy, with both addresses.
    let ((site, seen, _), (to, from)) =
        unsafe { (access(sm, inst), async_copy::addresses(sm, inst)) };
    let (slot, mask) = (site.slot as usize, sm.mask);
    let observer = observer(sm);
    observer.global(slot, &from, mask, seen);
    observer.shared(slot + 1, &to, mask, seen);
    // SAFETY: the instruction was made for this handler.
    unsafe { (site.run)(sm, inst) }
}

/// # Safety
/// As for [`Handler`], for a branch that is a site.
unsafe fn branch(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.sites.at(sm.address_of(inst));
    let before = sm.counts.divergent_branches;
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { (site.run)(sm, inst) };
    let parted = sm.counts.divergent_branches - before;
    let counts = &mut observer(sm).sites[site.slot as usize];
    counts.requests += 1;
    counts.conflicts += parted;
    next
}

/// # Safety
/// As for [`Handler`], for a barrier that is a site.
unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.sites.at(sm.address_of(inst));
    observer(sm).sites[site.slot as usize].requests += 1;
    // SAFETY: the instruction was made for this handler.
    unsafe { (site.run)(sm, inst) }
}
