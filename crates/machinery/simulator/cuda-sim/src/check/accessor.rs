//! The identity of an access to shared or device memory: a thread of the block and its instruction.

/// The number of low bits that hold the instruction's address. The bits above hold the thread's index.
pub const SITE_BITS: u32 = 22;

/// A thread of the block and the instruction it executed, packed into one word. From the highest bits: the
/// warp, the lane, and the instruction's address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Accessor(pub u32);

impl Accessor {
    #[inline(always)]
    pub fn new(warp: usize, lane: usize, site: u32) -> Accessor {
        Accessor(((warp as u32) << 5 | lane as u32) << SITE_BITS | site & ((1 << SITE_BITS) - 1))
    }

    /// Returns the thread's index in the block.
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

    /// Returns the low [`SITE_BITS`] bits of the instruction's address.
    pub fn site(self) -> u32 {
        self.0 & ((1 << SITE_BITS) - 1)
    }
}
