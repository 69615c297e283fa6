//! Threads that end while others of their block still come to barriers.

use crate::lanes::active;

/// The threads of a block that have ended.
#[derive(Default)]
pub struct Ends {
    count: u32,
    /// The first of them, and the instruction that sent it to its end.
    first: Option<EndedThread>,
    /// For each thread the branch that sends it to its end, once it has taken it.
    leaving: Vec<Option<u32>>,
    /// Barriers that opened without them.
    pub missed: Vec<MissedBarrier>,
}

/// A thread that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedThread {
    /// The thread's number in the block.
    pub thread: u32,
    /// The branch after which it ended, or else its last instruction.
    pub site: u32,
}

/// A barrier that opened though threads of the block had ended before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedBarrier {
    /// The barrier's instruction.
    pub site: u32,
    /// How many threads had ended.
    pub ended: u32,
    /// One of them.
    pub first: EndedThread,
    /// A thread that came.
    pub came: u32,
}

impl Ends {
    /// A block of so many warps begins.
    pub fn begin(&mut self, warps: usize) {
        (self.count, self.first) = (0, None);
        self.leaving.clear();
        self.leaving.resize(warps * 32, None);
        self.missed.clear();
    }

    /// A branch sends lanes of a warp to their end.
    pub fn leave(&mut self, warp: usize, lanes: u32, site: u32) {
        for lane in active(lanes) {
            self.leaving[warp * 32 + lane] = Some(site);
        }
    }

    /// Lanes of a warp end at this instruction.
    pub fn end(&mut self, warp: usize, lanes: u32, site: u32) {
        self.count += lanes.count_ones();
        if self.first.is_none() && lanes != 0 {
            let thread = warp * 32 + lanes.trailing_zeros() as usize;
            self.first = Some(EndedThread {
                thread: thread as u32,
                site: self.leaving[thread].unwrap_or(site),
            });
        }
    }

    /// A barrier of all threads opens.
    pub fn barrier_opens(&mut self, came: u32, site: u32) {
        if let Some(first) = self.first
            && !self.missed.iter().any(|known| known.site == site)
        {
            self.missed.push(MissedBarrier {
                site,
                ended: self.count,
                first,
                came,
            });
        }
    }
}
