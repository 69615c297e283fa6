//! From the addresses of a warp's access to what the memory system does for it.
//!
//! Pure functions of 32 addresses, the mask of the lanes that take part, and the bytes each of
//! them moves: 1, 2, 4, 8 or 16, at addresses that are multiples of it, as hardware demands. They
//! are called for every access that is profiled, so the two most common patterns, one address and
//! consecutive ones, are told apart first, and nothing is allocated.
//!
//! The rules are those of an NVIDIA H200, found with `scripts/accesses.cu`; `tests/h200.txt` has
//! what it answered.

use crate::lanes::{FULL, LANES, active};

/// Bytes of a line of the first cache.
pub const LINE: u64 = 128;
/// Bytes of a sector.
pub const SECTOR: u64 = 32;
/// Bytes of a word: what one of the 32 banks of the data stage gives at once.
pub const WORD: u64 = 4;
/// Banks of the data stage, side by side: a word of each is a line.
pub const BANKS: usize = LANES;
/// Lines whose data a load may pick up in one wavefront.
const LINES_AT_ONCE: usize = 4;

/// What a warp's access to global memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Distinct sectors of 32 bytes.
    pub sectors: u32,
    /// Distinct lines of 128 bytes: the first cache looks up one a cycle.
    pub lines: u32,
    /// Passes through the first cache's data stage.
    pub wavefronts: u32,
}

/// What a warp's access to shared memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Passes through the data stage.
    pub wavefronts: u32,
    /// Those of them that only bank conflicts make necessary.
    pub conflicts: u32,
}

/// The sectors, lines and wavefronts of a load from global memory, or of a store.
///
/// Sectors and lines are exact. Wavefronts are those of the banks that shared memory has as well,
/// four lines at a time for a load; hardware sometimes takes a few more where a load's lines lie
/// in no order.
///
/// The lines are put into `found`, as [`lines`] does.
pub fn global(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    write: bool,
    found: &mut [(u64, u8); LANES],
) -> GlobalTraffic {
    let mut places = [0; LANES];
    let pattern = Pattern::of(addresses, mask, bytes);
    let count = find_lines(pattern, addresses, mask, bytes, found, &mut places);
    let sectors = found[..count]
        .iter()
        .map(|(_, sectors)| sectors.count_ones())
        .sum();
    let wavefronts = if write || count <= LINES_AT_ONCE {
        phases(pattern, addresses, mask, bytes)
    } else {
        let mut together = [0; LANES.div_ceil(LINES_AT_ONCE)];
        if let Pattern::Scattered = pattern {
            for lane in active(mask) {
                together[usize::from(places[lane]) / LINES_AT_ONCE] |= 1 << lane;
            }
        } else {
            // Consecutive lanes over five lines: only the last lines' lanes come later.
            for lane in active(mask) {
                let place = addresses[lane] / LINE - found[0].0;
                together[place as usize / LINES_AT_ONCE] |= 1 << lane;
            }
        }
        together
            .into_iter()
            .map(|lanes| phases(Pattern::Scattered, addresses, lanes, bytes))
            .sum()
    };
    GlobalTraffic {
        sectors,
        lines: count as u32,
        wavefronts,
    }
}

/// The same of an atomic on global memory. Lanes at one address take turns: each turn is sent by
/// itself, so that a sector counts once for each.
pub fn global_atomic(addresses: &[u64; LANES], mask: u32, bytes: u64) -> GlobalTraffic {
    let mut found = [(0, 0); LANES];
    let lines = lines(addresses, mask, bytes, &mut found) as u32;
    let mut sectors = 0;
    let mut waiting = mask;
    while waiting != 0 {
        let mut distinct = [0; LANES];
        let mut seen = Seen::default();
        let mut turn = 0;
        for lane in active(waiting) {
            let (place, new) = seen.place(addresses[lane], |place| distinct[place]);
            if new {
                distinct[place] = addresses[lane];
                turn |= 1 << lane;
            }
        }
        let count = self::lines(addresses, turn, bytes, &mut found);
        let of_turn = found[..count].iter().map(|(_, there)| there.count_ones());
        sectors += of_turn.sum::<u32>();
        waiting &= !turn;
    }
    GlobalTraffic {
        sectors,
        lines,
        wavefronts: atomic_turns(addresses, mask, bytes),
    }
}

