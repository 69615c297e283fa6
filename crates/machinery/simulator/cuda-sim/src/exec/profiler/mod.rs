//! Profiling: counts the memory accesses of a block, determines their costs (sectors, lines, wavefronts, bank
//! conflicts) and simulates the caches of its SM.
//!
//! The handlers that count are in [`super::instrument::counting`].

pub mod access_pattern;
mod caches;
pub mod sample;
pub mod trace;

pub use caches::{Caches, DeferredAccesses, LINE};

use super::cpu::Cpu;
use super::warp::gang_state::MAX_WARPS;
use crate::isa::{AccessKind, Update};
use crate::lanes::LANES;
use crate::profile::collect::SiteCounts;
use crate::profile::shape::ShapeCache;
use crate::profile::traffic::{self, CasLoop, GlobalTraffic};
use access_pattern::GangTraffic;
use caches::{CONSTANT_LINE, CacheKind, CacheLookup, look_up};
use std::ops::Range;
use std::rc::Rc;
use trace::{Cost, RawAccess, Trace};

/// Number of lines above which an access prefetches the cache model's entries into the host's own caches.
/// Prefetching takes too long to pay off for fewer lines.
const MAX_UNPREFETCHED_LINES: usize = 4;

/// Distance in bytes between two words of a thread's local memory: the same word of all 32 lanes lies in
/// between.
const LOCAL_ROW: u64 = 128;

/// The counters and cache state of a profiled block.
pub struct Profiler {
    /// Counters, one entry for each slot of the program's sites.
    pub sites: Vec<SiteCounts>,
    /// Cached costs of accesses, indexed by slot.
    pub shapes: Vec<ShapeCache<AccessCost>>,
    pub caches: Box<Caches>,
    /// True while cache accesses are deferred.
    deferring: bool,
    pub deferred: DeferredAccesses,
    /// The recorded accesses, if the launch is traced.
    pub trace: Option<Box<Trace>>,
}

impl Profiler {
    /// Creates a profiler that adds to `sites`. The other arguments are what earlier blocks left: cached costs,
    /// buffers and caches.
    pub fn new(
        sites: Vec<SiteCounts>,
        shapes: Vec<ShapeCache<AccessCost>>,
        deferred: DeferredAccesses,
        caches: Box<Caches>,
    ) -> Profiler {
        Profiler {
            sites,
            shapes,
            caches,
            deferring: false,
            deferred,
            trace: None,
        }
    }

    /// Records an access that bypasses the L1 cache, if the launch is traced.
    pub fn trace_past_l1(&mut self, warp: usize, access: SiteAccess, sectors: u32) {
        trace_access(&mut self.trace, &[warp], access, [sectors, 0, 0]);
    }

    /// Tells the trace, if the launch is traced, how many bytes of a warp's copies of `cp.async` are in flight.
    pub fn trace_copies(&mut self, warp: usize, bytes: u64) {
        if let Some(trace) = &mut self.trace {
            trace.set_bytes_in_flight(warp, bytes);
        }
    }

