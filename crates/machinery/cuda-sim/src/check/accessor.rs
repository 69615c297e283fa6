//! Who accesses shared memory: a thread of the block, and the instruction it is at.

/// How many bits of the word are the instruction's address. Those above them are the thread's number.
pub const SITE_BITS: u32 = 22;

/// A thread of the block and the instruction it was at, in one word: from the highest bits on its
/// warp, its lane, and the instruction's address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Who(pub u32);

impl Who {
    #[inline(always)]
    pub fn new(warp: usize, lane: usize, site: u32) -> Who {
        Who(((warp as u32) << 5 | lane as u32) << SITE_BITS | site & ((1 << SITE_BITS) - 1))
    }

    /// The thread's number in the block.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        self.0 >> SITE_BITS
    }

    #[inline(always)]
    pub fn warp(self) -> usize {
        (self.thread() >> 5) as usize
    }

    #[inline(always)]
    pub fn lane(self) -> usize {
        (self.thread() & 31) as usize
    }

    /// The instruction's address.
    pub fn site(self) -> u32 {
        self.0 & ((1 << SITE_BITS) - 1)
    }
}
