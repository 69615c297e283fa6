//! The watchdog: polls the clock while a launch runs and reports launches that exceed their time limit.

use super::Sm;
use crate::exec::fault::{Fault, FaultKind, FaultLocation};
use crate::exec::schedule::interrupt::is_requested;
use crate::exec::schedule::time_limit::{
    BLOCK_START_COST, SHORT_LAUNCH, TimeLimit, Timing, WakeTime,
};
use crate::exec::warp::{SplitState, Warp};
use std::time::Instant;

/// Number of warp instructions between two polls of the clock.
const POLL_INTERVAL: u64 = 1 << 16;

impl Sm {
    /// Returns true, with the fault set, if the launch's time is up. Called before a block starts or continues.
    pub fn is_timed_out_at_block_start(&mut self) -> bool {
        self.watchdog.next_poll = self.watchdog.next_poll.saturating_sub(BLOCK_START_COST);
        self.is_timed_out()
    }

    /// Returns true, with the fault set, if a poll is due and the launch's time is up.
    #[inline]
    pub fn is_timed_out(&mut self) -> bool {
        self.clock >= self.watchdog.next_poll && self.poll()
    }

    #[cold]
    fn poll(&mut self) -> bool {
        self.watchdog.next_poll = self.clock + POLL_INTERVAL;
        match std::mem::take(&mut self.watchdog.wake) {
            WakeTime::Never => {}
            WakeTime::AfterNextPoll => {
                self.watchdog.wake = WakeTime::AtNextPoll;
                self.watchdog.next_poll = self.clock + SHORT_LAUNCH;
            }
            WakeTime::AtNextPoll => self.grid.wake_workers(),
        }
        if is_requested() {
            let location = Some(Box::new(self.current_location()));
            self.fault = Some(Fault::new(FaultKind::Interrupted, location));
            return true;
        }
        let Some(Timing { start, limit }) = self.grid.timing else {
            return false;
        };
        let now = Instant::now();
        let blocks_done = self.grid.progress.blocks_done();
        let expired = match limit {
            TimeLimit::Launch(limit) => now - start >= limit,
            TimeLimit::Standstill(limit) => {
                let since = match self.watchdog.last_change {
                    Some((before, since)) if before == blocks_done => since,
                    _ => now,
                };
                self.watchdog.last_change = Some((blocks_done, since));
                now - since >= limit
            }
        };
        if expired {
            let kind = FaultKind::Timeout {
                limit,
                ended: blocks_done,
                blocks: self.grid.progress.blocks,
            };
            self.fault = Some(Fault::new(kind, Some(Box::new(self.current_location()))));
        }
        expired
    }

    /// Returns the location of the first warp that can run, or else of the first live warp.
    fn current_location(&self) -> FaultLocation {
        let warps = &self.block.warps;
        let can_run = |warp: &&Warp| warp.alive != 0 && !warp.ready.is_empty();
        let is_alive = |warp: &&Warp| warp.alive != 0;
        let warp = warps.iter().find(can_run);
        let warp = warp.or_else(|| warps.iter().find(is_alive));
        let split = warp.and_then(|warp| match warp.ready.front() {
            Some(&id) => warp.splits.get(id as usize),
            None => {
                let mut splits = warp.splits.iter();
                splits.find(|split| split.state != SplitState::Free)
            }
        });
        let entry = || self.grid.program.functions[self.grid.function()].entry;
        let lane = split.map_or(0, |split| split.mask.trailing_zeros());
        let warp = warp.map_or(0, |warp| warp.index);
        let address = split.map_or_else(entry, |split| split.pc);
        FaultLocation {
            kernel: self.grid.kernel_name().to_owned(),
            block: self.block.id,
            warp,
            thread: self.grid.dims.thread_index(warp * 32 + lane),
            source: self.grid.program.listing.source_of(address),
        }
    }
}