    /// Tells the trace, if the launch is traced, that a barrier of the running block has opened.
    pub fn trace_barrier(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.open_barrier();
        }
    }

    /// Selects whether cache accesses are deferred (true) or performed at once (false).
    pub fn set_deferred(&mut self, defer: bool) {
        self.deferring = defer;
        if defer {
            self.deferred.clear();
        }
    }

    /// Performs the deferred cache accesses of the block's warp with index `warp`.
    pub fn replay_warp(&mut self, warp: usize) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(profiler: &mut Profiler, warp: usize) {
            profiler.replay_deferred(warp);
        }
        match Cpu::detect() {
            // SAFETY: `Cpu::detect` found AVX2.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx2 => unsafe { avx2(self, warp) },
            _ => self.replay_deferred(warp),
        }
    }

    #[inline(always)]
    fn replay_deferred(&mut self, warp: usize) {
        let DeferredAccesses { gang, warps } = &self.deferred;
        let alone = &warps[warp % MAX_WARPS];
        let (mut accesses, mut from) = (alone.accesses.iter().peekable(), 0);
        for before in 0..=gang.len() {
            while let Some(access) =
                accesses.next_if(|access| access.gang_accesses_before == before)
            {
                let lines = alone.lines[from..access.end].iter().copied();
                look_up(&mut self.sites, &mut self.caches, access.lookup, lines);
                from = access.end;
            }
            if let Some(access) = gang.get(before)
                && let Some(member) = warp.checked_sub(access.first)
                && member < access.warp_count
            {
                let lookup = CacheLookup {
                    slot: access.slot,
                    cache: CacheKind::L1,
                };
                let lines = access.traffic.of_warp(member, access.origin);
                look_up(&mut self.sites, &mut self.caches, lookup, lines);
            }
        }
    }

    /// Performs the deferred cache accesses of these warps, one warp after the other.
    pub fn replay_in_order(&mut self, warps: Range<usize>) {
        warps.for_each(|warp| self.replay_warp(warp));
    }

    /// Counts an access by the warps at `warps` of the block, a gang of full warps. `origin` is the number of
    /// the line to which the lines of `traffic` are relative.
    #[inline(always)]
    pub fn count_traffic(
        &mut self,
        slot: u32,
        transfer: Transfer,
        origin: u64,
        traffic: &Rc<GangTraffic>,
        warps: &[usize],
    ) {
        let counts = &mut self.sites[slot as usize];
        counts.requests += warps.len() as u64;
        counts.threads += (warps.len() * LANES) as u64;
        counts.wavefronts += traffic.wavefronts;
        counts.units += traffic.sectors;
        counts.conflicts += traffic.conflicts;
        if !traffic.lines.is_empty() && self.caches.is_cached_in_l1(transfer.kind) {
            self.deferred.defer_gang(slot, origin, traffic, warps);
        }
    }

    /// Counts an access to global memory that each of the warps at `warps` of the block makes.
    #[inline(always)]
    pub fn global(&mut self, warps: &[usize], access: SiteAccess) {
        let is_cached = self.caches.is_cached_in_l1(access.transfer.kind);
        let cache = is_cached.then_some(CacheKind::L1);
        self.count_cached(warps, access, cache, AccessCost::of_global);
    }

    /// Counts an access to constant memory that each of the warps at `warps` of the block makes.
    #[inline(always)]
    pub fn constant(&mut self, warps: &[usize], access: SiteAccess) {
        let cache = Some(CacheKind::Constant);
        self.count_cached(warps, access, cache, AccessCost::of_constant);
    }

    /// Counts an access whose cost is computed by `compute`, and looks it up in `cache`.
    #[inline(always)]
    fn count_cached(
        &mut self,
        warps: &[usize],
        access: SiteAccess,
        cache: Option<CacheKind>,
        compute: impl Fn(&mut AccessCost, &[u64; LANES], u32, Transfer),
    ) {
        let SiteAccess {
            slot,
            at,
            mask,
            transfer,
        } = access;
        let compute = |at: &_, lines: &mut AccessCost| compute(lines, at, mask, transfer);
        let (lines, base) = self.shapes[slot].get_or_compute(at, mask, compute);
        self.sites[slot].add_traffic(warps.len(), mask, &lines.traffic);
        trace_access(&mut self.trace, warps, access, cost(lines));
        let Some(cache) = cache else { return };
        let slot = slot as u32;
        let deferred = self.deferring.then_some(&mut self.deferred);
        let (sites, caches) = (&mut self.sites, &mut self.caches);
        let lookup = CacheLookup { slot, cache };
        look_up_access(sites, caches, deferred, warps, lookup, lines, base);
    }

    /// Counts an access to shared memory that each of the warps at `warps` of the block makes.
    #[inline(always)]
    pub fn shared(&mut self, warps: &[usize], access: SiteAccess) {
        let SiteAccess {
            slot,
            at,
            mask,
            transfer,
        } = access;
        let compute = |at: &_, lines: &mut AccessCost| lines.of_shared(at, mask, transfer);
        let (lines, _) = self.shapes[slot].get_or_compute(at, mask, compute);
        let counts = &mut self.sites[slot];
        counts.add_traffic(warps.len(), mask, &lines.traffic);
        counts.conflicts += warps.len() as u64 * u64::from(lines.conflicts);
        trace_access(&mut self.trace, warps, access, cost(lines));
    }

    /// Counts an atomic on shared memory that loops over loads and compare-and-swaps, each of which changes the
    /// value. The swaps are counted in `slot`, the loads in the next slot.
    pub fn cas_loop(&mut self, warp: usize, access: SiteAccess) {
        let SiteAccess {
            slot,
            at,
            mask,
            transfer,
        } = access;
        let compute = |at: &_, cost: &mut AccessCost| cost.cas_loop_cost(at, mask, transfer);
        let (cost, _) = self.shapes[slot].get_or_compute(at, mask, compute);
        let cas_loop = cost.cas_loop;
        self.count_cas_loop(warp, access, &cas_loop);
    }

    /// Counts such an atomic with a known cost. A trace records only the costliest iteration.
    pub fn count_cas_loop(&mut self, warp: usize, access: SiteAccess, cas_loop: &CasLoop) {
        self.sites[access.slot].divergences += u64::from(cas_loop.divergences);
        for (slot, repeated) in (access.slot..).zip([&cas_loop.swaps, &cas_loop.loads]) {
            self.sites[slot].add_repeated(repeated);
            if repeated.times > 0 {
                let once = repeated.costliest;
                let cost = [0, once.wavefronts, once.conflicts];
                let access = SiteAccess { slot, ..access };
                trace_access(&mut self.trace, &[warp], access, cost);
            }
        }
    }

    /// Counts an access to local memory. Local memory is interleaved: the same word of all lanes lies in one
    /// line, so that lanes with equal local addresses share lines.
    pub fn local(&mut self, warp: usize, access: SiteAccess, base: u64) {
        let SiteAccess {
            slot,
            at,
            mask,
            transfer,
        } = access;
        let mut lines = [(0, 0); LANES];
        let words = transfer.bytes.div_ceil(4);
        for word in 0..words {
            let mut placed = [0; LANES];
            for (lane, (placed, at)) in (0..).zip(placed.iter_mut().zip(at)) {
                *placed = base + (u64::from(*at as u32) / 4 + word) * LOCAL_ROW + lane * 4;
            }
            let lines_accessed = traffic::lines(&placed, mask, 4, &mut lines);
            let (counts, lines_accessed) = (&mut self.sites[slot], &lines[..lines_accessed]);
            counts.wavefronts += lines_accessed.len() as u64;
            for (_, sectors) in lines_accessed {
                counts.units += u64::from(sectors.count_ones());
            }
            let cache = match transfer.kind {
                kind if kind.is_load() => Some(CacheKind::L1),
                AccessKind::Store => Some(CacheKind::L1WriteThrough),
                _ => None,
            };
            if let Some(cache) = cache {
                let lookup = CacheLookup {
                    slot: slot as u32,
                    cache,
                };
                let lookups = lines_accessed.iter().copied();
                let deferred = self.deferring.then_some(&mut self.deferred);
                let (sites, caches) = (&mut self.sites, &mut self.caches);
                look_up_each(sites, caches, deferred, &[warp], lookup, lookups);
            }
        }
        self.sites[slot].add_request(mask);
    }
}

