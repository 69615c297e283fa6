//! Race detection between blocks that may synchronize with each other, by vector clocks. Such a launch runs its
//! blocks one after the other, and each access is checked against earlier accesses to the same words.
//!
//! This applies to kernels with volatile accesses or with atomics whose old value is used. In all other kernels
//! nothing orders the blocks, and [`super::blocks`] detects the races.

use super::line_table::{LINE, LineTable};
use super::semantics::{AccessSemantics, RaceRule};
use super::vector_clock::VectorClocks;

/// The maximum number of tracked lines of device memory per launch. Accesses to further lines are not checked.
const MAX_LINES: u32 = 1 << 20;

/// The maximum number of remembered accesses per line. Beyond it the oldest is dropped.
const MAX_USES_PER_LINE: usize = 16;

/// Bytes per word.
pub const WORD: u64 = 4;

/// An access by a block.
#[derive(Clone, Copy)]
pub struct SerialAccess {
    pub block: u64,
    /// The instruction's address.
    pub site: u32,
    pub semantics: AccessSemantics,
}

/// An access to some words of a line.
#[derive(Clone, Copy)]
struct LineUse {
    /// A mask of the accessed words.
    words: u32,
    by: SerialAccess,
    /// The index of the block's clock, and the block's time.
    block: usize,
    time: u32,
    /// The last block that polled a stored word, and thus has seen the store.
    seen_by: Option<usize>,
}

/// An earlier access to a line that races with the current one.
#[derive(Clone, Copy)]
pub struct RacyPair {
    /// A mask of the words that both access.
    pub words: u32,
    pub earlier: SerialAccess,
    /// True if there is no race as long as the ordered stores always store the same value.
    pub unless_constant: bool,
}

/// The vector clocks and recent accesses of the blocks so far.
pub struct SerialBlocks {
    clocks: VectorClocks,
    line_table: LineTable,
    lines: Vec<Vec<LineUse>>,
}

impl SerialBlocks {
    /// Creates the state for a launch of `blocks` blocks.
    pub fn new(blocks: u64) -> SerialBlocks {
        SerialBlocks {
            clocks: VectorClocks::new(blocks),
            line_table: LineTable::new(MAX_LINES),
            lines: Vec::new(),
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
    }

    /// Releases at a location what a block did before its last fence. Called after an ordered store.
    pub fn release(&mut self, block: u64, location: u64) {
        let block = self.clocks.index(block);
        self.clocks.release(block, location);
    }

    /// Records an access of `bytes` bytes at `address`, all in one line. Returns an earlier access that races
    /// with it, if there is one.
    pub fn record(&mut self, by: SerialAccess, address: u64, bytes: u64) -> Option<RacyPair> {
        let first = address % LINE / WORD;
        let count = (address % LINE + bytes).div_ceil(WORD) - first;
        let words = (u32::MAX >> (32 - count)) << first;
        let (number, new) = self.line_table.get_or_insert(address - address % LINE)?;
        if new {
            self.lines.push(Vec::new());
        }
        let line = &mut self.lines[number];
        let block = self.clocks.index(by.block);
        let race = find_race(&self.clocks, line, by, block, words);
        if by.semantics.polls() {
            let ordered_stores =
                |entry: &&mut LineUse| entry.by.semantics == AccessSemantics::OrderedStore;
            let ordered_stores = line.iter_mut().filter(ordered_stores);
            for entry in ordered_stores.filter(|entry| entry.words & words != 0) {
                entry.seen_by = Some(block);
            }
        }
        let current = LineUse {
            words,
            by,
            block,
            time: self.clocks.time(block),
            seen_by: None,
        };
        push_use(line, current);
        race
    }
}

/// Returns the first access to a line that races with an access to `words` by `block`.
fn find_race(
    clocks: &VectorClocks,
    line: &[LineUse],
    by: SerialAccess,
    block: usize,
    words: u32,
) -> Option<RacyPair> {
    line.iter().find_map(|entry| {
        let both = entry.words & words;
        let writes = entry.by.semantics.writes() || by.semantics.writes();
        if both == 0 || !writes || clocks.happens_before(entry.block, entry.time, block) {
            return None;
        }
        let rule = by.semantics.race_rule(entry.by.semantics);
        // A block that polls until it sees another's store, and then stores itself, comes after that store.
        let waited_for_store = entry.seen_by == Some(block) && by.semantics.writes();
        let fine = match rule {
            RaceRule::NoRace => true,
            RaceRule::RaceUnlessConstant => waited_for_store,
            RaceRule::Race => false,
        };
        (!fine).then_some(RacyPair {
            words: both,
            earlier: entry.by,
            unless_constant: rule == RaceRule::RaceUnlessConstant,
        })
    })
}

/// Appends an access to a line and drops what it supersedes: a write supersedes all earlier accesses to its
/// words, a read those of the same kind by the same block.
fn push_use(line: &mut Vec<LineUse>, current: LineUse) {
    let writes = current.by.semantics.writes();
    for entry in line.iter_mut() {
        let same = entry.block == current.block && entry.by.semantics == current.by.semantics;
        if writes || same {
            entry.words &= !current.words;
        }
    }
    line.retain(|entry| entry.words != 0);
    let same_access = line.iter_mut().find(|entry| {
        (entry.block, entry.by.block, entry.time) == (current.block, current.by.block, current.time)
            && (entry.by.site, entry.by.semantics) == (current.by.site, current.by.semantics)
            && entry.seen_by.is_none()
    });
    match same_access {
        Some(same_access) => same_access.words |= current.words,
        None => {
            if line.len() == MAX_USES_PER_LINE {
                line.remove(0);
            }
            line.push(current);
        }
    }
}
