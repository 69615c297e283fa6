//! The same instructions, counted: what handlers of a profiled launch do before the plain ones.
//!
//! A program has its code twice, instruction for instruction (see [`crate::isa::sites`]). A
//! block that is observed runs the copy in which each access, branch and barrier comes here first:
//! it is counted, and goes on to the handler that does it. A block that is not observed pays
//! nothing.

use super::access::spread_key;
use super::code::{Handler, Inst, Next};
use super::cpu::Cpu;
use super::gang::MOST;
use super::lanewise::{Together, View as _};
use super::sm::Sm;
use super::spread::{FAR, Traffic};
use super::{async_copy, trace};
use crate::device::DeviceSpec;
use crate::isa::sites::{Site, SiteKind};
use crate::isa::{AccessKind, Memory};
use crate::lanes::{FULL, LANES};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::profile::cache::Cache;
use crate::profile::shape::Shapes;
use crate::profile::site::SiteCounts;
use crate::profile::traffic;
use crate::profile::traffic::GlobalTraffic;
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a line of the first cache and of the constant cache.
const LINE: u64 = 128;
const CONSTANT_LINE: u64 = 64;

/// An access to more lines than this has the host's caches fetch ahead what is known of them.
const FEW: usize = 4;

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
    /// The accesses themselves, where they are told of.
    pub trace: Option<Vec<trace::Noted>>,
}

/// What is to be asked for the warps of a gang, each in its turn.
#[derive(Default)]
pub struct Noted {
    /// What they do together, in their order.
    together: Vec<NotedTogether>,
    /// What each does alone.
    alone: [NotedAlone; MOST],
}

/// What warps side by side ask the first cache.
struct NotedTogether {
    slot: u32,
    /// The line that lines are relative to.
    origin: u64,
    /// The first of the warps' places in their block, and how many they are.
    first: usize,
    warps: usize,
    traffic: Rc<Traffic>,
}

/// What a warp asks alone.
#[derive(Default)]
struct NotedAlone {
    accesses: Vec<NotedAccess>,
    /// Lines of all its accesses, and sectors of each.
    lines: Vec<(u64, u8)>,
}

struct NotedAccess {
    asks: Asks,
    /// So many are noted together before it.
    after: usize,
    /// Where its lines end.
    end: usize,
}

/// Who asks which cache.
#[derive(Clone, Copy)]
struct Asks {
    slot: u32,
    cache: Which,
}

#[derive(Clone, Copy)]
enum Which {
    First,
    Constant,
}

impl Noted {
    fn clear(&mut self) {
        self.together.clear();
        for alone in &mut self.alone {
            alone.accesses.clear();
            alone.lines.clear();
        }
    }

    /// Warp `place` of the block is to ask for these lines.
    #[inline(always)]
    fn note(&mut self, place: usize, asks: Asks, lines: impl Iterator<Item = (u64, u8)>) {
        let alone = &mut self.alone[place % MOST];
        alone.lines.extend(lines);
        alone.accesses.push(NotedAccess {
            asks,
            after: self.together.len(),
            end: alone.lines.len(),
        });
    }

    /// The gang at `places` of the block is to ask the first cache for what its access comes to.
    #[inline(always)]
    fn note_together(&mut self, slot: u32, origin: u64, traffic: &Rc<Traffic>, places: &[usize]) {
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
            return;
        };
        if last - first + 1 == places.len() {
            self.together.push(NotedTogether {
                slot,
                origin,
                first,
                warps: places.len(),
                traffic: traffic.clone(),
            });
            return;
        }
        let asks = Asks {
            slot,
            cache: Which::First,
        };
        for (turn, &place) in places.iter().enumerate() {
            self.note(place, asks, traffic.of_warp(turn, origin));
        }
    }
}

/// What an access of some shape comes to.
#[derive(Default)]
pub struct Lines {
    /// Of constant memory: distinct addresses for sectors, and nothing else.
    traffic: GlobalTraffic,
    /// Of shared memory.
    conflicts: u32,
    /// Of global memory, unless it is for an atomic: lines, and the sectors of each. Of constant
    /// memory: the line of each distinct address.
    list: [(u64, u8); LANES],
    count: usize,
}

