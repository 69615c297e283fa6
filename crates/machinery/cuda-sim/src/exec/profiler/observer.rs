//! Counts what the running block does.

use super::caches::{Asks, CONSTANT_LINE, Caches, LINE, Which, ask_now};
use super::cost::{AccessCost, Transfer};
use super::deferred::Noted;
use crate::exec::access_pattern::GangTraffic;
use crate::exec::cpu::Cpu;
use crate::exec::gang::MOST;
use crate::exec::trace::{Cost, Trace, TracedAccess};
use crate::lanes::LANES;
use crate::profile::shape::Shapes;
use crate::profile::site::SiteCounts;
use crate::profile::traffic::{self, Retried};
use std::ops::Range;
use std::rc::Rc;

/// For an access to more lines than this the host's own caches are told to fetch what is known of
/// those lines, which takes a while.
const FEW: usize = 4;

/// Bytes from one word of a thread's local memory to its next: the same word of all 32 lanes lies in
/// between.
const LOCAL_ROW: u64 = 128;

/// Counts what the running block does.
pub struct Observer {
    /// One entry for each slot of the program's sites.
    pub sites: Vec<SiteCounts>,
    /// What is remembered of accesses, by the same slots.
    pub shapes: Vec<Shapes<AccessCost>>,
    pub caches: Box<Caches>,
    /// Accesses are noted, and the caches are asked for them later.
    notes: bool,
    /// The accesses that were noted.
    pub noted: Noted,
    /// The accesses themselves, if the launch is traced.
    pub trace: Option<Box<Trace>>,
}

impl Observer {
    /// Adds to `sites`, with what earlier blocks left: remembered accesses, room for notes, caches.
    pub fn new(
        sites: Vec<SiteCounts>,
        shapes: Vec<Shapes<AccessCost>>,
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

    /// From now on accesses are noted (true), or the caches are asked at once (false).
    pub fn note_asked(&mut self, note: bool) {
        self.notes = note;
        if note {
            self.noted.clear();
        }
    }

    /// Asks the caches for what was noted of warp `place` of the block.
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

    /// Asks the caches for what was noted of these warps, one after the other.
    pub fn ask_in_order(&mut self, places: Range<usize>) {
        places.for_each(|place| self.ask_for(place));
    }

    /// Counts an access by the warps at `places` of the block, a gang of whole warps. `origin` is the
    /// number of the line that the lines of `traffic` are relative to.
    #[inline(always)]
    pub fn count_traffic(
        &mut self,
        slot: u32,
        transfer: Transfer,
        origin: u64,
        traffic: &Rc<GangTraffic>,
        places: &[usize],
    ) {
        let counts = &mut self.sites[slot as usize];
        counts.requests += places.len() as u64;
        counts.threads += (places.len() * LANES) as u64;
        counts.wavefronts += traffic.wavefronts;
        counts.units += traffic.sectors;
        counts.conflicts += traffic.conflicts;
        if !traffic.lines.is_empty() && self.caches.cached(transfer.kind) {
            self.noted.note_together(slot, origin, traffic, places);
        }
    }

    /// Counts an access of global memory that each of the warps at `places` of the block makes.
    #[inline(always)]
    pub fn global(
        &mut self,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        let find = |at: &_, lines: &mut AccessCost| lines.of_global(at, mask, transfer);
        let (lines, base) = self.shapes[slot].of(at, mask, find);
        self.sites[slot].add_traffic(places.len(), mask, &lines.traffic);
        tell(&mut self.trace, places, slot, at, mask, cost(lines));
        if !self.caches.cached(transfer.kind) {
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

    /// Counts an access of constant memory that each of the warps at `places` makes.
    #[inline(always)]
    pub fn constant(
        &mut self,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        let find = |at: &_, lines: &mut AccessCost| lines.of_constant(at, mask, transfer);
        let (lines, base) = self.shapes[slot].of(at, mask, find);
        self.sites[slot].add_traffic(places.len(), mask, &lines.traffic);
        tell(&mut self.trace, places, slot, at, mask, cost(lines));
        let asks = Asks {
            slot: slot as u32,
            cache: Which::Constant,
        };
        let noted = self.notes.then_some(&mut self.noted);
        let (sites, caches) = (&mut self.sites, &mut self.caches);
        ask_access(sites, caches, noted, places, asks, lines, base);
    }

    /// Counts an access of shared memory that each of the warps at `places` makes.
    #[inline(always)]
    pub fn shared(
        &mut self,
        places: &[usize],
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        let find = |at: &_, lines: &mut AccessCost| lines.of_shared(at, mask, transfer);
        let (lines, _) = self.shapes[slot].of(at, mask, find);
        let counts = &mut self.sites[slot];
        counts.add_traffic(places.len(), mask, &lines.traffic);
        counts.conflicts += places.len() as u64 * u64::from(lines.conflicts);
        tell(&mut self.trace, places, slot, at, mask, cost(lines));
    }

    /// Counts an atomic on shared memory that is done by loads and compare-and-swaps, each of which
    /// changes the value: the swaps, and in the next slot the loads.
    pub fn retried(
        &mut self,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
    ) {
        let find = |at: &_, found: &mut AccessCost| found.of_retried(at, mask, transfer);
        let retried = self.shapes[slot].of(at, mask, find).0.retried;
        self.count_retried(warp, slot, at, mask, &retried);
    }

    /// Counts such an atomic that comes to so much. Of the times that a warp goes round the costliest is told.
    pub fn count_retried(
        &mut self,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        retried: &Retried,
    ) {
        self.sites[slot].parted += u64::from(retried.parted);
        for (slot, repeated) in (slot..).zip([&retried.swaps, &retried.loads]) {
            self.sites[slot].repeat(repeated);
            if repeated.times > 0 {
                let once = repeated.costliest;
                let cost = [0, once.wavefronts, once.conflicts];
                tell(&mut self.trace, &[warp], slot, at, mask, cost);
            }
        }
    }

    /// Counts an access of local memory. That is interleaved: the same word of all lanes lies in one
    /// line, so that lanes that use the same place use it together.
    pub fn local(
        &mut self,
        warp: usize,
        slot: usize,
        at: &[u64; LANES],
        mask: u32,
        transfer: Transfer,
        base: u64,
    ) {
        let mut lines = [(0, 0); LANES];
        let words = transfer.bytes.div_ceil(4);
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
            if transfer.kind.is_load() {
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

/// What a trace takes an access to come to.
#[inline(always)]
fn cost(lines: &AccessCost) -> Cost {
    [
        lines.traffic.sectors,
        lines.traffic.wavefronts,
        lines.conflicts,
    ]
}

/// Tells of an access, if the launch is traced.
#[inline(always)]
fn tell(
    trace: &mut Option<Box<Trace>>,
    places: &[usize],
    slot: usize,
    at: &[u64; LANES],
    mask: u32,
    cost: Cost,
) {
    if let (Some(trace), &[warp]) = (trace, places) {
        let [units, wavefronts, conflicts] = cost;
        trace.note(slot, cost, || TracedAccess {
            warp,
            slot,
            mask,
            at: *at,
            units,
            wavefronts,
            conflicts,
        });
    }
}

/// Asks a cache for the lines of an access at address `base`, once for each of the warps at `places`.
/// If there are many lines, the host is told to fetch what it knows of them.
#[inline(always)]
fn ask_access(
    sites: &mut [SiteCounts],
    caches: &mut Caches,
    noted: Option<&mut Noted>,
    places: &[usize],
    asks: Asks,
    lines: &AccessCost,
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

/// Asks for the same lines once for each of the warps at `places`: now, or by a note for later.
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
