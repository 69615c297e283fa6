//! Uses of device memory by the blocks of a launch that runs them one after the other: who used each
//! word last, and whether blocks have put their uses in order themselves.
//!
//! For kernels in which blocks may learn of each other: with volatile accesses, or atomics whose old
//! value is looked at. In all others nothing orders the blocks, and [`super::blocks`] looks at them.

use super::clocks::Clocks;
use super::deed::{Deed, Unordered};
use super::lines::{LINE, LineNumbers};

/// So many lines of device memory are looked at in a launch; those used later are not.
const MOST_LINES: u32 = 1 << 20;

/// Uses of a line that are remembered; of more the first are forgotten.
const MOST_USES: usize = 16;

/// Bytes of a word.
pub const WORD: u64 = 4;

/// Who does what.
#[derive(Clone, Copy)]
pub struct Doer {
    pub block: u64,
    /// The instruction's address.
    pub site: u32,
    pub deed: Deed,
}

/// A use of some words of a line.
#[derive(Clone, Copy)]
struct LineUse {
    /// The words, as a mask.
    words: u32,
    by: Doer,
    /// The block's number among those that are told apart, and its time.
    block: usize,
    time: u32,
    /// The block that waited for what was stored, and has seen it.
    seen_by: Option<usize>,
}

/// An earlier use of a line that nothing orders with the present one.
#[derive(Clone, Copy)]
pub struct Contested {
    /// The words that both use, as a mask.
    pub words: u32,
    pub earlier: Doer,
    /// It is no mistake where the ordered stores always store the same value.
    pub unless_constant: bool,
}

/// What is known of the blocks so far.
pub struct InOrder {
    clocks: Clocks,
    numbers: LineNumbers,
    lines: Vec<Vec<LineUse>>,
}

impl InOrder {
    /// For a launch of so many blocks.
    pub fn new(blocks: u64) -> InOrder {
        InOrder {
            clocks: Clocks::new(blocks),
            numbers: LineNumbers::new(MOST_LINES),
            lines: Vec::new(),
        }
    }

    /// A block goes past a fence.
    pub fn fence(&mut self, block: u64) {
        let block = self.clocks.of(block);
        self.clocks.fence(block);
    }

    /// Before a block reads a place, by an access that is ordered.
    pub fn acquire(&mut self, block: u64, place: u64) {
        let block = self.clocks.of(block);
        self.clocks.acquire(block, place);
    }

    /// After a block has stored to a place, by an access that is ordered.
    pub fn publish(&mut self, block: u64, place: u64) {
        let block = self.clocks.of(block);
        self.clocks.publish(block, place);
    }

    /// A block uses `bytes` bytes at `address`, all in one line. Gives an earlier use that is not in
    /// order with it.
    pub fn use_line(&mut self, by: Doer, address: u64, bytes: u64) -> Option<Contested> {
        let first = address % LINE / WORD;
        let count = (address % LINE + bytes).div_ceil(WORD) - first;
        let words = (u32::MAX >> (32 - count)) << first;
        let (number, new) = self.numbers.number(address - address % LINE)?;
        if new {
            self.lines.push(Vec::new());
        }
        let line = &mut self.lines[number];
        let block = self.clocks.of(by.block);
        let found = contested(&self.clocks, line, by, block, words);
        if by.deed.polls() {
            let stores = |one: &&mut LineUse| one.by.deed == Deed::OrderedStore;
            let stores = line.iter_mut().filter(stores);
            for one in stores.filter(|one| one.words & words != 0) {
                one.seen_by = Some(block);
            }
        }
        let now = LineUse {
            words,
            by,
            block,
            time: self.clocks.now(block),
            seen_by: None,
        };
        take_note(line, now);
        found
    }
}

/// The first use of a line that is not in order with one of these words by a block.
fn contested(
    clocks: &Clocks,
    line: &[LineUse],
    by: Doer,
    block: usize,
    words: u32,
) -> Option<Contested> {
    line.iter().find_map(|one| {
        let both = one.words & words;
        let writes = one.by.deed.writes() || by.deed.writes();
        if both == 0 || !writes || clocks.orders(one.block, one.time, block) {
            return None;
        }
        let unordered = by.deed.against(one.by.deed);
        // Who waits until another has stored, and stores then, has the other's store behind it.
        let in_turn = one.seen_by == Some(block) && by.deed.writes();
        let fine = match unordered {
            Unordered::Fine => true,
            Unordered::UnlessConstant => in_turn,
            Unordered::Race => false,
        };
        (!fine).then_some(Contested {
            words: both,
            earlier: one.by,
            unless_constant: unordered == Unordered::UnlessConstant,
        })
    })
}

/// Remembers a use of a line, and forgets what it makes needless: a write all earlier uses of its
/// words, a read those by the same block.
fn take_note(line: &mut Vec<LineUse>, now: LineUse) {
    let writes = now.by.deed.writes();
    for one in line.iter_mut() {
        let same = one.block == now.block && one.by.deed == now.by.deed;
        if writes || same {
            one.words &= !now.words;
        }
    }
    line.retain(|one| one.words != 0);
    let alike = line.iter_mut().find(|one| {
        (one.block, one.by.block, one.time) == (now.block, now.by.block, now.time)
            && (one.by.site, one.by.deed) == (now.by.site, now.by.deed)
            && one.seen_by.is_none()
    });
    match alike {
        Some(alike) => alike.words |= now.words,
        None => {
            if line.len() == MOST_USES {
                line.remove(0);
            }
            line.push(now);
        }
    }
}