impl Lines {
    /// Becomes what an access of global memory comes to.
    fn of_global(&mut self, at: &[u64; LANES], mask: u32, site: Seen) {
        self.traffic = match site.kind {
            AccessKind::Atomic => traffic::global_atomic(at, mask, site.bytes),
            kind => {
                let write = kind == AccessKind::Store;
                traffic::global(at, mask, site.bytes, write, &mut self.list)
            }
        };
        self.count = self.traffic.lines as usize;
    }

    /// Becomes what an access of shared memory comes to.
    fn of_shared(&mut self, at: &[u64; LANES], mask: u32, site: Seen) {
        let found = match site.kind {
            AccessKind::Atomic => traffic::shared_atomic(at, mask, site.bytes),
            AccessKind::MatrixLoad => traffic::matrices(at, site.bytes as usize / 4),
            kind => traffic::shared(at, mask, site.bytes, !kind.is_load()),
        };
        self.traffic.wavefronts = found.wavefronts;
        self.conflicts = found.conflicts;
    }

    /// Becomes what an access of constant memory comes to.
    fn of_constant(&mut self, at: &[u64; LANES], mask: u32, site: Seen) {
        let mut addresses = [0; LANES];
        self.count = traffic::constant(at, mask, site.bytes, &mut addresses);
        self.traffic.sectors = self.count as u32;
        for (entry, address) in self.list.iter_mut().zip(addresses) {
            *entry = (address / CONSTANT_LINE, 1);
        }
    }

    /// The lines of so many bytes, and the sectors of each, where they are relative to address `base`.
    #[inline(always)]
    fn of(&self, base: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> + Clone {
        let lines = self.list[..self.count.min(LANES)].iter();
        // Lines before the first lane's have numbers that wrapped around.
        let number = move |line| (base / bytes).wrapping_add(line) & (u64::MAX / bytes);
        lines.map(move |&(line, sectors)| (number(line), sectors))
    }
}

/// Notes an access for who wants to be told of it.
#[inline(always)]
fn tell(
    trace: &mut Option<Vec<trace::Noted>>,
    places: &[usize],
    slot: usize,
    at: &[u64; LANES],
    mask: u32,
    lines: &Lines,
) {
    #[cold]
    fn note(trace: &mut Vec<trace::Noted>, access: trace::Noted) {
        trace.push(access);
    }
    if let (Some(trace), &[warp]) = (trace, places) {
        let access = trace::Noted {
            warp,
            slot,
            mask,
            at: *at,
            units: lines.traffic.sectors,
            wavefronts: lines.traffic.wavefronts,
            conflicts: lines.conflicts,
        };
        note(trace, access);
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
            trace: None,
        }
    }