/// The distinct lines of an access, each with a bit for every sector of it that is touched (the
/// lowest for the first), in the order of the lanes that touch them first. A line is given by its
/// number, the address divided by 128. Returns how many there are; the rest of `into` is left as
/// it was.
pub fn lines(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
) -> usize {
    let pattern = Pattern::of(addresses, mask, bytes);
    find_lines(pattern, addresses, mask, bytes, into, &mut [0; LANES])
}

/// The lines, and of scattered lanes where in the list the line of each is.
fn find_lines(
    pattern: Pattern,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
    places: &mut [u8; LANES],
) -> usize {
    let sector = |address: u64| (address % LINE / SECTOR) as u32;
    match pattern {
        Pattern::None => 0,
        Pattern::Same(address) => {
            into[0] = (address / LINE, 1 << sector(address));
            1
        }
        Pattern::Consecutive(start) => {
            let end = start + bytes * LANES as u64 - 1;
            let (first, last) = (start / LINE, end / LINE);
            for (line, entry) in (first..=last).zip(into.iter_mut()) {
                let from = if line == first { sector(start) } else { 0 };
                let to = if line == last { sector(end) } else { 3 };
                *entry = (line, (0b1111 << from & 0b1111 >> (3 - to)) as u8);
            }
            (last - first + 1) as usize
        }
        Pattern::Scattered => {
            let mut seen = Seen::default();
            for lane in active(mask) {
                let (line, bit) = (addresses[lane] / LINE, 1 << sector(addresses[lane]));
                let (place, new) = seen.place(line, |place| into[place].0);
                if new {
                    into[place] = (line, bit);
                } else {
                    into[place].1 |= bit;
                }
                places[lane] = place as u8;
            }
            seen.count
        }
    }
}

/// The wavefronts and bank conflicts of a load from shared memory, or of a store.
///
/// A wavefront moves up to 128 bytes: lanes of 8 bytes go a half of the warp at a time, of 16 a
/// quarter. A load's halves go together, and so do the quarters of each half, where neighbouring
/// lanes want the same: each lane and the next (0 and 1, 2 and 3, …) throughout the warp, or each
/// and the next but one (0 and 2, 1 and 3, …). Lanes that do not take part want whatever suits.
pub fn shared(addresses: &[u64; LANES], mask: u32, bytes: u64, write: bool) -> SharedTraffic {
    let pattern = Pattern::of(addresses, mask, bytes);
    let mut lanes = lanes_at_once(bytes);
    if bytes > WORD && !write && (alike(addresses, mask, 1) || alike(addresses, mask, 2)) {
        lanes *= 2;
    }
    let fewest = split(mask, lanes).count() as u32;
    let wavefronts = match pattern {
        Pattern::None | Pattern::Same(_) | Pattern::Consecutive(_) => fewest,
        Pattern::Scattered => split(mask, lanes)
            .map(|lanes| turns(addresses, lanes, bytes))
            .sum(),
    };
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - fewest,
    }
}

/// The same of `ldmatrix`: the rows of each matrix, 16 bytes each, are at the addresses of eight
/// lanes, and a wavefront serves those of one matrix alone.
pub fn matrices(addresses: &[u64; LANES], count: usize) -> SharedTraffic {
    const ROWS: u32 = 8;
    const ROW_BYTES: u64 = 16;
    let rows = FULL >> (LANES as u32 - ROWS * count as u32);
    let wavefronts = split(rows, ROWS as usize).map(|rows| turns(addresses, rows, ROW_BYTES));
    let wavefronts = wavefronts.sum();
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - count as u32,
    }
}

/// What a warp's asynchronous copy from global to shared memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyTraffic {
    /// Sectors that are asked for.
    pub sectors: u32,
    /// Passes through the data stage on the way to shared memory, and those of them that only bank
    /// conflicts make necessary.
    pub shared: SharedTraffic,
}

/// An asynchronous copy through the first cache. Sectors are those of a load. A wavefront moves a
/// word from each bank to each bank: lanes that read from one bank take turns, even where they want
/// the same word, and so do those that write to one. Where lanes of one phase collide on both sides
/// hardware sometimes takes a few more.
pub fn copy(from: &[u64; LANES], to: &[u64; LANES], mask: u32, bytes: u64) -> CopyTraffic {
    let phases = || split(mask, lanes_at_once(bytes));
    let turns = |at: &[u64; LANES], lanes| lanes_a_bank(at, lanes, bytes);
    let wavefronts = phases().map(|lanes| turns(from, lanes).max(turns(to, lanes)));
    let wavefronts = wavefronts.sum();
    CopyTraffic {
        sectors: global(from, mask, bytes, false, &mut [(0, 0); LANES]).sectors,
        shared: SharedTraffic {
            wavefronts,
            conflicts: wavefronts - phases().count() as u32,
        },
    }
}