/// Returns the cost of an access as recorded in traces.
#[inline(always)]
fn cost(lines: &AccessCost) -> Cost {
    [
        lines.traffic.sectors,
        lines.traffic.wavefronts,
        lines.conflicts,
    ]
}

/// Records an access, if the launch is traced.
#[inline(always)]
fn trace_access(trace: &mut Option<Box<Trace>>, warps: &[usize], access: SiteAccess, cost: Cost) {
    if let (Some(trace), &[warp]) = (trace, warps) {
        let SiteAccess { slot, at, mask, .. } = access;
        let [units, wavefronts, conflicts] = cost;
        let (bytes_in_flight, phase) = (trace.bytes_in_flight(warp), trace.phase());
        trace.record(slot, cost, || RawAccess {
            warp,
            slot,
            mask,
            at: *at,
            units,
            wavefronts,
            conflicts,
            bytes_in_flight,
            phase,
        });
    }
}

/// Looks up the lines of an access at address `base` in a cache, once for each of the warps at `warps`.
/// Prefetches the cache model's entries if there are many lines.
#[inline(always)]
fn look_up_access(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    deferred: Option<&mut DeferredAccesses>,
    warps: &[usize],
    lookup: CacheLookup,
    lines: &AccessCost,
    base: u64,
) {
    let (cache, bytes) = match lookup.cache {
        CacheKind::L1 | CacheKind::L1WriteThrough => (&caches.l1, LINE),
        CacheKind::Constant => (&caches.constant_l15, CONSTANT_LINE),
    };
    let lookups = lines.of(base, bytes);
    if lines.count > MAX_UNPREFETCHED_LINES {
        lookups.clone().for_each(|(line, _)| cache.prefetch(line));
    }
    look_up_each(sites, caches, deferred, warps, lookup, lookups);
}