    /// As [`Sm::note_asked`].
    pub fn note_asked(&mut self, note: bool) {
        self.notes = note;
        if note {
            self.noted.clear();
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
        let Noted { together, alone } = &self.noted;
        let alone = &alone[place % MOST];
        let (mut accesses, mut from) = (alone.accesses.iter().peekable(), 0);
        for before in 0..=together.len() {
            while let Some(access) = accesses.next_if(|access| access.after == before) {
                let lines = alone.lines[from..access.end].iter().copied();
                ask_now(&mut self.sites, &mut self.caches, access.asks, lines);
                from = access.end;
            }
            if let Some(noted) = together.get(before)
                && let Some(turn) = place.checked_sub(noted.first)
                && turn < noted.warps
            {
                let asks = Asks {
                    slot: noted.slot,
                    cache: Which::First,
                };
                let lines = noted.traffic.of_warp(turn, noted.origin);
                ask_now(&mut self.sites, &mut self.caches, asks, lines);
            }
        }
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
        traffic: &Rc<Traffic>,
        places: &[usize],
    ) {
        let counts = &mut self.sites[slot as usize];
        counts.requests += places.len() as u64;
        counts.threads += (places.len() * LANES) as u64;
        counts.wavefronts += traffic.wavefronts;
        counts.units += traffic.sectors;
        counts.conflicts += traffic.conflicts;
        if !traffic.lines.is_empty() && self.caches.cached(site.kind) {
            self.noted.note_together(slot, origin, traffic, places);
        }
    }

    /// Counts an access that the warps at `places` of the block all make.
    #[inline(always)]
    fn global(&mut self, places: &[usize], slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let find = |at: &_, lines: &mut Lines| lines.of_global(at, mask, site);
        let (lines, base) = self.shapes[slot].of(at, mask, find);
        self.sites[slot].add_traffic(places.len(), mask, &lines.traffic);
        tell(&mut self.trace, places, slot, at, mask, lines);
        if !self.caches.cached(site.kind) {
            return;
        }
        let asks = Asks {
            slot: slot as u32,
            cache: Which::First,
        };
        let noted = self.notes.then_some(&mut self.noted);
        let (sites, caches) = (&mut self.sites, &mut self.caches);
        ask_access(sites, caches, noted, places, asks, lines, base);
    }

    /// As [`Observer::global`].
    #[inline(always)]
    fn constant(
        &mut self,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        site: Seen,
    ) {
        let find = |at: &_, lines: &mut Lines| lines.of_constant(at, mask, site);
        let (lines, base) = self.shapes[slot].of(at, mask, find);
        self.sites[slot].add_traffic(places.len(), mask, &lines.traffic);
        tell(&mut self.trace, places, slot, at, mask, lines);
        let asks = Asks {
            slot: slot as u32,
            cache: Which::Constant,
        };
        let noted = self.notes.then_some(&mut self.noted);
        let (sites, caches) = (&mut self.sites, &mut self.caches);
        ask_access(sites, caches, noted, places, asks, lines, base);
    }

    /// As [`Observer::global`].
    #[inline(always)]
    fn shared(&mut self, places: &[usize], slot: usize, at: &[u64; LANES], mask: u32, site: Seen) {
        let find = |at: &_, lines: &mut Lines| lines.of_shared(at, mask, site);
        let (lines, _) = self.shapes[slot].of(at, mask, find);
        let counts = &mut self.sites[slot];
        counts.add_traffic(places.len(), mask, &lines.traffic);
        counts.conflicts += places.len() as u64 * u64::from(lines.conflicts);
        tell(&mut self.trace, places, slot, at, mask, lines);
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
            let (counts, found) = (&mut self.sites[slot], &lines[..found]);
            counts.wavefronts += found.len() as u64;
            for (_, sectors) in found {
                counts.units += u64::from(sectors.count_ones());
            }
            if site.kind.is_load() {
                let asks = Asks {
                    slot: slot as u32,
                    cache: Which::First,
                };
                let (asked, noted) = (found.iter().copied(), self.notes.then_some(&mut self.noted));
                ask_each(
                    &mut self.sites,
                    &mut self.caches,
                    noted,
                    &[warp],
                    asks,
                    asked,
                );
            }
        }
        self.sites[slot].request(mask);
    }
}

/// Warps at `places` all ask a cache for what an access comes to at address `base`. Where it is many
/// lines the host fetches the cache's sets meanwhile.
#[inline(always)]
fn ask_access(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    noted: Option<&mut Noted>,
    places: &[usize],
    asks: Asks,
    lines: &Lines,
    base: u64,
) {
    let (cache, bytes) = match asks.cache {
        Which::First => (&caches.l1, LINE),
        Which::Constant => (&caches.constant_behind, CONSTANT_LINE),
    };
    let asked = lines.of(base, bytes);
    if lines.count > FEW {
        asked.clone().for_each(|(line, _)| cache.prefetch(line));
    }
    ask_each(sites, caches, noted, places, asks, asked);
}

/// Warps at `places` all ask for the same lines: now, or where it is noted when it is their turn.
#[inline(always)]
fn ask_each(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    mut noted: Option<&mut Noted>,
    places: &[usize],
    asks: Asks,
    lines: impl Iterator<Item = (u64, u8)> + Clone,
) {
    for &place in places {
        match &mut noted {
            Some(noted) => noted.note(place, asks, lines.clone()),
            None => ask_now(sites, caches, asks, lines.clone()),
        }
    }
}

