//! Blocks that order themselves: one writes, goes past a fence and counts up a word; another reads
//! the word and then what was written.
//!
//! Only for kernels whose blocks run one after the other, in which what comes first is no matter of
//! chance. A read of what another block wrote is in order if that block has gone past a fence since,
//! and the one that reads has looked at a word in between that is atomic or volatile.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The blocks of a launch.
pub struct Fences {
    /// The time: how often any block has gone past a fence or looked at an atomic or volatile word
    /// so far.
    now: AtomicU32,
    blocks: Vec<BlockTimes>,
}

/// When a block did last what may order it with another.
#[derive(Default)]
struct BlockTimes {
    /// When it went past a fence last.
    fenced: AtomicU32,
    /// When it looked at an atomic or volatile word last.
    looked: AtomicU32,
}

impl Fences {
    /// For a launch of so many blocks.
    pub fn new(blocks: u64) -> Fences {
        Fences {
            now: AtomicU32::new(0),
            blocks: (0..blocks).map(|_| BlockTimes::default()).collect(),
        }
    }

    fn tick(&self) -> u32 {
        self.now.fetch_add(1, Relaxed) + 1
    }

    /// A block goes past a fence.
    pub fn fence(&self, block: u64) {
        self.blocks[block as usize]
            .fenced
            .store(self.tick(), Relaxed);
    }

    /// A block looks at a word that may tell it of another one's fence.
    pub fn look(&self, block: u64) {
        self.blocks[block as usize]
            .looked
            .store(self.tick(), Relaxed);
    }

    /// Whether what a block wrote is in order before what another one does now.
    fn orders(&self, wrote: Wrote, block: u64) -> bool {
        let after = |time: &AtomicU32| time.load(Relaxed) > wrote.time;
        after(&self.blocks[wrote.block as usize].fenced)
            && after(&self.blocks[block as usize].looked)
    }
}

/// A write: by which block, at which of the program's accesses, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrote {
    pub block: u32,
    pub site: u32,
    time: u32,
}

/// Of 32 bits that tell who wrote a word, how many are the instruction's number. The others are one
/// more than the block's number, so that 0 stands for nobody.
const SITE_BITS: u32 = 8;

/// Who wrote each word of an allocation last.
pub struct Words(Box<[AtomicU64]>);

impl Words {
    /// Nobody has written any of `bytes` bytes.
    pub fn new(bytes: u64) -> Words {
        let words = bytes.div_ceil(4) as usize;
        Words((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// A block writes `bytes` bytes at `offset`, all inside.
    pub fn write(&self, fences: &Fences, offset: u64, bytes: u64, block: u64, site: u32) {
        let site = u64::from(site) & ((1 << SITE_BITS) - 1);
        let who = (block + 1) << SITE_BITS | site;
        let entry = who << 32 | u64::from(fences.now.load(Relaxed));
        for word in &self.0[span(offset, bytes)] {
            word.store(entry, Relaxed);
        }
    }

    /// A block reads `bytes` bytes at `offset`, all inside: the words that another block wrote with
    /// nothing that orders the two, and their offsets.
    pub fn read(
        &self,
        fences: &Fences,
        offset: u64,
        bytes: u64,
        block: u64,
    ) -> impl Iterator<Item = (u64, Wrote)> {
        let words = span(offset, bytes);
        let found = words.filter_map(|word| {
            let entry = self.0[word].load(Relaxed);
            let who = entry >> 32;
            let wrote = Wrote {
                block: (who >> SITE_BITS).checked_sub(1)? as u32,
                site: who as u32 & ((1 << SITE_BITS) - 1),
                time: entry as u32,
            };
            Some((word as u64 * 4, wrote))
        });
        found.filter(move |(_, wrote)| {
            u64::from(wrote.block) != block && !fences.orders(*wrote, block)
        })
    }
}

/// The numbers of the words that have any of these bytes.
fn span(offset: u64, bytes: u64) -> std::ops::Range<usize> {
    (offset / 4) as usize..(offset + bytes).div_ceil(4) as usize
}

/// The most blocks that can be told apart in the bits that are left for them.
pub const MOST_BLOCKS: u64 = (1 << (32 - SITE_BITS)) - 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_and_a_look_order_two_blocks() {
        let (fences, words) = (Fences::new(3), Words::new(64));
        let unordered = |block| words.read(&fences, 0, 64, block).count();
        words.write(&fences, 8, 8, 0, 5);
        assert_eq!((unordered(0), unordered(1)), (0, 2));
        let (offset, wrote) = words.read(&fences, 0, 64, 1).next().unwrap();
        assert_eq!((offset, wrote.block, wrote.site), (8, 0, 5));
        fences.fence(0);
        assert_eq!(unordered(1), 2, "it has not looked");
        fences.look(1);
        assert_eq!((unordered(1), unordered(2)), (0, 2));
        words.write(&fences, 8, 4, 0, 5);
        fences.look(1);
        assert_eq!(unordered(1), 1, "written after the fence");
    }
}
