//! Launches that make no progress: blocks in which no thread can run, and launches that exceed their time limit.
//!
//! If no thread of a block can run, lanes that wait at matching `.sync` instructions in different places are
//! released; otherwise the block is in a deadlock. A watchdog polls the clock while a launch runs.

use super::Sm;
use crate::check::{FaultKind, TimeLimit};
use crate::exec::fault::{Fault, FaultLocation};
use crate::exec::schedule::progress::{
    BLOCK_START_COST, SHORT_LAUNCH, Timing, WakeTime, is_requested,
};
use crate::exec::warp::{Split, SplitState, Warp};
use std::time::Instant;

impl Sm {
    /// Releases lanes that wait at different but matching `.sync` instructions once all lanes of their mask
    /// have arrived. Called when no thread of the block can run. Returns true if there were any.
    ///
    /// By the PTX ISA (`shfl.sync` and related instructions), a lane waits until the others have executed the
    /// instruction with the same qualifiers and the same mask, which need not be the same instruction in the
    /// code.
    pub fn release_matching_syncs(&mut self) -> bool {
        let code = &self.grid.program.code.plain;
        let same_sync = |first: &Split, other: &Split| {
            let (a, b) = (&code[first.pc as usize], &code[other.pc as usize]);
            first.state == other.state && std::ptr::fn_addr_eq(a.run, b.run) && a.arg0 == b.arg0
        };
        let mut released = false;
        for warp in &mut self.block.warps {
            for id in 0..warp.splits.len() {
                let SplitState::Sync(members) = warp.splits[id].state else {
                    continue;
                };
                let first = &warp.splits[id];
                let matching: Vec<usize> = (0..warp.splits.len())
                    .filter(|&other| same_sync(first, &warp.splits[other]))
                    .collect();
                let waiting = matching
                    .iter()
                    .fold(0, |lanes, &other| lanes | warp.splits[other].mask);
                if members & warp.alive & !waiting != 0 {
                    continue;
                }
                for other in matching {
                    warp.splits[other].state = SplitState::Ready;
                    warp.splits[other].sync_completed = true;
                    warp.ready.push_back(other as u32);
                }
                released = true;
            }
        }
        released
    }

    /// Returns the fault of a block in which no thread can run.
    pub fn deadlock(&self) -> Fault {
        let waiting_warp = self.block.warps.iter().find_map(|warp| {
            warp.splits.iter().find_map(|split| match split.state {
                SplitState::Sync(members) | SplitState::WarpBarrier(members) => {
                    Some((warp, split, members))
                }
                _ => None,
            })
        });
        let (kind, warp, split) = match (waiting_warp, self.block.blocked_barrier()) {
            (Some((warp, split, members)), _) => (
                FaultKind::WarpSyncNeverOpens { members },
                Some(warp),
                Some(split),
            ),
            (None, blocked) => {
                let (barrier, arrived, expected) = blocked.unwrap_or((0, 0, self.block.alive));
                let waiting = self.block.warps.iter().find_map(|warp| {
                    let waits =
                        |state| matches!(state, SplitState::Barrier(n) if n == barrier as u32);
                    warp.splits
                        .iter()
                        .find(|split| waits(split.state))
                        .map(|split| (warp, split))
                });
                let barrier = barrier as u32;
                let kind = FaultKind::BarrierNeverOpens {
                    barrier,
                    arrived,
                    expected,
                };
                (
                    kind,
                    waiting.map(|(warp, _)| warp),
                    waiting.map(|(_, split)| split),
                )
            }
        };
        let location = warp.zip(split).map(|(warp, split)| {
            // The split continues after the barrier, so the barrier is the instruction before.
            let barrier = split.pc.saturating_sub(1);
            Box::new(self.location(warp.index, split.mask.trailing_zeros(), barrier))
        });
        Fault::new(kind, location)
    }
}

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

    /// Returns true, with the fault set, if the launch's time is up.
    #[cold]
    pub fn poll(&mut self) -> bool {
        self.watchdog.next_poll = self.clock + POLL_INTERVAL;
        match std::mem::take(&mut self.watchdog.wake) {
            WakeTime::Never => {}
            WakeTime::AfterNextPoll => {
                self.watchdog.wake = WakeTime::AtNextPoll;
                self.watchdog.next_poll = self.clock + SHORT_LAUNCH;
            }
            WakeTime::AtNextPoll => self.grid.wake_workers(),
        }
        if let Some(hook) = self.grid.on_long_launch
            && self.clock >= SHORT_LAUNCH
        {
            hook();
        }
        if is_requested() {
            let location = Some(Box::new(self.current_location()));
            let kind = FaultKind::Interrupted {
                ended: self.grid.progress.blocks_done(),
                blocks: self.grid.progress.blocks,
            };
            self.fault = Some(Fault::new(kind, location));
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
        let runnable = warps.iter().find(can_run);
        let warp = runnable.or_else(|| warps.iter().find(is_alive));
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
        self.location(warp, lane, split.map_or_else(entry, |split| split.pc))
    }

    /// Returns the location of a lane of the block at a code address.
    fn location(&self, warp: u32, lane: u32, address: u32) -> FaultLocation {
        FaultLocation {
            kernel: self.grid.kernel_name().to_owned(),
            block: self.block.id,
            warp,
            thread: self.grid.dims.thread_index(warp * 32 + lane),
            source: self.grid.program.listing.nearest_source_of(address),
            array: None,
            local_end: self.local.end,
        }
    }
}
