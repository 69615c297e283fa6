//! Race detection between blocks that may synchronize with each other, by vector clocks. Such a launch runs its
//! blocks one after the other, and each access is checked against earlier accesses to the same bytes.
//!
//! This applies to kernels with volatile accesses or with atomics whose old value is used. In all other kernels
//! nothing orders the blocks, and [`super::blocks`] detects the races.
//!
//! A fence followed by an atomic or volatile store is a release; an atomic or
//! volatile load that reads the location afterwards is an acquire: accesses by the releasing block before its
//! fence happen before further accesses by the acquiring block.
//!
//! Each block counts its own time, from fence to fence. Its vector clock has an element for every other
//! block: the time until which that block's work happens before its own. A release publishes the whole clock,
//! so the relation is transitive. Source: PTX ISA section 8 (memory consistency model), release and acquire
//! patterns. The second fence of an acquire pattern is not required, because the sum over blocks in the CUDA
//! Programming Guide has none.

use super::device_shadow::{LINE, LineTable};
use super::semantics::{AccessSemantics, RaceRule};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of tracked lines of device memory per launch. Accesses to further lines are not checked.
const MAX_LINES: u32 = 1 << 20;

/// The maximum number of remembered accesses per line. Beyond it the oldest is dropped.
const MAX_USES_PER_LINE: usize = 16;

/// Bytes per location of a release or an acquire.
pub const WORD: u64 = 4;

/// An access by a block.
#[derive(Clone, Copy)]
pub struct SerialAccess {
    pub block: u64,
    /// The instruction's address.
    pub site: u32,
    pub semantics: AccessSemantics,
}

/// An access to some bytes of a line.
#[derive(Clone, Copy)]
struct LineUse {
    /// A mask of the accessed bytes.
    bytes: u128,
    by: SerialAccess,
    /// The index of the block's clock, and the block's time.
    block: usize,
    time: u32,
    /// The block's time in the clocks of reads.
    read_time: u32,
    /// The position of the access in the launch.
    at: u64,
    /// The last block that polled a stored word, and thus has seen the store.
    seen_by: Option<usize>,
}

/// An earlier access to a line that races with the current one.
#[derive(Clone, Copy)]
pub struct RacyPair {
    /// A mask of the bytes that both access.
    pub bytes: u128,
    pub earlier: SerialAccess,
    /// The rule by which the two accesses race.
    pub rule: RaceRule,
    /// True if only a fence is missing: the earlier block then used an atomic or volatile word that the current
    /// block has read.
    pub only_unfenced: bool,
}

/// The vector clocks and recent accesses of the blocks so far.
pub struct SerialBlocks {
    clocks: VectorClocks,
    /// The order of reads. When a block executes an ordered store, its earlier reads have returned their values. So a
    /// block that has waited for the store may overwrite what they read, even without a fence.
    read_clocks: VectorClocks,
    line_table: LineTable,
    lines: Vec<Vec<LineUse>>,
    announcements: Announcements,
}

impl SerialBlocks {
    /// Creates the state for a launch of `blocks` blocks.
    pub fn new(blocks: u64) -> SerialBlocks {
        SerialBlocks {
            clocks: VectorClocks::new(blocks),
            read_clocks: VectorClocks::new(blocks),
            line_table: LineTable::new(MAX_LINES),
            lines: Vec::new(),
            announcements: Announcements::new(blocks),
        }
    }

    /// Records that a block executes a fence.
    pub fn fence(&mut self, block: u64) {
        let block = self.clocks.index(block);
        self.clocks.fence(block);
    }

    /// Acquires what other blocks released at a location. Called before an ordered read.
    pub fn acquire(&mut self, block: u64, location: u64) {
        let block = self.clocks.index(block);
        self.clocks.acquire(block, location);
        self.announcements.acquire(block, location);
    }

    /// Releases at a location what a block did before its last fence. Called after an ordered store.
    pub fn release(&mut self, block: u64, location: u64) {
        let block = self.clocks.index(block);
        self.clocks.release(block, location);
        self.announcements.release(block, location);
    }

    /// Acquires the reads that other blocks released at a location. Called before a read that polls.
    pub fn acquire_reads(&mut self, block: u64, location: u64) {
        let block = self.clocks.index(block);
        self.read_clocks.acquire(block, location);
    }

    /// Releases at a location a block's reads so far. Called after an ordered store.
    pub fn release_reads(&mut self, block: u64, location: u64) {
        let block = self.clocks.index(block);
        self.read_clocks.fence(block);
        self.read_clocks.release(block, location);
    }

