//! Who accesses shared memory: a thread of the block, and the instruction it is at.

/// Bits of an instruction's address, beside those of a thread.
pub const SITE_BITS: u32 = 22;

/// A thread of the block and the instruction it was at, in one word: warp, lane, instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Who(pub u32);

impl Who {
    #[inline(always)]
    pub fn new(warp: usize, lane: usize, site: u32) -> Who {
        Who(((warp as u32) << 5 | lane as u32) << SITE_BITS | site & ((1 << SITE_BITS) - 1))
    }

    /// Its number in the block.
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
