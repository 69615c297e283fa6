//! The same instructions, counted: what handlers of a profiled launch do before the plain ones.
//!
//! A program has its code twice, instruction for instruction (see [`crate::program::sites`]). A
//! block that is observed runs the copy in which each access, branch and barrier comes here first:
//! it is counted, and goes on to the handler that does it. A block that is not observed pays
//! nothing.

use super::access::spread_key;
use super::async_copy;
use super::cpu::Cpu;
use super::gang::MOST;
use super::lanes::{FULL, LANES, Together, View as _};
use super::sm::Sm;
use super::spread::{FAR, Traffic};
use crate::device::DeviceSpec;
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::profile::cache::Cache;
use crate::profile::shape::Shapes;
use crate::profile::site::SiteCounts;
use crate::profile::traffic::{self, GlobalTraffic};
use crate::program::code::{Handler, Inst, Next};
use crate::program::flow::{AccessKind, Memory};
use crate::program::sites::{Site, SiteKind};
use std::ops::Range;

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

impl Caches {
    /// Whether the first cache is asked for what an access of global memory reads.
    #[inline(always)]
    fn cached(&self, kind: AccessKind) -> bool {
        match kind {
            AccessKind::Load | AccessKind::AsyncCopy => self.caches_global,
            AccessKind::ReadOnlyLoad => self.caches_read_only,
            AccessKind::Store
            | AccessKind::Atomic
            | AccessKind::MatrixLoad
            | AccessKind::AsyncCopyPastL1 => false,
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
    /// What caches are asked is noted, to be asked later.
    notes: bool,
    /// What was noted of each warp of a gang.
    pub noted: Noted,
}

/// What is to be asked for each warp of a gang.
pub type Noted = [Vec<Asked>; MOST];

/// What a cache is asked.
#[derive(Clone, Copy)]
pub struct Asked {
    slot: u32,
    of: Asks,
    /// Sectors of the line.
    sectors: u8,
    line: u64,
}

/// Which cache.
#[derive(Clone, Copy)]
enum Asks {
    First,
    Constant,
}

/// What an access of some shape comes to.
#[derive(Default)]
pub struct Lines {
    traffic: GlobalTraffic,
    /// Of shared memory.
    conflicts: u32,
    /// Of global memory, unless it is for an atomic: lines, and the sectors of each.
    list: [(u64, u8); LANES],
    count: usize,
}

impl Lines {
    fn of_global(at: &[u64; LANES], mask: u32, site: Seen) -> Lines {
        let mut lines = Lines::default();
        let (bytes, list) = (site.bytes, &mut lines.list);
        lines.traffic = match site.kind {
            AccessKind::Atomic => traffic::global_atomic(at, mask, bytes),
            kind => traffic::global(at, mask, bytes, kind == AccessKind::Store, list),
        };
        lines.count = lines.traffic.lines as usize;
        lines
    }

    fn of_shared(at: &[u64; LANES], mask: u32, site: Seen) -> Lines {
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
    }
}

impl Observer {
    /// Counts on in `sites`, with what is known from earlier blocks.
    pub fn new(
        sites: Vec<SiteCounts>,
        shapes: Vec<Shapes<Lines>>,
        noted: Noted,
        caches: Box<Caches>,
    ) -> Observer {
        Observer {
            sites,
            shapes,
            caches,
            notes: false,
            noted,
        }
    }

    /// As [`Sm::note_asked`].
    pub fn note_asked(&mut self, note: bool) {
        self.notes = note;
        if note {
            self.noted.iter_mut().for_each(Vec::clear);
        }
    }

    /// As [`Sm::ask_for`].
    pub fn ask_for(&mut self, place: usize) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(observer: &mut Observer, place: usize) {
            observer.ask_noted(place);
        }
        match Cpu::detect() {
            // SAFETY: the CPU has AVX2.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx2 => unsafe { avx2(self, place) },
            _ => self.ask_noted(place),
        }
    }

    #[inline(always)]
    fn ask_noted(&mut self, place: usize) {
        let mut noted = std::mem::take(&mut self.noted[place % MOST]);
        for asked in noted.drain(..) {
            ask_now(&mut self.sites, &mut self.caches, asked);
        }
        self.noted[place % MOST] = noted;
    }

    /// As [`Sm::ask_in_order`], of warps `places`.
    pub fn ask_in_order(&mut self, places: Range<usize>) {
        places.for_each(|place| self.ask_for(place));
    }

    /// Counts what whole warps at `places` of the block, a gang, do at a site: their lines are
    /// relative to line `origin`.
    #[inline(always)]
    fn count_traffic(
        &mut self,
        slot: u32,
        site: Seen,
        origin: u64,
        traffic: &Traffic,
        places: &[usize],
    ) {
        let counts = &mut self.sites[slot as usize];
        counts.requests += places.len() as u64;
        counts.threads += (places.len() * LANES) as u64;
        counts.wavefronts += traffic.wavefronts;
        counts.units += traffic.sectors;
        counts.conflicts += traffic.conflicts;
        if traffic.lines.is_empty() || !self.caches.cached(site.kind) {
            return;
        }
        for (&place, lines) in places.iter().zip(traffic.of_warps(places.len())) {
            let asked = lines.iter().map(|&(line, sectors)| Asked {
                slot,
                of: Asks::First,
                sectors,
                line: origin.wrapping_add(line) & (u64::MAX / LINE),
            });
            self.noted[place % MOST].extend(asked);
        }
    }

    /// Warp `place` of the block asks a cache: now, or when it is its turn.
    #[inline(always)]
    fn ask(&mut self, place: usize, asked: Asked) {
        if self.notes {
            self.noted[place % MOST].push(asked);
        } else {
            ask_now(&mut self.sites, &mut self.caches, asked);
        }
    }

    #[inline(always)]
    fn global(&mut self, warp: usize, slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let cached = self.caches.cached(site.kind);
        let (lines, base) = self.shapes[slot].of(at, mask, |at| Lines::of_global(at, mask, site));
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.wavefronts += u64::from(lines.traffic.wavefronts);
        counts.units += u64::from(lines.traffic.sectors);
        if !cached {
            return;
        }
        let asked = lines.list[..lines.count]
            .iter()
            .map(|&(line, sectors)| Asked {
                slot: slot as u32,
                of: Asks::First,
                sectors,
                // Lines before the first lane's have numbers that wrapped around.
                line: (base / LINE).wrapping_add(line) & (u64::MAX / LINE),
            });
        if self.notes {
            self.noted[warp % MOST].extend(asked);
        } else {
            asked.for_each(|asked| ask_now(&mut self.sites, &mut self.caches, asked));
        }
    }

    #[inline(always)]
    fn shared(&mut self, slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let (lines, _) = self.shapes[slot].of(at, mask, |at| Lines::of_shared(at, mask, site));
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.wavefronts += u64::from(lines.traffic.wavefronts);
        counts.conflicts += u64::from(lines.conflicts);
    }

    fn constant(&mut self, warp: usize, slot: usize, at: &[u64; LANES], mask: u32, bytes: u64) {
        let mut addresses = [0; LANES];
        let found = traffic::constant(at, mask, bytes, &mut addresses);
        let counts = &mut self.sites[slot];
        counts.request(mask);
        counts.units += found as u64;
        for &address in &addresses[..found] {
            self.ask(
                warp,
                Asked {
                    slot: slot as u32,
                    of: Asks::Constant,
                    sectors: 1,
                    line: address / CONSTANT_LINE,
                },
            );
        }
    }

    /// Local memory is interleaved: the same word of all lanes lies in one line, so that lanes
    /// that use the same place use it together.
    fn local(
        &mut self,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        site: Seen,
        base: u64,
    ) {
        let mut lines = [(0, 0); LANES];
        let words = site.bytes.div_ceil(4);
        for word in 0..words {
            let mut placed = [0; LANES];
            for (lane, (placed, at)) in (0..).zip(placed.iter_mut().zip(at)) {
                *placed = base + (u64::from(*at as u32) / 4 + word) * LOCAL_ROW + lane * 4;
            }
            let found = traffic::lines(&placed, mask, 4, &mut lines);
            let counts = &mut self.sites[slot];
            counts.wavefronts += found as u64;
            for &(line, sectors) in &lines[..found] {
                self.sites[slot].units += u64::from(sectors.count_ones());
                if site.kind.is_load() {
                    self.ask(
                        warp,
                        Asked {
                            slot: slot as u32,
                            of: Asks::First,
                            sectors,
                            line,
                        },
                    );
                }
            }
        }
        self.sites[slot].request(mask);
    }
}

/// Asks a cache, and counts what it has.
#[inline(always)]
fn ask_now(sites: &mut [SiteCounts], caches: &mut Caches, asked: Asked) {
    let counts = &mut sites[asked.slot as usize];
    match asked.of {
        Asks::First => {
            let there = caches.l1.ask(asked.line, asked.sectors);
            counts.hits += u64::from(there.count_ones());
        }
        Asks::Constant => {
            if caches.constant.ask(asked.line, 1) == 1 {
                counts.hits += 1;
            } else if caches.constant_behind.ask(asked.line, 1) == 0 {
                counts.far += 1;
            }
        }
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

/// The handler that counts a site for the warps of a gang and then runs it for them; none where it
/// runs warp by warp.
pub fn gangs_handler(kind: SiteKind, cpu: Cpu) -> Option<Handler> {
    match kind {
        SiteKind::Access(access) if access.kind.is_copy() => None,
        SiteKind::Access(access) => match access.memory {
            Memory::Global => Some(global_together(cpu)),
            Memory::Shared => Some(shared_together(cpu)),
            Memory::Constant => Some(constant_together(cpu)),
            Memory::Local | Memory::Generic => None,
        },
        SiteKind::Branch => Some(branch_together),
        SiteKind::Barrier => None,
    }
}

/// The site an instruction is, and the running lanes' addresses.
///
/// # Safety
/// `inst` is a site that accesses memory: the operand it names is a 64-bit row.
#[inline(always)]
unsafe fn access(sm: &Sm, inst: &Inst) -> (Site, Seen, [u64; LANES]) {
    let (site, seen, operand) = found(sm, inst);
    // SAFETY: the caller's promise.
    let row = unsafe { sm.row::<u64>(inst, operand) };
    let mut at = [0; LANES];
    for (at, address) in at.iter_mut().zip(row) {
        *at = address.wrapping_add(site.offset);
    }
    (site, seen, at)
}

/// The site an instruction is, and which operand its addresses are.
#[inline(always)]
fn found(sm: &Sm, inst: &Inst) -> (Site, Seen, usize) {
    let site = *sm.grid.program.sites.at(sm.address_of(inst));
    let SiteKind::Access(access) = site.kind else {
        unreachable!("only accesses are counted as such");
    };
    let seen = Seen {
        kind: access.kind,
        bytes: access.bytes.into(),
    };
    (site, seen, access.address)
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

observe!(global, |sm, slot, at, mask, seen| {
    let warp = sm.block.running;
    observer(sm).global(warp, slot, &at, mask, seen);
});
observe!(shared, |sm, slot, at, mask, seen| observer(sm)
    .shared(slot, &at, mask, seen));
observe!(constant, |sm, slot, at, mask, seen| {
    let warp = sm.block.running;
    observer(sm).constant(warp, slot, &at, mask, seen.bytes);
});
observe!(local, |sm, slot, at, mask, seen| {
    let (warp, base) = (sm.block.running, local_rows(sm));
    observer(sm).local(warp, slot, &at, mask, seen, base);
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
    let (warp, base) = (sm.block.running, local_rows(sm));
    let observer = observer(sm);
    if to_global != 0 {
        observer.global(warp, slot, &at, to_global, seen);
    }
    if to_shared != 0 {
        observer.shared(slot + 1, &less(SHARED_WINDOW), to_shared, seen);
    }
    if to_local != 0 {
        observer.local(warp, slot + 2, &less(LOCAL_WINDOW), to_local, seen, base);
    }
    if to_constant != 0 {
        observer.constant(warp, slot + 3, &at, to_constant, seen.bytes);
    }
});

/// Where this warp's local memory begins, far from any device memory.
fn local_rows(sm: &Sm) -> u64 {
    let warps = sm.grid.block.iter().product::<u32>().div_ceil(32);
    let warp = sm.block.number * u64::from(warps) + u64::from(sm.block.warp().index);
    LOCAL_WINDOW + warp * u64::from(sm.locals.bytes).next_multiple_of(4) * LANES as u64
}

/// An asynchronous copy: a load from global memory of the lanes that read something, and a store to
/// shared memory.
///
/// # Safety
/// As for [`Handler`], for an asynchronous copy.
unsafe fn async_copy(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: the site is a copy, with both addresses and what says how much it reads.
    let ((site, seen, _), (to, from), sizes) = unsafe {
        (
            access(sm, inst),
            async_copy::addresses(sm, inst),
            async_copy::sizes(sm, inst),
        )
    };
    let (slot, mask, warp) = (site.slot as usize, sm.mask, sm.block.running);
    let reading =
        (0..LANES).fold(0, |lanes, lane| lanes | u32::from(sizes[lane] != 0) << lane) & mask;
    let observer = observer(sm);
    let traffic = match seen.kind {
        AccessKind::AsyncCopyPastL1 => {
            let traffic = traffic::copy_past_l1(&from, &to, reading);
            if reading != 0 {
                let counts = &mut observer.sites[slot];
                counts.request(reading);
                counts.units += u64::from(traffic.sectors);
            }
            traffic
        }
        _ => {
            if reading != 0 {
                observer.global(warp, slot, &from, reading, seen);
            }
            traffic::copy(&from, &to, mask, seen.bytes)
        }
    };
    let counts = &mut observer.sites[slot + 1];
    counts.request(mask);
    counts.wavefronts += u64::from(traffic.shared.wavefronts);
    counts.conflicts += u64::from(traffic.shared.conflicts);
    // SAFETY: the instruction was made for this handler.
    unsafe { (site.run)(sm, inst) }
}

/// A memory that gangs access, as their accesses are counted.
trait Counted {
    /// What an access of a warp adds, if it is to be remembered.
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)>;

    /// Counts an access of a warp.
    fn count(
        observer: &mut Observer,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    );
}

struct ToGlobal;
struct ToShared;
struct ToConstant;

impl Counted for ToGlobal {
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)> = Some(|traffic, at, seen| {
        let lines = Lines::of_global(at, FULL, seen);
        traffic.sectors += u64::from(lines.traffic.sectors);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        let relative = |&(line, sectors): &(u64, u8)| (line.wrapping_sub(FAR / LINE), sectors);
        let lines = lines.list[..lines.count].iter().map(relative);
        traffic.lines.extend(lines);
    });

    fn count(
        observer: &mut Observer,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.global(warp, slot, at, mask, seen);
    }
}

impl Counted for ToShared {
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)> = Some(|traffic, at, seen| {
        let lines = Lines::of_shared(at, FULL, seen);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        traffic.conflicts += u64::from(lines.conflicts);
    });

    fn count(
        observer: &mut Observer,
        _: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.shared(slot, at, mask, seen);
    }
}

impl Counted for ToConstant {
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)> = None;