/// An asynchronous copy of 16 bytes a lane past the first cache. A sector goes straight to where 32
/// bytes of shared memory begin: it is asked for once for each of those, and apart for lanes that
/// change their half of it. Lanes must write to different places.
///
/// Sectors are exact. Wavefronts are those of sectors that go from one line to one line of shared
/// memory, shifted or swapped alike; hardware does it in a few more or less where they lie in no
/// order.
pub fn copy_past_l1(from: &[u64; LANES], to: &[u64; LANES], mask: u32) -> CopyTraffic {
    let distinct = |key: &dyn Fn(usize) -> u64| {
        let mut keys = [0; LANES];
        let mut seen = Seen::default();
        for lane in active(mask) {
            let key = key(lane);
            let (place, new) = seen.place(key, |place| keys[place]);
            if new {
                keys[place] = key;
            }
        }
        seen.count as u32
    };
    // 13 bits are enough for a sector of shared memory.
    let key = |source: u64, target: u64, how: u64| (source << 16) | (target << 3) | how;
    let half = |lane: usize| (from[lane] ^ to[lane]) / (SECTOR / 2) % 2;
    let sectors = distinct(&|lane| key(from[lane] / SECTOR, to[lane] / SECTOR, half(lane)));
    let lines = |way: fn(u64, u64) -> u64| {
        distinct(&|lane| {
            let moved = way(to[lane] / SECTOR, from[lane] / SECTOR) % (LINE / SECTOR);
            key(from[lane] / LINE, to[lane] / LINE, 2 * moved + half(lane))
        })
    };
    let (shifted, swapped) = (lines(u64::wrapping_sub), lines(|to, from| to ^ from));
    CopyTraffic {
        sectors,
        shared: SharedTraffic {
            wavefronts: shifted.min(swapped),
            conflicts: 0,
        },
    }
}

/// The same of an atomic on shared memory: a bank serves one lane at a time, even where two lanes
/// want the same word.
pub fn shared_atomic(addresses: &[u64; LANES], mask: u32, bytes: u64) -> SharedTraffic {
    let wavefronts = atomic_turns(addresses, mask, bytes);
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts.saturating_sub(split(mask, lanes_at_once(bytes)).count() as u32),
    }
}

/// The distinct addresses of a load from constant memory, in the order of the lanes that have them
/// first: each is one request. Returns how many there are; the rest of `into` is left as it was.
pub fn constant(addresses: &[u64; LANES], mask: u32, bytes: u64, into: &mut [u64; LANES]) -> usize {
    match Pattern::of(addresses, mask, bytes) {
        Pattern::None => 0,
        Pattern::Same(address) => {
            into[0] = address;
            1
        }
        Pattern::Consecutive(_) => {
            *into = *addresses;
            LANES
        }
        Pattern::Scattered => {
            let mut seen = Seen::default();
            for lane in active(mask) {
                let (place, new) = seen.place(addresses[lane], |place| into[place]);
                if new {
                    into[place] = addresses[lane];
                }
            }
            seen.count
        }
    }
}

/// The bank that has the word at an address of shared memory.
pub fn bank(address: u64) -> usize {
    (address / WORD % BANKS as u64) as usize
}

/// How the addresses of the lanes that take part lie.
#[derive(Clone, Copy)]
enum Pattern {
    /// No lane takes part.
    None,
    /// All at one.
    Same(u64),
    /// The whole warp, side by side from this one on.
    Consecutive(u64),
    Scattered,
}

impl Pattern {
    #[inline(always)]
    fn of(addresses: &[u64; LANES], mask: u32, bytes: u64) -> Pattern {
        if mask == 0 {
            return Pattern::None;
        }
        let start = addresses[mask.trailing_zeros() as usize];
        let (mut differ, mut stray) = (0, 0);
        for (lane, &address) in (0..).zip(addresses) {
            let keep = u64::from(mask >> lane & 1).wrapping_neg();
            differ |= (address ^ start) & keep;
            stray |= address ^ start.wrapping_add(lane * bytes);
        }
        match (differ, stray, mask) {
            (0, _, _) => Pattern::Same(start),
            (_, 0, FULL) => Pattern::Consecutive(start),
            _ => Pattern::Scattered,
        }
    }
}