/// Looks up the same lines once for each of the warps at `warps`, at once or deferred.
#[inline(always)]
fn look_up_each(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    mut deferred: Option<&mut DeferredAccesses>,
    warps: &[usize],
    lookup: CacheLookup,
    lines: impl Iterator<Item = (u64, u8)> + Clone,
) {
    for &warp in warps {
        match &mut deferred {
            Some(deferred) => deferred.defer(warp, lookup, lines.clone()),
            None => look_up(sites, caches, lookup, lines.clone()),
        }
    }
}

/// An access of a warp at a site.
#[derive(Clone, Copy)]
pub struct SiteAccess<'a> {
    /// The slot in which the access is counted.
    pub slot: usize,
    pub at: &'a [u64; LANES],
    /// The lanes that access memory.
    pub mask: u32,
    pub transfer: Transfer,
}

impl<'a> SiteAccess<'a> {
    #[inline(always)]
    pub fn new(slot: usize, at: &'a [u64; LANES], mask: u32, transfer: Transfer) -> Self {
        SiteAccess {
            slot,
            at,
            mask,
            transfer,
        }
    }

    /// Returns the part of the access that the lanes of `mask` make at `at`, counted in the `nth` next slot.
    #[inline(always)]
    pub fn part<'b>(self, nth: usize, at: &'b [u64; LANES], mask: u32) -> SiteAccess<'b> {
        SiteAccess::new(self.slot + nth, at, mask, self.transfer)
    }
}

/// The kind of an access and the bytes moved per lane.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub kind: AccessKind,
    pub bytes: u64,
    /// The operation, for an atomic.
    pub update: Update,
}

/// The cost of an access of some shape.
#[derive(Default)]
pub struct AccessCost {
    /// Traffic. For constant memory, only `sectors` is used, for the number of distinct addresses.
    pub traffic: GlobalTraffic,
    /// Bank conflicts in shared memory.
    pub conflicts: u32,
    /// For global memory except atomics, the lines and the mask of sectors of each. For constant memory, the
    /// line of each distinct address.
    pub list: [(u64, u8); LANES],
    pub count: usize,
    /// Cost of an atomic on shared memory that is a retry loop.
    pub cas_loop: CasLoop,
}

impl AccessCost {
    /// Computes the cost of an access to global memory.
    pub fn of_global(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.traffic = match transfer.kind {
            kind if kind.is_atomic() => {
                traffic::global_atomic(at, mask, transfer.bytes, transfer.update)
            }
            kind => {
                let write = kind == AccessKind::Store;
                traffic::global(at, mask, transfer.bytes, write, &mut self.list)
            }
        };
        self.count = self.traffic.lines as usize;
    }

    /// Computes the cost of an access to shared memory.
    pub fn of_shared(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let cost = match transfer.kind {
            kind if kind.is_atomic() => {
                traffic::shared_atomic(at, mask, transfer.bytes, transfer.update)
            }
            AccessKind::MatrixLoad | AccessKind::MatrixStore => {
                traffic::matrices(at, transfer.bytes as usize / 4)
            }
            kind => traffic::shared(at, mask, transfer.bytes, !kind.is_load()),
        };
        self.traffic.wavefronts = cost.wavefronts;
        self.conflicts = cost.conflicts;
    }

    /// Computes the cost of an atomic on shared memory that loops over loads and compare-and-swaps, each of
    /// which changes the value.
    fn cas_loop_cost(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.cas_loop = traffic::cas_loop(at, mask, transfer.bytes, transfer.update);
    }

    /// Computes the cost of an access to constant memory.
    fn of_constant(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let mut addresses = [0; LANES];
        self.count = traffic::constant(at, mask, transfer.bytes, &mut addresses);
        self.traffic.sectors = self.count as u32;
        for (entry, address) in self.list.iter_mut().zip(addresses) {
            *entry = (address / CONSTANT_LINE, 1);
        }
    }

    /// Returns the lines of `bytes` bytes and the mask of sectors of each, for relative addresses based at
    /// `base`.
    #[inline(always)]
    pub fn of(&self, base: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> + Clone {
        let lines = self.list[..self.count.min(LANES)].iter();
        // A line before the first lane's has a negative number, which has wrapped around.
        let number = move |line| (base / bytes).wrapping_add(line) & (u64::MAX / bytes);
        lines.map(move |&(line, sectors)| (number(line), sectors))
    }
}