    /// Records an access of `bytes` bytes at `address`, all in one line. Returns an earlier access that races
    /// with it, if there is one.
    pub fn record(&mut self, by: SerialAccess, address: u64, bytes: u64) -> Option<RacyPair> {
        let bytes = (u128::MAX >> (LINE - bytes)) << (address % LINE);
        let (number, new) = self.line_table.get_or_insert(address - address % LINE)?;
        if new {
            self.lines.push(Vec::new());
        }
        let line = &mut self.lines[number];
        let block = self.clocks.index(by.block);
        let announcements = &mut self.announcements;
        announcements.now += 1;
        let clocks = [&self.clocks, &self.read_clocks];
        let race = find_race(clocks, announcements, line, by, block, bytes);
        if by.semantics.polls() {
            let ordered_stores = |entry: &&mut LineUse| {
                matches!(entry.by.semantics, AccessSemantics::OrderedStore { .. })
            };
            let ordered_stores = line.iter_mut().filter(ordered_stores);
            for entry in ordered_stores.filter(|entry| entry.bytes & bytes != 0) {
                entry.seen_by = Some(block);
            }
        }
        let current = LineUse {
            bytes,
            by,
            block,
            time: self.clocks.time(block),
            read_time: self.read_clocks.time(block),
            at: self.announcements.now,
            seen_by: None,
        };
        push_use(line, current);
        race
    }
}

/// Returns the first access to a line that races with an access to `bytes` by `block`.
fn find_race(
    [clocks, read_clocks]: [&VectorClocks; 2],
    announcements: &Announcements,
    line: &[LineUse],
    by: SerialAccess,
    block: usize,
    bytes: u128,
) -> Option<RacyPair> {
    line.iter().find_map(|entry| {
        let both = entry.bytes & bytes;
        let writes = entry.by.semantics.writes() || by.semantics.writes();
        if both == 0 || !writes || clocks.happens_before(entry.block, entry.time, block) {
            return None;
        }
        let is_read = !entry.by.semantics.writes();
        if is_read && read_clocks.happens_before(entry.block, entry.read_time, block) {
            return None;
        }
        let rule = by.semantics.race_rule(entry.by.semantics);
        // A block that polls until it sees another's store, and then stores itself, comes after that store.
        let waited_for_store = entry.seen_by == Some(block) && by.semantics.writes();
        let fine = match rule {
            RaceRule::NoRace => true,
            RaceRule::RaceUnlessConstant => waited_for_store,
            RaceRule::LoadBeforeAtomic | RaceRule::DecidesByFlag | RaceRule::Race => false,
        };
        (!fine).then_some(RacyPair {
            bytes: both,
            earlier: entry.by,
            rule,
            only_unfenced: announcements.follow(entry, block),
        })
    })
}

/// Appends an access to a line and drops what it supersedes: a plain write supersedes all earlier accesses to its
/// bytes, an ordered write all but the plain writes, a read those of the same kind by the same block.
fn push_use(line: &mut Vec<LineUse>, current: LineUse) {
    let writes = current.by.semantics.writes();
    for entry in line.iter_mut() {
        let same = entry.block == current.block && entry.by.semantics == current.by.semantics;
        let superseded = writes
            && (!current.by.semantics.is_ordered() || entry.by.semantics != AccessSemantics::Store);
        if superseded || same {
            entry.bytes &= !current.bytes;
        }
    }
    line.retain(|entry| entry.bytes != 0);
    let same_access = line.iter_mut().find(|entry| {
        (entry.block, entry.by.block, entry.time) == (current.block, current.by.block, current.time)
            && (entry.by.site, entry.by.semantics) == (current.by.site, current.by.semantics)
            && entry.seen_by.is_none()
            && (writes || entry.read_time == current.read_time)
    });
    match same_access {
        Some(same_access) => same_access.bytes |= current.bytes,
        None => {
            if line.len() == MAX_USES_PER_LINE {
                line.remove(0);
            }
            line.push(current);
        }
    }
}

/// The last release and acquire of each block, with or without a fence. They show that a race only lacks a fence.
struct Announcements {
    /// The number of accesses so far.
    now: u64,
    /// For each block, the time and location of its last release, and those of its last acquire.
    blocks: Vec<[(u64, u64); 2]>,
}

impl Announcements {
    fn new(blocks: u64) -> Announcements {
        Announcements {
            now: 0,
            blocks: vec![[(0, 0); 2]; blocks.min(MAX_CLOCKS as u64) as usize],
        }
    }

    fn release(&mut self, block: usize, location: u64) {
        self.blocks[block][0] = (self.now, location);
    }

    fn acquire(&mut self, block: usize, location: u64) {
        self.blocks[block][1] = (self.now, location);
    }

    /// Returns true if the block of an access announced it afterwards at a location that `block` read later.
    fn follow(&self, access: &LineUse, block: usize) -> bool {
        let ([(released, location), _], [_, (acquired, read)]) =
            (self.blocks[access.block], self.blocks[block]);
        location == read && access.at <= released && released <= acquired
    }
}

/// The maximum number of clocks. In larger launches several blocks share a clock, and races between them go
/// unreported.
const MAX_CLOCKS: usize = 2048;

/// The maximum number of locations with a clock of their own. All further locations share one clock, which
/// may order too much and so hide races.
const MAX_LOCATIONS: usize = 1 << 12;

/// The key of the clock that further locations share.
const SHARED_LOCATION: u64 = u64::MAX;