/// Lanes that one wavefront serves where no bank is in the way.
fn lanes_at_once(bytes: u64) -> usize {
    LANES / (bytes / WORD).max(1) as usize
}

/// The mask in parts of `lanes` lanes, those without any left out.
fn split(mask: u32, lanes: usize) -> impl Iterator<Item = u32> {
    let part = FULL >> (LANES - lanes.min(LANES));
    (0..LANES)
        .step_by(lanes)
        .map(move |first| mask & part << first)
        .filter(|&lanes| lanes != 0)
}

/// Wavefronts of an access whose phases are not merged.
#[inline(always)]
fn phases(pattern: Pattern, addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let parts = split(mask, lanes_at_once(bytes));
    match pattern {
        Pattern::None | Pattern::Same(_) | Pattern::Consecutive(_) => parts.count() as u32,
        Pattern::Scattered => parts.map(|lanes| turns(addresses, lanes, bytes)).sum(),
    }
}

/// Whether lanes whose numbers differ in the bit `apart` alone have the same address.
#[inline(always)]
fn alike(addresses: &[u64; LANES], mask: u32, apart: usize) -> bool {
    let mut differ = 0;
    for lane in 0..LANES {
        let both = mask >> lane & mask >> (lane ^ apart) & 1;
        differ |= (addresses[lane] ^ addresses[lane ^ apart]) & u64::from(both).wrapping_neg();
    }
    differ == 0
}

/// The most distinct words (or units of 8 or 16 bytes) that any one bank (or group of banks) has
/// to give to these lanes.
#[inline(always)]
fn turns(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.max(WORD).trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let (mut first, mut taken, mut clash) = ([0; LANES], 0u32, false);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let bank = (unit & (banks - 1)) as usize;
        clash |= taken >> bank & 1 == 1 && first[bank] != unit;
        first[bank] = unit;
        taken |= 1 << bank;
    }
    if !clash {
        return u32::from(taken != 0);
    }
    let mut seen = Seen::default();
    let (mut units, mut asked, mut most) = ([0; LANES], [0u8; LANES], 0);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let (place, new) = seen.place(unit, |place| units[place]);
        if new {
            units[place] = unit;
            let bank = &mut asked[(unit & (banks - 1)) as usize];
            *bank += 1;
            most = most.max(*bank);
        }
    }
    most.into()
}

/// The most lanes that any one bank has to serve.
fn atomic_turns(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let mut asked = [0; BANKS];
    for lane in active(mask) {
        for word in 0..(bytes / WORD).max(1) {
            asked[bank(addresses[lane] + word * WORD)] += 1;
        }
    }
    asked.into_iter().max().unwrap_or(0)
}

/// The most of these lanes that go to any one bank, or group of banks that gives so many bytes.
fn lanes_a_bank(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut asked = [0; LANES];
    for lane in active(mask) {
        asked[((addresses[lane] >> shift) & (banks - 1)) as usize] += 1;
    }
    asked.into_iter().max().unwrap_or(0)
}

/// Which of up to 32 keys have come before: a hash table of places in the caller's list.
struct Seen {
    /// Place plus one, or zero where nothing is.
    slots: [u8; Self::SLOTS],
    count: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            slots: [0; Self::SLOTS],
            count: 0,
        }
    }
}

impl Seen {
    /// Twice as many as keys, so that chains stay short.
    const SLOTS: usize = 2 * LANES;

    /// The place of `key` in the caller's list, and whether it is a new one. `at` reads the list.
    #[inline(always)]
    fn place(&mut self, key: u64, at: impl Fn(usize) -> u64) -> (usize, bool) {
        // Fibonacci hashing: the top bits of the product depend on all bits of the key.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        loop {
            match self.slots[slot % Self::SLOTS] {
                0 => {
                    self.count += 1;
                    self.slots[slot % Self::SLOTS] = self.count as u8;
                    return (self.count - 1, true);
                }
                taken if at(taken as usize - 1) == key => return (taken as usize - 1, false),
                _ => slot += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;