/// Asks a cache for what an access needs, and counts what it has.
#[inline(always)]
fn ask_now(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    asks: Asks,
    lines: impl Iterator<Item = (u64, u8)>,
) {
    let (mut hits, mut far) = (0, 0);
    match asks.cache {
        Which::First => {
            for (line, sectors) in lines {
                hits += caches.l1.ask(line, sectors).count_ones();
            }
        }
        Which::Constant => {
            for (line, _) in lines {
                if caches.constant.ask(line, 1) == 1 {
                    hits += 1;
                } else if caches.constant_behind.ask(line, 1) == 0 {
                    far += 1;
                }
            }
        }
    }
    let counts = &mut sites[asks.slot as usize];
    counts.hits += u64::from(hits);
    counts.far += far;
}

/// A counted instruction, and what runs it.
#[derive(Clone, Copy)]
pub struct ObservedSite {
    pub site: Site,
    run: Handler,
    /// What runs it for a gang, if it does not run warp by warp.
    pub together: Option<Handler>,
}

/// The counted instructions of a program, by their addresses.
#[derive(Default)]
pub struct ObservedSites {
    list: Vec<ObservedSite>,
    /// Which of the list an instruction of the code is; [`NO_SITE`] where it is none.
    at: Vec<u32>,
}

/// An instruction that is not counted.
const NO_SITE: u32 = u32::MAX;

impl ObservedSites {
    /// Adds the code's next instruction, which is not counted.
    pub fn push_none(&mut self) {
        self.at.push(NO_SITE);
    }

    /// Adds the code's next instruction, with what runs it.
    pub fn push(&mut self, site: Site, run: Handler, together: Option<Handler>) {
        self.at.push(self.list.len() as u32);
        self.list.push(ObservedSite {
            site,
            run,
            together,
        });
    }

    /// All of them, in the order of the code.
    pub fn iter(&self) -> impl Iterator<Item = &ObservedSite> {
        self.list.iter()
    }

    /// The one at an address, where there is one.
    #[inline(always)]
    fn at(&self, address: u32) -> &ObservedSite {
        &self.list[self.at[address as usize] as usize]
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
unsafe fn access<'a>(sm: &Sm, inst: &Inst) -> (&'a ObservedSite, Seen, [u64; LANES]) {
    let (site, seen, operand) = found(sm, inst);
    // SAFETY: the caller's promise.
    let row = unsafe { sm.row::<u64>(inst, operand) };
    (site, seen, moved(row, site.site.offset))
}

/// The site an instruction is, and which operand its addresses are.
#[inline(always)]
fn found<'a>(sm: &Sm, inst: &Inst) -> (&'a ObservedSite, Seen, usize) {
    let site: *const ObservedSite = sm.grid.program.code.sites.at(sm.address_of(inst));
    // SAFETY: the program outlives the launch, and so whatever runs an instruction of it.
    let site = unsafe { &*site };
    let SiteKind::Access(access) = site.site.kind else {
        unreachable!("only accesses are counted as such");
    };
    let seen = Seen {
        kind: access.kind,
        bytes: access.bytes.into(),
    };
    (site, seen, access.address)
}

/// Addresses that are so many bytes behind those of a row.
#[inline(always)]
fn moved(row: &[u64; LANES], offset: u64) -> [u64; LANES] {
    let mut at = [0; LANES];
    for (at, address) in at.iter_mut().zip(row) {
        *at = address.wrapping_add(offset);
    }
    at
}

/// An observed block has an observer.
#[inline(always)]
fn observer(sm: &mut Sm) -> &mut Observer {
    match &mut sm.observer {
        Some(observer) => observer,
        None => unreachable!("observed code runs in observed blocks alone"),
    }
}

/// The same, and where the warps of the running gang are in their block.
#[inline(always)]
fn observer_of_gang(sm: &mut Sm) -> (&mut Observer, &[usize]) {
    match &mut sm.observer {
        Some(observer) => (observer, sm.gang.places()),
        None => unreachable!("observed code runs in observed blocks alone"),
    }
}