    fn count(
        observer: &mut Observer,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.constant(warp, slot, at, mask, seen.bytes);
    }
}

/// Counts a gang's access if its addresses lie in quarters, without a look at each warp's; whether
/// it did.
#[inline(always)]
fn count_spread<C: Counted>(
    sm: &mut Sm,
    inst: &Inst,
    site: &Site,
    seen: Seen,
    operand: usize,
) -> bool {
    let (Some(add), false) = (C::ADD, site.leads || inst.common >> operand & 1 == 1) else {
        return false;
    };
    let Some(warps) = sm.gang.whole_warps() else {
        return false;
    };
    let (at, key) = (inst.o[operand] as usize, spread_key(sm, inst));
    let frames = sm.gang.frames;
    // SAFETY: the site's operand is a 64-bit row of each warp's own; nothing is written meanwhile.
    let rows = |turn: usize| unsafe { &*frames[turn].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(site.offset);
    let Some(mut spread) = sm.spreads.take(key, seen.bytes, warps, rows) else {
        return false;
    };
    let traffic = spread.comes_to(origin, |traffic, at| add(traffic, at, seen));
    let places = sm.gang.places();
    let observer = match &mut sm.observer {
        Some(observer) => observer,
        None => unreachable!("observed code runs in observed blocks alone"),
    };
    observer.count_traffic(site.slot, seen, origin / LINE, traffic, places);
    sm.spreads.keep_proven(key, spread);
    true
}

/// Makes the handler `$name`, which counts what a gang does to a memory and goes on, as [`observe`]
/// does for a warp.
macro_rules! observe_together {
    ($name:ident, $memory:ident) => {
        fn $name(cpu: Cpu) -> Handler {
            #[inline(always)]
            unsafe fn run(sm: &mut Sm, inst: &Inst) -> Next {
                let (site, seen, operand) = found(sm, inst);
                if !count_spread::<$memory>(sm, inst, &site, seen, operand) {
                    count_each::<$memory>(sm, inst, &site, seen, operand);
                }
                let Some(run) = site.together else {
                    unreachable!("the site has a form for gangs");
                };
                // SAFETY: the instruction was made for this handler.
                let next = unsafe { run(sm, inst) };
                sm.spreads.prove_nothing();
                next
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

observe_together!(global_together, ToGlobal);
observe_together!(shared_together, ToShared);
observe_together!(constant_together, ToConstant);

/// Counts a gang's access warp by warp.
#[inline(always)]
fn count_each<C: Counted>(sm: &mut Sm, inst: &Inst, site: &Site, seen: Seen, operand: usize) {
    for turn in 0..sm.gang.masks().len() {
        sm.take_turn(turn);
        // SAFETY: the site's operand is a 64-bit row.
        let row = unsafe { Together::row::<u64>(sm, inst, operand) };
        let at = row.map(|address| address.wrapping_add(site.offset));
        let (mask, warp) = (sm.gang.masks()[turn], sm.block.running);
        C::count(observer(sm), warp, site.slot as usize, &at, mask, seen);
    }
}

/// # Safety
/// As for [`Handler`], for a branch of a gang that is a site.
unsafe fn branch_together(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.sites.at(sm.address_of(inst));
    let (before, warps) = (sm.counts.divergent_branches, sm.gang.masks().len());
    let Some(run) = site.together else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { run(sm, inst) };
    if !next.is_null() {
        // Else the warps come here again, one by one.
        let parted = sm.counts.divergent_branches - before;
        let counts = &mut observer(sm).sites[site.slot as usize];
        counts.requests += warps as u64;
        counts.conflicts += parted;
    }
    next
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
