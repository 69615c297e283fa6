//! Threads that exit while other threads of their block still arrive at barriers.

use crate::lanes::active;

/// The threads of a block that have exited.
#[derive(Default)]
pub struct ExitedThreads {
    count: u32,
    /// The first thread that exited.
    first: Option<ExitedThread>,
    /// For each thread, the branch that sent it to its exit, if it has taken one.
    leaving: Vec<Option<u32>>,
    /// Barriers that completed without the exited threads.
    pub missed: Vec<MissedBarrier>,
}

/// A thread that has exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitedThread {
    /// The thread's index in the block.
    pub thread: u32,
    /// The branch after which it exited, or its last instruction if there was no such branch.
    pub site: u32,
}

/// A barrier that completed although threads of the block had exited before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedBarrier {
    /// The barrier's instruction.
    pub site: u32,
    /// The number of threads that had exited.
    pub ended: u32,
    /// The first of them.
    pub first: ExitedThread,
    /// A thread that arrived at the barrier.
    pub arrived: u32,
}

impl ExitedThreads {
    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        (self.count, self.first) = (0, None);
        self.leaving.clear();
        self.leaving.resize(warps * 32, None);
        self.missed.clear();
    }

    /// Records that a branch sends lanes of a warp to their exit.
    pub fn leave(&mut self, warp: usize, lanes: u32, site: u32) {
        for lane in active(lanes) {
            self.leaving[warp * 32 + lane] = Some(site);
        }
    }

    /// Records that lanes of a warp exit at the instruction `site`.
    pub fn exit(&mut self, warp: usize, lanes: u32, site: u32) {
        self.count += lanes.count_ones();
        if self.first.is_none() && lanes != 0 {
            let thread = warp * 32 + lanes.trailing_zeros() as usize;
            self.first = Some(ExitedThread {
                thread: thread as u32,
                site: self.leaving[thread].unwrap_or(site),
            });
        }
    }

    /// Records that a barrier of the whole block completes. `arrived` is a thread that arrived at it.
    pub fn record_barrier(&mut self, arrived: u32, site: u32) {
        if let Some(first) = self.first
            && !self.missed.iter().any(|missed| missed.site == site)
        {
            self.missed.push(MissedBarrier {
                site,
                ended: self.count,
                first,
                arrived,
            });
        }
    }
}