/// Makes `$name`, which answers with a handler that counts and goes on: for any CPU, and for one with
/// wide registers, on which 32 addresses are looked at in a few steps.
macro_rules! observe {
    // Counts the running lanes' access by `$count`.
    ($name:ident, |$sm:ident, $slot:ident, $at:ident, $mask:ident, $seen:ident| $count:expr) => {
        observe!($name, |$sm, inst| {
            // SAFETY: the site is one that accesses memory.
            let (site, $seen, $at) = unsafe { access($sm, inst) };
            let ($slot, $mask) = (site.site.slot as usize, $sm.mask);
            $count;
            // SAFETY: the instruction was made for this handler.
            unsafe { (site.run)($sm, inst) }
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
                // Chosen only where the CPU has AVX2.
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

observe!(global, |sm, slot, at, mask, seen| {
    let warp = sm.block.running;
    observer(sm).global(&[warp], slot, &at, mask, seen);
});
observe!(shared, |sm, slot, at, mask, seen| {
    let warp = sm.block.running;
    observer(sm).shared(&[warp], slot, &at, mask, seen);
});
observe!(constant, |sm, slot, at, mask, seen| {
    let warp = sm.block.running;
    observer(sm).constant(&[warp], slot, &at, mask, seen);
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
        observer.global(&[warp], slot, &at, to_global, seen);
    }
    if to_shared != 0 {
        observer.shared(&[warp], slot + 1, &less(SHARED_WINDOW), to_shared, seen);
    }
    if to_local != 0 {
        observer.local(warp, slot + 2, &less(LOCAL_WINDOW), to_local, seen, base);
    }
    if to_constant != 0 {
        observer.constant(&[warp], slot + 3, &at, to_constant, seen);
    }
});

/// Where this warp's local memory begins, far from any device memory.
fn local_rows(sm: &Sm) -> u64 {
    let warps = sm.grid.dims.threads().div_ceil(32);
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
    let (slot, mask, warp) = (site.site.slot as usize, sm.mask, sm.block.running);
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
                observer.global(&[warp], slot, &from, reading, seen);
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

    /// Counts an access that the warps at `places` of the block all make.
    fn count(
        observer: &mut Observer,
        places: &[usize],
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
        let mut lines = Lines::default();
        lines.of_global(at, FULL, seen);
        traffic.sectors += u64::from(lines.traffic.sectors);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        let relative = |&(line, sectors): &(u64, u8)| (line.wrapping_sub(FAR / LINE), sectors);
        let lines = lines.list[..lines.count].iter().map(relative);
        traffic.lines.extend(lines);
    });

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.global(places, slot, at, mask, seen);
    }
}

impl Counted for ToShared {
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)> = Some(|traffic, at, seen| {
        let mut lines = Lines::default();
        lines.of_shared(at, FULL, seen);
        traffic.wavefronts += u64::from(lines.traffic.wavefronts);
        traffic.conflicts += u64::from(lines.conflicts);
    });

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.shared(places, slot, at, mask, seen);
    }
}

impl Counted for ToConstant {
    const ADD: Option<fn(&mut Traffic, &[u64; LANES], Seen)> = None;

    #[inline(always)]
    fn count(
        observer: &mut Observer,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        seen: Seen,
    ) {
        observer.constant(places, slot, at, mask, seen);
    }
}

