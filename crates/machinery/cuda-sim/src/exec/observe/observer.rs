//! Counts what the running block does.

use super::caches::{Asks, CONSTANT_LINE, Caches, LINE, Which, ask_now};
use super::cost::{AccessCost, Transfer};
use super::noted::Noted;
use crate::exec::cpu::Cpu;
use crate::exec::gang::MOST;
use crate::exec::spread::GangTraffic;
use crate::exec::trace::TracedAccess;
use crate::lanes::LANES;
use crate::profile::shape::Shapes;
use crate::profile::site::SiteCounts;
use crate::profile::traffic;
use std::ops::Range;
use std::rc::Rc;

/// An access to more lines than this has the host's caches fetch ahead what is known of them.
const FEW: usize = 4;

/// Bytes of a warp's local memory that lie side by side: a word of each lane.
const LOCAL_ROW: u64 = 128;

/// Counts what the running block does.
pub struct Observer {
    /// One entry a slot of [`Site`].
    pub sites: Vec<SiteCounts>,
    /// Of the same slots.
    pub shapes: Vec<Shapes<AccessCost>>,
    pub caches: Box<Caches>,
    /// What caches are asked is noted, to be asked later.
    notes: bool,
    /// What was noted of each warp of a gang.
    pub noted: Noted,
    /// The accesses themselves, where they are told of.
    pub trace: Option<Vec<TracedAccess>>,
}

impl Observer {
    /// Counts on in `sites`, with what is known from earlier blocks.
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

    /// Counts an access that the warps at `places` of the block all make.
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
        tell(&mut self.trace, places, slot, at, mask, lines);
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

    /// As [`Observer::global`].
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
        tell(&mut self.trace, places, slot, at, mask, lines);
    }

    /// Local memory is interleaved: the same word of all lanes lies in one line, so that lanes
    /// that use the same place use it together.
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

/// Notes an access for who wants to be told of it.
#[inline(always)]
fn tell(
    trace: &mut Option<Vec<TracedAccess>>,
    places: &[usize],
    slot: usize,
    at: &[u64; LANES],
    mask: u32,
    lines: &AccessCost,
) {
    #[cold]
    fn note(trace: &mut Vec<TracedAccess>, access: TracedAccess) {
        trace.push(access);
    }
    if let (Some(trace), &[warp]) = (trace, places) {
        let access = TracedAccess {
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

/// Warps at `places` all ask a cache for what an access comes to at address `base`. Where it is many
/// lines the host fetches the cache's sets meanwhile.
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