/// A vector clock: for each block, the time until which its work happens before the owner's.
type Clock = Rc<Vec<u32>>;

/// The vector clocks of a launch's blocks.
struct VectorClocks {
    /// Each block's current time.
    time: Vec<u32>,
    /// Each block's vector clock; `None` if no other block happens before it.
    clocks: Vec<Option<Clock>>,
    /// Each block's vector clock at its last fence.
    fence_clocks: Vec<Option<Clock>>,
    /// The clocks released at each location.
    locations: HashMap<u64, Clock>,
}

impl VectorClocks {
    /// Creates the clocks of a launch of `blocks` blocks.
    pub fn new(blocks: u64) -> VectorClocks {
        let count = blocks.min(MAX_CLOCKS as u64) as usize;
        VectorClocks {
            time: vec![1; count],
            clocks: vec![None; count],
            fence_clocks: vec![None; count],
            locations: HashMap::new(),
        }
    }

    /// Returns the index of a block's clock.
    pub fn index(&self, block: u64) -> usize {
        (block % self.time.len() as u64) as usize
    }

    /// Returns a block's current time.
    pub fn time(&self, block: usize) -> u32 {
        self.time[block]
    }

    /// Records that a block executes a fence: saves its clock for later releases and advances its time.
    pub fn fence(&mut self, block: usize) {
        let mut clock = match &self.clocks[block] {
            Some(clock) => clock.to_vec(),
            None => vec![0; self.time.len()],
        };
        clock[block] = self.time[block];
        self.fence_clocks[block] = Some(Rc::new(clock));
        self.time[block] += 1;
    }

    /// Releases at a location the block's clock at its last fence. Called for an atomic or volatile store.
    pub fn release(&mut self, block: usize, location: u64) {
        let Some(fence_clock) = &self.fence_clocks[block] else {
            return;
        };
        let location =
            if self.locations.len() < MAX_LOCATIONS || self.locations.contains_key(&location) {
                location
            } else {
                SHARED_LOCATION
            };
        match self.locations.get_mut(&location) {
            Some(clock) => join(clock, fence_clock),
            None => drop(self.locations.insert(location, fence_clock.clone())),
        }
    }

    /// Acquires the clocks released at a location: joins them into the block's clock.
    pub fn acquire(&mut self, block: usize, location: u64) {
        for location in [location, SHARED_LOCATION] {
            if let Some(released) = self.locations.get(&location) {
                match &mut self.clocks[block] {
                    Some(clock) => join(clock, released),
                    empty => *empty = Some(released.clone()),
                }
            }
        }
    }

    /// Returns true if an access by block `other` at `time` happens before the current accesses of `block`.
    pub fn happens_before(&self, other: usize, time: u32, block: usize) -> bool {
        let clock = self.clocks[block].as_ref();
        other == block || clock.is_some_and(|clock| clock[other] >= time)
    }
}

/// Joins two vector clocks: takes the maximum of each element.
fn join(clock: &mut Clock, other: &Clock) {
    if Rc::ptr_eq(clock, other)
        || clock
            .iter()
            .zip(&**other)
            .all(|(time, other)| time >= other)
    {
        return;
    }
    for (time, other) in Rc::make_mut(clock).iter_mut().zip(&**other) {
        *time = (*time).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_a_store_and_a_read_of_it_order_two_blocks() {
        let mut clocks = VectorClocks::new(4);
        let start = clocks.time(0);
        clocks.release(0, 8);
        clocks.acquire(1, 8);
        assert!(!clocks.happens_before(0, start, 1), "there was no fence");
        clocks.fence(0);
        let later = clocks.time(0);
        clocks.release(0, 8);
        clocks.acquire(2, 16);
        assert!(!clocks.happens_before(0, start, 1), "it has not read since");
        assert!(!clocks.happens_before(0, start, 2), "it read another place");
        clocks.acquire(1, 8);
        assert!(clocks.happens_before(0, start, 1));
        assert!(!clocks.happens_before(0, later, 1), "done after the fence");
        assert!(!clocks.happens_before(1, clocks.time(1), 0));
        // Happens-before is transitive: block 0, block 1, block 3.
        clocks.fence(1);
        clocks.release(1, 24);
        clocks.acquire(3, 24);
        assert!(clocks.happens_before(0, start, 3));
        assert!(clocks.happens_before(3, clocks.time(3), 3), "its own work");
    }

    #[test]
    fn blocks_and_locations_beyond_the_limits_share_clocks() {
        let mut clocks = VectorClocks::new(1 << 40);
        assert_eq!(clocks.index(MAX_CLOCKS as u64 + 3), clocks.index(3));
        let start = clocks.time(7);
        clocks.fence(7);
        for location in 0..MAX_LOCATIONS as u64 * 2 {
            clocks.release(7, location);
        }
        assert!(clocks.locations.len() <= MAX_LOCATIONS + 1);
        clocks.acquire(8, MAX_LOCATIONS as u64 * 2 - 1);
        assert!(clocks.happens_before(7, start, 8));
    }
}