/// Counts a gang's access if its addresses lie in quarters, without a look at each warp's; whether
/// it did.
#[inline(always)]
fn count_spread<C: Counted>(
    sm: &mut Sm,
    inst: &Inst,
    site: &ObservedSite,
    seen: Seen,
    operand: usize,
) -> bool {
    let (Some(add), false) = (C::ADD, site.site.leads || inst.common >> operand & 1 == 1) else {
        return false;
    };
    let Some(warps) = sm.gang.whole_warps() else {
        return false;
    };
    let (at, key) = (inst.o[operand] as usize, spread_key(sm, inst));
    let frames = &sm.gang.frames;
    // SAFETY: the site's operand is a 64-bit row of each warp's own; nothing is written meanwhile.
    let rows = |turn: usize| unsafe { &*frames[turn][0].add(at).cast::<[u64; LANES]>() };
    let origin = rows(0)[0].wrapping_add(site.site.offset);
    let Some(mut spread) = sm.spreads.take(key, seen.bytes, warps, rows) else {
        return false;
    };
    let traffic = spread.comes_to(origin, |traffic, at| add(traffic, at, seen));
    let (observer, places) = observer_of_gang(sm);
    observer.count_traffic(site.site.slot, seen, origin / LINE, traffic, places);
    sm.spreads.keep_proven(key, spread);
    true
}

/// Counts what a gang does to a memory, and does it.
#[inline(always)]
fn run_together<C: Counted>(sm: &mut Sm, inst: &Inst) -> Next {
    let (site, seen, operand) = found(sm, inst);
    if !count_spread::<C>(sm, inst, site, seen, operand) {
        count_each::<C>(sm, inst, site, seen, operand);
    }
    let Some(run) = site.together else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { run(sm, inst) };
    sm.spreads.prove_nothing();
    next
}

observe!(global_together, |sm, inst| run_together::<ToGlobal>(
    sm, inst
));
observe!(shared_together, |sm, inst| run_together::<ToShared>(
    sm, inst
));
observe!(constant_together, |sm, inst| run_together::<ToConstant>(
    sm, inst
));

/// Counts a gang's access warp by warp, or once for all of them where its addresses are what they
/// have in common.
#[inline(always)]
fn count_each<C: Counted>(
    sm: &mut Sm,
    inst: &Inst,
    site: &ObservedSite,
    seen: Seen,
    operand: usize,
) {
    let slot = site.site.slot as usize;
    // SAFETY: the site's operand is a 64-bit row.
    let row = |sm: &Sm, turn| unsafe { Together::of(&sm.gang, turn).row(sm, inst, operand) };
    if inst.common >> operand & 1 == 1 && sm.gang.whole_warps().is_some() {
        let at = moved(row(sm, 0), site.site.offset);
        let (observer, places) = observer_of_gang(sm);
        C::count(observer, places, slot, &at, FULL, seen);
        return;
    }
    for turn in 0..sm.gang.masks().len() {
        sm.take_turn(turn);
        let at = moved(row(sm, turn), site.site.offset);
        let (mask, warp) = (sm.gang.masks()[turn], sm.block.running);
        C::count(observer(sm), &[warp], slot, &at, mask, seen);
    }
}

/// # Safety
/// As for [`Handler`], for a branch of a gang that is a site.
unsafe fn branch_together(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.code.sites.at(sm.address_of(inst));
    let (before, warps) = (sm.counts.divergent_branches, sm.gang.masks().len());
    let Some(run) = site.together else {
        unreachable!("the site has a form for gangs");
    };
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { run(sm, inst) };
    if !next.is_null() {
        // Else the warps come here again, one by one.
        let parted = sm.counts.divergent_branches - before;
        let counts = &mut observer(sm).sites[site.site.slot as usize];
        counts.requests += warps as u64;
        counts.conflicts += parted;
    }
    next
}

/// # Safety
/// As for [`Handler`], for a branch that is a site.
unsafe fn branch(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.code.sites.at(sm.address_of(inst));
    let before = sm.counts.divergent_branches;
    // SAFETY: the instruction was made for this handler.
    let next = unsafe { (site.run)(sm, inst) };
    let parted = sm.counts.divergent_branches - before;
    let counts = &mut observer(sm).sites[site.site.slot as usize];
    counts.requests += 1;
    counts.conflicts += parted;
    next
}

/// # Safety
/// As for [`Handler`], for a barrier that is a site.
unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    let site = *sm.grid.program.code.sites.at(sm.address_of(inst));
    observer(sm).sites[site.site.slot as usize].requests += 1;
    // SAFETY: the instruction was made for this handler.
    unsafe { (site.run)(sm, inst) }
}
